/** What a client may ask: the parameters of every request, and what `initialize` may carry for us. A mirror of the server's protocol package; a test compares. */
import type { Effort, Json, Mode, Range, Review } from "./shapes";

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

export interface TaskBudget {
  total: number;
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
  taskBudget?: TaskBudget | number;
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

export interface SessionUnqueue {
  sessionId: string;
  clientMessageId: string;
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
  before?: boolean;
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

export interface TrustGet {
  uri: string;
}

export interface TrustSet {
  uri: string;
  trusted: boolean;
  remember?: "session" | "always";
  hash?: string;
  vouch?: boolean;
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
