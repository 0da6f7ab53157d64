"""The strict fake itself: it must refuse what the endpoint refuses, or tests that pass against it mean nothing."""

import asyncio
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from anyio import fail_after

from assent.types.blocks import Json
from fakeapi import FakeApi, Limits, Reply, hold, text, thinking, tool
from fakeapi.caching import PromptCache, tokens
from fakeapi.models import limits
from fakeapi.rules import Known, refuse
from fakeapi.signing import Prefix, sign
from fakeapi.talk import result, use

MODEL = "claude-opus-5-5"
TOOL: Json = {"name": "Read", "input_schema": {"type": "object", "properties": {}}}
MARK: Json = {"type": "ephemeral"}


def said_by(role: str, *content: Json | str) -> Json:
    return {
        "role": role,
        "content": [{"type": "text", "text": each} if isinstance(each, str) else each for each in content],
    }


def body(**changes: Any) -> Json:
    value: Json = {"model": MODEL, "max_tokens": 100, "messages": [said_by("user", "hi")], "stream": True}
    return {key: each for key, each in (value | changes).items() if each is not None}


def verdict(sent: Json, *, betas: str = "", model: str = MODEL, **known: Any) -> str | None:
    found = refuse(
        {"model": model, **sent} | {"model": model}, {"anthropic-beta": betas}, Known(limits=limits(model), **known)
    )
    return found.message if found else None


CALL = said_by("assistant", use("Read", "t1"))
IMAGE: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
BIG = {**IMAGE, "source": {**IMAGE["source"], "data": "A" * 8_000_000}}

