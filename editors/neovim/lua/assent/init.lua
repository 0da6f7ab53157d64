--- The plugin's public face: a status line component, and what other modules ask about the screen.
--- A status line may call it before anything else is used, so it loads nothing by itself.
local M = {}

local ICONS = { idle = "●", running = "◐", waiting = "?", compacting = "◌" }

---@type table? the last selection in a file buffer
local selection
local focused = true

vim.api.nvim_create_autocmd({ "FocusGained", "FocusLost" }, {
  group = vim.api.nvim_create_augroup("assent_focus", { clear = true }),
  callback = function(event)
    focused = event.event == "FocusGained"
  end,
})

--- Text that a status line shows as it is: `%{…}` in it would be run.
---@param text string
---@return string
local function plain(text)
  return (text:gsub("[%c]", " "):gsub("%%", "%%%%"))
end

--- As many of these as a bar of the current window has room for; what matters most comes first.
---@param parts string[]
---@return string
local function fitting(parts)
  local room = vim.api.nvim_win_get_width(0) - 1
  local text = parts[1]
  for index = 2, #parts do
    local longer = text .. " · " .. parts[index]
    if vim.fn.strdisplaywidth(longer) <= room then
      text = longer
    end
  end
  return plain(text) .. "%<" -- too long even so: it is cut at its end, not at its beginning
end

--- Optional: the same as setting `vim.g.assent`.
---@param options assent.Config?
function M.setup(options)
  vim.g.assent = options
end

--- For a status line of your own making: what waits for you.
---@return assent.Counts|{ asks: integer }
function M.counts()
  local review, questions = package.loaded["assent.review"], package.loaded["assent.questions"]
  local counts = review and review.counts() or { hunks = 0, files = 0, landed = 0 }
  return vim.tbl_extend("force", counts, { asks = questions and questions.count() or 0 })
end

---@param session assent.Session
---@param counts assent.Counts
---@param asks integer
---@return string
local function status_words(session, counts, asks)
  local parts = { ("Assent %s"):format(ICONS[session.state] or "●") }
  if session.activity ~= "" then
    table.insert(parts, vim.fn.strcharpart(session.activity, 0, 40))
  end
  if asks > 0 then
    table.insert(parts, ("%d waiting"):format(asks))
  end
  if counts.hunks > 0 then
    local files = counts.files > 1 and (" in %d files"):format(counts.files) or ""
    table.insert(parts, ("%d hunk%s%s"):format(counts.hunks, counts.hunks == 1 and "" or "s", files))
  end
  return plain(table.concat(parts, " · "))
end

local NONE = { hunks = 0, files = 0, landed = 0 }
--- What the status line said last, and what that was about: it is asked with every key.
local said = { words = "" }

--- For your status line: `%{%v:lua.require'assent'.statusline()%}`. Empty until the plugin is used.
---@return string
function M.statusline()
  local store = package.loaded["assent.session"]
  if not store then
    return ""
  end
  local session = store.current and store.sessions[store.current] or nil
  if not session then
    return store.status and "Assent" or ""
  end
  local review, questions = package.loaded["assent.review"], package.loaded["assent.questions"]
  local counts = review and review.counts() or NONE -- another table once they changed
  local asks = questions and questions.count() or 0
  if said.counts ~= counts or said.asks ~= asks or said.state ~= session.state or said.activity ~= session.activity then
    said = { counts = counts, asks = asks, state = session.state, activity = session.activity }
    said.words = status_words(session, counts, asks)
  end
  return said.words
end

--- Words cut to so many columns.
---@param text string
---@param room integer
---@return string
local function shortened(text, room)
  if vim.fn.strdisplaywidth(text) <= room then
    return text
  end
  local cut = vim.fn.strcharpart(text, 0, room - 1)
  while vim.fn.strdisplaywidth(cut) > room - 1 do
    cut = vim.fn.strcharpart(cut, 0, vim.fn.strchars(cut) - 1)
  end
  return cut .. "…"
end

--- The bar above a chat. Model and tools have a say in its words, so nothing in them may be a format item.
---@return string
function M.winbar()
  local store = require("assent.session")
  local id = vim.b.assent_session
  local session = id and store.sessions[id] or nil
  if not session then
    return ""
  end
  local doing = session.activity ~= "" and session.activity or session.state
  local progress = package.loaded["assent.progress"]
  local seconds = progress and progress.seconds(session.id)
  local running = seconds and session.state == "running"
  local icon = running and progress.wheel() or ICONS[session.state] or "●"
  local since = running and seconds > 0 and (" %d s"):format(seconds) or ""
  -- What counts for what is allowed stands there, however long the rest is.
  local taken = vim.fn.strdisplaywidth(icon .. since .. session.mode) + 5
  doing = shortened(doing, math.max(vim.api.nvim_win_get_width(0) - taken, 8))
  local parts = { ("%s %s%s"):format(icon, doing, since), session.model, session.mode }
  if vim.fn.strdisplaywidth(table.concat(parts, " · ")) > vim.api.nvim_win_get_width(0) - 1 then
    table.remove(parts, 2)
  end
  if session.usage then
    local share = math.floor(100 * session.usage.contextTokens / math.max(session.usage.contextWindow, 1))
    table.insert(parts, ("context %d%%"):format(share))
    table.insert(parts, ("$%.2f"):format(session.usage.totalCostUsd or session.usage.costUsd))
  end
  return "%#Title# " .. fitting(parts)
end

---@return string
function M.prompt_hint()
  local keys = require("assent.config").get().keys
  local senders = vim.tbl_filter(function(key)
    return key ~= false
  end, { keys.send, keys.send_insert })
  local parts = { "@ files", "/ commands" }
  local along = vim.b.assent_session and require("assent.attachments").label(vim.b.assent_session)
  if #senders > 0 then
    table.insert(parts, 1, table.concat(senders, " or ") .. " sends")
  end
  if keys.stop then
    table.insert(parts, keys.stop .. " stops")
  end
  if along then
    table.insert(parts, 1, along)
  end
  return fitting(parts)
end

--- Whether the user can see what the agent does: its chat is on the screen and Neovim has the focus.
---@return boolean
function M.visible()
  if not focused then
    return false
  end
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.b[vim.api.nvim_win_get_buf(window)].assent_session then
      return true
    end
  end
  return false
end

---@param bufnr integer
---@param first integer one-based
---@param last integer
function M.remember_selection(bufnr, first, last)
  local lines = vim.api.nvim_buf_get_lines(bufnr, first - 1, last, false)
  selection = {
    uri = vim.uri_from_bufnr(bufnr),
    range = require("assent.positions").lines(bufnr, first, last),
    text = table.concat(lines, "\n"),
  }
end

--- What is selected in a file now, or was when the user last asked about it.
---@return table?
function M.last_selection()
  local mode = vim.api.nvim_get_mode().mode
  if (mode == "v" or mode == "V" or mode == "\22") and vim.bo.buftype == "" then
    local rows = { vim.fn.line("v"), vim.fn.line(".") }
    table.sort(rows)
    M.remember_selection(vim.api.nvim_get_current_buf(), rows[1], rows[2])
  end
  return selection
end

return M
