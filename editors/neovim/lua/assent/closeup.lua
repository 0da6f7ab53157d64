--- One hunk in a window of its own, for those that do not fit between the lines of their file: a long one, or a new
--- file, and for taking single lines: those selected. Nothing is accepted from here that was not on the screen.
local config = require("assent.config")
local hunks = require("assent.hunks")
local notice = require("assent.notice")
local panes = require("assent.panes")
local reading = require("assent.reading")

local M = {}

---@param hunk table
---@return string[]
local function lines_of(hunk)
  if hunk.oldText == "" then
    return hunks.lines(hunk.newText)
  end
  local lines = {}
  for _, line in ipairs(hunks.lines(hunk.oldText)) do
    table.insert(lines, "-" .. line)
  end
  for _, line in ipairs(hunks.lines(hunk.newText)) do
    table.insert(lines, "+" .. line)
  end
  return lines
end

---@param place assent.Place
---@return string
local function bar(place)
  local keys = config.get().keys
  local name = vim.fn.fnamemodify(vim.uri_to_fname(place.uri), ":~:.")
  local words = ("%s · hunk %d of %d · %s accepts (all or selected) · %s rejects · q closes"):format(
    name,
    place.index,
    #place.proposal.hunks,
    keys.accept or ":Assent accept",
    keys.reject or ":Assent reject"
  )
  return "%#Comment# " .. words:gsub("[%c]", " "):gsub("%%", "%%%%") .. "%<"
end

--- The window that shows this hunk, if one does.
---@param hunk table
---@return integer?
local function window_of(hunk)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.b[vim.api.nvim_win_get_buf(window)].assent_hunk == hunk.hunkId then
      return window
    end
  end
end

--- The lines of a hunk that rows of its window stand for, old ones first.
---@param hunk table
---@param first integer one-based
---@param last integer
---@return assent.wire.LineChoice
function M.choice(hunk, first, last)
  local old, new = #hunks.lines(hunk.oldText), #hunks.lines(hunk.newText)
  local function within(from, count)
    local low, high = math.max(first - 1 - from, 0), math.min(last - from, count)
    return low < high and { { low, high } } or {}
  end
  return { old = within(0, old), new = within(old, new) }
end

---@param place assent.Place
---@param decide fun(decision: "accept"|"reject", lines: assent.wire.LineChoice?)
function M.open(place, decide)
  local there = window_of(place.hunk)
  if there then
    return vim.api.nvim_set_current_win(there)
  end
  local filetype = place.hunk.oldText == "" and vim.filetype.match({ filename = vim.uri_to_fname(place.uri) }) or "diff"
  local bufnr = vim.api.nvim_create_buf(false, true)
  local height = vim.api.nvim_win_get_height(0)
  local lines = lines_of(place.hunk)
  panes.split_off(bufnr, ("belowright %dsplit"):format(math.max(3, math.min(#lines + 1, height - 4))))
  vim.bo[bufnr].bufhidden = "wipe"
  vim.b[bufnr].assent_hunk = place.hunk.hunkId
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].filetype = filetype or ""
  vim.wo[0][0].wrap, vim.wo[0][0].foldenable, vim.wo[0][0].conceallevel = true, false, 0
  vim.wo[0][0].winbar = bar(place)
  local info = vim.fn.getwininfo(vim.api.nvim_get_current_win())[1]
  require("assent.corner").keep_off(info.winrow, info.winrow + info.height)
  local read = reading.new(vim.api.nvim_get_current_win())
  local function close()
    pcall(vim.api.nvim_win_close, vim.fn.bufwinid(bufnr), true)
  end
  local map = function(key, action, description, mode)
    if key then
      vim.keymap.set(mode or "n", key, action, { buffer = bufnr, nowait = true, desc = "Assent: " .. description })
    end
  end
  map("q", close, "close")
  map(config.get().keys.reject, function()
    close()
    decide("reject")
  end, "reject")
  map(config.get().keys.accept, function()
    if read:ends() then
      close()
      decide("accept")
    end
  end, "accept")
  map(config.get().keys.accept, function()
    read:look()
    local rows = { vim.fn.line("v"), vim.fn.line(".") }
    table.sort(rows)
    if read.reached < rows[2] then
      return notice.tell("not all of these lines were on the screen yet")
    end
    vim.api.nvim_feedkeys(vim.keycode("<Esc>"), "nx", false)
    close()
    decide("accept", M.choice(place.hunk, rows[1], rows[2]))
  end, "accept the selected lines", "x")
  local look = function()
    read:look()
  end
  vim.api.nvim_create_autocmd({ "WinScrolled", "CursorMoved" }, { buffer = bufnr, callback = look })
  look()
end

return M
