// Hooks and the lists of what counts here, in a real workbench: a refusal is seen with its reason, lists open by keys.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { scenes, until, Workbench } from "./harness.mjs";

const bench = new Workbench();
const scene = scenes(bench, "hooks");
const row = (text) => bench.chat.locator(".row.text").filter({ hasText: text }).last().waitFor();
const put = (path, text) => {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
};

before(async () => {
  bench.write({ "app.py": "speed = 1\n", "AGENTS.md": "Be brief.\n" });
  const handler = { type: "command", command: "echo 'no files on Fridays' >&2; exit 2" };
  put(join(bench.home, "config", "assent", "settings.json"), JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [handler] }] } }));
  put(join(bench.home, "config", "assent", "skills", "careful", "SKILL.md"), "---\nname: careful\ndescription: works with care\n---\nMind the gap.\n");
  await bench.start();
});
after(() => bench.stop());

scene("a hook that denies a call is seen with its reason", async () => {
  await bench.newChat();
  await bench.api.script({ blocks: [{ tool: "Bash", input: { command: "touch made" } }] }, { blocks: ["Then I will not."] });
  await bench.say("make a file");
  const notice = bench.chat.locator(".hook-line.blocked").filter({ hasText: "PreToolUse hook · blocked this" });
  await notice.filter({ hasText: "no files on Fridays" }).waitFor();
  await row("Then I will not.");
  assert.equal(existsSync(join(bench.folder, "made")), false);
  // The file and line that name the hook, which open by a click.
  const file = join(bench.home, "config", "assent", "settings.json");
  await notice.locator("a.place").filter({ hasText: `${file}:1` }).click();
  await until(async () => /no files on Fridays/.test(await bench.editorText()), "the settings in an editor");
});

scene("rules, memory, agents and skills are listed by their commands", async () => {
  await bench.newChat();
  for (const [command, seen] of [
    ["/permissions deny Bash(rm:*) session", "deny Bash(rm:*)"],
    ["/permissions", "/permissions remove N"],
    ["/memory", "AGENTS.md"],
    ["/agents", "general-purpose"],
    ["/skills", "works with care"],
  ]) {
    await bench.say(command);
    await row(seen);
  }
});
