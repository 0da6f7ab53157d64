// The extension in the real workbench, end to end: editor, extension host, our server, a strict fake model API.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { becomes, says, scenes, textOf, toolResults, until, Workbench } from "./harness.mjs";

const STATS = `"""Small statistics helpers."""


def mean(values):
    total = 0.0
    count = 0
    for v in values:
        total += v
        count += 1
    return total / count


def spread(values):
    low = min(values)
    high = max(values)
    return high - low
`;
const EDITS = [
  { old_string: "    return total / count\n", new_string: "    if count == 0:\n        return 0.0\n    return total / count\n" },
  { old_string: "    return high - low\n", new_string: "    return abs(high - low)\n" },
];
const READ = (name) => ({ blocks: [{ tool: "Read", input: { file_path: name } }] });

const THEME = ":root { --accent: red; }\na { color: var(--accent); }\nb{color:var(--accent)}\n";

const BULB = '.editor-instance [class*="codicon-light-bulb"], .editor-instance [class*="codicon-lightbulb"], .editor-instance [class*="gutter-lightbulb"]';

const bench = new Workbench();

before(async () => {
  bench.write({ "stats.py": STATS, "notes.md": "# Notes\n", "undone.py": "count = 1\n", "keys.py": "# numbers\none = 1\n\n\n\ntwo = 2\n", "after.py": "slow = True\n", "broken.json": '{\n  "answer": \n}\n', "theme.css": THEME, "first.py": "one = 1\n", "second.py": "two = 2\n", "typed.txt": "" });
  await bench.start();
});
after(() => bench.stop());

const readSettings = () => [".assent/settings.json", ".assent/settings.local.json"].map((name) => (existsSync(join(bench.folder, name)) ? bench.read(name) : "")).join();
const scene = scenes(bench, "main");
const lastCall = async () => (await bench.api.calls()).at(-1);
const ended = () => bench.chat.locator(".row.end").last().waitFor();

scene("a question in the chat is answered with formatted text", async () => {
  await bench.api.script({ blocks: [{ thinking: "The user wants a function." }, "Here you **are**:\n\n```python\ndef add(a, b):\n    return a + b\n```\n\n- short\n- tested"] });
  await bench.say("Write me an add function");
  await ended();
  const row = bench.chat.locator(".row.text").last();
  assert.equal(await row.locator("strong").textContent(), "are");
  assert.match(await row.locator("pre code").textContent(), /def add\(a, b\)/);
  assert.equal(await bench.chat.locator(".row.thinking details[open]").count(), 0);
  await row.locator('button[aria-label="Copy code"]').waitFor({ state: "attached" });
  await bench.shot("chat");
});

scene("an answer grows without redrawing what is there, and ten thousand messages cost a screenful", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: [{ text: "The first paragraph stays.\n\n- one\n- two\n\nThe last", piece: 5 }, { hold: "grow" }, { text: " of all.", piece: 3 }] });
  await bench.say("slowly, please");
  const row = bench.chat.locator(".row.text").first();
  await row.locator("li").nth(1).waitFor();
  const kept = await row.locator("p").first().evaluateHandle((element) => element);
  await bench.api.release("grow");
  await ended();
  assert.equal(await row.locator("p").first().evaluate((element, before) => element === before, kept), true);
  assert.equal(await bench.chat.locator("body").getAttribute("data-session").then(Boolean), true);

  await bench.chat.locator("textarea.prompt").evaluate(() => {
    const items = Array.from({ length: 10_000 }, (_, at) => (at % 2 ? { kind: "text", key: `t${at}`, text: `Answer **${at}**`, streaming: false } : { kind: "user", key: `u${at}`, text: `Question ${at}`, images: [], mentions: [], messageId: `u${at}` }));
    const data = { sessionId: "long", title: "", items, snips: [], queue: [], asks: [], elicits: [], reviews: [], proposals: [], todos: [], plan: null, usage: null, state: "idle", running: false, interrupted: false, readOnly: null, retrying: null, model: "m", mode: "default", olderCursor: null, connected: true, serial: 0 };
    window.dispatchEvent(new MessageEvent("message", { data: { type: "snapshot", data, serial: 1_000_000 } }));
  });
  await bench.chat.locator(".row.text").filter({ hasText: "Answer 9999" }).waitFor();
  assert.ok((await bench.chat.locator("article").count()) < 80);
  assert.equal(await bench.chat.locator("article").last().getAttribute("aria-setsize"), "10000");
  await bench.chat.locator(".transcript").evaluate((element) => (element.scrollTop = 0));
  await bench.chat.locator(".row.user").filter({ hasText: /^Question 0$/ }).waitFor();
  assert.ok((await bench.chat.locator("article").count()) < 80);
  await bench.chat.locator(".jump").click();
  await bench.chat.locator(".row.text").filter({ hasText: "Answer 9999" }).waitFor();
});

