/** Things to try first: a few that the model at hand can do in this folder, named after files that are there. */
import * as path from "node:path";
import * as vscode from "vscode";
import type { Idea } from "../shared/bridge";
import { ideasFor, type Here } from "../shared/ideas";

const READABLE = "**/{README.md,readme.md,*.py,*.ts,*.js,*.go,*.rs,*.java}";
const SKIPPED = "**/{node_modules,.git,.venv,dist,build}/**";
const LONGEST = 200_000;
const SOON_MS = 300;

export class Ideas implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[] = [this.changed];
  private here: Here = {};
  readonly onDidChange = this.changed.event;

  constructor() {
    this.disposables.push(
      vscode.window.onDidChangeActiveTextEditor((editor) => editor && this.soon()),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        const active = vscode.window.activeTextEditor?.document.uri.toString();
        if (uris.some((uri) => uri.toString() === active)) this.soon();
      }),
    );
    void this.look();
  }

  list(offline: boolean): Idea[] {
    return ideasFor(this.here, offline);
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const each of this.disposables) each.dispose();
  }

  private timer: NodeJS.Timeout | undefined;
  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), SOON_MS);
  }

  private async look(): Promise<void> {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const active = uri && vscode.workspace.getWorkspaceFolder(uri) ? uri : undefined;
    const found = active ? [active] : await vscode.workspace.findFiles(READABLE, SKIPPED, 20);
    const readme = found.find((each) => /^readme/i.test(path.basename(each.path)));
    const code = found.find((each) => /\.py$/.test(each.path));
    const file = active ?? readme ?? code ?? found[0];
    const errors = active ? vscode.languages.getDiagnostics(active).filter((each) => each.severity === vscode.DiagnosticSeverity.Error).length : 0;
    const bare = code ? await undocumented(code) : undefined;
    const now: Here = {
      ...(file ? { file: vscode.workspace.asRelativePath(file) } : {}),
      ...(active ? { open: true, errors } : {}),
      ...(code && bare ? { undocumented: { name: bare, file: vscode.workspace.asRelativePath(code) } } : {}),
    };
    if (JSON.stringify(now) === JSON.stringify(this.here)) return;
    this.here = now;
    this.changed.fire();
  }
}

/** The first function of a file that has no docstring. */
async function undocumented(uri: vscode.Uri): Promise<string | undefined> {
  const text = await vscode.workspace.fs.readFile(uri).then(
    (bytes) => new TextDecoder().decode(bytes.slice(0, LONGEST)),
    () => "",
  );
  return /^\s*def ([a-z]\w*)\([^)]*\)[^:\n]*:\n(?!\s*["'])/m.exec(text)?.[1];
}
