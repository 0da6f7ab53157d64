--- What is known of each session, and who wants to hear of it. Events come in order; nothing here draws.
local client = require("assent.client")
local config = require("assent.config")
local notice = require("assent.notice")
local protocol = require("assent.protocol")

local M = {}

---@class assent.Session
---@field id string
---@field state "idle"|"running"|"waiting"|"compacting"
---@field model string
---@field mode string
---@field seq integer the last event seen
---@field epoch string?
---@field todos table[]
---@field usage table?
---@field activity string what is happening, in a few words
---@field connected boolean
---@field read_only boolean? another process owns it
---@field cwd string where its relative paths begin

---@type table<string, assent.Session>
M.sessions = {}
---@type string? the session the last command or chat used
M.current = nil
---@type table? the last assent/status
M.status = nil
---@type table<string, fun(session: assent.Session, event: table, params: table)>
local listeners = {}
---@type table<string, boolean> warnings the user has seen
local warned = {}
local PAUSE = 150 -- ms

---@param name string
---@param callback fun(session: assent.Session, event: table, params: table)
function M.listen(name, callback)
  listeners[name] = callback
end

--- Load something again soon after an event that changes it: events come in crowds, and one load serves them all.
---@param name string
---@param changes fun(event: table, params: table, session: assent.Session): boolean
---@param load fun()
function M.follow(name, changes, load)
  local waiting = false
  M.listen(name, function(session, event, params)
    if waiting or not event or not params or not changes(event, params, session) then
      return
    end
    waiting = true
    vim.defer_fn(function()
      waiting = false
      load()
    end, PAUSE)
  end)
end

---@param id string
---@return assent.Session
function M.get(id)
  local session = M.sessions[id]
  if not session then
    session = { id = id, state = "idle", model = "", mode = "", seq = 0, todos = {}, activity = "", connected = true }
    session.cwd = vim.fn.getcwd()
    M.sessions[id] = session
  end
  return session
end

local function fire(name, session, data)
  pcall(vim.api.nvim_exec_autocmds, "User", {
    pattern = "Assent" .. name,
    modeline = false,
    data = vim.tbl_extend("force", { sessionId = session.id }, data or {}),
  })
end

---@type table<string, fun(session: assent.Session, event: table)>
local apply = {
  turnStarted = function(session, event)
    session.model = event.model or session.model
    session.mode = event.permissionMode or session.mode
    session.activity = "thinking"
    fire("TurnStarted", session)
  end,
  status = function(session, event)
    if session.state ~= event.state then
      session.state = event.state
      fire("Status", session, { state = event.state })
    end
    session.mode, session.model = event.mode or session.mode, event.model or session.model
    if event.state == "idle" then
      session.activity = ""
    end
  end,
  textDelta = function(session)
    session.activity = "writing"
  end,
  thinkingDelta = function(session)
    session.activity = "thinking"
  end,
  toolPreparing = function(session, event)
    session.activity = event.tool
  end,
  toolStarted = function(session, event)
    session.activity = event.title ~= "" and event.title or event.tool
    fire("ToolStarted", session, { toolUseId = event.toolUseId, tool = event.tool, title = event.title })
  end,
  toolFinished = function(session, event)
    fire("ToolFinished", session, { toolUseId = event.toolUseId, isError = event.isError, summary = event.summary })
  end,
  permissionResolved = function(session, event)
    fire("AskResolved", session, { askId = event.askId, decision = event.decision })
  end,
  elicitationResolved = function(session, event)
    fire("AskResolved", session, { elicitId = event.elicitId })
  end,
  editResolved = function(session, event)
    fire("EditResolved", session, { proposal = event.proposal })
  end,
  compacting = function(session)
    session.activity = "making room"
  end,
  retrying = function(session, event)
    session.activity = ("retry %d of %d in %.0f s"):format(event.attempt, event.maxAttempts, event.delayMs / 1000)
  end,
  todos = function(session, event)
    session.todos = event.items
  end,
  usage = function(session, event)
    session.usage = event
  end,
  mcpChanged = function()
    if package.loaded["assent.view"] then
      require("assent.view").changed("mcp")
    end
  end,
  permissionPending = function(session, event)
    fire("AskPending", session, { askId = event.askId })
  end,
  elicitationPending = function(session, event)
    fire("AskPending", session, { elicitId = event.elicitId })
  end,
  editProposed = function(session, event)
    fire("EditProposed", session, { proposal = event.proposal })
  end,
  turnFinished = function(session, event)
    session.activity = ""
    fire("TurnFinished", session, { result = event.result })
    if config.get().notify and not require("assent").visible() then
      local failed = event.result.isError
      local said = vim.trim(tostring(event.result.result or "")):match("[^\n]*")
      notice.tell((failed and "stopped: " or "done: ") .. said, failed and vim.log.levels.WARN or nil)
    end
  end,
}

