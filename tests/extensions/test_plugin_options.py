"""`userConfig` of plugins: what they ask for, which values fit, and where a value goes; what settings say of plugins."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from assent.extensions.plugins.manifest import PluginError
from assent.extensions.plugins.options import OptionError, by_environment, given, read_options
from assent.extensions.plugins.store import Plugins
from assent.types.blocks import Json

ASKED: Json = {
    "endpoint": {"type": "string", "title": "Endpoint", "description": "where the service is", "required": True},
    "token": {"type": "string", "title": "Token", "sensitive": True},
    "most": {"type": "number", "min": 1, "max": 9, "default": 3},
    "loud": {"type": "boolean"},
    "places": {"type": "directory", "multiple": True},
}


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def plugin(place: Path, asked: object = ASKED) -> Path:
    root = place / "source"
    (root / ".claude-plugin").mkdir(parents=True)
    (root / ".claude-plugin" / "plugin.json").write_text(json.dumps({"name": "service", "userConfig": asked}))
    return root


@pytest.mark.parametrize(
    ("key", "typed", "value"),
    [
        ("endpoint", "https://x", "https://x"),
        ("endpoint", "", OptionError),
        ("endpoint", "two\nlines", OptionError),
        ("endpoint", 7, OptionError),
        ("most", "4", 4),
        ("most", 2.5, 2.5),
        ("most", "10", OptionError),
        ("most", "0", OptionError),
        ("most", "many", OptionError),
        ("most", True, OptionError),
        ("loud", "yes", True),
        ("loud", False, False),
        ("loud", "perhaps", OptionError),
        ("places", "/usr, /etc", ["/usr", "/etc"]),
        ("places", ["/usr"], ["/usr"]),
        ("places", "/nowhere/at/all", OptionError),
    ],
)
def test_a_value_is_read_in_the_type_that_the_plugin_wants(key: str, typed: object, value: Any) -> None:
    option = next(option for option in read_options(ASKED)[0] if option.key == key)
    if value is OptionError:
        with pytest.raises(OptionError, match=key):
            option.read(typed)
    else:
        assert option.read(typed) == value


def test_what_is_wrong_with_a_manifest_s_options_is_told_and_the_rest_counts() -> None:
    options, wrong = read_options({"a b": {}, "ok": {"type": "colour"}, "no": 3})
    assert [(option.key, option.kind) for option in options] == [("ok", "string")]
    assert len(wrong) == 3 and "there is no type 'colour'" in wrong[1]
    assert read_options([1]) == ((), ["userConfig must be an object"])


def test_programs_find_values_in_their_environment_and_texts_hold_no_secret() -> None:
    options, _ = read_options(ASKED)
    found = given(options, {"endpoint": "https://x", "token": "s3cret", "other": 1})
    environment = found.environment()
    for family in ("CLAUDE", "ASSENT"):
        assert environment[f"{family}_PLUGIN_OPTION_endpoint"] == "https://x"
        assert environment[f"{family}_PLUGIN_OPTION_TOKEN"] == "s3cret"
        assert environment[f"{family}_PLUGIN_OPTION_MOST"] == "3", "its default"
    assert found.texts() == {"user_config.endpoint": "https://x", "user_config.most": "3"}
    assert found.problems == ("it has no option other",)
    entry = {"command": "run ${user_config.endpoint}", "args": ["${user_config.token}"], "timeout": 3}
    assert by_environment(entry) == {
        "command": "run ${CLAUDE_PLUGIN_OPTION_endpoint}",
        "args": ["${CLAUDE_PLUGIN_OPTION_token}"],
        "timeout": 3,
    }


def test_values_are_kept_for_the_user_alone_and_settings_come_before_them(tmp_path: Path) -> None:
    said: Json = {}
    store = Plugins(tmp_path / "store", write=write, said=lambda: said)
    store.accept(store.stage(str(plugin(tmp_path)), cwd="/"))
    (loaded,), (notice,) = store.active()
    assert "endpoint is not set (Endpoint: where the service is)" in str(notice)
    assert "its hooks and servers do not run until then" in str(notice) and store.incomplete(loaded)
    assert store.configure("service", {"endpoint": "https://a", "token": "t"}).problems == ()
    assert stat.S_IMODE((tmp_path / "store" / "options.json").stat().st_mode) == 0o600
    assert store.active()[1] == [] and store.incomplete(loaded) == ""
    assert store.variables(loaded)["CLAUDE_PLUGIN_OPTION_ENDPOINT"] == "https://a"
    said["config"] = {"service": {"endpoint": "https://b"}}
    assert store.given(loaded).values["endpoint"] == "https://b"
    with pytest.raises(PluginError, match=r"has no option 'x'\. It has: endpoint, token"):
        store.configure("service", {"x": "1"})
    with pytest.raises(PluginError, match="most must be at least 1 and at most 9"):
        store.configure("service", {"most": "99"})
    assert "token" not in store.configure("service", {"token": ""}).values, "an empty value takes one back"


def test_settings_switch_a_plugin_off_and_name_marketplaces(tmp_path: Path) -> None:
    said: Json = {"marketplaces": {"ours": str(tmp_path / "market"), "far": {"source": "npm", "package": "x"}}}
    store = Plugins(tmp_path / "store", write=write, said=lambda: said)
    plugin(tmp_path / "market")
    (tmp_path / "market" / ".claude-plugin").mkdir()
    listed = {"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "service", "source": "./source"}]}
    (tmp_path / "market" / ".claude-plugin" / "marketplace.json").write_text(json.dumps(listed))
    staged = store.stage("service@ours", cwd="/")
    assert staged.source == f"service@{tmp_path / 'market'}"
    store.accept(staged)
    assert [each.enabled for each in store.installed()] == [True]
    said["enabled"] = {"service": False}
    assert [each.enabled for each in store.installed()] == [False] and store.active() == ([], [])
    with pytest.raises(PluginError, match="comes from 'npm'"):
        store.stage("x@far", cwd="/")
