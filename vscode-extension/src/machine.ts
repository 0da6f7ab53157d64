/** The machine that `serverCommand` decides over: real programs and files, seen from a folder that is no workspace. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { access, rename, rm } from "node:fs/promises";
import * as vscode from "vscode";
import { findProgram, withoutPython } from "./programs";
import type { Machine } from "./serverCommand";

/** The machine as seen from a neutral folder, without the programs of the workspace. */
export const machineIn = (cwd: string): Machine => ({
  platform: process.platform,
  find: async (name) =>
    findProgram(
      name,
      process.env["PATH"] ?? "",
      (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    ),
  exists: (file) =>
    access(file).then(
      () => true,
      () => false,
    ),
  replace: async (from, to) => {
    const aside = `${to}-${randomBytes(4).toString("hex")}`;
    const present = await rename(to, aside).then(
      () => true,
      () => false,
    );
    const moved = await rename(from, to).then(
      () => true,
      () => false,
    );
    if (present) await rm(aside, { recursive: true, force: true }).catch(() => undefined);
    return moved;
  },
  remove: (folder) => rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined),
  unique: () => randomBytes(4).toString("hex"),
  run: (command, args) =>
    new Promise((resolve) => {
      const output = { stdout: "", stderr: "" };
      const child = spawn(command, args, { cwd, env: withoutPython(process.env), stdio: ["ignore", "pipe", "pipe"], shell: false });
      child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString("utf8")));
      child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString("utf8")));
      child.on("error", (error) => resolve({ code: null, stdout: "", stderr: error.message }));
      child.on("close", (code) => resolve({ code, ...output }));
    }),
});