scene("hostile Markdown from the model stays words", async () => {
  await bench.newChat();
  const hostile = '<img src=x onerror="parent.pwned=1"><script>window.pwned=1</script>\n\n[run](command:workbench.action.closeActiveEditor) [js](javascript:alert(1)) ![p](https://example.org/pixel.png)\n\n<iframe src="https://example.org"></iframe>';
  const outside = [];
  const listen = (request) => {
    if (request.url().includes("example.org")) outside.push(request.url());
  };
  bench.page.on("request", listen);
  await bench.api.script({ blocks: [{ text: hostile, piece: 7 }] });
  await bench.say("show me something bad");
  await ended();
  const row = bench.chat.locator(".row.text").last();
  assert.match(await row.textContent(), /<script>window\.pwned=1<\/script>/);
  assert.equal(await row.locator("img, script, iframe, [onerror]").count(), 0);
  assert.deepEqual(await row.locator("a").evaluateAll((links) => links.map((link) => [link.getAttribute("href"), new URL(link.dataset.link).protocol])), [["#", "https:"], ["#", "https:"]]);
  assert.equal(await row.evaluate(() => window.pwned ?? window.parent.pwned), undefined);
  const policy = await row.evaluate(() => document.querySelector('meta[http-equiv="Content-Security-Policy"]').content);
  const rules = Object.fromEntries(policy.split(";").map((rule) => rule.trim().split(/ (.*)/s, 2)));
  assert.deepEqual([rules["default-src"], rules["img-src"], rules["form-action"], rules["connect-src"]], ["'none'", "data:", "'none'", undefined]);
  assert.match(rules["script-src"], /^'nonce-[\w-]+'$/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.deepEqual(outside, []);
  bench.page.off("request", listen);
});

scene("a command is asked about in the chat, and the denial with its reason reaches the model", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: [{ tool: "Bash", input: { command: "touch made.txt && curl http://127.0.0.1:9", description: "Make a file" } }] }, { blocks: ["I will not, then."] });
  await bench.say("make a file");
  const card = bench.chat.locator(".card.ask");
  await card.waitFor();
  assert.match(await card.textContent(), /touch made\.txt/);
  await until(async () => (await bench.page.locator(".statusbar").textContent()).includes("waits for you"), "the status bar to say so");
  await bench.shot("ask");
  await card.locator(".reason").fill("no network please");
  await card.locator('[data-answer="deny"]').click();
  await ended();
  const [result] = toolResults(await lastCall());
  assert.equal(result.is_error, true);
  assert.match(textOf(result), /no network please/);
  assert.throws(() => bench.read("made.txt"));
});

scene("an ask that is allowed once runs", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: [{ tool: "Bash", input: { command: "touch made.txt", description: "Make a file" } }] }, { blocks: ["Made."] });
  await bench.say("make the file");
  await bench.chat.locator('.card.ask [data-answer="once"]').click();
  await ended();
  assert.equal(bench.read("made.txt"), "");
  assert.equal(await bench.chat.locator(".card.ask").count(), 0);
});

