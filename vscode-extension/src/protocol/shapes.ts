/** Shapes that several messages share. A mirror of the server's protocol package; a test compares. */

export type Json = Record<string, unknown>;

export type Mode = "default" | "acceptEdits" | "plan" | "dontAsk" | "bypassPermissions" | "auto";
export type Review = "before" | "after" | "off";
export type Effort = "low" | "medium" | "high" | "xhigh" | "max";

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
