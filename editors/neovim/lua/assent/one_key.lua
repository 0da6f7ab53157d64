--- One-key answers from any buffer: `<Plug>(AssentYes)`, `<Plug>(AssentNo)` and `<Plug>(AssentAlways)`.
--- Keys for them exist only while a question waits. A key that the user mapped stays the user's; a `<Plug>` that the
--- user mapped gets no second key. What an answer does is for `questions`.
local config = require("assent.config")

local M = {}

---@alias assent.QuickAnswer "yes"|"no"|"always"

---@type table<assent.QuickAnswer, string>
local PLUGS = { yes = "<Plug>(AssentYes)", no = "<Plug>(AssentNo)", always = "<Plug>(AssentAlways)" }
local MODES = { "n", "i", "x" }

---@type table<assent.QuickAnswer, string> the keys we mapped
local mapped = {}

---@param key string
---@return string
local function normalised(key)
  return vim.fn.keytrans(vim.api.nvim_replace_termcodes(key, true, true, true))
end

--- The key that the user mapped to an answer, if any.
---@param answer assent.QuickAnswer
---@return string?
local function chosen(answer)
  for _, map in ipairs(vim.api.nvim_get_keymap("n")) do
    if map.rhs == PLUGS[answer] then
      return map.lhs
    end
  end
end

---@param key string
---@return boolean
local function taken(key)
  for _, mode in ipairs(MODES) do
    if vim.fn.maparg(key, mode) ~= "" then
      return true
    end
  end
  return false
end

--- Map the suggested keys: called when the first question begins to wait.
function M.map()
  for answer, plug in pairs(PLUGS) do
    local key = config.get().keys[answer]
    if key and not mapped[answer] and not chosen(answer) and not taken(key) then
      vim.keymap.set(MODES, key, plug, { remap = true, desc = "Assent: answer " .. answer })
      mapped[answer] = normalised(key)
    end
  end
end

--- Nothing waits any more: the keys are the user's own again.
function M.unmap()
  for _, key in pairs(mapped) do
    pcall(vim.keymap.del, MODES, key)
  end
  mapped = {}
end

--- What the user presses for an answer in this buffer: a key, or the command where no key leads to it.
---@param answer assent.QuickAnswer
---@return string
function M.label(answer)
  local key = chosen(answer) or mapped[answer]
  if key then
    local here = vim.fn.maparg(key, "n", false, true)
    if here.rhs == PLUGS[answer] then
      return (normalised(key):gsub("^<M%-(.)>$", "Alt-%1"))
    end
  end
  return ":Assent " .. answer
end

return M
