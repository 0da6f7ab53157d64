// Written by `make protocol` from server/assent/wire. Do not edit.

/** Events of a session: one ordered, gap-free stream per session and epoch, each tagged by its `type`. */
import type { McpServerState } from "./extensions";
import type { Json, Level, Proposal, Range, Task, Todo, TurnResult } from "./shapes";

/** The prompt, and what the engine's init message says of the session. */
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
  /** how far it is, in place of what was told before: the last lines of its output */
  text: string;
}

export interface ChangedFile {
  path: string;
  /** lines */
  added: number;
  removed: number;
}

export interface ToolFinished {
  type: "toolFinished";
  toolUseId: string;
  isError: boolean;
  summary: string;
  content: Json[] | string;
  durationMs: number;
  /** by an edit, as it was accepted */
  changed?: ChangedFile[];
}

export interface ToolSummary {
  type: "toolSummary";
  text: string;
  toolUseIds?: string[];
}

export interface MessageEvent {
  type: "message";
  role: "assistant" | "user";
  content: Json[];
  id: string;
  meta?: Json | boolean;
  timestamp?: number;
  /** the model's own, shared by all blocks of one answer */
  messageId?: string;
  model?: string;
  error?: string;
  /** of what was attached for the model */
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
  /** which of several answered, by the name it gave itself */
  client?: string;
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
  client?: string;
}

/** What was decided on one hunk; `newText` is the text that is there now, where it is not the proposed one. */
export interface ToldDecision {
  hunkId: string;
  decision: "accept" | "edit" | "reject" | "reopen";
  newText?: string;
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
  decisions: ToldDecision[];
  /** as it is now */
  proposal?: Proposal;
}

export interface MovedHunk {
  hunkId: string;
  range: Range;
}

/** Only ranges changed; goes to clients that claim `client.editMoved` instead of editUpdated, at most 20 a second. Hunks that are not named stand where they stood. */
export interface EditMoved {
  type: "editMoved";
  proposalId: string;
  version: number | null;
  hunks: MovedHunk[];
}

/** An edit that needs no asking waits for its hunks, because review "before" was set. */
export interface ReviewPending {
  type: "reviewPending";
  proposalId: string;
  toolUseId: string;
  /** the ids of those to decide */
  hunks: string[];
}

export interface Todos {
  type: "todos";
  items: Todo[];
}

/** The whole list that the agents of the session share, whenever it changed. */
export interface Tasks {
  type: "tasks";
  items: Task[];
}

export interface PlanProposed {
  type: "planProposed";
  plan: string;
}

export interface Hook {
  type: "hook";
  event: string;
  /** success, blocked, prevented, error, timeout; running: `text` says what a hook is doing */
  outcome: string;
  text?: string;
  hookId?: string;
  toolUseId?: string;
  durationMs?: number;
  exitCode?: number;
  /** it changed the input, the output or the decision */
  changed?: boolean;
  /** what it printed, cut */
  output?: string;
  /** what ran, in one line */
  command?: string;
  /** the file that names the hook, with the line */
  source?: string;
  /** titles, notifications and the bell, for a terminal that shows the session */
  terminalSequence?: string;
}

/** Messages that the model no longer sees; people still do. `assent/session/unsnip` takes it back. */
export interface Snipped {
  type: "snipped";
  snipId: string;
  messageIds: string[];
  tokensFreed: number;
  by: "auto" | "model" | "user";
  /** why it was provably unneeded, where nobody asked for it */
  reason?: string;
}

/** The context is nearly full; once per crossing of the threshold. */
export interface CompactSoon {
  type: "compactSoon";
  tokens: number;
  threshold: number;
  /** what a compaction would take away */
  wouldGo: Json[] | number | string;
}

export interface McpChanged {
  type: "mcpChanged";
  servers: McpServerState[];
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
  state: "compacting" | "idle" | "running" | "waiting";
  model?: string;
  mode?: string;
}

export interface Queued {
  type: "queued";
  clientMessageId: string | null;
  /** stopped before its turn came: it starts only when it is sent again, by its id */
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
  /** the call it came from */
  toolUseId?: string;
  /** a turn waits for it */
  foreground?: boolean;
}

export interface Notice {
  type: "notice";
  level: Level;
  text: string;
}

export interface TurnFinished {
  type: "turnFinished";
  result: TurnResult;
}

/** The parameters of `assent/session/event`; `seq` counts from 1 without gaps, per session and epoch. */
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
  | EditMoved
  | ReviewPending
  | Todos
  | Tasks
  | PlanProposed
  | Hook
  | Snipped
  | CompactSoon
  | McpChanged
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
