--- What the agent offers to do at a place, for the time before its server runs: a language client without a process, so
--- that code actions are there from the first file on, in every picker. The first one taken starts the server, which
--- then offers them itself. Loads nothing but this file.
local M = {}

M.NAME = "assent-actions"

--- As the server offers them (server/assent/lsp/action_prompts.py); a test compares the two.
M.ACTIONS = {
  { name = "fix", title = "Fix: ", kind = "quickfix" },
  { name = "explain", title = "Explain", kind = "refactor" },
  { name = "refactor", title = "Refactor…", kind = "refactor.rewrite" },
  { name = "tests", title = "Write tests", kind = "refactor" },
  { name = "document", title = "Document", kind = "refactor.rewrite" },
  { name = "ask", title = "Ask about selection", kind = "refactor" },
}

local MOST_FIXES = 5

---@param title string
---@param kind string
---@param data table
---@return lsp.CodeAction
local function action(title, kind, data)
  title = "Assent: " .. title
  return { title = title, kind = kind, command = { title = title, command = "assent.ask", arguments = { data } } }
end

---@param kind string
---@param only string[]?
---@return boolean
local function wanted(kind, only)
  if not only then
    return true
  end
  for _, wish in ipairs(only) do
    if wish == "" or wish == kind or vim.startswith(kind, wish .. ".") then
      return true
    end
  end
  return false
end

---@return boolean whether the server runs, which offers them itself
local function served()
  local loaded = package.loaded["assent.client"]
  return loaded ~= nil and loaded.running() ~= nil
end

---@param params lsp.CodeActionParams
---@return lsp.CodeAction[]
local function offered(params)
  local uri, range, found = params.textDocument.uri, params.range, {}
  if served() then
    return found -- the server itself is asked, too
  end
  local only = params.context and params.context.only
  local bufnr = vim.uri_to_bufnr(uri)
  for _, each in ipairs(M.ACTIONS) do
    if each.name == "fix" then
      for index, problem in ipairs(require("assent.diagnostics").on_lines(bufnr, range)) do
        if index <= MOST_FIXES and wanted(each.kind, only) then
          local data = { action = "fix", uri = uri, range = problem.range, problem = problem }
          local fix = action(each.title .. vim.split(problem.message, "\n")[1]:sub(1, 80), each.kind, data)
          table.insert(found, vim.tbl_extend("force", fix, { diagnostics = { problem } }))
        end
      end
    elseif wanted(each.kind, only) then
      table.insert(found, action(each.title, each.kind, { action = each.name, uri = uri, range = range }))
    end
  end
  return found
end

--- The side of the wire where a server would be.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@return vim.lsp.rpc.PublicClient
local function answering(dispatchers)
  local closing, count = false, 0
  local answers = {
    initialize = function()
      return { capabilities = { codeActionProvider = true, positionEncoding = "utf-16" } }
    end,
    ["textDocument/codeAction"] = offered,
  }
  return {
    request = function(method, params, callback)
      count = count + 1
      vim.schedule(function()
        callback(nil, answers[method] and answers[method](params) or vim.NIL)
      end)
      return true, count
    end,
    notify = function(method)
      if method == "exit" then
        closing = true
        dispatchers.on_exit(0, 0)
      end
      return true
    end,
    is_closing = function()
      return closing
    end,
    terminate = function()
      closing = true
      dispatchers.on_exit(0, 0)
    end,
  }
end

--- The server offers them now: every key in a file would still be told to a client that has nothing to say.
function M.rest()
  for _, client in ipairs(vim.lsp.get_clients({ name = M.NAME })) do
    for bufnr in pairs(vim.deepcopy(client.attached_buffers)) do
      vim.lsp.buf_detach_client(bufnr, client.id)
    end
  end
end

--- The server is gone: offer them again in every file that is open.
function M.resume()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    M.attach(bufnr)
  end
end

--- Offer them in a buffer that shows a file.
---@param bufnr integer
function M.attach(bufnr)
  if served() or not vim.api.nvim_buf_is_valid(bufnr) then
    return
  elseif not vim.api.nvim_buf_is_loaded(bufnr) or vim.bo[bufnr].buftype ~= "" then
    return
  elseif vim.api.nvim_buf_get_name(bufnr) == "" then
    return
  end
  local own = vim.g.assent
  if type(own) == "table" and own.attach == false then
    return
  end
  vim.lsp.start({
    name = M.NAME,
    cmd = answering,
    offset_encoding = "utf-16",
    flags = { debounce_text_changes = 0 }, -- it hears of no change, and needs no timer for each key
    commands = {
      ["assent.ask"] = function(command)
        require("assent.actions").run(command.arguments[1])
      end,
    },
    reuse_client = function(client)
      return client.name == M.NAME
    end,
  }, {
    bufnr = bufnr,
    reuse_client = function(client)
      return client.name == M.NAME
    end,
  })
end

return M
