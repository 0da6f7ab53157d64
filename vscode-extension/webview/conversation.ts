/**
 * One conversation as people see it: built from the session's events, the same way in the extension
 * host (which keeps it) and in every view of it (which draws it).
 *
 * Deterministic and free of DOM and VS Code. `apply` changes the state in place, because a long
 * conversation is changed two hundred times a second, and says what it touched.
 */
import type { Json, Mode, PermissionAsk, Proposal, SessionEvent, StoredMessage, TurnResult } from "../src/protocol";
import { blocksOf, clientId, count, imagesOf, isMeta, isOpen, jobText, outputOf, samePrompt, tail, textIn, titleOf } from "./content";
import type { Action, Block, Change, ChildRow, ConversationData, Item, NoticeItem, QueuedMessage, ToolItem, UserItem } from "./items";

const PROGRESS_KEPT = 20_000;
const CHILDREN_KEPT = 200;
const TURN_REACH = 400;


export function emptyConversation(): ConversationData {
  return {
    sessionId: null,
    title: "",
    items: [],
    queue: [],
    asks: [],
    elicits: [],
    proposals: [],
    todos: [],
    plan: null,
    usage: null,
    state: "idle",
    running: false,
    interrupted: false,
    retrying: null,
    model: "",
    mode: "default",
    olderCursor: null,
    connected: true,
    serial: 0,
  };
}

export class Conversation {
  readonly data: ConversationData;
  private readonly index = new Map<string, number>();
  private change: Change = { touched: new Set(), structure: false, around: false };

  constructor(data: ConversationData = emptyConversation()) {
    this.data = data;
    this.reindex();
  }

  /** A page of stored messages, oldest first, as the start of a conversation. */
  static restored(data: ConversationData, messages: StoredMessage[]): Conversation {
    const conversation = new Conversation(data);
    for (const message of messages) conversation.message(message);
    conversation.settleStored(data.running);
    return conversation;
  }

  get(key: string): Item | undefined {
    const at = this.index.get(key);
    return at === undefined ? undefined : this.data.items[at];
  }

  apply(action: Action): Change {
    this.change = { touched: new Set(), structure: false, around: false };
    switch (action.type) {
      case "event":
        this.event(action.params);
        break;
      case "sent":
        if (action.queued) this.data.queue.push(action.message);
        else this.addUser(action.message);
        this.data.interrupted = false;
        this.change.around = true;
        break;
      case "sendFailed":
        this.sendFailed(action.clientMessageId, action.text);
        break;
      case "ask":
        this.addAsk(action.ask);
        break;
      case "elicit":
        if (!this.data.elicits.some((each) => each.elicitId === action.elicit.elicitId)) this.data.elicits.push(action.elicit);
        else this.data.elicits = this.data.elicits.map((each) => (each.elicitId === action.elicit.elicitId ? action.elicit : each));
        this.change.around = true;
        break;
      case "withdrawn":
        this.data.asks = this.data.asks.filter((ask) => ask.requestId !== action.requestId);
        this.data.elicits = this.data.elicits.filter((elicit) => elicit.requestId !== action.requestId);
        this.change.around = true;
        break;
      case "answered":
        this.answered(action.id, action.decision, action.by);
        break;
      case "older":
        this.older(action.messages, action.cursor);
        break;
      case "truncated":
        this.truncate(action.messageId);
        break;
      case "configured":
        if (action.model !== undefined) this.data.model = action.model;
        if (action.mode !== undefined) this.data.mode = action.mode;
        this.change.around = true;
        break;
      case "connection":
        this.data.connected = action.connected;
        this.change.around = true;
        break;
      case "title":
        this.data.title = action.title;
        this.change.around = true;
        break;
      case "notice":
        this.notice(action.level, action.text);
        break;
    }
    return this.change;
  }

  // --- the session's events -----------------------------------------------------------------------

