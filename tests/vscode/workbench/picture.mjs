// VS Code's part of the README's moving picture: one request in the real workbench, a screenshot at every step.
// Run by `make picture` (tests/support/picture), which says where the pictures go and what is asked.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until, Workbench } from "./harness.mjs";

const [folder] = process.argv.slice(2);
const story = JSON.parse(readFileSync(join(folder, "story.json"), "utf8"));
const frames = [];

const bench = new Workbench();
bench.folder = join(bench.home, "shop");
mkdirSync(bench.folder);

async function frame(seconds, said) {
  const file = `vscode-${String(frames.length).padStart(2, "0")}.png`;
  // Where the cursor blinks and the mouse hovers is not part of the story.
  await bench.page.screenshot({ path: join(folder, file), animations: "disabled", caret: "hide" });
  frames.push({ file, seconds, said });
}

const lens = (text) => bench.lens(text);
const left = async (count) => until(async () => (await lens("Accept").count()) === count && (await bench.focused()), `${count} hunks left`);

try {
  bench.write(story.files);
  await bench.start({ settings: { "breadcrumbs.enabled": false, "editor.fontSize": 14, "window.commandCenter": false, "editor.stickyScroll.enabled": false } });
  await bench.page.setViewportSize({ width: story.width, height: story.height });
  await bench.widen(400);
  await bench.openFile(story.file);
  // The server loads what a first request needs; the story begins in a new chat.
  await bench.api.script({ blocks: ["Hello."] }, ...story.answers);
  await bench.say("hello");
  await bench.chat.locator(".row.text").filter({ hasText: "Hello." }).last().waitFor();
  await bench.newChat();
  await bench.chat.locator("textarea.prompt").fill(story.prompt);
  await frame(2.5, "Ask for a change");
  await bench.say(story.prompt);

  await lens(story.first).waitFor();
  await bench.chat.locator(".card.ask").waitFor();
  await bench.page.locator(".statusbar-item").filter({ hasText: "waits for you" }).waitFor();
  await frame(3, "It read the file and proposes two hunks. Nothing has changed yet");

  await bench.key("Alt+F5");
  await bench.reviewing(story.file);
  await left(2);
  await frame(3, "Alt+F5 opens the review");
  await bench.key("Control+Alt+Y");
  await left(1);
  await frame(2.5, "Ctrl+Alt+Y accepts the first hunk and goes on to the second");
  await bench.key("Control+Alt+Y");

  await bench.chat.locator(".card.ask").filter({ hasText: story.command }).waitFor();
  await bench.page.locator(".statusbar-item").filter({ hasText: "waits for you" }).waitFor();
  await bench.openFile(story.file);
  await until(async () => (await lens("Accept").count()) === 0, "no hunk left in the file");
  await frame(3, "Both hunks are in the file. A command asks first, too");
  await bench.key("Control+Alt+Enter");
  await bench.chat.locator(".row.text").filter({ hasText: story.last }).last().waitFor();
  await until(async () => (await bench.chat.locator(".card.ask").count()) === 0, "nothing to ask");
  await frame(3.5, "Ctrl+Alt+Enter allows it once");
  writeFileSync(join(folder, "vscode.json"), JSON.stringify(frames));
} catch (error) {
  console.error(`${error.stack}\n${await bench.asked().catch(() => "")}`);
  await bench.shot("picture-failed").catch(() => {});
  process.exitCode = 1;
} finally {
  await bench.stop();
}