scene("an edit is reviewed hunk by hunk in the editor, and file and model are told right", async () => {
  await bench.newChat();
  await bench.openFile("stats.py");
  await bench.api.script(READ("stats.py"), { blocks: ["I will guard both.", { tool: "MultiEdit", input: { file_path: "stats.py", edits: EDITS } }] }, { blocks: ["Understood."] });
  await bench.say("make these functions safe");
  await bench.lens("if count == 0:").waitFor();
  await bench.lens("return abs(high - low)").waitFor();
  assert.doesNotMatch(await bench.editorText(), /if count == 0/);
  await until(async () => (await bench.lens("I will guard both.").count()) === 1, "the model's reason, once");
  await bench.shot("review");
  await bench.lens("Accept").first().click();
  await until(async () => /if count == 0/.test(await bench.editorText()), "the accepted hunk in the buffer");
  await until(async () => (await bench.lens("Accept").count()) === 1, "one hunk left");
  await bench.page.locator(".editor-instance .view-line").filter({ hasText: "high - low" }).click();
  await bench.key("Control+Alt+M");
  await bench.answerBox("A reason for the model", "a spread is never negative");
  await ended();
  await until(async () => (await bench.lens("").count()) === 0, "nothing left of the hunks but their text");
  const result = toolResults(await lastCall()).at(-1);
  assert.match(textOf(result), /1 of 2/);
  assert.match(textOf(result), /a spread is never negative/);
  await bench.intoEditor();
  await bench.page.keyboard.press("Control+S");
  await bench.saved("stats.py", STATS.replace(EDITS[0].old_string, EDITS[0].new_string));
});

scene("undo takes an accepted hunk back out of the buffer", async () => {
  await bench.newChat();
  await bench.openFile("undone.py");
  await bench.api.script(READ("undone.py"), { blocks: [{ tool: "Edit", input: { file_path: "undone.py", old_string: "count = 1", new_string: "if count == 0: pass" } }] }, { blocks: ["Guarded."] });
  await bench.say("guard it");
  await bench.page.locator(".codelens-decoration a").filter({ hasText: "Accept" }).first().click();
  await until(async () => /if count == 0/.test(await bench.editorText()), "the accepted hunk in the buffer");
  await bench.chat.locator(".row.text").filter({ hasText: "Guarded." }).waitFor();
  await bench.intoEditor();
  await bench.page.keyboard.press("Control+Z");
  await until(async () => !/if count == 0/.test(await bench.editorText()), "the old text");
  await bench.page.keyboard.press("Control+Shift+Z");
  await until(async () => /if count == 0/.test(await bench.editorText()), "the new text again");
});

