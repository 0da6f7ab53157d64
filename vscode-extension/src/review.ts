/**
 * Inline review in the real editor: a comment thread per pending hunk, the old lines marked, lenses above them.
 * The buffer stays untouched until the user decides; then the server makes the edit, as one undo step.
 *
 * Owns what is shown. Decisions go to the server, which alone knows what they mean.
 */
import * as vscode from "vscode";
import { METHODS, type EditResolve, type Hunk, type HunkDecision, type Proposal, type Proposals, type Resolved } from "./protocol";
import { compare, hunkBody, hunkLabel, lensTitle, oldLines, openHunks, pendingHunks, placed, shiftRange, threadLine } from "./reviewModel";
import { explain, type Sessions } from "./sessions";

/** The scheme of the diff view's two sides; the query names the proposal. */
export const PROPOSED = "assent-proposed";

interface Shown {
  proposal: Proposal;
  hunk: Hunk;
  uri: vscode.Uri;
  thread: vscode.CommentThread | undefined;
}

export class Review implements vscode.CodeLensProvider, vscode.Disposable {
  private readonly shown = new Map<string, Shown>();
  private readonly proposals = new Map<string, Proposal>();
  private readonly controller: vscode.CommentController;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly lenses = new vscode.EventEmitter<void>();
  private settled: NodeJS.Timeout | undefined;
  private removed: vscode.TextEditorDecorationType;
  private landed: vscode.TextEditorDecorationType;
  private readonly disposables: vscode.Disposable[] = [];
  readonly onDidChange = this.changed.event;
  readonly onDidChangeCodeLenses = this.lenses.event;

  constructor(private readonly sessions: Sessions) {
    this.controller = vscode.comments.createCommentController("assent.review", "Assent");
    this.controller.options = { prompt: "Reason for the model…", placeHolder: "Why not, or what to do instead. Sent with Reject." };
    this.removed = removedDecoration();
    this.landed = landedDecoration();
    this.disposables.push(
      this.controller,
      this.changed,
      this.lenses,
      vscode.window.onDidChangeActiveColorTheme(() => this.recolour()),
      vscode.languages.registerCodeLensProvider([{ scheme: "file" }, { scheme: "untitled" }], this),
      sessions.onAttached(() => void this.refresh()),
      sessions.onEvent(({ params }) => {
        const event = params.event;
        if (event.type === "editProposed" || event.type === "editUpdated") this.put(event.proposal);
        else if (event.type === "editResolved") void this.refreshOne(event.proposalId);
      }),
      vscode.workspace.onDidChangeTextDocument((event) => this.typed(event)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.decorate()),
    );
  }

  list(): Proposal[] {
    return [...this.proposals.values()];
  }

  pendingCount(): number {
    return this.list().reduce((sum, proposal) => sum + pendingHunks(proposal).length, 0);
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const lenses: vscode.CodeLens[] = [];
    const explained = new Set<string>();
    for (const { hunk, proposal, uri } of this.shown.values()) {
      if (uri.toString() !== document.uri.toString()) continue;
      const line = Math.min(oldLines(hunk.range)?.first ?? threadLine(hunk.range), document.lineCount - 1);
      const at = new vscode.Range(line, 0, line, 0);
      const lens = (title: string, command: string, tooltip = ""): void => void lenses.push(new vscode.CodeLens(at, { title, command, tooltip, arguments: [hunk.hunkId] }));
      if (hunk.state === "landed") {
        lens("$(check) Keep", "assent.review.accept");
        lens("$(discard) Undo this change", "assent.review.reject");
      } else {
        if (hunk.state === "pending") lens("$(check) Accept", "assent.review.accept");
        lens("$(close) Reject", "assent.review.reject");
        if (hunk.state === "pending") lens("$(edit) Edit", "assent.review.edit");
      }
      if (proposal.reason && !explained.has(proposal.proposalId)) lens(lensTitle(proposal.reason), "assent.review.focusThread", proposal.reason);
      explained.add(proposal.proposalId);
    }
    return lenses;
  }

