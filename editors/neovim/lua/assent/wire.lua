-- Written by `make protocol` from server/assent/wire. Do not edit.
---@meta

---@class assent.wire.Empty

---@class assent.wire.Position
---@field line integer
---@field character integer

---@class assent.wire.Range
---@field start assent.wire.Position
---@field end assent.wire.Position

---@class assent.wire.Location
---@field uri string
---@field range assent.wire.Range

---@class assent.wire.CommandInfo
---@field name string
---@field description string
---@field argumentHint? string
---@field source? string the file that defines it; None for a built-in one

---@class assent.wire.AgentInfo
---@field name string
---@field description string

---@class assent.wire.McpServer
---@field name string
---@field status string

---@class assent.wire.Todo
---@field id string
---@field content string
---@field activeForm string
---@field status string

--- One of the tasks that the agents of a session share.
---@class assent.wire.Task
---@field id string
---@field subject string
---@field status "cancelled"|"completed"|"in_progress"|"pending"
---@field description? string
---@field owner? string the id of an agent, or "main"; absent: nobody's yet

---@class assent.wire.Hunk
---@field hunkId string
---@field range assent.wire.Range
---@field oldText string
---@field newText string
---@field state "accepted"|"conflict"|"edited"|"landed"|"pending"|"rejected"|"reverted"|"superseded"
---@field open? boolean a decision is still possible; always sent
---@field placed? string what stands in the file instead of newText
---@field why? string of a conflict
---@field oldDisplay? string display text of oldText, where that is not oldText itself
---@field newDisplay? string display text of newText, likewise

---@class assent.wire.Proposal
---@field proposalId string
---@field uri string
---@field version integer|vim.NIL
---@field baseHash string
---@field hunks assent.wire.Hunk[]
---@field tool string
---@field reason string
---@field sessionId? string
---@field turnId? string
---@field toolUseId? string
---@field review? "after"|"before"|"off"
---@field creates? boolean

---@class assent.wire.Usage
---@field inputTokens integer
---@field outputTokens integer
---@field cacheCreationInputTokens integer
---@field cacheReadInputTokens integer
---@field webSearchRequests integer

---@class assent.wire.ModelUsage
---@field inputTokens integer
---@field outputTokens integer
---@field cacheCreationInputTokens integer
---@field cacheReadInputTokens integer
---@field webSearchRequests integer
---@field costUsd number

---@class assent.wire.PermissionDenial
---@field toolName string
---@field toolUseId string
---@field toolInput table<string, any>

--- What a turn came to; the last word of `turnFinished` and of a waiting send.
---@class assent.wire.TurnResult
---@field subtype "error_during_execution"|"error_max_budget_usd"|"error_max_structured_output"|"error_max_turns"|"success"
---@field isError boolean
---@field result string
---@field terminal string
---@field stopReason string|vim.NIL
---@field numTurns integer
---@field durationMs integer
---@field durationApiMs integer
---@field totalCostUsd number
---@field usage assent.wire.Usage
---@field modelUsage table<string, assent.wire.ModelUsage>
---@field permissionDenials assent.wire.PermissionDenial[]
---@field sessionId string
---@field structuredOutput? any

--- A rule that would cover this call from now on; `rule` goes back as it is, or `rules` where there are some.
---@class assent.wire.Suggestion
---@field rule string
---@field scope "once"|"project"|"session"|"user"
---@field covers string display text
---@field display? string of the rule, or of all of them, where that is not the rule itself
---@field rules? string[] of a line of several commands: one for each of them; `rule` is the first

---@class assent.wire.CommandPart
---@field argv string[]
---@field decision "allow"|"ask"|"deny"
---@field display? string of the words, joined by spaces

---@class assent.wire.ShellCommand
---@field text string as it runs
---@field parts assent.wire.CommandPart[]
---@field display? string as people read it

---@class assent.wire.Option
---@field label string goes back as it is
---@field description? string
---@field display? string of the label, where that is not the label itself

---@class assent.wire.Question
---@field id string
---@field header string
---@field question string
---@field multiSelect boolean
---@field options assent.wire.Option[]
---@field allowOther boolean

--- What the client's own interface does; the rest falls back to plain LSP.
---@class assent.wire.ClientFlags
---@field permissions? boolean
---@field elicitation? boolean
---@field review? boolean
---@field editorQueries? boolean
---@field save? boolean
---@field partials? boolean
---@field editMoved? boolean takes `editMoved` instead of `editUpdated` where only ranges changed
---@field answersLater? boolean what waits is in events and is answered with commands; no request asks for it
---@field missed? boolean shows `assent/missed` itself, with a way to the session; no `window/showMessage` tells of it

---@class assent.wire.InitializationOptions
---@field client? assent.wire.ClientFlags
---@field maxEventRate? number
---@field settings? table<string, any>
---@field settingsLevel? "project"|"user" "user": the client vouches that no project file set them
---@field trusted? boolean
---@field apiKey? string from the editor's secret store

---@class assent.wire.TaskBudget
---@field total integer

