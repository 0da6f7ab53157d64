"""What is wrong with a user's files, as a client sees it: one message with file and line, and all else works (X)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assent.app import Options, headless
from assent.sessions.stream.front import Call, FrontFlags
from assent.wire.asks import Elicit, PermissionAsk

Json = dict[str, Any]
GOOD = "---\nname: good\ndescription: good\n---\nBe good."
CASES: dict[str, tuple[str, str, str]] = {
    "a header with a line that is no pair": (
        ".claude/skills/odd/SKILL.md",
        "---\nname: odd\n???\ndescription: d\n---\nx",
        ":3: ",
    ),
    "a header that is never closed": (".claude/agents/odd.md", "---\nname: odd\ndescription: d\nx", ":1: "),
    "a skill without a description": (".claude/skills/odd/SKILL.md", "---\nname: odd\n---\nx", ":1: "),
    "a skill that names a missing script": (
        ".claude/skills/odd/SKILL.md",
        "---\nname: odd\ndescription: d\n---\nfirst\nRun scripts/gone.sh now.",
        ":6: names scripts/gone.sh",
    ),
    "a cyclic import": (".claude/CLAUDE.md", "top\n@CLAUDE.md\n", ":2 imports CLAUDE.md, which leads back"),
    "an import of nothing": (".claude/CLAUDE.md", "top\n\n@gone.md\n", ":3 imports gone.md, which is not there"),
    "an unknown kind of hook": (
        ".claude/settings.json",
        '{"hooks": {\n "Stop": [\n  {"hooks": [{"type": "dance"}]}]}}',
        ":3: ",
    ),
    "settings that are no JSON": (".claude/settings.json", '{\n "hooks": ', "settings.json"),
    "a byte order mark": (".claude/skills/odd/SKILL.md", "\ufeff" + GOOD.replace("good", "odd"), ""),
    "colons that nobody quoted": (
        ".claude/skills/odd/SKILL.md",
        "---\nname: odd\ndescription: use it: always\n---\nx",
        "",
    ),
    "tabs": (".claude/skills/odd/SKILL.md", "---\nname:\todd\ndescription:\td\nmetadata:\n\ta: b\n---\nx", ""),
}


class Front:
    flags = FrontFlags(permissions=True, elicitation=True, partials=True, max_event_rate=0)

    def __init__(self) -> None:
        self.events: list[Json] = []

    def event(self, published: Any) -> None:
        self.events.append(json.loads(published.line)["event"])

    async def ask(self, ask: PermissionAsk) -> Json:
        return {"decision": "allow"}

    async def elicit(self, elicit: Elicit) -> Json:
        return {"action": "decline"}

    def withdraw(self, request_id: str) -> None: ...


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


HOOKS = {
    "an odd exit": ("exit 77", "error", "exit"),
    "a kill": ("kill -9 $$", "error", "signal 9"),
    "10 MB of complaints": ("head -c 10000000 /dev/zero | tr '\\0' x >&2; exit 1", "error", "xxx"),
    "invalid UTF-8": (r"printf '\xff\xfe' >&2; exit 1", "error", "\ufffd"),
    "broken JSON": ("echo '{\"decision\": '", "error", "JSON"),
    "a hang": ("sleep 300", "timeout", "did not end within"),
}


@pytest.mark.parametrize("case", HOOKS)
async def test_a_hook_that_fails_is_seen_once_with_the_file_and_line_that_name_it(cwd: Path, case: str) -> None:  # H
    body, outcome, words = HOOKS[case]
    file = cwd.parent / ".config/assent/settings.json"
    file.parent.mkdir(parents=True)
    handler = {"type": "command", "command": body, "timeout": 2 if outcome == "timeout" else 60}
    event = "Stop" if case == "broken JSON" else "UserPromptSubmit"  # there, words that are no JSON are context
    file.write_text(json.dumps({"hooks": {event: [{"hooks": [handler]}]}}, indent=1))
    front = Front()
    async with headless(Options(source_seconds=60, offline=True, interactive=True)) as app:
        opened = await app.sessions.request("assent/session/new", {"cwd": str(cwd)}, Call(front=front))
        params = {"sessionId": opened["sessionId"], "prompt": "hello", "wait": True}
        result = (await app.sessions.request("assent/session/send", params, Call(front=front)))["result"]
    assert result["subtype"] == "success"
    (seen,) = [event for event in front.events if event["type"] == "hook" and event["outcome"] != "running"]
    assert (seen["outcome"], seen["source"]) == (outcome, f"{file}:4")
    assert words in seen["text"] and len(json.dumps(seen)) < 20_000


@pytest.mark.parametrize("case", CASES)
async def test_what_is_wrong_with_a_file_is_seen_once_with_its_line_and_the_rest_works(cwd: Path, case: str) -> None:
    path, words, told = CASES[case]
    file, good = cwd.parent / path, cwd.parent / ".claude/skills/good/SKILL.md"
    for each, text in ((good, GOOD), (file, words)):
        each.parent.mkdir(parents=True, exist_ok=True)
        each.write_text(text, encoding="utf-8")
    front = Front()
    async with headless(Options(source_seconds=60, offline=True, interactive=True)) as app:
        opened = await app.sessions.request("assent/session/new", {"cwd": str(cwd)}, Call(front=front))
        for prompt in ("hello", "/skills", "hello again"):
            params = {"sessionId": opened["sessionId"], "prompt": prompt, "wait": True}
            result = (await app.sessions.request("assent/session/send", params, Call(front=front)))["result"]
            assert result["subtype"] == "success"
            assert prompt != "/skills" or "good" in result["result"]
    texts = [event["text"] for event in front.events if event["type"] == "notice"]
    seen = [text for text in texts if str(file) in text and "also run in Assent" not in text]
    if told:
        assert len(seen) == 1 and (f"{file}{told}" in seen[0] or told == file.name), seen
    else:
        assert seen == []
