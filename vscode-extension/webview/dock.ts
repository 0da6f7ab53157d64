/** Pending questions stay in one place and keep what was typed into them until they are answered. */
import type { PermissionAsk, Proposal } from "../src/protocol";
import { askCard, type AskHost } from "./askCard";
import { h, icon, revealed, textButton } from "./dom";
import { elicitForm, type ElicitHost } from "./elicitForm";
import { keyLabel } from "./keys";
import type { ConversationData } from "../shared/items";

interface Card {
  element: HTMLElement;
  source: string;
}

export class Dock {
  readonly element = h("div", { class: "dock", role: "region", "aria-label": "Waiting for you" });
  private readonly cards = new Map<string, Card>();
  private readonly all = h("section", { class: "card all-asks", role: "group", "aria-label": "All questions that wait" });
  private listed = "";

  constructor(
    private readonly asks: AskHost,
    private readonly questions: ElicitHost,
  ) {}

  /** Several asks at once: what each is about, and one answer for all of them. */
  private together(asks: readonly PermissionAsk[]): void {
    const plain = asks.filter((ask) => ask.tool !== "ExitPlanMode");
    const now = plain.map((ask) => ask.askId).join();
    if (now === this.listed) return;
    this.listed = now;
    if (plain.length < 2) return void this.all.remove();
    this.element.prepend(this.all);
    const answer = (decision: "allow" | "deny"): void => plain.forEach((ask) => this.asks.answer(ask.askId, decision === "allow" ? { decision, scope: "once" } : { decision }));
    this.all.replaceChildren(
      h("header", {}, icon("layers"), h("h3", {}, `${plain.length} questions wait for you`)),
      h("ol", {}, ...plain.map((ask) => h("li", {}, this.asks.short(revealed(ask.title || ask.tool))))),
      h(
        "div",
        { class: "buttons" },
        textButton("Allow all once", "secondary", () => answer("allow"), { "data-do": "allowAll" }),
        textButton("Deny all", "secondary", () => answer("deny"), { "data-do": "denyAll" }),
      ),
      h("p", { class: "why" }, h("kbd", {}, keyLabel("Ctrl+Alt+Enter")), " allows and ", h("kbd", {}, keyLabel("Ctrl+Alt+Backspace")), " denies those that you tick in a list."),
    );
  }

  draw(data: ConversationData): void {
    const wanted = new Map<string, { source: string; make(): HTMLElement }>();
    for (const ask of data.asks) {
      const others = data.proposals.filter((each) => each.toolUseId === ask.toolUseId && each.proposalId !== ask.proposal?.proposalId);
      wanted.set(ask.askId, { source: fingerprint(ask, others), make: () => askCard(ask, this.asks, others) });
    }
    for (const elicit of data.elicits) wanted.set(elicit.elicitId, { source: elicit.requestId, make: () => elicitForm(elicit, this.questions) });
    for (const [id, card] of this.cards) {
      if (wanted.has(id)) continue;
      card.element.remove();
      this.cards.delete(id);
    }
    for (const [id, each] of wanted) {
      const card = this.cards.get(id);
      if (card?.source === each.source) continue;
      const element = each.make();
      if (card) replace(card.element, element);
      else this.element.append(element);
      this.cards.set(id, { element, source: each.source });
    }
    this.together(data.asks);
    this.element.hidden = this.cards.size === 0;
  }
}

/** The same question with less left to decide: what was typed stays, and so does the focus. */
function replace(old: HTMLElement, fresh: HTMLElement): void {
  const [typed, reason] = [old, fresh].map((card) => card.querySelector<HTMLInputElement>("input.reason"));
  if (typed && reason) reason.value = typed.value;
  const focused = typed === document.activeElement;
  old.replaceWith(fresh);
  if (focused) reason?.focus();
}

function fingerprint(ask: PermissionAsk, others: Proposal[]): string {
  const changes = ask.proposal ? [ask.proposal, ...others] : [];
  return `${ask.requestId}:${changes.flatMap((change) => change.hunks.map((hunk) => hunk.hunkId + hunk.state)).join()}`;
}
