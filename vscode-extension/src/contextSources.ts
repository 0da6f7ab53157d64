/**
 * What the chat can take along besides files: problems, the last command of a terminal, changes under version control,
 * a symbol. Each is offered with what it adds, and read when the message goes.
 *
 * Owns the reading. It is not aware of the chat.
 */
import * as path from "node:path";
import * as vscode from "vscode";
import type { ChatCompletion, MentionChip } from "../shared/bridge";
import { counted, diffCount, lineCount, placeLabel, problemsCount, problemsText, terminalText, type Problem } from "../shared/contextText";
import { gitRepository } from "./git";
import type { Mention } from "./protocol";

export const CONTEXT = "assent-context";
const SEVERITIES = ["error", "warning", "information", "hint"] as const;
const MOST_OUTPUT = 60_000;
const MOST_SYMBOLS = 30;
const MOST_OPEN = 8;

interface Ran {
  command: string;
  output: string;
  exitCode?: number;
}

export class ContextSources implements vscode.Disposable {
  private readonly disposables: vscode.Disposable[] = [];
  private ran: Ran | undefined;

  constructor() {
    this.disposables.push(vscode.window.onDidStartTerminalShellExecution(({ execution }) => void this.follow(execution)));
    this.disposables.push(
      vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
        if (this.ran?.command === execution.commandLine.value && exitCode !== undefined) this.ran.exitCode = exitCode;
      }),
    );
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }

  /** What `@` and these letters may mean besides the files of the workspace. */
  async offers(query: string): Promise<ChatCompletion[]> {
    const symbol = /^symbol:(.*)$/i.exec(query);
    if (symbol) return this.symbols(symbol[1] ?? "");
    const fits = (name: string): boolean => name.startsWith(query.toLowerCase());
    const special = (await this.specials()).filter((each) => fits(each.label.slice(1)));
    return [...openFiles(query), ...special, ...(fits("symbol") ? [SYMBOL] : [])];
  }

  /** Everything that can be attached right now and is no file. */
  async specials(): Promise<ChatCompletion[]> {
    const found = problems();
    const offers: ChatCompletion[] = found.length ? [offer("problems", "warning", problemsCount(found))] : [];
    if (vscode.window.terminals.length > 0) offers.push(offer("terminal", "terminal", this.ran ? `output of ${this.ran.command}` : "what it shows"));
    const diff = await changes();
    if (diff) offers.push(offer("git", "git", diffCount(diff)));
    return offers;
  }

  async symbols(name: string): Promise<ChatCompletion[]> {
    const everywhere = name ? ((await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>("vscode.executeWorkspaceSymbolProvider", name)) ?? []) : [];
    const editor = vscode.window.activeTextEditor;
    const here = editor ? flat((await documentSymbols(editor.document.uri)) ?? [], editor.document.uri) : [];
    const wanted = name.toLowerCase();
    const all = [...here.filter((each) => each.name.toLowerCase().includes(wanted)), ...everywhere.map(({ name: found, location }) => ({ name: found, ...location }))];
    const once = new Map(all.map((each) => [`${each.name} ${each.uri.toString()} ${each.range.start.line}`, each]));
    return [...once.values()].slice(0, MOST_SYMBOLS).map(({ name: found, uri, range }) => {
      const file = vscode.workspace.asRelativePath(uri);
      const label = `${found} (${path.basename(file)})`;
      const detail = `${file}:${range.start.line + 1}`;
      return {
        label: found,
        insertText: `@symbol:${found}`,
        kind: "symbol",
        detail,
        chip: { uri: uri.toString(), range: plainRange(range), label, kind: "symbol", adds: "definition" },
      };
    });
  }

  /** Chips as they go to the server: what is no file as the words it has now, a symbol as all of its lines. */
  async resolve(chips: readonly MentionChip[]): Promise<Mention[]> {
    const found: Mention[] = [];
    for (const chip of chips) {
      const { uri, range, label, text } = chip;
      if (chip.kind === "symbol" && range) found.push({ uri, range: await wholeRange(uri, range).catch(() => range) });
      else if (uri.startsWith(`${CONTEXT}:`)) found.push({ uri, label, text: text ?? (await this.read(uri.slice(CONTEXT.length + 1)).catch(unreadable)) });
      else found.push({ uri, ...(range ? { range } : {}) });
    }
    return found;
  }

  /** What the words name themselves, `@problems` and the like, besides the chips that are there. */
  async named(text: string, chips: readonly MentionChip[]): Promise<MentionChip[]> {
    const names = new Set([...text.matchAll(/(?:^|\s)@(problems|terminal|git)(?![\w/.:-])/g)].map((found) => `@${found[1]}`));
    if (names.size === 0) return [];
    const offered = (await this.specials()).flatMap((each) => (names.has(each.label) && each.chip ? [each.chip] : []));
    return offered.filter((chip) => !chips.some((each) => each.uri === chip.uri));
  }

  private async read(name: string): Promise<string> {
    switch (name) {
      case "problems":
        return problemsText(problems()) || "There are no problems.";
      case "git":
        return (await changes()) || "There are no changes.";
      case "terminal":
        return this.terminal();
      default:
        return "";
    }
  }

  private async terminal(): Promise<string> {
    const output = this.ran && terminalText(this.ran.output);
    if (this.ran && output) return `$ ${this.ran.command}\n${output}${this.ran.exitCode ? `\n(exit code ${this.ran.exitCode})` : ""}`;
    // What a quick command wrote can be there before the editor tells us that it began; the terminal itself knows it.
    const last = await borrowed(["workbench.action.terminal.copyLastCommandAndLastCommandOutput"]);
    const shown = last || (await borrowed(["workbench.action.terminal.selectAll", "workbench.action.terminal.copySelection", "workbench.action.terminal.clearSelection"]));
    return terminalText(shown) || "The terminal shows nothing.";
  }

  private async follow(execution: vscode.TerminalShellExecution): Promise<void> {
    const ran: Ran = { command: execution.commandLine.value, output: "" };
    this.ran = ran;
    for await (const piece of execution.read()) ran.output = (ran.output + piece).slice(-MOST_OUTPUT);
  }
}

