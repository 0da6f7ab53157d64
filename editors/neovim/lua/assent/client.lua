--- The connection to the server: one language client, started on first use, and what happens when it ends.
--- Knows how to start and how to ask. What comes from the server is for `handlers`, which buffers it sees for
--- `documents`.
local config = require("assent.config")
local notice = require("assent.notice")
local programs = require("assent.programs")

local M = {}

local CRASH_LIMIT, CRASH_WINDOW = 3, 60000

---@type integer? the running client
local client_id
---@type (fun(client: vim.lsp.Client?))[] who waits for the server to be ready
local waiting = {}
local starting = false
---@type integer[] when the server ended by itself, in milliseconds
local crashes = {}
---@type fun()? the server was told to stop; what comes then
local stopping
---@type table<integer, boolean> clients whose server answered
local answered = {}
--- Whether the last server ended before it answered. Only the user's own command tries again then.
local hopeless = false

--- Whether methods of a client are called with a colon; before 0.11 they were plain functions.
local MODERN = vim.fn.has("nvim-0.11") == 1

--- Call a method of a client, whichever way this Neovim wants it.
---@param client vim.lsp.Client
---@param name string
---@param ... any
function M.call(client, name, ...)
  if MODERN then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- The client, also one that `vim.lsp.enable("assent")` started and that is not ready yet.
---@return vim.lsp.Client?
local function existing()
  local client = client_id and vim.lsp.get_client_by_id(client_id) or nil
  if not client then
    client = vim.lsp.get_clients({ name = "assent", _uninitialized = true })[1]
  end
  if client and M.call(client, "is_stopped") then
    return nil
  end
  return client
end

---@return vim.lsp.Client?
function M.running()
  local client = existing()
  return client and client.initialized and client or nil
end

---@return string
function M.root()
  local name = vim.api.nvim_buf_get_name(0)
  local from = (vim.bo.buftype == "" and name ~= "") and vim.fs.dirname(name) or vim.fn.getcwd()
  local found = vim.fs.find(config.get().root_markers, { path = from, upward = true })[1]
  return found and vim.fs.dirname(found) or vim.fn.getcwd()
end

--- The server's command line with its program by its full path; nil when no program outside the project is found.
---@return string[]?
function M.command()
  local command = vim.deepcopy(config.get().cmd)
  local program = programs.find(command[1], { M.root(), vim.fn.getcwd() })
  if not program then
    return nil
  end
  command[1] = program
  return command
end

--- The client's configuration, for `vim.lsp.start` and for `vim.lsp.enable("assent")`.
---@return vim.lsp.ClientConfig
function M.config()
  local own = config.get()
  local ended = { 0, 0 }
  return {
    name = "assent",
    -- Neovim would tell of the exit code, too, and send the user to a log that says nothing: we tell what to do.
    cmd = function(dispatchers, full)
      local extra = { cwd = programs.NEUTRAL, env = programs.environment() }
      if full then
        extra = {
          cwd = full.cmd_cwd or programs.NEUTRAL,
          env = programs.environment(full.cmd_env),
          detached = full.detached,
        }
      end
      local watched = vim.tbl_extend("force", dispatchers, {
        on_exit = function(code, signal)
          ended = { code, signal }
          dispatchers.on_exit(0, 0)
        end,
      })
      local rpc = vim.lsp.rpc.start(assert(M.command(), own.cmd[1] .. " was not found"), watched, extra)
      local request = rpc.request
      rpc.request = function(method, params, ...)
        if method == "textDocument/codeAction" then
          params = require("assent.actions").with_problems(params)
        end
        return request(method, params, ...)
      end
      return rpc
    end,
    commands = {
      ["assent.ask"] = function(command)
        require("assent.actions").run(command.arguments[1])
      end,
    },
    root_markers = own.root_markers,
    capabilities = vim.lsp.protocol.make_client_capabilities(),
    handlers = require("assent.handlers").all(),
    -- One server for every project: its sessions each have a folder of their own.
    reuse_client = function(client)
      return client.name == "assent"
    end,
    init_options = {
      assent = {
        client = {
          permissions = true,
          elicitation = true,
          review = true,
          editorQueries = true,
          save = true,
          partials = true,
          editMoved = true,
          missed = true,
        },
        -- Text that streams in is drawn this often a second: as smooth to read, and half the work beside typing.
        maxEventRate = 30,
        settings = vim.tbl_isempty(own.settings) and vim.empty_dict() or own.settings,
        settingsLevel = "user",
        trusted = own.trusted,
      },
    },
    on_init = function(client)
      client_id = client.id
      answered[client.id], hopeless = true, false
      M.ready(client)
    end,
    on_exit = function(_, _, id)
      vim.schedule(function()
        M.exited(ended[1], ended[2], id)
      end)
    end,
  }
end