local held ---@type table[]? events that came while no text may be changed, in their order
local holders = 0

--- Events wait from now on: Neovim refuses changes of text inside a completion function.
function M.hold()
  holders = holders + 1
  held = held or {}
end

--- They are applied as soon as Neovim is back from what held them.
function M.release()
  holders = holders - 1
  vim.schedule(function()
    if holders > 0 or not held then
      return
    end
    local late = held
    held = nil
    for _, params in ipairs(late) do
      M.event(params)
    end
  end)
end

--- `assent/session/event`.
---@param params table
function M.event(params)
  if held then
    return table.insert(held, params)
  end
  local session = M.get(params.sessionId)
  session.connected = true
  session.seq = params.seq
  local event = params.event
  if apply[event.type] then
    apply[event.type](session, event)
  end
  for name, callback in pairs(listeners) do
    local ok, problem = pcall(callback, session, event, params)
    if not ok then
      notice.tell(("%s could not show %s: %s"):format(name, event.type, problem), vim.log.levels.ERROR)
    end
  end
  if event.type == "status" or event.type == "usage" or event.type == "toolStarted" or event.type == "turnFinished" then
    vim.cmd.redrawstatus({ bang = true })
  end
end

---@param params table
function M.server_status(params)
  M.status = params
  for _, warning in ipairs(params.warnings or {}) do
    local text = warning.text .. ((warning.hint and warning.hint ~= "") and (" — " .. warning.hint) or "")
    if not warned[text] then
      warned[text] = true
      notice.tell(text, vim.log.levels.WARN)
    end
  end
  vim.cmd.redrawstatus({ bang = true })
end

---@type fun(session: assent.Session?)[]? those who wait for the first session, while it is being made
local waiting

--- The server is gone: what we know stays on the screen, and is taken up again with the next attach.
function M.disconnected()
  waiting = nil -- its answer never comes
  for _, session in pairs(M.sessions) do
    session.connected = false
    session.state = "idle"
    session.activity = "disconnected"
  end
  for _, callback in pairs(listeners) do
    pcall(callback, nil, { type = "disconnected" }, {})
  end
  vim.cmd.redrawstatus({ bang = true })
end

--- The server is back: whoever shows a session takes it up again.
function M.reconnect()
  for _, callback in pairs(listeners) do
    pcall(callback, nil, { type = "reconnected" }, {})
  end
end

--- A new session in the current project.
---@param options table?
---@param callback fun(session: assent.Session?)
function M.new(options, callback)
  local params = vim.tbl_extend("force", { cwd = client.root() }, options or {})
  client.request(protocol.requests.session_new, params, function(err, result)
    if err then
      notice.report(err)
      return callback(nil)
    end
    local session = M.get(result.sessionId)
    session.model, session.mode, session.cwd = result.model, result.mode, params.cwd
    M.current = session.id
    callback(session)
  end)
end

