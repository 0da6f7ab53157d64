/** The chat page: puts its parts together and carries messages to and from the host. */
import { Activity, readOnlyNote } from "./activity";
import { finishedWords } from "./announcement";
import { Banners } from "./banners";
import type { Draft, Surroundings, ToHost, ToView } from "../shared/bridge";
import { decorateCode } from "./codeBlock";
import { Composer } from "./composer";
import { Conversation } from "../shared/conversation";
import { Dock } from "./dock";
import { h, icon, iconButton, textButton } from "./dom";
import { Facts } from "./facts";
import { History } from "./history";
import { QueueList, TodoList } from "./lists";
import { MODES, Pickers } from "./pickers";
import type { Mode } from "../src/protocol";
import { drawDiagram, drawMath } from "./rich";
import { Changes } from "./changes";
import { isFold, rowsOf } from "./folds";
import { foldRow, rowFor, shortUri, type RowHost } from "./rows";
import { VirtualList, type RowView } from "./virtualList";
import { WorkspaceImages } from "./workspaceImages";
import { FindBar } from "./findBar";
import { Welcome } from "./welcome";

declare function acquireVsCodeApi(): { postMessage(message: ToHost): void; getState(): unknown; setState(state: unknown): void };

const vscode = acquireVsCodeApi();
const post = (message: ToHost): void => vscode.postMessage(message);

let conversation = new Conversation();
let serial = 0;
let surroundings: Surroundings | null = null;
let editing: string | null = null;
let askedOlder = "";
const opened = new Map<string, boolean>();

// --- the parts of the page ------------------------------------------------------------------------

const announcer = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
const transcript = h("div", { class: "transcript", role: "feed", "aria-label": "Conversation", tabindex: 0 });
const rowsBox = h("div", { class: "rows" });
const jump = iconButton("arrow-down", "Jump to the newest message", () => list.toBottom(), { class: "icon-button jump", hidden: true });

const pickers = new Pickers({
  configure: (change) => post({ type: "configure", ...change }),
  context: () => post({ type: "context" }),
  cost: () => post({ type: "cost" }),
});
const composer = new Composer(
  {
    send: (draft, steer) => send(draft, steer),
    stop: () => post({ type: "stop" }),
    complete: (requestId, text, offset) => post({ type: "complete", requestId, text, offset }),
    dropped: (uris) => post({ type: "dropped", uris }),
    attach: () => post({ type: "attach" }),
    draft: (draft) => {
      keep();
      post({ type: "draft", draft });
    },
    cancelEdit: () => (editing = null),
  },
  pickers.element,
);
const welcome = new Welcome({
  compose: (text) => {
    composer.insert(text, [], true);
    composer.focus();
  },
  run: (command) => post({ type: "command", command }),
});
const todos = new TodoList();
const queue = new QueueList({
  unqueue: (message, edit) => post({ type: "unqueue", clientMessageId: message.clientMessageId, edit }),
  sendNow: (message) => post({ type: "sendKept", clientMessageId: message.clientMessageId }),
});
const banners = new Banners((command) => post({ type: "command", command }));
const activity = new Activity({
  resume: () => post({ type: "resume" }),
  retry: () => post({ type: "retry" }),
  showReview: (proposalId) => post({ type: "showDiff", proposalId }),
  toBackground: (toolUseId) => post({ type: "toBackground", toolUseId }),
  short: (text) => rowHost.short(text),
});
const facts = new Facts(() => composer.focus());
const history = new History({
  search: (requestId, query, cursor) => post({ type: "sessions", requestId, query, ...(cursor ? { cursor } : {}) }),
  open: (sessionId) => post({ type: "openSession", sessionId }),
  remove: (sessionId) => post({ type: "deleteSession", sessionId }),
  rename: (sessionId) => post({ type: "renameSession", sessionId }),
  closed: () => composer.focus(),
});

