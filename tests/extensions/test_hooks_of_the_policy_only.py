"""`allowManagedHooksOnly` and `disableAllHooks` in the whole program: which hooks leave their mark, and what the list says (H)."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assent.app import Options, headless
from assent.cli.ask import Printer
from assent.cli.plugin import installed_plugins
from assent.sessions.stream.front import Call
from assent.storage import paths
from assent.storage.settings import SettingsFiles
from assent.storage.trust import EVERYTHING, TrustStore
from assent.types.blocks import Json
from fakeapi import FakeApi, Reply, Request, text, tool

SOURCES = ("user", "claude", "project", "plugin", "skill", "plugin-skill", "command", "agent")


class Home:
    """A home, a trusted project and a plugin in which every source of hooks has one for Bash that makes a file."""

    def __init__(self, root: Path) -> None:
        self.root, self.home, self.cwd = root, root / "home", root / "project"
        self.policy = root / "policy.json"

    def mark(self, source: str) -> Path:
        return self.root / f"ran-{source}"

    def hooks(self, source: str) -> Json:
        command = {"type": "command", "command": f"touch {self.mark(source)}"}
        return {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [command]}]}}

    def write(self, path: Path, value: Json) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value))

    def define(self, path: Path, source: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        header = f"---\nname: {source}\ndescription: d\nhooks: {json.dumps(self.hooks(source)['hooks'])}\n---\n"
        path.write_text(f"{header}Be careful.\n")

    def fill(self) -> None:
        self.write(self.home / ".config/assent/settings.json", self.hooks("user"))
        self.write(self.home / ".claude/settings.json", self.hooks("claude"))
        self.write(self.cwd / ".assent/settings.json", self.hooks("project"))
        self.define(self.home / ".claude/skills/skill/SKILL.md", "skill")
        self.define(self.home / ".claude/commands/command.md", "command")
        self.define(self.home / ".claude/agents/agent.md", "agent")
        plugin = self.root / "tools"
        self.write(plugin / ".claude-plugin/plugin.json", {"name": "tools"})
        self.write(plugin / "hooks/hooks.json", self.hooks("plugin"))
        self.define(plugin / "skills/plugin-skill/SKILL.md", "plugin-skill")
        plugins = installed_plugins()
        plugins.accept(plugins.stage(str(plugin), cwd="/"))
        trust = TrustStore(paths.config_dir() / "trust.json")
        items = SettingsFiles.standard().load(str(self.cwd), trust=EVERYTHING).activates
        trust.set(str(self.cwd), trusted=True, remember="always", items=items)

    def ran(self) -> list[str]:
        return [source for source in (*SOURCES, "policy") if self.mark(source).exists()]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = Home(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    made.fill()
    return made


def model(request: Request) -> Reply:
    """Starts the agent on `delegate`, runs a command on `work`, and is done after each."""
    if any(block.get("type") == "tool_result" for _, block in request.blocks[-1:]):
        return Reply(parts=(text("Done."),))
    if "delegate" in request.last_text:
        return Reply(parts=(tool("Agent", description="d", prompt="work", subagent_type="agent"),))
    if "work" in request.last_text:
        return Reply(parts=(tool("Bash", command="true"),))
    return Reply(parts=(text("Yes."),))


@contextmanager
def environment(api: FakeApi) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in api.env.items():
            patch.setenv(name, value)
        yield


async def use_everything(home: Home) -> list[Json]:
    """Load each skill and command, start the agent, run a command in both; gives the list of hooks then."""
    async with FakeApi() as api:
        api.otherwise(model)
        with environment(api):
            settings = {"permissions": {"allow": ["Bash", "Agent"]}}
            async with headless(Options(source_seconds=60, interactive=False, settings=settings)) as app:
                app.session_hooks.settings.policy_file = home.policy
                call = Call(front=Printer(stream=False))
                session = (await app.sessions.request("assent/session/new", {"cwd": str(home.cwd)}, call))["sessionId"]
                for prompt in ("/skill", "/tools:plugin-skill", "/command", "delegate", "work"):
                    params = {"sessionId": session, "prompt": prompt, "wait": True}
                    done = (await app.sessions.request("assent/session/send", params, call))["result"]
                    assert done["terminal"] == "completed", done
                return app.session_hooks.listed(str(home.cwd), session)


def states(listed: list[Json]) -> dict[str, bool]:
    return {hook["command"].rpartition("/ran-")[2]: hook["active"] for hook in listed}


async def test_every_source_of_hooks_leaves_its_mark_where_nothing_forbids_it(home: Home) -> None:
    home.write(home.policy, home.hooks("policy"))
    listed = await use_everything(home)
    assert home.ran() == [*SOURCES, "policy"]
    here = [source for source in (*SOURCES, "policy") if source != "agent"]  # whose run is over
    assert states(listed) == dict.fromkeys(here, True)


@pytest.mark.parametrize("key", ["allowManagedHooksOnly", "disableAllHooks"])
async def test_only_the_policy_s_hooks_run_and_the_others_are_listed_with_the_reason(home: Home, key: str) -> None:
    home.write(home.policy, {key: True, **home.hooks("policy")})
    listed = await use_everything(home)
    assert home.ran() == ["policy"]
    here = [source for source in SOURCES if source != "agent"]
    assert states(listed) == {**dict.fromkeys(here, False), "policy": True}
    assert all(key in hook["withheld"] for hook in listed if not hook["active"])