  private event(params: SessionEvent): void {
    const event = params.event;
    const parent = params.parentToolUseId;
    if (parent && this.childEvent(parent, params)) return;
    const data = this.data;
    switch (event.type) {
      case "turnStarted":
        data.running = true;
        data.interrupted = false;
        data.state = "running";
        if (event.model) data.model = event.model;
        if (event.permissionMode) data.mode = event.permissionMode as Mode;
        this.prompted(event.prompt, (event as { messageId?: string }).messageId);
        this.change.around = true;
        break;
      case "stepStarted":
        this.clearRetry();
        break;
      case "textDelta":
        this.clearRetry();
        this.append("text", event.blockId, event.text);
        break;
      case "thinkingDelta":
        this.clearRetry();
        this.append("thinking", event.blockId, event.text);
        break;
      case "toolPreparing":
        this.closeStreams();
        this.tool(event.toolUseId, event.tool);
        break;
      case "toolInputDelta": {
        const item = this.tool(event.toolUseId, "");
        item.partialJson += event.partialJson;
        this.touch(item.key);
        break;
      }
      case "toolStarted": {
        const item = this.tool(event.toolUseId, event.tool);
        Object.assign(item, { tool: event.tool, title: event.title, input: event.input, partialJson: "", state: "running" });
        this.touch(item.key);
        break;
      }
      case "toolProgress": {
        const item = this.tool(event.toolUseId, "");
        item.progress = tail(item.progress + event.text, PROGRESS_KEPT);
        this.touch(item.key);
        break;
      }
      case "toolFinished": {
        const item = this.tool(event.toolUseId, "");
        item.state = event.isError ? "error" : "done";
        item.summary = event.summary;
        item.durationMs = event.durationMs;
        Object.assign(item, outputOf(event.content));
        this.touch(item.key);
        break;
      }
      case "toolSummary":
        this.notice("info", event.text);
        break;
      case "message":
        this.message(event);
        break;
      case "tombstone":
        this.remove(new Set([...event.messageIds, ...event.blockIds]));
        break;
      case "retrying":
        data.retrying = { attempt: event.attempt, maxAttempts: event.maxAttempts, delayMs: event.delayMs, status: event.status };
        this.change.around = true;
        break;
      case "compacting":
        data.state = "compacting";
        this.change.around = true;
        break;
      case "compacted":
        this.notice("info", `Conversation compacted: ${count(event.tokensBefore)} → ${count(event.tokensAfter)} tokens`, event.summary);
        break;
      case "permissionResolved":
        this.answered(event.askId, event.decision ?? "", event.by ?? "");
        break;
      case "permissionPending":
      case "elicitationPending":
        data.state = "waiting";
        this.change.around = true;
        break;
      case "elicitationResolved":
        this.answered(event.elicitId, "answered", event.by ?? "");
        break;
      case "editProposed":
      case "editUpdated":
        this.proposal(event.proposal);
        break;
      case "editResolved":
        data.proposals = data.proposals.filter((each) => each.proposalId !== event.proposalId || each.hunks.some(isOpen));
        this.change.around = true;
        break;
      case "todos":
        data.todos = event.items;
        this.change.around = true;
        break;
      case "planProposed":
        // Its approval shows it; afterwards it stays in the transcript.
        data.plan = event.plan;
        break;
      case "hook":
        if (event.outcome !== "success" || event.text) {
          const level = event.outcome === "success" ? "info" : "warning";
          this.notice(level, `${event.event} hook: ${event.outcome}`, event.text);
        }
        break;
      case "usage": {
        const { type: _type, ...usage } = event;
        const costUsd = (event as { totalCostUsd?: number }).totalCostUsd ?? event.costUsd;
        // A subagent has a context of its own; what it spends is the conversation's.
        data.usage = parent && data.usage ? { ...data.usage, costUsd } : { ...usage, costUsd };
        this.change.around = true;
        break;
      }
      case "status":
        data.state = event.state;
        data.running = event.state !== "idle";
        this.change.around = true;
        break;
      case "queued":
        this.change.around = true;
        break;
      case "dequeued":
      case "completed":
        if (event.clientMessageId) this.dequeue(event.clientMessageId);
        break;
      case "maxTurnsReached":
        this.notice("warning", "The limit of steps for one turn was reached.");
        break;
      case "job":
        this.notice("info", jobText(event.command, event.state, event.exitCode));
        break;
      case "notice":
        this.notice(event.level, event.text);
        break;
      case "turnFinished":
        this.finish(event.result);
        break;
      case "heartbeat":
        break;
    }
  }

