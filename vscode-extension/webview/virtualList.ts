/**
 * A list that draws only the rows near the viewport. Rows have any height and may grow while they are
 * shown; the view stays at the bottom as long as the reader is there, and stays still when they are not.
 *
 * It owns scrolling and measuring. It is not aware of what a row shows.
 */
import { Heights } from "./heights";

export interface RowView {
  element: HTMLElement;
  /** Draw again after a change of the row's content. */
  update(): void;
}

const OVERSCAN = 600; // pixels drawn beyond each edge
const AT_BOTTOM = 48;

export class VirtualList {
  private keys: string[] = [];
  private readonly rows = new Map<string, { view: RowView; row: number }>();
  private readonly known = new Map<string, number>();
  private readonly heights = new Heights(64);
  private readonly top: HTMLElement;
  private readonly bottom: HTMLElement;
  private readonly observer: ResizeObserver;
  private frame = 0;
  private follow = true;
  private placed = 0; // where we last put or found the scroll position

  constructor(
    private readonly scroller: HTMLElement,
    private readonly body: HTMLElement,
    private readonly create: (key: string) => RowView,
    private readonly events: { onTop(): void; onFollow(following: boolean): void },
  ) {
    const document = scroller.ownerDocument;
    this.top = document.createElement("div");
    this.bottom = document.createElement("div");
    this.body.append(this.top, this.bottom);
    this.observer = new ResizeObserver((entries) => this.measured(entries));
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(scroller);
  }

  get drawn(): number {
    return this.rows.size;
  }

  get following(): boolean {
    return this.follow;
  }

  /** The list's rows, by key, in order. Appending is the common case and costs nothing per old row. */
  setKeys(keys: string[]): void {
    const grown = keys.length >= this.keys.length && (this.keys.length === 0 ? false : this.keys.at(-1) === keys[this.keys.length - 1] && this.keys[0] === keys[0]);
    if (grown) {
      for (const key of keys.slice(this.keys.length)) this.heights.push(this.known.get(key));
    } else {
      const anchor = this.anchor();
      this.heights.reset(keys.map((key) => this.known.get(key)));
      const present = new Set(keys);
      for (const [key, row] of this.rows) if (!present.has(key)) this.drop(key, row.view);
      for (const key of this.known.keys()) if (!present.has(key)) this.known.delete(key);
      this.keys = keys;
      const at = anchor ? keys.indexOf(anchor.key) : -1;
      if (anchor && at >= 0 && !this.follow) this.scrollTo(this.heights.before(at) + anchor.inside);
    }
    this.keys = keys;
    this.schedule();
  }

  update(key: string): void {
    this.rows.get(key)?.view.update();
  }

  clear(): void {
    for (const [key, row] of this.rows) this.drop(key, row.view);
    this.known.clear();
    this.keys = [];
    this.heights.reset([]);
    this.follow = true;
    this.events.onFollow(true);
    this.scrollTo(0);
    this.schedule();
  }

  /** Brings a row into view; its element, once it is drawn. */
  async reveal(key: string): Promise<HTMLElement | undefined> {
    const row = this.keys.indexOf(key);
    if (row < 0) return undefined;
    this.follow = false;
    this.events.onFollow(false);
    // Heights of rows that were never drawn are guesses: the first jump draws them, the second one hits.
    for (let tries = 0; tries < 3; tries += 1) {
      this.scrollTo(Math.max(0, this.heights.before(row) - this.scroller.clientHeight / 3));
      this.draw();
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    return this.rows.get(key)?.view.element;
  }

  toBottom(): void {
    this.follow = true;
    this.events.onFollow(true);
    this.schedule();
  }

  schedule(): void {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  /** Below the newest row; where there is none yet, wherever the reader is in what stands in its place. */
  private end(): number {
    return this.keys.length > 0 ? this.scroller.scrollHeight : this.scroller.scrollTop;
  }

  private draw(): void {
    this.noticeReader();
    if (this.follow) this.scrollTo(this.end());
    const from = this.heights.rowAt(Math.max(0, this.scroller.scrollTop - OVERSCAN));
    const to = this.keys.length === 0 ? -1 : this.heights.rowAt(this.scroller.scrollTop + this.scroller.clientHeight + OVERSCAN);
    const wanted = new Map<string, number>();
    for (let row = from; row <= to; row += 1) {
      const key = this.keys[row];
      if (key !== undefined) wanted.set(key, row);
    }
    for (const [key, row] of this.rows) if (!wanted.has(key) && !row.view.element.contains(document.activeElement)) this.drop(key, row.view);
    let after: Element = this.top;
    for (const [key, row] of wanted) {
      let entry = this.rows.get(key);
      if (!entry) {
        entry = { view: this.create(key), row };
        this.rows.set(key, entry);
        this.observer.observe(entry.view.element);
      }
      entry.row = row;
      const element = entry.view.element;
      element.dataset["key"] = key;
      element.setAttribute("aria-posinset", String(row + 1));
      element.setAttribute("aria-setsize", String(this.keys.length));
      if (after.nextElementSibling !== element) after.after(element);
      after = element;
    }
    this.top.style.height = `${this.heights.before(from)}px`;
    this.bottom.style.height = `${Math.max(0, this.heights.total - this.heights.before(to + 1))}px`;
    if (this.follow) this.scrollTo(this.end());
  }

  private measured(entries: ResizeObserverEntry[]): void {
    this.noticeReader();
    let above = 0;
    for (const entry of entries) {
      const element = entry.target as HTMLElement;
      const key = element.dataset["key"];
      const row = key === undefined ? undefined : this.rows.get(key)?.row;
      if (key === undefined || row === undefined || this.keys[row] !== key || !element.isConnected) continue;
      const height = entry.borderBoxSize[0]?.blockSize ?? element.offsetHeight;
      const delta = height - this.heights.get(row);
      if (Math.abs(delta) < 0.5) continue;
      if (!this.follow && this.heights.before(row + 1) <= this.scroller.scrollTop) above += delta;
      this.heights.set(row, height);
      this.known.set(key, height);
    }
    if (above !== 0) this.scrollTo(this.scroller.scrollTop + above);
    // Drawing in the same frame keeps a growing answer glued to the bottom without a visible step.
    this.draw();
  }

  private scrolled(): void {
    this.noticeReader();
    if (this.scroller.scrollTop < OVERSCAN && this.keys.length > 0) this.events.onTop();
    this.schedule();
  }

  /**
   * A position that we did not set is the reader's. Told by the position, not by the event: one event may stand for our
   * scroll and the reader's, and it may come after the next drawing.
   */
  private noticeReader(): void {
    if (Math.abs(this.scroller.scrollTop - this.placed) < 1) return;
    this.placed = this.scroller.scrollTop;
    const distance = this.scroller.scrollHeight - this.placed - this.scroller.clientHeight;
    const follow = distance < AT_BOTTOM || this.keys.length === 0;
    if (follow !== this.follow) {
      this.follow = follow;
      this.events.onFollow(follow);
    }
  }

  private scrollTo(top: number): void {
    this.scroller.scrollTop = top;
    this.placed = this.scroller.scrollTop;
  }

  private anchor(): { key: string; inside: number } | null {
    const row = this.heights.rowAt(this.scroller.scrollTop);
    const key = this.keys[row];
    return key === undefined ? null : { key, inside: this.scroller.scrollTop - this.heights.before(row) };
  }

  private drop(key: string, view: RowView): void {
    this.observer.unobserve(view.element);
    view.element.remove();
    this.rows.delete(key);
  }
}
