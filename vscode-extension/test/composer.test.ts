import { window as page } from "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
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
