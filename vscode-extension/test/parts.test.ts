import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Elicit, ElicitAnswer, Hunk, PermissionAnswer, PermissionAsk, Proposal } from "../src/protocol";
import { redact } from "../src/redact";
import { statusText, type Facts } from "../src/statusText";
import { finishedWords } from "../webview/announcement";
import { activityText, readOnlyNote } from "../webview/activity";
import { askCard } from "../webview/askCard";
import { emptyConversation } from "../shared/conversation";
import { diffLines, withContext } from "../webview/diff";
import { Banners } from "../webview/banners";
import { foldText, rowsOf } from "../webview/folds";
import { humanTitle } from "../shared/content";
import { summaryOf, summaryText } from "../shared/turnSummary";
import type { Surroundings } from "../shared/bridge";
import { Dock } from "../webview/dock";
import { revealed } from "../webview/dom";
import { elicitForm } from "../webview/elicitForm";
import { Heights } from "../webview/heights";
import { ago } from "../webview/history";
import type { Item } from "../shared/items";
import { QueueList } from "../webview/lists";
import { Pickers } from "../webview/pickers";

const hunk = (more: Partial<Hunk> = {}): Hunk => ({
  hunkId: "h1",
  range: { start: { line: 2, character: 0 }, end: { line: 4, character: 0 } },
  oldText: "a\nb\n",
  newText: "c\n",
  state: "pending",
  open: true,
  ...more,
});

// --- diff, heights --------------------------------------------------------------------------------

test("a line diff keeps what is the same", () => {
  assert.deepEqual(
    diffLines("a\nb\nc\n", "a\nB\nc\nd\n").map((line) => line.sign + line.text),
    [" a", "-b", "+B", " c", "+d"],
  );
  assert.deepEqual(
    diffLines("", "x\n").map((line) => line.sign + line.text),
    ["+x"],
  );
  const far = diffLines(Array.from({ length: 30 }, (_, at) => `l${at}`).join("\n"), Array.from({ length: 30 }, (_, at) => (at === 15 ? "X" : `l${at}`)).join("\n"));
  assert.deepEqual(
    withContext(far, 1).map((line) => line && line.sign + line.text),
    [null, " l14", "-l15", "+X", " l16", null],
  );
});

test("heights answer sums and rows the way a plain array would", () => {
  const heights = new Heights(50);
  const plain: number[] = [];
  let seed = 3;
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let step = 0; step < 3000; step += 1) {
    const dice = random();
    if (dice < 0.5 || plain.length === 0) {
      const height = Math.floor(random() * 200) + 1;
      plain.push(height);
      heights.push(height);
    } else if (dice < 0.9) {
      const row = Math.floor(random() * plain.length);
      plain[row] = Math.floor(random() * 300) + 1;
      heights.set(row, plain[row] ?? 0);
    } else {
      const row = Math.floor(random() * (plain.length + 1));
      const sum = plain.slice(0, row).reduce((a, b) => a + b, 0);
      assert.equal(heights.before(row), sum);
      let left = Math.floor(random() * heights.total);
      const offset = left;
      let expected = 0;
      while (expected < plain.length - 1 && left >= (plain[expected] ?? 0)) left -= plain[expected++] ?? 0;
      assert.equal(heights.rowAt(offset), expected);
    }
  }
  const fresh = new Heights(50);
  fresh.reset(plain.map((height, at) => (at % 2 ? height : undefined)));
  assert.equal(
    fresh.total,
    plain.reduce((sum, height, at) => sum + (at % 2 ? height : 50), 0),
  );
});

// --- asking ---------------------------------------------------------------------------------------

const ask = (more: Partial<PermissionAsk> = {}): PermissionAsk => ({
  requestId: "r",
  sessionId: "s",
  turnId: "t",
  askId: "a",
  toolUseId: "u",
  tool: "Bash",
  input: { command: "npm test" },
  title: "Run npm test",
  reason: "no rule",
  step: "tool",
  command: { text: "npm test", parts: [{ argv: ["npm", "test"], decision: "ask" }] },
  suggestions: [{ rule: "Bash(npm test)", scope: "project", covers: "exactly npm test" }],
  ...more,
});
const card = (value: PermissionAsk): { element: HTMLElement; answers: PermissionAnswer[] } => {
  const answers: PermissionAnswer[] = [];
  const element = askCard(value, {
    answer: (_id, answer) => void answers.push(answer),
    showDiff: () => undefined,
    openText: () => undefined,
    openFile: () => undefined,
    short: (text) => text,
  });
  document.body.append(element);
  return { element, answers };
};
const press = (element: HTMLElement, answer: string): void => element.querySelector<HTMLButtonElement>(`[data-answer="${answer}"]`)?.click();

