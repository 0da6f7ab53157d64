/** The editor's settings as the server knows them: only what the user set, under the server's own names. */
import * as vscode from "vscode";
import type { Json, Mode } from "./protocol";

/** Our setting → the server's key, dots for nesting. */
const NAMES: Record<string, string> = {
  model: "model",
  smallModel: "smallModel",
  fallbackModel: "fallbackModel",
  mode: "permissions.defaultMode",
  review: "review",
  maxTurns: "maxTurns",
  maxBudgetUsd: "maxBudgetUsd",
  backgroundCalls: "backgroundCalls",
};

/** What stands for "not set" where the settings page shows a value. */
const UNSET: Record<string, unknown> = { review: "byMode", maxTurns: 0, maxBudgetUsd: 0 };

/** Settings of a workspace count as the project's: they may restrict, not widen. `level` tells the server which. */
export function serverSettings(): { settings: Json; level: "user" | "project" } {
  const config = vscode.workspace.getConfiguration("assent");
  const settings: Json = {};
  let level: "user" | "project" = "user";
  for (const [ours, theirs] of Object.entries(NAMES)) {
    const found = config.inspect(ours);
    const own = found?.workspaceFolderValue ?? found?.workspaceValue;
    const value = own ?? found?.globalValue;
    if (value === undefined || value === "" || value === null || value === UNSET[ours]) continue;
    if (own !== undefined) level = "project";
    const keys = theirs.split(".");
    const last = keys.pop() ?? "";
    let into = settings;
    for (const key of keys) into = (into[key] ??= {}) as Json;
    into[last] = value;
  }
  return { settings, level };
}

/** The same with its level, as the server takes it later on: a workspace's file may come to count once it is trusted. */
export function editorSettings(): Json {
  const { settings, level } = serverSettings();
  return { ...settings, settingsLevel: level };
}

/** Modes that ask less than the usual one. */
export const WIDE_MODES: readonly Mode[] = ["acceptEdits", "auto", "bypassPermissions"];
const CAREFUL: readonly Mode[] = ["default", "plan", "dontAsk"];

/** How new conversations ask. A file of the workspace may only make them more careful than the person's own setting. */
export function startingMode(): Mode {
  const found = vscode.workspace.getConfiguration("assent").inspect<Mode>("mode");
  const own = found?.globalValue ?? found?.defaultValue ?? "default";
  const workspace = found?.workspaceFolderValue ?? found?.workspaceValue;
  return workspace && CAREFUL.includes(workspace) ? workspace : own;
}

export function setting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration("assent").get(name, fallback);
}
