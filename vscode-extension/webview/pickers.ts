/** Below the words: permission mode, model, the context meter and the cost. */
import type { Mode } from "../src/protocol";
import { count, money } from "../shared/content";
import { h } from "./dom";
import type { ConversationData } from "../shared/items";

export const MODES: { mode: Mode; label: string; hint: string }[] = [
  { mode: "default", label: "Ask first", hint: "Asks before edits and commands" },
  { mode: "acceptEdits", label: "Accept edits", hint: "Edits land at once and stay marked for review" },
  { mode: "plan", label: "Plan", hint: "Reads and plans; changes nothing" },
  { mode: "auto", label: "Auto", hint: "A classifier answers what it is sure of; you get the rest" },
  { mode: "dontAsk", label: "Don't ask", hint: "What would need asking is refused" },
  { mode: "bypassPermissions", label: "Bypass", hint: "Asks only about what is never safe" },
];

export interface PickerHost {
  configure(change: { model?: string; mode?: Mode }): void;
  context(): void;
  cost(): void;
}

export class Pickers {
  private readonly mode: HTMLSelectElement;
  private readonly model: HTMLSelectElement;
  private readonly meter: HTMLButtonElement;
  private readonly cost: HTMLButtonElement;
  readonly element: HTMLElement;
  private drawn = "";
  private metered = "";
  private chosen = "";

  constructor(host: PickerHost) {
    this.mode = h(
      "select",
      { class: "picker mode", "aria-label": "Permission mode", title: "Permission mode" },
      ...MODES.map((each) => h("option", { value: each.mode, title: each.hint }, each.label)),
    );
    this.model = h("select", { class: "picker model", "aria-label": "Model", title: "Model" });
    this.meter = h("button", { type: "button", class: "meter", onclick: () => host.context() });
    this.cost = h("button", { type: "button", class: "cost small", title: "Cost of this conversation", onclick: () => host.cost() });
    this.element = h("span", { class: "pickers" }, this.mode, this.model, this.meter, this.cost);
    this.mode.addEventListener("change", () => host.configure({ mode: this.mode.value as Mode }));
    this.model.addEventListener("change", () => {
      host.configure({ model: this.model.value });
      this.model.value = this.chosen;
    });
  }

  /** `usual` is the model of a conversation that has not begun; the server may tell it after the page is there. */
  draw(data: ConversationData, models: string[], usual: string): void {
    const model = data.model || usual;
    this.mode.value = data.mode;
    this.mode.title = `Permission mode: ${MODES.find((each) => each.mode === data.mode)?.hint ?? data.mode}`;
    const offered = [...new Set([...(model ? [model] : []), ...models])];
    if (this.drawn !== offered.join()) {
      this.drawn = offered.join();
      this.model.replaceChildren(...offered.map((model) => h("option", { value: model }, model)), h("option", { value: "…" }, "Other…"));
    }
    this.chosen = model;
    this.model.value = model;
    this.model.hidden = offered.length === 0;
    this.drawMeter(data.usage);
  }

  private drawMeter(usage: ConversationData["usage"]): void {
    this.meter.hidden = !usage || usage.contextWindow <= 0 || usage.contextTokens <= 0; // of an empty conversation nothing was measured
    this.cost.hidden = !usage || usage.costUsd <= 0;
    if (!usage) return;
    const share = Math.min(1, usage.contextTokens / Math.max(1, usage.contextWindow));
    const percent = `${Math.round(share * 100)} %`;
    const label = `Context: ${count(usage.contextTokens)} of ${count(usage.contextWindow)} tokens (${percent})`;
    const cost = money(usage.costUsd);
    this.cost.textContent = cost;
    this.cost.setAttribute("aria-label", `Cost of this conversation: ${cost}`);
    if (label === this.metered) return;
    this.metered = label;
    this.meter.setAttribute("aria-label", label);
    this.meter.title = label;
    const fill = h("span", { class: `fill${share > 0.85 ? " full" : ""}` });
    fill.style.width = `${Math.max(2, share * 100)}%`;
    this.meter.replaceChildren(h("span", { class: "bar" }, fill), h("span", { class: "small" }, percent));
  }
}
