"""The built-in tools, in the order the model sees them: stable, so that the cached prefix stays byte-identical."""

from collections.abc import Callable, Collection

from assent.tools.ask_user_question import AskUserQuestion
from assent.tools.bash import Bash
from assent.tools.bash_output import BashOutput
from assent.tools.edit import Edit
from assent.tools.glob import Glob
from assent.tools.grep import Grep
from assent.tools.kill_shell import KillShell
from assent.tools.multi_edit import MultiEdit
from assent.tools.read import Read
from assent.tools.todo_write import TodoWrite
from assent.tools.tool import AnyTool
from assent.tools.write import Write


def builtin_tools(
    *,
    is_read_only: Callable[[str], bool] = lambda _command: False,
    may_read: Callable[[str], bool] | None = None,
    secrets: Callable[[], Collection[str]] = lambda: (),
) -> list[AnyTool]:
    """One session's tools. `is_read_only` judges a shell command at the session's directory; `may_read` tells which
    absolute paths searches may show (deny rules for Read); `secrets` are values no child process may be given."""
    return [
        Read(),
        Write(),
        Edit(),
        MultiEdit(),
        Glob(may_read=may_read),
        Grep(may_read=may_read),
        Bash(is_read_only=is_read_only, secrets=secrets),
        BashOutput(),
        KillShell(),
        TodoWrite(),
        AskUserQuestion(),
    ]
