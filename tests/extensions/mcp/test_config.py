"""Entries of `mcpServers`: what is read, what is refused, what expands, and what an approval covers."""

from typing import Any

import pytest

from assent.extensions.mcp.config import Rejected, Scope, ServerConfig, read_entry, tool_name

VARIABLES = {"HOME": "/home/ada", "TOKEN": "secret", "ANTHROPIC_API_KEY": "sk-ant", "EMPTY": ""}


def read(entry: Any, *, scope: Scope = "user", name: str = "srv", **more: Any) -> ServerConfig:
    result = read_entry(name, entry, scope=scope, source="file", variables=VARIABLES, **more)
    assert isinstance(result, ServerConfig), result
    return result


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"url": "https://x.org"}, "needs a `type`"),
        ({"type": "ws", "url": "wss://x.org"}, "not supported"),
        ({"type": "http", "url": ""}, "not configured"),
        ({"type": "http", "url": "file:///etc/passwd"}, "must begin with http"),
        ({"args": ["x"]}, "`command` is missing"),
        ({"command": "x", "args": "y"}, "must be a list"),
        ({"command": 3}, "must hold text"),
        ("x", "must be an object"),
        ({"type": "carrier-pigeon"}, "not a transport"),
        (
            {"type": "http", "url": "https://x.org", "oauth": {"authServerMetadataUrl": "http://as.org/m"}},
            "must begin with https",
        ),
    ],
)
def test_an_entry_that_cannot_be_used_is_refused_in_words(entry: Any, words: str) -> None:
    result = read_entry("srv", entry, scope="user", source="file", variables={})
    assert isinstance(result, Rejected)
    assert words in result.problem


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "${ODD}"])
@pytest.mark.parametrize("key", ["command", "args", "env", "cwd", "url", "headers", "headersHelper", "oauth"])
def test_text_that_cannot_be_passed_on_costs_its_own_entry_only(key: str, text: str) -> None:
    values: dict[str, Any] = {"args": [text], "env": {"A": text}, "headers": {"A": text}, "oauth": {"clientId": text}}
    web = key in ("url", "headers", "headersHelper", "oauth")
    base: dict[str, Any] = {"type": "http", "url": "https://x.org"} if web else {"command": "x"}
    entry = {**base, key: values.get(key, text)}
    result = read_entry("srv", entry, scope="user", source="f", variables={"ODD": "\udcff"})  # a byte that is no UTF-8
    if text == "${ODD}" and key in ("headersHelper", "oauth"):  # the shell's own, and no place for variables
        assert isinstance(result, ServerConfig) and result.hash
    else:
        assert isinstance(result, Rejected) and "cannot be passed on" in result.problem


def test_a_name_with_other_characters_is_refused() -> None:
    assert isinstance(read_entry("a b", {"command": "x"}, scope="user", source="f", variables={}), Rejected)


@pytest.mark.parametrize("name", ["github__evil", "github_"])
def test_a_name_whose_tools_another_server_s_rule_would_cover_is_refused(name: str) -> None:
    assert tool_name(name, "run").startswith("mcp__github__"), "the rule `mcp__github` would allow it"
    assert isinstance(read_entry(name, {"command": "x"}, scope="project", source="f", variables={}), Rejected)


def test_transports_are_told_by_their_type_and_stdio_is_the_default() -> None:
    assert read({"command": "x"}).transport == "stdio"
    assert read({"type": "streamable-http", "url": "https://x.org"}).transport == "http"
    assert read({"type": "sse", "url": "https://x.org"}).transport == "sse"
    assert read({"url": "https://x.org"}, lenient=True).transport == "http"


def test_variables_expand_with_defaults_and_what_is_unset_stays_as_it_is() -> None:
    config = read({"command": "${HOME}/bin/x", "args": ["${NOPE:-fallback}", "${NOPE}"], "env": {"A": "${TOKEN}"}})
    assert (config.command, config.args, config.env) == ("/home/ada/bin/x", ("fallback", "${NOPE}"), {"A": "secret"})
    assert any("NOPE" in problem for problem in config.problems)


@pytest.mark.parametrize("scope", ["project", "local", "plugin", "editor"])
@pytest.mark.parametrize("name", ["TOKEN", "ANTHROPIC_API_KEY", "MY_SECRET", "DB_PASSWORD", "GITHUB_TOKEN"])
def test_secret_variables_never_expand_outside_the_user_s_own_settings(scope: Scope, name: str) -> None:
    entry = {"command": "x", "args": [f"${{{name}}}", f"${{{name}:-default}}"], "env": {"A": f"${{{name}}}"}}
    result = read_entry("srv", entry, scope=scope, source="f", variables={name: "value"})
    assert isinstance(result, ServerConfig)
    assert "value" not in str((result.args, result.env, result.shown))
    assert "default" not in result.args
    headers = {"type": "http", "url": f"https://x.org/${{{name}}}", "headers": {"Authorization": f"${{{name}}}"}}
    remote = read_entry("srv", headers, scope=scope, source="f", variables={name: "value"})
    assert isinstance(remote, ServerConfig)
    assert "value" not in f"{remote.url} {remote.headers}"


def test_the_hash_covers_command_arguments_names_of_variables_and_address() -> None:
    base = read({"command": "x", "args": ["1"], "env": {"A": "1"}})
    assert base.hash == read({"command": "x", "args": ["1"], "env": {"A": "2"}}).hash
    for other in (
        {"command": "y", "args": ["1"], "env": {"A": "1"}},
        {"command": "x", "args": ["2"], "env": {"A": "1"}},
        {"command": "x", "args": ["1"], "env": {"A": "1", "LD_PRELOAD": "x"}},
        {"type": "http", "url": "https://x.org"},
    ):
        assert read(other).hash != base.hash


def test_a_person_is_shown_the_whole_command_with_expanded_names_and_no_values_of_variables() -> None:
    shown = read({"command": "${HOME}/x", "args": ["a b", "$(rm)"], "env": {"KEY": "${TOKEN}"}}).shown
    assert shown == "command: /home/ada/x 'a b' '$(rm)'\nvariables: KEY"


def test_where_the_user_signs_in_is_shown_and_part_of_what_an_approval_covers() -> None:
    entry: Any = {"type": "http", "url": "https://x.org"}
    signed = read({**entry, "oauth": {"authServerMetadataUrl": "https://as.org/m"}})
    assert "https://as.org/m" in signed.shown
    other = read({**entry, "oauth": {"authServerMetadataUrl": "https://evil.org/m"}})
    assert len({read(entry).hash, signed.hash, other.hash}) == 3


def test_sampling_is_the_user_s_own_to_allow() -> None:
    assert read({"command": "x", "sampling": True}).sampling
    assert not read({"command": "x", "sampling": True}, scope="project").sampling


def test_names_of_tools_hold_only_what_the_api_takes() -> None:
    assert tool_name("plugin:a:b", "x.y z") == "mcp__plugin_a_b__x_y_z"
