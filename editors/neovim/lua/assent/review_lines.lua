--- Deciding about lines instead of hunks: those of a visual selection, or of a range.
local config = require("assent.config")
local hunks = require("assent.hunks")
local notice = require("assent.notice")
local review = require("assent.review")
local sight = require("assent.sight")

local M = {}

---@param first integer zero-based
---@param last integer
---@return assent.Place[] in this buffer, and on these lines at least in part
local function touched(first, last)
  local uri = review.uri_of(0)
  return vim.tbl_filter(function(place)
    local top, bottom = hunks.span(place.hunk)
    return place.uri == uri and top <= last and bottom >= first
  end, review.places())
end

---@param place assent.Place
---@param first integer zero-based
---@param last integer
---@return boolean
local function covers(place, first, last)
  local top, bottom = hunks.span(place.hunk)
  return hunks.rows(place.hunk) == 0 or (first <= top and last >= bottom)
end

--- A hunk whose old lines have one new line each, with the new ones on these rows and the old ones elsewhere.
---@param hunk table
---@param first integer zero-based
---@param last integer
---@return string
function M.mixed(hunk, first, last)
  local top = hunk.range.start.line
  local old, new = hunks.lines(hunk.oldText), hunks.lines(hunk.newText)
  for row = math.max(first, top), math.min(last, top + #old - 1) do
    old[row - top + 1] = new[row - top + 1]
  end
  return table.concat(old, "\n") .. (hunk.newText:sub(-1) == "\n" and "\n" or "")
end

--- Take some lines of a pending hunk. Where every old line has its new one they are known by the old ones; elsewhere
--- the user selects among all of them.
---@param place assent.Place
---@param first integer zero-based
---@param last integer
---@param message string?
local function accept_part(place, first, last, message)
  local hunk = place.hunk
  local paired = #hunks.lines(hunk.oldText) == #hunks.lines(hunk.newText)
  local seen = sight.whole(vim.api.nvim_get_current_win(), hunk)
  if hunk.state ~= "pending" then
    return notice.tell("these lines are in the text already; without a selection the whole hunk is kept")
  elseif paired and seen then
    local text = M.mixed(hunk, first, last)
    return review.resolve(place, { { hunkId = hunk.hunkId, decision = "edit", newText = text } }, message)
  end
  review.close_up(place, message)
  notice.tell(("select the lines to take, then %s"):format(config.get().keys.accept or ":Assent accept"))
end

--- Decide about the hunks on these lines: whole where all of one is selected, else only these lines of it.
---@param decision "accept"|"reject"
---@param first integer one-based
---@param last integer
---@param message string?
function M.decide(decision, first, last, message)
  local window = vim.api.nvim_get_current_win()
  local places = touched(first - 1, last - 1)
  if #places == 0 then
    return notice.tell("no hunk is on these lines; :Assent next goes to one")
  end
  local unseen = decision == "accept"
    and vim.tbl_filter(function(place)
      return place.hunk.state == "pending" and not sight.whole(window, place.hunk)
    end, places)[1]
  if unseen and #places > 1 then
    sight.reveal(window, unseen.hunk)
    return notice.tell("not all of these hunks were on the screen; select fewer lines")
  end
  for _, place in ipairs(places) do
    if covers(place, first - 1, last - 1) then
      review.decide_seen(place, decision, window, message)
    elseif decision == "accept" then
      accept_part(place, first - 1, last - 1, message)
    else
      notice.tell("a hunk is rejected as a whole: select all of its lines, or none")
    end
  end
end

--- The hunk at the cursor with all of its lines, to select among them.
function M.open()
  local place = review.here()
  if not place or place.hunk.state ~= "pending" then
    return notice.tell("no pending hunk is here")
  end
  review.close_up(place)
end

return M
