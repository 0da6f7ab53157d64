--- The text of a conversation in a buffer: entries that grow, change their state, and can be taken away again.
--- Each entry is held by two extmarks, so that it is found wherever the text around it went. Only this file writes to
--- a chat buffer.
local M = {}

local marks = vim.api.nvim_create_namespace("assent_transcript")
local signs = vim.api.nvim_create_namespace("assent_state")

---@class assent.Entry
---@field kind "text"|"thinking"|"tool"|"note"|"heading"
---@field first integer extmark of its first line
---@field last integer extmark of its last line
---@field blank integer how many empty lines stand before its text

---@class assent.Transcript
---@field bufnr integer
---@field entries table<string, assent.Entry>
---@field changing boolean
local Transcript = {}
Transcript.__index = Transcript

M.DETAIL = "│ "
M.THINKING = "┊ "

---@param bufnr integer
---@return assent.Transcript
function M.new(bufnr)
  return setmetatable({ bufnr = bufnr, entries = {}, changing = false }, Transcript)
end

--- Change the buffer without moving anyone's cursor, except of windows that stand on its last line: those follow.
---@param change fun()
function Transcript:change(change)
  local bufnr = self.bufnr
  if not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  if self.changing then
    return change()
  end
  self.changing = true
  local last = vim.api.nvim_buf_line_count(bufnr)
  local following = {}
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    if vim.api.nvim_win_get_cursor(window)[1] >= last then
      table.insert(following, window)
    end
  end
  vim.bo[bufnr].modifiable = true
  local ok, problem = pcall(change)
  self.changing = false
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].modified = false
  for _, window in ipairs(following) do
    pcall(vim.api.nvim_win_set_cursor, window, { vim.api.nvim_buf_line_count(bufnr), 0 })
  end
  if not ok then
    error(problem)
  end
end

--- Many changes as one.
---@param changes fun()
function Transcript:batch(changes)
  self:change(changes)
end

local function is_empty(bufnr)
  return vim.api.nvim_buf_line_count(bufnr) == 1 and vim.api.nvim_buf_get_lines(bufnr, 0, 1, false)[1] == ""
end

---@param entry assent.Entry
---@return integer first, integer last zero-based rows
function Transcript:rows(entry)
  local first = vim.api.nvim_buf_get_extmark_by_id(self.bufnr, marks, entry.first, {})
  local last = vim.api.nvim_buf_get_extmark_by_id(self.bufnr, marks, entry.last, {})
  return first[1] or 0, last[1] or 0
end

