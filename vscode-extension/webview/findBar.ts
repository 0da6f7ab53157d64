/**
 * Finding words in the conversation: a bar over the transcript. The list draws only what is near the viewport, so the
 * words are looked for in the conversation itself, and the row with the hit is brought into view.
 */
import type { Item } from "../shared/items";
import { h, iconButton } from "./dom";

export interface FindHost {
  items(): readonly Item[];
  /** Brings a row into view and gives its element, once it is drawn. */
  reveal(key: string): Promise<HTMLElement | undefined>;
  /** Earlier messages are not loaded yet. */
  more(): boolean;
  loadMore(): void;
  closed(): void;
}

export interface Hit {
  key: string;
  /** Which of the hits in this item. */
  nth: number;
}

const HIGHLIGHT = "assent-found";

export class FindBar {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly count: HTMLElement;
  private readonly older: HTMLButtonElement;
  private hits: Hit[] = [];
  private at = -1;

  constructor(private readonly host: FindHost) {
    this.input = h("input", { type: "text", placeholder: "Find in this chat", "aria-label": "Find in this chat" });
    this.count = h("span", { class: "small found", role: "status" });
    this.older = h("button", { type: "button", class: "button link", hidden: true, onclick: () => this.host.loadMore() }, "Look further back");
    this.element = h(
      "div",
      { class: "find", role: "search", hidden: true },
      this.input,
      this.count,
      this.older,
      iconButton("arrow-up", "Previous hit", () => this.move(-1)),
      iconButton("arrow-down", "Next hit", () => this.move(1)),
      iconButton("close", "Close find", () => this.hide()),
    );
    this.input.addEventListener("input", () => this.search());
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") {
        event.stopPropagation();
        this.hide();
      } else if (event.key === "Enter" && event.target === this.input) {
        event.preventDefault();
        this.move(event.shiftKey ? -1 : 1);
      }
    });
  }

  show(): void {
    this.element.hidden = false;
    this.input.focus();
    this.input.select();
    this.search();
  }

  hide(): void {
    if (this.element.hidden) return;
    this.element.hidden = true;
    clearMarks();
    this.host.closed();
  }

  /** The conversation grew: the hits are counted again, and the place among them is kept. */
  changed(): void {
    if (this.element.hidden || !this.input.value) return;
    const here = this.hits[this.at];
    this.hits = hitsIn(this.host.items(), this.input.value);
    this.at = here ? this.hits.findIndex((hit) => hit.key === here.key && hit.nth === here.nth) : -1;
    this.say();
  }

  private search(): void {
    this.hits = hitsIn(this.host.items(), this.input.value);
    this.at = -1;
    // The newest first: that is where one is.
    if (this.hits.length > 0) this.move(-1);
    else clearMarks();
    this.say();
  }

  private move(by: 1 | -1): void {
    if (this.hits.length === 0) return;
    this.at = this.at < 0 ? (by > 0 ? 0 : this.hits.length - 1) : (this.at + by + this.hits.length) % this.hits.length;
    this.say();
    void this.go(this.hits[this.at]);
  }

  private async go(hit: Hit | undefined): Promise<void> {
    if (!hit) return;
    const row = await this.host.reveal(hit.key);
    if (row && this.hits[this.at] === hit) mark(row, this.input.value, hit.nth);
  }

  private say(): void {
    const words = this.input.value;
    this.count.textContent = !words ? "" : this.hits.length === 0 ? "Nothing found" : `${this.at + 1} of ${this.hits.length}`;
    this.older.hidden = !words || !this.host.more();
  }
}

/** Where these words are said, from the beginning on. Upper and lower case are the same. */
export function hitsIn(items: readonly Item[], query: string): Hit[] {
  const wanted = query.toLowerCase();
  if (!wanted) return [];
  return items.flatMap((item) => {
    const text = wordsOf(item).toLowerCase();
    const hits: Hit[] = [];
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) hits.push({ key: item.key, nth: hits.length });
    return hits;
  });
}

function wordsOf(item: Item): string {
  switch (item.kind) {
    case "user":
    case "text":
    case "thinking":
    case "plan":
      return item.text;
    case "notice":
    case "hook":
      return item.text;
    case "tool":
      return [item.title, item.output].join("\n");
    case "answered":
      return item.title;
    case "end":
      return item.text;
  }
}

/** Marks the words in a row where they stand in its text; the editor draws them, so nothing in the row changes. */
function mark(row: HTMLElement, query: string, nth: number): void {
  for (const details of row.querySelectorAll("details")) details.open = true;
  const found: Range[] = [];
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  const wanted = query.toLowerCase();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.textContent ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      found.push(range);
    }
  }
  clearMarks();
  const here = found[Math.min(nth, found.length - 1)];
  row.classList.add("found-row");
  if (!here) return;
  if ("highlights" in CSS) CSS.highlights.set(HIGHLIGHT, new Highlight(here));
  here.startContainer.parentElement?.scrollIntoView({ block: "nearest" });
}

function clearMarks(): void {
  if ("highlights" in CSS) CSS.highlights.delete(HIGHLIGHT);
  for (const row of document.querySelectorAll(".found-row")) row.classList.remove("found-row");
}
