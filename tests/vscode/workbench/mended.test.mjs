// What a new user stumbled over, scene by scene: each of these failed before it was mended.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { becomes, scenes, textOf, toolResults, until, Workbench } from "./harness.mjs";

const FIFTEEN = Array.from({ length: 15 }, (_, at) => [`item${at} = ${at}`, "", "", "", ""].join("\n")).join("\n") + "\n";
const EDITS = Array.from({ length: 15 }, (_, at) => ({ old_string: `item${at} = ${at}\n`, new_string: `item${at} = ${at}.0  # changed by the agent, in a line that is long\n` }));
const QUESTIONS = Array.from({ length: 4 }, (_, at) => ({ header: `Choice ${at}`, question: `Which one of these shall it be, number ${at}?`, multiSelect: at % 2 === 1, options: Array.from({ length: 4 }, (_, option) => ({ label: `Answer ${option}`, description: "with a description that takes more than one line in a narrow view" })) }));
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const bench = new Workbench();
const scene = scenes(bench, "mended");
const lastCall = async () => (await bench.api.calls()).at(-1);
const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const ended = (times = 1) => until(async () => (await bench.chat.locator(".row.end").count()) >= times, `the end of turn ${times}`);
const box = () => bench.chat.locator("textarea.prompt");
const status = () => bench.page.locator(".statusbar-item").filter({ hasText: "Assent" });
const mode = () => bench.chat.locator("select.mode").inputValue();
const read = (name) => ({ blocks: [{ tool: "Read", input: { file_path: name } }] });
const edit = (name, old_string, new_string) => ({ blocks: [{ tool: "Edit", input: { file_path: name, old_string, new_string } }] });
const settings = (value) => {
  mkdirSync(join(bench.home, "config", "assent"), { recursive: true });
  writeFileSync(join(bench.home, "config", "assent", "settings.json"), JSON.stringify(value));
};
const RULE = { permissions: { allow: ["Edit(allowed.py)", "Edit(waits.py)"] } };

before(async () => {
  bench.write({
    "allowed.py": "speed = 1\n",
    "waits.py": "limit = 1\n",
    "many.py": FIFTEEN,
    "resent.py": "colour = 1\n",
    "left.py": "left = 1\n",
    "keys.py": "first = 1\n",
    "src/a.py": Array.from({ length: 200 }, (_, at) => `line${at + 1} = ${at + 1}`).join("\n") + "\n",
    "src/b.py": "b = 1\n",
  });
  writeFileSync(join(bench.folder, "dot.png"), Buffer.from(PIXEL, "base64"));
  settings(RULE);
  await bench.start();
});
after(() => bench.stop());

scene("a key pressed as soon as a file is open is taken", async () => {
  const input = bench.page.locator(".quick-input-widget input[type=text]");
  for (const name of ["keys.py", "left.py", "allowed.py"]) {
    await bench.openFile(name);
    await bench.key("Control+Alt+K");
    await bench.page.locator(".quick-input-widget").filter({ hasText: `change ${name}` }).waitFor();
    await input.press("Escape");
    await bench.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }
});

scene("an edit that a rule allows lands at once and stays marked", async () => {
  await bench.newChat();
  await bench.openFile("allowed.py");
  await bench.api.script(read("allowed.py"), edit("allowed.py", "speed = 1", "speed = 2"), { blocks: ["Landed."] });
  await bench.say("faster");
  await answer("Landed.");
  await until(async () => /speed = 2/.test(await bench.editorText()), "the edit in the buffer");
  await bench.page.locator(".codelens-decoration a").filter({ hasText: "Undo this change" }).waitFor();
  assert.equal(await bench.chat.locator(".card.ask").count(), 0);
  await bench.command("Assent: Accept All Hunks");
  await bench.page.locator(".codelens-decoration a").first().waitFor({ state: "detached" });
});