/** What these commands put into the clipboard, which is given back as it was. */
async function borrowed(commands: readonly string[]): Promise<string> {
  const before = await vscode.env.clipboard.readText();
  await vscode.env.clipboard.writeText("");
  try {
    for (const command of commands) await vscode.commands.executeCommand(command);
    return await vscode.env.clipboard.readText();
  } catch {
    return ""; // this editor has no such command
  } finally {
    await vscode.env.clipboard.writeText(before);
  }
}

/** The message goes in any case: its words are worth more than what was to come along. */
function unreadable(error: unknown): string {
  return `It could not be read: ${error instanceof Error ? error.message : String(error)}`;
}

const SYMBOL: ChatCompletion = { label: "@symbol", insertText: "@symbol:", kind: "symbol", detail: "a function, class or variable by its name", more: true };

function offer(name: string, kind: NonNullable<MentionChip["kind"]>, adds: string): ChatCompletion {
  return { label: `@${name}`, insertText: `@${name}`, kind, detail: adds, chip: { uri: `${CONTEXT}:${name}`, label: name, kind, adds } };
}

/** Files in tabs, the active one first: usually one of them is meant. */
export function openUris(): vscode.Uri[] {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => ({ tab, first: tab.isActive && group.isActive })));
  const uris = tabs.toSorted((a, b) => Number(b.first) - Number(a.first)).flatMap(({ tab }) => (tab.input instanceof vscode.TabInputText ? [tab.input.uri] : []));
  return [...new Map(uris.filter((uri) => uri.scheme === "file").map((uri) => [uri.toString(), uri])).values()];
}

export function folderOf(name: string): string {
  const folder = path.dirname(name);
  return folder === "." ? "open" : `open · ${folder}`;
}

