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
        ...found(session, this.query.value),
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

/** The places where the words were said, marked where the server says: it knows beginnings of words and accents. */
function found(session: SessionInfo, query: string): Node[] {
  const line = (...words: Node[]): Node => h("span", { class: "snippet small" }, ...words);
  if (session.snippets?.length) return session.snippets.map(({ text, ranges }) => line(...markedAt(text, ranges)));
  return session.snippet ? [line(...marked(session.snippet, query))] : [];
}

export function markedAt(text: string, ranges: readonly (readonly [number, number])[]): Node[] {
  const parts: Node[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    parts.push(document.createTextNode(text.slice(at, from)), h("mark", {}, text.slice(from, to)));
    at = to;
  }
  return [...parts, document.createTextNode(text.slice(at))];
}

/** The words that were searched for stand out, by more than their colour. */
export function marked(text: string, query: string): Node[] {
  const words = query.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [document.createTextNode(text)];
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text.split(new RegExp(`(${escaped.join("|")})`, "gi")).map((part, at) => (at % 2 ? h("mark", {}, part) : document.createTextNode(part)));
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
