import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyEvent, PermissionAsk } from "../src/protocol";
import { Conversation, emptyConversation } from "../webview/conversation";
import type { Action, Item } from "../webview/items";

let seq = 0;
const event = (value: AnyEvent, parentToolUseId?: string): Action => ({ type: "event", params: { sessionId: "s", seq: (seq += 1), event: value, ...(parentToolUseId ? { parentToolUseId } : {}) } });
const play = (actions: Action[], conversation = new Conversation()): Conversation => {
  for (const action of actions) conversation.apply(action);
  return conversation;
};
const kinds = (conversation: Conversation): string[] => conversation.data.items.map((item) => item.kind);
const find = <K extends Item["kind"]>(conversation: Conversation, kind: K): Extract<Item, { kind: K }> => {
  const item = conversation.data.items.find((each) => each.kind === kind);
  assert.ok(item, `no ${kind}`);
  return item as Extract<Item, { kind: K }>;
};
const result = { subtype: "success", isError: false, result: "ok", terminal: "completed", stopReason: "end_turn", numTurns: 1, durationMs: 5, durationApiMs: 4, totalCostUsd: 0.1, usage: {}, modelUsage: {}, permissionDenials: [], sessionId: "s" } as const;
const ask: PermissionAsk = { requestId: "r1", sessionId: "s", turnId: "t", askId: "a1", toolUseId: "tool1", tool: "Bash", input: { command: "ls" }, title: "Run ls", reason: "", step: "mode", suggestions: [] };

test("deltas of one block grow one item and the closed message takes its place", () => {
  const conversation = play([event({ type: "turnStarted", prompt: "hi" }), event({ type: "textDelta", blockId: "b1", text: "Hel" }), event({ type: "textDelta", blockId: "b1", text: "lo" })]);
  assert.deepEqual(find(conversation, "text"), { kind: "text", key: "b1", text: "Hello", streaming: true });
  play([event({ type: "message", role: "assistant", id: "b1", content: [{ type: "text", text: "Hello." }] })], conversation);
  assert.deepEqual(kinds(conversation), ["text"]);
  assert.deepEqual(find(conversation, "text"), { kind: "text", key: "b1", text: "Hello.", streaming: false });
});

test("the words the user sent become the stored message when the server echoes them", () => {
  const conversation = play([
    { type: "sent", queued: false, message: { clientMessageId: "c1", text: "hello", images: [], mentions: [], steer: false } },
    event({ type: "message", role: "user", id: "m1", content: [{ type: "text", text: "hello" }] }),
  ]);
  assert.deepEqual(kinds(conversation), ["user"]);
  assert.equal(find(conversation, "user").messageId, "m1");
});

test("the turn's start tells the id of the words that began it, and shows words from elsewhere", () => {
  const conversation = play([
    { type: "sent", queued: false, message: { clientMessageId: "c1", text: "hello", images: [], mentions: [], steer: false } },
    event({ type: "turnStarted", prompt: [{ type: "text", text: "hello" }], messageId: "m1" } as AnyEvent),
    event({ type: "turnStarted", prompt: [{ type: "text", text: "from another window" }], messageId: "m2" } as AnyEvent),
    event({ type: "message", role: "user", id: "m2", content: [{ type: "text", text: "from another window" }] }),
  ]);
  assert.deepEqual(conversation.data.items.map((item) => item.kind === "user" && [item.text, item.messageId]), [["hello", "m1"], ["from another window", "m2"]]);
});

test("a subagent's usage adds to the cost and leaves the context meter alone", () => {
  const usage = { type: "usage", input: 1, output: 1, cacheRead: 0, cacheWrite: 0, contextWindow: 200, costUsd: 0.1 } as const;
  const conversation = play([event({ type: "toolStarted", toolUseId: "p", tool: "Agent", input: {}, title: "Agent" }), event({ ...usage, contextTokens: 100 }), event({ ...usage, contextTokens: 5, costUsd: 0.3 }, "p")]);
  assert.deepEqual([conversation.data.usage?.contextTokens, conversation.data.usage?.costUsd], [100, 0.3]);
});

test("a plan stays in the conversation once it is decided", () => {
  const conversation = play([event({ type: "planProposed", plan: "1. fix" }), { type: "ask", ask: { ...ask, tool: "ExitPlanMode" } }]);
  assert.deepEqual(kinds(conversation), []);
  play([event({ type: "permissionResolved", askId: "a1", decision: "allow" })], conversation);
  assert.deepEqual(kinds(conversation), ["plan", "answered"]);
});