  // --- decisions ------------------------------------------------------------------------------------

  async decide(hunkId: string, decision: HunkDecision["decision"], extra: { newText?: string; message?: string } = {}): Promise<void> {
    const found = this.shown.get(hunkId);
    if (!found) {
      // A lens may outlive its hunk for a moment.
      vscode.window.setStatusBarMessage("Assent: this change has been decided already", 4000);
      return;
    }
    const { message } = extra;
    // The comment editor drops a last line end; the file would lose it.
    const newText = extra.newText !== undefined && found.hunk.newText.endsWith("\n") && !extra.newText.endsWith("\n") ? `${extra.newText}\n` : extra.newText;
    await this.resolve(found.proposal, [{ hunkId, decision, ...(newText === undefined ? {} : { newText }) }], message);
  }

  async decideAll(proposals: Proposal[], all: "accept" | "reject", message?: string): Promise<void> {
    for (const proposal of proposals) await this.resolve(proposal, { all }, message);
  }

  /** The proposal that a side of the diff view shows. */
  proposalOf(uri: vscode.Uri): Proposal | undefined {
    return uri.scheme === PROPOSED ? this.proposals.get(uri.query) : undefined;
  }

  ofFile(uri: vscode.Uri | undefined): Proposal[] {
    const shown = uri && this.proposalOf(uri);
    if (shown) return [shown];
    return this.list().filter((proposal) => proposal.uri === uri?.toString() || vscode.Uri.parse(proposal.uri).toString() === uri?.toString());
  }

  hunkOfThread(thread: vscode.CommentThread): string | undefined {
    return [...this.shown.entries()].find(([, each]) => each.thread === thread)?.[0];
  }

  /** The hunk at the cursor, or the nearest one after it. */
  hunkAtCursor(): string | undefined {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return undefined;
    const line = editor.selection.active.line;
    const compared = this.proposalOf(editor.document.uri);
    if (compared) return placed(compared).toSorted((a, b) => Math.abs(a.line - line) - Math.abs(b.line - line))[0]?.hunk.hunkId;
    const here = this.inFile(editor.document.uri);
    const distance = (each: Shown): number => {
      const lines = oldLines(each.hunk.range);
      const first = lines?.first ?? threadLine(each.hunk.range);
      const last = lines?.last ?? first;
      return line < first ? first - line : line > last ? line - last : 0;
    };
    return here.toSorted((a, b) => distance(a) - distance(b))[0]?.hunk.hunkId;
  }

  async startEditing(hunkId: string): Promise<void> {
    const found = this.shown.get(hunkId);
    if (!found?.thread) return;
    if (vscode.window.activeTextEditor?.document.uri.toString() !== found.uri.toString()) await this.show(found.proposal.proposalId, hunkId);
    found.thread.comments = [{ ...comment(found), body: found.hunk.newText, mode: vscode.CommentMode.Editing, contextValue: "editing" }];
  }

  stopEditing(hunkId: string): void {
    const found = this.shown.get(hunkId);
    if (found?.thread) found.thread.comments = [comment(found)];
  }

  focusThread(hunkId: string): void {
    const found = this.shown.get(hunkId);
    if (found?.thread) found.thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
  }

  async show(proposalId: string, hunkId?: string): Promise<void> {
    const proposal = this.proposals.get(proposalId);
    const hunk = proposal?.hunks.find((each) => each.hunkId === hunkId) ?? (proposal && openHunks(proposal)[0]);
    if (!proposal || !hunk) return;
    const at = new vscode.Position(hunk.range.start.line, hunk.range.start.character);
    const uri = vscode.Uri.parse(proposal.uri);
    try {
      const editor = await vscode.window.showTextDocument(uri, { preview: false, selection: new vscode.Range(at, at) });
      editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    } catch {
      // A file that does not exist yet has no editor to show the hunk in; its content is shown as a diff.
      await vscode.commands.executeCommand("assent.review.diff", proposalId);
    }
  }

