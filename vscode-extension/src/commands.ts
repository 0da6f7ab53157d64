/** Every command the extension contributes, each bound to the part that does it. */
import * as vscode from "vscode";
import type { Actions, FileRow } from "./actions";
import type { ChatView } from "./chatView";
import { machineIn } from "./machine";
import type { Proposal } from "./protocol";
import { choosePython } from "./pythonChoice";
import { openReport } from "./report";
import type { Review } from "./review";
import type { ReviewDiff } from "./reviewDiff";
import type { ReviewNode } from "./reviewTree";
import type { Secrets } from "./secrets";
import type { ServerProcess } from "./serverProcess";
import { explain, type Sessions } from "./sessions";
import { askTrust } from "./trust";
import type { Waiting } from "./waiting";

export interface Parts {
  context: vscode.ExtensionContext;
  server: ServerProcess;
  sessions: Sessions;
  chat: ChatView;
  review: Review;
  diff: ReviewDiff;
  waiting: Waiting;
  actions: Actions;
  secrets: Secrets;
}

type Target = string | vscode.CommentThread | vscode.CommentReply | vscode.Comment | ReviewNode | vscode.Uri | undefined;

export function registerCommands(parts: Parts): vscode.Disposable {
  const { actions, chat, context, diff, review, secrets, server, sessions, waiting } = parts;
  const hunk = (target: Target): string | undefined => hunkOf(target, review);
  // The side bar's own buttons mean the chat they stand over, whichever was used last.
  const inSideBar = (act: () => unknown) => (): unknown => (chat.useSideBar(), act());
  const openInTab = (): unknown => chat.openTab(chat.currentSession());
  const commands: Record<string, (...args: never[]) => unknown> = {
    "assent.newSession": () => chat.newChat(),
    "assent.openInTab": openInTab,
    "assent.newTab": () => chat.openTab(),
    "assent.showHistory": () => chat.showHistory(),
    "assent.view.newSession": inSideBar(() => chat.newChat()),
    "assent.view.showHistory": inSideBar(() => chat.showHistory()),
    "assent.view.openInTab": inSideBar(openInTab),
    "assent.view.exportChat": inSideBar(() => actions.exportChat()),
    "assent.stop": async () => {
      // The turn one looks at, else whatever runs.
      const shown = chat.currentSession();
      const running = shown?.data.running ? [shown] : sessions.all().filter((session) => session.data.running);
      for (const session of running) await sessions.interrupt(session);
    },
    "assent.exportChat": () => actions.exportChat(),
    "assent.showWaiting": () => waiting.show(),
    "assent.allowOnce": () => waiting.allow(),
    "assent.deny": () => waiting.deny(),

    "assent.explain": () => actions.runHere("explain"),
    "assent.refactor": () => actions.runHere("refactor"),
    "assent.writeTests": () => actions.runHere("tests"),
    "assent.document": () => actions.runHere("document"),
    "assent.askSelection": () => actions.askAboutSelection(),
    // The explorer passes the row and all chosen ones as a list, source control each chosen one by itself.
    "assent.addFile": (row?: FileRow, ...rest: (FileRow | FileRow[])[]) => actions.addFile(row, Array.isArray(rest[0]) ? rest[0] : row && rest.length ? [row, ...(rest as FileRow[])] : []),
    "assent.inlinePrompt": () => actions.inlinePrompt(),
    "assent.terminalSelection": () => actions.terminalSelection(),
    "assent.commitMessage": (source?: { rootUri?: vscode.Uri }) => actions.commitMessage(source),

    "assent.review.accept": (target?: Target) => onHunk(hunk(target), (id) => review.decide(id, "accept")),
    "assent.review.reject": (target?: Target) => onHunk(hunk(target), (id) => review.decide(id, "reject")),
    "assent.review.rejectWithReason": (reply: vscode.CommentReply) => inThread(hunk(reply), (id) => review.decide(id, "reject", { message: reply.text })),
    "assent.review.acceptWithNote": (reply: vscode.CommentReply) => inThread(hunk(reply), (id) => review.decide(id, "accept", { message: reply.text })),
    "assent.review.edit": (target?: Target) => onHunk(hunk(target), (id) => review.startEditing(id)),
    "assent.review.saveEdit": (comment: vscode.Comment & { hunkId?: string }) => inThread(hunk(comment), (id) => review.decide(id, "edit", { newText: bodyOf(comment) })),
    "assent.review.cancelEdit": (comment: vscode.Comment & { hunkId?: string }) => inThread(hunk(comment), (id) => review.stopEditing(id)),
    "assent.review.focusThread": (target?: Target) => onHunk(hunk(target), (id) => review.focusThread(id)),
    "assent.review.open": (proposalId: string, hunkId?: string) => review.show(proposalId, hunkId),
    "assent.review.next": () => review.step(1),
    "assent.review.previous": () => review.step(-1),
    "assent.review.acceptFile": (target?: Target) => review.decideAll(fileOf(target, review), "accept"),
    "assent.review.rejectFile": (target?: Target) => review.decideAll(fileOf(target, review), "reject"),
    "assent.review.acceptAll": () => review.decideAll(review.list(), "accept"),
    "assent.review.rejectAll": () => review.decideAll(review.list(), "reject"),
    "assent.review.diff": (target?: string | ReviewNode) => diff.open(typeof target === "string" ? target : (target?.proposal.proposalId ?? fileOf(undefined, review)[0]?.proposalId ?? "")),
    "assent.review.diffAll": () => diff.openAll(),

    "assent.setApiKey": () => secrets.ask(),
    "assent.restartServer": () => server.restart(),
    "assent.showLog": () => server.log.show(true),
    "assent.openSettings": () => vscode.commands.executeCommand("workbench.action.openSettings", "assent"),
    "assent.choosePython": () => choose(context, server),
    "assent.reportIssue": () => openReport(context, server),
    "assent.trust.folder": () => trust(server),
    "assent.openWalkthrough": () => vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#assent.start`, false),
  };
  return vscode.Disposable.from(...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, guarded(server, run as (...args: unknown[]) => unknown))));
}

