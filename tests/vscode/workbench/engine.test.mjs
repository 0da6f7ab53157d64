// What the screen says of the engine is what the engine says: mode, model, cost and context on every path; several asks at once.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { becomes, scenes, textOf, toolResults, until, Workbench } from "./harness.mjs";

const bench = new Workbench();
const scene = scenes(bench, "engine");
const outside = (name) => join(bench.home, "outside", name);
const OUTSIDE = ["one.txt", "two.txt", "three.txt"];

before(async () => {
  bench.write({ "app.py": "speed = 1\n" });
  mkdirSync(join(bench.home, "outside"));
  for (const name of OUTSIDE) writeFileSync(outside(name), `words of ${name}\n`);
  await bench.start();
});
after(() => bench.stop());

const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const ends = () => bench.chat.locator(".row.end .small").allTextContents(); // of the turns in view
const said = () => bench.chat.locator(".row.user .said").allTextContents();
const results = async () => toolResults((await bench.api.calls()).at(-1)).map(textOf);

/** Nothing runs: the figures move until then. */
async function idle() {
  await bench.chat.locator('button[aria-label="Stop"]').waitFor({ state: "hidden" });
}

async function ask(words, reply) {
  await bench.api.script({ blocks: [reply] });
  await bench.say(words);
  await answer(reply);
  await bench.chat.locator("article.row").last().and(bench.chat.locator(".row.end")).waitFor();
  await idle();
}

/** What the page shows at all times. */
async function shown() {
  return {
    mode: await bench.chat.locator("select.mode").inputValue(),
    model: await bench.chat.locator("select.model").inputValue(),
    cost: await bench.chat.locator("button.cost").textContent(),
    context: await bench.chat.locator("button.meter").getAttribute("aria-label"),
  };
}

/** The title of a sheet of figures, which the engine is asked for when it is opened. */
async function sheet(button, word) {
  const facts = bench.chat.locator(".facts");
  await bench.chat.locator(`button.${button}`).click();
  const title = facts.locator("h3").filter({ hasText: word });
  await title.waitFor();
  const text = await title.textContent();
  await facts.locator('button[aria-label="Close"]').click();
  await facts.waitFor({ state: "hidden" });
  return text;
}

/** What is shown, once it agrees with the engine's own answers and with the line under the last turn. */
async function facts() {
  let now;
  await until(async () => {
    now = await shown();
    const [context, cost] = [await sheet("meter", "Context:"), await sheet("cost", "Cost:")];
    const exact = Number(cost.replace("Cost: $", ""));
    assert.ok(now.context.startsWith(`${context} (`), `${now.context}, and the engine says ${context}`);
    assert.ok(Math.abs(Number(now.cost.replace(/[^\d.]/g, "")) - exact) < 0.001, `${now.cost}, and the engine says ${cost}`);
    return true;
  }, "the screen to say what the engine says");
  return now;
}

async function setMode(mode) {
  await bench.chat.locator("select.mode").selectOption(mode);
  await until(async () => (await bench.chat.locator("select.mode").inputValue()) === mode, `the mode ${mode}`);
}

async function setModel(name) {
  await bench.chat.locator("select.model").selectOption("…");
  await bench.pickRow("Model", "Enter a name…");
  await bench.answerBox("The model's full name", name);
  await until(async () => (await bench.chat.locator("select.model").inputValue()) === name, `the model ${name}`);
}

async function openChat(title) {
  await bench.command("Assent: Show Chat History");
  await bench.chat.locator("button.session").filter({ hasText: title }).last().click(); // a fork has the same title and stands above
  await bench.chat.locator(".history").waitFor({ state: "hidden" });
}

const userRow = (words) => bench.chat.locator(".row.user").filter({ hasText: words });
async function press(words, label) {
  await userRow(words).hover();
  await userRow(words).locator(`button[aria-label="${label}"]`).click();
}

