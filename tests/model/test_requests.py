"""Request bytes: what is merged, what is left out, where the cache marks stand, and that nothing else moves."""

import copy
from dataclasses import replace
from typing import Any, ClassVar

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.model import catalog
from assent.model.folding import NO_RESULT
from assent.model.requests import ApiRequest, RequestBuilder, RequestOptions, build
from assent.types.blocks import Json
from assent.types.messages import AssistantMessage, Attachment, CompactBoundary, ConversationMessage, UserMessage
from assent.types.ports import ModelRequest
from fakeapi import models
from fakeapi.caching import PromptCache
from fakeapi.rules import Known, refuse
from fakeapi.talk import result, said, use, user

MODEL = "claude-opus-5-5"
TOOLS: tuple[Json, ...] = (
    {"name": "Read", "description": "Reads.", "input_schema": {"type": "object", "properties": {}}},
    {"name": "Bash", "description": "Runs.", "input_schema": {"type": "object", "properties": {}}},
)


def request(*messages: ConversationMessage, model: str = MODEL, **fields: Any) -> ModelRequest:
    return ModelRequest(model=model, messages=messages, **fields)


def built(asked: ModelRequest, **options: Any) -> ApiRequest:
    return build(asked, catalog.info(asked.model), **options)


def body(asked: ModelRequest, **options: Any) -> Json:
    return orjson.loads(built(asked, **options).body)


def bare(value: Any) -> Any:
    """Without cache marks."""
    if isinstance(value, dict):
        items: Any = value.items()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- JSON
        return {key: bare(each) for key, each in items if key != "cache_control"}
    return [bare(each) for each in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType] -- JSON


def messages(asked: ModelRequest) -> list[Json]:
    return bare(body(asked)["messages"])


def marks(sent: Json) -> list[str]:
    found: list[str] = []
    found += [f"tool {tool['name']}" for tool in sent.get("tools", []) if "cache_control" in tool]
    found += [f"system {at}" for at, each in enumerate(sent.get("system", [])) if "cache_control" in each]
    for at, message in enumerate(sent["messages"]):
        found += [f"message {at}.{number}" for number, each in enumerate(message["content"]) if "cache_control" in each]
    return found


def accepted(asked: ModelRequest) -> None:
    """The strict fake's rules have nothing against it."""
    made = built(asked)
    headers = {"anthropic-beta": ",".join(made.betas)}
    refused = refuse(orjson.loads(made.body), headers, Known(limits=models.limits(asked.model)))
    assert refused is None, refused


