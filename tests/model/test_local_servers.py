"""Servers of one's own that speak the Messages API in part: what they lack is found out, said and remembered."""

import json
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from assent.model.choice import Models
from assent.model.endpoint import Endpoint
from assent.model.endpoint_findings import Findings
from assent.model.failures import CallFailed
from assent.model.lacking import Lacking
from assent.model.model_settings import ModelSettings
from assent.model.offered import EndpointModels, names_in, to_choose_from
from assent.types.messages import AssistantFinal, Notice
from assent.types.ports import ModelEvent, ModelRequest
from fakeapi.talk import user

REFUSALS = {
    "llama.cpp": 'unknown field "{name}" in request',
    "vLLM": "body.{name}: Extra inputs are not permitted",
    "LM Studio": "Unrecognized key(s) in object: '{name}'",
    "Ollama": "this model does not support {name}",
}


@dataclass
class LocalServer:
    """Refuses what it does not know, one field at a time, in a server's own words; then answers in its own way."""

    refusal: str
    unknown: tuple[str, ...] = ("cache_control", "thinking", "output_config")
    stop: str = "stop"
    models: Any = None
    bodies: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    asked: int = 0
    address: str = ""

    def answer(self, body: dict[str, Any]) -> tuple[int, str, bytes]:
        self.bodies.append(body)
        text = json.dumps(body)
        for name in self.unknown:
            if f'"{name}"' in text:
                said = {"error": {"message": self.refusal.format(name=name), "type": "invalid_request_error"}}
                return 400, "application/json", json.dumps(said).encode()
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": []}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": self.stop}},
            {"type": "message_stop"},
        ]
        return 200, "text/event-stream", b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in events)


@contextmanager
def serving(local: LocalServer) -> Generator[LocalServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            self._send(*local.answer(json.loads(body)))

        def do_GET(self) -> None:
            local.asked += 1
            if local.models is None:
                self._send(404, "text/plain", b"not found")
            else:
                self._send(200, "application/json", json.dumps(local.models).encode())

        def _send(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    local.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield local
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def models_at(local: LocalServer, findings: Findings | None = None) -> Models:
    endpoint = Endpoint(base_url=local.address, env={})
    return Models(ModelSettings(endpoint=endpoint), findings=findings)


async def heard(events: AsyncGenerator[ModelEvent, None]) -> list[ModelEvent]:
    async with aclosing(events):
        return [event async for event in events]


def request() -> ModelRequest:
    return ModelRequest(
        model="qwen3-coder", messages=(user("hi"),), system=("Be brief.",), thinking={"type": "adaptive"}, effort="low"
    )


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
async def test_what_a_local_server_does_not_take_is_left_out_and_said_once(refusal: str) -> None:  # M3
    with serving(LocalServer(refusal)) as local:
        models = models_at(local)
        first = await heard(models.call(request()))
        told = [event.text for event in first if isinstance(event, Notice)]
        assert [words for words in ("prompt caching", "thinking", "effort") if any(words in each for each in told)] == [
            "prompt caching", "thinking", "effort",
        ]  # fmt: skip
        final = next(event for event in first if isinstance(event, AssistantFinal))
        assert final.stop_reason == "end_turn"  # it said "stop"
        count = len(local.bodies)
        second = await heard(models.call(request()))
        assert not [event for event in second if isinstance(event, Notice)] and len(local.bodies) == count + 1
        await models.aclose()


async def test_what_was_found_out_is_known_to_the_next_process(tmp_path: Path) -> None:
    with serving(LocalServer(REFUSALS["vLLM"])) as local:
        before = models_at(local, Findings(tmp_path))
        await heard(before.call(request()))
        await before.aclose()
        count = len(local.bodies)
        after = models_at(local, Findings(tmp_path))
        await heard(after.call(request()))
        await after.aclose()
        assert len(local.bodies) == count + 1
        assert oct((tmp_path / "models.json").stat().st_mode & 0o777) == "0o600"
        (lacking,) = Findings(tmp_path).everything().values()
        assert lacking == {"qwen3-coder": frozenset({"cache", "thinking", "effort"})}


@pytest.mark.parametrize(
    ("said", "meant"), [("length", "max_tokens"), ("tool_calls", "tool_use"), ("end_turn", "end_turn")]
)
async def test_odd_stop_reasons_are_read_as_what_they_mean(said: str, meant: str) -> None:  # M9
    with serving(LocalServer("", unknown=(), stop=said)) as local:
        models = models_at(local)
        final = [event for event in await heard(models.call(request())) if isinstance(event, AssistantFinal)][-1]
        assert final.stop_reason == meant
        await models.aclose()


FAILURES = pytest.mark.parametrize(
    "failure",
    [
        CallFailed(message="prompt is too long: thinking", status=400),
        CallFailed(message="thinking is not supported", status=500),
        CallFailed(message="messages.3: unexpected tool_use_id", status=400),
        CallFailed(message="max_tokens must be greater than thinking.budget_tokens", status=400),
    ],
    ids=lambda failure: failure.message,
)


def test_a_refusal_of_deferred_tools_is_about_those_and_nothing_else() -> None:
    lacking = Lacking()
    failure = CallFailed(message="tools.5.custom.defer_loading: Extra inputs are not permitted", status=400)
    assert lacking.learn("m", failure, frozenset()) == "references"
    assert lacking.of("m") == {"references"}


@FAILURES
def test_a_refusal_about_something_else_switches_nothing_off(failure: CallFailed) -> None:
    lacking = Lacking()
    assert lacking.learn("m", failure, frozenset()) is None and lacking.by_model == {}


# --- the list of models ----------------------------------------------------------------------------------------------

OPENAI_STYLE = {"object": "list", "data": [{"id": "qwen3-coder:30b", "object": "model"}, {"id": "llama4"}]}
MESSAGES_STYLE = {"data": [{"type": "model", "id": "claude-x", "display_name": "Claude X"}], "has_more": False}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (OPENAI_STYLE, [("qwen3-coder:30b", "qwen3-coder:30b"), ("llama4", "llama4")]),
        (MESSAGES_STYLE, [("claude-x", "Claude X")]),
        (
            {"data": [{"id": "a\u202eb"}, {"id": 3}, "x", {"id": ""}, {"id": "ok", "name": "two\nlines"}]},
            [("ok", "two lines")],
        ),
    ],
)
def test_lists_of_models_are_read_as_different_servers_write_them(body: Any, expected: list[tuple[str, str]]) -> None:
    assert [(each.id, each.name) for each in names_in(body)] == expected