scene("a hunk is changed before it is accepted, found and decided with keys alone", async () => {
  await bench.newChat();
  await bench.openFile("keys.py");
  await bench.api.script(READ("keys.py"), { blocks: [{ tool: "MultiEdit", input: { file_path: "keys.py", edits: [{ old_string: "one = 1\n", new_string: "one = 1.0\n" }, { old_string: "two = 2\n", new_string: "two = 2.0\n" }] } }] }, { blocks: ["Good."] });
  await bench.say("make them floats");
  await bench.lens("two = 2.0").waitFor();
  // Typing above moves the hunks with their lines.
  await bench.page.locator(".editor-instance .view-line").first().click();
  await bench.page.keyboard.press("Control+Home");
  await bench.page.keyboard.type("# mine\n");
  await bench.key("Alt+F5");
  await bench.reviewing("keys.py");
  await until(async () => (await bench.page.locator(".statusbar").textContent()).includes("Ln 3,"), "the cursor on the first hunk's line");
  await until(() => bench.focused(), "the keyboard in the review");
  await bench.page.keyboard.press("End");
  for (let letters = 0; letters < 3; letters += 1) await bench.page.keyboard.press("Backspace");
  await bench.page.keyboard.type("1.5  # by hand");
  await bench.lens("Accept as edited").waitFor();
  await bench.key("Control+Alt+Y");
  await until(async () => (await bench.page.locator(".statusbar").textContent()).includes("Ln 7,"), "the cursor on the next hunk");
  await bench.key("Control+Alt+Y");
  await ended();
  await bench.page.locator('.tab.active[data-resource-name="keys.py"]').filter({ hasNotText: "review" }).waitFor();
  await becomes(() => bench.editorText().then((text) => text.trim()), "# mine\n# numbers\none = 1.5  # by hand\n\n\n\ntwo = 2.0", "the file with both hunks");
  assert.match(textOf(toolResults(await lastCall()).at(-1)), /one = 1\.5 {2}# by hand/);
});

scene("edits that land at once stay marked, and one is taken back later", async () => {
  await bench.newChat();
  await bench.openFile("after.py");
  await bench.ready();
  await bench.chat.locator("select.mode").selectOption("acceptEdits");
  await until(async () => (await bench.chat.locator("select.mode").inputValue()) === "acceptEdits", "the mode to be set");
  await bench.api.script(READ("after.py"), { blocks: [{ tool: "Edit", input: { file_path: "after.py", old_string: "slow = True\n", new_string: "slow = False\n" } }] }, { blocks: ["Changed."] });
  await bench.say("make it fast");
  await ended();
  await until(async () => /slow = False/.test(await bench.editorText()), "the landed edit");
  const undo = bench.page.locator(".codelens-decoration a").filter({ hasText: "Undo this change" });
  await undo.waitFor();
  await bench.shot("landed");
  await undo.click();
  await until(async () => /slow = True/.test(await bench.editorText()), "the old text");
  await undo.waitFor({ state: "detached" });
});

scene("changes in several files are listed and decided file by file, and nothing takes the focus from who types", async () => {
  await bench.newChat();
  await bench.openFile("typed.txt");
  await bench.chat.locator("select.mode").selectOption("acceptEdits");
  const edit = (name, before, after) => ({ tool: "Edit", input: { file_path: name, old_string: before, new_string: after } });
  await bench.api.script(
    { blocks: [{ tool: "Read", input: { file_path: "first.py" } }, { tool: "Read", input: { file_path: "second.py" } }] },
    { blocks: ["Type on.", { hold: "typing" }, edit("first.py", "one = 1", "one = 1.0"), edit("second.py", "two = 2", "two = 2.0")] },
    { blocks: ["Both changed."] },
  );
  await bench.say("make both floats");
  await bench.chat.locator(".row.text").filter({ hasText: "Type on." }).waitFor();
  await bench.intoEditor();
  await bench.page.keyboard.type("I am");
  await bench.api.release("typing");
  await bench.chat.locator(".row.text").filter({ hasText: "Both changed." }).waitFor();
  await bench.page.keyboard.type(" typing");
  await until(async () => (await bench.editorText()) === "I am typing", "every letter in its place");
  assert.equal(await bench.page.locator(".tab").filter({ hasText: /first|second/ }).count(), 0);

  const header = bench.page.locator(".pane-header").filter({ hasText: "Review" });
  await header.waitFor();
  if ((await header.getAttribute("aria-expanded")) !== "true") await header.click();
  const listed = bench.page.locator(".pane").filter({ has: header }).locator(".monaco-list-row");
  await listed.filter({ hasText: "second.py" }).waitFor();
  await bench.shot("review-list");
  await listed.filter({ hasText: "two = 2.0" }).click();
  await bench.page.locator('.tab.active[data-resource-name="second.py"]').waitFor();
  await until(async () => /two = 2\.0/.test(await bench.editorText()), "the second file");
  await bench.command("Assent: Reject All Hunks in File");
  await until(async () => /two = 2$/m.test(await bench.editorText()), "the second file as it was");
  await listed.filter({ hasText: "second.py" }).waitFor({ state: "detached" });
  await bench.openFile("first.py");
  await bench.command("Assent: Accept All Hunks in File");
  await header.waitFor({ state: "detached" });
  await says(() => bench.editorText(), /one = 1\.0/, "the first file as it was accepted");
});

scene("a plan is shown, approved, and the todo list followed", async () => {
  await bench.newChat();
  await bench.ready();
  await bench.chat.locator("select.mode").selectOption("plan");
  const todos = [{ content: "Read the file", activeForm: "Reading the file", status: "in_progress" }, { content: "Write the fix", activeForm: "Writing the fix", status: "pending" }];
  await bench.api.script({ blocks: [{ tool: "ExitPlanMode", input: { plan: "1. Read **everything**\n2. Fix it" } }] }, { blocks: [{ tool: "TodoWrite", input: { todos } }] }, { blocks: ["Started.", { hold: "todo" }] });
  await bench.say("plan it");
  const card = bench.chat.locator(".card.ask");
  await card.waitFor();
  assert.equal(await card.locator(".plan strong").textContent(), "everything");
  await bench.shot("plan");
  await card.locator('[data-answer="once"]').click();
  await bench.chat.locator(".todos summary").filter({ hasText: "Reading the file" }).waitFor();
  await bench.chat.locator(".todos summary").click();
  await becomes(() => bench.chat.locator(".todos li").allTextContents(), ["Read the file", "Write the fix"], "the todo list");
  await bench.shot("todos");
  await bench.api.release("todo");
  await ended();
});

scene("@ and / complete, and an earlier conversation is found in the history", async () => {
  await bench.newChat();
  await bench.ready();
  const box = bench.chat.locator("textarea.prompt");
  await box.click();
  await box.pressSequentially("look at @note");
  await bench.chat.locator(".completions li.chosen").filter({ hasText: "notes.md" }).waitFor();
  await box.press("Tab");
  assert.match(await box.inputValue(), /^look at @notes\.md $/);
  await box.fill("");
  await box.pressSequentially("/comp");
  await bench.chat.locator(".completions li").filter({ hasText: "compact" }).first().waitFor();
  await box.press("Escape");
  await box.fill("");
  await bench.command("Assent: Show Chat History");
  const history = bench.chat.locator(".history");
  await history.locator("li[data-session]").first().waitFor();
  await bench.shot("history");
  await history.locator("input[type=search]").fill("add function");
  const first = history.locator("button.session").first();
  await until(async () => /add function/.test(await first.textContent()) && (await history.locator("li[data-session]").count()) < 4, "the best match first");
  await first.click();
  await bench.chat.locator(".row.user").filter({ hasText: "Write me an add function" }).waitFor();
});

scene("a conversation is exported, renamed and deleted", async () => {
  await bench.newChat();
  await bench.openFile("notes.md");
  await bench.api.script({ blocks: ["This file holds **notes**."] });
  await bench.command("Assent: Explain");
  await bench.chat.locator(".row.text").filter({ hasText: "This file holds notes." }).waitFor();
  assert.match(await bench.chat.locator(".row.user").last().textContent(), /notes\.md/);
  await bench.command("Assent: Export Chat as Markdown");
  await until(async () => /This file holds \*\*notes\*\*/.test(await bench.editorText()), "the conversation as Markdown");
  await bench.command("View: Revert and Close Editor");
  await bench.command("Assent: Show Chat History");
  const row = bench.chat.locator(".history li[data-session]").first();
  await row.getByRole("button", { name: /^Rename/ }).click();
  await bench.answerBox("A short name for it", "A name of my own");
  const mine = bench.chat.locator(".history li[data-session]").filter({ hasText: "A name of my own" });
  await mine.getByRole("button", { name: /^Delete/ }).click();
  await bench.page.locator(".monaco-dialog-box .monaco-button").filter({ hasText: "Delete" }).click();
  await mine.waitFor({ state: "detached" });
  await bench.chat.locator('body[data-session=""]').waitFor();
  await bench.chat.locator('button[aria-label="Close history"]').click();
});

scene("a second chat lives in an editor tab", async () => {
  await bench.newChat();
  await bench.command("Assent: New Chat in Editor Tab");
  const tab = bench.page.frameLocator("iframe.webview.ready >> nth=1").frameLocator("#active-frame");
  await tab.locator("body[data-kind=tab] textarea.prompt").waitFor();
  await bench.api.script({ blocks: ["In the tab."] });
  await tab.locator("textarea.prompt").fill("hello from a tab");
  await tab.locator("textarea.prompt").press("Enter");
  await tab.locator(".row.text").filter({ hasText: "In the tab." }).waitFor();
  assert.equal(await bench.chat.locator(".row").count(), 0);
  await bench.shot("tab");
  await bench.page.locator('.tab.active .tab-actions [aria-label^="Close"]').click();
  await bench.page.locator("iframe.webview.ready >> nth=1").waitFor({ state: "detached" });
});

scene("an earlier message is edited and sent again", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["Answer to the first."] }, { blocks: ["Answer to the second."] });
  await bench.say("first wording");
  await ended();
  await bench.chat.locator(".row.user").hover();
  await bench.chat.locator('.row.user button[aria-label="Edit and resend"]').click();
  const box = bench.chat.locator("textarea.prompt");
  await until(async () => (await box.inputValue()) === "first wording", "the old words in the box");
  await box.fill("second wording");
  await box.press("Enter");
  await bench.chat.locator(".row.text").filter({ hasText: "Answer to the second." }).waitFor();
  await becomes(() => bench.chat.locator(".row.user .said").allTextContents(), ["second wording"], "the new wording alone");
  assert.doesNotMatch(JSON.stringify((await lastCall()).messages), /first wording/);
});