scene("an edit that waits for its review says so in the chat, the status bar and the badge, and leads there", async () => {
  settings({ ...RULE, review: "before" });
  await bench.newChat();
  await bench.openFile("keys.py");
  await bench.api.script(read("waits.py"), edit("waits.py", "limit = 1", "limit = 2"), { blocks: ["Reviewed."] });
  await bench.say("raise the limit");
  const waiting = bench.chat.locator(".activity").filter({ hasText: "Waiting for your review of one hunk" });
  await waiting.waitFor();
  await status().filter({ hasText: "waits for you" }).waitFor();
  await bench.page.locator('.activitybar .action-item:has([aria-label^="Assent"]) .badge').filter({ hasText: "1" }).waitFor();
  await bench.chat.locator("details.tool.waiting").waitFor();
  await bench.shot("review-waits");
  await waiting.locator('[data-do="review"]').click();
  await bench.reviewing("waits.py");
  await bench.openFile("keys.py");
  await status().click();
  await bench.reviewing("waits.py");
  await bench.key("Control+Alt+Y");
  await answer("Reviewed.");
  await until(async () => !/waits for you/.test(await status().first().textContent()), "nothing to wait for");
  await becomes(() => bench.chat.locator('.activity [data-do="review"]').count(), 0, "no button that leads to the review");
  settings(RULE);
});

scene("mode and cost on the screen are the engine's own: after a plan, in the footer, after a reload", async () => {
  await bench.newChat();
  await bench.chat.locator("select.mode").selectOption("plan");
  const plan = { blocks: [{ tool: "ExitPlanMode", input: { plan: "1. Do it" } }] };
  await bench.api.script(plan, { blocks: ["Then something else."] });
  await bench.say("plan it");
  await bench.chat.locator('.card.ask [data-answer="deny"]').click();
  await answer("Then something else.");
  await ended();
  assert.equal(await mode(), "plan", "a plan that was refused changes nothing");
  await bench.api.script(plan, { blocks: ["Off we go."] });
  await bench.say("plan it again");
  await bench.chat.locator('.card.ask [data-answer="once"]').click();
  await answer("Off we go.");
  await ended(2);
  await until(async () => (await mode()) === "default", "the mode the engine is in");
  const facts = async () => ({
    mode: await mode(),
    cost: await bench.chat.locator("button.cost").textContent(),
    context: await bench.chat.locator("button.meter").getAttribute("aria-label"),
    ends: await bench.chat.locator(".row.end .small").allTextContents(),
  });
  let shown;
  await until(async () => {
    shown = await facts();
    return shown.ends.at(-1).includes(`${shown.cost} so far`);
  }, "the cost under the turn and at the foot to be one");
  assert.match(shown.ends[0], /1 denied/);
  assert.doesNotMatch(shown.ends[1], /denied/, "denials are counted turn by turn");
  await bench.reopen();
  await answer("Off we go.");
  await ended(2);
  await becomes(facts, shown, "the same after a reload");
});

scene("messages that wait when one stops are kept: sent, changed or dropped by hand, and never by themselves", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["Busy.", { hold: "kept" }] });
  await bench.say("first");
  await answer("Busy.");
  for (const text of ["second", "third", "fourth"]) await bench.say(text);
  const queued = bench.chat.locator(".queued");
  await until(async () => (await queued.count()) === 3, "three messages in the queue");
  await bench.chat.locator('button[aria-label="Stop"]').click();
  await until(async () => (await bench.chat.locator(".queued.kept").count()) === 3, "three messages that are kept");
  await ended();
  await bench.shot("kept");
  await bench.api.release("kept");
  await bench.api.forget();
  await bench.api.script({ blocks: ["To the fifth."] });
  await bench.say("fifth");
  await answer("To the fifth.");
  await ended(2);
  assert.equal(await queued.count(), 3, "a next send starts none of them");
  await queued.filter({ hasText: "fourth" }).getByRole("button", { name: "Withdraw" }).click();
  await until(async () => (await queued.count()) === 2, "one to be dropped");
  await bench.api.script({ blocks: ["To the third."] });
  await queued.filter({ hasText: "third" }).getByRole("button", { name: "Send now" }).click();
  await answer("To the third.");
  await ended(3);
  await queued.filter({ hasText: "second" }).getByRole("button", { name: "Take back and edit" }).click();
  await until(async () => (await box().inputValue()) === "second", "its words in the box");
  await box().fill("");
  const said = () => bench.chat.locator(".row.user .said").allTextContents();
  await becomes(said, ["first", "fifth", "third"], "what was sent");
  const history = (await lastCall()).messages.filter((message) => message.role === "user").flatMap((message) => (Array.isArray(message.content) ? message.content.map((block) => block.text ?? "") : [message.content]));
  const places = ["first", "fifth", "third"].map((word) => history.findIndex((text) => text.trim() === word));
  assert.deepEqual(places, [...places].sort((a, b) => a - b), "the order on the screen is the order of the history");
  await bench.reopen();
  await answer("To the third.");
  await becomes(said, ["first", "fifth", "third"], "the same after a reload");
});

