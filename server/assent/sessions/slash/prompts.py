"""Built-in commands that are prompts: /init writes the project's instructions, /review looks at a change."""

from __future__ import annotations

from assent.extensions.commands import Expansion, SlashCommand
from assent.sessions.slash.host import SlashSession
from assent.types.blocks import text_block

INIT = """\
Write the instruction file of this project, so that an agent that has never seen it works well here from the first \
minute.

1. Look at what is there: an ASSENT.md, AGENTS.md, CLAUDE.md, .cursor/rules, .github/copilot-instructions.md or \
README. If an instruction file exists, improve that one; otherwise write AGENTS.md at the root.
2. Find out, from files and not from guesses: how to build, lint, type-check, run all tests and run one single test; \
which commands CI runs; how the code is laid out and which parts depend on which; conventions that are not obvious \
from one file (naming, error handling, generated files, what must not be edited); how changes are committed and \
released.
3. Check commands that are safe to run before you write them down. Leave out what you could not confirm.

Write 20 to 80 lines: commands first, then architecture in a few sentences, then conventions. No generic advice, no \
list of every file, nothing that any developer knows anyway. Keep what people wrote by hand; change it only where it \
is wrong, and say so. At the end tell me in three sentences what you wrote and what you were unsure of."""

REVIEW = """\
Review a change and report what is wrong with it. Change nothing.

What to review: {what}

1. Read the change itself, then enough of the code around it to judge it: callers, tests, the types involved.
2. Look for, in this order: wrong behaviour (edge cases, errors, concurrency, off-by-one, broken callers); security \
(input that is trusted too far, secrets, injection, permissions); lost data; missing or meaningless tests; needless \
complexity; departures from how this project does things. Style only where a formatter would not settle it.
3. Verify before you report: trace the path by which it goes wrong. Drop what you cannot make plausible.

Report findings most serious first, each as: path:line, what goes wrong and when, how to fix it in a sentence. Say at \
the top whether the change can go in as it is. If you found nothing, say so and what you checked."""

LOCAL = (
    "the work that is not committed yet: `git status`, `git diff HEAD` and untracked files. If there is none, the "
    "commits of this branch that its main branch does not have."
)


async def _init(session: SlashSession, arguments: str) -> Expansion:
    if session.deps.session_hooks is not None:
        await session.deps.session_hooks.set_up(session, "init")
    wish = f"\n\nThe user adds: {arguments}" if arguments else ""
    return Expansion(blocks=(text_block(INIT + wish),))


async def _review(arguments: str) -> Expansion:
    return Expansion(blocks=(text_block(REVIEW.format(what=arguments or LOCAL)),))


def commands(session: SlashSession) -> tuple[SlashCommand, ...]:
    async def init(arguments: str) -> Expansion:
        return await _init(session, arguments)

    return (
        SlashCommand(
            name="init",
            description="write or improve the project's instruction file",
            argument_hint="[what to mind]",
            expand=init,
        ),
        SlashCommand(
            name="review",
            description="review a change: uncommitted work, a branch, a commit or a pull request",
            argument_hint="[what]",
            expand=_review,
        ),
    )
