--- Completion of @files and /commands in the prompt, answered by the server.
local client = require("assent.client")
local positions = require("assent.positions")
local protocol = require("assent.protocol")
local session = require("assent.session")

local M = {}

local TIMEOUT = 1000

--- Whether typing this key here begins something to complete: @ after a space, / at the very start.
---@param key "@"|"/"
---@param row integer one-based
---@param before string the line before the cursor
---@return boolean
function M.begins(key, row, before)
  if key == "/" then
    return row == 1 and before == ""
  end
  return before == "" or before:match("[%s%(]$") ~= nil
end

--- While the prompt is written, a menu that opens by itself must not write anything into it: by default Vim puts in the
--- first match, and what is typed next would come after it. Whoever set 'completeopt' to something like it keeps that.
---@param bufnr integer the prompt
function M.keep_off(bufnr)
  local before
  local group = vim.api.nvim_create_augroup("assent_completion_" .. bufnr, { clear = true })
  vim.api.nvim_create_autocmd("InsertEnter", {
    group = group,
    buffer = bufnr,
    callback = function()
      local own = vim.o.completeopt
      if not before and not own:find("noinsert", 1, true) and not own:find("noselect", 1, true) then
        before = own
        vim.o.completeopt = "menuone,noselect"
      end
    end,
  })
  vim.api.nvim_create_autocmd({ "InsertLeave", "BufLeave", "BufUnload" }, {
    group = group,
    buffer = bufnr,
    callback = function()
      if before then
        vim.o.completeopt, before = before, nil
      end
    end,
  })
end

---@param findstart integer
---@param base string
function M.omnifunc(findstart, base)
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  if findstart == 1 then
    local start = lines[row]:sub(1, column):find("[@/]%S*$")
    return start and start - 1 or -3
  end
  local items = {}
  for _, name in ipairs(require("assent.attachments").NAMES) do
    if base ~= "" and vim.startswith("@" .. name, base) then
      table.insert(items, { word = "@" .. name, menu = "what this editor has" })
    end
  end
  local running = client.running()
  if not running then
    return items
  end
  local before = vim.list_slice(lines, 1, row - 1)
  table.insert(before, lines[row]:sub(1, column) .. base)
  local text = table.concat(before, "\n")
  local params = { sessionId = vim.b.assent_session, text = text, offset = positions.column(text, #text) }
  -- While this waits, what arrives is handled, and no text may be changed: it is shown when the completion is there.
  session.hold()
  local ok, answer = pcall(client.call, running, "request_sync", protocol.requests.complete, params, TIMEOUT, 0)
  session.release()
  if not ok then
    error(answer, 0)
  end
  for _, item in ipairs(answer and answer.result and answer.result.items or {}) do
    table.insert(items, { word = item.insertText, abbr = item.label, menu = item.detail or "" })
  end
  return { words = items, refresh = "always" }
end

return M
