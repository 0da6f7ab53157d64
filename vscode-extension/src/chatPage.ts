/** The chat page's frame: a strict policy, our own files only, nothing inline. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

export function chatPage(webview: vscode.Webview, extension: vscode.Uri, kind: "view" | "tab"): string {
  const file = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", "media", name)).toString();
  const nonce = randomBytes(18).toString("base64url");
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${webview.cspSource}`,
    `font-src ${webview.cspSource}`,
    "img-src data:",
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Assent</title>
<link rel="stylesheet" href="${file("codicon.css")}">
<link rel="stylesheet" href="${file("chat.css")}">
</head>
<body data-kind="${kind}">
<script nonce="${nonce}" src="${file("chat.js")}"></script>
</body>
</html>`;
}
