/** The chat page: puts transcript, dock and composer together and carries messages to and from the host. */
import type { Mode, PermissionAsk } from "../src/protocol";
import { askCard } from "./askCard";
import type { Draft, Surroundings, ToHost, ToView } from "./bridge";
import { Composer } from "./composer";
import { count } from "./content";
import { Conversation } from "./conversation";
import { h, icon, iconButton, textButton } from "./dom";
import { elicitForm } from "./elicitForm";
import { History } from "./history";
import { rowFor, type RowHost } from "./rows";
import { VirtualList } from "./virtualList";

declare function acquireVsCodeApi(): { postMessage(message: ToHost): void; getState(): unknown; setState(state: unknown): void };

const vscode = acquireVsCodeApi();
const post = (message: ToHost): void => vscode.postMessage(message);

const MODES: { mode: Mode; label: string; hint: string }[] = [
  { mode: "default", label: "Ask first", hint: "Asks before edits and commands" },
  { mode: "acceptEdits", label: "Accept edits", hint: "Edits land at once and stay marked for review" },
  { mode: "plan", label: "Plan", hint: "Reads and plans; changes nothing" },
  { mode: "auto", label: "Auto", hint: "A classifier answers what it is sure of; you get the rest" },
  { mode: "dontAsk", label: "Don't ask", hint: "What would need asking is refused" },
  { mode: "bypassPermissions", label: "Bypass", hint: "Asks only about what is never safe" },
];

let conversation = new Conversation();
let serial = 0;
let surroundings: Surroundings | null = null;
let editing: string | null = null;
const opened = new Map<string, boolean>();

// --- the parts of the page ------------------------------------------------------------------------

const announcer = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
const transcript = h("div", { class: "transcript", role: "feed", "aria-label": "Conversation", tabindex: 0 });
const rowsBox = h("div", { class: "rows" });
const welcome = h("div", { class: "welcome" });
const jump = iconButton("arrow-down", "Jump to the newest message", () => list.toBottom(), { class: "icon-button jump", hidden: true });
const dock = h("div", { class: "dock", role: "region", "aria-label": "Waiting for you" });
const todos = h("div", { class: "todos" });
const queue = h("div", { class: "queue" });
const banners = h("div", { class: "banners" });
const activity = h("div", { class: "activity small", role: "status" });
const meter = h("button", { type: "button", class: "meter", onclick: () => post({ type: "context" }) });
const cost = h("button", { type: "button", class: "cost small", title: "Cost of this conversation", onclick: () => post({ type: "cost" }) });
const modelPicker = h("select", { class: "picker model", "aria-label": "Model", title: "Model" });
const modePicker = h("select", { class: "picker mode", "aria-label": "Permission mode", title: "Permission mode" }, ...MODES.map((each) => h("option", { value: each.mode, title: each.hint }, each.label)));
const facts = h("section", { class: "facts card", hidden: true, role: "dialog", "aria-label": "Details" });

const composer = new Composer(
  {
    send: (draft, steer) => send(draft, steer),
    stop: () => post({ type: "stop" }),
    complete: (requestId, text, offset) => post({ type: "complete", requestId, text, offset }),
    dropped: (uris) => post({ type: "dropped", uris }),
    draft: (draft) => {
      keep();
      post({ type: "draft", draft });
    },
    cancelEdit: () => (editing = null),
  },
  h("span", { class: "pickers" }, modePicker, modelPicker, meter, cost),
);

const history = new History({
  search: (requestId, query, cursor) => post({ type: "sessions", requestId, query, ...(cursor ? { cursor } : {}) }),
  open: (sessionId) => post({ type: "openSession", sessionId }),
  remove: (sessionId) => post({ type: "deleteSession", sessionId }),
  rename: (sessionId) => post({ type: "renameSession", sessionId }),
  closed: () => composer.focus(),
});

const rowHost: RowHost = {
  openFile: (path, line) => post({ type: "openFile", path, ...(line ? { line } : {}) }),
  short: (text) => (surroundings?.roots ?? []).reduce((shorter, root) => shorter.split(root).join(""), text),
  isOpen: (key, fallback) => opened.get(key) ?? fallback,
  setOpen: (key, open) => void opened.set(key, open),
  copy: (text) => post({ type: "copy", text }),
  edit: (item) => {
    editing = item.messageId ?? null;
    composer.restore({ text: item.text, images: [...item.images], mentions: [] });
    composer.setEditing(true);
    composer.focus();
  },
  rewind: (messageId) => post({ type: "rewind", messageId }),
  fork: (messageId) => post({ type: "fork", messageId }),
  retry: () => post({ type: "retry" }),
  isLast: (key) => conversation.data.items.at(-1)?.key === key,
  running: () => conversation.data.running,
  showThinking: () => surroundings?.showThinking ?? false,
  decorate: (pre, code, language) => decorate(pre, code, language),
};

