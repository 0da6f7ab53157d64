/** Edits that are in their files and not yet kept: one line over the composer, all of them or file by file. */
import { isOpen } from "../shared/content";
import type { ConversationData } from "../shared/items";
import { plural } from "../shared/turnSummary";
import { h, icon, iconButton, textButton } from "./dom";

export interface ChangesHost {
  decide(proposalIds: string[], decision: "accept" | "reject"): void;
  show(proposalId: string): void;
  short(text: string): string;
}

export class Changes {
  readonly element = h("div", { class: "changes" });
  private drawn = "";
  private open = false;

  constructor(private readonly host: ChangesHost) {}

  draw(data: ConversationData): void {
    const landed = data.proposals.filter((proposal) => proposal.hunks.some((hunk) => isOpen(hunk) && (hunk.state === "landed" || hunk.state === "edited")));
    const files = new Map<string, string[]>();
    for (const { uri, proposalId } of landed) files.set(uri, [...(files.get(uri) ?? []), proposalId]);
    const now = JSON.stringify([...files]);
    if (now === this.drawn) return;
    this.drawn = now;
    if (files.size === 0) return this.element.replaceChildren();
    const all = landed.map((proposal) => proposal.proposalId);
    const details = h(
      "details",
      { open: this.open },
      h("summary", {}, icon("diff-multiple"), h("span", {}, `${plural(files.size, "file")} changed`)),
      h("ul", { "aria-label": "Changed files" }, ...[...files].map(([uri, ids]) => this.row(uri, ids))),
    );
    details.addEventListener("toggle", () => (this.open = details.open));
    const decide = (decision: "accept" | "reject"): void => this.host.decide(all, decision);
    const buttons = h(
      "div",
      { class: "buttons" },
      textButton("Keep all", "link", () => decide("accept"), { "data-do": "keepAll" }),
      textButton("Undo all", "link", () => decide("reject"), { "data-do": "undoAll" }),
    );
    this.element.replaceChildren(details, buttons);
  }

  private row(uri: string, ids: string[]): HTMLElement {
    const name = this.host.short(decodeURIComponent(uri.replace(/^file:\/\//, "")));
    return h(
      "li",
      {},
      h("button", { type: "button", class: "path-link", onclick: () => this.host.show(ids[0] ?? "") }, name),
      iconButton("check", `Keep ${name}`, () => this.host.decide(ids, "accept")),
      iconButton("discard", `Undo ${name}`, () => this.host.decide(ids, "reject")),
    );
  }
}
