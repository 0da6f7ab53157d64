/** Heights of list rows with their running sums, both changed and searched in O(log n): a Fenwick tree. */
export class Heights {
  private values: number[] = [];
  private tree: number[] = [0];

  constructor(private readonly estimate: number) {}

  get length(): number {
    return this.values.length;
  }

  get total(): number {
    return this.before(this.values.length);
  }

  /** Rebuilds for a new list; rows that are not known get the estimate. */
  reset(known: (number | undefined)[]): void {
    this.values = known.map((height) => height ?? this.estimate);
    this.tree = new Array<number>(this.values.length + 1).fill(0);
    for (let at = 1; at <= this.values.length; at += 1) {
      this.tree[at] = (this.tree[at] ?? 0) + (this.values[at - 1] ?? 0);
      const parent = at + (at & -at);
      if (parent <= this.values.length) this.tree[parent] = (this.tree[parent] ?? 0) + (this.tree[at] ?? 0);
    }
  }

  push(height = this.estimate): void {
    this.values.push(height);
    const at = this.values.length;
    let sum = height;
    for (let step = 1; step < (at & -at); step <<= 1) sum += this.tree[at - step] ?? 0;
    this.tree.push(sum);
  }

  get(row: number): number {
    return this.values[row] ?? 0;
  }

  set(row: number, height: number): void {
    const delta = height - this.get(row);
    if (delta === 0) return;
    this.values[row] = height;
    for (let at = row + 1; at < this.tree.length; at += at & -at) this.tree[at] = (this.tree[at] ?? 0) + delta;
  }

  /** The sum of the heights of rows before this one. */
  before(row: number): number {
    let sum = 0;
    for (let at = Math.min(row, this.values.length); at > 0; at -= at & -at) sum += this.tree[at] ?? 0;
    return sum;
  }

  /** The row that covers this offset. */
  rowAt(offset: number): number {
    let at = 0;
    let left = offset;
    let step = 1;
    while (step * 2 < this.tree.length) step *= 2;
    for (; step > 0; step >>= 1) {
      const next = at + step;
      if (next < this.tree.length && (this.tree[next] ?? 0) <= left) {
        at = next;
        left -= this.tree[next] ?? 0;
      }
    }
    return Math.max(0, Math.min(at, this.values.length - 1));
  }
}
