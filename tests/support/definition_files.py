"""Definitions on disk for tests: a home, a project in it, and a word of trust."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assent.app import App
from assent.extensions.catalogue import Activation, Catalogue, Catalogues
from assent.extensions.places import Place, Surroundings
from assent.sessions.asking.trust_question import look

Json = dict[str, Any]


@dataclass
class Word:
    """The user's word on the folder: trusted or not, and for which activations."""

    trusted: bool = True
    approved: Callable[[Activation], bool] = field(default=lambda _activation: True)

    def approves(self, activation: Activation) -> bool:
        return self.approved(activation)


@dataclass
class Ground:
    home: Path
    plugins: list[Place] = field(default_factory=list[Place])

    @property
    def project(self) -> Path:
        return self.home / "work" / "app"

    def write(self, path: str, text: str) -> Path:
        """A file of the project, or of the home when the path begins with `~/`."""
        file = self.home / path[2:] if path.startswith("~/") else self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def catalogues(self, *, reserved: tuple[str, ...] = ()) -> Catalogues:
        around = Surroundings(str(self.home), str(self.home / "config"))
        return Catalogues(around, plugins=lambda: self.plugins, reserved=reserved)

    def load(self, word: Word | None = None, *, nested: str = "", reserved: tuple[str, ...] = ()) -> Catalogue:
        return self.catalogues(reserved=reserved).load(str(self.project), word or Word(), nested=nested)


def ground(tmp_path: Path) -> Ground:
    found = Ground(tmp_path)
    (found.project / ".git").mkdir(parents=True)
    return found


async def opened(app: App, folder: Path) -> Json:
    return await app.sessions.request("assent/session/new", {"cwd": str(folder)})


async def said(app: App, session: Json, prompt: str) -> str:
    """The answer to a prompt, when its turn has ended."""
    params = {"sessionId": session["sessionId"], "prompt": prompt, "wait": True}
    return str((await app.sessions.request("assent/session/send", params))["result"]["result"])


async def trust(app: App, folder: Path) -> None:
    """Trust the folder with all that it would activate now."""
    await app.definitions.load(str(folder))
    shown = look(app.settings, app.trust, str(folder))
    assert app.trust.set(str(folder), trusted=True, remember="session", items=shown.items)
