// Written by `make protocol` from server/assent/wire. Do not edit.

/** Requests from the server to the editor, each with a `requestId`, and the plain notifications beside them. */
import type { HunkDecision } from "./requests";
import type { Scope } from "./rules";
import type { Json, Position, Proposal, Question, Range, ShellCommand, Suggestion } from "./shapes";

/** An open permission ask, as `attach` lists it; the request that puts it to a client adds its `requestId`. */
export interface PendingAsk {
  sessionId: string;
  turnId: string;
  askId: string;
  toolUseId: string;
  tool: string;
  input: Json;
  /** display text */
  title: string;
  /** display text */
  reason: string;
  step: string;
  suggestions: Suggestion[];
  command?: ShellCommand;
  proposal?: Proposal;
  parentToolUseId?: string;
  /** its process ended before anyone answered; asked once more */
  orphan?: boolean;
}

export interface PermissionAsk {
  sessionId: string;
  turnId: string;
  askId: string;
  toolUseId: string;
  tool: string;
  input: Json;
  /** display text */
  title: string;
  /** display text */
  reason: string;
  step: string;
  suggestions: Suggestion[];
  command?: ShellCommand;
  proposal?: Proposal;
  parentToolUseId?: string;
  /** its process ended before anyone answered; asked once more */
  orphan?: boolean;
  requestId: string;
}

export interface PermissionAnswer {
  decision: "allow" | "deny";
  scope?: Scope;
  rule?: string;
  /** several, saved together; goes before `rule` */
  rules?: string[];
  updatedInput?: Json;
  /** those not named are rejected; absent = all are accepted */
  hunks?: HunkDecision[];
  message?: string;
  /** with deny: stop the whole turn */
  interrupt?: boolean;
  /** with allow of ExitPlanMode: what the plan is carried out in */
  mode?: "acceptEdits" | "default";
}

/** An open question; exactly one of `questions`, `schema` and `url` is there. */
export interface PendingElicit {
  sessionId: string;
  elicitId: string;
  message: string;
  questions?: Question[];
  schema?: Json;
  url?: string;
  /** of the url, where that is not the url itself */
  display?: string;
}

/** `problems` and `given` are there when an answer did not fit the form: what is wrong by field, and that answer. */
export interface Elicit {
  sessionId: string;
  elicitId: string;
  message: string;
  questions?: Question[];
  schema?: Json;
  url?: string;
  /** of the url, where that is not the url itself */
  display?: string;
  requestId: string;
  problems?: Record<string, string>;
  given?: Json;
}

export interface ElicitAnswer {
  action: "accept" | "cancel" | "decline";
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
  /** of symbols in the whole workspace */
  query?: string;
  settleMs?: number;
}

export interface EditorAnswer {
  status: "error" | "noServer" | "starting" | "success";
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
  state: "compacting" | "idle" | "running" | "waiting";
  model: string;
  offline: boolean;
  credentials: string;
  trust: FolderTrust[];
  warnings: Warning[];
}
