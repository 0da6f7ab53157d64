/**
 * Model text to safe DOM. Markdown without HTML, then a sanitiser with a short list of what may pass:
 * two independent walls, because what the model says may come from a hostile file or page.
 *
 * `StreamingMarkdown` renders a growing text by redoing only its last top-level block.
 */
import DOMPurify from "dompurify";
import hljs from "highlight.js/lib/common";
import MarkdownIt from "markdown-it";
import { paintDiff } from "./diff";
import { mathSyntax } from "./mathSyntax";
import { linkPlaces } from "./places";

const md = new MarkdownIt({ html: false, linkify: true, breaks: false, highlight: (code, language) => highlight(code, language) });
// Only addresses a person could have typed: no command:, javascript:, data:, vscode: or file: links.
md.validateLink = (url) => /^(https?:|mailto:)/i.test(url.trim()) || isRelativePath(url);
md.use(mathSyntax);
// Remote images would tell a stranger that this was read; an image becomes a link to itself.
// One of the workspace is shown: the host reads it and hands it over.
md.renderer.rules["image"] = (tokens, at) => {
  const token = tokens[at];
  const source = String(token?.attrGet("src") ?? "");
  const label = escape(token?.content || source);
  if (/^https?:/i.test(source)) return `<a href="${escape(source)}">${label}</a>`;
  return isRelativePath(source) && /\.(png|jpe?g|gif|webp)$/i.test(source) ? `<a class="workspace-image" href="${escape(source)}">${label}</a>` : label;
};
// The alignment of a column as a class: the page takes no style attributes.
for (const name of ["th_open", "td_open"]) {
  md.renderer.rules[name] = (tokens, at) => {
    const side = /text-align:(left|center|right)/.exec(String(tokens[at]?.attrGet("style") ?? ""))?.[1];
    return `<${name.slice(0, 2)}${side ? ` class="align-${side}"` : ""}>`;
  };
}

const ALLOWED = {
  ALLOWED_TAGS: [
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
  ],
  ALLOWED_ATTR: ["href", "title", "class", "start", "align"],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|[^a-z]|[a-z0-9._/-]+(?:[^a-z0-9.+:-]|$))/i,
  RETURN_DOM_FRAGMENT: true,
} as const;

/** What the page does with parts of an answer besides showing them. */
export interface CodeActions {
  /** Puts "copy", "insert" and "apply" over a code block. */
  decorate(pre: HTMLElement, code: string, language: string): void;
  /** Shows an image of the workspace in the place of its link. */
  image?(link: HTMLElement, path: string): void;
  /** Draws a formula or a diagram in the place of its source. */
  math?(element: HTMLElement): void;
  diagram?(pre: HTMLElement, source: string): void;
}

export function renderMarkdown(source: string, actions?: CodeActions): DocumentFragment {
  const fragment = sanitize(md.render(source));
  finish(fragment, actions);
  return fragment;
}

export class StreamingMarkdown {
  private source = "";
  private committed = 0; // characters whose rendering is final
  private tail: ChildNode[] = [];
  private rendered = ""; // the tail's source as last drawn
  private closed = false;
  /** How many blocks were rendered since the start; tests and the benchmark read it. */
  renders = 0;

  constructor(
    private readonly root: HTMLElement,
    private readonly actions?: CodeActions,
  ) {}

  update(source: string, done: boolean): void {
    if (!source.startsWith(this.source)) this.reset();
    const grownLine = source.indexOf("\n", this.source.length) >= 0;
    this.source = source;
    this.closed = done;
    if (grownLine && !done) {
      const tail = source.slice(this.committed);
      const stable = stableEnd(tail);
      if (stable > 0) {
        this.draw(tail.slice(0, stable), true);
        this.committed += stable;
        this.tail = [];
        this.rendered = "";
      }
    }
    const tail = source.slice(this.committed);
    if (done) this.finishTail(tail);
    else if (tail !== this.rendered) this.draw(tail, false);
  }

