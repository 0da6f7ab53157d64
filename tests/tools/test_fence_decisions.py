"""Which commands are fenced in, and what happens when that cannot be done: a person decides, nothing runs silently."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import pytest

from assent.permissions.actions import action_for
from assent.permissions.chain import decide
from assent.permissions.context import PermissionContext
from assent.tools.bash import Bash
from assent.tools.process import fence_reads, landlock
from assent.tools.process.fence import RETRY_AFTER, FencedRun, Fences
from assent.tools.process.fence_reads import CommandPlace, Inexpressible, reading_rules
from assent.tools.process.sandbox import FoundFences, Kind
from assent.tools.run.executor import ToolExecutor
from assent.tools.tool import ToolContext
from assent.types.errors import Unfenced
from assent.types.messages import Message
from assent.types.permissions import Allow, Ask, Deny, Verdict
from assent.types.ports import ToolCall
from toolbox import Toolbox

BROKEN = FoundFences(kind="none", filters=False, failed="landlock did not start (no)")
ABSENT = FoundFences(kind="none", filters=False)


def fences(found: FoundFences, *, home: str = "/home/me", clock: Callable[[], float] = lambda: 0.0) -> Fences:
    return Fences(home=home, own=(f"{home}/.config/assent",), found=lambda: found, known=lambda: found, clock=clock)


# --- a fence that fails ----------------------------------------------------------------------------------------------


async def made(box: Toolbox, walls: Fences, answer: Callable[[Ask], Verdict]) -> tuple[list[str], str]:
    """One command that only reads through executor, chain and Bash; what was decided on the way, and the result."""
    decisions: list[str] = []
    blocks: list[str] = []

    async def can_use_tool(call: ToolCall) -> Verdict:
        context = PermissionContext(
            cwd=str(box.root),
            home=str(box.root.parent / "home"),
            roots=(str(box.root),),
            unfenced=walls.trouble((str(box.root),)),
        )
        decision = decide(action_for("Bash", dict(call.action.input)), context)
        decisions.append(f"{decision.decision}: {decision.reason}")
        return answer(decision) if isinstance(decision, Ask) else decision

    def make_context(*, tool_use_id: str, progress: Callable[[str], None]) -> ToolContext:
        return box.context(tool_use_id=tool_use_id, progress=progress)

    def emit(_message: Message) -> None:
        return None

    with anyio.fail_after(60):
        async with ToolExecutor(
            tools={"Bash": Bash(fence=walls.make())},
            can_use_tool=can_use_tool,
            make_context=make_context,
            emit=emit,
            clock=anyio.current_time,
            session_id="s",
            cwd=lambda: box.state.cwd,
        ) as executor:
            executor.add({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "echo ran"}})
            for result in await executor.finish():
                blocks.append(str(result.block["content"]))
    return decisions, blocks[0]


def allowed(ask: Ask) -> Verdict:
    return Allow(step=ask.step, reason="The user allowed it.")


def denied(ask: Ask) -> Verdict:
    return Deny(step=ask.step, reason="The user denied it.")


class LateKnowledge(Fences):
    """Nothing is known of the machine until a command has tried: the first decision is made in hope."""

    def __init__(self, found: FoundFences) -> None:
        self.tried = False
        super().__init__(home="/home/me", found=self._try(found), known=lambda: found if self.tried else None)

    def _try(self, found: FoundFences) -> Callable[[], FoundFences]:
        def trying() -> FoundFences:
            self.tried = True
            return found

        return trying


@pytest.mark.parametrize(("answer", "expected"), [(allowed, "ran"), (denied, "The user denied it.")])
async def test_a_fence_that_fails_when_the_command_starts_leads_to_an_ask(
    box: Toolbox, answer: Callable[[Ask], Verdict], expected: str
) -> None:
    """The command was not run; the question says why; a yes runs it outside, a no does not run it."""
    decisions, result = await made(box, LateKnowledge(BROKEN), answer)
    assert decisions == [
        "allow: It only reads, inside the workspace.",
        "ask: It only reads, but cannot be fenced in: landlock did not start (no).",
    ]
    assert result == expected


async def test_a_system_without_any_fence_runs_what_only_reads(box: Toolbox) -> None:
    decisions, result = await made(box, fences(ABSENT), denied)
    assert decisions == ["allow: It only reads, inside the workspace."]
    assert result == "ran"


async def test_an_entry_that_the_kernel_refuses_is_an_unfenced_command(box: Toolbox) -> None:
    """A ruleset descriptor that is none: the child cannot enter it, says so and ends."""
    if not landlock.abi_version():
        return
    walls = Fences(home="/home/me")
    fence = walls.make()
    assert fence is not None
    wanted = FencedRun(argv=["/bin/true"], env={}, judged=True, cwd=str(box.root))
    around = fence.surround(wanted)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, around.start.enclosure.ruleset)
    os.close(null)
    with anyio.fail_after(120):
        process = await box.jobs.keeper.start(
            ["/usr/bin/touch", str(box.root / "made")], cwd="/", env={}, enclosure=around.start.enclosure
        )
        await process.ended.wait()
    assert process.unfenced
    assert process.error is not None
    assert "enter the Landlock ruleset" in process.error
    assert list(box.root.iterdir()) == []


def test_a_failure_asks_for_a_while_and_is_then_tried_again() -> None:
    now = 0.0
    walls = fences(FoundFences(kind="landlock", version=7), clock=lambda: now)
    assert walls.trouble(("/w",)) == ""
    assert "was not run: out of memory" in str(walls.failed("out of memory"))
    assert walls.trouble(("/w",)) == "out of memory"
    assert walls.trouble(("/w",), scope="off") == ""
    now = RETRY_AFTER
    assert walls.trouble(("/w",)) == ""


@pytest.mark.parametrize(
    ("kind", "roots", "trouble"),
    [
        ("landlock", ("/w",), ""),
        ("landlock", ("/home/me",), ""),
        ("landlock", ("/home/me/src",), ""),
        ("landlock", ("/home",), "the workspace /home holds the home directory with its secrets"),
        ("landlock", ("/w", "/"), "the workspace / holds the home directory with its secrets"),
        ("bubblewrap", ("/home/me/.ssh",), "the workspace /home/me/.ssh lies where secrets are kept"),
        ("landlock", ("/home/me/.config/assent/x",), "the workspace /home/me/.config/assent/x lies where secrets"),
        ("sandbox-exec", ("/",), ""),
    ],
)
def test_a_workspace_that_cannot_be_told_from_secrets_asks(kind: Kind, roots: Sequence[str], trouble: str) -> None:
    said = fences(FoundFences(kind=kind, version=7)).trouble(roots)
    assert said.startswith(trouble) if trouble else said == ""


def test_a_command_there_is_not_run_even_if_it_was_allowed() -> None:
    fence = fences(FoundFences(kind="landlock", version=7)).make()
    assert fence is not None
    with pytest.raises(Unfenced, match="holds the home directory"):
        fence.surround(FencedRun(argv=["ls"], env={}, judged=True, cwd="/home"))


def test_the_scope_says_what_is_fenced_besides() -> None:
    walls = fences(FoundFences(kind="landlock", version=7))
    reading, everything = walls.make(), walls.make(scope="all")
    assert reading is not None
    assert everything is not None
    assert (reading.wants(judged=True), reading.wants(judged=False)) == (True, False)
    assert (everything.wants(judged=True), everything.wants(judged=False)) == (True, True)
    assert walls.make(scope="off") is None


# --- what may be read ------------------------------------------------------------------------------------------------


def opened(place: CommandPlace) -> set[str]:
    return {path for path, access in reading_rules(place) if access & landlock.READ_FILE}


def test_a_home_that_is_the_workspace_is_open_without_its_hidden_entries(tmp_path: Path) -> None:
    for name in ("src/a.py", "notes.txt", ".ssh/id", ".git/config", ".gitignore", ".bashrc", ".config/x", "data/own/s"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / ".ssh")
    place = CommandPlace(roots=(str(tmp_path),), home=str(tmp_path), own=(str(tmp_path / "data/own"),))
    (tmp_path / "data/other").write_text("x")
    inside = {path.removeprefix(f"{tmp_path}/") for path in opened(place) if path.startswith(str(tmp_path))}
    assert inside == {"src", "notes.txt", ".git", ".gitignore", "data/other"}


def test_programs_of_the_path_are_open_but_no_secret_beside_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for name in ("tools/bin", "tools/lib", "home/bin", "home/.ssh/bin", "home/v/shims", "home/v/versions"):
        (tmp_path / name).mkdir(parents=True)
    path = f"{tmp_path}/tools/bin:{home}/bin:{home}/.ssh/bin:{home}/v/shims:relative:{home}:/"
    found = opened(CommandPlace(roots=(), home=str(home), path=path))
    inside = {path.removeprefix(f"{tmp_path}/") for path in found if path.startswith(str(tmp_path))}
    assert inside == {"tools/bin", "tools/lib", "home/bin", "home/v/shims", "home/v"}


def test_a_linked_worktree_opens_its_repository_only_if_that_knows_it(tmp_path: Path) -> None:
    common, tree, other = tmp_path / "main/.git", tmp_path / "tree", tmp_path / "other"
    admin = common / "worktrees/tree"
    for folder in (admin, tree, other):
        folder.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {admin}\n")
    (other / ".git").write_text(f"gitdir: {admin}\n")
    (admin / "gitdir").write_text(f"{tree}/.git\n")
    (admin / "commondir").write_text("../..\n")
    home = str(tmp_path / "home")
    assert str(common) in opened(CommandPlace(roots=(str(tree),), home=home))
    assert str(common) not in opened(CommandPlace(roots=(str(other),), home=home))
    os.mkfifo(tmp_path / "pipe")
    (tree / ".git").unlink()
    (tree / ".git").symlink_to(tmp_path / "pipe")
    assert str(common) not in opened(CommandPlace(roots=(str(tree),), home=home))


def test_a_project_s_own_files_open_no_folder_around_it(tmp_path: Path) -> None:
    root = tmp_path / "work" / "worktrees"
    (root / "x").mkdir(parents=True)
    (root / ".git").write_text(f"gitdir: {root}/x\n")
    (root / "x" / "gitdir").write_text(f"{root}/.git\n")
    (root / "x" / "commondir").write_text("../..\n")
    assert str(tmp_path / "work") not in opened(CommandPlace(roots=(str(root),), home=str(tmp_path / "home")))


def test_names_alone_say_what_cannot_be_fenced_in() -> None:
    assert fence_reads.inexpressible(["/w"], home="/home/me") == ""
    with pytest.raises(Inexpressible):
        reading_rules(CommandPlace(roots=("/",), home="/home/me"))


# --- the private folder ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "true",
        "mkdir -p $TMPDIR/a/b && touch $TMPDIR/a/b/c && ln -s /etc $TMPDIR/l",
        "mkdir -m 000 $TMPDIR/closed; mkdir -p $TMPDIR/x/y && mkdir -m 000 $TMPDIR/x/y/z",
        "cd $TMPDIR; for i in {1..400}; do mkdir d; cd d; done",
    ],
)
async def test_the_private_folder_is_gone_with_its_command(box: Toolbox, command: str) -> None:
    box.tools["Bash"] = Bash(fence=Fences(home="/home/me").make())
    output = await box.call_in(box.context(fenced=True), "Bash", {"command": f"echo $TMPDIR; {command}"})
    folder = Path(str(output.content).split("\n", 1)[0])
    assert folder.name.startswith("assent-")
    await box.jobs.close()
    assert not _there(folder)
    assert _there(Path("/etc"))


def _there(path: Path) -> bool:
    return os.path.lexists(path)
