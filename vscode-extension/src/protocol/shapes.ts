// Written by `make protocol` from server/assent/wire. Do not edit.

/** Shapes that several methods share, and the base every struct of the wire derives from. */
import type { Behaviour, Scope } from "./rules";

export type Json = Record<string, unknown>;
export type Mode = "default" | "acceptEdits" | "plan" | "dontAsk" | "bypassPermissions" | "auto";
export type Review = "before" | "after" | "off";
export type Effort = "low" | "medium" | "high" | "xhigh" | "max";
export type Level = "info" | "warning" | "error";

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
  /** the file that defines it; None for a built-in one */
  source?: string;
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

/** One of the tasks that the agents of a session share. */
export interface Task {
  id: string;
  subject: string;
  status: "cancelled" | "completed" | "in_progress" | "pending";
  description?: string;
  /** the id of an agent, or "main"; absent: nobody's yet */
  owner?: string;
}

export interface Hunk {
  hunkId: string;
  range: Range;
  oldText: string;
  newText: string;
  state: "accepted" | "conflict" | "edited" | "landed" | "pending" | "rejected" | "reverted" | "superseded";
  /** a decision is still possible; always sent */
  open?: boolean;
  /** what stands in the file instead of newText */
  placed?: string;
  /** of a conflict */
  why?: string;
  /** display text of oldText, where that is not oldText itself */
  oldDisplay?: string;
  /** display text of newText, likewise */
  newDisplay?: string;
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
  inputTokens: number;
  outputTokens: number;
  cacheCreationInputTokens: number;
  cacheReadInputTokens: number;
  webSearchRequests: number;
}

export interface ModelUsage {
  inputTokens: number;
  outputTokens: number;
  cacheCreationInputTokens: number;
  cacheReadInputTokens: number;
  webSearchRequests: number;
  costUsd: number;
}

export interface PermissionDenial {
  toolName: string;
  toolUseId: string;
  toolInput: Json;
}

/** What a turn came to; the last word of `turnFinished` and of a waiting send. */
export interface TurnResult {
  subtype: "error_during_execution" | "error_max_budget_usd" | "error_max_structured_output" | "error_max_turns" | "success";
  isError: boolean;
  result: string;
  terminal: string;
  stopReason: string | null;
  numTurns: number;
  durationMs: number;
  durationApiMs: number;
  totalCostUsd: number;
  usage: Usage;
  modelUsage: Record<string, ModelUsage>;
  permissionDenials: PermissionDenial[];
  sessionId: string;
  structuredOutput?: unknown;
}

/** A rule that would cover this call from now on; `rule` goes back as it is, or `rules` where there are some. */
export interface Suggestion {
  rule: string;
  scope: Scope;
  /** display text */
  covers: string;
  /** of the rule, or of all of them, where that is not the rule itself */
  display?: string;
  /** of a line of several commands: one for each of them; `rule` is the first */
  rules?: string[];
}

export interface CommandPart {
  argv: string[];
  decision: Behaviour;
  /** of the words, joined by spaces */
  display?: string;
}

export interface ShellCommand {
  /** as it runs */
  text: string;
  parts: CommandPart[];
  /** as people read it */
  display?: string;
}

export interface Option {
  /** goes back as it is */
  label: string;
  description?: string;
  /** of the label, where that is not the label itself */
  display?: string;
}

export interface Question {
  id: string;
  header: string;
  question: string;
  multiSelect: boolean;
  options: Option[];
  allowOther: boolean;
}
