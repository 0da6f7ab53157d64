--- Diagnostics as the wire has them, whoever found them: a language server, a linter, a plugin.
local positions = require("assent.positions")

local M = {}

---@param bufnr integer
---@param each vim.Diagnostic
---@return lsp.Diagnostic
function M.wire(bufnr, each)
  local function column(row, byte)
    local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
    return positions.column(line, byte)
  end
  local last = each.end_lnum or each.lnum
  return {
    range = {
      start = { line = each.lnum, character = column(each.lnum, each.col) },
      ["end"] = { line = last, character = column(last, each.end_col or each.col) },
    },
    severity = each.severity,
    code = each.code,
    source = each.source,
    message = each.message,
  }
end

---@param bufnr integer
---@param wanted (fun(each: vim.Diagnostic): boolean)?
---@return lsp.Diagnostic[] all but our own
function M.all(bufnr, wanted)
  local list = {}
  for _, each in ipairs(vim.diagnostic.get(bufnr)) do
    if each.source ~= "assent" and (not wanted or wanted(each)) then
      table.insert(list, M.wire(bufnr, each))
    end
  end
  return list
end

---@param bufnr integer
---@param range lsp.Range
---@return lsp.Diagnostic[]
function M.on_lines(bufnr, range)
  return M.all(bufnr, function(each)
    return each.lnum <= range["end"].line and (each.end_lnum or each.lnum) >= range.start.line
  end)
end

return M
