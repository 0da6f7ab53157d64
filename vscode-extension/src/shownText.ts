/** Texts to read in an editor and nothing more: logs, a plan. They are no files, and closing one asks nothing. */
import * as vscode from "vscode";

const SCHEME = "assent-text";
const KEPT = 30;

export class ShownText implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registered = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "This text is gone. Ask for it again.";
  }

  /** The same title is the same tab, with the text as it is now. */
  async show(title: string, text: string, language: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${title}` });
    this.texts.delete(uri.toString());
    this.texts.set(uri.toString(), text);
    for (const old of [...this.texts.keys()].slice(0, -KEPT)) this.texts.delete(old);
    this.changed.fire(uri);
    const document = await vscode.languages.setTextDocumentLanguage(await vscode.workspace.openTextDocument(uri), language);
    await vscode.window.showTextDocument(document, { preview: true });
  }

  dispose(): void {
    this.registered.dispose();
    this.changed.dispose();
  }
}
