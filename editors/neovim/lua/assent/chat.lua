--- The chat: a Markdown buffer that streams, and a prompt below it. Draws what events say; decides nothing.
local client = require("assent.client")
local config = require("assent.config")
local protocol = require("assent.protocol")
local session_store = require("assent.session")
local transcript = require("assent.transcript")

local M = {}

local MOST_DETAIL = 400

---@class assent.Chat
---@field id string session
---@field bufnr integer
---@field prompt integer its buffer
---@field text assent.Transcript
---@field tools table<string, boolean>
---@field shown table<string, boolean> message and block ids on the screen
---@field answering boolean whether "## Assent" stands above what comes next

---@type table<string, assent.Chat>
local chats = {}

---@param id string
---@return assent.Chat?
function M.of(id)
  return chats[id]
end

---@param bufnr integer
---@return assent.Chat?
function M.of_buffer(bufnr)
  for _, chat in pairs(chats) do
    if chat.bufnr == bufnr or chat.prompt == bufnr then
      return chat
    end
  end
end

-- What events look like -------------------------------------------------------------------------------------------

local function lines_of(text)
  return vim.split((text:gsub("\r\n?", "\n")), "\n", { plain = true })
end

local function text_of(content)
  if type(content) == "string" then
    return content
  end
  local parts = {}
  for _, block in ipairs(content or {}) do
    if block.type == "text" then
      table.insert(parts, block.text)
    elseif block.type == "image" then
      table.insert(parts, "[image]")
    end
  end
  return table.concat(parts, "\n")
end

---@param chat assent.Chat
local function answer_heading(chat)
  if not chat.answering then
    chat.answering = true
    chat.text:add("heading:" .. vim.uv.hrtime(), "heading", { "## Assent", "" }, { blank = true })
  end
end

---@param chat assent.Chat
---@param text string
local function show_prompt(chat, text)
  chat.answering = false
  local lines = vim.list_extend({ "## You", "" }, lines_of(text))
  chat.text:add("you:" .. vim.uv.hrtime(), "text", lines, { blank = true })
end

---@param chat assent.Chat
---@param key string
---@param kind "text"|"thinking"
---@param text string
local function stream(chat, key, kind, text)
  answer_heading(chat)
  local prefix = kind == "thinking" and transcript.THINKING or ""
  if not chat.text.entries[key] then
    chat.shown[key] = true
    chat.text:add(key, kind, { prefix }, { blank = true })
  end
  chat.text:append(key, (text:gsub("\r\n?", "\n")), prefix)
end

---@param chat assent.Chat
---@param text string
local function note(chat, text)
  chat.text:add("note:" .. vim.uv.hrtime(), "note", lines_of(text), { blank = true })
end

---@param chat assent.Chat
---@param id string
---@param tool string
---@param title string
local function show_tool(chat, id, tool, title)
  if chat.text.entries[id] then
    return
  end
  answer_heading(chat)
  local words = title ~= "" and title ~= tool and ("`%s` %s"):format(tool, lines_of(title)[1]) or ("`%s`"):format(tool)
  chat.text:add(id, "tool", { "- " .. words }, { blank = true })
  chat.text:state(id, "…", "Comment")
end

