--- What goes along with a prompt besides its words: lines that were selected, the active file, what `@diagnostics`,
--- `@quickfix`, `@buffer` and `@git` stand for, and pictures. All of it shows before it is sent.
local client = require("assent.client")
local config = require("assent.config")
local notice = require("assent.notice")
local panes = require("assent.panes")
local programs = require("assent.programs")
local protocol = require("assent.protocol")

local M = {}

local MOST_LINES = 2000
local MOST_BYTES = 5 * 1024 * 1024

---@class assent.Selected
---@field bufnr integer
---@field first integer one-based
---@field last integer

---@type table<string, assent.Selected> by session
local selected = {}
---@type table<string, { type: string, data: string }[]> pictures, by session
local pictures = {}

--- Attach lines to what is written next in a chat; nil takes them away.
---@param id string
---@param range assent.Selected?
function M.select(id, range)
  selected[id] = range
  vim.cmd.redrawstatus({ bang = true })
end

---@param bufnr integer?
---@return string?
local function named(bufnr)
  local path = bufnr and vim.api.nvim_buf_get_name(bufnr) or ""
  return path ~= "" and vim.fn.fnamemodify(path, ":~:.") or nil
end

--- What goes along unasked, for the bar above the prompt.
---@param id string
---@return string?
function M.label(id)
  local range = selected[id]
  if range and vim.api.nvim_buf_is_valid(range.bufnr) then
    local name = named(range.bufnr) or "[No Name]"
    return ("+ %s:%d-%d"):format(name, range.first, range.last)
  end
  local file = config.get().chat.attach == "file" and named(panes.active_file())
  return file and "+ " .. file or nil
end

---@param bufnr integer
---@param first integer?
---@param last integer?
---@return string
local function quoted(bufnr, first, last)
  local lines = vim.api.nvim_buf_get_lines(bufnr, (first or 1) - 1, last or -1, false)
  return table.concat(vim.list_slice(lines, 1, MOST_LINES), "\n")
end

