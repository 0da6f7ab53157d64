/** Choosing a model that is not among the last ones: from what the endpoint offers, or by its full name. */
import * as vscode from "vscode";
import type { ModelChoice, ModelChoices } from "./protocol/results";
import { METHODS } from "./protocol/methods";
import type { Json } from "./protocol";

const TITLE = "Model";
const TYPE = "Enter a name…";
const REFRESH = "Ask the endpoint again";
const ORIGINS: Record<ModelChoice["source"], string> = { endpoint: "offered by the endpoint", known: "known", settings: "in your settings" };

type Request = <T>(method: string, params: Json) => Promise<T>;

export async function chooseModel(request: Request, refresh = false): Promise<string | undefined> {
  const listed = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: "Asking for models" }, () =>
    request<ModelChoices>(METHODS.modelList, refresh ? { refresh: true } : {}),
  );
  const rows: vscode.QuickPickItem[] = listed.models.map(({ id, name, source }) => ({
    label: id,
    description: [name === id ? "" : name, ORIGINS[source]].filter(Boolean).join(" · "),
  }));
  const more: vscode.QuickPickItem[] = [
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    { label: TYPE },
    { label: REFRESH, ...(listed.error ? { detail: `${listed.endpoint}: ${listed.error}` } : {}) },
  ];
  const chosen = await vscode.window.showQuickPick([...rows, ...more], { title: TITLE, placeHolder: "The model that answers from the next step on", matchOnDescription: true });
  switch (chosen?.label) {
    case undefined:
      return undefined;
    case TYPE:
      return (await vscode.window.showInputBox({ title: TITLE, prompt: "The model's full name" }))?.trim();
    case REFRESH:
      return chooseModel(request, true);
    default:
      return chosen?.label;
  }
}
