// The first run as people have it: the .vsix installed into an editor that knows nothing of us, without Python, with an
// old one, with one that is chosen; the server inside the package sets itself up, and the next start just works.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before } from "node:test";
import { PATIENCE, PYTHON, ROOT, scenes, until, Workbench } from "./harness.mjs";

/** A bound for making an environment and installing into it beside everything else that runs. */
const SETTING_UP = 3 * PATIENCE;
const bench = new Workbench();
const programs = join(bench.home, "bin");
const panel = () => bench.chat.locator(".banner.server");
const button = (name) => panel().getByRole("button", { name });

before(async () => {
  const vsix = process.env.ASSENT_VSIX ?? join(bench.home, "assent.vsix");
  if (!process.env.ASSENT_VSIX) execFileSync("npm", ["run", "package", "--", vsix], { cwd: join(ROOT, "vscode-extension"), stdio: "ignore" });
  const wheels = join(bench.home, "wheels");
  execFileSync(PYTHON, [join(ROOT, "tests/support/wheelhouse.py"), wheels]);
  // A machine with nothing on its PATH but a shell; the login shell says the same as the environment.
  mkdirSync(programs);
  mkdirSync(join(bench.home, "home"));
  for (const name of [".profile", ".bash_profile", ".bashrc"]) writeFileSync(join(bench.home, "home", name), `export PATH=${programs}\n`);
  await bench.start({ vsix, env: { PATH: programs, PIP_NO_INDEX: "1", PIP_FIND_LINKS: wheels, ANTHROPIC_BASE_URL: "" } });
});
after(() => bench.stop());

const setUps = () => [...bench.ownLog().matchAll(/setting up with [^:]+: (.*)/g)].map((match) => match[1]);
const scene = scenes(bench, "first-run");

scene("without any Python the installed package says so, and what to do", async () => {
  await panel().filter({ hasText: "Assent needs Python, and none was found" }).filter({ hasText: "Install Python 3.11 or newer" }).waitFor();
  await button("Choose Python…").waitFor();
  await bench.shot("first-run-no-python");
  // Words sent now are not lost, and the answer is the same plain one.
  assert.equal(await bench.chat.locator("textarea.prompt").isEnabled(), true);
});

scene("a Python that is too old is named with its version", async () => {
  writeFileSync(join(programs, "python3"), "#!/bin/sh\necho 3.8\necho False\n", { mode: 0o755 });
  await button("Try again").click();
  await panel().filter({ hasText: "Assent needs Python 3.11 or newer" }).filter({ hasText: "python3 is Python 3.8" }).waitFor();
  await bench.shot("first-run-old-python");
});

scene("a Python is chosen, the server in the package sets itself up once, and answers", async () => {
  const real = execFileSync(PYTHON, ["-c", "import sys; print(sys._base_executable)"], { encoding: "utf8" }).trim();
  // What is on the PATH is offered with its version; one that is too old is not taken, and the reason is said.
  await button("Choose Python…").click();
  await bench.pickRow("Choose Python 3.11", "Python 3.8");
  await bench.page.locator(".quick-input-widget").filter({ hasText: "python3 is Python 3.8. Assent needs Python 3.11 or newer" }).waitFor();
  await bench.shot("first-run-choose-python");
  await bench.page.keyboard.press("Escape");
  await bench.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  await button("Choose Python…").click();
  await bench.pickRow("Choose Python 3.11", "Enter the path");
  await bench.answerBox("The full path of a Python interpreter", real);
  // The set-up is shown while it lasts, which may be over by now; the log says that it took place.
  await panel().filter({ hasText: "Setting up Assent, once" }).or(bench.chat.locator('body[data-server="ready"]')).first().waitFor();
  await bench.shot("first-run-setting-up");
  await bench.ready(SETTING_UP);
  await until(() => setUps().length >= 2, "both steps of the set-up in the log");
  assert.deepEqual(setUps(), ["Creating a private Python environment", "Installing the Assent server into it"]);
  const [server] = bench.servers();
  assert.match(server.command, /globalStorage\/assent\.assent\/server\/bin\/python/);
  assert.doesNotMatch(server.command, /\.venv/);
  await bench.chat.locator(".banner").filter({ hasText: "No key is set" }).waitFor();
  await bench.say("hello");
  await bench.chat.locator(".row.text").filter({ hasText: "stand-in" }).first().waitFor();
  await bench.shot("first-run-ready");
});

scene("the next window starts the server at once, without setting anything up again", async () => {
  await bench.reopen();
  await bench.ready();
  await until(async () => (await bench.chat.locator(".row.user").filter({ hasText: "hello" }).count()) > 0, "the conversation from before");
  const starts = () => bench.ownLog().match(/server: .*/g) ?? [];
  await until(() => starts().length >= 2, "the second start in the log");
  assert.equal(starts().length, 2, starts().join("\n"));
  assert.equal(setUps().length, 2, "the two steps of the first window and no others");
});
