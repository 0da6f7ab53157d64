"""`assent mcp serve`: the editor's tools for other agents. They are used through the workspace's host (`host: true`).

Each call looks for the host, so an editor may come and go. Without one the answer is `noEditor`, with what to do.
"""

from collections.abc import Sequence
from pathlib import Path

from assent.cli.host_calls import NoEditor, protocol_words, run_tool
from assent.extensions.mcp.serving import Answer, ServedTool, serve
from assent.tools.ask_user_question import AskUserQuestion
from assent.tools.editor_changes import Rename
from assent.tools.editor_lookups import Definition, Diagnostics, References
from assent.tools.editor_view import OpenFile
from assent.tools.tool import AnyTool
from assent.types.blocks import Json
from assent.types.errors import ProtocolError

NO_EDITOR = (
    "noEditor: no editor of the user can be reached in {folder} ({why}). Ask the user to set "
    '`"host": true` in their Assent settings and to open the folder in VS Code or Neovim with Assent; then call again. '
    "Until then use your own tools."
)

NEEDS_WINDOW = frozenset({"rename", "open_file", "ask_user"})  # a person sees or decides something


def tools() -> dict[str, AnyTool]:
    """By the name that other agents see."""
    return {
        "diagnostics": Diagnostics(),
        "definition": Definition(),
        "references": References(),
        "rename": Rename(),
        "open_file": OpenFile(),
        "ask_user": AskUserQuestion(),
    }


def served(offered: dict[str, AnyTool]) -> Sequence[ServedTool]:
    return [
        ServedTool(
            name=name,
            title=tool.name,
            description=tool.description(),
            input_schema=tool.input_schema(),
            read_only=name not in ("rename",),
        )
        for name, tool in offered.items()
    ]


async def run(folder: Path) -> None:
    """Until stdin ends."""
    offered = tools()

    async def call(name: str, input: Json) -> Answer:
        tool = offered[name]
        try:
            text, failed = await run_tool(folder, tool.name, input, needs_window=name in NEEDS_WINDOW)
        except NoEditor as error:
            return no_editor(folder, str(error))
        except ProtocolError as error:
            return Answer(text=protocol_words(error), is_error=True, structured={"kind": error.kind})
        if failed and text.startswith("No editor is connected"):
            return no_editor(folder, "no window there answers for its language servers")
        return Answer(text=text, is_error=failed)

    await serve(served(offered), call)


def no_editor(folder: Path, why: str) -> Answer:
    text = NO_EDITOR.format(folder=folder, why=why)
    return Answer(text=text, is_error=True, structured={"kind": "noEditor", "hint": text.partition(": ")[2]})
