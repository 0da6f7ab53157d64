/** Line differences for showing a change in a card. The server's hunks decide; this only draws. */
import { diffArrays } from "diff";

export interface DiffLine {
  sign: " " | "+" | "-";
  text: string;
}

/** Colours a diff that the model wrote: whole lines, like the changes in cards. */
export function paintDiff(code: HTMLElement): void {
  const rows = (code.textContent ?? "")
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      const row = code.ownerDocument.createElement("span");
      row.className = /^(\+\+\+|---) /.test(line) ? "same" : line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "gap" : "same";
      row.textContent = `${line}\n`;
      return row;
    });
  code.classList.add("painted");
  code.replaceChildren(...rows);
}

/** Beyond so many changes a text is shown as replaced whole. */
const MOST_CHANGES = 2000;

export function diffLines(before: string, after: string): DiffLine[] {
  const [old, fresh] = [split(before), split(after)];
  const parts = diffArrays(old, fresh, { maxEditLength: MOST_CHANGES }) ?? [
    { removed: true, added: false, value: old },
    { removed: false, added: true, value: fresh },
  ];
  return parts.flatMap((part) => part.value.map((text): DiffLine => ({ sign: part.added ? "+" : part.removed ? "-" : " ", text })));
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

function split(text: string): string[] {
  if (text === "") return [];
  const lines = text.split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
