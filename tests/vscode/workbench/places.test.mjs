// Every place of the editor to ask from: lightbulb, context menus, palette. And what the palette does not offer when it cannot work.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before } from "node:test";
import { says, scenes, textOf, toolResults, until, Workbench } from "./harness.mjs";

const SHAPES = "export function area(width: number, height: number): number {\n  return width * height;\n}\n";
const ROOM = 'import { area } from "./shapes";\n\nexport const floor = area(3, 4);\n';
/** The words each action sends, as one begins to read them. */
const ACTIONS = [
  ["Explain", /^Explain @shapes\.ts line 2\. Change nothing\./],
  ["Refactor…", /^Refactor @shapes\.ts line 2 so that it reads better/],
  ["Write Tests", /^Write tests for @shapes\.ts line 2,/],
  ["Document", /^Document @shapes\.ts line 2 in the style of this project/],
];
/** Commands that need something, by what they need. */
const NEEDS = {
  file: ["Explain", "Refactor…", "Write Tests", "Document", "Ask About Selection", "Add File to Chat", "Change Code Here…"],
  hunks: ["Accept Hunk", "Accept Hunk with Note…", "Reject Hunk", "Reject Hunk with Reason…", "Review Hunk", "Next Hunk", "Previous Hunk", "Accept All Hunks in File", "Reject All Hunks in File", "Accept All Hunks", "Reject All Hunks", "Review File", "Open All Proposed Changes"],
  turn: ["Stop", "Show What Is Waiting", "Allow Once", "Allow Always…", "Deny…"],
  chat: ["Export Chat as Markdown", "Find in Chat", "Show Hook Log"],
  terminal: ["Add Terminal Selection to Chat"],
};
const ALWAYS = ["Add Rule…", "Choose Python…", "Get Started", "Move Chat to Another Side Bar…", "New Chat", "New Chat in Editor Tab", "Open Chat in Editor Tab", "Open Settings", "Report Issue…", "Restart Server", "Set API Key…", "Show Chat History", "Show Log", "Trust This Workspace's Settings", "Write Commit Message"];

const bench = new Workbench();

before(async () => {
  bench.write({ "shapes.ts": SHAPES, "room.ts": ROOM, "plain.txt": "plain\n", "changed.txt": "before\n", "three.txt": "one\n\n\n\ntwo\n\n\n\nthree\n", "tsconfig.json": "{}\n" });
  const git = (...args) => execFileSync("git", ["-C", bench.folder, "-c", "user.name=Test", "-c", "user.email=test@example.org", ...args], { stdio: "ignore" });
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "Start");
  bench.write({ "changed.txt": "after\n" });
  await bench.start({ settings: { "git.enabled": true, "git.openRepositoryInParentFolders": "never", "scm.alwaysShowRepositories": true, "typescript.disableAutomaticTypeAcquisition": true, "explorer.autoReveal": false } });
});
after(() => bench.stop());

const scene = scenes(bench, "places");
const lastCall = async () => (await bench.api.calls()).at(-1);
const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const box = () => bench.chat.locator("textarea.prompt");
const BULB = '.editor-instance [class*="codicon-light-bulb"], .editor-instance [class*="codicon-lightbulb"], .editor-instance [class*="gutter-lightbulb"]';

/** The second line of shapes.ts, selected as people do it: a file that has just opened may move under the mouse. */
async function selectLine() {
  await bench.openFile("shapes.ts");
  await until(async () => {
    await bench.page.locator(".editor-instance .view-line").filter({ hasText: "return" }).click();
    await bench.page.keyboard.press("Home");
    await bench.page.keyboard.press("Shift+End");
    const place = bench.page.locator(".statusbar").filter({ hasText: "Ln 2, Col 25 (22 selected)" });
    return place.waitFor({ timeout: 2000 }).then(() => true, () => false);
  }, "the second line to be selected");
}

/** An entry of an open context menu, by its words. */
const entry = (name) => bench.page.locator(`.monaco-menu .action-label[aria-label="${name}"]`).last();

/** A press of the mouse where something is; unlike `click` it scrolls nothing, which would close what just opened. */
async function press(target, button = "left") {
  await target.waitFor();
  const { x, y, width, height } = await target.boundingBox();
  await bench.page.mouse.click(x + Math.min(width / 2, 60), y + height / 2, { button });
}

