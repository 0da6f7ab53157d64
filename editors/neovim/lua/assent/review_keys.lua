--- The keys of a review: in every buffer while one is open, so that none of them does what Vim would do with it.
--- A key that the user mapped in a buffer stays the user's.
local config = require("assent.config")

local M = {}

local ACTIONS =
  { accept = "accept", reject = "reject", edit = "edit", lines = "lines", next_hunk = "next", prev_hunk = "prev" }
--- Those that a selection has, too: the command gets its range.
local SELECTED = { accept = true, reject = true }

---@type table<integer, string[]> keys we mapped, by buffer
local mapped = {}
--- Whether hunks wait somewhere, and whether some ever did.
local open, begun = false, false
local group = vim.api.nvim_create_augroup("assent_review_keys", { clear = true })

--- Whether a key would begin to select text and then replace it, were it not ours: `gh` is Vim's Select mode.
---@param key string
---@return boolean
local function destructive(key)
  return key:lower():sub(1, 2) == "gh" and vim.fn.maparg("gh", "n") == ""
end

---@param bufnr integer
local function map(bufnr)
  if mapped[bufnr] or not vim.api.nvim_buf_is_valid(bufnr) or vim.b[bufnr].assent_hunk then
    return
  end
  mapped[bufnr] = {}
  local keys = config.get().keys
  for name, arguments in pairs(ACTIONS) do
    local key = keys[name]
    local taken = key
      and vim.api.nvim_buf_call(bufnr, function()
        return vim.fn.maparg(key, "n", false, true).buffer == 1
      end)
    if key and not taken and (open or destructive(key)) then
      local command = ("<Cmd>Assent %s<CR>"):format(arguments)
      vim.keymap.set("n", key, command, { buffer = bufnr, desc = "Assent: " .. arguments })
      if SELECTED[name] then
        vim.keymap.set("x", key, (":Assent %s<CR>"):format(arguments), { buffer = bufnr, silent = true })
      end
      table.insert(mapped[bufnr], key)
    end
  end
end

---@param key string
---@param bufnr integer
local function unmap(key, bufnr)
  for _, mode in ipairs({ "n", "x" }) do
    pcall(vim.keymap.del, mode, key, { buffer = bufnr })
  end
end

--- The last hunk is decided: the keys are the user's own again. Those that would change text when pressed once too
--- often stay and say that there is nothing to do.
local function release()
  for bufnr, keys in pairs(mapped) do
    mapped[bufnr] = vim.tbl_filter(function(key)
      if destructive(key) then
        return true
      end
      unmap(key, bufnr)
      return false
    end, keys)
  end
end

local function map_shown()
  mapped = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    map(vim.api.nvim_win_get_buf(window))
  end
end

--- Have the keys or not: called with every change of what is to be reviewed.
---@param wanted boolean
function M.keep(wanted)
  if wanted == open then
    return
  end
  open = wanted
  if not open then
    return release()
  end
  for bufnr, keys in pairs(mapped) do
    for _, key in ipairs(keys) do
      unmap(key, bufnr)
    end
  end
  map_shown()
  if not begun then
    begun = true
    vim.api.nvim_create_autocmd({ "BufEnter", "BufWinEnter" }, {
      group = group,
      callback = function(event)
        map(event.buf)
      end,
    })
    vim.api.nvim_create_autocmd({ "BufDelete", "BufWipeout" }, {
      group = group,
      callback = function(event)
        mapped[event.buf] = nil
      end,
    })
  end
end

return M
