/** The server's questions about code, answered by the editor's own language providers; and the save barrier. */
import { createHash } from "node:crypto";
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { SERVER_REQUESTS, type EditorAnswer, type EditorQuery, type EditorSave, type EditorSaved, type Json } from "./protocol";

type Answer = Omit<EditorAnswer, "status"> & { status?: EditorAnswer["status"] };

export class EditorQueries {
  register(client: LanguageClient): vscode.Disposable {
    return vscode.Disposable.from(
      client.onRequest(SERVER_REQUESTS.editorQuery, (query: EditorQuery) => this.query(query, client)),
      client.onRequest(SERVER_REQUESTS.editorSave, (params: EditorSave) => this.save(params)),
    );
  }

  async query(query: EditorQuery, client: LanguageClient): Promise<EditorAnswer> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<Answer>((resolve) => {
      timer = setTimeout(() => resolve({ status: "starting", value: null }), Math.max(100, query.timeoutMs));
    });
    try {
      const answer = await Promise.race([this.answer(query, client), timeout]);
      return { ...answer, status: answer.status ?? "success" };
    } catch (error) {
      return { status: "error", value: error instanceof Error ? error.message : String(error) };
    } finally {
      clearTimeout(timer);
    }
  }

  private async answer(query: EditorQuery, client: LanguageClient): Promise<Answer> {
    switch (query.kind) {
      case "selection":
        return { value: selection(client) };
      case "openEditors":
        return { value: openEditors(client) };
      case "symbols":
        if (!query.uri) return this.workspaceSymbols((query as { query?: string }).query ?? "", client);
        break;
      default:
        break;
    }
    if (!query.uri) return { status: "error", value: `${query.kind} needs a uri` };
    const uri = client.protocol2CodeConverter.asUri(query.uri);
    const document = await vscode.workspace.openTextDocument(uri);
    const version = document.version;
    switch (query.kind) {
      case "document":
        return { version, value: { version, sha256: createHash("sha256").update(document.getText(), "utf8").digest("hex"), dirty: document.isDirty } };
      case "diagnostics":
        return this.diagnostics(query, document, client);
      case "openFile": {
        // Shown, not entered: the user goes on typing where they are.
        const selection = query.range ? client.protocol2CodeConverter.asRange(query.range) : undefined;
        await vscode.window.showTextDocument(document, { preserveFocus: true, preview: true, ...(selection ? { selection } : {}) });
        return { version, value: null };
      }
      default:
        return { version, ...(await this.provided(query, document, client)) };
    }
  }

  private async workspaceSymbols(query: string, client: LanguageClient): Promise<Answer> {
    const symbols = (await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>("vscode.executeWorkspaceSymbolProvider", query)) ?? [];
    const code = client.code2ProtocolConverter;
    return found(
      symbols.map((symbol) => ({
        name: symbol.name,
        kind: symbol.kind + 1,
        containerName: symbol.containerName,
        location: { uri: code.asUri(symbol.location.uri), range: code.asRange(symbol.location.range) },
      })),
    );
  }

  /** What the editor's providers say. They cannot be told from "no provider" when they say nothing. */
  private async provided(query: EditorQuery, document: vscode.TextDocument, client: LanguageClient): Promise<Answer> {
    const { uri } = document;
    const position = query.position ? client.protocol2CodeConverter.asPosition(query.position) : new vscode.Position(0, 0);
    const run = <T>(command: string, ...rest: unknown[]): Thenable<T | undefined> => vscode.commands.executeCommand<T>(command, uri, ...rest);
    const code = client.code2ProtocolConverter;
    switch (query.kind) {
      case "definition":
        return found(locations(await run<(vscode.Location | vscode.LocationLink)[]>("vscode.executeDefinitionProvider", position), client));
      case "references":
        return found(locations(await run<vscode.Location[]>("vscode.executeReferenceProvider", position), client));
      case "hover": {
        const hovers = (await run<vscode.Hover[]>("vscode.executeHoverProvider", position)) ?? [];
        const markdown = hovers
          .flatMap((hover) => hover.contents.map(markdownOf))
          .filter(Boolean)
          .join("\n\n");
        return markdown ? { value: { markdown } } : { status: "noServer", value: null };
      }
      case "symbols":
        return found(((await run<vscode.DocumentSymbol[]>("vscode.executeDocumentSymbolProvider")) ?? []).map((symbol) => symbolOf(symbol, client)));
      case "rename": {
        const edit = await run<vscode.WorkspaceEdit>("vscode.executeDocumentRenameProvider", position, query.newName ?? "");
        return edit && edit.size > 0 ? { value: workspaceEdit(edit, client) } : { status: "noServer", value: null };
      }
      case "codeActions": {
        const range = query.range ? client.protocol2CodeConverter.asRange(query.range) : new vscode.Range(position, position);
        const actions = (await run<(vscode.CodeAction | vscode.Command)[]>("vscode.executeCodeActionProvider", range, undefined, 20)) ?? [];
        const value = actions
          .filter((action): action is vscode.CodeAction => "kind" in action && !ours(action))
          .map((action) => ({ title: action.title, kind: action.kind?.value, ...(action.edit ? { edit: workspaceEdit(action.edit, client) } : {}) }));
        return found(value);
      }
      case "format": {
        const options = { tabSize: 4, insertSpaces: true, ...editorOptions(uri) };
        const edits = query.range
          ? await run<vscode.TextEdit[]>("vscode.executeFormatRangeProvider", client.protocol2CodeConverter.asRange(query.range), options)
          : await run<vscode.TextEdit[]>("vscode.executeFormatDocumentProvider", options);
        return edits ? { value: edits.map((edit) => code.asTextEdit(edit)) } : { status: "noServer", value: null };
      }
      default:
        return { status: "error", value: `This editor does not answer ${query.kind}` };
    }
  }

  /** Diagnostics that have stopped changing, or the last ones when they do not stop in time. */
  private diagnostics(query: EditorQuery, document: vscode.TextDocument, client: LanguageClient): Promise<Answer> {
    const settleMs = query.settleMs ?? 300;
    const deadline = Math.max(settleMs, query.timeoutMs - 50);
    return new Promise((resolve) => {
      const done = (settled: boolean): void => {
        clearTimeout(quiet);
        clearTimeout(late);
        subscription.dispose();
        const value = vscode.languages
          .getDiagnostics(document.uri)
          .filter((diagnostic) => diagnostic.source !== "assent")
          .map((diagnostic) => client.code2ProtocolConverter.asDiagnostic(diagnostic));
        resolve({ version: document.version, value, settled });
      };
      let quiet = setTimeout(() => done(true), settleMs);
      const late = setTimeout(() => done(false), deadline);
      const subscription = vscode.languages.onDidChangeDiagnostics((event) => {
        if (!event.uris.some((uri) => uri.toString() === document.uri.toString())) return;
        clearTimeout(quiet);
        quiet = setTimeout(() => done(true), settleMs);
      });
    });
  }

  private async save(params: EditorSave): Promise<EditorSaved> {
    const saved: string[] = [];
    const failed: EditorSaved["failed"] = [];
    for (const wanted of params.uris) {
      const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === vscode.Uri.parse(wanted).toString());
      try {
        if (!document || !document.isDirty || (await document.save())) saved.push(wanted);
        else failed.push({ uri: wanted, message: "The editor did not save the file." });
      } catch (error) {
        failed.push({ uri: wanted, message: error instanceof Error ? error.message : String(error) });
      }
    }
    return { saved, failed };
  }
}

