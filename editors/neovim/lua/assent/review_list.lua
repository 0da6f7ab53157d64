--- All hunks at one glance: in the quickfix list, or in a window of their own where keys decide. Both follow what
--- happens to the hunks.
local files = require("assent.files")
local hunks = require("assent.hunks")
local notice = require("assent.notice")
local panes = require("assent.panes")
local review = require("assent.review")
local sight = require("assent.sight")
local tally = require("assent.tally")

local M = {}

local TITLE = "Assent: hunks to review"
local HEIGHT = 12

---@type integer? the id of our quickfix list
local list
---@type integer? the buffer of the window
local bufnr
---@type table<integer, assent.Place|string> what a row of it is about: a hunk, or a file by its uri
local rows = {}

---@param hunk table
---@return integer added, integer removed
local function size(hunk)
  return #hunks.lines(hunk.newText), #hunks.lines(hunk.oldText)
end

---@return table[]
local function items()
  return vim.tbl_map(function(place)
    local added, removed = size(place.hunk)
    local first = hunks.lines(place.hunk.newText)[1] or ""
    return {
      filename = vim.uri_to_fname(place.uri),
      lnum = place.hunk.range.start.line + 1,
      text = ("[%s] -%d +%d  %s"):format(place.hunk.state, removed, added, first),
      user_data = place.hunk.hunkId,
    }
  end, review.places())
end

--- All hunks, across files, in the quickfix list.
function M.quickfix()
  local found = items()
  if #found == 0 then
    return notice.tell("there is nothing to review")
  end
  vim.fn.setqflist({}, " ", { title = TITLE, items = found })
  list = vim.fn.getqflist({ id = 0 }).id
  local heights = panes.prompt_heights()
  vim.cmd.copen()
  panes.restore_after(vim.api.nvim_get_current_win(), heights)
end

