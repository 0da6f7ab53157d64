import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyEvent, PermissionAsk, TurnResult } from "../src/protocol";
import { Conversation, emptyConversation } from "../shared/conversation";
import type { Action, Item } from "../shared/items";

let seq = 0;
const event = (value: AnyEvent, parentToolUseId?: string): Action => ({
  type: "event",
  params: { sessionId: "s", seq: (seq += 1), event: value, ...(parentToolUseId ? { parentToolUseId } : {}) },
});
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
const result = {
  subtype: "success",
  isError: false,
  result: "ok",
  terminal: "completed",
  stopReason: "end_turn",
  numTurns: 1,
  durationMs: 5,
  durationApiMs: 4,
  totalCostUsd: 0.1,
  usage: { inputTokens: 1, outputTokens: 1, cacheCreationInputTokens: 0, cacheReadInputTokens: 0, webSearchRequests: 0 },
  modelUsage: {},
  permissionDenials: [],
  sessionId: "s",
} as const;
const ask: PermissionAsk = {
  requestId: "r1",
  sessionId: "s",
  turnId: "t",
  askId: "a1",
  toolUseId: "tool1",
  tool: "Bash",
  input: { command: "ls" },
  title: "Run ls",
  reason: "",
  step: "mode",
  suggestions: [],
};

test("deltas of one block grow one item and the closed message takes its place", () => {
  const conversation = play([
    event({ type: "turnStarted", prompt: "hi" }),
    event({ type: "textDelta", blockId: "b1", text: "Hel" }),
    event({ type: "textDelta", blockId: "b1", text: "lo" }),
  ]);
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
    event({ type: "turnStarted", prompt: [{ type: "text", text: "hello" }], messageId: "m1" }),
    event({ type: "turnStarted", prompt: [{ type: "text", text: "from another window" }], messageId: "m2" }),
    event({ type: "message", role: "user", id: "m2", content: [{ type: "text", text: "from another window" }] }),
  ]);
  assert.deepEqual(
    conversation.data.items.map((item) => item.kind === "user" && [item.text, item.messageId]),
    [
      ["hello", "m1"],
      ["from another window", "m2"],
    ],
  );
});

test("a subagent's usage adds to the cost and leaves the context meter alone", () => {
  const usage = { type: "usage", input: 1, output: 1, cacheRead: 0, cacheWrite: 0, contextWindow: 200, costUsd: 0.1 } as const;
  const conversation = play([
    event({ type: "toolStarted", toolUseId: "p", tool: "Agent", input: {}, title: "Agent" }),
    event({ ...usage, contextTokens: 100 }),
    event({ ...usage, contextTokens: 5, costUsd: 0.3 }, "p"),
  ]);
  assert.deepEqual([conversation.data.usage?.contextTokens, conversation.data.usage?.costUsd], [100, 0.3]);
});

test("a plan stays in the conversation once it is decided", () => {
  const conversation = play([event({ type: "planProposed", plan: "1. fix" }), { type: "ask", ask: { ...ask, tool: "ExitPlanMode" } }]);
  assert.deepEqual(kinds(conversation), []);
  play([event({ type: "permissionResolved", askId: "a1", decision: "allow" })], conversation);
  assert.deepEqual(kinds(conversation), ["plan", "answered"]);
});

test("messages meant for the model alone are not shown", () => {
  const conversation = play([
    event({ type: "message", role: "user", id: "m1", content: [{ type: "text", text: "reminder" }], meta: { isMeta: true } }),
    event({ type: "message", role: "user", id: "m2", content: [{ type: "text", text: "reminder" }], meta: true }),
  ]);
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
  play(
    [
      event({ type: "toolStarted", toolUseId: "tool1", tool: "Bash", input: { command: "ls" }, title: "Run ls" }),
      event({ type: "toolProgress", toolUseId: "tool1", text: "a.py" }),
      event({ type: "toolProgress", toolUseId: "tool1", text: "a.py\nb.py" }),
    ],
    conversation,
  );
  assert.deepEqual([find(conversation, "tool").state, find(conversation, "tool").progress], ["running", "a.py\nb.py"]);
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
  const conversation = play([
    { type: "ask", ask },
    { type: "ask", ask: { ...ask, requestId: "r2" } },
  ]);
  assert.deepEqual(
    conversation.data.asks.map((each) => each.requestId),
    ["r2"],
  );
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
    event({ type: "turnFinished", result: { ...ended, permissionDenials: [] } }),
    event({ type: "tombstone", messageIds: ["m1", "b1"], blockIds: [] }),
  ]);
  assert.deepEqual(kinds(conversation), []);
});