---@class assent.wire.SessionNew
---@field cwd? string
---@field model? string
---@field fallbackModel? string
---@field mode? "acceptEdits"|"auto"|"bypassPermissions"|"default"|"dontAsk"|"plan"
---@field thinking? table<string, any>|boolean|integer|string
---@field effort? "high"|"low"|"max"|"medium"|"xhigh"
---@field customSystemPrompt? string
---@field appendSystemPrompt? string
---@field maxTurns? integer
---@field maxBudgetUsd? number
---@field taskBudget? assent.wire.TaskBudget|integer
---@field jsonSchema? table<string, any>
---@field title? string

--- A file, or part of one; with `text` something else that the editor shows, in its words, called `label`.
---@class assent.wire.Mention
---@field uri string
---@field range? assent.wire.Range
---@field label? string
---@field text? string

---@class assent.wire.SessionSend
---@field sessionId string
---@field prompt string|table<string, any>[]
---@field mentions? assent.wire.Mention[]
---@field clientMessageId? string
---@field tokenBudget? integer
---@field wait? boolean
---@field whenBusy? "queue"|"refuse"|"steer"

---@class assent.wire.SessionRef
---@field sessionId string

---@class assent.wire.SessionUnqueue
---@field sessionId string
---@field clientMessageId string

---@class assent.wire.SessionList
---@field cwd? string
---@field query? string
---@field cursor? string

---@class assent.wire.SessionAttach
---@field sessionId string
---@field epoch? string
---@field afterSeq? integer
---@field cursor? string
---@field readOnly? boolean look at a session that another process owns

---@class assent.wire.SessionFork
---@field sessionId string
---@field messageId? string
---@field before? boolean without that message, to say it differently

---@class assent.wire.SessionRename
---@field sessionId string
---@field title string

---@class assent.wire.SessionExport
---@field sessionId string
---@field format? "json"|"markdown"

--- One turn by its number, all of them, or the newest.
---@class assent.wire.SessionTrace
---@field sessionId string
---@field turn? integer
---@field all? boolean

---@class assent.wire.SessionConfigure
---@field sessionId string
---@field model? string
---@field mode? "acceptEdits"|"auto"|"bypassPermissions"|"default"|"dontAsk"|"plan"
---@field thinking? table<string, any>|boolean|integer|string
---@field effort? "high"|"low"|"max"|"medium"|"xhigh"|"default" default: what the settings say
---@field review? "after"|"before"|"off"
---@field keepRunning? boolean its turn goes on when the last window has gone, where a host serves it

---@class assent.wire.SessionRewind
---@field sessionId string
---@field messageId string
---@field restore "both"|"code"|"conversation"
---@field dryRun? boolean

--- `messageIds` may also name tool calls. While a turn runs they leave the model's view before its next call.
---@class assent.wire.SessionSnip
---@field sessionId string
---@field messageIds string[]
---@field dryRun? boolean

---@class assent.wire.SessionUnsnip
---@field sessionId string
---@field snipId string

---@class assent.wire.ToolList
---@field sessionId? string

---@class assent.wire.ToolRun
---@field name string
---@field input table<string, any>
---@field sessionId? string
---@field workDoneToken? string|integer

---@class assent.wire.EditList
---@field sessionId? string

--- Lines of a hunk, 0-based and half-open `[from, to)`: of its old text those that go, of its new text those that
--- come.
---@class assent.wire.LineChoice
---@field old? integer[][]
---@field new? integer[][]

---@class assent.wire.HunkDecision
---@field hunkId string
---@field decision "accept"|"edit"|"reject"|"reopen"
---@field newText? string
---@field lines? assent.wire.LineChoice with accept: only these lines

---@class assent.wire.AllHunks
---@field all "accept"|"reject"

---@class assent.wire.EditResolve
---@field proposalId string
---@field decisions assent.wire.HunkDecision[]|assent.wire.AllHunks
---@field version? integer
---@field message? string

--- The endpoint's own list is kept for a day; `refresh` asks for it again.
---@class assent.wire.ModelList
---@field cwd? string
---@field refresh? boolean

--- Without a key: the credentials that are used now.
---@class assent.wire.CredentialsCheck
---@field apiKey? string

---@class assent.wire.Complete
---@field text string
---@field offset integer
---@field sessionId? string

---@class assent.wire.DocumentRead
---@field uri string

---@class assent.wire.TrustGet
---@field uri string

---@class assent.wire.TrustSet
---@field uri string
---@field trusted boolean
---@field remember? "always"|"session"
---@field hash? string of the items that were shown
---@field vouch? boolean the editor's own trust, until the server ends: covers rules and variables, needs no hash

---@class assent.wire.SettingsGet
---@field key? string
---@field cwd? string

---@class assent.wire.SettingsSet
---@field key string
---@field value any
---@field scope? "local"|"project"|"user"
---@field cwd? string

--- An open permission ask, as `attach` lists it; the request that puts it to a client adds its `requestId`.
---@class assent.wire.PendingAsk
---@field sessionId string
---@field turnId string
---@field askId string
---@field toolUseId string
---@field tool string
---@field input table<string, any>
---@field title string display text
---@field reason string display text
---@field step string
---@field suggestions assent.wire.Suggestion[]
---@field command? assent.wire.ShellCommand
---@field proposal? assent.wire.Proposal
---@field parentToolUseId? string
---@field orphan? boolean its process ended before anyone answered; asked once more

