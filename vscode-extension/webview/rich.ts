/**
 * Formulas and diagrams of an answer. What draws them is big, so it is loaded when the first one is there, from the
 * extension's own folder and under the page's own policy; until then, and when it cannot be drawn, its source is shown.
 *
 * A formula becomes MathML, which passes the sanitiser. A diagram is shown as an image: no script and no style of it can
 * reach the page.
 */
import DOMPurify from "dompurify";
import { h } from "./dom";

interface Katex {
  renderToString(source: string, options: Record<string, unknown>): string;
}

interface Mermaid {
  initialize(options: Record<string, unknown>): void;
  render(id: string, source: string): Promise<{ svg: string }>;
}

const LONGEST = 20_000; // characters of one source

/** The page's own script: others come from the same folder and carry the same mark. */
const own = document.currentScript as HTMLScriptElement | null;
const loading = new Map<string, Promise<unknown>>();
let diagrams = 0;

export function drawMath(element: HTMLElement): void {
  const source = element.textContent ?? "";
  if (source.length > LONGEST) return;
  const displayMode = element.classList.contains("block");
  void load<Katex>("math.js", "katex").then(
    (katex) => {
      const drawn = katex.renderToString(source, { output: "mathml", displayMode, throwOnError: false, trust: false, maxExpand: 200 });
      const safe = DOMPurify.sanitize(drawn, { USE_PROFILES: { mathMl: true }, RETURN_DOM_FRAGMENT: true });
      const math = safe.querySelector("math");
      if (!math) return;
      math.setAttribute("aria-label", source);
      element.classList.add("drawn");
      element.replaceChildren(math);
    },
    () => undefined,
  );
}

export function drawDiagram(pre: HTMLElement, source: string): void {
  if (source.length > LONGEST) return;
  void load<Mermaid>("mermaid.js", "mermaid")
    .then(async (mermaid) => {
      const dark = !document.body.matches(".vscode-light, .vscode-high-contrast-light");
      mermaid.initialize({
        startOnLoad: false,
        securityLevel: "strict",
        htmlLabels: false,
        flowchart: { htmlLabels: false },
        theme: dark ? "dark" : "default",
        fontFamily: "sans-serif",
        maxTextSize: LONGEST,
      });
      const { svg } = await mermaid.render(`diagram-${(diagrams += 1)}`, source);
      const image = h("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(sized(svg))}`, alt: `Diagram: ${source.split("\n", 1)[0]}`, class: "diagram" });
      const shown = h("details", { class: "diagram-source" }, h("summary", { class: "small" }, "Source"));
      pre.replaceWith(h("div", { class: "diagram-box", tabindex: 0, role: "group", "aria-label": "diagram" }, image), shown);
      shown.append(pre);
    })
    .catch(() => undefined);
}

/** An image has no room to fill: its size is that of the drawing. */
function sized(svg: string): string {
  const box = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg);
  return box ? svg.replace(/ width="100%"/, ` width="${Math.ceil(Number(box[1]))}" height="${Math.ceil(Number(box[2]))}"`) : svg;
}

function load<T>(file: string, name: string): Promise<T> {
  const known = loading.get(file) as Promise<T> | undefined;
  if (known) return known;
  const work = new Promise<T>((resolve, reject) => {
    if (!own) return reject(new Error("the page has no script of its own"));
    const script = document.createElement("script");
    script.nonce = own.nonce;
    script.src = own.src.replace(/[^/]+$/, file);
    script.addEventListener("load", () => resolve((window as unknown as Record<string, T>)[name] as T));
    script.addEventListener("error", () => reject(new Error(`${file} could not be loaded`)));
    document.head.append(script);
  });
  loading.set(file, work);
  return work;
}
