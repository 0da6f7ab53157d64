--- What folds away in a conversation: outputs, thoughts, long errors, the middle of long commands. The folds are made
--- one by one: those of an expression are not made while anybody is in Insert mode, and one below an open one comes
--- open.
local M = {}

M.DETAIL = "│ "
M.THINKING = "┊ "
M.ERROR = "┃ "
M.REST = "  ╎ " -- the middle of a long command

--- So many lines of an output stand in the conversation; of a longer one the last line says how many were left out.
M.MOST_DETAIL = 400

--- What a line begins with that folds away, and what its fold says: how many lines there are, and the first words.
---@type table<string, fun(count: string, first: string): string>
local FOLDED = {
  [M.DETAIL] = function(count)
    return ("%s of output"):format(count)
  end,
  [M.THINKING] = function(count, first)
    return ("It thought for %s: %s"):format(count, first)
  end,
  [M.ERROR] = function(count, first)
    return ("It failed, %s: %s"):format(count, first)
  end,
  [M.REST] = function(count)
    return ("The command has %s more"):format(count)
  end,
}

---@param line string
---@return string? prefix
local function folded(line)
  for prefix in pairs(FOLDED) do
    if vim.startswith(line, prefix) then
      return prefix
    end
  end
end

--- For 'foldtext'.
---@return string
function M.text()
  local first = vim.fn.getline(vim.v.foldstart)
  local count = vim.v.foldend - vim.v.foldstart + 1
  local prefix = folded(first) or M.DETAIL
  local left_out = count > M.MOST_DETAIL and vim.fn.getline(vim.v.foldend):match("… (%d+) more lines$")
  count = left_out and count - 1 + tonumber(left_out) or count
  local lines = ("%d line%s"):format(count, count == 1 and "" or "s")
  return "  ⋯ " .. FOLDED[prefix](lines, first:sub(#prefix + 1))
end

---@param bufnr integer
---@param first integer zero-based
---@param last integer
---@return { [1]: integer, [2]: integer }[] lines that fold away together, one-based
local function blocks(bufnr, first, last)
  local found, before = {}, nil
  for index, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, first, last + 1, false)) do
    local prefix, row = folded(line), first + index
    if prefix and prefix == before then
      found[#found][2] = row
    elseif prefix then
      table.insert(found, { row, row })
    end
    before = prefix
  end
  return found
end

--- Fold some lines of the current window. A fold that is there already grows; one that its reader opened stays open.
---@param first integer one-based
---@param last integer
local function make(first, last)
  local known = vim.fn.foldlevel(first) > 0
  local closed = vim.fn.foldclosed(first) == first
  if known and closed and vim.fn.foldclosedend(first) == last then
    return
  end
  if known then
    vim.api.nvim_win_set_cursor(0, { first, 0 })
    vim.cmd("normal! zD")
  end
  vim.cmd(("%d,%dfold"):format(first, last))
  if known and not closed then
    vim.cmd(("%dfoldopen"):format(first))
  end
end

---@param window integer
---@param change fun()
local function in_window(window, change)
  vim.api.nvim_win_call(window, function()
    if vim.wo.foldmethod == "manual" then
      local view = vim.fn.winsaveview()
      change()
      vim.fn.winrestview(view)
    end
  end)
end

--- Fold what folds away among these rows, in every window that shows them.
---@param bufnr integer
---@param first integer zero-based
---@param last integer
function M.make(bufnr, first, last)
  local found = blocks(bufnr, first, last)
  for _, window in ipairs(#found > 0 and vim.fn.win_findbuf(bufnr) or {}) do
    in_window(window, function()
      for _, block in ipairs(found) do
        make(block[1], block[2])
      end
    end)
  end
end

--- Fold everything anew in a window that has just come to show a conversation.
---@param window integer
function M.all(window)
  local bufnr = vim.api.nvim_win_get_buf(window)
  local found = blocks(bufnr, 0, vim.api.nvim_buf_line_count(bufnr) - 1)
  in_window(window, function()
    vim.cmd("normal! zE")
    for _, block in ipairs(found) do
      vim.cmd(("%d,%dfold"):format(block[1], block[2]))
    end
  end)
end

return M
