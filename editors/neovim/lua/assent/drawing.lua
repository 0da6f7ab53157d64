--- How the events of a session look in its chat. Draws what they say; decides nothing, sends nothing.
local call_lines = require("assent.call_lines")
local code_blocks = require("assent.code_blocks")
local history = require("assent.history")
local transcript = require("assent.transcript")

local M = {}

---@class assent.Chat
---@field id string session
---@field bufnr integer
---@field prompt integer its buffer
---@field text assent.Transcript
---@field shown table<string, boolean> ids of messages on the screen
---@field answering boolean whether "## Assent" stands above what comes next
---@field notes integer how many entries have a made-up key
---@field calls table<string, string[]> tool calls on the screen, by the message they came in
---@field preparing table<string, boolean> tool calls whose message has not come yet
---@field agent assent.wire.AgentRun? the subagent whose conversation it is
---@field held table[]? events that wait until the history before them is drawn

local lines_of = call_lines.split

--- What was attached to a prompt by its words, such as `@git`.
local ATTACHED = "^%[@%l+%]"

---@param content string|table[]|nil
---@return string what was said, without what was attached to it
function M.text_of(content)
  if type(content) == "string" then
    return content
  end
  local parts = {}
  for _, block in ipairs(content or {}) do
    if block.type == "text" and not block.text:find(ATTACHED) then
      table.insert(parts, block.text)
    elseif block.type == "image" then
      table.insert(parts, "[image]")
    end
  end
  return table.concat(parts, "\n")
end

---@param chat assent.Chat
---@param kind string
---@param lines string[]
local function put(chat, kind, lines)
  chat.notes = chat.notes + 1
  chat.text:add(("%s:%d"):format(kind, chat.notes), kind, lines, { blank = true })
end

---@param chat assent.Chat
---@param text string
function M.note(chat, text)
  put(chat, "note", lines_of(text))
end

---@param chat assent.Chat
local function answer_heading(chat)
  if not chat.answering then
    chat.answering = true
    put(chat, "heading", { "## " .. (chat.agent and chat.agent.name or "Assent"), "" })
  end
end

---@param chat assent.Chat
---@param content string|table[]
---@param id string? of its message
local function show_prompt(chat, content, id)
  chat.answering = false
  local text = M.text_of(content)
  if not chat.agent then
    history.add(text)
  end
  local lines = vim.list_extend({ chat.agent and "## Task" or "## You", "" }, lines_of(text))
  for _, block in ipairs(type(content) == "table" and content or {}) do
    if block.type == "text" and block.text:find(ATTACHED) then
      for index, line in ipairs(lines_of(block.text)) do
        table.insert(lines, index == 1 and line or transcript.DETAIL .. line)
      end
    end
  end
  if not id or chat.text.entries[id] then
    return put(chat, "text", lines)
  end
  chat.shown[id] = true
  chat.text:add(id, "text", lines, { blank = true })
end

---@param chat assent.Chat
---@param key string
---@param kind "text"|"thinking"
---@param text string
local function stream(chat, key, kind, text)
  answer_heading(chat)
  local prefix = kind == "thinking" and transcript.THINKING or ""
  if not chat.text.entries[key] then
    chat.text:add(key, kind, { prefix }, { blank = true })
  end
  local whole = text:gsub("\r\n?", "\n")
  chat.text:append(key, whole, prefix)
  if kind == "text" then
    code_blocks.seen(chat.bufnr, whole)
  end
end

---@param chat assent.Chat
---@param id string
---@param tool string
---@param input table?
---@param title string?
local function show_tool(chat, id, tool, input, title)
  local line = call_lines.head(tool, input, title)
  local entry = chat.text.entries[id]
  if entry then
    chat.text:head(id, line)
  else
    answer_heading(chat)
    chat.text:add(id, "tool", { line }, { blank = true })
    chat.text:state(id, "…", "Comment")
    entry = chat.text.entries[id]
  end
  local below = input and call_lines.input(tool, input)
  if below and entry and not entry.command then
    entry.command = true
    chat.text:extend(id, below)
  end
end

---@param status string
---@return string
local function box(status)
  return status == "completed" and "[x]" or status == "in_progress" and "[-]" or "[ ]"
end

--- How a turn ends that somebody stopped.
local ABORTED = { aborted_streaming = true, aborted_tools = true }