test("each button of an ask gives its own answer, with the rule it shows", () => {
  const once = card(ask());
  press(once.element, "once");
  const always = card(ask());
  press(always.element, "project");
  const deny = card(ask());
  const reason = deny.element.querySelector<HTMLInputElement>(".reason");
  assert.ok(reason);
  reason.value = "use pytest";
  press(deny.element, "deny");
  assert.deepEqual(
    [once.answers, always.answers, deny.answers],
    [[{ decision: "allow", scope: "once" }], [{ decision: "allow", scope: "project", rule: "Bash(npm test)" }], [{ decision: "deny", message: "use pytest" }]],
  );
  assert.match(always.element.textContent ?? "", /always in this project: Bash\(npm test\)/);
});

test("an ask selects nothing beforehand and can be answered once only", () => {
  const { element, answers } = card(ask());
  assert.equal(element.querySelector("[autofocus], :focus"), null);
  assert.deepEqual(
    [...element.querySelectorAll(".primary")].map((button) => button.textContent),
    ["Allow once"],
  );
  press(element, "once");
  press(element, "deny");
  assert.equal(answers.length, 1);
});

test("what is too long to show whole offers no rule to save", () => {
  const { element } = card(ask({ command: { text: "x".repeat(5000), parts: [] } }));
  assert.equal(element.querySelector('[data-answer="project"]'), null);
});

test("characters that hide or reorder text are made visible in asks", () => {
  assert.equal(revealed("rm \u202e/tmp\u200b"), "rm ⟨U+202E⟩/tmp⟨U+200B⟩");
  const { element } = card(ask({ command: { text: "echo \u202egnp", parts: [] } }));
  assert.match(element.textContent ?? "", /⟨U\+202E⟩/);
});

const form = (value: Partial<Elicit>): { element: HTMLElement; answers: ElicitAnswer[] } => {
  const answers: ElicitAnswer[] = [];
  const element = elicitForm(
    { requestId: "r", sessionId: "s", elicitId: "e", message: "Which?", ...value },
    { answer: (_id, answer) => void answers.push(answer), openLink: () => undefined },
  );
  document.body.append(element);
  return { element, answers };
};
const submit = (element: HTMLElement): void => void element.dispatchEvent(new Event("submit", { cancelable: true }));

test("answers to questions carry the chosen labels and the user's own words", () => {
  const { element, answers } = form({
    questions: [
      { id: "q1", header: "DB", question: "Which database?", multiSelect: false, options: [{ label: "SQLite" }, { label: "Postgres" }], allowOther: true },
      { id: "q2", header: "X", question: "Which extras?", multiSelect: true, options: [{ label: "a" }, { label: "b" }], allowOther: false },
    ],
  });
  submit(element);
  assert.deepEqual(answers, []);
  assert.match(element.textContent ?? "", /Please answer: Which database\?/);
  element.querySelector<HTMLInputElement>('input[value="Postgres"]')?.click();
  for (const box of element.querySelectorAll<HTMLInputElement>('[data-question="q2"] input[type=checkbox]')) box.click();
  submit(element);
  assert.deepEqual(answers, [{ action: "accept", content: { answers: { q1: ["Postgres"], q2: ["a", "b"] } } }]);
});

test("a schema's fields come back typed", () => {
  const { element, answers } = form({
    schema: {
      type: "object",
      required: ["name"],
      properties: { name: { type: "string" }, count: { type: "integer" }, loud: { type: "boolean" }, kind: { type: "string", enum: ["a", "b"] } },
    },
  });
  submit(element);
  assert.match(element.textContent ?? "", /Please fill in: name/);
  const field = (name: string): HTMLInputElement => element.querySelector<HTMLInputElement>(`[id="e:${name}"]`) as HTMLInputElement;
  field("name").value = "x";
  field("count").value = "3";
  field("loud").click();
  submit(element);
  assert.deepEqual(answers, [{ action: "accept", content: { name: "x", count: 3, loud: true } }]);
});

test("declining and dismissing are not the same", () => {
  const first = form({ url: "https://example.org" });
  press(first.element, "decline");
  const second = form({ url: "https://example.org" });
  press(second.element, "cancel");
  assert.deepEqual([first.answers, second.answers], [[{ action: "decline" }], [{ action: "cancel" }]]);
});

