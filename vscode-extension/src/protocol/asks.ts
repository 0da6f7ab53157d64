/** What the server asks and tells: permissions, questions, the editor's own knowledge, its status. A mirror of the server's protocol package; a test compares. */
import type { Json, Position, Proposal, Question, Range, ShellCommand, Suggestion } from "./shapes";
import type { HunkDecision } from "./requests";

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