--- The first session: made once, however many want it before the server has answered.
---@param callback fun(session: assent.Session?)
function M.first(callback)
  if waiting then
    return table.insert(waiting, callback)
  end
  waiting = { callback }
  M.new(nil, function(session)
    local callbacks = waiting or {}
    waiting = nil
    for _, each in ipairs(callbacks) do
      each(session)
    end
  end)
end

--- Attach to a session: live from here, or again after the server was gone. The callback gets the server's answer.
---@param id string
---@param callback fun(session: assent.Session?, answer: table?)
---@param options { afresh: boolean?, read: boolean? }? afresh: all messages; read: also while another process owns it
function M.attach(id, callback, options)
  local session = M.get(id)
  local params = { sessionId = id, readOnly = options and options.read }
  if session.epoch and session.seq > 0 and not (options and options.afresh) then
    params.epoch, params.afterSeq = session.epoch, session.seq
  end
  client.request(protocol.requests.session_attach, params, function(err, answer)
    if err then
      if err.data and err.data.kind == "ownedElsewhere" then
        require("assent.conversations").elsewhere(id, err)
      else
        notice.report(err)
      end
      return callback(nil, nil)
    end
    session.connected, session.read_only = true, answer.readOnly == true
    session.epoch, session.model, session.mode = answer.epoch, answer.model, answer.mode
    session.todos, session.cwd = answer.todos or {}, answer.cwd or session.cwd
    session.state = answer.state or (answer.running and "running" or "idle")
    session.usage = answer.usage or session.usage
    session.activity = ""
    if answer.reset then
      session.seq = answer.lastSeq
    end
    M.current = id
    callback(session, answer)
  end)
end

--- A page of a session's messages: the newest, or the one before.
---@param id string
---@param cursor string?
---@param callback fun(page: table?)
function M.page(id, cursor, callback)
  client.request(protocol.requests.session_attach, { sessionId = id, cursor = cursor }, function(err, page)
    if err then
      notice.report(err)
    end
    callback(page)
  end)
end

--- Whether a session can be sent something right now.
---@param session assent.Session
---@return boolean
function M.ready(session)
  return session.connected and not session.read_only and client.running() ~= nil
end

--- The session to act in: the given one, the current one, or a new one.
---@param callback fun(session: assent.Session?)
function M.some(callback)
  local session = M.current and M.sessions[M.current] or nil
  if not session then
    return M.first(callback)
  end
  if M.ready(session) then
    return callback(session)
  end
  M.attach(session.id, callback)
end

---@param session assent.Session
---@param prompt string|table[]
---@param options table?
---@param callback fun(err: table?, result: table?)?
function M.send(session, prompt, options, callback)
  local params = vim.tbl_extend("force", { sessionId = session.id, prompt = prompt }, options or {})
  client.request(protocol.requests.session_send, params, function(err, result)
    if err then
      notice.report(err)
    end
    if callback then
      callback(err, result)
    end
  end)
end

--- Play a turn again that a crash cut short.
---@param session assent.Session
function M.retry(session)
  client.request(protocol.requests.session_retry, { sessionId = session.id })
end

--- Stop the turn, and take back what waited for it to end.
---@param session assent.Session
---@param give_back fun(prompts: (string|table[])[])
function M.interrupt(session, give_back)
  client.request(protocol.requests.session_interrupt, { sessionId = session.id }, function(err, result)
    if err then
      return notice.report(err)
    end
    local prompts, left = {}, #(result.queued or {})
    if not result.interrupted and left == 0 then
      notice.tell("nothing is running")
    end
    for index, id in ipairs(result.queued or {}) do
      local params = { sessionId = session.id, clientMessageId = id }
      client.request(protocol.requests.session_unqueue, params, function(failed, answer)
        prompts[index] = not failed and answer.prompt or ""
        left = left - 1
        if left == 0 then
          give_back(vim.tbl_filter(function(prompt)
            return prompt ~= ""
          end, prompts))
        end
      end)
    end
  end)
end

return M
