/** The session's events, one by one: what each changes in a conversation. */
import type { Hook, Mode, SessionEvent, Snipped, TurnResult } from "../src/protocol";
import { childEvent } from "./children";
import { count, jobText, outputOf, tail } from "./content";
import { addReview, answered, dequeue, endReviews, keepPlan, moveProposal, prompted, putProposal, queued, unqueue } from "./pending";
import { takeMessage } from "./stored";
import type { Timeline } from "./timeline";
import { summaryOf } from "./turnSummary";

const PROGRESS_KEPT = 20_000;
const TURN_REACH = 400;
/** How the engine says that the endpoint did not take the key, or that there is none. */
const KEY_REFUSED = /did not accept the credentials|there are no credentials|could not resolve authentication/i;

export function applyEvent(line: Timeline, params: SessionEvent): void {
  const event = params.event;
  const parent = params.parentToolUseId;
  if (parent && childEvent(line, parent, params)) return;
  const data = line.data;
  switch (event.type) {
    case "turnStarted":
      data.running = true;
      data.interrupted = false;
      data.state = "running";
      if (event.model) data.model = event.model;
      if (event.permissionMode) data.mode = event.permissionMode as Mode;
      prompted(line, event.prompt, (event as { messageId?: string }).messageId);
      line.around();
      break;
    case "stepStarted":
      clearRetry(line);
      break;
    case "textDelta":
      clearRetry(line);
      line.append("text", event.blockId, event.text);
      break;
    case "thinkingDelta":
      clearRetry(line);
      line.append("thinking", event.blockId, event.text);
      break;
    case "toolPreparing":
      line.closeStreams();
      line.tool(event.toolUseId, event.tool);
      break;
    case "toolInputDelta": {
      const item = line.tool(event.toolUseId, "");
      item.partialJson += event.partialJson;
      line.touch(item.key);
      break;
    }
    case "toolStarted": {
      const item = line.tool(event.toolUseId, event.tool);
      const asks = event.tool === "AskUserQuestion" && data.elicits.some((each) => each.questions);
      Object.assign(item, { tool: event.tool, title: event.title, input: event.input, partialJson: "", state: asks ? "waiting" : "running" });
      line.touch(item.key);
      break;
    }
    case "toolProgress": {
      const item = line.tool(event.toolUseId, "");
      item.progress = tail(event.text, PROGRESS_KEPT); // its last lines as they are now
      line.touch(item.key);
      break;
    }
    case "toolFinished": {
      const item = line.tool(event.toolUseId, "");
      item.state = event.isError ? "error" : "done";
      item.summary = event.summary;
      item.durationMs = event.durationMs;
      if (event.changed) item.changed = event.changed;
      Object.assign(item, outputOf(event.content));
      line.touch(item.key);
      break;
    }
    case "toolSummary":
      line.notice("info", event.text);
      break;
    case "message":
      takeMessage(line, event);
      break;
    case "tombstone":
      line.remove(new Set([...event.messageIds, ...event.blockIds]));
      break;
    case "retrying":
      data.retrying = { attempt: event.attempt, maxAttempts: event.maxAttempts, delayMs: event.delayMs, status: event.status };
      line.around();
      break;
    case "compacting":
      data.state = "compacting";
      line.around();
      break;
    case "compacted":
      if (data.usage) data.usage = { ...data.usage, contextTokens: event.tokensAfter };
      line.around();
      line.notice("info", `Conversation compacted: ${count(event.tokensBefore)} → ${count(event.tokensAfter)} tokens`, event.summary);
      break;
    case "permissionResolved":
      answered(line, event.askId, event.decision ?? "", event.by ?? "", { title: event.title || event.tool, client: event.client });
      break;
    case "permissionPending":
    case "elicitationPending":
      data.state = "waiting";
      line.around();
      break;
    case "elicitationResolved":
      answered(line, event.elicitId, "answered", event.by ?? "");
      break;
    case "editProposed":
    case "editUpdated":
      putProposal(line, event.proposal);
      break;
    case "editResolved":
      if (event.proposal) putProposal(line, event.proposal);
      break;
    case "editMoved":
      moveProposal(line, event);
      break;
    case "reviewPending":
      addReview(line, event);
      break;
    case "todos":
      data.todos = event.items;
      line.around();
      break;
    case "planProposed":
      // Its approval shows it; afterwards it stays in the transcript.
      data.plan = event.plan;
      break;
    case "hook":
      hookRan(line, event);
      break;
    case "snipped":
      snipped(line, event);
      break;
    case "compactSoon":
      line.notice("info", `The conversation is nearly full (${count(event.tokens)} tokens). At ${count(event.threshold)}, ${String(event.wouldGo)}; /compact does it now.`);
      break;
    case "usage": {
      const { type: _type, ...usage } = event;
      const costUsd = (event as { totalCostUsd?: number }).totalCostUsd ?? event.costUsd;
      // A subagent has a context of its own; what it spends is the conversation's.
      data.usage = parent && data.usage ? { ...data.usage, costUsd } : { ...usage, costUsd };
      line.around();
      break;
    }
    case "status":
      data.state = event.state;
      data.running = event.state !== "idle";
      if (event.model) data.model = event.model;
      if (event.mode) data.mode = event.mode as Mode;
      if (event.state !== "waiting") endReviews(line, () => true);
      line.around();
      break;
    case "queued":
      if (event.clientMessageId) queued(line, event.clientMessageId, event.kept ?? false);
      break;
    case "dequeued":
    case "completed":
      if (event.clientMessageId) dequeue(line, event.clientMessageId);
      break;
    case "unqueued":
      unqueue(line, event.clientMessageId);
      break;
    case "maxTurnsReached":
      line.notice("warning", "The limit of steps for one turn was reached.");
      break;
    case "job":
      line.notice("info", jobText(event.command, event.state, event.exitCode));
      break;
    case "notice":
      line.notice(event.level, event.text);
      break;
    case "turnFinished":
      finish(line, event.result);
      break;
    case "heartbeat":
      break;
  }
}