/** Buttons of the card that cannot be seen whole, or that something else covers. */
const hiddenButtons = () =>
  bench.chat.locator(".dock .card").evaluate((card) => {
    const problems = [];
    for (const button of card.querySelectorAll("[data-answer]")) {
      const area = button.getBoundingClientRect();
      const dock = card.closest(".dock").getBoundingClientRect();
      const whole = area.top >= Math.max(0, dock.top) && area.bottom <= Math.min(innerHeight, dock.bottom) + 0.5 && area.left >= 0 && area.right <= innerWidth + 0.5;
      const top = document.elementFromPoint(area.left + area.width / 2, area.top + area.height / 2);
      if (!whole || !(top === button || button.contains(top))) problems.push(`${button.dataset.answer} ${Math.round(area.top)}-${Math.round(area.bottom)} of ${Math.round(dock.top)}-${Math.round(dock.bottom)}, ${Math.round(area.right)} of ${innerWidth}`);
    }
    return problems;
  });
const drawn = () => bench.chat.locator("body").evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function everySize(what) {
  for (const [width, height] of [[250, 860], [300, 860], [440, 860], [800, 860], [440, 500], [300, 500], [800, 400], [440, 400], [300, 400], [250, 400]]) {
    await bench.page.setViewportSize({ width: 1360, height: 860 });
    await bench.widen(width); // with the mouse in the middle of the window's usual height
    await bench.page.setViewportSize({ width: 1360, height });
    await drawn();
    await becomes(hiddenButtons, [], `every button at ${width}x${height}`);
    await bench.shot(`${what}-${width}x${height}`);
  }
  await bench.page.setViewportSize({ width: 1360, height: 860 });
  await bench.widen(440);
}

scene("an ask with fifteen hunks shows every answer, however narrow or low the view", async () => {
  await bench.newChat();
  await bench.api.script(read("many.py"), { blocks: [{ tool: "MultiEdit", input: { file_path: "many.py", edits: EDITS } }] }, { blocks: ["Then not."] });
  await bench.say("change all fifteen");
  await bench.chat.locator(".card.ask").waitFor();
  await everySize("ask");
  const card = bench.chat.locator(".card.ask .shown");
  assert.ok(await card.evaluate((element) => element.scrollHeight > element.clientHeight), "what is asked scrolls");
  await bench.chat.locator('.card.ask [data-answer="deny"]').click();
  await answer("Then not.");
});

scene("a form with four questions shows its buttons, however narrow or low the view", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: [{ tool: "AskUserQuestion", input: { questions: QUESTIONS } }] }, { blocks: ["Never mind."] });
  await bench.say("ask me much");
  await bench.chat.locator(".card.elicit").waitFor();
  await everySize("form");
  await bench.chat.locator('.card.elicit [data-answer="decline"]').click();
  await answer("Never mind.");
});

scene("a folder is mentioned with Enter, and what it adds is a list of its files", async () => {
  await bench.newChat();
  await bench.ready();
  await box().click();
  // All at once: each letter alone asks for a list of its own, and the last one would choose its first row again.
  await bench.page.keyboard.insertText("look into @src");
  await bench.chat.locator(".completions li").filter({ hasText: "src/" }).first().waitFor();
  await until(async () => {
    if (await bench.chat.locator(".completions li.chosen").filter({ hasText: /^src\/$/ }).count()) return true;
    await box().press("ArrowDown");
    return false;
  }, "the folder to be chosen");
  await box().press("Enter");
  assert.equal(await box().inputValue(), "look into @src/ ");
  await bench.chat.locator(".completions").waitFor({ state: "hidden" });
  await bench.api.script({ blocks: ["Two files."] });
  await box().press("Enter");
  await answer("Two files.");
  assert.match(JSON.stringify((await lastCall()).messages), /The user mentioned src\/:[^]*src\/a\.py/);
  await bench.chat.locator(".row.user .chip.attached").filter({ hasText: "src/" }).filter({ hasText: "list of 2 files" }).waitFor();
  await bench.shot("folder");
});