  /** Events of a subagent go into its parent's card; true when that was the case. */
  private childEvent(parent: string, params: SessionEvent): boolean {
    const item = this.get(parent);
    if (item?.kind !== "tool") return false;
    const event = params.event;
    const row = (key: string, kind: ChildRow["kind"]): ChildRow => {
      let found = item.children.find((child) => child.key === key);
      if (!found) {
        found = { key, kind, text: "", state: "running" };
        item.children.push(found);
        if (item.children.length > CHILDREN_KEPT) item.children.shift();
      }
      return found;
    };
    switch (event.type) {
      case "textDelta":
        row(event.blockId, "text").text += event.text;
        break;
      case "toolPreparing":
        row(event.toolUseId, "tool").text = event.tool;
        break;
      case "toolStarted":
        row(event.toolUseId, "tool").text = event.title;
        break;
      case "toolFinished": {
        const child = row(event.toolUseId, "tool");
        child.state = event.isError ? "error" : "done";
        if (event.summary) child.text = `${child.text}: ${event.summary}`;
        break;
      }
      case "message":
        if (event.role === "assistant") {
          for (const block of blocksOf(event.content)) if (block.type === "text") row(event.id, "text").text = String(block["text"] ?? "");
        }
        break;
      case "usage":
      case "permissionPending":
      case "permissionResolved":
      case "editProposed":
      case "editUpdated":
      case "editResolved":
        return false;
      default:
        break;
    }
    this.touch(item.key);
    return true;
  }

  /** A closed message: live, or from the stored history. */
  private message(message: StoredMessage, parent = message.parentToolUseId): void {
    if (parent && this.get(parent)) {
      this.childEvent(parent, { sessionId: "", seq: 0, event: { type: "message", ...message } });
      return;
    }
    if (message.role === "assistant") {
      for (const block of blocksOf(message.content)) this.assistantBlock(message, block);
      return;
    }
    const blocks = blocksOf(message.content);
    const boundary = message as { role: string; tokensBefore?: number; tokensAfter?: number; summary?: string };
    if (boundary.role === "system") {
      this.notice("info", `Conversation compacted: ${count(boundary.tokensBefore ?? 0)} → ${count(boundary.tokensAfter ?? 0)} tokens`, boundary.summary);
      return;
    }
    const results = blocks.filter((block) => block.type === "tool_result");
    for (const block of results) this.toolResult(block);
    if (isMeta(message) || results.length > 0) return;
    const text = textIn(blocks);
    if (this.data.items.some((item) => item.kind === "user" && item.messageId === message.id)) return;
    const images = imagesOf(blocks);
    if (!text && images.length === 0) return;
    const waiting = this.data.items.findLast(
      (item): item is UserItem => item.kind === "user" && !item.messageId && (item.clientMessageId === clientId(message) || samePrompt(item.text, text)),
    );
    if (waiting) {
      waiting.messageId = message.id;
      this.touch(waiting.key);
    } else {
      this.add({ kind: "user", key: message.id, text, images, mentions: [], messageId: message.id });
    }
  }

  private assistantBlock(message: StoredMessage, block: Block): void {
    switch (block.type) {
      case "text": {
        const text = String(block["text"] ?? "");
        const item = this.get(message.id);
        if (item?.kind === "text") {
          item.text = text;
          item.streaming = false;
          this.touch(item.key);
        } else if (text) {
          this.add({ kind: "text", key: this.free(message.id), text, streaming: false, error: Boolean((message as Json)["error"]) });
        }
        break;
      }
      case "thinking":
      case "redacted_thinking": {
        const text = String(block["thinking"] ?? "");
        const item = this.get(message.id);
        if (item?.kind === "thinking") {
          if (text) item.text = text;
          item.streaming = false;
          this.touch(item.key);
        } else if (text) {
          this.add({ kind: "thinking", key: this.free(message.id), text, streaming: false });
        }
        break;
      }
      case "tool_use":
      case "server_tool_use": {
        const item = this.tool(String(block["id"] ?? message.id), String(block["name"] ?? "tool"));
        item.input = (block["input"] as Json | undefined) ?? item.input;
        item.partialJson = "";
        if (!item.title) item.title = titleOf(item.tool, item.input);
        this.touch(item.key);
        break;
      }
      default:
        break;
    }
  }

  private toolResult(block: Block): void {
    const item = this.get(String(block["tool_use_id"] ?? ""));
    if (item?.kind !== "tool" || item.state === "done" || item.state === "error") return;
    item.state = block["is_error"] ? "error" : "done";
    Object.assign(item, outputOf((block["content"] as string | Block[] | undefined) ?? ""));
    this.touch(item.key);
  }

