/**
 * The wire, as TypeScript: a mirror of the server's protocol package and nothing else.
 *
 * Interfaces carry the names and fields of the server's structs; a test reads this file and compares.
 * Keep it declarative: one interface per shape, tables of methods, no code.
 */

export type Json = Record<string, unknown>;

export type Mode = "default" | "acceptEdits" | "plan" | "dontAsk" | "bypassPermissions" | "auto";
export type Review = "before" | "after" | "off";
export type Effort = "low" | "medium" | "high" | "xhigh" | "max";

export const METHODS = {
  sessionNew: "assent/session/new",
  sessionSend: "assent/session/send",
  sessionInterrupt: "assent/session/interrupt",
  sessionRetry: "assent/session/retry",
  sessionList: "assent/session/list",
  sessionSearch: "assent/session/search",
  sessionAttach: "assent/session/attach",
  sessionFork: "assent/session/fork",
  sessionRename: "assent/session/rename",
  sessionDelete: "assent/session/delete",
  sessionExport: "assent/session/export",
  sessionClose: "assent/session/close",
  sessionConfigure: "assent/session/configure",
  sessionRewind: "assent/session/rewind",
  sessionContext: "assent/session/context",
  sessionCost: "assent/session/cost",
  toolList: "assent/tool/list",
  toolRun: "assent/tool/run",
  editList: "assent/edit/list",
  editResolve: "assent/edit/resolve",
  permissionExplain: "assent/permission/explain",
  complete: "assent/complete",
  documentRead: "assent/document/read",
  trustSet: "assent/trust/set",
  mcpList: "assent/mcp/list",
  mcpRestart: "assent/mcp/restart",
  agentList: "assent/agent/list",
  commandList: "assent/command/list",
  jobList: "assent/job/list",
  jobKill: "assent/job/kill",
  settingsGet: "assent/settings/get",
  settingsSet: "assent/settings/set",
} as const;

/** Requests the server makes; the editor's UI answers. */
export const SERVER_REQUESTS = {
  permissionAsk: "assent/permission/ask",
  elicit: "assent/elicit",
  editorQuery: "assent/editor/query",
  editorSave: "assent/editor/save",
} as const;

export const NOTIFICATIONS = {
  sessionEvent: "assent/session/event",
  status: "assent/status",
  withdrawn: "assent/withdrawn",
} as const;

// --- shapes --------------------------------------------------------------------------------------

export interface Empty {
}

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface Location {
  uri: string;
  range: Range;
}

export interface CommandInfo {
  name: string;
  description: string;
  argumentHint?: string;
}

export interface AgentInfo {
  name: string;
  description: string;
}

export interface McpServer {
  name: string;
  status: string;
}

export interface Todo {
  id: string;
  content: string;
  activeForm: string;
  status: string;
}

export interface Hunk {
  hunkId: string;
  range: Range;
  oldText: string;
  newText: string;
  state: "pending" | "landed" | "accepted" | "edited" | "rejected" | "reverted" | "conflict" | "superseded";
  open?: boolean;
  placed?: string;
  why?: string;
}

export interface Proposal {
  proposalId: string;
  uri: string;
  version: number | null;
  baseHash: string;
  hunks: Hunk[];
  tool: string;
  reason: string;
  sessionId?: string;
  turnId?: string;
  toolUseId?: string;
  review?: Review;
  creates?: boolean;
}

export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cacheCreationInputTokens?: number;
  cacheReadInputTokens?: number;
}

export interface PermissionDenial {
  toolName: string;
  toolUseId: string;
  toolInput: Json;
}

export interface TurnResult {
  subtype: "success" | "error_during_execution" | "error_max_turns" | "error_max_budget_usd" | "error_max_structured_output";
  isError: boolean;
  result: string;
  terminal: string;
  stopReason: string | null;
  numTurns: number;
  durationMs: number;
  durationApiMs: number;
  totalCostUsd: number;
  usage: Json;
  modelUsage: Json;
  permissionDenials: PermissionDenial[];
  sessionId: string;
  structuredOutput?: unknown;
}

export interface Suggestion {
  rule: string;
  scope: "once" | "session" | "project" | "user";
  covers: string;
}

export interface CommandPart {
  argv: string[];
  decision: "allow" | "ask" | "deny";
}

export interface ShellCommand {
  text: string;
  parts: CommandPart[];
}

export interface Option {
  label: string;
  description?: string;
}

export interface Question {
  id: string;
  header: string;
  question: string;
  multiSelect: boolean;
  options: Option[];
  allowOther: boolean;
}

// --- what a client may ask -----------------------------------------------------------------------

export interface ClientFlags {
  permissions?: boolean;
  elicitation?: boolean;
  review?: boolean;
  editorQueries?: boolean;
  save?: boolean;
  partials?: boolean;
}

export interface InitializationOptions {
  client?: ClientFlags;
  maxEventRate?: number;
  settings?: Json;
  settingsLevel?: "user" | "project";
  trusted?: boolean;
  apiKey?: string;
}

export interface SessionNew {
  cwd?: string;
  model?: string;
  fallbackModel?: string;
  mode?: Mode;
  thinking?: Json | boolean | number | string;
  customSystemPrompt?: string;
  appendSystemPrompt?: string;
  maxTurns?: number;
  maxBudgetUsd?: number;
  taskBudget?: Json | number;
  jsonSchema?: Json;
  title?: string;
}

