/** What the server's life looks like, in plain words with the next step, and standing warnings. */
import type { Banner, ServerPanel, Surroundings } from "../shared/bridge";
import { h, icon, textButton } from "./dom";

export class Banners {
  readonly element = h("div", { class: "banners" });
  private drawn = "";
  private open = false;

  constructor(private readonly run: (command: string) => void) {}

  draw(surroundings: Surroundings | null): void {
    const now = JSON.stringify([surroundings?.banners, surroundings?.server]);
    if (now === this.drawn) return;
    this.drawn = now;
    const [first, ...others] = (surroundings?.banners ?? []).map((banner) => this.banner(banner));
    const shown = [first, others.length > 0 ? this.folded(others) : undefined].filter((each) => each !== undefined);
    const server = surroundings?.server;
    if (server && server.kind !== "ready") shown.unshift(this.panel(server));
    this.element.replaceChildren(...shown);
  }

  /** Only the first stands there; the others take one line until someone opens them. */
  private folded(others: HTMLElement[]): HTMLElement {
    const details = h(
      "details",
      { class: "more-banners", open: this.open },
      h("summary", { class: "small" }, others.length === 1 ? "1 more notice" : `${others.length} more notices`),
      ...others,
    );
    details.addEventListener("toggle", () => (this.open = details.open));
    return details;
  }

  private banner({ kind, text, command, label }: Banner): HTMLElement {
    const button = command ? textButton(label ?? "Open", "link", () => this.run(command)) : null;
    return h("div", { class: `banner ${kind}`, role: "note" }, icon(kind), h("span", {}, text), button);
  }

  private panel({ kind, title, detail, log, actions }: ServerPanel): HTMLElement {
    const failed = kind === "failed";
    return h(
      "div",
      { class: `banner server ${failed ? "error" : "info"}`, role: failed ? "alert" : "note" },
      icon(failed ? "error" : "loading codicon-modifier-spin"),
      h(
        "div",
        {},
        h("strong", {}, title),
        detail ? h("p", {}, detail) : null,
        log ? h("pre", { tabindex: 0, role: "group", "aria-label": "end of the server's log" }, log) : null,
        actions.length ? h("div", { class: "buttons" }, ...actions.map((action) => textButton(action.label, "secondary", () => this.run(action.command)))) : null,
      ),
    );
  }
}
