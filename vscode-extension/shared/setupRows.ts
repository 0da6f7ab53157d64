/** What Assent works with here, as rows: a label, what is said beside it, and what can be done with it. Pure. */
import type { AgentRun, Agents, HookInfo, HookRun, JobInfo, McpDetails, McpServerState, MemoryFile, PluginInfo, RosterEntry, RuleInfo, SkillInfo } from "../src/protocol";
import { count, money } from "./content";

export interface SetupRow {
  label: string;
  description?: string;
  tooltip?: string;
  icon?: string;
  /** A file that says more. */
  file?: string;
  /** What can be done with it; menus read it. */
  can?: string;
  /** What the actions need. */
  sessionId?: string;
  id?: string;
  server?: McpServerState;
  rule?: RuleInfo;
  toolUseId?: string;
  /** Rows under it. */
  rows?: SetupRow[];
}

const MCP_ICONS: Record<string, string> = {
  connected: "pass",
  connecting: "sync",
  failed: "error",
  needsAuth: "key",
  needsApproval: "shield",
  disabled: "circle-slash",
  idle: "circle-outline",
  unsupported: "error",
};
const MCP_WORDS: Record<string, string> = { needsAuth: "needs you to sign in", needsApproval: "needs your approval", failed: "failed", unsupported: "not supported" };
const BEHAVIOURS: Record<string, string> = { allow: "check", ask: "question", deny: "circle-slash" };
const EDITABLE = new Set(["user", "project", "local", "session"]);

/** The path in a source: `/path`, `/path:12` or `plugin NAME: /path`. What is built in has none. */
function fileIn(source: string | undefined): { file?: string } {
  const file = source && /^(?:plugin [^:]+: )?((?:\/|[A-Za-z]:\\).*?)(?::\d+)?$/.exec(source)?.[1];
  return file ? { file } : {};
}

function said(...parts: (string | undefined | false)[]): string {
  return parts.filter(Boolean).join(" · ");
}

export function sessionRows(sessions: readonly RosterEntry[]): SetupRow[] {
  return sessions.map((each) => ({
    label: each.title || "Untitled",
    description: said(each.state, each.background && "in the background", each.costUsd > 0 && money(each.costUsd), each.asks.length > 0 && `${each.asks.length} waiting for you`),
    tooltip: each.cwd,
    icon: each.state === "waiting" ? "bell-dot" : each.state === "running" ? "sync" : each.state === "queued" ? "watch" : "comment",
    can: each.background ? "session.background" : "session.foreground",
    sessionId: each.sessionId,
    rows: each.asks.map((ask) => ({ label: ask.title || ask.tool, description: "waits for your answer", icon: "question", can: "ask", sessionId: each.sessionId, id: ask.askId })),
  }));
}

export function mcpRows(servers: readonly McpServerState[], withheld = 0): SetupRow[] {
  const rows: SetupRow[] = servers.map((server) => {
    const tools = Array.isArray(server.tools) ? server.tools.length : server.tools;
    return {
      label: server.name,
      description: said(
        MCP_WORDS[server.status] ?? server.status,
        tools !== undefined && `${tools} ${tools === 1 ? "tool" : "tools"}`,
        Boolean(server.tokens) && `${count(server.tokens ?? 0)} tokens`,
        [server.transport, server.era].filter(Boolean).join(", "),
        server.scope,
      ),
      tooltip: said(server.error, server.source) || server.name,
      icon: MCP_ICONS[server.status] ?? "plug",
      can: `mcp.${server.status}`,
      server,
      ...fileIn(server.source),
    };
  });
  if (withheld > 0)
    rows.push({
      label: `${withheld} more of this project`,
      description: "withheld until you trust the folder",
      tooltip: "Assent: Trust This Folder shows what that starts",
      icon: "lock",
    });
  return rows;
}

