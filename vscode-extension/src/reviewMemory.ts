/** Which conversations have edits that nobody has decided on: after a reload they are opened again, so that none is lost from sight. */
import type * as vscode from "vscode";
import type { Review } from "./review";
import type { ServerProcess } from "./serverProcess";
import { explain, type Sessions } from "./sessions";

const KEY = "assent.sessionsUnderReview";

export class ReviewMemory implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private restored = false;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly sessions: Sessions,
    private readonly review: Review,
    private readonly server: ServerProcess,
  ) {
    this.disposables.push(
      server.onDidStart(() => void this.restore()),
      review.onDidChange(() => this.note()),
    );
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }

  private async restore(): Promise<void> {
    if (this.restored) return; // after a restart of the server the conversations attach again by themselves
    for (const sessionId of this.memory.get<string[]>(KEY, [])) {
      await this.sessions.open(sessionId).catch((error: unknown) => this.server.log.warn(`the edits of ${sessionId} could not be shown: ${explain(error)}`));
    }
    this.restored = true;
    this.note();
  }

  private note(): void {
    if (!this.restored) return;
    const ids = [...new Set(this.review.list().flatMap((proposal) => proposal.sessionId ?? []))];
    if (JSON.stringify(ids) !== JSON.stringify(this.memory.get<string[]>(KEY, []))) void this.memory.update(KEY, ids);
  }
}
