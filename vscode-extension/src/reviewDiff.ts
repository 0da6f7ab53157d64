/**
 * The review itself: the workbench's own diff of a file before and after, with a row of actions under every hunk.
 * Proposed lines can be typed into; accepting takes what stands there. After each decision it goes on to the next hunk,
 * in this file and then in the others.
 *
 * Owns the tabs and the way through the hunks. The texts are `ReviewText`'s, the decisions `Review`'s.
 */
import * as path from "node:path";
import * as vscode from "vscode";
import type { Hunk, LineChoice } from "./protocol";
import type { OpenHunk, Review } from "./review";
import { chosenLines, isIn, lensTitle, onlyWhitespace, withLines, type Place } from "./reviewModel";
import { afterOf, beforeOf, fileOf, isBefore, REVIEW, type ReviewText } from "./reviewText";

const GONE_MS = 400;

export class ReviewDiff implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly lenses = new vscode.EventEmitter<void>();
  private readonly blanks: vscode.TextEditorDecorationType;
  private readonly disposables: vscode.Disposable[] = [];
  private closing: NodeJS.Timeout | undefined;
  private calls = 0; // of `show`: an earlier one that is late must not take the place of a later one
  private choosing = false;
  readonly onDidChangeCodeLenses = this.lenses.event;

  constructor(
    private readonly review: Review,
    private readonly text: ReviewText,
  ) {
    this.blanks = vscode.window.createTextEditorDecorationType({ isWholeLine: true, backgroundColor: new vscode.ThemeColor("diffEditor.insertedLineBackground") });
    this.disposables.push(
      this.lenses,
      this.blanks,
      vscode.languages.registerCodeLensProvider({ scheme: REVIEW }, this),
      text.onDidChange(() => this.redraw()),
      review.onDidChange(() => this.redraw()),
      vscode.window.onDidChangeVisibleTextEditors(() => this.decorate()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections }) => this.chose(textEditor, selections)),
    );
  }

  // --- what is shown ----------------------------------------------------------------------------------

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    if (isBefore(document.uri)) return [];
    const explained = new Set<string>();
    return this.places(document).flatMap(({ place, found }) => {
      const first = !explained.has(found.proposal.proposalId);
      explained.add(found.proposal.proposalId);
      const line = lensLine(document, place);
      return this.actions(found, first).map(
        ([title, command, tooltip]) => new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command, tooltip: tooltip ?? "", arguments: [place.hunkId] }),
      );
    });
  }

  private actions({ hunk, proposal }: OpenHunk, first: boolean): [string, string, string?][] {
    const edited = this.text.draftOf(hunk.hunkId) !== undefined;
    return [
      [edited ? "$(check) Accept as edited" : this.selected(hunk.hunkId) ? "$(check) Accept selected lines" : "$(check) Accept", "assent.review.accept"],
      ["$(close) Reject", "assent.review.reject"],
      ["$(comment) Reject with reason…", "assent.review.rejectWithReason"],
      ...(edited ? [["$(discard) Back to the proposal", "assent.review.dropDraft"] as [string, string]] : []),
      ...(onlyWhitespace(hunk)
        ? [["only white space differs", "assent.review.edit", "A diff that ignores white space at the ends of lines shows nothing here"] as [string, string, string]]
        : []),
      ...(first && proposal.reason ? [[lensTitle(proposal.reason), "assent.review.showReason", proposal.reason] as [string, string, string]] : []),
    ];
  }

  /** Opens the review of a file, at this hunk or at its first one. What was asked for last is what is shown. */
  async show(hunkId: string | undefined): Promise<void> {
    const call = (this.calls += 1);
    const found = hunkId === undefined ? this.review.hunks()[0] : this.review.find(hunkId);
    if (!found) return;
    const { hunk, uri } = found;
    if (hunk.state === "conflict") return this.showFile(found); // its old lines are not there any more, so there are no two sides
    const name = path.basename(uri.path);
    // A hunk that was opened again may not be in the texts yet.
    if (!isIn(hunk) && !this.text.placesIn(uri).some((each) => each.hunkId === hunk.hunkId)) await this.text.caughtUp(uri);
    const made = await this.text.textOf(uri);
    if (call !== this.calls) return;
    const place = made.places.find((each) => each.hunkId === hunk.hunkId);
    if (place) {
      const document = await vscode.workspace.openTextDocument(afterOf(uri));
      if (call !== this.calls) return;
      const at = document.positionAt(this.text.placesIn(uri).find((each) => each.hunkId === hunk.hunkId)?.start ?? place.start);
      await vscode.commands.executeCommand("vscode.diff", beforeOf(uri), afterOf(uri), `${name} (review)`, { preview: false, selection: new vscode.Range(at, at) });
    } else if (isIn(hunk)) {
      const at = new vscode.Position(hunk.range.start.line, 0);
      await vscode.commands.executeCommand("vscode.diff", beforeOf(uri), uri, `${name} (review)`, { preview: false, selection: new vscode.Range(at, at) });
    } else {
      await this.showFile(found);
    }
  }

  /** The first open hunk of a change. */
  async showProposal(proposalId: string): Promise<void> {
    const found = this.review.hunks().find((each) => each.proposal.proposalId === proposalId);
    if (found) await this.show(found.hunk.hunkId);
  }

  async openAll(): Promise<void> {
    const files = [...new Map(this.review.hunks().map(({ uri }) => [uri.toString(), uri])).values()];
    for (const file of files) await this.text.textOf(file);
    const rows = files.map((file) => [file, beforeOf(file), this.text.placesIn(file).length > 0 ? afterOf(file) : file]);
    if (rows.length > 0) await vscode.commands.executeCommand("vscode.changes", "Assent: all proposed changes", rows);
  }

  // --- the way through the hunks ----------------------------------------------------------------------

  /** The hunk at the cursor, or the one nearest to it; in the file itself or in its review. */
  hunkAtCursor(): string | undefined {
    const editor = vscode.window.activeTextEditor;
    return editor && this.here(editor).toSorted((a, b) => a.distance - b.distance)[0]?.hunkId;
  }

  /** The next hunk in this file, then in the other files, round and round. */
  async step(by: 1 | -1): Promise<void> {
    const all = this.review.hunks();
    const editor = vscode.window.activeTextEditor;
    const here = editor ? this.here(editor) : [];
    const line = editor?.selection.active.line ?? 0;
    const beyond = by > 0 ? here.find((each) => each.first > line) : here.findLast((each) => each.last < line);
    if (beyond) return this.show(beyond.hunkId);
    const file = editor && fileOf(editor.document.uri).path;
    const others = file === undefined ? [] : by > 0 ? all.filter((each) => each.uri.path > file) : all.filter((each) => each.uri.path < file);
    const next = by > 0 ? (others[0] ?? all[0]) : (others.at(-1) ?? all.at(-1));
    await this.show(next?.hunk.hunkId);
  }

  /** After a decision in the review: on to what is left, first in this file. */
  async goOn(from: vscode.TextEditor | undefined): Promise<void> {
    if (from?.document.uri.scheme !== REVIEW) return;
    const left = this.review.hunks().filter(({ hunk }) => !isIn(hunk) && hunk.state !== "conflict");
    const file = fileOf(from.document.uri);
    if (left.length === 0) return this.closeDecided(false); // the keyboard was here, so it goes to the next editor
    const call = this.calls;
    await this.text.caughtUp(file);
    if (call !== this.calls) return; // the person is on the way elsewhere already
    const here = left.filter((each) => each.uri.toString() === file.toString());
    const line = from.selection.active.line;
    const next = here.find((each) => this.lineOf(from.document, each.hunk) >= line) ?? here[0] ?? left.find((each) => each.uri.path > file.path) ?? left[0];
    if (next) await this.show(next.hunk.hunkId);
  }

  /** What is selected of the hunk at the cursor: its lines, counted inside it, and the text that would come of them. */
  selected(hunkId: string): { lines: LineChoice; newText: string } | undefined {
    const editor = vscode.window.activeTextEditor;
    const found = this.review.find(hunkId);
    if (!editor || !found || editor.selection.isEmpty || editor.document.uri.scheme !== REVIEW || this.text.draftOf(hunkId) !== undefined) return undefined;
    const side = isBefore(editor.document.uri) ? "old" : "new";
    const start = side === "new" ? this.lineOf(editor.document, found.hunk) : oldLine(this.review, found);
    const { start: from, end: to } = editor.selection;
    const last = to.character === 0 && to.line > from.line ? to.line - 1 : to.line;
    const lines = chosenLines(found.hunk, side, from.line - start, last - start);
    return (lines.old?.length ?? 0) + (lines.new?.length ?? 0) > 0 ? { lines, newText: withLines(found.hunk, lines) } : undefined;
  }

  dispose(): void {
    clearTimeout(this.closing);
    for (const each of this.disposables) each.dispose();
  }

  // --- inside -----------------------------------------------------------------------------------------

  /** The hunks of what an editor shows, from top to bottom, with their lines there. */
  private here(editor: vscode.TextEditor): { hunkId: string; first: number; last: number; distance: number }[] {
    const { document, selection } = editor;
    const measure = (hunkId: string, first: number, last: number): { hunkId: string; first: number; last: number; distance: number } => ({
      hunkId,
      first,
      last,
      distance: Math.max(first - selection.active.line, selection.active.line - last, 0),
    });
    if (document.uri.scheme !== REVIEW || isBefore(document.uri)) {
      const found = this.review.inFile(fileOf(document.uri));
      return found.map((each) => {
        const first = isBefore(document.uri) ? oldLine(this.review, each) : each.hunk.range.start.line;
        const lines = each.hunk.range.end.line - each.hunk.range.start.line - (each.hunk.range.end.character === 0 ? 1 : 0);
        return measure(each.hunk.hunkId, first, first + Math.max(0, lines));
      });
    }
    return this.places(document).map(({ place }) => {
      const first = document.positionAt(place.start).line;
      return measure(place.hunkId, first, Math.max(first, document.positionAt(place.end).line - 1));
    });
  }

  private places(document: vscode.TextDocument): { place: Place; found: OpenHunk }[] {
    const open = new Map(this.review.inFile(fileOf(document.uri)).map((each) => [each.hunk.hunkId, each]));
    return this.text.placesIn(fileOf(document.uri)).flatMap((place) => {
      const found = open.get(place.hunkId);
      return found ? [{ place, found }] : [];
    });
  }

  private lineOf(document: vscode.TextDocument, hunk: Hunk): number {
    const place = this.text.placesIn(fileOf(document.uri)).find((each) => each.hunkId === hunk.hunkId);
    return place ? document.positionAt(place.start).line : hunk.range.start.line;
  }

  private async showFile({ uri, hunk }: OpenHunk): Promise<void> {
    const at = new vscode.Position(hunk.range.start.line, 0);
    await vscode.window.showTextDocument(uri, { preview: false, selection: new vscode.Range(at, at) });
  }

  /** The rows say whether a hunk or the selected lines of it would be taken. */
  private chose(editor: vscode.TextEditor, selections: readonly vscode.Selection[]): void {
    const choosing = editor.document.uri.scheme === REVIEW && selections.some((each) => !each.isEmpty);
    if (choosing || this.choosing) this.lenses.fire();
    this.choosing = choosing;
  }

  private redraw(): void {
    this.lenses.fire();
    this.decorate();
    this.closing ??= setTimeout(() => {
      this.closing = undefined;
      void this.closeDecided();
    }, GONE_MS);
  }

  /** A hunk in which only white space differs is invisible in a diff that ignores it, so it is painted here. */
  private decorate(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme !== REVIEW || isBefore(editor.document.uri)) continue;
      const painted = this.places(editor.document).filter(({ found }) => onlyWhitespace(found.hunk));
      editor.setDecorations(
        this.blanks,
        painted.map(({ place }) => new vscode.Range(editor.document.positionAt(place.start), editor.document.positionAt(Math.max(place.start, place.end - 1)))),
      );
    }
  }

  /** A review with nothing left to decide closes itself; so does one that a reload of the window has brought back. */
  private async closeDecided(keepFocus = true): Promise<void> {
    const open = new Set(this.review.hunks().map(({ uri }) => uri.toString()));
    const pending = new Set(this.review.hunks().flatMap(({ uri, hunk }) => (isIn(hunk) ? [] : [uri.toString()])));
    const done = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(({ input }) => {
        if (!(input instanceof vscode.TabInputTextDiff) || input.original.scheme !== REVIEW) return false;
        const file = fileOf(input.original).toString();
        return input.modified.scheme === REVIEW ? !pending.has(file) : !open.has(file);
      });
    if (done.length > 0) await vscode.window.tabGroups.close(done, keepFocus);
  }
}

/** Under the hunk, for a row over its first line would part the old lines from the new; at the end of the file over it. */
function lensLine(document: vscode.TextDocument, place: Place): number {
  const after = document.positionAt(place.end);
  const ends = after.character === 0 ? after.line : after.line + 1;
  return ends < document.lineCount ? ends : document.positionAt(place.start).line;
}

/** Where a hunk's old lines stand in the text before: earlier hunks that landed are shown there as they were. */
function oldLine(review: Review, { uri, hunk }: OpenHunk): number {
  const landed = review.inFile(uri).filter((each) => isIn(each.hunk) && each.hunk.range.start.line < hunk.range.start.line);
  const lines = (text: string): number => text.split("\n").length - 1;
  return landed.reduce((line, each) => line + lines(each.hunk.oldText) - (each.hunk.range.end.line - each.hunk.range.start.line), hunk.range.start.line);
}