scene("a message that is edited and sent again asks about the files that were changed since", async () => {
  await bench.newChat();
  await bench.openFile("resent.py");
  await bench.chat.locator("select.mode").selectOption("acceptEdits");
  await bench.api.script(read("resent.py"), edit("resent.py", "colour = 1", "colour = 2"), { blocks: ["Two."] });
  await bench.say("make it two");
  await answer("Two.");
  await ended();
  await until(async () => /colour = 2/.test(await bench.editorText()), "the edit");
  await bench.chat.locator(".row.user").hover();
  await bench.chat.locator('.row.user button[aria-label="Edit and resend"]').click();
  await until(async () => (await box().inputValue()) === "make it two", "the old words in the box");
  await box().fill("make it three");
  await bench.api.script({ blocks: ["Three, then."] });
  await box().press("Enter");
  const both = bench.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: "Conversation and files" }).first();
  await both.waitFor();
  assert.match(await both.textContent(), /resent\.py/);
  await bench.shot("resend");
  await both.click();
  await answer("Three, then.");
  await until(async () => /colour = 1/.test(await bench.editorText()), "the file as it was");
  await becomes(() => bench.chat.locator(".row.user .said").allTextContents(), ["make it three"], "the new wording alone");
});

scene("a chat that is opened again shows what it showed, and edits of every chat are still under review", async () => {
  await bench.newChat();
  await bench.chat.locator("select.mode").selectOption("acceptEdits");
  await bench.api.script(read("left.py"), edit("left.py", "left = 1", "left = 2"), { blocks: ["Left for later."] });
  await bench.say("change it and leave it");
  await answer("Left for later.");
  await ended();
  await bench.newChat();
  await bench.api.script({ blocks: [{ tool: "Bash", input: { command: "echo one; exit 3", description: "Fail with three" } }, { tool: "Glob", input: { pattern: "src/*.py" } }] }, { blocks: ["It failed."] });
  await bench.say("run it");
  const card = bench.chat.locator(".card.ask");
  await card.waitFor();
  await card.locator('[data-answer="once"]').click();
  await answer("It failed.");
  await ended();
  const seen = async () => ({
    rows: await bench.chat.locator("article.row").evaluateAll((rows) => rows.map((row) => [row.className, (row.querySelector("summary") ?? row).textContent.trim()])),
    again: await bench.chat.locator('button[aria-label="Try the last message again"]').count(),
    cost: await bench.chat.locator("button.cost").textContent(),
  });
  await bench.chat.locator('button[aria-label="Try the last message again"]').waitFor({ state: "attached" });
  const shown = await seen();
  assert.match(JSON.stringify(shown.rows), /exit|3/);
  await bench.shot("before-reload");
  await bench.reopen();
  await answer("It failed.");
  await ended();
  await bench.shot("after-reload");
  await becomes(seen, shown, "the same after a reload");
  const header = bench.page.locator(".pane-header").filter({ hasText: "Review" });
  await header.waitFor();
  if ((await header.getAttribute("aria-expanded")) !== "true") await header.click();
  await bench.page.locator(".pane").filter({ has: header }).locator(".monaco-list-row").filter({ hasText: "left.py" }).first().waitFor();
  await bench.command("Assent: Accept All Hunks");
  await header.waitFor({ state: "detached" });
});

