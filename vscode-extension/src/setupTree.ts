/**
 * What Assent works with in this folder, as a list in the side bar: conversations, MCP servers, hooks, agents, skills,
 * memory, rules and plugins. Each group is asked of the server when it is opened and when something in it changes, and
 * only where it is served.
 *
 * Owns the list. What can be done with a row is `SetupActions`'; a row leads to the file that says more.
 */
import * as vscode from "vscode";
import { agentRows, hookRows, jobRows, mcpRows, memoryRows, pluginRows, ruleRows, sessionRows, skillRows, type SetupRow } from "../shared/setupRows";
import {
  METHODS,
  NOTIFICATIONS,
  type AgentRun,
  type Agents,
  type Hooks,
  type JobInfo,
  type Jobs,
  type Json,
  type McpServers,
  type MemoryFiles,
  type Plugins,
  type Roster,
  type Rules,
  type Skills,
} from "./protocol";
import type { ServerProcess } from "./serverProcess";
import { explain, type Sessions } from "./sessions";

const SOON_MS = 250;
/** How long rows count that were asked for before the list wants them; it wants them at once, or is not looked at. */
const FRESH_MS = 2000;
const listed = ({ servers, withheld }: McpServers) => mcpRows(servers, withheld);

export interface Group {
  name: string;
  label: string;
  icon: string;
  method: string;
  rows(ask: <T>(method: string, params?: Json) => Promise<T>, sessions: Sessions): Promise<SetupRow[]>;
}

type GroupNode = { group: Group };
export type SetupNode = GroupNode | { row: SetupRow; under: string };

export class SetupTree implements vscode.TreeDataProvider<SetupNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<SetupNode | undefined>();
  private readonly disposables: vscode.Disposable[] = [];
  private readonly nodes: GroupNode[] = GROUPS.map((group) => ({ group }));
  private readonly stale = new Set<string>();
  private readonly open = new Set<string>();
  private readonly renewed = new Map<string, { rows: SetupRow[]; until: number }>();
  private timer: NodeJS.Timeout | undefined;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly server: ServerProcess,
    private readonly sessions: Sessions,
  ) {
    server.handle((client) => client.onNotification(NOTIFICATIONS.roster, () => this.refresh("sessions")));
    const view = vscode.window.createTreeView<SetupNode>("assent.setup", { treeDataProvider: this, showCollapseAll: true });
    this.disposables.push(
      this.changed,
      view,
      view.onDidCollapseElement(({ element }) => void ("group" in element && this.open.delete(element.group.name))),
      server.onDidStart(() => this.changed.fire(undefined)),
      sessions.onEvent(({ params }) => {
        const { event, parentToolUseId } = params;
        if (event.type === "mcpChanged") this.refresh("mcp");
        const began = event.type === "toolStarted" && AGENT_TOOLS.has(event.tool);
        if (began || parentToolUseId !== undefined || event.type === "job" || event.type === "toolFinished") this.refresh("agents");
      }),
    );
  }

  /** Asks again: everything, or one group, once however often it is said. */
  refresh(group?: string): void {
    if (!group) return this.changed.fire(undefined);
    this.stale.add(group);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const stale = this.nodes.filter(({ group: { name } }) => this.stale.has(name));
      this.stale.clear();
      for (const node of stale) void this.renew(node);
    }, SOON_MS);
  }

  /**
   * An open group's rows are asked for before the list hears of the change: a list that waits for rows has forgotten
   * those that it still shows, and a press on one of them would be lost.
   */
  private async renew(node: GroupNode): Promise<void> {
    const { name } = node.group;
    if (this.open.has(name)) this.renewed.set(name, { rows: await this.rowsOf(node), until: Date.now() + FRESH_MS });
    this.changed.fire(node);
  }

  async getChildren(node?: SetupNode): Promise<SetupNode[]> {
    if (!node) return this.nodes.filter(({ group }) => this.server.serves(group.method));
    if ("row" in node) return (node.row.rows ?? []).map((row) => ({ row, under: `${node.under}/${node.row.label}` }));
    const { name } = node.group;
    this.open.add(name);
    const renewed = this.renewed.get(name);
    this.renewed.delete(name);
    const rows = renewed && Date.now() < renewed.until ? renewed.rows : await this.rowsOf(node);
    return rows.map((row) => ({ row, under: name }));
  }

  private async rowsOf({ group }: GroupNode): Promise<SetupRow[]> {
    try {
      const rows = await group.rows((method, params = where()) => this.server.request(method, params), this.sessions);
      return rows.length > 0 ? rows : [{ label: "none" }];
    } catch (error) {
      return [{ label: explain(error), icon: "warning" }];
    }
  }

  getTreeItem(node: SetupNode): vscode.TreeItem {
    if ("group" in node) {
      const item = new vscode.TreeItem(node.group.label, vscode.TreeItemCollapsibleState.Collapsed);
      item.id = node.group.name;
      item.iconPath = new vscode.ThemeIcon(node.group.icon);
      item.contextValue = `group.${node.group.name}`;
      return item;
    }
    const { row } = node;
    const item = new vscode.TreeItem(row.label, row.rows?.length ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.None);
    item.description = row.description ?? "";
    item.tooltip = row.tooltip ?? row.description ?? "";
    item.accessibilityInformation = { label: [row.label, row.description].filter(Boolean).join(", ") };
    if (row.can) item.contextValue = row.can;
    if (row.icon) item.iconPath = new vscode.ThemeIcon(row.icon);
    if (row.can?.startsWith("session") || row.can === "ask" || row.can?.startsWith("agent") || row.can?.startsWith("job"))
      item.command = { command: "assent.setup.open", title: "Open", arguments: [node] };
    else if (row.file) item.command = { command: "vscode.open", title: "Open", arguments: [vscode.Uri.file(row.file)] };
    return item;
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const each of this.disposables) each.dispose();
  }
}

