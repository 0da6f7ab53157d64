/**
 * The conversations this window follows. Each keeps its own state, built from the session's events, so that
 * a view can come and go; after a restart of the server each attaches again and goes on where it was.
 *
 * Pending asks and questions are kept here too: whoever shows them answers through `answerAsk` and `answerElicit`.
 */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { ResponseError, type CancellationToken, type LanguageClient } from "vscode-languageclient/node";
import type { QueuedMessage } from "../shared/items";
import { LiveSession } from "./liveSession";
import {
  METHODS,
  NOTIFICATIONS,
  SERVER_REQUESTS,
  type Attached,
  type Configured,
  type Elicit,
  type ElicitAnswer,
  type Json,
  type Mention,
  type Missed,
  type MissedSession,
  type Mode,
  type NewSession,
  type PermissionAnswer,
  type PermissionAsk,
  type Sent,
  type SessionEvent,
  type SessionNew,
  type Unqueued,
  type WaitingReview,
  type Withdrawn,
} from "./protocol";
import type { ServerProcess } from "./serverProcess";

/** How long the window before this one may take to let go of its conversation after a reload. */
const LET_GO_MS = [300, 700, 1500, 3000];

export class Sessions implements vscode.Disposable {
  private readonly live = new Map<string, LiveSession>();
  private readonly attaching = new Map<string, Promise<void>>();
  private readonly asks = new Map<string, { ask: PermissionAsk; resolve(answer: PermissionAnswer): void }>();
  private readonly elicits = new Map<string, { elicit: Elicit; resolve(answer: ElicitAnswer): void }>();
  private readonly happened = new vscode.EventEmitter<{ session: LiveSession; params: SessionEvent }>();
  private readonly waited = new vscode.EventEmitter<LiveSession>();
  private readonly attached = new vscode.EventEmitter<LiveSession>();
  private readonly missed = new vscode.EventEmitter<MissedSession[]>();
  private readonly disposables: vscode.Disposable[] = [];
  readonly onEvent = this.happened.event;
  /** An ask or a question came or went. */
  readonly onWaiting = this.waited.event;
  /** A session's state was taken over from the server. */
  readonly onAttached = this.attached.event;
  /** What went on while no window was open. */
  readonly onMissed = this.missed.event;

  constructor(private readonly server: ServerProcess) {
    server.handle((client) => this.register(client));
    this.disposables.push(
      this.happened,
      this.waited,
      this.attached,
      this.missed,
      server.onDidStart(() => this.reattach()),
      server.onDidChange(() => {
        const connected = server.panel.kind === "ready";
        for (const session of this.live.values()) if (session.data.connected !== connected) session.dispatch({ type: "connection", connected });
      }),
    );
  }

  all(): LiveSession[] {
    return [...this.live.values()];
  }

  /** Each once: an ask that was sent again on attach is open as two requests, and either may be answered. */
  pendingAsks(): PermissionAsk[] {
    return [...new Map([...this.asks.values()].map((each) => [each.ask.askId, each.ask])).values()];
  }

  pendingElicits(): Elicit[] {
    return [...this.elicits.values()].map((each) => each.elicit);
  }

  /** Edits that wait for their hunks without an ask, of every conversation this window follows. */
  pendingReviews(): (WaitingReview & { sessionId: string })[] {
    return this.all().flatMap((session) => session.data.reviews.map((review) => ({ ...review, sessionId: session.sessionId })));
  }

  async create(params: SessionNew = {}): Promise<LiveSession> {
    const cwd = params.cwd ?? vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    const made = await this.server.request<NewSession>(METHODS.sessionNew, { ...params, ...(cwd ? { cwd } : {}) });
    const session = this.get(made.sessionId);
    session.dispatch({ type: "configured", model: made.model, mode: made.mode as Mode });
    await this.attach(session);
    return session;
  }

  async open(sessionId: string): Promise<LiveSession> {
    const session = this.get(sessionId);
    if (!session.epoch) await this.attach(session);
    return session;
  }