---@type table<string, fun(chat: assent.Chat, event: table, session: assent.Session)>
local draw = {
  turnStarted = function(chat, event)
    show_prompt(chat, text_of(event.prompt))
  end,
  textDelta = function(chat, event)
    stream(chat, event.blockId, "text", event.text)
  end,
  thinkingDelta = function(chat, event)
    stream(chat, event.blockId, "thinking", event.text)
  end,
  toolPreparing = function(chat, event)
    show_tool(chat, event.toolUseId, event.tool, "")
  end,
  toolStarted = function(chat, event)
    chat.text:remove(event.toolUseId)
    show_tool(chat, event.toolUseId, event.tool, event.title or "")
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
    local summary = lines_of(event.summary or "")[1] or ""
    if event.isError then
      chat.text:state(id, "✗ " .. summary, "DiagnosticError")
    else
      chat.text:state(id, "✓ " .. summary, "DiagnosticOk")
    end
    local output = text_of(event.content)
    if output ~= "" then
      local shown = {}
      for _, line in ipairs(lines_of(output)) do
        if #shown >= MOST_DETAIL then
          table.insert(shown, transcript.DETAIL .. "…")
          break
        end
        table.insert(shown, transcript.DETAIL .. line)
      end
      chat.text:extend(id, shown)
    end
  end,
  toolSummary = function(chat, event)
    note(chat, "*" .. event.text .. "*")
  end,
  message = function(chat, event)
    M.show_message(chat, event)
  end,
  tombstone = function(chat, event)
    for _, list in ipairs({ event.messageIds or {}, event.blockIds or {} }) do
      for _, id in ipairs(list) do
        chat.text:remove(id)
        chat.shown[id] = nil
      end
    end
  end,
  compacted = function(chat, event)
    note(
      chat,
      ("*The conversation was summarised: %d → %d tokens. Nothing above is lost.*"):format(
        event.tokensBefore,
        event.tokensAfter
      )
    )
  end,
  permissionPending = function(chat, event)
    chat.text:add(event.askId, "note", { "*Waiting for your answer: `:Assent answer`*" }, { blank = true })
  end,
  permissionResolved = function(chat, event)
    chat.text:remove(event.askId)
  end,
  elicitationPending = function(chat, event)
    chat.text:add(event.elicitId, "note", { "*A question for you*" }, { blank = true })
  end,
  elicitationResolved = function(chat, event)
    chat.text:remove(event.elicitId)
  end,
  planProposed = function(chat, event)
    note(chat, "### Plan\n\n" .. event.plan)
  end,
  todos = function(chat, event)
    local lines = {}
    for _, item in ipairs(event.items) do
      local box = item.status == "completed" and "[x]" or item.status == "in_progress" and "[-]" or "[ ]"
      table.insert(lines, ("- %s %s"):format(box, (item.content:gsub("\n", " "))))
    end
    chat.text:remove("todos")
    if #lines > 0 then
      chat.text:add("todos", "note", lines, { blank = true })
    end
  end,
  queued = function(chat)
    note(chat, "*Queued: sent when this turn is done.*")
  end,
  retrying = function(chat, event)
    note(chat, ("*Retry %d of %d in %.0f s*"):format(event.attempt, event.maxAttempts, event.delayMs / 1000))
  end,
  notice = function(chat, event)
    note(chat, ("*%s: %s*"):format(event.level, event.text))
  end,
  turnFinished = function(chat, event)
    local result = event.result
    if result.isError then
      note(chat, ("**Stopped (%s)** %s"):format(result.terminal, result.result or ""))
    end
    chat.answering = false
  end,
}

--- A whole message: on resume, or when no partials came for it.
---@param chat assent.Chat
---@param message table
function M.show_message(chat, message)
  local meta = message.meta
  if meta == true or type(meta) == "table" and not vim.tbl_isempty(meta) or chat.shown[message.id] then
    return
  end
  if message.role == "user" then
    local text = text_of(vim.tbl_filter(function(block)
      return block.type ~= "tool_result"
    end, message.content))
    if text ~= "" and message.replay then
      show_prompt(chat, text)
    end
    for _, block in ipairs(message.content) do
      if block.type == "tool_result" and message.replay then
        draw.toolFinished(chat, {
          toolUseId = block.tool_use_id,
          isError = block.is_error,
          summary = "",
          content = block.content,
        }, nil)
      end
    end
    return
  end
  for index, block in ipairs(message.content) do
    local key = ("%s:%d"):format(message.id, index)
    if block.type == "text" then
      stream(chat, key, "text", block.text)
    elseif block.type == "thinking" then
      stream(chat, key, "thinking", block.thinking)
    elseif block.type == "tool_use" and message.replay then
      local input = block.input or {}
      show_tool(chat, block.id, block.name, input.file_path or input.command or input.pattern or "")
    end
  end
  chat.shown[message.id] = true
end

session_store.listen("chat", function(session, event)
  if not session then
    for _, chat in pairs(chats) do
      note(chat, "*The server is gone. Send again, or `:Assent chat`, to go on.*")
    end
    return
  end
  local chat = chats[session.id]
  if chat and draw[event.type] then
    draw[event.type](chat, event, session)
  end
end)

-- Windows -----------------------------------------------------------------------------------------------------------

---@param id string
---@return assent.Chat
local function make(id)
  local chat = chats[id]
  if chat and vim.api.nvim_buf_is_valid(chat.bufnr) and vim.api.nvim_buf_is_valid(chat.prompt) then
    return chat
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, "assent://chat/" .. id)
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].filetype = "markdown"
  vim.bo[bufnr].modifiable = false
  vim.b[bufnr].assent_session = id
  local prompt = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(prompt, "assent://prompt/" .. id)
  vim.bo[prompt].bufhidden = "hide"
  vim.bo[prompt].filetype = "assent_prompt"
  vim.bo[prompt].omnifunc = "v:lua.require'assent.chat'.omnifunc"
  vim.b[prompt].assent_session = id
  chat = {
    id = id,
    bufnr = bufnr,
    prompt = prompt,
    text = transcript.new(bufnr),
    tools = {},
    shown = {},
    answering = false,
  }
  chats[id] = chat
  M.map(chat)
  return chat