scene("mode, model, cost and context are the engine's own after a resume, a fork, a rewind and a compaction", async () => {
  await bench.newChat();
  await setMode("plan");
  await setModel("claude-sonnet-5");
  await ask("count the birds", "There are nine birds.");
  const first = await facts();
  assert.deepEqual([first.mode, first.model], ["plan", "claude-sonnet-5"]);
  await ask("and now the trees, in many words, so that there is something to compact", `There are nine trees. ${"They are tall. ".repeat(60)}`);
  const second = await facts();
  assert.notEqual(second.context, first.context);
  await until(async () => (await ends()).at(-1).includes(`${second.cost} so far`), "the line under the turn to say the same");

  await bench.newChat();
  await bench.reopen();
  await openChat("count the birds");
  await answer("There are nine trees.");
  await becomes(facts, second, "resumed by a server that did not live then");

  await press("and now the trees", "Fork from here");
  await until(async () => (await said()).join() === "count the birds", "the fork, which ends before that message");
  await bench.chat.locator("textarea.prompt").fill("");
  await becomes(facts, first, "a fork begins where its source was");
  await ask("count the fish", "There are nine fish.");
  const forked = await facts();
  await until(async () => (await ends()).at(-1).includes(`${forked.cost} so far`), "the line under the fork's turn to say the same");

  await openChat("count the birds");
  await answer("There are nine trees.");
  await becomes(facts, second, "the fork changed nothing here");
  await press("and now the trees", "Rewind to here…");
  await bench.pickRow("Rewind to before this message", "Conversation only");
  await until(async () => (await said()).join() === "count the birds", "the conversation as it was");
  await bench.chat.locator("textarea.prompt").fill("");
  await becomes(facts, { ...first, cost: second.cost }, "less is in the context, and what was spent stays spent");

  await bench.api.script({ blocks: ["Birds were counted: nine."] });
  await bench.say("/compact");
  const compacted = bench.chat.locator(".row.notice").filter({ hasText: "Conversation compacted" });
  await compacted.waitFor();
  await idle();
  const after = await facts();
  const [, left] = /→ ([\d.,]+k?) tokens/.exec(await compacted.textContent());
  assert.ok(after.context.startsWith(`Context: ${left} of`), `${after.context}, and it was told ${left}`);
  assert.deepEqual([after.mode, after.model], ["plan", "claude-sonnet-5"]);
  await bench.shot("engine-compacted");
  await bench.reopen();
  await compacted.waitFor();
  await becomes(facts, after, "after a reload, too");
});

scene("a model that is chosen counts for the message that is sent right after it, in a new chat and in one that goes on", async () => {
  await bench.newChat();
  for (const name of ["claude-sonnet-5", "claude-haiku-4-5"]) await setModel(name); // both are listed from now on
  await bench.newChat();
  /** As fast as a person with a macro: the choice and the message reach the extension in the same moment. */
  const chooseAndSend = (name, words) =>
    bench.chat.locator("body").evaluate(
      (body, [name, words]) => {
        const [model, box] = [body.querySelector("select.model"), body.querySelector("textarea.prompt")];
        model.value = name;
        model.dispatchEvent(new Event("change", { bubbles: true }));
        box.value = words;
        box.dispatchEvent(new Event("input", { bubbles: true }));
        box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
      },
      [name, words],
    );
  for (const [turn, name] of ["claude-sonnet-5", "claude-haiku-4-5", "claude-sonnet-5"].entries()) {
    await bench.api.script({ blocks: [`Heard ${turn}.`] });
    await chooseAndSend(name, `message ${turn}`);
    await answer(`Heard ${turn}.`);
    await idle();
    assert.equal((await bench.api.calls()).at(-1).model, name, `message ${turn}`);
  }
});