  /** A turn began with these words: ours, whose id we learn now, or someone else's, which we show. */
  private prompted(prompt: string | Block[], messageId: string | undefined): void {
    const blocks = blocksOf(prompt);
    const text = textIn(blocks);
    const queued = this.data.queue.find((message) => samePrompt(message.text, text));
    const sent = (item: Item): item is UserItem => item.kind === "user" && !item.messageId && samePrompt(item.text, text);
    if (queued && !this.data.items.some(sent)) this.dequeue(queued.clientMessageId);
    const item = this.data.items.findLast(sent);
    if (item) {
      if (messageId) item.messageId = messageId;
      this.touch(item.key);
    } else if (messageId && !this.index.has(messageId) && (text || imagesOf(blocks).length)) {
      this.add({ kind: "user", key: messageId, text, images: imagesOf(blocks), mentions: [], messageId });
    }
  }

  private finish(result: TurnResult): void {
    this.closeStreams();
    this.keepPlan();
    for (const item of this.data.items.slice(-TURN_REACH)) {
      if (item.kind === "tool" && (item.state === "preparing" || item.state === "running" || item.state === "waiting")) {
        item.state = "stopped";
        this.touch(item.key);
      }
    }
    this.data.retrying = null;
    this.data.running = false;
    this.data.state = "idle";
    this.change.around = true;
    // A failure is said once: the end of the turn says it, with a way to try again.
    const said = this.data.items.findLast((item) => item.kind !== "notice");
    if (result.isError && said?.kind === "text" && said.text.trim() === result.result.trim()) this.remove(new Set([said.key]));
    this.add({
      kind: "end",
      key: this.mint("end"),
      isError: result.isError,
      terminal: result.terminal,
      text: result.isError ? result.result : "",
      durationMs: result.durationMs,
      costUsd: result.totalCostUsd,
      denials: result.permissionDenials?.length ?? 0,
    });
  }

  // --- items --------------------------------------------------------------------------------------

  private append(kind: "text" | "thinking", blockId: string, text: string): void {
    const item = this.get(blockId);
    if (item && item.kind === kind) {
      item.text += text;
      this.touch(item.key);
      return;
    }
    this.closeStreams();
    this.add({ kind, key: blockId, text, streaming: true });
  }

  private closeStreams(): void {
    for (const item of this.data.items.slice(-4)) {
      if ((item.kind === "text" || item.kind === "thinking") && item.streaming) {
        item.streaming = false;
        this.touch(item.key);
      }
    }
  }

  private tool(toolUseId: string, tool: string): ToolItem {
    const found = this.get(toolUseId);
    if (found?.kind === "tool") return found;
    const item: ToolItem = {
      kind: "tool",
      key: toolUseId,
      tool,
      title: "",
      input: null,
      partialJson: "",
      progress: "",
      state: "preparing",
      summary: "",
      output: "",
      images: [],
      durationMs: 0,
      children: [],
    };
    this.add(item);
    return item;
  }

  private addUser(message: QueuedMessage): void {
    const { clientMessageId, text, images, mentions } = message;
    this.add({ kind: "user", key: `sent:${clientMessageId}`, clientMessageId, text, images, mentions });
  }

  private dequeue(clientMessageId: string): void {
    const message = this.data.queue.find((each) => each.clientMessageId === clientMessageId);
    if (!message) return;
    this.data.queue = this.data.queue.filter((each) => each !== message);
    const echoed = this.data.items.findLast((item) => item.kind === "user" && !item.clientMessageId && samePrompt(item.text, message.text));
    if (echoed?.kind === "user") echoed.clientMessageId = clientMessageId;
    else this.addUser(message);
    this.change.around = true;
  }

  private sendFailed(clientMessageId: string, text: string): void {
    const item = this.get(`sent:${clientMessageId}`);
    this.data.queue = this.data.queue.filter((each) => each.clientMessageId !== clientMessageId);
    if (item?.kind === "user") {
      item.failed = text;
      this.touch(item.key);
    } else {
      this.notice("error", text);
    }
    this.change.around = true;
  }

  private addAsk(ask: PermissionAsk): void {
    const known = this.data.asks.findIndex((each) => each.askId === ask.askId);
    if (known >= 0) this.data.asks[known] = ask;
    else this.data.asks.push(ask);
    const item = this.get(ask.toolUseId);
    if (item?.kind === "tool" && item.state !== "done" && item.state !== "error") {
      item.state = "waiting";
      if (!item.title) item.title = ask.title;
      this.touch(item.key);
    }
    this.change.around = true;
  }