  /** After a reload: the window before this one may still be ending, and its conversation is ours to go on with. */
  async outlast(session: LiveSession): Promise<void> {
    for (const wait of LET_GO_MS) {
      if (!session.data.readOnly) return;
      await new Promise((resolve) => setTimeout(resolve, wait));
      const attached = await this.owned(session);
      if (attached) return this.took(session, attached);
    }
  }

  /** Makes a conversation ours that another window had open; while it still has, what it said since is shown. */
  async takeOver(session: LiveSession): Promise<void> {
    const attached = await this.owned(session);
    this.took(session, attached ?? (await this.server.request<Attached>(METHODS.sessionAttach, { sessionId: session.sessionId, readOnly: true })));
    if (session.data.readOnly) session.dispatch({ type: "readOnly", readOnly: { refused: true } });
  }

  /** Takes a message back that waits for its turn; false when that turn has come already. */
  async unqueue(session: LiveSession, clientMessageId: string): Promise<boolean> {
    const answer = await this.server.request<Unqueued>(METHODS.sessionUnqueue, { sessionId: session.sessionId, clientMessageId });
    if (answer.unqueued) session.dispatch({ type: "unqueued", clientMessageId });
    return answer.unqueued;
  }

  async older(session: LiveSession): Promise<void> {
    const cursor = session.data.olderCursor;
    if (!cursor) return;
    const page = await this.server.request<Attached>(METHODS.sessionAttach, { sessionId: session.sessionId, cursor, ...(session.data.readOnly ? { readOnly: true } : {}) });
    session.dispatch({ type: "older", messages: page.messages, cursor: page.nextCursor ?? null, ...(page.shown ? { shown: page.shown } : {}) });
  }

  async send(session: LiveSession, message: { text: string; images: string[]; mentions: Mention[]; whenBusy: "queue" | "steer" }): Promise<void> {
    const { text, images, mentions, whenBusy } = message;
    const busy = session.data.running;
    const queued: QueuedMessage = { clientMessageId: randomBytes(6).toString("hex"), text, images, mentions, steer: whenBusy === "steer" };
    session.dispatch({ type: "sent", message: queued, queued: busy });
    try {
      await this.deliver(session, queued);
    } catch (error) {
      session.dispatch({ type: "sendFailed", clientMessageId: queued.clientMessageId, text: explain(error) });
    }
  }

  /** Starts a message that an interrupt kept: the same one, known to the server by its id. */
  async sendKept(session: LiveSession, clientMessageId: string): Promise<void> {
    const message = session.data.queue.find((each) => each.clientMessageId === clientMessageId);
    if (message) await this.deliver(session, message);
  }

  private async deliver(session: LiveSession, { clientMessageId, text, images, mentions, steer }: QueuedMessage): Promise<void> {
    const prompt = images.length === 0 ? text : [...images.map(imageBlock), ...(text ? [{ type: "text", text }] : [])];
    const whenBusy = steer ? "steer" : "queue";
    await this.server.request<Sent>(METHODS.sessionSend, { sessionId: session.sessionId, prompt, clientMessageId, whenBusy, ...(mentions.length ? { mentions } : {}) });
  }

  /** Plays a turn again that was cut off: back to before its prompt, and the same prompt once more. */
  async retry(session: LiveSession): Promise<void> {
    const cutAt = session.cutAt;
    session.cutAt = undefined;
    if (cutAt) session.dispatch({ type: "truncated", messageId: cutAt });
    await this.server.request<Sent>(METHODS.sessionRetry, { sessionId: session.sessionId });
  }

  async interrupt(session: LiveSession): Promise<void> {
    await this.server.request(METHODS.sessionInterrupt, { sessionId: session.sessionId });
  }