// --- words ----------------------------------------------------------------------------------------

test("the status bar says the most urgent thing", () => {
  const facts: Facts = { server: "ready", title: "", waiting: 0, running: 0, compacting: false, hunks: 0, costUsd: 0, offline: false, model: "m" };
  const text = (more: Partial<Facts>): string => statusText({ ...facts, ...more }).text;
  assert.deepEqual(
    [text({}), text({ hunks: 2 }), text({ running: 1, hunks: 2, costUsd: 0.126 }), text({ waiting: 1, running: 1 }), text({ server: "failed", waiting: 1 })],
    ["$(sparkle) Assent", "$(diff) Assent: 2 to review", "$(loading~spin) Assent: working $0.13", "$(bell-dot) Assent waits for you", "$(error) Assent"],
  );
});

test("what is shared holds no credential", () => {
  const shared = redact('key sk-ant-abcdefghijklmnop "api_key": "0123456789abc" Authorization: Bearer abcdefghijkl at /home/me/x', "/home/me");
  assert.doesNotMatch(shared, /abcdefghijkl|0123456789abc|\/home\/me/);
});

test("times are told the way people say them", () => {
  const now = Date.UTC(2026, 0, 2, 12);
  assert.deepEqual([ago(now, now), ago(now - 5 * 60_000, now), ago((now - 3 * 3_600_000) / 1000, now), ago("nonsense", now)], ["just now", "5 min ago", "3 h ago", ""]);
});

// --- around the transcript ------------------------------------------------------------------------

test("one line says what is going on, the most pressing thing first", () => {
  const data = emptyConversation();
  assert.equal(activityText(data), "");
  Object.assign(data, { running: true, state: "running" });
  assert.equal(activityText(data), "Working…");
  data.retrying = { attempt: 2, maxAttempts: 5, delayMs: 1500, status: 529 };
  assert.equal(activityText(data), "The service is busy (529). Trying again in 2 s, attempt 2 of 5");
  Object.assign(data, { connected: false, sessionId: "s" });
  assert.equal(activityText(data), "Reconnecting…");
});

test("a conversation of another window says why it is locked and offers every way on", () => {
  const done: string[] = [];
  const host = { takeOver: () => void done.push("takeOver"), copy: () => void done.push("copy"), newChat: () => void done.push("newChat") };
  const note = readOnlyNote({ refused: false }, host);
  assert.match(note.textContent ?? "", /Another window has this conversation open/);
  assert.equal(note.querySelector(".refused"), null);
  for (const button of note.querySelectorAll("button")) button.click();
  assert.deepEqual(done, ["takeOver", "copy", "newChat"]);
  assert.match(readOnlyNote({ refused: true }, host).querySelector(".refused")?.textContent ?? "", /still open in the other window/);
});

test("a chat that has not begun shows the model it will use, as soon as the server tells it", () => {
  const pickers = new Pickers({ configure: () => undefined, context: () => undefined, cost: () => undefined });
  const shown = (): string | undefined => pickers.element.querySelector<HTMLSelectElement>("select.model")?.value;
  pickers.draw(emptyConversation(), [], "");
  assert.equal(pickers.element.querySelector<HTMLSelectElement>("select.model")?.hidden, true);
  pickers.draw(emptyConversation(), ["other", "usual"], "usual");
  assert.equal(shown(), "usual");
  pickers.draw({ ...emptyConversation(), model: "its own" }, ["other", "usual"], "usual");
  assert.equal(shown(), "its own");
});

test("a row of the queue keeps its buttons while other things are drawn, and names what they do", () => {
  const asked: string[] = [];
  const queue = new QueueList({ sendNow: () => undefined, unqueue: (message, edit) => void asked.push(`${message.clientMessageId} ${edit}`) });
  const messages = [{ clientMessageId: "c1", text: "hello", images: [], mentions: [], steer: false }];
  queue.draw(messages);
  const button = queue.element.querySelector<HTMLButtonElement>('button[aria-label="Withdraw: hello"]');
  queue.draw([...messages]);
  assert.equal(queue.element.querySelector('button[aria-label="Withdraw: hello"]'), button);
  button?.click();
  queue.element.querySelector<HTMLButtonElement>('button[aria-label="Take back and edit: hello"]')?.click();
  assert.deepEqual(asked, ["c1 false", "c1 true"]);
  queue.draw([]);
  assert.equal(queue.element.childElementCount, 0);
});

