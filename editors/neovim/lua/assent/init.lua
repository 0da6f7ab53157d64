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
    if vim.fn.strdisplaywidth(longer) > room then
      break
    end
    text = longer
  end
  return plain(text) .. "%<" -- too long even so: it is cut at its end, not at its beginning
end

--- Optional: the same as setting `vim.g.assent`.
---@param options assent.Config?
function M.setup(options)
  vim.g.assent = options
end

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
  local parts = { ("Assent %s"):format(ICONS[session.state] or "●") }
  if session.activity ~= "" then
    table.insert(parts, vim.fn.strcharpart(session.activity, 0, 40))
  end
  local asks = package.loaded["assent.questions"] and require("assent.questions").count() or 0
  if asks > 0 then
    table.insert(parts, ("%d waiting"):format(asks))
  end
  local hunks = package.loaded["assent.review"] and require("assent.review").pending() or 0
  if hunks > 0 then
    table.insert(parts, ("%d hunk%s"):format(hunks, hunks == 1 and "" or "s"))
  end
  return plain(table.concat(parts, " · "))
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
  local parts = { ("%s %s"):format(ICONS[session.state] or "●", doing), session.model, session.mode }
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
  if #senders > 0 then
    table.insert(parts, 1, table.concat(senders, " or ") .. " sends")
  end
  if keys.stop then
    table.insert(parts, keys.stop .. " stops")
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
