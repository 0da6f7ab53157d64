/** Setting the key: asked for, checked at once against the endpoint it is for, and kept only in the secret storage. */
import * as vscode from "vscode";
import { METHODS, type CredentialsChecked } from "./protocol";
import type { Secrets } from "./secrets";
import type { ServerProcess } from "./serverProcess";
import { tell } from "./words";

export async function setApiKey(secrets: Secrets, server: ServerProcess): Promise<void> {
  const key = await vscode.window.showInputBox({
    title: "Assent: API key",
    prompt: "Kept in this machine's secret storage. Leave empty to remove it.",
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return;
  if (!key.trim()) return secrets.remove();
  const found = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: "Assent: checking the key" }, () => check(server, key.trim()));
  switch (found?.verdict) {
    case "accepted":
      await secrets.store(key.trim());
      void tell.information(`Assent: ${found.endpoint} accepts this key. It is kept in the secret storage.`);
      return;
    case "refused": {
      const again = "Enter another";
      const keep = "Keep it anyway";
      const chosen = await tell.warning(`Assent: ${found.endpoint} refuses this key. ${found.detail ?? ""}`.trim(), again, keep);
      if (chosen === again) return setApiKey(secrets, server);
      if (chosen === keep) await secrets.store(key.trim());
      return;
    }
    default:
      await secrets.store(key.trim());
      void tell.warning(`Assent: the key is kept, but it could not be checked${found ? ` at ${found.endpoint}. ${found.detail ?? ""}` : ": the server does not run."}`.trim());
  }
}

async function check(server: ServerProcess, apiKey: string): Promise<CredentialsChecked | undefined> {
  if (server.panel.kind === "failed" || !server.serves(METHODS.credentialsCheck)) return undefined;
  return server.request<CredentialsChecked>(METHODS.credentialsCheck, { apiKey }).catch(() => undefined);
}