scene("tables, diffs, tasks, images and places of an answer look and work as they should", async () => {
  await bench.newChat();
  const table = "| Module | Lines | What it does |\n|:--|--:|:-:|\n| `core.py` | 3825 | the very heart of the library, with a long description that has to wrap somewhere |\n| `_termui_impl.py` | 970 | progress bar |";
  const diff = "```diff\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-old = 1\n+new = 'a line that is much longer than the side bar is wide, so that it has to scroll to be read'\n```";
  const tasks = "- [x] read it\n- [ ] write it";
  await bench.api.script({ blocks: [`${table}\n\n${diff}\n\n${tasks}\n\nSee src/a.py:120-140 and \`src/b.py\`.\n\n![a dot](dot.png)`] });
  await bench.say("show me");
  await ended();
  const row = bench.chat.locator(".row.text").last();
  const cells = await row.locator("th").evaluateAll((all) => all.map((cell) => [getComputedStyle(cell).textAlign, cell.textContent, Math.round(cell.getBoundingClientRect().height)]));
  assert.deepEqual(cells.map(([side, text]) => [side, text]), [["left", "Module"], ["right", "Lines"], ["center", "What it does"]]);
  assert.ok(cells.every(([, , height]) => height < 40), "no word is broken");
  assert.ok(await row.locator(".table-scroll").evaluate((element) => element.scrollWidth > element.clientWidth), "a wide table scrolls");
  await row.locator("code.painted span").first().waitFor();
  const colours = await row.locator("code.painted span").evaluateAll((lines) => lines.map((line) => [line.className, getComputedStyle(line).backgroundColor]));
  assert.deepEqual(colours.map(([kind]) => kind), ["same", "same", "gap", "removed", "added"]);
  assert.notEqual(colours[3][1], colours[4][1]);
  assert.ok(colours.slice(3).every(([, colour]) => !/, 0\)$|transparent/.test(colour)), JSON.stringify(colours));
  assert.ok(await row.locator(".code pre").evaluate((element) => element.scrollWidth > element.clientWidth), "a long line scrolls");
  for (const [name, kind] of [["Light Modern", ".vs"], ["Dark High Contrast", ".hc-black"], ["Light High Contrast", ".hc-light"], ["Dark Modern", ".vs-dark"]]) {
    await bench.theme(name, kind);
    await drawn();
    const looks = await row.locator("code.painted span").evaluateAll((lines) => lines.slice(-3).map((line) => [getComputedStyle(line).backgroundColor, getComputedStyle(line).outlineStyle, getComputedStyle(line).outlineColor].join(" ")));
    assert.equal(new Set(looks).size, 3, `${name}: ${looks.join(" | ")}`);
    await bench.shot(`markdown-${name.toLowerCase().replaceAll(" ", "-")}`);
  }
  assert.deepEqual(await row.locator(".task").evaluateAll((all) => all.map((each) => [each.textContent, each.getAttribute("aria-label")])), [["☑", "done"], ["☐", "to do"]]);
  await row.locator("a.workspace-image img").waitFor();
  await bench.shot("markdown");
  await row.locator("a.place").filter({ hasText: "src/a.py:120-140" }).click();
  await bench.page.locator('.tab.active[data-resource-name="a.py"]').waitFor();
  await bench.page.locator(".statusbar").filter({ hasText: /Ln 140, Col \d+ \(\d+ selected\)/ }).waitFor();
  await bench.say("/help");
  await bench.chat.locator(".row.text li").filter({ hasText: "/compact" }).waitFor();
  await bench.say("/status");
  await bench.chat.locator(".row.text li").filter({ hasText: "model" }).first().waitFor();
  await bench.shot("help");
});

scene("formulas and diagrams are drawn by what the extension brings along, and only when an answer has them", async () => {
  await bench.newChat();
  const scripts = () => bench.chat.locator("head").evaluate((head) => [...head.ownerDocument.querySelectorAll("script[src]")].map((script) => script.src.split("/").at(-1)));
  await bench.api.script({ blocks: ["Nothing to draw."] });
  await bench.say("words only");
  await answer("Nothing to draw.");
  assert.deepEqual(await scripts(), ["chat.js"]);
  await bench.api.script({ blocks: ["The mean is $\\frac{1}{n}\\sum_i x_i$, so:\n\n$$\nx^2 + y^2 = z^2\n$$\n\n```mermaid\ngraph LR\n  A[Prompt] --> B[Answer]\n```"] });
  await bench.say("draw it");
  await ended(2);
  const row = bench.chat.locator(".row.text").last();
  await row.locator("code.math.drawn math").nth(1).waitFor();
  const size = async () => row.locator("img.diagram").evaluate((image) => image.complete && [image.naturalWidth, image.naturalHeight]);
  await row.locator("img.diagram").waitFor();
  await until(async () => (await size())?.every?.((side) => side > 20), "the diagram to have a size");
  assert.ok((await row.locator("code.math.block math").boundingBox()).width > 40);
  assert.deepEqual((await scripts()).sort(), ["chat.js", "math.js", "mermaid.js"]);
  await row.locator("img.diagram").scrollIntoViewIfNeeded();
  await bench.shot("drawn");
  await bench.api.script({ blocks: ["A broken one:\n\n```mermaid\ngraph LR\n  A[[[\n```\n\nand $\\notacommand{$"] });
  await bench.say("now badly");
  await ended(3);
  await bench.chat.locator(".row.text").last().locator("pre").filter({ hasText: "A[[[" }).waitFor();
});
