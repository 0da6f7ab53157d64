/** A small sheet of figures over the transcript: what fills the context, what the conversation cost. */
import type { ToView } from "../shared/bridge";
import { h, iconButton } from "./dom";

export class Facts {
  readonly element = h("section", { class: "facts card", hidden: true, role: "dialog", "aria-label": "Details" });

  constructor(private readonly closed: () => void) {
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close();
    });
  }

  show({ title, rows, note }: Extract<ToView, { type: "facts" }>): void {
    const close = iconButton("close", "Close", () => this.close());
    this.element.replaceChildren(
      h("header", {}, h("h3", {}, title), h("span", { class: "spacer" }), close),
      h("dl", {}, ...rows.flatMap(({ label, value, share }) => [h("dt", {}, label), h("dd", {}, value, share === undefined ? null : bar(share))])),
      note ? h("p", { class: "small" }, note) : "",
    );
    this.element.hidden = false;
    close.focus();
  }

  private close(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.closed();
  }
}

function bar(share: number): HTMLElement {
  const fill = h("span", { class: "fill" });
  fill.style.width = `${Math.round(share * 100)}%`;
  return h("span", { class: "bar" }, fill);
}
