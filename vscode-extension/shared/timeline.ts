/**
 * The items of a conversation in their order, found by key, and a note of what a change touched.
 *
 * Owns the list and its index. It is not aware of where items come from.
 */
import type { Change, ConversationData, Item, NoticeItem, ToolItem } from "./items";

export class Timeline {
  private readonly index = new Map<string, number>();
  change: Change = fresh();

  constructor(readonly data: ConversationData) {
    this.reindex();
  }

  /** Forgets what was touched so far; the next action starts here. */
  begin(): Change {
    this.change = fresh();
    return this.change;
  }

  get(key: string): Item | undefined {
    const at = this.index.get(key);
    return at === undefined ? undefined : this.data.items[at];
  }

  has(key: string): boolean {
    return this.index.has(key);
  }

  /** Something besides the items changed. */
  around(): void {
    this.change.around = true;
  }

  add(item: Item): void {
    this.index.set(item.key, this.data.items.length);
    this.data.items.push(item);
    this.change.touched.add(item.key);
    this.change.structure = true;
  }

  touch(key: string): void {
    this.change.touched.add(key);
  }

  append(kind: "text" | "thinking", blockId: string, text: string): void {
    const item = this.get(blockId);
    if (item && item.kind === kind) {
      item.text += text;
      this.touch(item.key);
      return;
    }
    this.closeStreams();
    this.add({ kind, key: blockId, text, streaming: true });
  }

  closeStreams(): void {
    for (const item of this.data.items.slice(-4)) {
      if ((item.kind === "text" || item.kind === "thinking") && item.streaming) {
        item.streaming = false;
        this.touch(item.key);
      }
    }
  }

  tool(toolUseId: string, tool: string): ToolItem {
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

  /** The same words twice in a row are said once. */
  notice(level: NoticeItem["level"], text: string, detail?: string): void {
    const last = this.data.items.at(-1);
    if (last?.kind === "notice" && last.level === level && last.text === text && last.detail === detail) return;
    this.add({ kind: "notice", key: this.mint("notice"), level, text, ...(detail ? { detail } : {}) });
  }

  /** Drops the message and everything after it, as a rewind of the conversation does. */
  truncate(messageId: string): void {
    const at = this.data.items.findIndex((item) => item.key === messageId || (item.kind === "user" && item.messageId === messageId));
    this.data.interrupted = false;
    this.change.around = true;
    if (at < 0) return;
    this.data.items.length = at;
    this.reindex();
    this.change.structure = true;
  }

  /** A withdrawn prompt takes all of its turn with it: answers, notes and the line at its end. */
  remove(keys: Set<string>): void {
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

  /** Takes out one item and nothing else. */
  drop(key: string): void {
    this.data.items = this.data.items.filter((item) => item.key !== key);
    this.reindex();
    this.change.structure = true;
  }

  /** Stored tool calls without a result were cut off, unless the turn still runs. */
  settle(running: boolean): void {
    if (running) return;
    for (const item of this.data.items) if (item.kind === "tool" && item.state === "preparing") item.state = "stopped";
  }

  /** Older items, before all others. */
  prepend(items: Item[]): void {
    this.data.items = [...items.filter((item) => !this.index.has(item.key)), ...this.data.items];
    this.reindex();
    this.change.structure = true;
  }

  mint(prefix: string): string {
    let key: string;
    do key = `${prefix}:${(this.data.serial += 1)}`;
    while (this.index.has(key));
    return key;
  }

  free(key: string): string {
    return this.index.has(key) ? this.mint(key) : key;
  }

  private reindex(): void {
    this.index.clear();
    this.data.items.forEach((item, at) => this.index.set(item.key, at));
  }
}

function fresh(): Change {
  return { touched: new Set(), structure: false, around: false };
}