/** A command that fails says so in words; the log has the rest. */
function guarded(server: ServerProcess, run: (...args: unknown[]) => unknown): (...args: unknown[]) => Promise<unknown> {
  return async (...args) => {
    try {
      return await run(...args);
    } catch (error) {
      server.log.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
      void vscode.window.showErrorMessage(`Assent: ${explain(error)}`, "Show log").then((chosen) => chosen && server.log.show(true));
      return undefined;
    }
  };
}

/** A thread that goes away takes the focus with it when it had it; the editor gets it back. */
async function inThread(hunkId: string | undefined, act: (hunkId: string) => unknown): Promise<void> {
  await onHunk(hunkId, act);
  await vscode.commands.executeCommand("workbench.action.focusActiveEditorGroup");
}

async function onHunk(hunkId: string | undefined, act: (hunkId: string) => unknown): Promise<void> {
  if (hunkId) await act(hunkId);
  else void vscode.window.showInformationMessage("Assent: there is no hunk to decide here.");
}

/** Lenses pass the id, thread icons the thread, reply buttons thread and text, lists their node, keys nothing. */
function hunkOf(target: Target, review: Review): string | undefined {
  if (typeof target === "string") return target;
  if (!target || target instanceof vscode.Uri) return review.hunkAtCursor();
  if ("hunkId" in target && typeof target.hunkId === "string") return target.hunkId;
  if ("proposal" in target) return target.hunk?.hunkId;
  if ("thread" in target) return review.hunkOfThread(target.thread);
  if ("comments" in target) return review.hunkOfThread(target);
  return review.hunkAtCursor();
}

function fileOf(target: Target, review: Review): Proposal[] {
  if (target && typeof target === "object" && "proposal" in target) return review.list().filter((each) => each.uri === target.proposal.uri);
  return review.ofFile(target instanceof vscode.Uri ? target : vscode.window.activeTextEditor?.document.uri);
}

function bodyOf(comment: vscode.Comment): string {
  return typeof comment.body === "string" ? comment.body : comment.body.value;
}

async function choose(context: vscode.ExtensionContext, server: ServerProcess): Promise<void> {
  const present = vscode.workspace.getConfiguration("assent.server").get("python", "");
  const chosen = await choosePython(machineIn(context.extensionPath), present);
  if (chosen) await server.usePython(chosen);
}

/** The editor's own trust comes first. What a folder would start beyond that is shown, item by item, and asked about. */
async function trust(server: ServerProcess): Promise<void> {
  if (!vscode.workspace.isTrusted) return void (await vscode.commands.executeCommand("workbench.trust.manage"));
  for (const folder of vscode.workspace.workspaceFolders ?? []) await askTrust(server, folder);
}
