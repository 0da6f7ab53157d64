/** The API key, in the editor's SecretStorage and nowhere else; the server gets it with `initialize`, never through a file or an environment that its children would inherit. */
import * as vscode from "vscode";

const NAME = "assent.apiKey";

export class Secrets {
  readonly onDidChange: vscode.Event<unknown>;

  constructor(private readonly storage: vscode.SecretStorage) {
    this.onDidChange = (listener, self, disposables) =>
      storage.onDidChange(
        (event) => {
          if (event.key === NAME) listener.call(self, event);
        },
        undefined,
        disposables,
      );
  }

  async key(): Promise<string | undefined> {
    return this.storage.get(NAME);
  }

  async ask(): Promise<void> {
    const key = await vscode.window.showInputBox({
      title: "Assent: API key",
      prompt: "Kept in this machine's secret storage. Leave empty to remove it.",
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined) return;
    if (key.trim()) await this.storage.store(NAME, key.trim());
    else await this.storage.delete(NAME);
  }
}
