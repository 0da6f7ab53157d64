/** The fallback for long hunks and many files: the editor's own diff, with the proposed text as a virtual right side. */
import * as vscode from "vscode";
import type { Review } from "./review";
import { applied } from "./reviewModel";

const SCHEME = "assent-proposed";

export class ReviewDiff implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly disposables: vscode.Disposable[] = [];
  readonly onDidChange = this.changed.event;

  constructor(private readonly review: Review) {
    this.disposables.push(
      this.changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      review.onDidChange(() => {
        for (const document of vscode.workspace.textDocuments) if (document.uri.scheme === SCHEME) this.changed.fire(document.uri);
      }),
    );
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const proposal = this.review.list().find((each) => each.proposalId === uri.query);
    const text = await read(uri.with({ scheme: "file", query: "" }));
    return proposal ? applied(text, proposal) : text;
  }

  async open(proposalId: string): Promise<void> {
    const proposal = this.review.list().find((each) => each.proposalId === proposalId);
    if (!proposal) return;
    const left = vscode.Uri.parse(proposal.uri);
    const right = left.with({ scheme: SCHEME, query: proposalId });
    const exists = await vscode.workspace.fs.stat(left).then(
      () => true,
      () => false,
    );
    const name = vscode.workspace.asRelativePath(left);
    if (exists) await vscode.commands.executeCommand("vscode.diff", left, right, `${name} (proposed)`);
    else await vscode.window.showTextDocument(right, { preview: true });
  }

  async openAll(): Promise<void> {
    const pairs = this.review.list().map((proposal) => {
      const left = vscode.Uri.parse(proposal.uri);
      return [left, left, left.with({ scheme: SCHEME, query: proposal.proposalId })];
    });
    if (pairs.length > 0) await vscode.commands.executeCommand("vscode.changes", "Assent: all proposed changes", pairs);
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }
}

/** The buffer when the file is open, for that is what hunks are counted on; the disk otherwise. */
async function read(uri: vscode.Uri): Promise<string> {
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open) return open.getText();
  try {
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    return "";
  }
}