  /** The next hunk in this file, then in the other files, round and round. */
  async step(by: 1 | -1): Promise<void> {
    const all = [...this.shown.values()].toSorted((a, b) => a.uri.toString().localeCompare(b.uri.toString()) || compare(a.hunk.range.start, b.hunk.range.start));
    if (all.length === 0) return;
    const editor = vscode.window.activeTextEditor;
    const uri = editor?.document.uri.toString() ?? "";
    const position = editor ? { line: editor.selection.active.line, character: editor.selection.active.character } : { line: -1, character: 0 };
    const order = (each: Shown): number => each.uri.toString().localeCompare(uri) || compare(each.hunk.range.start, position);
    const next = by > 0 ? (all.find((each) => order(each) > 0) ?? all[0]) : (all.findLast((each) => order(each) < 0) ?? all.at(-1));
    if (next) await this.show(next.proposal.proposalId, next.hunk.hunkId);
  }

  dispose(): void {
    clearTimeout(this.settled);
    for (const each of this.shown.values()) each.thread?.dispose();
    for (const each of [...this.disposables, this.removed, this.landed]) each.dispose();
  }

  private async resolve(proposal: Proposal, decisions: EditResolve["decisions"], message?: string): Promise<void> {
    const params: EditResolve = { proposalId: proposal.proposalId, decisions, ...(proposal.version === null ? {} : { version: proposal.version }), ...(message ? { message } : {}) };
    try {
      const answer = await this.sessions.request<Resolved>(METHODS.editResolve, { ...params });
      this.put(answer.proposal);
    } catch (error) {
      await this.refresh();
      const fresh = this.proposals.get(proposal.proposalId);
      // The file moved while the user decided: the same decision on the fresh ranges is still theirs.
      if (isStale(error) && fresh && fresh.version !== proposal.version) return this.resolve(fresh, decisions, message);
      void vscode.window.showWarningMessage(`Assent: ${explain(error)}`);
    }
  }

  // --- keeping up -----------------------------------------------------------------------------------

  private async refresh(): Promise<void> {
    try {
      const answer = await this.sessions.request<Proposals>(METHODS.editList, {});
      const present = new Set(answer.proposals.map((proposal) => proposal.proposalId));
      for (const id of this.proposals.keys()) if (!present.has(id)) this.drop(id);
      for (const proposal of answer.proposals) this.put(proposal);
    } catch {
      // The server is gone; the next attach asks again.
    }
  }

  private async refreshOne(proposalId: string): Promise<void> {
    const known = this.proposals.get(proposalId);
    if (!known || pendingHunks(known).length > 0) await this.refresh();
  }

  private drop(proposalId: string): void {
    const proposal = this.proposals.get(proposalId);
    if (proposal) this.put({ ...proposal, hunks: proposal.hunks.map((hunk) => (openHunks(proposal).includes(hunk) ? { ...hunk, state: "superseded" } : hunk)) });
  }

  private put(proposal: Proposal): void {
    const open = openHunks(proposal);
    if (open.length > 0) this.proposals.set(proposal.proposalId, proposal);
    else this.proposals.delete(proposal.proposalId);
    const uri = vscode.Uri.parse(proposal.uri);
    for (const [hunkId, each] of this.shown) {
      if (each.proposal.proposalId !== proposal.proposalId || open.some((hunk) => hunk.hunkId === hunkId)) continue;
      each.thread?.dispose();
      this.shown.delete(hunkId);
    }
    for (const hunk of open) this.place({ proposal, hunk, uri, thread: this.shown.get(hunk.hunkId)?.thread });
    this.redraw();
  }

