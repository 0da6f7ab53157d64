/** Running commands and agents of the conversation one looks at: to the background, and back to where a turn waits for them. */
import * as vscode from "vscode";
import { backgroundRuns, movableCalls, type Choice } from "../shared/runs";
import type { ChatView } from "./chatView";
import { rowWords } from "./plainWords";
import { METHODS, type Agents, type Jobs } from "./protocol";
import type { Sessions } from "./sessions";

export class RunningCalls {
  constructor(
    private readonly sessions: Sessions,
    private readonly chat: ChatView,
  ) {}

  async toBackground(): Promise<void> {
    const session = this.chat.currentSession();
    const chosen = session && (await choose(movableCalls(session.data.items), "Which one goes on in the background?", "no command or agent runs in this conversation."));
    if (session && chosen) await this.sessions.request(METHODS.jobBackground, { sessionId: session.sessionId, toolUseId: chosen.id });
  }

  async toForeground(): Promise<void> {
    const session = this.chat.currentSession();
    if (!session) return;
    const { sessionId } = session;
    const { jobs } = await this.sessions.request<Jobs>(METHODS.jobList, { sessionId });
    const { agents } = await this.sessions.request<Agents>(METHODS.agentList, { sessionId });
    const chosen = await choose(backgroundRuns(jobs, agents), "Which one shall the turn wait for?", "nothing runs in the background of this conversation.");
    if (chosen) await this.sessions.request(METHODS.jobForeground, { sessionId, jobId: chosen.id });
  }
}

async function choose(choices: readonly Choice[], title: string, none: string): Promise<Choice | undefined> {
  if (choices.length === 0) return void vscode.window.showInformationMessage(`Assent: ${none}`);
  if (choices.length === 1) return choices[0];
  const rows = choices.map((choice) => ({ label: rowWords(choice.label), description: rowWords(choice.description ?? ""), choice }));
  return (await vscode.window.showQuickPick(rows, { title: `Assent: ${title}` }))?.choice;
}
