/** What waits: asks, proposals, a plan, and messages that are sent but not yet said. */
import type { EditMoved, Elicit, PermissionAsk, Proposal, WaitingReview } from "../src/protocol";
import { askedTitle, blocksOf, imagesOf, isOpen, promptOf, samePrompt } from "./content";
import type { Block, Item, QueuedMessage, ToolItem, UserItem } from "./items";
import type { Timeline } from "./timeline";

export function addAsk(line: Timeline, ask: PermissionAsk): void {
  const known = line.data.asks.findIndex((each) => each.askId === ask.askId);
  if (known >= 0) line.data.asks[known] = ask;
  else line.data.asks.push(ask);
  const item = line.get(ask.toolUseId);
  if (item?.kind === "tool" && item.state !== "done" && item.state !== "error") {
    item.state = "waiting";
    if (!item.title) item.title = ask.title;
    line.touch(item.key);
  }
  line.around();
}

/** A question for the user. The call that asks it does nothing until it is answered. */
export function addElicit(line: Timeline, elicit: Elicit): void {
  const known = line.data.elicits.findIndex((each) => each.elicitId === elicit.elicitId);
  if (known >= 0) line.data.elicits[known] = elicit;
  else line.data.elicits.push(elicit);
  if (elicit.questions) asking(line, "running", "waiting");
  line.around();
}

/** Questions of the model itself; which call a form of an MCP server belongs to is not known here. */
function asking(line: Timeline, from: ToolItem["state"], to: ToolItem["state"]): void {
  for (const item of line.data.items) {
    if (item.kind !== "tool" || item.tool !== "AskUserQuestion" || item.state !== from) continue;
    item.state = to;
    line.touch(item.key);
  }
}

/** What was asked and who answered it, where that was not this window: the question is gone by the time one hears of it. */
export interface AnsweredElsewhere {
  title?: string | undefined;
  client?: string | undefined;
}

export function answered(line: Timeline, id: string, decision: string, by: string, elsewhere: AnsweredElsewhere = {}): void {
  const ask = line.data.asks.find((each) => each.askId === id);
  const elicit = line.data.elicits.find((each) => each.elicitId === id);
  if (ask) {
    line.data.asks = line.data.asks.filter((each) => each !== ask);
    const item = line.get(ask.toolUseId);
    if (item?.kind === "tool" && item.state === "waiting") {
      item.state = decision === "deny" ? "stopped" : "running";
      line.touch(item.key);
    }
    if (ask.tool === "ExitPlanMode") keepPlan(line);
    if (decision) line.add({ kind: "answered", key: line.mint("answered"), title: askedTitle(ask.tool, ask.title), decision, by });
  } else if (decision && !elicit && elsewhere.client && elsewhere.title) {
    line.add({ kind: "answered", key: line.mint("answered"), title: elsewhere.title, decision, by, client: elsewhere.client });
  }
  if (elicit) {
    line.data.elicits = line.data.elicits.filter((each) => each !== elicit);
    if (!line.data.elicits.some((each) => each.questions)) asking(line, "waiting", "running");
  }
  if (line.data.asks.length === 0 && line.data.elicits.length === 0 && line.data.state === "waiting") line.data.state = "running";
  line.around();
}

/** An edit that needs no asking waits for its hunks. */
export function addReview(line: Timeline, review: WaitingReview): void {
  line.data.reviews = [...line.data.reviews.filter((each) => each.proposalId !== review.proposalId), review];
  line.data.state = "waiting";
  const item = line.get(review.toolUseId);
  if (item?.kind === "tool" && item.state !== "done" && item.state !== "error") {
    item.state = "waiting";
    line.touch(item.key);
  }
  line.around();
}

/** Those reviews are decided, or their turn is over. */
export function endReviews(line: Timeline, ended: (review: WaitingReview) => boolean): void {
  const gone = line.data.reviews.filter(ended);
  if (gone.length === 0) return;
  line.data.reviews = line.data.reviews.filter((each) => !gone.includes(each));
  for (const { toolUseId } of gone) {
    const item = line.get(toolUseId);
    if (item?.kind !== "tool" || item.state !== "waiting" || line.data.reviews.some((each) => each.toolUseId === toolUseId)) continue;
    item.state = "running";
    line.touch(item.key);
  }
  line.around();
}

