import { window as page } from "./dom";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { promptOf } from "../shared/content";
import { diffCount, placeLabel, problemsCount, problemsText, terminalText, type Problem } from "../shared/contextText";
import { Conversation } from "../shared/conversation";
import { ideasFor } from "../shared/ideas";
import type { Item } from "../shared/items";
import { backgroundRuns, movableCalls } from "../shared/runs";
import { agentRows, hookLog, jobRows, mcpRows, mcpText, ruleRows, sessionRows } from "../shared/setupRows";
import { hitsIn } from "../webview/findBar";
import { marked, markedAt } from "../webview/history";

const problem = (line: number, severity: Problem["severity"] = "error"): Problem => ({ file: "a.py", line, severity, message: "broken\n here", source: "pyright" });

test("problems are told one a line, bounded, and counted", () => {
  assert.equal(problemsText([problem(3)]), "a.py:3: error: broken here (pyright)");
  const many = Array.from({ length: 70 }, (_, at) => problem(at, at % 2 ? "warning" : "error"));
  assert.match(problemsText(many), /\n… and 10 more$/);
  assert.equal(problemsCount(many), "35 errors, 35 warnings");
  assert.equal(problemsCount([]), "none");
});

test("a terminal's output is text: no colours, and of a line that was written over its last state", () => {
  assert.equal(terminalText("\u001b[31mred\u001b[0m\r\n10%\r100%\r\n\u001b]633;D;0\u0007done\u0008\r\n"), "red\n100%\ndone");
  assert.equal(terminalText("x".repeat(50_000)).length, 20_001);
});

test("a diff is counted by its files and lines", () => {
  const diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-old\n+new\n+more\n";
  assert.equal(diffCount(diff), "1 file, +2 −1");
  assert.equal(diffCount(""), "no changes");
  assert.deepEqual([placeLabel("a.py"), placeLabel("a.py", 3, 3), placeLabel("a.py", 3, 9)], ["a.py", "a.py:3", "a.py:3-9"]);
});

test("what came along with a prompt is told from its words, live and in a conversation that is opened again", () => {
  const blocks = [
    { type: "text", text: "look" },
    { type: "text", text: '@/ws/a.py#L1-L2 @"/ws/b c.py"' },
    { type: "text", text: "The user attached 2 problems:\n````\na ``` b\nc\n````" },
  ];
  assert.deepEqual(promptOf(blocks), { text: "look", attached: [{ kind: "context", path: "2 problems", adds: "2 lines" }] });
  assert.equal(promptOf([{ type: "text", text: "@only" }]).text, "@only", "the user's own words stay");
  const talk = new Conversation();
  talk.apply({ type: "sent", queued: false, message: { clientMessageId: "c1", text: "look", images: [], mentions: [], steer: false } });
  talk.apply({ type: "event", params: { sessionId: "s", seq: 1, event: { type: "turnStarted", prompt: blocks, messageId: "m1" } as never } });
  const [item] = talk.data.items;
  assert.deepEqual([item?.kind === "user" && item.text, item?.kind === "user" && item.attached?.length, talk.data.items.length], ["look", 1, 1]);
});

test("the stand-in is offered only what it understands, a model what the open file asks for", () => {
  const here = { file: "src/calc.py", open: true, errors: 2, undocumented: { name: "add", file: "src/calc.py" } };
  assert.deepEqual(
    ideasFor(here, true).map((each) => each.text),
    ["Explain src/calc.py", "Add a docstring to add in src/calc.py", "Run the tests"],
  );
  assert.deepEqual(
    ideasFor({}, true).map((each) => each.text),
    ["Run the tests", "Ask me"],
  );
  assert.deepEqual(
    ideasFor(here, false).map((each) => each.text),
    ["Explain how src/calc.py works", "Fix the 2 errors in src/calc.py", "Find a function without tests and write them"],
  );
});

test("words are found in everything that was said, each place once", () => {
  const items: Item[] = [
    { kind: "user", key: "u", text: "find the Needle", images: [], mentions: [] },
    { kind: "text", key: "t", text: "needle, needle", streaming: false },
    { kind: "notice", key: "n", level: "info", text: "nothing" },
  ];
  assert.deepEqual(hitsIn(items, "needle"), [
    { key: "u", nth: 0 },
    { key: "t", nth: 0 },
    { key: "t", nth: 1 },
  ]);
  assert.deepEqual(hitsIn(items, ""), []);
});

