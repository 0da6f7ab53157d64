// Several windows and several folders: who owns a conversation, and where files are looked for.
// The workbench of these tests is a remote one: page here, extension host there, as with SSH, WSL and dev containers.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { becomes, scenes, textOf, toolResults, until, Workbench } from "./harness.mjs";
import { Neovim } from "./neovim.mjs";

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
    await becomes(() => bench.chat.locator("textarea.prompt").isEnabled(), false, "nothing to be said here");
    await becomes(() => bench.chat.locator('button[aria-label="Edit and resend"], button[aria-label="Try the last message again"]').count(), 0, "no way to go back here");
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
    await bench.chat.locator(".completions li.chosen").filter({ hasText: "shelf.py" }).waitFor();
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

// The last scene: it kills the workbench.
scene("an ask that waited while no window was open is told by the next one, which shows it with one press", async () => {
  const settings = join(bench.home, "config", "assent");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "settings.json"), JSON.stringify({ host: true, hostKeepRunning: true, hostIdleSeconds: 0 }));
  const env = { XDG_CONFIG_HOME: join(bench.home, "config"), XDG_DATA_HOME: join(bench.home, "share"), ANTHROPIC_BASE_URL: bench.api.url, ANTHROPIC_API_KEY: "test-key" };
  const neovim = await Neovim.start(bench, { file: "app.py", env });
  await bench.api.script({ blocks: [{ tool: "Bash", input: { command: "touch unseen" } }] }, { blocks: ["It was made."] });
  await neovim.command("Assent chat");
  await neovim.see("sends · @ files");
  await neovim.type("imake it<Esc><CR>");
  await neovim.see("Assent asks", "touch unseen");
  await neovim.stop(); // the only client of that host
  await elsewhere(bench.folder, async () => {
    const notice = await bench.noticed("While no window was open");
    assert.match(await notice.textContent(), /“make it” waits for your answer: Run touch unseen/);
    const all = bench.page.locator(".notifications-center .notification-list-item").filter({ hasText: "While no window was open" });
    assert.equal(await all.count(), 1);
    await bench.shot("missed");
    await bench.pressNotice("While no window was open", "Show");
    await bench.chat.locator(".card.ask").filter({ hasText: "touch unseen" }).waitFor();
    assert.equal(existsSync(join(bench.folder, "unseen")), false);
    await bench.chat.locator('.card.ask [data-answer="once"]').click();
    await answer("It was made.");
  });
  assert.equal(existsSync(join(bench.folder, "unseen")), true);
});

scene("VS Code and Neovim share a session: prompt in one, approve in the other, reject a hunk, lose the first, go on", async () => {
  const settings = join(bench.home, "config", "assent");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "settings.json"), JSON.stringify({ host: true, hostIdleSeconds: 0 }));
  bench.write({ "engine.py": "one = 1\n\n\n\n\n\n\n\ntwo = 2\n" });
  const file = join(bench.folder, "engine.py");
  const raise = (name, value) => ({ old_string: `${name} = ${value}`, new_string: `${name} = ${value}0` });
  let neovim;
  await elsewhere(bench.folder, async () => {
    await bench.newChat();
    await bench.api.script(
      { blocks: [{ tool: "Bash", input: { command: "touch started" } }] },
      { blocks: [{ tool: "Read", input: { file_path: file } }] },
      { blocks: [{ tool: "MultiEdit", input: { file_path: file, edits: [raise("one", 1), raise("two", 2)] } }] },
      { blocks: ["Raised one of them."] },
    );
    await bench.say("raise both"); // in VS Code
    await bench.chat.locator(".card.ask").filter({ hasText: "touch started" }).waitFor();

    const env = { XDG_CONFIG_HOME: join(bench.home, "config"), XDG_DATA_HOME: join(bench.home, "share"), ANTHROPIC_BASE_URL: bench.api.url, ANTHROPIC_API_KEY: "test-key" };
    neovim = await Neovim.start(bench, { file: "engine.py", env });
    await neovim.command("Assent roster");
    await neovim.at("waiting  raise both");
    await neovim.picture("two-editors-roster", "Neovim: the roster");
    await neovim.type("<CR>");
    await neovim.see("raise both", "Assent asks", "touch started"); // watched in both
    await bench.shot("two-editors-ask-vscode");
    await neovim.picture("two-editors-ask-neovim", "Neovim: the same ask");
    await neovim.type("<M-y>"); // approved in the other one
    await bench.chat.locator(".row").filter({ hasText: "Allowed in Neovim" }).waitFor();
    await until(() => existsSync(join(bench.folder, "started")), "the command to run");

    await bench.chat.locator(".card.ask").filter({ hasText: "engine.py" }).waitFor();
    await neovim.see("hunk 1 of 2", "hunk 2 of 2");
    await bench.shot("two-editors-review-vscode");
    await neovim.picture("two-editors-review-neovim", "Neovim: two hunks to review");
    await neovim.command("1wincmd w | 1");
    await neovim.type("gha");
    await until(async () => /^one = 10$/m.test(await neovim.lines("engine.py")), "the first hunk in Neovim");
    await neovim.command("call search('two') | Assent reject");
    await neovim.see("Raised one of them.");
    await answer("Raised one of them.");
    assert.match(await neovim.lines("engine.py"), /^one = 10\n+two = 2$/);
    assert.equal(bench.read("engine.py"), "one = 1\n\n\n\n\n\n\n\ntwo = 2\n"); // saving is the user's
    assert.match(textOf(toolResults((await bench.api.calls()).at(-1)).at(-1)), /1 of 2/);
    await bench.shot("two-editors-done-vscode");
    await neovim.picture("two-editors-done-neovim", "Neovim: one hunk landed, one rejected");

    bench.killEditor();
    await bench.api.script({ blocks: ["Still here."] });
    await neovim.command("Assent chat");
    await neovim.type("igo on<Esc><CR>");
    await neovim.see("Still here.");
    await neovim.picture("two-editors-alone-neovim", "Neovim: VS Code was killed, the session goes on");
    assert.match(JSON.stringify((await bench.api.calls()).at(-1).messages), /raise both.*go on/);
  }).finally(() => neovim?.stop());
  const [lock] = bench.logs(join("share", "assent", "host"), "lock");
  const host = JSON.parse(readFileSync(lock, "utf8")).pid;
  await until(() => !existsSync(`/proc/${host}`), "the host to end with its last window");
});
