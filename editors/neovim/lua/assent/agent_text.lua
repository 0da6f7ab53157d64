--- The conversation of one subagent, to be read, in a window of its own. It is loaded again while the agent works.
local drawing = require("assent.drawing")
local panes = require("assent.panes")
local protocol = require("assent.protocol")
local session_store = require("assent.session")
local transcript = require("assent.transcript")
local view = require("assent.view")

local M = {}

local MOST_PAGES = 20

---@class assent.AgentText: assent.Chat
---@field agent assent.wire.AgentRun

---@param chat assent.AgentText
---@param pages table[][] messages, the newest page first
local function draw(chat, pages)
  drawing.begin(chat)
  chat.text:anew(function()
    drawing.pages(chat, pages)
  end)
  local agent = chat.agent
  local words = ("%s · %s · gr read again · q close"):format(agent.title or agent.name, agent.state or "")
  for _, window in ipairs(vim.fn.win_findbuf(chat.bufnr)) do
    vim.wo[window].winbar = "%#Title# " .. words:gsub("%%", "%%%%")
  end
end

---@param chat assent.AgentText
local function load(chat)
  local pages = {}
  local function older(cursor)
    local params = { sessionId = chat.id, agentId = chat.agent.agentId, cursor = cursor }
    view.request(protocol.requests.agent_read, params, function(page)
      table.insert(pages, page.messages)
      chat.agent = page.agent or chat.agent
      if page.nextCursor and #pages < MOST_PAGES then
        return older(page.nextCursor)
      end
      if vim.api.nvim_buf_is_loaded(chat.bufnr) then
        draw(chat, pages)
      end
    end)
  end
  older(nil)
end

---@param chat assent.AgentText
local function follow(chat)
  session_store.follow("agent text", function(event, params, session)
    local call = chat.agent.parentToolUseId
    local mine = params.parentToolUseId == call or event.type == "toolFinished" and event.toolUseId == call
    return mine and session.id == chat.id and vim.api.nvim_buf_is_loaded(chat.bufnr)
  end, function()
    if vim.api.nvim_buf_is_loaded(chat.bufnr) then
      load(chat)
    end
  end)
end

--- Show what this agent was asked, said and did.
---@param session_id string
---@param agent assent.wire.AgentRun
function M.open(session_id, agent)
  local name = "assent://agent/" .. agent.agentId
  local before = vim.fn.bufnr("^" .. vim.fn.escape(name, "*?[]{}\\,") .. "$")
  if before ~= -1 then
    vim.api.nvim_buf_delete(before, { force = true })
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, name)
  local window = panes.split_off(bufnr, "botright 15split")
  panes.dress_reading(window)
  vim.bo[bufnr].bufhidden, vim.bo[bufnr].undolevels = "wipe", -1
  vim.bo[bufnr].filetype, vim.bo[bufnr].syntax = "assent", "markdown"
  transcript.colour(bufnr)
  vim.bo[bufnr].modifiable = false
  local chat = { id = session_id, bufnr = bufnr, text = transcript.new(bufnr), agent = agent }
  local map = function(key, action)
    vim.keymap.set("n", key, action, { buffer = bufnr, nowait = true, desc = "Assent: an agent's conversation" })
  end
  map("q", "<Cmd>close<CR>")
  map("gr", function()
    load(chat)
  end)
  follow(chat)
  load(chat)
end

return M
