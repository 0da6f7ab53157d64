// The list beside the chat, and what can be done there: conversations and their asks, agents, MCP servers, hooks, rules.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { PYTHON, ROOT, scenes, until, Workbench } from "./harness.mjs";

const bench = new Workbench();
const own = join(bench.home, "config", "assent", "settings.json");

before(async () => {
  bench.write({ "app.py": "speed = 1\n", "AGENTS.md": "Be brief.\n" });
  mkdirSync(join(bench.home, "config", "assent"), { recursive: true });
  const plain = join(ROOT, "tests", "support", "mcpserver", "plain.py");
  writeFileSync(own, JSON.stringify({ permissions: { allow: ["Bash(ls:*)"] }, mcpServers: { tester: { command: PYTHON, args: ["-I", "-S", plain] }, guarded: { type: "http", url: `${await guarded()}/mcp` } } }));
  await bench.start({ env: { ANTHROPIC_API_KEY: "test-key", ASSENT_MCP_KEYRING: "off" } });
  await bench.page.setViewportSize({ width: 1360, height: 1100 });
  // The list is given room, as a person would: with the mouse, by its upper edge.
  await header().waitFor();
  if ((await header().getAttribute("aria-expanded")) !== "true") await header().click();
  await row("Conversations").waitFor();
  const edge = await header().boundingBox();
  await bench.page.mouse.move(edge.x + 60, edge.y - 1);
  await bench.page.mouse.down();
  await bench.page.mouse.move(edge.x + 60, edge.y - 480, { steps: 6 });
  await bench.page.mouse.up();
});
after(() => bench.stop());

const scene = scenes(bench, "views");
const answer = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const header = () => bench.page.locator(".pane-header").filter({ hasText: "Setup" });
const pane = () => bench.page.locator(".pane").filter({ has: header() });
const row = (text) => pane().locator(".monaco-list-row").filter({ hasText: text }).first();

/** The address of an MCP server that wants people to sign in, with its own authorization server. */
async function guarded() {
  const program = "import sys\nfrom mcpserver.web import site\nwith site(oauth=True) as served:\n    print(served.url, flush=True)\n    sys.stdin.read()\n";
  const env = { ...process.env, PYTHONPATH: join(ROOT, "tests", "support") };
  const child = spawn(PYTHON, ["-c", program], { env, stdio: ["pipe", "pipe", "inherit"] });
  bench.children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return line.trim();
}

/** The list with one group open in it, and only that one. */
async function open(group) {
  await header().waitFor();
  if ((await header().getAttribute("aria-expanded")) !== "true") await header().click();
  await turn(group, "true");
}

const close = (group) => turn(group, "false");

/** Opens or closes a group. A press turns it over, and the list shows that in its own time: a second press too soon would turn it back. */
async function turn(group, expanded) {
  await row(group).waitFor();
  await until(async () => {
    if ((await row(group).getAttribute("aria-expanded")) !== expanded) await row(group).click();
    await row(group).and(bench.page.locator(`[aria-expanded="${expanded}"]`)).waitFor({ timeout: 15_000 });
    return true;
  }, `the group ${group} to have aria-expanded="${expanded}"`);
}

/** Presses an action that stands in a row. It is drawn when the row is pointed at. */
async function press(text, action) {
  await until(async () => {
    await bench.page.mouse.move(900, 700); // what the mouse's last place has opened closes
    await row(text).hover({ timeout: 5000 });
    await row(text).locator(`.action-label[aria-label^="${action}"]`).click({ timeout: 5000 });
    return true;
  }, `${action} at ${text}`);
}

const confirm = (about, name) => bench.page.locator(".monaco-dialog-box").filter({ hasText: about }).getByRole("button", { name }).click();
const rules = () => JSON.parse(readFileSync(own, "utf8")).permissions ?? {};

scene("rules are added, moved and removed in the list, and the files say the same", async () => {
  await open("Permission rules");
  await row("Bash(ls:*)").filter({ hasText: "allow · user" }).waitFor();
  await press("Permission rules", "Add Rule…");
  await bench.pickRow("New permission rule", "Deny");
  await bench.answerBox("New rule: deny", "Bash(rm:*)");
  await bench.pickRow("Where shall it be kept?", "in every project");
  await row("Bash(rm:*)").filter({ hasText: "deny · user" }).waitFor();
  await until(() => rules().deny?.includes("Bash(rm:*)"), "the rule in the file");
  await press("Bash(ls:*)", "Move Rule…");
  await bench.pickRow("Move Bash(ls:*)", "For you, in this project");
  await row("Bash(ls:*)").filter({ hasText: "allow · local" }).waitFor();
  assert.ok(!rules().allow?.includes("Bash(ls:*)"));
  await bench.shot("views-rules");
  await press("Bash(rm:*)", "Remove Rule…");
  await confirm("Remove the rule deny Bash(rm:*)?", "Remove");
  await row("Bash(rm:*)").waitFor({ state: "detached" });
  await close("Permission rules");
});