function found(value: unknown[]): Answer {
  return value.length > 0 ? { value } : { status: "noServer", value: [] };
}

function workspaceEdit(edit: vscode.WorkspaceEdit, client: LanguageClient): Json {
  const code = client.code2ProtocolConverter;
  return { changes: Object.fromEntries(edit.entries().map(([uri, edits]) => [code.asUri(uri), edits.map((each) => code.asTextEdit(each))])) };
}

function locations(list: (vscode.Location | vscode.LocationLink)[] | undefined, client: LanguageClient): Json[] {
  const code = client.code2ProtocolConverter;
  return (list ?? []).map((each) =>
    "targetUri" in each
      ? { uri: code.asUri(each.targetUri), range: code.asRange(each.targetSelectionRange ?? each.targetRange) }
      : { uri: code.asUri(each.uri), range: code.asRange(each.range) },
  );
}

function symbolOf(symbol: vscode.DocumentSymbol, client: LanguageClient): Json {
  const range = client.code2ProtocolConverter.asRange.bind(client.code2ProtocolConverter);
  return {
    name: symbol.name,
    detail: symbol.detail,
    kind: symbol.kind + 1, // the editor counts symbol kinds from 0, the protocol from 1
    range: range(symbol.range),
    selectionRange: range(symbol.selectionRange ?? symbol.range),
    children: (symbol.children ?? []).map((child) => symbolOf(child, client)),
  };
}

function markdownOf(content: vscode.MarkdownString | vscode.MarkedString): string {
  if (typeof content === "string") return content;
  if ("language" in content) return `\`\`\`${content.language}\n${content.value}\n\`\`\``;
  return content.value;
}

function selection(client: LanguageClient): Json | null {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors.find((each) => each.document.uri.scheme === "file");
  if (!editor) return null;
  return { uri: editor.document.uri.toString(), range: client.code2ProtocolConverter.asRange(editor.selection), text: editor.document.getText(editor.selection) };
}

function openEditors(client: LanguageClient): Json[] {
  const active = vscode.window.activeTextEditor?.document.uri.toString();
  const visible = new Set(vscode.window.visibleTextEditors.map((editor) => editor.document.uri.toString()));
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).flatMap((tab) => (tab.input instanceof vscode.TabInputText ? [tab.input.uri.toString()] : []));
  const open = new Set([...tabs, ...visible]);
  return vscode.workspace.textDocuments
    .filter((document) => open.has(document.uri.toString()))
    .map((document) => {
      const uri = document.uri.toString();
      return {
        uri: client.code2ProtocolConverter.asUri(document.uri),
        version: document.version,
        active: uri === active,
        visible: visible.has(uri),
        dirty: document.isDirty,
        languageId: document.languageId,
      };
    });
}

function editorOptions(uri: vscode.Uri): { tabSize?: number; insertSpaces?: boolean } {
  const options = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString())?.options;
  return options && typeof options.tabSize === "number" && typeof options.insertSpaces === "boolean" ? { tabSize: options.tabSize, insertSpaces: options.insertSpaces } : {};
}

/** Our own lightbulb entries say nothing about the code. */
function ours(action: vscode.CodeAction): boolean {
  return action.command?.command.startsWith("assent.") ?? action.title.startsWith("Assent:");
}
