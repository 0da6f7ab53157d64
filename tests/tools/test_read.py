"""Read: text, slices, pictures, PDF pages, notebooks, and the stub for a second look (T3, C7)."""

import base64
import io
import json
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.ports import ToolResultContent
from toolbox import Toolbox

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


async def test_lines_are_numbered_and_only_real_line_ends_count(box: Toolbox) -> None:
    (box.root / "a.txt").write_bytes("one\ntwo\u2028still two\x0cand\x85more\r\nthree\rfour".encode())
    assert await box.text("Read", file_path="a.txt") == (
        "     1→one\n     2→two\u2028still two\x0cand\x85more\n     3→three\n     4→four"
    )


async def test_offset_and_limit_pick_lines_and_say_where_to_read_on(box: Toolbox) -> None:
    (box.root / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    text = await box.text("Read", file_path="a.txt", offset=10, limit=2)
    assert text == "    10→line 10\n    11→line 11\n[Lines 10 to 11 of 100; read on with offset 12]"
    assert await box.text("Read", file_path="a.txt", offset=100) == "   100→line 100"
    assert "has only 100 lines" in await box.text("Read", file_path="a.txt", offset=101)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_a_slice_of_a_large_file_is_all_that_comes_back(box: Toolbox, end: str) -> None:
    line = "x" * 99
    (box.root / "big.txt").write_bytes((line + end).encode() * 120_000)  # 12 MB
    text = await box.text("Read", file_path="big.txt", offset=90_000, limit=3)
    assert text.startswith(f" 90000→{line}\n 90001→")
    assert text.endswith("of 120000; read on with offset 90003]")
    assert len(text) < 500


async def test_a_read_without_limit_is_capped_by_lines_and_by_characters(box: Toolbox) -> None:
    (box.root / "long.txt").write_text("x\n" * 5000)
    assert (await box.text("Read", file_path="long.txt")).endswith(
        "[Lines 1 to 2000 of 5000; read on with offset 2001]"
    )
    (box.root / "wide.txt").write_text(("y" * 1900 + "\n") * 1000)
    text = await box.text("Read", file_path="wide.txt")
    assert len(text) < 110_000
    assert "read on with offset" in text


async def test_a_very_long_line_is_cut_and_says_by_how_much(box: Toolbox) -> None:
    (box.root / "min.js").write_text("z" * 5000)
    assert (await box.text("Read", file_path="min.js")).endswith("z… [3000 more characters in this line]")


async def test_an_empty_file_and_another_encoding_are_said(box: Toolbox) -> None:
    (box.root / "empty").write_text("")
    assert "is empty" in await box.text("Read", file_path="empty")
    (box.root / "wide").write_bytes("hé\n".encode("utf-16"))
    assert await box.text("Read", file_path="wide") == "     1→hé\n[The file is encoded as utf-16-le; edits keep that]"


async def test_a_second_look_at_an_unchanged_file_is_a_stub_while_the_first_is_in_view(box: Toolbox) -> None:  # C7
    path = box.root / "a.txt"
    path.write_text("one\n")
    view: dict[str, ToolResultContent] = {}

    async def read(**raw: Any) -> ToolResultContent:
        ctx = box.context(in_view=view.get)
        view[ctx.tool_use_id] = (await box.call_in(ctx, "Read", {"file_path": "a.txt", **raw})).content
        return view[ctx.tool_use_id]

    first = await read()
    assert "unchanged" in await read()
    assert "one" in await read(offset=1)  # another part is another look

    view.clear()
    assert await read(offset=1) == first
    view[box.state.read_files[str(path)].tool_use_id] = "     1→on… [The whole output was too long]"
    assert await read(offset=1) == first

    path.write_text("two\n")
    assert "two" in await read(offset=1)


async def test_after_an_edit_the_file_is_shown_again(box: Toolbox) -> None:  # C7
    (box.root / "a.txt").write_text("one\n")
    await box.call("Read", file_path="a.txt")
    await box.call("Edit", file_path="a.txt", old_string="one", new_string="two")
    assert await box.text("Read", file_path="a.txt") == "     1→two"


async def test_a_picture_comes_as_an_image_block(box: Toolbox) -> None:
    (box.root / "dot.png").write_bytes(PNG)
    output = await box.call("Read", file_path="dot.png")
    assert output.content == [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()},
        }
    ]


async def test_a_picture_too_large_or_not_one_is_refused(box: Toolbox) -> None:
    (box.root / "fake.png").write_text("not a picture")
    assert "is named like an image" in await box.error("Read", file_path="fake.png")
    (box.root / "huge.png").write_bytes(PNG + b"\0" * 4_000_000)
    assert "too large" in await box.error("Read", file_path="huge.png")


