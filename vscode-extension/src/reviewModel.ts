/** Hunks as texts and places: the two sides of a review, where each hunk stands in them, and what is said about it. Pure. */
import { diffArrays } from "diff";
import type { Hunk, LineChoice, Position, Proposal, Range } from "./protocol";

export interface ContentChange {
  range: Range;
  text: string;
}

/** Hunks that still want something of the user, as the server says. */
export function openHunks(proposal: Proposal): Hunk[] {
  return proposal.hunks.filter((hunk) => hunk.open);
}

/** Those of them that are not in the file yet. */
export function pendingHunks(proposal: Proposal): Hunk[] {
  return openHunks(proposal).filter((hunk) => !isIn(hunk));
}

/** The text of the hunk stands in the file: it landed, or was changed by hand after it landed. */
export function isIn(hunk: Hunk): boolean {
  return hunk.state === "landed" || hunk.state === "edited";
}

/** The lines the hunk's old text covers, both ends included; null for an insertion. */
export function oldLines(range: Range): { first: number; last: number } | null {
  const { start, end } = range;
  if (start.line === end.line && start.character === end.character) return null;
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return { first: start.line, last };
}

export function splitLines(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}

export function countLines(text: string): number {
  return splitLines(text).length;
}

export function sizeOf(hunk: Hunk): string {
  return `-${countLines(hunk.oldText)} +${countLines(hunk.newText)}`;
}

/** Only blanks at the ends of lines or in their indentation differ; a diff that ignores those shows nothing. */
export function onlyWhitespace(hunk: Hunk): boolean {
  const bare = (text: string): string =>
    splitLines(text)
      .map((line) => line.trim())
      .join("\n");
  return hunk.oldText !== hunk.newText && bare(hunk.oldText) === bare(hunk.newText);
}

const LENS_LENGTH = 70;

/** Words of the model in a lens: short, and without what the editor would draw as an icon, like the ones of our buttons. */
export function lensTitle(words: string): string {
  const plain = words.replaceAll("$(", "$ (").replace(/\s+/g, " ").trim();
  return plain.length > LENS_LENGTH ? `${plain.slice(0, LENS_LENGTH - 1).trimEnd()}…` : plain;
}

/** What the hunk would make of its lines, in a few words. */
export function preview(hunk: Hunk): string {
  const first = splitLines(hunk.newText).find((line) => line.trim()) ?? "";
  if (hunk.newText === "") return countLines(hunk.oldText) === 1 ? "delete this line" : `delete these ${countLines(hunk.oldText)} lines`;
  const more = countLines(hunk.newText) - 1;
  return `${lensTitle(first)}${more > 0 ? ` (+${more} more)` : ""}`;
}

// --- the two sides of a review ----------------------------------------------------------------------

/** Where a hunk stands in the text after the change, as offsets. */
export interface Place {
  hunkId: string;
  start: number;
  end: number;
}

export interface Sides {
  before: string;
  after: string;
  /** In order; pending hunks only, for the others stand in the file itself. */
  places: Place[];
}

/**
 * The file as it was and as it would become: before every open hunk, after every pending one. What the user types into
 * the file stands on both sides, so it is never shown as part of the change. A hunk whose old text is not where it
 * should be is left out: the server is about to say where it is. `drafts` are the user's own words for pending hunks.
 */
export function sides(live: string, hunks: readonly Hunk[], drafts: ReadonlyMap<string, string>): Sides {
  const offsets = lineOffsets(live);
  const at = (position: Position): number => Math.min(live.length, (offsets[position.line] ?? live.length) + position.character);
  const before: string[] = [];
  const after: string[] = [];
  const places: Place[] = [];
  let [from, length] = [0, 0];
  for (const hunk of hunks.toSorted((a, b) => compare(a.range.start, b.range.start))) {
    const [start, end] = [at(hunk.range.start), at(hunk.range.end)];
    const landed = isIn(hunk);
    if (start < from || hunk.state === "conflict" || (!landed && live.slice(start, end) !== hunk.oldText)) continue;
    const fresh = landed ? live.slice(start, end) : (drafts.get(hunk.hunkId) ?? hunk.newText);
    const same = live.slice(from, start);
    before.push(same, hunk.oldText);
    after.push(same, fresh);
    length += same.length;
    if (!landed) places.push({ hunkId: hunk.hunkId, start: length, end: length + fresh.length });
    length += fresh.length;
    from = end;
  }
  const rest = live.slice(from);
  return { before: before.join("") + rest, after: after.join("") + rest, places };
}

/**
 * The user's own words for the hunks, read from the text after the change as it was typed over. Null when something
 * else was changed as well: only proposed lines can be edited there.
 */
export function draftsIn(shown: Pick<Sides, "after" | "places">, typed: string): Map<string, string> | null {
  const one = oneDraft(shown, typed);
  if (one) return one;
  const found = new Map<string, string>();
  let at = 0;
  for (const [index, place] of shown.places.entries()) {
    const same = shown.after.slice(shown.places[index - 1]?.end ?? 0, place.start);
    if (!typed.startsWith(same, at)) return null;
    at += same.length;
    const next = shown.after.slice(place.end, shown.places[index + 1]?.start);
    const until = index === shown.places.length - 1 ? typed.length - next.length : typed.indexOf(next, at);
    if (until < at || !typed.startsWith(next, until)) return null;
    if (joined(typed.slice(at, until), until === typed.length)) return null;
    found.set(place.hunkId, typed.slice(at, until));
    at = until;
  }
  return found.size > 0 ? found : null;
}

