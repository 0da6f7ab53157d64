// Frame times and memory of the chat page, in headless Chromium: 200 deltas a second into a conversation of
// 2,000 messages, and of 10,000. Prints one JSON object. The floor is a bare page that appends the same text to one element.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [cache, scratch, chromiumPath] = process.argv.slice(2);
const root = resolve(fileURLToPath(import.meta.url), "../..");
const media = join(root, "vscode-extension/dist/media");
const { chromium } = createRequire(join(cache, "playwright/"))("playwright-core");
const RATE = 200;
const SECONDS = 6;

const page = (body) => `<!DOCTYPE html><html><head><meta charset="utf-8"><link rel="stylesheet" href="${pathToFileURL(media)}/codicon.css"><link rel="stylesheet" href="${pathToFileURL(media)}/chat.css"></head><body data-kind="view">${body}</body></html>`;
const stub = "<script>window.acquireVsCodeApi = () => ({ postMessage() {}, getState() {}, setState() {} });</script>";
writeFileSync(join(scratch, "chat.html"), page(`${stub}<script src="${pathToFileURL(media)}/chat.js"></script>`));
writeFileSync(join(scratch, "bare.html"), page('<div id="out" style="overflow:auto;height:100vh"></div>'));
readFileSync(join(media, "chat.js"));

const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info", "--js-flags=--expose-gc"] });
const results = {};
for (const [name, kind, MESSAGES] of [["bare", "bare", 0], ["chat", "chat", 2000], ["long", "chat", 10_000]]) {
  const tab = await browser.newPage({ viewport: { width: 420, height: 800 } });
  await tab.goto(pathToFileURL(join(scratch, `${kind}.html`)).href);
  results[name] = await tab.evaluate(measure, { kind, MESSAGES, RATE, SECONDS });
  await tab.close();
}
await browser.close();
console.log(JSON.stringify(results));

async function measure({ kind, MESSAGES, RATE, SECONDS }) {
  const words = "The loop reads **one** answer at a time, `runs` its tools, and goes on. ";
  const post = (message) => window.dispatchEvent(new MessageEvent("message", { data: message }));
  const memory = () => (globalThis.gc?.(), performance.memory.usedJSHeapSize / 1048576);
  const empty = memory();
  const loaded = performance.now();
  if (kind === "chat") {
    const items = [];
    for (let at = 0; at < MESSAGES; at += 1) {
      if (at % 3 === 0) items.push({ kind: "user", key: `u${at}`, text: `Question ${at}`, images: [], mentions: [], messageId: `u${at}` });
      else if (at % 3 === 1) items.push({ kind: "tool", key: `t${at}`, tool: "Read", title: `Read file${at}.py`, input: { file_path: `file${at}.py` }, partialJson: "", progress: "", state: "done", summary: "20 lines", output: "x\n".repeat(20), images: [], durationMs: 5, children: [] });
      else items.push({ kind: "text", key: `a${at}`, text: `${words.repeat(4)}\n\n- one\n- two\n\n\`\`\`python\ndef f(x):\n    return x\n\`\`\`\n`, streaming: false });
    }
    const data = { sessionId: "s", title: "", items, queue: [], asks: [], elicits: [], reviews: [], snips: [], proposals: [], todos: [], plan: null, usage: null, state: "running", running: true, interrupted: false, readOnly: null, retrying: null, model: "m", mode: "default", olderCursor: null, connected: true, serial: 0 };
    post({ type: "snapshot", data, serial: 0 });
  }
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const shown = performance.now() - loaded;
  const frames = [];
  let running = true;
  let last = performance.now();
  const tick = (now) => {
    frames.push(now - last);
    last = now;
    if (running) requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  let busy = 0;
  let sent = 0;
  const out = document.getElementById("out");
  const begun = performance.now();
  await new Promise((done) => {
    const timer = setInterval(() => {
      const due = Math.min(RATE * SECONDS, Math.floor(((performance.now() - begun) / 1000) * RATE));
      const start = performance.now();
      for (; sent < due; sent += 1) {
        const text = sent % 40 === 39 ? "\n\n" : words.slice((sent * 7) % 60, ((sent * 7) % 60) + 9);
        if (kind === "chat") post({ type: "actions", serial: sent + 1, actions: [{ type: "event", params: { sessionId: "s", seq: sent + 1, event: { type: "textDelta", blockId: "live", text } } }] });
        else out.append(text);
      }
      busy += performance.now() - start;
      if (sent >= RATE * SECONDS) {
        clearInterval(timer);
        done();
      }
    }, 5);
  });
  running = false;
  frames.sort((a, b) => a - b);
  const at = (share) => frames[Math.min(frames.length - 1, Math.floor(frames.length * share))];
  return { shownMs: shown, p50: at(0.5), p95: at(0.95), p99: at(0.99), busyShare: busy / (performance.now() - begun), heapMb: memory() - empty, rows: document.querySelectorAll("article").length, sent };
}