export function hookRan(line: Timeline, event: Hook): void {
  if (event.outcome === "running") {
    if (event.text) line.notice("info", event.text);
    return;
  }
  const fenced = (text: string | undefined): string => (text ? `\`\`\`\n${text}\n\`\`\`` : "");
  const named = event.outcome !== "success" && event.source ? `Named in \`${event.source}\`` : "";
  line.add({
    kind: "hook",
    key: line.mint("hook"),
    event: event.event,
    outcome: event.outcome,
    durationMs: event.durationMs ?? 0,
    changed: event.changed ?? false,
    text: [event.text, named, fenced(event.command), fenced(event.output)].filter(Boolean).join("\n\n"),
    ...(event.exitCode === undefined ? {} : { exitCode: event.exitCode }),
  });
}

/** Without messages: what was taken out is back. The rows concerned are drawn again either way. */
export function snipped(line: Timeline, { snipId, messageIds, tokensFreed, by }: Snipped): void {
  const before = line.data.snips.filter((each) => each.snipId === snipId).flatMap((each) => each.messageIds);
  line.data.snips = line.data.snips.filter((each) => each.snipId !== snipId);
  if (messageIds.length > 0) line.data.snips.push({ snipId, messageIds, tokensFreed, by });
  const ids = new Set([...before, ...messageIds]);
  for (const item of line.data.items) if (ids.has(item.key) || (item.kind === "user" && item.messageId !== undefined && ids.has(item.messageId))) line.touch(item.key);
  line.around();
}

function finish(line: Timeline, result: TurnResult): void {
  line.closeStreams();
  endReviews(line, () => true);
  keepPlan(line);
  for (const item of line.data.items.slice(-TURN_REACH)) {
    if (item.kind === "tool" && (item.state === "preparing" || item.state === "running" || item.state === "waiting")) {
      item.state = "stopped";
      line.touch(item.key);
    }
  }
  // The engine's own total, side calls included; the sum of the steps may be less.
  if (line.data.usage) line.data.usage = { ...line.data.usage, costUsd: result.totalCostUsd };
  line.data.retrying = null;
  line.data.running = false;
  line.data.state = "idle";
  line.around();
  turnEnd(line, result);
}

/** The line at the end of a turn. A failure is said once, here, with a way to try again. */
export function turnEnd(line: Timeline, result: TurnResult): void {
  const said = line.data.items.findLast((item) => item.kind !== "notice");
  if (result.isError && said?.kind === "text" && said.text.trim() === result.result.trim()) line.remove(new Set([said.key]));
  const summary = summaryOf(line.data.items, new Set((result.permissionDenials ?? []).map((denial) => denial.toolUseId)));
  line.add({
    kind: "end",
    key: line.mint("end"),
    isError: result.isError,
    terminal: result.terminal,
    text: result.isError ? result.result : "",
    durationMs: result.durationMs,
    costUsd: result.totalCostUsd,
    denials: deniedHere(line, result),
    ...(summary ? { summary } : {}),
    ...(result.isError && KEY_REFUSED.test(result.result) ? { needsKey: true } : {}),
  });
}

/** The result names every denial of the conversation; those of this turn belong to calls after its prompt. */
function deniedHere(line: Timeline, result: TurnResult): number {
  const start = line.data.items.findLastIndex((item) => item.kind === "end");
  const calls = new Set(line.data.items.slice(start + 1).flatMap((item) => (item.kind === "tool" ? [item.key] : [])));
  return (result.permissionDenials ?? []).filter((denial) => calls.has(denial.toolUseId)).length;
}

function clearRetry(line: Timeline): void {
  if (!line.data.retrying) return;
  line.data.retrying = null;
  line.around();
}
