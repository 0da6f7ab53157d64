/** A code block of an answer with what can be done with it. */
import type { ToHost } from "../shared/bridge";
import { h, iconButton } from "./dom";

export function decorateCode(pre: HTMLElement, code: string, language: string, post: (message: ToHost) => void): void {
  const box = h("div", { class: "code" });
  pre.replaceWith(box);
  pre.tabIndex = 0; // it scrolls sideways, with keys too
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", `${language || "text"} code`);
  box.append(
    h(
      "div",
      { class: "code-head" },
      h("span", { class: "small" }, language || "text"),
      h("span", { class: "spacer" }),
      iconButton("copy", "Copy code", () => post({ type: "copy", text: code })),
      iconButton("insert", "Insert at cursor", () => post({ type: "insertCode", text: code })),
      iconButton("diff", "Apply to the open file…", () => post({ type: "applyCode", text: code, language })),
    ),
    pre,
  );
}
