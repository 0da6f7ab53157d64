/** What the chat page and the extension host say to each other. Nothing else crosses between them. */
import type { CompletionItem, ElicitAnswer, Mention, Mode, PermissionAnswer, SessionInfo } from "../src/protocol";
import type { Action, ConversationData } from "./items";

export interface Draft {
  text: string;
  images: string[];
  mentions: MentionChip[];
}

export interface MentionChip extends Mention {
  label: string;
  /** What it is, for its icon; a file unless said otherwise. `active` is the editor one looks at. */
  kind?: "file" | "folder" | "symbol" | "warning" | "terminal" | "git" | "active";
  /** How much comes along, in a few words. */
  adds?: string;
  /** Of the active editor: its file, also where only its name comes along. */
  file?: string;
}

/** A completion of the server, or one of our own: `chip` is attached instead of written, `more` is completed further. */
export interface ChatCompletion extends CompletionItem {
  chip?: MentionChip;
  more?: boolean;
}

/** What the server's life looks like from the chat: the page says it in plain words. */
export interface ServerPanel {
  kind: "starting" | "ready" | "failed";
  title: string;
  detail: string;
  log: string;
  actions: { command: string; label: string }[];
}

export interface Banner {
  kind: "info" | "warning";
  text: string;
  command?: string;
  label?: string;
}

export interface Surroundings {
  server: ServerPanel;
  banners: Banner[];
  models: string[];
  /** The one that a new conversation would use; empty until the server has said so. */
  model: string;
  /** Workspace folders as path prefixes, to shorten what is shown. */
  roots: string[];
  showThinking: boolean;
  sendWithEnter: boolean;
  /** Things to try first, that the model at hand can do here. */
  ideas: Idea[];
  /** New conversations start in a mode that the user chose here last time and that asks less than their setting. */
  keptMode: Mode | null;
}

export interface Idea {
  icon: string;
  text: string;
}

export type ToView =
  | { type: "there" }
  | { type: "snapshot"; data: ConversationData; serial: number }
  | { type: "actions"; actions: Action[]; serial: number }
  | { type: "surroundings"; value: Surroundings }
  | { type: "completions"; requestId: number; items: ChatCompletion[] }
  | { type: "sessions"; requestId: number; sessions: SessionInfo[]; nextCursor?: string; error?: string }
  | { type: "insert"; text: string; mentions: MentionChip[]; replace: boolean; images?: string[] }
  | { type: "image"; path: string; data: string }
  /** The editor one looks at, as something to take along; null when there is none or it is not wanted. */
  | { type: "active"; chip: MentionChip | null }
  | { type: "find" }
  | { type: "reveal"; key: string }
  | { type: "focus" }
  | { type: "showHistory" }
  | { type: "facts"; title: string; rows: { label: string; value: string; share?: number }[]; note: string };

export type ToHost =
  /** The page is there and wants to be told everything: it was loaded, or asked with `there`. */
  | { type: "ready" }
  | { type: "focused" }
  | { type: "send"; text: string; images: string[]; mentions: MentionChip[]; whenBusy: "queue" | "steer" }
  | { type: "stop" }
  | { type: "retry" }
  | { type: "resume" }
  | { type: "resend"; messageId: string; text: string; mentions: MentionChip[] }
  | { type: "rewind"; messageId: string }
  | { type: "fork"; messageId: string }
  | { type: "unqueue"; clientMessageId: string; edit: boolean }
  | { type: "sendKept"; clientMessageId: string }
  | { type: "takeOver" }
  | { type: "copySession" }
  | { type: "answerAsk"; askId: string; answer: PermissionAnswer }
  | { type: "answerElicit"; elicitId: string; answer: ElicitAnswer }
  | { type: "showDiff"; proposalId: string }
  | { type: "decide"; proposalIds: string[]; decision: "accept" | "reject" }
  | { type: "openText"; text: string; language: string }
  | { type: "complete"; requestId: number; text: string; offset: number }
  | { type: "sessions"; requestId: number; query: string; cursor?: string }
  | { type: "openSession"; sessionId: string }
  | { type: "deleteSession"; sessionId: string }
  | { type: "renameSession"; sessionId: string }
  | { type: "newSession" }
  | { type: "openInTab" }
  | { type: "configure"; model?: string; mode?: Mode }
  | { type: "context" }
  | { type: "cost" }
  | { type: "older" }
  | { type: "copy"; text: string }
  | { type: "insertCode"; text: string }
  | { type: "applyCode"; text: string; language: string }
  | { type: "openLink"; link: string }
  | { type: "image"; path: string }
  | { type: "openFile"; path: string; line?: number }
  | { type: "dropped"; uris: string[] }
  /** Chooses something to take along, in a list of the editor. */
  | { type: "attach" }
  | { type: "toBackground"; toolUseId: string }
  | { type: "snip"; messageIds: string[] }
  | { type: "unsnip"; snipId: string }
  | { type: "command"; command: string }
  | { type: "draft"; draft: Draft };
