/**
 * One conversation as people see it: built from the session's events, the same way in the extension
 * host (which keeps it) and in every view of it (which draws it).
 *
 * Deterministic and free of DOM and VS Code. `apply` changes the state in place, because a long
 * conversation is changed two hundred times a second, and says what it touched.
 */
import type { ShownEvent, StoredMessage } from "../src/protocol";
import type { Action, Change, ConversationData, Item } from "./items";
import { addAsk, addElicit, addUser, answered, putProposal, sendFailed, unqueue } from "./pending";
import { applyEvent } from "./sessionEvents";
import { takeShown } from "./shown";
import { takeMessage } from "./stored";
import { Timeline } from "./timeline";

export function emptyConversation(): ConversationData {
  return {
    sessionId: null,
    title: "",
    items: [],
    queue: [],
    asks: [],
    elicits: [],
    reviews: [],
    proposals: [],
    todos: [],
    snips: [],
    plan: null,
    usage: null,
    state: "idle",
    running: false,
    interrupted: false,
    readOnly: null,
    retrying: null,
    model: "",
    mode: "default",
    olderCursor: null,
    connected: true,
    serial: 0,
  };
}

export class Conversation {
  private readonly line: Timeline;

  constructor(readonly data: ConversationData = emptyConversation()) {
    this.line = new Timeline(data);
  }

  /** A page of stored messages, oldest first, as the start of a conversation, with what was shown between them. */
  static restored(data: ConversationData, messages: StoredMessage[], shown: ShownEvent[] = []): Conversation {
    const conversation = new Conversation(data);
    const after = new Map<string, ShownEvent[]>();
    for (const each of shown) after.set(each.after ?? "", [...(after.get(each.after ?? "") ?? []), each]);
    const show = (id: string): void => (after.get(id) ?? []).forEach(({ event }) => takeShown(conversation.line, event));
    show("");
    for (const message of messages) {
      takeMessage(conversation.line, message);
      show(message.id);
    }
    conversation.line.settle(data.running);
    return conversation;
  }

  get(key: string): Item | undefined {
    return this.line.get(key);
  }

  apply(action: Action): Change {
    const change = this.line.begin();
    const line = this.line;
    switch (action.type) {
      case "event":
        applyEvent(line, action.params);
        break;
      case "sent":
        if (action.queued) this.data.queue.push(action.message);
        else addUser(line, action.message);
        this.data.interrupted = false;
        line.around();
        break;
      case "unqueued":
        unqueue(line, action.clientMessageId);
        break;
      case "readOnly":
        this.data.readOnly = action.readOnly;
        line.around();
        break;
      case "sendFailed":
        sendFailed(line, action.clientMessageId, action.text);
        break;
      case "proposal":
        putProposal(line, action.proposal);
        break;
      case "ask":
        addAsk(line, action.ask);
        break;
      case "elicit":
        addElicit(line, action.elicit);
        break;
      case "withdrawn":
        this.data.asks = this.data.asks.filter((ask) => ask.requestId !== action.requestId);
        this.data.elicits = this.data.elicits.filter((elicit) => elicit.requestId !== action.requestId);
        line.around();
        break;
      case "answered":
        answered(line, action.id, action.decision, action.by);
        break;
      case "older":
        this.older(action.messages, action.cursor, action.shown);
        break;
      case "truncated":
        line.truncate(action.messageId);
        break;
      case "configured":
        if (action.model !== undefined) this.data.model = action.model;
        if (action.mode !== undefined) this.data.mode = action.mode;
        line.around();
        break;
      case "connection":
        this.data.connected = action.connected;
        line.around();
        break;
      case "title":
        this.data.title = action.title;
        line.around();
        break;
      case "notice":
        line.notice(action.level, action.text);
        break;
    }
    return change;
  }

  private older(messages: StoredMessage[], cursor: string | null, shown: ShownEvent[] = []): void {
    const earlier = Conversation.restored(emptyConversation(), messages, shown).data;
    this.line.prepend(earlier.items);
    this.data.snips = [...earlier.snips.filter((snip) => !this.data.snips.some((each) => each.snipId === snip.snipId)), ...this.data.snips];
    this.data.olderCursor = cursor;
    this.line.around();
  }
}
