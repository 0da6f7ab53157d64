import { press } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hunk, PermissionAnswer, PermissionAsk, Proposal } from "../src/protocol";
import { askCard } from "../webview/askCard";
import { emptyConversation } from "../shared/conversation";
import { Dock } from "../webview/dock";
import { revealed } from "../webview/dom";

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
    [...element.querySelectorAll(".primary")].map((button) => [button.getAttribute("aria-label"), button.querySelector("kbd")?.textContent]),
    [["Allow once", "Ctrl+Alt+Enter"]],
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
  assert.match(dock.element.querySelector(".all-asks")?.textContent ?? "", /2 questions wait[^]*Run npm test[^]*Run npm run build[^]*Ctrl\+Alt\+Enter allows/);
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
