/** What a conversation is made of, as people see it. Types only. */
import type { ChangedFile, Elicit, Json, Mention, Mode, PermissionAsk, Proposal, SessionEvent, ShownEvent, Status, StoredMessage, Todo, WaitingReview } from "../src/protocol";

import type { TurnSummary } from "./turnSummary";

export type Block = Json;
export type SessionState = Status["state"];

export interface UserItem {
  kind: "user";
  key: string;
  text: string;
  images: string[];
  mentions: Mention[];
  clientMessageId?: string;
  messageId?: string;
  failed?: string;
  /** What its mentions brought along, as the server attached it. */
  attached?: AttachedFile[];
}

export interface AttachedFile {
  kind: "file" | "folder" | "context";
  path: string;
  /** In words: how much of it. */
  adds: string;
}

export interface TextItem {
  kind: "text";
  key: string;
  text: string;
  streaming: boolean;
  error?: boolean;
}

export interface ThinkingItem {
  kind: "thinking";
  key: string;
  text: string;
  streaming: boolean;
}

export type ToolState = "preparing" | "waiting" | "running" | "done" | "error" | "stopped";

export interface ToolItem {
  kind: "tool";
  key: string;
  tool: string;
  title: string;
  input: Json | null;
  partialJson: string;
  progress: string;
  state: ToolState;
  summary: string;
  /** What an edit did in the end, where the server says so. */
  changed?: ChangedFile[];
  output: string;
  images: string[];
  durationMs: number;
  children: ChildRow[];
}

/** What a subagent did, one row each, inside its parent's card. */
export interface ChildRow {
  key: string;
  kind: "text" | "tool";
  text: string;
  state: ToolState;
}

export interface AnsweredItem {
  kind: "answered";
  key: string;
  title: string;
  decision: string;
  by: string;
  /** The editor in which it was answered, where that was another one. */
  client?: string;
}

export interface PlanItem {
  kind: "plan";
  key: string;
  text: string;
}

export interface NoticeItem {
  kind: "notice";
  key: string;
  level: "info" | "warning" | "error";
  text: string;
  detail?: string;
}

/** A hook that ran: a program of the user's settings at some event. */
export interface HookItem {
  kind: "hook";
  key: string;
  event: string;
  outcome: string;
  durationMs: number;
  changed: boolean;
  text: string;
  exitCode?: number;
}

export interface EndItem {
  kind: "end";
  key: string;
  isError: boolean;
  terminal: string;
  text: string;
  durationMs: number;
  costUsd: number;
  denials: number;
  summary?: TurnSummary;
  /** The endpoint did not take the key: another one would help. */
  needsKey?: boolean;
}

export type Item = UserItem | TextItem | ThinkingItem | ToolItem | AnsweredItem | PlanItem | NoticeItem | HookItem | EndItem;

/** Messages that the model no longer sees. */
export interface SnipInfo {
  snipId: string;
  messageIds: string[];
  tokensFreed: number;
  by: "auto" | "model" | "user";
}

export interface QueuedMessage {
  clientMessageId: string;
  text: string;
  images: string[];
  mentions: Mention[];
  steer: boolean;
  /** The turn was stopped before its own came: it starts only when the user sends it again. */
  kept?: boolean;
}

export interface UsageInfo {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  contextTokens: number;
  contextWindow: number;
  costUsd: number;
}

export interface Retrying {
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  status: number | null;
}

export interface ConversationData {
  sessionId: string | null;
  title: string;
  items: Item[];
  queue: QueuedMessage[];
  asks: PermissionAsk[];
  elicits: Elicit[];
  /** Edits that wait for their hunks without an ask. */
  reviews: WaitingReview[];
  proposals: Proposal[];
  todos: Todo[];
  snips: SnipInfo[];
  /** A plan that waits for its approval. */
  plan: string | null;
  usage: UsageInfo | null;
  state: SessionState;
  running: boolean;
  interrupted: boolean;
  /** Another window owns it; `refused` once taking it over was tried in vain. */
  readOnly: { refused: boolean; reason?: string } | null;
  retrying: Retrying | null;
  model: string;
  mode: Mode;
  olderCursor: string | null;
  connected: boolean;
  /** The last number minted for a key; part of the state, so that host and view mint alike. */
  serial: number;
}

/** Things that happen to a conversation besides the session's own events. */
export type Action =
  | { type: "event"; params: SessionEvent }
  | { type: "sent"; message: QueuedMessage; queued: boolean }
  | { type: "unqueued"; clientMessageId: string }
  | { type: "readOnly"; readOnly: ConversationData["readOnly"] }
  | { type: "sendFailed"; clientMessageId: string; text: string }
  | { type: "proposal"; proposal: Proposal }
  | { type: "ask"; ask: PermissionAsk }
  | { type: "elicit"; elicit: Elicit }
  | { type: "withdrawn"; requestId: string }
  | { type: "answered"; id: string; decision: string; by: string }
  | { type: "older"; messages: StoredMessage[]; cursor: string | null; shown?: ShownEvent[] }
  | { type: "truncated"; messageId: string }
  | { type: "configured"; model?: string; mode?: Mode }
  | { type: "connection"; connected: boolean }
  | { type: "title"; title: string }
  | { type: "notice"; level: NoticeItem["level"]; text: string };

export interface Change {
  /** Keys of items whose content changed. */
  touched: Set<string>;
  /** Items were added, removed or moved. */
  structure: boolean;
  /** Anything but items: queue, asks, todos, usage, state. */
  around: boolean;
}