---@class assent.wire.PermissionAsk
---@field sessionId string
---@field turnId string
---@field askId string
---@field toolUseId string
---@field tool string
---@field input table<string, any>
---@field title string display text
---@field reason string display text
---@field step string
---@field suggestions assent.wire.Suggestion[]
---@field command? assent.wire.ShellCommand
---@field proposal? assent.wire.Proposal
---@field parentToolUseId? string
---@field orphan? boolean its process ended before anyone answered; asked once more
---@field requestId string

---@class assent.wire.PermissionAnswer
---@field decision "allow"|"deny"
---@field scope? "once"|"project"|"session"|"user"
---@field rule? string
---@field rules? string[] several, saved together; goes before `rule`
---@field updatedInput? table<string, any>
---@field hunks? assent.wire.HunkDecision[] those not named are rejected; absent = all are accepted
---@field message? string
---@field interrupt? boolean with deny: stop the whole turn
---@field mode? "acceptEdits"|"default" with allow of ExitPlanMode: what the plan is carried out in

--- An open question; exactly one of `questions`, `schema` and `url` is there.
---@class assent.wire.PendingElicit
---@field sessionId string
---@field elicitId string
---@field message string
---@field questions? assent.wire.Question[]
---@field schema? table<string, any>
---@field url? string
---@field display? string of the url, where that is not the url itself

--- `problems` and `given` are there when an answer did not fit the form: what is wrong by field, and that answer.
---@class assent.wire.Elicit
---@field sessionId string
---@field elicitId string
---@field message string
---@field questions? assent.wire.Question[]
---@field schema? table<string, any>
---@field url? string
---@field display? string of the url, where that is not the url itself
---@field requestId string
---@field problems? table<string, string>
---@field given? table<string, any>

---@class assent.wire.ElicitAnswer
---@field action "accept"|"cancel"|"decline"
---@field content? table<string, any>

---@class assent.wire.EditorQuery
---@field requestId string
---@field kind string
---@field timeoutMs integer
---@field uri? string
---@field position? assent.wire.Position
---@field range? assent.wire.Range
---@field version? integer
---@field newName? string
---@field query? string of symbols in the whole workspace
---@field settleMs? integer

---@class assent.wire.EditorAnswer
---@field status "error"|"noServer"|"starting"|"success"
---@field value? any
---@field version? integer
---@field settled? boolean
---@field message? string

---@class assent.wire.EditorSave
---@field requestId string
---@field uris string[]

---@class assent.wire.SaveFailure
---@field uri string
---@field message string

---@class assent.wire.EditorSaved
---@field saved string[]
---@field failed assent.wire.SaveFailure[]

---@class assent.wire.Withdrawn
---@field requestId string

---@class assent.wire.FolderTrust
---@field uri string
---@field trusted boolean
---@field withheld string[]

---@class assent.wire.Warning
---@field kind string
---@field text string
---@field hint string

---@class assent.wire.ServerStatus
---@field state "compacting"|"idle"|"running"|"waiting"
---@field model string
---@field offline boolean
---@field credentials string
---@field trust assent.wire.FolderTrust[]
---@field warnings assent.wire.Warning[]

--- The prompt, and what the engine's init message says of the session.
---@class assent.wire.TurnStarted
---@field type "turnStarted"
---@field prompt string|table<string, any>[]
---@field messageId? string
---@field sessionId? string
---@field model? string
---@field cwd? string
---@field tools? string[]
---@field mcpServers? table<string, any>[]
---@field permissionMode? string
---@field keySource? string
---@field slashCommands? string[]
---@field agents? string[]

---@class assent.wire.StepStarted
---@field type "stepStarted"
---@field model? string
---@field transition? string

---@class assent.wire.TextDelta
---@field type "textDelta"
---@field blockId string
---@field text string

---@class assent.wire.ThinkingDelta
---@field type "thinkingDelta"
---@field blockId string
---@field text string

---@class assent.wire.ToolPreparing
---@field type "toolPreparing"
---@field toolUseId string
---@field tool string

---@class assent.wire.ToolInputDelta
---@field type "toolInputDelta"
---@field toolUseId string
---@field partialJson string

---@class assent.wire.ToolStarted
---@field type "toolStarted"
---@field toolUseId string
---@field tool string
---@field input table<string, any>
---@field title string

---@class assent.wire.ToolProgress
---@field type "toolProgress"
---@field toolUseId string
---@field text string how far it is, in place of what was told before: the last lines of its output

---@class assent.wire.ChangedFile
---@field path string
---@field added integer lines
---@field removed integer

---@class assent.wire.ToolFinished
---@field type "toolFinished"
---@field toolUseId string
---@field isError boolean
---@field summary string
---@field content table<string, any>[]|string
---@field durationMs integer
---@field changed? assent.wire.ChangedFile[] by an edit, as it was accepted

---@class assent.wire.ToolSummary
---@field type "toolSummary"
---@field text string
---@field toolUseIds? string[]

---@class assent.wire.MessageEvent
---@field type "message"
---@field role "assistant"|"user"
---@field content table<string, any>[]
---@field id string
---@field meta? table<string, any>|boolean
---@field timestamp? number
---@field messageId? string the model's own, shared by all blocks of one answer
---@field model? string
---@field error? string
---@field kind? string of what was attached for the model