end

---@param chat assent.Chat
function M.map(chat)
  local keys = config.get().keys
  local map = function(mode, key, bufnr, action, description)
    if key then
      vim.keymap.set(mode, key, action, { buffer = bufnr, desc = "Assent: " .. description, nowait = true })
    end
  end
  local send = function()
    M.submit(chat)
  end
  local stop = function()
    session_store.interrupt(session_store.get(chat.id))
  end
  map("n", keys.send, chat.prompt, send, "send")
  map("i", keys.send_insert, chat.prompt, send, "send")
  for _, bufnr in ipairs({ chat.bufnr, chat.prompt }) do
    map("n", keys.stop, bufnr, stop, "stop the turn")
    map("n", keys.close, bufnr, function()
      M.close(chat)
    end, "close the chat")
  end
  map("n", keys.open_reference, chat.bufnr, M.open_reference, "open the reference under the cursor")
  for _, key in ipairs({ "@", "/" }) do
    vim.keymap.set("i", key, function()
      local command = vim.fn.line(".") == 1 and vim.fn.col(".") == 1
      return (key == "@" or command) and key .. "<C-x><C-o>" or key
    end, { buffer = chat.prompt, expr = true, desc = "Assent: complete" })
  end
end

---@param chat assent.Chat
---@return integer? window
local function window_of(chat)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(window) == chat.bufnr then
      return window
    end
  end
end

---@param window integer
local function dress(window)
  local options = vim.wo[window]
  options.wrap = true
  options.linebreak = true
  options.number = false
  options.relativenumber = false
  options.signcolumn = "no"
  options.foldmethod = "expr"
  options.foldexpr = "v:lua.require'assent.transcript'.fold(v:lnum)"
  options.foldtext = "v:lua.require'assent.transcript'.foldtext()"
  options.foldlevel = 0
  options.foldenable = true
  options.conceallevel = 2
  options.winbar = "%{%v:lua.require'assent'.winbar()%}"
  options.winfixwidth = true
end

---@param chat assent.Chat
local function open_windows(chat)
  local chat_config = config.get().chat
  local layout = chat_config.layout
  local columns, rows = vim.o.columns, vim.o.lines
  local window
  if layout == "float" then
    local width, height = math.floor(columns * 0.8), math.floor(rows * 0.8)
    window = vim.api.nvim_open_win(chat.bufnr, true, {
      relative = "editor",
      width = width,
      height = height - chat_config.prompt_height - 2,
      row = math.floor((rows - height) / 2),
      col = math.floor((columns - width) / 2),
      border = "rounded",
    })
    local prompt = vim.api.nvim_open_win(chat.prompt, true, {
      relative = "editor",
      width = width,
      height = chat_config.prompt_height,
      row = math.floor((rows - height) / 2) + height - chat_config.prompt_height,
      col = math.floor((columns - width) / 2),
      border = "rounded",
    })
    dress(window)
    return window, prompt
  end
  if layout == "tab" then
    vim.cmd.tabnew()
  elseif layout == "bottom" then
    vim.cmd(("botright %dsplit"):format(math.floor(rows * chat_config.size)))
  else
    local side = layout == "left" and "topleft" or "botright"
    vim.cmd(("%s %dvsplit"):format(side, math.floor(columns * chat_config.size)))
  end
  window = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(window, chat.bufnr)
  dress(window)
  vim.cmd(("belowright %dsplit"):format(chat_config.prompt_height))
  local prompt = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(prompt, chat.prompt)
  vim.wo[prompt].winfixheight = true
  vim.wo[prompt].number = false
  vim.wo[prompt].relativenumber = false
  vim.wo[prompt].signcolumn = "no"
  vim.wo[prompt].foldenable = false
  vim.wo[prompt].wrap = true
  vim.wo[prompt].winbar = "%#Comment# %{%v:lua.require'assent'.prompt_hint()%}"
  return window, prompt
end

--- Show the chat of a session and put the cursor into its prompt.
---@param session assent.Session
---@return assent.Chat
function M.open(session)
  local chat = make(session.id)
  session_store.current = session.id
  local window = window_of(chat)
  local prompt
  if window then
    for _, each in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
      if vim.api.nvim_win_get_buf(each) == chat.prompt then
        prompt = each
      end
    end
  end
  if not prompt then
    if window then
      vim.api.nvim_win_close(window, true)
    end
    _, prompt = open_windows(chat)
  end
  vim.api.nvim_set_current_win(prompt)
  return chat