test("the end of a turn closes what was open", () => {
  const conversation = play([
    event({ type: "textDelta", blockId: "b1", text: "x" }),
    event({ type: "toolPreparing", toolUseId: "t1", tool: "Read" }),
    event({ type: "turnFinished", result: { ...ended, permissionDenials: [] } }),
  ]);
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
  const conversation = Conversation.restored(emptyConversation(), [
    { role: "assistant", id: "m2", content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "make" } }] },
  ]);
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
  const conversation = play([
    event({ type: "toolStarted", toolUseId: "p", tool: "Agent", input: {}, title: "Agent" }),
    event({ type: "textDelta", blockId: "x", text: "looking" }, "p"),
    event({ type: "toolStarted", toolUseId: "c", tool: "Read", input: {}, title: "Read a.py" }, "p"),
  ]);
  assert.deepEqual(kinds(conversation), ["tool"]);
  assert.deepEqual(
    find(conversation, "tool").children.map((child) => child.text),
    ["looking", "Read a.py"],
  );
});

test("rewinding drops the message and all after it", () => {
  const conversation = Conversation.restored(emptyConversation(), [
    { role: "user", id: "m1", content: [{ type: "text", text: "one" }] },
    { role: "assistant", id: "m2", content: [{ type: "text", text: "1" }] },
    { role: "user", id: "m3", content: [{ type: "text", text: "two" }] },
    { role: "assistant", id: "m4", content: [{ type: "text", text: "2" }] },
  ]);
  conversation.apply({ type: "truncated", messageId: "m3" });
  assert.deepEqual(
    conversation.data.items.map((item) => item.key),
    ["m1", "m2"],
  );
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
    event({ type: "turnFinished", result: { ...ended, permissionDenials: [] } }),
  ];
  const host = play(actions.slice(0, 3));
  const view = new Conversation(structuredClone(host.data));
  play(actions.slice(3), host);
  play(actions.slice(3), view);
  assert.deepEqual(view.data, host.data);
});

test("a message taken back leaves the queue and was never said, whoever took it back", () => {
  const sent = (id: string): Action => ({ type: "sent", queued: true, message: { clientMessageId: id, text: `words of ${id}`, images: [], mentions: [], steer: false } });
  const conversation = play([
    event({ type: "turnStarted", prompt: "hi" }),
    sent("c1"),
    sent("c2"),
    sent("c3"),
    { type: "unqueued", clientMessageId: "c1" },
    event({ type: "unqueued", clientMessageId: "c2" }),
  ]);
  assert.deepEqual(
    conversation.data.queue.map((message) => message.clientMessageId),
    ["c3"],
  );
  assert.deepEqual(kinds(conversation), []);
  play([event({ type: "dequeued", clientMessageId: "c3" })], conversation);
  assert.deepEqual([conversation.data.queue.length, find(conversation, "user").text], [0, "words of c3"]);
});

const ended: TurnResult = { ...result, permissionDenials: [] };
const proposal = (state: "pending" | "accepted") => ({
  proposalId: "p1",
  uri: "file:///a.py",
  version: 1,
  baseHash: "",
  tool: "Edit",
  reason: "",
  toolUseId: "tool1",
  hunks: [{ hunkId: "h1", range: { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } }, oldText: "a\n", newText: "b\n", state }],
});

test("hunks that moved keep their place in the state, and nothing is drawn again for it", () => {
  const waiting = { ...proposal("pending"), hunks: proposal("pending").hunks.map((hunk) => ({ ...hunk, open: true })) };
  const conversation = play([event({ type: "turnStarted", prompt: "x" }), event({ type: "editProposed", proposal: waiting }), { type: "ask", ask: { ...ask, proposal: waiting } }]);
  const range = { start: { line: 7, character: 0 }, end: { line: 8, character: 0 } };
  const change = conversation.apply(event({ type: "editMoved", proposalId: "p1", version: 9, hunks: [{ hunkId: "h1", range }] }));
  assert.deepEqual([change.around, change.structure, change.touched.size], [false, false, 0]);
  for (const known of [conversation.data.proposals[0], conversation.data.asks[0]?.proposal]) assert.deepEqual([known?.version, known?.hunks[0]?.range], [9, range]);
});

