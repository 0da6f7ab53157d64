/** Going back in a conversation: retry, send again, rewind, fork, take out. What it does to files is asked first. */
import * as vscode from "vscode";
import { count } from "../shared/content";
import type { ToView } from "../shared/bridge";
import type { LiveSession } from "./liveSession";
import { rowWords } from "./plainWords";
import { METHODS, type Forked, type Mention, type Rewound, type SessionRewind, type Snip } from "./protocol";
import type { Sessions } from "./sessions";

/** The chat that goes back. */
interface Chat {
  readonly session: LiveSession | undefined;
  readonly hasDraft: boolean;
  current(): Promise<LiveSession>;
  show(session: LiveSession): void;
  post(message: ToView): void;
}

export class ConversationHistory {
  constructor(
    private readonly chat: Chat,
    private readonly sessions: Sessions,
  ) {}

  async retry(): Promise<void> {
    const { session } = this.chat;
    if (session?.data.interrupted && session.cutAt) return this.sessions.retry(session);
    const last = session?.data.items.findLast((item) => item.kind === "user");
    if (last?.kind !== "user") return;
    if (last.messageId) await this.resend(last.messageId, last.text, last.mentions);
    else await this.sessions.send(await this.chat.current(), { text: last.text, images: last.images, mentions: last.mentions, whenBusy: "queue" });
  }

  async resend(messageId: string, text: string, mentions: Mention[]): Promise<void> {
    const { session } = this.chat;
    if (!session) return;
    const old = session.data.items.find((item) => item.kind === "user" && item.messageId === messageId);
    const images = old?.kind === "user" ? old.images : [];
    if (session.data.running) await this.sessions.interrupt(session);
    const probe = await this.probe(session, messageId);
    const changed = probe.files.length + probe.conflicts.length > 0;
    const restore = changed ? await askRestore(probe, "Send again from here", false) : "conversation";
    if (!restore) return void this.chat.post({ type: "insert", text, mentions: [], replace: !this.chat.hasDraft });
    await this.sessions.request<Rewound>(METHODS.sessionRewind, { sessionId: session.sessionId, messageId, restore });
    session.dispatch({ type: "truncated", messageId });
    await this.sessions.send(session, { text, images, mentions, whenBusy: "queue" });
  }

  async rewind(messageId: string): Promise<void> {
    const { session } = this.chat;
    if (!session) return;
    const restore = await askRestore(await this.probe(session, messageId), "Rewind to before this message", true);
    if (!restore) return;
    const prompt = session.data.items.find((item) => item.kind === "user" && item.messageId === messageId);
    await this.sessions.request<Rewound>(METHODS.sessionRewind, { sessionId: session.sessionId, messageId, restore });
    if (restore === "code") return;
    session.dispatch({ type: "truncated", messageId });
    // Whoever goes back usually wants to say it differently.
    if (prompt?.kind === "user" && !this.chat.hasDraft) this.chat.post({ type: "insert", text: prompt.text, mentions: [], replace: true });
  }

  /** A conversation of its own up to before this message, with its words in the box, to be said differently. */
  async fork(messageId: string): Promise<void> {
    const { session } = this.chat;
    if (!session) return;
    const prompt = session.data.items.find((item) => item.kind === "user" && item.messageId === messageId);
    const forked = await this.sessions.request<Forked>(METHODS.sessionFork, { sessionId: session.sessionId, messageId, before: true });
    this.chat.show(await this.sessions.open(forked.sessionId));
    if (prompt?.kind === "user") this.chat.post({ type: "insert", text: prompt.text, mentions: [], images: prompt.images, replace: !this.chat.hasDraft });
    this.chat.post({ type: "focus" });
  }

  /** Takes messages out of what the model sees; what that frees is said before it happens. */
  async snip(messageIds: string[]): Promise<void> {
    const sessionId = this.chat.session?.sessionId;
    if (!sessionId) return;
    const probe = await this.sessions.request<Snip>(METHODS.sessionSnip, { sessionId, messageIds, dryRun: true });
    const yes = "Take out";
    const sure = await vscode.window.showInformationMessage(
      "Take this message out of what the model sees?",
      { modal: true, detail: `It frees about ${count(probe.tokensFreed)} tokens. You still see it here, and can put it back.` },
      yes,
    );
    if (sure !== yes) return;
    await this.sessions.request<Snip>(METHODS.sessionSnip, { sessionId, messageIds });
  }

  /** What going back would do to the files. */
  private probe(session: LiveSession, messageId: string): Promise<Rewound> {
    return this.sessions.request<Rewound>(METHODS.sessionRewind, { sessionId: session.sessionId, messageId, restore: "both", dryRun: true });
  }
}

/** Asks what should go back; undefined when the user thinks better of it. */
async function askRestore(probe: Rewound, title: string, filesOnly: boolean): Promise<SessionRewind["restore"] | undefined> {
  const files = probe.files.map((file) => `${file.change} ${vscode.workspace.asRelativePath(file.path)}`).join(", ");
  const unseen = (probe.untracked ?? []).map((each) => `Not restored: ${each}.`.replace(/\.\.$/, "."));
  const detail = rowWords([files || "No files were changed since.", ...unseen].join(" "));
  const options: { label: string; restore: SessionRewind["restore"]; detail: string }[] = [
    { label: "Conversation and files", restore: "both", detail },
    { label: "Conversation only", restore: "conversation", detail: "Files stay as they are." },
    ...(filesOnly ? [{ label: "Files only", restore: "code" as const, detail }] : []),
  ];
  const told = [
    probe.conflicts.length ? `${probe.conflicts.length} files changed since by someone else will be left alone` : "",
    probe.untracked?.length ? `not followed: ${probe.untracked.join("; ")}` : "",
  ].filter(Boolean);
  const placeHolder = told.length ? told.join(" · ") : "What should be restored?";
  return (await vscode.window.showQuickPick(options, { title, placeHolder }))?.restore;
}
