// The review: a native diff per file whose right side can be typed into, a quiet row in the real file, keys all the way.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { becomes, scenes, textOf, toolResults, until, Workbench } from "./harness.mjs";

const FILES = Array.from({ length: 6 }, (_, file) => `part${file}.py`);
const BIG = Array.from({ length: 5 }, (_, at) => `value${at} = ${at}\n\n\n\n`).join("");
const LINES = "a = 1\nb = 2\nc = 3\nd = 4\n";

const bench = new Workbench();

before(async () => {
  bench.write({ ...Object.fromEntries(FILES.map((name) => [name, BIG])), "calm.py": "# calm\nspeed = 1\n\n\n\nlimit = 1\n", "lines.py": LINES, "blank.py": "if True:\n  pass\n", "typed.py": "first = 1\n\n\n\nlast = 9\n", "undone.py": "left = 1\n\n\n\nright = 1\n", "quick.py": "near = 1\n\n\n\nfar = 1\n" });
  await bench.start();
});
after(() => bench.stop());

const scene = scenes(bench, "review");
const lastCall = async () => (await bench.api.calls()).at(-1);
const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const read = (...names) => ({ blocks: names.map((name) => ({ tool: "Read", input: { file_path: name } })) });
const edits = (file_path, ...pairs) => ({ tool: "MultiEdit", input: { file_path, edits: pairs.map(([old_string, new_string]) => ({ old_string, new_string })) } });
const diff = () => bench.page.locator(".editor-group-container.active .monaco-diff-editor");
const right = () => diff().locator(".editor.modified");
const lens = (text) => bench.lens(text);
const reviewing = (name) => bench.reviewing(name);
const heightOf = (locator) => locator.evaluate((element) => element.getBoundingClientRect().height);