end

---@param chat assent.Chat
function M.close(chat)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local bufnr = vim.api.nvim_win_get_buf(window)
    if (bufnr == chat.bufnr or bufnr == chat.prompt) and #vim.api.nvim_list_wins() > 1 then
      vim.api.nvim_win_close(window, true)
    end
  end
end

--- The chat of the current session, of a new one, or of the one named.
---@param options { id: string?, new: boolean? }?
---@param callback fun(chat: assent.Chat)?
function M.start(options, callback)
  options = options or {}
  local done = function(session)
    if not session then
      return
    end
    local chat = M.open(session)
    if callback then
      callback(chat)
    end
  end
  local id = options.id or (not options.new and session_store.current) or nil
  if not id then
    return session_store.new(nil, done)
  end
  local known = session_store.sessions[id]
  if known and known.connected and chats[id] and client.running() then
    return done(known)
  end
  session_store.attach(id, function(session, answer)
    if not session or not answer then
      return
    end
    local chat = M.open(session)
    if answer.reset or #answer.messages > 0 then
      M.replay(chat, answer)
    end
    require("assent.review").load(answer.proposals or {})
    if callback then
      callback(chat)
    end
  end)
end

--- Draw the history that an attach gave.
---@param chat assent.Chat
---@param answer table
function M.replay(chat, answer)
  chat.text:clear()
  chat.shown, chat.answering = {}, false
  for _, message in ipairs(answer.messages) do
    M.show_message(chat, vim.tbl_extend("force", message, { replay = true }))
  end
  if answer.interrupted then
    note(chat, "*The last turn was cut short. `:Assent retry` sends it again.*")
  end
end

--- Send what stands in the prompt.
---@param chat assent.Chat
function M.submit(chat)
  local text = vim.trim(table.concat(vim.api.nvim_buf_get_lines(chat.prompt, 0, -1, false), "\n"))
  if text == "" then
    return
  end
  vim.cmd.stopinsert()
  vim.api.nvim_buf_set_lines(chat.prompt, 0, -1, false, { "" })
  local session = session_store.get(chat.id)
  local send = function()
    local busy = session.state ~= "idle"
    session_store.send(session, text, { whenBusy = busy and "steer" or nil }, function(err)
      if err then
        vim.api.nvim_buf_set_lines(chat.prompt, 0, -1, false, vim.split(text, "\n", { plain = true }))
      end
    end)
  end
  if session.connected and client.running() then
    return send()
  end
  session_store.attach(chat.id, function(attached, answer)
    if attached and answer then
      if answer.reset then
        M.replay(chat, answer)
      end
      send()
    end
  end)
end

--- `file.lua:12` or a path under the cursor, in the window the chat was opened from.
function M.open_reference()
  local word = vim.fn.expand("<cWORD>"):gsub("[`'\"%(%),]", "")
  local path, line = word:match("^(.-):(%d+)")
  path = path or word
  local full = vim.fn.fnamemodify(path, ":p")
  if vim.fn.filereadable(full) == 0 then
    return client.notify("there is no file " .. path)
  end
  vim.cmd.wincmd("p")
  vim.cmd.edit(vim.fn.fnameescape(full))
  if line then
    pcall(vim.api.nvim_win_set_cursor, 0, { tonumber(line), 0 })
  end
end

--- Completion of @files and /commands in the prompt, answered by the server.
---@param findstart integer
---@param base string
function M.omnifunc(findstart, base)
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  if findstart == 1 then
    local before = lines[row]:sub(1, column)
    local start = before:find("[@/][^%s]*$")
    return start and start - 1 or -3
  end
  local running = client.running()
  if not running then
    return {}
  end
  local before = vim.list_slice(lines, 1, row - 1)
  table.insert(before, lines[row]:sub(1, column) .. base)
  local text = table.concat(before, "\n")
  local params = { sessionId = vim.b.assent_session, text = text, offset = vim.str_utfindex(text, #text) }
  local answer
  if vim.fn.has("nvim-0.11") == 1 then
    answer = running:request_sync(protocol.requests.complete, params, 1000, 0)
  else
    answer = running.request_sync(protocol.requests.complete, params, 1000, 0)
  end
  local items = {}
  for _, item in ipairs(answer and answer.result and answer.result.items or {}) do
    table.insert(items, { word = item.insertText, abbr = item.label, menu = item.detail or "" })
  end
  return items
end

return M
