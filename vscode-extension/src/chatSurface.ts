/** One chat on the screen: a webview, the session it shows, and what the user does there. */
import * as vscode from "vscode";
import { count } from "../shared/content";
import { emptyConversation } from "../shared/conversation";
import type { Draft, ToHost, ToView } from "../shared/bridge";
import { chatPage } from "./chatPage";
import type { ChatView } from "./chatView";
import { chipOf, insertCode, openFile, openLink, workspaceImage } from "./editorLinks";
import type { LiveSession } from "./liveSession";
import {
  METHODS,
  type Completions,
  type ContextUsage,
  type Cost,
  type Forked,
  type Mention,
  type Mode,
  type Rewound,
  type SessionRewind,
  type Sessions as SessionPage,
} from "./protocol";
import { explain } from "./sessions";
import { startingMode } from "./settings";

/** What fills the context, in words. */
const CONTEXT_PARTS: Record<string, string> = { system: "System prompt", tools: "Tools", memory: "Memory files", messages: "Conversation", free: "Free" };

export interface ChatMessage {
  text: string;
  mentions: Mention[];
}

export class ChatSurface implements vscode.Disposable {
  session: LiveSession | undefined;
  private draft: Draft = { text: "", images: [], mentions: [] };
  private readonly disposables: vscode.Disposable[] = [];
  private listening: vscode.Disposable | undefined;
  private ready = false;
  private readonly early: ToView[] = [];
  private opening: Promise<LiveSession> | undefined;
  private restoring: { sessionId: string; opened: Promise<LiveSession> } | undefined;

