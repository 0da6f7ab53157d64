/** A permission question: what, why, the parsed command or the change, and every way to answer. Nothing is pre-selected. */
import type { PermissionAnswer, PermissionAsk, Proposal, Suggestion } from "../src/protocol";
import { isOpen } from "../shared/content";
import { h, icon, revealed, textButton } from "./dom";
import { renderMarkdown } from "./markdown";
import { diffView, editOf } from "./toolCard";

export interface AskHost {
  answer(askId: string, answer: PermissionAnswer): void;
  showDiff(proposalId: string): void;
  openFile(path: string, line?: number): void;
  /** The same text with paths inside the workspace made relative to it. */
  short(text: string): string;
}

const SCOPES: Record<Suggestion["scope"], string> = {
  once: "once",
  session: "for this session",
  project: "always in this project",
  user: "always, everywhere",
};
const TOO_LONG = 4000;
const SHOWN_HUNKS = 20;

/** `others` are the changes of further files that the same answer decides. */
export function askCard(ask: PermissionAsk, host: AskHost, others: readonly Proposal[] = []): HTMLElement {
  const plan = ask.tool === "ExitPlanMode";
  const label = plan ? "Plan ready for your approval" : ask.title || ask.tool;
  const reply = (answer: PermissionAnswer): void => {
    card.classList.add("answered");
    for (const button of card.querySelectorAll("button")) button.disabled = true;
    host.answer(ask.askId, answer);
  };
  const reason = h("input", {
    type: "text",
    class: "reason",
    placeholder: plan ? "What should change?" : "Why not, or what to do instead (optional)",
    "aria-label": "Reason for the model",
  });
  const deny = (): void => reply({ decision: "deny", ...(reason.value.trim() ? { message: reason.value.trim() } : {}) });
  reason.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && reason.value.trim()) deny();
  });
  const tooLong = shownSize(ask) > TOO_LONG;
  const always = tooLong ? [] : ask.suggestions.filter((each) => each.scope !== "once");
  const card = h(
    "section",
    { class: "card ask", role: "group", "aria-label": `Permission needed: ${label}`, "data-ask": ask.askId },
    h("header", {}, icon(plan ? "checklist" : "shield"), h("h3", {}, host.short(revealed(label)))),
    h(
      "div",
      { class: "shown", tabindex: 0, role: "group", "aria-label": "What it would do" },
      ask.reason ? h("p", { class: "why" }, ...withCode(revealed(ask.reason))) : null,
      body(ask, host, others),
    ),
    h(
      "div",
      { class: "answers" },
      h(
        "div",
        { class: "buttons" },
        textButton(plan ? "Approve plan" : "Allow once", "secondary", () => reply({ decision: "allow", scope: "once" }), { "data-answer": "once" }),
        ask.proposal ? textButton("Review hunks", "link", () => host.showDiff(ask.proposal?.proposalId ?? "")) : null,
        ...always.map((each) =>
          h(
            "button",
            {
              type: "button",
              class: "button secondary rule",
              "data-answer": each.scope,
              title: `${each.rule}\n${each.covers}`,
              onclick: () => reply({ decision: "allow", scope: each.scope, rule: each.rule }),
            },
            `Allow ${SCOPES[each.scope]}: `,
            h("code", {}, revealed(each.rule)),
          ),
        ),
      ),
      tooLong ? h("p", { class: "why" }, "Too long to show whole, so it can only be allowed this once.") : null,
      h("div", { class: "deny-row" }, reason, textButton(plan ? "Keep planning" : "Deny", "secondary", deny, { "data-answer": "deny" })),
    ),
  );
  return card;
}

function body(ask: PermissionAsk, host: AskHost, others: readonly Proposal[]): Node | null {
  if (ask.tool === "ExitPlanMode") return h("div", { class: "markdown plan" }, renderMarkdown(String(ask.input["plan"] ?? "")));
  if (ask.command) {
    const parts = ask.command.parts.map((part) =>
      h(
        "li",
        { class: part.decision },
        icon(part.decision === "allow" ? "check" : part.decision === "deny" ? "error" : "question"),
        " ",
        h("code", {}, revealed(part.argv.join(" "))),
      ),
    );
    return h(
      "div",
      {},
      h("pre", { class: "command", tabindex: 0, role: "group", "aria-label": "Command" }, revealed(ask.command.text)),
      ask.command.parts.length > 1 ? h("ul", { class: "parts" }, ...parts) : null,
    );
  }
  if (ask.proposal) {
    const all = [ask.proposal, ...others];
    const decided = all.flatMap((proposal) => proposal.hunks).filter((hunk) => !isOpen(hunk)).length;
    const views = all.flatMap((proposal) => {
      const path = decodeURIComponent(proposal.uri.replace(/^file:\/\//, ""));
      return proposal.hunks
        .filter(isOpen)
        .map((hunk) => diffView([{ before: hunk.oldText, after: hunk.newText }], path, { short: host.short, openFile: () => host.openFile(path, hunk.range.start.line + 1) }));
    });
    const unseen = views.length - SHOWN_HUNKS;
    const done = decided > 0 ? h("p", { class: "why" }, decided === 1 ? "One hunk is decided already." : `${decided} hunks are decided already.`) : null;
    return h("div", { class: "hunks" }, done, ...views.slice(0, SHOWN_HUNKS), unseen > 0 ? h("p", { class: "why" }, `${unseen} more hunks are shown in the editor.`) : null);
  }
  const edit = editOf(ask);
  if (edit) return diffView(edit.fragments, edit.path, host);
  const rows = Object.entries(ask.input).map(([name, value]) =>
    h(
      "div",
      { class: "input-row" },
      h("span", { class: "input-name" }, name),
      h("pre", {}, revealed(typeof value === "string" ? value : JSON.stringify(value, null, 2)).slice(0, TOO_LONG)),
    ),
  );
  return rows.length ? h("div", { class: "input" }, ...rows) : null;
}

function shownSize(ask: PermissionAsk): number {
  return ask.command ? ask.command.text.length : ask.proposal ? 0 : JSON.stringify(ask.input).length;
}

/** Backticked words as code; everything stays text. */
function withCode(text: string): Node[] {
  return text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : document.createTextNode(part)));
}
