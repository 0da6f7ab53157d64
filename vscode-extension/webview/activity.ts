/** One line on what is going on, a turn that was cut off, and a conversation that another window has. */
import { hunkCount } from "../shared/content";
import { h, icon, textButton } from "./dom";
import type { ConversationData } from "../shared/items";

export interface ActivityHost {
  resume(): void;
  retry(): void;
  /** Goes to the edit that waits. */
  showReview(proposalId: string): void;
}

export class Activity {
  readonly element = h("div", { class: "activity small", role: "status" });
  private drawn = "";

  constructor(private readonly host: ActivityHost) {}

  draw(data: ConversationData, failed: boolean): void {
    const cut = data.interrupted && !data.running && data.connected && !data.readOnly;
    const text = failed || cut ? "" : activityText(data);
    const now = `${cut} ${text} ${data.reviews[0]?.proposalId ?? ""}`;
    if (now === this.drawn) return;
    this.drawn = now;
    if (cut) this.element.replaceChildren(this.cutOff());
    else if (text && data.reviews[0]) this.element.replaceChildren(icon("bell-dot"), ` ${text} `, this.wayTo(data.reviews[0].proposalId));
    else this.element.replaceChildren(...(text ? [icon(data.state === "waiting" ? "bell-dot" : "loading codicon-modifier-spin"), ` ${text}`] : []));
  }

  private wayTo(proposalId: string): HTMLElement {
    return textButton("Review", "link", () => this.host.showReview(proposalId), { "data-do": "review" });
  }

  private cutOff(): HTMLElement {
    const buttons = [textButton("Continue", "secondary", () => this.host.resume()), textButton("Try again", "secondary", () => this.host.retry())];
    const words = "The last turn was cut off before it finished. Everything up to there is saved.";
    return h("div", { class: "notice warning interrupted", role: "note" }, icon("debug-disconnect"), h("span", {}, words), h("div", { class: "buttons" }, ...buttons));
  }
}

export function activityText(data: ConversationData): string {
  const { retrying } = data;
  if (!data.connected && data.sessionId) return "Reconnecting…";
  if (retrying) {
    const status = retrying.status ? ` (${retrying.status})` : "";
    return `The service is busy${status}. Trying again in ${Math.ceil(retrying.delayMs / 1000)} s, attempt ${retrying.attempt} of ${retrying.maxAttempts}`;
  }
  if (data.state === "compacting") return "Compacting the conversation…";
  if (data.state === "waiting" && (data.asks.length || data.elicits.length)) return "Waiting for you";
  if (data.reviews.length) return `Waiting for your review of ${hunkCount(data.reviews.reduce((sum, review) => sum + review.hunks.length, 0))}`;
  return data.running ? "Working…" : "";
}

export interface ReadOnlyHost {
  takeOver(): void;
  copy(): void;
  newChat(): void;
}

/** Stands where the composer was: why nothing can be said here, and every way to go on. */
export function readOnlyNote(state: NonNullable<ConversationData["readOnly"]>, host: ReadOnlyHost): HTMLElement {
  return h(
    "div",
    { class: "notice info read-only", role: "note" },
    icon("lock"),
    h(
      "div",
      {},
      h("p", {}, "Another window has this conversation open, so here it can only be read. Close it there to take it over, or go on in a copy."),
      state.refused ? h("p", { role: "alert", class: "refused" }, "It is still open in the other window. What it has said since is shown now.") : null,
    ),
    h(
      "div",
      { class: "buttons" },
      textButton("Take over", "secondary", () => host.takeOver(), { "data-do": "takeOver" }),
      textButton("Continue in a copy", "secondary", () => host.copy(), { "data-do": "copy" }),
      textButton("New chat", "secondary", () => host.newChat(), { "data-do": "newChat" }),
    ),
  );
}
