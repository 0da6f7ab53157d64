"""The built-in tools, in the order the model sees them: stable, so that the cached prefix stays byte-identical."""

from collections.abc import Callable, Collection, Sequence

from assent.tools.agent import Agent
from assent.tools.ask_user_question import AskUserQuestion
from assent.tools.bash import Bash, ReadOnly
from assent.tools.bash_output import BashOutput
from assent.tools.edit import Edit
from assent.tools.editor_changes import CodeActions, Format, Rename
from assent.tools.editor_lookups import Definition, Diagnostics, Hover, References, Symbols
from assent.tools.editor_view import CurrentSelection, OpenFile
from assent.tools.glob import Glob
from assent.tools.grep import Grep
from assent.tools.kill_shell import KillShell
from assent.tools.multi_edit import MultiEdit
from assent.tools.notebook_edit import NotebookEdit
from assent.tools.plan_mode import EnterPlanMode, ExitPlanMode
from assent.tools.process.fence import Fence
from assent.tools.read import Read
from assent.tools.search.ripgrep import MayRead, everything
from assent.tools.skill import Skill, Skills
from assent.tools.sleep import Sleep
from assent.tools.tasks import TaskCreate, TaskList, TaskUpdate
from assent.tools.todo_write import TodoWrite
from assent.tools.tool import AnyTool
from assent.tools.web_fetch import WebFetch
from assent.tools.web_search import WebSearch
from assent.tools.worktree import EnterWorktree, ExitWorktree
from assent.tools.write import Write


def builtin_tools(
    *,
    is_read_only: ReadOnly = lambda _command, _cwd, _roots: False,
    may_read: MayRead = everything,
    secrets: Callable[[], Collection[str]] = lambda: (),
    fence: Fence | None = None,
    private_allowed: Callable[[str], bool] = lambda _host: False,
    agents: Callable[[], Sequence[tuple[str, str]]] = lambda: (),
    isolated: Callable[[str], bool] = lambda _agent: False,
    skills: Skills | None = None,
    editor: bool = False,
) -> list[AnyTool]:
    """One session's tools.

    `is_read_only` judges a shell command at the directory it would run in; `may_read` begins a search and tells which
    absolute paths it may show (deny rules for Read), and is None when nothing is kept back; `secrets` are values no
    child process may be given; `fence` puts a sandbox around commands; `private_allowed` names hosts on private
    addresses that may be fetched; `agents` are names and descriptions, and `isolated` says which of them work in
    worktrees; `editor` adds the editor's tools.
    """
    tools: list[AnyTool] = [
        Read(),
        Write(),
        Edit(),
        MultiEdit(),
        NotebookEdit(),
        Glob(may_read=may_read),
        Grep(may_read=may_read),
        Bash(is_read_only=is_read_only, secrets=secrets, fence=fence),
        BashOutput(),
        KillShell(),
        WebFetch(private_allowed=private_allowed),
        WebSearch(),
        Agent(agents, isolated),
        TodoWrite(),
        AskUserQuestion(),
        EnterPlanMode(),
        ExitPlanMode(),
        EnterWorktree(),
        ExitWorktree(),
        Sleep(),
        TaskCreate(),
        TaskUpdate(),
        TaskList(),
    ]
    if skills is not None:
        tools.append(Skill(skills))
    if editor:
        tools += [
            Diagnostics(),
            Definition(may_read),
            References(may_read),
            Hover(),
            Symbols(),
            Rename(),
            CodeActions(),
            Format(),
            CurrentSelection(),
            OpenFile(),
        ]
    return tools
