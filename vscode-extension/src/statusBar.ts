/**
 * One item in the status bar: what Assent is doing, whether it waits for the user, and what it has cost. For a minute after a
 * review decision a second one takes it back.
 */
import * as vscode from "vscode";
import type { ChatView } from "./chatView";
import type { Review } from "./review";
import type { ServerProcess } from "./serverProcess";
import type { Sessions } from "./sessions";
import { statusText } from "./statusText";

export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly disposables: vscode.Disposable[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly undo: vscode.StatusBarItem;
  private undoable: NodeJS.Timeout | undefined;

  constructor(
    private readonly server: ServerProcess,
    private readonly sessions: Sessions,
    private readonly review: Review,
    private readonly chat: ChatView,
  ) {
    this.item = vscode.window.createStatusBarItem("assent.status", vscode.StatusBarAlignment.Right, 90);
    this.item.name = "Assent";
    this.undo = vscode.window.createStatusBarItem("assent.undo", vscode.StatusBarAlignment.Right, 91);
    this.undo.name = "Assent: undo";
    this.undo.text = "$(discard) Undo decision";
    this.undo.tooltip = "Take the last review decision back";
    this.undo.command = "assent.review.undo";
    this.disposables.push(
      this.item,
      this.undo,
      review.onDecided(() => {
        this.undo.show();
        clearTimeout(this.undoable);
        this.undoable = setTimeout(() => this.undo.hide(), UNDO_MS);
      }),
      server.onDidChange(() => this.soon()),
      sessions.onEvent(({ params }) => {
        if (INTERESTING.has(params.event.type)) this.soon();
      }),
      sessions.onWaiting(() => this.soon()),
      sessions.onAttached(() => this.soon()),
      review.onDidChange(() => this.soon()),
      chat.onShown(() => this.soon()),
    );
    this.draw();
    this.item.show();
  }

  dispose(): void {
    clearTimeout(this.timer);
    clearTimeout(this.undoable);
    for (const each of this.disposables) each.dispose();
  }

  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.draw();
    }, 50);
  }

  private draw(): void {
    if (!this.review.canUndo) this.undo.hide();
    const sessions = this.sessions.all();
    const shown = statusText({
      server: this.server.panel.kind,
      title: this.server.panel.title,
      waiting: this.sessions.pendingAsks().length + this.sessions.pendingElicits().length + this.sessions.pendingReviews().length,
      running: sessions.filter((session) => session.data.running).length,
      compacting: sessions.some((session) => session.data.state === "compacting"),
      hunks: this.review.pendingCount(),
      costUsd: this.chat.currentSession()?.data.usage?.costUsd ?? 0,
      totalUsd: sessions.reduce((sum, session) => sum + (session.data.usage?.costUsd ?? 0), 0),
      offline: this.server.status?.offline ?? false,
      model: this.server.status?.model ?? "",
    });
    this.item.text = shown.text;
    this.item.tooltip = shown.tooltip;
    this.item.command = shown.command;
    this.item.accessibilityInformation = { label: shown.spoken };
    this.item.backgroundColor = shown.alarm ? new vscode.ThemeColor(`statusBarItem.${shown.alarm}Background`) : undefined;
  }
}

const UNDO_MS = 60_000;
const INTERESTING = new Set([
  "status",
  "turnStarted",
  "turnFinished",
  "usage",
  "compacting",
  "compacted",
  "permissionResolved",
  "elicitationResolved",
  "reviewPending",
  "editResolved",
]);
