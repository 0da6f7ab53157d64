/** A tool call as a card: what it was asked, what it is doing, what came of it, and the change as a diff. */
import type { Json } from "../src/protocol";
import { humanTitle, titleOf } from "../shared/content";
import type { ToolItem } from "../shared/items";
import { fragmentsOf, type Fragment } from "../shared/turnSummary";
import { diffLines, withContext, type DiffLine } from "./diff";
import { h, icon, revealed } from "./dom";

export interface ToolHost {
  openFile(path: string, line?: number): void;
  short(text: string): string;
  isOpen(key: string, fallback: boolean): boolean;
  setOpen(key: string, open: boolean): void;
}

const STATES: Record<ToolItem["state"], { icon: string; label: string }> = {
  preparing: { icon: "loading codicon-modifier-spin", label: "preparing" },
  waiting: { icon: "question", label: "waiting for you" },
  running: { icon: "loading codicon-modifier-spin", label: "running" },
  done: { icon: "check", label: "done" },
  error: { icon: "error", label: "failed" },
  stopped: { icon: "circle-slash", label: "not run" },
};
/** It is written out and its turn has not come: another call may wait for the user. */
const NEXT = { icon: "circle-outline", label: "not started yet" };
const OUTPUT_SHOWN = 12_000;

export function toolCard(item: ToolItem, host: ToolHost): HTMLElement {
  const state = item.state === "preparing" && item.input ? NEXT : STATES[item.state];
  const live = item.state === "running" && (item.progress !== "" || item.children.length > 0);
  const fragments = fragmentsOf(item);
  const edit = fragments[0];
  const open = host.isOpen(item.key, live || item.state === "error" || (edit !== undefined && item.state === "done"));
  const title = host.short(humanTitle(item.tool, item.title || titleOf(item.tool || "tool", item.input)));
  const details = h(
    "details",
    { class: `tool ${item.state}`, open },
    h(
      "summary",
      { "aria-label": `${title}, ${state.label}` },
      h("span", { class: `state codicon codicon-${state.icon}`, "aria-hidden": "true" }),
      h("span", { class: "tool-title" }, revealed(title)),
      h("span", { class: "tool-note" }, note(item)),
    ),
  );
  details.addEventListener("toggle", () => host.setOpen(item.key, details.open));
  const body = h("div", { class: "tool-body" });
  if (edit) body.append(diffView(fragments, edit.path, host));
  else if (item.input) body.append(inputView(item.input, host));
  else if (item.partialJson) body.append(h("pre", { class: "partial" }, item.partialJson.slice(-2000)));
  if (item.children.length > 0) {
    const rows = item.children.slice(-30).map((child) => h("li", { class: child.state }, icon(child.kind === "tool" ? "tools" : "comment"), " ", child.text.slice(0, 400)));
    body.append(h("ul", { class: "children" }, ...rows));
  }
  if (item.state === "running" && item.progress) body.append(outputView("progress", item.progress.slice(-OUTPUT_SHOWN)));
  const output = edit && item.state === "done" ? decisionsIn(item.output) : item.output;
  if (output) body.append(outputView("output", output, item.state === "error"));
  for (const source of item.images) body.append(h("img", { src: source, alt: "image returned by the tool", class: "shot" }));
  details.append(body);
  return details;
}

function note(item: ToolItem): string {
  if (item.state === "waiting") return "waiting for you";
  if (item.state === "stopped") return "not run";
  const time = item.durationMs >= 1000 ? `${(item.durationMs / 1000).toFixed(1)} s` : "";
  return [item.summary.split("\n", 1)[0]?.slice(0, 80) ?? "", time].filter(Boolean).join(" · ");
}

/** What was decided about an edit. The rest of what the model is told, the lines as they are now, stands in the diff. */
function decisionsIn(output: string): string {
  const at = /^(?:Changed|Created) .*\.$/m.exec(output)?.index ?? output.length;
  return output.slice(0, at).trim();
}

/** Of a long output its beginning is shown; where it failed, its end, for that says why. */
function outputView(kind: string, text: string, failed = false): HTMLElement {
  const left = `… ${text.length - OUTPUT_SHOWN} more characters`;
  const shown = text.length <= OUTPUT_SHOWN ? text : failed ? `${left}\n${text.slice(-OUTPUT_SHOWN)}` : `${text.slice(0, OUTPUT_SHOWN)}\n${left}`;
  return h("pre", { class: failed ? `${kind} from-end` : kind, tabindex: 0, role: "group", "aria-label": kind === "progress" ? "progress" : "output" }, shown);
}

function inputView(input: Json, host: ToolHost): HTMLElement {
  const rows = Object.entries(input).map(([name, value]) => {
    const text = revealed(typeof value === "string" ? value : JSON.stringify(value, null, 2));
    const shown = text.length > 4000 ? `${text.slice(0, 4000)}…` : text;
    const cell =
      /^(file_path|notebook_path|path)$/.test(name) && typeof value === "string"
        ? h("button", { type: "button", class: "path-link", onclick: () => host.openFile(value) }, host.short(shown))
        : h(shown.includes("\n") || name === "command" ? "pre" : "span", {}, shown);
    return h("div", { class: "input-row" }, h("span", { class: "input-name" }, name), cell);
  });
  return h("div", { class: "input" }, ...rows);
}

/** Fragments that do not touch are told apart by a line between them. */
export function diffView(fragments: readonly Pick<Fragment, "before" | "after">[], path: string, host: Pick<ToolHost, "openFile" | "short">): HTMLElement {
  const parts = fragments.map(({ before, after }) => diffLines(before, after));
  const counted = (sign: DiffLine["sign"]): number => parts.flat().filter((line) => line.sign === sign).length;
  const added = counted("+");
  const removed = counted("-");
  const shown = parts.flatMap((lines, at) => [...(at > 0 ? [null] : []), ...withContext(lines, 3)]).slice(0, 400);
  return h(
    "div",
    { class: "diff", role: "group", "aria-label": `change of ${path}: ${added} lines added, ${removed} removed` },
    h(
      "div",
      { class: "diff-head" },
      h("button", { type: "button", class: "path-link", onclick: () => host.openFile(path) }, host.short(revealed(path))),
      h("span", { class: "added" }, `+${added}`),
      h("span", { class: "removed" }, `-${removed}`),
    ),
    h("pre", { tabindex: 0, role: "group", "aria-label": "changed lines" }, ...shown.map(diffRow)),
  );
}

function diffRow(line: DiffLine | null): HTMLElement {
  if (line === null) return h("span", { class: "gap" }, "⋯\n");
  const kind = line.sign === "+" ? "added" : line.sign === "-" ? "removed" : "same";
  return h("span", { class: kind }, `${line.sign} ${revealed(line.text)}\n`);
}
