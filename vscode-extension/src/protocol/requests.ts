// Written by `make protocol` from server/assent/wire. Do not edit.

/** What a client may ask: the parameters of every `assent/*` request, and what `initialize` may carry for us. */
import type { Effort, Json, Mode, Range, Review } from "./shapes";

/** What the client's own interface does; the rest falls back to plain LSP. */
export interface ClientFlags {
  permissions?: boolean;
  elicitation?: boolean;
  review?: boolean;
  editorQueries?: boolean;
  save?: boolean;
  partials?: boolean;
  /** takes `editMoved` instead of `editUpdated` where only ranges changed */
  editMoved?: boolean;
}

export interface InitializationOptions {
  client?: ClientFlags;
  maxEventRate?: number;
  settings?: Json;
  /** "user": the client vouches that no project file set them */
  settingsLevel?: "project" | "user";
  trusted?: boolean;
  /** from the editor's secret store */
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
  effort?: Effort;
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
  whenBusy?: "queue" | "refuse" | "steer";
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
  /** look at a session that another process owns */
  readOnly?: boolean;
}

export interface SessionFork {
  sessionId: string;
  messageId?: string;
  /** without that message, to say it differently */
  before?: boolean;
}

export interface SessionRename {
  sessionId: string;
  title: string;
}

export interface SessionExport {
  sessionId: string;
  format?: "json" | "markdown";
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
  restore: "both" | "code" | "conversation";
  dryRun?: boolean;
}

export interface SessionSnip {
  sessionId: string;
  messageIds: string[];
  dryRun?: boolean;
}

export interface SessionUnsnip {
  sessionId: string;
  snipId: string;
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

/** Lines of a hunk, 0-based and half-open `[from, to)`: of its old text those that go, of its new text those that come. */
export interface LineChoice {
  old?: [number, number][];
  new?: [number, number][];
}

export interface HunkDecision {
  hunkId: string;
  decision: "accept" | "edit" | "reject";
  newText?: string;
  /** with accept: only these lines */
  lines?: LineChoice;
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
  remember?: "always" | "session";
  /** of the items that were shown */
  hash?: string;
  /** the editor's own trust, until the server ends: covers rules and variables, needs no hash */
  vouch?: boolean;
}

export interface SettingsGet {
  key?: string;
  cwd?: string;
}

export interface SettingsSet {
  key: string;
  value: unknown;
  scope?: "local" | "project" | "user";
  cwd?: string;
}