---@type table<string, fun(id: string, done: fun(text: string?, mention: table?))>
local sources = {
  buffer = function(_, done)
    local bufnr = panes.active_file()
    if not bufnr then
      return done("no file is open")
    elseif not named(bufnr) then
      return done(quoted(bufnr)) -- nothing has a name that the agent could read
    end
    done(nil, { uri = vim.uri_from_bufnr(bufnr) })
  end,
  diagnostics = function(_, done)
    local lines = {}
    for _, each in ipairs(vim.diagnostic.get()) do
      if each.source ~= "assent" then
        local name = named(each.bufnr) or "?"
        local severity = vim.diagnostic.severity[each.severity] or "ERROR"
        local said = each.message:gsub("%s*\n%s*", " ")
        table.insert(lines, ("%s:%d:%d: %s: %s"):format(name, each.lnum + 1, each.col + 1, severity:lower(), said))
      end
    end
    done(#lines > 0 and table.concat(vim.list_slice(lines, 1, MOST_LINES), "\n") or "no problems are known")
  end,
  quickfix = function(_, done)
    local lines = {}
    for _, item in ipairs(vim.fn.getqflist()) do
      local name = item.bufnr > 0 and named(item.bufnr)
      table.insert(lines, name and ("%s:%d: %s"):format(name, item.lnum, item.text) or item.text)
    end
    done(#lines > 0 and table.concat(vim.list_slice(lines, 1, MOST_LINES), "\n") or "the list is empty")
  end,
  -- By the server, under its rules and in its fence: git runs what a repository's configuration names.
  git = function(id, done)
    local input = { command = "git status --short --branch; git diff HEAD" }
    local params = { sessionId = id, name = "Bash", input = input }
    client.request(protocol.requests.tool_run, params, function(err, ran)
      done(err and notice.words(err) or require("assent.drawing").text_of(ran.content))
    end)
  end,
}

M.NAMES = vim.tbl_keys(sources)
table.sort(M.NAMES)

---@param text string
---@return string[] names of the sources that it mentions
local function mentioned(text)
  return vim.tbl_filter(function(name)
    return (" " .. text .. " "):find("[%s%(]@" .. name .. "[%s%p]") ~= nil
  end, M.NAMES)
end

---@param id string
---@param text string
---@return table[] blocks of the pictures that the text still names
local function pictures_in(id, text)
  local blocks = {}
  for number, each in ipairs(pictures[id] or {}) do
    if text:find(("[image %d]"):format(number), 1, true) then
      local source = { type = "base64", media_type = each.type, data = each.data }
      table.insert(blocks, { type = "image", source = source })
    end
  end
  pictures[id] = nil
  return blocks
end

--- The prompt with everything that goes along.
---@param id string session
---@param text string
---@param done fun(prompt: string|table[], mentions: table[]?)
function M.compose(id, text, done)
  local mentions, blocks = {}, pictures_in(id, text)
  local range, active = selected[id], panes.active_file()
  selected[id] = nil
  if range and vim.api.nvim_buf_is_valid(range.bufnr) then
    require("assent").remember_selection(range.bufnr, range.first, range.last)
    if named(range.bufnr) then
      local lines = require("assent.positions").lines(range.bufnr, range.first, range.last)
      table.insert(mentions, { uri = vim.uri_from_bufnr(range.bufnr), range = lines })
    else
      table.insert(blocks, { type = "text", text = "[@selection]\n" .. quoted(range.bufnr, range.first, range.last) })
    end
  elseif config.get().chat.attach == "file" and named(active) then
    table.insert(mentions, {
      uri = vim.uri_from_bufnr(active --[[@as integer]]),
    })
  end
  local names = mentioned(text)
  local function finish()
    if #blocks > 0 then
      return done(vim.list_extend({ { type = "text", text = text } }, blocks), mentions)
    end
    done(text, mentions)
  end
  local function gather(index)
    local name = names[index]
    if not name then
      return finish()
    end
    sources[name](id, function(found, mention)
      if found then
        table.insert(blocks, { type = "text", text = ("[@%s]\n%s"):format(name, found) })
      end
      table.insert(mentions, mention)
      gather(index + 1)
    end)
  end
  gather(1)
end

local KINDS = {
  ["image/png"] = "^\137PNG",
  ["image/jpeg"] = "^\255\216\255",
  ["image/gif"] = "^GIF8",
  ["image/webp"] = "^RIFF....WEBP",
}

--- Put a picture into the prompt: a word stands for it, and what has the word when it is sent has the picture.
---@param chat assent.Chat
---@param data string
---@return boolean
local function add_picture(chat, data)
  local kind
  for name, magic in pairs(KINDS) do
    kind = data:find(magic) and name or kind
  end
  if not kind or #data > MOST_BYTES then
    notice.tell(kind and "the picture is larger than 5 MB" or "this is no PNG, JPEG, GIF or WebP picture")
    return false
  end
  local list = pictures[chat.id] or {}
  pictures[chat.id] = list
  table.insert(list, { type = kind, data = vim.base64.encode(data) })
  local window = vim.fn.bufwinid(chat.prompt)
  local word = ("[image %d] "):format(#list)
  if window ~= -1 then
    vim.api.nvim_win_call(window, function()
      vim.api.nvim_put({ word }, "c", false, true)
    end)
  else
    vim.api.nvim_buf_set_text(chat.prompt, 0, 0, 0, 0, { word })
  end
  return true
end

---@param chat assent.Chat
---@param path string
function M.picture(chat, path)
  local file = io.open(vim.fn.expand(path), "rb")
  if not file then
    return notice.tell("there is no file " .. path)
  end
  add_picture(chat, file:read("*a"))
  file:close()
end

--- Programs that give the picture in the clipboard, the first that is there.
local CLIPBOARDS = {
  { "wl-paste", "--type", "image/png" },
  { "xclip", "-selection", "clipboard", "-target", "image/png", "-out" },
  { "pngpaste", "-" },
}

--- Put the picture in the clipboard into the prompt.
---@param chat assent.Chat
function M.paste(chat)
  local folders = { client.root(), vim.fn.getcwd() }
  for _, words in ipairs(CLIPBOARDS) do
    local program = programs.find(words[1], folders)
    if program then
      local command = vim.list_extend({ program }, vim.list_slice(words, 2))
      local options = { text = false, timeout = 5000, cwd = programs.NEUTRAL }
      return vim.system(command, options, function(ran)
        vim.schedule(function()
          if ran.code ~= 0 or (ran.stdout or "") == "" then
            return notice.tell("there is no picture in the clipboard")
          end
          add_picture(chat, ran.stdout)
        end)
      end)
    end
  end
  notice.tell("wl-paste, xclip or pngpaste is needed to paste a picture; :Assent image {file} takes one from a file")
end

return M