const AGENT_TOOLS = new Set(["Agent", "Task"]);

export function where(): Json {
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return cwd ? { cwd } : {};
}

const GROUPS: Group[] = [
  {
    name: "sessions",
    label: "Conversations",
    icon: "comment-discussion",
    method: METHODS.sessionRoster,
    rows: async (ask) => sessionRows((await ask<Roster>(METHODS.sessionRoster)).sessions),
  },
  {
    name: "agents",
    label: "Agents",
    icon: "robot",
    method: METHODS.agentList,
    rows: async (ask, sessions) => {
      const runs: (AgentRun & { sessionId: string })[] = [];
      const jobs: (JobInfo & { sessionId: string })[] = [];
      for (const { sessionId, data } of sessions.all()) {
        if (data.readOnly || !data.connected) continue;
        runs.push(...(await ask<Agents>(METHODS.agentList, { sessionId })).agents.map((run) => ({ ...run, sessionId })));
        jobs.push(...(await ask<Jobs>(METHODS.jobList, { sessionId })).jobs.map((job) => ({ ...job, sessionId })));
      }
      return [...jobRows(jobs), ...agentRows(runs, await ask<Agents>(METHODS.agentList))];
    },
  },
  { name: "mcp", label: "MCP servers", icon: "plug", method: METHODS.mcpList, rows: async (ask) => listed(await ask<McpServers>(METHODS.mcpList)) },
  { name: "hooks", label: "Hooks", icon: "zap", method: METHODS.hookList, rows: async (ask) => hookRows((await ask<Hooks>(METHODS.hookList)).hooks) },
  { name: "skills", label: "Skills", icon: "mortar-board", method: METHODS.skillList, rows: async (ask) => skillRows((await ask<Skills>(METHODS.skillList)).skills) },
  {
    name: "memory",
    label: "Memory",
    icon: "note",
    method: METHODS.memoryList,
    rows: async (ask) => memoryRows((await ask<MemoryFiles>(METHODS.memoryList)).files, (path) => vscode.workspace.asRelativePath(path)),
  },
  { name: "rules", label: "Permission rules", icon: "law", method: METHODS.permissionRules, rows: async (ask) => ruleRows((await ask<Rules>(METHODS.permissionRules)).rules) },
  { name: "plugins", label: "Plugins", icon: "extensions", method: METHODS.pluginList, rows: async (ask) => pluginRows((await ask<Plugins>(METHODS.pluginList)).plugins) },
];