test("the end of a turn is told with the answer, without its markup and its code, and never at any length", () => {
  const text = (words: string): Item => ({ kind: "text", key: words, text: words, streaming: false });
  const user: Item = { kind: "user", key: "u", text: "?", images: [], mentions: [] };
  assert.equal(finishedWords([text("old"), user, text("It **is** `so`:\n\n```js\nx\n```\n\ndone")], false), "Assent: It is so: (code) done");
  assert.equal(finishedWords([text("old"), user], false), "Assent has finished");
  assert.equal(finishedWords([user, text("half")], true), "Assent stopped with a problem");
  assert.equal(finishedWords([user, text("x".repeat(5000))], false).length, "Assent: ".length + 601);
});

test("an ask about several files shows what would change in each", () => {
  const proposal = (name: string, newText: string): Proposal => ({
    proposalId: name,
    uri: `file:///w/${name}`,
    version: 1,
    baseHash: "",
    hunks: [hunk({ hunkId: name, newText })],
    tool: "Rename",
    reason: "",
    toolUseId: "t",
  });
  const ask: PermissionAsk = {
    requestId: "r",
    sessionId: "s",
    turnId: "u",
    askId: "a",
    toolUseId: "t",
    tool: "Rename",
    input: {},
    title: "Edit a.ts, b.ts",
    reason: "",
    step: "",
    suggestions: [],
    proposal: proposal("a.ts", "first"),
  };
  const element = askCard(ask, { answer: () => undefined, showDiff: () => undefined, openText: () => undefined, openFile: () => undefined, short: (text) => text }, [
    proposal("b.ts", "second"),
  ]);
  assert.deepEqual(
    [...element.querySelectorAll(".diff-head .path-link")].map((each) => each.textContent),
    ["/w/a.ts", "/w/b.ts"],
  );
  assert.match(element.textContent ?? "", /first[^]*second/);
});

test("an ask shows only what is still to decide, and keeps the reason that was being typed", () => {
  const proposal = (state: Hunk["state"]): Proposal => ({
    proposalId: "p",
    uri: "file:///w/a.ts",
    version: 1,
    baseHash: "",
    hunks: [hunk({ hunkId: "1", newText: "first", state, open: state === "pending" }), hunk({ hunkId: "2", newText: "second" })],
    tool: "Edit",
    reason: "",
    toolUseId: "t",
  });
  const asked = (state: Hunk["state"]): ReturnType<typeof emptyConversation> => ({
    ...emptyConversation(),
    asks: [
      {
        requestId: "r",
        sessionId: "s",
        turnId: "u",
        askId: "a",
        toolUseId: "t",
        tool: "Edit",
        input: {},
        title: "Edit a.ts",
        reason: "",
        step: "",
        suggestions: [],
        proposal: proposal(state),
      },
    ],
  });
  const dock = new Dock(
    { answer: () => undefined, showDiff: () => undefined, openText: () => undefined, openFile: () => undefined, short: (text) => text },
    { answer: () => undefined, openLink: () => undefined },
  );
  document.body.append(dock.element);
  dock.draw(asked("pending"));
  assert.match(dock.element.textContent ?? "", /first[^]*second/);
  const reason = dock.element.querySelector<HTMLInputElement>("input.reason");
  assert.ok(reason);
  reason.value = "because";
  reason.focus();
  dock.draw(asked("accepted"));
  assert.match(dock.element.textContent ?? "", /One hunk is decided already/);
  assert.doesNotMatch(dock.element.textContent ?? "", /first/);
  assert.match(dock.element.textContent ?? "", /second/);
  const kept = dock.element.querySelector<HTMLInputElement>("input.reason");
  assert.equal(kept?.value, "because");
  assert.equal(document.activeElement, kept);
  dock.element.remove();
});

test("of several banners the first stands there and the others take one line until they are opened", () => {
  const banners = new Banners(() => undefined);
  const surroundings = (texts: string[]): Surroundings => ({
    server: { kind: "ready", title: "", detail: "", log: "", actions: [] },
    banners: texts.map((text) => ({ kind: "warning", text })),
    models: [],
    model: "",
    roots: [],
    showThinking: false,
    sendWithEnter: true,
  });
  banners.draw(surroundings(["one"]));
  assert.equal(banners.element.querySelector("details"), null);
  banners.draw(surroundings(["one", "two", "three"]));
  assert.equal(banners.element.querySelector("summary")?.textContent, "2 more notices");
  assert.equal(banners.element.querySelector("details")?.open, false);
  assert.deepEqual(
    [...banners.element.querySelectorAll(".banner")].map((each) => each.textContent),
    ["one", "two", "three"],
  );
});

