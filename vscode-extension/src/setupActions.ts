/** What can be done with a row of the Setup list: every action asks the server, and the list is asked for again. */
import * as vscode from "vscode";
import { hookLog, mcpText, type SetupRow } from "../shared/setupRows";
import type { ChatView } from "./chatView";
import { openPage } from "./editorLinks";
import { METHODS, type AddedRule, type HookRuns, type McpAnswer, type McpDetails, type PermissionEditRules, type RuleInfo } from "./protocol";
import type { Sessions } from "./sessions";
import type { ShownText } from "./shownText";
import { where, type SetupNode, type SetupTree } from "./setupTree";
import { tell } from "./words";

const SCOPES: { label: string; description: string; scope: AddedRule["scope"] }[] = [
  { label: "For you, in every project", description: "your own settings", scope: "user" },
  { label: "For you, in this project", description: ".assent/settings.local.json", scope: "local" },
  { label: "For everyone in this project", description: ".assent/settings.json", scope: "project" },
];

export class SetupActions {
  constructor(
    private readonly sessions: Sessions,
    private readonly chat: ChatView,
    private readonly tree: SetupTree,
    private readonly texts: ShownText,
  ) {}

  /** A conversation, or the place in it that the row is about. */
  async open(node: SetupNode): Promise<void> {
    const { sessionId, toolUseId } = rowOf(node);
    if (sessionId) await this.chat.showSession(sessionId, toolUseId);
  }

  async answer(node: SetupNode, decision: "allow" | "deny"): Promise<void> {
    const { id, label } = rowOf(node);
    if (!id) return;
    // A row may show only the beginning of it; what is allowed is read whole first.
    if (decision === "allow" && (await vscode.window.showInformationMessage("Allow this once?", { modal: true, detail: label }, "Allow once")) === undefined) return;
    const message = decision === "deny" ? await vscode.window.showInputBox({ title: `Deny: ${label}`, prompt: "A reason for the model (optional)" }) : "";
    if (message === undefined) return;
    await this.sessions.request(METHODS.permissionAnswer, { askId: id, decision, ...(decision === "allow" ? { scope: "once" } : {}), ...(message ? { message } : {}) });
    this.tree.refresh("sessions");
  }

  async stopAgent(node: SetupNode): Promise<void> {
    const { sessionId, id } = rowOf(node);
    if (sessionId && id) await this.sessions.request(METHODS.agentStop, { sessionId, agentId: id });
    this.tree.refresh("agents");
  }

  async toBackground(node: SetupNode): Promise<void> {
    const { sessionId, toolUseId, can } = rowOf(node);
    if (sessionId && can === "session.foreground") return void (await this.keepRunning(sessionId, true));
    if (sessionId && toolUseId) await this.sessions.request(METHODS.jobBackground, { sessionId, toolUseId });
    this.tree.refresh("agents");
  }

  async toForeground(node: SetupNode): Promise<void> {
    const { sessionId, id } = rowOf(node);
    if (sessionId && id) await this.sessions.request(METHODS.jobForeground, { sessionId, jobId: id });
    this.tree.refresh("agents");
  }

  async toFront(node: SetupNode): Promise<void> {
    const { sessionId } = rowOf(node);
    if (sessionId) await this.keepRunning(sessionId, false);
  }

  /** Whether its turn goes on when the last window has gone. */
  private async keepRunning(sessionId: string, keepRunning: boolean): Promise<void> {
    await this.sessions.request(METHODS.sessionConfigure, { sessionId, keepRunning });
    this.tree.refresh("sessions");
  }

  // --- MCP servers ------------------------------------------------------------------------------------

  async mcp(node: SetupNode, method: "mcpRestart" | "mcpEnable" | "mcpDisable"): Promise<void> {
    const { server } = rowOf(node);
    if (server) await this.sessions.request<McpAnswer>(METHODS[method], { ...where(), name: server.name });
    this.tree.refresh("mcp");
  }

  /** What would start is shown whole, and the yes counts for just that. */
  async approve(node: SetupNode): Promise<void> {
    const { server } = rowOf(node);
    if (!server) return;
    const yes = "Approve and start";
    const detail = [server.change ?? server.shown ?? "", ...(server.problems ?? [])].filter(Boolean).join("\n\n");
    const sure = await vscode.window.showWarningMessage(`Start the MCP server “${server.name}” of this project?`, { modal: true, detail }, yes);
    if (sure !== yes) return;
    await this.sessions.request<McpAnswer>(METHODS.mcpApprove, { ...where(), name: server.name, ...(server.hash ? { hash: server.hash } : {}) });
    this.tree.refresh("mcp");
  }

