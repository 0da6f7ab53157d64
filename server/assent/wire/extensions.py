"""What people extend the agent with: agents, commands, hooks, MCP servers, skills, memory files, plugins, jobs.

Parameters and results of one family stand together. Lists take a folder (`cwd`) or a session; without either the
first workspace folder counts.
"""

from typing import Literal

from assent.wire.results import StoredMessage
from assent.wire.shapes import CommandInfo, Id, Name, Path, Wire

# --- agents and commands ---------------------------------------------------------------------------------------------


class AgentList(Wire):
    session_id: Id | None = None
    cwd: Path | None = None


class AgentRun(Wire):
    """An agent of a session, running or ended. 0.1 listed definitions here instead: `name` and `description` only."""

    name: str
    agent_id: str | None = None
    state: Literal["running", "waiting", "finished", "failed", "stopped"] | None = None
    parent_tool_use_id: str | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    background: bool | None = None
    title: str | None = None
    description: str | None = None
    color: str | None = None


class AgentDefinition(Wire):
    name: str
    description: str
    source: str | None = None
    withheld: str | None = None
    color: str | None = None
    isolation: Literal["worktree"] | None = None
    background: bool | None = None
    ignored: list[str] | None = None  # fields that mean nothing here, and why


class Agents(Wire):
    """`agents` run or ran; `definitions` can be started; `problems` are files that define none, with the reason."""

    agents: list[AgentRun]
    definitions: list[AgentDefinition] | None = None
    problems: list[str] | None = None


class AgentStop(Wire):
    session_id: Id
    agent_id: Id


class AgentStopped(Wire):
    stopped: bool


class AgentRead(Wire):
    """One agent's conversation, newest page first; `cursor` from the answer before."""

    session_id: Id
    agent_id: Id
    cursor: str | None = None
    limit: int | None = None


class AgentConversation(Wire):
    """`messages` as attach gives those of the session, oldest first. What comes later comes as events that carry the
    agent's `parentToolUseId`."""

    messages: list[StoredMessage]
    agent: AgentRun | None = None  # absent: it ran in an earlier process
    next_cursor: str | None = None


class CommandList(Wire):
    session_id: Id | None = None
    cwd: Path | None = None


class Commands(Wire):
    commands: list[CommandInfo]


# --- jobs ------------------------------------------------------------------------------------------------------------


class JobList(Wire):
    session_id: Id | None = None


class JobInfo(Wire):
    job_id: str
    command: str
    state: str
    session_id: str | None = None
    exit_code: int | None = None
    tool_use_id: str | None = None
    foreground: bool | None = None  # a turn waits for it


class Jobs(Wire):
    jobs: list[JobInfo]


class JobKill(Wire):
    job_id: Id
    session_id: Id | None = None


class Killed(Wire):
    killed: bool


class JobBackground(Wire):
    """Let a running command or agent go on in the background: its call ends now, its result comes later."""

    session_id: Id
    tool_use_id: Id


class Backgrounded(Wire):
    job_id: str


class JobForeground(Wire):
    """Let the turn wait for a background command or agent, by its id. With no turn running, its end begins one."""

    session_id: Id
    job_id: Id


class Foregrounded(Wire):
    tool_use_id: str


# --- hooks -----------------------------------------------------------------------------------------------------------


class HookList(Wire):
    cwd: Path | None = None
    session_id: Id | None = None


class HookInfo(Wire):
    hook_id: str
    event: str
    matcher: str
    type: str  # command, http, …
    command: str
    source: str  # the settings file, plugin or skill that names it
    active: bool
    withheld: str | None = None  # why it does not run
    timeout_ms: int | None = None


class Hooks(Wire):
    hooks: list[HookInfo]


class HookLog(Wire):
    session_id: Id
    cursor: str | None = None


class HookRun(Wire):
    hook_id: str
    event: str
    outcome: str
    duration_ms: int
    started_at: str | float | None = None
    tool_use_id: str | None = None
    exit_code: int | None = None
    text: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    changed: bool | None = None
    source: str | None = None  # file and line
    command: str | None = None


class HookRuns(Wire):
    """Newest first."""

    runs: list[HookRun]
    next_cursor: str | None = None


# --- MCP -------------------------------------------------------------------------------------------------------------


class McpList(Wire):
    session_id: Id | None = None
    cwd: Path | None = None


class McpServerState(Wire):
    name: str
    status: Literal[
        "connecting", "connected", "failed", "needsAuth", "needsApproval", "disabled", "idle", "unsupported"
    ]
    scope: str | None = None  # user, project, local, managed, plugin
    source: str | None = None  # the file that names it
    transport: str | None = None  # stdio, http, sse
    era: str | None = None  # the protocol's version
    tools: int | list[str] | None = None
    tokens: int | None = None  # what its tools cost in every request
    error: str | None = None
    stderr_tail: str | None = None
    hash: str | None = None  # of what `assent/mcp/approve` would approve
    shown: str | None = None  # its whole configuration in words, for a person
    change: str | None = None  # what is to be approved: the configuration, or the difference to what was approved
    problems: list[str] | None = None  # what is odd about its entry
    url: str | None = None  # the address to open, in the answer of `assent/mcp/signIn`


class McpServers(Wire):
    servers: list[McpServerState]
    withheld: int | None = None  # how many more the project brings, which count once its folder is trusted


class McpRef(Wire):
    """Names one server; `hash` is of the configuration that was shown, and only `approve` needs it.

    `redirect` is for `signIn`: the address that the browser was sent to, where it could not reach us.
    """

    name: Name
    hash: str | None = None
    redirect: str | None = None
    session_id: Id | None = None
    cwd: Path | None = None


class McpAnswer(Wire):
    server: McpServerState


class McpTool(Wire):
    """One tool of a server, in the server's own words."""

    name: str  # mcp__server__tool
    tool: str
    title: str
    description: str
    tokens: int  # what its definition costs in a request that holds it
    held_back: bool  # it changed, and nobody accepted that yet
    hints: list[str]  # readOnlyHint, destructiveHint, idempotentHint, openWorldHint: untrusted
    icon: str | None = None  # a `data:` address


class McpPromptInfo(Wire):
    name: str
    description: str


class McpDetails(Wire):
    server: McpServerState
    tools: list[McpTool]
    prompts: list[McpPromptInfo]
    version: str | None = None  # of the protocol
    title: str | None = None  # what the server calls itself
    icon: str | None = None  # a `data:` address
    instructions: str | None = None
    log: str | None = None  # the last lines of its stderr and of what it logged


# --- skills, memory, plugins -----------------------------------------------------------------------------------------


class FolderRef(Wire):
    cwd: Path | None = None
    session_id: Id | None = None


class SkillInfo(Wire):
    name: str
    description: str
    source: str
    tokens: int
    withheld: str | None = None


class Skills(Wire):
    skills: list[SkillInfo]


class MemoryFile(Wire):
    path: str
    kind: str  # project, user, rule, auto, import
    scope: str
    tokens: int
    reason: str  # why it is read: always, or by which path


class MemoryFiles(Wire):
    files: list[MemoryFile]


class PluginInfo(Wire):
    name: str
    version: str
    source: str
    enabled: bool
    parts: list[str]
    withheld: str | None = None
    problems: list[str] | None = None  # what of it is not used, with file and line


class Plugins(Wire):
    plugins: list[PluginInfo]
