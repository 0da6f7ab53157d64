"""The frame decoder: whatever bytes come, sound frames are found, nothing raises, and memory stays bounded."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.lsp.rpc.framing import MAX_HEADER, Fault, Frame, FrameDecoder


def frame(body: bytes, *, name: str = "Content-Length", end: str = "\r\n") -> bytes:
    return f"{name}: {len(body)}{end}{end}".encode() + body


def bodies(pieces: list[Frame | Fault]) -> list[bytes]:
    return [piece.body for piece in pieces if isinstance(piece, Frame)]


@pytest.mark.parametrize(
    "data",
    [
        frame(b"{}"),
        frame(b"{}", name="content-length"),
        frame(b"{}", name="CONTENT-LENGTH"),
        frame(b"{}", end="\n"),
        b"Content-Length:2\r\n\r\n{}",
        b"Content-Length:   2   \r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Length: 7\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n{}",
        b"X-Unknown: yes\r\nContent-Length: 2\r\n\r\n{}",
        b"\r\n\r\n\n" + frame(b"{}"),
    ],
)
def test_a_frame_is_read_however_its_header_is_written(data: bytes) -> None:
    assert FrameDecoder().feed(data) == [Frame(b"{}")]


@pytest.mark.parametrize(
    "data",
    [
        b"garbage",
        b"garbage\r\n",
        b"\xef\xbb\xbf",
        b"Content-Length: banana\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 1_0\r\n\r\n",
        b"Content-Length: \xd9\xa3\r\n\r\n",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        b"Content-Length: 1000000000000\r\n\r\n",
        b"Content-Length: 0\r\n\r\n",
        b"Content-Type: text/plain\r\n\r\n",
        b"Content-Length: 12",
        b"Content-Length: 400\r\n\r\nshort",
        b"X: " + b"y" * MAX_HEADER + b"\n",
        b"z" * (MAX_HEADER + 1),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_after_a_fault_the_next_frame_is_found(data: bytes) -> None:
    pieces = FrameDecoder().feed(data + frame(b'{"sound":1}'))
    assert bodies(pieces)[-1] == b'{"sound":1}'
    assert any(isinstance(piece, Fault) for piece in pieces) or len(pieces) == 2


def test_a_body_that_swallowed_the_next_frame_gives_both() -> None:
    first, second = b'{"id":1}', b'{"id":2}'
    data = b"Content-Length: 60\r\n\r\n" + first + frame(second)
    assert bodies(FrameDecoder().feed(data)) == [first, second]


def test_a_body_over_the_cap_is_skipped_and_its_start_kept() -> None:
    decoder = FrameDecoder(max_body=1000)
    body = b'{"jsonrpc":"2.0","id":7,"method":"x","params":"' + b"a" * 5000 + b'"}'
    pieces = decoder.feed(frame(body) + frame(b"{}"))
    assert isinstance(pieces[0], Fault)
    assert (pieces[0].kind, pieces[0].start[:23]) == ("tooLarge", b'{"jsonrpc":"2.0","id":7')
    assert pieces[1:] == [Frame(b"{}")]


def test_text_that_looks_like_a_header_inside_json_is_left_alone() -> None:
    body = json.dumps({"text": "Content-Length: 5\r\n\r\n{}", "more": "content-length: 9\n"}, indent=1).encode()
    assert FrameDecoder().feed(frame(body) + frame(b"{}")) == [Frame(body), Frame(b"{}")]


@given(
    data=st.lists(st.dictionaries(st.text(max_size=9), st.text(max_size=30), max_size=3), max_size=9),
    cuts=st.lists(st.integers(1, 30), min_size=1, max_size=40),
)
def test_how_the_bytes_are_cut_into_chunks_changes_nothing(data: list[dict[str, str]], cuts: list[int]) -> None:
    sent = [json.dumps(value).encode() for value in data]
    stream = b"".join(frame(body) for body in sent)
    decoder = FrameDecoder()
    pieces: list[Frame | Fault] = []
    at = 0
    for turn in range(len(stream)):
        size = cuts[turn % len(cuts)]
        pieces += decoder.feed(stream[at : at + size])
        at += size
    assert pieces == FrameDecoder().feed(stream) == [Frame(body) for body in sent]


def malformed(rng: random.Random, number: int) -> bytes:
    """One broken frame of a kind chosen at random."""
    body = json.dumps({"jsonrpc": "2.0", "id": f"bad{number}", "method": "x" * rng.randrange(30)}).encode()
    whole = frame(body)
    match rng.randrange(14):
        case 0:
            return rng.randbytes(rng.randrange(200))
        case 1:
            return whole[: rng.randrange(len(whole))]
        case 2:
            return f"Content-Length: {len(body) + rng.randrange(1, 10 ** rng.randrange(1, 18))}\r\n\r\n".encode() + body
        case 3:
            return f"Content-Length: {rng.randrange(len(body))}\r\n\r\n".encode() + body
        case 4:
            return b"Content-Length: " + b"1" * rng.choice([10, 19, 21, 400, 5000]) + b"\r\n\r\n"
        case 5:
            return whole[rng.randrange(1, len(whole)) :]
        case 6:
            at = rng.randrange(len(whole))
            return whole[:at] + rng.randbytes(rng.randrange(1, 9)) + whole[at:]
        case 7:
            return b"Content-Length: -%d\r\n\r\n" % rng.randrange(100) + body
        case 8:
            return b"\r\n" * rng.randrange(1, 50)
        case 9:
            return b"Content-Length: 0\r\n\r\n" * rng.randrange(1, 4)
        case 10:
            return b"content-length" + rng.choice([b"", b":", b" ", b"\n", b": \n", b"::5\n"])
        case 11:
            return b"A: b\r\n" * rng.choice([1, 5, 20, 1800]) + b"\r\n"
        case 12:
            return frame(b"[" * rng.choice([1, 30, 2000]))
        case _:
            flipped = bytearray(whole)
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
            return bytes(flipped)


def test_a_hundred_thousand_malformed_frames_lose_no_sound_one() -> None:
    rng = random.Random(20261116)
    decoder = FrameDecoder(max_body=1_000_000)
    largest = 0
    for number in range(100_000):
        sound = b'{"sound":%d}' % number
        stream = malformed(rng, number) + frame(sound)
        cut = rng.randrange(len(stream))
        pieces = decoder.feed(stream[:cut]) + decoder.feed(stream[cut:])
        assert bodies(pieces)[-1] == sound, stream
        largest = max(largest, decoder.buffered)
    assert largest <= MAX_HEADER + 1
