/**
 * One run of the server: a language client and the process behind it, from its start to its end.
 *
 * A run is never started twice. The library can restart a client by itself, but when the server dies while it is
 * starting, what the first start had already registered stays behind and the next one trips over it; so every start
 * is a new run, and the old one is cleared first.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { CloseAction, ErrorAction, LanguageClient, State, type DynamicFeature, type LanguageClientOptions, type StaticFeature } from "vscode-languageclient/node";
import { withoutPython } from "./programs";
import type { ServerCommand } from "./serverCommand";

const START_GRACE_MS = 3000;
const STOP_GRACE_MS = 2000;
const EXIT_GRACE_MS = 1000;

export interface RunHost {
  /** The process went away although nobody asked it to. */
  closed(run: ServerRun): void;
  /** What it wrote to its error stream. */
  wrote(text: string): void;
  /** Where the process starts: never a workspace folder. */
  cwd: string;
}

export class ServerRun {
  readonly client: ClearableClient;
  private child: ChildProcess | undefined;
  private begun: Promise<void> | undefined;
  /** The process went away by itself; `closed` is told, or about to be. */
  gone = false;
  private exited: Promise<void> = Promise.resolve();
  private ending = false;

  constructor(
    private readonly server: ServerCommand,
    options: LanguageClientOptions,
    private readonly host: RunHost,
  ) {
    this.client = new ClearableClient("assent", "Assent", () => Promise.resolve(this.spawn()), {
      ...options,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: async () => {
          this.gone = true;
          // How it ended is known a moment after its streams closed, and belongs into the log before it is shown.
          if (!this.ending) await Promise.race([this.exited, delay(EXIT_GRACE_MS)]);
          if (!this.ending) host.closed(this);
          return { action: CloseAction.DoNotRestart, handled: true };
        },
      },
    });
  }

  get running(): boolean {
    return this.client.state === State.Running;
  }

  start(): Promise<void> {
    this.begun ??= this.client.start();
    return this.begun;
  }

  /** Ends the process and takes everything back that the client registered. Never throws. */
  async end(): Promise<void> {
    this.ending = true;
    const begun = this.begun?.catch(() => undefined);
    await Promise.race([begun, delay(START_GRACE_MS)]);
    // Only a running client can be stopped in words; one that hangs or is half started loses its process.
    await this.client.dispose(STOP_GRACE_MS).catch(() => undefined);
    if (this.child?.exitCode === null && this.child.signalCode === null) this.child.kill("SIGKILL");
    this.client.clear();
    void begun?.then(() => this.client.clear()); // a start that hung may still come to its end
  }

  private spawn(): ChildProcess {
    const { command, args } = this.server;
    const child = spawn(command, args, { cwd: this.host.cwd, env: { ...withoutPython(process.env), PYTHONUTF8: "1" }, shell: false });
    this.child = child;
    child.stderr?.on("data", (chunk: Buffer) => this.host.wrote(chunk.toString("utf8")));
    this.exited = new Promise((resolve) => {
      child.on("exit", (code, signal) => {
        if (!this.ending) this.host.wrote(`\n[the server ended: ${signal ?? `exit code ${code}`}]`);
        resolve();
      });
    });
    return child;
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

class ClearableClient extends LanguageClient {
  /** Filled while the library's own constructor runs, so it has no initialiser of its own. */
  declare private features: (StaticFeature | DynamicFeature<unknown>)[] | undefined;

  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    (this.features ??= []).push(feature);
    super.registerFeature(feature);
  }

  /** Commands and providers that a start registered after its connection was already gone. */
  clear(): void {
    for (const feature of (this.features ?? []).toReversed()) feature.clear();
  }

  /** Our own panel says what is wrong and what to do; the library's pop-ups would only repeat it in worse words. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}
