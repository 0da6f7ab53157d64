// What people do around a conversation, in a real workbench with a light theme and a git repository:
// images and files brought in, changed minds, the editor's own places to ask from, and what is said when things fail.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { becomes, PYTHON, ROOT, says, scenes, textOf, toolResults, until, Workbench } from "./harness.mjs";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const bench = new Workbench();

before(async () => {
  bench.write({ "app.py": "speed = 1\n", "two.py": "second = 2\n", "draft.txt": "old words\n", "notes.txt": "notes\n", "place.py": "# here\n", "docs/guide.md": "# Guide\n" });
  const git = (...args) => execFileSync("git", ["-C", bench.folder, "-c", "user.name=Test", "-c", "user.email=test@example.org", ...args], { stdio: "ignore" });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "Start");
  await bench.start({ theme: "Default Light Modern", settings: { "files.autoSave": "off", "git.enabled": true, "git.openRepositoryInParentFolders": "never" } });
});
after(() => bench.stop());

const scene = scenes(bench, "everyday");
const calls = () => bench.api.calls();
const lastCall = async () => (await calls()).at(-1);
const said = async () => JSON.stringify((await lastCall()).messages);
const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const ended = () => bench.chat.locator(".row.end").last().waitFor();
const box = () => bench.chat.locator("textarea.prompt");
const toast = (text) => bench.page.locator(".notifications-toasts .notification-list-item, .notifications-center .notification-list-item").filter({ hasText: text }).first();
const pick = (text) => bench.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: text }).first();
const toPlace = async (name) => {
  await bench.openFile(name);
  await bench.intoEditor();
};

scene("an image is pasted, and another one dropped from the desktop", async () => {
  await box().click();
  await bench.page.evaluate(async (data) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    await navigator.clipboard.write([new ClipboardItem({ "image/png": new Blob([bytes], { type: "image/png" }) })]);
  }, PIXEL);
  await box().press("Control+V");
  await bench.chat.locator('.chip img[alt="attached image 1"]').waitFor();
  // A real drag of a real file, as the browser gets it from the desktop. Shift is how the editor lets it through to us.
  const shot = join(bench.home, "shot.png");
  writeFileSync(shot, Buffer.from(PIXEL, "base64"));
  const place = await box().boundingBox();
  const browser = await bench.context.newCDPSession(bench.page);
  const drag = (type) => browser.send("Input.dispatchDragEvent", { type, x: place.x + 40, y: place.y + 8, modifiers: 8, data: { items: [], files: [shot], dragOperationsMask: 1 } });
  await until(async () => {
    for (const type of ["dragEnter", "dragOver", "dragOver", "drop"]) await drag(type);
    return bench.chat.locator('.chip img[alt="attached image 2"]').waitFor({ timeout: 5000 }).then(() => true);
  }, "the dropped image");
  await bench.shot("attached");
  await bench.api.script({ blocks: ["Two dots."] });
  await bench.say("what are these?");
  await answer("Two dots.");
  const message = (await lastCall()).messages.at(-1);
  assert.equal(message.content.filter((block) => block.type === "image" && block.source.media_type === "image/png").length, 2);
  await becomes(() => bench.chat.locator(".row.user img.shot").count(), 2, "both images in the transcript");
});

scene("a file is dragged from the explorer into a chat in a tab", async () => {
  await bench.command("Assent: New Chat in Editor Tab");
  await bench.page.frameLocator("iframe.webview.ready >> nth=1").frameLocator("#active-frame").locator("textarea.prompt").waitFor();
  await bench.showExplorer();
  const row = bench.page.locator(".explorer-folders-view .monaco-list-row").filter({ hasText: "two.py" });
  await row.waitFor();
  // The side bar shows the explorer now, so the tab's page is the only one.
  await until(async () => (await bench.page.locator("iframe.webview.ready").count()) === 1, "the tab's page alone");
  const prompt = bench.chat.locator("textarea.prompt");
  const chip = bench.chat.locator(".chip").filter({ hasText: "two.py" });
  await until(async () => {
    const from = await row.boundingBox();
    const to = await prompt.boundingBox();
    await bench.page.mouse.move(from.x + 60, from.y + 8);
    await bench.page.mouse.down();
    await bench.page.mouse.move(from.x + 90, from.y + 30, { steps: 5 });
    await bench.page.keyboard.down("Shift");
    await bench.page.mouse.move(to.x + 60, to.y + 8, { steps: 10 });
    await bench.page.mouse.up();
    await bench.page.keyboard.up("Shift");
    return chip.first().waitFor({ timeout: 5000 }).then(() => true);
  }, "the dragged file as a chip");
  await bench.api.script({ blocks: ["A second."] });
  await prompt.fill("what is in it?");
  await prompt.press("Enter");
  await answer("A second.");
  assert.match(await said(), /second = 2/);
  await bench.page.locator('.tab.active .tab-actions [aria-label^="Close"]').click();
  await bench.page.locator("iframe.webview.ready").waitFor({ state: "detached" });
  await bench.openChat();
  await bench.ready();
});

