/**
 * Asks and questions for a user who is not looking at the chat: a notification that takes no focus, and commands
 * to answer from the keyboard. The cards in the chat are the other way to answer; the first one counts.
 */
import * as vscode from "vscode";
import type { ChatView } from "./chatView";
import type { PermissionAsk } from "./protocol";
import type { LiveSession, Sessions } from "./sessions";
import { setting } from "./settings";

export class Waiting implements vscode.Disposable {
  private readonly told = new Set<string>();
  private readonly disposables: vscode.Disposable[] = [];

  constructor(
    private readonly sessions: Sessions,
    private readonly chat: ChatView,
  ) {
    this.disposables.push(
      sessions.onWaiting(() => this.changed()),
      // A question that was in view when it came counts as told only while it stays there.
      chat.onHidden(() => this.tellAll()),
      vscode.window.onDidChangeWindowState(() => this.tellAll()),
      sessions.onEvent(({ session, params }) => {
        if (params.event.type === "turnFinished") this.finished(session, params.event.result.isError);
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

  async allow(): Promise<void> {
    const ask = await this.pick();
    if (ask) this.sessions.answerAsk(ask.askId, { decision: "allow", scope: "once" });
  }

  async deny(): Promise<void> {
    const ask = await this.pick();
    if (!ask) return;
    const message = await vscode.window.showInputBox({ title: `Deny: ${ask.title || ask.tool}`, prompt: "A reason for the model (optional)" });
    if (message === undefined) return;
    this.sessions.answerAsk(ask.askId, { decision: "deny", ...(message ? { message } : {}) });
  }

  async show(): Promise<void> {
    const sessionId = this.sessions.pendingAsks()[0]?.sessionId ?? this.sessions.pendingElicits()[0]?.sessionId;
    if (sessionId) await this.chat.showSession(sessionId);
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }

  private changed(): void {
    const count = this.sessions.pendingAsks().length + this.sessions.pendingElicits().length;
    void vscode.commands.executeCommand("setContext", "assent.waiting", count > 0);
    this.tellAll();
  }

  private tellAll(): void {
    const asks = this.sessions.pendingAsks();
    const elicits = this.sessions.pendingElicits();
    for (const ask of asks) this.tell(ask.askId, ask.sessionId, `Assent asks: ${ask.title || ask.tool}`);
    for (const elicit of elicits) this.tell(elicit.elicitId, elicit.sessionId, `Assent has a question: ${elicit.message}`);
  }

  private tell(id: string, sessionId: string, text: string): void {
    if (this.told.has(id) || !setting("notifications.waiting", true)) return;
    if (this.chat.isShown(sessionId) && vscode.window.state.focused) return;
    this.told.add(id);
    void vscode.window.showInformationMessage(short(text), "Show").then((chosen) => {
      if (chosen) void this.chat.showSession(sessionId);
    });
  }

  private finished(session: LiveSession, isError: boolean): void {
    if (!setting("notifications.finished", true) || vscode.window.state.focused) return;
    const title = session.data.title ? ` “${session.data.title}”` : "";
    const text = isError ? `Assent stopped with a problem${title}.` : `Assent has finished${title}.`;
    void vscode.window.showInformationMessage(short(text), "Show").then((chosen) => {
      if (chosen) void this.chat.showSession(session.sessionId);
    });
  }
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
}