  private place(entry: Shown): void {
    const before = this.shown.get(entry.hunk.hunkId);
    this.shown.set(entry.hunk.hunkId, entry);
    if (entry.hunk.state === "landed") {
      entry.thread?.dispose();
      entry.thread = undefined;
      return;
    }
    const line = threadLine(entry.hunk.range);
    const range = new vscode.Range(line, 0, line, 0);
    if (!entry.thread) {
      entry.thread = this.controller.createCommentThread(entry.uri, range, [comment(entry)]);
      entry.thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
      entry.thread.canReply = true;
    } else {
      if (entry.thread.range?.start.line !== line) entry.thread.range = range;
      const redo = before && (before.hunk.newText !== entry.hunk.newText || before.hunk.state !== entry.hunk.state);
      if (redo && entry.thread.comments[0]?.mode !== vscode.CommentMode.Editing) entry.thread.comments = [comment(entry)];
    }
    entry.thread.contextValue = entry.hunk.state;
    const siblings = entry.proposal.hunks;
    entry.thread.label = hunkLabel(entry.hunk, siblings.findIndex((hunk) => hunk.hunkId === entry.hunk.hunkId) + 1, siblings.length);
  }

  /** Threads do not follow edits by themselves. The server's own word on every hunk comes a moment later. */
  private typed(event: vscode.TextDocumentChangeEvent): void {
    const here = this.inFile(event.document.uri);
    if (here.length === 0 || event.contentChanges.length === 0) return;
    const changes = event.contentChanges.map((change) => ({ range: { start: plain(change.range.start), end: plain(change.range.end) }, text: change.text }));
    for (const each of here) {
      const range = shiftRange(each.hunk.range, changes);
      if (range === each.hunk.range) continue;
      this.place({ ...each, hunk: { ...each.hunk, range } });
    }
    this.redraw();
  }

  private inFile(uri: vscode.Uri): Shown[] {
    return [...this.shown.values()].filter((each) => each.uri.toString() === uri.toString());
  }

  private redraw(): void {
    this.decorate();
    this.lenses.fire();
    // The workbench forgets that lenses changed when the focus leaves the text before it has asked for them, as it does
    // when a hunk is decided in its thread: it is told once more when the focus has settled.
    clearTimeout(this.settled);
    this.settled = setTimeout(() => this.lenses.fire(), 1000);
    this.changed.fire();
  }

  private decorate(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const here = this.inFile(editor.document.uri);
      const ranges = (state: (hunk: Hunk) => boolean): vscode.Range[] =>
        here.flatMap(({ hunk }) => {
          const lines = state(hunk) ? oldLines(hunk.range) : null;
          return lines ? [new vscode.Range(lines.first, 0, lines.last, 0)] : [];
        });
      editor.setDecorations(this.removed, ranges((hunk) => hunk.state !== "landed"));
      editor.setDecorations(this.landed, ranges((hunk) => hunk.state === "landed"));
    }
  }

  private recolour(): void {
    this.removed.dispose();
    this.landed.dispose();
    this.removed = removedDecoration();
    this.landed = landedDecoration();
    this.decorate();
    // The code in a thread keeps the colours it was drawn with, which may not be seen on the new ground.
    for (const each of this.shown.values()) {
      if (each.thread && each.thread.comments[0]?.mode !== vscode.CommentMode.Editing) each.thread.comments = [comment(each)];
    }
  }

}

function comment(entry: Shown): vscode.Comment & { hunkId: string } {
  const language = vscode.workspace.textDocuments.find((document) => document.uri.toString() === entry.uri.toString())?.languageId ?? "";
  // The model's words are in there, so it stays untrusted: no command links, no HTML, no icons.
  const body = new vscode.MarkdownString(hunkBody(entry.hunk, language), false);
  return { hunkId: entry.hunk.hunkId, body, mode: vscode.CommentMode.Preview, author: { name: "Assent" }, contextValue: entry.hunk.state, ...(entry.proposal.reason ? { label: entry.proposal.reason } : {}) };
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

function isStale(error: unknown): boolean {
  return (error as { data?: { kind?: string } } | undefined)?.data?.kind === "staleProposal";
}

function plain(position: vscode.Position): { line: number; character: number } {
  return { line: position.line, character: position.character };
}
