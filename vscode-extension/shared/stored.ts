/** Closed messages: live ones, and those of the stored history. They take the place of what was streamed. */
import type { Json, StoredMessage } from "../src/protocol";
import { childEvent } from "./children";
import { blocksOf, clientId, count, imagesOf, isMeta, outputOf, promptOf, samePrompt, textIn, titleOf } from "./content";
import type { Block, UserItem } from "./items";
import type { Timeline } from "./timeline";

/** A closed message: live, or from the stored history. */
export function takeMessage(line: Timeline, message: StoredMessage, parent = message.parentToolUseId): void {
  if (message.role === "system") {
    line.notice("info", `Conversation compacted: ${count(message.tokensBefore ?? 0)} → ${count(message.tokensAfter ?? 0)} tokens`, message.summary);
    return;
  }
  if (parent && line.get(parent)) {
    childEvent(line, parent, { sessionId: "", seq: 0, event: { type: "message", ...message, role: message.role } });
    return;
  }
  if (message.role === "assistant") {
    for (const block of blocksOf(message.content)) assistantBlock(line, message, block);
    return;
  }
  const blocks = blocksOf(message.content);
  const results = blocks.filter((block) => block.type === "tool_result");
  for (const block of results) toolResult(line, block);
  if (message.kind === "file" || message.kind === "folder") return attach(line, message.kind, blocks);
  if (isMeta(message) || results.length > 0) return;
  const { text, attached } = promptOf(blocks);
  if (line.data.items.some((item) => item.kind === "user" && item.messageId === message.id)) return;
  const images = imagesOf(blocks);
  if (!text && images.length + attached.length === 0) return;
  const waiting = line.data.items.findLast(
    (item): item is UserItem => item.kind === "user" && !item.messageId && (item.clientMessageId === clientId(message) || samePrompt(item.text, text)),
  );
  if (waiting) {
    waiting.messageId = message.id;
    if (attached.length > 0) waiting.attached = [...attached, ...(waiting.attached ?? [])];
    line.touch(waiting.key);
  } else {
    line.add({ kind: "user", key: message.id, text, images, mentions: [], messageId: message.id, ...(attached.length ? { attached } : {}) });
  }
}

function assistantBlock(line: Timeline, message: StoredMessage, block: Block): void {
  switch (block.type) {
    case "text": {
      const text = String(block["text"] ?? "");
      const item = line.get(message.id);
      if (item?.kind === "text") {
        item.text = text;
        item.streaming = false;
        line.touch(item.key);
      } else if (text) {
        line.add({ kind: "text", key: line.free(message.id), text, streaming: false, error: Boolean(message.error) });
      }
      break;
    }
    case "thinking":
    case "redacted_thinking": {
      const text = String(block["thinking"] ?? "");
      const item = line.get(message.id);
      if (item?.kind === "thinking") {
        if (text) item.text = text;
        item.streaming = false;
        line.touch(item.key);
      } else if (text) {
        line.add({ kind: "thinking", key: line.free(message.id), text, streaming: false });
      }
      break;
    }
    case "tool_use":
    case "server_tool_use": {
      const item = line.tool(String(block["id"] ?? message.id), String(block["name"] ?? "tool"));
      item.input = (block["input"] as Json | undefined) ?? item.input;
      item.partialJson = "";
      if (!item.title) item.title = titleOf(item.tool, item.input);
      line.touch(item.key);
      break;
    }
    default:
      break;
  }
}

/** A mentioned file or folder: named under the words that mentioned it, with how much of it went along. */
function attach(line: Timeline, kind: "file" | "folder", blocks: Block[]): void {
  const item = line.data.items.findLast((each) => each.kind === "user");
  const path = /^The user mentioned (.*):$/s.exec(String(blocks[0]?.["text"] ?? ""))?.[1];
  if (item?.kind !== "user" || !path || item.attached?.some((each) => each.path === path)) return;
  const told = textIn(blocks.slice(1)).split("\n");
  const numbered = told.filter((each) => /^\s*\d+→/.test(each)).length; // what else is said about a file is none of its lines
  const lines = numbered || told.filter((each) => each.trim()).length;
  const adds = lines === 0 ? "" : kind === "folder" ? `list of ${lines === 1 ? "one file" : `${lines} files`}` : lines === 1 ? "one line" : `${lines} lines`;
  item.attached = [...(item.attached ?? []), { kind, path, adds }];
  line.touch(item.key);
}

function toolResult(line: Timeline, block: Block): void {
  const item = line.get(String(block["tool_use_id"] ?? ""));
  if (item?.kind !== "tool" || item.state === "done" || item.state === "error") return;
  item.state = block["is_error"] ? "error" : "done";
  Object.assign(item, outputOf((block["content"] as string | Block[] | undefined) ?? ""));
  line.touch(item.key);
}