  async signIn(node: SetupNode): Promise<void> {
    const { server } = rowOf(node);
    if (!server) return;
    const { server: asked } = await this.sessions.request<McpAnswer>(METHODS.mcpSignIn, { ...where(), name: server.name });
    this.tree.refresh("mcp");
    if (!asked.url) return;
    await openPage(asked.url);
    const paste = "Paste the address";
    const chosen = await tell.information(`Assent: sign in to ${server.name} in the browser. If the page at the end cannot be reached, paste its address here.`, paste);
    const redirect =
      chosen === paste
        ? await vscode.window.showInputBox({ title: `Sign in to ${server.name}`, prompt: "The address that the browser was sent to", ignoreFocusOut: true })
        : undefined;
    if (redirect?.trim()) await this.sessions.request<McpAnswer>(METHODS.mcpSignIn, { ...where(), name: server.name, redirect: redirect.trim() });
    this.tree.refresh("mcp");
  }

  async mcpLog(node: SetupNode): Promise<void> {
    const { server } = rowOf(node);
    if (!server) return;
    const asked = this.sessions.request<McpDetails>(METHODS.mcpShow, { ...where(), name: server.name });
    const details = await asked.catch(() => ({ server, tools: [], prompts: [] })); // an entry that cannot be read is no server
    await this.texts.show(`MCP server ${server.name}`, mcpText(details), "log");
  }

  async hookLog(): Promise<void> {
    const session = this.chat.currentSession();
    if (!session) return void vscode.window.showInformationMessage("Assent: there is no conversation yet whose hooks could have run.");
    const { runs } = await this.sessions.request<HookRuns>(METHODS.hookLog, { sessionId: session.sessionId });
    await this.texts.show("Hook log", hookLog(runs), "log");
  }

  // --- rules --------------------------------------------------------------------------------------------

  async addRule(): Promise<void> {
    const behaviour = (
      await vscode.window.showQuickPick(
        [
          { label: "Deny", description: "never, whatever else allows it", behaviour: "deny" as const },
          { label: "Ask", description: "every time", behaviour: "ask" as const },
          { label: "Allow", description: "without asking", behaviour: "allow" as const },
        ],
        { title: "New permission rule", placeHolder: "What shall happen?" },
      )
    )?.behaviour;
    const rule =
      behaviour &&
      (await vscode.window.showInputBox({
        title: `New rule: ${behaviour}`,
        prompt: "For example Bash(npm test:*), Edit(src/**), Read(~/.ssh/**), WebFetch(domain:example.org), mcp__server",
        ignoreFocusOut: true,
      }));
    const scope = rule?.trim() ? await this.pickScope("Where shall it be kept?") : undefined;
    if (behaviour && rule?.trim() && scope) await this.edit({ add: [{ rule: rule.trim(), behaviour, scope }] });
  }

  async removeRule(node: SetupNode): Promise<void> {
    const { rule } = rowOf(node);
    if (!rule) return;
    const yes = "Remove";
    const detail = rule.behaviour === "allow" ? "Assent will ask about it again." : "What it held back may happen then.";
    if ((await vscode.window.showWarningMessage(`Remove the rule ${rule.behaviour} ${rule.rule}?`, { modal: true, detail }, yes)) === yes)
      await this.edit({ remove: [removed(rule)] });
  }

  async moveRule(node: SetupNode): Promise<void> {
    const { rule } = rowOf(node);
    const scope = rule && (await this.pickScope(`Move ${rule.rule}`, rule.scope));
    if (rule && scope) await this.edit({ remove: [removed(rule)], add: [{ rule: rule.rule, behaviour: rule.behaviour, scope }] });
  }

  private async pickScope(title: string, but = ""): Promise<AddedRule["scope"] | undefined> {
    const offered = SCOPES.filter((each) => each.scope !== but);
    return (await vscode.window.showQuickPick(offered, { title }))?.scope;
  }

  private async edit(change: Omit<PermissionEditRules, "cwd">): Promise<void> {
    await this.sessions.request(METHODS.permissionEditRules, { ...where(), ...change });
    this.tree.refresh("rules");
  }
}

/** A row that the list has just drawn anew may come as nothing: the editor then does not know which one was meant. */
function rowOf(node: SetupNode | undefined): SetupRow {
  if (!node) throw new Error("the list has just changed. Choose it once more");
  return "row" in node ? node.row : { label: node.group.label };
}

function removed({ rule, behaviour, file }: RuleInfo): { rule: string; behaviour: RuleInfo["behaviour"]; file: string } {
  return { rule, behaviour, file };
}
