/** Earlier conversations: a searchable list laid over the transcript. */
import type { SessionInfo } from "../src/protocol";
import { h, icon, iconButton } from "./dom";

export interface HistoryHost {
  search(requestId: number, query: string, cursor?: string): void;
  open(sessionId: string): void;
  remove(sessionId: string): void;
  rename(sessionId: string): void;
  closed(): void;
}

export class History {
  readonly element: HTMLElement;
  private readonly query: HTMLInputElement;
  private readonly list: HTMLElement;
  private request = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: HistoryHost) {
    this.query = h("input", { type: "search", placeholder: "Search conversations", "aria-label": "Search conversations" });
    this.list = h("ul", { class: "sessions", "aria-label": "Conversations" });
    this.element = h(
      "section",
      { class: "history", hidden: true, "aria-label": "History" },
      h(
        "header",
        {},
        h("h2", {}, "History"),
        h("span", { class: "spacer" }),
        iconButton("close", "Close history", () => this.hide()),
      ),
      this.query,
      this.list,
    );
    this.query.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.load(), 150);
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.hide();
      if (event.key === "ArrowDown" || event.key === "ArrowUp") this.move(event);
    });
  }

  show(): void {
    this.element.hidden = false;
    this.query.value = "";
    this.query.focus();
    this.load();
  }

  hide(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.host.closed();
  }

  get shown(): boolean {
    return !this.element.hidden;
  }

  refresh(): void {
    if (this.shown) this.load();
  }

  loaded(requestId: number, sessions: SessionInfo[], nextCursor: string | undefined, error: string | undefined): void {
    if (requestId !== this.request) return;
    this.list.querySelector(".more")?.remove();
    this.list.querySelector(".empty")?.remove();
    for (const session of sessions) this.list.append(this.row(session));
    if (error) this.list.append(h("li", { class: "empty", role: "alert" }, error));
    else if (this.list.children.length === 0) this.list.append(h("li", { class: "empty" }, this.query.value ? "Nothing matches." : "No conversations yet."));
    if (nextCursor) {
      const more = h(
        "li",
        { class: "more" },
        h("button", { type: "button", class: "button link", onclick: () => this.host.search(this.request, this.query.value, nextCursor) }, "Show more"),
      );
      this.list.append(more);
    }
  }

  private load(): void {
    this.request += 1;
    this.list.replaceChildren();
    this.host.search(this.request, this.query.value.trim());
  }

  private row(session: SessionInfo): HTMLElement {
    const facts = [
      ago(session.updatedAt),
      `${session.turns} ${session.turns === 1 ? "turn" : "turns"}`,
      session.costUsd ? `$${session.costUsd.toFixed(2)}` : "",
      session.branch ?? "",
    ].filter(Boolean);
    return h(
      "li",
      { "data-session": session.sessionId },
      h(
        "button",
        { type: "button", class: "session", onclick: () => (this.hide(), this.host.open(session.sessionId)) },
        session.running ? icon("loading codicon-modifier-spin") : icon("comment"),
        h("span", { class: "session-title" }, session.title || "Untitled"),
        h("span", { class: "small" }, facts.join(" · ")),
      ),
      iconButton("edit", `Rename ${session.title}`, () => this.host.rename(session.sessionId)),
      iconButton("trash", `Delete ${session.title}`, () => this.host.remove(session.sessionId)),
    );
  }

  private move(event: KeyboardEvent): void {
    const buttons = [...this.list.querySelectorAll<HTMLElement>("button.session")];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const next = buttons[at + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}

export function ago(when: string | number, now = Date.now()): string {
  const time = typeof when === "number" ? (when > 1e12 ? when : when * 1000) : Date.parse(when);
  if (!Number.isFinite(time)) return "";
  const minutes = Math.max(0, Math.round((now - time) / 60_000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  return new Date(time).toLocaleDateString();
}