  /** A definition may come after its use; then only the whole text gives the right links. */
  private finishTail(tail: string): void {
    const env: { references?: Record<string, never> } = {};
    if (this.committed > 0 && /^ {0,3}\[[^\]]+\]:/m.test(this.source)) md.parse(this.source, env);
    if (Object.keys(env.references ?? {}).length > 0) {
      this.root.replaceChildren();
      this.tail = [];
      this.committed = 0;
      this.draw(this.source, true);
    } else {
      this.draw(tail, true);
    }
    this.committed = this.source.length;
    this.tail = [];
    this.rendered = "";
  }

  private draw(source: string, final: boolean): void {
    this.renders += 1;
    for (const node of this.tail) node.remove();
    highlightLimit = final ? HIGHLIGHT_LIMIT : STREAMING_HIGHLIGHT_LIMIT;
    const fragment = sanitize(md.render(source));
    highlightLimit = HIGHLIGHT_LIMIT;
    finish(fragment, final ? this.actions : undefined);
    this.tail = [...fragment.childNodes];
    this.root.append(fragment);
    this.rendered = source;
  }

  private reset(): void {
    this.root.replaceChildren();
    this.source = "";
    this.committed = 0;
    this.tail = [];
    this.rendered = "";
  }

  get isClosed(): boolean {
    return this.closed;
  }
}

/**
 * Where the last top-level block begins: what is before can no longer change. Only whole lines count,
 * for a half-written line may yet turn into a continuation of the block before it.
 */
export function stableEnd(source: string): number {
  const lines = source.slice(0, source.lastIndexOf("\n") + 1);
  let last = 0;
  for (const token of md.parse(lines, {})) {
    if (token.level === 0 && token.map && token.nesting !== -1) last = token.map[0];
  }
  return offsetOfLine(source, last);
}

function offsetOfLine(source: string, line: number): number {
  let at = 0;
  for (let seen = 0; seen < line; seen += 1) at = source.indexOf("\n", at) + 1;
  return at;
}

function sanitize(html: string): DocumentFragment {
  return DOMPurify.sanitize(html, { ...ALLOWED, ALLOWED_TAGS: [...ALLOWED.ALLOWED_TAGS], ALLOWED_ATTR: [...ALLOWED.ALLOWED_ATTR] });
}

function finish(fragment: DocumentFragment, actions: CodeActions | undefined): void {
  for (const link of fragment.querySelectorAll("a")) {
    // The page never navigates; the host decides what a click opens.
    link.dataset["link"] = link.getAttribute("href") ?? "";
    link.setAttribute("href", "#");
    link.title = link.dataset["link"] ?? "";
  }
  linkPlaces(fragment);
  markTasks(fragment);
  for (const code of fragment.querySelectorAll<HTMLElement>("pre > code.language-diff, pre > code.language-patch")) paintDiff(code);
  for (const table of fragment.querySelectorAll("table")) {
    const scroll = table.ownerDocument.createElement("div");
    scroll.className = "table-scroll";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", "table");
    table.replaceWith(scroll);
    scroll.append(table);
  }
  if (!actions) return;
  for (const link of fragment.querySelectorAll<HTMLElement>("a.workspace-image")) actions.image?.(link, link.dataset["link"] ?? "");
  for (const element of fragment.querySelectorAll<HTMLElement>("code.math")) actions.math?.(element);
  for (const pre of fragment.querySelectorAll("pre")) {
    const code = pre.querySelector("code");
    const language = /language-([\w+#-]+)/.exec(code?.className ?? "")?.[1] ?? "";
    const source = code?.textContent ?? "";
    actions.decorate(pre, source, language);
    if (language === "mermaid") actions.diagram?.(pre, source);
  }
}

/** `- [x] done`: the box is a character of its own, so it is told without colour and read aloud. */
function markTasks(fragment: DocumentFragment): void {
  for (const item of fragment.querySelectorAll("li")) {
    const paragraph = [...item.childNodes].find((node) => node.textContent?.trim());
    const start = paragraph?.nodeName === "P" ? paragraph.firstChild : paragraph;
    const mark = start?.nodeType === 3 ? /^\s*\[([ xX])\]\s+/.exec(start.textContent ?? "") : null;
    if (!start || !mark) continue;
    start.textContent = (start.textContent ?? "").slice(mark[0].length);
    const done = mark[1] !== " ";
    const box = item.ownerDocument.createElement("span");
    box.className = "task";
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", done ? "done" : "to do");
    box.textContent = done ? "☑" : "☐";
    start.before(box, " ");
    item.classList.add("task-item");
  }
}

const HIGHLIGHT_LIMIT = 60_000;
const STREAMING_HIGHLIGHT_LIMIT = 3_000; // a block still being written is coloured again on every frame
let highlightLimit = HIGHLIGHT_LIMIT;

function highlight(code: string, language: string): string {
  if (!language || code.length > highlightLimit || !hljs.getLanguage(language)) return "";
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

export function highlightInto(element: HTMLElement, code: string, language: string): void {
  const html = highlight(code, language);
  if (html) element.replaceChildren(sanitize(html));
  else element.textContent = code;
}

function isRelativePath(url: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:/i.test(url.trim()) && !url.trim().startsWith("//");
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
