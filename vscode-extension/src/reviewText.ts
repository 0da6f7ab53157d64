/**
 * The two sides of a file under review as files of their own: the text before, which is read only, and the text after,
 * which can be typed into. What is typed into a proposed hunk is the user's draft of it.
 *
 * Owns the drafts and the texts. It decides nothing: a decision takes the draft along.
 */
import * as vscode from "vscode";
import type { Hunk } from "./protocol";
import { draftsIn, sides, type Place, type Sides } from "./reviewModel";

/** The scheme of both sides; the path is the file's own, and the query says which side. */
export const REVIEW = "assent-review";
const BEFORE = "before";
const SETTLE_MS = 40;
const SAVE_MS = 300;
const PAUSE_MS = 300;

export interface Source {
  /** The open hunks of a file, where they stand in its text now. */
  hunksOf(file: vscode.Uri): Hunk[];
  onDidChange: vscode.Event<void>;
}

interface Text extends Sides {
  file: vscode.Uri;
  mtime: number;
}

export class ReviewText implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly texts = new Map<string, Text>();
  private readonly drafts = new Map<string, string>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly changedFile = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly disposables: vscode.Disposable[] = [];
  readonly onDidChangeFile = this.changedFile.event;
  /** The texts of this file are others now. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly source: Source) {
    this.disposables.push(
      this.changedFile,
      this.changed,
      vscode.workspace.registerFileSystemProvider(REVIEW, this, { isCaseSensitive: true }),
      source.onDidChange(() => this.refreshAll()),
      vscode.workspace.onDidChangeTextDocument((event) => this.edited(event)),
      vscode.workspace.onDidCloseTextDocument((document) => {
        if (document.uri.scheme !== REVIEW) this.refresh(document.uri);
      }),
    );
  }

  draftOf(hunkId: string): string | undefined {
    return this.drafts.get(hunkId);
  }

  dropDraft(hunkId: string): void {
    if (this.drafts.delete(hunkId)) this.refreshAll();
  }

  placesIn(file: vscode.Uri): Place[] {
    return this.texts.get(file.toString())?.places ?? [];
  }

  /** The texts of a file, made when they are first wanted. */
  async textOf(file: vscode.Uri): Promise<Sides> {
    return this.texts.get(file.toString()) ?? this.make(file);
  }

  /** Waits until the editor shows the texts as they are after a decision: places are counted on what is shown. */
  async caughtUp(file: vscode.Uri): Promise<void> {
    if (!this.texts.has(file.toString())) return;
    const { after } = await this.make(file);
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === afterOf(file).toString());
    for (let tries = 0; document && !document.isClosed && document.getText() !== after && tries < 60; tries += 1) await new Promise((resolve) => setTimeout(resolve, 15));
  }

  // --- files ------------------------------------------------------------------------------------------

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const text = await this.textOf(fileOf(uri));
    const size = new TextEncoder().encode(isBefore(uri) ? text.before : text.after).length;
    return {
      type: vscode.FileType.File,
      ctime: 0,
      mtime: this.texts.get(fileOf(uri).toString())?.mtime ?? 0,
      size,
      ...(isBefore(uri) ? { permissions: vscode.FilePermission.Readonly } : {}),
    };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const text = await this.textOf(fileOf(uri));
    return new TextEncoder().encode(isBefore(uri) ? text.before : text.after);
  }

  /** What was typed is known already; saving only says that it is meant. */
  writeFile(uri: vscode.Uri): void {
    const text = this.texts.get(fileOf(uri).toString());
    if (isBefore(uri)) throw vscode.FileSystemError.NoPermissions(uri);
    if (text) text.mtime += 1;
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    for (const each of this.disposables) each.dispose();
  }

  // --- keeping up -------------------------------------------------------------------------------------

  private refreshAll(): void {
    for (const { file } of this.texts.values()) this.refresh(file);
  }

  /** A decision changes the file and the hunk, one after the other: the texts are made when both have happened. */
  private refresh(file: vscode.Uri): void {
    if (this.texts.has(file.toString())) this.later(file.toString(), SETTLE_MS, () => this.make(file));
  }

  /** Someone types in the file itself: its texts are made when they pause, not at every key. A decision does not wait for that. */
  private typedBeside(file: vscode.Uri): void {
    if (this.texts.has(file.toString())) this.later(`${file.toString()} typed`, PAUSE_MS, () => this.make(file));
  }

  private async make(file: vscode.Uri): Promise<Text> {
    const hunks = this.source.hunksOf(file);
    const known = this.texts.get(file.toString());
    const made = sides(await read(file), hunks, this.drafts);
    if (known && known.before === made.before && known.after === made.after) {
      known.places = made.places;
      return known;
    }
    const text: Text = { ...made, file, mtime: (known?.mtime ?? 0) + 1 };
    if (known) await this.settle(afterOf(file));
    this.texts.set(file.toString(), text);
    if (known) this.changedFile.fire([beforeOf(file), afterOf(file)].map((uri) => ({ type: vscode.FileChangeType.Changed, uri })));
    this.changed.fire(file);
    return text;
  }

  private edited({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (contentChanges.length === 0) return;
    if (document.uri.scheme !== REVIEW) return this.typedBeside(document.uri);
    const file = fileOf(document.uri);
    const text = this.texts.get(file.toString());
    if (!text || isBefore(document.uri) || document.getText() === text.after) return;
    const drafts = draftsIn(text, document.getText());
    if (!drafts) return void this.restore(document, text.after);
    const hunks = this.source.hunksOf(file);
    for (const [hunkId, draft] of drafts) {
      if (hunks.find((hunk) => hunk.hunkId === hunkId)?.newText === draft) this.drafts.delete(hunkId);
      else this.drafts.set(hunkId, draft);
    }
    moveTo(text, document.getText(), drafts);
    this.changed.fire(file);
    this.later(`${file.toString()} save`, SAVE_MS, () => this.save(document, text));
  }

  /** Only proposed lines can be edited here; the file itself is where everything else is. */
  private async restore(document: vscode.TextDocument, text: string): Promise<void> {
    vscode.window.setStatusBarMessage("Assent: only proposed lines can be edited here. Open the file to change the rest.", 5000);
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
    await vscode.workspace.applyEdit(edit);
  }

  /** Saved at once, so that closing the review asks nothing. What a formatter does while it is saved is taken back. */
  private async save(document: vscode.TextDocument, text: Text): Promise<void> {
    const meant = text.after;
    if (document.isClosed || !document.isDirty) return;
    await document.save();
    if (document.getText() !== meant && text.after === meant) this.changedFile.fire([{ type: vscode.FileChangeType.Changed, uri: document.uri }]);
  }

  /** A text that was typed into is not read again by the workbench until it is saved. */
  private async settle(uri: vscode.Uri): Promise<void> {
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
    if (document?.isDirty) await document.save();
  }

  private later(key: string, wait: number, act: () => Promise<unknown>): void {
    clearTimeout(this.timers.get(key));
    this.timers.set(
      key,
      setTimeout(() => {
        this.timers.delete(key);
        void act();
      }, wait),
    );
  }
}

