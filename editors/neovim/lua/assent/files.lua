--- Files opened on the agent's behalf. Nobody asked Neovim to open them, so nothing about it may stop at a question.
local notice = require("assent.notice")

local M = {}

--- The file in a buffer, which no window need show. One that another session left a swap file of is opened for reading
--- only: whether to recover it is for the user to decide, but not now.
---@param path string
---@return integer bufnr
function M.load(path)
  local bufnr = vim.fn.bufadd(vim.fn.fnamemodify(path, ":.")) -- called as the user would have called it
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

--- Show a file in a window for files, without going there. What is in that window stays: without 'hidden' Neovim would
--- refuse to leave a changed buffer, so the file gets a window of its own then.
---@param path string
---@return integer? window
---@return string? problem why it cannot be shown, in words
function M.put(path)
  local loaded, bufnr = pcall(M.load, path)
  if not loaded then
    return nil, ("%s cannot be opened: %s"):format(vim.fn.fnamemodify(path, ":~:."), bufnr)
  end
  vim.bo[bufnr].buflisted = true
  local window = require("assent.panes").file_window()
  local there = vim.api.nvim_win_get_buf(window)
  local kept = vim.o.hidden or vim.bo[there].bufhidden == "hide" or #vim.fn.win_findbuf(there) > 1
  if there ~= bufnr and vim.bo[there].modified and not kept then
    return vim.api.nvim_open_win(bufnr, false, { split = "below", win = window })
  end
  local shown, problem = M.unasked(function()
    vim.api.nvim_win_set_buf(window, bufnr)
  end)
  if not shown then
    return nil, tostring(problem)
  end
  return window
end

--- Show a file and go there.
---@param path string
---@return string? problem
function M.show(path)
  local window, problem = M.put(path)
  if not window then
    return problem
  end
  vim.api.nvim_set_current_win(window)
  vim.cmd("normal! m'")
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
