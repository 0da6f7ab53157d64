/** The question of trust in a folder: what it would activate, item by item, and a yes that counts for just that. */

import * as vscode from "vscode";
import { METHODS, type TrustItem, type TrustState } from "./protocol";
import type { ServerProcess } from "./serverProcess";

const KINDS: Record<TrustItem["kind"], string> = {
  hook: "runs a program on",
  mcpServer: "starts the MCP server",
  env: "sets the variable",
  rule: "never asks for",
  setting: "sets",
};

interface Choice extends vscode.QuickPickItem {
  act: "restrict" | "trust" | "show";
}

export async function askTrust(server: ServerProcess, folder: vscode.WorkspaceFolder): Promise<void> {
  const uri = folder.uri.toString();
  const state = await server.request<TrustState>(METHODS.trustGet, { uri });
  const chosen = await vscode.window.showQuickPick(choices(state), {
    title: `What trusting ${folder.name} would activate`,
    placeHolder: "Nothing of this runs until you trust it",
    matchOnDetail: true,
    ignoreFocusOut: true,
  });
  if (chosen?.act === "show") return void (await vscode.window.showTextDocument(vscode.Uri.from({ scheme: "assent", path: `/trust/${folder.uri.fsPath}.md` }), { preview: true }));
  if (chosen?.act !== "trust") return;
  try {
    await server.request(METHODS.trustSet, { uri, trusted: true, remember: "always", hash: state.hash });
  } catch (error) {
    if (!isStale(error)) throw error;
    void vscode.window.showWarningMessage("Assent: the folder's files changed meanwhile. What they hold now is shown again.");
    await askTrust(server, folder);
  }
}

/** The first entry is preselected and must not be a yes. Every item stands below with its value; choosing one opens the list. */
export function choices(state: TrustState): Choice[] {
  const count = `${state.items.length} ${state.items.length === 1 ? "item" : "items"}`;
  const decisions: Choice[] = [
    { label: "Stay restricted", act: "restrict" },
    { label: `Trust this folder for ${state.items.length ? `these ${count}` : "what it holds now: nothing to activate"}`, act: "trust" },
    { label: "Open the whole list", description: "as a document, with every value whole", act: "show" },
  ];
  const items = state.items.map((item): Choice => ({
    label: `${item.dangerous ? "$(warning) " : ""}${KINDS[item.kind]} ${item.name.replace(/\$\(/g, "$\u200b(")}`,
    description: [item.change === "added" ? "new" : item.change, item.file.split("/").pop()].filter(Boolean).join(" · "),
    detail: item.was === undefined ? item.value : `${item.value}  (before: ${item.was})`,
    act: "show",
  }));
  return [...decisions, { label: count, kind: vscode.QuickPickItemKind.Separator, act: "show" }, ...items];
}

function isStale(error: unknown): boolean {
  return typeof error === "object" && error !== null && (error as { data?: { kind?: unknown } }).data?.kind === "staleTrust";
}
