--- Whether a hunk is on the screen, all of it, and how to get it there. Nobody accepts what was not shown.
local hunks = require("assent.hunks")

local M = {}

---@class assent.Block
---@field rows integer how many virtual lines the new text and its hint take
---@field before integer one-based: the line they hang above; line 1 for what comes before the text
---@field cut boolean whether a line was too long to be shown whole

---@param window integer
---@return integer row the last row of the screen that shows its text
local function bottom_of(window)
  local info = vim.fn.getwininfo(window)[1]
  return info.winrow + info.winbar + info.height - 1
end

--- How many rows of the block a window shows.
---@param window integer
---@param block assent.Block
---@return integer
local function rows_shown(window, block)
  local view = vim.api.nvim_win_call(window, vim.fn.winsaveview)
  if view.topline > block.before then
    return 0
  elseif view.topline == block.before then
    return math.min(view.topfill, block.rows, vim.api.nvim_win_get_height(window))
  end
  local above = block.before - 1
  local text = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), above - 1, above, false)[1] or ""
  local row = vim.fn.screenpos(window, above, math.max(#text, 1)).row
  return row == 0 and 0 or math.max(0, math.min(bottom_of(window) - row, block.rows))
end

--- The rows of the screen that a hunk is on, as far as it is in sight.
---@param window integer
---@param hunk table
---@param block assent.Block
---@return integer top, integer bottom
local function rows_of(window, hunk, block)
  local above = math.max(block.before - 1, 1)
  local text = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), above - 1, above, false)[1] or ""
  local row = vim.fn.screenpos(window, above, math.max(#text, 1)).row
  if block.before == 1 then
    local first = vim.fn.screenpos(window, 1, 1).row
    return first - block.rows, first - 1
  end
  local first = hunk.oldText == "" and row + 1 or vim.fn.screenpos(window, hunk.range.start.line + 1, 1).row
  return first, row + block.rows
end

--- Whether the question in the corner hides a part of a hunk.
---@param window integer
---@param hunk table
---@param block assent.Block
---@return boolean
local function hidden(window, hunk, block)
  local corner = package.loaded["assent.corner"]
  local box = corner and corner.box()
  if not box then
    return false
  end
  local info = vim.fn.getwininfo(window)[1]
  local widest = 0
  for _, text in ipairs({ hunk.oldText, hunk.newText }) do
    for _, line in ipairs(hunks.lines(text)) do
      widest = math.max(widest, vim.fn.strdisplaywidth(line))
    end
  end
  local right = math.min(info.wincol + info.textoff + widest, info.wincol + info.width) - 1
  local function overlaps(at)
    local top, bottom = rows_of(window, hunk, block)
    return right >= at.left and top <= at.bottom and bottom >= at.top
  end
  if not overlaps(box) then
    return false
  end
  corner.keep_off(rows_of(window, hunk, block))
  return overlaps(corner.box())
end

--- Whether the window shows the old lines and the new ones, from the first to the last.
---@param window integer
---@param hunk table
---@return boolean
function M.whole(window, hunk)
  vim.cmd.redraw() -- where things stand is known after drawing only
  local block = hunks.block(hunk)
  if not block or block.cut or rows_shown(window, block) < block.rows then
    return false
  end
  local first = hunk.range.start.line + 1
  local none_old = hunk.oldText == ""
  return (none_old or vim.fn.screenpos(window, first, 1).row > 0) and not hidden(window, hunk, block)
end

--- Scroll a hunk into sight, with its first line under the cursor.
---@param window integer
---@param hunk table
---@return boolean whether all of it is on the screen now
function M.reveal(window, hunk)
  local block = hunks.block(hunk)
  if not block then
    return false
  end
  local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(window))
  local line = math.max(1, math.min(hunk.range.start.line + 1, last))
  vim.api.nvim_win_set_cursor(window, { line, 0 })
  if M.whole(window, hunk) then
    return true
  end
  local top = block.before == 1 and 1 or math.min(line, block.before - 1)
  for _, context in ipairs({ 3, 0 }) do
    vim.api.nvim_win_call(window, function()
      local fill = block.before == 1 and block.rows or 0
      vim.fn.winrestview({ topline = math.max(1, top - context), topfill = fill, skipcol = 0 })
    end)
    if M.whole(window, hunk) then
      return true
    end
  end
  return false
end

return M
