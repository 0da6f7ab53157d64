// Several windows and several folders: who owns a conversation, and where files are looked for.
// The workbench of these tests is a remote one: page here, extension host there, as with SSH, WSL and dev containers.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { scenes, textOf, toolResults, until, Workbench } from "./harness.mjs";

const bench = new Workbench();
const both = join(bench.home, "both.code-workspace");

before(async () => {
  bench.write({ "app.py": "speed = 1\n" });
  mkdirSync(join(bench.home, "library"));
  writeFileSync(join(bench.home, "library", "shelf.py"), "books = 3\n");
  writeFileSync(both, JSON.stringify({ folders: [{ path: "ws" }, { path: "library" }] }));
  await bench.start();
});
after(() => bench.stop());

const scene = scenes(bench, "windows");
const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const act = (name) => bench.chat.locator(`.read-only [data-do="${name}"]`);
const open = async (title) => {
  await bench.ready();
  await bench.command("Assent: Show Chat History");
  await bench.chat.locator("button.session").filter({ hasText: title }).first().click();
};

/** Runs in a window of its own, which is closed afterwards; the first one is driven again. */
async function elsewhere(what, run) {
  const first = bench.page;
  await bench.openWindow(what);
  try {
    await run(first);
  } catch (error) {
    await bench.shot("windows-failed-elsewhere");
    throw error;
  } finally {
    await leave();
    bench.page = first;
  }
}

/** Closes the window as a person does: the editor notices, and ends what ran for it. */
async function leave() {
  await bench.page.goto("about:blank");
  await bench.page.close();
}

scene("a second window reads the conversation that the first one owns, and says so", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["Mine alone."] });
  await bench.say("this is my window");
  await answer("Mine alone.");
  await bench.chat.locator(".row.end").waitFor();
  await elsewhere(bench.folder, async (first) => {
    await open("this is my window");
    await answer("Mine alone.");
    await bench.chat.locator(".read-only").filter({ hasText: "Another window has this conversation open" }).waitFor();
    assert.equal(await bench.chat.locator("textarea.prompt").isEnabled(), false);
    assert.equal(await bench.chat.locator('button[aria-label="Edit and resend"], button[aria-label="Try the last message again"]').count(), 0);
    await bench.shot("read-only");

    // Asking for it while the other window lives shows what was said there since, and why it stays there.
    const second = bench.page;
    bench.page = first;
    await bench.api.script({ blocks: ["Said in the meantime."] });
    await bench.say("go on");
    await answer("Said in the meantime.");
    bench.page = second;
    await act("takeOver").click();
    await bench.chat.locator(".read-only .refused").filter({ hasText: "still open in the other window" }).waitFor();
    await answer("Said in the meantime.");
    await bench.shot("read-only-refused");

    // A copy can be gone on with at once.
    await act("copy").click();
    await bench.chat.locator(".read-only").waitFor({ state: "detached" });
    await answer("Said in the meantime.");
    await bench.api.script({ blocks: ["In the copy."] });
    await bench.say("and here?");
    await answer("In the copy.");
  });
  assert.doesNotMatch(await bench.chat.locator(".rows").textContent(), /In the copy/);
});

scene("a conversation is taken over once its owner is gone", async () => {
  const first = bench.page;
  await elsewhere(bench.folder, async () => {
    await bench.newChat();
    await bench.api.script({ blocks: ["Left behind."] });
    await bench.say("who goes on with this?");
    await answer("Left behind.");
    await bench.chat.locator(".row.end").waitFor();
    const second = bench.page;
    bench.page = first;
    await open("who goes on with this?");
    await bench.chat.locator(".read-only").waitFor();
    bench.page = second;
  });
  // The other window is gone; its server takes a moment to end, and until then says that it still has it.
  await until(async () => {
    if (await act("takeOver").count()) await act("takeOver").click({ timeout: 2000 });
    return (await bench.chat.locator(".read-only").count()) === 0;
  }, "the conversation to be ours");
  await bench.api.script({ blocks: ["I do."] });
  await bench.say("go on, then");
  await answer("I do.");
  assert.match(JSON.stringify((await bench.api.calls()).at(-1).messages), /who goes on with this\?/);
});

scene("two folders in one window: files of both are found, named, and edited", async () => {
  await elsewhere(both, async () => {
    await bench.newChat();
    await bench.ready();
    const box = bench.chat.locator("textarea.prompt");
    await box.pressSequentially("look at @shel");
    await bench.chat.locator(".completions li").filter({ hasText: "shelf.py" }).waitFor();
    await box.press("Tab");
    const shelf = join(bench.home, "library", "shelf.py");
    await bench.api.script({ blocks: [{ tool: "Read", input: { file_path: shelf } }] }, { blocks: [{ tool: "Edit", input: { file_path: shelf, old_string: "books = 3", new_string: "books = 4" } }] }, { blocks: ["One more book."] });
    await box.press("Enter");
    const card = bench.chat.locator(".card.ask");
    await card.waitFor();
    await bench.openFile("shelf.py");
    await bench.lens("books = 4").waitFor();
    await bench.shot("two-folders");
    await bench.lens("Accept").first().click();
    await answer("One more book.");
    const calls = await bench.api.calls();
    assert.match(JSON.stringify(calls.at(-3).messages), /books = 3/);
    assert.match(textOf(toolResults(calls.at(-1)).at(-1)), /shelf\.py/);
    await until(async () => /books = 4/.test(await bench.editorText()), "the edit in the buffer");
  });
});