test("messages meant for the model alone are not shown", () => {
  const conversation = play([event({ type: "message", role: "user", id: "m1", content: [{ type: "text", text: "reminder" }], meta: { isMeta: true } }), event({ type: "message", role: "user", id: "m2", content: [{ type: "text", text: "reminder" }], meta: true })]);
  assert.deepEqual(kinds(conversation), []);
});

test("a message sent while it works waits in the queue and joins the conversation when its turn comes", () => {
  const conversation = play([{ type: "sent", queued: true, message: { clientMessageId: "c2", text: "next", images: [], mentions: [], steer: false } }]);
  assert.equal(conversation.data.queue.length, 1);
  play([event({ type: "dequeued", clientMessageId: "c2" }), event({ type: "message", role: "user", id: "m9", content: [{ type: "text", text: "next" }] })], conversation);
  assert.equal(conversation.data.queue.length, 0);
  assert.deepEqual(kinds(conversation), ["user"]);
});

test("a tool card goes from preparing to running to done with its output", () => {
  const conversation = play([event({ type: "toolPreparing", toolUseId: "tool1", tool: "Bash" }), event({ type: "toolInputDelta", toolUseId: "tool1", partialJson: '{"comm' })]);
  assert.equal(find(conversation, "tool").state, "preparing");
  play([event({ type: "toolStarted", toolUseId: "tool1", tool: "Bash", input: { command: "ls" }, title: "Run ls" }), event({ type: "toolProgress", toolUseId: "tool1", text: "a.py\n" })], conversation);
  assert.equal(find(conversation, "tool").state, "running");
  play([event({ type: "toolFinished", toolUseId: "tool1", isError: false, summary: "1 file", content: [{ type: "text", text: "a.py" }], durationMs: 12 })], conversation);
  const tool = find(conversation, "tool");
  assert.deepEqual([tool.state, tool.output, tool.summary, tool.partialJson], ["done", "a.py", "1 file", ""]);
});

test("an ask is pending until it is resolved, and leaves a line that says how", () => {
  const conversation = play([event({ type: "toolPreparing", toolUseId: "tool1", tool: "Bash" }), event({ type: "permissionPending", askId: "a1" }), { type: "ask", ask }]);
  assert.equal(conversation.data.state, "waiting");
  assert.equal(find(conversation, "tool").state, "waiting");
  play([event({ type: "permissionResolved", askId: "a1", decision: "deny", by: "user" })], conversation);
  assert.deepEqual(conversation.data.asks, []);
  assert.deepEqual(find(conversation, "answered").decision, "deny");
  assert.equal(find(conversation, "tool").state, "stopped");
});

test("an ask sent again after a reconnect replaces the old one", () => {
  const conversation = play([{ type: "ask", ask }, { type: "ask", ask: { ...ask, requestId: "r2" } }]);
  assert.deepEqual(conversation.data.asks.map((each) => each.requestId), ["r2"]);
  play([{ type: "withdrawn", requestId: "r2" }], conversation);
  assert.deepEqual(conversation.data.asks, []);
});

test("withdrawn messages disappear", () => {
  const conversation = play([event({ type: "textDelta", blockId: "b1", text: "half" }), event({ type: "tombstone", messageIds: [], blockIds: ["b1"] })]);
  assert.deepEqual(kinds(conversation), []);
});

test("a withdrawn prompt takes its whole turn with it", () => {
  const conversation = play([
    event({ type: "message", role: "user", id: "m1", content: [{ type: "text", text: "one" }] }),
    event({ type: "textDelta", blockId: "b1", text: "1" }),
    event({ type: "turnFinished", result: { ...result, permissionDenials: [] } }),
    event({ type: "tombstone", messageIds: ["m1", "b1"], blockIds: [] }),
  ]);
  assert.deepEqual(kinds(conversation), []);
});

test("the end of a turn closes what was open", () => {
  const conversation = play([event({ type: "textDelta", blockId: "b1", text: "x" }), event({ type: "toolPreparing", toolUseId: "t1", tool: "Read" }), event({ type: "turnFinished", result: { ...result, permissionDenials: [] } })]);
  assert.deepEqual(kinds(conversation), ["text", "tool", "end"]);
  assert.equal(find(conversation, "text").streaming, false);
  assert.equal(find(conversation, "tool").state, "stopped");
  assert.equal(conversation.data.running, false);
});