test("the words of a search stand out in a snippet, and nothing in it is markup", () => {
  const box = page.document.createElement("div");
  box.append(...marked("the <b>Flux</b> (a.b) flux", "flux (a.b)"));
  assert.deepEqual(
    [...box.querySelectorAll("mark")].map((each) => each.textContent),
    ["Flux", "(a.b)", "flux"],
  );
  assert.equal(box.querySelector("b"), null);
});

test("a place that a search found is marked where the server says, in UTF-16, and nothing in it is markup", () => {
  const box = page.document.createElement("div");
  box.append(
    ...markedAt("🦊 a Café, <b>cafés</b>", [
      [5, 9],
      [14, 19],
    ]),
  );
  assert.deepEqual(
    [...box.querySelectorAll("mark")].map((each) => each.textContent),
    ["Café", "cafés"],
  );
  assert.equal(box.textContent, "🦊 a Café, <b>cafés</b>");
});

test("a question that was answered in another editor says in which", () => {
  const talk = new Conversation();
  talk.apply({
    type: "event",
    params: { sessionId: "s", seq: 1, event: { type: "permissionResolved", askId: "a", decision: "allow", by: "client", title: "Run make", client: "Neovim" } as never },
  });
  const [item] = talk.data.items;
  assert.deepEqual(item && { ...item, key: "" }, { kind: "answered", key: "", title: "Run make", decision: "allow", by: "client", client: "Neovim" });
});

test("a message that is taken out of the model's view is marked, and is not when it is put back", () => {
  const talk = new Conversation();
  const tell = (event: object): ReturnType<Conversation["apply"]> => talk.apply({ type: "event", params: { sessionId: "s", seq: 1, event: event as never } });
  tell({ type: "message", role: "user", content: [{ type: "text", text: "hello" }], id: "m1" });
  const change = tell({ type: "snipped", snipId: "n1", messageIds: ["m1"], tokensFreed: 12, by: "user" });
  assert.deepEqual([talk.data.snips.length, [...change.touched]], [1, ["m1"]]);
  tell({ type: "snipped", snipId: "n1", messageIds: [], tokensFreed: 0, by: "user" });
  assert.deepEqual(talk.data.snips, []);
});

test("a conversation that is nearly full says when it is summarised and what would go", () => {
  const talk = new Conversation();
  const wouldGo = "12 messages become a summary; your last prompt stays word for word";
  talk.apply({ type: "event", params: { sessionId: "s", seq: 1, event: { type: "compactSoon", tokens: 36_000, threshold: 39_000, wouldGo } as never } });
  const [item] = talk.data.items;
  assert.match(JSON.stringify(item), /12 messages become a summary; your last prompt stays word for word/);
});

test("a hook's run is a row of its own, with how long it took, how it ended and whether it changed something", () => {
  const talk = new Conversation();
  talk.apply({ type: "event", params: { sessionId: "s", seq: 1, event: { type: "hook", event: "PreToolUse", outcome: "success", durationMs: 12, changed: true } } });
  const item = talk.data.items[0];
  assert.deepEqual(item, { kind: "hook", key: item?.key, event: "PreToolUse", outcome: "success", durationMs: 12, changed: true, text: "" });
  talk.apply({ type: "event", params: { sessionId: "s", seq: 2, event: { type: "hook", event: "Stop", outcome: "error", text: "exit 7", source: "/home/me/settings.json:4" } } });
  assert.match(JSON.stringify(talk.data.items[1]), /exit 7.*Named in `\/home\/me\/settings\.json:4`/);
});

test("a refused key is told with a way to set another", () => {
  const talk = new Conversation();
  const result = {
    subtype: "error",
    isError: true,
    result: "The endpoint did not accept the credentials (invalid x-api-key). Check ANTHROPIC_API_KEY, or sign in again.",
    terminal: "model_error",
    stopReason: null,
    numTurns: 1,
    durationMs: 1,
    durationApiMs: 1,
    totalCostUsd: 0,
    usage: {},
    modelUsage: {},
    permissionDenials: [],
    sessionId: "s",
  };
  talk.apply({ type: "event", params: { sessionId: "s", seq: 1, event: { type: "turnFinished", result } as never } });
  const end = talk.data.items.at(-1);
  assert.equal(end?.kind === "end" && end.needsKey, true);
});

