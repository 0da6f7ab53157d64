/**
 * What Assent works with in this folder, as a list in the side bar: MCP servers, hooks, agents, skills, memory, rules,
 * plugins and running conversations. Each group is asked of the server when it is opened, and only where it is served.
 *
 * Owns the list. It changes nothing and keeps nothing; a row leads to the file that says more.
 */
import * as vscode from "vscode";
import { METHODS, type Agents, type Hooks, type Json, type McpServers, type MemoryFile, type Roster, type Rules, type Skills } from "./protocol";
import type { ServerProcess } from "./serverProcess";
import { explain } from "./sessions";

export interface SetupRow {
  label: string;
  description?: string;
  tooltip?: string;
  icon?: string;
  /** A file that says more. */
  file?: string;
}

interface Group {
  label: string;
  icon: string;
  method: string;
  rows(answer: never): SetupRow[];
}

export type SetupNode = { group: Group } | { row: SetupRow };

export class SetupTree implements vscode.TreeDataProvider<SetupNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[] = [];
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly server: ServerProcess) {
    this.disposables.push(
      this.changed,
      vscode.window.createTreeView("assent.setup", { treeDataProvider: this, showCollapseAll: true }),
      server.onDidStart(() => this.changed.fire()),
    );
  }

  refresh(): void {
    this.changed.fire();
  }

  async getChildren(node?: SetupNode): Promise<SetupNode[]> {
    if (!node) return GROUPS.filter((group) => this.server.serves(group.method)).map((group) => ({ group }));
    if (!("group" in node)) return [];
    try {
      const rows = node.group.rows(await this.server.request<never>(node.group.method, where()));
      return rows.length > 0 ? rows.map((row) => ({ row })) : [{ row: { label: "none" } }];
    } catch (error) {
      return [{ row: { label: explain(error), icon: "warning" } }];
    }
  }

  getTreeItem(node: SetupNode): vscode.TreeItem {
    if ("group" in node) {
      const item = new vscode.TreeItem(node.group.label, vscode.TreeItemCollapsibleState.Collapsed);
      item.iconPath = new vscode.ThemeIcon(node.group.icon);
      return item;
    }
    const { row } = node;
    const item = new vscode.TreeItem(row.label);
    item.description = row.description ?? "";
    item.tooltip = row.tooltip ?? row.description ?? "";
    if (row.icon) item.iconPath = new vscode.ThemeIcon(row.icon);
    if (row.file) item.command = { command: "vscode.open", title: "Open", arguments: [vscode.Uri.file(row.file)] };
    return item;
  }

  dispose(): void {
    for (const each of this.disposables) each.dispose();
  }
}

function where(): Json {
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return cwd ? { cwd } : {};
}

const STATES: Record<string, string> = {
  connected: "pass",
  connecting: "sync",
  failed: "error",
  needsAuth: "key",
  needsApproval: "shield",
  disabled: "circle-slash",
  idle: "circle-outline",
};
const BEHAVIOURS: Record<string, string> = { allow: "check", ask: "question", deny: "circle-slash" };

/** Only a path that is one; a plugin or a skill is named in other words. */
function fileIn(source: string | undefined): { file?: string } {
  return source && /^(\/|[A-Za-z]:\\)/.test(source) ? { file: source } : {};
}

const GROUPS: Group[] = [
  {
    label: "Conversations",
    icon: "comment-discussion",
    method: METHODS.sessionRoster,
    rows: ({ sessions }: Roster) =>
      sessions.map((each) => ({
        label: each.title || "Untitled",
        description: [each.state, each.asks.length ? `${each.asks.length} waiting for you` : ""].filter(Boolean).join(" · "),
        tooltip: each.cwd,
        icon: each.state === "waiting" ? "bell-dot" : "comment",
      })),
  },
  {
    label: "MCP servers",
    icon: "plug",
    method: METHODS.mcpList,
    rows: ({ servers }: McpServers) =>
      servers.map((server) => ({
        label: server.name,
        description: [server.status, server.scope].filter(Boolean).join(" · "),
        tooltip: server.error ?? server.name,
        icon: STATES[server.status] ?? "plug",
      })),
  },
  {
    label: "Hooks",
    icon: "zap",
    method: METHODS.hookList,
    rows: ({ hooks }: Hooks) =>
      hooks.map((hook) => ({
        label: [hook.event, hook.matcher].filter(Boolean).join(" "),
        description: hook.withheld ?? hook.command,
        tooltip: `${hook.type}: ${hook.command}\n${hook.source}`,
        icon: hook.active ? "zap" : "circle-slash",
        ...fileIn(hook.source),
      })),
  },
  {
    label: "Agents",
    icon: "robot",
    method: METHODS.agentList,
    rows: ({ agents, definitions }: Agents) => [
      ...agents.filter((agent) => agent.agentId).map((agent) => ({ label: agent.title ?? agent.name, description: agent.state ?? "", icon: "sync" })),
      ...(definitions ?? agents).map((agent) => ({ label: agent.name, description: agent.description ?? "", icon: "robot", ...("source" in agent ? fileIn(agent.source) : {}) })),
    ],
  },
  {
    label: "Skills",
    icon: "mortar-board",
    method: METHODS.skillList,
    rows: ({ skills }: Skills) =>
      skills.map((skill) => ({
        label: skill.name,
        description: skill.withheld ?? skill.description,
        tooltip: `${skill.description}\n${skill.source}`,
        icon: "mortar-board",
        ...fileIn(skill.source),
      })),
  },
  {
    label: "Memory",
    icon: "note",
    method: METHODS.memoryList,
    rows: ({ files }: { files: MemoryFile[] }) =>
      files.map((file) => ({
        label: vscode.workspace.asRelativePath(file.path),
        description: `${file.tokens} tokens · ${file.reason}`,
        tooltip: file.path,
        icon: "note",
        file: file.path,
      })),
  },
  {
    label: "Permission rules",
    icon: "law",
    method: METHODS.permissionRules,
    rows: ({ rules }: Rules) =>
      rules.map((rule) => ({
        label: rule.rule,
        description: [rule.behaviour, rule.scope, rule.withheld].filter(Boolean).join(" · "),
        tooltip: rule.file,
        icon: BEHAVIOURS[rule.behaviour] ?? "law",
        ...fileIn(rule.file),
      })),
  },
];