scene("a running turn is steered, tried again, forked and rewound together with its files", async () => {
  await bench.newChat();
  await toPlace("app.py");
  await bench.chat.locator("select.mode").selectOption("acceptEdits");
  await bench.api.script({ blocks: ["Looking.", { hold: "steer" }, { tool: "Read", input: { file_path: "app.py" } }] }, { blocks: [{ tool: "Edit", input: { file_path: "app.py", old_string: "speed = 1\n", new_string: "speed = 9\n" } }] }, { blocks: ["Nine it is."] });
  await bench.say("make it faster");
  await answer("Looking.");
  await box().fill("nine, please");
  await box().press("Control+Enter");
  await bench.chat.locator(".queued").filter({ hasText: "steering" }).waitFor();
  await bench.shot("steering");
  await bench.api.release("steer");
  await answer("Nine it is.");
  await ended();
  assert.match(JSON.stringify((await calls()).at(-2).messages), /nine, please/);
  await becomes(() => bench.chat.locator(".queued").count(), 0, "nothing in the queue");
  await until(async () => /speed = 9/.test(await bench.editorText()), "the edit in the buffer");

  const first = bench.chat.locator(".row.user").first();
  await first.hover();
  await first.locator('button[aria-label="Fork from here"]').click();
  await until(async () => (await bench.chat.locator(".row.user, .row.end").count()) === 0, "the fork, which ends before that message");
  await until(async () => (await box().inputValue()) === "make it faster", "its words in the box, to be said differently");
  await bench.api.script({ blocks: ["In the fork."] });
  await bench.say("another way");
  await answer("In the fork.");
  await bench.api.script({ blocks: ["In the fork, again."] });
  await bench.chat.locator('button[aria-label="Try the last message again"]').click();
  await answer("In the fork, again.");
  await becomes(async () => (await bench.chat.locator(".row.text").allTextContents()).map((text) => text.trim()), ["In the fork, again."], "the second answer alone");

  await bench.command("Assent: Show Chat History");
  await bench.chat.locator("button.session").filter({ hasText: "make it faster" }).last().click();
  await answer("Nine it is.");
  await first.hover();
  await first.locator('button[aria-label="Rewind to here…"]').click();
  await pick("Conversation and files").waitFor();
  await bench.shot("rewind");
  assert.match(await pick("Conversation and files").textContent(), /app\.py/);
  await pick("Conversation and files").click();
  await until(async () => (await bench.chat.locator(".row.user").count()) === 0, "an empty conversation");
  await until(async () => (await box().inputValue()) === "make it faster", "the old words in the box, to be said differently");
  await box().fill("");
  await until(async () => /speed = 1/.test(await bench.editorText()), "the file as it was");
});

scene("code from an answer is copied, inserted at the cursor, and applied as an edit to review", async () => {
  await bench.newChat();
  await toPlace("place.py");
  await bench.page.keyboard.press("Control+End");
  await bench.api.script({ blocks: ["```python\nplaced = True\n```"] });
  await bench.say("a line of code");
  await ended();
  await bench.chat.locator('button[aria-label="Copy code"]').click();
  await until(async () => (await bench.page.evaluate(() => navigator.clipboard.readText())).trim() === "placed = True", "the code on the clipboard");
  await bench.chat.locator('button[aria-label="Insert at cursor"]').click();
  await until(async () => /placed = True/.test(await bench.editorText()), "the code in the buffer");
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "place.py" } }] }, { blocks: [{ tool: "Edit", input: { file_path: "place.py", old_string: "# here\n", new_string: "# there\n" } }] }, { blocks: ["Applied."] });
  await bench.chat.locator('button[aria-label="Apply to the open file…"]').first().click();
  await bench.lens("Accept").first().waitFor();
  await bench.shot("light-review");
  // The same change as a diff, and every change at once.
  await bench.command("Assent: Review File");
  await bench.reviewing("place.py");
  await until(async () => /# there/.test(await bench.proposedText()), "the proposed text on the right");
  await bench.lens("Accept").first().waitFor();
  await bench.shot("diff");
  await bench.command("Assent: Open All Proposed Changes");
  await bench.page.locator(".tab.active").filter({ hasText: "all proposed changes" }).waitFor();
  await until(async () => /# there/.test(await bench.page.locator(".multiDiffEditor, .monaco-component.multiDiffEditor").first().textContent().then((text) => text.replaceAll("\u00a0", " "))), "the proposed text among all changes");
  await bench.shot("diff-all");
  await bench.command("Assent: Accept All Hunks");
  await answer("Applied.");
  await bench.page.locator('.tab.active .tab-actions [aria-label^="Close"]').click();
  await bench.openFile("place.py");
  await bench.intoEditor();
  await bench.page.keyboard.press("Control+S");
  await bench.saved("place.py", "# there\nplaced = True\n");
});

