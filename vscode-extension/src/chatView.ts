/** The chat's places: the side bar and editor tabs. Makes the surfaces, knows which was used last, restores them. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { MentionChip, ToView } from "../shared/bridge";
import { ChatSurface, type ChatMessage } from "./chatSurface";
import type { LiveSession } from "./liveSession";
import type { Json } from "./protocol";
import type { Review } from "./review";
import type { ReviewDiff } from "./reviewDiff";
import type { ServerProcess } from "./serverProcess";
import { explain, type Sessions } from "./sessions";
import { setting, startingMode } from "./settings";

const SIDEBAR_SESSION = "assent.sidebarSession";
const RECENT_MODELS = "assent.recentModels";

export class ChatView implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer<{ sessionId?: string }>, vscode.Disposable {
  private sidebar: { view: vscode.WebviewView; surface: ChatSurface } | undefined;
  private readonly tabs = new Map<vscode.WebviewPanel, ChatSurface>();
  private lastUsed: ChatSurface | undefined;
  private readonly disposables: vscode.Disposable[] = [];

  private readonly hid = new vscode.EventEmitter<void>();
  /** A chat went out of view, or away. */
  readonly onHidden = this.hid.event;
  private readonly showed = new vscode.EventEmitter<void>();
  /** A chat shows another conversation, or the user went to another chat. */
  readonly onShown = this.showed.event;

  constructor(
    readonly context: vscode.ExtensionContext,
    readonly server: ServerProcess,
    readonly sessions: Sessions,
    readonly review: Review,
    readonly diff: ReviewDiff,
  ) {
    this.disposables.push(
      this.hid,
      this.showed,
      vscode.window.registerWebviewViewProvider("assent.chat", this),
      vscode.window.registerWebviewPanelSerializer("assent.chatTab", this),
      server.onDidChange(() => this.tellSurroundings()),
      sessions.onWaiting(() => this.badge()),
      sessions.onEvent(({ session, params }) => {
        if (params.event.type !== "turnStarted") return;
        for (const [panel, surface] of this.tabs) if (surface.session === session) panel.title = titleOf(session);
      }),
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
      () => view.show(false),
      (session) => void this.context.workspaceState.update(SIDEBAR_SESSION, session.sessionId),
    );
    this.sidebar = { view, surface };
    this.lastUsed ??= surface;
    view.onDidChangeVisibility(() => {
      if (view.visible) return surface.seen();
      surface.hidden();
      this.hid.fire();
    });
    view.onDidDispose(() => {
      surface.dispose();
      if (this.sidebar?.view === view) this.sidebar = undefined;
      if (this.lastUsed === surface) this.lastUsed = undefined;
      this.hid.fire();
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
    if (surface === this.sidebar?.surface) await this.context.workspaceState.update(SIDEBAR_SESSION, undefined);
  }

  async showHistory(): Promise<void> {
    const surface = await this.surface();
    surface.focus();
    surface.post({ type: "showHistory" });
  }

  currentSession(): LiveSession | undefined {
    return this.lastUsed?.session ?? this.sidebar?.surface.session;
  }

  /** Told by a chat when it shows another conversation. */
  shown(): void {
    this.showed.fire();
  }

  use(surface: ChatSurface | undefined): void {
    if (this.lastUsed === surface) return;
    this.lastUsed = surface;
    this.showed.fire();
  }

  useSideBar(): void {
    this.use(this.sidebar?.surface ?? this.lastUsed);
  }

  isShown(sessionId: string): boolean {
    if (this.sidebar?.view.visible && this.sidebar.surface.session?.sessionId === sessionId) return true;
    return [...this.tabs].some(([panel, surface]) => panel.visible && surface.session?.sessionId === sessionId);
  }

  newSessionParams(): Json {
    const model = setting("model", "");
    return { ...(model ? { model } : {}), mode: startingMode() };
  }

  surroundings(): Extract<ToView, { type: "surroundings" }>["value"] {
    const models = [setting("model", ""), ...this.context.globalState.get<string[]>(RECENT_MODELS, []), this.server.status?.model ?? ""].filter(Boolean);
    return {
      server: this.server.panel,
      banners: this.server.banners(),
      models: [...new Set(models)],
      model: this.server.status?.model ?? "",
      roots: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath + path.sep),
      showThinking: setting("chat.showThinking", false),
      sendWithEnter: setting("chat.sendWithEnter", true),
    };
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
    const icon = (shade: string): vscode.Uri => vscode.Uri.joinPath(this.context.extensionUri, "media", `icon-${shade}.svg`);
    panel.iconPath = { light: icon("light"), dark: icon("dark") };
    const surface = new ChatSurface(
      this,
      panel.webview,
      "tab",
      () => panel.reveal(undefined, false),
      (session) => (panel.title = titleOf(session)),
    );
    this.tabs.set(panel, surface);
    this.use(surface);
    panel.onDidChangeViewState(() => {
      if (panel.active) this.use(surface);
      if (panel.visible) return surface.seen();
      surface.hidden();
      this.hid.fire();
    });
    panel.onDidDispose(() => {
      surface.dispose();
      this.tabs.delete(panel);
      if (this.lastUsed === surface) this.use(this.sidebar?.surface);
      this.hid.fire();
    });
    return surface;
  }

  private async restore(surface: ChatSurface, sessionId: string): Promise<void> {
    try {
      const opened = this.sessions.open(sessionId);
      await surface.restore(sessionId, opened);
      await this.sessions.outlast(await opened);
    } catch (error) {
      this.server.log.warn(`could not restore ${sessionId}: ${explain(error)}`);
      void vscode.window.showWarningMessage(`Assent could not open the last conversation. ${explain(error)}`, "History").then((chosen) => chosen && this.showHistory());
    }
  }

  private badge(): void {
    if (!this.sidebar) return;
    // An edit that waits is counted by its hunks, in the review list beside this view.
    const waiting = this.sessions.pendingAsks().filter((ask) => !ask.proposal).length + this.sessions.pendingElicits().length;
    this.sidebar.view.badge = waiting > 0 ? { value: waiting, tooltip: `${waiting} waiting for your answer` } : undefined;
  }

  private tellSurroundings(): void {
    const value = this.surroundings();
    for (const surface of [this.sidebar?.surface, ...this.tabs.values()]) surface?.post({ type: "surroundings", value });
  }
}

/** A conversation's name, or its first words. */
function titleOf(session: LiveSession): string {
  const first = session.data.items.find((item) => item.kind === "user");
  const words = session.data.title || (first?.kind === "user" ? first.text.replace(/\s+/g, " ").trim() : "");
  return words.length > 32 ? `${words.slice(0, 30)}…` : words || "Assent";
}