/**
 * Takes an entry of the menu that `open` opens, of a submenu when there are two names, by keys: a press of the mouse on a
 * menu that is just being drawn can close it and do nothing. A menu that a late focus has closed is opened again.
 */
async function choose(open, ...names) {
  const menu = bench.page.locator(".monaco-menu").first();
  await until(async () => {
    if (!(await menu.isVisible())) await open();
    for (const [depth, name] of names.entries()) {
      const wanted = bench.page.locator(`.monaco-menu .action-item.focused > * > .action-label[aria-label="${name}"]`);
      await entry(name).waitFor({ timeout: 5000 });
      for (let steps = 0; !(await wanted.count()); steps += 1) {
        if (steps === 60) throw new Error(`${name} cannot be reached with the arrow keys`);
        await bench.page.keyboard.press("ArrowDown");
      }
      await bench.page.keyboard.press(depth < names.length - 1 ? "ArrowRight" : "Enter");
      // A submenu chooses its first entry by itself when it is there; a step before that would be undone.
      if (depth < names.length - 1) await bench.page.locator(".monaco-submenu .action-item.focused").waitFor({ timeout: 5000 });
    }
    await menu.waitFor({ state: "hidden", timeout: 5000 });
    return true;
  }, `${names.join(", ")} to be taken from a menu`);
}

const fromMenu = (target, ...names) => choose(() => press(target, "right"), ...names);

/** All commands of ours that the palette offers. It draws only the rows in view, so it is walked through. */
async function palette() {
  const input = bench.page.locator(".quick-input-widget input[type=text]");
  const rows = bench.page.locator(".quick-input-list .monaco-list-row");
  await bench.listed(">Assent: ", "F1", input, rows.filter({ hasText: /^Assent: / }).first());
  const found = new Set();
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (let page = 0; page < 3; page += 1) {
      for (const label of await rows.evaluateAll((all) => all.map((row) => row.getAttribute("aria-label")))) {
        const name = /^Assent: ([^,]+)/.exec(label ?? "")?.[1];
        if (name) found.add(name);
      }
      await input.press("PageDown");
    }
  }
  await input.press("Escape");
  return found;
}

scene("the palette offers only what can be done now", async () => {
  /** What the palette offers, once it has these and has not those: each condition is told to the workbench for itself. */
  const offers = async (what, present, absent) => {
    let offered;
    await until(async () => {
      offered = await palette();
      assert.deepEqual({ absent: present.filter((name) => !offered.has(name)), present: absent.filter((name) => offered.has(name)) }, { absent: [], present: [] });
      return true;
    }, what);
    return offered;
  };
  await bench.showSourceControl("changed.txt");
  await offers("what is always there", ALWAYS, Object.values(NEEDS).flat());
  await bench.openFile("plain.txt");
  const offered = await offers("commands on a file", [...ALWAYS, ...NEEDS.file], [...NEEDS.hunks, ...NEEDS.turn, ...NEEDS.chat, ...NEEDS.terminal]);
  assert.equal(offered.size, ALWAYS.length + NEEDS.file.length + 2, [...offered].join()); // and "Focus on Chat View" and "Focus on Setup View", which the editor makes

  await bench.openChat();
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "plain.txt" } }] }, { blocks: [{ tool: "Edit", input: { file_path: "plain.txt", old_string: "plain", new_string: "fancy" } }] }, { blocks: ["Then not."] });
  await bench.say("change it");
  await bench.lens("fancy").waitFor();
  await bench.intoEditor();
  await offers("commands on hunks", [...ALWAYS, ...NEEDS.file, ...NEEDS.hunks, ...NEEDS.turn, ...NEEDS.chat], NEEDS.terminal);
  // In another file there is nothing to accept, but somewhere to go.
  await bench.openFile("changed.txt");
  await offers("no hunk to accept here", ["Next Hunk", "Accept All Hunks", "Open All Proposed Changes"], ["Accept Hunk"]);
  await bench.command("Assent: Next Hunk");
  await bench.reviewing("plain.txt");
  await bench.command("Assent: Stop");
  await bench.chat.locator(".row.end, .notice").filter({ hasText: "Stopped" }).first().waitFor();
  await bench.api.forget();
  await offers("nothing to stop, and no hunk to accept any more", [], [...NEEDS.turn, ...NEEDS.hunks]);
  // What was proposed in a turn that was stopped is gone, all of it.
  await until(async () => (await bench.page.locator(".codelens-decoration a").count()) === 0, "nothing left of the proposal in the editor");
});

