/** One chat on the screen: a webview, the session it shows, and what the user does there. */
import * as vscode from "vscode";
import { emptyConversation } from "../shared/conversation";
import type { Draft, ToHost, ToView } from "../shared/bridge";
import { chooseAttachment } from "./attaching";
import { chatPage } from "./chatPage";
import type { ChatView } from "./chatView";
import { applyPrompt, chipOf, chipOfText, insertCode, openFile, openLink, workspaceImage } from "./editorLinks";
import type { LiveSession } from "./liveSession";
import { ConversationHistory } from "./conversationHistory";
import { chooseModel } from "./modelChoice";
import { METHODS, type Completions, type ContextUsage, type Cost, type Forked, type Mention, type Mode, type Sessions as SessionPage } from "./protocol";
import { contextFacts, costFacts } from "./sessionFacts";
import { explain } from "./sessions";
import { tell } from "./words";

export interface ChatMessage {
  text: string;
  mentions: Mention[];
}

/** What the next conversation of a chat shall be like, chosen before there is one. */
interface Wish {
  model?: string;
  mode?: Mode;
}

export class ChatSurface implements vscode.Disposable {
  session: LiveSession | undefined;
  private draft: Draft = { text: "", images: [], mentions: [] };
  private readonly disposables: vscode.Disposable[] = [];
  private listening: vscode.Disposable | undefined;
  private ready = false;
  private readonly early: ToView[] = [];
  private opening: Promise<LiveSession> | undefined;
  private wish: Wish = {};
  private choosing: Promise<void> = Promise.resolve();
  private readonly history: ConversationHistory;
  private restoring: { sessionId: string; opened: Promise<LiveSession> } | undefined;

  constructor(
    private readonly owner: ChatView,
    readonly webview: vscode.Webview,
    readonly kind: "view" | "tab",
    private readonly reveal: () => void,
    private readonly shows: (session: LiveSession) => void,
  ) {
    this.history = new ConversationHistory(this, owner.sessions);
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
    this.wish = {};
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
    else if (message.type === "insert" || message.type === "focus" || message.type === "showHistory" || message.type === "find") this.early.push(message);
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
    this.opening ??= this.owner.sessions.create({ ...this.owner.newSessionParams(), ...this.wish }).finally(() => (this.opening = undefined));
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
    const data = this.session?.data ?? {
      ...emptyConversation(),
      sessionId: this.restoring?.sessionId ?? null,
      mode: this.wish.mode ?? this.owner.startingMode(),
      model: this.wish.model ?? "",
    };
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
      else void tell.error(`Assent: ${text}`);
    }
  }

  private async handle(message: ToHost): Promise<void> {
    const { contexts, sessions, server, review, diff } = this.owner;
    const session = this.session;
    switch (message.type) {
      case "ready":
        this.ready = true;
        this.post({ type: "surroundings", value: this.owner.surroundings(this) });
        this.post({ type: "active", chip: this.owner.active() });
        this.snapshot();
        for (const each of this.early.splice(0)) this.post(each);
        void server.start();
        break;
      case "focused":
        this.owner.use(this);
        break;
      case "send":
        await this.choosing; // what was chosen before the message counts for it
        await sessions.send(await this.current(), {
          ...message,
          mentions: await contexts.resolve([...message.mentions, ...(await contexts.named(message.text, message.mentions))]),
        });
        break;
      case "stop":
        if (session) await sessions.interrupt(session);
        break;
      case "resume":
        await sessions.resume(await this.current());
        break;
      case "retry":
        await this.history.retry();
        break;
      case "resend":
        await this.history.resend(message.messageId, message.text, await contexts.resolve(message.mentions));
        break;
      case "rewind":
        await this.history.rewind(message.messageId);
        break;
      case "fork":
        await this.history.fork(message.messageId);
        break;
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
      case "applyCode": {
        const prompt = applyPrompt(message.text);
        if (prompt) await this.send(prompt);
        else void vscode.window.showInformationMessage("Assent: open the file this code belongs to first.");
        break;
      }
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
      case "attach": {
        const chosen = await chooseAttachment(contexts);
        if (chosen) this.post({ type: "insert", replace: false, ...chosen });
        this.post({ type: "focus" });
        break;
      }
      case "snip":
        await this.history.snip(message.messageIds);
        break;
      case "unsnip":
        if (session) await sessions.request(METHODS.sessionUnsnip, { sessionId: session.sessionId, snipId: message.snipId });
        break;
      case "toBackground":
        if (this.session) await this.owner.sessions.request(METHODS.jobBackground, { sessionId: this.session.sessionId, toolUseId: message.toolUseId });
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
    const query = /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, offset))?.[1];
    const { contexts, sessions } = this.owner;
    const files = sessions.request<Completions>(METHODS.complete, { text, offset, ...(this.session ? { sessionId: this.session.sessionId } : {}) }).catch(() => ({ items: [] }));
    const own = query === undefined ? [] : await contexts.offers(query);
    const { items } = await files;
    // Nothing is called like this: perhaps something in a file is.
    const more = query && own.length + items.length === 0 ? await contexts.symbols(query) : [];
    const known = new Set(own.map((each) => each.insertText));
    this.post({ type: "completions", requestId, items: [...own, ...items.filter((each) => !known.has(each.insertText)), ...more] });
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
    const chosen = model === "…" ? await chooseModel((method, params) => this.owner.sessions.request(method, params)) : model;
    if (!chosen && !mode) return;
    const change = { ...(chosen ? { model: chosen } : {}), ...(mode ? { mode } : {}) };
    const done = this.choosing.then(() => this.change(change));
    this.choosing = done.catch(() => undefined); // its failure is told by whoever chose
    if (chosen) await this.owner.remember(chosen);
    if (mode) await this.owner.keepMode(mode);
    await done;
  }

  private async change(change: Wish): Promise<void> {
    await (this.restoring?.opened ?? this.opening)?.catch(() => undefined);
    if (this.session) return this.owner.sessions.configure(this.session, change);
    this.wish = { ...this.wish, ...change };
    this.snapshot();
  }

  private async unqueue(session: LiveSession, clientMessageId: string, edit: boolean): Promise<void> {
    const message = session.data.queue.find((each) => each.clientMessageId === clientMessageId);
    if (!(await this.owner.sessions.unqueue(session, clientMessageId))) throw new Error("It is too late to take this message back: its turn has come.");
    if (!edit || !message) return;
    const mentions = message.mentions.flatMap((mention) => (mention.text === undefined ? chipOf(mention.uri).map((chip) => ({ ...chip, ...mention })) : [chipOfText(mention)]));
    this.post({ type: "insert", text: message.text, mentions, images: message.images, replace: !this.hasDraft });
    this.post({ type: "focus" });
  }

  private async context(): Promise<void> {
    if (!this.session) return;
    const usage = await this.owner.sessions.request<ContextUsage>(METHODS.sessionContext, { sessionId: this.session.sessionId });
    this.post(contextFacts(usage));
  }

  private async cost(): Promise<void> {
    if (!this.session) return;
    const cost = await this.owner.sessions.request<Cost>(METHODS.sessionCost, { sessionId: this.session.sessionId });
    this.post(costFacts(cost));
  }
}
