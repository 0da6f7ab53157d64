/** Every command the extension contributes, each bound to the part that does it. */
import * as vscode from "vscode";
import type { Actions, FileRow } from "./actions";
import { setApiKey } from "./apiKey";
import type { ChatView } from "./chatView";
import type { FirstSteps } from "./firstSteps";
import { machineIn } from "./machine";
import type { Proposal } from "./protocol";
import { choosePython } from "./pythonChoice";
import { openReport } from "./report";
import type { Review } from "./review";
import type { ReviewDiff } from "./reviewDiff";
import { fileOf, type ReviewText } from "./reviewText";
import type { ReviewNode } from "./reviewTree";
import { RunningCalls } from "./runningCalls";
import type { Secrets } from "./secrets";
import type { ServerProcess } from "./serverProcess";
import { explain, type Sessions } from "./sessions";
import type { SetupActions } from "./setupActions";
import type { SetupNode, SetupTree } from "./setupTree";
import { askTrust } from "./trust";
import type { Waiting } from "./waiting";
import { tell } from "./words";

export interface Parts {
  context: vscode.ExtensionContext;
  server: ServerProcess;
  sessions: Sessions;
  chat: ChatView;
  review: Review;
  diff: ReviewDiff;
  text: ReviewText;
  waiting: Waiting;
  actions: Actions;
  secrets: Secrets;
  setup: SetupTree;
  setupActions: SetupActions;
  steps: FirstSteps;
}

type Target = string | ReviewNode | vscode.Uri | undefined;

