/** What a turn did, counted from its tool calls: files with their lines, commands, and whether tests passed. Pure. */
import { diffArrays } from "diff";
import type { ChangedFile, Json } from "../src/protocol";
import type { Item, ToolItem } from "./items";

export interface TurnSummary {
  files: number;
  added: number;
  removed: number;
  commands: number;
  tests?: "passed" | "failed";
}

const TESTS =
  /(?:^|[\s;&|(])(?:pytest|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|(?:python3? -m )(?:pytest|unittest)|(?:npm|pnpm|yarn|bun)(?: run)? test|(?:go|cargo|dotnet|gradle|mvn|mix|swift) test|make (?:test|check))(?=[\s:;&|)]|$)/;
const MOST_CHANGES = 2000;

/** The calls since the line at the end of the turn before, without those that were denied. */
export function summaryOf(items: readonly Item[], denied: ReadonlySet<string> = new Set()): TurnSummary | undefined {
  const start = items.findLastIndex((item) => item.kind === "end");
  const calls = items.slice(start + 1).filter((item): item is ToolItem => item.kind === "tool" && !denied.has(item.key));
  const done = calls.filter((call) => call.state === "done");
  const edits = done.flatMap((call) => changesOf(call));
  const commands = calls.filter((call) => call.tool === "Bash" && (call.state === "done" || call.state === "error"));
  if (edits.length === 0 && commands.length === 0) return undefined;
  const tested = commands.findLast((call) => TESTS.test(textOf(call.input, "command")));
  const sum = (side: "added" | "removed"): number => edits.reduce((lines, edit) => lines + edit[side], 0);
  const summary: TurnSummary = { files: new Set(edits.map((edit) => edit.path)).size, added: sum("added"), removed: sum("removed"), commands: commands.length };
  return { ...summary, ...(tested ? { tests: tested.state === "done" ? ("passed" as const) : ("failed" as const) } : {}) };
}

/** As the server counted what was accepted; of an older server, as the call had asked for it. */
function changesOf(call: ToolItem): ChangedFile[] {
  if (call.changed) return call.changed;
  return fragmentsOf(call).map(({ path, before, after }) => {
    const parts = diffArrays(linesOf(before), linesOf(after), { maxEditLength: MOST_CHANGES });
    return {
      path,
      added: parts ? count(parts.filter((part) => part.added)) : linesOf(after).length,
      removed: parts ? count(parts.filter((part) => part.removed)) : linesOf(before).length,
    };
  });
}

export function summaryText(summary: TurnSummary): string {
  const files = summary.files > 0 ? `${plural(summary.files, "file")} +${summary.added} −${summary.removed}` : "";
  return [files, summary.commands > 0 ? plural(summary.commands, "command") : "", summary.tests ? `tests ${summary.tests}` : ""].filter(Boolean).join(" · ");
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

export interface Fragment {
  path: string;
  before: string;
  after: string;
}

/** The places that an editing call changes, in the order they were given; none for other tools. */
export function fragmentsOf({ tool, input }: { tool: string; input: Json | null }): Fragment[] {
  const path = textOf(input, "file_path");
  if (!input || !path) return [];
  switch (tool) {
    case "Edit":
      return [{ path, before: textOf(input, "old_string"), after: textOf(input, "new_string") }];
    case "Write":
      return [{ path, before: "", after: textOf(input, "content") }];
    case "MultiEdit":
      return (Array.isArray(input["edits"]) ? (input["edits"] as Json[]) : []).map((edit) => ({ path, before: textOf(edit, "old_string"), after: textOf(edit, "new_string") }));
    default:
      return [];
  }
}

function textOf(input: Json | null, name: string): string {
  const value = input?.[name];
  return typeof value === "string" ? value : "";
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r\n|\r|\n/);
}

function count(parts: { value: string[] }[]): number {
  return parts.reduce((sum, part) => sum + part.value.length, 0);
}
