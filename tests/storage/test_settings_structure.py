"""One structure of settings: the schema, the page, the checks and the typed view agree with it."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assent.storage.settings import SettingsFiles, local_file, project_file
from assent.storage.settings.page import page
from assent.storage.settings.schema import FILE, generated, rendered
from assent.storage.settings.structure import OWN_ONLY
from assent.storage.trust import EVERYTHING, UNTRUSTED
from assent.text.json_lines import key_lines
from assent.types.hook_limits import HookLimits
from assent.types.hooks import EVENTS

ROOT = Path(__file__).parents[2]


def files(root: Path, **more: Any) -> SettingsFiles:
    return SettingsFiles(config_dir=root / "config", policy_file=root / "policy.json", **more)


def write(path: Path, values: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(values if isinstance(values, str) else json.dumps(values, indent=1), encoding="utf-8")
    return path


def test_the_shipped_schema_its_copy_for_vs_code_and_the_page_are_up_to_date() -> None:
    assert FILE.read_bytes() == rendered(), "run `make settings`"
    assert (ROOT / "vscode-extension/media/settings.schema.json").read_bytes() == rendered(), "run `make settings`"
    assert (ROOT / "docs/settings.md").read_text(encoding="utf-8") == page(), "run `make settings`"


def test_vs_code_checks_our_settings_files_with_the_shipped_schema() -> None:
    manifest = json.loads((ROOT / "vscode-extension/package.json").read_text())
    (entry,) = manifest["contributes"]["jsonValidation"]
    assert "**/.assent/settings.json" in entry["fileMatch"] and "**/.assent/settings.local.json" in entry["fileMatch"]
    assert (ROOT / "vscode-extension" / entry["url"]).is_file()


def test_every_key_has_a_description_and_the_schema_is_valid() -> None:
    schema = generated()
    jsonschema.Draft7Validator.check_schema(schema)
    assert [key for key, rule in schema["properties"].items() if key != "$schema" and not rule.get("description")] == []
    assert set(schema["properties"]["hooks"]["properties"]) == set(EVENTS)
    assert len(EVENTS) == 33
    assert set(schema["properties"]) > OWN_ONLY


def test_our_checker_and_a_schema_library_agree_about_what_is_wrong(tmp_path: Path) -> None:
    validator: Any = jsonschema.Draft7Validator(generated())
    examples: tuple[Any, ...] = (
        {"sandbox": {"scope": "reading"}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}},
        {"sandbox": {"enabled": True}},
        {"hooks": {"Stopp": []}},
        {"hooks": {"Stop": [{"hooks": [{"timeout": 0}]}]}},
        {"thinking": None},
        {"thinking": 5},
        {"maxTurns": 0},
        {"mcpServers": {"a": {"command": 7}}},
        {"permissions": {"deny": [""]}},
        {"backgroundCalls": {"collapse": "yes"}},
    )
    for values in examples:
        place = files(tmp_path)
        write(place.user_file, values)
        ours = [p for p in place.load(str(tmp_path), trust=UNTRUSTED).problems if "not supported" not in p.text]
        assert bool(ours) == bool(list(validator.iter_errors(values))), (values, ours)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"sandbox": {"enabled": True}}, "sandbox.enabled: is not a setting; `sandbox` has `scope`, `network`"),
        ({"sandbox": {"Scope": "all"}}, "sandbox.Scope: is not a setting; did you mean `scope`?"),
        ({"maxturn": 3}, "maxturn: is not a setting; did you mean `maxTurns`?"),
        ({"deny": ["Bash"]}, "deny: is not a setting; did you mean `permissions.deny`?"),
        ({"hooks": {"PreToolUsed": []}}, "hooks.PreToolUsed: is not a hook event; did you mean `PreToolUse`?"),
        ({"permissions": {"denied": ["Bash"]}}, "permissions.denied: is not a setting; did you mean `deny`?"),
        (
            {"backgroundCalls": {"summaries": True}},
            "backgroundCalls.summaries: is not a setting; did you mean `summary`?",
        ),
    ],
)
def test_an_unknown_key_is_named_with_file_line_and_a_suggestion(tmp_path: Path, values: Any, said: str) -> None:
    place = files(tmp_path)
    path = write(place.user_file, {"permissions": {"deny": ["Read(~/.ssh/**)"]}, **values})
    if "permissions" in values:
        path = write(place.user_file, {"permissions": {"deny": ["Read(~/.ssh/**)"], **values["permissions"]}})
    settings = place.load(str(tmp_path), trust=UNTRUSTED)
    (problem,) = settings.problems
    assert str(problem) == f"{path}:{problem.line}: {said}"
    assert problem.key.split(".")[-1] in path.read_text().splitlines()[problem.line - 1]
    assert settings.listed("deny") == ["Read(~/.ssh/**)"]


def test_each_value_says_which_file_set_it(tmp_path: Path) -> None:
    place = files(tmp_path, cli={"effort": "low"})
    cwd = str(tmp_path / "project")
    user = write(place.user_file, {"model": "a", "sandbox": {"network": True}, "env": {"A": "1", "B": "1"}})
    shared = write(project_file(cwd), {"env": {"B": "2"}, "mcpServers": {"files": {"command": "x"}}})
    local = write(local_file(cwd), {"model": "b", "permissions": {"defaultMode": "plan", "deny": ["WebFetch"]}})
    settings = place.load(cwd, trust=EVERYTHING)
    assert settings.origins == {
        "model": str(local),
        "sandbox.network": str(user),
        "env.A": str(user),
        "env.B": str(shared),
        "mcpServers.files": str(shared),
        "permissions.defaultMode": str(local),
        "effort": "command line",
    }
    assert [(rule.rule, rule.file) for rule in settings.rules] == [("WebFetch", str(local))]
    assert settings.typed.env == {"A": "1", "B": "2"}
    assert (settings.typed.sandbox.network, settings.typed.sandbox.scope, settings.typed.memory) == (
        True,
        "reading",
        True,
    )


def test_defaults_are_those_of_the_structure(tmp_path: Path) -> None:
    typed = files(tmp_path).load(str(tmp_path), trust=UNTRUSTED).typed
    assert (typed.host, typed.host_keep_running, typed.host_idle_seconds) == (False, False, 2)
    assert (typed.read_claude_settings, typed.disable_all_hooks) == (True, False)
    assert typed.background_calls.collapse is True
    assert not typed.retention.days and not typed.model


@pytest.mark.parametrize("key", ["host", "hostKeepRunning", "readClaudeSettings"])
def test_a_project_cannot_set_what_is_the_users_own_to_set(tmp_path: Path, key: str) -> None:
    place = files(tmp_path)
    cwd = str(tmp_path / "project")
    path = write(project_file(cwd), {key: True})
    place.set_editor({key: True})
    settings = place.load(cwd, trust=EVERYTHING)
    assert settings.get(key) is None
    assert [str(problem) for problem in settings.problems] == [
        f"{path}: {key}: is ignored here: only your own settings may set it",
        f"editor settings: {key}: is ignored here: only your own settings may set it",
    ]
    place.set_editor({key: True}, user_level=True)
    assert place.load(cwd, trust=EVERYTHING).get(key) is True


def test_a_server_with_a_wrong_field_is_left_out_whole_and_the_others_stay(tmp_path: Path) -> None:
    place = files(tmp_path)
    write(
        place.user_file,
        {"mcpServers": {"bad": {"type": "carrier pigeon", "url": "http://x"}, "good": {"command": "y"}}},
    )
    settings = place.load(str(tmp_path), trust=UNTRUSTED)
    assert list(settings.get("mcpServers")) == ["good"]
    assert "mcpServers.bad.type: must be one of stdio, http" in str(settings.problems[0])


# --- files of Claude Code ---------------------------------------------------------------------------------------------

CLAUDE = {
    "model": "opus",
    "env": {"A": "1"},
    "apiKeyHelper": "steal",
    "permissions": {
        "defaultMode": "bypassPermissions",
        "deny": ["Read(./secrets/**)"],
        "ask": ["WebFetch"],
        "allow": ["Bash(npm test)", "Bash(git * main)"],
    },
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard"}]}],
        "FromTheFuture": [{"hooks": [{"type": "command", "command": "x"}]}],
    },
    "statusLine": {"type": "command", "command": "y"},
}


def test_of_the_users_claude_settings_hooks_and_rules_count_and_nothing_else(tmp_path: Path) -> None:
    from assent.permissions.rules import parse_rule

    place = files(tmp_path, claude_dir=tmp_path / "claude", parse_rule=parse_rule)
    path = write(tmp_path / "claude" / "settings.json", CLAUDE)
    settings = place.load(str(tmp_path), trust=UNTRUSTED)
    assert (settings.listed("deny"), settings.listed("ask")) == (["Read(./secrets/**)"], ["WebFetch"])
    assert "Bash(npm test)" in settings.listed("allow")
    assert settings.get("model") is None and settings.get("env") is None and settings.get("apiKeyHelper") is None
    assert settings.get("permissions.defaultMode") is None
    (entry,) = settings.hooks
    assert (entry.event, entry.source, entry.file, entry.foreign) == ("PreToolUse", "user", str(path), True)
    assert '"PreToolUse"' in path.read_text().splitlines()[entry.line - 2]
    write(place.user_file, {"readClaudeSettings": False})
    off = place.load(str(tmp_path), trust=UNTRUSTED)
    assert (off.hooks, off.rules) == ((), ())


def test_rules_that_only_restrict_may_speak_of_several_tools(tmp_path: Path) -> None:
    from assent.permissions.rules import parse_rule

    place = files(tmp_path, claude_dir=tmp_path / "claude", parse_rule=parse_rule)
    write(tmp_path / "claude" / "settings.json", {"permissions": {"deny": ["mcp__*"], "allow": ["mcp__*"]}})
    settings = place.load(str(tmp_path), trust=UNTRUSTED)
    assert (settings.listed("deny"), settings.listed("allow")) == (["mcp__*"], [])


@pytest.mark.parametrize("name", [".claude/settings.json", ".claude/settings.local.json"])
def test_claude_settings_of_a_project_restrict_at_once_and_activate_after_trust(tmp_path: Path, name: str) -> None:
    place = files(tmp_path)
    write(tmp_path / name, CLAUDE)
    before = place.load(str(tmp_path), trust=UNTRUSTED)
    assert (before.listed("deny"), before.listed("ask"), before.listed("allow")) == (
        ["Read(./secrets/**)"],
        ["WebFetch"],
        [],
    )
    assert before.hooks == ()
    shown = {(item.kind, item.name): item for item in before.unapproved}
    assert "guard" in shown["hook", "PreToolUse"].value and shown["hook", "PreToolUse"].must_be_shown
    assert {kind for kind, _ in shown} == {"hook", "rule"}
    after = place.load(str(tmp_path), trust=EVERYTHING)
    assert [entry.event for entry in after.hooks] == ["PreToolUse"]
    assert "Bash(npm test)" in after.listed("allow")


def test_hooks_of_github_are_read_after_trust_and_from_that_folder_only(tmp_path: Path) -> None:
    place = files(tmp_path)
    path = write(
        tmp_path / ".github" / "hooks" / "style.json",
        {
            "version": 1,
            "hooks": {"postToolUse": [{"type": "command", "command": "fmt"}]},
            "permissions": {"allow": ["Bash"]},
        },
    )
    write(tmp_path / ".github" / "hooks" / "notes.txt", "no hooks")
    assert place.load(str(tmp_path), trust=UNTRUSTED).hooks == ()
    settings = place.load(str(tmp_path), trust=EVERYTHING)
    assert [(entry.event, entry.file) for entry in settings.hooks] == [("PostToolUse", str(path))]
    assert settings.rules == () and settings.problems == ()
    assert path in place.files(str(tmp_path))


def test_all_hooks_can_be_disabled_except_those_of_the_policy(tmp_path: Path) -> None:
    place = files(tmp_path)
    write(place.user_file, {"disableAllHooks": True, "hooks": {"Stop": [{"command": "mine"}]}})
    write(place.policy_file, {"hooks": {"Stop": [{"command": "theirs"}]}})
    assert [entry.entry["command"] for entry in place.load(str(tmp_path), trust=UNTRUSTED).hooks] == ["theirs"]
    write(place.user_file, {"hooks": {"Stop": [{"command": "mine"}]}})
    both = place.load(str(tmp_path), trust=UNTRUSTED)
    assert [entry.entry["command"] for entry in both.hooks] == ["mine", "theirs"]


def test_a_policy_may_leave_only_its_own_hooks_and_no_other_file_can(tmp_path: Path) -> None:
    place = files(tmp_path)
    path = write(place.user_file, {"allowManagedHooksOnly": True, "hooks": {"Stop": [{"command": "mine"}]}})
    write(place.policy_file, {"hooks": {"Stop": [{"command": "theirs"}]}})
    settings = place.load(str(tmp_path), trust=UNTRUSTED)
    assert len(settings.hooks) == 2 and not settings.only_policy_hooks
    (problem,) = settings.problems
    assert str(problem).startswith(f"{path}:") and "policy file only" in problem.text
    write(place.policy_file, {"allowManagedHooksOnly": True, "hooks": {"Stop": [{"command": "theirs"}]}})
    settings = place.load(str(tmp_path), trust=UNTRUSTED)
    assert [entry.entry["command"] for entry in settings.hooks] == ["theirs"] and settings.only_policy_hooks


def test_lists_of_servers_for_hooks_are_united_and_a_project_can_only_narrow_them(tmp_path: Path) -> None:
    place = files(tmp_path, claude_dir=tmp_path / "claude")
    assert place.claude_user_file is not None
    assert place.load(str(tmp_path), trust=UNTRUSTED).hook_limits.allow_url("https://anything.example/")
    write(place.claude_user_file, {"allowedHttpHookUrls": ["https://a.example/*"]})
    write(place.user_file, {"allowedHttpHookUrls": ["https://b.example/*"], "httpHookAllowedEnvVars": ["A", "B"]})
    limits = place.load(str(tmp_path), trust=UNTRUSTED).hook_limits
    assert [limits.allow_url(f"https://{name}.example/x") for name in "abc"] == [True, True, False]
    write(tmp_path / ".claude" / "settings.json", {"allowedHttpHookUrls": ["https://*.example/*"]})
    write(project_file(str(tmp_path)), {"httpHookAllowedEnvVars": ["B", "C"]})
    limits = place.load(str(tmp_path), trust=UNTRUSTED).hook_limits
    assert [limits.allow_url(f"https://{name}.example/x") for name in "abc"] == [True, True, False]
    assert limits.allowed_variables(["A", "B", "C"]) == ["B"]
    write(tmp_path / ".claude" / "settings.json", {"allowedHttpHookUrls": []})
    limits = place.load(str(tmp_path), trust=UNTRUSTED).hook_limits
    assert not limits.allow_url("https://a.example/x")


@pytest.mark.parametrize(
    ("pattern", "url", "allowed"),
    [
        ("https://hooks.example.com/*", "https://hooks.example.com/a/b?c=d", True),
        ("https://hooks.example.com/*", "HTTPS://Hooks.Example.COM./a", True),
        ("https://Hooks.example.com./*", "https://hooks.example.com/a", True),
        ("https://hooks.example.com/*", "http://hooks.example.com/a", False),
        ("https://hooks.example.com/*", "https://hooks.example.com.evil.example/a", False),
        ("https://hooks.example.com/*", "https://evil.example/?https://hooks.example.com/", False),
        ("https://*.example.com/*", "https://a.example.com/x", True),
        ("http://localhost:*", "http://localhost:8080/x", True),
        ("http://localhost:*", "http://LOCALHOST:8080/x", True),
        ("http://localhost:*", "http://localhost:80@evil.example/", False),
        ("http://localhost:*", "http://localhost:x/", False),
        ("https://a.example/*", "https://a.example\\@evil.example/", False),
        ("https://a.example/*", " https://a.example/", False),
        ("*", "https://a.example/", True),
        ("*", "no address", False),
    ],
)
def test_an_address_of_a_hook_is_compared_as_a_whole(pattern: str, url: str, allowed: bool) -> None:
    assert HookLimits(urls=((pattern,),)).allow_url(url) is allowed


def test_an_untrusted_project_cannot_disable_the_users_hooks(tmp_path: Path) -> None:
    place = files(tmp_path)
    write(place.user_file, {"hooks": {"Stop": [{"command": "mine"}]}})
    write(project_file(str(tmp_path)), {"disableAllHooks": True})
    write(tmp_path / ".claude" / "settings.json", {"disableAllHooks": True})
    assert len(place.load(str(tmp_path), trust=UNTRUSTED).hooks) == 1
    assert place.load(str(tmp_path), trust=EVERYTHING).hooks == ()


def test_a_broken_claude_file_is_named_its_denials_hold_and_nothing_else_suffers(tmp_path: Path) -> None:
    place = files(tmp_path)
    path = write(tmp_path / ".claude" / "settings.json", '{"permissions": {"deny": ["Bash(rm:*)"],')
    write(place.user_file, {"model": "m"})
    settings = place.load(str(tmp_path), trust=UNTRUSTED)
    assert settings.listed("deny") == ["Bash(rm:*)"] and settings.get("model") == "m"
    (problem,) = settings.problems
    assert problem.file == str(path) and problem.foreign and "is not valid JSON" in problem.text


def test_lines_of_keys_are_found_in_nested_objects_lists_and_escaped_names() -> None:
    data = b'{\n "a": {"b": 1,\n  "c": [1, {"d": "x, {y",\n   "e": 2}]},\n "f\\u0067": [\n  [],\n  3]\n}'
    assert key_lines(data) == {
        "a": 2,
        "a.b": 2,
        "a.c": 3,
        "a.c[0]": 3,
        "a.c[1]": 3,
        "a.c[1].d": 3,
        "a.c[1].e": 4,
        "fg": 5,
        "fg[0]": 6,
        "fg[1]": 7,
    }
