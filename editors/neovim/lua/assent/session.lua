--- What is known of each session, and who wants to hear of it. Events come in order; nothing here draws.
local client = require("assent.client")
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

---@type table<string, assent.Session>
M.sessions = {}
---@type string? the session the last command or chat used
M.current = nil
---@type table? the last assent/status
M.status = nil
---@type table<string, fun(session: assent.Session, event: table, params: table)>
local listeners = {}

---@param name string
---@param callback fun(session: assent.Session, event: table, params: table)
function M.listen(name, callback)
  listeners[name] = callback
end

---@param id string
---@return assent.Session
function M.get(id)
  local session = M.sessions[id]
  if not session then
    session = { id = id, state = "idle", model = "", mode = "", seq = 0, todos = {}, activity = "", connected = true }
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
    session.state = event.state
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
  permissionPending = function(session)
    fire("AskPending", session)
  end,
  turnFinished = function(session, event)
    session.activity = ""
    fire("TurnFinished", session, { result = event.result })
  end,
}

--- `assent/session/event`.
---@param params table
function M.event(params)
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
      client.notify(("%s could not show %s: %s"):format(name, event.type, problem), vim.log.levels.ERROR)
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
    vim.notify_once("Assent: " .. text, vim.log.levels.WARN)
  end
  vim.cmd.redrawstatus({ bang = true })
end

--- The server is gone: what we know stays on the screen, and is taken up again with the next attach.
function M.disconnected()
  for _, session in pairs(M.sessions) do
    session.connected = false
    session.state = "idle"
    session.activity = "disconnected"
  end
  for name, callback in pairs(listeners) do
    pcall(callback, nil, { type = "disconnected" }, {})
    _ = name
  end
  vim.cmd.redrawstatus({ bang = true })
end

--- A new session in the current project.
---@param options table?
---@param callback fun(session: assent.Session?)
function M.new(options, callback)
  local params = vim.tbl_extend("force", { cwd = client.root() }, options or {})
  client.request(protocol.requests.session_new, params, function(err, result)
    if err then
      client.report(err)
      return callback(nil)
    end
    local session = M.get(result.sessionId)
    session.model, session.mode = result.model, result.mode
    M.current = session.id
    callback(session)
  end)
end

--- Attach to a session: live from here, or again after the server was gone. The callback gets the server's answer.
---@param id string
---@param callback fun(session: assent.Session?, answer: table?)
function M.attach(id, callback)
  local session = M.get(id)
  local params = { sessionId = id }
  if session.epoch and session.seq > 0 then
    params.epoch, params.afterSeq = session.epoch, session.seq
  end
  client.request(protocol.requests.session_attach, params, function(err, answer)
    if err then
      client.report(err)
      return callback(nil, nil)
    end
    session.connected = true
    session.epoch, session.model, session.mode = answer.epoch, answer.model, answer.mode
    session.todos = answer.todos or {}
    session.state = answer.running and "running" or "idle"
    session.activity = ""
    if answer.reset then
      session.seq = answer.lastSeq
    end
    M.current = id
    callback(session, answer)
  end)
end

--- The session to act in: the given one, the current one, or a new one.
---@param callback fun(session: assent.Session?)
function M.some(callback)
  local session = M.current and M.sessions[M.current] or nil
  if not session then
    return M.new(nil, callback)
  end
  if session.connected and client.running() then
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
      client.report(err)
    end
    if callback then
      callback(err, result)
    end
  end)
end

---@param session assent.Session
function M.interrupt(session)
  client.request(protocol.requests.session_interrupt, { sessionId = session.id }, function(err)
    if err then
      client.report(err)
    end
  end)
end

return M
