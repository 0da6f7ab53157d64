/** The chat, in the side bar or as editor tabs: each surface shows one session and passes on what the user does there. */
import * as path from "node:path";
import * as vscode from "vscode";
import { count, emptyConversation } from "../webview/conversation";
import type { Draft, MentionChip, ToHost, ToView } from "../webview/bridge";
import { chatPage } from "./chatPage";
import { METHODS, type Completions, type ContextUsage, type Cost, type Forked, type Json, type Mention, type Mode, type Rewound, type Sessions as SessionPage } from "./protocol";
import type { Review } from "./review";
import type { ServerProcess } from "./serverProcess";
import { explain, type LiveSession, type Sessions } from "./sessions";
import { setting } from "./settings";

const SIDEBAR_SESSION = "assent.sidebarSession";
const RECENT_MODELS = "assent.recentModels";

export interface ChatMessage {
  text: string;
  mentions: Mention[];
}

/** One webview and the session it shows. */
class ChatSurface implements vscode.Disposable {
  session: LiveSession | undefined;
  private draft: Draft = { text: "", images: [], mentions: [] };
  private readonly disposables: vscode.Disposable[] = [];
  private listening: vscode.Disposable | undefined;
  private ready = false;
  private readonly early: ToView[] = [];
  private opening: Promise<LiveSession> | undefined;

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

  show(session: LiveSession | undefined): void {
    this.listening?.dispose();
    this.session = session;
    this.listening =
      session &&
      vscode.Disposable.from(
        session.onActions(({ actions, serial }) => this.post({ type: "actions", actions, serial })),
        session.onReset(() => this.snapshot()),
      );
    if (session) this.shows(session);
    this.snapshot();
  }

  post(message: ToView): void {
    if (this.ready) void this.webview.postMessage(message);
    else if (message.type === "insert" || message.type === "focus" || message.type === "showHistory") this.early.push(message);
  }

  focus(): void {
    this.reveal();
    this.post({ type: "focus" });
  }

  /** The session to talk to, made on the first message. */
  async current(): Promise<LiveSession> {
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
    const data = this.session?.data ?? { ...emptyConversation(), mode: setting<Mode>("mode", "default"), model: this.owner.server.status?.model ?? "" };
    this.post({ type: "snapshot", data, serial: this.session?.serial ?? 0 });
  }

  private async receive(message: ToHost): Promise<void> {
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
    const { sessions, server, review } = this.owner;
    const session = this.session;
    switch (message.type) {
      case "ready":
        this.ready = true;
        this.post({ type: "surroundings", value: this.owner.surroundings() });
        this.snapshot();
        for (const each of this.early.splice(0)) this.post(each);
        void server.start();
        break;
      case "send":
        await sessions.send(await this.current(), message);
        break;
      case "stop":
        if (session) await sessions.interrupt(session);
        break;
      case "resume":
        await sessions.send(await this.current(), { text: "Continue where you left off.", images: [], mentions: [], whenBusy: "queue" });
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
        const forked = await sessions.request<Forked>(METHODS.sessionFork, { sessionId: session.sessionId, messageId: message.messageId });
        this.show(await sessions.open(forked.sessionId));
        break;
      }
      case "answerAsk":
        sessions.answerAsk(message.askId, message.answer);
        break;
      case "answerElicit":
        sessions.answerElicit(message.elicitId, message.answer);
        break;
      case "showDiff":
        await review.show(message.proposalId);
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
    await this.owner.sessions.request<Rewound>(METHODS.sessionRewind, { sessionId: session.sessionId, messageId, restore: "conversation" });
    session.dispatch({ type: "truncated", messageId });
    await this.owner.sessions.send(session, { text, images, mentions: [], whenBusy: "queue" });
  }

  private async rewind(messageId: string): Promise<void> {
    const session = this.session;
    if (!session) return;
    const probe = await this.owner.sessions.request<Rewound>(METHODS.sessionRewind, { sessionId: session.sessionId, messageId, restore: "both", dryRun: true });
    const files = probe.files.map((file) => `${file.change} ${vscode.workspace.asRelativePath(file.path)}`).join(", ");
    const options = [
      { label: "Conversation and files", restore: "both" as const, detail: files || "No files were changed since." },
      { label: "Conversation only", restore: "conversation" as const, detail: "Files stay as they are." },
      { label: "Files only", restore: "code" as const, detail: files || "No files were changed since." },
    ];
    const chosen = await vscode.window.showQuickPick(options, { title: "Rewind to before this message", placeHolder: probe.conflicts.length ? `${probe.conflicts.length} files changed since by someone else will be left alone` : "What should be restored?" });
    if (!chosen) return;
    await this.owner.sessions.request<Rewound>(METHODS.sessionRewind, { sessionId: session.sessionId, messageId, restore: chosen.restore });
    if (chosen.restore !== "code") session.dispatch({ type: "truncated", messageId });
  }

