/** The chat's places: the side bar and editor tabs. Makes the surfaces, knows which was used last, restores them. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { Banner, MentionChip, ToView } from "../shared/bridge";
import { ChatSurface, type ChatMessage } from "./chatSurface";
import { activeChip, type ContextSources } from "./contextSources";
import type { Ideas } from "./ideas";
import type { LiveSession } from "./liveSession";
import type { Json, Mode } from "./protocol";
import type { Review } from "./review";
import type { ReviewDiff } from "./reviewDiff";
import type { ServerProcess } from "./serverProcess";
import { explain, type Sessions } from "./sessions";
import { setting, startingMode, WIDE_MODES } from "./settings";
import { tell } from "./words";

const SIDEBAR_SESSION = "assent.sidebarSession";
const RECENT_MODELS = "assent.recentModels";
const LAST_MODE = "assent.lastMode";
const ACTIVE_MS = 120;
const LONGEST_NAME = 60;

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
    readonly contexts: ContextSources,
    private readonly ideas: Ideas,
  ) {
    this.disposables.push(
      ideas.onDidChange(() => this.tellSurroundings()),
      vscode.window.onDidChangeActiveTextEditor(() => this.looksElsewhere()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) this.looksElsewhere();
      }),
      vscode.window.tabGroups.onDidChangeTabs(() => this.looksElsewhere()),
      this.hid,
      this.showed,
      vscode.window.registerWebviewViewProvider("assent.chat", this),
      vscode.window.registerWebviewPanelSerializer("assent.chatTab", this),
      server.onDidChange(() => this.tellSurroundings()),
      sessions.onWaiting(() => {
        this.badge();
        this.tellSurroundings();
      }),
      sessions.onEvent(({ session, params }) => {
        if (params.event.type !== "turnStarted" && params.event.type !== "turnFinished") return;
        for (const [panel, surface] of this.tabs) if (surface.session === session) panel.title = titleOf(session);
        this.nameView();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration("assent")) return;
        this.tellSurroundings();
        this.looksElsewhere();
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

  /** Shows a conversation, at this row of it when one is named. */
  async showSession(sessionId: string, key?: string): Promise<void> {
    const shown = [this.sidebar?.surface, ...this.tabs.values()].find((surface) => surface?.session?.sessionId === sessionId);
    const surface = shown ?? (await this.surface());
    if (!shown) surface.show(await this.sessions.open(sessionId));
    surface.focus();
    if (key) surface.post({ type: "reveal", key });
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
    this.tellSurroundings();
    this.nameView();
    this.showed.fire();
  }

  /** The conversation's name stands beside the view's. */
  private nameView(): void {
    if (!this.sidebar) return;
    const { session } = this.sidebar.surface;
    this.sidebar.view.description = session ? titleOf(session, LONGEST_NAME) : "";
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
    return { ...(model ? { model } : {}), mode: this.startingMode() };
  }

  /** The mode that was chosen here last, else the one of the settings. Asking about nothing is never kept. */
  startingMode(): Mode {
    return this.context.workspaceState.get<Mode>(LAST_MODE) ?? startingMode();
  }

  async keepMode(mode: Mode): Promise<void> {
    await this.context.workspaceState.update(LAST_MODE, mode === "bypassPermissions" ? undefined : mode);
    this.tellSurroundings();
  }

  /** The editor one looks at. A chat in a tab takes its place as the active one, and then the last one is still meant. */
  active(): MentionChip | null {
    if (!setting("chat.activeEditor", true)) return null;
    const editor = vscode.window.activeTextEditor;
    if (editor) this.lastEditor = editor;
    const open = this.lastEditor && vscode.window.visibleTextEditors.includes(this.lastEditor) ? this.lastEditor : undefined;
    return (open && activeChip(open)) ?? null;
  }
  private lastEditor: vscode.TextEditor | undefined;

  private looksElsewhere(): void {
    clearTimeout(this.looking);
    this.looking = setTimeout(() => {
      const chip = this.active();
      for (const surface of [this.sidebar?.surface, ...this.tabs.values()]) surface?.post({ type: "active", chip });
    }, ACTIVE_MS);
  }
  private looking: NodeJS.Timeout | undefined;

  async find(): Promise<void> {
    const surface = await this.surface();
    surface.focus();
    surface.post({ type: "find" });
  }

  /** What waits for the user in another conversation than the one that a chat shows, and the way there. */
  private elsewhere(surface: ChatSurface): Banner[] {
    const waiting = [...this.sessions.pendingAsks(), ...this.sessions.pendingElicits(), ...this.sessions.pendingReviews()];
    const others = new Set(waiting.map((each) => each.sessionId).filter((sessionId) => sessionId !== surface.session?.sessionId));
    const first = this.sessions.all().find((session) => others.has(session.sessionId));
    if (!first) return [];
    const more = others.size > 1 ? ` So do ${others.size - 1} more.` : "";
    return [{ kind: "info", text: `“${titleOf(first)}” waits for you in another chat.${more}`, command: "assent.showWaiting", label: "Show" }];
  }

  surroundings(surface: ChatSurface): Extract<ToView, { type: "surroundings" }>["value"] {
    const models = [setting("model", ""), ...this.context.globalState.get<string[]>(RECENT_MODELS, []), this.server.status?.model ?? ""].filter(Boolean);
    return {
      server: this.server.panel,
      banners: [...this.elsewhere(surface), ...this.server.banners()],
      models: [...new Set(models)],
      model: this.server.status?.model ?? "",
      roots: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath + path.sep),
      showThinking: setting("chat.showThinking", false),
      sendWithEnter: setting("chat.sendWithEnter", true),
      // Before the server has said which model is at hand, nothing is known to work.
      ideas: this.server.status ? this.ideas.list(this.server.status.offline) : [],
      keptMode: WIDE_MODES.includes(this.startingMode()) && this.startingMode() !== startingMode() ? this.startingMode() : null,
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
    clearTimeout(this.looking);
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
      void tell.warning(`Assent could not open the last conversation. ${explain(error)}`, "History").then((chosen) => (chosen ? this.showHistory() : undefined));
    }
  }

  private badge(): void {
    if (!this.sidebar) return;
    // An edit that waits is counted by its hunks, in the review list beside this view.
    const waiting = this.sessions.pendingAsks().filter((ask) => !ask.proposal).length + this.sessions.pendingElicits().length;
    this.sidebar.view.badge = waiting > 0 ? { value: waiting, tooltip: `${waiting} waiting for your answer` } : undefined;
  }

  private tellSurroundings(): void {
    for (const surface of [this.sidebar?.surface, ...this.tabs.values()]) surface?.post({ type: "surroundings", value: this.surroundings(surface) });
  }
}

/** A conversation's name, or its first words. */
function titleOf(session: LiveSession, longest = 32): string {
  const first = session.data.items.find((item) => item.kind === "user");
  const words = session.data.title || (first?.kind === "user" ? first.text.replace(/\s+/g, " ").trim() : "");
  return words.length > longest ? `${words.slice(0, longest - 2)}…` : words || "Assent";
}