test("a running command or agent can be moved to the background, and one there can be waited for again", () => {
  const talk = new Conversation();
  const tell = (event: object): unknown => talk.apply({ type: "event", params: { sessionId: "s", seq: 1, event: event as never } });
  tell({ type: "toolStarted", toolUseId: "t1", tool: "Bash", input: { command: "make" }, title: "make" });
  tell({ type: "toolStarted", toolUseId: "t2", tool: "Read", input: { file_path: "a" }, title: "a" });
  tell({ type: "toolStarted", toolUseId: "t3", tool: "Agent", input: { description: "look" }, title: "look" });
  tell({ type: "toolStarted", toolUseId: "t4", tool: "Bash", input: { command: "ls" }, title: "ls" });
  tell({ type: "toolFinished", toolUseId: "t4", tool: "Bash", isError: false, summary: "", content: [], durationMs: 1 });
  assert.deepEqual(
    movableCalls(talk.data.items).map((each) => each.id),
    ["t3", "t1"],
  );
  const jobs = [
    { jobId: "j1", command: "make\nmore", state: "running", toolUseId: "t1" },
    { jobId: "j2", command: "make", state: "running", foreground: true },
    { jobId: "j3", command: "make", state: "exited", exitCode: 0 },
  ];
  const agents = [
    { name: "explore", agentId: "g1", state: "running" as const, background: true },
    { name: "explore", agentId: "g2", state: "running" as const },
    { name: "explore", agentId: "g3", state: "finished" as const, background: true },
  ];
  assert.deepEqual(
    backgroundRuns(jobs, agents).map((each) => [each.label, each.id]),
    [
      ["make", "j1"],
      ["explore", "g1"],
    ],
  );
  assert.deepEqual(
    jobRows(jobs.map((job) => ({ ...job, sessionId: "s" }))).map((each) => [each.description, each.can, each.id]),
    [
      ["running · in the background", "job.background", "j1"],
      ["running · a turn waits for it", "job.foreground", "j2"],
    ],
  );
});

test("a row of an MCP server says its state, its tools, what they cost, its era and where it stands", () => {
  const server = { name: "files", status: "connected", scope: "user", transport: "stdio", era: "modern", tools: 9, tokens: 1234 } as const;
  const [connected, one, fresh] = mcpRows([server, { ...server, tools: ["only"], tokens: 40, era: "legacy" }, { ...server, status: "connecting", era: "", tools: 0, tokens: 0 }]);
  assert.equal(connected?.description, "connected · 9 tools · 1.2k tokens · stdio, modern · user");
  assert.equal(one?.description, "connected · 1 tool · 40 tokens · stdio, legacy · user");
  assert.equal(fresh?.description, "connecting · 0 tools · stdio · user");
  const [locked] = mcpRows([{ ...server, status: "needsAuth", tools: 0, tokens: 0, era: "" }]);
  assert.deepEqual([locked?.description, locked?.icon, locked?.can], ["needs you to sign in · 0 tools · stdio · user", "key", "mcp.needsAuth"]);
});

test("the row of a server that wants a sign-in, and no other, offers it, inline", () => {
  const { commands, menus } = JSON.parse(readFileSync("package.json", "utf8")).contributes;
  const offers = menus["view/item/context"].filter((each: { command: string }) => each.command === "assent.setup.mcpSignIn");
  assert.deepEqual(
    offers.map((each: { when: string; group: string }) => [each.when, each.group.split("@")[0]]),
    [["view == assent.setup && viewItem == mcp.needsAuth", "inline"]],
  );
  assert.ok(commands.some((each: { command: string; title: string }) => each.command === "assent.setup.mcpSignIn" && each.title.startsWith("Sign In")));
});

