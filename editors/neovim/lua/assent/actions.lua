--- Code actions, taken: they go on in the plugin's own chat. Which there are is for the server, and for `offers` before
--- it runs.
local chat = require("assent.chat")
local client = require("assent.client")
local notice = require("assent.notice")
local panes = require("assent.panes")
local session_store = require("assent.session")

local M = {}

--- A request for code actions with the problems of all who found some: Neovim tells each server its own only.
---@param params lsp.CodeActionParams
---@return lsp.CodeActionParams
function M.with_problems(params)
  local bufnr = require("assent.positions").buffer_of(params.textDocument.uri)
  if not bufnr then
    return params
  end
  local found = require("assent.diagnostics").on_lines(bufnr, params.range)
  for _, given in ipairs(params.context.diagnostics or {}) do
    local known = vim.tbl_contains(found, function(each)
      return each.message == given.message and vim.deep_equal(each.range, given.range)
    end, { predicate = true })
    if not known then
      table.insert(found, given)
    end
  end
  local context = vim.tbl_extend("force", params.context, { diagnostics = found })
  return vim.tbl_extend("force", params, { context = context })
end

--- The words of an action, as the server puts them, into the chat that is open or a new one.
---@param data table
local function send(data)
  chat.start(nil, function(opened)
    local arguments = { vim.tbl_extend("force", data, { compose = true }) }
    local params = { command = "assent.ask", arguments = arguments }
    client.request("workspace/executeCommand", params, function(err, answer)
      if err then
        return notice.report(err)
      end
      panes.all_to_end(opened)
      session_store.send(session_store.get(opened.id), answer.prompt)
    end)
  end)
end

--- The prompt, with the lines in it as a reference; what is asked about them is for the user to write.
---@param data table
local function compose(data)
  local path, first, last = vim.uri_to_fname(data.uri), data.range.start.line + 1, data.range["end"].line + 1
  if data.range["end"].character == 0 and last > first then
    last = last - 1
  end
  chat.start(nil, function(opened)
    local root = session_store.get(opened.id).cwd
    local short = vim.startswith(path, root .. "/") and path:sub(#root + 2) or path
    local lines = first == last and ("#L%d"):format(first) or ("#L%d-L%d"):format(first, last)
    chat.give_back(opened, { (short:find(" ") and '@"%s%s" ' or "@%s%s "):format(short, lines) })
    vim.api.nvim_win_set_cursor(0, { 1, #vim.api.nvim_get_current_line() })
    vim.cmd.startinsert({ bang = true })
  end)
end

---@param data table what the action is, and where
function M.run(data)
  if data.action == "ask" then
    return compose(data)
  end
  if data.action ~= "refactor" then
    return send(data)
  end
  vim.ui.input({ prompt = "Refactor how? " }, function(wish)
    if wish and vim.trim(wish) ~= "" then
      send(vim.tbl_extend("force", data, { wish = vim.trim(wish) }))
    end
  end)
end

return M
