--- Code in answers: coloured in its language, taken into a register or a file by one key.
local notice = require("assent.notice")
local panes = require("assent.panes")

local M = {}

--- A conversation has no more languages than this; further ones stay plain.
local MOST_LANGUAGES = 12
local FENCE = "^%s*```+%s*([%w_+#-]*)"
local OTHER_NAMES = {
  bash = "sh",
  shell = "sh",
  zsh = "sh",
  console = "sh",
  py = "python",
  js = "javascript",
  jsx = "javascriptreact",
  ts = "typescript",
  tsx = "typescriptreact",
  rs = "rust",
  rb = "ruby",
  yml = "yaml",
  ["c++"] = "cpp",
  ["c#"] = "cs",
  golang = "go",
  md = "markdown",
}

---@class assent.CodeBlock
---@field language string as the fence names it
---@field lines string[]
---@field first integer one-based row of the opening fence
---@field last integer of the closing one

--- The block at a row, or the last one before it.
---@param lines string[]
---@param row integer one-based
---@return assent.CodeBlock?
function M.find(lines, row)
  local found, open
  for number, line in ipairs(lines) do
    local language = line:match(FENCE)
    if language and open then
      open.last = number
      open.lines = vim.list_slice(lines, open.first + 1, number - 1)
      found, open = open, nil
      if found.last >= row then
        return found
      end
    elseif language then
      if number > row then
        return found
      end
      open = { language = language, first = number }
    end
  end
  return found
end

---@return assent.CodeBlock?
local function here()
  local found = M.find(vim.api.nvim_buf_get_lines(0, 0, -1, false), vim.fn.line("."))
  if not found then
    notice.tell("no code block is here or above")
  end
  return found
end

--- Take the code block at the cursor, or the last one above, into the registers.
function M.yank()
  local block = here()
  if block then
    for _, register in ipairs({ '"', "0" }) do
      vim.fn.setreg(register, block.lines, "V")
    end
    if vim.fn.has("clipboard") == 1 then
      pcall(vim.fn.setreg, "+", block.lines, "V")
    end
    notice.tell(("%d line%s of code taken; p puts them"):format(#block.lines, #block.lines == 1 and "" or "s"))
  end
end

--- Put it into the file beside the chat, below the cursor there.
function M.insert()
  local block = here()
  local window = block and panes.active_window()
  if not block then
    return
  elseif not window then
    return notice.tell("no file is open beside the chat")
  end
  local bufnr = vim.api.nvim_win_get_buf(window)
  if not vim.bo[bufnr].modifiable then
    return notice.tell("that file cannot be changed")
  end
  local row = vim.api.nvim_win_get_cursor(window)[1]
  local empty = vim.api.nvim_buf_line_count(bufnr) == 1 and vim.api.nvim_buf_get_lines(bufnr, 0, 1, false)[1] == ""
  vim.api.nvim_buf_set_lines(bufnr, empty and 0 or row, empty and -1 or row, false, block.lines)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ":~:.")
  notice.tell(("%d lines put into %s"):format(#block.lines, name ~= "" and name or "[No Name]"))
end

---@type table<integer, table<string, boolean>> languages that are coloured, by buffer
local coloured = {}

--- Colour blocks of a language from now on. Syntax items look at what is on the screen only, so a long conversation
--- costs no more than a short one.
---@param bufnr integer
---@param language string
local function colour(bufnr, language)
  local known = coloured[bufnr] or {}
  coloured[bufnr] = known
  if known[language] ~= nil or vim.tbl_count(known) >= MOST_LANGUAGES then
    return
  end
  local syntax = OTHER_NAMES[language:lower()] or language:lower()
  local file = syntax:match("^[%w_]+$") and vim.api.nvim_get_runtime_file(("syntax/%s.vim"):format(syntax), false)[1]
  known[language] = file ~= nil
  if not file then
    return
  end
  local name = ("AssentCode%d"):format(vim.tbl_count(known))
  vim.api.nvim_buf_call(bufnr, function()
    local before = vim.b.current_syntax
    vim.b.current_syntax = nil
    pcall(vim.cmd, ("syntax include @%s syntax/%s.vim"):format(name, syntax))
    vim.b.current_syntax = before
    local region = [[syntax region %s matchgroup=Delimiter start=/^\s*```\+\s*\V%s\m\s*$/ end=/^\s*```\+\s*$/ ]]
    vim.cmd(region:format(name, vim.fn.escape(language, [[/\]])) .. "keepend contains=@" .. name)
    vim.cmd("syntax sync minlines=100 maxlines=500")
  end)
end

---@type table<integer, string> the end of what came last, by buffer: a fence may come in pieces
local tails = {}

--- Text of an answer came: colour the languages it begins to use.
---@param bufnr integer
---@param text string
function M.seen(bufnr, text)
  if not text:find("\n", 1, true) then
    tails[bufnr] = ((tails[bufnr] or "\n") .. text):sub(-80)
    return
  end
  local all = (tails[bufnr] or "\n") .. text
  for language in all:gmatch("\n%s*```+%s*([%w_+#-]+)%s*\n") do
    colour(bufnr, language)
  end
  tails[bufnr] = all:sub(-80)
end

---@param bufnr integer
function M.forget(bufnr)
  coloured[bufnr], tails[bufnr] = nil, nil
end

return M
