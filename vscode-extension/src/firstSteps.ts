/**
 * The walkthrough's ticks: what the user has done at least once, on this machine.
 *
 * A step is ticked when a context key becomes true. The workbench makes its walkthroughs when one is first opened, and a
 * key that is true by then never ticks anything: so each is true for a moment only, and again once ours is open.
 */
import * as vscode from "vscode";
import type { Review } from "./review";
import type { ServerProcess } from "./serverProcess";
import type { Sessions } from "./sessions";

const KEY = "assent.firstSteps";

type Step = "key" | "asked" | "reviewed" | "acted";

export class FirstSteps implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[];
  private readonly done: Set<Step>;

  constructor(
    private readonly memory: vscode.Memento,
    server: ServerProcess,
    sessions: Sessions,
    review: Review,
  ) {
    this.done = new Set(memory.get<Step[]>(KEY, []));
    this.disposables = [
      server.onDidChange(() => {
        if (!this.done.has("key") && server.status && !server.status.offline && server.status.credentials !== "none") this.tick("key");
      }),
      sessions.onEvent(({ params }) => {
        if (params.event.type === "turnStarted") this.tick("asked");
      }),
      review.onDecided(() => this.tick("reviewed")),
    ];
  }

  tick(step: Step): void {
    void tell(step);
    if (this.done.has(step)) return;
    this.done.add(step);
    void this.memory.update(KEY, [...this.done]);
  }

  /** Opens the walkthrough with what was done so far ticked. */
  async show(walkthrough: string): Promise<void> {
    await vscode.commands.executeCommand("workbench.action.openWalkthrough", walkthrough, false);
    for (const step of this.done) await tell(step);
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }
}

async function tell(step: Step): Promise<void> {
  for (const value of [true, false]) await vscode.commands.executeCommand("setContext", `assent.did.${step}`, value);
}
