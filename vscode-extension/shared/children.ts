/** What a subagent does, drawn into its parent's card. */
import type { SessionEvent } from "../src/protocol";
import { blocksOf } from "./content";
import type { ChildRow } from "./items";
import type { Timeline } from "./timeline";

const CHILDREN_KEPT = 200;

/** Events of a subagent go into its parent's card; true when that was the case. */
export function childEvent(line: Timeline, parent: string, params: SessionEvent): boolean {
  const item = line.get(parent);
  if (item?.kind !== "tool") return false;
  const event = params.event;
  const row = (key: string, kind: ChildRow["kind"]): ChildRow => {
    let found = item.children.find((child) => child.key === key);
    if (!found) {
      found = { key, kind, text: "", state: "running" };
      item.children.push(found);
      if (item.children.length > CHILDREN_KEPT) item.children.shift();
    }
    return found;
  };
  switch (event.type) {
    case "textDelta":
      row(event.blockId, "text").text += event.text;
      break;
    case "toolPreparing":
      row(event.toolUseId, "tool").text = event.tool;
      break;
    case "toolStarted":
      row(event.toolUseId, "tool").text = event.title;
      break;
    case "toolFinished": {
      const child = row(event.toolUseId, "tool");
      child.state = event.isError ? "error" : "done";
      if (event.summary) child.text = `${child.text}: ${event.summary}`;
      break;
    }
    case "message":
      if (event.role === "assistant") {
        for (const block of blocksOf(event.content)) if (block.type === "text") row(event.id, "text").text = String(block["text"] ?? "");
      }
      break;
    case "usage":
    case "permissionPending":
    case "permissionResolved":
    case "editProposed":
    case "editUpdated":
    case "editResolved":
      return false;
    default:
      break;
  }
  line.touch(item.key);
  return true;
}
