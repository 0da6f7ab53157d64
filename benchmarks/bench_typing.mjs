// Types into three windows in turn: no extension, the extension at rest, and a file with 30 hunks under review. For each key the time
// from its arrival to the end of the frame that shows it. The browser draws as fast as it can, so that a frame's length hides nothing.
// Prints one JSON object.
import { createRequire } from "node:module";
import { join } from "node:path";
import { until, Workbench } from "../tests/vscode/workbench/harness.mjs";

const ROUNDS = Number(process.env.ASSENT_BENCH_ROUNDS ?? 12);
const KEYS = 40;
const PAUSE_MS = 40;
const HUNKS = 30;
const TEXT = Array.from({ length: HUNKS }, (_, at) => `value${at} = ${at}\n${`# line of block ${at}\n`.repeat(9)}`).join("");
const { chromium } = createRequire(join(process.env.ASSENT_VSCODE_CACHE, "playwright/"))("playwright-core");
// What the editor itself does with a key must not depend on what was typed before.
const settings = { "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" }, "editor.wordBasedSuggestions": "off", "editor.occurrencesHighlight": "off", "files.autoSave": "off" };

/** The same workbench without our extension. */
class Bare extends Workbench {
  async openChat() {}
  async installPackage() {}
}

const withUs = new Workbench();
const without = new Bare();
for (const bench of [withUs, without]) bench.write({ "typed.py": TEXT, "calm.py": TEXT });
try {
  await without.start({ settings, vsix: "none" });
  await withUs.start({ settings });
  for (const bench of [withUs, without]) await bench.browser.close(); // the windows that are measured are opened below
  const browser = await chromium.launch({ executablePath: process.env.ASSENT_CHROMIUM, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-frame-rate-limit", "--disable-gpu-vsync", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows"] });
  const places = { bare: await place(browser, without, "typed.py"), idle: await place(browser, withUs, "calm.py") };
  places.review = await place(browser, withUs, "typed.py");
  await underReview(withUs);
  for (const each of Object.values(places)) await line(each.page);
  const found = Object.fromEntries(Object.keys(places).map((name) => [name, { times: [], work: [] }]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, each] of Object.entries(places)) {
      const { times, work } = await type(each);
      console.error(`round ${round} of ${ROUNDS}, ${name}: ${share(times, 0.5).toFixed(1)} ms a key`);
      if (round === 0) continue; // warm-up
      found[name].times.push(...times);
      found[name].work.push(work);
    }
  }
  await browser.close();
  console.log(JSON.stringify(Object.fromEntries(Object.entries(found).map(([name, { times, work }]) => [name, { p50: share(times, 0.5), p95: share(times, 0.95), work: share(work, 0.5), keys: times.length }]))));
} finally {
  await withUs.stop();
  await without.stop();
}

/** A window of its own with the file open, and a clock in it. */
async function place(browser, bench, name) {
  bench.context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
  bench.context.setDefaultTimeout(150_000);
  const page = await bench.openWindow();
  await bench.openFile(name);
  await page.evaluate(() => {
    globalThis.assentTimes = [];
    document.addEventListener("keydown", (event) => {
      const began = event.timeStamp;
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => globalThis.assentTimes.push(performance.now() - began);
      requestAnimationFrame(() => port2.postMessage(0)); // taken after the frame that the key brought about
    }, { capture: true });
  });
  const session = await bench.context.newCDPSession(page);
  await session.send("Performance.enable");
  return { page, session };
}

async function underReview(bench) {
  const edits = Array.from({ length: HUNKS }, (_, at) => ({ old_string: `value${at} = ${at}\n`, new_string: `value${at} = ${at}.5\n` }));
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "typed.py" } }] }, { blocks: [{ tool: "MultiEdit", input: { file_path: "typed.py", edits } }] });
  await bench.say("make them floats");
  await until(async () => (await bench.lens("Accept").count()) > 2, "the hunks in the file");
}

/** The keyboard at the end of a line in the middle of the file, between two hunks. */
async function line(page) {
  await page.bringToFront();
  await page.locator(".editor-group-container.active .editor-instance .view-lines").first().click();
  await page.keyboard.press("Control+G");
  await page.keyboard.type("155");
  await page.keyboard.press("Enter");
  await page.locator(".statusbar").filter({ hasText: "Ln 155" }).waitFor();
  await page.keyboard.press("End");
}

async function type({ page, session }) {
  await page.bringToFront();
  const busy = async () => (await session.send("Performance.getMetrics")).metrics.find((each) => each.name === "TaskDuration").value * 1000;
  await page.evaluate(() => (globalThis.assentTimes.length = 0));
  const before = await busy();
  for (let key = 0; key < KEYS; key += 1) {
    await page.keyboard.press("x");
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
  await until(() => page.evaluate((keys) => globalThis.assentTimes.length >= keys, KEYS), "every key to be shown");
  const times = await page.evaluate(() => [...globalThis.assentTimes]);
  const work = ((await busy()) - before) / KEYS;
  await page.keyboard.press("Enter");
  return { times, work };
}

function share(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}