scene("an MCP server is restarted, turned off and on, and its log read", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["Hello."] });
  await bench.say("hello");
  await answer("Hello.");
  await open("MCP servers");
  await row("tester")
    .filter({ hasText: /connected · 9 tools · [1-9]\d* tokens · stdio, legacy · user/ })
    .waitFor();
  await bench.shot("views-mcp");
  await press("tester", "Show Server Log");
  await until(async () => /legacy protocol[\s\S]*mcp__tester__echo: \d+ tokens/.test(await bench.editorText()), "its tools and what they cost");
  await until(async () => /plain server started/.test(await bench.editorText()), "what the connected server logged");
  await press("tester", "Restart Server");
  await row("tester").filter({ hasText: "connected" }).waitFor();
  await press("tester", "Disable Server");
  await row("tester").filter({ hasText: "disabled" }).waitFor();
  await press("tester", "Enable Server");
  await row("tester").filter({ hasText: /connected|connecting|idle/ }).waitFor();
  await press("tester", "Show Server Log");
  await until(async () => /MCP server tester/.test(await bench.editorText()), "the server's log in an editor");
  await close("MCP servers");
});

scene("an MCP server that wants a sign-in says so, and is signed in to with the browser", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: ["Hello."] });
  await bench.say("hello");
  await answer("Hello.");
  await open("MCP servers");
  await row("guarded").filter({ hasText: "needs you to sign in" }).waitFor();
  const opened = bench.context.waitForEvent("page");
  await press("guarded", "Sign In…");
  const page = await opened;
  await page.getByText("signed in").waitFor();
  await row("guarded")
    .filter({ hasText: /connected · 3 tools · [1-9]\d* tokens · http/ })
    .waitFor();
  await bench.shot("views-signed-in");
  await page.close();
  await close("MCP servers");
});

scene("an agent is seen at work, opened, sent to the background and stopped", async () => {
  await bench.newChat();
  await bench.api.script(
    { blocks: [{ tool: "Agent", input: { description: "Look around", prompt: "look", subagent_type: "general-purpose" } }] },
    { blocks: ["Looking.", { hold: "agent" }, " Seen."] },
    { blocks: ["Went on meanwhile."] },
  );
  await bench.say("send an agent");
  await open("Agents");
  await row("Look around").filter({ hasText: "running" }).waitFor();
  await bench.shot("views-agents");
  await row("Look around").click();
  await bench.chat.locator("details.tool").filter({ hasText: "Look around" }).first().waitFor();
  await press("Look around", "Move to Background");
  await answer("Went on meanwhile.");
  await row("Look around").filter({ hasText: "in the background" }).waitFor();
  await press("Look around", "Stop Agent");
  await row("Look around").filter({ hasText: "stopped" }).waitFor();
  await bench.api.release("agent");
  await close("Agents");
});

/** Goes to the list and to one of its rows with keys alone. Where a key was lost to a focus on its way, all of it again. */
async function reach(text) {
  const input = bench.page.locator(".quick-input-widget input[type=text]");
  const found = bench.page.locator('.quick-input-list .monaco-list-row.focused[aria-label*="Focus on Setup View"]');
  const focused = pane().locator(".monaco-list-row.focused");
  const said = () => focused.textContent({ timeout: 5000 });
  await until(async () => {
    await bench.listed(">Focus on Setup View", "F1", input, found);
    await bench.page.keyboard.press("Enter");
    await until(() => pane().evaluate((element) => element.contains(document.activeElement)), "the keyboard in the list", 5000);
    await bench.page.keyboard.press("Home");
    await until(async () => (await said()).includes("Conversations"), "the first row", 5000);
    for (let label = await said(); !label.includes(text); label = await said()) {
      await bench.page.keyboard.press("ArrowDown");
      await until(async () => (await said()) !== label, `the row after ${label}`, 5000);
    }
    return true;
  }, `the row ${text} by keys`);
}