scene("every lightbulb action on a selection sends its own words, and asking leaves them to be finished", async () => {
  for (const [name, words] of ACTIONS) {
    await bench.newChat();
    await selectLine();
    await bench.api.script({ blocks: [`Done: ${name}`] });
    await fromBulb(name);
    await answer(`Done: ${name}`);
    assert.match(await bench.chat.locator(".row.user .said").last().textContent(), words);
    assert.match(JSON.stringify((await lastCall()).messages.at(-1)), /return width \* height;/);
  }
  await bench.newChat();
  await selectLine();
  const before = (await bench.api.calls()).length;
  await fromBulb("Ask about selection", async () => (await box().inputValue()) === "@shapes.ts line 2: ");
  await until(async () => box().evaluate((element) => element === document.activeElement && document.hasFocus()), "the focus behind it");
  assert.equal((await bench.api.calls()).length, before);
  await box().fill("");
});

/** Takes one of our actions from the bulb beside the selection, by keys: a press of the mouse on a list that is just being
 * drawn closes it and does nothing, and so may a list that is drawn anew while the key is on its way. `taken` says whether
 * the action began. */
async function fromBulb(name, taken = () => bench.chat.locator(".row.user").count()) {
  const wanted = new RegExp(`Assent: ${name}$`, "i");
  const action = bench.page.locator(".action-widget .monaco-list-row").filter({ hasText: wanted });
  const focused = bench.page.locator(".action-widget .monaco-list-row.focused").filter({ hasText: wanted });
  await until(async () => {
    if (await focused.count()) {
      await bench.page.keyboard.press("Enter");
      await action.waitFor({ state: "hidden" });
      return until(taken, `${name} to begin`, 30_000);
    }
    if (await action.isVisible()) await bench.page.keyboard.press("ArrowDown");
    else await press(bench.page.locator(BULB).first()); // not open yet, or closed again by a late focus
    await action.waitFor({ timeout: 5000 });
    return false;
  }, `${name} to be chosen among the lightbulb's actions`);
}

scene("every entry of the editor's context menu acts on the selection", async () => {
  const line = bench.page.locator(".editor-instance .view-line").filter({ hasText: "return" });
  for (const [name, words] of ACTIONS) {
    await bench.newChat();
    await selectLine();
    await bench.api.script({ blocks: [`From the menu: ${name}`] });
    await fromMenu(line, "Assent", name);
    await answer(`From the menu: ${name}`);
    assert.match(await bench.chat.locator(".row.user .said").last().textContent(), words);
  }
  await bench.newChat();
  await selectLine();
  await press(line, "right");
  await entry("Assent").hover();
  await entry("Document").waitFor();
  await bench.shot("context-menu");
  await bench.page.keyboard.press("Escape");
  await bench.page.keyboard.press("Escape");
  await bench.page.locator(".monaco-menu").first().waitFor({ state: "hidden" });
  await fromMenu(line, "Assent", "Ask About Selection");
  await bench.chat.locator(".chip").filter({ hasText: "shapes.ts:2" }).waitFor();
  await selectLine();
  await fromMenu(line, "Assent", "Add File to Chat");
  await bench.chat.locator(".chip").filter({ hasText: /^shapes\.ts$/ }).waitFor();
  await bench.api.script({ blocks: ["Both seen."] });
  await bench.say("what of these?");
  await answer("Both seen.");
  assert.match(JSON.stringify((await lastCall()).messages.at(-1)), /export function area/);

  await selectLine();
  await fromMenu(line, "Assent", "Change Code Here…");
  await bench.api.script({ blocks: ["Changed nothing."] });
  await bench.answerBox("change shapes.ts", "leave it");
  await answer("Changed nothing.");
  assert.match(await bench.chat.locator(".row.user .said").last().textContent(), /^leave it\s+\(at @shapes\.ts:2\)/);
});

