/** What an empty conversation shows: what this is, and a few things to try. */
import { h, icon } from "./dom";

const IDEAS = [
  { icon: "search", text: "Explain how this project is put together" },
  { icon: "beaker", text: "Find a function without tests and write them" },
  { icon: "bug", text: "Look at the problems in the open file and fix them" },
];

export function welcomePage(compose: (text: string) => void): HTMLElement {
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, "What shall we build?"),
    h("p", {}, "Assent reads and edits this workspace, and asks before it changes anything. Every edit is shown in the editor, hunk by hunk."),
    ...IDEAS.map((idea) => h("button", { type: "button", class: "idea", onclick: () => compose(idea.text) }, icon(idea.icon), h("span", {}, idea.text))),
  );
}
