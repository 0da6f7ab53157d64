/** The editor's settings as the server knows them: only what the user set, under the server's own names. */
import * as vscode from "vscode";
import type { Json } from "./protocol";

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

/** Settings of a workspace count as the project's: they may restrict, not widen. `level` tells the server which. */
export function serverSettings(): { settings: Json; level: "user" | "project" } {
  const config = vscode.workspace.getConfiguration("assent");
  const settings: Json = {};
  let level: "user" | "project" = "user";
  for (const [ours, theirs] of Object.entries(NAMES)) {
    const found = config.inspect(ours);
    const own = found?.workspaceFolderValue ?? found?.workspaceValue;
    const value = own ?? found?.globalValue;
    if (value === undefined || value === "" || value === null) continue;
    if (own !== undefined) level = "project";
    const keys = theirs.split(".");
    const last = keys.pop() ?? "";
    let into = settings;
    for (const key of keys) into = (into[key] ??= {}) as Json;
    into[last] = value;
  }
  return { settings, level };
}

export function setting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration("assent").get(name, fallback);
}
