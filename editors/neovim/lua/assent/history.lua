--- What was sent before, to be sent again: the keys up and down in the prompt go through it.
local M = {}

local MOST = 200

---@type string[] the newest last
local entries = {}
---@type table<integer, { index: integer, draft: string[] }> where one is in it, by prompt buffer
local browsing = {}

--- Remember a prompt; one that was sent before is the newest now.
---@param text string
function M.add(text)
  text = vim.trim(text)
  if text == "" then
    return
  end
  entries = vim.tbl_filter(function(each)
    return each ~= text
  end, entries)
  table.insert(entries, text)
  if #entries > MOST then
    table.remove(entries, 1)
  end
end

---@param bufnr integer
function M.leave(bufnr)
  browsing[bufnr] = nil
end

--- Put the entry before or after into a prompt. What was being written comes back at the end.
---@param bufnr integer
---@param step -1|1
---@return boolean moved
function M.go(bufnr, step)
  local now = browsing[bufnr] or { index = #entries + 1, draft = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false) }
  local index = now.index + step
  if index < 1 or index > #entries + 1 then
    return false
  end
  now.index = index
  local lines = index > #entries and now.draft or vim.split(entries[index], "\n", { plain = true })
  browsing[bufnr] = index <= #entries and now or nil
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  local row = step == -1 and 1 or #lines
  pcall(vim.api.nvim_win_set_cursor, 0, { row, #lines[row] })
  return true
end

--- Up in the first line and down in the last one go through what was sent; elsewhere they are what they are.
---@param bufnr integer
function M.map(bufnr)
  for key, step in pairs({ ["<Up>"] = -1, ["<Down>"] = 1 }) do
    vim.keymap.set({ "n", "i" }, key, function()
      local edge = step == -1 and 1 or vim.api.nvim_buf_line_count(bufnr)
      if vim.fn.pumvisible() == 1 or vim.fn.line(".") ~= edge or not M.go(bufnr, step) then
        vim.api.nvim_feedkeys(vim.keycode(key), "n", false)
      end
    end, { buffer = bufnr, desc = "Assent: what was sent before" })
  end
end

return M