---@class assent.wire.Tombstone
---@field type "tombstone"
---@field messageIds string[]
---@field blockIds string[]
---@field reason? string

---@class assent.wire.Retrying
---@field type "retrying"
---@field attempt integer
---@field maxAttempts integer
---@field delayMs integer
---@field status integer|vim.NIL
---@field error? string

---@class assent.wire.Heartbeat
---@field type "heartbeat"

---@class assent.wire.Compacting
---@field type "compacting"
---@field trigger string

---@class assent.wire.Compacted
---@field type "compacted"
---@field trigger string
---@field tokensBefore integer
---@field tokensAfter integer
---@field summary string

---@class assent.wire.PermissionPending
---@field type "permissionPending"
---@field askId string
---@field toolUseId? string
---@field tool? string
---@field title? string
---@field reason? string
---@field step? string
---@field orphan? boolean

---@class assent.wire.PermissionResolved
---@field type "permissionResolved"
---@field askId string
---@field decision? string
---@field by? string
---@field tool? string
---@field title? string
---@field client? string which of several answered, by the name it gave itself

---@class assent.wire.ElicitationPending
---@field type "elicitationPending"
---@field elicitId string
---@field message? string

---@class assent.wire.ElicitationResolved
---@field type "elicitationResolved"
---@field elicitId string
---@field by? string
---@field client? string

--- What was decided on one hunk; `newText` is the text that is there now, where it is not the proposed one.
---@class assent.wire.ToldDecision
---@field hunkId string
---@field decision "accept"|"edit"|"reject"|"reopen"
---@field newText? string

---@class assent.wire.EditProposed
---@field type "editProposed"
---@field proposal assent.wire.Proposal

---@class assent.wire.EditUpdated
---@field type "editUpdated"
---@field proposal assent.wire.Proposal

---@class assent.wire.EditResolved
---@field type "editResolved"
---@field proposalId string
---@field decisions assent.wire.ToldDecision[]
---@field proposal? assent.wire.Proposal as it is now

---@class assent.wire.MovedHunk
---@field hunkId string
---@field range assent.wire.Range

--- Only ranges changed; goes to clients that claim `client.editMoved` instead of editUpdated, at most 20 a second.
--- Hunks that are not named stand where they stood.
---@class assent.wire.EditMoved
---@field type "editMoved"
---@field proposalId string
---@field version integer|vim.NIL
---@field hunks assent.wire.MovedHunk[]

--- An edit that needs no asking waits for its hunks, because review "before" was set.
---@class assent.wire.ReviewPending
---@field type "reviewPending"
---@field proposalId string
---@field toolUseId string
---@field hunks string[] the ids of those to decide

---@class assent.wire.Todos
---@field type "todos"
---@field items assent.wire.Todo[]

--- The whole list that the agents of the session share, whenever it changed.
---@class assent.wire.Tasks
---@field type "tasks"
---@field items assent.wire.Task[]

---@class assent.wire.PlanProposed
---@field type "planProposed"
---@field plan string

---@class assent.wire.Hook
---@field type "hook"
---@field event string
---@field outcome string success, blocked, prevented, error, timeout; running: `text` says what a hook is doing
---@field text? string
---@field hookId? string
---@field toolUseId? string
---@field durationMs? integer
---@field exitCode? integer
---@field changed? boolean it changed the input, the output or the decision
---@field output? string what it printed, cut
---@field command? string what ran, in one line
---@field source? string the file that names the hook, with the line
---@field terminalSequence? string titles, notifications and the bell, for a terminal that shows the session

--- Messages that the model no longer sees; people still do. `assent/session/unsnip` takes it back.
---@class assent.wire.Snipped
---@field type "snipped"
---@field snipId string
---@field messageIds string[]
---@field tokensFreed integer
---@field by "auto"|"model"|"user"
---@field reason? string why it was provably unneeded, where nobody asked for it

--- The context is nearly full; once per crossing of the threshold.
---@class assent.wire.CompactSoon
---@field type "compactSoon"
---@field tokens integer
---@field threshold integer
---@field wouldGo table<string, any>[]|integer|string what a compaction would take away

---@class assent.wire.McpChanged
---@field type "mcpChanged"
---@field servers assent.wire.McpServerState[]

---@class assent.wire.UsageEvent
---@field type "usage"
---@field input integer
---@field output integer
---@field cacheRead integer
---@field cacheWrite integer
---@field contextTokens integer
---@field contextWindow integer
---@field costUsd number
---@field totalCostUsd? number

---@class assent.wire.Status
---@field type "status"
---@field state "compacting"|"idle"|"running"|"waiting"
---@field model? string
---@field mode? string

---@class assent.wire.Queued
---@field type "queued"
---@field clientMessageId string|vim.NIL
---@field kept? boolean stopped before its turn came: it starts only when it is sent again, by its id

---@class assent.wire.Dequeued
---@field type "dequeued"
---@field clientMessageId string|vim.NIL

---@class assent.wire.MessageUnqueued
---@field type "unqueued"
---@field clientMessageId string