/** The server says where a message stands: behind a turn we did not know of, or kept because its turns were stopped. */
export function queued(line: Timeline, clientMessageId: string, kept: boolean): void {
  const said = line.get(`sent:${clientMessageId}`);
  if (said?.kind === "user" && !said.messageId) {
    line.drop(said.key);
    line.data.queue.push({ clientMessageId, text: said.text, images: said.images, mentions: said.mentions, steer: false });
  }
  line.data.queue = line.data.queue.map((each) => (each.clientMessageId === clientMessageId ? { ...each, steer: each.steer && !kept, kept } : each));
  line.around();
}

export function putProposal(line: Timeline, proposal: Proposal): void {
  const at = line.data.proposals.findIndex((each) => each.proposalId === proposal.proposalId);
  const open = proposal.hunks.some(isOpen);
  if (at >= 0) {
    if (open) line.data.proposals[at] = proposal;
    else line.data.proposals.splice(at, 1);
  } else if (open) {
    line.data.proposals.push(proposal);
  }
  endReviews(line, (review) => review.proposalId === proposal.proposalId && !proposal.hunks.some((hunk) => hunk.state === "pending"));
  for (const ask of line.data.asks) if (ask.proposal?.proposalId === proposal.proposalId) ask.proposal = proposal;
  line.around();
}

/** The same hunks elsewhere: something was typed beside them. It comes at every key, and nothing on the page shows it. */
export function moveProposal(line: Timeline, moved: EditMoved): void {
  const at = line.data.proposals.findIndex((each) => each.proposalId === moved.proposalId);
  const known = line.data.proposals[at];
  if (!known) return;
  const ranges = new Map(moved.hunks.map((hunk) => [hunk.hunkId, hunk.range]));
  const now = { ...known, version: moved.version, hunks: known.hunks.map((hunk) => ({ ...hunk, range: ranges.get(hunk.hunkId) ?? hunk.range })) };
  line.data.proposals[at] = now;
  for (const ask of line.data.asks) if (ask.proposal?.proposalId === moved.proposalId) ask.proposal = now;
}

export function keepPlan(line: Timeline): void {
  if (line.data.plan === null) return;
  line.add({ kind: "plan", key: line.mint("plan"), text: line.data.plan });
  line.data.plan = null;
}

export function addUser(line: Timeline, message: QueuedMessage): void {
  const { clientMessageId, text, images, mentions } = message;
  line.add({ kind: "user", key: `sent:${clientMessageId}`, clientMessageId, text, images, mentions });
}

export function dequeue(line: Timeline, clientMessageId: string): void {
  const message = line.data.queue.find((each) => each.clientMessageId === clientMessageId);
  if (!message) return;
  line.data.queue = line.data.queue.filter((each) => each !== message);
  const echoed = line.data.items.findLast((item) => item.kind === "user" && !item.clientMessageId && samePrompt(item.text, message.text));
  if (echoed?.kind === "user") echoed.clientMessageId = clientMessageId;
  else addUser(line, message);
  line.around();
}

/** Taken back before its turn came: it was never said. */
export function unqueue(line: Timeline, clientMessageId: string): void {
  line.data.queue = line.data.queue.filter((each) => each.clientMessageId !== clientMessageId);
  line.around();
}

export function sendFailed(line: Timeline, clientMessageId: string, text: string): void {
  const item = line.get(`sent:${clientMessageId}`);
  line.data.queue = line.data.queue.filter((each) => each.clientMessageId !== clientMessageId);
  if (item?.kind === "user") {
    item.failed = text;
    line.touch(item.key);
  } else {
    line.notice("error", text);
  }
  line.around();
}

/** A turn began with these words: ours, whose id we learn now, or someone else's, which we show. */
export function prompted(line: Timeline, prompt: string | Block[], messageId: string | undefined): void {
  const blocks = blocksOf(prompt);
  const { text, attached } = promptOf(blocks);
  const queued = line.data.queue.find((message) => !message.kept && samePrompt(message.text, text));
  const sent = (item: Item): item is UserItem => item.kind === "user" && !item.messageId && samePrompt(item.text, text);
  if (queued && !line.data.items.some(sent)) dequeue(line, queued.clientMessageId);
  const item = line.data.items.findLast(sent);
  if (item) {
    if (messageId) item.messageId = messageId;
    if (attached.length > 0 && !item.attached) item.attached = attached;
    line.touch(item.key);
  } else if (messageId && !line.has(messageId) && (text || imagesOf(blocks).length)) {
    line.add({ kind: "user", key: messageId, text, images: imagesOf(blocks), mentions: [], messageId, ...(attached.length ? { attached } : {}) });
  }
}
