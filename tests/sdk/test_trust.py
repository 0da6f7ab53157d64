"""Which settings count for a program: the user's own; a project's only where they are asked for and trusted."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import pytest

import assent
from assent.permissions.rules import parse_rule
from assent.sessions.asking.trust_question import approve, look
from assent.storage import paths
from assent.storage.settings import SettingsFiles
from assent.storage.trust import TrustStore
from fakeapi import FakeApi, text, tool

HOOK = {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "touch hooked"}]}]}
ASKING = {"permissions": {"allow": ["Bash(touch made)"]}, "hooks": HOOK}


def write_project(project: Path, settings: Mapping[str, object]) -> None:
    (project / ".assent").mkdir()
    (project / ".assent" / "settings.json").write_text(json.dumps(settings))


def trust(project: Path) -> None:
    """The yes that `assent chat` or an editor asks for, given as they give it."""
    store = TrustStore(paths.config_dir() / "trust.json")
    files = SettingsFiles.standard(cli={}, parse_rule=parse_rule)
    assert approve(files, store, look(files, store, str(project)), remember="always")


@pytest.mark.parametrize(
    ("sources", "trusted", "counts"),
    [(("user",), True, False), (("user", "project"), False, False), (("user", "project"), True, True)],
    ids=["not asked for", "not trusted", "asked for and trusted"],
)
async def test_what_a_project_would_activate_needs_the_wish_and_the_trust(
    project: Path, model: FakeApi, sources: Sequence[Literal["user", "project"]], trusted: bool, counts: bool
) -> None:
    write_project(project, ASKING)
    if trusted:
        trust(project)
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Tried."))
    async with assent.Client(cwd=project, options=assent.Options(setting_sources=sources)) as client:
        result = await client.ask("make it")
    assert ((project / "made").exists(), (project / "hooked").exists()) == (counts, counts)
    assert [denial.tool_name for denial in result.permission_denials] == ([] if counts else ["Bash"])


async def test_the_users_own_settings_count_without_being_asked_for(project: Path, model: FakeApi) -> None:
    own = paths.config_dir() / "settings.json"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps(ASKING))
    model.reply(tool("Bash", command="touch made"))
    model.reply(text("Made."))
    async with assent.Client(cwd=project) as client:
        await client.ask("make it")
    assert (project / "made").exists() and (project / "hooked").exists()
