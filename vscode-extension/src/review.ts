/**
 * Edits under review: which hunks are open, where they stand in their files now, and what is decided about them.
 *
 * The conversations hold the proposals; this reads them there. Decisions go to the server, which alone knows what they
 * mean. It draws nothing: `ReviewHints` marks the real files, `ReviewDiff` shows the two sides.
 */
import * as vscode from "vscode";
import {
  METHODS,
  type EditResolve,
  type Hunk,
  type HunkDecision,
  type LineChoice,
  type PermissionAnswer,
  type PermissionAsk,
  type Proposal,
  type Proposals,
  type Range,
  type Resolved,
} from "./protocol";
import { compare, oneAfterTheOther, openHunks, pendingHunks, shiftRange } from "./reviewModel";
import { explain, type Sessions } from "./sessions";
import { tell } from "./words";

export interface OpenHunk {
  proposal: Proposal;
  hunk: Hunk;
  uri: vscode.Uri;
}

/** The user's own words for hunks that wait. */
export interface Drafts {
  draftOf(hunkId: string): string | undefined;
}

/** Decisions that were made at once, and can be taken back at once. */
interface Made {
  proposalId: string;
  hunkIds: string[];
}

const REMEMBERED = 50;
const PAUSE_MS = 400;

export class Review implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** Where hunks stand since the user typed, until the server says so itself. */
  private readonly moved = new WeakMap<Range, Range>();
  private readonly disposables: vscode.Disposable[] = [];
  private drafts: Drafts = { draftOf: () => undefined };
  private pause: NodeJS.Timeout | undefined;
  private places = "";
  private readonly made: Made[][] = [];
  private readonly decided = new vscode.EventEmitter<"accept" | "reject">();
  /** The user has decided something. */
  readonly onDecided = this.decided.event;
  readonly onDidChange = this.changed.event;
  private readonly shifted = new vscode.EventEmitter<void>();
  /** The same hunks in other lines; told when the typing pauses. */
  readonly onDidMove = this.shifted.event;

  constructor(private readonly sessions: Sessions) {
    this.disposables.push(
      this.changed,
      this.decided,
      this.shifted,
      sessions.onAttached(() => this.changed.fire()),
      sessions.onEvent(({ params }) => {
        const { event } = params;
        if (event.type === "editResolved" && !event.proposal) void this.refresh();
        else if (event.type === "editProposed" || event.type === "editUpdated" || event.type === "editResolved") this.changed.fire();
        else if (event.type === "editMoved") this.movedOnly();
      }),
      vscode.workspace.onDidChangeTextDocument((event) => this.typed(event)),
    );
  }

  /** Set once, by whoever lets the user type into proposed lines. */
  useDrafts(drafts: Drafts): void {
    this.drafts = drafts;
  }

  /** Every change with an open hunk, its hunks where they are now. */
  list(): Proposal[] {
    return this.sessions.all().flatMap((session) => session.data.proposals.map((proposal) => ({ ...proposal, hunks: proposal.hunks.map((hunk) => this.placed(hunk)) })));
  }

  /** All open hunks, file by file and from top to bottom. */
  hunks(): OpenHunk[] {
    const all = this.list().flatMap((proposal) => openHunks(proposal).map((hunk) => ({ proposal, hunk, uri: vscode.Uri.parse(proposal.uri) })));
    return all.toSorted((a, b) => a.uri.path.localeCompare(b.uri.path) || compare(a.hunk.range.start, b.hunk.range.start));
  }

  find(hunkId: string): OpenHunk | undefined {
    return this.hunks().find((each) => each.hunk.hunkId === hunkId);
  }

  inFile(uri: vscode.Uri): OpenHunk[] {
    return this.hunks().filter((each) => each.uri.toString() === uri.toString());
  }

  hunksOf(uri: vscode.Uri): Hunk[] {
    return this.inFile(uri).map((each) => each.hunk);
  }

  ofFile(uri: vscode.Uri | undefined): Proposal[] {
    return this.list().filter((proposal) => vscode.Uri.parse(proposal.uri).toString() === uri?.toString());
  }

  pendingCount(): number {
    return this.list().reduce((sum, proposal) => sum + pendingHunks(proposal).length, 0);
  }

  // --- decisions ------------------------------------------------------------------------------------

  /** Accepting takes the user's own words for the hunk along. */
  async decide(hunkId: string, decision: "accept" | "reject", extra: { newText?: string; lines?: LineChoice; message?: string } = {}): Promise<void> {
    const found = this.find(hunkId);
    if (!found) {
      // A lens may outlive its hunk for a moment.
      vscode.window.setStatusBarMessage("Assent: this change has been decided already", 4000);
      return;
    }
    const done = await this.resolve(found.proposal, [decision === "accept" ? this.chosen(found.hunk, extra) : { hunkId, decision }], extra.message);
    this.remember(done ? [done] : [], decision);
  }

  async decideAll(proposals: Proposal[], all: "accept" | "reject", message?: string): Promise<void> {
    const made: Made[] = [];
    for (const proposal of proposals) {
      const drafted = all === "accept" && openHunks(proposal).some((hunk) => this.drafts.draftOf(hunk.hunkId) !== undefined);
      const done = await this.resolve(proposal, drafted ? openHunks(proposal).map((hunk) => this.accepted(hunk)) : { all }, message);
      if (done) made.push(done);
    }
    this.remember(made, all);
  }

  get canUndo(): boolean {
    return this.made.length > 0;
  }

  /** Takes the last decision back: its hunks are open again. The first of them, to be shown. */
  async undo(): Promise<string | undefined> {
    const last = this.made.pop();
    if (!last) return void vscode.window.showInformationMessage("Assent: there is no decision to take back.");
    this.changed.fire();
    for (const { proposalId, hunkIds } of last) {
      const params: EditResolve = { proposalId, decisions: hunkIds.map((hunkId) => ({ hunkId, decision: "reopen" })) };
      const answer = await this.sessions.request<Resolved>(METHODS.editResolve, { ...params });
      this.put(answer.proposal);
      const refused = answer.refused?.[0];
      if (refused) void tell.warning(`Assent: a decision stays as it is: ${refused.reason}.`);
    }
    const open = this.hunks().map((each) => each.hunk.hunkId);
    return last.flatMap((each) => each.hunkIds).find((hunkId) => open.includes(hunkId));
  }

  private remember(made: Made[], decision: "accept" | "reject"): void {
    if (made.length === 0 || !this.sessions.can("editReopen")) return;
    this.made.push(made);
    this.made.splice(0, this.made.length - REMEMBERED);
    this.decided.fire(decision);
    this.changed.fire();
  }

  /** An ask that is allowed as a whole takes the hunks as the user has edited them. */
  withDrafts(ask: PermissionAsk | undefined, answer: PermissionAnswer): PermissionAnswer {
    const hunks = ask?.proposal?.hunks.filter((hunk) => hunk.open) ?? [];
    if (answer.decision !== "allow" || answer.hunks || !hunks.some((hunk) => this.drafts.draftOf(hunk.hunkId) !== undefined)) return answer;
    return { ...answer, hunks: hunks.map((hunk) => this.accepted(hunk)) };
  }

  dispose(): void {
    clearTimeout(this.pause);
    for (const each of this.disposables) each.dispose();
  }

  /** Some of its lines: told as such where the server makes the same text of them, as an edit otherwise. */
  private chosen(hunk: Hunk, { newText, lines }: { newText?: string; lines?: LineChoice }): HunkDecision {
    const fits = lines && this.sessions.can("editLines") && oneAfterTheOther(hunk, lines) === newText;
    return fits ? { hunkId: hunk.hunkId, decision: "accept", lines } : this.accepted(hunk, newText);
  }

  private accepted({ hunkId }: Hunk, own = this.drafts.draftOf(hunkId)): HunkDecision {
    return own === undefined ? { hunkId, decision: "accept" } : { hunkId, decision: "edit", newText: own };
  }

  /** What was decided by it; undefined when nothing was. */
  private async resolve(proposal: Proposal, decisions: EditResolve["decisions"], message?: string): Promise<Made | undefined> {
    const params: EditResolve = {
      proposalId: proposal.proposalId,
      decisions,
      ...(proposal.version === null ? {} : { version: proposal.version }),
      ...(message ? { message } : {}),
    };
    try {
      const answer = await this.sessions.request<Resolved>(METHODS.editResolve, { ...params });
      this.put(answer.proposal);
      const refused = answer.refused?.[0];
      if (refused) void tell.warning(`Assent: this hunk was left as it is: ${refused.reason}.`);
      const left = new Set((answer.refused ?? []).map((each) => each.hunkId));
      const named = "all" in decisions ? openHunks(proposal).map((hunk) => hunk.hunkId) : decisions.map((each) => each.hunkId);
      const hunkIds = named.filter((hunkId) => !left.has(hunkId));
      return hunkIds.length > 0 ? { proposalId: proposal.proposalId, hunkIds } : undefined;
    } catch (error) {
      await this.refresh();
      const fresh = this.list().find((each) => each.proposalId === proposal.proposalId);
      // The file moved while the user decided: the same decision on the fresh ranges is still theirs.
      if (isStale(error) && fresh && fresh.version !== proposal.version) return this.resolve(fresh, decisions, message);
      void tell.warning(`Assent: ${explain(error)}`);
      return undefined;
    }
  }

  // --- keeping up -----------------------------------------------------------------------------------

  private placed(hunk: Hunk): Hunk {
    const range = this.moved.get(hunk.range);
    return range ? { ...hunk, range } : hunk;
  }

  /** Takes over what the server says is open now. */
  private async refresh(): Promise<void> {
    try {
      const answer = await this.sessions.request<Proposals>(METHODS.editList, {});
      const present = new Set(answer.proposals.map((proposal) => proposal.proposalId));
      for (const proposal of this.list()) if (!present.has(proposal.proposalId)) this.put({ ...proposal, hunks: [] });
      for (const proposal of answer.proposals) this.put(proposal);
    } catch {
      // The server is gone; the next attach asks again.
    }
  }

  private put(proposal: Proposal): void {
    this.sessions
      .all()
      .find((session) => session.sessionId === proposal.sessionId)
      ?.dispatch({ type: "proposal", proposal });
    this.changed.fire();
  }

  /** Hunks do not follow edits by themselves. The server's own word on every hunk comes a moment later. */
  private typed({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (contentChanges.length === 0) return;
    const uri = document.uri.toString();
    const changes = contentChanges.map((change) => ({ range: { start: plain(change.range.start), end: plain(change.range.end) }, text: change.text }));
    let any = false;
    for (const session of this.sessions.all()) {
      for (const proposal of session.data.proposals) {
        if (vscode.Uri.parse(proposal.uri).toString() !== uri) continue;
        any = true;
        for (const { range } of proposal.hunks) this.moved.set(range, shiftRange(this.moved.get(range) ?? range, changes));
      }
    }
    if (any) this.movedOnly();
  }

  /**
   * The same hunks elsewhere. Rows and marks in the editor move along with the text by themselves, so nobody is told at a
   * key: only when the typing pauses, and only if a hunk stands in another line than before.
   */
  private movedOnly(): void {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      const places = this.list()
        .flatMap((proposal) => proposal.hunks.map(({ hunkId, range }) => `${hunkId} ${range.start.line} ${range.end.line}`))
        .join();
      if (places === this.places) return;
      this.places = places;
      this.shifted.fire();
    }, PAUSE_MS);
  }
}

function isStale(error: unknown): boolean {
  return (error as { data?: { kind?: string } } | undefined)?.data?.kind === "staleProposal";
}

function plain(position: vscode.Position): { line: number; character: number } {
  return { line: position.line, character: position.character };
}
