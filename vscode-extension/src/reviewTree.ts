/** All hunks that wait for a decision, across files, as a list in the side bar. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { Hunk, Proposal } from "./protocol";
import type { Review } from "./review";
import { isIn, openHunks, sizeOf } from "./reviewModel";

export type ReviewNode = { proposal: Proposal; hunk?: Hunk };

export class ReviewTree implements vscode.TreeDataProvider<ReviewNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<ReviewNode>;
  private readonly disposables: vscode.Disposable[];
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly review: Review) {
    this.view = vscode.window.createTreeView("assent.reviewList", { treeDataProvider: this, showCollapseAll: true });
    this.disposables = [
      this.view,
      this.changed,
      review.onDidMove(() => this.changed.fire()),
      review.onDidChange(() => {
        this.changed.fire();
        const pending = review.pendingCount();
        this.view.badge = pending > 0 ? { value: pending, tooltip: `${pending} hunks to review` } : undefined;
      }),
    ];
  }

  getChildren(node?: ReviewNode): ReviewNode[] {
    if (!node) return this.review.list().map((proposal) => ({ proposal }));
    return node.hunk ? [] : openHunks(node.proposal).map((hunk) => ({ proposal: node.proposal, hunk }));
  }

  getTreeItem(node: ReviewNode): vscode.TreeItem {
    const uri = vscode.Uri.parse(node.proposal.uri);
    if (!node.hunk) {
      const item = new vscode.TreeItem(uri, vscode.TreeItemCollapsibleState.Expanded);
      item.id = node.proposal.proposalId;
      const folder = path.dirname(vscode.workspace.asRelativePath(uri));
      item.description = folder === "." ? "" : folder;
      item.tooltip = node.proposal.reason;
      item.contextValue = "file";
      return item;
    }
    const { hunk } = node;
    const item = new vscode.TreeItem(`Line ${hunk.range.start.line + 1}: ${sizeOf(hunk)}`);
    item.id = hunk.hunkId;
    item.description = [hunk.state === "pending" ? "" : hunk.state, hunk.newText.trim().split("\n", 1)[0] ?? ""].filter(Boolean).join(" · ");
    item.iconPath = new vscode.ThemeIcon(hunk.state === "conflict" ? "warning" : isIn(hunk) ? "check" : "diff-modified");
    item.contextValue = isIn(hunk) ? "landed" : hunk.state;
    item.command = { command: "assent.review.open", title: "Open", arguments: [node.proposal.proposalId, hunk.hunkId] };
    return item;
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }
}