scene("what the agent changed is saved before its command runs, and the user's own unsaved words are left alone", async () => {
  await bench.newChat();
  await toPlace("notes.txt");
  await bench.page.keyboard.press("Control+Home");
  await bench.page.keyboard.type("mine, unsaved: ");
  await toPlace("draft.txt");
  await bench.chat.locator("select.mode").selectOption("acceptEdits");
  const edit = { tool: "Edit", input: { file_path: "draft.txt", old_string: "old words", new_string: "new words" } };
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "draft.txt" } }] }, { blocks: [edit] }, { blocks: [{ tool: "Bash", input: { command: "cat draft.txt notes.txt", description: "Read both" } }] }, { blocks: ["Read."] });
  await bench.say("change the draft and look at both with a command");
  await answer("Read.");
  assert.match(textOf(toolResults(await lastCall()).at(-1)), /^new words\nnotes$/m);
  assert.equal(bench.read("draft.txt"), "new words\n");
  assert.equal(bench.read("notes.txt"), "notes\n");
});

scene("model and mode are picked, and context and cost are broken down", async () => {
  await bench.chat.locator("select.mode").selectOption("plan");
  await bench.chat.locator("select.model").selectOption("…");
  await bench.pickRow("Model", "Enter a name…");
  await bench.answerBox("The model's full name", "claude-sonnet-5");
  await until(async () => (await bench.chat.locator("select.model").inputValue()) === "claude-sonnet-5", "the model to be set");
  await bench.api.script({ blocks: ["Hello from the other one."] });
  await bench.say("who are you?");
  await answer("Hello from the other one.");
  assert.equal((await lastCall()).model, "claude-sonnet-5");
  await bench.chat.locator("select.model").selectOption("…");
  await bench.pickRow("Model", "claude-sonnet-5-5"); // what the endpoint lists
  await until(async () => (await bench.chat.locator("select.model").inputValue()) === "claude-sonnet-5-5", "the model that was picked");
  await bench.chat.locator("button.meter").click();
  await bench.chat.locator(".facts").filter({ hasText: "Context:" }).waitFor();
  assert.ok((await bench.chat.locator(".facts dt").count()) >= 3);
  await bench.shot("context");
  await bench.page.keyboard.press("Escape");
  await bench.chat.locator("button.cost").click();
  await bench.chat.locator(".facts").filter({ hasText: "Cost: $" }).filter({ hasText: "claude-sonnet-5" }).waitFor();
  await bench.chat.locator('.facts button[aria-label="Close"]').click();
});

