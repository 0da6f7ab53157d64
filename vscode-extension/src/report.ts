/** "Report issue": what a maintainer needs, as text the user reads and edits before anyone sees it. */
import * as vscode from "vscode";
import { redact } from "./redact";
import type { ServerProcess } from "./serverProcess";
import { serverSettings } from "./settings";

export async function openReport(context: vscode.ExtensionContext, server: ServerProcess): Promise<void> {
  const status = server.status;
  const extension = context.extension.packageJSON as { version: string };
  const content = [
    "# Assent: issue report",
    "",
    "Nothing has been sent. Read this through, remove what you do not want to share, then paste it into an issue.",
    "",
    "## What happened, and what you expected",
    "",
    "",
    "## Versions",
    `- extension ${extension.version}, ${vscode.env.appName} ${vscode.version}, ${process.platform} ${process.arch}`,
    `- ${vscode.env.remoteName ? `remote: ${vscode.env.remoteName}` : "local window"}, workspace ${vscode.workspace.isTrusted ? "trusted" : "restricted"}`,
    `- server: ${server.panel.kind} ${server.panel.title}`,
    `- model: ${status?.model ?? "unknown"}, offline: ${status?.offline ?? "unknown"}, credentials: ${status?.credentials ?? "unknown"}`,
    "",
    "## Settings",
    "```json",
    redact(JSON.stringify(serverSettings().settings, null, 2)),
    "```",
    "",
    "## End of the server's log",
    "```",
    redact(server.logTail.trim()) || "(empty)",
    "```",
    "",
  ].join("\n");
  const document = await vscode.workspace.openTextDocument({ language: "markdown", content });
  await vscode.window.showTextDocument(document);
}
