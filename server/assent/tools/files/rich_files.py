"""What Read shows of files that are not plain text: pictures, PDF pages, notebook cells."""

import base64
import io
from typing import Any, cast

import msgspec
from anyio import to_thread

from assent.tools.files import disk
from assent.tools.tool import ToolOutput
from assent.types.blocks import Block, Json, image_type, text_block
from assent.types.errors import ToolError
from assent.types.ports import FileText

IMAGE_BYTES = 3_750_000  # five megabytes as base64, what the Messages API takes
PDF_BYTES = 32 * 1024 * 1024
PDF_PAGES = 20
NOTEBOOK_CHARACTERS = 100_000
NOTEBOOK_PICTURES = 10
_CELL_OUTPUT = 10_000


async def read_image(path: str) -> ToolOutput:
    """The picture as an image block; what it is comes from its bytes, not from its name."""
    found = await to_thread.run_sync(lambda: disk.read_bytes(path, limit=IMAGE_BYTES))
    kind = image_type(found.data)
    if kind is None:
        raise ToolError(f"{path} is named like an image but is none that can be shown (PNG, JPEG, GIF, WebP)")
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(found.data).decode("ascii")}
    size = len(found.data)
    file = {"base64": source["data"], "type": kind, "originalSize": size}
    return ToolOutput(
        content=[{"type": "image", "source": source}],
        summary=f"{kind}, {size:,} bytes",
        response=lambda: {"type": "image", "file": file},
    )


async def read_pdf(path: str, *, first: int, count: int | None) -> ToolOutput:
    """The text of some pages; a page without text is said to have none."""
    found = await to_thread.run_sync(lambda: disk.read_bytes(path, limit=PDF_BYTES))
    if not found.data.startswith(b"%PDF-"):
        raise ToolError(f"{path} is named like a PDF file but is none")
    text, shown = await to_thread.run_sync(_pdf_text, path, found.data, first, min(count or PDF_PAGES, PDF_PAGES))

    def response() -> Json:
        data = base64.b64encode(found.data).decode("ascii")
        return {"type": "pdf", "file": {"filePath": path, "base64": data, "originalSize": len(found.data)}}

    return ToolOutput(content=text, summary=f"{shown} pages", response=response)


def read_notebook(path: str, text: FileText, *, offset: int | None, limit: int | None) -> ToolOutput:
    """Cells with their ids, sources and outputs; as many as fit, from the offset on."""
    cells, language = notebook_cells(text)
    first = max(offset or 1, 1)
    last = min(first + (limit or len(cells)) - 1, len(cells))
    pictures: list[Json] = []
    shown: list[str] = []
    for number in range(first, last + 1):
        words, seen = _cell(cells[number - 1], number - 1, language)
        if shown and sum(map(len, shown)) + len(words) > NOTEBOOK_CHARACTERS:
            last = number - 1
            break
        shown.append(words[:NOTEBOOK_CHARACTERS])
        pictures += seen
    if last < len(cells):
        shown.append(f"[Cells {first} to {last} of {len(cells)}; read on with offset {last + 1}]")
    content = "\n".join(shown) or f"{path} is a notebook without cells."
    blocks: list[Block] = [text_block(content), *pictures[:NOTEBOOK_PICTURES]]
    return ToolOutput(
        content=blocks if pictures else content,
        summary=f"{last - first + 1} cells",
        response=lambda: {"type": "notebook", "file": {"filePath": path, "cells": cells[first - 1 : last]}},
    )


def _cell(cell: Json, number: int, language: str) -> tuple[str, list[Json]]:
    kind = str(cell.get("cell_type", "raw"))
    tongue = f' language="{language}"' if kind == "code" else ""
    words = [f'<cell id="{cell_id(cell, number)}" type="{kind}"{tongue}>', joined(cell.get("source", ""))]
    pictures: list[Json] = []
    for output in cast("list[Json]", cell.get("outputs") or []):
        seen, said = _output(output)
        pictures += seen
        if said:
            words.append(f"<output>\n{said}\n</output>")
    return "\n".join([*words, "</cell>"]), pictures


def notebook_cells(text: FileText) -> tuple[list[Json], str]:
    """The cells of a notebook and the language of its code."""
    notebook = parse_notebook(text)
    metadata = cast("Json", notebook.get("metadata") or {})
    language = str(cast("Json", metadata.get("language_info") or {}).get("name", "python"))
    return cast("list[Json]", notebook["cells"]), language


def parse_notebook(text: FileText) -> Json:
    try:
        notebook: Any = msgspec.json.decode(text.text)
    except msgspec.DecodeError as error:
        raise ToolError(f"{text.path} is not a valid notebook: {error}") from None
    if not isinstance(notebook, dict) or not isinstance(cast("Json", notebook).get("cells"), list):
        raise ToolError(f"{text.path} is not a notebook of format 4: it has no list of cells")
    return cast("Json", notebook)


def cell_id(cell: Json, number: int) -> str:
    """Notebooks before format 4.5 have no ids: their cells are named by position."""
    return str(cell.get("id") or f"cell-{number}")


def joined(source: object) -> str:
    """Notebooks keep text as a string or as a list of lines."""
    return "".join(cast("list[str]", source)) if isinstance(source, list) else str(source)


def _output(output: Json) -> tuple[list[Json], str]:
    if output.get("output_type") == "stream":
        return [], joined(output.get("text", ""))[:_CELL_OUTPUT]
    if output.get("output_type") == "error":
        return [], f"{output.get('ename')}: {output.get('evalue')}"
    data = cast("Json", output.get("data") or {})
    pictures: list[Json] = []
    for kind in ("image/png", "image/jpeg"):
        if encoded := joined(data.get(kind, "")).replace("\n", ""):
            if len(encoded) > IMAGE_BYTES:
                return [], "[an image too large to show]"
            source = {"type": "base64", "media_type": kind, "data": encoded}
            pictures.append({"type": "image", "source": source})
    return pictures, joined(data.get("text/plain", ""))[:_CELL_OUTPUT]


def _pdf_text(path: str, data: bytes, first: int, count: int) -> tuple[str, int]:
    try:
        import pypdf
    except ImportError:
        raise ToolError(
            f"{path} is a PDF file, and reading those needs the optional package pypdf (install assent-lsp[pdf]). "
            "Until then, pdftotext in Bash may help"
        ) from None
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise ToolError(f"{path} is protected by a password")
        pages = reader.pages
        total = len(pages)
        if first > total:
            raise ToolError(f"{path} has {total} pages; offset {first} is past its end")
        last = min(first + count - 1, total)
        parts: list[str] = []
        for number in range(first, last + 1):
            said = pages[number - 1].extract_text().strip()
            parts.append(f"--- page {number} of {total} ---\n{said or '[no text on this page; it may be a picture]'}")
    except ToolError:
        raise
    except Exception as error:  # pypdf raises many kinds on damaged files
        raise ToolError(f"{path} cannot be read as a PDF file: {error}") from None
    if last < total:
        parts.append(f"[Pages {first} to {last} of {total}; read on with offset {last + 1}]")
    return "\n".join(parts), last - first + 1