  private async context(): Promise<void> {
    if (!this.session) return;
    const usage = await this.owner.sessions.request<ContextUsage>(METHODS.sessionContext, { sessionId: this.session.sessionId });
    const rows = Object.entries(usage.tokens).map(([name, tokens]) => ({ label: name, value: count(tokens), share: tokens / Math.max(1, usage.window) }));
    this.post({ type: "facts", title: `Context: ${count(usage.used)} of ${count(usage.window)} tokens`, rows, note: `Compacts by itself at ${count(usage.autoCompactAt)} tokens; /compact does it now.` });
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
    await this.send({ text: `Apply this code to ${vscode.workspace.asRelativePath(editor.document.uri)}:\n\n${fence}\n${code}\n${fence}`, mentions: [{ uri: editor.document.uri.toString() }] });
  }
}

export class ChatView implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer<{ sessionId?: string }>, vscode.Disposable {
  private sidebar: { view: vscode.WebviewView; surface: ChatSurface } | undefined;
  private readonly tabs = new Map<vscode.WebviewPanel, ChatSurface>();
  private lastUsed: ChatSurface | undefined;
  private readonly disposables: vscode.Disposable[] = [];

  constructor(
    readonly context: vscode.ExtensionContext,
    readonly server: ServerProcess,
    readonly sessions: Sessions,
    readonly review: Review,
  ) {
    this.disposables.push(
      vscode.window.registerWebviewViewProvider("assent.chat", this),
      vscode.window.registerWebviewPanelSerializer("assent.chatTab", this),
      server.onDidChange(() => this.tellSurroundings()),
      sessions.onWaiting(() => this.badge()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("assent")) this.tellSurroundings();
      }),
    );
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const surface = new ChatSurface(
      this,
      view.webview,
      "view",
      () => view.show(true),
      (session) => void this.context.workspaceState.update(SIDEBAR_SESSION, session.sessionId),
    );
    this.sidebar = { view, surface };
    this.lastUsed ??= surface;
    view.onDidDispose(() => {
      surface.dispose();
      if (this.sidebar?.view === view) this.sidebar = undefined;
      if (this.lastUsed === surface) this.lastUsed = undefined;
    });
    this.badge();
    const sessionId = this.pending ?? this.context.workspaceState.get<string>(SIDEBAR_SESSION);
    this.pending = undefined;
    if (sessionId) void this.restore(surface, sessionId);
  }
  private pending: string | undefined;

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: { sessionId?: string } | undefined): Promise<void> {
    const surface = this.adopt(panel);
    if (state?.sessionId) await this.restore(surface, state.sessionId);
  }

  async openTab(session?: LiveSession): Promise<void> {
    const panel = vscode.window.createWebviewPanel("assent.chatTab", "Assent", vscode.ViewColumn.Active, { enableScripts: true });
    this.adopt(panel).show(session);
  }

  /** The surface the user used last; the side bar when there is none. */
  async surface(): Promise<ChatSurface> {
    if (this.lastUsed) return this.lastUsed;
    await vscode.commands.executeCommand("assent.chat.focus");
    for (let tries = 0; !this.sidebar && tries < 100; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20));
    if (!this.sidebar) throw new Error("The chat view could not be opened.");
    return this.sidebar.surface;
  }

  /** Starts a turn with these words in the chat the user is using, and shows it. */
  async send(message: ChatMessage): Promise<void> {
    const surface = await this.surface();
    surface.focus();
    await surface.send(message);
  }

  /** Puts words or files into the chat's input for the user to finish. */
  async compose(text: string, mentions: MentionChip[], replace = false): Promise<void> {
    const surface = await this.surface();
    surface.post({ type: "insert", text, mentions, replace });
    surface.focus();
  }

  async showSession(sessionId: string): Promise<void> {
    const shown = [this.sidebar?.surface, ...this.tabs.values()].find((surface) => surface?.session?.sessionId === sessionId);
    if (shown) return shown.focus();
    const surface = await this.surface();
    surface.show(await this.sessions.open(sessionId));
    surface.focus();
  }

  async newChat(): Promise<void> {
    const surface = await this.surface();
    surface.show(undefined);
    surface.focus();
    await this.context.workspaceState.update(SIDEBAR_SESSION, undefined);
  }

  async showHistory(): Promise<void> {
    const surface = await this.surface();
    surface.focus();
    surface.post({ type: "showHistory" });
  }

  async currentSession(): Promise<LiveSession | undefined> {
    return this.lastUsed?.session ?? this.sidebar?.surface.session;
  }

  isShown(sessionId: string): boolean {
    if (this.sidebar?.view.visible && this.sidebar.surface.session?.sessionId === sessionId) return true;
    return [...this.tabs].some(([panel, surface]) => panel.visible && surface.session?.sessionId === sessionId);
  }

  newSessionParams(): Json {
    const model = setting("model", "");
    return { ...(model ? { model } : {}), mode: setting<Mode>("mode", "default") };
  }

  surroundings(): Extract<ToView, { type: "surroundings" }>["value"] {
    const models = [setting("model", ""), ...this.context.globalState.get<string[]>(RECENT_MODELS, []), this.server.status?.model ?? ""].filter(Boolean);
    return { server: this.server.panel, banners: this.server.banners(), models: [...new Set(models)], roots: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath + path.sep), showThinking: setting("chat.showThinking", false), sendWithEnter: setting("chat.sendWithEnter", true) };
  }

  async remember(model: string): Promise<void> {
    const recent = this.context.globalState.get<string[]>(RECENT_MODELS, []);
    await this.context.globalState.update(RECENT_MODELS, [model, ...recent.filter((each) => each !== model)].slice(0, 8));
    this.tellSurroundings();
  }

  dropped(sessionId: string): void {
    for (const surface of [this.sidebar?.surface, ...this.tabs.values()]) if (surface?.session?.sessionId === sessionId) surface.show(undefined);
  }

  dispose(): void {
    for (const [panel, surface] of this.tabs) {
      surface.dispose();
      panel.dispose();
    }
    this.sidebar?.surface.dispose();
    for (const each of this.disposables) each.dispose();
  }

  private adopt(panel: vscode.WebviewPanel): ChatSurface {
    panel.iconPath = vscode.Uri.joinPath(this.context.extensionUri, "media", "icon.svg");
    const surface = new ChatSurface(
      this,
      panel.webview,
      "tab",
      () => panel.reveal(undefined, false),
      (session) => (panel.title = session.data.title || "Assent"),
    );
    this.tabs.set(panel, surface);
    this.lastUsed = surface;
    panel.onDidChangeViewState(() => {
      if (panel.active) this.lastUsed = surface;
    });
    panel.onDidDispose(() => {
      surface.dispose();
      this.tabs.delete(panel);
      if (this.lastUsed === surface) this.lastUsed = this.sidebar?.surface;
    });
    return surface;
  }

  private async restore(surface: ChatSurface, sessionId: string): Promise<void> {
    try {
      surface.show(await this.sessions.open(sessionId));
    } catch (error) {
      this.server.log.warn(`could not restore ${sessionId}: ${explain(error)}`);
      surface.show(undefined);
      void vscode.window.showWarningMessage(`Assent could not open the last conversation. ${explain(error)}`, "History").then((chosen) => chosen && this.showHistory());
    }
  }

  private badge(): void {
    if (!this.sidebar) return;
    const waiting = this.sessions.pendingAsks().length + this.sessions.pendingElicits().length;
    this.sidebar.view.badge = waiting > 0 ? { value: waiting, tooltip: `${waiting} waiting for your answer` } : undefined;
  }

  private tellSurroundings(): void {
    const value = this.surroundings();
    for (const surface of [this.sidebar?.surface, ...this.tabs.values()]) surface?.post({ type: "surroundings", value });
  }
}

