/** Which commands and agents of a conversation can be moved to the background, and which can be waited for again. */
import type { AgentRun, JobInfo } from "../src/protocol";
import { humanTitle, titleOf } from "./content";
import type { Item, ToolItem } from "./items";

export interface Choice {
  label: string;
  description?: string;
  /** Of the call, or of the job. */
  id: string;
}

const MOVABLE = new Set(["Bash", "Agent", "Task"]);

/** The newest first: that is the one that is waited for. */
export function movableCalls(items: readonly Item[]): Choice[] {
  return items
    .filter((item): item is ToolItem => item.kind === "tool" && item.state === "running" && MOVABLE.has(item.tool))
    .map((item) => ({ label: humanTitle(item.tool, item.title || titleOf(item.tool, item.input)), description: item.tool, id: item.key }))
    .reverse();
}

export function backgroundRuns(jobs: readonly JobInfo[], agents: readonly AgentRun[]): Choice[] {
  const commands = jobs
    .filter((job) => job.state === "running" && !job.foreground)
    .map((job) => ({ label: job.command.split("\n", 1)[0] ?? "", description: "command", id: job.jobId }));
  const runs = agents
    .filter((run) => run.background && run.state === "running")
    .flatMap((run) => (run.agentId ? [{ label: run.title || run.name, description: "agent", id: run.agentId }] : []));
  return [...commands, ...runs];
}