scene("a lightbulb action starts a turn in the chat", async () => {
  await bench.newChat();
  await bench.openFile("broken.json");
  await bench.page.locator(".editor-instance .squiggly-error").first().waitFor();
  await bench.page.locator(".editor-instance .view-line").filter({ hasText: "}" }).click();
  await bench.page.keyboard.press("Home");
  const action = bench.page.locator(".action-widget .monaco-list-row").filter({ hasText: "Assent: Fix: Value expected" });
  // A bulb from before the problem was found offers no fix yet; it is looked at again.
  await until(async () => {
    await bench.page.keyboard.press("End");
    await bench.page.keyboard.press("Home");
    await bench.page.locator(BULB).first().click({ timeout: 5000 });
    if (await action.waitFor({ timeout: 2000 }).then(() => true, () => false)) return true;
    await bench.page.keyboard.press("Escape");
    return false;
  }, "the fix among the lightbulb's actions");
  await bench.shot("lightbulb");
  await bench.api.script({ blocks: ["A value is missing after the colon."] });
  await action.click();
  await ended();
  assert.match(await bench.chat.locator(".row.user").last().textContent(), /Fix this problem in @broken\.json line 3/);
  assert.match(JSON.stringify((await lastCall()).messages), /Value expected/);
});

scene("the model sees what the editor's own language servers see", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: [{ tool: "Diagnostics", input: { file_path: "broken.json" } }, { tool: "Symbols", input: { file_path: "broken.json" } }, { tool: "CurrentSelection", input: {} }] }, { blocks: ["I see."] });
  await bench.say("what is wrong here?");
  await ended();
  const [problems, symbols, selection] = toolResults(await lastCall()).map(textOf);
  assert.match(problems, /broken\.json:3:1: error: Value expected/);
  assert.match(symbols, /answer/);
  assert.match(selection, /broken\.json/);
});