/** All that is known about a server: what its tools cost, and the end of its log. */
export function mcpText({ server, tools, version, instructions, log }: McpDetails): string {
  const protocol = said(server.transport, server.era && `${server.era} protocol`, version);
  const costs = tools.map((tool) => `  ${tool.name}: ${count(tool.tokens)} tokens${tool.heldBack ? ", held back until you accept its change" : ""}`);
  const tail = log || server.stderrTail;
  const parts = [
    `MCP server ${server.name}: ${server.status}`,
    protocol,
    server.error,
    ...(server.problems ?? []),
    server.shown,
    costs.length > 0 && `Its tools, and what they cost in a request that holds them:\n${costs.join("\n")}`,
    instructions && `It says:\n${instructions}`,
    tail ? `Its log ends with:\n${tail}` : "It has logged nothing.",
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

export function hookRows(hooks: readonly HookInfo[]): SetupRow[] {
  return hooks.map((hook) => ({
    label: said(hook.event, hook.matcher),
    description: hook.withheld ?? hook.command,
    tooltip: `${hook.type}: ${hook.command}\n${hook.source}`,
    icon: hook.active ? "zap" : "circle-slash",
    can: "hook",
    ...fileIn(hook.source),
  }));
}

/** The newest first, each with how long it took, how it ended and what it said. */
export function hookLog(runs: readonly HookRun[]): string {
  if (runs.length === 0) return "No hook has run in this conversation.\n";
  const blocks = runs.map((run) => {
    const at = run.startedAt === undefined ? "" : `${new Date(typeof run.startedAt === "number" ? run.startedAt * 1000 : run.startedAt).toISOString()} `;
    const head = `${at}${run.event}: ${said(run.outcome, `${run.durationMs} ms`, run.exitCode !== undefined && `exit ${run.exitCode}`, run.changed === true && "changed something")}`;
    const rest = [run.command && `  ${run.command}`, run.source && `  (${run.source})`, run.text, run.stdout && `stdout: ${run.stdout}`, run.stderr && `stderr: ${run.stderr}`];
    return [head, ...rest].filter(Boolean).join("\n");
  });
  return `${blocks.join("\n\n")}\n`;
}

export function agentRows(runs: readonly (AgentRun & { sessionId: string })[], { definitions, problems }: Pick<Agents, "definitions" | "problems">): SetupRow[] {
  const live = runs
    .filter((run) => run.agentId)
    .map((run) => {
      const going = run.state === "running" || run.state === "waiting";
      return {
        label: run.title || run.name,
        description: said(
          run.state,
          run.background && "in the background",
          run.tokens !== undefined && `${count(run.tokens)} tokens`,
          Boolean(run.costUsd) && money(run.costUsd ?? 0),
        ),
        icon: going ? "sync" : run.state === "finished" ? "pass" : "circle-slash",
        can: `agent.${going ? (run.background ? "background" : "foreground") : "ended"}`,
        sessionId: run.sessionId,
        ...(run.agentId ? { id: run.agentId } : {}),
        ...(run.parentToolUseId ? { toolUseId: run.parentToolUseId } : {}),
      };
    });
  const known = (definitions ?? []).map((agent) => ({
    label: agent.name,
    description: said(agent.withheld ?? agent.description, ...(agent.ignored ?? [])),
    tooltip: said(agent.description, agent.source),
    icon: agent.withheld ? "circle-slash" : "robot",
    ...fileIn(agent.source),
  }));
  return [...live, ...known, ...(problems ?? []).map(problemRow)];
}

/** A file that defines nothing: `/path/file.md:3: why`. */
function problemRow(problem: string): SetupRow {
  const [, source = "", why = problem] = /^(.*?\.md(?::\d+)?): (.*)$/s.exec(problem) ?? [];
  return { label: source.split("/").pop() || "a file", description: why, tooltip: problem, icon: "warning", ...fileIn(source) };
}

/** Commands that run: some call waits for them, or they go on in the background. */
export function jobRows(jobs: readonly (JobInfo & { sessionId: string })[]): SetupRow[] {
  return jobs
    .filter((job) => job.state === "running")
    .map((job) => ({
      label: job.command.split("\n", 1)[0] ?? "",
      description: said(job.state, job.foreground ? "a turn waits for it" : "in the background"),
      tooltip: job.command,
      icon: "terminal",
      can: `job.${job.foreground ? "foreground" : "background"}`,
      sessionId: job.sessionId,
      id: job.jobId,
      ...(job.toolUseId ? { toolUseId: job.toolUseId } : {}),
    }));
}

export function skillRows(skills: readonly SkillInfo[]): SetupRow[] {
  return skills.map((skill) => ({
    label: skill.name,
    description: skill.withheld ?? skill.description,
    tooltip: `${skill.description}\n${skill.source}`,
    icon: "mortar-board",
    ...fileIn(skill.source),
  }));
}

export function memoryRows(files: readonly MemoryFile[], short: (path: string) => string): SetupRow[] {
  return files.map((file) => ({ label: short(file.path), description: said(`${count(file.tokens)} tokens`, file.reason), tooltip: file.path, icon: "note", file: file.path }));
}

export function ruleRows(rules: readonly RuleInfo[]): SetupRow[] {
  return rules.map((rule) => ({
    label: rule.rule,
    description: said(rule.behaviour, rule.scope, rule.withheld),
    tooltip: rule.file,
    icon: BEHAVIOURS[rule.behaviour] ?? "law",
    can: EDITABLE.has(rule.scope) ? "rule.editable" : "rule",
    rule,
    ...fileIn(rule.file),
  }));
}

export function pluginRows(plugins: readonly PluginInfo[]): SetupRow[] {
  return plugins.map((plugin) => ({
    label: plugin.name,
    description: said(plugin.version, plugin.enabled ? "on" : "off", plugin.withheld, plugin.parts.join(", "), ...(plugin.problems ?? [])),
    tooltip: [plugin.source, ...(plugin.problems ?? [])].join("\n"),
    icon: plugin.enabled ? "extensions" : "circle-slash",
    ...fileIn(plugin.source),
  }));
}