/** The same text with these drafts typed into it. */
function moveTo(text: Text, after: string, drafts: ReadonlyMap<string, string>): void {
  let moved = 0;
  text.places = text.places.map((place) => {
    const start = place.start + moved;
    const length = drafts.get(place.hunkId)?.length ?? place.end - place.start;
    moved += length - (place.end - place.start);
    return { ...place, start, end: start + length };
  });
  text.after = after;
}

export function afterOf(file: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({ scheme: REVIEW, path: file.path, query: new URLSearchParams({ file: file.toString() }).toString() });
}

export function beforeOf(file: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({ scheme: REVIEW, path: file.path, query: new URLSearchParams({ file: file.toString(), side: BEFORE }).toString() });
}

/** The file that a side of a review shows; any other address is its own. */
export function fileOf(uri: vscode.Uri): vscode.Uri {
  return uri.scheme === REVIEW ? vscode.Uri.parse(new URLSearchParams(uri.query).get("file") ?? uri.toString()) : uri;
}

export function isBefore(uri: vscode.Uri): boolean {
  return uri.scheme === REVIEW && new URLSearchParams(uri.query).get("side") === BEFORE;
}

/** The buffer when the file is open, for that is what hunks are counted on; the disk otherwise. */
async function read(file: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === file.toString());
  if (open) return open.getText();
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  } catch {
    return ""; // a file that does not exist yet
  }
}