scene("names are looked up, renamed and code is formatted by the editor's own language servers", async () => {
  await bench.newChat();
  await bench.openFile("theme.css");
  await bench.page.locator(".editor-instance .colorpicker-color-decoration").first().waitFor(); // the language server is up
  await bench.ready();
  await bench.chat.locator("select.mode").selectOption("acceptEdits");
  const place = { file_path: "theme.css", line: 2, symbol: "--accent" };
  await bench.api.script(
    { blocks: [{ tool: "Read", input: { file_path: "theme.css" } }, { tool: "Definition", input: place }, { tool: "References", input: place }, { tool: "Hover", input: { file_path: "theme.css", line: 2, symbol: "color" } }, { tool: "Symbols", input: { file_path: "theme.css" } }] },
    { blocks: [{ tool: "Rename", input: { ...place, new_name: "--brand" } }] },
    { blocks: [{ tool: "Format", input: { file_path: "theme.css" } }] },
    { blocks: ["Tidied."] },
  );
  await bench.say("rename the accent and tidy up");
  await bench.chat.locator(".row.text").filter({ hasText: "Tidied." }).waitFor();
  const [, definition, references, hover, symbols] = toolResults(await lastCall()).map(textOf);
  assert.match(definition, /theme\.css:1/);
  assert.match(references, /theme\.css:2[^]*theme\.css:3/);
  assert.match(hover, /color/i);
  assert.match(symbols, /:root/);
  await until(async () => /var\(--brand\)/.test(await bench.editorText()) && !/--accent/.test(await bench.editorText()), "the new name everywhere");
  await says(() => bench.editorText(), /b \{\n\s+color: var\(--brand\)/, "the tidied lines");
});

scene("a command's output is shown while it runs, and an answer for the whole session is remembered", async () => {
  await bench.newChat();
  const wait = { tool: "Bash", input: { command: "echo half-way; while [ ! -e on.txt ]; do sleep 0.1; done; echo further; while [ ! -e go.txt ]; do sleep 0.1; done; echo all-the-way", description: "Wait for it" } };
  await bench.api.script({ blocks: [wait] }, { blocks: ["Waited."] });
  await bench.say("wait for me");
  const card = bench.chat.locator(".card.ask");
  await card.waitFor();
  await card.locator('[data-answer="once"]').click();
  const tool = bench.chat.locator(".row.tool details.tool").last();
  await tool.locator("pre.progress").filter({ hasText: "half-way" }).waitFor();
  bench.write({ "on.txt": "" });
  await tool.locator("pre.progress").filter({ hasText: "further" }).waitFor();
  assert.equal(await tool.locator("pre.progress").textContent(), "half-way\nfurther", "what was told before is not told again");
  await bench.shot("progress");
  bench.write({ "go.txt": "" });
  await bench.chat.locator(".row.text").filter({ hasText: "Waited." }).waitFor();
  await tool.locator("pre.output").filter({ hasText: "all-the-way" }).waitFor();

  const touch = (name) => ({ blocks: [{ tool: "Bash", input: { command: `touch ${name}`, description: "Touch" } }] });
  await bench.api.script(touch("same.txt"), touch("same.txt"), { blocks: ["Twice."] });
  await bench.say("twice, please");
  const session = card.locator('[data-answer="session"]');
  assert.match(await session.textContent(), /Allow for this session: Bash\(touch same\.txt/);
  assert.match(await card.locator('[data-answer="project"]').textContent(), /Allow always in this project: Bash\(touch same\.txt/);
  await session.click();
  await bench.chat.locator(".row.text").filter({ hasText: "Twice." }).waitFor();
  assert.equal(await card.count(), 0);

  await bench.api.script(touch("kept.txt"), { blocks: ["Kept."] });
  await bench.say("and always");
  await card.locator('[data-answer="project"]').click();
  await bench.chat.locator(".row.text").filter({ hasText: "Kept." }).waitFor();
  await until(() => /touch kept\.txt/.test(readSettings()), "the rule in the project's settings");
});

scene("a question from the model is answered in a form", async () => {
  await bench.newChat();
  const questions = [{ header: "Database", question: "Which database?", multiSelect: false, options: [{ label: "SQLite", description: "one file" }, { label: "Postgres", description: "a server" }] }];
  await bench.api.script({ blocks: [{ tool: "AskUserQuestion", input: { questions } }] }, { blocks: ["Postgres it is."] });
  await bench.say("set up storage");
  const form = bench.chat.locator(".card.elicit");
  await form.waitFor();
  await bench.chat.locator("details.tool.waiting").waitFor();
  await bench.shot("question");
  await form.locator('input[value="Postgres"]').check();
  await form.locator('[data-answer="accept"]').click();
  await ended();
  assert.match(textOf(toolResults(await lastCall()).at(-1)), /Postgres/);
});

scene("stop ends the turn and the next one just works", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["Working on it, slowly.", { hold: "slow" }] });
  await bench.say("do something long");
  await bench.chat.locator(".row.text").waitFor();
  await bench.chat.locator('button[aria-label="Stop"]').click();
  await bench.chat.locator(".row.end").waitFor();
  assert.match(await bench.chat.locator(".row.end").textContent(), /Stopped/);
  await bench.api.release("slow");
  await bench.api.script({ blocks: ["Back again."] });
  await bench.say("and now?");
  await bench.chat.locator(".row.text").filter({ hasText: "Back again." }).waitFor();
});

