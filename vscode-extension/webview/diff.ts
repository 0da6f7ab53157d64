/** Line differences for showing a change in a card. The server's hunks decide; this only draws. */

export interface DiffLine {
  sign: " " | "+" | "-";
  text: string;
}

/** Colours a diff that the model wrote: whole lines, like the changes in cards. */
export function paintDiff(code: HTMLElement): void {
  const rows = (code.textContent ?? "").replace(/\n$/, "").split("\n").map((line) => {
    const row = code.ownerDocument.createElement("span");
    row.className = /^(\+\+\+|---) /.test(line) ? "same" : line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "gap" : "same";
    row.textContent = `${line}\n`;
    return row;
  });
  code.classList.add("painted");
  code.replaceChildren(...rows);
}

const LIMIT = 2_000_000; // cells of the table; beyond it the middle is shown as replaced whole

export function diffLines(before: string, after: string): DiffLine[] {
  const old = split(before);
  const fresh = split(after);
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail += 1;
  const same = (lines: string[]): DiffLine[] => lines.map((text) => ({ sign: " ", text }));
  return [
    ...same(old.slice(0, head)),
    ...middle(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)),
    ...same(old.slice(old.length - tail)),
  ];
}

/** Only the changed lines and `around` lines beside them; a null stands for what is left out. */
export function withContext(lines: DiffLine[], around: number): (DiffLine | null)[] {
  const near = lines.map(() => false);
  lines.forEach((line, at) => {
    if (line.sign === " ") return;
    for (let row = Math.max(0, at - around); row <= Math.min(lines.length - 1, at + around); row += 1) near[row] = true;
  });
  const shown: (DiffLine | null)[] = [];
  lines.forEach((line, at) => {
    if (near[at]) shown.push(line);
    else if (shown.at(-1) !== null) shown.push(null);
  });
  return shown;
}

function middle(old: string[], fresh: string[]): DiffLine[] {
  const removed = old.map((text): DiffLine => ({ sign: "-", text }));
  const added = fresh.map((text): DiffLine => ({ sign: "+", text }));
  if (old.length === 0 || fresh.length === 0 || old.length * fresh.length > LIMIT) return [...removed, ...added];
  const width = fresh.length + 1;
  const table = new Uint32Array((old.length + 1) * width);
  const cell = (row: number, column: number): number => table[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      table[row * width + column] = old[row] === fresh[column] ? cell(row + 1, column + 1) + 1 : Math.max(cell(row + 1, column), cell(row, column + 1));
    }
  }
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < old.length && column < fresh.length) {
    if (old[row] === fresh[column]) {
      lines.push({ sign: " ", text: old[row] ?? "" });
      row += 1;
      column += 1;
    } else if (cell(row + 1, column) >= cell(row, column + 1)) {
      lines.push(removed[row++] as DiffLine);
    } else {
      lines.push(added[column++] as DiffLine);
    }
  }
  return [...lines, ...removed.slice(row), ...added.slice(column)];
}

function split(text: string): string[] {
  if (text === "") return [];
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
