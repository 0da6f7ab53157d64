// What goes along with a message, as one sees it; and finding one's way in a conversation: find, history, mode, hooks.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { becomes, scenes, until, Workbench } from "./harness.mjs";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const bench = new Workbench();

before(async () => {
  bench.write({ "calc.ts": "export function addUp(a: number, b: number): number {\n  return a + b;\n}\n\nexport const broken: number = 'text';\n", "other.txt": "other\n", "notes.md": "# Notes\n", "pixel.png": "" });
  writeFileSync(join(bench.folder, "pixel.png"), Buffer.from(PIXEL, "base64"));
  const git = (...args) => execFileSync("git", ["-C", bench.folder, "-c", "user.name=Test", "-c", "user.email=test@example.org", ...args], { stdio: "ignore" });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "Start");
  writeFileSync(join(bench.folder, "other.txt"), "other words\n");
  mkdirSync(join(bench.home, "config", "assent"), { recursive: true });
  const hook = { type: "command", command: "echo hook-was-here >&2; exit 0" };
  writeFileSync(join(bench.home, "config", "assent", "settings.json"), JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }));
  await bench.start({ settings: { "assent.chat.activeEditor": true, "git.enabled": true, "git.openRepositoryInParentFolders": "never" } });
});
after(() => bench.stop());

const scene = scenes(bench, "context");
const box = () => bench.chat.locator("textarea.prompt");
const chip = (text) => bench.chat.locator(".composer .chip").filter({ hasText: text });
const sent = async () => JSON.stringify((await bench.api.calls()).at(-1).messages.at(-1));
const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const option = (text) => bench.chat.locator(".completions li").filter({ hasText: text }).first();

/** Writes into the box and takes what is offered for it. All at once: each letter alone asks for a list of its own, which moves the rows. */
async function take(text, offered) {
  await box().click();
  await box().press("End");
  await bench.page.keyboard.insertText(text);
  await option(offered).click();
}

scene("the file one looks at goes along as a chip, with its selection, and is left out with a press", async () => {
  await bench.newChat();
  await bench.openFile("calc.ts");
  await chip("calc.ts").filter({ hasText: "its name" }).waitFor();
  await bench.api.script({ blocks: ["Named."] });
  await bench.say("which file is this?");
  await answer("Named.");
  assert.match(await sent(), /which file is this\?[^]*calc\.ts is open in the editor; the cursor is in line 1\./);
  await bench.chat.locator(".row.user .chip").filter({ hasText: "calc.ts" }).waitFor();

  await bench.intoEditor();
  await bench.page.keyboard.press("Control+Home");
  await bench.page.keyboard.press("Shift+ArrowDown");
  await bench.page.keyboard.press("Shift+ArrowDown");
  await chip("calc.ts:1-2").filter({ hasText: "2 lines" }).waitFor();
  await bench.shot("context-chip");
  await bench.api.script({ blocks: ["Seen."] });
  await bench.say("explain this");
  await answer("Seen.");
  assert.match(await sent(), /return a \+ b/);
  assert.doesNotMatch(await sent(), /const broken/, "only what was selected");

  await chip("calc.ts:1-2").locator('[aria-label^="Leave out"]').click();
  await chip("calc.ts").waitFor({ state: "detached" });
  await bench.api.script({ blocks: ["Alone."] });
  await bench.say("and without");
  await answer("Alone.");
  assert.doesNotMatch(await sent(), /calc\.ts/);
});

scene("problems, changes, the terminal and a symbol are offered after @ with what they add, and reach the model", async () => {
  await bench.newChat();
  await bench.openFile("calc.ts");
  await bench.page.locator(".squiggly-error").first().waitFor();
  const terminal = await bench.openTerminal();
  await bench.page.keyboard.type("echo from-the-$((40+2))-shell\n");
  await until(async () => /^from-the-42-shell/m.test((await terminal.locator(".xterm-rows > div").allTextContents()).join("\n")), "the shell's answer");
  await box().click();
  await box().fill("@");
  await box().press("End");
  await box().pressSequentially("c");
  await box().press("Backspace");
  await option("calc.ts").filter({ hasText: "open" }).waitFor();
  await bench.shot("context-offers");
  await box().fill("look at ");
  await take("@prob", "@problems");
  await chip("problems").filter({ hasText: "1 error" }).waitFor();
  await take("@gi", "@git");
  await chip("git").filter({ hasText: "1 file, +1 −1" }).waitFor();
  await take("@term", "@terminal");
  await chip("terminal").waitFor();
  await take("@symbol:addU", "addUp");
  await chip("addUp (calc.ts)").waitFor();
  await bench.shot("context-chips");
  await bench.api.script({ blocks: ["All of it."] });
  await box().press("Enter");
  await answer("All of it.");
  const told = await sent();
  for (const words of [/The user attached problems:[^]*calc\.ts:5: error/, /The user attached git:[^]*\+other words/, /The user attached terminal:[^]*from-the-42-shell/, /return a \+ b/]) assert.match(told, words);
  const shown = () => bench.chat.locator(".row.user .chip").allTextContents();
  await until(async () => (await shown()).length >= 4, "the chips in the transcript");
  const before = await shown();
  await bench.shot("context-sent");
  // A window that is loaded again shows the same words and chips.
  await bench.reopen();
  await answer("All of it.");
  await becomes(async () => (await bench.chat.locator(".row.user .said").last().textContent()).trim(), "look at", "the words alone");
  const others = (chips) => chips.filter((each) => !/calc\.ts/.test(each)).sort();
  await becomes(async () => others(await shown()), others(before), "the same chips");
});

