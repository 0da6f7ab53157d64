/**
 * The fallback for long hunks and many files: the editor's own diff of the text as it is and as it would become.
 *
 * Both sides are virtual and read-only, and say so: a hunk is changed where it is reviewed, in the file. The right side
 * has the same lenses as the file, so that everything can be decided here too.
 */
import * as vscode from "vscode";
import type { Proposal } from "./protocol";
import { PROPOSED, type Review } from "./review";
import { applied, placed } from "./reviewModel";

export class ReviewDiff implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly lenses = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[] = [];
  readonly onDidChange = this.changed.event;
  readonly onDidChangeCodeLenses = this.lenses.event;

  constructor(private readonly review: Review) {
    this.disposables.push(
      this.changed,
      this.lenses,
      vscode.workspace.registerTextDocumentContentProvider(PROPOSED, this),
      vscode.languages.registerCodeLensProvider({ scheme: PROPOSED }, this),
      review.onDidChange(() => {
        for (const document of vscode.workspace.textDocuments) if (document.uri.scheme === PROPOSED) this.changed.fire(document.uri);
        this.lenses.fire();
      }),
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const text = await read(uri.with({ scheme: "file", query: "", fragment: "" }));
    const proposal = this.review.proposalOf(uri);
    return proposal && uri.fragment !== "before" ? applied(text, proposal) : text;
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const proposal = document.uri.fragment === "before" ? undefined : this.review.proposalOf(document.uri);
    if (!proposal) return [];
    return placed(proposal).flatMap(({ hunk, line }) => {
      const at = new vscode.Range(line, 0, line, 0);
      const lens = (title: string, command: string): vscode.CodeLens => new vscode.CodeLens(at, { title, command, arguments: [hunk.hunkId] });
      return [lens("$(check) Accept", "assent.review.accept"), lens("$(close) Reject", "assent.review.reject"), lens("$(edit) Edit in the file", "assent.review.edit")];
    });
  }

  async open(proposalId: string): Promise<void> {
    const proposal = this.review.list().find((each) => each.proposalId === proposalId);
    if (!proposal) return;
    const { before, after, name } = sides(proposal);
    await vscode.commands.executeCommand("vscode.diff", before, after, `${name} (proposed, read-only)`);
  }

  async openAll(): Promise<void> {
    const pairs = this.review.list().map((proposal) => {
      const { file, before, after } = sides(proposal);
      return [file, before, after];
    });
    if (pairs.length > 0) await vscode.commands.executeCommand("vscode.changes", "Assent: all proposed changes (read-only)", pairs);
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }
}

function sides({ uri, proposalId }: Proposal): { file: vscode.Uri; before: vscode.Uri; after: vscode.Uri; name: string } {
  const file = vscode.Uri.parse(uri);
  const after = file.with({ scheme: PROPOSED, query: proposalId });
  return { file, before: after.with({ fragment: "before" }), after, name: vscode.workspace.asRelativePath(file) };
}

/** The buffer when the file is open, for that is what hunks are counted on; the disk otherwise. */
async function read(uri: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open) return open.getText();
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    return ""; // a file that does not exist yet
  }
}
