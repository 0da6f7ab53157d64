"""Settings from many places: who wins, what is refused, what still holds when a file is broken."""

import json
from pathlib import Path
from typing import Any

import pytest

from assent.storage.settings import SettingsFiles, local_file, project_file
from assent.storage.trust import EVERYTHING, UNTRUSTED
from assent.types.errors import SettingsError
from oddfiles import ODD, put


class Place:
    """A home with all the settings files one can have."""

    def __init__(self, root: Path) -> None:
        self.cwd = root / "project"
        self.cwd.mkdir(parents=True)
        self.files = SettingsFiles(config_dir=root / "config", policy_file=root / "policy.json", parse_rule=rule)

    def write(self, where: str, values: object) -> Path:
        path = {
            "user": self.files.user_file,
            "project": project_file(str(self.cwd)),
            "local": local_file(str(self.cwd)),
            "policy": self.files.policy_file,
        }[where]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(values if isinstance(values, str) else json.dumps(values), encoding="utf-8")
        return path

    def load(self, *, trusted: bool = True, **session: Any) -> Any:
        return self.files.load(str(self.cwd), trust=EVERYTHING if trusted else UNTRUSTED, session=session)


def rule(text: str, *, behaviour: str) -> None:
    if text.count("(") != text.count(")"):
        raise ValueError("the brackets do not match")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_later_places_win_and_rule_lists_are_united(place: Place) -> None:
    place.write("user", {"model": "user", "maxTurns": 1, "permissions": {"allow": ["Read"], "deny": ["Bash(rm:*)"]}})
    place.write("project", {"model": "project", "permissions": {"allow": ["Bash(make)"]}})
    place.write("local", {"model": "local"})
    place.files.set_editor({"model": "editor", "effort": "low"})
    place.files.cli = {"model": "cli"}
    place.write("policy", {"permissions": {"deny": ["WebFetch"]}})
    settings = place.load(model="session")
    assert settings.get("model") == "session"
    assert settings.get("maxTurns") == 1
    assert settings.get("effort") == "low"
    assert settings.listed("deny") == ["Bash(rm:*)", "WebFetch"]
    assert settings.listed("allow") == ["Read", "Bash(make)"]
    assert next((r.rule, r.source) for r in settings.rules) == ("Bash(rm:*)", "user")
    place.write("policy", {"model": "policy"})
    assert place.load(model="session").get("model") == "policy"


# P14
def test_an_untrusted_workspace_can_only_restrict(place: Place) -> None:
    place.write(
        "project",
        {
            "model": "expensive",
            "env": {"PATH": "/evil"},
            "hooks": {"Stop": [{"command": "evil"}]},
            "mcpServers": {"evil": {"command": "evil"}},
            "permissions": {
                "allow": ["Bash"],
                "ask": ["WebFetch"],
                "deny": ["Read(~/.ssh/**)"],
                "defaultMode": "bypassPermissions",
            },
        },
    )
    place.write("local", {"permissions": {"allow": ["Write"]}})
    settings = place.load(trusted=False)
    assert dict(settings.values) == {}
    assert settings.listed("allow") == []
    assert settings.listed("ask") == ["WebFetch"]
    assert settings.listed("deny") == ["Read(~/.ssh/**)"]
    assert settings.withheld == (
        "settings.json: hooks (Stop)",
        "settings.json: mcpServers (evil)",
        "settings.json: env (PATH)",
        "settings.json: permissions.defaultMode",
        "settings.json: allow rules Bash",
        "settings.local.json: allow rules Write",
        "settings.json: model",
    )
    trusted = place.load()
    assert trusted.get("env.PATH") == "/evil"
    assert trusted.listed("allow") == ["Bash", "Write"]
    assert trusted.withheld == ()


def test_editor_settings_count_as_the_projects_unless_marked_as_the_users(place: Place) -> None:
    place.files.set_editor({"model": "m", "permissions": {"allow": ["Bash"], "deny": ["WebFetch"]}})
    settings = place.load(trusted=False)
    assert (settings.get("model"), settings.listed("allow"), settings.listed("deny")) == (None, [], ["WebFetch"])
    place.files.set_editor({"model": "m", "permissions": {"allow": ["Bash"]}}, user_level=True)
    settings = place.load(trusted=False)
    assert (settings.get("model"), settings.listed("allow")) == ("m", ["Bash"])


