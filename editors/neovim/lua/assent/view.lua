--- A list of what the server knows, in a window of its own, with keys that act on the row under the cursor. What stands
--- in it and what the keys do is for the files in `views`.
local client = require("assent.client")
local files = require("assent.files")
local notice = require("assent.notice")
local panes = require("assent.panes")
local session_store = require("assent.session")

local M = {}

local namespace = vim.api.nvim_create_namespace("assent_view")
local TALLEST = 15

---@class assent.Row
---@field text string one line
---@field more string[]? lines below it, always shown
---@field folded string[]? lines that <Tab> shows
---@field file string? what <CR> opens
---@field dim boolean? whether it has no effect now
---@field data table

---@class assent.ViewKey
---@field label string
---@field run fun(row: assent.Row, view: assent.View)

---@class assent.View
---@field name string
---@field empty string what stands there when nothing does
---@field load fun(done: fun(rows: assent.Row[]), view: assent.View)
---@field keys table<string, assent.ViewKey>
---@field always table<string, { label: string, run: fun(view: assent.View) }>? keys that need no row
---@field follows (fun(event: table, params: table): boolean)? whether an event changes what stands in it
---@field bufnr integer?
---@field open table<string, boolean>? rows whose folded lines are shown, by their text
---@field rows table<integer, assent.Row>? by line

---@type table<string, assent.View> those that were opened
local opened = {}

--- What names the session and the folder a view is about.
---@param extra table?
---@return table
function M.about(extra)
  local session = session_store.current and session_store.sessions[session_store.current]
  local live = session and session_store.ready(session) and session.id or nil
  return vim.tbl_extend("force", { sessionId = live, cwd = session and session.cwd or client.root() }, extra or {})
end

--- The path in a source: `/path`, `/path:12` or `plugin NAME: /path`.
---@param source string?
---@return string?
function M.path_of(source)
  return source and (source:gsub("^plugin [^:]+: ", ""):gsub(":%d+$", "")) or nil
end

--- Ask the server for what a view shows, or to do something about it.
---@param method string
---@param params table
---@param done fun(result: table)
function M.request(method, params, done)
  client.request(method, params, function(err, result)
    if err then
      return notice.report(err)
    end
    done(result)
  end)
end

---@param view assent.View
---@return integer?
local function window_of(view)
  return view.bufnr and vim.api.nvim_buf_is_valid(view.bufnr) and vim.fn.win_findbuf(view.bufnr)[1] or nil
end

---@param text string
---@return string
local function plain(text)
  return (tostring(text):gsub("[%c]", " "))
end

---@param view assent.View
---@param rows assent.Row[]
local function draw(view, rows)
  local window = window_of(view)
  if not window then
    return
  end
  local lines, marks = {}, {}
  view.rows = {}
  for _, row in ipairs(rows) do
    local function put(text, highlight)
      table.insert(lines, plain(text))
      view.rows[#lines] = row
      marks[#lines] = highlight
    end
    put(row.text, row.dim and "Comment" or nil)
    for _, line in ipairs(row.more or {}) do
      put("    " .. line, "Comment")
    end
    if row.folded and #row.folded > 0 and view.open[row.text] then
      for _, line in ipairs(row.folded) do
        put("    " .. line, "Comment")
      end
    end
  end
  if #lines == 0 then
    lines = { view.empty }
  end
  vim.bo[view.bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(view.bufnr --[[@as integer]], 0, -1, false, lines)
  vim.bo[view.bufnr].modifiable = false
  vim.api.nvim_buf_clear_namespace(view.bufnr --[[@as integer]], namespace, 0, -1)
  for line, highlight in pairs(marks) do
    vim.api.nvim_buf_set_extmark(view.bufnr --[[@as integer]], namespace, line - 1, 0, { line_hl_group = highlight })
  end
  local height = math.max(2, math.min(#lines + 1, TALLEST))
  if vim.api.nvim_win_get_height(window) < height then
    vim.api.nvim_win_set_height(window, height)
  end
end

---@param view assent.View
function M.refresh(view)
  if window_of(view) then
    view.load(function(rows)
      draw(view, rows)
    end, view)
  end
end

--- Something that a view shows has changed.
---@param name string
function M.changed(name)
  if opened[name] then
    M.refresh(opened[name])
  end
end

--- Load the view again while it is open, when an event of any session changes what it shows.
---@param view assent.View
local function follow(view)
  session_store.follow("view " .. view.name, function(event, params)
    return view.follows(event, params) and window_of(view) ~= nil
  end, function()
    M.refresh(view)
  end)
end

---@param view assent.View
---@return assent.Row?
local function row_of(view)
  return view.rows and view.rows[vim.api.nvim_win_get_cursor(0)[1]]
end

---@param row assent.Row?
function M.open_file(row)
  local path = row and row.file
  if not path or vim.fn.filereadable(path) == 0 then
    return notice.tell("no file is behind this")
  end
  local problem = files.show(path)
  if problem then
    notice.tell(problem, vim.log.levels.WARN)
  end
end

---@param view assent.View
local function map_keys(view)
  local map = function(key, action)
    vim.keymap.set("n", key, action, { buffer = view.bufnr, nowait = true, desc = "Assent: " .. view.name })
  end
  for key, action in pairs(view.keys) do
    map(key, function()
      local row = row_of(view)
      if row then
        action.run(row, view)
      end
    end)
  end
  for key, action in pairs(view.always or {}) do
    map(key, function()
      action.run(view)
    end)
  end
  map("q", "<Cmd>close<CR>")
  map("gr", function()
    M.refresh(view)
  end)
  map("<Tab>", function()
    local row = row_of(view)
    if row then
      view.open[row.text] = not view.open[row.text]
      M.refresh(view)
    end
  end)
  if not view.keys["<CR>"] then
    map("<CR>", function()
      M.open_file(row_of(view))
    end)
  end
end

---@param view assent.View
---@return string
local function bar(view)
  local words = {}
  for key, action in vim.spairs(vim.tbl_extend("force", {}, view.keys, view.always or {})) do
    table.insert(words, ("%s %s"):format(key, action.label))
  end
  if not view.keys["<CR>"] then
    table.insert(words, "<CR> its file")
  end
  vim.list_extend(words, { "<Tab> more", "q close" })
  return ("%%#Title# Assent: %s %%#Comment# %s%%<"):format(view.name, table.concat(words, " · "))
end

---@param view assent.View
function M.show(view)
  local before = opened[view.name]
  if before and before ~= view and window_of(before) then
    vim.api.nvim_buf_delete(before.bufnr --[[@as integer]], { force = true }) -- the same list about something else
  end
  opened[view.name] = view
  local there = window_of(view)
  if there then
    vim.api.nvim_set_current_win(there)
    return M.refresh(view)
  end
  view.open = view.open or {}
  view.bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(view.bufnr, "assent://view/" .. view.name:gsub(" ", "-"))
  panes.split_off(view.bufnr, "botright 4split")
  vim.bo[view.bufnr].bufhidden, vim.bo[view.bufnr].filetype = "wipe", "assent_view"
  vim.api.nvim_buf_set_lines(view.bufnr, 0, -1, false, { "…" })
  vim.bo[view.bufnr].modifiable = false
  local set = vim.wo[0][0]
  set.cursorline, set.number, set.relativenumber, set.wrap, set.winfixheight = true, false, false, true, true
  set.winbar = bar(view)
  map_keys(view)
  if view.follows then
    follow(view)
  end
  M.refresh(view)
end

return M
