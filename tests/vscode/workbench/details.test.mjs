// Small promises of the chat that no other scene looks at: what one answer covers, what a time counts, where a word leads.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { scenes, toolResults, until, Workbench } from "./harness.mjs";

const FAR = Array.from({ length: 60 }, (_, at) => `line${at} = ${at}`).join("\n") + "\n";

const bench = new Workbench();
const scene = scenes(bench, "details");
const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const card = () => bench.chat.locator(".card.ask");
const run = (command) => ({ blocks: [{ tool: "Bash", input: { command } }] });

before(async () => {
  bench.write({ "far.py": FAR, "made/here.txt": "", "tools.ts": "export const first = 1;\n\nexport function measureAll(): number {\n  return first;\n}\n" });
  await bench.start();
});
after(() => bench.stop());

scene("two commands in one line are covered by one answer that names both", async () => {
  await bench.newChat();
  await bench.api.script(run("touch made/one.txt && mkdir made/two"), run("touch made/three.txt && mkdir made/four"), { blocks: ["All made."] });
  await bench.say("make them");
  await card().filter({ hasText: "one.txt" }).waitFor();
  assert.deepEqual(await card().locator(".parts code").allTextContents(), ["touch made/one.txt", "mkdir made/two"]);
  const always = card().locator('.answers > .rule-row [data-answer="session"]');
  assert.equal(await always.count(), 1);
  assert.match(await always.textContent(), /touch.*mkdir/);
  await bench.shot("two-commands");
  await always.click();
  await answer("All made."); // the second line asks nothing: both of its commands are covered
  assert.deepEqual(toolResults((await bench.api.calls()).at(-1)).map((result) => result.is_error ?? false), [false, false]);
});

scene("the time of a turn does not count how long a person took to answer", async () => {
  await bench.newChat();
  await bench.api.script(run("touch slow.txt"), { blocks: ["Timed."] });
  const sent = performance.now();
  await bench.say("and wait for me");
  await card().filter({ hasText: "slow.txt" }).waitFor();
  const asked = performance.now();
  // The person is away for twice as long as everything took so far, so that the wait would be seen in the time.
  const away = Math.max(4000, 2 * (asked - sent));
  await until(() => performance.now() - asked > away, "the person to come back");
  const waited = performance.now() - asked;
  await card().locator('[data-answer="once"]').click();
  await answer("Timed.");
  const end = bench.chat.locator(".row.end").last();
  await end.waitFor();
  const whole = performance.now() - sent;
  const text = await end.textContent();
  const said = [...text.matchAll(/(\d+(?:\.\d+)?) (ms|s|min)\b/g)].reduce((sum, [, count, unit]) => sum + Number(count) * { ms: 1, s: 1000, min: 60_000 }[unit], 0);
  assert.ok(said > 0, text);
  assert.ok(said <= whole - waited + 1000, `${said} ms are said; the turn took ${whole} ms, ${waited} of them the person's`);
});

scene("changes far apart in one edit are told apart by a line between them", async () => {
  await bench.newChat();
  await bench.chat.locator("select.mode").selectOption("acceptEdits");
  const edits = [["line3 = 3\n", "line3 = 33\n"], ["line50 = 50\n", "line50 = 55\n"]].map(([old_string, new_string]) => ({ old_string, new_string }));
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "far.py" } }] }, { blocks: [{ tool: "MultiEdit", input: { file_path: "far.py", edits } }] }, { blocks: ["Changed both."] });
  await bench.say("change both");
  await answer("Changed both.");
  const diff = bench.chat.locator(".diff").last();
  await diff.waitFor({ state: "attached" });
  const kinds = await diff.locator("pre > span").evaluateAll((lines) => lines.map((line) => line.className));
  assert.equal(kinds.filter((kind) => kind === "gap").length, 1);
  assert.ok(kinds.indexOf("added") < kinds.indexOf("gap") && kinds.lastIndexOf("added") > kinds.indexOf("gap"), kinds.join(" "));
  await bench.command("Assent: Accept All Hunks");
});

scene("a symbol that an answer names leads to where it is defined", async () => {
  await bench.newChat();
  await bench.openFile("tools.ts");
  await bench.api.script({ blocks: ["It is done by `measureAll()`."] });
  await bench.say("where?");
  const link = bench.chat.locator(".row.text a.place.symbol").filter({ hasText: "measureAll()" });
  await link.waitFor();
  await until(async () => {
    await link.click(); // the editor's own language server may still be reading the file
    await bench.page.locator(".statusbar").filter({ hasText: /Ln 5, Col 2 \(\d+ selected\)/ }).waitFor({ timeout: 8000 });
    return true;
  }, "the definition, selected");
  await bench.page.locator('.tab.active[data-resource-name="tools.ts"]').waitFor();
});

scene("the chat is moved to the secondary side bar, and works there", async () => {
  await bench.command("Assent: Move Chat to Another Side Bar…");
  const row = bench.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "New Secondary Side Bar Entry" }).first();
  await row.waitFor();
  await row.click();
  await bench.page.locator(".part.auxiliarybar").waitFor();
  await bench.chat.locator("body[data-session] textarea.prompt").waitFor();
  await bench.api.script({ blocks: ["From the other side."] });
  await bench.newChat();
  await bench.say("still there?");
  await answer("From the other side.");
  const [bar, box] = [await bench.page.locator(".part.auxiliarybar").boundingBox(), await bench.chat.locator("textarea.prompt").boundingBox()];
  assert.ok(box.x >= bar.x && box.x + box.width <= bar.x + bar.width + 1, JSON.stringify([bar, box]));
  await bench.shot("secondary-side-bar");
});
