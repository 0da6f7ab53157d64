// Written by `make protocol` from server/assent/wire. Do not edit.

/** The parameters of every `assent/*` request, and our options in `initialize`. */
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
  /** what waits is in events and is answered with commands; no request asks for it */
  answersLater?: boolean;
  /** shows `assent/missed` itself, with a way to the session; no `window/showMessage` tells of it */
  missed?: boolean;
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

/** A file, or part of one; with `text` something else that the editor shows, in its words, called `label`. */
export interface Mention {
  uri: string;
  range?: Range;
  label?: string;
  text?: string;
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

/** One turn by its number, all of them, or the newest. */
export interface SessionTrace {
  sessionId: string;
  turn?: number;
  all?: boolean;
}

export interface SessionConfigure {
  sessionId: string;
  model?: string;
  mode?: Mode;
  thinking?: Json | boolean | number | string;
  /** default: what the settings say */
  effort?: Effort | "default";
  review?: Review;
  /** its turn goes on when the last window has gone, where a host serves it */
  keepRunning?: boolean;
}

export interface SessionRewind {
  sessionId: string;
  messageId: string;
  restore: "both" | "code" | "conversation";
  dryRun?: boolean;
}

/** `messageIds` may also name tool calls. While a turn runs they leave the model's view before its next call. */
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
  decision: "accept" | "edit" | "reject" | "reopen";
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

/** The endpoint's own list is kept for a day; `refresh` asks for it again. */
export interface ModelList {
  cwd?: string;
  refresh?: boolean;
}

/** Without a key: the credentials that are used now. */
export interface CredentialsCheck {
  apiKey?: string;
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
