--- One hunk in a window of its own, for those that do not fit between the lines of their file: a long one, or a new
--- file. It is accepted from here once its end was on the screen.
local config = require("assent.config")
local hunks = require("assent.hunks")
local notice = require("assent.notice")
local panes = require("assent.panes")

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
  local words = ("%s · hunk %d of %d · %s accepts, once all was shown · %s rejects · q closes"):format(
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

---@param place assent.Place
---@param decide fun(decision: "accept"|"reject")
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
  local shown = 0
  local function look()
    vim.cmd.redraw()
    local first, last = vim.fn.line("w0"), vim.fn.line("w$")
    shown = first <= shown + 1 and math.max(shown, last) or shown
  end
  local function close()
    pcall(vim.api.nvim_win_close, vim.fn.bufwinid(bufnr), true)
  end
  local map = function(key, action, description)
    if key then
      vim.keymap.set("n", key, action, { buffer = bufnr, nowait = true, desc = "Assent: " .. description })
    end
  end
  map("q", close, "close")
  map(config.get().keys.reject, function()
    close()
    decide("reject")
  end, "reject")
  map(config.get().keys.accept, function()
    look()
    if shown < #lines then
      vim.api.nvim_win_set_cursor(0, { shown + 1, 0 })
      vim.cmd("normal! zt")
      look()
      return notice.tell(("%d of %d lines shown"):format(shown, #lines))
    end
    close()
    decide("accept")
  end, "accept")
  vim.api.nvim_create_autocmd({ "WinScrolled", "CursorMoved" }, { buffer = bufnr, callback = look })
  look()
end

return M
