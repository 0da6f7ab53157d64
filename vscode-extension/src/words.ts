/** Words of the model, of servers and of files, in places where the workbench reads signs in them. */
import * as vscode from "vscode";
import { messageWords } from "./plainWords";

type Shown = Thenable<string | undefined>;

/** Notifications for words that are not ours alone. */
export const tell = {
  information: (text: string, ...choices: string[]): Shown => vscode.window.showInformationMessage(messageWords(text), ...choices),
  warning: (text: string, ...choices: string[]): Shown => vscode.window.showWarningMessage(messageWords(text), ...choices),
  error: (text: string, ...choices: string[]): Shown => vscode.window.showErrorMessage(messageWords(text), ...choices),
};
