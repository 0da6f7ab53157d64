--- How hunks look in the real buffer: old lines marked, new ones below them as virtual lines, keys to decide.
--- Nothing is written to the buffer here.
local config = require("assent.config")

local M = {}

local namespace = vim.api.nvim_create_namespace("assent_review")

---@param text string
---@return string[]
function M.lines(text)
  if text == "" then
    return {}
  end
  return vim.split((text:gsub("\r\n?", "\n"):gsub("\n$", "")), "\n", { plain = true })
end

local MOST_PIECES = 12

--- How many columns of text every window that shows the buffer has; virtual lines are cut at its edge, not wrapped.
---@param bufnr integer
---@return integer
local function room(bufnr)
  local narrowest = vim.o.columns
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    local info = vim.fn.getwininfo(window)[1]
    narrowest = math.min(narrowest, info.width - info.textoff - 2) -- our signs may come yet
  end
  return math.max(narrowest, 20)
end

--- A line as it would look wrapped: one who accepts it has seen its end.
---@param line string
---@param width integer
---@param tabstop integer
---@return string[]
function M.wrapped(line, width, tabstop)
  local pieces, piece, used = {}, {}, 0
  local column = 0
  for _, char in ipairs(vim.fn.split(line:sub(1, width * MOST_PIECES * 4), "\\zs")) do
    local shown = char == "\t" and (" "):rep(tabstop - column % tabstop) or char
    local cells = vim.fn.strdisplaywidth(shown)
    if used + cells > width and used > 0 then
      table.insert(pieces, table.concat(piece))
      piece, used = {}, 0
    end
    if #pieces == MOST_PIECES then
      return vim.list_extend(pieces, { "… a very long line; :Assent diff shows all of it" })
    end
    table.insert(piece, shown)
    used, column = used + cells, column + cells
  end
  table.insert(pieces, used > 0 and table.concat(piece) or " ")
  return pieces
end

---@param label string
---@param keys string what can be done
---@param width integer
---@return string[]
local function hint_lines(label, keys, width)
  local whole = ("▲ Assent %s · %s"):format(label, keys)
  if vim.fn.strdisplaywidth(whole) <= width then
    return { whole }
  end
  return { "▲ Assent " .. label, "  " .. keys }
end

--- Whether a hunk is in the text already: it landed, and the user may have changed it since.
---@param hunk table
---@return boolean
function M.in_text(hunk)
  return hunk.state == "landed" or hunk.state == "edited"
end

--- How many lines of the buffer a hunk stands on.
---@param hunk table
---@return integer
function M.rows(hunk)
  if hunk.state == "edited" then -- what stands there is the user's own text
    local last = hunk.range["end"]
    return last.line - hunk.range.start.line + (last.character > 0 and 1 or 0)
  end
  return #M.lines(M.in_text(hunk) and hunk.newText or hunk.oldText)
end

--- A hunk that is in the text already: its lines are marked, and say how to take them back.
---@param bufnr integer
---@param hunk table
---@param width integer
local function draw_landed(bufnr, hunk, width)
  local total = vim.api.nvim_buf_line_count(bufnr)
  local first = math.min(hunk.range.start.line, total - 1)
  local count = math.max(M.rows(hunk), 1)
  local last = math.min(first + count - 1, total - 1)
  for row = first, last do
    vim.api.nvim_buf_set_extmark(bufnr, namespace, row, 0, {
      line_hl_group = "AssentLanded",
      sign_text = "┃",
      sign_hl_group = "AssentLandedSign",
    })
  end
  local keys = config.get().keys
  local actions = ("%s keep · %s take back"):format(keys.accept or ":Assent accept", keys.reject or ":Assent reject")
  local label = hunk.state == "edited" and "landed, changed by you" or "landed"
  local hint = ("  Assent %s · %s"):format(label, actions)
  local text = vim.api.nvim_buf_get_lines(bufnr, first, first + 1, false)[1] or ""
  if vim.fn.strdisplaywidth(text .. hint) <= width then
    local options = { virt_text = { { hint, "AssentHint" } }, virt_text_pos = "eol" }
    return vim.api.nvim_buf_set_extmark(bufnr, namespace, first, 0, options)
  end
  local virtual = vim.tbl_map(function(line)
    return { { line, "AssentHint" } }
  end, hint_lines(label, actions, width))
  vim.api.nvim_buf_set_extmark(bufnr, namespace, last, 0, { virt_lines = virtual })
end

---@type table<string, assent.Block> what is drawn of each pending hunk, by hunkId
local blocks = {}

---@param hunk table
---@return assent.Block?
function M.block(hunk)
  return blocks[hunk.hunkId]
end

