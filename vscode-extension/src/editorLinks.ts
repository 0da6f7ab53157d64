/** What the chat opens or puts into the editor: links, files, code, dropped files. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { MentionChip } from "../shared/bridge";
import { placeOf } from "../shared/content";
import type { Mention } from "./protocol";
import { tell } from "./words";

export async function insertCode(text: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) {
    const document = await vscode.workspace.openTextDocument({ content: text });
    await vscode.window.showTextDocument(document, { preserveFocus: true });
    return;
  }
  await editor.edit((builder) => editor.selections.forEach((selection) => builder.replace(selection, text)));
}

/** The prompt that puts code from an answer into the open file: through the agent, so that it lands as a reviewed edit. */
export function applyPrompt(code: string): { text: string; mentions: Mention[] } | undefined {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) return undefined;
  const fence = "`".repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map((run) => run[0].length + 1)));
  return {
    text: `Apply this code to ${vscode.workspace.asRelativePath(editor.document.uri)}:\n\n${fence}\n${code}\n${fence}`,
    mentions: [{ uri: editor.document.uri.toString() }],
  };
}

/** A link in an answer: the web in the browser, after the editor's own question; a file of the workspace in the editor. */
export async function openLink(link: string): Promise<void> {
  if (/^(https?|mailto):/i.test(link)) {
    await openPage(link);
    return;
  }
  if (link.startsWith("symbol:")) return openSymbol(link.slice("symbol:".length));
  if (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(link)) return;
  const { file, first, last } = placeOf(link);
  await openFile(file, first, last);
}

/**
 * Opens a web page at exactly this address. A `vscode.Uri` decodes the query (`%26` becomes `&`, `%2F%2F` becomes `//`), and
 * the page would get other parameters than were asked for; the editor opens a string as it stands. Where the workbench runs
 * in a browser, a loopback address leads through its proxy: the place is the proxy's, the query stays ours.
 */
export async function openPage(address: string): Promise<void> {
  const uri = vscode.Uri.parse(address, true);
  let exact = address;
  if (vscode.env.uiKind === vscode.UIKind.Web && /^https?$/.test(uri.scheme)) {
    const plain = uri.with({ query: "", fragment: "" });
    const outside = await vscode.env.asExternalUri(plain).then(undefined, () => plain);
    if (outside.authority !== uri.authority && !outside.query) exact = `${outside.toString()}${/[?#].*$/s.exec(address)?.[0] ?? ""}`;
  }
  await vscode.env.openExternal(exact as unknown as vscode.Uri);
}

/** The definition of a name, as the editor's language servers know it; the nearest match when there are several. */
async function openSymbol(name: string): Promise<void> {
  const own = name.split(/\.|::|#/).at(-1) ?? name;
  const found = (await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>("vscode.executeWorkspaceSymbolProvider", own)) ?? [];
  const exact = found.filter((symbol) => symbol.name.replace(/\(.*$/, "") === own);
  if (exact.length === 1 && exact[0]) {
    const { uri, range } = exact[0].location;
    await vscode.window.showTextDocument(uri, { preview: true, selection: range });
  } else {
    await vscode.commands.executeCommand("workbench.action.quickOpen", `#${own}`);
  }
}

/** Selects the lines that are named. */
export async function openFile(file: string, line?: number, last?: number): Promise<void> {
  const uri = path.isAbsolute(file) ? vscode.Uri.file(file) : await inWorkspace(file);
  if (!uri) return;
  const range = line ? new vscode.Range(line - 1, 0, last ? last - 1 : line - 1, last ? Number.MAX_SAFE_INTEGER : 0) : undefined;
  try {
    await vscode.window.showTextDocument(uri, { preview: true, ...(range ? { selection: range } : {}) });
  } catch {
    void tell.information(`Assent: ${file} could not be opened.`);
  }
}

const IMAGES: Record<string, string> = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" };
const IMAGE_LIMIT = 4 * 1024 * 1024;

/** An image of this machine that the user chose, as a data address; undefined for any other file. */
export async function imageData(uri: vscode.Uri): Promise<string | undefined> {
  const kind = IMAGES[uri.path.split(".").at(-1)?.toLowerCase() ?? ""];
  if (!kind) return undefined;
  if ((await vscode.workspace.fs.stat(uri)).size > IMAGE_LIMIT) throw new Error(`${path.basename(uri.path)} is larger than 4 MB and was not attached.`);
  return `data:${kind};base64,${Buffer.from(await vscode.workspace.fs.readFile(uri)).toString("base64")}`;
}

/** An image inside the workspace as a data address; undefined for anything else, and for what is too big to show. */
export async function workspaceImage(file: string): Promise<string | undefined> {
  const kind = IMAGES[file.split(".").at(-1)?.toLowerCase() ?? ""];
  const uri = path.isAbsolute(file) ? undefined : await inWorkspace(decodeURIComponent(file));
  if (!kind || !uri || !vscode.workspace.getWorkspaceFolder(uri)) return undefined;
  try {
    if ((await vscode.workspace.fs.stat(uri)).size > IMAGE_LIMIT) return undefined;
    return `data:${kind};base64,${Buffer.from(await vscode.workspace.fs.readFile(uri)).toString("base64")}`;
  } catch {
    return undefined;
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

/** Something that was attached in its own words. */
export function chipOfText({ uri, label, text }: Mention): MentionChip {
  return { uri, label: label ?? uri, ...(text === undefined ? {} : { text }) };
}
