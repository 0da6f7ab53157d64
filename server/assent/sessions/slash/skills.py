"""The skills of one session: those its folder has, and those that appear beside files the model touches.

A skill with `paths` is offered once a file it is for was touched; one in a folder further down once something there
was. Both arrive as attachments when they have settled, never in the tool's description, which stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio.to_thread

from assent.extensions.instructions.rules import matches
from assent.extensions.prompt_files import PromptFile
from assent.sessions.slash import running
from assent.sessions.slash.host import Session
from assent.tools.skill import LoadedSkill, Skills
from assent.types.blocks import text_block
from assent.types.errors import ToolError
from assent.types.ids import new_id
from assent.types.messages import Attachment

WATCHED = 32  # files, the most recently touched


class SessionSkills:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._beside: dict[str, PromptFile] = {}  # found in folders further down
        self._offered: set[str] = set()  # with `paths`, after a file they are for was touched
        self._looked: set[str] = set()

    def port(self) -> Skills:
        return Skills(known=self.known, load=self.load)

    def known(self) -> list[tuple[str, str]]:
        return [
            (skill.name, skill.listing) for skill in self._usable() if not skill.paths or skill.name in self._offered
        ]

    async def load(self, name: str, arguments: str) -> LoadedSkill:
        for skill in self._usable():
            if skill.name == name:
                return await running.loaded(self._session, skill, arguments)
        raise ToolError(f"There is no skill {name!r}.")

    async def hits(self) -> Sequence[Attachment]:
        """Skills that what was touched since brings up."""
        paths = [path for path in list(self._session.state.read_files)[-WATCHED:] if path not in self._looked]
        if not paths or self._session.deps.definitions is None:
            return ()
        self._looked.update(paths)
        found = await anyio.to_thread.run_sync(self._find, paths)
        if not found:
            return ()
        lines = "\n".join(f"- {skill.name}: {skill.listing}" for skill in found)
        text = f"Skills that fit what you are working on; load one with Skill:\n{lines}"
        names = [skill.name for skill in found]
        return (Attachment(uuid=new_id(), kind="skills", content=(text_block(text),), data={"skills": names}),)

    def _usable(self) -> list[PromptFile]:
        definitions = self._session.deps.definitions
        known = definitions.of(self._session.cwd).usable_skills if definitions is not None else ()
        named = {skill.name for skill in known}
        beside = [skill for name, skill in self._beside.items() if name not in named]
        return [skill for skill in (*known, *beside) if skill.model_invocable and not skill.withheld]

    def _find(self, paths: Sequence[str]) -> list[PromptFile]:
        session, before = self._session, {skill.name for skill in self._usable()}
        fresh: dict[str, PromptFile] = {}
        folders = {path.rpartition("/")[0]: path for path in paths}
        for path in folders.values():
            for skill in session.deps.definitions.nested_skills(session.cwd, path) if session.deps.definitions else ():
                if skill.name not in before and skill.model_invocable:
                    self._beside[skill.name] = fresh[skill.name] = skill
        for skill in self._usable():
            covered = any(matches(pattern, path, session.cwd) for pattern in skill.paths for path in paths)
            if skill.paths and covered and skill.name not in self._offered:
                self._offered.add(skill.name)
                fresh[skill.name] = skill
        return [skill for skill in fresh.values() if not skill.paths or skill.name in self._offered]
