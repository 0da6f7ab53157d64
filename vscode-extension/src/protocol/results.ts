// Written by `make protocol` from server/assent/wire. Do not edit.

/** The result of every `assent/*` request. */
import type { PendingAsk, PendingElicit, Warning } from "./asks";
import type { AgentInfo, CommandInfo, Json, McpServer, Proposal, Task, Todo, TurnResult } from "./shapes";

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

/** A few words around those of a search, on one line. */
export interface Snippet {
  text: string;
  /** of the words in it: from, to, in UTF-16 code units */
  ranges: [number, number][];
  role: "assistant" | "tool" | "user";
  messageId: string;
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
  /** of a search: the words where they were said last */
  snippet?: string;
  /** of a search: up to three such places, the best first */
  snippets?: Snippet[];
}

export interface Sessions {
  sessions: SessionInfo[];
  nextCursor?: string;
  /** of a search: so many conversations are not in its index yet; ask again */
  unread?: number;
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

/** Messages that the model no longer sees. `by: "auto"`: they were provably unneeded, and `reason` says how. */
export interface SnipState {
  snipId: string;
  messageIds: string[];
  tokensFreed: number;
  by: "auto" | "model" | "user";
  reason?: string;
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
  /** that the agents share; absent: none */
  tasks?: Task[];
  shown?: ShownEvent[];
  usage?: ContextAndCost;
  /** in force: `session/unsnip` takes one back */
  snips?: SnipState[];
  /** another process owns it, or a newer version wrote it: no events, no turns */
  readOnly?: boolean;
  /** where it is not another process: why, in words for people */
  readOnlyReason?: string;
}

/** Turns as trees: `calls` of a turn are its model calls, `calls` of those the tools they called, and so on. */
export interface Traced {
  turns: Json[];
  /** the same for people */
  text: string;
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
  /** in words: what commands may have changed and nobody could look at */
  untracked?: string[];
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

/** All that calls have reported so far counts, also while a turn runs. */
export interface Cost {
  totalCostUsd: number;
  models: ModelCost[];
  /** of all input tokens */
  cacheShare: number;
  /** calls that a crash cut off before they reported anything: they may have cost more */
  unreported?: number;
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

export interface ModelChoice {
  id: string;
  name: string;
  source: "endpoint" | "known" | "settings";
}

export interface ModelChoices {
  models: ModelChoice[];
  /** the address that was asked; empty when nobody was */
  endpoint: string;
  /** seconds since 1970 */
  askedAt?: number;
  /** why the endpoint's list is missing or old */
  error?: string;
}

export interface CredentialsChecked {
  verdict: "accepted" | "refused" | "unknown" | "unreachable";
  /** the address that was asked */
  endpoint: string;
  /** its own words */
  detail?: string;
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