const images = new WorkspaceImages((path) => post({ type: "image", path }));
const rowHost: RowHost = {
  openFile: (path, line) => post({ type: "openFile", path, ...(line ? { line } : {}) }),
  short: (text) => (surroundings?.roots ?? []).reduce((shorter, root) => shorter.split(root).join(""), text),
  isOpen: (key, fallback) => opened.get(key) ?? fallback,
  setOpen: (key, open) => void opened.set(key, open),
  copy: (text) => post({ type: "copy", text }),
  edit: (item) => {
    editing = item.messageId ?? null;
    composer.restore({ text: item.text, images: [...item.images], mentions: item.mentions.map((each) => ({ ...each, label: each.label ?? shortUri(each.uri) })) });
    composer.setEditing(true);
    composer.focus();
  },
  rewind: (messageId) => post({ type: "rewind", messageId }),
  fork: (messageId) => post({ type: "fork", messageId }),
  retry: () => post({ type: "retry" }),
  isLast: (key) => conversation.data.items.at(-1)?.key === key,
  running: () => conversation.data.running,
  readOnly: () => conversation.data.readOnly !== null,
  showThinking: () => surroundings?.showThinking ?? false,
  snipOf: (messageId) => conversation.data.snips.find((each) => each.messageIds.includes(messageId)),
  snip: (messageId) => post({ type: "snip", messageIds: [messageId] }),
  unsnip: (snipId) => post({ type: "unsnip", snipId }),
  run: (command) => post({ type: "command", command }),
  decorate: (pre, code, language) => decorateCode(pre, code, language, post),
  image: (link, path) => images.show(link, path),
  math: drawMath,
  diagram: drawDiagram,
};
const changes = new Changes({
  decide: (proposalIds, decision) => post({ type: "decide", proposalIds, decision }),
  show: (proposalId) => post({ type: "showDiff", proposalId }),
  short: rowHost.short,
});
// A card is about to go when it is answered, and the focus in it would go with it.
const answered = (message: ToHost): void => {
  post(message);
  composer.focus();
};
const dock = new Dock(
  {
    answer: (askId, answer) => answered({ type: "answerAsk", askId, answer }),
    openText: (text, language) => post({ type: "openText", text, language }),
    showDiff: (proposalId) => post({ type: "showDiff", proposalId }),
    openFile: rowHost.openFile,
    short: rowHost.short,
  },
  { answer: (elicitId, answer) => answered({ type: "answerElicit", elicitId, answer }), openLink: (link) => post({ type: "openLink", link }) },
);

/** The items in each row of the transcript, and the row of each item. */
const folded = new Map<string, string[]>();
const rowOf = new Map<string, string>();

function rowKeys(): string[] {
  folded.clear();
  rowOf.clear();
  for (const row of rowsOf(conversation.data.items)) {
    folded.set(row.key, row.items);
    for (const item of row.items) rowOf.set(item, row.key);
  }
  return [...folded.keys()];
}

const makeRow = (key: string): RowView => (isFold(key) ? foldRow(conversation, key, () => folded.get(key) ?? [], rowHost) : rowFor(conversation, key, rowHost));
const list = new VirtualList(transcript, rowsBox, makeRow, {
  onTop: () => {
    if (!conversation.data.olderCursor || askedOlder === conversation.data.olderCursor) return;
    askedOlder = conversation.data.olderCursor;
    post({ type: "older" });
  },
  onFollow: (following) => (jump.hidden = following),
});
const find = new FindBar({
  items: () => conversation.data.items,
  reveal: (key) => list.reveal(rowOf.get(key) ?? key),
  more: () => conversation.data.olderCursor !== null,
  loadMore: () => post({ type: "older" }),
  closed: () => composer.focus(),
});

// --- messages -------------------------------------------------------------------------------------

window.addEventListener("message", (event: MessageEvent<ToView>) => {
  const message = event.data;
  switch (message.type) {
    case "snapshot":
      conversation = new Conversation(message.data);
      serial = message.serial;
      askedOlder = "";
      if (message.data.sessionId === null) composer.lookAgain();
      document.body.dataset["session"] = message.data.sessionId ?? "";
      list.clear();
      list.setKeys(rowKeys());
      keep();
      drawAround();
      break;
    case "actions":
      // A batch from before the last snapshot is already part of it.
      if (message.serial <= serial) break;
      serial = message.serial;
      applyAll(message.actions);
      break;
    case "surroundings":
      surroundings = message.value;
      document.body.dataset["server"] = message.value.server.kind;
      composer.sendWithEnter = message.value.sendWithEnter;
      drawAround();
      break;
    case "completions":
      composer.showCompletions(message.requestId, message.items);
      break;
    case "sessions":
      history.loaded(message.requestId, message.sessions, message.nextCursor, message.error);
      break;
    case "insert":
      composer.insert(message.text, message.mentions, message.replace, message.images);
      break;
    case "image":
      images.loaded(message.path, message.data);
      break;
    case "active":
      composer.look(message.chip);
      break;
    case "find":
      find.show();
      break;
    case "reveal":
      void list.reveal(rowOf.get(message.key) ?? message.key);
      break;
    case "there":
      post({ type: "ready" });
      break;
    case "focus":
      composer.focus();
      break;
    case "showHistory":
      history.show();
      break;
    case "facts":
      facts.show(message);
      break;
  }
});