--- A new entry at the end.
---@param key string
---@param kind string
---@param lines string[]
---@param options { blank: boolean? }?
function Transcript:add(key, kind, lines, options)
  self:change(function()
    local bufnr = self.bufnr
    local empty = is_empty(bufnr)
    local count = vim.api.nvim_buf_line_count(bufnr)
    local above = vim.api.nvim_buf_get_lines(bufnr, count - 1, count, false)[1]
    local blank = not empty and options and options.blank and above ~= "" and 1 or 0
    local start = empty and 0 or count
    local text = blank == 1 and vim.list_extend({ "" }, lines) or lines
    vim.api.nvim_buf_set_lines(bufnr, start, -1, false, text)
    self.entries[key] = {
      kind = kind,
      blank = blank,
      first = vim.api.nvim_buf_set_extmark(bufnr, marks, start, 0, { right_gravity = false }),
      last = vim.api.nvim_buf_set_extmark(bufnr, marks, start + #text - 1, 0, { right_gravity = false }),
    }
  end)
end

--- More text for an entry: it goes on right after what is there.
---@param key string
---@param text string
---@param prefix string? what every line of the entry begins with
function Transcript:append(key, text, prefix)
  local entry = self.entries[key]
  self:change(function()
    local _, last = self:rows(entry)
    local line = vim.api.nvim_buf_get_lines(self.bufnr, last, last + 1, false)[1] or ""
    local pieces = vim.split(text, "\n", { plain = true })
    for index = 2, #pieces do
      pieces[index] = (prefix or "") .. pieces[index]
    end
    vim.api.nvim_buf_set_text(self.bufnr, last, #line, last, #line, pieces)
    vim.api.nvim_buf_set_extmark(self.bufnr, marks, last + #pieces - 1, 0, { id = entry.last, right_gravity = false })
  end)
end

--- Lines below an entry's own, such as the output of a tool.
---@param key string
---@param lines string[]
function Transcript:extend(key, lines)
  local entry = self.entries[key]
  if #lines == 0 then
    return
  end
  self:change(function()
    local _, last = self:rows(entry)
    -- After the end of its last line, not before the next one: the mark of what follows has to move along.
    local line = vim.api.nvim_buf_get_lines(self.bufnr, last, last + 1, false)[1] or ""
    vim.api.nvim_buf_set_text(self.bufnr, last, #line, last, #line, vim.list_extend({ "" }, lines))
    vim.api.nvim_buf_set_extmark(self.bufnr, marks, last + #lines, 0, { id = entry.last, right_gravity = false })
  end)
end

--- Another first line for an entry.
---@param key string
---@param line string
function Transcript:head(key, line)
  local entry = self.entries[key]
  self:change(function()
    local row = self:rows(entry) + entry.blank
    local old = vim.api.nvim_buf_get_lines(self.bufnr, row, row + 1, false)[1]
    if old ~= line then
      vim.api.nvim_buf_set_text(self.bufnr, row, 0, row, #old, { line })
    end
  end)
end

--- The first line of an entry.
---@param key string
---@return string
function Transcript:line(key)
  if not vim.api.nvim_buf_is_loaded(self.bufnr) then
    return ""
  end
  local row = self:rows(self.entries[key]) + self.entries[key].blank
  return vim.api.nvim_buf_get_lines(self.bufnr, row, row + 1, false)[1] or ""
end

--- What stands at the end of an entry's first line: its state.
---@param key string
---@param text string
---@param highlight string
function Transcript:state(key, text, highlight)
  local entry = self.entries[key]
  if not entry or not vim.api.nvim_buf_is_loaded(self.bufnr) then
    return
  end
  local first = self:rows(entry)
  vim.api.nvim_buf_set_extmark(self.bufnr, signs, first + entry.blank, 0, {
    id = entry.first,
    virt_text = { { text, highlight } },
    virt_text_pos = "eol",
  })
end

---@param key string
function Transcript:remove(key)
  local entry = self.entries[key]
  if not entry then
    return
  end
  self:change(function()
    local first, last = self:rows(entry)
    vim.api.nvim_buf_set_lines(self.bufnr, first, last + 1, false, {})
    vim.api.nvim_buf_del_extmark(self.bufnr, marks, entry.first)
    vim.api.nvim_buf_del_extmark(self.bufnr, marks, entry.last)
    vim.api.nvim_buf_del_extmark(self.bufnr, signs, entry.first)
  end)
  self.entries[key] = nil
end

function Transcript:clear()
  self.entries = {}
  if vim.api.nvim_buf_is_loaded(self.bufnr) then
    vim.api.nvim_buf_clear_namespace(self.bufnr, marks, 0, -1)
    vim.api.nvim_buf_clear_namespace(self.bufnr, signs, 0, -1)
    self:change(function()
      vim.api.nvim_buf_set_lines(self.bufnr, 0, -1, false, {})
    end)
  end
end

--- For 'foldexpr': details and thinking fold away.
---@param lnum integer
---@return string
function M.fold(lnum)
  local line = vim.fn.getline(lnum)
  if vim.startswith(line, M.DETAIL) or vim.startswith(line, M.THINKING) then
    return "1"
  end
  return "0"
end

---@return string
function M.foldtext()
  local first = vim.fn.getline(vim.v.foldstart)
  local count = vim.v.foldend - vim.v.foldstart + 1
  local what = vim.startswith(first, M.THINKING) and "thought" or "output"
  return ("  ⋯ %s, %d line%s"):format(what, count, count == 1 and "" or "s")
end

return M
