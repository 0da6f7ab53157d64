"""What `assent ask` is given: words, piped text, images, JSON files, and prompts as lines of JSON on stdin."""

import asyncio
import base64
import contextlib
import json
import os
import select
import stat
import sys
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any, cast

from assent.cli.preflight import UsageError
from assent.stdio.reader import ChunkReader
from assent.types.blocks import Json, image_type
from assent.types.errors import ToolError
from assent.types.regular_files import read_regular

LARGEST_JSON = 5_000_000
LARGEST_IMAGE = 20_000_000
STDIN_SECONDS = 3.0
IMAGES = (".gif", ".jpeg", ".jpg", ".png", ".webp")

AskPrompt = str | list[Json]


def prompt_of(words: str, images: Sequence[Path]) -> AskPrompt:
    """The words of the command line, what stdin holds, and images."""
    given = sys.stdin.read() if words == "-" else _stdin()
    text = given if words in ("-", "") else words
    if not text.strip():
        raise UsageError("the prompt is empty")
    if given and words not in ("-", ""):
        text = f"{words}\n\n<stdin>\n{given}\n</stdin>"
    if not images:
        return text
    return [{"type": "text", "text": text}, *map(_image, images)]


async def once(prompt: AskPrompt) -> AsyncGenerator[AskPrompt, None]:
    yield prompt


async def lines_of(fd: int) -> AsyncGenerator[AskPrompt, None]:
    """Prompts as lines of JSON: a string, {"prompt": …}, {"role": "user", "content": …} or that as a "message".

    Waiting for the next line can be cancelled: the thread that reads is not waited for when the program ends.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def ended() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to tell
            loop.call_soon_threadsafe(chunks.put_nowait, b"")

    ChunkReader(fd, loop, on_data=chunks.put_nowait, on_end=ended).start()
    rest, number = b"", 0
    while True:
        chunk = await chunks.get()
        *lines, rest = (rest + chunk).split(b"\n") if chunk else (rest, b"")
        for line in lines:
            number += 1
            if line.strip():
                yield _prompt_in(line, number)
        if not chunk:
            return


def schema_in(path: Path | None) -> Any:
    """The schema of a file. Raises UsageError for one that cannot be read, or that no answer could fit."""
    if path is None:
        return None
    from assent.tools.structured_output import StructuredOutput

    schema = _object_in(path, "the JSON schema")
    try:
        StructuredOutput(schema)
    except ToolError as error:
        raise UsageError(f"{path}: {error}") from None
    return schema


def servers_in(files: Sequence[Path]) -> Json:
    """The MCP servers of these files, as `.mcp.json` names them; of one name the last file's entry counts."""
    from assent.extensions.mcp.config import Rejected, read_entry

    found: Json = {}
    for path in files:
        servers: object = _object_in(path, "the MCP configuration").get("mcpServers")
        if not isinstance(servers, dict):
            raise UsageError(f"the MCP configuration {path} must hold an object `mcpServers`")
        for name, entry in cast("Json", servers).items():
            read = read_entry(name, entry, scope="cli", source=str(path), variables=os.environ)
            if isinstance(read, Rejected):
                raise UsageError(f"{path}: the MCP server {name}: {read.problem}")
        found |= cast("Json", servers)
    return found


def _object_in(path: Path, what: str) -> Json:
    try:
        value: Any = json.loads(read_regular(path, limit=LARGEST_JSON).data)
    except OSError as error:
        raise UsageError(f"{what} {path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{what} {path} must be an object")
    return cast("Json", value)


def _prompt_in(line: bytes, number: int) -> AskPrompt:
    try:
        value: Any = json.loads(line.decode(errors="replace"))
    except ValueError as error:
        raise UsageError(f"line {number} of stdin is not JSON: {error}") from None
    match value:
        case str():
            said: Any = value
        case {"prompt": str() | list()}:
            said = value["prompt"]
        case {"role": "user", "content": str() | list()}:
            said = value["content"]
        case {"message": {"content": str() | list()}}:
            said = value["message"]["content"]
        case _:
            raise UsageError(f'line {number} of stdin has no prompt: {{"prompt": "…"}} is one')
    prompt: AskPrompt = said
    if not (prompt.strip() if isinstance(prompt, str) else prompt):
        raise UsageError(f"the prompt of line {number} of stdin is empty")
    return prompt


def _stdin() -> str:
    """What was piped in or redirected. A pipe in which nobody writes is not waited for."""
    try:
        kind = os.fstat(0).st_mode
    except OSError:
        return ""
    if stat.S_ISREG(kind):
        return sys.stdin.read()
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        ready, _, _ = select.select([0], [], [], STDIN_SECONDS)
        if ready:
            return sys.stdin.read()
        words = f"nothing came on stdin in {STDIN_SECONDS:.0f} s, the prompt goes without it"
        print(f"assent: {words}; `-` as the prompt waits, `</dev/null` says there is none", file=sys.stderr)
    return ""


def _image(path: Path) -> Json:
    if path.suffix.lower() not in IMAGES:
        raise UsageError(f"{path} is not an image: {', '.join(IMAGES)} are")
    try:
        data = read_regular(path, limit=LARGEST_IMAGE).data
    except OSError as error:
        raise UsageError(f"the image {path} cannot be read: {error.strerror or error}") from None
    kind = image_type(data)
    if kind is None:
        raise UsageError(f"{path} is named like an image but is none")
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode()}
    return {"type": "image", "source": source}
