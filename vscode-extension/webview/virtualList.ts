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
  private ownScroll = false;

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
    this.schedule();
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

  private draw(): void {
    if (this.follow) this.scrollTo(this.scroller.scrollHeight);
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
    if (this.follow) this.scrollTo(this.scroller.scrollHeight);
  }

  private measured(entries: ResizeObserverEntry[]): void {
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
    if (this.ownScroll) {
      this.ownScroll = false;
    } else {
      const distance = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight;
      const follow = distance < AT_BOTTOM;
      if (follow !== this.follow) {
        this.follow = follow;
        this.events.onFollow(follow);
      }
    }
    if (this.scroller.scrollTop < OVERSCAN && this.keys.length > 0) this.events.onTop();
    this.schedule();
  }

  private scrollTo(top: number): void {
    const before = this.scroller.scrollTop;
    this.scroller.scrollTop = top;
    if (this.scroller.scrollTop !== before) this.ownScroll = true;
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
