/** What the chat opens or puts into the editor: links, files, code, dropped files. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { MentionChip } from "../webview/bridge";

export async function insertCode(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) {
    const document = await vscode.workspace.openTextDocument({ content: text });
    await vscode.window.showTextDocument(document, { preserveFocus: true });
    return;
  }
  await editor.edit((builder) => editor.selections.forEach((selection) => builder.replace(selection, text)));
}

/** A link in an answer: the web in the browser, after the editor's own question; a file of the workspace in the editor. */
export async function openLink(link: string): Promise<void> {
  if (/^(https?|mailto):/i.test(link)) {
    await vscode.env.openExternal(vscode.Uri.parse(link, true));
    return;
  }
  if (/^[a-z][a-z0-9+.-]*:/i.test(link)) return;
  const [file = "", line] = link.split(/#L|:(?=\d)/);
  await openFile(decodeURIComponent(file), line ? Number.parseInt(line, 10) : undefined);
}

export async function openFile(file: string, line?: number): Promise<void> {
  const uri = path.isAbsolute(file) ? vscode.Uri.file(file) : await inWorkspace(file);
  if (!uri) return;
  const at = line ? new vscode.Position(line - 1, 0) : undefined;
  try {
    await vscode.window.showTextDocument(uri, { preview: true, ...(at ? { selection: new vscode.Range(at, at) } : {}) });
  } catch {
    void vscode.window.showInformationMessage(`Assent: ${file} could not be opened.`);
  }
}

/** A relative path in the first folder that has it. With several folders the editor itself puts the folder's name in front. */
async function inWorkspace(file: string): Promise<vscode.Uri | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const [first, ...rest] = file.split("/");
  const named = folders.filter((folder) => folder.name === first).map((folder) => vscode.Uri.joinPath(folder.uri, ...rest));
  const candidates = [...folders.map((folder) => vscode.Uri.joinPath(folder.uri, file)), ...named];
  for (const uri of candidates) {
    const there = await vscode.workspace.fs.stat(uri).then(
      () => true,
      () => false,
    );
    if (there) return uri;
  }
  return candidates[0];
}

/** A dropped file. In a remote window the page names it as the browser side does; here it is a file of this machine. */
export function chipOf(uri: string): MentionChip[] {
  try {
    const parsed = vscode.Uri.parse(uri, true);
    const file = parsed.scheme === "vscode-remote" && vscode.env.remoteName ? vscode.Uri.file(parsed.path) : parsed;
    return file.scheme === "file" ? [{ uri: file.toString(), label: vscode.workspace.asRelativePath(file) }] : [];
  } catch {
    return [];
  }
}
