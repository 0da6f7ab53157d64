/** What was seen between stored messages: a conversation that is opened again shows it where it was. */
import type { AnyEvent, Json } from "../src/protocol";
import { askedTitle } from "./content";
import { keepPlan } from "./pending";
import { hookRan, snipped, turnEnd } from "./sessionEvents";
import type { Timeline } from "./timeline";

export function takeShown(line: Timeline, stored: Json): void {
  const event = stored as unknown as AnyEvent;
  switch (event.type) {
    case "toolStarted": {
      const item = line.get(event.toolUseId);
      if (item?.kind === "tool") item.title = event.title;
      break;
    }
    case "toolFinished": {
      // Its result follows as a message and says how it ended.
      const item = line.get(event.toolUseId);
      if (item?.kind !== "tool") break;
      item.summary = event.summary ?? "";
      item.durationMs = event.durationMs ?? 0;
      if (event.changed) item.changed = event.changed;
      break;
    }
    case "planProposed":
      line.data.plan = event.plan;
      break;
    case "permissionResolved":
      if (event.tool === "ExitPlanMode") keepPlan(line);
      if (event.decision)
        line.add({ kind: "answered", key: line.mint("answered"), title: askedTitle(event.tool ?? "", event.title ?? ""), decision: event.decision, by: event.by ?? "" });
      break;
    case "turnFinished":
      keepPlan(line);
      turnEnd(line, event.result);
      break;
    case "hook":
      hookRan(line, event);
      break;
    case "snipped":
      snipped(line, event);
      break;
    default:
      break;
  }
}