class TestFolding:
    def test_blocks_of_one_answer_are_one_message_and_results_of_a_batch_another(self) -> None:  # M2
        asked = request(
            user("go"),
            said("Two reads."),
            said(use("Read", "t1")),
            said(use("Read", "t2")),
            user(result("t1", "one")),
            user(result("t2", "two")),
        )
        assert messages(asked) == [
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "Two reads."}, use("Read", "t1"), use("Read", "t2")],
            },
            {"role": "user", "content": [result("t1", "one"), result("t2", "two")]},
        ]
        accepted(asked)

    def test_results_come_first_and_in_the_order_of_the_calls(self) -> None:
        asked = request(
            user("go"),
            said(use("Read", "t1"), use("Read", "t2")),
            user("and this", result("t2", "two")),
            Attachment(uuid="x", kind="diagnostics", content=({"type": "text", "text": "1 error"},)),
            user(result("t1", "one")),
        )
        assert messages(asked)[2]["content"] == [
            result("t1", "one"),
            result("t2", "two"),
            {"type": "text", "text": "and this"},
            {"type": "text", "text": "1 error"},
        ]
        accepted(asked)

    def test_the_context_of_the_user_stands_before_the_first_message(self) -> None:  # Q8
        first = messages(request(user("go"), user_context="Today is Monday."))[0]
        assert first["content"] == [{"type": "text", "text": "Today is Monday."}, {"type": "text", "text": "go"}]

    def test_the_view_starts_at_the_last_boundary_with_summary_and_what_was_kept(self) -> None:  # L4
        boundary = CompactBoundary(
            uuid="c",
            trigger="auto",
            tokens_before=9,
            tokens_after=1,
            summary="We won.",
            kept=({"type": "text", "text": "kept"},),
        )
        sent = messages(request(user("old"), said("old"), boundary, user("new")))
        assert len(sent) == 1
        texts = [each["text"] for each in sent[0]["content"]]
        assert "We won." in texts[0]
        assert texts[1:] == ["kept", "new"]

    def test_the_endpoints_own_compaction_goes_back_as_it_came(self) -> None:  # M9
        block: Json = {"type": "compaction", "content": "sum", "signature": "s"}
        boundary = CompactBoundary(
            uuid="c", trigger="server", tokens_before=9, tokens_after=1, summary="sum", kept=(block,)
        )
        sent = messages(request(user("old"), boundary, user("new")))
        assert [each["role"] for each in sent] == ["user", "assistant", "user"]
        assert sent[1]["content"] == [block]

    def test_a_synthetic_error_message_is_never_sent(self) -> None:
        shown = AssistantMessage(
            uuid="e", message_id="e", content=({"type": "text", "text": "529"},), model=MODEL, error="x"
        )
        assert messages(request(user("a"), shown, user("b"))) == [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
        ]

    @pytest.mark.parametrize("empty", ["", " ", "\n\t"])
    def test_empty_text_is_left_out_and_its_neighbours_join(self, empty: str) -> None:
        asked = request(user("a", empty), said(empty), user(empty), user("b"))
        assert messages(asked) == [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
        ]

    def test_a_call_without_a_result_gets_one_so_that_the_session_lives_on(self) -> None:
        asked = request(user("a"), said(use("Read", "t1"), use("Read", "t2")), user("never mind", result("t2")))
        content = messages(asked)[2]["content"]
        assert content[0] == result("t1", NO_RESULT, error=True)
        accepted(asked)
        accepted(request(user("a"), said(use("Read", "t1"))))

    def test_a_result_without_a_call_and_a_second_result_are_left_out(self) -> None:
        asked = request(
            user("a", result("t9")), said(use("Read", "t1")), user(result("t1", "one"), result("t1", "two"))
        )
        assert messages(asked)[2]["content"] == [result("t1", "one")]
        accepted(asked)

    def test_a_cut_tool_input_is_sent_as_an_empty_one(self) -> None:
        cut = {"type": "tool_use", "id": "t1", "name": "Read", "input": '{"file'}
        asked = request(user("a"), said(cut), user(result("t1", "cut", error=True)))
        assert messages(asked)[1]["content"][0]["input"] == {}
        accepted(asked)

    def test_a_conversation_that_begins_with_an_answer_gets_a_user_message_before_it(self) -> None:
        accepted(request(said("hello"), user("hi")))

    def test_empty_text_inside_a_result_is_left_out(self) -> None:
        inner: list[Json] = [{"type": "text", "text": ""}, {"type": "text", "text": "x"}]
        asked = request(user("a"), said(use("Read", "t1")), user(result("t1", inner)))
        assert messages(asked)[2]["content"][0]["content"] == [{"type": "text", "text": "x"}]