/** What the editor gives back when it restores this page after a reload. */
function keep(): void {
  vscode.setState({ draft: composer.draft, sessionId: conversation.data.sessionId });
}

const dirty = { keys: new Set<string>(), structure: false, around: false, frame: 0 };

/** The state changes at once; the page follows once a frame, however many deltas came in between. */
function applyAll(actions: Extract<ToView, { type: "actions" }>["actions"]): void {
  for (const action of actions) {
    const last = conversation.data.items.at(-1)?.key;
    const change = conversation.apply(action);
    for (const key of change.touched) dirty.keys.add(key);
    if (change.structure && last) dirty.keys.add(last);
    dirty.structure ||= change.structure;
    dirty.around ||= change.around || change.structure;
    announce(action);
  }
  dirty.frame ||= requestAnimationFrame(draw);
}

function draw(): void {
  const { keys, structure, around } = dirty;
  Object.assign(dirty, { keys: new Set<string>(), structure: false, around: false, frame: 0 });
  if (structure) list.setKeys(rowKeys());
  if (structure) find.changed();
  for (const key of new Set([...keys].map((each) => rowOf.get(each) ?? each))) list.update(key);
  if (around) drawAround();
}

function drawAround(): void {
  const data = conversation.data;
  composer.setRunning(data.running);
  composer.lock(
    data.readOnly &&
      readOnlyNote(data.readOnly, { takeOver: () => post({ type: "takeOver" }), copy: () => post({ type: "copySession" }), newChat: () => post({ type: "newSession" }) }),
  );
  dock.draw(data);
  todos.draw(data.todos);
  queue.draw(data.queue);
  changes.draw(data);
  banners.draw(surroundings);
  activity.draw(data, surroundings?.server.kind === "failed");
  pickers.draw(data, surroundings?.models ?? [], surroundings?.model ?? "");
  composer.note(data.sessionId === null && surroundings?.keptMode ? keptModeNote(surroundings.keptMode) : null);
  welcome.draw(surroundings);
  welcome.element.hidden = data.items.length > 0 || data.running;
}

/** A mode that asks less than usual is never taken up in silence. */
function keptModeNote(mode: Mode): HTMLElement {
  const label = MODES.find((each) => each.mode === mode)?.label ?? mode;
  const back = textButton("Ask first", "link", () => post({ type: "configure", mode: "default" }), { "data-do": "askFirst" });
  return h("div", { class: "kept-mode small", role: "note" }, icon("info"), ` Starts with “${label}”, as last time here. `, back);
}

function announce(action: Extract<ToView, { type: "actions" }>["actions"][number]): void {
  if (action.type === "ask") announcer.textContent = `Permission needed: ${action.ask.title}`;
  else if (action.type === "elicit") announcer.textContent = `Question: ${action.elicit.message}`;
  else if (action.type === "event" && action.params.event.type === "turnFinished")
    announcer.textContent = finishedWords(conversation.data.items, action.params.event.result.isError);
}

function send(draft: Draft, steer: boolean): void {
  if (editing) {
    post({ type: "resend", messageId: editing, text: draft.text, mentions: draft.mentions });
    editing = null;
    composer.setEditing(false);
  } else {
    post({ type: "send", text: draft.text, images: draft.images, mentions: draft.mentions, whenBusy: steer ? "steer" : "queue" });
  }
  list.toBottom();
}

// --- start ----------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  const link = (event.target as Element).closest("a[data-link]");
  if (!(link instanceof HTMLElement)) return;
  event.preventDefault();
  post({ type: "openLink", link: link.dataset["link"] ?? "" });
});
// The editor's "focus this view" reaches the page, not a place in it.
window.addEventListener("focus", () => {
  post({ type: "focused" });
  if (!document.activeElement || document.activeElement === document.body) composer.focus();
});

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "f" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation(); // else the workbench opens the find of the text editor as well
  find.show();
});
transcript.append(welcome.element, rowsBox);
document.body.append(
  banners.element,
  h("main", {}, transcript, find.element, history.element, facts.element),
  todos.element,
  dock.element,
  queue.element,
  changes.element,
  h("div", { class: "below" }, activity.element, jump),
  composer.element,
  announcer,
);
const saved = vscode.getState() as { draft?: Draft } | undefined;
if (saved?.draft) composer.restore(saved.draft);
drawAround();
post({ type: "ready" });
