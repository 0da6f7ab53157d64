"""The skills of one session: those its folder has, and those that appear beside files the model touches.

A skill with `paths` is offered once a file it is for was touched; one in a folder further down once something there
was. Both arrive as attachments when they have settled, never in the tool's description, which stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio.to_thread

from assent.extensions.catalogue import NOT_APPROVED, Catalogue
from assent.extensions.instructions.instruction_rules import matches
from assent.extensions.prompt_files import PromptFile
from assent.sessions.slash import running
from assent.sessions.slash.host import SlashSession
from assent.tools.skill import LoadedSkill, Skills
from assent.types.blocks import text_block
from assent.types.errors import ToolError
from assent.types.ids import new_id
from assent.types.messages import Attachment

WATCHED = 32  # files, the most recently touched
_MOVE = "In the project's own folder of skills it would be shown with that, and asked about."


class SessionSkills:
    def __init__(self, session: SlashSession) -> None:
        self._session = session
        self._beside: dict[str, PromptFile] = {}  # found in folders further down
        self._touched: dict[str, str] = {}  # the file that each of them was found by
        self._offered: set[str] = set()  # with `paths`, after a file they are for was touched
        self._looked: set[str] = set()
        self._wrong: dict[str, bool] = {}  # what is wrong with skills further down; whether the user was told
        self._made: tuple[Catalogue, int, list[PromptFile]] = (Catalogue(), 0, [])

    def port(self) -> Skills:
        return Skills(known=self.known, load=self.load)

    def known(self) -> list[tuple[str, str]]:
        return [
            (skill.name, skill.listing) for skill in self._usable() if not skill.paths or skill.name in self._offered
        ]

    async def load(self, name: str, arguments: str) -> LoadedSkill:
        skill = next((each for each in self._usable() if each.name == name), None)
        if skill is not None and skill is self._beside.get(name):
            skill = await anyio.to_thread.run_sync(self._read_again, name)
        if skill is None:
            raise ToolError(f"There is no skill {name!r}.")
        return await running.loaded(self._session, skill, arguments)

    async def hits(self) -> Sequence[Attachment]:
        """Skills whose paths match files that were touched since the last call."""
        paths = [path for path in list(self._session.state.read_files)[-WATCHED:] if path not in self._looked]
        if not paths or self._session.deps.definitions is None:
            return ()
        self._looked.update(paths)
        found = await anyio.to_thread.run_sync(self._find, paths)
        for words in [words for words, told in self._wrong.items() if not told]:
            self._wrong[words] = True
            self._session.notice("warning", words)
        if not found:
            return ()
        lines = "\n".join(f"- {skill.name}: {skill.listing}" for skill in found)
        text = f"Skills that fit what you are working on; load one with Skill:\n{lines}"
        names = [skill.name for skill in found]
        return (Attachment(uuid=new_id(), kind="skills", content=(text_block(text),), data={"skills": names}),)

    def _usable(self) -> list[PromptFile]:
        """Asked for several times in a turn: made again only when the files, their trust or those beside changed."""
        definitions = self._session.deps.definitions
        catalogue = definitions.of(self._session.cwd) if definitions is not None else self._made[0]
        if catalogue is not self._made[0] or len(self._beside) != self._made[1]:
            named = {skill.name for skill in catalogue.usable_skills}
            beside = [skill for name, skill in self._beside.items() if name not in named]
            usable = [skill for skill in (*catalogue.usable_skills, *beside) if skill.model_invocable]
            self._made = (catalogue, len(self._beside), [skill for skill in usable if not skill.withheld])
        return self._made[2]

    def _read_again(self, name: str) -> PromptFile | None:
        """A skill further down as it is now: its file, or the trust in its folder, may have changed."""
        definitions = self._session.deps.definitions
        if definitions is None:
            return None
        catalogue = definitions.nested(self._session.cwd, self._touched[name])
        usable = (skill for skill in catalogue.usable_skills if skill.name == name and skill.model_invocable)
        return next((skill for skill in usable if not skill.withheld), None)

    def _find(self, paths: Sequence[str]) -> list[PromptFile]:
        session, before = self._session, {skill.name for skill in self._usable()}
        definitions = session.deps.definitions
        if definitions is None:
            return []
        known = definitions.of(session.cwd).notices
        fresh: dict[str, PromptFile] = {}
        folders = {path.rpartition("/")[0]: path for path in paths}
        for path in folders.values():
            catalogue = definitions.nested(session.cwd, path)
            for notice in catalogue.notices:
                if notice not in known:
                    self._wrong.setdefault(str(notice), False)
            for skill in catalogue.skills:
                if skill.origin.nested and skill.withheld == NOT_APPROVED:
                    words = f"{skill.origin.file}: the skill {skill.name} is not used: {NOT_APPROVED}. {_MOVE}"
                    self._wrong.setdefault(words, False)
            for skill in catalogue.usable_skills:
                if skill.name not in before and skill.model_invocable:
                    self._beside[skill.name] = fresh[skill.name] = skill
                    self._touched[skill.name] = path
        for skill in self._usable():
            covered = any(matches(pattern, path, session.cwd) for pattern in skill.paths for path in paths)
            if skill.paths and covered and skill.name not in self._offered:
                self._offered.add(skill.name)
                fresh[skill.name] = skill
        return [skill for skill in fresh.values() if not skill.paths or skill.name in self._offered]
