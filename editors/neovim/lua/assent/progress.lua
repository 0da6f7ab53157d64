--- What goes on, where one looks: a wheel that turns above the chat, and words beside the line that an inline prompt is
--- about. A timer runs only while a turn does.
local session_store = require("assent.session")

local M = {}

local WHEEL = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧" }
local EVERY = 250 -- milliseconds: seen to turn, and nothing beside typing

local namespace = vim.api.nvim_create_namespace("assent_progress")

---@class assent.Mark
---@field bufnr integer
---@field id integer extmark

---@type table<string, assent.Mark[]> places that a turn is about, by session
local marks = {}
---@type table<string, integer> when the turn of a session began, in milliseconds
local began = {}
---@type uv.uv_timer_t?
local timer
--- Whether the wheel turned when it was drawn last.
local turned = false

---@return string
function M.wheel()
  return WHEEL[math.floor(vim.uv.now() / EVERY) % #WHEEL + 1]
end

--- How long the turn of a session has been running.
---@param id string
---@return integer? seconds
function M.seconds(id)
  return began[id] and math.floor((vim.uv.now() - began[id]) / 1000) or nil
end

---@param session assent.Session
---@return string
local function words(session)
  if session.state == "waiting" then
    return "? Assent waits for you"
  end
  local doing = session.activity ~= "" and session.activity or "begins"
  return ("%s Assent: %s"):format(M.wheel(), vim.fn.strcharpart(doing:gsub("[%c]", " "), 0, 60))
end

---@param mark assent.Mark
---@param text string?
local function draw(mark, text)
  if not vim.api.nvim_buf_is_valid(mark.bufnr) then
    return
  end
  local at = vim.api.nvim_buf_get_extmark_by_id(mark.bufnr, namespace, mark.id, {})
  if not text or not at[1] then
    return vim.api.nvim_buf_del_extmark(mark.bufnr, namespace, mark.id)
  end
  vim.api.nvim_buf_set_extmark(mark.bufnr, namespace, at[1], 0, {
    id = mark.id,
    virt_text = { { "  " .. text, "AssentHint" } },
    virt_text_pos = "eol",
  })
end

---@return boolean whether something turns: what waits for the user stands still
local function turning()
  for id in pairs(vim.tbl_extend("keep", {}, began, marks)) do
    if session_store.get(id).state ~= "waiting" then
      return true
    end
  end
  return false
end

local function tick()
  local now = turning()
  if not now and not turned then
    return
  end
  turned = now -- once more after it has stopped, so that it says so
  for id, list in pairs(marks) do
    for _, mark in ipairs(list) do
      draw(mark, words(session_store.get(id)))
    end
  end
  vim.cmd.redrawstatus({ bang = true })
end

local function turn_the_wheel()
  if not timer then
    timer = assert(vim.uv.new_timer())
    timer:start(EVERY, EVERY, vim.schedule_wrap(tick))
  end
end

local function rest()
  if timer and vim.tbl_isempty(began) and vim.tbl_isempty(marks) then
    timer:close()
    timer = nil
  end
end

---@param id string
local function over(id)
  for _, mark in ipairs(marks[id] or {}) do
    draw(mark, nil)
  end
  marks[id], began[id] = nil, nil
  rest()
end

--- A prompt about this line is on its way: say beside it how it goes, until the turn ends.
---@param session assent.Session
---@param bufnr integer
---@param row integer zero-based
function M.at(session, bufnr, row)
  require("assent.hunks") -- knows the colour
  local id = vim.api.nvim_buf_set_extmark(bufnr, namespace, row, 0, {})
  marks[session.id] = marks[session.id] or {}
  local mark = { bufnr = bufnr, id = id }
  table.insert(marks[session.id], mark)
  draw(mark, words(session))
  turn_the_wheel()
end

--- The prompt was not taken.
---@param session assent.Session
function M.failed(session)
  over(session.id)
end

session_store.listen("progress", function(session, event)
  if not session then
    for id in pairs(vim.tbl_extend("keep", {}, began, marks)) do
      over(id)
    end
  elseif event.type == "turnStarted" then
    began[session.id] = vim.uv.now()
    turn_the_wheel()
  elseif event.type == "turnFinished" then
    over(session.id)
  end
end)

return M
