/**
 * The server's life: found, installed on first run, started, watched, restarted, given up on with words.
 *
 * Owns the current run. It is not aware of sessions; whoever talks to them listens to `onDidStart`.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import { ResponseError, State, type LanguageClient, type Middleware } from "vscode-languageclient/node";
import type { Banner, ServerPanel } from "../shared/bridge";
import { METHODS, NOTIFICATIONS, type InitializationOptions, type Json, type ServerStatus } from "./protocol";
import { machineIn } from "./machine";
import { findServer, installServer, type Bundle, type ServerCommand } from "./serverCommand";
import { ServerRun } from "./serverRun";
import { explain } from "./sessions";
import { type Secrets } from "./secrets";
import { editorSettings, serverSettings } from "./settings";

const MAX_RESTARTS = 3;
const RESTART_WINDOW_MS = 3 * 60_000;
const LOG_KEPT = 8_000;

export class ServerProcess implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private readonly started = new vscode.EventEmitter<LanguageClient>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly asked: ((client: LanguageClient) => vscode.Disposable)[] = [];
  private run: ServerRun | undefined;
  private crashes: number[] = [];
  private tail = "";
  private wanted = false;
  /** The settings that the present server was found by. */
  private located = "";
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
        // Trusting a folder says that everything may have changed; a running turn is cut off only for a real change.
        if (event.affectsConfiguration("assent.server") && this.located !== located()) void this.restart();
      }),
    );
  }

  get running(): boolean {
    return this.run?.running ?? false;
  }

  /** Registers what the server may ask; applied to every client we make. */
  handle(register: (client: LanguageClient) => vscode.Disposable): void {
    this.asked.push(register);
  }

  async request<T>(method: string, params: unknown, token?: vscode.CancellationToken): Promise<T> {
    await this.start();
    const client = this.run?.client;
    if (!client) throw new Error(this.panel.title);
    return token ? client.sendRequest<T>(method, params, token) : client.sendRequest<T>(method, params);
  }

  /** Whether the server that runs now has this method. */
  serves(method: string): boolean {
    return this.offered()?.methods?.includes(method) ?? false;
  }

  /** Whether it has this feature. */
  can(feature: string): boolean {
    return this.offered()?.features?.includes(feature) ?? false;
  }

  private offered(): { methods?: string[]; features?: string[] } | undefined {
    return (this.run?.client.initializeResult?.capabilities.experimental as { assent?: { methods?: string[]; features?: string[] } } | undefined)?.assent;
  }

  /** The settings as the server knows them; the client library would push our section as VS Code has it. */
  async tellSettings(): Promise<void> {
    await this.run?.client.sendNotification("workspace/didChangeConfiguration", { settings: { assent: editorSettings() } });
  }

  /** After a failure only `restart` tries again: the panel stays until someone has done something about it. */
  async start(): Promise<void> {
    this.wanted = true;
    if (this.panel.kind !== "failed") await (this.starting ?? this.begin(Promise.resolve()));
  }

  /** Also after a failure: a corrected setting or a new key is tried at once. */
  async restart(): Promise<void> {
    if (!this.wanted) return;
    this.crashes = [];
    this.show({ kind: "starting", title: "Starting Assent", detail: "", log: "", actions: [] });
    await this.begin(this.stop());
  }

  async stop(): Promise<void> {
    const run = this.run;
    this.run = undefined;
    this.starting = undefined;
    await run?.end();
  }

  /** Uses this interpreter from now on; the one already set is tried again. */
  async usePython(python: string): Promise<void> {
    await vscode.workspace.getConfiguration("assent.server").update("python", python, vscode.ConfigurationTarget.Global);
    // A setting that did not change raises no event, and whoever chose it again wants another try.
    if (this.located === located() && this.panel.kind === "failed") await this.restart();
  }

  get logTail(): string {
    return this.tail;
  }

  async dispose(): Promise<void> {
    await this.stop();
    for (const each of this.disposables) each.dispose();
  }

  // --- starting -----------------------------------------------------------------------------------

  /** Whoever asks meanwhile waits for this start, and for what has to end before it. */
  private begin(ended: Promise<void>): Promise<void> {
    const launch: Promise<void> = ended.then(() => this.launch(() => this.starting === launch));
    this.starting = launch;
    return launch;
  }

  private async launch(current: () => boolean): Promise<void> {
    if (!current()) return this.starting;
    let server: ServerCommand | undefined;
    try {
      server = await this.locate();
    } catch (error) {
      this.fail("Assent could not be set up", error instanceof Error ? error.message : String(error), ["retry", "choosePython", "log"]);
    }
    const key = await this.secrets.key();
    if (!server || !current()) return;
    this.log.info(`server: ${server.command} ${server.args.join(" ")} (from ${server.origin})`);
    const run = this.makeRun(server, key);
    this.run = run;
    try {
      await run.start();
      await this.loaded(run);
    } catch (error) {
      if (this.run !== run || run.gone) return; // it ended while it started, and its end is being dealt with
      this.run = undefined;
      await run.end();
      this.fail(
        "The Assent server did not start",
        explain(error).replace(/^./, (letter) => letter.toUpperCase()),
        ["retry", "log", "settings"],
        this.tail,
      );
    }
  }

  /** It says hello before it has loaded the rest of itself; the first answer shows whether that went well. */
  private async loaded(run: ServerRun): Promise<void> {
    try {
      await run.client.sendRequest(METHODS.editList, {});
    } catch (error) {
      // A server that went away meanwhile is restarted by whoever sees it close.
      if (error instanceof ResponseError && (error.data as { kind?: string } | undefined)?.kind === "internal") throw error;
    }
  }

  private async locate(): Promise<ServerCommand | undefined> {
    const config = vscode.workspace.getConfiguration("assent.server");
    this.located = located();
    const bundle = await this.bundle();
    const machine = machineIn(this.context.extensionPath);
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
            this.log.info(`setting up with ${found.python}: ${message}`);
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
    const stamp = wheel
      ? createHash("sha256")
          .update(await readFile(wheel))
          .digest("hex")
          .slice(0, 12)
      : "none";
    return { wheel, stamp, venv: path.join(this.context.globalStorageUri.fsPath, "server") };
  }

  private makeRun(server: ServerCommand, key: string | undefined): ServerRun {
    const run = new ServerRun(
      server,
      {
        documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
        outputChannel: this.log,
        progressOnInitialization: false,
        initializationOptions: { assent: this.initialization(key) },
        middleware: this.middleware,
      },
      {
        closed: (gone) => this.closed(gone),
        wrote: (text) => (this.tail = (this.tail + text).slice(-LOG_KEPT)),
        cwd: this.context.extensionPath,
      },
    );
    const { client } = run;
    for (const register of this.asked) register(client);
    let ready = false;
    client.onNotification(NOTIFICATIONS.status, (status: ServerStatus) => {
      if (!ready) this.log.info(`the server is ready, with ${status.offline ? "the offline model" : status.model}`);
      ready = true;
      this.status = status;
      this.changed.fire();
    });
    client.onDidChangeState((event) => {
      if (event.newState !== State.Running || run !== this.run) return;
      this.log.info("the server said hello");
      this.show({ kind: "ready", title: "", detail: "", log: "", actions: [] });
      this.started.fire(client);
    });
    return run;
  }

  private initialization(key: string | undefined): InitializationOptions {
    return {
      client: { permissions: true, elicitation: true, review: true, editorQueries: true, save: true, partials: true, editMoved: true, missed: true },
      settings: serverSettings().settings,
      settingsLevel: serverSettings().level,
      trusted: vscode.workspace.isTrusted,
      ...(key ? { apiKey: key } : {}),
    };
  }

  /** The server went away by itself: three times in a row we start it again, then we say so. */
  private closed(run: ServerRun): void {
    if (run !== this.run) return;
    this.run = undefined;
    const now = Date.now();
    this.crashes = [...this.crashes.filter((at) => now - at < RESTART_WINDOW_MS), now];
    if (this.crashes.length <= MAX_RESTARTS) {
      this.show({
        kind: "starting",
        title: "The server stopped and is being restarted",
        detail: `Restart ${this.crashes.length} of ${MAX_RESTARTS}. Your conversation is saved.`,
        log: "",
        actions: [],
      });
      void this.begin(run.end());
      return;
    }
    this.starting = undefined;
    void run.end();
    this.fail(
      "The server keeps stopping",
      `It was restarted ${MAX_RESTARTS} times and stopped again. Your conversations are saved. The end of its log is below.`,
      ["retry", "log", "report"],
      this.tail,
    );
  }

  private async tellTrust(): Promise<void> {
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      await this.request(METHODS.trustSet, { uri: folder.uri.toString(), trusted: true, vouch: true } satisfies Json).catch((error: unknown) =>
        this.log.warn(`trust: ${String(error)}`),
      );
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
    const withheld = status.trust.flatMap((each) => each.withheld);
    const until = vscode.workspace.isTrusted ? "Withheld until you have seen and trusted it" : "Withheld until this workspace is trusted";
    if (withheld.length > 0) shown.push({ kind: "info", text: `${until}: ${withheld.join(", ")}.`, command: "assent.trust.folder", label: "Trust…" });
    for (const warning of status.warnings) shown.push({ kind: "warning", text: [warning.text.replace(/[^.!?]$/, "$&."), warning.hint].filter(Boolean).join(" ") });
    return shown;
  }

  /** The log is shown where a server ran and said something; when none was found there is nothing of it to read. */
  private fail(title: string, detail: string, actions: (keyof typeof ACTIONS)[], log = ""): void {
    this.log.error(`${title}. ${detail}`);
    this.show({ kind: "failed", title, detail, log: log.trim().split("\n").slice(-14).join("\n"), actions: actions.map((name) => ACTIONS[name]) });
  }

  private show(panel: ServerPanel): void {
    this.panel = panel;
    this.changed.fire();
  }
}

function located(): string {
  const config = vscode.workspace.getConfiguration("assent.server");
  return JSON.stringify([config.get("path", ""), config.get("python", "")]);
}

const ACTIONS = {
  retry: { command: "assent.restartServer", label: "Try again" },
  log: { command: "assent.showLog", label: "Show log" },
  settings: { command: "assent.openSettings", label: "Open settings" },
  choosePython: { command: "assent.choosePython", label: "Choose Python…" },
  report: { command: "assent.reportIssue", label: "Report issue…" },
} as const;
