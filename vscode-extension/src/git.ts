/** The git extension that comes with the editor, as far as we use it. */
import * as vscode from "vscode";

export interface GitRepository {
  rootUri: vscode.Uri;
  inputBox: { value: string };
  diff(cached?: boolean): Promise<string>;
}

/** The repository at this folder, or the first one; undefined while the extension is off or has found none. */
export function gitRepository(root: vscode.Uri | undefined): GitRepository | undefined {
  const git = vscode.extensions.getExtension<{ getAPI(version: 1): { repositories: GitRepository[] } }>("vscode.git");
  if (!git?.isActive) return undefined;
  try {
    const { repositories } = git.exports.getAPI(1);
    return repositories.find((each) => each.rootUri.toString() === root?.toString()) ?? repositories[0];
  } catch {
    return undefined; // it is there and turned off in the settings
  }
}