/** Nearly always one hunk was typed into: everything before and after it is as it was. */
function oneDraft({ after, places }: Pick<Sides, "after" | "places">, typed: string): Map<string, string> | null {
  for (const { hunkId, start, end } of places) {
    const until = typed.length - (after.length - end);
    if (until < start || typed.slice(0, start) !== after.slice(0, start) || typed.slice(until) !== after.slice(end)) continue;
    const draft = typed.slice(start, until);
    if (joined(draft, end === after.length)) continue;
    return new Map([[hunkId, draft]]);
  }
  return null;
}

/** A line of the hunk that runs into the one after it would change that one too. */
function joined(draft: string, atEnd: boolean): boolean {
  return !atEnd && draft !== "" && !/[\r\n]$/.test(draft);
}

/** The lines of a hunk that a selection covers, counted inside the hunk, with the old lines that those stand for. */
export function chosenLines(hunk: Hunk, side: "old" | "new", first: number, last: number): LineChoice {
  const wanted = (line: number): boolean => line >= first && line <= last;
  const chosen = { old: new Set<number>(), new: new Set<number>() };
  for (const block of blocksOf(hunk)) {
    if (side === "old") {
      for (let line = 0; line < block.old.length; line += 1) if (wanted(block.oldAt + line)) chosen.old.add(block.oldAt + line);
      continue;
    }
    const paired = block.old.length === block.new.length;
    for (let line = 0; line < block.new.length; line += 1) {
      if (!wanted(block.newAt + line)) continue;
      chosen.new.add(block.newAt + line);
      // As many lines as before: each stands for its own. Otherwise the block is replaced by what was chosen of it.
      if (paired) chosen.old.add(block.oldAt + line);
      else for (let old = 0; old < block.old.length; old += 1) chosen.old.add(block.oldAt + old);
    }
  }
  return { old: spans(chosen.old), new: spans(chosen.new) };
}

interface LineBlock {
  oldAt: number;
  old: string[];
  newAt: number;
  new: string[];
}

/** The differences inside a hunk, line by line: what is removed together with what takes its place. */
function blocksOf(hunk: Hunk): LineBlock[] {
  const blocks: LineBlock[] = [];
  let [oldAt, newAt] = [0, 0];
  let open: LineBlock | undefined;
  for (const part of diffArrays(splitLines(hunk.oldText), splitLines(hunk.newText))) {
    if (!part.added && !part.removed) {
      open = undefined;
      oldAt += part.value.length;
      newAt += part.value.length;
      continue;
    }
    if (!open) blocks.push((open = { oldAt, old: [], newAt, new: [] }));
    if (part.removed) {
      open.old.push(...part.value);
      oldAt += part.value.length;
    } else {
      open.new.push(...part.value);
      newAt += part.value.length;
    }
  }
  return blocks;
}

/** The lines of a hunk when only some of its changes are taken: the old ones that stay, the new ones that come. */
export function withLines(hunk: Hunk, chosen: LineChoice): string {
  const old = splitLines(hunk.oldText);
  const lines: string[] = [];
  let oldAt = 0;
  for (const block of blocksOf(hunk)) {
    lines.push(...old.slice(oldAt, block.oldAt));
    // Side by side, so that a line that stays keeps its place among those that come.
    for (let line = 0; line < Math.max(block.old.length, block.new.length); line += 1) {
      const [was, comes] = [block.old[line], block.new[line]];
      if (was !== undefined && !within(chosen.old, block.oldAt + line)) lines.push(was);
      if (comes !== undefined && within(chosen.new, block.newAt + line)) lines.push(comes);
    }
    oldAt = block.oldAt + block.old.length;
  }
  return [...lines, ...old.slice(oldAt)].join("");
}

/** The same as the server makes it: in each difference the old lines that stay, then the new ones that come. */
export function oneAfterTheOther(hunk: Hunk, chosen: LineChoice): string {
  const old = splitLines(hunk.oldText);
  const lines: string[] = [];
  let oldAt = 0;
  for (const block of blocksOf(hunk)) {
    lines.push(...old.slice(oldAt, block.oldAt));
    lines.push(...block.old.filter((_, line) => !within(chosen.old, block.oldAt + line)), ...block.new.filter((_, line) => within(chosen.new, block.newAt + line)));
    oldAt = block.oldAt + block.old.length;
  }
  return [...lines, ...old.slice(oldAt)].join("");
}

function within(ranges: LineChoice["old"], line: number): boolean {
  return (ranges ?? []).some(([from, to]) => line >= from && line < to);
}

function spans(lines: ReadonlySet<number>): [number, number][] {
  const found: [number, number][] = [];
  for (const line of [...lines].sort((a, b) => a - b)) {
    const last = found.at(-1);
    if (last && last[1] === line) last[1] = line + 1;
    else found.push([line, line + 1]);
  }
  return found;
}

// --- positions ----------------------------------------------------------------------------------------

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

function lineOffsets(text: string): number[] {
  const offsets = [0];
  for (const match of text.matchAll(/\r\n|\r|\n/g)) offsets.push(match.index + match[0].length);
  return offsets;
}
