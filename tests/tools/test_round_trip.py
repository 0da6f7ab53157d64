"""Bytes outside the hunk stay what they were, whatever the file is made of (T3)."""

import codecs
import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.tools.files.encoding import NotText, decode, encode
from assent.tools.files.text_match import replace_text
from toolbox import Toolbox

ENCODINGS: dict[str, tuple[str, bytes]] = {
    "utf-8": ("utf-8", b""),
    "utf-8 with mark": ("utf-8", codecs.BOM_UTF8),
    "utf-16-le": ("utf-16-le", codecs.BOM_UTF16_LE),
    "utf-16-be": ("utf-16-be", codecs.BOM_UTF16_BE),
    "utf-32-le": ("utf-32-le", codecs.BOM_UTF32_LE),
    "latin-1": ("latin-1", b""),
}
LINE_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r", "mixed": ""}
ODDITIES = {
    "plain": "plain words",
    "nul": "a zero \0 inside",
    "separators": "a\u2028b\u2029c\x0cd\x0be\x85f",
    "accents": "caf\xe9 na\xefve \xdf",
    "last line open": "no end",
}
HUNKS = (("ALPHA", "beta"), ("ALPHA\nOMEGA", "one\ntwo\nthree"))

FILES = [
    pytest.param(encoding, end, oddity, hunk, id=f"{encoding}, {end}, {oddity}, {number}")
    for encoding, end, oddity, (number, hunk) in itertools.product(ENCODINGS, LINE_ENDS, ODDITIES, enumerate(HUNKS))
]
assert len(FILES) >= 200


@pytest.mark.parametrize(("encoding", "end", "oddity", "hunk"), FILES)
async def test_an_edit_leaves_every_byte_outside_its_hunk_alone(
    box: Toolbox, encoding: str, end: str, oddity: str, hunk: tuple[str, str]
) -> None:
    codec, mark = ENCODINGS[encoding]
    words = ODDITIES[oddity]
    if encoding == "latin-1":
        words = "\xe9\xe8 " + words.replace("\u2028", "\xa8").replace("\u2029", "\xa9")
    ends = itertools.cycle(["\r\n", "\n", "\r"] if end == "mixed" else [LINE_ENDS[end]])
    head = "".join(line + next(ends) for line in ("first", words, "‘quoted’" if codec != "latin-1" else "'quoted'"))
    tail = "".join(line + next(ends) for line in ("", words, "last")) + (words if oddity == "last line open" else "")
    inner = next(ends)
    old, new = hunk
    target = f"ALPHA{inner}OMEGA"
    path = box.root / "odd.txt"
    path.write_bytes(mark + (head + target + tail).encode(codec))

    await box.call("Read", file_path="odd.txt")
    await box.call("Edit", file_path="odd.txt", old_string=old, new_string=new)

    written = path.read_bytes()
    prefix, suffix = mark + head.encode(codec), tail.encode(codec)
    if old == "ALPHA":
        suffix = f"{inner}OMEGA".encode(codec) + suffix
    assert written.startswith(prefix)
    assert written.endswith(suffix)
    changed = written[len(prefix) : len(written) - len(suffix)].decode(codec)
    assert changed == new.replace("\n", inner)


async def test_lines_that_old_and_new_share_keep_their_mixed_ends(box: Toolbox) -> None:
    path = box.root / "mixed.txt"
    path.write_bytes(b"a\r\nb\nc\rd\n")
    await box.call("Read", file_path="mixed.txt")
    await box.call("Edit", file_path="mixed.txt", old_string="a\nb\nc\nd", new_string="a\nB\nc\nd")
    assert path.read_bytes() == b"a\r\nB\nc\rd\n"


async def test_a_crlf_file_written_anew_keeps_its_line_ends(box: Toolbox) -> None:
    path = box.root / "dos.txt"
    path.write_bytes(codecs.BOM_UTF8 + b"one\r\ntwo\r\n")
    await box.call("Read", file_path="dos.txt")
    await box.call("Write", file_path="dos.txt", content="one\nthree\n")
    assert path.read_bytes() == codecs.BOM_UTF8 + b"one\r\nthree\r\n"


async def test_a_character_the_encoding_lacks_is_refused_and_nothing_is_written(box: Toolbox) -> None:
    path = box.root / "latin.txt"
    path.write_bytes(b"caf\xe9\n")
    await box.call("Read", file_path="latin.txt")
    error = await box.error("Edit", file_path="latin.txt", old_string="caf", new_string="→")
    assert "latin-1" in error and "U+2192" in error
    assert path.read_bytes() == b"caf\xe9\n"


@given(st.binary(max_size=300))
def test_whatever_is_decoded_encodes_back_to_the_very_bytes(data: bytes) -> None:
    try:
        decoded = decode(data)
    except NotText:
        return
    assert encode(decoded.text, encoding=decoded.encoding, bom=decoded.bom) == data


text = st.text(alphabet="ab'\"’“\n\r\u2028 ", max_size=40)


@settings(max_examples=300)
@given(text, text.filter(bool), text, text)
def test_a_replacement_changes_one_span_and_only_that(before: str, old: str, new: str, after: str) -> None:
    whole = before + old + after
    if old == new or whole.count(old) != 1:
        return
    result = replace_text(whole, old, new)
    assert result.count == 1
    start = whole.index(old)
    if "\r" not in old and start == len(before):
        assert result.text.startswith(before)
        assert result.text.endswith(after)
        middle = result.text[len(before) : len(result.text) - len(after)]
        assert middle.replace("\r\n", "\n").replace("\r", "\n") == new.replace("\r\n", "\n").replace("\r", "\n")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_wide_text_without_a_mark_is_recognised(codec: str) -> None:
    data = "wide words, and é\n".encode(codec)
    decoded = decode(data)
    assert (decoded.text, decoded.encoding, decoded.bom) == ("wide words, and é\n", codec, b"")


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 4,
        b"\x7fELF" + bytes(2000),
        b"\x1f\x8b\x08" + bytes((n * 7919) % 256 for n in range(3000)),
        codecs.BOM_UTF16_LE + b"\x00\xd8" + bytes(range(32)) * 20,
    ],
)
def test_what_is_no_text_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(NotText):
        decode(data)


def test_files_of_the_test_are_real_bytes(tmp_path: Path) -> None:
    for encoding, (codec, mark) in ENCODINGS.items():
        data = mark + "caf\xe9 0\n".encode(codec)
        decoded = decode(data)
        assert decoded.text == "caf\xe9 0\n", encoding