@pytest.mark.parametrize("body", [[], {}, {"data": "x"}, None, 3])
def test_a_list_of_another_shape_is_refused(body: Any) -> None:
    with pytest.raises(ValueError, match="shape"):
        names_in(body)


async def test_the_endpoints_models_stand_beside_the_known_ones_and_are_kept_for_a_day(tmp_path: Path) -> None:
    with serving(LocalServer("", models=OPENAI_STYLE)) as local:
        offer, rows = await models_at(local, Findings(tmp_path)).offered(refresh=False, own=("mine",))
        assert (offer.endpoint, offer.error) == (local.address, "")
        assert [(row.id, row.source) for row in rows][:3] == [
            ("mine", "settings"), ("qwen3-coder:30b", "endpoint"), ("llama4", "endpoint"),
        ]  # fmt: skip
        assert any(row.source == "known" for row in rows) and local.asked == 1
        again = models_at(local, Findings(tmp_path))
        await again.offered(refresh=False, own=())
        assert local.asked == 1
        await again.offered(refresh=True, own=())
        assert local.asked == 2
        local.models = None  # the list is gone: what it was stays, and the reason is said
        offer, rows = await again.offered(refresh=True, own=())
        assert offer.error and "llama4" in [row.id for row in rows]


def test_without_a_key_only_the_stand_in_is_offered() -> None:
    assert [row.id for row in to_choose_from(EndpointModels(), ("claude-opus-5-5",), offline=True)] == ["offline"]


def test_a_damaged_file_of_findings_is_as_good_as_none(tmp_path: Path) -> None:
    for damaged in ("", "[]", '{"anthropic x": 3}', '{"anthropic x": {"models": [1], "lacking": {"m": null}}}'):
        (tmp_path / "models.json").write_text(damaged)
        findings = Findings(tmp_path)
        assert findings.offer("anthropic x").models == () and not any(findings.lacking("anthropic x").values())