---@class assent.wire.Completed
---@field type "completed"
---@field clientMessageId string|vim.NIL

---@class assent.wire.MaxTurnsReached
---@field type "maxTurnsReached"
---@field maxTurns? integer
---@field turnCount? integer

---@class assent.wire.Job
---@field type "job"
---@field jobId string
---@field command string
---@field state string
---@field exitCode? integer
---@field toolUseId? string the call it came from
---@field foreground? boolean a turn waits for it

---@class assent.wire.Notice
---@field type "notice"
---@field level "error"|"info"|"warning"
---@field text string

---@class assent.wire.TurnFinished
---@field type "turnFinished"
---@field result assent.wire.TurnResult

--- The parameters of `assent/session/event`; `seq` counts from 1 without gaps, per session and epoch.
---@class assent.wire.SessionEvent
---@field sessionId string
---@field seq integer
---@field event assent.wire.AnyEvent
---@field turnId? string
---@field stepId? string
---@field parentToolUseId? string

---@alias assent.wire.AnyEvent assent.wire.TurnStarted|assent.wire.StepStarted|assent.wire.TextDelta|assent.wire.ThinkingDelta|assent.wire.ToolPreparing|assent.wire.ToolInputDelta|assent.wire.ToolStarted|assent.wire.ToolProgress|assent.wire.ToolFinished|assent.wire.ToolSummary|assent.wire.MessageEvent|assent.wire.Tombstone|assent.wire.Retrying|assent.wire.Heartbeat|assent.wire.Compacting|assent.wire.Compacted|assent.wire.PermissionPending|assent.wire.PermissionResolved|assent.wire.ElicitationPending|assent.wire.ElicitationResolved|assent.wire.EditProposed|assent.wire.EditUpdated|assent.wire.EditResolved|assent.wire.EditMoved|assent.wire.ReviewPending|assent.wire.Todos|assent.wire.Tasks|assent.wire.PlanProposed|assent.wire.Hook|assent.wire.Snipped|assent.wire.CompactSoon|assent.wire.McpChanged|assent.wire.UsageEvent|assent.wire.Status|assent.wire.Queued|assent.wire.Dequeued|assent.wire.MessageUnqueued|assent.wire.Completed|assent.wire.MaxTurnsReached|assent.wire.Job|assent.wire.Notice|assent.wire.TurnFinished

---@class assent.wire.AgentList
---@field sessionId? string
---@field cwd? string

--- An agent of a session, running or ended. 0.1 listed definitions here instead: `name` and `description` only.
---@class assent.wire.AgentRun
---@field name string
---@field agentId? string
---@field state? "failed"|"finished"|"running"|"stopped"|"waiting"
---@field parentToolUseId? string
---@field tokens? integer
---@field costUsd? number
---@field background? boolean
---@field title? string
---@field description? string
---@field color? string

---@class assent.wire.AgentDefinition
---@field name string
---@field description string
---@field source? string
---@field withheld? string
---@field color? string
---@field isolation? "worktree"
---@field background? boolean
---@field ignored? string[] fields that mean nothing here, and why

--- `agents` run or ran; `definitions` can be started; `problems` are files that define none, with the reason.
---@class assent.wire.Agents
---@field agents assent.wire.AgentRun[]
---@field definitions? assent.wire.AgentDefinition[]
---@field problems? string[]

---@class assent.wire.AgentStop
---@field sessionId string
---@field agentId string

---@class assent.wire.AgentStopped
---@field stopped boolean

--- One agent's conversation, newest page first; `cursor` from the answer before.
---@class assent.wire.AgentRead
---@field sessionId string
---@field agentId string
---@field cursor? string
---@field limit? integer

--- `messages` as attach gives those of the session, oldest first. What comes later comes as events that carry the
--- agent's `parentToolUseId`.
---@class assent.wire.AgentConversation
---@field messages assent.wire.StoredMessage[]
---@field agent? assent.wire.AgentRun absent: it ran in an earlier process
---@field nextCursor? string

---@class assent.wire.CommandList
---@field sessionId? string
---@field cwd? string

---@class assent.wire.Commands
---@field commands assent.wire.CommandInfo[]

---@class assent.wire.JobList
---@field sessionId? string

---@class assent.wire.JobInfo
---@field jobId string
---@field command string
---@field state string
---@field sessionId? string
---@field exitCode? integer
---@field toolUseId? string
---@field foreground? boolean a turn waits for it

---@class assent.wire.Jobs
---@field jobs assent.wire.JobInfo[]

---@class assent.wire.JobKill
---@field jobId string
---@field sessionId? string

---@class assent.wire.Killed
---@field killed boolean

--- Let a running command or agent go on in the background: its call ends now, its result comes later.
---@class assent.wire.JobBackground
---@field sessionId string
---@field toolUseId string

---@class assent.wire.Backgrounded
---@field jobId string

--- Let the turn wait for a background command or agent, by its id. With no turn running, its end begins one.
---@class assent.wire.JobForeground
---@field sessionId string
---@field jobId string

---@class assent.wire.Foregrounded
---@field toolUseId string

---@class assent.wire.HookList
---@field cwd? string
---@field sessionId? string

