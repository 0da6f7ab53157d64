/** One conversation as this window follows it: its state, and what happened to it, for every view that shows it. */
import * as vscode from "vscode";
import { blocksOf, imagesOf, promptOf } from "../shared/content";
import { Conversation, emptyConversation } from "../shared/conversation";
import type { Action, QueuedMessage } from "../shared/items";
import { ActionBatch } from "./actionBatch";
import type { Attached, Mode, WaitingMessage } from "./protocol";

export class LiveSession implements vscode.Disposable {
  conversation: Conversation;
  epoch = "";
  lastSeq = 0;
  serial = 0;
  /** The prompt of a turn that was cut off by a crash or a reload. */
  cutAt: string | undefined;
  private readonly batch = new ActionBatch((actions) => {
    this.serial += 1;
    this.acted.fire({ actions, serial: this.serial });
  });
  private readonly acted = new vscode.EventEmitter<{ actions: Action[]; serial: number }>();
  private readonly replaced = new vscode.EventEmitter<void>();
  /** What happened since the last time, in order; a view that applies it has the same state. */
  readonly onActions = this.acted.event;
  /** The whole state was rebuilt; views take a new snapshot. */
  readonly onReset = this.replaced.event;

  constructor(readonly sessionId: string) {
    const data = emptyConversation();
    data.sessionId = sessionId;
    this.conversation = new Conversation(data);
  }

  get data(): Conversation["data"] {
    return this.conversation.data;
  }

  dispatch(action: Action): void {
    this.conversation.apply(action);
    this.batch.add(action);
  }

  flush(): void {
    this.batch.flush();
  }

  /** State as the server gave it on attaching; pending questions come again as requests. */
  reset(attached: Attached): void {
    this.batch.drop();
    const data = emptyConversation();
    Object.assign(data, {
      sessionId: this.sessionId,
      title: attached.title || this.data.title,
      usage: attached.usage ? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...attached.usage } : this.data.usage,
      proposals: attached.proposals,
      todos: attached.todos,
      mode: attached.mode as Mode,
      model: attached.model,
      running: attached.running,
      state: attached.state ?? (attached.running ? "running" : "idle"),
      reviews: attached.pendingReviews ?? [],
      olderCursor: attached.nextCursor ?? null,
      readOnly: attached.readOnly ? { refused: false, ...(attached.readOnlyReason ? { reason: attached.readOnlyReason } : {}) } : null,
      queue: (attached.queue ?? []).map(waiting),
    });
    this.conversation = Conversation.restored(data, attached.messages, attached.shown);
    data.interrupted = !attached.running && attached.interrupted !== undefined;
    this.cutAt = attached.interrupted?.messageId;
    this.serial += 1;
    this.replaced.fire();
  }

  dispose(): void {
    this.batch.drop();
    this.acted.dispose();
    this.replaced.dispose();
  }
}

/** A message that waited when we came; its words as the user typed them. */
function waiting({ clientMessageId, prompt, steer, kept }: WaitingMessage): QueuedMessage {
  const blocks = blocksOf(prompt);
  return { clientMessageId, text: promptOf(blocks).text, images: imagesOf(blocks), mentions: [], steer, ...(kept ? { kept } : {}) };
}