def _pdf(path: Path, pages: list[str]) -> None:
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    for words in pages:
        page = writer.add_blank_page(width=200, height=200)
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): writer._add_object(font)})}
        )
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 100 Td ({words}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    buffer = io.BytesIO()
    writer.write(buffer)
    path.write_bytes(buffer.getvalue())


async def test_pages_of_a_pdf_file_are_read_by_number(box: Toolbox) -> None:
    _pdf(box.root / "doc.pdf", ["first page", "second page", "", "fourth page"])
    text = await box.text("Read", file_path="doc.pdf", offset=2, limit=2)
    assert text == (
        "--- page 2 of 4 ---\nsecond page\n"
        "--- page 3 of 4 ---\n[no text on this page; it may be a picture]\n"
        "[Pages 2 to 3 of 4; read on with offset 4]"
    )
    assert "has 4 pages" in await box.error("Read", file_path="doc.pdf", offset=9)


async def test_without_the_optional_package_a_pdf_file_says_what_to_install(
    box: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    (box.root / "doc.pdf").write_bytes(b"%PDF-1.7")
    assert "install assent-lsp[pdf]" in await box.error("Read", file_path="doc.pdf")


async def test_a_broken_pdf_file_is_told(box: Toolbox) -> None:
    (box.root / "bad.pdf").write_bytes(b"%PDF-1.7\nnothing here")
    assert "cannot be read as a PDF" in await box.error("Read", file_path="bad.pdf")
    (box.root / "not.pdf").write_bytes(b"hello")
    assert "is named like a PDF" in await box.error("Read", file_path="not.pdf")


def notebook(**changes: Any) -> Json:
    return {
        "cells": [
            {"cell_type": "markdown", "id": "intro", "metadata": {}, "source": ["# Title\n", "text"]},
            {
                "cell_type": "code",
                "execution_count": 1,
                "id": "calc",
                "metadata": {},
                "outputs": [
                    {"name": "stdout", "output_type": "stream", "text": ["2\n"]},
                    {
                        "data": {"image/png": base64.b64encode(PNG).decode(), "text/plain": ["<Figure>"]},
                        "metadata": {},
                        "output_type": "display_data",
                    },
                    {"ename": "ValueError", "evalue": "bad", "output_type": "error", "traceback": []},
                ],
                "source": ["print(1 + 1)"],
            },
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
        **changes,
    }


async def test_a_notebook_is_shown_as_cells_with_their_outputs(box: Toolbox) -> None:
    (box.root / "n.ipynb").write_text(json.dumps(notebook(), indent=1))
    output = await box.call("Read", file_path="n.ipynb")
    words, picture = cast("list[Json]", output.content)
    assert words["text"] == (
        '<cell id="intro" type="markdown">\n# Title\ntext\n</cell>\n'
        '<cell id="calc" type="code" language="python">\nprint(1 + 1)\n'
        "<output>\n2\n\n</output>\n<output>\n<Figure>\n</output>\n<output>\nValueError: bad\n</output>\n</cell>"
    )
    assert picture["type"] == "image"


async def test_a_long_notebook_is_read_in_parts(box: Toolbox) -> None:
    cells: list[Json] = [
        {"cell_type": "raw", "id": f"c{n}", "metadata": {}, "source": "x" * 40_000} for n in range(1, 6)
    ]
    (box.root / "n.ipynb").write_text(json.dumps(notebook(cells=cells)))
    text = await box.text("Read", file_path="n.ipynb")
    assert text.endswith("[Cells 1 to 2 of 5; read on with offset 3]")
    text = await box.text("Read", file_path="n.ipynb", offset=3, limit=1)
    assert text.startswith('<cell id="c3"') and text.endswith("[Cells 3 to 3 of 5; read on with offset 4]")


@pytest.mark.parametrize("text", ["not json", "[]", '{"cells": 3}'])
async def test_what_is_no_notebook_is_told(box: Toolbox, text: str) -> None:
    (box.root / "n.ipynb").write_text(text)
    assert "notebook" in await box.error("Read", file_path="n.ipynb")


@pytest.mark.parametrize("raw", [{}, {"file_path": 3}, {"file_path": "a", "offset": -1}, {"file_path": "a", "what": 1}])
def test_bad_input_is_told_with_the_field(box: Toolbox, raw: Json) -> None:  # T1
    with pytest.raises(ToolError, match="Invalid input for Read"):
        box.tools["Read"].parse(raw)