  private answered(id: string, decision: string, by: string): void {
    const ask = this.data.asks.find((each) => each.askId === id);
    const elicit = this.data.elicits.find((each) => each.elicitId === id);
    if (ask) {
      this.data.asks = this.data.asks.filter((each) => each !== ask);
      const item = this.get(ask.toolUseId);
      if (item?.kind === "tool" && item.state === "waiting") {
        item.state = decision === "deny" ? "stopped" : "running";
        this.touch(item.key);
      }
      if (ask.tool === "ExitPlanMode") this.keepPlan();
      if (decision) this.add({ kind: "answered", key: this.mint("answered"), title: ask.title || ask.tool, decision, by });
    }
    if (elicit) this.data.elicits = this.data.elicits.filter((each) => each !== elicit);
    if (this.data.asks.length === 0 && this.data.elicits.length === 0 && this.data.state === "waiting") this.data.state = "running";
    this.change.around = true;
  }

  private proposal(proposal: Proposal): void {
    const at = this.data.proposals.findIndex((each) => each.proposalId === proposal.proposalId);
    const open = proposal.hunks.some(isOpen);
    if (at >= 0) {
      if (open) this.data.proposals[at] = proposal;
      else this.data.proposals.splice(at, 1);
    } else if (open) {
      this.data.proposals.push(proposal);
    }
    for (const ask of this.data.asks) if (ask.proposal?.proposalId === proposal.proposalId) ask.proposal = proposal;
    this.change.around = true;
  }

  private keepPlan(): void {
    if (this.data.plan === null) return;
    this.add({ kind: "plan", key: this.mint("plan"), text: this.data.plan });
    this.data.plan = null;
  }

  private notice(level: NoticeItem["level"], text: string, detail?: string): void {
    this.add({ kind: "notice", key: this.mint("notice"), level, text, ...(detail ? { detail } : {}) });
  }

  private clearRetry(): void {
    if (!this.data.retrying) return;
    this.data.retrying = null;
    this.change.around = true;
  }

  private older(messages: StoredMessage[], cursor: string | null): void {
    const page = Conversation.restored(emptyConversation(), messages);
    this.data.items = [...page.data.items.filter((item) => !this.index.has(item.key)), ...this.data.items];
    this.data.olderCursor = cursor;
    this.reindex();
    this.change.structure = true;
    this.change.around = true;
  }

  /** Drops the message and everything after it, as a rewind of the conversation does. */
  private truncate(messageId: string): void {
    const at = this.data.items.findIndex((item) => item.key === messageId || (item.kind === "user" && item.messageId === messageId));
    this.data.interrupted = false;
    this.change.around = true;
    if (at < 0) return;
    this.data.items.length = at;
    this.reindex();
    this.change.structure = true;
  }

  /** A withdrawn prompt takes all of its turn with it: answers, notes and the line at its end. */
  private remove(keys: Set<string>): void {
    let gone = false;
    const kept = this.data.items.filter((item) => {
      const named = keys.has(item.key) || (item.kind === "user" && item.messageId !== undefined && keys.has(item.messageId));
      if (item.kind === "user") gone = named;
      return !named && !gone;
    });
    if (kept.length === this.data.items.length) return;
    this.data.items = kept;
    this.reindex();
    this.change.structure = true;
  }

  /** Stored tool calls without a result were cut off, unless the turn still runs. */
  private settleStored(running: boolean): void {
    if (running) return;
    for (const item of this.data.items) if (item.kind === "tool" && item.state === "preparing") item.state = "stopped";
  }

  private add(item: Item): void {
    this.index.set(item.key, this.data.items.length);
    this.data.items.push(item);
    this.change.touched.add(item.key);
    this.change.structure = true;
  }

  private touch(key: string): void {
    this.change.touched.add(key);
  }

  private reindex(): void {
    this.index.clear();
    this.data.items.forEach((item, at) => this.index.set(item.key, at));
  }

  private mint(prefix: string): string {
    let key: string;
    do key = `${prefix}:${(this.data.serial += 1)}`;
    while (this.index.has(key));
    return key;
  }

  private free(key: string): string {
    return this.index.has(key) ? this.mint(key) : key;
  }
}