test("an edit that waits for its review is told until it is decided, and its call counts as waiting meanwhile", () => {
  const conversation = play([
    event({ type: "turnStarted", prompt: "x" }),
    event({ type: "toolPreparing", toolUseId: "tool1", tool: "Edit" }),
    event({ type: "editProposed", proposal: proposal("pending") }),
    event({ type: "reviewPending", proposalId: "p1", toolUseId: "tool1", hunks: ["h1"] }),
    event({ type: "status", state: "waiting" }),
  ]);
  assert.deepEqual([conversation.data.reviews.length, conversation.data.state, find(conversation, "tool").state], [1, "waiting", "waiting"]);
  play([event({ type: "editUpdated", proposal: proposal("accepted") })], conversation);
  assert.deepEqual([conversation.data.reviews, find(conversation, "tool").state], [[], "running"]);
});

test("no way out of a turn leaves a review behind", () => {
  for (const out of [event({ type: "status", state: "running" }), event({ type: "status", state: "idle" }), event({ type: "turnFinished", result: ended })]) {
    const conversation = play([event({ type: "turnStarted", prompt: "x" }), event({ type: "reviewPending", proposalId: "p1", toolUseId: "t", hunks: ["h1"] }), out]);
    assert.deepEqual(conversation.data.reviews, []);
  }
});

test("mode, model, cost and context follow what the engine says, whatever event says it", () => {
  const usage = { type: "usage", input: 1, output: 1, cacheRead: 0, cacheWrite: 0, contextTokens: 90, contextWindow: 200, costUsd: 0.1 } as const;
  const conversation = play([event({ type: "turnStarted", prompt: "x", permissionMode: "plan", model: "m1" }), event(usage)]);
  const shown = (): unknown[] => [conversation.data.mode, conversation.data.model, conversation.data.usage?.costUsd, conversation.data.usage?.contextTokens];
  assert.deepEqual(shown(), ["plan", "m1", 0.1, 90]);
  play([event({ type: "status", state: "running", mode: "default" }), event({ type: "status", state: "running", model: "m2" })], conversation);
  assert.deepEqual(shown(), ["default", "m2", 0.1, 90]);
  play(
    [event({ type: "compacted", trigger: "auto", tokensBefore: 90, tokensAfter: 20, summary: "" }), event({ type: "turnFinished", result: { ...ended, totalCostUsd: 0.15 } })],
    conversation,
  );
  assert.deepEqual(shown(), ["default", "m2", 0.15, 20]);
});

test("denials are counted for the turn they happened in", () => {
  const denial = (id: string) => ({ toolName: "Bash", toolUseId: id, toolInput: {} });
  const turn = (call: string, denials: string[]): Action[] => [
    event({ type: "turnStarted", prompt: "x" }),
    event({ type: "toolPreparing", toolUseId: call, tool: "Bash" }),
    event({ type: "turnFinished", result: { ...ended, permissionDenials: denials.map(denial) } }),
  ];
  const conversation = play([...turn("c1", ["c1"]), ...turn("c2", ["c1"]), ...turn("c3", ["c1", "c3"])]);
  assert.deepEqual(
    conversation.data.items.flatMap((item) => (item.kind === "end" ? [item.denials] : [])),
    [1, 0, 1],
  );
});

test("a message the server queued behind a turn we did not know of leaves the transcript for the queue, alone", () => {
  const message = { clientMessageId: "c1", text: "mine", images: [], mentions: [], steer: false };
  const conversation = play([
    { type: "sent", queued: false, message },
    event({ type: "textDelta", blockId: "b", text: "another turn" }),
    event({ type: "queued", clientMessageId: "c1" }),
  ]);
  assert.deepEqual([kinds(conversation), conversation.data.queue.map((each) => [each.text, each.kept])], [["text"], [["mine", false]]]);
});