class TestThinkingBlocks:
    BLOCK: ClassVar[Json] = {"type": "thinking", "thinking": "hm", "signature": "sig", "extra": [1]}

    def test_go_back_byte_for_byte(self) -> None:  # M7
        redacted = {"type": "redacted_thinking", "data": "xyz"}
        sent = built(request(user("a"), said(self.BLOCK, redacted, use("Read", "t1")), user(result("t1")))).body
        assert orjson.dumps(self.BLOCK) in sent
        assert orjson.dumps(redacted) in sent

    def test_of_another_model_are_left_out(self) -> None:  # L10
        asked = request(user("a"), said(self.BLOCK, "yes", model="claude-opus-5"), user("b"))
        assert messages(asked)[1]["content"] == [{"type": "text", "text": "yes"}]

    def test_at_the_end_of_an_answer_are_left_out(self) -> None:
        asked = request(user("a"), said("yes", self.BLOCK), user("b"), said(self.BLOCK), user("c"))
        assert [each["role"] for each in messages(asked)] == ["user", "assistant", "user"]


class TestStrings:
    @pytest.mark.parametrize(
        ("raw", "sent"),
        [
            ("a\ud800b", "a\ufffdb"),
            ("\ud83d\ude00", "😀"),
            ("a\0b", "a\ufffdb"),
            ("\\u0000", "\\u0000"),
            ("a\u2028", "a\u2028"),
        ],
    )
    def test_that_are_not_unicode_are_made_so(self, raw: str, sent: str) -> None:
        asked = request(user(raw), said(use("Read", "t1", path=raw)), user(result("t1", raw)), system=(raw,))
        value = body(asked)
        assert value["system"][0]["text"] == sent
        assert value["messages"][0]["content"][0]["text"] == sent
        assert value["messages"][1]["content"][0]["input"] == {"path": sent}
        assert value["messages"][2]["content"][0]["content"] == sent


class TestMarks:
    def test_stand_at_the_end_of_tools_system_last_message_and_the_user_message_before_it(self) -> None:  # M6
        asked = request(
            user("a"), said(use("Read", "t1")), user(result("t1"), "more"), system=("one", "two"), tools=TOOLS
        )
        assert marks(body(asked)) == ["tool Bash", "system 1", "message 0.0", "message 2.1"]

    def test_of_a_forked_call_stand_where_its_conversation_was_and_not_at_its_own_end(self) -> None:  # M6
        asked = request(
            user("a"), said(use("Read", "t1")), user(result("t1"), "more"), system=("one", "two"), tools=TOOLS
        )
        assert marks(body(replace(asked, forked=True))) == ["tool Bash", "system 1", "message 0.0"]
        alone = request(user("a"), system=("one",), tools=TOOLS)
        assert marks(body(replace(alone, forked=True))) == []

    def test_are_never_more_than_four_and_never_on_thinking(self) -> None:
        block: Json = {"type": "thinking", "thinking": "hm", "signature": "s"}
        asked = request(user("a"), said(block, "b"), user("c"), said(block, "d"), user("e"), system=("s",), tools=TOOLS)
        assert len(marks(body(asked))) == 4

    def test_of_others_are_taken_off(self) -> None:
        foreign: Json = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
        tool = {**TOOLS[0], "cache_control": {"type": "ephemeral"}}
        asked = request(user(foreign), said("b"), user("c"), said("d"), user("e"), tools=(tool, TOOLS[1]))
        assert marks(body(asked)) == ["tool Bash", "message 2.0", "message 4.0"]

    def test_can_live_an_hour_or_be_off(self) -> None:
        asked = request(user("a"), system=("s",))
        assert body(asked, options=RequestOptions(cache="1h"))["system"][0]["cache_control"]["ttl"] == "1h"
        assert marks(body(asked, options=RequestOptions(cache="off"))) == []

    def test_do_not_stand_on_a_deferred_tool(self) -> None:
        asked = request(user("a"), tools=(TOOLS[0], {**TOOLS[1], "defer_loading": True}))
        assert marks(body(asked)) == ["tool Read", "message 0.0"]

    @pytest.mark.parametrize("batch", [1, 5, 30])
    def test_let_a_twenty_step_turn_read_all_that_could_be_read(self, batch: int) -> None:
        """At least 95 % of what an ideal cache would give, however large the batches of tools are."""
        cache = PromptCache()
        history: list[ConversationMessage] = [user("go " * 50)]
        read = possible = 0
        for step in range(20):
            used = cache.use(body(request(*history, system=("s" * 4000,), tools=TOOLS, user_context="ctx")))
            read, possible = read + used.read, possible + used.possible
            ids = [f"t{step}-{number}" for number in range(batch)]
            history += [said(use("Read", id), id=f"m{step}") for id in ids]
            history.append(user(*(result(id, "line\n" * 30) for id in ids)))
        assert possible > 10_000
        assert read >= 0.95 * possible


