--- What the user is told outside the chat: one line each, through vim.notify, and never a message that stops them.
local M = {}

--- Whether vim.notify is Neovim's own, which prints into the command line. Its source is the name of a module inside
--- Neovim, or none where that was compiled without names (0.12).
---@return boolean
local function built_in()
  local source = debug.getinfo(vim.notify, "S").source
  return source:find("^@vim/_") ~= nil or source:find("^=?%?$") ~= nil
end

--- A message longer than the command line would stop the user at "Press ENTER": its beginning is shown, and the whole
--- of it goes to :messages.
---@param text string
---@param level integer
---@param room integer
local function shorten(text, level, room)
  local highlight = level >= vim.log.levels.ERROR and "ErrorMsg" or level >= vim.log.levels.WARN and "WarningMsg" or nil
  local before, height = vim.o.shortmess, vim.o.cmdheight
  vim.opt.shortmess:append("T") -- so that Neovim cuts what it prints, but not what it remembers
  vim.o.cmdheight = math.max(height, 1) -- without a line of its own even what is cut would stop the user
  vim.cmd.echomsg(vim.fn.string(text))
  vim.o.shortmess, vim.o.cmdheight = before, height
  vim.cmd.redraw()
  vim.api.nvim_echo({ { vim.fn.strcharpart(text, 0, room - 14) .. "… (:messages)", highlight } }, false, {})
end

---@param message string
---@param level integer?
function M.tell(message, level)
  vim.schedule(function()
    local text = "Assent: " .. message:gsub("%s*\n%s*", " ")
    level = level or vim.log.levels.INFO
    local room = vim.o.columns * math.max(vim.o.cmdheight, 1) - 13
    local printed = built_in()
    if printed then
      vim.cmd.redraw() -- two messages in a row would stop the user, too; the first is in :messages
    end
    if printed and vim.fn.strdisplaywidth(text) > room then
      return shorten(text, level, room)
    end
    vim.notify(text, level, { title = "Assent" })
  end)
end

--- Hints for whoever writes a client; there is nothing in them for whoever uses one.
local FOR_CLIENTS = { ["See the base protocol of LSP."] = true, ["See docs/protocol.md for this method."] = true }

--- An error of the server in words, with what to do about it.
---@param err table
---@return string
function M.words(err)
  local hint = err.data and err.data.hint
  local helps = hint and hint ~= "" and not FOR_CLIENTS[hint]
  return (err.message or "something went wrong") .. (helps and (" — " .. hint) or "")
end

--- Tell of an error, unless the user has been told already.
---@param err table
function M.report(err)
  if not err.quiet then
    M.tell(M.words(err), vim.log.levels.ERROR)
  end
end

--- Whether a word is one of those that a command knows. If not, the user is told which there are.
---@param kind string
---@param word string
---@param known string[]
---@return boolean
function M.one_of(kind, word, known)
  if vim.tbl_contains(known, word) then
    return true
  end
  local words = ("there is no %s %s. There are: %s"):format(kind, word, table.concat(known, ", "))
  M.tell(words, vim.log.levels.ERROR)
  return false
end

return M
