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

---@param bufnr integer
---@param place assent.Place
local function draw_one(bufnr, place)
  local hunk = place.hunk
  local keys = config.get().keys
  local total = vim.api.nvim_buf_line_count(bufnr)
  local first = math.min(hunk.range.start.line, total - 1)
  local old = M.lines(hunk.oldText)
  local label = hunk.state == "conflict" and "conflict: you changed these lines"
    or hunk.state == "landed" and "landed"
    or ("hunk %d of %d"):format(place.index, #place.proposal.hunks)
  local hint = hunk.state == "landed"
      and ("%s keep · %s take back"):format(keys.accept or ":Assent accept", keys.reject or ":Assent reject")
    or ("%s accept · %s reject · %s edit"):format(
      keys.accept or ":Assent accept",
      keys.reject or ":Assent reject",
      keys.edit or ":Assent edit"
    )
  if hunk.state == "landed" then
    local count = math.max(#M.lines(hunk.newText), 1)
    for row = first, math.min(first + count - 1, total - 1) do
      vim.api.nvim_buf_set_extmark(bufnr, namespace, row, 0, {
        line_hl_group = "AssentLanded",
        sign_text = "┃",
        sign_hl_group = "AssentLandedSign",
      })
    end
    vim.api.nvim_buf_set_extmark(bufnr, namespace, first, 0, {
      virt_text = { { ("  Assent %s · %s"):format(label, hint), "AssentHint" } },
      virt_text_pos = "eol",
    })
    return
  end
  for row = first, math.min(first + #old - 1, total - 1) do
    vim.api.nvim_buf_set_extmark(bufnr, namespace, row, 0, {
      line_hl_group = "AssentOld",
      sign_text = "┃",
      sign_hl_group = "AssentOldSign",
    })
  end
  local virtual = {}
  for _, line in ipairs(M.lines(hunk.newText)) do
    table.insert(virtual, { { line == "" and " " or line, "AssentNew" } })
  end
  table.insert(virtual, { { ("▲ Assent %s · %s"):format(label, hint), "AssentHint" } })
  local inserting_on_top = #old == 0 and hunk.range.start.line == 0
  local anchor = #old > 0 and first + #old - 1 or first - 1
  vim.api.nvim_buf_set_extmark(bufnr, namespace, math.max(0, math.min(anchor, total - 1)), 0, {
    virt_lines = virtual,
    virt_lines_above = inserting_on_top,
  })
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

---@type table<integer, string[]> keys we mapped, by buffer
local mapped = {}

--- Keys for a buffer under review. A key that the user mapped in it stays the user's.
---@param bufnr integer
---@param under_review boolean
local function map(bufnr, under_review)
  if under_review == (mapped[bufnr] ~= nil) then
    return
  end
  if not under_review then
    for _, key in ipairs(mapped[bufnr]) do
      pcall(vim.keymap.del, "n", key, { buffer = bufnr })
    end
    mapped[bufnr] = nil
    return
  end
  mapped[bufnr] = {}
  local keys = config.get().keys
  local actions = { accept = "accept", reject = "reject", edit = "edit", next_hunk = "next", prev_hunk = "prev" }
  for name, arguments in pairs(actions) do
    local key = keys[name]
    local taken = key
      and vim.api.nvim_buf_call(bufnr, function()
        return vim.fn.maparg(key, "n", false, true).buffer == 1
      end)
    if key and not taken then
      local command = ("<Cmd>Assent %s<CR>"):format(arguments)
      vim.keymap.set("n", key, command, { buffer = bufnr, desc = "Assent: " .. arguments })
      table.insert(mapped[bufnr], key)
    end
  end
end

--- The rows of the buffer a hunk stands on, zero-based.
---@param hunk table
---@return integer first
---@return integer last
function M.span(hunk)
  local count = #M.lines(hunk.state == "landed" and hunk.newText or hunk.oldText)
  local first = hunk.range.start.line
  if count == 0 then
    return math.max(first - 1, 0), first -- an insertion hangs between two lines
  end
  return first, first + count - 1
end

--- Draw these hunks in a buffer, and no others.
---@param bufnr integer
---@param places assent.Place[]
function M.draw(bufnr, places)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  for _, place in ipairs(places) do
    draw_one(bufnr, place)
  end
  map(bufnr, #places > 0)
end

local group = vim.api.nvim_create_augroup("assent_hunks", { clear = true })
-- Not with every drawing: each setting of a highlight makes Neovim draw the whole screen anew.
highlights()
vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = highlights })
vim.api.nvim_create_autocmd({ "BufDelete", "BufWipeout" }, {
  group = group,
  callback = function(event)
    mapped[event.buf] = nil
  end,
})

return M