--- Why no server can be started now, in words and with what to do about it.
---@return string?
local function obstacle()
  local problem = config.problem()
  if problem then
    return problem
  end
  local program = config.get().cmd[1]
  if not M.command() then
    return program
      .. " was not found. Install Assent, or set vim.g.assent = { cmd = { '/path/to/assent', 'serve', '--stdio' } }"
  end
  if #crashes >= CRASH_LIMIT then
    return "the server ended three times within a minute and is left alone now. "
      .. ":Assent log shows why; :Assent restart tries again"
  end
end

---@type string? the last obstacle that opening a file told of
local told

--- For `vim.lsp.enable("assent")`: whether a server goes with this file, and where its project is. What stands in the
--- way is told once, not with every file.
---@param bufnr integer
---@param go fun(root: string)
function M.root_dir(bufnr, go)
  local problem = obstacle()
  if problem and problem ~= told then
    notice.tell(problem, vim.log.levels.ERROR)
  end
  told = problem
  if not problem and not hopeless then
    go(vim.api.nvim_buf_call(bufnr, M.root))
  end
end

--- Call back with a ready client, starting the server if need be; with nil when it cannot be started.
---@param callback fun(client: vim.lsp.Client?)
function M.ensure(callback)
  local client = existing()
  if client and client.initialized then
    return callback(client)
  end
  table.insert(waiting, callback)
  if starting or client then
    return
  end
  local problem = obstacle()
  if problem then
    notice.tell(problem, vim.log.levels.ERROR)
    return M.settle(nil)
  end
  starting = true
  local root = M.root()
  local full = vim.tbl_extend("force", M.config(), {
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fs.basename(root) } },
  })
  if MODERN then
    client_id = vim.lsp.start(full, { attach = false })
  else
    client_id = vim.lsp.start_client(full)
  end
  if not client_id then
    starting = false
    notice.tell("the server could not be started. :checkhealth assent says more", vim.log.levels.ERROR)
    M.settle(nil)
  end
end

---@param client vim.lsp.Client?
function M.settle(client)
  starting = false
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(client)
  end
end

---@param client vim.lsp.Client
function M.ready(client)
  vim.schedule(function()
    require("assent.review") -- hears of edits from the first event on
    if config.get().attach then
      require("assent.documents").attach_all()
      require("assent.offers").rest()
    end
    M.settle(client)
  end)
end

---@param code integer
---@param signal integer
---@param id integer
function M.exited(code, signal, id)
  local at_once = not answered[id]
  answered[id] = nil
  if client_id and id ~= client_id then
    return
  end
  client_id = nil
  starting = false
  require("assent.session").disconnected()
  require("assent.questions").forget()
  local leaving = vim.v.exiting ~= vim.NIL
  if not leaving then
    require("assent.offers").resume()
  end
  if stopping or leaving then
    local after = stopping
    stopping = nil
    M.settle(nil)
    return after and after()
  end
  local now = vim.uv.now()
  crashes = vim.tbl_filter(function(at)
    return now - at < CRASH_WINDOW
  end, crashes)
  table.insert(crashes, now)
  if at_once then
    hopeless = true
    local how = signal ~= 0 and ("signal %d"):format(signal) or ("exit code %d"):format(code)
    local words = "the server ended at once (%s). Run `%s` in a terminal to see why, or :checkhealth assent"
    notice.tell(words:format(how, table.concat(config.get().cmd, " ")), vim.log.levels.ERROR)
  else
    notice.tell(
      "the server ended unexpectedly. Nothing is lost: :Assent chat goes on where it was.",
      vim.log.levels.WARN
    )
  end
  M.settle(nil)
end

--- Ask the server; the callback gets (error?, result?) on the main loop.
---@param method string
---@param params table
---@param callback fun(err: table?, result: any)?
---@return fun() cancel
function M.request(method, params, callback)
  local cancelled, request_id, used = false, nil, nil
  M.ensure(function(client)
    if cancelled then
      return
    end
    if not client then
      if callback then
        callback({ message = "the server is not running", quiet = true }, nil)
      end
      return
    end
    used = client
    if vim.tbl_isempty(params) then
      params = vim.empty_dict()
    end
    local done = function(err, result)
      if callback then
        callback(err, result)
      elseif err then
        notice.report(err)
      end
    end
    local _
    -- No buffer is named (0 would do nothing): what was typed and held back in any of them is sent first.
    _, request_id = M.call(client, "request", method, params, done)
  end)
  return function()
    cancelled = true
    if used and request_id then
      M.call(used, "cancel_request", request_id)
    end
  end
end

--- Stop the server and start it again; what was open goes on where it was.
function M.restart()
  crashes = {}
  local start = function()
    M.ensure(function(client)
      if client then
        require("assent.session").reconnect()
      end
    end)
  end
  local client = existing()
  if not client then
    return start()
  end
  stopping = start
  M.call(client, "stop")
end

return M
