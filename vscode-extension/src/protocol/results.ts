/** What the server answers. A mirror of the server's protocol package; a test compares. */
import type { AgentInfo, CommandInfo, Json, McpServer, Proposal, Todo, TurnResult } from "./shapes";
import type { Elicit, PermissionAsk } from "./asks";
import type { StoredMessage } from "./events";

export interface NewSession {
  sessionId: string;
  model: string;
  mode: string;
  tools: string[];
  commands: CommandInfo[];
  agents: AgentInfo[];
  mcpServers: McpServer[];
}

export interface Sent {
  turnId: string;
  queued?: boolean;
  result?: TurnResult;
  saved?: boolean;
}

export interface Interrupted {
  interrupted: boolean;
  queued: string[];
}

export interface Unqueued {
  unqueued: boolean;
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

export interface CutTurn {
  turnId: string;
  messageId: string;
  prompt: Json[];
}

export interface WaitingMessage {
  clientMessageId: string;
  prompt: Json[];
  steer: boolean;
  kept?: boolean;
}

export interface WaitingReview {
  proposalId: string;
  toolUseId: string;
  hunks: string[];
}

export interface ShownEvent {
  event: Json;
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
  pendingAsks: PermissionAsk[];
  pendingElicits: Elicit[];
  proposals: Proposal[];
  todos: Todo[];
  mode: string;
  model: string;
  turnId?: string;
  nextCursor?: string;
  title?: string;
  cwd?: string;
  queued?: string[];
  queue?: WaitingMessage[];
  interrupted?: CutTurn;
  damaged?: number;
  pendingReviews?: WaitingReview[];
  state?: "idle" | "running" | "waiting";
  shown?: ShownEvent[];
  usage?: ContextAndCost;
  readOnly?: boolean;
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

export interface Rewound {
  files: FileChange[];
  conflicts: unknown[];
}

export interface ContextUsage {
  tokens: Record<string, number>;
  window: number;
  used: number;
  autoCompactAt: number;
}

export interface Cost {
  totalCostUsd: number;
  models: Json[];
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
  refused?: Refused[];
  report?: string;
}

export interface Explained {
  decision: "allow" | "ask" | "deny";
  step: string;
  reason: string;
  rule?: string;
  sandbox?: string;
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
  kind: "hook" | "mcpServer" | "env" | "rule" | "setting";
  name: string;
  value: string;
  file: string;
  dangerous: boolean;
  change?: "added" | "changed";
  was?: string;
}

export interface TrustState {
  trusted: boolean;
  hash: string;
  items: TrustItem[];
  changed: boolean;
}

export interface McpServers {
  servers: Json[];
}

export interface Agents {
  agents: AgentInfo[];
}

export interface Commands {
  commands: CommandInfo[];
}

export interface Jobs {
  jobs: Json[];
}

export interface Killed {
  killed: boolean;
}

export interface Settings {
  settings: Json;
  sources: Json[];
  warnings: Json[];
  withheld?: string[];
  value?: unknown;
}
