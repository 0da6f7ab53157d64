/** What the palette, the menus and the keys may offer now: their `when` clauses in package.json read these. */
import * as vscode from "vscode";
import type { ChatView } from "./chatView";
import type { Sessions } from "./sessions";

export class ContextKeys implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[];
  private readonly told = new Map<string, boolean>();

  constructor(
    private readonly sessions: Sessions,
    private readonly chat: ChatView,
  ) {
    this.disposables = [
      vscode.window.onDidChangeActiveTextEditor(() => this.tell()),
      sessions.onEvent(({ params }) => {
        if (params.event.type === "turnStarted" || params.event.type === "turnFinished") this.tell();
      }),
      sessions.onAttached(() => this.tell()),
      chat.onShown(() => this.tell()),
    ];
    this.tell();
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }

  private tell(): void {
    const scheme = vscode.window.activeTextEditor?.document.uri.scheme;
    this.set("assent.inFile", scheme === "file" || scheme === "untitled");
    this.set("assent.running", this.sessions.all().some((session) => session.data.running));
    this.set("assent.hasChat", this.chat.currentSession() !== undefined);
  }

  private set(key: string, value: boolean): void {
    if (this.told.get(key) === value) return;
    this.told.set(key, value);
    void vscode.commands.executeCommand("setContext", key, value);
  }
}