export function registerCommands(parts: Parts): vscode.Disposable {
  const { actions, chat, context, diff, review, secrets, server, sessions, setup, setupActions, steps, text, waiting } = parts;
  const calls = new RunningCalls(sessions, chat);
  const hunk = (target: Target): string | undefined => hunkOf(target, diff);
  let moving: Promise<unknown> = Promise.resolve();
  const moveOn = (decide: () => Promise<void>): Promise<void> => {
    const editor = vscode.window.activeTextEditor;
    const moved = decide().then(() => diff.goOn(editor));
    moving = Promise.allSettled([moving, moved]);
    return moved;
  };
  /** Asks for a few words; closing the box does nothing. Going on to the next hunk takes the keyboard, which closes a box, so it comes first. */
  const withWords = async (title: string, prompt: string, act: (words: string) => Promise<void>): Promise<void> => {
    await moving;
    const words = await vscode.window.showInputBox({ title: `Assent: ${title}`, prompt });
    if (words !== undefined) await act(words.trim());
  };
  /** With lines of the hunk selected in its review, those alone are taken. */
  const accept = (id: string, message?: string): Promise<void> => {
    return moveOn(() => review.decide(id, "accept", { ...diff.selected(id), ...(message ? { message } : {}) }));
  };
  // The side bar's own buttons mean the chat they stand over, whichever was used last.
  const inSideBar = (act: () => unknown) => (): unknown => (chat.useSideBar(), act());
  const acted = (work: Promise<void>): Promise<void> => (steps.tick("acted"), work);
  const openInTab = (): unknown => chat.openTab(chat.currentSession());
  const commands: Record<string, (...args: never[]) => unknown> = {
    "assent.newSession": () => chat.newChat(),
    "assent.openInTab": openInTab,
    "assent.newTab": () => chat.openTab(),
    "assent.showHistory": () => chat.showHistory(),
    "assent.findInChat": () => chat.find(),
    // The workbench's own list of places: which one is best depends on the screen.
    "assent.moveChat": () => vscode.commands.executeCommand("workbench.action.moveFocusedView", "assent.chat"),
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
    "assent.moveToBackground": () => calls.toBackground(),
    "assent.moveToForeground": () => calls.toForeground(),
    "assent.exportChat": () => actions.exportChat(),
    "assent.showWaiting": () => waiting.show(),
    "assent.allowOnce": (how?: unknown) => waiting.allow(how === "key"),
    "assent.allowAlways": () => waiting.allowAlways(),
    "assent.deny": () => waiting.deny(),

    "assent.explain": () => acted(actions.runHere("explain")),
    "assent.refactor": () => acted(actions.runHere("refactor")),
    "assent.writeTests": () => acted(actions.runHere("tests")),
    "assent.document": () => acted(actions.runHere("document")),
    "assent.askSelection": () => acted(actions.askAboutSelection()),
    // The explorer passes the row and all chosen ones as a list, source control each chosen one by itself.
    "assent.addFile": (row?: FileRow, ...rest: (FileRow | FileRow[])[]) =>
      actions.addFile(row, Array.isArray(rest[0]) ? rest[0] : row && rest.length ? [row, ...(rest as FileRow[])] : []),
    "assent.inlinePrompt": () => acted(actions.inlinePrompt()),
    "assent.terminalSelection": () => actions.terminalSelection(),
    "assent.commitMessage": (source?: { rootUri?: vscode.Uri }) => actions.commitMessage(source),

    "assent.review.accept": (target?: Target) => onHunk(hunk(target), (id) => accept(id)),
    "assent.review.acceptSelection": (target?: Target) =>
      onHunk(hunk(target), (id) => (diff.selected(id) ? accept(id) : void vscode.window.showInformationMessage("Assent: select proposed lines in a review first."))),
    "assent.review.acceptWithNote": (target?: Target) => onHunk(hunk(target), (id) => withWords("Accept with a note", "A note for the model", (message) => accept(id, message))),
    "assent.review.reject": (target?: Target) => onHunk(hunk(target), (id) => moveOn(() => review.decide(id, "reject"))),
    "assent.review.rejectWithReason": (target?: Target) =>
      onHunk(hunk(target), (id) => withWords("Reject", "A reason for the model", (message) => moveOn(() => review.decide(id, "reject", { message })))),
    "assent.review.edit": (target?: Target) => onHunk(hunk(target), (id) => diff.show(id)),
    "assent.review.dropDraft": (target?: Target) => onHunk(hunk(target), (id) => text.dropDraft(id)),
    "assent.review.showReason": (target?: Target) => onHunk(hunk(target), (id) => void tell.information(review.find(id)?.proposal.reason ?? "")),
    "assent.review.open": (proposalId: string, hunkId?: string) => (hunkId ? diff.show(hunkId) : diff.showProposal(proposalId)),
    "assent.review.next": () => diff.step(1),
    "assent.review.previous": () => diff.step(-1),
    "assent.review.acceptFile": (target?: Target) => moveOn(() => review.decideAll(fileTarget(target, review), "accept")),
    "assent.review.rejectFile": (target?: Target) => moveOn(() => review.decideAll(fileTarget(target, review), "reject")),
    "assent.review.acceptAll": () => review.decideAll(review.list(), "accept"),
    "assent.review.rejectAll": () => review.decideAll(review.list(), "reject"),
    "assent.review.diff": (target?: string | ReviewNode) =>
      diff.showProposal(typeof target === "string" ? target : (target?.proposal.proposalId ?? fileTarget(undefined, review)[0]?.proposalId ?? "")),
    "assent.review.diffAll": () => diff.openAll(),
    "assent.review.undo": async () => {
      const hunkId = await review.undo();
      if (hunkId) await diff.show(hunkId);
    },

    "assent.setup.refresh": () => setup.refresh(),
    "assent.setup.open": (node: SetupNode) => setupActions.open(node),
    "assent.setup.allow": (node: SetupNode) => setupActions.answer(node, "allow"),
    "assent.setup.deny": (node: SetupNode) => setupActions.answer(node, "deny"),
    "assent.setup.stopAgent": (node: SetupNode) => setupActions.stopAgent(node),
    "assent.setup.toBackground": (node: SetupNode) => setupActions.toBackground(node),
    "assent.setup.toFront": (node: SetupNode) => setupActions.toFront(node),
    "assent.setup.toForeground": (node: SetupNode) => setupActions.toForeground(node),
    "assent.setup.mcpRestart": (node: SetupNode) => setupActions.mcp(node, "mcpRestart"),
    "assent.setup.mcpEnable": (node: SetupNode) => setupActions.mcp(node, "mcpEnable"),
    "assent.setup.mcpDisable": (node: SetupNode) => setupActions.mcp(node, "mcpDisable"),
    "assent.setup.mcpApprove": (node: SetupNode) => setupActions.approve(node),
    "assent.setup.mcpSignIn": (node: SetupNode) => setupActions.signIn(node),
    "assent.setup.mcpLog": (node: SetupNode) => setupActions.mcpLog(node),
    "assent.setup.hookLog": () => setupActions.hookLog(),
    "assent.setup.addRule": () => setupActions.addRule(),
    "assent.setup.removeRule": (node: SetupNode) => setupActions.removeRule(node),
    "assent.setup.moveRule": (node: SetupNode) => setupActions.moveRule(node),

    "assent.setApiKey": () => setApiKey(secrets, server),
    "assent.restartServer": () => server.restart(),
    "assent.showLog": () => server.log.show(true),
    "assent.openSettings": () => vscode.commands.executeCommand("workbench.action.openSettings", "assent"),
    "assent.choosePython": () => choose(context, server),
    "assent.reportIssue": () => openReport(context, server),
    "assent.trust.folder": () => trust(server),
    "assent.openWalkthrough": () => steps.show(`${context.extension.id}#assent.start`),
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
      void tell.error(`Assent: ${explain(error)}`, "Show log").then((chosen) => chosen && server.log.show(true));
      return undefined;
    }
  };
}

async function onHunk(hunkId: string | undefined, act: (hunkId: string) => unknown): Promise<void> {
  if (hunkId) await act(hunkId);
  else void vscode.window.showInformationMessage("Assent: there is no hunk to decide here.");
}

/** Lenses pass the id, lists their node, keys and titles nothing. */
function hunkOf(target: Target, diff: ReviewDiff): string | undefined {
  if (typeof target === "string") return target;
  if (target && "proposal" in target) return target.hunk?.hunkId;
  return diff.hunkAtCursor();
}

function fileTarget(target: Target, review: Review): Proposal[] {
  if (target && typeof target === "object" && "proposal" in target) return review.list().filter((each) => each.uri === target.proposal.uri);
  const uri = target instanceof vscode.Uri ? target : vscode.window.activeTextEditor?.document.uri;
  return uri ? review.ofFile(fileOf(uri)) : [];
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
