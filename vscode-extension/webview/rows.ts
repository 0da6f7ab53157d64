/** One row of the transcript per item: how each kind is drawn, and drawn again when it changes. */
import type { Conversation } from "../shared/conversation";
import type { HookItem, Item, SnipInfo, TextItem, ThinkingItem, UserItem } from "../shared/items";
import { money } from "../shared/content";
import { h, icon, iconButton, revealed, textButton } from "./dom";
import { renderMarkdown, StreamingMarkdown, type CodeActions } from "./markdown";
import { summaryText } from "../shared/turnSummary";
import { foldText } from "./folds";
import { toolCard, type ToolHost } from "./toolCard";
import type { RowView } from "./virtualList";

export interface RowHost extends ToolHost, CodeActions {
  copy(text: string): void;
  edit(item: UserItem): void;
  rewind(messageId: string): void;
  fork(messageId: string): void;
  retry(): void;
  isLast(key: string): boolean;
  running(): boolean;
  /** Another window owns the conversation: it can be read and copied, not changed. */
  readOnly(): boolean;
  showThinking(): boolean;
  /** The snip that took a message out of the model's view. */
  snipOf(messageId: string): SnipInfo | undefined;
  snip(messageId: string): void;
  unsnip(snipId: string): void;
  run(command: string): void;
}

/** What each kind of row is called by screen readers. */
const SPOKEN: Record<Item["kind"], string> = {
  user: "You",
  text: "Assent",
  thinking: "Thinking",
  tool: "Tool",
  answered: "Your answer",
  plan: "Plan",
  notice: "Notice",
  hook: "Hook",
  end: "End of the turn",
};

export function rowFor(conversation: Conversation, key: string, host: RowHost): RowView {
  const item = conversation.get(key);
  if (item?.kind === "text" || item?.kind === "thinking") return streamed(conversation, key, item, host);
  const element = h("article", { class: `row ${item?.kind ?? "gone"}`, "aria-label": item ? SPOKEN[item.kind] : "" });
  let before = "";
  const update = (): void => {
    const now = conversation.get(key);
    if (!now) return;
    const snip = now.kind === "user" && now.messageId ? host.snipOf(now.messageId) : undefined;
    const drawn = JSON.stringify([now, snip]) + String(now.kind === "end" && host.isLast(key) && !host.running());
    if (drawn === before) return;
    before = drawn;
    element.classList.toggle("snipped", snip !== undefined);
    element.replaceChildren(...draw(now, host));
  };
  update();
  return { element, update };
}

function streamed(conversation: Conversation, key: string, first: TextItem | ThinkingItem, host: RowHost): RowView {
  const body = h("div", { class: "markdown" });
  const stream = new StreamingMarkdown(body, host);
  const element = h("article", { class: `row ${first.kind}`, "aria-label": SPOKEN[first.kind] });
  let details: HTMLDetailsElement | undefined;
  let actions: HTMLElement | undefined;
  if (first.kind === "thinking") {
    details = h("details", { open: host.isOpen(key, host.showThinking()) }, h("summary", {}, icon("lightbulb"), h("span", { class: "thinking-label" }, "Thinking")), body);
    details.addEventListener("toggle", () => {
      host.setOpen(key, details?.open ?? false);
      update();
    });
    element.append(details);
  } else {
    const copy = (): void => {
      const item = conversation.get(key);
      if (item?.kind === "text") host.copy(item.text);
    };
    actions = h("div", { class: "row-actions" }, iconButton("copy", "Copy answer", copy));
    element.append(body, actions);
  }
  let snip: SnipInfo | undefined | null = null; // not looked at yet
  const update = (): void => {
    const item = conversation.get(key);
    if (item?.kind !== "text" && item?.kind !== "thinking") return;
    element.classList.toggle("streaming", item.streaming);
    element.classList.toggle("error", item.kind === "text" && Boolean(item.error));
    const now = host.snipOf(key);
    if (actions && !item.streaming && now !== snip) {
      snip = now;
      element.classList.toggle("snipped", snip !== undefined);
      element.querySelector(".snip-note")?.remove();
      actions.querySelector(".snip")?.remove();
      if (snip) actions.before(snipNote(snip, host));
      else if (!host.readOnly()) actions.append(snipButton(key, host));
    }
    // A folded thought costs nothing until someone opens it.
    if (details && !details.open) return;
    stream.update(item.text, !item.streaming);
  };
  update();
  return { element, update };
}

