"""A strict fake of the Messages API, over real HTTP on loopback, for tests and benchmarks.

In an async test::

    async with FakeApi() as api:
        api.reply(text("Let me look."), tool("Read", file_path="a.py"))   # tool ids: toolu_0001, toolu_0002, …
        api.reply(text("Done."))
        ...                                                               # point the program at api.url (any key)
        assert api.calls[1].tool_results["toolu_0001"]["content"] == "…"

On leaving the block it fails if any call was refused (a request the real endpoint would not take, or one with no
answer scripted). `api.expect_refusal()` allows one; `api.check()` asks at any time; `api.left` counts unused answers.
Programs that are spawned get it through the environment: `env={**os.environ, **api.env}`, which is
ANTHROPIC_BASE_URL=http://127.0.0.1:PORT and ANTHROPIC_API_KEY=test. Tests that are not async use
`with FakeApi.threaded() as api:`.

The script
    api.reply(part, …, stop_reason=, stop_details=, usage=, headers=, output_tokens=, delay=, every=, chunking=)
        parts: text("…") · text("one", "delta", hold("h"), "each") · thinking("…") · redacted_thinking() ·
               tool("Name", field=value) · tool("Name", {"id": 1}, id="toolu_x", raw_json='{"cut', unclosed=True) ·
               *server_tool("web_search", {…}, {…}) · block({…any…}) · ping() · event("name", {…}) · raw(b"…") · hold("name")
        every stop reason by name: stop_reason="max_tokens" | "pause_turn" | "refusal" | "compaction" | …
        error={"type": "overloaded_error", "message": "Overloaded"} ends the stream with an `error` event
    api.error(status, message=, retry_after=, headers=, body=)      any status; realistic JSON, or `body` as it is
    api.cut(part, …, at_byte=N | at_event=N, extra_bytes=±k, how="close" | "reset" | "clean" | "stall")
    api.drop()                                                      connection reset before any answer
    api.when("words" | predicate, answer, …)                        answers for matching calls only (subagents, titles)
    api.otherwise(answer | callable)                                when the script has run out
    `Reply(parts=(…))` and `failure(529)` are answers too, for `add`, `when` and `otherwise`.

Time is driven by gates, not by the clock: `hold("h")` stops the stream there; `await api.reached("h")` waits for it to
get there, `api.release("h")` lets it go on. `await api.called(2)` waits for the second call to arrive.

A client with `make_call_model(settings, clock=InstantClock())` never really sleeps between retries; `VirtualClock` moves
only when told to. `fakeapi.talk` builds histories: `user("hi")`, `said(use("Read", "t1", file_path="a"))`, `result("t1")`.

What it refuses: see `rules` (pairing of tool_use and tool_result, empty text, more than 4 cache marks, roles,
max_tokens, prefill, thinking blocks that were altered, moved or made by another model, parameters the installed SDK's
types do not have, forced tools and thinking modes a model does not take, prompts over the window, images over 5 MB …).

What it counts: each call's `cache` has read, written, fresh and possible tokens, found by exact prefix at the marks;
the usage it answers with says the same. `api.cache_share()` is read ÷ possible over all calls.

Options: `FakeApi(key="right")` takes only that key; `extra_models={"tiny": Limits(window=5_000)}` knows more models;
`min_cache_tokens=`; `tls=True` speaks https, for clients that trust `CERTIFICATE`. Bedrock and Vertex paths work too.

As a process: `python -m fakeapi --script FILE [--loop]` prints its address; FILE is a JSON list of answers such as
`{"blocks": ["text", {"tool": "Read", "input": {…}}, {"repeat": "word ", "times": 2000}], "stop_reason": …}` and
`{"error": 529, "retry_after": 1}`. `GET /fake/requests`, `GET /fake/cache`, `POST /fake/script`,
`POST /fake/release/NAME` look inside. Run it with `tests/support` on PYTHONPATH.
"""

from fakeapi.clock import InstantClock, VirtualClock, settle
from fakeapi.models import Limits
from fakeapi.script import (
    Answer,
    Block,
    Cut,
    Drop,
    Failure,
    Hold,
    Reply,
    answer_from_json,
    block,
    event,
    failure,
    hold,
    ping,
    raw,
    redacted_thinking,
    server_tool,
    text,
    thinking,
    tool,
)
from fakeapi.server import CERTIFICATE, FakeApi, Request

__all__ = [
    "CERTIFICATE",
    "Answer",
    "Block",
    "Cut",
    "Drop",
    "Failure",
    "FakeApi",
    "Hold",
    "InstantClock",
    "Limits",
    "Reply",
    "Request",
    "VirtualClock",
    "answer_from_json",
    "block",
    "event",
    "failure",
    "hold",
    "ping",
    "raw",
    "redacted_thinking",
    "server_tool",
    "settle",
    "text",
    "thinking",
    "tool",
]
