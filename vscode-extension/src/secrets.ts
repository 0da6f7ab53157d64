/** The API key, in the editor's SecretStorage and nowhere else; the server gets it with `initialize`, never through a file or an environment that its children would inherit. */
import type * as vscode from "vscode";

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

  async store(key: string): Promise<void> {
    await this.storage.store(NAME, key);
  }

  async remove(): Promise<void> {
    await this.storage.delete(NAME);
  }
}
