--- The float in the corner that shows one question. It never takes the focus, covers neither a prompt nor the cursor,
--- and takes half of the screen at most until it is gone into. What waits and what an answer does is for `questions`.
local one_key = require("assent.one_key")
local reading = require("assent.reading")

local M = {}

local namespace = vim.api.nvim_create_namespace("assent_ask")
local group = vim.api.nvim_create_augroup("assent_corner", { clear = true })

---@type integer?
local window
---@type assent.Question?
local shown
--- How many wait, with the one shown.
local waiting = 0
---@type string? the keys on the screen
local footed
---@type assent.Reading? how far it was read
local read

--- As the style "minimal" would have it, but without highlights of its own: with those Neovim works out all highlights
--- anew for every key, wherever it is pressed.
local LOOKS = {
  wrap = true,
  linebreak = true,
  number = false,
  relativenumber = false,
  cursorline = false,
  cursorcolumn = false,
  foldcolumn = "0",
  signcolumn = "no",
  statuscolumn = "",
  colorcolumn = "",
  spell = false,
  list = false,
  winbar = "",
  fillchars = "eob: ,lastline: ",
}

---@return boolean
local function open()
  return window ~= nil and vim.api.nvim_win_is_valid(window)
end

--- Whether the user is in it.
---@return boolean
local function inside()
  return open() and vim.api.nvim_get_current_win() == window
end

M.inside = inside

--- The row below which nothing may be covered: the top of a prompt on the screen, or the status line.
---@return integer
local function floor()
  local lowest = vim.o.lines - vim.o.cmdheight - 1
  local bottom = lowest
  for _, each in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local bufnr = vim.api.nvim_win_get_buf(each)
    if vim.bo[bufnr].filetype == "assent_prompt" and vim.api.nvim_win_get_config(each).relative == "" then
      bottom = math.min(bottom, vim.api.nvim_win_get_position(each)[1] - 1)
    end
  end
  return bottom > 8 and bottom or lowest
end

---@param question assent.Question
---@param width integer
---@return integer rows that the lines take when wrapped
local function rows(question, width)
  local count = 0
  for _, line in ipairs(question.lines) do
    count = count + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  return count
end

--- Whether the line the user writes in would be under a float here, and whether it is rows away from it.
---@param top integer
---@param bottom integer
---@param left integer
---@return boolean covered, boolean far
local function covers_cursor(top, bottom, left)
  if inside() then
    return false, false
  end
  local here = vim.fn.screenpos(0, vim.fn.line("."), vim.fn.col("."))
  local last = vim.fn.screenpos(0, vim.fn.line("."), math.max(vim.fn.col("$") - 1, 1))
  local covered = here.row > top and here.row <= bottom and math.max(here.col, last.endcol) >= left
  return covered, here.row > 0 and last.row > 0 and (last.row < top - 1 or here.row > bottom)
end

---@type { top: integer, bottom: integer }? rows of the screen that are being looked at
local kept_free

--- The rows of the screen that it takes, and its left edge; all count from 1.
---@return { top: integer, bottom: integer, left: integer }?
function M.box()
  if not open() then
    return nil
  end
  local at = vim.api.nvim_win_get_config(window --[[@as integer]])
  local height = at.height + 2
  local top = at.anchor == "NE" and at.row + 1 or at.row - height + 1
  return { top = top, bottom = top + height - 1, left = vim.o.columns - at.width - 1 }
end

--- The answers that can be given where the user is: the question's own keys inside it, chords and commands elsewhere.
---@param question assent.Question
---@return string
local function footer(question)
  if inside() then
    return question.footer
  end
  local answers = {}
  for _, word in ipairs({ "yes", "always", "no" }) do
    local quick = question.quick[word]
    if quick then
      table.insert(answers, ("%s %s"):format(one_key.label(word), quick.label))
    end
  end
  -- Where no key says yes, the answer itself is given there.
  table.insert(answers, question.quick.yes and ":Assent answer for more" or ":Assent answer to answer")
  return " " .. table.concat(answers, " · ") .. " "
end

---@class assent.Standing where the cursor was when the corner was placed
---@field window integer
---@field bufnr integer
---@field top integer of the rows below it that the corner would take
---@field bottom integer
---@field left integer
---@field covered boolean
---@field far_at integer? the row where the cursor was found to be rows away from the corner
---@field width integer of the window

---@type assent.Standing?
local standing

--- Where the cursor is, as far as that could bring it under the corner: its line, and how often that is wrapped.
---@param width integer
---@return integer
local function row_of(width)
  local at = vim.api.nvim_win_get_cursor(0)
  return at[1] * 1000 + math.floor(at[2] / width)
end

--- Whether the cursor has only moved inside its window, to where the corner may stay: nearly every key does.
---@return boolean
local function stays()
  if
    not standing
    or vim.api.nvim_get_current_win() ~= standing.window
    or vim.api.nvim_get_current_buf() ~= standing.bufnr
  then
    return false
  end
  local row = row_of(standing.width)
  if row == standing.far_at then
    return true
  end
  local covered, far = covers_cursor(standing.top, standing.bottom, standing.left)
  standing.far_at = far and row or nil
  return covered == standing.covered
end