scene("a change is asked for at the cursor, a selection and the terminal are brought into the chat", async () => {
  await bench.newChat();
  await toPlace("two.py");
  await bench.page.keyboard.press("Control+Home");
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "two.py" } }] }, { blocks: [{ tool: "Edit", input: { file_path: "two.py", old_string: "second = 2\n", new_string: "second = 2.0\n" } }] }, { blocks: ["Done at the cursor."] });
  await bench.key("Control+Alt+K");
  await bench.page.locator(".quick-input-widget").filter({ hasText: "change two.py" }).waitFor();
  await bench.shot("inline");
  await bench.answerBox("change two.py", "make it a float");
  await bench.lens("Accept").first().waitFor();
  await bench.command("Assent: Accept All Hunks");
  await answer("Done at the cursor.");
  assert.match(JSON.stringify((await calls()).at(-3).messages), /make it a float[^"]*two\.py:1/);

  await bench.intoEditor();
  await bench.page.keyboard.press("Control+Home");
  await bench.page.keyboard.press("Shift+End");
  await bench.key("Control+Alt+L");
  await bench.chat.locator(".chip").filter({ hasText: "two.py:1" }).waitFor();

  const terminal = await bench.openTerminal();
  await bench.page.keyboard.type("echo from-the-shell\n");
  await until(async () => /^from-the-shell/m.test((await terminal.locator(".xterm-rows > div").allTextContents()).join("\n")), "the shell's answer");
  await bench.command("Terminal: Select All");
  await bench.command("Assent: Add Terminal Selection to Chat");
  await until(async () => /From the terminal:\n```\n[^]*from-the-shell/.test(await box().inputValue()), "the terminal's words in the box");
  await bench.shot("terminal");
  await box().fill("");
  await bench.page.keyboard.press("Control+J");
  await bench.chat.locator('.chip button[aria-label^="Remove"]').first().click();
});

scene("a commit message is written into the source control box", async () => {
  bench.write({ "app.py": "speed = 3\n" });
  await bench.showSourceControl("app.py");
  await bench.api.script({ blocks: ["Triple the speed"] });
  await bench.command("Assent: Write Commit Message");
  await until(async () => /Triple the speed/.test(await bench.page.locator(".scm-view .scm-editor").textContent().then((text) => text.replaceAll("\u00a0", " "))), "the message in the box");
  assert.match(await said(), /\+speed = 3/);
  await bench.shot("commit");
});

scene("someone who looks elsewhere is told that it waits, and that it has finished", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["Starting.", { hold: "away" }, { tool: "Bash", input: { command: "touch noticed.txt", description: "Notice" } }] }, { blocks: ["All done."] });
  await bench.say("do it while I am away");
  await answer("Starting.");
  await bench.showExplorer();
  await bench.page.locator("iframe.webview.ready").waitFor({ state: "detached" });
  await bench.api.release("away");
  await toast("Assent asks: ").waitFor();
  await bench.shot("notified");
  // The window loses the focus, as the browser would say it.
  await bench.page.evaluate(() => {
    document.hasFocus = () => false;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await bench.command("Assent: Allow Once");
  await bench.pressNotice("Assent has finished", "Show");
  assert.equal(bench.read("noticed.txt"), "");
  await bench.page.evaluate(() => {
    delete document.hasFocus;
    document.dispatchEvent(new Event("visibilitychange"));
  });
  await answer("All done.");
});

scene("an ask that was in view is told when someone looks away from it", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: [{ tool: "Bash", input: { command: "touch seen.txt", description: "See" } }] }, { blocks: ["Seen."] });
  await bench.say("ask while I look");
  await bench.chat.locator(".card.ask").waitFor();
  assert.equal(await toast(/Assent asks: .*seen\.txt/).count(), 0);
  await bench.showExplorer();
  await bench.pressNotice(/Assent asks: .*seen\.txt/, "Show");
  await bench.chat.locator('.card.ask [data-answer="once"]').click();
  await answer("Seen.");
});

scene("a conversation is held and an ask allowed with the keyboard alone, in high contrast", async () => {
  await bench.theme("Dark High Contrast", ".hc-black");
  await bench.newChat();
  await bench.key("Control+Alt+I");
  await until(async () => box().evaluate((element) => element === document.activeElement && document.hasFocus()), "the focus in the box");
  await bench.api.script({ blocks: [{ tool: "Bash", input: { command: "touch keyed.txt", description: "By keys" } }] }, { blocks: ["Keys suffice.\n\n```python\nx = 1\n```"] });
  await bench.page.keyboard.type("only keys");
  await bench.page.keyboard.press("Enter");
  await bench.chat.locator(".card.ask").waitFor();
  await bench.shot("contrast-ask");
  const focused = () => bench.chat.locator(":focus").evaluate((element) => element.dataset.answer ?? element.className);
  const way = [];
  for (let steps = 0; steps < 12 && way.at(-1) !== "once"; steps += 1) {
    await bench.page.keyboard.press("Shift+Tab");
    way.push(await focused());
  }
  assert.equal(way.at(-1), "once", way.join(" "));
  await bench.page.keyboard.press("Enter");
  await answer("Keys suffice.");
  assert.equal(bench.read("keyed.txt"), "");
  await until(async () => box().evaluate((element) => element === document.activeElement && document.hasFocus()), "the focus back in the box once the card is gone");
  await bench.shot("contrast");
  await toPlace("two.py");
  const edit = { tool: "Edit", input: { file_path: "two.py", old_string: "second =", new_string: "other =" } };
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "two.py" } }] }, { blocks: [edit] }, { blocks: ["Never mind, then."] });
  await bench.say("rename it");
  await bench.lens("Reject").first().waitFor();
  await bench.shot("contrast-review");
  await bench.command("Assent: Reject All Hunks");
  await answer("Never mind, then.");
  await bench.theme("Light Modern", ".vs");
});

scene("every built-in slash command is typed, and its answer stands in the chat", async () => {
  await bench.newChat();
  // Tests over the wire, in a terminal and in Neovim read the same table: a prompt, and words of its answer.
  for (const [number, [prompt, words]] of JSON.parse(readFileSync(join(ROOT, "tests", "cases", "slash-commands.json"), "utf8")).entries()) {
    const long = "There is much to say about it. ".repeat(40);
    if (words === "model" || prompt === "/compact") await bench.api.script({ blocks: [`Answer ${number}. ${long}`] });
    await bench.say(`${prompt} `); // the space closes the list of completions, which Enter would take from
    await answer(words === "model" ? `Answer ${number}.` : words);
  }
});

scene("the report and the walkthrough open with what they should say", async () => {
  await bench.command("Assent: Report Issue…");
  await says(() => bench.editorText(), /Assent: issue report[^]*Nothing has been sent/, "the report");
  assert.doesNotMatch(await bench.editorText(), /test-key/);
  await bench.shot("report");
  await bench.newChat();
  await bench.api.script({ blocks: ["Hello."] });
  await bench.say("hello");
  await answer("Hello.");
  await bench.command("Assent: Get Started");
  await bench.page.locator(".gettingStartedContainer").filter({ hasText: "Assent" }).waitFor();
  // What was done before the walkthrough was first opened is ticked.
  for (const step of ["Give it a model", "Ask something"]) await bench.page.locator('.getting-started-step[aria-checked="true"]').filter({ hasText: step }).waitFor();
  await bench.shot("walkthrough");
  await bench.page.locator('.tab.active .tab-actions [aria-label^="Close"]').click();
});

scene("a damaged conversation, a missing Python and an old one are said in plain words", async () => {
  const folder = join(bench.home, "share", "assent", "sessions");
  const file = readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith(".jsonl"));
  assert.ok(file.length > 3);
  await bench.newChat();
  await bench.api.script({ blocks: ["Soon damaged."] });
  await bench.say("break me later");
  await answer("Soon damaged.");
  const mine = readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith(".jsonl")).find((name) => !file.includes(name));
  await bench.newChat();
  const panel = bench.chat.locator(".banner.server.error");
  const old = join(bench.home, "old-python");
  writeFileSync(old, "#!/bin/sh\necho 3.8\necho False\n", { mode: 0o755 });
  bench.machine({ "assent.server.python": join(bench.home, "no-such-python") });
  await panel.filter({ hasText: "is not a Python interpreter" }).waitFor();
  await bench.shot("no-python");
  appendFileSync(join(folder, mine), "{not json at all\n\u0000\u0000\n");
  bench.machine({ "assent.server.python": old });
  await panel.filter({ hasText: "Assent needs Python 3.11 or newer" }).filter({ hasText: "is Python 3.8" }).waitFor();
  await bench.shot("old-python");
  bench.machine({});
  await bench.ready();
  await bench.command("Assent: Show Chat History");
  await bench.chat.locator("button.session").filter({ hasText: "break me later" }).first().click();
  await answer("Soon damaged.");
  await bench.chat.locator(".notice, .banner").filter({ hasText: /damaged|could not be read/i }).first().waitFor();
  await bench.shot("damaged");
});

scene("a server that says hello and then cannot load the rest of itself is said with the reason, and tried again", async () => {
  // An installation that lost a part of itself, as after an upgrade that was cut off.
  const torn = "import sys; sys.modules['assent.sessions.hub'] = None; from assent.cli.main import main; sys.exit(main(['serve', '--stdio']))";
  const python = join(bench.home, "torn-python");
  writeFileSync(python, `#!/bin/sh\ncase "$*" in *assent.cli.main*serve*) exec "${PYTHON}" -I -c "${torn}" ;; esac\nexec "${PYTHON}" "$@"\n`, { mode: 0o755 });
  bench.machine({ "assent.server.python": python });
  const panel = bench.chat.locator(".banner.server.error");
  await panel.filter({ hasText: "The Assent server did not start" }).filter({ hasText: "assent.sessions.hub" }).waitFor();
  await bench.shot("torn-server");
  bench.machine({});
  await bench.ready();
});
