--- Files opened on the agent's behalf. Nobody asked Neovim to open them, so nothing about it may stop at a question.
local notice = require("assent.notice")

local M = {}

--- The file in a buffer, which no window need show. One that another session left a swap file of is opened for reading
--- only: whether to recover it is for the user to decide, but not now.
---@param path string
---@return integer bufnr
function M.load(path)
  local bufnr = vim.fn.bufadd(path)
  if vim.api.nvim_buf_is_loaded(bufnr) then
    return bufnr
  end
  local before = vim.o.shortmess
  vim.opt.shortmess:append("A") -- bufload() raises no SwapExists; it only prints a page of warnings
  local ok, problem = pcall(vim.fn.bufload, bufnr)
  vim.o.shortmess = before
  if not ok then
    error(problem, 0)
  end
  local swap = vim.fn.swapname(bufnr)
  if swap ~= "" and not vim.endswith(swap, ".swp") then
    vim.bo[bufnr].readonly = true
    local name = vim.fn.fnamemodify(path, ":~:.")
    notice.tell(("%s has a swap file and was opened read-only; :recover looks into it"):format(name))
  end
  return bufnr
end

--- Do this with the user's 'confirm' off: with it on, a write or a change of buffers that would fail asks instead.
---@generic T
---@param action fun(): T?
---@return boolean ok
---@return T? result
function M.unasked(action)
  local before = vim.o.confirm
  vim.o.confirm = false
  local ok, result = pcall(action)
  vim.o.confirm = before
  return ok, result
end

return M