--- The quickfix list as things are now; the entry one is at stays the same as long as it is there.
local function follow_quickfix()
  local now = list and vim.fn.getqflist({ id = list, title = 0, items = 0, idx = 0 })
  if not now or now.id == 0 or now.title ~= TITLE then
    list = nil
    return
  end
  local at, found = now.items[now.idx] or {}, items()
  local index = math.min(now.idx, math.max(#found, 1))
  for position, item in ipairs(found) do
    if item.user_data == at.user_data then
      index = position
    end
  end
  vim.fn.setqflist({}, "r", { id = list, title = TITLE, items = found, idx = #found > 0 and index or nil })
end

---@return string[] lines
local function draw()
  local lines, by_file = {}, {}
  rows = {}
  local places = review.places()
  for _, place in ipairs(places) do
    by_file[place.uri] = by_file[place.uri] or { added = 0, removed = 0, count = 0 }
    local added, removed = size(place.hunk)
    local sum = by_file[place.uri]
    sum.added, sum.removed, sum.count = sum.added + added, sum.removed + removed, sum.count + 1
  end
  local uri
  for _, place in ipairs(places) do
    if place.uri ~= uri then
      uri = place.uri
      local sum = by_file[uri]
      local name = vim.fn.fnamemodify(vim.uri_to_fname(uri), ":~:.")
      local count = ("%d hunk%s"):format(sum.count, sum.count == 1 and "" or "s")
      table.insert(lines, ("%s  %s +%d −%d"):format(name, count, sum.added, sum.removed))
      rows[#lines] = uri
    end
    local added, removed = size(place.hunk)
    local said = hunks.lines(place.hunk.newText)[1] or hunks.lines(place.hunk.oldText)[1] or ""
    local line = place.hunk.range.start.line + 1
    table.insert(lines, ("  %5d  %-8s +%d −%d  %s"):format(line, place.hunk.state, added, removed, vim.trim(said)))
    rows[#lines] = place
  end
  return #lines > 0 and lines or { "Everything is decided." }
end

---@return integer? window that shows it
local function window_of()
  local found = bufnr and vim.api.nvim_buf_is_valid(bufnr) and vim.fn.win_findbuf(bufnr) or {}
  return found[1]
end

--- The hunk a row is about; for a file's row its first one.
---@return assent.Place?
local function place_at_cursor()
  local row = vim.api.nvim_win_get_cursor(0)[1]
  for each = row, #rows do
    if type(rows[each]) == "table" then
      return rows[each] --[[@as assent.Place]]
    end
  end
end

local function follow_window()
  local window = window_of()
  if not window then
    return
  end
  local lines = draw()
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr --[[@as integer]], 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  local counts = review.counts()
  local total, added, removed, seen = 0, 0, 0, {}
  for _, place in ipairs(review.places()) do
    local came, went = size(place.hunk)
    added, removed, total = added + came, removed + went, total + (seen[place.uri] and 0 or 1)
    seen[place.uri] = true
  end
  local words = ("%d to decide · %s"):format(counts.hunks, tally.words(total, added, removed))
  local keys = "a accept · r reject · <CR> go there · A, R all · q close"
  vim.wo[window][0].winbar = ("%%#Title# %s %%#Comment# %s%%<"):format(words, keys)
end

--- Show the hunk of this row where its file is, without going there.
---@return assent.Place?, integer? window
local function preview()
  local place = place_at_cursor()
  if not place then
    return
  end
  local window, problem = files.put(vim.uri_to_fname(place.uri))
  if not window then
    notice.tell(problem or "", vim.log.levels.WARN)
    return
  end
  review.redraw(place.uri)
  if not hunks.in_text(place.hunk) then
    sight.reveal(window, place.hunk)
  else
    local last = vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(window))
    vim.api.nvim_win_set_cursor(window, { math.min(place.hunk.range.start.line + 1, last), 0 })
  end
  return place, window
end

---@param decision "accept"|"reject"
---@return fun()
local function decide(decision)
  return function()
    local about = rows[vim.api.nvim_win_get_cursor(0)[1]]
    if type(about) == "string" then
      return review.decide_file(decision, about)
    end
    local place, window = preview()
    if place and window then
      vim.api.nvim_win_call(window, function()
        review.decide_seen(place, decision, window)
      end)
    end
  end
end

---@param decision "accept"|"reject"
---@return fun()
local function decide_all(decision)
  return function()
    review.decide(decision, "all")
  end
end

local function go()
  local place, window = preview()
  if place and window then
    vim.api.nvim_set_current_win(window)
  end
end

--- A window with every hunk, below the others. Moving in it shows each hunk where it is.
function M.window()
  local there = window_of()
  if there then
    return vim.api.nvim_set_current_win(there)
  elseif #review.places() == 0 then
    return notice.tell("there is nothing to review")
  end
  bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, "assent://hunks")
  panes.split_off(bufnr, ("botright %dsplit"):format(math.min(#draw() + 1, HEIGHT)))
  vim.bo[bufnr].bufhidden, vim.bo[bufnr].filetype = "wipe", "assent_hunks"
  vim.wo[0][0].cursorline, vim.wo[0][0].number, vim.wo[0][0].wrap, vim.wo[0][0].winfixheight = true, false, false, true
  local keys = { a = decide("accept"), r = decide("reject"), ["<CR>"] = go, q = "<Cmd>close<CR>" }
  keys.A, keys.R = decide_all("accept"), decide_all("reject")
  for key, action in pairs(keys) do
    vim.keymap.set("n", key, action, { buffer = bufnr, nowait = true, desc = "Assent: review" })
  end
  follow_window()
  vim.api.nvim_win_set_cursor(0, { math.min(2, vim.api.nvim_buf_line_count(bufnr)), 0 })
  vim.api.nvim_create_autocmd("CursorMoved", {
    buffer = bufnr,
    callback = function()
      preview()
    end,
  })
  preview()
end

vim.api.nvim_create_autocmd("User", {
  group = vim.api.nvim_create_augroup("assent_review_list", { clear = true }),
  pattern = "AssentHunksChanged",
  callback = function()
    follow_quickfix()
    follow_window()
  end,
})

return M
