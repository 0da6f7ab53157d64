// An MCP server asks the person at a real VS Code: a form, and a page to open. Everything between is real.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { PYTHON, ROOT, scenes, Workbench } from "./harness.mjs";

const bench = new Workbench();
const heard = join(bench.home, "heard.txt"); // what the server with the order form was told

before(async () => {
  const server = (era, ...flags) => ({ command: PYTHON, args: ["-I", "-S", join(ROOT, "tests/support/mcpserver/plain.py"), "--era", era, ...flags] });
  const mcpServers = { plain: server("modern"), shop: server("legacy", "--order", "--log", heard) };
  mkdirSync(join(bench.home, "config", "assent"), { recursive: true });
  writeFileSync(join(bench.home, "config", "assent", "settings.json"), JSON.stringify({ mcpServers, permissions: { allow: ["mcp__plain", "mcp__shop"] } }));
  bench.write({ "app.py": "speed = 1\n" });
  await bench.start();
});
after(() => bench.stop());

const scene = scenes(bench, "mcp");
const form = () => bench.chat.locator("form.card.elicit");

scene("a server's form and its page to open name the server and are answered in the chat", async () => {
  await bench.newChat();
  // A search waits 5 s for a server that still connects, which may be too short on a busy machine: this waits as long as it takes.
  await bench.say("/mcp restart plain");
  await bench.chat.locator(".row.text").filter({ hasText: "plain: connected" }).waitFor();
  await bench.api.script(
    { blocks: [{ tool: "ToolSearch", input: { query: "select:mcp__plain__ask,mcp__plain__visit" } }] },
    { blocks: [{ tool: "mcp__plain__ask", input: {} }] },
    { blocks: [{ tool: "mcp__plain__visit", input: {} }] },
    { blocks: ["Green, and not signed."] },
  );
  await bench.say("ask me");
  await form().filter({ hasText: "MCP server plain asks: Which colour?" }).waitFor();
  await bench.shot("mcp-form");
  await form().locator("input").first().fill("green");
  await form().locator('[data-answer="accept"]').click();
  const page = form().filter({ hasText: "MCP server plain asks you to open example.org" });
  await page.waitFor();
  await page.locator("code").filter({ hasText: "https://example.org/sign" }).waitFor();
  await bench.shot("mcp-page");
  await page.locator('[data-answer="decline"]').click();
  await bench.chat.locator(".row.text").filter({ hasText: "Green, and not signed." }).last().waitFor();
  const said = JSON.stringify((await bench.api.calls()).at(-1));
  assert.match(said, /accept green/);
  assert.match(said, /decline/);
});

scene("an answer that does not fit a server's form is refused with the reason, asked again, and only what fits arrives", async () => {
  await bench.newChat();
  await bench.say("/mcp restart shop");
  await bench.chat.locator(".row.text").filter({ hasText: "shop: connected" }).waitFor();
  await bench.api.script({ blocks: [{ tool: "ToolSearch", input: { query: "select:mcp__shop__order" } }] }, { blocks: [{ tool: "mcp__shop__order", input: {} }] }, { blocks: ["Ordered."] });
  await bench.say("order something");
  await form().filter({ hasText: "MCP server shop asks: What may it be?" }).waitFor();
  await form().getByLabel("Your name").fill("Al");
  await form().getByLabel("count").fill("4");
  await form().getByLabel("Your name").press("Enter");
  // Assent's own check: too short a name. The rest of the answer is kept.
  await form().locator("[data-problem=name]").filter({ hasText: "Your name: at least 3 characters are expected" }).waitFor();
  assert.equal(await form().getByLabel("Your name").inputValue(), "Al");
  assert.equal(await form().getByLabel("count").inputValue(), "4");
  await bench.shot("mcp-form-refused");
  assert.deepEqual(answers(), []);
  await form().getByLabel("Your name").fill("Ada");
  await form().getByLabel("Your name").press("Enter");
  // What the server itself refuses comes with its reason as a new question.
  await form().filter({ hasText: "Refused: 4 is even, and only odd counts are sold." }).waitFor();
  await bench.shot("mcp-form-refused-by-server");
  await form().getByLabel("Your name").fill("Ada");
  await form().getByLabel("count").fill("3");
  await form().getByLabel("count").press("Enter");
  await bench.chat.locator(".row.text").filter({ hasText: "Ordered." }).last().waitFor();
  const content = { name: "Ada", shade: "light" };
  assert.deepEqual(answers(), [
    { action: "accept", content: { ...content, count: 4 } },
    { action: "accept", content: { ...content, count: 3 } },
  ]);
  assert.match(JSON.stringify((await bench.api.calls()).at(-1)), /ordered: .*count\W+3/);
});

/** The answers that the server with the order form got. */
function answers() {
  const lines = readFileSync(heard, "utf8").split("\n").filter((line) => line.startsWith("answered "));
  return lines.map((line) => JSON.parse(line.slice("answered ".length)));
}
