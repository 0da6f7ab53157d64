--- Questions to the user's own language servers, asked as the user would. Their answers go back as they are, but for
--- columns, which are counted as ours are. Nothing they propose is applied.
local async = require("assent.async")
local client = require("assent.client")
local positions = require("assent.positions")

local M = {}

local WIRE = "utf-16" -- what our server counts columns in
local MOST_RESOLVED = 20

local METHODS = {
  definition = "textDocument/definition",
  references = "textDocument/references",
  hover = "textDocument/hover",
  symbols = "textDocument/documentSymbol",
  rename = "textDocument/rename",
  codeActions = "textDocument/codeAction",
  format = "textDocument/formatting",
}
local WORKSPACE_SYMBOLS = "workspace/symbol"

---@param kind string
---@return boolean
function M.answers(kind)
  return METHODS[kind] ~= nil
end

---@param bufnr integer
---@return integer
function M.version(bufnr)
  return vim.lsp.util.buf_versions[bufnr] or 0
end

---@param filter table
---@return vim.lsp.Client[] the user's own servers
local function servers(filter)
  return vim.tbl_filter(function(each)
    return each.name ~= "assent" and each.name ~= "assent-actions"
  end, vim.lsp.get_clients(filter))
end

--- The buffer of a document. A file that is not open is opened behind the scenes, but only for a server that already
--- works on files of its kind.
---@param uri string?
---@param method string
---@return integer?
local function opened(uri, method)
  local bufnr = uri and positions.buffer_of(uri)
  if bufnr or not uri then
    return bufnr
  end
  local path = vim.uri_to_fname(uri)
  local filetype = vim.filetype.match({ filename = path })
  if not filetype or vim.fn.filereadable(path) == 0 then
    return nil
  end
  for _, server in ipairs(servers({ method = method })) do
    for attached in pairs(server.attached_buffers) do
      if vim.api.nvim_buf_is_loaded(attached) and vim.bo[attached].filetype == filetype then
        bufnr = require("assent.files").load(path)
        vim.lsp.buf_attach_client(bufnr, server.id)
        return bufnr
      end
    end
  end
end

---@param server vim.lsp.Client
---@param method string
---@param params table
---@param bufnr integer?
---@param timeout integer
---@return table? err, any result
local function ask(server, method, params, bufnr, timeout)
  local answer = async.await(function(resume)
    local done = function(err, result)
      resume({ err = err, result = result })
    end
    client.call(server, "request", method, params, done, bufnr)
    vim.defer_fn(function()
      resume({ err = { message = "no answer in time" } })
    end, timeout)
  end)
  return answer.err, answer.result
end

--- The diagnostics of language servers on some lines, as they were sent: quick fixes are for these.
---@param bufnr integer
---@param range table
---@return table[]
local function on_lines(bufnr, range)
  local list = {}
  for _, each in ipairs(vim.diagnostic.get(bufnr)) do
    local sent = each.user_data and each.user_data.lsp
    if sent and each.lnum <= range["end"].line and (each.end_lnum or each.lnum) >= range.start.line then
      table.insert(list, sent)
    end
  end
  return list
end

--- Actions whose edit the server computes only on demand get theirs now: who asks wants to see what would change.
---@param server vim.lsp.Client
---@param actions table[]
---@param bufnr integer
---@param timeout integer
---@return table[]
local function resolved(server, actions, bufnr, timeout)
  local provider = server.server_capabilities.codeActionProvider
  if type(provider) ~= "table" or not provider.resolveProvider then
    return actions
  end
  for index, action in ipairs(actions) do
    if index <= MOST_RESOLVED and not action.edit and type(action.command) ~= "string" then
      local err, whole = ask(server, "codeAction/resolve", action, bufnr, timeout)
      actions[index] = not err and whole or action
    end
  end
  return actions
end

---@param params table
---@param bufnr integer
---@param server vim.lsp.Client
---@return table
local function request_for(params, bufnr, server)
  local request = { textDocument = { uri = params.uri }, position = params.position }
  if params.kind == "references" then
    request.context = { includeDeclaration = true }
  elseif params.kind == "rename" then
    request.newName = params.newName
  elseif params.kind == "codeActions" then
    request.range = params.range
  elseif params.kind == "format" then
    request.options = { tabSize = vim.lsp.util.get_effective_tabstop(bufnr), insertSpaces = vim.bo[bufnr].expandtab }
  end
  request = positions.recount(request, params.uri, WIRE, server.offset_encoding or WIRE)
  if params.kind == "codeActions" then
    -- As the server itself counted them.
    request.context = { diagnostics = on_lines(bufnr, params.range), triggerKind = 1 }
  end
  return request
end

---@param result any
---@return table[]?
local function locations(result)
  if not result then
    return nil
  end
  return vim.tbl_map(function(each)
    return { uri = each.uri or each.targetUri, range = each.range or each.targetSelectionRange }
  end, vim.islist(result) and result or { result })
end

--- A name in the whole project.
---@param params table
---@return table
local function in_project(params)
  local found, status = {}, "noServer"
  for _, server in ipairs(servers({ method = WORKSPACE_SYMBOLS })) do
    local err, result = ask(server, WORKSPACE_SYMBOLS, { query = params.query }, nil, params.timeoutMs or 5000)
    if not err then
      status = "success"
      vim.list_extend(found, positions.recount(result or {}, "", server.offset_encoding or WIRE, WIRE))
    end
  end
  return { status = status, value = found }
end

---@param params table
---@return table
function M.query(params)
  if params.kind == "symbols" and params.query then
    return in_project(params)
  end
  local method = METHODS[params.kind]
  local bufnr = opened(params.uri, method)
  if not bufnr then
    return { status = "noServer", value = vim.NIL }
  end
  local server = servers({ bufnr = bufnr, method = method })[1]
  if not server then
    local any = vim.tbl_filter(function(each)
      return not each.initialized
    end, servers({ bufnr = bufnr, _uninitialized = true }))
    return { status = #any > 0 and "starting" or "noServer", value = vim.NIL }
  end
  local timeout = params.timeoutMs or 5000
  local err, result = ask(server, method, request_for(params, bufnr, server), bufnr, timeout)
  if err then
    return { status = "error", value = err.message }
  end
  if params.kind == "codeActions" then
    result = resolved(server, result or {}, bufnr, timeout)
  end
  result = positions.recount(result, params.uri, server.offset_encoding or WIRE, WIRE)
  if params.kind == "hover" then
    local lines = vim.lsp.util.convert_input_to_markdown_lines(result and result.contents or {})
    result = { markdown = table.concat(lines, "\n") }
  elseif params.kind == "definition" then
    result = locations(result)
  end
  return { status = "success", version = M.version(bufnr), value = result == nil and vim.NIL or result }
end

return M
