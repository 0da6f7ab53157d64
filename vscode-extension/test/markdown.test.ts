import "./dom";
import assert from "node:assert/strict";
import { test } from "node:test";
import { renderMarkdown, stableEnd, StreamingMarkdown } from "../webview/markdown";

const html = (source: string): string => {
  const box = document.createElement("div");
  box.append(renderMarkdown(source));
  return box.innerHTML;
};
const streamed = (source: string, cuts: number[]): { html: string; renders: number } => {
  const box = document.createElement("div");
  const stream = new StreamingMarkdown(box);
  for (const cut of cuts) stream.update(source.slice(0, cut), false);
  stream.update(source, true);
  return { html: box.innerHTML, renders: stream.renders };
};

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<iframe src='https://example.org'></iframe>",
  "[click](javascript:alert(1))",
  "[click](JaVaScRiPt:alert(1))",
  "[click](command:workbench.action.terminal.new)",
  "[click](vscode://publisher.extension/run)",
  "[click](data:text/html;base64,PHNjcmlwdD4=)",
  "[click](file:///etc/passwd)",
  "[click](&#106;avascript:alert(1))",
  "[click](\u0001javascript:alert(1))",
  "![pixel](https://example.org/track.png)",
  "![x](data:image/svg+xml;base64,AAAA)",
  '[a](https://example.org "title\\" onmouseover=alert(1) x=\\"")',
  "<a href='command:x'>x</a>",
  "```html\n<script>alert(1)</script>\n```",
  '```"><img src=x onerror=alert(1)>\ncode\n```',
  "<style>body{display:none}</style>",
  "<svg onload=alert(1)>",
  "<form action='https://example.org'><button>x</button></form>",
  "<math><mtext></mtext><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
];

for (const source of HOSTILE) {
  test(`hostile Markdown stays words: ${source.slice(0, 50).replaceAll("\n", "⏎")}`, () => {
    for (const drawn of [html(source), streamed(source, [3, 9, 17]).html]) {
      const box = document.createElement("div");
      box.innerHTML = drawn;
      for (const element of box.querySelectorAll("*")) {
        assert.ok(!["SCRIPT", "IMG", "IFRAME", "STYLE", "SVG", "FORM", "OBJECT", "BUTTON", "MATH", "LINK", "BASE", "META"].includes(element.tagName.toUpperCase()), drawn);
        for (const attribute of element.attributes) {
          assert.ok(!attribute.name.startsWith("on") && attribute.name !== "style" && attribute.name !== "src", drawn);
          if (attribute.name === "href") assert.equal(attribute.value, "#");
          if (attribute.name === "data-link") assert.match(attribute.value, /^(https?:|mailto:|[^:]*$)/);
        }
      }
    }
  });
}

test("links keep their address for the host and never navigate the page", () => {
  const box = document.createElement("div");
  box.append(renderMarkdown("[docs](https://example.org/a?b=c) and [file](src/a.py#L3)"));
  const links = [...box.querySelectorAll("a")];
  assert.deepEqual(links.map((link) => [link.getAttribute("href"), link.dataset["link"]]), [["#", "https://example.org/a?b=c"], ["#", "src/a.py#L3"]]);
});

const DOCUMENT = `# Title

A paragraph with **bold**, \`code\` and a
second line.

- one
- two
  - nested

  loose text

1. first
2. second

| a | b |
|---|---|
| 1 | 2 |

\`\`\`python
def f():

    return "# not a heading"
\`\`\`

> quote
continues

Setext
======

text
#hashtag is not a heading

    indented code

Last [ref][r].

[r]: https://example.org
`;

test("text that arrives in pieces ends up drawn exactly as when drawn at once", () => {
  const whole = html(DOCUMENT);
  let seed = 7;
  const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647;
  for (let round = 0; round < 40; round += 1) {
    const cuts = Array.from({ length: 1 + Math.floor(random() * 60) }, () => Math.floor(random() * DOCUMENT.length)).sort((a, b) => a - b);
    assert.equal(streamed(DOCUMENT, cuts).html.replaceAll("\n", ""), whole.replaceAll("\n", ""), `cuts ${cuts.join()}`);
  }
  const everyByte = Array.from({ length: DOCUMENT.length }, (_, at) => at);
  assert.equal(streamed(DOCUMENT, everyByte).html.replaceAll("\n", ""), whole.replaceAll("\n", ""));
});

test("a finished block is never drawn again while the next ones grow", () => {
  const box = document.createElement("div");
  const stream = new StreamingMarkdown(box);
  stream.update("First paragraph.\n\nSecond", false);
  stream.update("First paragraph.\n\nSecond grows\n\nThird", false);
  const first = box.firstElementChild;
  for (let at = 0; at < 50; at += 1) stream.update(`First paragraph.\n\nSecond grows\n\nThird${" more".repeat(at)}`, false);
  assert.equal(box.firstElementChild, first);
  assert.equal(box.children.length, 3);
});

test("a half-written line settles nothing", () => {
  assert.equal(stableEnd("text\n#"), 0);
  assert.equal(stableEnd("text\n\n# Head"), 0);
  assert.equal(stableEnd("text\n\n# Head\n"), "text\n\n".length);
  assert.equal(stableEnd("```\na\n\n# b\n"), 0);
});

test("code blocks get their actions with the exact text", () => {
  const seen: [string, string][] = [];
  renderMarkdown("```ts\nconst a = `1 < 2`;\n```", { decorate: (_pre, code, language) => void seen.push([code, language]) });
  assert.deepEqual(seen, [["const a = `1 < 2`;\n", "ts"]]);
});
