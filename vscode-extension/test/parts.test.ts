import { press } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Elicit, ElicitAnswer } from "../src/protocol";
import { redact } from "../src/redact";
import { statusText, type Facts } from "../src/statusText";
import { finishedWords } from "../webview/announcement";
import { activityText, readOnlyNote } from "../webview/activity";
import { emptyConversation } from "../shared/conversation";
import { diffLines, withContext } from "../webview/diff";
import { Banners } from "../webview/banners";
import { foldText, rowsOf } from "../webview/folds";
import { humanTitle } from "../shared/content";
import { summaryOf, summaryText } from "../shared/turnSummary";
import type { Surroundings } from "../shared/bridge";
import { elicitForm } from "../webview/elicitForm";
import { Heights } from "../webview/heights";
import { ago } from "../webview/history";
import { keyLabel } from "../webview/keys";
import type { Item } from "../shared/items";
import { QueueList } from "../webview/lists";
import { Pickers } from "../webview/pickers";

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

test("keys are called as the user's keyboard calls them", () => {
  assert.equal(keyLabel("Ctrl+Alt+Backspace", "Linux x86_64"), "Ctrl+Alt+Backspace");
  assert.equal(keyLabel("Ctrl+Alt+Backspace", "MacIntel"), "⌘⌥⌫");
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

test("a form offers titled choices and several of them, fills in defaults and leaves optional fields out", () => {
  const schema = {
    type: "object",
    required: ["colour"],
    properties: {
      colour: {
        type: "string",
        oneOf: [
          { const: "r", title: "Red" },
          { const: "g", title: "Green" },
        ],
        default: "g",
      },
      sizes: { type: "array", items: { anyOf: [{ const: "s" }, { const: "m" }] }, default: ["m"] },
      day: { type: "string", format: "date", default: "2026-01-31" },
      copy: { type: "boolean", default: false },
      sure: { type: "boolean" },
      tags: { type: "array", items: { enum: ["x"] } },
      note: { type: "string" },
    },
  };
  const first = form({ schema });
  submit(first.element);
  assert.deepEqual(first.answers, [{ action: "accept", content: { colour: "g", sizes: ["m"], day: "2026-01-31", copy: false } }]);
  assert.match(first.element.textContent ?? "", /RedGreen/);
});

test("an answer that did not fit comes back filled in, with the reason beside its field", () => {
  const schema = { type: "object", required: ["when"], properties: { when: { type: "string", title: "Day", default: "today" }, note: { type: "string" } } };
  const { element, answers } = form({ schema, given: { when: "soon", note: "x" }, problems: { when: "a date is expected" } });
  assert.equal(element.querySelector('[data-problem="when"]')?.textContent, "Day: a date is expected");
  const field = element.querySelector<HTMLInputElement>('[id="e:when"]') as HTMLInputElement;
  assert.equal(field.value, "soon");
  field.value = "2026-01-31";
  submit(element);
  assert.deepEqual(answers, [{ action: "accept", content: { when: "2026-01-31", note: "x" } }]);
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
  const facts: Facts = { server: "ready", title: "", waiting: 0, running: 0, compacting: false, hunks: 0, costUsd: 0, totalUsd: 0, offline: false, model: "m" };
  const text = (more: Partial<Facts>): string => statusText({ ...facts, ...more }).text;
  assert.deepEqual(
    [text({}), text({ hunks: 2 }), text({ running: 1, hunks: 2, costUsd: 0.126 }), text({ waiting: 1, running: 1 }), text({ server: "failed", waiting: 1 })],
    ["$(sparkle) Assent", "$(diff) Assent: 2 to review", "$(loading~spin) Assent: working $0.126", "$(bell-dot) Assent waits for you", "$(error) Assent"],
  );
  // The figure is that of the conversation one sees, the same as in the chat.
  assert.match(statusText({ ...facts, costUsd: 0.014, totalUsd: 0.23 }).tooltip, /Cost of this conversation: \$0\.014\nAll conversations of this window: \$0\.230/);
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
    ideas: [],
    keptMode: null,
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
  const partly = { ...edit, changed: [{ path: "a.py", added: 1, removed: 0 }] } as Item;
  assert.deepEqual(summaryOf([partly]), { files: 1, added: 1, removed: 0, commands: 0 }, "what was accepted counts, not what was asked for");
  assert.equal(summaryOf([call("r", "Read"), call("d", "Edit", { state: "stopped", input: { file_path: "a", old_string: "", new_string: "b" } })]), undefined);
});

test("a call is named by what it does, and the line below says what runs", () => {
  assert.equal(humanTitle("MultiEdit", "MultiEdit a.py"), "Edit a.py");
  assert.equal(humanTitle("Read", "Read a.py"), "Read a.py");
  assert.equal(humanTitle("ExitPlanMode", "ExitPlanMode"), "Plan");
  assert.equal(humanTitle("mcp__jira__find", "mcp__jira__find open"), "jira: find open");
  const data = { ...emptyConversation(), running: true, items: [call("1", "Bash", { state: "running", title: "Bash npm test" })] };
  assert.equal(activityText(data), "Run npm test");
});