scene("a proposed line costs one quiet row in the file, and the review shows it as a diff in which it is edited and accepted", async () => {
  await bench.newChat();
  await bench.openFile("calm.py");
  await bench.api.script(read("calm.py"), { blocks: ["I will raise both.", edits("calm.py", ["speed = 1\n", "speed = 2\n"], ["limit = 1\n", "limit = 2\n"])] }, { blocks: ["Raised."] });
  await bench.say("raise them");
  // In the file: one row over each hunk, the model's reason once, no proposed text in the buffer.
  await lens("speed = 2").waitFor();
  await lens("limit = 2").waitFor();
  await until(async () => (await lens("I will raise both.").count()) === 1, "the model's reason, once");
  assert.doesNotMatch(await bench.editorText(), /speed = 2/);
  assert.ok((await heightOf(bench.page.locator(".editor-instance .codelens-decoration").first())) <= 40, "one row");
  await bench.shot("review-hint");

  await lens("speed = 2").click();
  await reviewing("calm.py");
  await until(async () => /speed = 2[^]*limit = 2/.test(await bench.proposedText()), "both proposed lines on the right");
  await lens("Accept").first().waitFor();
  await until(async () => (await lens("Accept").count()) === 2, "a row of actions under each hunk");
  await bench.shot("review-diff");
  await lens("I will raise both.").click();
  await bench.page.locator(".notification-list-item").filter({ hasText: "I will raise both." }).first().waitFor();
  const [old, fresh] = await Promise.all([diff().locator(".line-delete").first().boundingBox(), diff().locator(".line-insert").first().boundingBox()]);
  assert.ok(old && fresh, "old lines are marked red, new ones green");

  // Typing into a proposed line edits it; typing anywhere else is refused.
  await right().locator(".lines-content > .view-lines > .view-line").filter({ hasText: "speed" }).click();
  await bench.page.keyboard.press("End");
  await bench.page.keyboard.type("  # by hand");
  await lens("Accept as edited").waitFor();
  await right().locator(".lines-content > .view-lines > .view-line").filter({ hasText: "# calm" }).click();
  await bench.page.keyboard.press("End");
  await bench.page.keyboard.type("!");
  await bench.page.locator(".statusbar").filter({ hasText: "only proposed lines can be edited here" }).waitFor();
  await until(async () => !/# calm!/.test(await bench.proposedText()), "the other line as it was");
  await bench.shot("review-edited");
  await lens("Accept as edited").click();
  await until(async () => (await lens("Accept").count()) === 1, "one hunk left");
  await lens("Reject with reason").click();
  await bench.answerBox("A reason for the model", "the limit is fixed");
  await answer("Raised.");
  await bench.chat.locator(".row.end").filter({ hasText: "1 file +1 −1" }).waitFor(); // what was accepted, not what was proposed
  await bench.page.locator(".tab").filter({ hasText: "(review)" }).waitFor({ state: "detached" });
  const told = textOf(toolResults(await lastCall()).at(-1));
  assert.match(told, /speed = 2 {2}# by hand/);
  assert.match(told, /the limit is fixed/);
  await until(async () => /speed = 2 {2}# by hand\n[^]*limit = 1/.test(await bench.editorText()), "the accepted line in the file, the rejected one not");
});

scene("a reason that is asked for while the review still goes on from another hunk can be given", async () => {
  await bench.newChat();
  await bench.openFile("quick.py");
  await bench.api.script(read("quick.py"), { blocks: [edits("quick.py", ["near = 1\n", "near = 2\n"], ["far = 1\n", "far = 2\n"])] }, { blocks: ["One of them."] });
  await bench.say("raise both");
  await lens("near = 2").click();
  await reviewing("quick.py");
  await until(async () => (await lens("Accept").count()) === 2, "a row of actions under each hunk");
  // Both at once: what goes on to the next hunk takes the keyboard, and would close the box.
  const places = await until(async () => {
    const found = [await lens("Accept").first().boundingBox(), await lens("Reject with reason").nth(1).boundingBox()];
    return found.every(Boolean) && found;
  }, "both rows in sight");
  for (const { x, y, width, height } of places) await bench.page.mouse.click(x + width / 2, y + height / 2);
  await bench.answerBox("A reason for the model", "it is far enough");
  await answer("One of them.");
  assert.match(textOf(toolResults(await lastCall()).at(-1)), /it is far enough/);
});

scene("thirty hunks in six files are decided with the keyboard alone, in less than forty keys", async () => {
  await bench.newChat();
  const change = (name) => edits(name, ...Array.from({ length: 5 }, (_, at) => [`value${at} = ${at}\n`, `value${at} = ${at}.5\n`]));
  await bench.api.script(read(...FILES), { blocks: [change(FILES[0])] }, ...FILES.slice(1).map((name) => ({ blocks: [change(name)] })), { blocks: ["All thirty."] });
  await bench.chat.locator("select.mode").selectOption("default");
  await bench.say("make them floats");
  let keys = 0;
  const press = async (key) => {
    keys += 1;
    await bench.key(key);
  };
  const left = async () => (await lens("Accept").count()) + (await lens("Keep").count());
  for (const [file, name] of FILES.entries()) {
    // Each edit is asked about when its turn comes; one key goes there.
    await bench.page.locator(".statusbar-item").filter({ hasText: "waits for you" }).waitFor();
    await until(async () => (await bench.page.locator(".pane-header").filter({ hasText: "Review" }).count()) > 0 && (await bench.chat.locator(".card.ask").filter({ hasText: name }).count()) === 1, `the ask about ${name}`);
    await press("Alt+F5");
    await reviewing(name);
    await until(async () => (await left()) === 5 && (await bench.focused("editor")), `five hunks of ${name}, and the keyboard there`);
    if (file === 0) {
      // One by one in the first file: each key decides a hunk and goes on to the next.
      for (let hunk = 5; hunk > 0; hunk -= 1) {
        await until(async () => (await left()) === hunk && (await bench.focused("editor")), `${hunk} hunks left`);
        await press(hunk === 3 ? "Control+Alt+N" : "Control+Alt+Y");
      }
      await bench.shot("review-keys");
    } else {
      await press(file === 1 ? "Control+Shift+Alt+N" : "Control+Shift+Alt+Y");
    }
  }
  await answer("All thirty.");
  assert.ok(keys < 40, `${keys} keys`);
  await until(async () => (await bench.page.locator(".tab").filter({ hasText: "(review)" }).count()) === 0, "every review closed");
  const results = toolResults(await lastCall()).map(textOf);
  assert.match(results.join("\n"), /4 of 5/);
  await bench.openFile(FILES[0]);
  await until(async () => /value1 = 1\.5[^]*value2 = 2\n/.test(await bench.editorText()), "the third hunk left as it was");
  await bench.openFile(FILES[1]);
  await until(async () => /value0 = 0\n/.test(await bench.editorText()), "the second file as it was");
});

scene("single lines of a hunk are accepted by selecting them", async () => {
  await bench.newChat();
  await bench.openFile("lines.py");
  await bench.api.script(read("lines.py"), { blocks: [edits("lines.py", [LINES, LINES.replace(/(\d)/g, "$1.0")])] }, { blocks: ["Some of them."] });
  await bench.say("floats");
  await lens("a = 1.0").click();
  await reviewing("lines.py");
  await lens("Accept").first().waitFor();
  // A review that has just opened may still move under the mouse.
  await until(async () => {
    await right().locator(".lines-content > .view-lines > .view-line").filter({ hasText: "b = 2.0" }).click({ timeout: 5000 });
    await bench.page.keyboard.press("Home");
    await bench.page.keyboard.press("Shift+ArrowDown");
    await bench.page.keyboard.press("Shift+End");
    await bench.page.locator(".statusbar").filter({ hasText: "Ln 3, Col 8 (15 selected)" }).waitFor({ timeout: 5000 });
    return true;
  }, "the second and the third line to be selected");
  await lens("Accept selected lines").waitFor();
  await bench.shot("review-selection");
  await bench.command("Assent: Accept Selected Lines");
  await answer("Some of them.");
  await until(async () => (await bench.editorText()).startsWith("a = 1\nb = 2.0\nc = 3.0\nd = 4"), "the two selected lines, and no others");
  assert.match(textOf(toolResults(await lastCall()).at(-1)), /b = 2\.0[^]*c = 3\.0/);
});

scene("a command says what it is for, is allowed and denied by key, and its rule is changed before it is saved", async () => {
  await bench.newChat();
  const run = (command, description) => ({ blocks: [{ tool: "Bash", input: { command, description } }] });
  await bench.api.script(run("touch keyed.txt", "Make a marker"), run("touch never.txt", "Make another"), run("touch ruled-1.txt", "A third"), run("touch ruled-2.txt", "A fourth"), run("touch ruled-3.txt", "A fifth"), { blocks: ["Made some."] });
  await bench.say("make files");
  const card = bench.chat.locator(".card.ask");
  await card.filter({ hasText: "Make a marker" }).waitFor();
  await bench.shot("ask-keys");
  await bench.key("Control+Alt+Enter");
  await card.filter({ hasText: "never.txt" }).waitFor();
  await bench.key("Control+Alt+Backspace");
  await bench.answerBox("A reason for the model", "one is enough");
  await card.filter({ hasText: "ruled-1.txt" }).waitFor();
  await card.getByRole("button", { name: /^Edit the rule before it is saved for this session/ }).click();
  await card.locator(".rule-input").fill("Bash(touch ruled-1.txt)");
  await card.locator('[data-answer="session-edited"]').click();
  await card.filter({ hasText: "ruled-2.txt" }).waitFor();
  await bench.key("Control+Shift+Alt+Enter");
  await bench.answerBox("The rule to save", "Bash(touch:*)");
  await answer("Made some.");
  const results = toolResults(await lastCall());
  assert.deepEqual(results.map((result) => result.is_error ?? false), [false, true, false, false, false]);
  assert.match(textOf(results[1]), /one is enough/);
  assert.deepEqual(["keyed.txt", "ruled-1.txt", "ruled-2.txt", "ruled-3.txt"].map((name) => bench.read(name)), ["", "", "", ""]);
});

scene("a plan is read in an editor and approved together with its edits; the turn is summed up and undone at once", async () => {
  await bench.newChat();
  await bench.chat.locator("select.mode").selectOption("plan");
  await bench.api.script(
    { blocks: [{ tool: "ExitPlanMode", input: { plan: "1. Change **both**" } }] },
    read("part2.py", "part3.py", "part4.py"),
    { blocks: [edits("part2.py", ["value0 = 0.5\n", "value0 = 7\nextra = 1\n"]), edits("part3.py", ["value0 = 0.5\n", "value0 = 8\n"])] },
    { blocks: ["Planned and done."] },
  );
  await bench.say("plan it");
  await bench.chat.locator('.card.ask [data-do="openPlan"]').click();
  await until(async () => /1\. Change \*\*both\*\*/.test(await bench.editorText()), "the plan in an editor");
  await bench.command("View: Revert and Close Editor");
  await bench.shot("plan-answers");
  await bench.chat.locator('.card.ask [data-answer="acceptEdits"]').click();
  await answer("Planned and done.");
  await bench.chat.locator(".row.end").filter({ hasText: "2 files +3 −2" }).waitFor();
  await becomes(() => bench.chat.locator("select.mode").inputValue(), "acceptEdits", "the mode that came with the plan");
  await bench.chat.locator(".row.fold summary").filter({ hasText: "Read 3 files" }).waitFor();
  const changes = bench.chat.locator(".changes");
  await changes.filter({ hasText: "2 files changed" }).waitFor();
  await changes.locator("summary").click();
  await bench.shot("turn-summary");
  await changes.getByRole("button", { name: "Keep part2.py" }).click();
  await changes.filter({ hasText: "1 file changed" }).waitFor();
  await changes.locator('[data-do="undoAll"]').click();
  await until(async () => (await changes.locator("summary").count()) === 0, "nothing left to keep or undo");
  await bench.openFile("part3.py");
  await until(async () => /value0 = 0\.5/.test(await bench.editorText()), "the second file as it was");
  await bench.openFile("part2.py");
  await until(async () => /value0 = 7/.test(await bench.editorText()), "the first file as it became");
});

scene("white space that differs is painted and said, and what one types in the file meanwhile is no part of the review", async () => {
  await bench.newChat();
  await bench.openFile("blank.py");
  await bench.api.script(read("blank.py"), { blocks: [edits("blank.py", ["  pass\n", "    pass\n"])] }, { blocks: ["Indented."] });
  await bench.say("indent it");
  await lens("pass").first().click();
  await reviewing("blank.py");
  await lens("only white space differs").waitFor();
  await bench.shot("review-blank");
  await bench.command("Assent: Accept All Hunks in File");
  await answer("Indented.");

  await bench.openFile("typed.py");
  await bench.api.script(read("typed.py"), { blocks: [edits("typed.py", ["first = 1\n", "first = 2\n"], ["last = 9\n", "last = 10\n"])] });
  await bench.say("raise both");
  await lens("first = 2").waitFor();
  await bench.intoEditor();
  await bench.page.keyboard.press("Control+Home");
  for (let lines = 0; lines < 2; lines += 1) await bench.page.keyboard.press("ArrowDown");
  await bench.page.keyboard.type("mine = 0");
  await lens("last = 10").click();
  await reviewing("typed.py");
  await until(async () => /first = 2[^]*mine = 0[^]*last = 10/.test(await bench.proposedText()), "the user's own line beside the proposed ones");
  assert.equal(await diff().locator(".view-line").filter({ hasText: "mine" }).evaluateAll((all) => all.filter((line) => line.closest(".view-zones")).length), 0, "it is not shown as removed");
  // A window that is loaded again brings the review back, or nothing at all, and never a broken tab.
  await bench.reopen();
  await bench.chat.locator(".row.user").filter({ hasText: "raise both" }).last().waitFor({ timeout: 20_000 }).catch(() => {});
  await bench.page.locator(".tab").filter({ hasText: "(review)" }).first().waitFor({ state: "attached", timeout: 5000 }).catch(() => {});
  assert.equal(await bench.page.locator(".editor-group-container").filter({ hasText: "could not be opened" }).count(), 0);
});

scene("a decision is taken back by key: an accepted hunk and a rejected one are open again, and decided otherwise", async () => {
  await bench.newChat();
  await bench.openFile("undone.py");
  await bench.api.script(read("undone.py"), { blocks: [edits("undone.py", ["left = 1\n", "left = 2\n"], ["right = 1\n", "right = 2\n"])] }, { blocks: ["Decided."] });
  await bench.say("raise both");
  await lens("left = 2").waitFor();
  await bench.intoEditor();
  await bench.page.keyboard.press("Control+Home");
  await bench.key("Control+Alt+Y");
  await until(async () => /left = 2/.test(await bench.editorText()), "the accepted line in the file");
  await bench.key("Control+Alt+Z");
  await reviewing("undone.py");
  await until(async () => (await lens("Accept").count()) === 2, "both hunks open again");
  await bench.key("Control+Alt+N");
  await until(async () => (await lens("Accept").count()) === 1, "one of them rejected");
  // The last decision ends the turn; taken back after that, it is open all the same.
  await bench.key("Control+Alt+N");
  await answer("Decided.");
  await bench.key("Control+Alt+Z");
  await reviewing("undone.py");
  await until(async () => /right = 2/.test(await bench.proposedText()), "the last hunk open again");
  await bench.shot("review-undone");
  await bench.command("Assent: Accept All Hunks");
  await until(async () => (await bench.page.locator(".tab").filter({ hasText: "(review)" }).count()) === 0, "nothing left to review");
  await bench.openFile("undone.py");
  await until(async () => /left = 1[^]*right = 2/.test(await bench.editorText()), "the file as it was decided in the end");
  await bench.api.script({ blocks: ["Understood."] });
  await bench.say("and now?");
  await answer("Understood.");
  assert.match(JSON.stringify((await lastCall()).messages.at(-1)), /Your earlier edit was decided by the user meanwhile[^]*1 of 2 hunks accepted/);
});

scene("what Assent works with here is listed beside the chat", async () => {
  const header = bench.page.locator(".pane-header").filter({ hasText: "Setup" });
  await header.waitFor();
  if ((await header.getAttribute("aria-expanded")) !== "true") await header.click();
  const pane = bench.page.locator(".pane").filter({ has: header });
  const row = (text) => pane.locator(".monaco-list-row").filter({ hasText: text }).first();
  await row("MCP servers").waitFor();
  await row("Agents").click();
  await until(async () => (await pane.locator(".monaco-list-row").count()) > 3, "the agents one can start");
  await bench.shot("setup");
  await header.hover();
  await pane.locator('.action-label[aria-label^="Refresh Setup"]').click();
  await row("Agents").waitFor();
});
