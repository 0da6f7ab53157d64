import { window as page } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Draft, MentionChip } from "../shared/bridge";
import { Composer } from "../webview/composer";
import { h } from "../webview/dom";

/** A composer with completions for what was typed, and what it sent. */
function composer(typed: string, offered: { insertText: string; kind: string }[]): { press(key: string): void; text(): string; open(): boolean; sent: string[] } {
  const sent: string[] = [];
  let asked = 0;
  const box = new Composer(
    {
      send: (draft) => void sent.push(draft.text),
      stop: () => undefined,
      complete: (requestId) => void (asked = requestId),
      dropped: () => undefined,
      attach: () => undefined,
      draft: () => undefined,
      cancelEdit: () => undefined,
    },
    h("span"),
  );
  const input = box.element.querySelector("textarea") as HTMLTextAreaElement;
  const popup = box.element.querySelector(".completions") as HTMLElement;
  page.HTMLElement.prototype.scrollIntoView = () => undefined;
  page.document.body.append(box.element);
  input.value = typed;
  input.setSelectionRange(typed.length, typed.length);
  input.dispatchEvent(new page.Event("input"));
  box.showCompletions(
    asked,
    offered.map((each) => ({ label: each.insertText, detail: "", ...each })),
  );
  return { press: (key) => void input.dispatchEvent(new page.KeyboardEvent("keydown", { key, cancelable: true })), text: () => input.value, open: () => !popup.hidden, sent };
}

test("Enter takes a folder itself and closes the list; the next Enter sends", () => {
  const box = composer("look into @sr", [{ insertText: "@src/", kind: "folder" }]);
  box.press("Enter");
  assert.deepEqual([box.text(), box.open(), box.sent], ["look into @src/ ", false, []]);
  box.press("Enter");
  assert.deepEqual(box.sent, ["look into @src/ "]);
});

test("Tab goes into a folder, to go on completing there", () => {
  const box = composer("@sr", [{ insertText: "@src/", kind: "folder" }]);
  box.press("Tab");
  assert.deepEqual([box.text(), box.sent], ["@src/", []]);
});

test("Enter sends what is written out already, though the list still offers it", () => {
  for (const [typed, insertText] of [
    ["/help", "/help"],
    ["/compact", "/compact "],
    ["see @notes.md", "@notes.md"],
  ] as const) {
    const box = composer(typed, [{ insertText, kind: "command" }]);
    assert.equal(box.open(), true);
    box.press("Enter");
    assert.deepEqual(box.sent, [typed]);
  }
});

function plain(): { box: Composer; sent: Draft[]; type(text: string): void; press(key: string): void; chips(): string[] } {
  const sent: Draft[] = [];
  const box = new Composer(
    {
      send: (draft) => void sent.push(draft),
      stop: () => undefined,
      complete: () => undefined,
      dropped: () => undefined,
      attach: () => undefined,
      draft: () => undefined,
      cancelEdit: () => undefined,
    },
    h("span"),
  );
  const input = box.element.querySelector("textarea") as HTMLTextAreaElement;
  page.document.body.append(box.element);
  return {
    box,
    sent,
    type: (text) => {
      input.value = text;
      input.dispatchEvent(new page.Event("input"));
    },
    press: (key) => void input.dispatchEvent(new page.KeyboardEvent("keydown", { key, cancelable: true })),
    chips: () => [...box.element.querySelectorAll(".chip")].map((each) => each.textContent ?? ""),
  };
}

const ACTIVE: MentionChip = { uri: "assent-context:active", label: "calc.py", text: "calc.py is open", kind: "active", adds: "its name", file: "file:///ws/calc.py" };

test("the editor one looks at is a chip that goes along, and stays", () => {
  const { box, sent, type, press, chips } = plain();
  box.look(ACTIVE);
  assert.deepEqual(chips(), ["calc.pyits name"]);
  type("hello");
  press("Enter");
  assert.deepEqual(
    sent.map((draft) => draft.mentions),
    [[ACTIVE]],
  );
  assert.deepEqual(chips(), ["calc.pyits name"]);
});

test("the chip is left out for its file until another one is looked at, and never goes with a command", () => {
  const { box, sent, type, press, chips } = plain();
  box.look(ACTIVE);
  type("/compact");
  press("Enter");
  assert.deepEqual(sent[0]?.mentions, []);
  box.element.querySelector<HTMLButtonElement>('[aria-label="Leave out calc.py"]')?.click();
  box.look({ ...ACTIVE, text: "another line" });
  assert.deepEqual(chips(), []);
  type("hello");
  press("Enter");
  assert.deepEqual(sent[1]?.mentions, []);
  box.look({ ...ACTIVE, label: "other.py", file: "file:///ws/other.py" });
  box.look(ACTIVE);
  assert.deepEqual(chips(), ["calc.pyits name"]);
});

test("all of the file is attached instead, with one press", () => {
  const { box, chips } = plain();
  box.look(ACTIVE);
  box.element.querySelector<HTMLButtonElement>('[aria-label="Attach all of calc.py"]')?.click();
  assert.deepEqual(chips(), ["calc.py"]);
  assert.deepEqual(box.draft.mentions, [{ uri: "file:///ws/calc.py", label: "calc.py" }]);
});

test("lines that are attached already are not offered a second time", () => {
  const { box, chips } = plain();
  const range = { start: { line: 1, character: 0 }, end: { line: 3, character: 4 } };
  const lines: MentionChip = { uri: "file:///ws/calc.py", range, label: "calc.py:2-4", kind: "active", adds: "3 lines", file: "file:///ws/calc.py" };
  box.look(lines);
  box.insert("", [{ uri: lines.uri, range, label: "src/calc.py:2-4" }], false);
  assert.deepEqual(chips(), ["src/calc.py:2-4"]);
  box.look({ ...lines, range: { ...range, end: { line: 8, character: 0 } }, label: "calc.py:2-9" });
  assert.equal(chips().length, 2);
});

test("what is no file is taken as a chip, with Enter too when it is written out", () => {
  const { box, type, press, chips, sent } = plain();
  let asked = 0;
  const chip: MentionChip = { uri: "assent-context:problems", label: "problems", kind: "warning", adds: "2 errors" };
  type("fix @problems");
  for (asked = 0; asked < 20; asked += 1) box.showCompletions(asked, [{ label: "@problems", insertText: "@problems", kind: "warning", detail: "2 errors", chip }]);
  press("Enter");
  assert.deepEqual([chips(), box.draft.text, sent.length], [["problems2 errors"], "fix ", 0]);
});
