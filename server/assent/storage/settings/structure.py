"""Every setting: its name, type, default and description, in one place.

The JSON schema (`settings.schema.json`), the page `docs/settings.md`, the checks of files and the typed view
(`Settings.typed`) are all made from these structures. UNSET means that no file names a value and the program chooses
one itself; the description says which. Who may set a key, and where values come from, is not known here.
"""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from assent.types.permissions import Mode

Text = Annotated[str, Meta(min_length=1)]
Rules = list[Text]
Texts = dict[str, str]


class Section(Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of every structure here: fields are camelCase in files."""


def _doc(description: str, *, examples: list[Any] | None = None) -> Meta:
    return Meta(description=description, examples=examples)


class Permissions(Section, frozen=True):
    allow: Annotated[Rules, _doc("Calls that need no asking.", examples=[["Bash(npm test)", "Edit(src/**)"]])] = field(
        default_factory=list[str]
    )
    ask: Annotated[Rules, _doc("Calls that are always asked about.", examples=[["WebFetch"]])] = field(
        default_factory=list[str]
    )
    deny: Annotated[
        Rules, _doc("Calls that are refused; stronger than every allow.", examples=[["Read(~/.ssh/**)"]])
    ] = field(default_factory=list[str])
    default_mode: Annotated[Mode, _doc("The mode in which a conversation starts. Unset: `default`.")] | UnsetType = (
        UNSET
    )
    ask_timeout_seconds: (
        Annotated[float, Meta(ge=1, description="An ask that nobody answers is denied after this time. Unset: never.")]
        | UnsetType
    ) = UNSET
    disable_bypass_permissions: Annotated[bool, _doc("Refuse the mode `bypassPermissions`.")] = False
    managed_rules_only: Annotated[bool, _doc("Policy file only: no allow rules but those of the policy apply.")] = False
    modes: Annotated[list[Mode], _doc("Policy file only: the modes that may be used.")] | UnsetType = UNSET


class ToolSettings(Section, frozen=True):
    disabled: Annotated[list[str], _doc("Policy file only: tools that nobody may use.")] = field(
        default_factory=list[str]
    )


class Sandbox(Section, frozen=True):
    scope: Annotated[
        Literal["reading", "all", "off"],
        _doc(
            "Which commands run inside the fence: those that run unasked because they only read, all of them, or none."
        ),
    ] = "reading"
    network: Annotated[bool, _doc("Let commands inside the fence of `scope: all` use the network.")] = False


class BackgroundCalls(Section, frozen=True):
    summary: Annotated[bool, _doc("One line for a batch of tool calls, and answers from fetched pages.")] = False
    collapse: Annotated[
        bool, _doc("Summaries of old parts of a conversation that fills four fifths of its room; never before that.")
    ] = True
    suggestion: Annotated[bool, _doc("A suggestion for your next prompt.")] = False
    memory: Annotated[bool, _doc("Durable facts, noted for later sessions of this workspace.")] = False
    dream: Annotated[bool, _doc("Tidying those notes while nothing runs.")] = False


class Retention(Section, frozen=True):
    days: (
        Annotated[
            int,
            Meta(ge=1, description="Delete transcripts that were not touched for so many days. Unset: keep them all."),
        ]
        | UnsetType
    ) = UNSET


class ModelFacts(Section, frozen=True):
    """Corrections to what is known of a model; prices are US dollars per million tokens."""

    context_window: Annotated[int, Meta(ge=1, description="Tokens a request may have.")] | UnsetType = UNSET
    max_output_tokens: Annotated[int, Meta(ge=1, description="Tokens an answer may have.")] | UnsetType = UNSET
    default_max_tokens: Annotated[int, Meta(ge=1, description="Tokens asked for at first.")] | UnsetType = UNSET
    accepts_temperature: bool | UnsetType = UNSET
    accepts_thinking: bool | UnsetType = UNSET
    input_price: float | UnsetType = UNSET
    output_price: float | UnsetType = UNSET
    cache_write_price: float | UnsetType = UNSET
    cache_read_price: float | UnsetType = UNSET
    long_prompt_from: Annotated[int, _doc("Above so many prompt tokens all prices are multiplied.")] | UnsetType = UNSET
    long_prompt_factor: float | UnsetType = UNSET
    thinking_modes: list[str] | UnsetType = UNSET
    accepts_effort: bool | UnsetType = UNSET
    accepts_forced_tools: bool | UnsetType = UNSET
    accepts_fast_mode: bool | UnsetType = UNSET
    accepts_tool_references: (
        Annotated[bool, _doc("The endpoint takes `defer_loading`: tools that a search loads cost no cache.")]
        | UnsetType
    ) = UNSET
    binds_thinking: bool | UnsetType = UNSET


class HookHandler(Section, frozen=True):
    """One thing to run when an event happens. Which fields count depends on `type`; docs/hooks.md has the table."""

    type: Annotated[Literal["command", "http", "mcp_tool", "prompt", "agent"], _doc("What runs.")] = "command"
    command: Annotated[str, _doc("command: a shell line, or the program when `args` is given.")] | UnsetType = UNSET
    args: Annotated[list[str], _doc("command: arguments; the program is then started without a shell.")] | UnsetType = (
        UNSET
    )
    shell: Annotated[Literal["bash", "powershell"], _doc("command: which shell reads the line.")] = "bash"
    async_: Annotated[bool, _doc("command: do not wait for it; it can decide nothing.")] = field(
        default=False, name="async"
    )
    async_rewake: Annotated[bool, _doc("command: as `async`, and exit code 2 wakes an idle session.")] = False
    env: Annotated[Texts, _doc("command: more environment variables.")] = field(default_factory=dict[str, str])
    cwd: Annotated[str, _doc("command: a folder relative to the session's, which is the default.")] | UnsetType = UNSET
    windows: Annotated[str, _doc("command: the line for Windows, instead of `command`.")] | UnsetType = UNSET
    linux: Annotated[str, _doc("command: the line for Linux, instead of `command`.")] | UnsetType = UNSET
    osx: Annotated[str, _doc("command: the line for macOS, instead of `command`.")] | UnsetType = UNSET
    url: Annotated[str, _doc("http: where the input is posted to.")] | UnsetType = UNSET
    headers: Annotated[Texts, _doc("http: more headers; `$NAME` stands for a variable of `allowedEnvVars`.")] = field(
        default_factory=dict[str, str]
    )
    allowed_env_vars: Annotated[list[str], _doc("http: the variables that headers may name.")] = field(
        default_factory=list[str]
    )
    server: Annotated[str, _doc("mcp_tool: the MCP server.")] | UnsetType = UNSET
    tool: Annotated[str, _doc("mcp_tool: its tool.")] | UnsetType = UNSET
    input: (
        Annotated[dict[str, Any], _doc("mcp_tool: the tool's input; `${tool_input.x}` is filled in.")] | UnsetType
    ) = UNSET
    prompt: Annotated[str, _doc("prompt, agent: what is asked; `$ARGUMENTS` stands for the input.")] | UnsetType = UNSET
    model: Annotated[str, _doc("prompt, agent: the model. Unset: the small model.")] | UnsetType = UNSET
    continue_on_block: Annotated[bool, _doc("prompt: a refusal does not end the turn.")] = False
    if_: Annotated[str, _doc("Tool events: run only for calls that this permission rule matches.")] | UnsetType = field(
        default=UNSET, name="if"
    )
    timeout: (
        Annotated[float, Meta(gt=0, description="Seconds. Unset: 600, for prompt 30, for agent 60.")] | UnsetType
    ) = UNSET
    status_message: Annotated[str, _doc("Shown while it runs.")] | UnsetType = UNSET
    once: Annotated[bool, _doc("In skills: run only the first time in a session.")] = False
    on_failure: Annotated[
        Literal["block", "ignore"],
        _doc("command, http: `block` refuses when it cannot start, times out or exits unexpectedly."),
    ] = "ignore"


class HookGroup(HookHandler, frozen=True):
    """`{matcher?, hooks: [handler, …]}`. A handler may also stand here by itself."""

    matcher: (
        Annotated[
            str,
            _doc("Which subjects of the event: names separated by `|`, or a regular expression. Unset or `*`: all."),
        ]
        | UnsetType
    ) = UNSET
    hooks: Annotated[list[HookHandler], _doc("Handlers; all that match run side by side.")] | UnsetType = UNSET


class McpOAuth(Section, frozen=True):
    client_id: str | UnsetType = UNSET
    callback_port: int | UnsetType = UNSET
    scopes: Annotated[str, _doc("Separated by spaces.")] | UnsetType = UNSET
    auth_server_metadata_url: Annotated[str, _doc("An https address. Not used: it is discovered.")] | UnsetType = UNSET
    client_metadata_url: (
        Annotated[str, _doc("An https address of a client metadata document (CIMD), used as client id.")] | UnsetType
    ) = UNSET


class McpServer(Section, frozen=True):
    """One MCP server. `${VAR}` and `${VAR:-default}` are filled in in command, args, env, url and headers."""

    type: Annotated[
        Literal["stdio", "http", "streamable-http", "sse", "ws"], _doc("How it is reached. Unset: `stdio`.")
    ] = "stdio"
    command: Annotated[str, _doc("stdio: the program.")] | UnsetType = UNSET
    args: Annotated[list[str], _doc("stdio: its arguments.")] = field(default_factory=list[str])
    env: Annotated[Texts, _doc("stdio: more environment variables.")] = field(default_factory=dict[str, str])
    cwd: Annotated[str, _doc("stdio: where it runs.")] | UnsetType = UNSET
    url: Annotated[str, _doc("http, sse, ws: the address; empty means not configured.")] | UnsetType = UNSET
    headers: Annotated[Texts, _doc("http, sse, ws: more headers.")] = field(default_factory=dict[str, str])
    headers_helper: (
        Annotated[str, _doc("http, sse, ws: a shell command that prints a JSON object of headers.")] | UnsetType
    ) = UNSET
    oauth: McpOAuth | UnsetType = UNSET
    timeout: Annotated[float, _doc("Milliseconds for one tool call; values under 1000 are ignored.")] | UnsetType = (
        UNSET
    )
    always_load: Annotated[bool, _doc("Its tools are never deferred.")] = False
    disabled: Annotated[bool, _doc("Keep the entry, but do not start it.")] = False
    sampling: Annotated[bool, _doc("Let this server ask the model. Counts in your own settings only.")] = False


class PluginSettings(Section, frozen=True):
    enabled: Annotated[dict[str, bool], _doc("Plugins by name; `false` switches one off.")] = field(
        default_factory=dict[str, bool]
    )
    marketplaces: Annotated[
        dict[str, Any],
        _doc("Marketplaces by name, for `assent plugin add PLUGIN@NAME`: a path, a git URL, or `{source, repo|url}`."),
    ] = field(default_factory=dict[str, Any])
    config: Annotated[
        dict[str, dict[str, Any]],
        _doc("Values of the options that plugins ask for, by plugin and key. Secrets: `assent plugin configure`."),
    ] = field(default_factory=dict[str, dict[str, Any]])


class SettingsFile(Section, frozen=True):
    """One settings file."""

    model: Annotated[Text, _doc("The model that works for you. Unset: the newest that can be reached.")] | UnsetType = (
        UNSET
    )
    small_model: Annotated[Text, _doc("The model for titles, summaries and classifiers.")] | UnsetType = UNSET
    fallback_model: Annotated[Text, _doc("The model that is used while the first one is overloaded.")] | UnsetType = (
        UNSET
    )
    thinking: Annotated[dict[str, Any] | None, _doc("Extended thinking, as the Messages API takes it.")] | UnsetType = (
        UNSET
    )
    effort: (
        Annotated[Literal["low", "medium", "high", "xhigh", "max"], _doc("How much work an answer is worth.")]
        | UnsetType
    ) = UNSET
    permissions: Annotated[Permissions, _doc("What may run, what is asked about and what is refused.")] = field(
        default_factory=Permissions
    )
    tools: Annotated[ToolSettings, _doc("Which tools exist.")] = field(default_factory=ToolSettings)
    hooks: Annotated[
        dict[str, list[HookGroup]], _doc("Programs and other handlers that run on events; see docs/hooks.md.")
    ] = field(default_factory=dict[str, list[HookGroup]])
    disable_all_hooks: Annotated[bool, _doc("No hooks run, except those of the policy file.")] = False
    allow_managed_hooks_only: Annotated[
        bool, _doc("Only hooks of the policy file run, and those of a program that embeds Assent. Counts there only.")
    ] = False
    allowed_http_hook_urls: (
        Annotated[list[str], _doc("The addresses that `http` hooks may call; `*` stands for anything. Unset: all.")]
        | UnsetType
    ) = UNSET
    http_hook_allowed_env_vars: (
        Annotated[list[str], _doc("The variables that headers of `http` hooks may hold, at most. Unset: no limit.")]
        | UnsetType
    ) = UNSET
    read_claude_settings: Annotated[
        bool, _doc("Read hooks and permission rules of `.claude` settings files and of `.github/hooks`.")
    ] = True
    env: Annotated[Texts, _doc("Variables for the commands that the agent runs.")] = field(
        default_factory=dict[str, str]
    )
    mcp_servers: Annotated[dict[str, McpServer], _doc("MCP servers by name.")] = field(
        default_factory=dict[str, McpServer]
    )
    plugins: Annotated[PluginSettings, _doc("Plugins and where they come from.")] = field(
        default_factory=PluginSettings
    )
    sandbox: Annotated[Sandbox, _doc("How shell commands are confined.")] = field(default_factory=Sandbox)
    review: (
        Annotated[
            Literal["before", "after", "off"],
            _doc("When edits are reviewed: before they land, after, or not at all. Unset: by the mode."),
        ]
        | UnsetType
    ) = UNSET
    max_turns: Annotated[int, Meta(ge=1, description="The most steps in one turn. Unset: no limit.")] | UnsetType = (
        UNSET
    )
    max_budget_usd: (
        Annotated[float, Meta(ge=0, description="The most a conversation may cost, in US dollars. Unset: no limit.")]
        | UnsetType
    ) = UNSET
    background_calls: Annotated[
        BackgroundCalls, _doc("Calls to the small model beside the conversation; they are counted in the cost.")
    ] = field(default_factory=BackgroundCalls)
    retention: Annotated[Retention, _doc("How long transcripts are kept.")] = field(default_factory=Retention)
    append_system_prompt: Annotated[str, _doc("Text that is added to the system prompt.")] | UnsetType = UNSET
    output_style: Annotated[str, _doc("How answers are written: a style by its name (`/output-style` lists them).")] = (
        "default"
    )
    memory: Annotated[bool, _doc("Read instruction files: ASSENT.md, AGENTS.md, CLAUDE.md and the like.")] = True
    host: Annotated[bool, _doc("One engine process per user and workspace, shared by all windows.")] = False
    host_keep_running: Annotated[bool, _doc("The host finishes a running turn when its last window closes.")] = False
    host_idle_seconds: Annotated[
        float, Meta(ge=0, description="The host ends so many seconds after its last client left.")
    ] = 2
    host_missed_hours: Annotated[
        float, Meta(ge=0, description="How long a host remembers what went on while no window was open.")
    ] = 4
    host_nice: Annotated[
        int,
        Meta(
            ge=0,
            le=19,
            description="How far commands in the background or without a window stand back (see `nice`).",
        ),
    ] = 10
    max_running_turns: (
        Annotated[
            int, Meta(ge=1, description="At most so many turns of yours run at once, in all windows; others wait.")
        ]
        | UnsetType
    ) = UNSET
    allow_private_addresses: Annotated[list[str], _doc("Hosts in private networks that WebFetch may reach.")] = field(
        default_factory=list[str]
    )
    provider: Annotated[
        Literal["anthropic", "bedrock", "vertex", "foundry", "offline"], _doc("Who serves the model.")
    ] = "anthropic"
    base_url: Annotated[str, _doc("The endpoint.")] | UnsetType = UNSET
    api_key_helper: Annotated[str, _doc("A command that prints a key.")] | UnsetType = UNSET
    region: Annotated[str, _doc("The provider's region: AWS or Google Cloud.")] | UnsetType = UNSET
    project: Annotated[str, _doc("The Google Cloud project.")] | UnsetType = UNSET
    resource: Annotated[str, _doc("The Foundry resource.")] | UnsetType = UNSET
    headers: Annotated[Texts, _doc("Headers for the endpoint.")] = field(default_factory=dict[str, str])
    proxy: Annotated[str, _doc("A proxy; it is used instead of those in the environment.")] | UnsetType = UNSET
    ca_bundle: Annotated[str, _doc("A file of certificates to trust for the endpoint.")] | UnsetType = UNSET
    betas: Annotated[list[str], _doc("Beta names sent with every call.")] = field(default_factory=list[str])
    prompt_cache: Annotated[Literal["5m", "1h", "off"], _doc("How long prompts stay cached.")] = "5m"
    context_edits: Annotated[bool, _doc("Let the endpoint itself clear old tool results, where it offers that.")] = (
        False
    )
    fast_mode: Annotated[bool, _doc("Faster and more expensive, on models that offer it.")] = False
    models: Annotated[dict[str, ModelFacts], _doc("Facts about models that Assent does not know.")] = field(
        default_factory=dict[str, ModelFacts]
    )
    persistent_retry: Annotated[bool, _doc("For unattended runs: retry without end.")] = False


OWN_ONLY = frozenset(
    {
        "apiKeyHelper",
        "baseUrl",
        "betas",
        "caBundle",
        "fastMode",
        "headers",
        "host",
        "hostIdleSeconds",
        "hostKeepRunning",
        "hostMissedHours",
        "hostNice",
        "maxRunningTurns",
        "models",
        "plugins",
        "project",
        "promptCache",
        "provider",
        "proxy",
        "readClaudeSettings",
        "region",
        "resource",
        "retention",
    }
)
"""Keys that only the user's own settings, editor settings marked as the user's, the command line and the policy may
set. A repository has no say in them, trusted or not."""