test("a stored history is shown as it was, tool results joined to their calls", () => {
  const conversation = Conversation.restored(emptyConversation(), [
    { role: "user", id: "m1", content: [{ type: "text", text: "read it" }] },
    { role: "assistant", id: "m2", content: [{ type: "tool_use", id: "t1", name: "Read", input: { file_path: "a.py" } }] },
    { role: "user", id: "m3", content: [{ type: "tool_result", tool_use_id: "t1", content: "1\tx" }] },
    { role: "assistant", id: "m4", content: [{ type: "text", text: "Done." }] },
  ]);
  assert.deepEqual(kinds(conversation), ["user", "tool", "text"]);
  assert.deepEqual([find(conversation, "tool").state, find(conversation, "tool").output, find(conversation, "tool").title], ["done", "1\tx", "Read a.py"]);
});

test("a stored call without a result was not run", () => {
  const conversation = Conversation.restored(emptyConversation(), [{ role: "assistant", id: "m2", content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "make" } }] }]);
  assert.equal(find(conversation, "tool").state, "stopped");
});

test("an older page goes before what is there", () => {
  const conversation = Conversation.restored(emptyConversation(), [{ role: "assistant", id: "m4", content: [{ type: "text", text: "new" }] }]);
  const change = conversation.apply({ type: "older", messages: [{ role: "user", id: "m1", content: [{ type: "text", text: "old" }] }], cursor: null });
  assert.equal(change.structure, true);
  assert.deepEqual(kinds(conversation), ["user", "text"]);
  assert.equal(conversation.get("m4")?.kind, "text");
});

test("a subagent's work is told inside its parent's card", () => {
  const conversation = play([event({ type: "toolStarted", toolUseId: "p", tool: "Agent", input: {}, title: "Agent" }), event({ type: "textDelta", blockId: "x", text: "looking" }, "p"), event({ type: "toolStarted", toolUseId: "c", tool: "Read", input: {}, title: "Read a.py" }, "p")]);
  assert.deepEqual(kinds(conversation), ["tool"]);
  assert.deepEqual(find(conversation, "tool").children.map((child) => child.text), ["looking", "Read a.py"]);
});

test("rewinding drops the message and all after it", () => {
  const conversation = Conversation.restored(emptyConversation(), [
    { role: "user", id: "m1", content: [{ type: "text", text: "one" }] },
    { role: "assistant", id: "m2", content: [{ type: "text", text: "1" }] },
    { role: "user", id: "m3", content: [{ type: "text", text: "two" }] },
    { role: "assistant", id: "m4", content: [{ type: "text", text: "2" }] },
  ]);
  conversation.apply({ type: "truncated", messageId: "m3" });
  assert.deepEqual(conversation.data.items.map((item) => item.key), ["m1", "m2"]);
});

test("only base64 images of known kinds are shown", () => {
  const conversation = play([
    event({
      type: "message",
      role: "user",
      id: "m1",
      content: [
        { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
        { type: "image", source: { type: "base64", media_type: "image/svg+xml", data: "AAAA" } },
        { type: "image", source: { type: "base64", media_type: "image/png", data: 'x" onerror="alert(1)' } },
        { type: "image", source: { type: "url", url: "https://example.org/x.png" } },
      ],
    }),
  ]);
  assert.deepEqual(find(conversation, "user").images, ["data:image/png;base64,AAAA"]);
});

test("the same actions give host and view the same state", () => {
  const actions: Action[] = [
    { type: "sent", queued: false, message: { clientMessageId: "c1", text: "go", images: [], mentions: [], steer: false } },
    event({ type: "turnStarted", prompt: "go" }),
    event({ type: "textDelta", blockId: "b", text: "a" }),
    { type: "ask", ask },
    event({ type: "permissionResolved", askId: "a1", decision: "allow" }),
    event({ type: "turnFinished", result: { ...result, permissionDenials: [] } }),
  ];
  const host = play(actions.slice(0, 3));
  const view = new Conversation(structuredClone(host.data));
  play(actions.slice(3), host);
  play(actions.slice(3), view);
  assert.deepEqual(view.data, host.data);
});

test("a message taken back leaves the queue and was never said, whoever took it back", () => {
  const sent = (id: string): Action => ({ type: "sent", queued: true, message: { clientMessageId: id, text: `words of ${id}`, images: [], mentions: [], steer: false } });
  const conversation = play([event({ type: "turnStarted", prompt: "hi" }), sent("c1"), sent("c2"), sent("c3"), { type: "unqueued", clientMessageId: "c1" }, event({ type: "unqueued", clientMessageId: "c2" })]);
  assert.deepEqual(conversation.data.queue.map((message) => message.clientMessageId), ["c3"]);
  assert.deepEqual(kinds(conversation), []);
  play([event({ type: "dequeued", clientMessageId: "c3" })], conversation);
  assert.deepEqual([conversation.data.queue.length, find(conversation, "user").text], [0, "words of c3"]);
});