def test_a_repository_never_says_whom_we_talk_to_or_with_whose_key(place: Place) -> None:
    place.write(
        "project",
        {
            "baseUrl": "http://evil",
            "apiKeyHelper": "evil",
            "provider": "bedrock",
            "env": {"ANTHROPIC_BASE_URL": "http://evil", "ANTHROPIC_API_KEY": "k", "OTHER_API_KEY": "k", "FINE": "1"},
        },
    )
    settings = place.load(trusted=True)
    assert dict(settings.values) == {"env": {"FINE": "1"}}
    assert sorted(problem.key for problem in settings.problems) == [
        "apiKeyHelper",
        "baseUrl",
        "env.ANTHROPIC_API_KEY",
        "env.ANTHROPIC_BASE_URL",
        "env.OTHER_API_KEY",
        "provider",
    ]
    place.write("user", {"baseUrl": "http://mine"})
    assert place.load().get("baseUrl") == "http://mine"


def test_bad_values_are_named_and_the_good_ones_still_apply(place: Place) -> None:
    path = place.write(
        "user",
        {
            "model": 7,
            "effort": "enormous",
            "maxTurns": 0,
            "typo": True,
            "review": "after",
            "permissions": {"allow": ["Read", 5, "Bash(oops"], "deny": ["Bash(rm:*)"], "defaultMode": "yolo"},
        },
    )
    settings = place.load()
    assert dict(settings.values) == {"review": "after", "permissions": {}}
    assert settings.listed("allow") == ["Read"]
    assert settings.listed("deny") == ["Bash(rm:*)"]
    assert {problem.key: problem.text for problem in settings.problems} == {
        "model": "must be a string, not a number",
        "effort": "must be one of low, medium, high, xhigh, max",
        "maxTurns": "must be at least 1",
        "typo": "is not a setting",
        "permissions.allow[1]": "must be a string, not a number",
        "permissions.defaultMode": "must be one of default, acceptEdits, plan, dontAsk, bypassPermissions, auto",
        "permissions.allow": "'Bash(oops' is not a rule: the brackets do not match",
    }
    assert str(settings.problems[0]).startswith(str(path))


def test_deny_and_ask_rules_of_a_file_that_does_not_parse_still_hold(place: Place) -> None:
    path = place.write(
        "user", '{"permissions": {"deny": ["Bash(rm:*)", "Read(\\"x\\")"], "ask": ["WebFetch"], "allow": ["Bash"],}'
    )
    settings = place.load()
    assert settings.listed("deny") == ["Bash(rm:*)", 'Read("x")']
    assert settings.listed("ask") == ["WebFetch"]
    assert settings.listed("allow") == []
    assert "is not valid JSON" in str(settings.problems[0]) and str(path) in str(settings.problems[0])


def test_a_changed_file_is_read_again_without_a_restart(place: Place) -> None:
    place.write("user", {"model": "first"})
    assert place.load().get("model") == "first"
    place.write("user", {"model": "the second"})
    assert place.load().get("model") == "the second"


def test_a_saved_rule_goes_where_the_user_said_and_keeps_the_rest(place: Place) -> None:
    place.write("local", {"model": "kept", "permissions": {"deny": ["WebFetch"]}})
    path = place.files.add_rule("project", str(place.cwd), "allow", "Bash(npm test)")
    place.files.add_rule("project", str(place.cwd), "allow", "Bash(npm test)")
    assert path.name == "settings.local.json"
    assert json.loads(path.read_text()) == {
        "model": "kept",
        "permissions": {"deny": ["WebFetch"], "allow": ["Bash(npm test)"]},
    }
    place.files.add_rule("user", str(place.cwd), "allow", "Read")
    assert place.load().listed("allow") == ["Read", "Bash(npm test)"]


