/** The two short lists above the composer: the agent's todos, and messages that wait for their turn. */
import { h, icon, iconButton } from "./dom";
import type { ConversationData, QueuedMessage } from "../shared/items";

const MARKS: Record<string, string> = { completed: "pass-filled", in_progress: "sync", pending: "circle-large-outline" };

export class TodoList {
  readonly element = h("div", { class: "todos" });
  private open = false;

  draw(items: ConversationData["todos"]): void {
    const done = items.filter((todo) => todo.status === "completed").length;
    if (items.length === 0 || done === items.length) return this.element.replaceChildren();
    const current = items.find((todo) => todo.status === "in_progress");
    const details = h(
      "details",
      { open: this.open },
      h("summary", {}, icon("checklist"), h("span", {}, ` ${done}/${items.length} `), current?.activeForm ?? "Todo list"),
      h("ul", {}, ...items.map((todo) => h("li", { class: todo.status }, icon(MARKS[todo.status] ?? "circle-large-outline"), h("span", {}, todo.content)))),
    );
    details.addEventListener("toggle", () => (this.open = details.open));
    this.element.replaceChildren(details);
  }
}

export interface QueueHost {
  /** Takes the message back; `edit` puts its words into the composer. */
  unqueue(message: QueuedMessage, edit: boolean): void;
  /** Sends a kept message after all. */
  sendNow(message: QueuedMessage): void;
}

export class QueueList {
  readonly element = h("div", { class: "queue", role: "list", "aria-label": "Messages that wait" });
  private drawn: QueuedMessage[] = [];

  constructor(private readonly host: QueueHost) {}

  draw(messages: QueuedMessage[]): void {
    // Drawn again only when it changed, so that a button keeps the focus while an answer streams.
    if (messages.length === this.drawn.length && messages.every((message, at) => message === this.drawn[at])) return;
    this.drawn = [...messages];
    this.element.replaceChildren(...messages.map((message) => this.row(message)));
  }

  private row(message: QueuedMessage): HTMLElement {
    const what = message.kept
      ? "The turn was stopped before this one came. It is not sent by itself."
      : message.steer
        ? "Will be told to the running turn"
        : "Will be sent when this turn ends";
    return h(
      "div",
      { class: message.kept ? "queued kept" : "queued", role: "listitem", title: what },
      icon(message.kept ? "debug-pause" : message.steer ? "debug-step-into" : "clock"),
      h("span", { class: "queued-text" }, message.text || "(an image)"),
      h("span", { class: "small" }, message.kept ? "not sent" : message.steer ? "steering" : "queued"),
      message.kept ? iconButton("send", `Send now: ${message.text}`, () => this.host.sendNow(message)) : null,
      iconButton("edit", `Take back and edit: ${message.text}`, () => this.host.unqueue(message, true)),
      iconButton("close", `Withdraw: ${message.text}`, () => this.host.unqueue(message, false)),
    );
  }
}