// --- less to read ---------------------------------------------------------------------------------

const call = (key: string, tool: string, more: Partial<Extract<Item, { kind: "tool" }>> = {}): Item => ({
  kind: "tool",
  key,
  tool,
  title: "",
  input: null,
  partialJson: "",
  progress: "",
  state: "done",
  summary: "",
  output: "",
  images: [],
  durationMs: 0,
  children: [],
  ...more,
});

test("three and more reads and searches in a row are one row, and what waits or does something is not among them", () => {
  const items = [call("1", "Read"), call("2", "Grep"), call("3", "Read", { state: "error" }), call("4", "Bash"), call("5", "Read"), call("6", "Read")];
  assert.deepEqual(
    rowsOf(items).map((row) => row.key),
    ["fold:1", "4", "5", "6"],
  );
  assert.equal(foldText(items.slice(0, 3) as never), "Read 2 files, searched once (1 failed)");
  assert.deepEqual(
    rowsOf([call("1", "Read"), call("2", "Read", { state: "waiting" }), call("3", "Read")]).map((row) => row.key),
    ["1", "2", "3"],
  );
});

test("a turn is summed up: files with their lines, commands, and whether the last tests passed", () => {
  const edit = call("e", "MultiEdit", {
    input: {
      file_path: "a.py",
      edits: [
        { old_string: "x\n", new_string: "x\ny\n" },
        { old_string: "p\n", new_string: "q\n" },
      ],
    },
  });
  const items = [
    call("0", "Write", { input: { file_path: "old.py", content: "z" } }),
    { kind: "end", key: "end" } as Item,
    edit,
    call("w", "Write", { input: { file_path: "b.py", content: "1\n2\n" } }),
    call("t", "Bash", { input: { command: "cd x && pytest -q" }, state: "error" }),
    call("u", "Bash", { input: { command: "npm test" } }),
  ];
  const summary = summaryOf(items);
  assert.deepEqual(summary, { files: 2, added: 4, removed: 1, commands: 2, tests: "passed" });
  assert.equal(summary && summaryText(summary), "2 files +4 −1 · 2 commands · tests passed");
  assert.equal(summaryOf(items, new Set(["t"]))?.commands, 1, "a denied command did not run");
  assert.equal(summaryOf([call("r", "Read"), call("d", "Edit", { state: "stopped", input: { file_path: "a", old_string: "", new_string: "b" } })]), undefined);
});

test("a call is named by what it does, and the line below says what runs", () => {
  assert.equal(humanTitle("MultiEdit", "MultiEdit a.py"), "Edit a.py");
  assert.equal(humanTitle("Read", "Read a.py"), "Read a.py");
  const data = { ...emptyConversation(), running: true, items: [call("1", "Bash", { state: "running", title: "Bash npm test" })] };
  assert.equal(activityText(data), "Run npm test");
});

test("several asks are answered together, and a rule is changed before it is saved", () => {
  const answers: [string, PermissionAnswer][] = [];
  const host = {
    answer: (id: string, answer: PermissionAnswer) => void answers.push([id, answer]),
    showDiff: () => undefined,
    openText: () => undefined,
    openFile: () => undefined,
    short: (text: string) => text,
  };
  const dock = new Dock(host, { answer: () => undefined, openLink: () => undefined });
  document.body.append(dock.element);
  dock.draw({ ...emptyConversation(), asks: [ask()] });
  assert.equal(dock.element.querySelector(".all-asks"), null);
  dock.draw({ ...emptyConversation(), asks: [ask(), ask({ askId: "b", title: "Run npm run build" })] });
  assert.match(dock.element.querySelector(".all-asks")?.textContent ?? "", /2 questions wait[^]*Run npm test[^]*Run npm run build/);
  dock.element.querySelector<HTMLButtonElement>('[data-do="allowAll"]')?.click();
  assert.deepEqual(answers, [
    ["a", { decision: "allow", scope: "once" }],
    ["b", { decision: "allow", scope: "once" }],
  ]);
  const edited = card(ask());
  edited.element.querySelector<HTMLButtonElement>('button[aria-label^="Edit the rule"]')?.click();
  const rule = edited.element.querySelector<HTMLInputElement>(".rule-input");
  assert.equal(rule?.value, "Bash(npm test)");
  if (rule) rule.value = "Bash(npm test:*)";
  press(edited.element, "project-edited");
  assert.deepEqual(edited.answers, [{ decision: "allow", scope: "project", rule: "Bash(npm test:*)" }]);
});
