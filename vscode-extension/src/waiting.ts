/**
 * Asks and questions for a user who is not looking at the chat: a notification that takes no focus, and commands
 * to answer from the keyboard. The cards in the chat are the other way to answer; the first one counts.
 */
import * as vscode from "vscode";
import type { ChatView } from "./chatView";
import { hunkCount, ruleAnswer } from "../shared/content";
import { Notices } from "./notices";
import { rowWords } from "./plainWords";
import type { PermissionAsk } from "./protocol";
import type { Review } from "./review";
import type { ReviewDiff } from "./reviewDiff";
import type { Sessions } from "./sessions";
import { setting } from "./settings";
import { tell } from "./words";

export class Waiting implements vscode.Disposable {
  private readonly notices: Notices;
  private readonly disposables: vscode.Disposable[] = [];

  constructor(
    private readonly sessions: Sessions,
    private readonly chat: ChatView,
    private readonly review: Review,
    private readonly diff: ReviewDiff,
  ) {
    this.notices = new Notices({
      focused: () => vscode.window.state.focused,
      shown: (sessionId) => chat.isShown(sessionId),
      wanted: (what) => setting(`notifications.${what}`, true),
      say: (text, sessionId) =>
        void tell.information(text, "Show").then((chosen) => {
          if (chosen) void chat.showSession(sessionId);
        }),
    });
    this.disposables.push(
      sessions.onWaiting(() => this.changed()),
      chat.onHidden(() => this.changed()),
      sessions.onMissed((missed) => this.notices.missed(missed)),
      vscode.window.onDidChangeWindowState(() => this.changed()),
      sessions.onEvent(({ session, params }) => {
        if (params.event.type === "turnFinished") this.notices.finished(session.sessionId, session.data.title, params.event.result.isError);
      }),
    );
  }

  /** With a key, only what is before the user's eyes is allowed; anything else is shown first. */
  async allow(byKey = false): Promise<void> {
    const asks = await this.pickSome("allow once");
    const unseen = byKey ? asks.filter((ask) => !this.chat.isShown(ask.sessionId)) : [];
    for (const ask of asks) {
      if (unseen.includes(ask)) continue;
      this.sessions.answerAsk(ask.askId, this.review.withDrafts(ask, { decision: "allow", scope: "once" }));
    }
    if (unseen[0]) await this.chat.showSession(unseen[0].sessionId);
  }

  /** Saves a rule for what is asked, which can be changed first. */
  async allowAlways(): Promise<void> {
    const ask = await this.pickOne();
    const suggestion = ask?.suggestions.find((each) => each.scope !== "once");
    if (!ask) return;
    if (!suggestion) return void vscode.window.showInformationMessage("Assent: no rule can cover this. Allow it once, or deny it.");
    const proposed = suggestion.rules ?? [suggestion.rule];
    const rules: string[] = [];
    for (const value of proposed) {
      const which = proposed.length > 1 ? ` ${rules.length + 1} of ${proposed.length}` : "";
      const rule = await vscode.window.showInputBox({
        title: `Assent: allow ${suggestion.scope === "session" ? "for this session" : "always"}`,
        prompt: `The rule${which} to save. As proposed it covers ${suggestion.covers}`,
        value,
      });
      if (!rule?.trim()) return;
      rules.push(rule.trim());
    }
    this.sessions.answerAsk(ask.askId, { decision: "allow", scope: suggestion.scope, ...ruleAnswer(rules) });
  }

  async deny(): Promise<void> {
    const asks = await this.pickSome("deny");
    if (!asks[0]) return;
    const title = asks.length === 1 ? `Deny: ${asks[0].title || asks[0].tool}` : `Deny these ${asks.length}`;
    const message = await vscode.window.showInputBox({ title, prompt: "A reason for the model (optional)" });
    if (message === undefined) return;
    for (const { askId } of asks) this.sessions.answerAsk(askId, { decision: "deny", ...(message ? { message } : {}) });
  }

  /** Those of the pending asks that shall have the same answer; all of them are ticked but plans, which are read first. */
  private async pickSome(answer: string): Promise<PermissionAsk[]> {
    const asks = this.sessions.pendingAsks();
    if (asks.length <= 1) return asks;
    const rows = asks.map((ask) => ({ ...rowOf(ask), picked: ask.tool !== "ExitPlanMode" }));
    const title = `Assent: ${asks.length} questions wait. Which ones do you ${answer}?`;
    const chosen = await vscode.window.showQuickPick(rows, { title, placeHolder: "Space ticks, Enter answers all that are ticked", canPickMany: true });
    return (chosen ?? []).map((each) => each.ask);
  }

  private async pickOne(): Promise<PermissionAsk | undefined> {
    const asks = this.sessions.pendingAsks();
    return asks.length <= 1 ? asks[0] : (await vscode.window.showQuickPick(asks.map(rowOf), { title: "Assent: which question?" }))?.ask;
  }

  /** Everything that waits for a person: asks, questions, edits under review. */
  count(): number {
    return this.sessions.pendingAsks().length + this.sessions.pendingElicits().length + this.sessions.pendingReviews().length;
  }

  /** Goes to what waits: a question in its chat, an edit in its file. */
  async show(): Promise<void> {
    const sessionId = this.sessions.pendingAsks()[0]?.sessionId ?? this.sessions.pendingElicits()[0]?.sessionId;
    const proposalId = this.sessions.pendingReviews()[0]?.proposalId;
    if (sessionId) await this.chat.showSession(sessionId);
    else if (proposalId) await this.diff.showProposal(proposalId);
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }

  private changed(): void {
    const asks = this.sessions.pendingAsks().map((ask) => ({ id: ask.askId, sessionId: ask.sessionId, text: `Assent asks: ${ask.title || ask.tool}` }));
    const elicits = this.sessions.pendingElicits().map((elicit) => ({ id: elicit.elicitId, sessionId: elicit.sessionId, text: `Assent has a question: ${elicit.message}` }));
    const reviews = this.sessions
      .pendingReviews()
      .map((each) => ({ id: each.proposalId, sessionId: each.sessionId, text: `Assent waits for your review of ${hunkCount(each.hunks.length)}.` }));
    this.notices.waiting([...asks, ...elicits, ...reviews]);
  }
}

function rowOf(ask: PermissionAsk): vscode.QuickPickItem & { ask: PermissionAsk } {
  return { label: rowWords(ask.title || ask.tool), description: rowWords(ask.tool), detail: rowWords(ask.reason), ask };
}