scene("the attach button lists what can come along; an image is attached from a file", async () => {
  await bench.newChat();
  await bench.openFile("notes.md");
  await bench.chat.locator("button.attach").click();
  await bench.pickRow("Attach to the message", "notes.md");
  await chip("notes.md").first().waitFor();
  await bench.chat.locator("button.attach").click();
  await bench.pickRow("Attach to the message", "Files and images");
  await bench.pickFile(join(bench.folder, "pixel.png"), "Attach");
  await bench.chat.locator('.chip img[alt="attached image 1"]').waitFor();
  await bench.shot("attach");
  await bench.api.script({ blocks: ["A pixel."] });
  await box().fill("what is it?");
  await box().press("Enter");
  await answer("A pixel.");
  assert.match(await sent(), /image\/png[^]*# Notes/);
});

scene("words are found in a long chat and in the history, the chat has a name, and a hook's run is told", async () => {
  await bench.newChat();
  const long = Array.from({ length: 60 }, (_, at) => `Paragraph ${at} of the answer.`).join("\n\n");
  await bench.api.script({ blocks: [`The needle is at the beginning.\n\n${long}`] }, { blocks: ["The end."] });
  await bench.say("tell me of the haystack");
  await answer("Paragraph 59");
  await bench.say("go on");
  await answer("The end.");
  await bench.chat.locator(".row.hook").filter({ hasText: "UserPromptSubmit hook" }).first().waitFor({ state: "attached" });
  await bench.page.locator(".pane-header, .composite.title").filter({ hasText: "tell me of the haystack" }).first().waitFor();
  await box().click();
  await box().press("Control+F");
  const find = bench.chat.locator(".find input");
  await find.fill("needle");
  await bench.chat.locator(".find .found").filter({ hasText: "1 of 1" }).waitFor();
  await bench.chat.locator(".found-row").filter({ hasText: "The needle is at the beginning." }).waitFor();
  await bench.shot("find");
  await find.fill("nowhere at all");
  await bench.chat.locator(".find .found").filter({ hasText: "Nothing found" }).waitFor();
  await find.press("Escape");
  await bench.chat.locator(".find").waitFor({ state: "hidden" });
  await bench.command("Assent: Find in Chat");
  await find.waitFor();
  await find.press("Escape");

  await bench.command("Assent: Show Chat History");
  await bench.chat.getByLabel("Search conversations").fill("needle");
  const hit = bench.chat.locator(".history li").filter({ hasText: "haystack" });
  await hit.locator(".snippet mark").filter({ hasText: "needle" }).first().waitFor();
  await bench.shot("history-snippet");
  await bench.page.keyboard.press("Escape");
  await bench.command("Assent: Show Hook Log");
  await until(async () => /UserPromptSubmit: success · \d+ ms/.test(await bench.editorText()), "the hook's run in its log");
});

scene("a message is taken out of what the model sees, and put back", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["I shall remember the word ZEBRA."] }, { blocks: ["No word."] }, { blocks: ["Back again."] });
  await bench.say("remember the word ZEBRA");
  await answer("I shall remember");
  await bench.chat.locator(".row.end").waitFor();
  const row = bench.chat.locator(".row.text").filter({ hasText: "I shall remember" });
  await row.hover();
  await row.locator('[aria-label^="Take out"]').click();
  const dialog = bench.page.locator(".monaco-dialog-box");
  await dialog.filter({ hasText: /frees about .* tokens/ }).waitFor();
  await dialog.getByRole("button", { name: "Take out" }).click();
  await row.locator(".snip-note").filter({ hasText: "Not seen by the model" }).waitFor();
  await bench.shot("snipped");
  await bench.say("which word?");
  await answer("No word.");
  const told = async () => JSON.stringify((await bench.api.calls()).at(-1).messages);
  assert.doesNotMatch(await told(), /I shall remember/);
  await bench.chat.locator(".row.end").nth(1).waitFor();
  await row.locator(".snip-note").getByRole("button", { name: "Put back" }).click();
  await row.locator(".snip-note").waitFor({ state: "detached" });
  await bench.say("and now?");
  await answer("Back again.");
  assert.match(await told(), /I shall remember/);
});

scene("the mode of the last chat is kept, and one that asks less than usual is said", async () => {
  await bench.newChat();
  const mode = bench.chat.locator("select.mode");
  await mode.selectOption("acceptEdits");
  await bench.chat.locator(".kept-mode").filter({ hasText: "Starts with “Accept edits”" }).waitFor();
  await bench.api.script({ blocks: ["Hello."] });
  await bench.say("hello");
  await answer("Hello.");
  await bench.command("Assent: New Chat");
  await bench.chat.locator('body[data-session=""] .kept-mode').waitFor();
  await becomes(() => mode.inputValue(), "acceptEdits", "the mode that was kept");
  await bench.shot("kept-mode");
  await bench.chat.locator(".kept-mode").getByRole("button", { name: "Ask first" }).click();
  await until(async () => (await mode.inputValue()) === "default", "the usual mode");
  await bench.command("Assent: Move Chat to Another Side Bar…");
  await bench.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: /Secondary Side Bar/ }).first().waitFor();
  await bench.page.keyboard.press("Escape");
});