REFUSED: list[tuple[str, Json, str]] = [
    ("an unknown parameter", body(verbosity=3), "verbosity: Extra inputs are not permitted"),
    ("a temperature", body(temperature=1.0), "temperature: Extra inputs are not permitted"),
    ("top_p", body(top_p=0.9), "top_p: Extra inputs"),
    ("a header as a field", body(betas=["x"]), "betas: Extra inputs"),
    ("an unknown field of a block", body(messages=[said_by("user", {"type": "text", "text": "a", "mood": 1})]), "mood: Extra"),
    ("an unknown block", body(messages=[said_by("user", {"type": "song"})]), "Input tag 'song'"),
    ("no max_tokens", body(max_tokens=None), "max_tokens: Field required"),
    ("max_tokens of the wrong type", body(max_tokens="9"), "max_tokens: Input should be a valid integer"),
    ("negative max_tokens", body(max_tokens=-1), "greater than or equal to 0"),
    ("too many max_tokens", body(max_tokens=10**6), "maximum allowed number of output tokens"),
    ("no messages", body(messages=[]), "at least one message"),
    ("an answer first", body(messages=[said_by("assistant", "a"), said_by("user", "b")]), "first message must use"),
    ("a strange role", body(messages=[said_by("tool", "a")]), "'tool'"),
    ("prefill", body(messages=[said_by("user", "a"), said_by("assistant", "b")]), "prefill"),
    ("empty text", body(messages=[said_by("user", "")]), "must be non-empty"),
    ("blank text", body(messages=[said_by("user", " \n")]), "non-whitespace"),
    ("empty content", body(messages=[{"role": "user", "content": []}]), "non-empty content"),
    ("empty text inside a result", body(messages=[said_by("user", "a"), CALL, said_by("user", result("t1", [{"type": "text", "text": ""}]))]), "must be non-empty"),
    ("empty system text", body(system=[{"type": "text", "text": ""}]), "system: text content blocks must be non-empty"),
    ("a call without a result", body(messages=[said_by("user", "a"), CALL, said_by("user", "b")]), "without `tool_result`"),
    ("a call at the end", body(messages=[said_by("user", "a"), CALL, said_by("user", "b"), CALL]), "prefill"),
    ("a result that is not first", body(messages=[said_by("user", "a"), CALL, said_by("user", "b", result("t1"))]), "without `tool_result`"),
    ("a result without a call", body(messages=[said_by("user", result("t1"))]), "unexpected `tool_use_id`"),
    ("two results for a call", body(messages=[said_by("user", "a"), CALL, said_by("user", result("t1"), result("t1"))]), "single result"),
    ("a call id used twice", body(messages=[said_by("user", "a"), said_by("assistant", use("Read", "t1"), use("Read", "t1")), said_by("user", result("t1"))]), "must be unique"),
    ("a strange call id", body(messages=[said_by("user", "a"), said_by("assistant", use("Read", "t 1")), said_by("user", result("t 1"))]), "should match pattern"),
    ("a call by the user", body(messages=[said_by("user", use("Read", "t1"))]), "can only be in `assistant`"),
    ("a picture by the assistant", body(messages=[said_by("user", "a"), said_by("assistant", IMAGE), said_by("user", "b")]), "can only be in `user`"),
    ("a tool input that is no object", body(messages=[said_by("user", "a"), said_by("assistant", {**use("Read", "t1"), "input": "x"}), said_by("user", result("t1"))]), "valid dictionary"),
    ("an answer that ends thinking", body(messages=[said_by("user", "a"), said_by("assistant", "b", {"type": "redacted_thinking", "data": "redacted:x"}), said_by("user", "c")]), "cannot be `thinking`"),
    ("thinking that was made up", body(messages=[said_by("user", "a"), said_by("assistant", {"type": "thinking", "thinking": "x", "signature": "y"}, "b"), said_by("user", "c")]), "Invalid `signature`"),
    ("redacted thinking that was made up", body(messages=[said_by("user", "a"), said_by("assistant", {"type": "redacted_thinking", "data": "zzz"}, "b"), said_by("user", "c")]), "redacted_thinking"),
    ("five marks", body(messages=[said_by("user", *({"type": "text", "text": "a", "cache_control": MARK} for _ in range(5)))]), "Found 5"),
    ("a mark on thinking", body(messages=[said_by("user", "a"), said_by("assistant", {"type": "redacted_thinking", "data": "redacted:x", "cache_control": MARK}, "b"), said_by("user", "c")]), "cache_control"),
    ("a long mark after a short one", body(system=[{"type": "text", "text": "a", "cache_control": MARK}], messages=[said_by("user", {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}})]), "ttl='1h'"),
    ("two tools of one name", body(tools=[TOOL, TOOL]), "must be unique"),
    ("a tool with a strange name", body(tools=[{**TOOL, "name": "a b"}]), "should match pattern"),
    ("a tool without schema", body(tools=[{"name": "Read"}]), "input_schema: Field required"),
    ("a schema that is no object's", body(tools=[{**TOOL, "input_schema": {"type": "string"}}]), "'object'"),
    ("a schema that is none", body(tools=[{**TOOL, "input_schema": {"type": "object", "properties": {"a": {"type": "zork"}}}}]), "JSON schema is invalid"),
    ("a choice without tools", body(tool_choice={"type": "auto"}), "while providing tools"),
    ("a forced tool", body(tools=[TOOL], tool_choice={"type": "any"}), "not supported for this model"),
    ("thinking off where it cannot be", body(thinking={"type": "disabled"}), "thinking.type.disabled"),
    ("a thinking budget where there is none", body(thinking={"type": "enabled", "budget_tokens": 2000}), "thinking.type.enabled"),
    ("a feature without its beta", body(context_management={"edits": []}), "context_management: Extra inputs"),
    ("a picture that is too large", body(messages=[said_by("user", BIG)]), "image exceeds 5 MB"),
    ("a picture that is no base64", body(messages=[said_by("user", {**IMAGE, "source": {**IMAGE["source"], "data": "%%"}})]), "invalid base64"),
    ("a picture of a strange type", body(messages=[said_by("user", {**IMAGE, "source": {**IMAGE["source"], "media_type": "image/tiff"}})]), "media_type"),
    ("citations by the user", body(messages=[said_by("user", {"type": "text", "text": "a", "citations": [{"type": "char_location", "cited_text": "x", "document_index": 0, "document_title": None, "start_char_index": 0, "end_char_index": 1}]})]), "citations"),
    ("a prompt over the window", body(messages=[said_by("user", "x" * 4_100_000)]), "prompt is too long"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "expected"), [each[1:] for each in REFUSED], ids=[each[0] for each in REFUSED])