scene("files come from the explorer's and the source control's menus, words from the terminal's", async () => {
  await bench.newChat();
  await bench.showExplorer();
  const row = (name) => bench.page.locator(".explorer-folders-view .monaco-list-row").filter({ hasText: name });
  // The file that the first click opens arrives a moment later, and a choice made meanwhile may not last.
  await until(async () => {
    await row("room.ts").click();
    await bench.page.locator('.tab.active[data-resource-name="room.ts"]').waitFor();
    await row("plain.txt").click({ modifiers: ["Control"] });
    return (await row(/room\.ts|plain\.txt/).and(bench.page.locator(".selected")).count()) === 2;
  }, "both files to be chosen");
  await fromMenu(row("plain.txt"), "Add File to Chat");
  for (const name of ["room.ts", "plain.txt"]) await bench.chat.locator(".chip").filter({ hasText: name }).waitFor();

  await bench.showSourceControl("changed.txt");
  const change = bench.page.locator(".scm-view .monaco-list-row").filter({ hasText: "changed.txt" }).first();
  await fromMenu(change, "Add File to Chat");
  await bench.chat.locator(".chip").filter({ hasText: "changed.txt" }).waitFor();
  await bench.shot("chips");

  const terminal = await bench.openTerminal();
  await bench.page.keyboard.type("echo from-the-menu\n");
  await until(async () => /^from-the-menu/m.test((await terminal.locator(".xterm-rows > div").allTextContents()).join("\n")), "the shell's answer");
  await fromMenu(terminal, "Add Terminal Selection to Chat");
  await bench.page.locator(".notification-list-item").filter({ hasText: "select something in the terminal first" }).first().waitFor();
  await bench.command("Terminal: Select All");
  await fromMenu(terminal, "Add Terminal Selection to Chat");
  await until(async () => /From the terminal:\n```\n[^]*from-the-menu/.test(await box().inputValue()), "the terminal's words in the box");
  await bench.page.keyboard.press("Control+J");
  await bench.api.script({ blocks: ["All seen."] });
  await box().press("Enter");
  await answer("All seen.");
  assert.match(JSON.stringify((await lastCall()).messages.at(-1)), /after[^]*from-the-menu|from-the-menu[^]*after/);
});

scene("a commit message is asked for at the repository, by its button and from its menu", async () => {
  const message = async () => (await bench.page.locator(".scm-view .scm-editor").textContent()).replaceAll("\u00a0", " ");
  await bench.showSourceControl("changed.txt");
  await bench.api.script({ blocks: ["Say what came after"] });
  const provider = bench.page.locator(".monaco-list-row .scm-provider, .scm-provider").first();
  await provider.hover();
  await bench.page.locator('.part.sidebar .action-label[aria-label="Write Commit Message"], .part.sidebar .action-label[aria-label^="Assent: Write Commit Message"]').first().click();
  await until(async () => /Say what came after/.test(await message()), "the message in the box");
  assert.match(JSON.stringify((await lastCall()).messages), /\+after/);
  await bench.api.script({ blocks: ["Say it otherwise"] });
  await fromMenu(provider, "Write Commit Message");
  await until(async () => /Say it otherwise/.test(await message()), "the other message in the box");
  await bench.shot("commit-menu");
});

scene("a rename over two files is reviewed file by file, and the model is told which of them changed", async () => {
  await bench.openChat();
  await bench.newChat();
  await bench.openFile("room.ts");
  await bench.openFile("shapes.ts");
  await bench.api.script(
    { blocks: [{ tool: "Read", input: { file_path: "shapes.ts" } }, { tool: "References", input: { file_path: "shapes.ts", line: 1, symbol: "area" } }] },
    { blocks: [{ tool: "Rename", input: { file_path: "shapes.ts", line: 1, symbol: "area", new_name: "surface" } }] },
    { blocks: ["Half renamed."] },
  );
  // The language server needs a moment to know both files; until then it would rename in one only.
  await bench.page.locator(".editor-group-container.active .breadcrumbs-control").filter({ hasText: "area" }).waitFor();
  await bench.say("rename area to surface");
  const card = bench.chat.locator(".card.ask");
  await card.waitFor();
  await bench.lens("export function surface").waitFor();
  assert.match(textOf(toolResults(await lastCall())[1]), /room\.ts:3/);
  await card.filter({ hasText: "function surface" }).filter({ hasText: "surface(3, 4)" }).waitFor(); // one answer for both, so both are shown
  await bench.shot("rename-two-files");
  const list = bench.page.locator(".pane-header").filter({ hasText: "Review" });
  if ((await list.getAttribute("aria-expanded")) !== "true") await list.click();
  const rows = bench.page.locator(".pane").filter({ has: list }).locator(".monaco-list-row");
  for (const name of ["shapes.ts", "room.ts"]) await rows.filter({ hasText: name }).first().waitFor();
  await bench.lens("Accept").first().click();
  await until(async () => /function surface/.test(await bench.editorText()), "the new name in the first file");
  assert.equal(await bench.chat.locator(".row.text").filter({ hasText: "Half renamed." }).count(), 0);
  await bench.command("Assent: Next Hunk");
  await bench.reviewing("room.ts");
  await bench.lens("Accept").first().waitFor();
  await bench.command("Assent: Reject All Hunks in File");
  await answer("Half renamed.");
  await bench.openFile("room.ts");
  const told = textOf(toolResults(await lastCall()).at(-1));
  assert.match(told, /shapes\.ts/);
  assert.match(told, /room\.ts[^]*(reject|not changed|left)|(reject|not changed|left)[^]*room\.ts/i);
  await says(() => bench.editorText(), /area\(3, 4\)/, "the second file as it was");
  await bench.openFile("shapes.ts");
  await says(() => bench.editorText(), /function surface/, "the first file with the new name");
  // One undo takes it back, as any edit.
  await bench.intoEditor();
  await bench.page.keyboard.press("Control+Z");
  await until(async () => /function area/.test(await bench.editorText()), "the old name again");
});

scene("the buttons over the side bar's chat act on that chat, whichever was used last", async () => {
  const button = (name) => bench.page.locator(`.part.sidebar .title .action-label[aria-label^="${name}"], .part.sidebar .pane-header .action-label[aria-label^="${name}"]`).first();
  const tab = bench.page.frameLocator("iframe.webview.ready >> nth=1").frameLocator("#active-frame");
  await bench.openChat();
  await bench.newChat();
  await bench.api.script({ blocks: ["Here in the side bar."] });
  await bench.say("where are you?");
  await answer("Here in the side bar.");
  await button("Open Chat in Editor Tab").click();
  await tab.locator(".row.text").filter({ hasText: "Here in the side bar." }).waitFor();
  await bench.api.script({ blocks: ["And in the tab."] });
  await tab.locator("textarea.prompt").fill("and now?");
  await tab.locator("textarea.prompt").press("Enter");
  await tab.locator(".row.text").filter({ hasText: "And in the tab." }).waitFor();
  await answer("And in the tab."); // both show the same conversation
  await button("Show Chat History").click();
  await bench.chat.locator(".history li[data-session]").first().waitFor();
  assert.equal(await tab.locator(".history:not([hidden])").count(), 0);
  await bench.chat.locator('button[aria-label="Close history"]').click();
  await tab.locator("textarea.prompt").click();
  await button("New Chat").click();
  await bench.chat.locator('body[data-session=""]').waitFor();
  await tab.locator(".row.text").filter({ hasText: "And in the tab." }).waitFor();
  await bench.page.locator('.tab.active .tab-actions [aria-label^="Close"]').click();
  await bench.page.locator("iframe.webview.ready >> nth=1").waitFor({ state: "detached" });

  // What stands behind the dots, and the same from the palette.
  await bench.api.script({ blocks: ["To be **kept**."] });
  await bench.say("keep this");
  await answer("To be kept.");
  await choose(() => press(button("More Actions")), "Export Chat as Markdown");
  await until(async () => /To be \*\*kept\*\*/.test(await bench.editorText()), "the conversation as Markdown");
  await bench.command("View: Revert and Close Editor");
  await bench.command("Assent: Open Chat in Editor Tab");
  await tab.locator(".row.text").filter({ hasText: "To be kept." }).waitFor();
  await bench.page.locator('.tab.active .tab-actions [aria-label^="Close"]').click();
  await bench.page.locator("iframe.webview.ready >> nth=1").waitFor({ state: "detached" });
});

scene("an ask is gone to with a key and denied with a reason by command", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: [{ tool: "Bash", input: { command: "touch denied.txt", description: "Deny me" } }] }, { blocks: ["As you wish."] });
  await bench.say("make it");
  await bench.chat.locator(".card.ask").waitFor();
  await bench.showExplorer();
  await bench.page.locator("iframe.webview.ready").waitFor({ state: "detached" });
  await bench.key("Control+Alt+W");
  await bench.chat.locator(".card.ask").waitFor();
  await bench.showExplorer();
  await bench.page.locator("iframe.webview.ready").waitFor({ state: "detached" });
  await bench.page.locator(".statusbar-item").filter({ hasText: "waits for you" }).click();
  await bench.chat.locator(".card.ask").waitFor();
  await bench.command("Assent: Deny…");
  await bench.answerBox("A reason for the model", "not this file");
  await answer("As you wish.");
  assert.match(textOf(toolResults(await lastCall())[0]), /not this file/);
});

scene("a hunk is accepted with a note, one edited and put back, one rejected by key", async () => {
  await bench.newChat();
  await bench.openFile("three.txt");
  const edits = ["one", "two", "three"].map((word) => ({ old_string: `${word}\n`, new_string: `${word.toUpperCase()}\n` }));
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "three.txt" } }] }, { blocks: [{ tool: "MultiEdit", input: { file_path: "three.txt", edits } }] }, { blocks: ["Noted."] });
  await bench.say("shout");
  await bench.lens("THREE").waitFor();
  await bench.page.locator(".editor-instance .view-line").filter({ hasText: "one" }).click();
  await bench.command("Assent: Accept Hunk with Note…");
  await bench.answerBox("A note for the model", "only this once");
  await until(async () => /ONE/.test(await bench.editorText()), "the first hunk");
  await until(async () => (await bench.lens("Accept").count()) === 2, "no row over what is decided");
  await bench.key("Alt+F5");
  await bench.reviewing("three.txt");
  await until(() => bench.focused(), "the keyboard in the review");
  await bench.page.keyboard.press("End");
  await bench.page.keyboard.type("!");
  await bench.lens("Back to the proposal").click();
  await bench.lens("Accept as edited").waitFor({ state: "detached" });
  await until(async () => /^TWO$/m.test(await bench.proposedText()), "the proposed line again");
  await bench.page.locator(".editor-group-container.active .modified .lines-content > .view-lines > .view-line").filter({ hasText: "THREE" }).click();
  await bench.key("Control+Alt+N");
  await until(async () => (await bench.lens("Accept").count()) === 1, "one hunk left");
  await bench.key("Control+Alt+Y");
  await answer("Noted.");
  await bench.openFile("three.txt");
  await until(async () => (await bench.editorText()).trim() === "ONE\n\n\n\nTWO\n\n\n\nthree", "the file as it was decided");
  const told = textOf(toolResults(await lastCall()).at(-1));
  assert.match(told, /2 of 3/);
  assert.match(told, /only this once/);
});

scene("settings and log are a command away", async () => {
  await bench.command("Assent: Open Settings");
  await bench.page.locator(".settings-editor .setting-item").filter({ hasText: "How new conversations ask" }).first().waitFor();
  await bench.shot("settings");
  await bench.page.locator('.modal-editor-part [aria-label^="Close"]').first().click();
  await bench.page.locator(".settings-editor").waitFor({ state: "detached" });
  await bench.command("Assent: Show Log");
  await bench.page.locator(".part.panel .view-line").filter({ hasText: "server:" }).first().waitFor();
});

scene("a change that is withdrawn as soon as it is proposed leaves nothing in the editor", async () => {
  await bench.newChat();
  await bench.openFile("plain.txt");
  await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: "plain.txt" } }] }, { blocks: [{ tool: "Bash", input: { command: "false", description: "Fail" } }, { tool: "Edit", input: { file_path: "plain.txt", old_string: "plain", new_string: "fancy" } }] }, { blocks: ["Neither, then."] });
  await bench.say("both at once");
  await answer("Neither, then.");
  await until(async () => (await bench.page.locator(".codelens-decoration a").count()) === 0, "nothing of it in the editor");
  await until(async () => !(await palette()).has("Next Hunk"), "nothing to review");
});