function openFiles(query: string): ChatCompletion[] {
  const names = openUris().map((uri) => vscode.workspace.asRelativePath(uri));
  return names
    .filter((name) => name.toLowerCase().includes(query.toLowerCase()))
    .slice(0, MOST_OPEN)
    .map((name) => ({ label: path.basename(name), insertText: name.includes(" ") ? `@"${name}"` : `@${name}`, kind: "file", detail: folderOf(name) }));
}

function problems(): Problem[] {
  const found: Problem[] = [];
  for (const [uri, all] of vscode.languages.getDiagnostics()) {
    if (!vscode.workspace.getWorkspaceFolder(uri)) continue;
    for (const { message, range, severity, source } of all) {
      if (severity > vscode.DiagnosticSeverity.Warning || source === "assent") continue;
      found.push({ file: vscode.workspace.asRelativePath(uri), line: range.start.line + 1, severity: SEVERITIES[severity] ?? "error", message, source: source ?? "" });
    }
  }
  return found.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || a.file.localeCompare(b.file) || a.line - b.line);
}

async function changes(): Promise<string> {
  const repository = gitRepository(undefined);
  if (!repository) return "";
  const [staged, unstaged] = [await repository.diff(true), await repository.diff(false)];
  return [staged.trimEnd(), unstaged.trimEnd()].filter(Boolean).join("\n");
}

async function documentSymbols(uri: vscode.Uri): Promise<(vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined> {
  return vscode.commands.executeCommand("vscode.executeDocumentSymbolProvider", uri);
}

function flat(symbols: (vscode.DocumentSymbol | vscode.SymbolInformation)[], uri: vscode.Uri): { name: string; uri: vscode.Uri; range: vscode.Range }[] {
  return symbols.flatMap((each) =>
    "location" in each ? [{ name: each.name, uri, range: each.location.range }] : [{ name: each.name, uri, range: each.range }, ...flat(each.children, uri)],
  );
}

/** The lines of the whole definition: a search for names often knows only where the name stands. */
async function wholeRange(uri: string, range: NonNullable<Mention["range"]>): Promise<NonNullable<Mention["range"]>> {
  const file = vscode.Uri.parse(uri);
  const at = new vscode.Position(range.start.line, range.start.character);
  const around = flat((await documentSymbols(file)) ?? [], file).filter((each) => each.range.contains(at));
  const smallest = around.toSorted((a, b) => a.range.end.line - a.range.start.line - (b.range.end.line - b.range.start.line))[0];
  return smallest ? plainRange(smallest.range) : range;
}

export function plainRange({ start, end }: vscode.Range): NonNullable<Mention["range"]> {
  return { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } };
}

/** The editor one looks at as a chip: its selected lines, or only which file it is. */
export function activeChip(editor: vscode.TextEditor): MentionChip | undefined {
  const { document, selection } = editor;
  if (!["file", "untitled", "vscode-remote"].includes(document.uri.scheme)) return undefined;
  const name = vscode.workspace.asRelativePath(document.uri);
  const short = path.basename(name);
  const chosen = selection.isEmpty ? "" : document.getText(selection);
  if (!chosen.trim()) {
    const text = `${name} is open in the editor; the cursor is in line ${selection.active.line + 1}.`;
    return { uri: `${CONTEXT}:active`, label: short, text, kind: "active", adds: "its name", file: document.uri.toString() };
  }
  const last = selection.end.character === 0 && selection.end.line > selection.start.line ? selection.end.line - 1 : selection.end.line;
  const range = { start: { line: selection.start.line, character: 0 }, end: { line: last, character: 0 } };
  const label = placeLabel(short, range.start.line + 1, last + 1);
  const lines = last - range.start.line + 1;
  return { uri: document.uri.toString(), range, label, kind: "active", adds: lineCount(chosen) ? counted(lines, "line") : "", file: document.uri.toString() };
}