---@class assent.wire.HookInfo
---@field hookId string
---@field event string
---@field matcher string
---@field type string command, http, …
---@field command string
---@field source string the settings file, plugin or skill that names it
---@field active boolean
---@field withheld? string why it does not run
---@field timeoutMs? integer

---@class assent.wire.Hooks
---@field hooks assent.wire.HookInfo[]

---@class assent.wire.HookLog
---@field sessionId string
---@field cursor? string

---@class assent.wire.HookRun
---@field hookId string
---@field event string
---@field outcome string
---@field durationMs integer
---@field startedAt? string|number
---@field toolUseId? string
---@field exitCode? integer
---@field text? string
---@field stdout? string
---@field stderr? string
---@field changed? boolean
---@field source? string file and line
---@field command? string

--- Newest first.
---@class assent.wire.HookRuns
---@field runs assent.wire.HookRun[]
---@field nextCursor? string

---@class assent.wire.McpList
---@field sessionId? string
---@field cwd? string

---@class assent.wire.McpServerState
---@field name string
---@field status "connected"|"connecting"|"disabled"|"failed"|"idle"|"needsApproval"|"needsAuth"|"unsupported"
---@field scope? string user, project, local, managed, plugin
---@field source? string the file that names it
---@field transport? string stdio, http, sse
---@field era? string the protocol's version
---@field tools? integer|string[]
---@field tokens? integer what its tools cost in every request
---@field error? string
---@field stderrTail? string
---@field hash? string of what `assent/mcp/approve` would approve
---@field shown? string its whole configuration in words, for a person
---@field change? string what is to be approved: the configuration, or the difference to what was approved
---@field problems? string[] what is odd about its entry
---@field url? string the address to open, in the answer of `assent/mcp/signIn`

---@class assent.wire.McpServers
---@field servers assent.wire.McpServerState[]
---@field withheld? integer how many more the project brings, which count once its folder is trusted

--- Names one server; `hash` is of the configuration that was shown, and only `approve` needs it.
---
--- `redirect` is for `signIn`: the address that the browser was sent to, where it could not reach us.
---@class assent.wire.McpRef
---@field name string
---@field hash? string
---@field redirect? string
---@field sessionId? string
---@field cwd? string

---@class assent.wire.McpAnswer
---@field server assent.wire.McpServerState

--- One tool of a server, in the server's own words.
---@class assent.wire.McpTool
---@field name string mcp__server__tool
---@field tool string
---@field title string
---@field description string
---@field tokens integer what its definition costs in a request that holds it
---@field heldBack boolean it changed, and nobody accepted that yet
---@field hints string[] readOnlyHint, destructiveHint, idempotentHint, openWorldHint: untrusted
---@field icon? string a `data:` address

---@class assent.wire.McpPromptInfo
---@field name string
---@field description string

---@class assent.wire.McpDetails
---@field server assent.wire.McpServerState
---@field tools assent.wire.McpTool[]
---@field prompts assent.wire.McpPromptInfo[]
---@field version? string of the protocol
---@field title? string what the server calls itself
---@field icon? string a `data:` address
---@field instructions? string
---@field log? string the last lines of its stderr and of what it logged

---@class assent.wire.FolderRef
---@field cwd? string
---@field sessionId? string

---@class assent.wire.SkillInfo
---@field name string
---@field description string
---@field source string
---@field tokens integer
---@field withheld? string

---@class assent.wire.Skills
---@field skills assent.wire.SkillInfo[]

---@class assent.wire.MemoryFile
---@field path string
---@field kind string project, user, rule, auto, import
---@field scope string
---@field tokens integer
---@field reason string why it is read: always, or by which path

---@class assent.wire.MemoryFiles
---@field files assent.wire.MemoryFile[]

---@class assent.wire.PluginInfo
---@field name string
---@field version string
---@field source string
---@field enabled boolean
---@field parts string[]
---@field withheld? string
---@field problems? string[] what of it is not used, with file and line

---@class assent.wire.Plugins
---@field plugins assent.wire.PluginInfo[]

---@class assent.wire.RuleLists
---@field allow? string[]
---@field ask? string[]
---@field deny? string[]

---@class assent.wire.PermissionExplain
---@field tool string
---@field input table<string, any>
---@field cwd string
---@field mode? "acceptEdits"|"auto"|"bypassPermissions"|"default"|"dontAsk"|"plan"
---@field trusted? boolean
---@field rules? assent.wire.RuleLists

---@class assent.wire.Explained
---@field decision "allow"|"ask"|"deny"
---@field step string
---@field reason string
---@field rule? string
---@field sandbox? string of a shell command: what would confine it

---@class assent.wire.PermissionRules
---@field cwd string
---@field sessionId? string

---@class assent.wire.RuleInfo
---@field rule string
---@field behaviour "allow"|"ask"|"deny"
---@field scope string user, project, local, session, editor, managed, …
---@field file string
---@field withheld? string why it has no effect

---@class assent.wire.Rules
---@field rules assent.wire.RuleInfo[]

---@class assent.wire.RemovedRule
---@field rule string
---@field behaviour "allow"|"ask"|"deny"
---@field file string

