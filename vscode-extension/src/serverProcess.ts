/**
 * The server's life: found, installed on first run, started, watched, restarted, given up on with words.
 *
 * Owns the language client. It is not aware of sessions; whoever talks to them listens to `onDidStart`.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { access, readdir, readFile } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, State, type LanguageClientOptions, type Middleware } from "vscode-languageclient/node";
import type { Banner, ServerPanel } from "../webview/bridge";
import { METHODS, NOTIFICATIONS, type InitializationOptions, type Json, type ServerStatus } from "./protocol";
import { findServer, installServer, type Bundle, type Machine, type ServerCommand } from "./serverCommand";
import { Secrets } from "./secrets";
import { serverSettings } from "./settings";

const MAX_RESTARTS = 3;
const RESTART_WINDOW_MS = 3 * 60_000;
const LOG_KEPT = 8_000;

export class ServerProcess implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private readonly started = new vscode.EventEmitter<LanguageClient>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly asked: ((client: LanguageClient) => vscode.Disposable)[] = [];
  private client: LanguageClient | undefined;
  private crashes: number[] = [];
  private tail = "";
  private stopping = false;
  private wanted = false;
  private starting: Promise<void> | undefined;
  /** Fires on every start and restart, when requests may be sent. */
  readonly onDidStart = this.started.event;
  readonly onDidChange = this.changed.event;
  readonly log: vscode.LogOutputChannel;
  panel: ServerPanel = { kind: "starting", title: "Starting Assent", detail: "", log: "", actions: [] };
  status: ServerStatus | undefined;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly secrets: Secrets,
    private readonly middleware: Middleware,
  ) {
    this.log = vscode.window.createOutputChannel("Assent", { log: true });
    this.disposables.push(
      this.log,
      this.started,
      this.changed,
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.tellTrust()),
      secrets.onDidChange(() => void this.restart()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("assent.server")) void this.restart();
      }),
    );
  }

  get running(): boolean {
    return this.client?.state === State.Running;
  }

  /** Registers what the server may ask; applied to every client we make. */
  handle(register: (client: LanguageClient) => vscode.Disposable): void {
    this.asked.push(register);
  }

  async request<T>(method: string, params: unknown, token?: vscode.CancellationToken): Promise<T> {
    await this.start();
    if (!this.client) throw new Error(this.panel.title);
    return token ? this.client.sendRequest<T>(method, params, token) : this.client.sendRequest<T>(method, params);
  }

  start(): Promise<void> {
    this.wanted = true;
    if (this.starting) return this.starting;
    const launch: Promise<void> = this.launch().finally(() => {
      if (this.panel.kind === "failed" && this.starting === launch) this.starting = undefined;
    });
    this.starting = launch;
    return launch;
  }

  /** Also after a failure: a corrected setting or a new key is tried at once. */
  async restart(): Promise<void> {
    if (!this.wanted) return;
    this.crashes = [];
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.starting = undefined;
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose(2000);
    } catch (error) {
      this.log.warn(`stopping: ${String(error)}`);
    }
    this.stopping = false;
  }

  get logTail(): string {
    return this.tail;
  }

  async dispose(): Promise<void> {
    await this.stop();
    for (const each of this.disposables) each.dispose();
  }

  // --- starting -----------------------------------------------------------------------------------

  private async launch(): Promise<void> {
    this.show({ kind: "starting", title: "Starting Assent", detail: "", log: "", actions: [] });
    let server: ServerCommand | undefined;
    try {
      server = await this.locate();
    } catch (error) {
      this.fail("Assent could not be set up", error instanceof Error ? error.message : String(error), ["retry", "choosePython", "log"]);
    }
    if (!server) return;
    this.log.info(`server: ${server.command} ${server.args.join(" ")} (from ${server.origin})`);
    const client = this.makeClient(server, await this.secrets.key());
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      if (this.client === client) this.fail("The Assent server did not start", String(error instanceof Error ? error.message : error), ["retry", "log", "settings"]);
      return;
    }
  }

  private async locate(): Promise<ServerCommand | undefined> {
    const config = vscode.workspace.getConfiguration("assent.server");
    const bundle = await this.bundle();
    const found = await findServer(machine, { path: config.get("path", ""), python: config.get("python", "") }, bundle);
    switch (found.kind) {
      case "ready":
        return found.server;
      case "failed":
        this.fail(found.failure.title, found.failure.detail, found.failure.next === "openSettings" ? ["settings", "retry"] : ["choosePython", "retry", "log"]);
        return undefined;
      case "install":
        return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: "Setting up Assent" }, (progress) =>
          installServer(machine, bundle, found.python, (message) => {
            progress.report({ message });
            this.show({ kind: "starting", title: "Setting up Assent, once", detail: message, log: "", actions: [] });
          }),
        );
    }
  }

  private async bundle(): Promise<Bundle> {
    const folder = this.context.asAbsolutePath("server");
    const names = await readdir(folder).catch(() => [] as string[]);
    const name = names.find((each) => each.endsWith(".whl"));
    const wheel = name ? path.join(folder, name) : null;
    const stamp = wheel ? createHash("sha256").update(await readFile(wheel)).digest("hex").slice(0, 12) : "none";
    return { wheel, stamp, venv: path.join(this.context.globalStorageUri.fsPath, "server") };
  }

  private makeClient(server: ServerCommand, key: string | undefined): LanguageClient {
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
      outputChannel: this.log,
      progressOnInitialization: false,
      initializationOptions: { assent: this.initialization(key) },
      middleware: this.middleware,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => this.closed(),
      },
    };
    const client = new QuietClient("assent", "Assent", () => this.spawnServer(server), options);
    for (const register of this.asked) register(client);
    client.onNotification(NOTIFICATIONS.status, (status: ServerStatus) => {
      this.status = status;
      this.changed.fire();
    });
    client.onDidChangeState((event) => {
      if (event.newState !== State.Running || client !== this.client) return;
      this.show({ kind: "ready", title: "", detail: "", log: "", actions: [] });
      this.started.fire(client);
    });
    return client;
  }

  private spawnServer(server: ServerCommand): Promise<ChildProcess> {
    const child = spawn(server.command, server.args, {
      cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
      env: { ...process.env, PYTHONUTF8: "1" },
      shell: false,
    });
    child.stderr?.on("data", (chunk: Buffer) => (this.tail = (this.tail + chunk.toString("utf8")).slice(-LOG_KEPT)));
    child.on("exit", (code, signal) => {
      if (!this.stopping) this.tail = `${this.tail}\n[the server ended: ${signal ?? `exit code ${code}`}]`.slice(-LOG_KEPT);
    });
    return Promise.resolve(child);
  }

  private initialization(key: string | undefined): InitializationOptions {
    return {
      client: { permissions: true, elicitation: true, review: true, editorQueries: true, save: true, partials: true },
      settings: serverSettings().settings,
      settingsLevel: serverSettings().level,
      trusted: vscode.workspace.isTrusted,
      ...(key ? { apiKey: key } : {}),
    };
  }

  /** The server went away by itself: three times in a row we start it again, then we say so. */
  private closed(): { action: CloseAction; handled: boolean } {
    if (this.stopping) return { action: CloseAction.DoNotRestart, handled: true };
    const now = Date.now();
    this.crashes = [...this.crashes.filter((at) => now - at < RESTART_WINDOW_MS), now];
    if (this.crashes.length <= MAX_RESTARTS) {
      this.show({ kind: "starting", title: "The server stopped and is being restarted", detail: `Restart ${this.crashes.length} of ${MAX_RESTARTS}. Your conversation is saved.`, log: "", actions: [] });
      return { action: CloseAction.Restart, handled: true };
    }
    this.client = undefined;
    this.fail("The server keeps stopping", `It was restarted ${MAX_RESTARTS} times and stopped again. Your conversations are saved. The end of its log is below.`, ["retry", "log", "report"]);
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private async tellTrust(): Promise<void> {
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      await this.request(METHODS.trustSet, { uri: folder.uri.toString(), trusted: true, remember: "session" } satisfies Json).catch((error: unknown) => this.log.warn(`trust: ${String(error)}`));
    }
  }

  // --- saying it ----------------------------------------------------------------------------------

  banners(): Banner[] {
    const status = this.status;
    if (!status) return [];
    const shown: Banner[] = [];
    if (status.offline || status.credentials === "none") {
      shown.push({ kind: "warning", text: "No key is set: a small built-in stand-in answers, not a real model.", command: "assent.setApiKey", label: "Set API key" });
    }
    const withheld = status.trust.filter((each) => !each.trusted && each.withheld.length > 0).flatMap((each) => each.withheld);
    if (withheld.length > 0) shown.push({ kind: "info", text: `Withheld until this workspace is trusted: ${withheld.join(", ")}.`, command: "assent.trust.folder", label: "Trust…" });
    for (const warning of status.warnings) shown.push({ kind: "warning", text: [warning.text, warning.hint].filter(Boolean).join(" ") });
    return shown;
  }

  private fail(title: string, detail: string, actions: (keyof typeof ACTIONS)[]): void {
    this.log.error(`${title}. ${detail}`);
    this.show({ kind: "failed", title, detail, log: actions.includes("log") ? this.tail.trim().split("\n").slice(-14).join("\n") : "", actions: actions.map((name) => ACTIONS[name]) });
  }

  private show(panel: ServerPanel): void {
    this.panel = panel;
    this.changed.fire();
  }
}

/** Our own panel says what is wrong and what to do; the library's pop-ups would only repeat it in worse words. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

const ACTIONS = {
  retry: { command: "assent.restartServer", label: "Try again" },
  log: { command: "assent.showLog", label: "Show log" },
  settings: { command: "assent.openSettings", label: "Open settings" },
  choosePython: { command: "assent.choosePython", label: "Choose Python…" },
  report: { command: "assent.reportIssue", label: "Report issue…" },
} as const;

const machine: Machine = {
  platform: process.platform,
  exists: (file) =>
    access(file).then(
      () => true,
      () => false,
    ),
  run: (command, args) =>
    new Promise((resolve) => {
      const output = { stdout: "", stderr: "" };
      const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], shell: false });
      child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString("utf8")));
      child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString("utf8")));
      child.on("error", (error) => resolve({ code: null, stdout: "", stderr: error.message }));
      child.on("close", (code) => resolve({ code, ...output }));
    }),
};
