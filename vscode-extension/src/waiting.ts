/**
 * Asks and questions for a user who is not looking at the chat: a notification that takes no focus, and commands
 * to answer from the keyboard. The cards in the chat are the other way to answer; the first one counts.
 */
import * as vscode from "vscode";
import type { ChatView } from "./chatView";
import { hunkCount } from "../shared/content";
import { Notices } from "./notices";
import type { PermissionAsk } from "./protocol";
import type { Review } from "./review";
import type { ReviewDiff } from "./reviewDiff";
import type { Sessions } from "./sessions";
import { setting } from "./settings";

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
        void vscode.window.showInformationMessage(text, "Show").then((chosen) => {
          if (chosen) void chat.showSession(sessionId);
        }),
    });
    this.disposables.push(
      sessions.onWaiting(() => this.changed()),
      chat.onHidden(() => this.changed()),
      vscode.window.onDidChangeWindowState(() => this.changed()),
      sessions.onEvent(({ session, params }) => {
        if (params.event.type === "turnFinished") this.notices.finished(session.sessionId, session.data.title, params.event.result.isError);
      }),
    );
  }

  /** Picks one of the pending asks, when there are several. */
  async pick(): Promise<PermissionAsk | undefined> {
    const asks = this.sessions.pendingAsks();
    if (asks.length <= 1) return asks[0];
    const chosen = await vscode.window.showQuickPick(
      asks.map((ask) => ({ label: ask.title || ask.tool, description: ask.tool, detail: ask.reason, ask })),
      { title: "Assent: which question?" },
    );
    return chosen?.ask;
  }

  /** With a key, only what is before the user's eyes is allowed; anything else is shown first. */
  async allow(byKey = false): Promise<void> {
    const ask = await this.pick();
    if (ask && byKey && !this.chat.isShown(ask.sessionId)) return this.chat.showSession(ask.sessionId);
    if (ask) this.sessions.answerAsk(ask.askId, this.review.withDrafts(ask, { decision: "allow", scope: "once" }));
  }

  /** Saves a rule for what is asked, which can be changed first. */
  async allowAlways(): Promise<void> {
    const ask = await this.pick();
    const suggestion = ask?.suggestions.find((each) => each.scope !== "once");
    if (!ask) return;
    if (!suggestion) return void vscode.window.showInformationMessage("Assent: no rule can cover this. Allow it once, or deny it.");
    const rule = await vscode.window.showInputBox({
      title: `Assent: allow ${suggestion.scope === "session" ? "for this session" : "always"}`,
      prompt: `The rule to save. As proposed it covers ${suggestion.covers}`,
      value: suggestion.rule,
    });
    if (rule?.trim()) this.sessions.answerAsk(ask.askId, { decision: "allow", scope: suggestion.scope, rule: rule.trim() });
  }

  async deny(): Promise<void> {
    const ask = await this.pick();
    if (!ask) return;
    const message = await vscode.window.showInputBox({ title: `Deny: ${ask.title || ask.tool}`, prompt: "A reason for the model (optional)" });
    if (message === undefined) return;
    this.sessions.answerAsk(ask.askId, { decision: "deny", ...(message ? { message } : {}) });
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