test("what is kept after a stop stays in the queue when another message starts, and goes when it is sent again", () => {
  const message = (id: string, text: string) => ({ clientMessageId: id, text, images: [], mentions: [], steer: false });
  const conversation = play([
    event({ type: "turnStarted", prompt: "one" }),
    { type: "sent", queued: true, message: message("c2", "two") },
    event({ type: "queued", clientMessageId: "c2", kept: true }),
    event({ type: "turnFinished", result: ended }),
    { type: "sent", queued: false, message: message("c3", "two") }, // the same words, said anew
    event({ type: "turnStarted", prompt: "two" }),
  ]);
  assert.deepEqual(
    conversation.data.queue.map((each) => [each.clientMessageId, each.kept]),
    [["c2", true]],
  );
  play([event({ type: "queued", clientMessageId: "c2" }), event({ type: "dequeued", clientMessageId: "c2" })], conversation);
  assert.deepEqual(conversation.data.queue, []);
});

test("a conversation from its file shows what was shown: titles, outcomes, answers, the end with its cost", () => {
  const messages = [
    { role: "user" as const, id: "u", content: [{ type: "text", text: "run it" }] },
    { role: "assistant" as const, id: "a", content: [{ type: "tool_use", id: "c", name: "Bash", input: { command: "false" } }] },
    { role: "user" as const, id: "r", content: [{ type: "tool_result", tool_use_id: "c", content: "no", is_error: true }] },
  ];
  const live = play([
    event({ type: "turnStarted", prompt: "run it", messageId: "u" }),
    event({ type: "message", ...messages[1]! }),
    { type: "ask", ask: { ...ask, toolUseId: "c" } },
    event({ type: "permissionResolved", askId: "a1", decision: "allow", by: "client", title: "Run ls", tool: "Bash" }),
    event({ type: "toolStarted", toolUseId: "c", tool: "Bash", input: { command: "false" }, title: "Run false" }),
    event({ type: "toolFinished", toolUseId: "c", isError: true, summary: "exit 1", content: "no", durationMs: 1200 }),
    event({ type: "message", ...messages[2]! }),
    event({ type: "turnFinished", result: ended }),
  ]);
  const shown = [
    { after: "a", event: { type: "permissionResolved", askId: "a1", decision: "allow", by: "client", title: "Run ls", tool: "Bash" } },
    { after: "a", event: { type: "toolStarted", toolUseId: "c", tool: "Bash", title: "Run false" } },
    { after: "a", event: { type: "toolFinished", toolUseId: "c", isError: true, summary: "exit 1", durationMs: 1200 } },
    { after: "r", event: { type: "turnFinished", result: ended } },
  ];
  const restored = Conversation.restored(emptyConversation(), messages, shown);
  const plain = (conversation: Conversation): unknown[] => conversation.data.items.map(({ key: _key, ...item }) => item);
  assert.deepEqual(plain(restored), plain(live));
});

test("the same notice twice in a row is said once", () => {
  const notice = event({ type: "notice", level: "info", text: "The conversation was rewound." });
  assert.deepEqual(kinds(play([notice, notice])), ["notice"]);
});

test("what a mention added is named under the words that mentioned it", () => {
  const conversation = play([
    event({ type: "message", role: "user", id: "u", content: [{ type: "text", text: "see @src/" }] }),
    event({
      type: "message",
      role: "user",
      id: "f",
      kind: "folder",
      meta: true,
      content: [
        { type: "text", text: "The user mentioned src/:" },
        { type: "text", text: "src/a.py\nsrc/b.py" },
      ],
    }),
  ]);
  assert.deepEqual(find(conversation, "user").attached, [{ kind: "folder", path: "src/", adds: "list of 2 files" }]);
});

test("a call that asks the user waits until it is answered, whichever of the two is told first", () => {
  const asking = event({ type: "toolStarted", toolUseId: "q", tool: "AskUserQuestion", input: {}, title: "Which?" });
  const elicit: Action = { type: "elicit", elicit: { sessionId: "s", elicitId: "e", requestId: "r", message: "Which?", questions: [] } };
  for (const order of [
    [asking, elicit],
    [elicit, asking],
  ]) {
    const conversation = play(order);
    assert.equal(find(conversation, "tool").state, "waiting");
    play([{ type: "answered", id: "e", decision: "accept", by: "user" }], conversation);
    assert.equal(find(conversation, "tool").state, "running");
  }
});
