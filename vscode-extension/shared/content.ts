/** Reading messages: the words, images and outputs in content blocks, and how they are told. Pure. */
import type { Json, PermissionAnswer, StoredMessage } from "../src/protocol";
import type { AttachedFile, Block } from "./items";

/** Whether a decision is still possible: the server says so. */
export function isOpen(hunk: { open?: boolean }): boolean {
  return hunk.open === true;
}

export function titleOf(tool: string, input: Json | null): string {
  const first = (...names: string[]): string => {
    for (const name of names) if (typeof input?.[name] === "string" && input[name]) return String(input[name]);
    return "";
  };
  const detail = first("file_path", "notebook_path", "command", "pattern", "url", "query", "description", "skill", "path");
  const line = detail.split("\n", 1)[0] ?? "";
  return line ? `${tool} ${line.length > 120 ? `${line.slice(0, 117)}…` : line}` : tool;
}

const VERBS: Record<string, string> = {
  MultiEdit: "Edit",
  Bash: "Run",
  Grep: "Search",
  Glob: "Find",
  LS: "List",
  WebFetch: "Fetch",
  WebSearch: "Search the web for",
  Task: "Agent:",
  NotebookEdit: "Edit",
  ExitPlanMode: "Plan",
  EnterPlanMode: "Start planning",
  EnterWorktree: "Work in a copy of the repository",
  ExitWorktree: "Leave the copy of the repository",
  TodoWrite: "Update the list of tasks",
  TaskCreate: "Add a task",
  TaskUpdate: "Update a task",
  TaskList: "List the tasks",
  BashOutput: "Read the output of a background command",
  KillShell: "Stop a background command",
  Sleep: "Wait",
};
const OF_SERVER = /^mcp__(.+?)__/;

/** A call in plain words: what it does instead of what its tool is called. */
export function humanTitle(tool: string, title: string): string {
  const verb = VERBS[tool];
  if (OF_SERVER.test(title)) return title.replace(OF_SERVER, "$1: ");
  return verb && (title === tool || title.startsWith(`${tool} `)) ? verb + title.slice(tool.length) : title;
}

/** What an answer was about, in the line that says how it was answered. */
export function askedTitle(tool: string, title: string): string {
  return tool === "ExitPlanMode" ? "the plan" : humanTitle(tool, title || tool);
}

export function blocksOf(content: string | Block[] | undefined): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}

export function textIn(blocks: Block[]): string {
  return blocks
    .filter((block) => block["type"] === "text")
    .map((block) => String(block["text"] ?? ""))
    .join("\n");
}

const ATTACHED = /^The user attached ([^\n]*):\n(`{3,})\n([\s\S]*)\n\2$/;
/** How the active editor's file is told when nothing in it is selected. */
const NAMED = /^\S[^\n]* is open in the editor; the cursor is in line \d+\.$/;
const MENTIONS = /^(?:@(?:"[^"\n]*"|\S+)\s*)+$/;

/** A prompt as its writer sees it: the words, and what came along besides them. */
export function promptOf(blocks: Block[]): { text: string; attached: AttachedFile[] } {
  const texts = blocks.filter((block) => block["type"] === "text").map((block) => String(block["text"] ?? ""));
  const attached: AttachedFile[] = [];
  const words: string[] = [];
  texts.forEach((text, at) => {
    const found = ATTACHED.exec(text);
    if (found) attached.push({ kind: "context", path: found[1] ?? "", adds: NAMED.test(found[3] ?? "") ? "its name" : lines(found[3] ?? "") });
    else if (at === 0 || !MENTIONS.test(text)) words.push(text); // files are named again where the server attaches them
  });
  return { text: words.join("\n"), attached };
}

function lines(text: string): string {
  const number = text.split("\n").filter((line) => line.trim()).length;
  return number === 0 ? "" : number === 1 ? "one line" : `${number} lines`;
}

export function outputOf(content: string | Block[] | undefined): { output: string; images: string[] } {
  const blocks = blocksOf(content);
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type === "text") texts.push(String(block["text"] ?? ""));
    else if (block.type === "tool_result") texts.push(outputOf(block["content"] as string | Block[]).output);
  }
  return { output: texts.join("\n"), images: imagesOf(blocks) };
}

const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function imagesOf(blocks: Block[]): string[] {
  const found: string[] = [];
  for (const block of blocks) {
    const source = block["source"] as { type?: string; media_type?: string; data?: string } | undefined;
    if (block.type === "image" && source?.type === "base64" && IMAGE_TYPES.has(source.media_type ?? "") && /^[A-Za-z0-9+/=]*$/.test(source.data ?? "")) {
      found.push(`data:${source.media_type};base64,${source.data}`);
    }
  }
  return found;
}

export function metaOf(message: StoredMessage): Json {
  return typeof message.meta === "object" && message.meta !== null ? message.meta : {};
}

export function isMeta(message: StoredMessage): boolean {
  const meta = metaOf(message);
  return message.meta === true || meta["isMeta"] === true || meta["hidden"] === true;
}

export function clientId(message: StoredMessage): string {
  return String(metaOf(message)["clientMessageId"] ?? "\0");
}

/** The server may add mentioned files after the words, so the typed words are enough. */
export function samePrompt(typed: string, stored: string): boolean {
  return typed.trim() === stored.trim() || (typed.trim() !== "" && stored.trim().startsWith(typed.trim()));
}

export function jobText(command: string, state: string, exitCode: number | undefined): string {
  const code = exitCode === undefined ? "" : ` (exit ${exitCode})`;
  return `Background job ${state}${code}: ${command}`;
}

/** `src/a.py#L3-L9`, `src/a.py:3-9`, `src/a.py:3`: the file and its lines, counted from one. */
export function placeOf(link: string): { file: string; first?: number; last?: number } {
  const match = /^(.*?)(?:(?:#L|:)(\d+)(?:(?:-L?|:)(\d+))?)?$/s.exec(link);
  const file = decodeURIComponent(match?.[1] ?? link);
  const first = match?.[2] ? Number(match[2]) : undefined;
  const last = match?.[3] ? Number(match[3]) : undefined;
  return { file, ...(first ? { first } : {}), ...(first && last && last >= first ? { last } : {}) };
}

/** What a conversation has cost, in the same words wherever it is told. */
export function money(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 3 : 2)}`;
}

export function hunkCount(hunks: number): string {
  return hunks === 1 ? "one hunk" : `${hunks} hunks`;
}

export function count(tokens: number): string {
  if (tokens >= 1_000_000) return `${(tokens / 1_000_000).toFixed(1)}M`;
  if (tokens >= 1_000) return `${(tokens / 1_000).toFixed(tokens >= 100_000 ? 0 : 1)}k`;
  return String(tokens);
}

export function tail(text: string, length: number): string {
  return text.length <= length ? text : text.slice(text.length - length);
}

/** The part of an answer that saves rules. One goes back as `rule`, which servers of every version know. */
export function ruleAnswer(rules: readonly string[]): Pick<PermissionAnswer, "rule" | "rules"> {
  return rules.length === 1 && rules[0] !== undefined ? { rule: rules[0] } : { rules: [...rules] };
}