---@class assent.wire.AddedRule
---@field rule string
---@field behaviour "allow"|"ask"|"deny"
---@field scope "local"|"project"|"session"|"user"

---@class assent.wire.PermissionEditRules
---@field cwd string
---@field remove? assent.wire.RemovedRule[]
---@field add? assent.wire.AddedRule[]
---@field sessionId? string

--- The answer to an ask from any client of the session, whether that client was asked or not.
---@class assent.wire.PermissionReply
---@field askId string
---@field decision "allow"|"deny"
---@field scope? "once"|"project"|"session"|"user"
---@field rule? string
---@field message? string

---@class assent.wire.RosterRequest
---@field cwd? string only sessions of this folder

---@class assent.wire.RosterAsk
---@field askId string
---@field title string
---@field tool string

---@class assent.wire.RosterEntry
---@field sessionId string
---@field title string
---@field cwd string
---@field state "finished"|"idle"|"queued"|"running"|"waiting" queued: as many turns run as may
---@field costUsd number
---@field clients integer
---@field asks assent.wire.RosterAsk[]
---@field background? boolean its turn goes on when the last window has gone

---@class assent.wire.Roster
---@field sessions assent.wire.RosterEntry[]

--- A session that went on without a window. `epoch` and `afterSeq`: attach with them to get what was missed.
---@class assent.wire.MissedSession
---@field sessionId string
---@field title string
---@field state "finished"|"interrupted"|"running"|"waiting"
---@field since number seconds since 1970: when the last window left
---@field epoch string
---@field afterSeq integer
---@field ask? string
---@field text? string the same as one sentence for people

---@class assent.wire.Missed
---@field sessions assent.wire.MissedSession[]

---@class assent.wire.NewSession
---@field sessionId string
---@field model string
---@field mode string
---@field tools string[]
---@field commands assent.wire.CommandInfo[]
---@field agents assent.wire.AgentInfo[]
---@field mcpServers assent.wire.McpServer[]

--- `queued` at once; `result` instead when the send waited for the turn to end.
---@class assent.wire.Sent
---@field turnId string
---@field queued? boolean
---@field result? assent.wire.TurnResult
---@field saved? boolean false: the disk did not take the message yet

---@class assent.wire.Interrupted
---@field interrupted boolean
---@field queued string[]

---@class assent.wire.Unqueued
---@field unqueued boolean false: its turn has come, or there is no such message
---@field prompt? string|table<string, any>[] as it was sent

--- A few words around those of a search, on one line.
---@class assent.wire.Snippet
---@field text string
---@field ranges integer[][] of the words in it: from, to, in UTF-16 code units
---@field role "assistant"|"tool"|"user"
---@field messageId string

---@class assent.wire.SessionInfo
---@field sessionId string
---@field title string
---@field updatedAt string|number
---@field turns integer
---@field costUsd number
---@field cwd string
---@field branch string|vim.NIL
---@field running boolean
---@field snippet? string of a search: the words where they were said last
---@field snippets? assent.wire.Snippet[] of a search: up to three such places, the best first

---@class assent.wire.Sessions
---@field sessions assent.wire.SessionInfo[]
---@field nextCursor? string
---@field unread? integer of a search: so many conversations are not in its index yet; ask again

--- A turn that the end of its process cut short; `assent/session/retry` plays it again.
---@class assent.wire.CutTurn
---@field turnId string
---@field messageId string
---@field prompt table<string, any>[]

---@class assent.wire.WaitingMessage
---@field clientMessageId string
---@field prompt table<string, any>[]
---@field steer boolean
---@field kept? boolean starts only when it is sent again, by its id

--- An edit that waits for its hunks without an ask; the event `reviewPending` without its tag.
---@class assent.wire.WaitingReview
---@field proposalId string
---@field toolUseId string
---@field hunks string[]

--- A message of the conversation: the event `message` without its tag, or `role` system where it was compacted.
---@class assent.wire.StoredMessage
---@field role "assistant"|"system"|"user"
---@field content table<string, any>[]
---@field id string
---@field meta? table<string, any>|boolean
---@field timestamp? number
---@field messageId? string the model's own, shared by all blocks of one answer
---@field model? string
---@field error? string
---@field kind? string of what was attached for the model; "compacted" with role system
---@field trigger? string with kind "compacted", and so are the next three
---@field tokensBefore? integer
---@field tokensAfter? integer
---@field summary? string
---@field parentToolUseId? string

--- An event that people saw after a message of the page: a call's title, how it ended, an answer…
---@class assent.wire.ShownEvent
---@field event table<string, any> without the fields that the messages hold themselves
---@field after? string a message's id; absent: before the first of the page

---@class assent.wire.ContextAndCost
---@field contextTokens integer
---@field contextWindow integer
---@field costUsd number

--- Messages that the model no longer sees. `by: "auto"`: they were provably unneeded, and `reason` says how.
---@class assent.wire.SnipState
---@field snipId string
---@field messageIds string[]
---@field tokensFreed integer
---@field by "auto"|"model"|"user"
---@field reason? string

