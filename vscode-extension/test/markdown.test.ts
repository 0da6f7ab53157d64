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
  assert.deepEqual(
    links.map((link) => [link.getAttribute("href"), link.dataset["link"]]),
    [
      ["#", "https://example.org/a?b=c"],
      ["#", "src/a.py#L3"],
    ],
  );
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

test("columns keep their alignment, without a style attribute", () => {
  const drawn = html("| a | b | c |\n|:--|--:|:-:|\n| 1 | 2 | 3 |");
  assert.deepEqual(
    [...drawn.matchAll(/<t[hd] class="([\w-]+)"/g)].map((match) => match[1]),
    ["align-left", "align-right", "align-center", "align-left", "align-right", "align-center"],
  );
  assert.doesNotMatch(drawn, /style=/);
});

test("a diff that the model wrote is painted line by line", () => {
  const box = document.createElement("div");
  box.append(renderMarkdown("```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+<b>new</b>\n same\n```"));
  assert.deepEqual(
    [...box.querySelectorAll("code.painted > span")].map((line) => [line.className, line.textContent]),
    [
      ["same", "--- a/x\n"],
      ["same", "+++ b/x\n"],
      ["gap", "@@ -1 +1 @@\n"],
      ["removed", "-old\n"],
      ["added", "+<b>new</b>\n"],
      ["same", " same\n"],
    ],
  );
});

test("task lists show a box that is read aloud, and other lists stay as they are", () => {
  const box = document.createElement("div");
  box.append(renderMarkdown("- [x] done\n- [ ] open\n- [link](https://example.org)\n- plain\n\n1. [X] loose\n\n2. two"));
  assert.deepEqual(
    [...box.querySelectorAll("li")].map((item) => [item.querySelector(".task")?.getAttribute("aria-label") ?? "", item.textContent?.trim()]),
    [
      ["done", "☑ done"],
      ["to do", "☐ open"],
      ["", "link"],
      ["", "plain"],
      ["done", "☑ loose"],
      ["", "two"],
    ],
  );
});

test("places in the workspace become links with their lines; versions, hosts and prose do not", () => {
  const links = (source: string): string[] => {
    const box = document.createElement("div");
    box.append(renderMarkdown(source));
    return [...box.querySelectorAll<HTMLElement>("a.place")].map((link) => link.dataset["link"] ?? "");
  };
  assert.deepEqual(links("see src/a.py:120-140, src/b/c.ts, utils.py:10 and (lib/x.go#L3)."), ["src/a.py#L120-L140", "src/b/c.ts", "utils.py#L10", "lib/x.go#L3"]);
  assert.deepEqual(links("`src/click/types.py:33` and `core.py` and `mean()` and `ls -la`"), ["src/click/types.py#L33", "core.py", "symbol:mean"]);
  assert.deepEqual(links("e.g. version 1.5.2 of example.org, i.e. a/b or and/or, 10:30, Node.js"), []);
  assert.deepEqual(links("[named](src/a.py) https://example.org/x.py"), []);
  assert.deepEqual(links("```\nsrc/a.py:1\n```"), []);
});

test("an image of the workspace is asked of the host, one of the web is only a link", () => {
  const asked: string[] = [];
  const box = document.createElement("div");
  box.append(
    renderMarkdown("![plot](out/plot.png) ![web](https://example.org/x.png) ![data](data:image/png;base64,AA) ![up](script.js)", {
      decorate: () => undefined,
      image: (_link, path) => void asked.push(path),
    }),
  );
  assert.deepEqual(asked, ["out/plot.png"]);
  assert.equal(box.querySelectorAll("img").length, 0);
});

test("formulas are found, money and code are not", () => {
  const found = (source: string): string[] => {
    const box = document.createElement("div");
    box.append(renderMarkdown(source));
    return [...box.querySelectorAll("code.math")].map((each) => `${each.classList.contains("block") ? "block" : "inline"} ${each.textContent}`);
  };
  assert.deepEqual(found("so $a_1^2 + b$ and \\(x < y\\), then\n\n$$\n\\frac{1}{2}\n$$\n\n\\[ e = mc^2 \\]"), [
    "inline a_1^2 + b",
    "inline x < y",
    "block \\frac{1}{2}",
    "block e = mc^2",
  ]);
  assert.deepEqual(found("it costs $5 or $6, `$x$`, 2$ and 3$, \\$a\\$ and $ x $"), []);
  assert.doesNotMatch(html("$<img src=x onerror=alert(1)>$"), /<img/);
});
