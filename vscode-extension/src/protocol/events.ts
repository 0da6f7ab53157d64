/** The events of a session, in the order of the server's own list. A mirror of the server's protocol package; a test compares. */
import type { Json, Proposal, Todo, TurnResult } from "./shapes";

export interface TurnStarted {
  type: "turnStarted";
  prompt: string | Json[];
  messageId?: string;
  sessionId?: string;
  model?: string;
  cwd?: string;
  tools?: string[];
  mcpServers?: Json[];
  permissionMode?: string;
  keySource?: string;
  slashCommands?: string[];
  agents?: string[];
}

export interface StepStarted {
  type: "stepStarted";
  model?: string;
  transition?: string;
}

export interface TextDelta {
  type: "textDelta";
  blockId: string;
  text: string;
}

export interface ThinkingDelta {
  type: "thinkingDelta";
  blockId: string;
  text: string;
}

export interface ToolPreparing {
  type: "toolPreparing";
  toolUseId: string;
  tool: string;
}

export interface ToolInputDelta {
  type: "toolInputDelta";
  toolUseId: string;
  partialJson: string;
}

export interface ToolStarted {
  type: "toolStarted";
  toolUseId: string;
  tool: string;
  input: Json;
  title: string;
}

export interface ToolProgress {
  type: "toolProgress";
  toolUseId: string;
  text: string;
}

export interface ToolFinished {
  type: "toolFinished";
  toolUseId: string;
  isError: boolean;
  summary: string;
  content: Json[] | string;
  durationMs: number;
}

export interface ToolSummary {
  type: "toolSummary";
  text: string;
  toolUseIds?: string[];
}

export interface MessageEvent {
  type: "message";
  role: "user" | "assistant";
  content: Json[];
  id: string;
  meta?: Json | boolean;
  timestamp?: number;
  messageId?: string;
  model?: string;
  error?: string;
  kind?: string;
}

export interface Tombstone {
  type: "tombstone";
  messageIds: string[];
  blockIds: string[];
  reason?: string;
}

export interface Retrying {
  type: "retrying";
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  status: number | null;
  error?: string;
}

export interface Heartbeat {
  type: "heartbeat";
}

export interface Compacting {
  type: "compacting";
  trigger: string;
}

export interface Compacted {
  type: "compacted";
  trigger: string;
  tokensBefore: number;
  tokensAfter: number;
  summary: string;
}

export interface PermissionPending {
  type: "permissionPending";
  askId: string;
  toolUseId?: string;
  tool?: string;
  title?: string;
  reason?: string;
  step?: string;
  orphan?: boolean;
}

export interface PermissionResolved {
  type: "permissionResolved";
  askId: string;
  decision?: string;
  by?: string;
  tool?: string;
  title?: string;
}

export interface ElicitationPending {
  type: "elicitationPending";
  elicitId: string;
  message?: string;
}

export interface ElicitationResolved {
  type: "elicitationResolved";
  elicitId: string;
  by?: string;
}

export interface EditProposed {
  type: "editProposed";
  proposal: Proposal;
}

export interface EditUpdated {
  type: "editUpdated";
  proposal: Proposal;
}

export interface EditResolved {
  type: "editResolved";
  proposalId: string;
  decisions: Json[];
}

export interface ReviewPending {
  type: "reviewPending";
  proposalId: string;
  toolUseId: string;
  hunks: string[];
}

export interface Todos {
  type: "todos";
  items: Todo[];
}

export interface PlanProposed {
  type: "planProposed";
  plan: string;
}

export interface Hook {
  type: "hook";
  event: string;
  outcome: string;
  text?: string;
}

export interface UsageEvent {
  type: "usage";
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  contextTokens: number;
  contextWindow: number;
  costUsd: number;
  totalCostUsd?: number;
}

export interface Status {
  type: "status";
  state: "idle" | "running" | "waiting" | "compacting";
  model?: string;
  mode?: string;
}

export interface Queued {
  type: "queued";
  clientMessageId: string | null;
  kept?: boolean;
}

export interface Dequeued {
  type: "dequeued";
  clientMessageId: string | null;
}

export interface MessageUnqueued {
  type: "unqueued";
  clientMessageId: string;
}

export interface Completed {
  type: "completed";
  clientMessageId: string | null;
}

export interface MaxTurnsReached {
  type: "maxTurnsReached";
  maxTurns?: number;
  turnCount?: number;
}

export interface Job {
  type: "job";
  jobId: string;
  command: string;
  state: string;
  exitCode?: number;
}

export interface Notice {
  type: "notice";
  level: "info" | "warning" | "error";
  text: string;
}

export interface TurnFinished {
  type: "turnFinished";
  result: TurnResult;
}

/** A message of the history, as `attach` gives it: a message event without its tag. */
export type StoredMessage = Omit<MessageEvent, "type"> & { parentToolUseId?: string };

export interface SessionEvent {
  sessionId: string;
  seq: number;
  event: AnyEvent;
  turnId?: string;
  stepId?: string;
  parentToolUseId?: string;
}

export type AnyEvent =
  | TurnStarted
  | StepStarted
  | TextDelta
  | ThinkingDelta
  | ToolPreparing
  | ToolInputDelta
  | ToolStarted
  | ToolProgress
  | ToolFinished
  | ToolSummary
  | MessageEvent
  | Tombstone
  | Retrying
  | Heartbeat
  | Compacting
  | Compacted
  | PermissionPending
  | PermissionResolved
  | ElicitationPending
  | ElicitationResolved
  | EditProposed
  | EditUpdated
  | EditResolved
  | ReviewPending
  | Todos
  | PlanProposed
  | Hook
  | UsageEvent
  | Status
  | Queued
  | Dequeued
  | MessageUnqueued
  | Completed
  | MaxTurnsReached
  | Job
  | Notice
  | TurnFinished;
