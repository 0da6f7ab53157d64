/** One line on what is going on, a turn that was cut off, and a conversation that another window has. */
import { hunkCount, humanTitle, titleOf } from "../shared/content";
import { h, icon, textButton } from "./dom";
import type { ConversationData } from "../shared/items";
import { movableCalls } from "../shared/runs";

export interface ActivityHost {
  resume(): void;
  retry(): void;
  /** Goes to the edit that waits. */
  showReview(proposalId: string): void;
  /** The call ends now; what it started goes on, and its result comes later. */
  toBackground(toolUseId: string): void;
  short(text: string): string;
}

const LONGEST = 80;

export class Activity {
  readonly element = h("div", { class: "activity small", role: "status" });
  private drawn = "";
  private since = 0;
  private readonly elapsed = h("span", { class: "elapsed", "aria-hidden": "true" });

  constructor(private readonly host: ActivityHost) {
    setInterval(() => this.tick(), 1000);
  }

  draw(data: ConversationData, failed: boolean): void {
    const cut = data.interrupted && !data.running && data.connected && !data.readOnly;
    const text = failed || cut ? "" : this.host.short(activityText(data));
    if (!data.running || data.state === "waiting") this.since = 0;
    else this.since ||= Date.now();
    const movable = data.running && data.state !== "waiting" && !data.readOnly ? movableCalls(data.items)[0] : undefined;
    const now = `${cut} ${text} ${data.reviews[0]?.proposalId ?? ""} ${movable?.id ?? ""}`;
    if (now === this.drawn) return;
    this.drawn = now;
    if (cut) this.element.replaceChildren(this.cutOff());
    else if (text && data.reviews[0]) this.element.replaceChildren(icon("bell-dot"), ` ${text} `, this.wayTo(data.reviews[0].proposalId));
    else
      this.element.replaceChildren(
        ...(text ? [icon(data.state === "waiting" ? "bell-dot" : "loading codicon-modifier-spin"), ` ${text}`, this.elapsed] : []),
        ...(text && movable ? [" ", this.aside(movable.id)] : []),
      );
    this.tick();
  }

  /** How long the turn has run since it last waited for someone; the first seconds are not worth a word. */
  private tick(): void {
    const seconds = this.since ? Math.floor((Date.now() - this.since) / 1000) : 0;
    const words = seconds < 3 ? "" : seconds < 60 ? ` · ${seconds} s` : ` · ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
    if (this.elapsed.textContent !== words) this.elapsed.textContent = words;
  }

  private wayTo(proposalId: string): HTMLElement {
    return textButton("Review", "link", () => this.host.showReview(proposalId), { "data-do": "review" });
  }

  private aside(toolUseId: string): HTMLElement {
    return textButton("Move to background", "link", () => this.host.toBackground(toolUseId), { "data-do": "background" });
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
  if (!data.running) return "";
  const call = data.items.findLast((item) => item.kind === "tool" && item.state === "running");
  const title = call?.kind === "tool" ? humanTitle(call.tool, call.title || titleOf(call.tool, call.input)).split("\n", 1)[0] : "";
  return title ? `${title.length > LONGEST ? `${title.slice(0, LONGEST - 1)}…` : title}` : "Working…";
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
      h("p", {}, state.reason ?? "Another window has this conversation open, so here it can only be read. Close it there to take it over, or go on in a copy."),
      state.refused ? h("p", { role: "alert", class: "refused" }, "It is still open in the other window. What it has said since is shown now.") : null,
    ),
    h(
      "div",
      { class: "buttons" },
      ...(state.reason
        ? []
        : [
            textButton("Take over", "secondary", () => host.takeOver(), { "data-do": "takeOver" }),
            textButton("Continue in a copy", "secondary", () => host.copy(), { "data-do": "copy" }),
          ]),
      textButton("New chat", "secondary", () => host.newChat(), { "data-do": "newChat" }),
    ),
  );
}