  /** What is shown afterwards is what the server says it is, not what was asked for. */
  async configure(session: LiveSession, change: { model?: string; mode?: Mode }): Promise<void> {
    const { model, mode } = await this.server.request<Configured>(METHODS.sessionConfigure, { sessionId: session.sessionId, ...change });
    session.dispatch({ type: "configured", ...(model ? { model } : {}), ...(mode ? { mode: mode as Mode } : {}) });
  }

  answerAsk(askId: string, answer: PermissionAnswer): void {
    const requests = [...this.asks].filter(([, each]) => each.ask.askId === askId);
    const ask = requests[0]?.[1].ask;
    if (!ask) return;
    for (const [requestId, each] of requests) {
      this.asks.delete(requestId);
      each.resolve(answer);
    }
    const session = this.get(ask.sessionId);
    this.waited.fire(session);
    // A question from before a crash or a reload has no turn to go back to: answering it is wanting to go on.
    if (ask.orphan && !session.data.running) void this.resume(session);
  }

  /** Goes on with a turn that was cut off; what it had asked about is taken up first. */
  async resume(session: LiveSession): Promise<void> {
    await this.send(session, { text: "Continue where you left off.", images: [], mentions: [], whenBusy: "queue" });
  }

  answerElicit(elicitId: string, answer: ElicitAnswer): void {
    const pending = [...this.elicits.entries()].find(([, each]) => each.elicit.elicitId === elicitId);
    if (!pending) return;
    this.elicits.delete(pending[0]);
    pending[1].resolve(answer);
    const session = this.get(pending[1].elicit.sessionId);
    session.dispatch({ type: "answered", id: elicitId, decision: answer.action, by: "" });
    this.waited.fire(session);
  }

  forget(sessionId: string): void {
    this.live.get(sessionId)?.dispose();
    this.live.delete(sessionId);
  }

  request<T>(method: string, params: Json): Promise<T> {
    return this.server.request<T>(method, params);
  }

  /** Whether the server can do something that was added after 0.1. */
  can(feature: string): boolean {
    return this.server.can(feature);
  }

  dispose(): void {
    for (const session of this.live.values()) session.dispose();
    for (const each of this.disposables) each.dispose();
  }

  // --- the wire -----------------------------------------------------------------------------------

  private register(client: LanguageClient): vscode.Disposable {
    return vscode.Disposable.from(
      client.onNotification(NOTIFICATIONS.sessionEvent, (params: SessionEvent) => this.event(params)),
      client.onNotification(NOTIFICATIONS.missed, (params: Missed) => this.missed.fire(params.sessions)),
      client.onNotification(NOTIFICATIONS.withdrawn, (params: Withdrawn) => this.withdraw(params.requestId)),
      client.onRequest(SERVER_REQUESTS.permissionAsk, (params: PermissionAsk, token: CancellationToken) => this.asked(params, token)),
      client.onRequest(SERVER_REQUESTS.elicit, (params: Elicit, token: CancellationToken) => this.questioned(params, token)),
    );
  }

  private event(params: SessionEvent): void {
    const session = this.get(params.sessionId);
    // While attaching, what is missed comes with the answer or again from the ring.
    if (!session.epoch) return void this.attach(session);
    if (params.seq <= session.lastSeq) return;
    if (params.seq > session.lastSeq + 1 && !this.attaching.has(session.sessionId)) return void this.attach(session);
    session.lastSeq = params.seq;
    const reviews = session.data.reviews.length;
    session.dispatch({ type: "event", params });
    this.happened.fire({ session, params });
    if (session.data.reviews.length !== reviews) this.waited.fire(session);
  }

  private asked(ask: PermissionAsk, token: CancellationToken): Promise<PermissionAnswer> {
    const session = this.get(ask.sessionId);
    return new Promise((resolve) => {
      this.asks.set(ask.requestId, { ask, resolve });
      token.onCancellationRequested(() => this.withdraw(ask.requestId));
      session.dispatch({ type: "ask", ask });
      this.waited.fire(session);
    });
  }