def test_it_refuses(sent: Json, expected: str) -> None:
    found = verdict(sent)
    assert found is not None
    assert expected in found


TAKEN: list[tuple[str, Json]] = [
    ("a plain string", body(messages=[{"role": "user", "content": "hi"}])),
    ("system as a string", body(system="You help.")),
    ("two messages of one role", body(messages=[said_by("user", "a"), said_by("user", "b")])),
    ("a call and its result", body(messages=[said_by("user", "a"), CALL, said_by("user", result("t1"), "more")], tools=[TOOL])),
    ("results over two messages", body(messages=[said_by("user", "a"), said_by("assistant", use("Read", "t1"), use("Read", "t2")), said_by("user", result("t1")), said_by("user", result("t2"))])),
    ("four marks", body(tools=[{**TOOL, "cache_control": MARK}], system=[{"type": "text", "text": "a", "cache_control": MARK}], messages=[said_by("user", *({"type": "text", "text": "a", "cache_control": MARK} for _ in range(2)))])),
    ("a picture", body(messages=[said_by("user", IMAGE, "look")])),
    ("no tokens at all, to warm the cache", body(max_tokens=0)),
    ("web search by the endpoint", body(tools=[{"type": "web_search_20250305", "name": "web_search"}])),
]  # fmt: skip


@pytest.mark.parametrize("sent", [each[1] for each in TAKEN], ids=[each[0] for each in TAKEN])
def test_it_takes(sent: Json) -> None:
    assert verdict(sent) is None


def test_unknown_betas_are_refused_and_known_ones_open_their_feature() -> None:
    edits = body(context_management={"edits": [{"type": "clear_tool_uses_20250919"}]})
    assert "anthropic-beta" in (verdict(body(), betas="made-up-2020") or "")
    assert verdict(edits, betas="context-management-2025-06-27") is None


class TestThinking:
    def conversation(self, words: str = "hm", model: str = MODEL, first: str = "a") -> Json:
        prefix = Prefix()
        prefix.add("user", {"type": "text", "text": "a"})
        block = {"type": "thinking", "thinking": words, "signature": sign("hm", model=model, prefix=prefix)}
        return body(messages=[said_by("user", first), said_by("assistant", block, "b"), said_by("user", "c")])

    def test_as_it_was_made_is_taken(self) -> None:
        assert verdict(self.conversation()) is None

    def test_that_was_altered_is_refused(self) -> None:
        assert "Invalid `signature`" in (verdict(self.conversation(words="hmm")) or "")

    def test_of_another_model_is_refused(self) -> None:
        assert "Invalid `signature`" in (verdict(self.conversation(model="claude-opus-5")) or "")

    def test_after_changed_words_is_refused_where_it_is_bound_unless_dropping_is_asked_for(self) -> None:
        changed = self.conversation(first="changed")
        assert "bound to a different conversation" in (verdict(changed) or "")
        assert verdict({**self.conversation(model="claude-opus-5", first="changed")}, model="claude-opus-5") is None
        lenient = changed | {
            "thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
        }
        assert verdict(lenient, betas="thinking-binding-controls-2026-08-01") is None


