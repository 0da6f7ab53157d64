// A real Neovim beside the workbench, driven through tests/support/nvimscreen.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { PYTHON, ROOT, SHOTS } from "./harness.mjs";

export class Neovim {
  /** `env` is what differs from an empty environment: where settings and data lie, and which model to talk to. */
  static async start(bench, { file, env }) {
    const editor = new Neovim();
    editor.child = spawn(PYTHON, ["-m", "nvimscreen"], { cwd: ROOT, env: { ...process.env, PYTHONPATH: join(ROOT, "tests/support") }, stdio: ["pipe", "pipe", "inherit"] });
    editor.answers = createInterface({ input: editor.child.stdout })[Symbol.asyncIterator]();
    editor.pid = await editor.do("start", { folder: join(bench.home, "neovim"), project: bench.folder, file, env });
    return editor;
  }

  async do(what, order = {}) {
    this.child.stdin.write(`${JSON.stringify({ do: what, ...order })}\n`);
    const { value, done } = await this.answers.next();
    if (done) throw new Error(`Neovim's driver ended at ${what}`);
    const answer = JSON.parse(value);
    if ("failed" in answer) throw new Error(`${what} ${JSON.stringify(order)}: ${answer.failed}`);
    return answer.is;
  }

  command(text) {
    return this.do("command", { text });
  }

  type(keys) {
    return this.do("type", { keys });
  }

  /** Waits until all of these are on the screen at once. */
  see(...texts) {
    return this.do("see", { texts });
  }

  gone(text) {
    return this.do("gone", { text });
  }

  async at(text) {
    await this.see(text);
    if (!(await this.do("search", { text }))) throw new Error(`the cursor finds no ${text}`);
  }

  async lines(file) {
    return (await this.do("lines", { file })).join("\n");
  }

  picture(name, title) {
    return this.do("picture", { path: join(SHOTS, `${name}.svg`), title });
  }

  async stop() {
    this.child.stdin.end();
    await new Promise((done) => (this.child.exitCode === null && this.child.signalCode === null ? this.child.once("exit", done) : done()));
  }
}
