"""A small workspace on disk, with a repository, some files and a home beside it, for tests that resolve real paths."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assent.permissions.actions import action_for
from assent.permissions.chain import decide
from assent.permissions.context import PermissionContext, Policy
from assent.permissions.rules import RuleSet
from assent.types.permissions import Decision, Mode

CANARY = '#!/bin/sh\ntouch "$(dirname "$0")/PWNED"\n'


@dataclass(frozen=True)
class Scratch:
    root: Path
    home: Path

    def context(
        self,
        *,
        mode: Mode = "default",
        trusted: bool = True,
        policy: object = None,
        cwd: str | None = None,
        interactive: bool = True,
        tools: frozenset[str] | None = None,
        disabled: dict[str, str] | None = None,
        read_roots: tuple[str, ...] = (),
        own_dirs: tuple[str, ...] = (),
        unfenced: str = "",
        **rules: list[str],
    ) -> PermissionContext:
        return PermissionContext(
            cwd=cwd or str(self.root),
            home=str(self.home),
            roots=(str(self.root),),
            mode=mode,
            trusted=trusted,
            policy=Policy() if policy is None else Policy.from_json(policy),
            rules=RuleSet.from_settings({"user": rules}),
            interactive=interactive,
            tools=tools,
            disabled_tools=disabled or {},
            read_roots=read_roots,
            own_dirs=own_dirs,
            unfenced=unfenced,
        )

    def decide(self, tool: str, input: dict[str, Any], **options: Any) -> Decision:
        return decide(action_for(tool, input), self.context(**options))

    def bash(self, command: str, **options: Any) -> Decision:
        return self.decide("Bash", {"command": command}, **options)


def make_scratch(base: Path, *, key: bool = True) -> Scratch:
    """With `key`, the workspace holds a link to the home's SSH key."""
    root, home = base / "ws", base / "home"
    for folder in (root / "sub" / "deep", home / ".ssh", base / "ws-evil"):
        folder.mkdir(parents=True)
    (root / "README.md").write_text("hello world\nfoo,bar\n")
    (root / "a.py").write_text("print(1)\n")
    (root / "b.py").write_text("print(2)\n")
    (root / "x.json").write_text('{"a": {"b": 1}}\n')
    (root / "sub" / "a.py").write_text("x = 1\n")
    (root / "sub" / "deep" / "c.txt").write_text("deep\n")
    (root / "ev.sh").write_text(CANARY)
    (root / "ev.sh").chmod(0o755)
    (home / ".ssh" / "id_rsa").write_text("secret\n")
    (base / "ws-evil" / "secret.txt").write_text("secret\n")
    if key:
        (root / "key").symlink_to(home / ".ssh" / "id_rsa")
    git = [
        "git",
        "-C",
        str(root),
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
        "-c",
        "init.defaultBranch=main",
    ]
    for words in (["init", "-q", "-b", "main"], ["add", "README.md", "a.py", "sub"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return Scratch(root=root, home=home)