test("the text about an MCP server holds its tools' costs, its era and the end of its log", () => {
  const server = { name: "files", status: "connected", scope: "user", transport: "stdio", era: "legacy", shown: "command: files" } as const;
  const tool = { title: "", description: "", hints: [], heldBack: false };
  const tools = [
    { ...tool, name: "mcp__files__read", tool: "read", tokens: 1500 },
    { ...tool, name: "mcp__files__write", tool: "write", tokens: 60, heldBack: true },
  ];
  const text = mcpText({ server, tools, prompts: [], version: "2025-11-25", log: "server started\nready" });
  assert.equal(
    text,
    [
      "MCP server files: connected",
      "stdio · legacy protocol · 2025-11-25",
      "command: files",
      "Its tools, and what they cost in a request that holds them:\n  mcp__files__read: 1.5k tokens\n  mcp__files__write: 60 tokens, held back until you accept its change",
      "Its log ends with:\nserver started\nready\n",
    ].join("\n\n"),
  );
  assert.match(mcpText({ server: { ...server, stderrTail: "it hurts" }, tools: [], prompts: [] }), /ends with:\nit hurts\n$/);
  assert.match(mcpText({ server, tools: [], prompts: [] }), /It has logged nothing\.\n$/);
});

test("rows of the setup say their state in words, and what can be done with them", () => {
  const [server, more] = mcpRows([{ name: "files", status: "needsApproval", scope: "project", tools: 3 }], 2);
  assert.deepEqual([more?.label, more?.description, more?.can], ["2 more of this project", "withheld until you trust the folder", undefined]);
  assert.deepEqual([server?.description, server?.can], ["needs your approval · 3 tools · project", "mcp.needsApproval"]);
  const [session] = sessionRows([
    { sessionId: "s", title: "Talk", cwd: "/ws", state: "waiting", costUsd: 0.5, clients: 1, asks: [{ askId: "a", title: "Run npm test", tool: "Bash" }] },
  ]);
  assert.deepEqual([session?.description, session?.rows?.[0]?.label, session?.rows?.[0]?.can], ["waiting · $0.500 · 1 waiting for you", "Run npm test", "ask"]);
  const agents = agentRows([{ sessionId: "s", name: "explore", agentId: "g1", state: "running", tokens: 1200, costUsd: 0.01, parentToolUseId: "t" }], {
    definitions: [{ name: "explore", description: "looks around" }],
  });
  assert.deepEqual(
    agents.map((each) => [each.label, each.description, each.can]),
    [
      ["explore", "running · 1.2k tokens · $0.010", "agent.foreground"],
      ["explore", "looks around", undefined],
    ],
  );
  const defined = agentRows([], {
    definitions: [
      { name: "mine", description: "d", source: "/ws/.claude/agents/mine.md", withheld: "this folder is not trusted" },
      { name: "p:good", description: "d", source: "plugin p: /data/copies/x/agents/good.md", ignored: ["handoffs is ignored: why"] },
      { name: "explore", description: "looks around", source: "built-in" },
    ],
    problems: ["/home/me/.claude/agents/bad.md:2: 'a:b' cannot be the name of an agent: it holds `:`", "/home/me/.claude/agents: is a link"],
  });
  assert.deepEqual(
    defined.map((each) => [each.label, each.description, each.icon, each.file]),
    [
      ["mine", "this folder is not trusted", "circle-slash", "/ws/.claude/agents/mine.md"],
      ["p:good", "d · handoffs is ignored: why", "robot", "/data/copies/x/agents/good.md"],
      ["explore", "looks around", "robot", undefined],
      ["bad.md:2", "'a:b' cannot be the name of an agent: it holds `:`", "warning", "/home/me/.claude/agents/bad.md"],
      ["a file", "/home/me/.claude/agents: is a link", "warning", undefined],
    ],
  );
  const rules = ruleRows([
    { rule: "Bash(ls:*)", behaviour: "allow", scope: "user", file: "/home/me/settings.json" },
    { rule: "WebFetch", behaviour: "deny", scope: "managed", file: "/etc/assent/policy.json" },
  ]);
  assert.deepEqual(
    rules.map((each) => each.can),
    ["rule.editable", "rule"],
  );
  assert.match(hookLog([{ hookId: "h", event: "Stop", outcome: "error", durationMs: 3, exitCode: 1, stderr: "no" }]), /Stop: error · 3 ms · exit 1\nstderr: no/);
});
