// Written by `make protocol` from server/assent/wire. Do not edit.

/** What the server answers: the result of every `assent/*` request. */
import type { PendingAsk, PendingElicit, Warning } from "./asks";
import type { AgentInfo, CommandInfo, Json, McpServer, Proposal, Todo, TurnResult } from "./shapes";

export interface NewSession {
  sessionId: string;
  model: string;
  mode: string;
  tools: string[];
  commands: CommandInfo[];
  agents: AgentInfo[];
  mcpServers: McpServer[];
}

/** `queued` at once; `result` instead when the send waited for the turn to end. */
export interface Sent {
  turnId: string;
  queued?: boolean;
  result?: TurnResult;
  /** false: the disk did not take the message yet */
  saved?: boolean;
}

export interface Interrupted {
  interrupted: boolean;
  queued: string[];
}

export interface Unqueued {
  /** false: its turn has come, or there is no such message */
  unqueued: boolean;
  /** as it was sent */
  prompt?: string | Json[];
}

export interface SessionInfo {
  sessionId: string;
  title: string;
  updatedAt: string | number;
  turns: number;
  costUsd: number;
  cwd: string;
  branch: string | null;
  running: boolean;
}

export interface Sessions {
  sessions: SessionInfo[];
  nextCursor?: string;
}

/** A turn that the end of its process cut short; `assent/session/retry` plays it again. */
export interface CutTurn {
  turnId: string;
  messageId: string;
  prompt: Json[];
}

export interface WaitingMessage {
  clientMessageId: string;
  prompt: Json[];
  steer: boolean;
  /** starts only when it is sent again, by its id */
  kept?: boolean;
}

/** An edit that waits for its hunks without an ask; the event `reviewPending` without its tag. */
export interface WaitingReview {
  proposalId: string;
  toolUseId: string;
  hunks: string[];
}

/** A message of the conversation: the event `message` without its tag, or `role` system where it was compacted. */
export interface StoredMessage {
  role: "assistant" | "system" | "user";
  content: Json[];
  id: string;
  meta?: Json | boolean;
  timestamp?: number;
  /** the model's own, shared by all blocks of one answer */
  messageId?: string;
  model?: string;
  error?: string;
  /** of what was attached for the model; "compacted" with role system */
  kind?: string;
  /** with kind "compacted", and so are the next three */
  trigger?: string;
  tokensBefore?: number;
  tokensAfter?: number;
  summary?: string;
  parentToolUseId?: string;
}

/** An event that people saw after a message of the page: a call's title, how it ended, an answer… */
export interface ShownEvent {
  /** without the fields that the messages hold themselves */
  event: Json;
  /** a message's id; absent: before the first of the page */
  after?: string;
}

export interface ContextAndCost {
  contextTokens: number;
  contextWindow: number;
  costUsd: number;
}

export interface Attached {
  epoch: string;
  lastSeq: number;
  reset: boolean;
  messages: StoredMessage[];
  running: boolean;
  pendingAsks: PendingAsk[];
  pendingElicits: PendingElicit[];
  proposals: Proposal[];
  todos: Todo[];
  mode: string;
  model: string;
  turnId?: string;
  nextCursor?: string;
  title?: string;
  cwd?: string;
  /** clientMessageIds */
  queued?: string[];
  /** the same, in words */
  queue?: WaitingMessage[];
  interrupted?: CutTurn;
  /** lines of the file that could not be read */
  damaged?: number;
  pendingReviews?: WaitingReview[];
  state?: "idle" | "running" | "waiting";
  shown?: ShownEvent[];
  usage?: ContextAndCost;
  /** another process owns it: no events, no turns */
  readOnly?: boolean;
}

export interface Snip {
  snipId: string;
  tokensFreed: number;
}

export interface Forked {
  sessionId: string;
}

export interface Exported {
  text: string;
}

export interface Configured {
  model?: string;
  mode?: string;
  thinking?: unknown;
  effort?: string;
  review?: string;
}

export interface FileChange {
  path: string;
  change: string;
}

export interface RewindConflict {
  path: string;
  reason: string;
}

export interface Rewound {
  files: FileChange[];
  /** files that were left alone */
  conflicts: RewindConflict[];
  /** rewind to it to undo the rewind */
  rewindId?: string;
  /** of the message that was taken back */
  prompt?: Json[];
}

/** Tokens by category, the window, and where automatic compaction would begin. */
export interface ContextUsage {
  tokens: Record<string, number>;
  window: number;
  used: number;
  autoCompactAt: number;
}

export interface ModelCost {
  inputTokens: number;
  outputTokens: number;
  cacheCreationInputTokens: number;
  cacheReadInputTokens: number;
  webSearchRequests: number;
  costUsd: number;
  model: string;
}

/** Every finished call counts, also while a turn runs. */
export interface Cost {
  totalCostUsd: number;
  models: ModelCost[];
  /** of all input tokens */
  cacheShare: number;
}

export interface ToolInfo {
  name: string;
  description: string;
  inputSchema: Json;
  readOnly?: boolean;
}

export interface Tools {
  tools: ToolInfo[];
}

export interface ToolRan {
  content: Json[];
  isError: boolean;
  durationMs: number;
}

export interface Proposals {
  proposals: Proposal[];
}

export interface Refused {
  hunkId: string;
  reason: string;
}

export interface Resolved {
  proposal: Proposal;
  /** decisions that could not be carried out */
  refused?: Refused[];
  /** what the model is told */
  report?: string;
}

export interface CompletionItem {
  label: string;
  insertText: string;
  kind: string;
  detail: string;
}

export interface Completions {
  items: CompletionItem[];
}

export interface DocumentText {
  text: string;
  languageId: string;
}

export interface Trusted {
  trusted: boolean;
}

export interface TrustItem {
  kind: "env" | "hook" | "mcpServer" | "rule" | "setting";
  name: string;
  value: string;
  file: string;
  dangerous: boolean;
  /** since the folder was trusted */
  change?: "added" | "changed";
  /** the value that was approved */
  was?: string;
}

export interface TrustState {
  trusted: boolean;
  hash: string;
  items: TrustItem[];
  changed: boolean;
}

export interface SettingsSource {
  path: string;
  exists: boolean;
}

export interface Settings {
  settings: Json;
  sources: SettingsSource[];
  warnings: Warning[];
  /** what trusting the folder would activate */
  withheld?: string[];
  /** dotted key → the file that set it */
  origins?: Record<string, string>;
  /** {rule, behaviour, scope, file} */
  rules?: Json[];
  /** of the key that was asked for */
  value?: unknown;
}