  private questioned(elicit: Elicit, token: CancellationToken): Promise<ElicitAnswer> {
    const session = this.get(elicit.sessionId);
    return new Promise((resolve) => {
      this.elicits.set(elicit.requestId, { elicit, resolve });
      token.onCancellationRequested(() => this.withdraw(elicit.requestId));
      session.dispatch({ type: "elicit", elicit });
      this.waited.fire(session);
    });
  }

  /** Someone else answered, or it is moot. The late answer we still owe is dropped by the server. */
  private withdraw(requestId: string): void {
    const ask = this.asks.get(requestId);
    const elicit = this.elicits.get(requestId);
    const sessionId = ask?.ask.sessionId ?? elicit?.elicit.sessionId;
    if (!sessionId) return;
    this.asks.delete(requestId);
    this.elicits.delete(requestId);
    ask?.resolve({ decision: "deny", message: "withdrawn" });
    elicit?.resolve({ action: "cancel" });
    const session = this.get(sessionId);
    session.dispatch({ type: "withdrawn", requestId });
    this.waited.fire(session);
  }

  private attach(session: LiveSession): Promise<void> {
    const running = this.attaching.get(session.sessionId);
    if (running) return running;
    const work = this.attachNow(session).finally(() => this.attaching.delete(session.sessionId));
    this.attaching.set(session.sessionId, work);
    return work;
  }

  private async attachNow(session: LiveSession): Promise<void> {
    const known = session.epoch ? { epoch: session.epoch, afterSeq: session.lastSeq } : {};
    this.took(session, (await this.owned(session, known)) ?? (await this.server.request<Attached>(METHODS.sessionAttach, { sessionId: session.sessionId, readOnly: true })));
  }

  private took(session: LiveSession, attached: Attached): void {
    session.epoch = attached.epoch;
    if (attached.reset) {
      session.lastSeq = attached.lastSeq;
      session.reset(attached);
      for (const { ask } of this.asks.values()) if (ask.sessionId === session.sessionId) session.dispatch({ type: "ask", ask });
      for (const { elicit } of this.elicits.values()) if (elicit.sessionId === session.sessionId) session.dispatch({ type: "elicit", elicit });
    }
    this.attached.fire(session);
  }

  /** The session attached as ours, or undefined while another window owns it. */
  private async owned(session: LiveSession, known: Json = {}): Promise<Attached | undefined> {
    try {
      return await this.server.request<Attached>(METHODS.sessionAttach, { sessionId: session.sessionId, ...known });
    } catch (error) {
      if (!(error instanceof ResponseError) || (error.data as { kind?: string } | undefined)?.kind !== "ownedElsewhere") throw error;
      return undefined;
    }
  }

  private reattach(): void {
    this.asks.clear();
    this.elicits.clear();
    for (const session of this.live.values()) {
      if (!session.epoch) continue;
      void this.attach(session).catch((error: unknown) => {
        // A server that went away again is the panel's to explain, and the next start comes by here once more.
        if (error instanceof ResponseError && this.server.running)
          session.dispatch({ type: "notice", level: "error", text: `This conversation could not be restored. ${explain(error)}` });
      });
    }
  }

  private get(sessionId: string): LiveSession {
    let session = this.live.get(sessionId);
    if (!session) {
      session = new LiveSession(sessionId);
      this.live.set(sessionId, session);
    }
    return session;
  }
}

export function explain(error: unknown): string {
  if (error instanceof ResponseError) {
    const hint = (error.data as { hint?: string } | undefined)?.hint;
    if (!hint || error.message.includes(hint)) return error.message;
    return `${error.message}${/[.!?…:]$/.test(error.message) ? "" : "."} ${hint}`;
  }
  return error instanceof Error ? error.message : String(error);
}

function imageBlock(source: string): Json {
  const match = /^data:([\w/+.-]+);base64,(.*)$/s.exec(source);
  return { type: "image", source: { type: "base64", media_type: match?.[1] ?? "image/png", data: match?.[2] ?? "" } };
}
