"""Session events in the words of the draft: what protocol 1 says as the draft says it, and the turn's own state."""

import time
from collections.abc import Callable, Iterator
from typing import Any, cast

from assent.acp import updates
from assent.acp.draft.git_patch import diff_content
from assent.acp.turns import STOPS
from assent.types.blocks import Json, text_block
from assent.types.ports import EditPlan

PLAN = "todos"  # there is one list, and every update replaces it
_SEVERITY = {"info": "info", "warning": "warning", "error": "error"}


class DraftTranslator(updates.Translator):
    def __init__(self, cwd: str, title: Callable[[], str]) -> None:
        super().__init__(cwd)
        self._title = title
        self._changes: dict[str, Json] = {}  # by call: its change, for the client

    def planned(self, tool_use_id: str, plan: EditPlan) -> None:
        super().planned(tool_use_id, plan)
        before = None if plan.before is None else plan.before.text
        self._changes[tool_use_id] = diff_content(plan.path, before, plan.new_text)

    def said(self, params: Json) -> Iterator[Json]:
        """What one event means to the client."""
        event = cast("Json", params["event"])
        match event["type"]:
            case "turnStarted" if params.get("parentToolUseId") is None:
                yield state("running")
                yield user_message(event)
            case "turnFinished":
                yield from self._ended(cast("Json", event["result"]))
            case "notice":
                yield notice(str(event["text"]), _SEVERITY.get(event["level"], "info"))
            case _:
                for update in self.updates(params):
                    yield from self.rendered(update.model_dump(mode="json", by_alias=True, exclude_none=True))

    def rendered(self, update: Json) -> Iterator[Json]:
        """One update of protocol 1 as the draft has it; nothing, for what the draft has no more."""
        match update["sessionUpdate"]:
            case "agent_message_chunk" | "agent_thought_chunk" if "messageId" not in update:
                yield notice(_unquoted(str(update["content"].get("text", ""))))
            case "tool_call" | "tool_call_update":
                yield {**self.call(update), "sessionUpdate": "tool_call_update"}
            case "plan":
                yield {
                    "sessionUpdate": "plan_update",
                    "plan": {"type": "items", "planId": PLAN, "entries": update["entries"]},
                }
            case "available_commands_update":
                yield {**update, "availableCommands": [_command(each) for each in update["availableCommands"]]}
            case "config_option_update":
                yield {**update, "configOptions": config_options(update["configOptions"])}
            case "current_mode_update":
                return  # the mode is an option like the others
            case _:
                yield update

    def call(self, call: Json) -> Json:
        """A tool call: its name is a field of its own, and a change names its file and carries a patch."""
        told = {name: value for name, value in call.items() if name != "sessionUpdate"}
        if tool := call.get("_meta", {}).get("assent", {}).get("tool"):
            told["name"] = tool
        if "content" in call:
            told["content"] = [self._content(str(call["toolCallId"]), each) for each in call["content"]]
        if call.get("status") in ("completed", "failed"):
            self._changes.pop(str(call["toolCallId"]), None)
        return told

    def _content(self, id: str, content: Json) -> Json:
        if content["type"] != "diff":
            return content
        known = self._changes.get(id)
        return known or diff_content(content["path"], content.get("oldText"), content["newText"])

    def _ended(self, result: Json) -> Iterator[Json]:
        stop = STOPS.get(result["terminal"])
        if stop is None or (result["isError"] and stop != "cancelled"):
            yield notice(str(result["result"] or "The turn failed."), "error")
        info = updates.info_of(self._title(), time.time())
        yield info.model_dump(mode="json", by_alias=True, exclude_none=True)
        yield state("idle", **({} if stop is None else {"stopReason": stop}))


def state(name: str, **more: Any) -> Json:
    return {"sessionUpdate": "state_update", "state": name, **more}


def notice(words: str, severity: str = "info") -> Json:
    title, _, rest = words.strip().partition("\n")
    more = {"description": rest.strip()} if rest.strip() else {}
    return {"sessionUpdate": "notice", "severity": severity, "title": title.strip() or "Assent", **more}


def user_message(event: Json) -> Json:
    prompt = event["prompt"]
    blocks = [text_block(prompt)] if isinstance(prompt, str) else cast("list[Json]", prompt)
    chunks = updates.prompted(blocks, str(event["messageId"]))
    content = [chunk.content.model_dump(mode="json", by_alias=True, exclude_none=True) for chunk in chunks]
    return {"sessionUpdate": "user_message", "messageId": event["messageId"], "content": content}


def config_options(options: list[Json]) -> list[Json]:
    return [{("configId" if name == "id" else name): value for name, value in each.items()} for each in options]


def _command(command: Json) -> Json:
    return command if "input" not in command else {**command, "input": {"type": "text", **command["input"]}}


def _unquoted(words: str) -> str:
    """A word of Assent's own is set off as a quotation where there is only Markdown to do it."""
    return words.strip().removeprefix("> **Assent:** ").replace("\n> ", "\n")
