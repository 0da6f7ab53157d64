--- The text of a conversation in a buffer: entries that grow, change their state, and can be taken away again.
--- Each entry is held by two extmarks, so that it is found wherever the text around it went. Only this file writes to
--- a chat buffer. What of it folds away is for `folds`.
local folds = require("assent.folds")

local M = {}

local marks = vim.api.nvim_create_namespace("assent_transcript")
local signs = vim.api.nvim_create_namespace("assent_state")

---@class assent.Entry
---@field kind "text"|"thinking"|"tool"|"note"|"heading"
---@field first integer extmark of its first line
---@field last integer extmark of its last line
---@field blank integer how many empty lines stand before its text
---@field command boolean? whether the command it runs stands below

---@class assent.Transcript
---@field bufnr integer
---@field entries table<string, assent.Entry>
---@field changing boolean
---@field drawing boolean whether all of it is being drawn: it is folded at the end
local Transcript = {}
Transcript.__index = Transcript

M.DETAIL, M.THINKING, M.ERROR, M.REST = folds.DETAIL, folds.THINKING, folds.ERROR, folds.REST
M.COMMAND = "  $ " -- its first line
M.NEXT = "  ┆ " -- its other lines
M.FAILED = "  ✗ " -- a short error, not folded

---@param bufnr integer
---@return assent.Transcript
function M.new(bufnr)
  return setmetatable({ bufnr = bufnr, entries = {}, changing = false, drawing = false }, Transcript)
end

--- Whether a window shows the end and nobody reads in it further up: it goes along with what is added.
---@param window integer
---@param last integer the last line
---@return boolean
local function follows(window, last)
  if window == vim.api.nvim_get_current_win() then
    local mode = vim.api.nvim_get_mode().mode
    local selecting = mode:match("^[vV\22]") ~= nil
    return not selecting and vim.api.nvim_win_get_cursor(window)[1] >= last
  end
  return vim.fn.line("w$", window) >= last or vim.api.nvim_win_get_cursor(window)[1] >= last
end

--- Change the buffer without moving anyone's cursor, except in windows that show its end: those follow.
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
  local following = vim.tbl_filter(function(window)
    return follows(window, last)
  end, vim.fn.win_findbuf(bufnr))
  vim.bo[bufnr].modifiable = true
  local ok, problem = pcall(change)
  self.changing = false
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].modified = false
  last = vim.api.nvim_buf_line_count(bufnr)
  local text = vim.api.nvim_buf_get_lines(bufnr, last - 1, last, false)[1] or ""
  for _, window in ipairs(following) do
    -- At the end of the line: of a paragraph longer than the window one wants to see the end, too.
    pcall(vim.api.nvim_win_set_cursor, window, { last, #text })
  end
  if not ok then
    error(problem)
  end
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

--- Fold what folds away of an entry.
---@param entry assent.Entry
function Transcript:fold(entry)
  if not self.drawing then
    folds.make(self.bufnr, self:rows(entry))
  end
end

--- A new entry at the end; one with the same key goes.
---@param key string
---@param kind string
---@param lines string[]
---@param options { blank: boolean? }?
function Transcript:add(key, kind, lines, options)
  self:change(function()
    self:remove(key) -- one that is there already would never be found again
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
    self:fold(self.entries[key])
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
    if prefix and prefix ~= "" and #pieces > 1 then
      self:fold(entry)
    end
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
    self:fold(entry)
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
    right_gravity = false, -- lines that come below the first one do not take it along
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

--- Everything anew, for readers who stay where they were as far as the text is the same.
---@param draw fun()
function Transcript:anew(draw)
  if not vim.api.nvim_buf_is_loaded(self.bufnr) then
    return
  end
  local views = {}
  local last = vim.api.nvim_buf_line_count(self.bufnr)
  for _, window in ipairs(vim.fn.win_findbuf(self.bufnr)) do
    if not follows(window, last) then
      views[window] = vim.api.nvim_win_call(window, vim.fn.winsaveview)
    end
  end
  self.drawing = true
  local ok, problem = pcall(self.change, self, function()
    self:clear()
    draw()
    for _, window in ipairs(vim.fn.win_findbuf(self.bufnr)) do
      folds.all(window)
    end
  end)
  self.drawing = false
  if not ok then
    error(problem, 0)
  end
  for window, view in pairs(views) do
    vim.api.nvim_win_call(window, function()
      vim.fn.winrestview(view)
    end)
  end
end

--- What ran is not Markdown: the star of a pattern begins no emphasis, and no link is in it.
---@param bufnr integer
function M.colour(bufnr)
  vim.api.nvim_buf_call(bufnr, function()
    for _, prefix in ipairs({ M.DETAIL, M.THINKING, M.ERROR, M.COMMAND, M.NEXT, M.REST, M.FAILED }) do
      vim.cmd(([[syntax match AssentVerbatim /^\V%s\m.*$/]]):format(prefix))
    end
    vim.cmd([[syntax match AssentCall /^- `\w\+`\( .*\)\?$/]])
  end)
end

return M