function draw(item: Item, host: RowHost): Node[] {
  switch (item.kind) {
    case "user":
      return userRow(item, host);
    case "tool":
      return [toolCard(item, host)];
    case "answered":
      return [
        h(
          "div",
          { class: "small", title: host.short(revealed(item.title)) },
          icon(item.decision === "deny" ? "circle-slash" : "check"),
          ` ${answeredText(item.decision, item.by, item.client)}: ${host.short(revealed(item.title))}`,
        ),
      ];
    case "plan":
      return [h("div", { class: "card" }, h("header", {}, icon("checklist"), h("h3", {}, "Plan")), h("div", { class: "markdown" }, renderMarkdown(item.text, host)))];
    case "notice":
      return [
        h(
          "div",
          { class: `notice ${item.level}`, role: item.level === "error" ? "alert" : "note" },
          icon(item.level === "info" ? "info" : item.level),
          h("span", {}, item.text),
          item.detail ? h("details", {}, h("summary", {}, "Details"), h("div", { class: "markdown" }, renderMarkdown(item.detail))) : null,
        ),
      ];
    case "hook":
      return [hookRow(item)];
    case "end":
      return endRow(item, host);
    default:
      return [];
  }
}

function userRow(item: UserItem, host: RowHost): Node[] {
  const id = item.messageId;
  const snip = id ? host.snipOf(id) : undefined;
  return [
    h(
      "div",
      { class: "bubble", role: "group", "aria-label": "You" },
      h("div", { class: "said" }, item.text),
      item.images.length ? h("div", { class: "shots" }, ...item.images.map((source) => h("img", { src: source, alt: "attached image", class: "shot" }))) : null,
      chips(item, host),
      snip ? snipNote(snip, host) : null,
      item.failed ? h("div", { class: "notice error", role: "alert" }, icon("error"), h("span", {}, item.failed)) : null,
    ),
    h(
      "div",
      { class: "row-actions" },
      iconButton("copy", "Copy message", () => host.copy(item.text)),
      id && !host.readOnly() ? iconButton("edit", "Edit and resend", () => host.edit(item)) : null,
      id && !host.readOnly() ? iconButton("discard", "Rewind to here…", () => host.rewind(id)) : null,
      id ? iconButton("repo-forked", "Fork from here", () => host.fork(id)) : null,
      id && !snip && !host.readOnly() ? snipButton(id, host) : null,
    ),
  ];
}

function snipButton(messageId: string, host: RowHost): HTMLElement {
  return iconButton("eye-closed", "Take out of what the model sees…", () => host.snip(messageId), { class: "icon-button snip" });
}

function snipNote(snip: SnipInfo, host: RowHost): HTMLElement {
  const by = snip.by === "user" ? "Not seen by the model" : "Taken out of the model's view to save room";
  return h("div", { class: "snip-note small" }, icon("eye-closed"), ` ${by} `, host.readOnly() ? null : textButton("Put back", "link", () => host.unsnip(snip.snipId)));
}

/** One quiet line: what ran, how long, how it ended, and whether it changed anything. */
function hookRow(item: HookItem): HTMLElement {
  const good = item.outcome === "success";
  const words = [
    `${item.event} hook`,
    good ? (item.changed ? "changed something" : "ran") : (OUTCOMES[item.outcome] ?? item.outcome),
    item.exitCode ? `exit ${item.exitCode}` : "",
    item.durationMs > 0 ? duration(item.durationMs) : "",
  ].filter(Boolean);
  const line = [icon(good ? "zap" : item.outcome === "blocked" || item.outcome === "prevented" ? "circle-slash" : "warning"), ` ${words.join(" · ")}`];
  if (!item.text) return h("div", { class: `hook-line small ${item.outcome}` }, ...line);
  return h("details", { class: `hook-line small ${item.outcome}`, open: !good }, h("summary", {}, ...line), h("div", { class: "markdown" }, renderMarkdown(item.text)));
}