scene("the agents that run are listed by keyboard while they run, and the one that ended is marked", async () => {
  await bench.newChat();
  const send = (side) => ({ tool: "Agent", input: { description: `Look ${side}`, prompt: `look to the ${side}`, subagent_type: "explore" } });
  await bench.api.script(
    { blocks: [send("left"), send("right")] },
    { blocks: ["Looking.", { hold: "first" }, " Seen."] },
    { blocks: ["Looking.", { hold: "second" }, " Seen."] },
    { blocks: ["Both have looked."] },
  );
  await bench.say("send two agents");
  await reach("Agents");
  await bench.page.keyboard.press("ArrowRight");
  for (const side of ["left", "right"]) await row(`Look ${side}`).filter({ hasText: "running" }).waitFor();
  await bench.shot("views-agents-running");
  // The two ask at once: which of them was answered first is seen in what was asked.
  const begun = async (side) => (await bench.api.calls()).findIndex((call) => JSON.stringify(call.messages[0]).includes(`look to the ${side}`));
  await until(async () => (await begun("left")) >= 0 && (await begun("right")) >= 0, "both agents to ask the model");
  const [ends, goesOn] = (await begun("left")) < (await begun("right")) ? ["left", "right"] : ["right", "left"];
  await bench.api.release("first");
  await row(`Look ${ends}`)
    .filter({ hasText: /finished · [\d.,k]+ tokens/ })
    .waitFor();
  await row(`Look ${ends}`).locator(".codicon-pass").waitFor();
  await row(`Look ${goesOn}`).filter({ hasText: "running" }).locator(".codicon-sync").waitFor();
  await reach(`Look ${goesOn}`);
  await bench.shot("views-agents-one-ended");
  await bench.page.keyboard.press("Enter");
  await bench.chat.locator("details.tool[open]").filter({ hasText: `Look ${goesOn}` }).first().waitFor();
  await bench.api.release("second");
  await row(`Look ${goesOn}`).filter({ hasText: "finished" }).waitFor();
  await answer("Both have looked.");
  await close("Agents");
});

scene("a command goes to the background by its button and by key, and is waited for again by its row and by key", async () => {
  await bench.newChat();
  const waits = (name) => ({ blocks: [{ tool: "Bash", input: { command: `until [ -e ${name} ]; do sleep 0.05; done; echo saw ${name}` } }] });
  const allow = () => bench.chat.locator(".card.ask").getByRole("button", { name: "Allow once", exact: true }).click();
  await bench.api.script(waits("one"), { blocks: ["One goes on."] }, { blocks: ["One has ended."] });
  await bench.say("wait for one");
  await allow();
  await bench.chat.locator(".activity").getByRole("button", { name: "Move to background" }).click();
  await answer("One goes on.");
  await open("Agents");
  await row("until [ -e one ]").filter({ hasText: "in the background" }).waitFor();
  await press("until [ -e one ]", "Wait for It Again");
  await row("until [ -e one ]").filter({ hasText: "a turn waits for it" }).waitFor();
  bench.write({ one: "" });
  await answer("One has ended.");

  await bench.api.script(waits("two"), { blocks: ["Two goes on."] }, { blocks: ["Two has ended."] });
  await bench.say("wait for two");
  await allow();
  await bench.chat.locator("details.tool.running").waitFor();
  await bench.page.keyboard.press("Control+Alt+J");
  await answer("Two goes on.");
  await row("until [ -e two ]").filter({ hasText: "in the background" }).waitFor();
  await bench.page.keyboard.press("Control+Shift+Alt+J");
  await row("until [ -e two ]").filter({ hasText: "a turn waits for it" }).waitFor();
  await bench.shot("views-background");
  bench.write({ two: "" });
  await answer("Two has ended.");
  await close("Agents");
});

scene("an ask of any conversation is answered from the list, and the conversation opened from there", async () => {
  await bench.newChat();
  const ask = (name) => ({ blocks: [{ tool: "Bash", input: { command: `touch ${name}`, description: "Touch it" } }] });
  await bench.api.script(ask("first.txt"), { blocks: ["Denied it is."] });
  await bench.say("touch the first");
  await bench.chat.locator(".card.ask").waitFor();
  await bench.command("Assent: New Chat");
  // A chat that shows something else says that it waits, and leads there.
  const told = bench.chat.locator(".banner").filter({ hasText: "“touch the first” waits for you in another chat." });
  await told.getByRole("button", { name: "Show" }).click();
  await bench.chat.locator(".card.ask").waitFor();
  await told.waitFor({ state: "detached" });
  await bench.command("Assent: New Chat");
  await open("Conversations");
  await row("touch the first").filter({ hasText: "1 waiting for you" }).waitFor();
  await row("touch first.txt").filter({ hasText: "waits for your answer" }).waitFor();
  await bench.shot("views-roster");
  await press("touch the first", "Move to Background");
  await row("touch the first").filter({ hasText: "in the background" }).waitFor();
  await press("touch the first", "Bring to Front");
  await row("touch the first").filter({ hasText: /^(?!.*in the background)/ }).waitFor();
  await press("touch first.txt", "Deny…");
  await bench.answerBox("A reason for the model", "not now");
  await row("touch first.txt").waitFor({ state: "detached" });
  await row("touch the first").click();
  await answer("Denied it is.");
  await bench.api.script(ask("second.txt"), { blocks: ["Touched."] });
  await bench.say("touch the second");
  await press("touch second.txt", "Allow Once…");
  await confirm("touch second.txt", "Allow once");
  await answer("Touched.");
  await until(() => bench.read("second.txt") === "", "the file");
});