--- Lines before the first one are not seen unless their windows are scrolled to them.
---@param bufnr integer
---@param rows integer
local function scroll_to_top(bufnr, rows)
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.api.nvim_win_call(window, function()
      if vim.fn.winsaveview().topline == 1 then
        vim.fn.winrestview({ topline = 1, topfill = rows })
      end
    end)
  end
end

---@param bufnr integer
---@param place assent.Place
---@param width integer
---@param fresh boolean whether its windows have just come
local function draw_pending(bufnr, place, width, fresh)
  local hunk, keys = place.hunk, config.get().keys
  local total = vim.api.nvim_buf_line_count(bufnr)
  local first = math.min(hunk.range.start.line, total - 1)
  local old = M.lines(hunk.oldText)
  for row = first, math.min(first + #old - 1, total - 1) do
    vim.api.nvim_buf_set_extmark(bufnr, namespace, row, 0, {
      line_hl_group = "AssentOld",
      sign_text = "┃",
      sign_hl_group = "AssentOldSign",
    })
  end
  local virtual, cut = {}, false
  for _, line in ipairs(M.lines(hunk.newText)) do
    local pieces = M.wrapped(line, width, vim.bo[bufnr].tabstop)
    cut = cut or #pieces > MOST_PIECES
    for _, piece in ipairs(pieces) do
      table.insert(virtual, { { piece, "AssentNew" } })
    end
  end
  local label = hunk.state == "conflict" and "conflict: you changed these lines"
    or ("hunk %d of %d"):format(place.index, #place.proposal.hunks)
  local actions = ("%s accept · %s reject · %s edit"):format(
    keys.accept or ":Assent accept",
    keys.reject or ":Assent reject",
    keys.edit or ":Assent edit"
  )
  for _, line in ipairs(hint_lines(label, actions, width)) do
    table.insert(virtual, { { line, "AssentHint" } })
  end
  -- The model's own words for the change, once.
  if place.index == 1 and place.proposal.reason ~= "" then
    for _, piece in ipairs(M.wrapped("  " .. place.proposal.reason, width, 8)) do
      table.insert(virtual, { { piece, "AssentHint" } })
    end
  end
  local inserting_on_top = #old == 0 and hunk.range.start.line == 0
  local anchor = math.max(0, math.min(#old > 0 and first + #old - 1 or hunk.range.start.line - 1, total - 1))
  vim.api.nvim_buf_set_extmark(bufnr, namespace, anchor, 0, {
    virt_lines = virtual,
    virt_lines_above = inserting_on_top,
  })
  local known = blocks[hunk.hunkId]
  blocks[hunk.hunkId] = { rows = #virtual, before = inserting_on_top and 1 or anchor + 2, cut = cut }
  if inserting_on_top and (fresh or not known or known.rows ~= #virtual) then
    scroll_to_top(bufnr, #virtual)
  end
end

local function highlights()
  local links = {
    AssentOld = "DiffDelete",
    AssentNew = "DiffAdd",
    AssentLanded = "DiffAdd",
    AssentOldSign = "DiagnosticSignError",
    AssentLandedSign = "DiagnosticSignOk",
    AssentHint = "Comment",
  }
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

--- The rows of the buffer a hunk stands on, zero-based.
---@param hunk table
---@return integer first
---@return integer last
function M.span(hunk)
  local count = M.rows(hunk)
  local first = hunk.range.start.line
  if count == 0 then
    return math.max(first - 1, 0), first -- an insertion hangs between two lines
  end
  return first, first + count - 1
end

--- Windows that were scrolled to lines above the first one do not go on showing rows for lines that went.
---@param bufnr integer
---@param rows integer how many there are now
local function settle_top(bufnr, rows)
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.api.nvim_win_call(window, function()
      local view = vim.fn.winsaveview()
      if view.topline == 1 and view.topfill > rows then
        vim.fn.winrestview({ topline = 1, topfill = rows })
      end
    end)
  end
end

--- Draw these hunks in a buffer, and no others.
---@param bufnr integer
---@param places assent.Place[]
---@param fresh boolean? whether a window has just come to show it
function M.draw(bufnr, places, fresh)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  local width = #places > 0 and room(bufnr) or 0
  local above = 0
  for _, place in ipairs(places) do
    if M.in_text(place.hunk) then
      draw_landed(bufnr, place.hunk, width)
    else
      draw_pending(bufnr, place, width, fresh == true)
      local block = blocks[place.hunk.hunkId]
      above = above + (block.before == 1 and block.rows or 0)
    end
  end
  settle_top(bufnr, above)
end

local group = vim.api.nvim_create_augroup("assent_hunks", { clear = true })
-- Not with every drawing: each setting of a highlight makes Neovim draw the whole screen anew.
highlights()
vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = highlights })
return M