const OUTCOMES: Record<string, string> = { blocked: "blocked this", prevented: "ended the turn", error: "failed", timeout: "took too long and was stopped" };

/** What came along with the words; until the server has said what it added, what was chosen. */
function chips(item: UserItem, host: RowHost): HTMLElement | null {
  const attached = (item.attached ?? []).map(({ kind, path, adds }) =>
    h("span", { class: "chip attached" }, icon(kind === "context" ? "link" : kind), host.short(path), adds ? h("span", { class: "adds" }, adds) : null),
  );
  const chosen = item.mentions
    .filter((mention) => !(item.attached ?? []).some((each) => each.path === mention.label || decodeURIComponent(mention.uri).endsWith(each.path)))
    .map((mention) => h("span", { class: "chip" }, icon(mention.text === undefined ? "file" : "link"), mention.label ?? shortUri(mention.uri)));
  return attached.length + chosen.length ? h("div", { class: "chips" }, ...attached, ...chosen) : null;
}

/** Several calls that only looked around, as one row with their cards inside. */
export function foldRow(conversation: Conversation, key: string, keys: () => string[], host: RowHost): RowView {
  const element = h("article", { class: "row tool fold", "aria-label": SPOKEN.tool });
  let before = "";
  const update = (): void => {
    const items = keys()
      .flatMap((each) => conversation.get(each) ?? [])
      .filter((item) => item.kind === "tool");
    const drawn = JSON.stringify(items);
    if (drawn === before) return;
    before = drawn;
    const text = foldText(items);
    const running = items.some((item) => item.state === "running" || item.state === "preparing");
    const details = h(
      "details",
      { class: "tool", open: host.isOpen(key, false) },
      h("summary", { "aria-label": text }, icon(running ? "loading codicon-modifier-spin" : "search"), h("span", { class: "tool-title" }, text)),
      h("div", { class: "tool-body" }, ...items.map((item) => toolCard(item, host))),
    );
    details.addEventListener("toggle", () => host.setOpen(key, details.open));
    element.replaceChildren(details);
  };
  update();
  return { element, update };
}

function endRow(item: Extract<Item, { kind: "end" }>, host: RowHost): Node[] {
  const parts = [
    item.summary ? summaryText(item.summary) : "",
    duration(item.durationMs),
    item.costUsd > 0 ? `${money(item.costUsd)} so far` : "",
    item.denials ? `${item.denials} denied` : "",
  ].filter(Boolean);
  const canRetry = host.isLast(item.key) && !host.running() && !host.readOnly();
  if (!item.isError) {
    return [
      h("div", { class: "end" }, h("span", { class: "small" }, parts.join(" · ")), canRetry ? iconButton("refresh", "Try the last message again", () => host.retry()) : null),
    ];
  }
  const stopped = item.terminal.startsWith("aborted");
  const text = stopped ? "Stopped." : item.text || `The turn ended early (${item.terminal.replaceAll("_", " ")}).`;
  return [
    h(
      "div",
      { class: `notice ${stopped ? "info" : "error"}`, role: stopped ? "note" : "alert" },
      icon(stopped ? "debug-stop" : "error"),
      h("span", {}, text),
      h(
        "div",
        { class: "buttons" },
        item.needsKey ? textButton("Set API key", "primary", () => host.run("assent.setApiKey")) : null,
        canRetry ? textButton("Try again", "secondary", () => host.retry()) : null,
      ),
    ),
  ];
}

function answeredText(decision: string, by: string, client?: string): string {
  const word = decision === "deny" ? "Denied" : decision === "allow" ? "Allowed" : "Answered";
  return by === "review" ? `${word} in review` : client ? `${word} in ${client}` : word;
}

function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  const seconds = ms / 1000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

export function shortUri(uri: string): string {
  try {
    return decodeURIComponent(uri).split("/").slice(-1)[0] ?? uri;
  } catch {
    return uri;
  }
}
