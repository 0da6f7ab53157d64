/**
 * Open hunks in the real file, quietly: one row of lenses over each, the lines it would replace marked, the lines that
 * landed marked the other way. The text of the file is the user's; nothing proposed is ever put into it from here.
 */
import * as vscode from "vscode";
import type { OpenHunk, Review } from "./review";
import { isIn, lensTitle, oldLines, preview, sizeOf } from "./reviewModel";

export class ReviewHints implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly lenses = new vscode.EventEmitter<void>();
  private settled: NodeJS.Timeout | undefined;
  private drawn: NodeJS.Timeout | undefined;
  private removed = removedDecoration();
  private landed = landedDecoration();
  private readonly disposables: vscode.Disposable[] = [];
  readonly onDidChangeCodeLenses = this.lenses.event;

  constructor(private readonly review: Review) {
    this.disposables.push(
      this.lenses,
      vscode.languages.registerCodeLensProvider([{ scheme: "file" }, { scheme: "untitled" }], this),
      review.onDidChange(() => this.redraw()),
      review.onDidMove(() => this.decorate()), // the workbench asks for the lenses itself when the text has changed
      vscode.window.onDidChangeVisibleTextEditors(() => this.decorate()),
      vscode.window.onDidChangeActiveColorTheme(() => this.recolour()),
    );
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const explained = new Set<string>();
    return this.review.inFile(document.uri).flatMap((each) => {
      const first = !explained.has(each.proposal.proposalId);
      explained.add(each.proposal.proposalId);
      const line = lensLine(document, each);
      return lensesOf(each, first).map(
        ({ title, command, tooltip }) => new vscode.CodeLens(new vscode.Range(line, 0, line, 0), { title, command, tooltip: tooltip ?? "", arguments: [each.hunk.hunkId] }),
      );
    });
  }

  dispose(): void {
    clearTimeout(this.settled);
    clearTimeout(this.drawn);
    for (const each of [...this.disposables, this.removed, this.landed]) each.dispose();
  }

  private redraw(): void {
    this.drawn ??= setTimeout(() => {
      this.drawn = undefined;
      this.decorate();
      this.lenses.fire();
    }, 16);
    // The workbench forgets that lenses changed when the focus leaves the text before it has asked for them: it is told
    // once more when the focus has settled.
    clearTimeout(this.settled);
    this.settled = setTimeout(() => this.lenses.fire(), 1000);
  }

  private decorate(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document.uri.scheme !== "file" && editor.document.uri.scheme !== "untitled") continue;
      const here = this.review.inFile(editor.document.uri);
      const ranges = (landed: boolean): vscode.Range[] =>
        here.flatMap(({ hunk }) => {
          const lines = isIn(hunk) === landed ? oldLines(hunk.range) : null;
          return lines ? [new vscode.Range(lines.first, 0, lines.last, 0)] : [];
        });
      editor.setDecorations(this.removed, ranges(false));
      editor.setDecorations(this.landed, ranges(true));
    }
  }

  private recolour(): void {
    this.removed.dispose();
    this.landed.dispose();
    this.removed = removedDecoration();
    this.landed = landedDecoration();
    this.decorate();
  }
}

/**
 * Over the lines that a hunk would replace; under those that landed, for in the diff of such a change a row over the new
 * lines would part them from the old ones. At the end of the file there is no line under them.
 */
function lensLine(document: vscode.TextDocument, { hunk }: OpenHunk): number {
  const lines = oldLines(hunk.range);
  const first = lines?.first ?? hunk.range.start.line;
  const under = (lines?.last ?? first - 1) + 1;
  return Math.min(isIn(hunk) && under < document.lineCount ? under : first, document.lineCount - 1);
}

interface Lens {
  title: string;
  command: string;
  tooltip?: string;
}

/** The model's reason stands over the first hunk of a change, and only there. */
function lensesOf({ hunk, proposal }: OpenHunk, first: boolean): Lens[] {
  const reason = first && proposal.reason ? [{ title: lensTitle(proposal.reason), command: "assent.review.edit", tooltip: proposal.reason }] : [];
  const reject = { title: "$(close) Reject", command: "assent.review.reject" };
  switch (true) {
    case isIn(hunk):
      return [
        { title: "$(check) Keep", command: "assent.review.accept" },
        { title: "$(discard) Undo this change", command: "assent.review.reject" },
        { title: "$(diff) Show change", command: "assent.review.edit" },
        ...reason,
      ];
    case hunk.state === "conflict":
      return [
        { title: `$(warning) ${lensTitle(hunk.why || "You changed these lines meanwhile")}`, command: "assent.review.edit" },
        { title: "$(git-merge) Merge", command: "assent.review.accept", tooltip: "Puts both changes together where they do not touch the same lines" },
        reject,
      ];
    default:
      return [
        { title: `$(diff) ${preview(hunk)}`, command: "assent.review.edit", tooltip: `${sizeOf(hunk)}: shows the change as a diff, where it can be edited` },
        { title: "$(check) Accept", command: "assent.review.accept" },
        reject,
        ...reason,
      ];
  }
}

function removedDecoration(): vscode.TextEditorDecorationType {
  return decoration("diffEditor.removedLineBackground", "diffEditor.removedTextBorder", "minimapGutter.deletedBackground");
}

function landedDecoration(): vscode.TextEditorDecorationType {
  return decoration("diffEditor.insertedLineBackground", "diffEditor.insertedTextBorder", "minimapGutter.addedBackground");
}

/** High-contrast themes mark changes by a border, the others by a background. */
function decoration(background: string, border: string, ruler: string): vscode.TextEditorDecorationType {
  const kind = vscode.window.activeColorTheme.kind;
  const contrast = kind === vscode.ColorThemeKind.HighContrast || kind === vscode.ColorThemeKind.HighContrastLight;
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(background),
    ...(contrast ? { border: "1px dashed", borderColor: new vscode.ThemeColor(border) } : {}),
    overviewRulerColor: new vscode.ThemeColor(ruler),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}
