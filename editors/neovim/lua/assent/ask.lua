--- Permission asks: a float in the corner that shows what would happen and waits. It never takes the focus, so no key
--- typed for a buffer can answer it; `:Assent answer` or its <Plug> goes into it on purpose.
local async = require("assent.async")
local client = require("assent.client")
local config = require("assent.config")

local M = {}

local namespace = vim.api.nvim_create_namespace("assent_ask")
local MOST_LINES = 30

---@class assent.Pending
---@field params table
---@field answer fun(result: table)

---@type assent.Pending[] the first is the one on the screen
local pending = {}
---@type integer?
local window
---@type integer?
local buffer

---@return integer
function M.count()
  return #pending
end

---@param text string
---@return string
local function visible(text)
  return (
    text:gsub("[%z\1-\8\11-\31\127]", function(char)
      return ("\\x%02x"):format(char:byte())
    end):gsub("\226\128[\139-\143\170-\174]", function(char)
      return ("\\u%04x"):format(vim.fn.char2nr(char))
    end)
  )
end

---@param lines string[]
---@param highlights table<integer, string>
---@param text string
---@param highlight string?
local function put(lines, highlights, text, highlight)
  for _, line in ipairs(vim.split(visible(text), "\n", { plain = true })) do
    table.insert(lines, line)
    if highlight then
      highlights[#lines] = highlight
    end
  end
end

---@param ask table
---@return string[] lines
---@return table<integer, string> highlights
function M.render(ask)
  local lines, highlights = {}, {}
  put(lines, highlights, ask.title, "Title")
  put(lines, highlights, ask.reason, "Comment")
  if ask.proposal then
    put(lines, highlights, vim.fn.fnamemodify(vim.uri_to_fname(ask.proposal.uri), ":~:."), "Directory")
    for _, hunk in ipairs(ask.proposal.hunks) do
      put(lines, highlights, ("@@ line %d"):format(hunk.range.start.line + 1), "Comment")
      for _, pair in ipairs({ { hunk.oldText, "-", "DiffDelete" }, { hunk.newText, "+", "DiffAdd" } }) do
        local text = pair[1]:gsub("\r\n", "\n"):gsub("\n$", "")
        if pair[1] ~= "" then
          for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
            put(lines, highlights, pair[2] .. " " .. line, pair[3])
          end
        end
      end
    end
  elseif ask.command then
    put(lines, highlights, "$ " .. ask.command.text, "String")
    if #ask.command.parts > 1 then
      for _, part in ipairs(ask.command.parts) do
        put(lines, highlights, ("  %s  [%s]"):format(table.concat(part.argv, " "), part.decision), "Comment")
      end
    end
  else
    for key, value in vim.spairs(ask.input) do
      put(lines, highlights, ("%s: %s"):format(key, type(value) == "string" and value or vim.inspect(value)))
    end
  end
  if #lines > MOST_LINES then
    local hidden = #lines - MOST_LINES
    lines = vim.list_slice(lines, 1, MOST_LINES)
    table.insert(lines, ("… %d more lines: press d to see them all"):format(hidden))
  end
  return lines, highlights
end

---@param ask table
---@return string
local function footer(ask)
  local keys = { "y once" }
  if ask.suggestions and #ask.suggestions > 0 then
    vim.list_extend(keys, { "s session", "a always" })
  end
  return " " .. table.concat(vim.list_extend(keys, { "n deny", "r deny with reason", "d details" }), " · ") .. " "
end

local function close_window()
  if window and vim.api.nvim_win_is_valid(window) then
    vim.api.nvim_win_close(window, true)
  end
  window = nil
end

---@param result table
local function answer(result)
  local first = table.remove(pending, 1)
  if first then
    first.answer(result)
  end
  M.show()
end

---@param ask table
---@param scope "session"|"project"
local function allow_always(ask, scope)
  local suggestion = ask.suggestions and ask.suggestions[1]
  if not suggestion then
    return client.notify("this cannot be allowed for good; answer it once", vim.log.levels.WARN)
  end
  answer({ decision = "allow", scope = scope, rule = suggestion.rule })
end

---@param ask table
local function details(ask)
  vim.cmd.tabnew()
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].buftype, vim.bo[bufnr].bufhidden = "nofile", "wipe"
  local lines = vim.split(visible(vim.inspect(ask.input):gsub("\\n", "\n")), "\n", { plain = true })
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
end