class TestThePrefix:
    def test_of_a_grown_conversation_is_the_same_bytes(self) -> None:  # M6
        """Up to the marks, which move: the messages of the shorter request begin the longer one unchanged."""
        history: list[ConversationMessage] = [user("go")]
        before: list[Json] = []
        for step in range(12):
            sent = bare(body(request(*history, system=("s",), tools=TOOLS)))
            now: list[Json] = sent["messages"]
            assert now[: len(before)] == before
            assert [orjson.dumps(each) for each in now[: len(before)]] == [orjson.dumps(each) for each in before]
            before = now
            history += [said(use("Read", f"t{step}")), user(result(f"t{step}"))]

    def test_does_not_depend_on_what_may_change_from_call_to_call(self) -> None:
        one = built(request(user("a"), tools=TOOLS, system=("s",), max_tokens=10)).body
        two = built(request(user("a"), tools=TOOLS, system=("s",), max_tokens=64_000, effort="low")).body
        assert one.split(b',"max_tokens"')[0] == two.split(b',"max_tokens"')[0]


TURN = st.sampled_from(["user", "said", "tools", "thinking", "empty", "attachment", "boundary", "lonely result"])


def conversation(kinds: list[str]) -> list[ConversationMessage]:
    out: list[ConversationMessage] = [user("start")]
    for at, kind in enumerate(kinds):
        match kind:
            case "user":
                out.append(user(f"prompt {at}"))
            case "said":
                out.append(said(f"answer {at}", id=f"m{at}"))
            case "tools":
                out += [said(use("Read", f"a{at}"), id=f"m{at}"), said(use("Bash", f"b{at}"), id=f"m{at}")]
                out.append(user(result(f"b{at}"), result(f"a{at}")))
            case "thinking":
                out.append(said({"type": "redacted_thinking", "data": "redacted:x"}, id=f"m{at}"))
            case "empty":
                out.append(said(" ", id=f"m{at}"))
            case "attachment":
                out.append(Attachment(uuid=f"x{at}", kind="memory", content=({"type": "text", "text": "note"},)))
            case "boundary":
                out.append(
                    CompactBoundary(uuid=f"c{at}", trigger="auto", tokens_before=1, tokens_after=1, summary="sum")
                )
            case _:
                out.append(user(result(f"lonely{at}")))
    return out


@given(st.lists(TURN, max_size=14))
@settings(max_examples=300, deadline=None)
def test_any_history_makes_a_request_the_endpoint_takes(kinds: list[str]) -> None:
    history = conversation(kinds)
    if isinstance(history[-1], AssistantMessage):
        history.append(user("and?"))
    accepted(request(*history, tools=TOOLS, system=("s",), user_context="ctx"))