---@type table<string, fun(chat: assent.Chat, event: table)>
local draw = {
  turnStarted = function(chat, event)
    show_prompt(chat, event.prompt, event.messageId)
  end,
  textDelta = function(chat, event)
    chat.text:remove("retrying")
    stream(chat, event.blockId, "text", event.text)
  end,
  thinkingDelta = function(chat, event)
    chat.text:remove("retrying")
    stream(chat, event.blockId, "thinking", event.text)
  end,
  toolPreparing = function(chat, event)
    chat.text:remove("retrying")
    chat.preparing[event.toolUseId] = true
    show_tool(chat, event.toolUseId, event.tool)
  end,
  toolStarted = function(chat, event)
    show_tool(chat, event.toolUseId, event.tool, event.input or {}, event.title)
    chat.text:state(event.toolUseId, "running", "DiagnosticInfo")
  end,
  toolProgress = function(chat, event)
    local last = lines_of(vim.trim(event.text))
    chat.text:state(event.toolUseId, last[#last] or "running", "Comment")
  end,
  toolFinished = function(chat, event)
    local id = event.toolUseId
    if not chat.text.entries[id] then
      return
    end
    local output = vim.trim(M.text_of(event.content)) == "" and "" or M.text_of(event.content)
    local summary = lines_of(event.summary or "")[1] or ""
    if event.isError then
      local mark, lines = call_lines.failure(output ~= "" and output or summary, summary)
      chat.text:state(id, mark, "DiagnosticError")
      return chat.text:extend(id, lines)
    end
    local said_already = chat.text:line(id):find(summary, 1, true) ~= nil
    chat.text:state(id, "✓ " .. (said_already and "" or summary), "DiagnosticOk")
    if output == "" or vim.trim(output) == vim.trim(summary) then
      return
    end
    chat.text:extend(id, call_lines.output(output))
  end,
  toolSummary = function(chat, event)
    M.note(chat, "*" .. event.text .. "*")
  end,
  message = function(chat, event)
    M.message(chat, event)
  end,
  tombstone = function(chat, event)
    if event.reason == "snip" then
      return -- out of the model's view only
    end
    local gone = vim.list_extend(vim.list_slice(event.messageIds or {}), event.blockIds or {})
    for _, id in ipairs(gone) do
      chat.text:remove(id)
      chat.text:remove(id .. ":1")
      for _, call in ipairs(chat.calls[id] or {}) do
        chat.text:remove(call)
      end
      chat.shown[id], chat.calls[id] = nil, nil
    end
    for call in pairs(chat.preparing) do
      chat.text:remove(call) -- its message will never come
    end
    chat.preparing = {}
  end,
  compacted = function(chat, event)
    local words = "*The conversation was summarised: %d → %d tokens. Nothing above is lost.*"
    M.note(chat, words:format(event.tokensBefore, event.tokensAfter))
  end,
  permissionPending = function(chat, event)
    chat.text:add(event.askId, "note", { "*Waiting for your answer: `:Assent answer`*" }, { blank = true })
  end,
  permissionResolved = function(chat, event)
    chat.text:remove(event.askId)
    local here = require("assent.questions").answered_here(event.askId)
    if not here and event.client and event.decision then
      local word = event.decision == "allow" and "Allowed" or "Denied"
      M.note(chat, ("*%s in %s: %s*"):format(word, event.client, event.title or event.tool or ""))
    end
  end,
  elicitationPending = function(chat, event)
    chat.text:add(event.elicitId, "note", { "*A question for you: `:Assent answer`*" }, { blank = true })
  end,
  elicitationResolved = function(chat, event)
    chat.text:remove(event.elicitId)
  end,
  planProposed = function(chat, event)
    M.note(chat, "### Plan\n\n" .. event.plan)
  end,
  todos = function(chat, event)
    local lines = {}
    for _, item in ipairs(event.items) do
      table.insert(lines, ("- %s %s"):format(box(item.status), (item.content:gsub("\n", " "))))
    end
    chat.text:remove("todos")
    if #lines > 0 then
      chat.text:add("todos", "note", lines, { blank = true })
    end
  end,
  queued = function(chat, event)
    local words = event.kept and "*A message was not sent: the turn was stopped.*" or "*Your message waits its turn.*"
    chat.text:add("queued:" .. event.clientMessageId, "note", { words }, { blank = true })
  end,
  dequeued = function(chat, event)
    chat.text:remove("queued:" .. event.clientMessageId)
  end,
  unqueued = function(chat, event)
    chat.text:remove("queued:" .. event.clientMessageId)
  end,
  completed = function(chat, event)
    chat.text:remove("queued:" .. event.clientMessageId)
  end,
  hook = function(chat, event)
    if event.outcome == "running" then
      if event.toolUseId and chat.text.entries[event.toolUseId] then
        chat.text:state(event.toolUseId, event.text or "hook", "Comment")
      end
      return
    end
    chat.notes = chat.notes + 1
    local key = ("hook:%d"):format(chat.notes)
    local said = event.text or event.output or ""
    chat.text:add(key, "tool", { ("- hook `%s`"):format(event.event) }, { blank = true })
    local took = event.durationMs and (" in %d ms"):format(event.durationMs) or ""
    local changed = event.changed and ", it changed something" or ""
    local fine = event.outcome == "success"
    local mark, colour = fine and "✓ " or "› ", fine and "DiagnosticOk" or "DiagnosticWarn"
    chat.text:state(key, mark .. event.outcome .. took .. changed, colour)
    local named = not fine and event.source and ("\n`%s`"):format(event.source) or ""
    if vim.trim(said .. named) ~= "" then
      local lines = lines_of(vim.trim(said .. named))
      chat.text:extend(
        key,
        vim.tbl_map(function(line)
          return transcript.DETAIL .. line
        end, lines)
      )
    end
  end,
  snipped = function(chat, event)
    local words = "› %d message%s out of the model's view, %d tokens; `:Assent! snip` puts them back"
    local count = #event.messageIds
    M.note(chat, words:format(count, count == 1 and " is" or "s are", event.tokensFreed))
  end,
  compactSoon = function(chat, event)
    local words = "› The conversation has %d tokens. At %d, %s; `:Assent snip` takes parts out before"
    M.note(chat, words:format(event.tokens, event.threshold, tostring(event.wouldGo)))
  end,
  retrying = function(chat, event)
    chat.text:remove("retrying")
    local words = ("*Retry %d of %d in %.0f s*"):format(event.attempt, event.maxAttempts, event.delayMs / 1000)
    chat.text:add("retrying", "note", { words }, { blank = true })
  end,
  notice = function(chat, event)
    -- Not in italics, and rules as code: the star in `Bash(ls:*)` would be taken for their end, and vanish.
    local plain = event.text:gsub("`?([%a_]+%b())`?", "`%1`")
    M.note(chat, event.level == "info" and "› " .. plain or ("› **%s:** %s"):format(event.level, plain))
  end,
  turnFinished = function(chat, event)
    local result = event.result
    if ABORTED[result.terminal] then
      M.note(chat, "**Stopped.**")
    elseif result.isError then
      M.note(chat, ("**Stopped (%s)** %s"):format(result.terminal, result.result or ""))
    end
    chat.text:remove("retrying")
    chat.answering = false
  end,
}

--- What a subagent does shows on the line of the call that started it.
---@type table<string, fun(event: table): string?>
local below = {
  toolStarted = function(event)
    return event.title ~= "" and event.title or event.tool
  end,
  textDelta = function()
    return "writing"
  end,
  thinkingDelta = function()
    return "thinking"
  end,
}

---@param chat assent.Chat
---@param event table
---@param parent string? the call of the subagent that this event is of
function M.event(chat, event, parent)
  if parent then
    local words = below[event.type] and below[event.type](event)
    if words then
      chat.text:state(parent, lines_of(words)[1], "Comment")
    end
    if not event.type:match("^permission") and not event.type:match("^elicitation") then
      return
    end
  end
  if draw[event.type] then
    draw[event.type](chat, event)
  end
end

--- Nothing is drawn yet.
---@param chat assent.Chat
function M.begin(chat)
  chat.shown, chat.answering, chat.notes, chat.calls, chat.preparing = {}, false, 0, {}, {}
end

--- A conversation as its file has it.
---@param chat assent.Chat
---@param pages table[][] messages, the newest page first
function M.pages(chat, pages)
  for index = #pages, 1, -1 do
    for _, message in ipairs(pages[index]) do
      M.message(chat, vim.tbl_extend("force", message, { replay = true }))
    end
  end
end

--- A whole message: on resume, or when no partials came for it.
---@param chat assent.Chat
---@param message table
function M.message(chat, message)
  local meta = message.meta
  if meta == true or type(meta) == "table" and not vim.tbl_isempty(meta) or chat.shown[message.id] then
    return
  end
  chat.shown[message.id] = true
  if message.role == "user" then
    local text = M.text_of(message.content)
    if text ~= "" then
      show_prompt(chat, message.content, message.id) -- history, or steered; a turn's comes with turnStarted
    end
    for _, block in ipairs(type(message.content) == "table" and message.content or {}) do
      if block.type == "tool_result" and message.replay then
        draw.toolFinished(chat, {
          toolUseId = block.tool_use_id,
          isError = block.is_error == true,
          summary = "",
          content = block.content,
        })
      end
    end
    return
  end
  for index, block in ipairs(message.content) do
    local key = ("%s:%d"):format(message.id, index)
    if block.type == "text" and not chat.text.entries[message.id] then
      stream(chat, key, "text", block.text)
    elseif block.type == "thinking" and not chat.text.entries[message.id] then
      stream(chat, key, "thinking", block.thinking)
    elseif block.type == "tool_use" and (message.replay or chat.text.entries[block.id]) then
      show_tool(chat, block.id, block.name, type(block.input) == "table" and block.input or {})
      chat.preparing[block.id] = nil
      chat.calls[message.id] = vim.list_extend(chat.calls[message.id] or {}, { block.id })
    end
  end
end

return M
