/**
 * Choosing the interpreter that runs the server: from those on the PATH, by its path, or in the file dialog.
 *
 * A path is run only when it is accepted, never while it is typed. The box stays open with the reason until the path
 * works, so that one press of Enter is enough and a wrong path is not saved.
 */
import * as vscode from "vscode";
import { listPythons, OLDEST, problemWith, type Machine } from "./serverCommand";

const TITLE = `Choose Python ${OLDEST.join(".")} or newer`;
const TYPE = "Enter the path of an interpreter…";
const BROWSE = "Browse…";

export async function choosePython(machine: Machine, present: string): Promise<string | undefined> {
  const found = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: "Looking for Python" }, () => listPythons(machine));
  const rows: vscode.QuickPickItem[] = found.map(({ path, version, usable }) => ({
    label: path,
    description: `Python ${version}${path === present ? ", in use" : ""}`,
    ...(usable ? {} : { detail: "too old" }),
  }));
  const chosen = await vscode.window.showQuickPick([...rows, { label: "", kind: vscode.QuickPickItemKind.Separator }, { label: TYPE }, { label: BROWSE }], {
    title: TITLE,
    placeHolder: "The interpreter that runs the Assent server",
    ignoreFocusOut: true,
  });
  switch (chosen?.label) {
    case undefined:
      return undefined;
    case TYPE:
      return typePath(machine, present);
    case BROWSE:
      return browse(machine);
    default:
      return checked(machine, chosen?.label);
  }
}

async function browse(machine: Machine): Promise<string | undefined> {
  const files = await vscode.window.showOpenDialog({ title: TITLE, openLabel: "Use this Python" });
  return checked(machine, files?.[0]?.fsPath);
}

/** This path when it works; else the box, with the path and the reason in it. */
async function checked(machine: Machine, path: string | undefined): Promise<string | undefined> {
  const problem = path && (await problemWith(machine, path));
  return problem ? typePath(machine, path, problem) : path;
}

/** Resolves with a path that works, or with undefined when the box was closed. */
function typePath(machine: Machine, value: string, problem?: string): Promise<string | undefined> {
  const box = vscode.window.createInputBox();
  box.title = TITLE;
  box.prompt = "The full path of a Python interpreter";
  box.value = value;
  box.validationMessage = problem;
  box.ignoreFocusOut = true;
  return new Promise((resolve) => {
    const accept = async (): Promise<void> => {
      const path = box.value.trim();
      box.busy = true;
      box.enabled = false;
      const wrong = await problemWith(machine, path);
      box.busy = false;
      box.enabled = true;
      box.validationMessage = wrong;
      if (wrong) return;
      resolve(path);
      box.hide();
    };
    box.onDidAccept(() => void accept());
    box.onDidChangeValue(() => (box.validationMessage = undefined));
    box.onDidHide(() => {
      resolve(undefined);
      box.dispose();
    });
    box.show();
  });
}