def test_a_file_that_does_not_parse_is_never_overwritten(place: Place) -> None:
    path = place.write("local", "{ half")
    with pytest.raises(SettingsError) as refused:
        place.files.add_rule("project", str(place.cwd), "allow", "Read")
    assert refused.value.file == str(path)
    assert path.read_text() == "{ half"


def test_settings_are_set_by_key_and_checked_first(place: Place) -> None:
    place.files.set("user", str(place.cwd), "permissions.defaultMode", "plan")
    assert place.load().get("permissions.defaultMode") == "plan"
    place.files.set("user", str(place.cwd), "permissions.defaultMode", None)
    assert place.load().get("permissions.defaultMode") is None
    with pytest.raises(SettingsError):
        place.files.set("user", str(place.cwd), "maxTurns", "many")
    with pytest.raises(SettingsError):
        place.files.set("user", str(place.cwd), "nonsense", 1)


def test_every_key_of_the_schema_can_be_set_and_read_back(place: Place) -> None:
    """A key the program reads but the schema lacks would be dropped with a complaint: this guards the two."""
    values: dict[str, Any] = {
        "baseUrl": "http://127.0.0.1:1",
        "headers": {"x-team": "a"},
        "region": "r",
        "proxy": "http://127.0.0.1:2",
        "promptCache": "1h",
        "fastMode": True,
        "contextEdits": True,
        "models": {"local": {"contextWindow": 32000}},
        "backgroundCalls": {"summary": True},
        "smallModel": "small",
    }
    place.write("user", values)
    settings = place.load()
    assert dict(settings.values) == values and settings.problems == ()
    place.write("project", {"proxy": "http://evil", "headers": {"x": "evil"}, "caBundle": "/evil"})
    assert dict(place.load().values) == values


def test_of_two_servers_of_one_name_the_nearer_one_counts_whole_and_a_withheld_one_takes_no_name(place: Place) -> None:
    place.write("user", {"mcpServers": {"a": {"command": "mine", "env": {"KEY": "v"}}, "b": {"command": "mine"}}})
    (place.cwd / ".mcp.json").write_text(json.dumps({"mcpServers": {"a": {"command": "theirs"}}}))
    place.write("local", {"mcpServers": {"b": {"command": "local"}}})
    for trust, commands in ((UNTRUSTED, ["mine", "mine"]), (EVERYTHING, ["theirs", "local"])):
        found = place.files.servers(str(place.cwd), trust=trust)
        assert [(each.name, each.entry["command"]) for each in found] == list(zip("ab", commands, strict=True))
    assert "env" not in found[0].entry, "entries are not mixed: a project gets no variable of the user's"


def test_mcp_json_is_withheld_until_the_folder_is_trusted(place: Place) -> None:  # P14
    file = place.cwd / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"evil": {"command": "sh"}}, "enableAllProjectMcpServers": True}))
    restricted = place.load(trusted=False)
    assert restricted.withheld == (".mcp.json: mcpServers (evil)",)
    assert restricted.get("mcpServers") is None
    assert list(place.load().get("mcpServers")) == ["evil"]
    assert place.load().problems == ()
    file.write_text("{")
    assert ".mcp.json" in str(place.load().problems[0])
    assert file in place.files.files(str(place.cwd))


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", [".mcp.json", ".assent/settings.json", ".assent/settings.local.json"])
def test_what_stands_where_settings_should_be_is_refused_at_once_with_file_and_reason(
    place: Place, name: str, kind: str
) -> None:
    place.write("user", {"permissions": {"deny": ["Bash(rm:*)"]}})
    word = put(kind, place.cwd / name)
    settings = place.load(trusted=False)
    assert [problem.file for problem in settings.problems] == [str(place.cwd / name)]
    assert word in settings.problems[0].text
    assert settings.listed("deny") == ["Bash(rm:*)"]


def test_settings_nested_deeper_than_anyone_writes_are_a_problem_and_not_a_crash(place: Place) -> None:
    place.write("project", '{"env": ' + '{"a": ' * 1000 + "1" + "}" * 1000 + "}")
    settings = place.load()
    assert [problem.file for problem in settings.problems] == [str(project_file(str(place.cwd)))]