const list = new VirtualList(transcript, rowsBox, (key) => rowFor(conversation, key, rowHost), {
  onTop: () => {
    if (!conversation.data.olderCursor || askedOlder === conversation.data.olderCursor) return;
    askedOlder = conversation.data.olderCursor;
    post({ type: "older" });
  },
  onFollow: (following) => (jump.hidden = following),
});
let askedOlder = "";

// --- messages -------------------------------------------------------------------------------------

window.addEventListener("message", (event: MessageEvent<ToView>) => {
  const message = event.data;
  switch (message.type) {
    case "snapshot":
      conversation = new Conversation(message.data);
      serial = message.serial;
      askedOlder = "";
      list.clear();
      list.setKeys(conversation.data.items.map((item) => item.key));
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
      composer.insert(message.text, message.mentions, message.replace);
      break;
    case "focus":
      composer.focus();
      break;
    case "showHistory":
      history.show();
      break;
    case "facts":
      showFacts(message.title, message.rows, message.note);
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
  if (structure) list.setKeys(conversation.data.items.map((item) => item.key));
  for (const key of keys) list.update(key);
  if (around) drawAround();
}

function announce(action: Extract<ToView, { type: "actions" }>["actions"][number]): void {
  if (action.type === "ask") announcer.textContent = `Permission needed: ${action.ask.title}`;
  else if (action.type === "elicit") announcer.textContent = `Question: ${action.elicit.message}`;
  else if (action.type === "event" && action.params.event.type === "turnFinished") announcer.textContent = action.params.event.result.isError ? "Assent stopped with a problem" : "Assent has finished";
}

function send(draft: Draft, steer: boolean): void {
  if (editing) {
    post({ type: "resend", messageId: editing, text: draft.text });
    editing = null;
    composer.setEditing(false);
  } else {
    const mentions = draft.mentions.map(({ uri, range }) => ({ uri, ...(range ? { range } : {}) }));
    post({ type: "send", text: draft.text, images: draft.images, mentions, whenBusy: steer ? "steer" : "queue" });
  }
  list.toBottom();
}

// --- everything around the transcript -------------------------------------------------------------

const cards = new Map<string, { element: HTMLElement; source: unknown }>();

function drawAround(): void {
  const data = conversation.data;
  composer.setRunning(data.running);
  drawDock();
  drawTodos();
  drawQueue();
  drawBanners();
  drawActivity();
  drawPickers();
  drawMeter();
  drawWelcome();
}

/** Pending questions stay in one place and keep what was typed into them until they are answered. */
function drawDock(): void {
  const data = conversation.data;
  const wanted = new Map<string, { source: unknown; make(): HTMLElement }>();
  for (const ask of data.asks) wanted.set(ask.askId, { source: fingerprint(ask), make: () => askCard(ask, { answer: (askId, answer) => answered({ type: "answerAsk", askId, answer }), showDiff: (proposalId) => post({ type: "showDiff", proposalId }), openFile: rowHost.openFile, short: rowHost.short }) });
  for (const elicit of data.elicits) wanted.set(elicit.elicitId, { source: elicit.requestId, make: () => elicitForm(elicit, { answer: (elicitId, answer) => answered({ type: "answerElicit", elicitId, answer }), openLink: (link) => post({ type: "openLink", link }) }) });
  for (const [id, card] of cards) {
    if (wanted.has(id)) continue;
    card.element.remove();
    cards.delete(id);
  }
  for (const [id, each] of wanted) {
    const card = cards.get(id);
    if (card && card.source === each.source) continue;
    const element = each.make();
    if (card) card.element.replaceWith(element);
    else dock.append(element);
    cards.set(id, { element, source: each.source });
  }
  dock.hidden = cards.size === 0;
}

/** The card is about to go, and the focus in it would go with it. */
function answered(message: ToHost): void {
  post(message);
  composer.focus();
}

function fingerprint(ask: PermissionAsk): string {
  return `${ask.requestId}:${ask.proposal?.hunks.map((hunk) => hunk.hunkId + hunk.state).join() ?? ""}`;
}

function drawTodos(): void {
  const items = conversation.data.todos;
  const done = items.filter((todo) => todo.status === "completed").length;
  const current = items.find((todo) => todo.status === "in_progress");
  if (items.length === 0 || done === items.length) {
    todos.replaceChildren();
    return;
  }
  const marks: Record<string, string> = { completed: "pass-filled", in_progress: "sync", pending: "circle-large-outline" };
  const details = h(
    "details",
    { open: opened.get("todos") ?? false },
    h("summary", {}, icon("checklist"), h("span", {}, ` ${done}/${items.length} `), current?.activeForm ?? "Todo list"),
    h("ul", {}, ...items.map((todo) => h("li", { class: todo.status }, icon(marks[todo.status] ?? "circle-large-outline"), h("span", {}, todo.content)))),
  );
  details.addEventListener("toggle", () => opened.set("todos", details.open));
  todos.replaceChildren(details);
}

function drawQueue(): void {
  queue.replaceChildren(
    ...conversation.data.queue.map((message) =>
      h("div", { class: "queued", title: message.steer ? "Will be told to the running turn" : "Will be sent when this turn ends" }, icon(message.steer ? "debug-step-into" : "clock"), h("span", { class: "queued-text" }, message.text), h("span", { class: "small" }, message.steer ? "steering" : "queued")),
    ),
  );
}

function drawBanners(): void {
  const shown = (surroundings?.banners ?? []).map((banner) =>
    h("div", { class: `banner ${banner.kind}`, role: "note" }, icon(banner.kind === "warning" ? "warning" : "info"), h("span", {}, banner.text), banner.command ? textButton(banner.label ?? "Open", "link", () => post({ type: "command", command: banner.command ?? "" })) : null),
  );
  const server = surroundings?.server;
  if (server && server.kind !== "ready") {
    shown.unshift(
      h(
        "div",
        { class: `banner server ${server.kind === "failed" ? "error" : "info"}`, role: server.kind === "failed" ? "alert" : "note" },
        icon(server.kind === "failed" ? "error" : "loading codicon-modifier-spin"),
        h("div", {}, h("strong", {}, server.title), h("p", {}, server.detail), server.log ? h("pre", { tabindex: 0, "aria-label": "end of the server's log" }, server.log) : null, h("div", { class: "buttons" }, ...server.actions.map((action) => textButton(action.label, "secondary", () => post({ type: "command", command: action.command }))))),
      ),
    );
  }
  banners.replaceChildren(...shown);
}

function drawActivity(): void {
  const data = conversation.data;
  let text = "";
  if (surroundings?.server.kind === "failed") text = "";
  else if (!data.connected && data.sessionId) text = "Reconnecting…";
  else if (data.retrying) text = `The service is busy${data.retrying.status ? ` (${data.retrying.status})` : ""}. Trying again in ${Math.ceil(data.retrying.delayMs / 1000)} s, attempt ${data.retrying.attempt} of ${data.retrying.maxAttempts}`;
  else if (data.state === "compacting") text = "Compacting the conversation…";
  else if (data.state === "waiting" && (data.asks.length || data.elicits.length)) text = "Waiting for you";
  else if (data.running) text = "Working…";
  if (data.interrupted && !data.running && data.connected) {
    activity.replaceChildren(
      h("div", { class: "notice warning interrupted", role: "note" }, icon("debug-disconnect"), h("span", {}, "The last turn was cut off before it finished. Everything up to there is saved."), h("div", { class: "buttons" }, textButton("Continue", "secondary", () => post({ type: "resume" })), textButton("Try again", "secondary", () => post({ type: "retry" })))),
    );
    return;
  }
  activity.replaceChildren(...(text ? [icon(data.state === "waiting" ? "bell-dot" : "loading codicon-modifier-spin"), ` ${text}`] : []));
}

function drawPickers(): void {
  const data = conversation.data;
  modePicker.value = data.mode;
  const models = [...new Set([...(data.model ? [data.model] : []), ...(surroundings?.models ?? [])])];
  if (modelPicker.dataset["models"] !== models.join()) {
    modelPicker.dataset["models"] = models.join();
    modelPicker.replaceChildren(...models.map((model) => h("option", { value: model }, model)), h("option", { value: "…" }, "Other…"));
  }
  modelPicker.value = data.model;
  modelPicker.hidden = models.length === 0;
}

function drawMeter(): void {
  const usage = conversation.data.usage;
  meter.hidden = !usage || usage.contextWindow <= 0;
  cost.hidden = !usage || usage.costUsd <= 0;
  if (!usage) return;
  const share = Math.min(1, usage.contextTokens / Math.max(1, usage.contextWindow));
  const label = `Context: ${count(usage.contextTokens)} of ${count(usage.contextWindow)} tokens (${Math.round(share * 100)} %)`;
  meter.setAttribute("aria-label", label);
  meter.title = label;
  const fill = h("span", { class: `fill${share > 0.85 ? " full" : ""}` });
  fill.style.width = `${Math.max(2, share * 100)}%`;
  meter.replaceChildren(h("span", { class: "bar" }, fill), h("span", { class: "small" }, `${Math.round(share * 100)}%`));
  cost.textContent = `$${usage.costUsd.toFixed(usage.costUsd < 1 ? 3 : 2)}`;
}

function drawWelcome(): void {
  const data = conversation.data;
  welcome.hidden = data.items.length > 0 || data.running;
  if (welcome.hidden || welcome.childElementCount > 0) return;
  const idea = (name: string, text: string): HTMLElement => h("button", { type: "button", class: "idea", onclick: () => composer.insert(text, [], true) }, icon(name), h("span", {}, text));
  welcome.append(
    h("h2", {}, "What shall we build?"),
    h("p", {}, "Assent reads and edits this workspace, and asks before it changes anything. Every edit is shown in the editor, hunk by hunk."),
    idea("search", "Explain how this project is put together"),
    idea("beaker", "Find a function without tests and write them"),
    idea("bug", "Look at the problems in the open file and fix them"),
  );
}

function showFacts(title: string, rows: { label: string; value: string; share?: number }[], note: string): void {
  facts.replaceChildren(
    h("header", {}, h("h3", {}, title), h("span", { class: "spacer" }), iconButton("close", "Close", () => ((facts.hidden = true), composer.focus()))),
    h(
      "dl",
      {},
      ...rows.flatMap((row) => {
        const bar = h("span", { class: "fill" });
        bar.style.width = `${Math.round((row.share ?? 0) * 100)}%`;
        return [h("dt", {}, row.label), h("dd", {}, row.value, row.share === undefined ? null : h("span", { class: "bar" }, bar))];
      }),
    ),
    note ? h("p", { class: "small" }, note) : "",
  );
  facts.hidden = false;
}

function decorate(pre: HTMLElement, code: string, language: string): void {
  const box = h("div", { class: "code" });
  pre.replaceWith(box);
  pre.tabIndex = 0;
  box.append(
    h(
      "div",
      { class: "code-head" },
      h("span", { class: "small" }, language || "text"),
      h("span", { class: "spacer" }),
      iconButton("copy", "Copy code", () => post({ type: "copy", text: code })),
      iconButton("insert", "Insert at cursor", () => post({ type: "insertCode", text: code })),
      iconButton("diff", "Apply to the open file…", () => post({ type: "applyCode", text: code, language })),
    ),
    pre,
  );
}

// --- start ----------------------------------------------------------------------------------------

modePicker.addEventListener("change", () => post({ type: "configure", mode: modePicker.value as Mode }));
modelPicker.addEventListener("change", () => {
  post({ type: "configure", model: modelPicker.value });
  modelPicker.value = conversation.data.model;
});
document.addEventListener("click", (event) => {
  const link = (event.target as Element).closest("a[data-link]");
  if (!(link instanceof HTMLElement)) return;
  event.preventDefault();
  post({ type: "openLink", link: link.dataset["link"] ?? "" });
});
// The editor's "focus this view" reaches the page, not a place in it.
window.addEventListener("focus", () => {
  if (!document.activeElement || document.activeElement === document.body) composer.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !facts.hidden) {
    facts.hidden = true;
    composer.focus();
  }
});

transcript.append(welcome, rowsBox);
document.body.append(
  banners,
  h("main", {}, transcript, jump, history.element, facts),
  todos,
  dock,
  queue,
  activity,
  composer.element,
  announcer,
);
const saved = vscode.getState() as { draft?: Draft } | undefined;
if (saved?.draft) composer.restore(saved.draft);
drawAround();
post({ type: "ready" });
