--- Which buffers the server sees, and that it sees them as they are now.
local client = require("assent.client")
local positions = require("assent.positions")

local M = {}

--- Send what was typed and is still held back, so that the server judges the text as it is now.
function M.flush()
  local running = client.running()
  if not running then
    return
  end
  local ok, tracking = pcall(require, "vim.lsp._changetracking")
  if not ok then
    return
  end
  for bufnr in pairs(running.attached_buffers) do
    pcall(tracking.flush, running, bufnr)
  end
end

--- Whether an edit was made for a text that the user has changed since. Neovim would refuse it with a message over
--- whatever is being typed, and then say that it was applied.
---@param edit lsp.WorkspaceEdit
---@return boolean
function M.outdated(edit)
  for _, change in ipairs(edit.documentChanges or {}) do
    local wanted = change.textDocument and change.textDocument.version
    local bufnr = change.textDocument and vim.uri_to_bufnr(change.textDocument.uri)
    local now = bufnr and vim.lsp.util.buf_versions[bufnr]
    if type(wanted) == "number" and wanted > 0 and now and now > wanted then
      return true
    end
  end
  return false
end

--- One edit that reaches beyond the last line, told in terms of lines that are there. Neovim before 0.12 leaves an
--- empty line behind otherwise, and the server, which sees another text than it meant, tries again.
---@param bufnr integer
---@param edit lsp.TextEdit
---@return lsp.TextEdit
function M.within(bufnr, edit)
  local count = vim.api.nvim_buf_line_count(bufnr)
  local first, last, text = edit.range.start, edit.range["end"], edit.newText
  local ends = text == "" or text:sub(-1) == "\n"
  if last.line < count or first.line == 0 or first.character ~= 0 or not ends or not vim.bo[bufnr].eol then
    return edit
  end
  local function end_of(row)
    local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
    return { line = row, character = positions.column(line, #line) }
  end
  local before = math.min(first.line, count) - 1
  local range = { start = end_of(before), ["end"] = end_of(count - 1) }
  return vim.tbl_extend("force", edit, { range = range, newText = text == "" and "" or "\n" .. text:sub(1, -2) })
end

--- A whole change, with every edit within its buffer.
---@param edit lsp.WorkspaceEdit
---@return lsp.WorkspaceEdit
function M.fitting(edit)
  local changes = vim.deepcopy(edit.documentChanges)
  for _, change in ipairs(changes or {}) do
    local bufnr = change.textDocument and change.edits and positions.buffer_of(change.textDocument.uri)
    if bufnr then
      change.edits = vim.tbl_map(function(each)
        return M.within(bufnr, each)
      end, change.edits)
    end
  end
  return vim.tbl_extend("force", edit, { documentChanges = changes })
end

---@param bufnr integer
---@return boolean
local function is_file(bufnr)
  return vim.api.nvim_buf_is_loaded(bufnr)
    and vim.bo[bufnr].buftype == ""
    and vim.api.nvim_buf_get_name(bufnr) ~= ""
    and vim.bo[bufnr].modifiable
end

--- Every file that is open, and every one that will be.
function M.attach_all()
  local running = client.running()
  for _, bufnr in ipairs(running and vim.api.nvim_list_bufs() or {}) do
    if is_file(bufnr) then
      vim.lsp.buf_attach_client(bufnr, running.id)
    end
  end
  local group = vim.api.nvim_create_augroup("assent_attach", { clear = true })
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
    group = group,
    callback = function(event)
      local now = client.running()
      if now and is_file(event.buf) then
        vim.lsp.buf_attach_client(event.buf, now.id)
      end
    end,
  })
end

--- Let the server complete in a prompt, so that every completion plugin that asks language servers works there.
---@param bufnr integer
function M.attach_prompt(bufnr)
  local running = client.running()
  if running then
    vim.lsp.buf_attach_client(bufnr, running.id)
  end
end

return M