export interface Mention {
  uri: string;
  range?: Range;
}

export interface SessionSend {
  sessionId: string;
  prompt: string | Json[];
  mentions?: Mention[];
  clientMessageId?: string;
  tokenBudget?: number;
  wait?: boolean;
  whenBusy?: "queue" | "steer" | "refuse";
}

export interface SessionRef {
  sessionId: string;
}

export interface SessionList {
  cwd?: string;
  query?: string;
  cursor?: string;
}

export interface SessionAttach {
  sessionId: string;
  epoch?: string;
  afterSeq?: number;
  cursor?: string;
  readOnly?: boolean;
}

export interface SessionFork {
  sessionId: string;
  messageId?: string;
}

export interface SessionRename {
  sessionId: string;
  title: string;
}

export interface SessionExport {
  sessionId: string;
  format?: "markdown" | "json";
}

export interface SessionConfigure {
  sessionId: string;
  model?: string;
  mode?: Mode;
  thinking?: Json | boolean | number | string;
  effort?: Effort;
  review?: Review;
}

export interface SessionRewind {
  sessionId: string;
  messageId: string;
  restore: "conversation" | "code" | "both";
  dryRun?: boolean;
}

export interface ToolList {
  sessionId?: string;
}

export interface ToolRun {
  name: string;
  input: Json;
  sessionId?: string;
  workDoneToken?: string | number;
}

export interface EditList {
  sessionId?: string;
}

export interface HunkDecision {
  hunkId: string;
  decision: "accept" | "reject" | "edit";
  newText?: string;
}

export interface AllHunks {
  all: "accept" | "reject";
}

export interface EditResolve {
  proposalId: string;
  decisions: HunkDecision[] | AllHunks;
  version?: number;
  message?: string;
}

export interface RuleLists {
  allow?: string[];
  ask?: string[];
  deny?: string[];
}

export interface PermissionExplain {
  tool: string;
  input: Json;
  cwd: string;
  mode?: Mode;
  trusted?: boolean;
  rules?: RuleLists;
}

export interface Complete {
  text: string;
  offset: number;
  sessionId?: string;
}

export interface DocumentRead {
  uri: string;
}

export interface TrustSet {
  uri: string;
  trusted: boolean;
  remember?: "session" | "always";
}

export interface McpList {
  sessionId?: string;
}

export interface McpRestart {
  name: string;
  sessionId?: string;
}

export interface AgentList {
  sessionId?: string;
  cwd?: string;
}

export interface CommandList {
  sessionId?: string;
  cwd?: string;
}

export interface JobList {
  sessionId?: string;
}

export interface JobKill {
  jobId: string;
  sessionId?: string;
}

export interface SettingsGet {
  key?: string;
  cwd?: string;
}

export interface SettingsSet {
  key: string;
  value: unknown;
  scope?: "user" | "project" | "local";
  cwd?: string;
}

// --- what the server answers ---------------------------------------------------------------------

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
  interrupted?: CutTurn;
  damaged?: number;
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

// --- what the server asks ------------------------------------------------------------------------

export interface PermissionAsk {
  requestId: string;
  sessionId: string;
  turnId: string;
  askId: string;
  toolUseId: string;
  tool: string;
  input: Json;
  title: string;
  reason: string;
  step: string;
  suggestions: Suggestion[];
  command?: ShellCommand;
  proposal?: Proposal;
  parentToolUseId?: string;
  orphan?: boolean;
}

export interface PermissionAnswer {
  decision: "allow" | "deny";
  scope?: "once" | "session" | "project" | "user";
  rule?: string;
  updatedInput?: Json;
  hunks?: HunkDecision[];
  message?: string;
  interrupt?: boolean;
}

export interface Elicit {
  requestId: string;
  sessionId: string;
  elicitId: string;
  message: string;
  questions?: Question[];
  schema?: Json;
  url?: string;
}

export interface ElicitAnswer {
  action: "accept" | "decline" | "cancel";
  content?: Json;
}

export interface EditorQuery {
  requestId: string;
  kind: string;
  timeoutMs: number;
  uri?: string;
  position?: Position;
  range?: Range;
  version?: number;
  newName?: string;
  query?: string;
  settleMs?: number;
}

export interface EditorAnswer {
  status: "success" | "starting" | "noServer" | "error";
  value?: unknown;
  version?: number;
  settled?: boolean;
  message?: string;
}

export interface EditorSave {
  requestId: string;
  uris: string[];
}

export interface SaveFailure {
  uri: string;
  message: string;
}

export interface EditorSaved {
  saved: string[];
  failed: SaveFailure[];
}

export interface Withdrawn {
  requestId: string;
}

export interface FolderTrust {
  uri: string;
  trusted: boolean;
  withheld: string[];
}

export interface Warning {
  kind: string;
  text: string;
  hint: string;
}

export interface ServerStatus {
  state: "idle" | "running" | "waiting" | "compacting";
  model: string;
  offline: boolean;
  credentials: string;
  trust: FolderTrust[];
  warnings: Warning[];
}

// --- events of a session -------------------------------------------------------------------------

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
}

export interface Dequeued {
  type: "dequeued";
  clientMessageId: string | null;
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
  | Todos
  | PlanProposed
  | Hook
  | UsageEvent
  | Status
  | Queued
  | Dequeued
  | Completed
  | MaxTurnsReached
  | Job
  | Notice
  | TurnFinished;