  constructor(
    private readonly owner: ChatView,
    readonly webview: vscode.Webview,
    readonly kind: "view" | "tab",
    private readonly reveal: () => void,
    private readonly shows: (session: LiveSession) => void,
  ) {
    webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(owner.context.extensionUri, "dist", "media")] };
    this.disposables.push(webview.onDidReceiveMessage((message: ToHost) => void this.receive(message)));
    webview.html = chatPage(webview, owner.context.extensionUri, kind);
  }

  /** Shows a conversation from before as soon as it is there, unless the user has chosen another one meanwhile. */
  async restore(sessionId: string, opened: Promise<LiveSession>): Promise<void> {
    const restoring = { sessionId, opened };
    this.restoring = restoring;
    this.snapshot();
    const session = await opened.catch((error: unknown) => {
      if (this.restoring === restoring) this.show(undefined);
      throw error;
    });
    if (this.restoring === restoring) this.show(session);
  }

  show(session: LiveSession | undefined): void {
    this.restoring = undefined;
    this.listening?.dispose();
    this.session = session;
    this.listening =
      session &&
      vscode.Disposable.from(
        session.onActions(({ actions, serial }) => this.post({ type: "actions", actions, serial })),
        session.onReset(() => this.snapshot()),
      );
    if (session) this.shows(session);
    this.owner.shown();
    this.snapshot();
  }

  post(message: ToView): void {
    if (this.ready) void this.webview.postMessage(message);
    else if (message.type === "insert" || message.type === "focus" || message.type === "showHistory") this.early.push(message);
  }

  /** The editor drops a page that is out of sight and loads it anew; what is told meanwhile waits for it. */
  hidden(): void {
    this.ready = false;
  }

  /**
   * In sight again. Usually its page is loaded anew and reports by itself; but news of having been out of sight can come
   * late, after the page's report, and then a page that lives would never be told anything again.
   */
  seen(): void {
    if (!this.ready) void this.webview.postMessage({ type: "there" } satisfies ToView);
  }

  focus(): void {
    this.reveal();
    this.post({ type: "focus" });
  }

  /** The session to talk to, made on the first message. */
  async current(): Promise<LiveSession> {
    await this.restoring?.opened.catch(() => undefined);
    if (this.session) return this.session;
    this.opening ??= this.owner.sessions.create(this.owner.newSessionParams()).finally(() => (this.opening = undefined));
    const session = await this.opening;
    if (!this.session) this.show(session);
    return session;
  }

  async send(message: ChatMessage): Promise<void> {
    await this.guard(async () => this.owner.sessions.send(await this.current(), { ...message, images: [], whenBusy: "queue" }));
  }

  dispose(): void {
    this.listening?.dispose();
    for (const each of this.disposables) each.dispose();
  }

  private snapshot(): void {
    if (!this.ready) return;
    this.session?.flush();
    const data = this.session?.data ?? { ...emptyConversation(), sessionId: this.restoring?.sessionId ?? null, mode: startingMode() };
    this.post({ type: "snapshot", data, serial: this.session?.serial ?? 0 });
  }

  private async receive(message: ToHost): Promise<void> {
    if (message.type === "complete" || message.type === "send") this.seen(); // someone writes there
    await this.guard(() => this.handle(message));
  }

  private async guard(work: () => Promise<void> | void): Promise<void> {
    try {
      await work();
    } catch (error) {
      const text = explain(error);
      if (this.session) this.session.dispatch({ type: "notice", level: "error", text });
      else void vscode.window.showErrorMessage(`Assent: ${text}`);
    }
  }

  private async handle(message: ToHost): Promise<void> {
    const { sessions, server, review, diff } = this.owner;
    const session = this.session;
    switch (message.type) {
      case "ready":
        this.ready = true;
        this.post({ type: "surroundings", value: this.owner.surroundings() });
        this.snapshot();
        for (const each of this.early.splice(0)) this.post(each);
        void server.start();
        break;
      case "focused":
        this.owner.use(this);
        break;
      case "send":
        await sessions.send(await this.current(), message);
        break;
      case "stop":
        if (session) await sessions.interrupt(session);
        break;
      case "resume":
        await sessions.resume(await this.current());
        break;
      case "retry":
        await this.retry();
        break;
      case "resend":
        await this.resend(message.messageId, message.text);
        break;
      case "rewind":
        await this.rewind(message.messageId);
        break;
      case "fork": {
        if (!session) break;
        await this.fork(session, message.messageId);
        break;
      }
      case "unqueue":
        if (session) await this.unqueue(session, message.clientMessageId, message.edit);
        break;
      case "sendKept":
        if (session) await sessions.sendKept(session, message.clientMessageId);
        break;
      case "takeOver":
        if (session) await sessions.takeOver(session);
        break;
      case "copySession": {
        if (!session) break;
        const copied = await sessions.request<Forked>(METHODS.sessionFork, { sessionId: session.sessionId });
        this.show(await sessions.open(copied.sessionId));
        break;
      }
      case "answerAsk": {
        const ask = sessions.pendingAsks().find((each) => each.askId === message.askId);
        sessions.answerAsk(message.askId, review.withDrafts(ask, message.answer));
        if (this.session && message.mode) await sessions.goOnIn(this.session, message.mode);
        break;
      }
      case "answerElicit":
        sessions.answerElicit(message.elicitId, message.answer);
        break;
      case "showDiff":
        await diff.showProposal(message.proposalId);
        break;
      case "decide":
        await review.decideAll(
          review.list().filter((proposal) => message.proposalIds.includes(proposal.proposalId)),
          message.decision,
        );
        break;
      case "openText":
        await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: message.language, content: message.text }));
        break;
      case "complete":
        await this.complete(message);
        break;
      case "sessions":
        await this.list(message);
        break;
      case "openSession":
        this.show(await sessions.open(message.sessionId));
        break;
      case "deleteSession":
        await this.remove(message.sessionId);
        break;
      case "renameSession":
        await this.rename(message.sessionId);
        break;
      case "newSession":
        this.show(undefined);
        break;
      case "openInTab":
        await this.owner.openTab(session);
        break;
      case "configure":
        await this.configure(message.model, message.mode);
        break;
      case "context":
        await this.context();
        break;
      case "cost":
        await this.cost();
        break;
      case "older":
        if (session) await sessions.older(session);
        break;
      case "copy":
        await vscode.env.clipboard.writeText(message.text);
        break;
      case "insertCode":
        await insertCode(message.text);
        break;
      case "applyCode":
        await this.applyCode(message.text);
        break;
      case "openLink":
        await openLink(message.link);
        break;
      case "image": {
        const data = await workspaceImage(message.path);
        if (data) this.post({ type: "image", path: message.path, data });
        break;
      }
      case "openFile":
        await openFile(message.path, message.line);
        break;
      case "dropped":
        this.post({ type: "insert", text: "", mentions: message.uris.flatMap(chipOf), replace: false });
        break;
      case "command":
        if (message.command.startsWith("assent.")) await vscode.commands.executeCommand(message.command);
        break;
      case "draft":
        this.draft = message.draft;
        break;
    }
  }

  get hasDraft(): boolean {
    return this.draft.text !== "";
  }

  private async complete(message: Extract<ToHost, { type: "complete" }>): Promise<void> {
    const { text, offset, requestId } = message;
    const found = await this.owner.sessions
      .request<Completions>(METHODS.complete, { text, offset, ...(this.session ? { sessionId: this.session.sessionId } : {}) })
      .catch(() => ({ items: [] }));
    this.post({ type: "completions", requestId, items: found.items });
  }

  private async list(message: Extract<ToHost, { type: "sessions" }>): Promise<void> {
    const { query, cursor, requestId } = message;
    try {
      const method = query ? METHODS.sessionSearch : METHODS.sessionList;
      const page = await this.owner.sessions.request<SessionPage>(method, { ...(query ? { query } : {}), ...(cursor ? { cursor } : {}) });
      this.post({ type: "sessions", requestId, sessions: page.sessions, ...(page.nextCursor ? { nextCursor: page.nextCursor } : {}) });
    } catch (error) {
      this.post({ type: "sessions", requestId, sessions: [], error: explain(error) });
    }
  }

  private async remove(sessionId: string): Promise<void> {
    const sure = await vscode.window.showWarningMessage("Delete this conversation? Its messages are gone afterwards.", { modal: true }, "Delete");
    if (sure !== "Delete") return;
    await this.owner.sessions.request(METHODS.sessionDelete, { sessionId });
    this.owner.sessions.forget(sessionId);
    this.owner.dropped(sessionId);
    this.post({ type: "showHistory" });
  }

  private async rename(sessionId: string): Promise<void> {
    const title = await vscode.window.showInputBox({ title: "Rename conversation", prompt: "A short name for it" });
    if (!title?.trim()) return;
    await this.owner.sessions.request(METHODS.sessionRename, { sessionId, title: title.trim() });
    this.post({ type: "showHistory" });
  }

  private async configure(model: string | undefined, mode: Mode | undefined): Promise<void> {
    const chosen = model === "…" ? (await vscode.window.showInputBox({ title: "Model", prompt: "The model's full name" }))?.trim() : model;
    if (!chosen && !mode) return;
    if (chosen) await this.owner.remember(chosen);
    const session = await this.current();
    await this.owner.sessions.configure(session, { ...(chosen ? { model: chosen } : {}), ...(mode ? { mode } : {}) });
  }

  private async retry(): Promise<void> {
    if (this.session?.data.interrupted && this.session.cutAt) return this.owner.sessions.retry(this.session);
    const last = this.session?.data.items.findLast((item) => item.kind === "user");
    if (last?.kind !== "user") return;
    if (last.messageId) await this.resend(last.messageId, last.text);
    else await this.owner.sessions.send(await this.current(), { text: last.text, images: last.images, mentions: last.mentions, whenBusy: "queue" });
  }

  private async resend(messageId: string, text: string): Promise<void> {
    const session = this.session;
    if (!session) return;
    const old = session.data.items.find((item) => item.kind === "user" && item.messageId === messageId);
    const images = old?.kind === "user" ? old.images : [];
    if (session.data.running) await this.owner.sessions.interrupt(session);
    const probe = await this.probe(session, messageId);
    const changed = probe.files.length + probe.conflicts.length > 0;
    const restore = changed ? await this.askRestore(probe, "Send again from here", false) : "conversation";
    if (!restore) return void this.post({ type: "insert", text, mentions: [], replace: !this.hasDraft });
    await this.owner.sessions.request<Rewound>(METHODS.sessionRewind, { sessionId: session.sessionId, messageId, restore });
    session.dispatch({ type: "truncated", messageId });
    await this.owner.sessions.send(session, { text, images, mentions: [], whenBusy: "queue" });
  }

  private async unqueue(session: LiveSession, clientMessageId: string, edit: boolean): Promise<void> {
    const message = session.data.queue.find((each) => each.clientMessageId === clientMessageId);
    if (!(await this.owner.sessions.unqueue(session, clientMessageId))) throw new Error("It is too late to take this message back: its turn has come.");
    if (!edit || !message) return;
    const mentions = message.mentions.flatMap((mention) => chipOf(mention.uri).map((chip) => ({ ...chip, ...mention })));
    this.post({ type: "insert", text: message.text, mentions, images: message.images, replace: !this.hasDraft });
    this.post({ type: "focus" });
  }

  private async rewind(messageId: string): Promise<void> {
    const session = this.session;
    if (!session) return;
    const restore = await this.askRestore(await this.probe(session, messageId), "Rewind to before this message", true);
    if (!restore) return;
    const prompt = session.data.items.find((item) => item.kind === "user" && item.messageId === messageId);
    await this.owner.sessions.request<Rewound>(METHODS.sessionRewind, { sessionId: session.sessionId, messageId, restore });
    if (restore === "code") return;
    session.dispatch({ type: "truncated", messageId });
    // Whoever goes back usually wants to say it differently.
    if (prompt?.kind === "user" && !this.hasDraft) this.post({ type: "insert", text: prompt.text, mentions: [], replace: true });
  }

  /** What going back would do to the files. */
  private probe(session: LiveSession, messageId: string): Promise<Rewound> {
    return this.owner.sessions.request<Rewound>(METHODS.sessionRewind, { sessionId: session.sessionId, messageId, restore: "both", dryRun: true });
  }

  /** Asks what should go back; undefined when the user thinks better of it. */
  private async askRestore(probe: Rewound, title: string, filesOnly: boolean): Promise<SessionRewind["restore"] | undefined> {
    const files = probe.files.map((file) => `${file.change} ${vscode.workspace.asRelativePath(file.path)}`).join(", ");
    const detail = files || "No files were changed since.";
    const options: { label: string; restore: SessionRewind["restore"]; detail: string }[] = [
      { label: "Conversation and files", restore: "both", detail },
      { label: "Conversation only", restore: "conversation", detail: "Files stay as they are." },
      ...(filesOnly ? [{ label: "Files only", restore: "code" as const, detail }] : []),
    ];
    const placeHolder = probe.conflicts.length ? `${probe.conflicts.length} files changed since by someone else will be left alone` : "What should be restored?";
    return (await vscode.window.showQuickPick(options, { title, placeHolder }))?.restore;
  }

  /** A conversation of its own up to before this message, with its words in the box, to be said differently. */
  private async fork(session: LiveSession, messageId: string): Promise<void> {
    const prompt = session.data.items.find((item) => item.kind === "user" && item.messageId === messageId);
    const forked = await this.owner.sessions.request<Forked>(METHODS.sessionFork, { sessionId: session.sessionId, messageId, before: true });
    this.show(await this.owner.sessions.open(forked.sessionId));
    if (prompt?.kind === "user") this.post({ type: "insert", text: prompt.text, mentions: [], images: prompt.images, replace: !this.hasDraft });
    this.post({ type: "focus" });
  }

  private async context(): Promise<void> {
    if (!this.session) return;
    const usage = await this.owner.sessions.request<ContextUsage>(METHODS.sessionContext, { sessionId: this.session.sessionId });
    const rows = Object.entries(usage.tokens)
      .filter(([, tokens]) => tokens > 0)
      .map(([name, tokens]) => ({ label: CONTEXT_PARTS[name] ?? name, value: count(tokens), share: tokens / Math.max(1, usage.window) }));
    this.post({
      type: "facts",
      title: `Context: ${count(usage.used)} of ${count(usage.window)} tokens`,
      rows,
      note: `Compacts by itself at ${count(usage.autoCompactAt)} tokens; /compact does it now.`,
    });
  }

  private async cost(): Promise<void> {
    if (!this.session) return;
    const cost = await this.owner.sessions.request<Cost>(METHODS.sessionCost, { sessionId: this.session.sessionId });
    const rows = cost.models.map((model) => ({ label: String(model["model"] ?? ""), value: `$${Number(model["costUsd"] ?? 0).toFixed(4)}` }));
    this.post({ type: "facts", title: `Cost: $${cost.totalCostUsd.toFixed(4)}`, rows, note: `${Math.round(cost.cacheShare * 100)} % of the input came from the cache.` });
  }

  /** Code from an answer goes through the agent, so that it lands as a reviewed edit where it belongs. */
  private async applyCode(code: string): Promise<void> {
    const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
    if (!editor) {
      void vscode.window.showInformationMessage("Assent: open the file this code belongs to first.");
      return;
    }
    const fence = "`".repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map((run) => run[0].length + 1)));
    await this.send({
      text: `Apply this code to ${vscode.workspace.asRelativePath(editor.document.uri)}:\n\n${fence}\n${code}\n${fence}`,
      mentions: [{ uri: editor.document.uri.toString() }],
    });
  }
}
