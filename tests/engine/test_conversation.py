"""What lasts between turns: messages that wait, denials, and what the model was told already (Q1, L11, S5)."""

from __future__ import annotations

from assent.engine.budget import Ledger
from assent.engine.conversation import Conversation, PendingMessages
from assent.engine.history import History
from assent.engine.state import CompactTracking
from assent.types.blocks import text_block
from assent.types.messages import Attachment, PermissionDenial, UserMessage
from assent.types.ports import ModelInfo


def news(uuid: str, **data: str) -> Attachment:
    return Attachment(uuid=uuid, kind="task_notification", content=(text_block(uuid),), data=data)


def test_what_waits_for_the_next_step_is_taken_first_and_the_rest_when_there_is_time() -> None:
    inbox = PendingMessages()
    prompt = UserMessage(uuid="p", content=(text_block("and mind the gap"),))
    inbox.put(news("later"), "later")
    inbox.put(prompt)
    inbox.put(news("next"))
    assert len(inbox) == 3
    assert [message.uuid for message in inbox.take(later=False)] == ["p", "next"]
    assert len(inbox) == 1 and inbox.take(later=False) == []
    inbox.put(prompt, "next")
    assert [message.uuid for message in inbox.take(later=True)] == ["later", "p"]
    assert len(inbox) == 0 and inbox.take(later=True) == []


def test_an_inbox_knows_of_which_agents_and_jobs_it_has_news() -> None:
    inbox = PendingMessages()
    inbox.put(UserMessage(uuid="p", content=(text_block("a7"),)))
    inbox.put(news("n1", agent="a7"))
    inbox.put(news("n2", jobId="j1"), "later")
    assert [inbox.holds(id) for id in ("a7", "j1", "a8", "n1")] == [True, True, False, False]
    inbox.take(later=True)
    assert not inbox.holds("a7")


def test_two_conversations_share_nothing() -> None:
    def made() -> Conversation:
        return Conversation(history=History(), ledger=Ledger(model_info=lambda model: ModelInfo(id=model)))

    one, other = made(), made()
    one.inbox.put(news("n"))
    one.note_denial("Bash", "t1", {"command": "rm"})
    one.told_changed["a.py"] = "hash"
    one.looked_in.add("a.py")
    one.nested_memory.add("sub/CLAUDE.md")
    one.discovered_skills.add("brew")
    assert one.denials == [PermissionDenial(tool_name="Bash", tool_use_id="t1", tool_input={"command": "rm"})]
    assert (len(other.inbox), other.denials, other.told_changed, other.looked_in) == (0, [], {}, set())
    assert (other.nested_memory, other.discovered_skills, other.prefetches) == (set(), set(), [])
    assert (other.tracking, other.agents.list(), other.background.running) == (CompactTracking(), [], 0)
    assert other.window is not one.window and other.note_spend() is None
    one.forget_told()
    assert (one.told_changed, one.looked_in, one.nested_memory) == ({}, set(), set())
    assert len(one.denials) == 1 and one.discovered_skills == {"brew"}
