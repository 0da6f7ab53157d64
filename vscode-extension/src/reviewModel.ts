/** Where a hunk is shown and what is said about it. Pure: positions in, positions and words out. */
import type { Hunk, Position, Proposal, Range } from "./protocol";

export interface ContentChange {
  range: Range;
  text: string;
}

/** Hunks that still want something of the user: decided on, or landed and not yet kept. */
export function openHunks(proposal: Proposal): Hunk[] {
  return proposal.hunks.filter((hunk) => hunk.state === "pending" || hunk.state === "conflict" || hunk.state === "landed");
}

export function pendingHunks(proposal: Proposal): Hunk[] {
  return proposal.hunks.filter((hunk) => hunk.state === "pending" || hunk.state === "conflict");
}

/** The lines the hunk's old text covers, both ends included; null for an insertion. */
export function oldLines(range: Range): { first: number; last: number } | null {
  const { start, end } = range;
  if (start.line === end.line && start.character === end.character) return null;
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return { first: start.line, last };
}

/** The one line a thread hangs on: the last old line, or the line above an insertion. */
export function threadLine(range: Range): number {
  const lines = oldLines(range);
  if (lines) return lines.last;
  return range.start.character === 0 ? Math.max(0, range.start.line - 1) : range.start.line;
}

export function countLines(text: string): number {
  if (text === "") return 0;
  const lines = text.split(/\r\n|\r|\n/).length;
  return /[\r\n]$/.test(text) ? lines - 1 : lines;
}

export function hunkLabel(hunk: Hunk, number: number, total: number): string {
  const where = total > 1 ? `Hunk ${number} of ${total}` : "Hunk 1";
  const state = hunk.state === "conflict" ? " (in conflict with your changes)" : "";
  return `${where}: -${countLines(hunk.oldText)} +${countLines(hunk.newText)}${state}`;
}

const LENS_LENGTH = 70;

/** The model's reason as a lens: short, and without what the editor would draw as an icon, like the ones of our buttons. */
export function lensTitle(reason: string): string {
  const plain = reason.replaceAll("$(", "$ (");
  return plain.length > LENS_LENGTH ? `${plain.slice(0, LENS_LENGTH - 1).trimEnd()}…` : plain;
}

/** A code fence that the text inside cannot close. */
export function fenced(text: string, language: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = "`".repeat(Math.max(3, longest + 1));
  const body = text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  return `${fence}${/^[\w+#-]*$/.test(language) ? language : ""}\n${body}\n${fence}`;
}

export function hunkBody(hunk: Hunk, language: string): string {
  if (hunk.state === "conflict") return `You changed these lines meanwhile. It would have become:\n\n${fenced(hunk.newText, language)}`;
  if (hunk.newText === "") return "Delete the marked lines.";
  const lines = oldLines(hunk.range);
  if (lines) return `Replace with:\n\n${fenced(hunk.newText, language)}`;
  const above = hunk.range.start.line === 0 && hunk.range.start.character === 0 ? "Insert above the first line:" : "Insert here:";
  return `${above}\n\n${fenced(hunk.newText, language)}`;
}

/** A range after edits elsewhere in the document. Touching edits leave it as it is: the server decides those. */
export function shiftRange(range: Range, changes: readonly ContentChange[]): Range {
  let moved = range;
  for (const change of changes) moved = shiftOnce(moved, change);
  return moved;
}

function shiftOnce(range: Range, change: ContentChange): Range {
  if (compare(change.range.end, range.start) > 0) return range;
  return { start: shiftPosition(range.start, change), end: shiftPosition(range.end, change) };
}

function shiftPosition(position: Position, change: ContentChange): Position {
  const { start, end } = change.range;
  const lines = change.text.split(/\r\n|\r|\n/);
  const line = position.line - (end.line - start.line) + (lines.length - 1);
  if (position.line !== end.line) return { line, character: position.character };
  const tail = lines.at(-1)?.length ?? 0;
  const base = lines.length === 1 ? start.character + tail : tail;
  return { line, character: position.character - end.character + base };
}

export function compare(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

/** The text a proposal would make of the document, for the diff view. */
export function applied(text: string, proposal: Proposal): string {
  const offsets = lineOffsets(text);
  const at = (position: Position): number => Math.min(text.length, (offsets[position.line] ?? text.length) + position.character);
  let result = text;
  for (const hunk of pendingHunks(proposal).toSorted((a, b) => compare(b.range.start, a.range.start))) {
    if (hunk.state === "conflict") continue;
    result = result.slice(0, at(hunk.range.start)) + hunk.newText + result.slice(at(hunk.range.end));
  }
  return result;
}

/** Where each hunk that can be decided starts in the text that `applied` makes. */
export function placed(proposal: Proposal): { hunk: Hunk; line: number }[] {
  let moved = 0;
  return pendingHunks(proposal)
    .filter((hunk) => hunk.state === "pending")
    .toSorted((a, b) => compare(a.range.start, b.range.start))
    .map((hunk) => {
      const line = hunk.range.start.line + moved;
      moved += hunk.newText.split(/\r\n|\r|\n/).length - 1 - (hunk.range.end.line - hunk.range.start.line);
      return { hunk, line };
    });
}

function lineOffsets(text: string): number[] {
  const offsets = [0];
  for (const match of text.matchAll(/\r\n|\r|\n/g)) offsets.push(match.index + match[0].length);
  return offsets;
}