scene("a message sent while it works is queued and answered afterwards", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["First answer.", { hold: "gate" }] }, { blocks: ["Second answer."] });
  await bench.say("first");
  await bench.chat.locator(".row.text").waitFor();
  await bench.say("second");
  await bench.chat.locator(".queued").waitFor();
  await bench.api.release("gate");
  await bench.chat.locator(".row.text").filter({ hasText: "Second answer." }).waitFor();
  await becomes(() => bench.chat.locator(".row.user .said").allTextContents(), ["first", "second"], "both messages");
  await becomes(() => bench.chat.locator(".queued").count(), 0, "nothing in the queue");
});

scene("a queued message is taken back, another one changed, and the queue outlives a crash", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["Busy.", { hold: "queue" }] });
  await bench.say("first");
  await bench.chat.locator(".row.text").waitFor();
  for (const text of ["never mind", "badly worded", "still wanted"]) await bench.say(text);
  const queued = bench.chat.locator(".queued");
  await until(async () => (await queued.count()) === 3, "three messages in the queue");
  await bench.shot("queue");
  await queued.filter({ hasText: "never mind" }).getByRole("button", { name: "Withdraw" }).click();
  await until(async () => (await queued.count()) === 2, "the first one to be gone");
  await queued.filter({ hasText: "badly worded" }).getByRole("button", { name: "Take back and edit" }).click();
  const box = bench.chat.locator("textarea.prompt");
  await until(async () => (await box.inputValue()) === "badly worded", "its words in the box");
  await box.fill("well worded");
  await box.press("Enter");
  await until(async () => (await queued.locator(".queued-text").allTextContents()).join() === "still wanted,well worded", "the new wording at the end");
  bench.killServer();
  await until(async () => (await queued.locator(".queued-text").allTextContents()).join() === "still wanted,well worded" && (await bench.chat.locator(".interrupted").count()) > 0, "the queue after the crash");
  await bench.api.release("queue");
  await bench.api.script({ blocks: ["Went on."] });
  await bench.chat.locator(".interrupted").getByRole("button", { name: "Try again" }).click();
  await bench.chat.locator(".row.text").filter({ hasText: "Went on." }).waitFor();
  await ended();
  await becomes(() => queued.filter({ hasText: "not sent" }).count(), 2, "what waited starts only when it is sent");
  for (const [text, answer] of [["still wanted", "To the third."], ["well worded", "To the fourth."]]) {
    await bench.api.script({ blocks: [answer] });
    await queued.filter({ hasText: text }).getByRole("button", { name: "Send now" }).click();
    await bench.chat.locator(".row.text").filter({ hasText: answer }).waitFor();
  }
  await becomes(() => bench.chat.locator(".row.user .said").allTextContents(), ["first", "still wanted", "well worded"], "the messages in their order");
  assert.doesNotMatch(JSON.stringify((await lastCall()).messages), /never mind|badly worded/);
});

