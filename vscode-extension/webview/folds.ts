/** Looking around folds into one row: three or more reads and searches in a row are told in a few words. */
import type { Item, ToolItem } from "../shared/items";
import { plural } from "../shared/turnSummary";

const READS = new Set(["Read", "NotebookRead"]);
const SEARCHES = new Set(["Grep", "Glob", "LS", "Symbols", "References", "Definition", "Hover", "ToolSearch", "WorkspaceSymbols"]);
const LEAST = 3;
const PREFIX = "fold:";

export function isFold(key: string): boolean {
  return key.startsWith(PREFIX);
}

/** The rows of the transcript: the key of an item, or of a fold with the items in it. */
export function rowsOf(items: readonly Item[]): { key: string; items: string[] }[] {
  const rows: { key: string; items: string[] }[] = [];
  let run: string[] = [];
  const close = (): void => {
    if (run.length >= LEAST) rows.push({ key: PREFIX + run[0], items: run });
    else rows.push(...run.map((key) => ({ key, items: [key] })));
    run = [];
  };
  for (const item of items) {
    if (isQuiet(item)) {
      run.push(item.key);
      continue;
    }
    close();
    rows.push({ key: item.key, items: [item.key] });
  }
  close();
  return rows;
}

/** "Read 10 files, searched twice", and how many of them failed. */
export function foldText(items: readonly ToolItem[]): string {
  const reads = items.filter((item) => READS.has(item.tool)).length;
  const searches = items.length - reads;
  const failed = items.filter((item) => item.state === "error").length;
  const words = [
    reads > 0 ? `Read ${plural(reads, "file")}` : "",
    searches > 0 ? `${reads > 0 ? "searched" : "Searched"} ${searches === 1 ? "once" : searches === 2 ? "twice" : `${searches} times`}` : "",
  ];
  return `${words.filter(Boolean).join(", ")}${failed > 0 ? ` (${failed} failed)` : ""}`;
}

function isQuiet(item: Item): item is ToolItem {
  return item.kind === "tool" && (READS.has(item.tool) || SEARCHES.has(item.tool)) && item.state !== "waiting" && item.children.length === 0;
}