---@param bufnr integer
---@param ask table
local function map(bufnr, ask)
  local keys = {
    y = function()
      answer({ decision = "allow", scope = "once" })
    end,
    s = function()
      allow_always(ask, "session")
    end,
    a = function()
      allow_always(ask, "project")
    end,
    n = function()
      answer({ decision = "deny" })
    end,
    r = function()
      M.deny_with_reason()
    end,
    d = function()
      details(ask)
    end,
    q = function()
      vim.cmd.wincmd("p")
    end,
  }
  for key, action in pairs(keys) do
    vim.keymap.set("n", key, action, { buffer = bufnr, nowait = true, desc = "Assent: answer" })
  end
end

--- Draw the first pending ask, or nothing. Leaves the cursor where it is.
function M.show()
  close_window()
  local first = pending[1]
  if not first then
    return
  end
  local ask = first.params
  local lines, highlights = M.render(ask)
  buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, lines)
  for row, highlight in pairs(highlights) do
    if row <= #lines then
      vim.api.nvim_buf_set_extmark(buffer, namespace, row - 1, 0, { line_hl_group = highlight })
    end
  end
  vim.bo[buffer].modifiable = false
  map(buffer, ask)
  local width = #footer(ask) + 2
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line) + 2)
  end
  width = math.min(width, vim.o.columns - 4)
  local title = #pending > 1 and (" Assent asks (1 of %d) "):format(#pending) or " Assent asks "
  window = vim.api.nvim_open_win(buffer, false, {
    relative = "editor",
    anchor = "SE",
    row = vim.o.lines - vim.o.cmdheight - 1,
    col = vim.o.columns,
    width = width,
    height = math.min(#lines, math.max(vim.o.lines - 8, 3)),
    border = "rounded",
    style = "minimal",
    title = title,
    title_pos = "left",
    footer = footer(ask),
    footer_pos = "left",
    zindex = 60,
    noautocmd = true,
  })
  vim.wo[window].wrap = true
end

--- `assent/permission/ask`: waits until a person answers or the ask is withdrawn.
---@param params table
---@return table
function M.permission(params)
  if config.get().notify and not require("assent").visible() then
    client.notify(("waiting for you: %s (:Assent answer)"):format(params.title))
  end
  return async.await(function(resume)
    table.insert(pending, { params = params, answer = resume })
    M.show()
  end) or { decision = "deny" }
end

--- Someone else answered, or the question is moot.
---@param request_id string
function M.withdrawn(request_id)
  for index, each in ipairs(pending) do
    if each.params.requestId == request_id then
      table.remove(pending, index)
      each.answer({ decision = "deny", message = "withdrawn" })
      return M.show()
    end
  end
end

--- The server is gone, and its questions with it. It will ask again.
function M.forget()
  pending = {}
  close_window()
end

--- Go into the ask, to answer it with its keys.
function M.focus()
  if #pending == 0 then
    return client.notify("nothing is waiting for an answer")
  end
  if not window or not vim.api.nvim_win_is_valid(window) then
    M.show()
  end
  vim.api.nvim_set_current_win(window --[[@as integer]])
end

---@param decision "allow"|"deny"
function M.answer_first(decision)
  if #pending == 0 then
    return client.notify("nothing is waiting for an answer")
  end
  answer(decision == "allow" and { decision = "allow", scope = "once" } or { decision = "deny" })
end

function M.deny_with_reason()
  vim.ui.input({ prompt = "Why not? " }, function(reason)
    if reason then
      answer({ decision = "deny", message = reason })
    end
  end)
end

vim.api.nvim_create_autocmd("VimResized", {
  group = vim.api.nvim_create_augroup("assent_ask", { clear = true }),
  callback = M.show,
})

return M
