/** The attach button's list: open files, what the editor shows, a symbol, and any file or image of this machine. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { MentionChip } from "../shared/bridge";
import { folderOf, openUris, type ContextSources } from "./contextSources";
import { chipOf, imageData } from "./editorLinks";

export interface Attachment {
  text: string;
  mentions: MentionChip[];
  images: string[];
}

interface Choice extends vscode.QuickPickItem {
  attach(): Promise<Attachment> | Attachment;
}

const nothing: Attachment = { text: "", mentions: [], images: [] };

/** What the user chose; undefined when they thought better of it. */
export async function chooseAttachment(contexts: ContextSources): Promise<Attachment | undefined> {
  const open = openUris().map((uri): Choice => {
    const name = vscode.workspace.asRelativePath(uri);
    return { label: `$(file) ${path.basename(name)}`, description: folderOf(name), attach: () => ({ ...nothing, mentions: chipOf(uri.toString()) }) };
  });
  const special = (await contexts.specials()).map(({ label, detail, chip }): Choice => ({
    label: `$(link) ${label.slice(1)}`,
    description: detail,
    attach: () => ({ ...nothing, mentions: chip ? [chip] : [] }),
  }));
  const symbol: Choice = { label: "$(symbol-method) A symbol…", description: "a function, class or variable by its name", attach: () => ({ ...nothing, text: "@symbol:" }) };
  const files: Choice = { label: "$(folder-opened) Files and images…", description: "from this machine", attach: browse };
  const chosen = await vscode.window.showQuickPick([...open, ...special, symbol, files], { title: "Attach to the message", placeHolder: "What shall come along?" });
  return chosen?.attach();
}

async function browse(): Promise<Attachment> {
  const uris = (await vscode.window.showOpenDialog({ canSelectMany: true, openLabel: "Attach", title: "Attach files and images" })) ?? [];
  const images: string[] = [];
  const mentions: MentionChip[] = [];
  for (const uri of uris) {
    const image = await imageData(uri);
    if (image) images.push(image);
    else mentions.push(...chipOf(uri.toString()));
  }
  return { ...nothing, mentions, images };
}