class TestCache:
    def request(self, *turns: str, mark: int = -1) -> Json:
        blocks: list[Json] = [{"type": "text", "text": each} for each in turns]
        blocks[mark]["cache_control"] = MARK
        return body(messages=[{"role": "user", "content": blocks}])

    def test_a_prefix_that_was_marked_is_read_again(self) -> None:
        cache = PromptCache()
        first = cache.use(self.request("a" * 400))
        second = cache.use(self.request("a" * 400, "b" * 400))
        assert (first.read, first.written) == (0, first.total)
        assert second.read == first.total == second.possible
        assert second.read + second.written + second.fresh == second.total

    def test_one_byte_earlier_loses_it(self) -> None:
        cache = PromptCache()
        cache.use(self.request("a" * 400))
        assert cache.use(self.request("A" + "a" * 399, "b")).read == 0

    def test_key_order_counts(self) -> None:
        cache = PromptCache()
        cache.use(body(messages=[{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": MARK}]}]))
        other = body(messages=[{"role": "user", "content": [{"text": "a", "type": "text", "cache_control": MARK}]}])
        assert cache.use(other).read == 0

    def test_looks_back_twenty_blocks_and_no_further(self) -> None:
        for added, hit in ((19, True), (20, False)):
            cache = PromptCache()
            cache.use(self.request("start" * 50))
            used = cache.use(self.request("start" * 50, *(str(number) for number in range(added))))
            assert (used.read > 0) == hit
            assert used.possible > 0

    def test_another_model_shares_nothing(self) -> None:
        cache = PromptCache()
        cache.use(self.request("a" * 400))
        assert cache.use({**self.request("a" * 400), "model": "claude-opus-5"}).possible == 0

    def test_tokens_are_a_fixed_function_of_the_bytes(self) -> None:
        assert tokens({"a": "b" * 100}) == tokens({"a": "b" * 100}) == 27


@pytest.fixture
async def api() -> AsyncIterator[FakeApi]:
    async with FakeApi(extra_models={"tiny": Limits(window=100, max_output=50)}) as running:
        yield running


def post(url: str, sent: Json | bytes, **headers: str) -> tuple[int, Json]:
    data = sent if isinstance(sent, bytes) else orjson.dumps(sent)
    every = {"x-api-key": "k", "anthropic-version": "2026-10-21", "content-type": "application/json"} | headers
    request = urllib.request.Request(url, data=data, headers={k: v for k, v in every.items() if v})
    try:
        with urllib.request.urlopen(request, timeout=60) as got:
            return got.status, orjson.loads(got.read())
    except urllib.error.HTTPError as error:
        return error.code, orjson.loads(error.read())


class TestServing:
    async def test_answers_that_do_not_stream(self, api: FakeApi) -> None:
        api.reply(text("hi"), tool("Read", file_path="a"))
        status, got = await asyncio.to_thread(post, f"{api.url}/v1/messages", body(stream=None))
        assert (status, got["stop_reason"], got["content"][1]["id"]) == (200, "tool_use", "toolu_0001")

    async def test_counts_tokens(self, api: FakeApi) -> None:
        status, got = await asyncio.to_thread(post, f"{api.url}/v1/messages/count_tokens", body(max_tokens=None))
        assert (status, got["input_tokens"] > 0) == (200, True)

    @pytest.mark.parametrize(
        ("sent", "headers", "status", "kind"),
        [
            (b"{nope", {}, 400, "invalid_request_error"),
            (b'{"model": "\\ud800"}', {}, 400, "invalid_request_error"),
            (orjson.dumps(body()), {"x-api-key": ""}, 401, "authentication_error"),
            (orjson.dumps(body()), {"anthropic-version": ""}, 400, "invalid_request_error"),
            (orjson.dumps(body(model="gpt-4")), {}, 404, "not_found_error"),
            (orjson.dumps(body(model="tiny", messages=[said_by("user", "x" * 500)])), {}, 400, "invalid_request_error"),
            (orjson.dumps(body()), {}, 400, "invalid_request_error"),  # nothing scripted
        ],
    )
    async def test_refuses_with_the_endpoints_error_json(
        self, api: FakeApi, sent: bytes, headers: dict[str, str], status: int, kind: str
    ) -> None:
        api.expect_refusal()
        code, got = await asyncio.to_thread(lambda: post(f"{api.url}/v1/messages", sent, **headers))
        assert (code, got["type"], got["error"]["type"]) == (status, "error", kind)
        assert got["request_id"].startswith("req_")

    async def test_a_wrong_key_is_refused_when_one_is_set(self) -> None:
        async with FakeApi(key="right") as strict:
            strict.expect_refusal()
            assert (await asyncio.to_thread(post, f"{strict.url}/v1/messages", body()))[0] == 401

    async def test_scripted_errors_carry_headers_and_are_no_refusals(self, api: FakeApi) -> None:
        api.error(429, retry_after=7)
        code, _ = await asyncio.to_thread(post, f"{api.url}/v1/messages", body())
        assert (code, api.refusals) == (429, [])

    async def test_matching_answers_come_before_the_script(self, api: FakeApi) -> None:
        api.reply(text("plain"))
        api.when("special", Reply(parts=(text("matched"),)))
        asked = body(stream=None, messages=[said_by("user", "something special")])
        _, got = await asyncio.to_thread(post, f"{api.url}/v1/messages", asked)
        assert got["content"][0]["text"] == "matched"
        assert api.left == 1

    async def test_gates_hold_the_stream_until_released(self, api: FakeApi) -> None:
        api.reply(thinking("hm"), text("a", hold("gate"), "b"))
        with fail_after(60):
            asking = asyncio.create_task(asyncio.to_thread(_raw, f"{api.url}/v1/messages", body()))
            await api.reached("gate")
            assert not asking.done()
            api.release("gate")
            assert b"message_stop" in await asking


def _raw(url: str, sent: Json) -> bytes:
    headers = {"x-api-key": "k", "anthropic-version": "2026-10-21"}
    request = urllib.request.Request(url, data=orjson.dumps(sent), headers=headers)
    with urllib.request.urlopen(request, timeout=60) as got:
        return got.read()


def test_it_runs_in_a_thread_for_tests_that_are_not_async() -> None:
    with FakeApi.threaded() as api:
        api.reply(text("hi"))
        assert post(f"{api.url}/v1/messages", body(stream=None))[0] == 200


async def test_it_runs_as_a_process_with_a_script_from_a_file(tmp_path: Path) -> None:
    script: list[Json] = [
        {"blocks": ["hello", {"tool": "Read", "input": {"file_path": "a"}}, {"repeat": "x", "times": 3}]},
        {"error": 529, "retry_after": 1},
    ]
    file = tmp_path / "script.json"
    file.write_bytes(orjson.dumps(script))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "fakeapi", "--script", str(file), stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(Path(__file__).parents[1] / "support")},
    )  # fmt: skip
    try:
        with fail_after(60):
            assert process.stdout is not None
            url = (await process.stdout.readline()).decode().strip()
            _, got = await asyncio.to_thread(post, f"{url}/v1/messages", body(stream=None))
            assert [each["type"] for each in got["content"]] == ["text", "tool_use", "text"]
            assert (await asyncio.to_thread(post, f"{url}/v1/messages", body()))[0] == 529
            added = orjson.dumps([{"blocks": ["more"]}])
            assert (await asyncio.to_thread(post, f"{url}/fake/script", added))[1] == {"left": 1}
            seen = orjson.loads(
                await asyncio.to_thread(lambda: urllib.request.urlopen(f"{url}/fake/requests", timeout=60).read())
            )
            assert [each["number"] for each in seen] == [1, 2]
    finally:
        process.kill()
        await process.wait()


def test_with_a_thinking_budget_an_answer_that_calls_tools_must_begin_with_thinking() -> None:
    asked = body(
        max_tokens=5000,
        messages=[said_by("user", "a"), CALL, said_by("user", result("t1"))],
        thinking={"type": "enabled", "budget_tokens": 2000},
    )
    assert "Expected `thinking`" in (verdict(asked, model="claude-haiku-4-5") or "")
