/** What the user starts from the editor: lightbulb, menus, inline prompt, terminal selection, commit message. */
import * as vscode from "vscode";
import type { MentionChip } from "../shared/bridge";
import type { ChatView } from "./chatView";
import { gitRepository } from "./git";
import { METHODS, type Json, type Range, type Sent } from "./protocol";
import type { ServerProcess } from "./serverProcess";
import { explain, type Sessions } from "./sessions";
import { tell } from "./words";

/** A file in the explorer, or a change in the source control list. */
export type FileRow = vscode.Uri | { resourceUri: vscode.Uri };

/** A code action's data, as the server made it. */
interface ActionData {
  action: string;
  uri: string;
  range: Range;
}

export class Actions {
  constructor(
    private readonly server: ServerProcess,
    private readonly sessions: Sessions,
    private readonly chat: ChatView,
  ) {}

  /** The server writes the words of an action; the chat shows and sends them. */
  async run(data: ActionData): Promise<void> {
    const answer = await this.server.request<{ prompt: string }>("workspace/executeCommand", { command: "assent.ask", arguments: [{ ...data, compose: true }] });
    if (data.action === "ask") await this.chat.compose(answer.prompt, [], false);
    else await this.chat.send({ text: answer.prompt, mentions: [] });
  }

  /** From a menu or the palette: the same action at the selection. */
  async runHere(action: string): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return void vscode.window.showInformationMessage("Assent: open a file and select something first.");
    await this.run({ action, uri: editor.document.uri.toString(), range: rangeOf(editor) });
  }

  async askAboutSelection(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    await this.chat.compose("", editor ? [chip(editor)] : []);
  }

  async addFile(chosenOne: FileRow | undefined, others: FileRow[]): Promise<void> {
    const rows = others.length ? others : chosenOne ? [chosenOne] : [];
    const uris = rows.map((row) => (row instanceof vscode.Uri ? row : row.resourceUri));
    const chosen = uris.length ? uris : vscode.window.activeTextEditor ? [vscode.window.activeTextEditor.document.uri] : [];
    await this.chat.compose(
      "",
      chosen.map((each) => ({ uri: each.toString(), label: vscode.workspace.asRelativePath(each) })),
    );
  }

  /** Words at the cursor, an edit in the file: it comes back as hunks to review. */
  async inlinePrompt(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return void vscode.window.showInformationMessage("Assent: put the cursor into a file first.");
    const where = chip(editor);
    const text = await vscode.window.showInputBox({
      title: `Assent: change ${where.label}`,
      prompt: "Describe the change. It comes back as an edit to review, here.",
      ignoreFocusOut: true,
    });
    if (!text?.trim()) return;
    const surface = await this.chat.surface();
    await surface.send({ text: `${text.trim()}\n\n(at @${where.label})`, mentions: [{ uri: where.uri, ...(where.range ? { range: where.range } : {}) }] });
  }

  async terminalSelection(): Promise<void> {
    // The stable API gives no terminal selection; the clipboard is borrowed and given back.
    const before = await vscode.env.clipboard.readText();
    await vscode.env.clipboard.writeText("");
    await vscode.commands.executeCommand("workbench.action.terminal.copySelection");
    const text = await vscode.env.clipboard.readText();
    await vscode.env.clipboard.writeText(before);
    if (!text.trim()) return void vscode.window.showInformationMessage("Assent: select something in the terminal first.");
    const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map((run) => run[0].length + 1)));
    await this.chat.compose(`From the terminal:\n${fence}\n${text.trimEnd()}\n${fence}\n`, []);
  }

  /** A commit message for what is staged, or for all changes when nothing is, put into the input box. */
  async commitMessage(source: { rootUri?: vscode.Uri } | undefined): Promise<void> {
    const repository = gitRepository(source?.rootUri);
    if (!repository) return void vscode.window.showInformationMessage("Assent: no git repository is open here.");
    const staged = await repository.diff(true);
    const diff = staged || (await repository.diff(false));
    if (!diff.trim()) return void vscode.window.showInformationMessage("Assent: there is nothing to commit yet.");
    await vscode.window.withProgress({ location: vscode.ProgressLocation.SourceControl, title: "Writing a commit message" }, async () => {
      try {
        const session = await this.sessions.create({ mode: "dontAsk", title: "Commit message", cwd: repository.rootUri.fsPath });
        const prompt = `Write a commit message for the diff below: a subject of at most 60 characters, then, only if it helps, a short body that says why. Answer with the message alone, without quotes or fences.\n\n${diff.slice(0, 60_000)}`;
        const sent = await this.sessions.request<Sent>(METHODS.sessionSend, { sessionId: session.sessionId, prompt, wait: true });
        const message = sent.result?.result.trim();
        if (!sent.result || sent.result.isError || !message) throw new Error(sent.result?.result || "The model gave no message.");
        repository.inputBox.value = message;
        await this.sessions.request(METHODS.sessionDelete, { sessionId: session.sessionId });
        this.sessions.forget(session.sessionId);
      } catch (error) {
        void tell.warning(`Assent could not write a commit message. ${explain(error)}`);
      }
    });
  }

  async exportChat(): Promise<void> {
    const session = this.chat.currentSession();
    if (!session) return void vscode.window.showInformationMessage("Assent: there is no conversation to export yet.");
    const answer = await this.sessions.request<{ text: string }>(METHODS.sessionExport, { sessionId: session.sessionId, format: "markdown" });
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "markdown", content: answer.text }));
  }
}

function rangeOf(editor: vscode.TextEditor): Range {
  const { selection, document } = editor;
  // A selection that ends before the first letter of a line has nothing of that line.
  const beyond = selection.end.character === 0 && selection.end.line > selection.start.line;
  const end = beyond ? document.lineAt(selection.end.line - 1).range.end : selection.end;
  const range = selection.isEmpty ? document.lineAt(selection.active.line).range : new vscode.Range(selection.start, end);
  return { start: { line: range.start.line, character: range.start.character }, end: { line: range.end.line, character: range.end.character } };
}

function chip(editor: vscode.TextEditor): MentionChip {
  const range = rangeOf(editor);
  const name = vscode.workspace.asRelativePath(editor.document.uri);
  const first = range.start.line + 1;
  const last = range.end.line + 1;
  return { uri: editor.document.uri.toString(), range, label: first === last ? `${name}:${first}` : `${name}:${first}-${last}` };
}

export function isActionData(value: unknown): value is ActionData {
  const data = value as Json | undefined;
  return typeof data?.["action"] === "string" && typeof data["uri"] === "string";
}
