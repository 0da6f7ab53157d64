// Written by `make protocol` from server/assent/wire. Do not edit.

/** What people extend the agent with: agents, commands, hooks, MCP servers, skills, memory files, plugins, jobs. */
import type { StoredMessage } from "./results";
import type { CommandInfo } from "./shapes";

export interface AgentList {
  sessionId?: string;
  cwd?: string;
}

/** An agent of a session, running or ended. 0.1 listed definitions here instead: `name` and `description` only. */
export interface AgentRun {
  name: string;
  agentId?: string;
  state?: "failed" | "finished" | "running" | "stopped" | "waiting";
  parentToolUseId?: string;
  tokens?: number;
  costUsd?: number;
  background?: boolean;
  title?: string;
  description?: string;
  color?: string;
}

export interface AgentDefinition {
  name: string;
  description: string;
  source?: string;
  withheld?: string;
  color?: string;
  isolation?: "worktree";
  background?: boolean;
  /** fields that mean nothing here, and why */
  ignored?: string[];
}

/** `agents` run or ran; `definitions` can be started; `problems` are files that define none, with the reason. */
export interface Agents {
  agents: AgentRun[];
  definitions?: AgentDefinition[];
  problems?: string[];
}

export interface AgentStop {
  sessionId: string;
  agentId: string;
}

export interface AgentStopped {
  stopped: boolean;
}

/** One agent's conversation, newest page first; `cursor` from the answer before. */
export interface AgentRead {
  sessionId: string;
  agentId: string;
  cursor?: string;
  limit?: number;
}

/** `messages` as attach gives those of the session, oldest first. What comes later comes as events that carry the agent's `parentToolUseId`. */
export interface AgentConversation {
  messages: StoredMessage[];
  /** absent: it ran in an earlier process */
  agent?: AgentRun;
  nextCursor?: string;
}

export interface CommandList {
  sessionId?: string;
  cwd?: string;
}

export interface Commands {
  commands: CommandInfo[];
}

export interface JobList {
  sessionId?: string;
}

export interface JobInfo {
  jobId: string;
  command: string;
  state: string;
  sessionId?: string;
  exitCode?: number;
  toolUseId?: string;
  /** a turn waits for it */
  foreground?: boolean;
}

export interface Jobs {
  jobs: JobInfo[];
}

export interface JobKill {
  jobId: string;
  sessionId?: string;
}

export interface Killed {
  killed: boolean;
}

/** Let a running command or agent go on in the background: its call ends now, its result comes later. */
export interface JobBackground {
  sessionId: string;
  toolUseId: string;
}

export interface Backgrounded {
  jobId: string;
}

/** Let the turn wait for a background command or agent, by its id. With no turn running, its end begins one. */
export interface JobForeground {
  sessionId: string;
  jobId: string;
}

export interface Foregrounded {
  toolUseId: string;
}

export interface HookList {
  cwd?: string;
  sessionId?: string;
}

export interface HookInfo {
  hookId: string;
  event: string;
  matcher: string;
  /** command, http, … */
  type: string;
  command: string;
  /** the settings file, plugin or skill that names it */
  source: string;
  active: boolean;
  /** why it does not run */
  withheld?: string;
  timeoutMs?: number;
}

export interface Hooks {
  hooks: HookInfo[];
}

export interface HookLog {
  sessionId: string;
  cursor?: string;
}

export interface HookRun {
  hookId: string;
  event: string;
  outcome: string;
  durationMs: number;
  startedAt?: string | number;
  toolUseId?: string;
  exitCode?: number;
  text?: string;
  stdout?: string;
  stderr?: string;
  changed?: boolean;
  /** file and line */
  source?: string;
  command?: string;
}

/** Newest first. */
export interface HookRuns {
  runs: HookRun[];
  nextCursor?: string;
}

export interface McpList {
  sessionId?: string;
  cwd?: string;
}

export interface McpServerState {
  name: string;
  status: "connected" | "connecting" | "disabled" | "failed" | "idle" | "needsApproval" | "needsAuth" | "unsupported";
  /** user, project, local, managed, plugin */
  scope?: string;
  /** the file that names it */
  source?: string;
  /** stdio, http, sse */
  transport?: string;
  /** the protocol's version */
  era?: string;
  tools?: number | string[];
  /** what its tools cost in every request */
  tokens?: number;
  error?: string;
  stderrTail?: string;
  /** of what `assent/mcp/approve` would approve */
  hash?: string;
  /** its whole configuration in words, for a person */
  shown?: string;
  /** what is to be approved: the configuration, or the difference to what was approved */
  change?: string;
  /** what is odd about its entry */
  problems?: string[];
  /** the address to open, in the answer of `assent/mcp/signIn` */
  url?: string;
}

export interface McpServers {
  servers: McpServerState[];
  /** how many more the project brings, which count once its folder is trusted */
  withheld?: number;
}

/** Names one server; `hash` is of the configuration that was shown, and only `approve` needs it. `redirect` is for `signIn`: the address that the browser was sent to, where it could not reach us. */
export interface McpRef {
  name: string;
  hash?: string;
  redirect?: string;
  sessionId?: string;
  cwd?: string;
}

export interface McpAnswer {
  server: McpServerState;
}

/** One tool of a server, in the server's own words. */
export interface McpTool {
  /** mcp__server__tool */
  name: string;
  tool: string;
  title: string;
  description: string;
  /** what its definition costs in a request that holds it */
  tokens: number;
  /** it changed, and nobody accepted that yet */
  heldBack: boolean;
  /** readOnlyHint, destructiveHint, idempotentHint, openWorldHint: untrusted */
  hints: string[];
  /** a `data:` address */
  icon?: string;
}

export interface McpPromptInfo {
  name: string;
  description: string;
}

export interface McpDetails {
  server: McpServerState;
  tools: McpTool[];
  prompts: McpPromptInfo[];
  /** of the protocol */
  version?: string;
  /** what the server calls itself */
  title?: string;
  /** a `data:` address */
  icon?: string;
  instructions?: string;
  /** the last lines of its stderr and of what it logged */
  log?: string;
}

export interface FolderRef {
  cwd?: string;
  sessionId?: string;
}

export interface SkillInfo {
  name: string;
  description: string;
  source: string;
  tokens: number;
  withheld?: string;
}

export interface Skills {
  skills: SkillInfo[];
}

export interface MemoryFile {
  path: string;
  /** project, user, rule, auto, import */
  kind: string;
  scope: string;
  tokens: number;
  /** why it is read: always, or by which path */
  reason: string;
}

export interface MemoryFiles {
  files: MemoryFile[];
}

export interface PluginInfo {
  name: string;
  version: string;
  source: string;
  enabled: boolean;
  parts: string[];
  withheld?: string;
  /** what of it is not used, with file and line */
  problems?: string[];
}

export interface Plugins {
  plugins: PluginInfo[];
}