---@class assent.wire.Attached
---@field epoch string
---@field lastSeq integer
---@field reset boolean
---@field messages assent.wire.StoredMessage[]
---@field running boolean
---@field pendingAsks assent.wire.PendingAsk[]
---@field pendingElicits assent.wire.PendingElicit[]
---@field proposals assent.wire.Proposal[]
---@field todos assent.wire.Todo[]
---@field mode string
---@field model string
---@field turnId? string
---@field nextCursor? string
---@field title? string
---@field cwd? string
---@field queued? string[] clientMessageIds
---@field queue? assent.wire.WaitingMessage[] the same, in words
---@field interrupted? assent.wire.CutTurn
---@field damaged? integer lines of the file that could not be read
---@field pendingReviews? assent.wire.WaitingReview[]
---@field state? "idle"|"running"|"waiting"
---@field tasks? assent.wire.Task[] that the agents share; absent: none
---@field shown? assent.wire.ShownEvent[]
---@field usage? assent.wire.ContextAndCost
---@field snips? assent.wire.SnipState[] in force: `session/unsnip` takes one back
---@field readOnly? boolean another process owns it, or a newer version wrote it: no events, no turns
---@field readOnlyReason? string where it is not another process: why, in words for people

--- Turns as trees: `calls` of a turn are its model calls, `calls` of those the tools they called, and so on.
---@class assent.wire.Traced
---@field turns table<string, any>[]
---@field text string the same for people

---@class assent.wire.Snip
---@field snipId string
---@field tokensFreed integer

---@class assent.wire.Forked
---@field sessionId string

---@class assent.wire.Exported
---@field text string

---@class assent.wire.Configured
---@field model? string
---@field mode? string
---@field thinking? any
---@field effort? string
---@field review? string

---@class assent.wire.FileChange
---@field path string
---@field change string

---@class assent.wire.RewindConflict
---@field path string
---@field reason string

---@class assent.wire.Rewound
---@field files assent.wire.FileChange[]
---@field conflicts assent.wire.RewindConflict[] files that were left alone
---@field rewindId? string rewind to it to undo the rewind
---@field prompt? table<string, any>[] of the message that was taken back
---@field untracked? string[] in words: what commands may have changed and nobody could look at

--- Tokens by category, the window, and where automatic compaction would begin.
---@class assent.wire.ContextUsage
---@field tokens table<string, integer>
---@field window integer
---@field used integer
---@field autoCompactAt integer

---@class assent.wire.ModelCost
---@field inputTokens integer
---@field outputTokens integer
---@field cacheCreationInputTokens integer
---@field cacheReadInputTokens integer
---@field webSearchRequests integer
---@field costUsd number
---@field model string

--- All that calls have reported so far counts, also while a turn runs.
---@class assent.wire.Cost
---@field totalCostUsd number
---@field models assent.wire.ModelCost[]
---@field cacheShare number of all input tokens
---@field unreported? integer calls that a crash cut off before they reported anything: they may have cost more

---@class assent.wire.ToolInfo
---@field name string
---@field description string
---@field inputSchema table<string, any>
---@field readOnly? boolean

---@class assent.wire.Tools
---@field tools assent.wire.ToolInfo[]

---@class assent.wire.ToolRan
---@field content table<string, any>[]
---@field isError boolean
---@field durationMs integer

---@class assent.wire.Proposals
---@field proposals assent.wire.Proposal[]

---@class assent.wire.Refused
---@field hunkId string
---@field reason string

---@class assent.wire.Resolved
---@field proposal assent.wire.Proposal
---@field refused? assent.wire.Refused[] decisions that could not be carried out
---@field report? string what the model is told

---@class assent.wire.ModelChoice
---@field id string
---@field name string
---@field source "endpoint"|"known"|"settings"

---@class assent.wire.ModelChoices
---@field models assent.wire.ModelChoice[]
---@field endpoint string the address that was asked; empty when nobody was
---@field askedAt? number seconds since 1970
---@field error? string why the endpoint's list is missing or old

---@class assent.wire.CredentialsChecked
---@field verdict "accepted"|"refused"|"unknown"|"unreachable"
---@field endpoint string the address that was asked
---@field detail? string its own words

---@class assent.wire.CompletionItem
---@field label string
---@field insertText string
---@field kind string
---@field detail string

---@class assent.wire.Completions
---@field items assent.wire.CompletionItem[]

---@class assent.wire.DocumentText
---@field text string
---@field languageId string

---@class assent.wire.Trusted
---@field trusted boolean

---@class assent.wire.TrustItem
---@field kind "env"|"hook"|"mcpServer"|"rule"|"setting"
---@field name string
---@field value string
---@field file string
---@field dangerous boolean
---@field change? "added"|"changed" since the folder was trusted
---@field was? string the value that was approved

---@class assent.wire.TrustState
---@field trusted boolean
---@field hash string
---@field items assent.wire.TrustItem[]
---@field changed boolean

---@class assent.wire.SettingsSource
---@field path string
---@field exists boolean

---@class assent.wire.Settings
---@field settings table<string, any>
---@field sources assent.wire.SettingsSource[]
---@field warnings assent.wire.Warning[]
---@field withheld? string[] what trusting the folder would activate
---@field origins? table<string, string> dotted key → the file that set it
---@field rules? table<string, any>[] {rule, behaviour, scope, file}
---@field value? any of the key that was asked for