scene("a crash of the server is survived: it is restarted and the conversation is restored", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["Before the crash."] });
  await bench.say("remember this");
  await ended();
  await bench.crashServer();
  await until(async () => (await bench.chat.locator(".row.text").count()) > 0 && (await bench.chat.locator(".banner.server").count()) === 0, "the chat to come back");
  await bench.api.script({ blocks: ["After the crash."] });
  await bench.say("still there?");
  await bench.chat.locator(".row.text").filter({ hasText: "After the crash." }).waitFor();
  assert.match(JSON.stringify((await lastCall()).messages), /Before the crash\./);
});

scene("a server that keeps stopping is given up on with its log, and can be started again", async () => {
  await bench.ready();
  const panel = bench.chat.locator(".banner.server.error");
  await until(async () => {
    if (await panel.count()) return true;
    if (bench.serverCount()) bench.killServer();
    return false;
  }, "the server to be given up on");
  await panel.filter({ hasText: "The server keeps stopping" }).waitFor();
  assert.match(await panel.locator("pre").textContent(), /the server ended: SIGKILL/);
  await bench.shot("crash-loop");
  await panel.getByRole("button", { name: "Try again" }).click();
  await bench.ready();
});

scene("reloading the window in the middle of a turn restores the chat, and the turn can go on", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: [{ tool: "Bash", input: { command: "touch later.txt", description: "Later" } }] });
  await bench.say("do it later");
  await bench.chat.locator(".card.ask").waitFor();
  await bench.page.reload();
  await bench.page.locator(".monaco-workbench").waitFor();
  await bench.chat.locator(".row.user").waitFor();
  assert.match(await bench.chat.locator(".row.user").first().textContent(), /do it later/);
  await bench.shot("restored");
  const again = bench.chat.locator(".card.ask, .interrupted");
  await again.first().waitFor();
  await bench.api.script({ blocks: ["Went on."] });
  const asked = (await bench.chat.locator(".card.ask").count()) > 0;
  if (asked) await bench.chat.locator('.card.ask [data-answer="deny"]').click();
  else await bench.chat.locator(".interrupted").getByRole("button", { name: "Try again" }).click();
  await bench.chat.locator(".row.text").filter({ hasText: "Went on." }).waitFor();
  assert.deepEqual(await bench.chat.locator(".row.user .said").allTextContents(), asked ? ["do it later", "Continue where you left off."] : ["do it later"]);
});
