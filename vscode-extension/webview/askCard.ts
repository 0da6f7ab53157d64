/** A permission question: what, why, the parsed command or the change, and every way to answer. Nothing has the focus by itself. */
import type { PermissionAnswer, PermissionAsk, Proposal, Suggestion } from "../src/protocol";
import { isOpen, ruleAnswer } from "../shared/content";
import { h, icon, iconButton, revealed, textButton } from "./dom";
import { keyLabel } from "./keys";
import { renderMarkdown } from "./markdown";
import { fragmentsOf } from "../shared/turnSummary";
import { diffView } from "./toolCard";

export interface AskHost {
  /** `mode` is what the conversation goes on in once it was answered. */
  answer(askId: string, answer: PermissionAnswer): void;
  openText(text: string, language: string): void;
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
      description(ask),
      ask.reason ? h("p", { class: "why" }, ...withCode(revealed(ask.reason))) : null,
      body(ask, host, others),
    ),
    h(
      "div",
      { class: "answers" },
      h(
        "div",
        { class: "buttons" },
        keyed(plan ? "Approve plan" : "Allow once", "primary", "Ctrl+Alt+Enter", () => reply({ decision: "allow", scope: "once" }), "once"),
        plan ? textButton("Approve and accept edits", "secondary", () => reply({ decision: "allow", scope: "once", mode: "acceptEdits" }), { "data-answer": "acceptEdits" }) : null,
        plan ? textButton("Open in an editor", "link", () => host.openText(String(ask.input["plan"] ?? ""), "markdown"), { "data-do": "openPlan" }) : null,
        ask.proposal ? textButton("Review hunks", "link", () => host.showDiff(ask.proposal?.proposalId ?? "")) : null,
      ),
      ...ruleRows(always, (scope, rules) => reply({ decision: "allow", scope, ...ruleAnswer(rules) })),
      tooLong ? h("p", { class: "why" }, "Too long to show whole, so it can only be allowed this once.") : null,
      h("div", { class: "deny-row" }, reason, keyed(plan ? "Keep planning" : "Deny", "secondary", "Ctrl+Alt+Backspace", deny, "deny")),
    ),
  );
  return card;
}

/** What the model says the command is for; its own words, so they are shown as such. */
function description(ask: PermissionAsk): HTMLElement | null {
  const words = ask.input["description"];
  return ask.command && typeof words === "string" && words.trim() ? h("p", { class: "description" }, revealed(words.trim())) : null;
}

/** A button that a key of the editor presses too. */
function keyed(label: string, kind: "primary" | "secondary", key: string, act: () => void, answer: string): HTMLButtonElement {
  const keys = keyLabel(key);
  return h(
    "button",
    { type: "button", class: `button ${kind}`, "aria-label": label, title: `${label} (${keys})`, "data-answer": answer, onclick: act },
    label,
    h("kbd", { "aria-hidden": "true" }, keys),
  );
}

type Allow = (scope: Suggestion["scope"], rules: string[]) => void;

/** Where one answer covers every command of a line, the rules for only one of them are a fold away. */
function ruleRows(suggestions: readonly Suggestion[], allow: Allow): HTMLElement[] {
  const rows = (some: readonly Suggestion[]): HTMLElement[] => some.map((each) => ruleRow(each, (rules) => allow(each.scope, rules)));
  const together = suggestions.filter((each) => each.rules);
  if (together.length === 0) return rows(suggestions);
  const single = rows(suggestions.filter((each) => !each.rules));
  return [...rows(together), h("details", { class: "single-rules" }, h("summary", { class: "small" }, "Only one of them"), ...single)];
}

/** A rule, or several, that would cover this from now on. They can be changed before they are saved, each on a line. */
function ruleRow(suggestion: Suggestion, allow: (rules: string[]) => void): HTMLElement {
  const proposed = suggestion.rules ?? [suggestion.rule];
  const words = `Allow ${SCOPES[suggestion.scope]}`;
  const button = h(
    "button",
    {
      type: "button",
      class: "button secondary rule",
      "data-answer": suggestion.scope,
      title: `${suggestion.display ?? revealed(suggestion.rule)}\n${suggestion.covers}\n${keyLabel("Ctrl+Shift+Alt+Enter")}: choose and change the rule`,
      onclick: () => allow(proposed),
    },
    `${words}: `,
    h("code", {}, suggestion.display ?? revealed(suggestion.rule)),
  );
  const row = h(
    "div",
    { class: "rule-row" },
    button,
    iconButton("edit", `Edit the rule before it is saved ${SCOPES[suggestion.scope]}`, () => edit()),
  );
  const edit = (): void => {
    const what = proposed.length > 1 ? "The rules to save, one on each line," : "The rule to save";
    const rule = h("textarea", { class: "rule-input", rows: proposed.length, "aria-label": `${what} ${SCOPES[suggestion.scope]}`, spellcheck: "false" });
    rule.value = proposed.join("\n");
    const save = (): void => {
      const rules = rule.value
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean);
      if (rules.length > 0) allow(rules);
    };
    rule.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        save();
      }
      if (event.key === "Escape") row.replaceChildren(button, ...kept);
    });
    const kept = [...row.children].slice(1);
    row.replaceChildren(rule, textButton(words, "secondary", save, { "data-answer": `${suggestion.scope}-edited` }));
    rule.focus();
    rule.select();
  };
  return row;
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
        h("code", {}, part.display ?? revealed(part.argv.join(" "))),
      ),
    );
    return h(
      "div",
      {},
      h("pre", { class: "command", tabindex: 0, role: "group", "aria-label": "Command" }, ask.command.display ?? revealed(ask.command.text)),
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
  const fragments = fragmentsOf(ask);
  if (fragments[0]) return diffView(fragments, fragments[0].path, host);
  const rows = Object.entries(ask.input).map(([name, value]) =>
    h(
      "div",
      { class: "input-row" },
      h("span", { class: "input-name" }, name.replaceAll("_", " ")),
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
