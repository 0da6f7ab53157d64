/**
 * What the palette, the menus and the keys may offer now: the keys of our own that `when` clauses in package.json read.
 *
 * Only what the workbench cannot know itself. A key of ours arrives a moment late, so nothing here depends on which file
 * is active: clauses compare the workbench's own `resourcePath` and `resourceScheme`, which are there with the file.
 */
import * as vscode from "vscode";
import type { ChatView } from "./chatView";
import type { Review } from "./review";
import { REVIEW } from "./reviewText";
import type { Sessions } from "./sessions";
import type { Waiting } from "./waiting";

export class ContextKeys implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[];
  private readonly told = new Map<string, string>();

  constructor(
    private readonly sessions: Sessions,
    private readonly chat: ChatView,
    private readonly review: Review,
    private readonly waiting: Waiting,
  ) {
    this.disposables = [
      vscode.window.onDidChangeActiveTextEditor(() => this.tell()),
      sessions.onEvent(({ params }) => {
        if (params.event.type === "turnStarted" || params.event.type === "turnFinished") this.tell();
      }),
      sessions.onAttached(() => this.tell()),
      sessions.onWaiting(() => this.tell()),
      chat.onShown(() => this.tell()),
      review.onDidChange(() => this.tell()),
    ];
    this.tell();
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }

  private tell(): void {
    const paths = this.review.list().flatMap((proposal) => pathsOf(vscode.Uri.parse(proposal.uri)));
    this.set(
      "assent.running",
      this.sessions.all().some((session) => session.data.running),
    );
    this.set("assent.hasChat", this.chat.currentSession() !== undefined);
    this.set("assent.waiting", this.waiting.count() > 0);
    this.set("assent.hasHunks", paths.length > 0);
    this.set("assent.canUndo", this.review.canUndo);
    this.set("assent.hunkPaths", [...new Set(paths)]);
    // In the editor of several diffs the workbench names no resource.
    this.set("assent.inAllChanges", vscode.window.activeTextEditor?.document.uri.scheme === REVIEW);
  }

  private set(key: string, value: boolean | string[]): void {
    const text = JSON.stringify(value);
    if (this.told.get(key) === text) return;
    this.told.set(key, text);
    void vscode.commands.executeCommand("setContext", key, value);
  }
}

/** The workbench's `resourcePath` is the machine's own path for files, the URI's path for files of a remote machine. */
function pathsOf(uri: vscode.Uri): string[] {
  return [uri.fsPath, uri.path];
}