---@param question assent.Question
---@return table
local function place(question)
  local bottom = floor()
  local of = waiting > 1 and (" (1 of %d)"):format(waiting) or ""
  local title = (" %s%s "):format(question.title, of)
  local keys = footer(question)
  local width = math.max(vim.fn.strdisplaywidth(keys), vim.fn.strdisplaywidth(title)) + 2
  for _, line in ipairs(question.lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 2)
  end
  width = math.max(1, math.min(width, vim.o.columns - 4))
  local most = inside() and bottom - 3 or math.floor(bottom / 2) - 2
  local needed = rows(question, width)
  local height = math.max(1, math.min(needed, most))
  if needed > height then
    title = (" %s%s · more below "):format(question.title, of)
  end
  local top = bottom - height - 2
  local left = vim.o.columns - width - 2
  local covered = covers_cursor(top, bottom, left)
  standing = {
    window = vim.api.nvim_get_current_win(),
    bufnr = vim.api.nvim_get_current_buf(),
    top = top,
    bottom = bottom,
    left = left,
    covered = covered,
    width = math.max(vim.api.nvim_win_get_width(0) - 8, 1), -- signs and numbers take some
  }
  covered = covered or (kept_free ~= nil and kept_free.bottom > top and kept_free.top > height + 2)
  return {
    relative = "editor",
    anchor = covered and "NE" or "SE",
    row = covered and 0 or bottom,
    col = vim.o.columns,
    width = width,
    height = height,
    title = title,
    title_pos = "left",
    footer = keys, -- those that work where the user is
    footer_pos = "left",
  }
end

---@param bufnr integer
---@param question assent.Question
local function write(bufnr, question)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, question.lines)
  for row, highlight in pairs(question.highlights) do
    if row <= #question.lines then
      vim.api.nvim_buf_set_extmark(bufnr, namespace, row - 1, 0, { line_hl_group = highlight })
    end
  end
  vim.bo[bufnr].modifiable = false
end

---@param question assent.Question
---@return integer bufnr
local function fill(question)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  write(bufnr, question)
  for key, action in pairs(question.keys) do
    vim.keymap.set("n", key, function()
      action(question)
    end, { buffer = bufnr, nowait = true, desc = "Assent: answer" })
  end
  vim.keymap.set("n", "q", "<Cmd>wincmd p<CR>", { buffer = bufnr, nowait = true, desc = "Assent: leave it waiting" })
  return bufnr
end

--- Whether all of this question has been on the screen. If not, whoever is in it sees the next part instead.
---@param question assent.Question
---@return boolean
function M.read(question)
  -- Whoever is elsewhere is not asked to scroll: `shows_all` was asked.
  return shown ~= question or not inside() or not read or read:ends()
end

function M.hide()
  vim.api.nvim_clear_autocmds({ group = group })
  if open() then
    vim.api.nvim_win_close(window --[[@as integer]], true)
  end
  window, shown, kept_free, read = nil, nil, nil, nil
end

--- Move it where it belongs now. Nothing happens while it is there already.
local function settle()
  if shown and open() then
    local wanted = place(shown)
    local now = vim.api.nvim_win_get_config(window --[[@as integer]])
    local moved = now.anchor ~= wanted.anchor or now.row ~= wanted.row or now.height ~= wanted.height
    if moved or footed ~= wanted.footer then
      footed = wanted.footer
      vim.api.nvim_win_set_config(window --[[@as integer]], wanted)
    end
  end
end

--- Keep off these rows of the screen as long as this question is there, if there is room elsewhere.
---@param top integer
---@param bottom integer
function M.keep_off(top, bottom)
  kept_free = { top = top, bottom = bottom }
  settle()
end

--- Show this question. The cursor stays where it is.
---@param question assent.Question
---@param count integer how many wait
function M.show(question, count)
  waiting = count
  if vim.t.assent_details then
    return M.hide() -- the tab shows the same at length
  end
  if shown == question and open() then
    -- It is on the screen already, and the user may be in it: it only moves.
    return vim.api.nvim_win_set_config(window --[[@as integer]], place(question))
  end
  M.hide()
  local options = place(question)
  options.border, options.zindex, options.noautocmd = "rounded", 60, true
  window = vim.api.nvim_open_win(fill(question), false, options)
  shown, read = question, reading.new(window)
  for name, value in pairs(LOOKS) do
    vim.api.nvim_set_option_value(name, value, { scope = "local", win = window })
  end
  vim.api.nvim_create_autocmd({ "WinEnter", "WinScrolled" }, {
    group = group,
    callback = vim.schedule_wrap(function()
      if standing then
        standing.far_at = nil -- what was far may have come near
      end
      settle()
      if read and inside() then
        read:look()
      end
    end),
  })
  vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI" }, {
    group = group,
    callback = function()
      if not stays() then
        vim.schedule(settle)
      end
    end,
  })
end

--- Its lines have changed.
---@param question assent.Question
function M.rewrite(question)
  if shown == question and open() then
    read = reading.new(window --[[@as integer]])
    write(vim.api.nvim_win_get_buf(window --[[@as integer]]), question)
    vim.api.nvim_win_set_config(window --[[@as integer]], place(question))
  end
end

--- Whether all of this question is on the screen.
---@param question assent.Question
---@return boolean
function M.shows_all(question)
  if shown ~= question or not open() then
    return vim.t.assent_details == true
  end
  local width = vim.api.nvim_win_get_width(window --[[@as integer]])
  return rows(question, width) <= vim.api.nvim_win_get_height(window --[[@as integer]])
end

--- Go into it, to answer with its keys.
---@param question assent.Question
---@param count integer
function M.enter(question, count)
  vim.t.assent_details = nil
  if
    not open() or vim.api.nvim_win_get_tabpage(window --[[@as integer]]) ~= vim.api.nvim_get_current_tabpage()
  then
    M.hide()
    M.show(question, count)
  end
  vim.api.nvim_set_current_win(window --[[@as integer]])
  vim.cmd.stopinsert() -- its keys are those of Normal mode
  settle()
end

return M
