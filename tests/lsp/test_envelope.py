"""JSON-RPC messages: read strictly, answered always, written whatever is in them."""

import json
from typing import Any

import pytest

from assent.lsp.rpc import envelope
from assent.lsp.rpc.envelope import Malformed, Notification, Request, Response
from assent.lsp.rpc.framing import Fault
from assent.types.errors import ProtocolError
from assent.wire.shapes import CommandPart, ShellCommand


def one(value: Any) -> envelope.Message:
    (message,) = envelope.read(json.dumps(value).encode())
    return message


def test_sound_messages_are_told_apart() -> None:
    assert one({"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"x": 1}}) == Request(1, "a", {"x": 1})
    assert one({"jsonrpc": "2.0", "id": "s", "method": "a"}) == Request("s", "a", None)
    assert one({"jsonrpc": "2.0", "method": "a", "params": [1]}) == Notification("a", [1])
    assert one({"jsonrpc": "2.0", "id": 1, "result": None}) == Response(1)
    assert one({"jsonrpc": "2.0", "id": 1, "error": {"code": 5, "message": "m"}}) == Response(
        1, None, {"code": 5, "message": "m"}
    )


def test_a_nested_jsonrpc_key_is_only_data() -> None:
    params = {"jsonrpc": "2.0", "id": 3, "method": "b", "deep": {"jsonrpc": 1}}
    assert one({"jsonrpc": "2.0", "id": 1, "method": "a", "params": params}) == Request(1, "a", params)


@pytest.mark.parametrize(
    ("value", "id", "kind"),
    [
        ({"id": 1, "method": "a"}, 1, "invalidRequest"),
        ({"jsonrpc": "1.0", "id": 1, "method": "a"}, 1, "invalidRequest"),
        ({"jsonrpc": "2.0", "id": 1, "method": 5}, 1, "invalidRequest"),
        ({"jsonrpc": "2.0", "id": 1}, 1, "invalidRequest"),
        ({"jsonrpc": "2.0", "id": None, "method": "a"}, None, "invalidRequest"),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "a"}, 1.5, "invalidRequest"),
        ({"jsonrpc": "2.0", "id": True, "method": "a"}, None, "invalidRequest"),
        ({"jsonrpc": "2.0", "id": {}, "method": "a"}, None, "invalidRequest"),
        ({"jsonrpc": "2.0", "id": 1, "method": "a", "params": "text"}, 1, "invalidParams"),
        ({"jsonrpc": "2.0", "id": 1, "method": "a", "params": 7}, 1, "invalidParams"),
        (5, None, "invalidRequest"),
        ("text", None, "invalidRequest"),
        (None, None, "invalidRequest"),
        ([], None, "invalidRequest"),
        ([1, 2], None, "invalidRequest"),
    ],
)
def test_a_malformed_message_is_answered_under_its_id(value: Any, id: Any, kind: str) -> None:
    message = one(value)
    assert isinstance(message, Malformed)
    assert (message.id, message.error.kind) == (id, kind)


def test_every_request_of_a_batch_is_refused_by_its_own_id() -> None:
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "a"}, {"jsonrpc": "2.0", "id": "x", "method": "b"}, 5]
    messages = envelope.read(json.dumps(batch).encode())
    assert [m.id for m in messages if isinstance(m, Malformed)] == [1, "x"]


@pytest.mark.parametrize(
    ("body", "id"),
    [
        (b'{"jsonrpc":"2.0","id":41,"method":"a","params":{', 41),
        (b'{"jsonrpc": "2.0", "method": "a", "params": nope, "id": "q"}', "q"),
        (b'{"jsonrpc":"2.0","id":7,"method":"a","params":' + b"[" * 100_000, 7),
        (b'{"jsonrpc":"2.0","id":7,"result":' + b"[" * 100_000, None),
        (b"\xff\xfe{}", None),
        (b"", None),
    ],
)
def test_what_is_not_json_is_answered_under_the_id_it_seems_to_have(body: bytes, id: Any) -> None:
    (message,) = envelope.read(body)
    assert isinstance(message, Malformed)
    assert message.id == id
    assert message.error.kind == "invalidRequest"


def test_an_oversized_body_is_answered_too_large_under_its_id() -> None:
    message = envelope.of_fault(Fault("tooLarge", "a body of 9 bytes", b'{"jsonrpc":"2.0","id":9,"method":"m"'))
    assert (message.id, message.error.kind, message.error.code) == (9, "tooLarge", -32803)


def test_half_a_surrogate_pair_becomes_one_replacement_character() -> None:
    (message,) = envelope.read(rb'{"jsonrpc":"2.0","method":"a","params":{"t":"x\ud83d y\ud83d\ude00"}}')
    assert message == Notification("a", {"t": "x\ufffd y\U0001f600"})


def test_text_that_is_not_unicode_can_still_be_written() -> None:
    body = envelope.result_body(1, {"text": "a\ud800b", "n": float("nan")})
    assert json.loads(body)["result"] == {"text": "a\ufffdb", "n": None}


def test_a_structure_with_text_that_is_not_unicode_is_written_field_by_field() -> None:
    command = ShellCommand("echo \udcff", [CommandPart(["echo", "\udcff"], "ask")])
    body = envelope.request_body("r1", "assent/permission/ask", {"command": command})
    assert json.loads(body)["params"]["command"] == {
        "text": "echo \ufffd",
        "parts": [{"argv": ["echo", "\ufffd"], "decision": "ask"}],
    }


def test_an_error_carries_kind_and_hint_and_no_traceback() -> None:
    body = json.loads(envelope.error_body(4, ProtocolError("busy", "a turn is running", hint="wait", data={"n": 1})))
    assert body == {
        "jsonrpc": "2.0",
        "id": 4,
        "error": {"code": -32803, "message": "a turn is running", "data": {"n": 1, "kind": "busy", "hint": "wait"}},
    }
    assert "Traceback" not in json.dumps(json.loads(envelope.error_body(4, envelope.internal(ValueError("x")))))