async function insertCode(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) {
    const document = await vscode.workspace.openTextDocument({ content: text });
    await vscode.window.showTextDocument(document, { preserveFocus: true });
    return;
  }
  await editor.edit((builder) => editor.selections.forEach((selection) => builder.replace(selection, text)));
}

/** A link in an answer: the web in the browser, after the editor's own question; a file of the workspace in the editor. */
export async function openLink(link: string): Promise<void> {
  if (/^(https?|mailto):/i.test(link)) {
    await vscode.env.openExternal(vscode.Uri.parse(link, true));
    return;
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return;
  const [file = "", line] = link.split(/#L|:(?=\d)/);
  await openFile(decodeURIComponent(file), line ? Number.parseInt(line, 10) : undefined);
}

async function openFile(file: string, line?: number): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const uri = path.isAbsolute(file) ? vscode.Uri.file(file) : folder ? vscode.Uri.joinPath(folder, file) : undefined;
  if (!uri) return;
  const at = line ? new vscode.Position(line - 1, 0) : undefined;
  try {
    await vscode.window.showTextDocument(uri, { preview: true, ...(at ? { selection: new vscode.Range(at, at) } : {}) });
  } catch {
    void vscode.window.showInformationMessage(`Assent: ${file} could not be opened.`);
  }
}

function chipOf(uri: string): MentionChip[] {
  try {
    const parsed = vscode.Uri.parse(uri, true);
    return parsed.scheme === "file" ? [{ uri: parsed.toString(), label: vscode.workspace.asRelativePath(parsed) }] : [];
  } catch {
    return [];
  }
}