scene("several questions at once are listed, and answered together by one button or by key", async () => {
  await bench.newChat();
  const reads = { blocks: OUTSIDE.map((name) => ({ tool: "Read", input: { file_path: outside(name) } })) };
  const cards = bench.chat.locator(".card.ask");
  const all = bench.chat.locator(".card.all-asks");
  const waiting = async (count) => {
    await until(async () => (await cards.count()) === count, `${count} questions`);
    await all.locator("li").nth(count - 1).waitFor();
    assert.match(await all.textContent(), new RegExp(`${count} questions wait for you`));
  };
  await bench.api.script(reads, { blocks: ["All three read."] });
  await bench.say("read all of them");
  await waiting(3);
  for (const [width, height] of [[250, 860], [440, 860], [300, 400]]) {
    await bench.page.setViewportSize({ width: 1360, height: 860 });
    await bench.widen(width);
    await bench.page.setViewportSize({ width: 1360, height });
    await bench.chat.locator(".dock").evaluate((dock) => (dock.scrollTop = 0));
    for (const name of ["allowAll", "denyAll"]) {
      const seen = () =>
        all.locator(`[data-do="${name}"]`).evaluate((button) => {
          const area = button.getBoundingClientRect();
          const top = document.elementFromPoint(area.left + area.width / 2, area.top + area.height / 2);
          return top === button && area.left >= 0 && area.right <= innerWidth && area.bottom <= innerHeight;
        });
      await until(seen, `${name} to be seen at ${width}x${height}`);
    }
    await bench.shot(`asks-together-${width}x${height}`);
  }
  await bench.page.setViewportSize({ width: 1360, height: 860 });
  await bench.widen(440);
  await all.locator('[data-do="allowAll"]').click();
  await answer("All three read.");
  assert.deepEqual((await results()).map((text) => /words of (\w+)/.exec(text)?.[1]), ["one", "two", "three"]);
  assert.equal(await cards.count(), 0);

  // By key: all of them are ticked, one is left out, and the others are denied together.
  await bench.api.script(reads, { blocks: ["One of them read."] });
  await bench.say("and once more");
  await waiting(3);
  await bench.key("Control+Alt+Backspace");
  const list = bench.page.locator(".quick-input-widget").filter({ hasText: "3 questions wait. Which ones do you deny?" });
  const rows = list.locator(".quick-input-list .monaco-list-row");
  await rows.nth(2).waitFor();
  await becomes(() => rows.locator('input[type="checkbox"], .monaco-checkbox').evaluateAll((boxes) => boxes.map((box) => box.checked ?? box.getAttribute("aria-checked") === "true")), [true, true, true], "all of them ticked");
  await bench.shot("asks-by-key");
  await rows.filter({ hasText: "two.txt" }).click();
  await list.getByRole("button", { name: "OK" }).click();
  await bench.answerBox("Deny these 2", "only the second, please");
  await until(async () => (await cards.count()) === 1, "one question left");
  assert.match(await cards.textContent(), /two\.txt/);
  await bench.key("Control+Alt+Enter");
  await answer("One of them read.");
  const [one, two, three] = await results().then((found) => found.slice(-3));
  assert.match(two, /two\.txt is unchanged since you last read it/);
  for (const denied of [one, three]) assert.match(denied, /only the second, please/);
});

// The last scene: the sessions live in a host from here on.
scene("a change in another window is seen in this one: mode, model, cost, context, a rewind", async () => {
  const settings = join(bench.home, "config", "assent");
  mkdirSync(settings, { recursive: true });
  writeFileSync(join(settings, "settings.json"), JSON.stringify({ host: true, hostIdleSeconds: 0 }));
  await bench.reopen();
  await bench.ready();
  await bench.newChat();
  await ask("whose turn is it?", "Yours, in the first window.");
  const first = bench.page;
  const second = await bench.openWindow();
  const inFirst = async (run) => {
    bench.page = first;
    await first.bringToFront();
    return run();
  };
  const inSecond = async (run) => {
    bench.page = second;
    await second.bringToFront();
    return run();
  };
  /** Either window may be the one that hears of the change, so both are looked at until it stands in both. */
  const agree = async (what, changed = () => true) => {
    let here;
    await until(async () => {
      here = await inFirst(shown);
      return changed(here) && JSON.stringify(await inSecond(shown)) === JSON.stringify(here);
    }, `${what} in both windows`);
    here = await inFirst(facts);
    await inSecond(() => becomes(facts, here, what));
    return here;
  };
  try {
    await bench.ready();
    await openChat("whose turn is it?");
    await answer("Yours, in the first window.");
    const begun = await agree("what was there");
    await inFirst(() => setMode("plan"));
    await agree("the mode of the first window", ({ mode }) => mode === "plan");
    await inSecond(() => setMode("acceptEdits"));
    await agree("the mode of the second window", ({ mode }) => mode === "acceptEdits");
    await inSecond(() => setModel("claude-sonnet-5"));
    await agree("the model", ({ model }) => model === "claude-sonnet-5");
    await inSecond(() => ask("and now?", "Mine, in the second window."));
    await agree("cost and context", ({ cost, context }) => cost + context !== begun.cost + begun.context);
    await inFirst(async () => {
      await answer("Mine, in the second window.");
      await press("and now?", "Rewind to here…");
      await bench.pickRow("Rewind to before this message", "Conversation only");
    });
    for (const run of [inFirst, inSecond]) await run(() => until(async () => (await said()).join() === "whose turn is it?", "the conversation as it was"));
    await until(async () => (await inSecond(ends)).join() === (await inFirst(ends)).join(), "the same turns");
    await inFirst(() => bench.chat.locator("textarea.prompt").fill(""));
    await agree("a rewind");
    await inSecond(() => bench.shot("engine-two-windows"));
  } finally {
    await second.goto("about:blank");
    await second.close();
    bench.page = first;
  }
});
