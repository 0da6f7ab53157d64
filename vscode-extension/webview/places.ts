/** Places in the workspace that an answer names in passing: paths with or without lines, and symbols in code spans. */

/** A path with a folder, or with a line: `src/a.py`, `a.py:12`, `src/a.py:120-140`, `src/a.py#L3`. */
const PATH = /(?<![\w@/.:~-])((?:\.{0,2}\/)?(?:[\w.@+-]+\/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9})(?:(?::|#L)(\d+)(?:(?:-L?|:)(\d+))?)?(?![\w/])/g;
const SYMBOL = /^[A-Za-z_$][\w$]*(?:(?:\.|::|#)[A-Za-z_$][\w$]*)*(?:\(\))?$/;
const FILE = /\.(?:c|cc|cpp|cs|css|go|h|hpp|html?|java|js|json|jsx|kt|lua|m?[jt]sx?|md|php|py|rb|rs|scss|sh|sql|svelte|swift|toml|ts|tsx|txt|vue|xml|ya?ml)$/i;
const SYMBOL_LENGTH = [3, 80] as const;

export function linkPlaces(root: DocumentFragment): void {
  const document = root.ownerDocument;
  const walker = document.createTreeWalker(root, 4 /* text */);
  const texts: Text[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    if (text.parentElement?.closest("a, pre, .math")) continue;
    const code = text.parentElement?.closest("code") ?? null;
    const parts = placesIn(text.data, code !== null);
    if (parts.some((part) => part.link)) text.replaceWith(...parts.map((part) => (part.link ? link(document, part.text, part.link) : document.createTextNode(part.text))));
    else if (code && isSymbol(text.data)) text.replaceWith(link(document, text.data, `symbol:${text.data.replace(/\(\)$/, "")}`));
  }
}

/** A text cut into words and links; `code`: inside a code span a bare file name counts as well. */
export function placesIn(text: string, code: boolean): { text: string; link?: string }[] {
  const parts: { text: string; link?: string }[] = [];
  let at = 0;
  for (const match of text.matchAll(PATH)) {
    const [whole, path = "", first, last] = match;
    const named = path.includes("/") || first !== undefined || (code && whole === text.trim());
    if (!named || !FILE.test(path)) continue;
    if (match.index > at) parts.push({ text: text.slice(at, match.index) });
    parts.push({ text: whole, link: `${path}${first ? `#L${first}` : ""}${first && last ? `-L${last}` : ""}` });
    at = match.index + whole.length;
  }
  if (at < text.length) parts.push({ text: text.slice(at) });
  return parts;
}

function isSymbol(text: string): boolean {
  const [least, most] = SYMBOL_LENGTH;
  return text.length >= least && text.length <= most && SYMBOL.test(text);
}

function link(document: Document, text: string, target: string): HTMLElement {
  const element = document.createElement("a");
  element.className = target.startsWith("symbol:") ? "place symbol" : "place";
  element.setAttribute("href", "#");
  element.dataset["link"] = target;
  element.title = target.startsWith("symbol:") ? `Go to ${text}` : target;
  element.textContent = text;
  return element;
}
