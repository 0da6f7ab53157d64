--- Which lines of a window's text have been on the screen, from the first one on: nothing is allowed by a key that its
--- reader could not have seen.
local notice = require("assent.notice")

---@class assent.Reading
---@field window integer
---@field reached integer the last line that was on the screen, with all before it
local Reading = {}
Reading.__index = Reading

local M = {}

---@param window integer
---@return assent.Reading
function M.new(window)
  return setmetatable({ window = window, reached = 0 }, Reading)
end

---@return integer
function Reading:count()
  return vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(self.window))
end

--- Take note of what is on the screen now.
function Reading:look()
  vim.cmd.redraw() -- where things stand is known after drawing only
  local first, last = vim.fn.line("w0", self.window), vim.fn.line("w$", self.window)
  self.reached = first <= self.reached + 1 and math.max(self.reached, last) or self.reached
end

---@return boolean
function Reading:done()
  self:look()
  return self.reached >= self:count()
end

--- Whether all of it was on the screen. If not, the next part is now, and its reader is told how much that makes.
---@return boolean
function Reading:ends()
  if self:done() then
    return true
  end
  vim.api.nvim_win_call(self.window, function()
    vim.api.nvim_win_set_cursor(0, { self.reached + 1, 0 })
    vim.cmd("normal! zt")
  end)
  self:look()
  notice.tell(("%d of %d lines shown"):format(self.reached, self:count()))
  return false
end

return M