@given(st.lists(TURN, max_size=14), st.lists(st.integers(0, 15), max_size=5), st.booleans())
@settings(max_examples=300, deadline=None)
def test_what_a_builder_remembers_never_shows(kinds: list[str], lengths: list[int], edit: bool) -> None:
    """One builder through growing, shrinking and edited histories gives the bytes a fresh one gives."""
    history = conversation(kinds)
    remembering = RequestBuilder()
    for length in [*lengths, len(history)]:
        asked = request(*history[: max(1, length)], tools=TOOLS, user_context="ctx")
        assert remembering.build(asked, catalog.info(MODEL)).body == built(asked).body
    if edit and len(history) > 2:
        changed = [*history]
        changed[len(history) // 2] = user("changed")
        asked = request(*changed, tools=TOOLS, user_context="ctx")
        assert remembering.build(asked, catalog.info(MODEL)).body == built(asked).body


@given(st.lists(TURN, max_size=8))
@settings(max_examples=50, deadline=None)
def test_building_changes_nothing_it_is_given(kinds: list[str]) -> None:
    asked = request(*conversation(kinds), tools=TOOLS)
    before = copy.deepcopy(asked)
    first = built(asked)
    assert asked == before
    assert built(asked) == first


class TestParameters:
    @pytest.mark.parametrize(
        ("model", "wanted", "sent"),
        [
            ("claude-opus-5-5", None, {"type": "adaptive", "display": "summarized"}),
            ("claude-opus-5-5", {"type": "enabled", "budget_tokens": 5000}, {"type": "adaptive"}),
            ("claude-opus-5-5", {"type": "disabled"}, {"type": "adaptive"}),
            ("claude-opus-5-5", {"type": "adaptive", "display": "omitted"}, {"type": "adaptive", "display": "omitted"}),
            ("claude-sonnet-5-5", {"type": "disabled"}, {"type": "between_tools"}),
            ("claude-haiku-5-5", {"type": "disabled"}, {"type": "disabled"}),
            ("claude-opus-5", None, None),
            ("claude-opus-5", {"type": "disabled"}, {"type": "disabled"}),
            (
                "claude-haiku-4-5",
                {"type": "enabled", "budget_tokens": 5000},
                {"type": "enabled", "budget_tokens": 5000},
            ),
            ("claude-haiku-4-5", {"type": "enabled", "budget_tokens": 7}, {"type": "enabled", "budget_tokens": 1024}),
            ("claude-haiku-4-5", {"type": "adaptive"}, {"type": "enabled", "budget_tokens": 10_000}),
            (
                "some-local-model",
                {"type": "enabled", "budget_tokens": 5000},
                {"type": "enabled", "budget_tokens": 5000},
            ),
            ("some-local-model", None, None),
        ],
    )
    def test_thinking_is_said_in_the_form_the_model_takes(
        self, model: str, wanted: Json | None, sent: Json | None
    ) -> None:
        asked = request(user("a"), model=model, thinking=wanted)
        assert body(asked).get("thinking") == sent
        if model in models.names():
            accepted(asked)

    def test_old_thinking_can_be_sent_with_leave_to_drop_it_or_not_at_all(self) -> None:
        block: Json = {"type": "thinking", "thinking": "hm", "signature": "s"}
        asked = request(user("a"), said(block, "b"), user("c"))
        made = built(asked, options=RequestOptions(old_thinking="droppable"))
        assert orjson.loads(made.body)["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
        assert made.betas == ("thinking-binding-controls-2026-08-01",)
        without = built(asked, options=RequestOptions(old_thinking="left_out"))
        assert bare(orjson.loads(without.body)["messages"])[1]["content"] == [{"type": "text", "text": "b"}]
        assert built(asked).betas == without.betas == ()

    def test_a_thinking_budget_has_room_under_max_tokens(self) -> None:
        wanted = {"type": "enabled", "budget_tokens": 20_000}
        roomy = body(request(user("a"), model="claude-haiku-4-5", thinking=wanted))
        assert (roomy["max_tokens"], roomy["thinking"]["budget_tokens"]) == (28_000, 20_000)
        tight = body(request(user("a"), model="claude-haiku-4-5", thinking=wanted, max_tokens=4_000))
        assert (tight["max_tokens"], tight["thinking"]["budget_tokens"]) == (4_000, 3_999)
        assert "thinking" not in body(request(user("a"), model="claude-haiku-4-5", thinking=wanted, max_tokens=900))

    def test_manual_thinking_is_off_while_the_last_answer_came_from_another_model(self) -> None:
        block: Json = {"type": "thinking", "thinking": "hm", "signature": "s"}
        asked = request(
            user("a"),
            said(block, use("Read", "t1"), model="claude-opus-5"),
            user(result("t1")),
            model="claude-haiku-4-5",
            thinking={"type": "enabled", "budget_tokens": 2000},
        )
        assert "thinking" not in body(asked)

    @pytest.mark.parametrize("source", ["main", "classifier"])
    def test_a_temperature_goes_only_to_models_that_take_one(self, source: Any) -> None:  # M7
        for model in catalog.names():
            assert "temperature" not in body(request(user("a"), model=model, temperature=1.0, source=source))
        takes = catalog.info("local", {"local": {"accepts_temperature": True}})
        asked = request(user("a"), model="local", temperature=0.0, source=source)
        assert orjson.loads(build(asked, takes).body)["temperature"] == 0.0
        thinking = request(user("a"), model="local", temperature=0.0, thinking={"type": "adaptive"})
        assert "temperature" not in orjson.loads(build(thinking, takes).body)

    @pytest.mark.parametrize(
        ("model", "asked", "sent"),
        [(MODEL, None, 8_000), (MODEL, 64_000, 64_000), (MODEL, 10**9, 128_000), ("claude-haiku-4-5", 10**9, 64_000)],
    )
    def test_max_tokens_stays_under_the_models_limit(self, model: str, asked: int | None, sent: int) -> None:
        assert body(request(user("a"), model=model, max_tokens=asked))["max_tokens"] == sent

    def test_a_cap_lowers_max_tokens(self) -> None:
        made = built(request(user("a"), max_tokens=20_000), cap=4_321)
        assert made.max_tokens == 4_321

    def test_forced_tools_become_a_choice_where_they_are_refused(self) -> None:
        forced = {"type": "tool", "name": "Read", "disable_parallel_tool_use": True}
        asked = request(user("a"), tools=TOOLS, tool_choice=forced)
        assert body(asked)["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
        accepted(asked)
        older = request(user("a"), tools=TOOLS, tool_choice=forced, model="claude-opus-5")
        assert body(older)["tool_choice"] == forced
        accepted(older)
        assert "tool_choice" not in body(request(user("a"), tool_choice=forced))

    def test_effort_task_budget_and_context_edits_bring_their_betas(self) -> None:
        edit: Json = {"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 5}}
        asked = request(
            user("a"), effort="low", task_budget_remaining=900, task_budget_total=1000, context_edits=(edit,)
        )
        made = built(asked)
        sent = orjson.loads(made.body)
        assert sent["output_config"] == {
            "effort": "low",
            "task_budget": {"type": "tokens", "total": 1000, "remaining": 900},
        }
        assert sent["context_management"] == {"edits": [edit]}
        assert made.betas == ("context-management-2025-06-27", "task-budgets-2026-03-13")
        accepted(asked)
        assert "output_config" not in body(request(user("a"), effort="low", model="claude-haiku-4-5"))

    def test_fast_mode_is_asked_for_where_there_is_one(self) -> None:
        fast = RequestOptions(fast=True)
        assert body(request(user("a")), options=fast)["speed"] == "fast"
        assert "speed" not in body(request(user("a"), model="claude-haiku-4-5"), options=fast)

    def test_media_is_noticed_also_inside_results(self) -> None:
        image: Json = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}}
        assert not built(request(user("a"))).has_media
        assert built(request(user(image))).has_media
        assert built(request(user("a"), said(use("Read", "t1")), user(result("t1", [image])))).has_media

    def test_a_tool_result_stays_where_the_user_said_more(self) -> None:
        asked = request(user("a"), said(use("Read", "t1")), UserMessage(uuid="x", content=(result("t1"),)), user("b"))
        assert [each["role"] for each in messages(asked)] == ["user", "assistant", "user"]
