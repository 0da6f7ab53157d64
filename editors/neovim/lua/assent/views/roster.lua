--- `:Assent roster`: every live session with what it waits for. An ask can be answered from here.
local notice = require("assent.notice")
local protocol = require("assent.protocol")
local view = require("assent.view")

---@param session assent.wire.RosterEntry
---@return assent.Row
local function row(session)
  local title = vim.trim((session.title:gsub("%s+", " ")))
  local folder = vim.fn.fnamemodify(session.cwd, ":~")
  local asks = vim.tbl_map(function(ask)
    return "? " .. ask.title
  end, session.asks)
  return {
    text = ("%-8s %s%s · %s · $%.2f"):format(
      session.state,
      session.background and "in the background: " or "",
      title ~= "" and title or "(no title)",
      folder,
      session.costUsd
    ),
    more = asks,
    dim = session.state == "finished",
    data = session,
  }
end

---@param label string
---@param decision "allow"|"deny"
---@return assent.ViewKey
local function answer(label, decision)
  return {
    label = label,
    run = function(at, shown)
      local ask = at.data.asks[1]
      if not ask then
        return notice.tell("this one asks nothing")
      end
      local params = { askId = ask.askId, decision = decision, scope = decision == "allow" and "once" or nil }
      view.request(protocol.requests.permission_answer, params, function()
        view.refresh(shown)
      end)
    end,
  }
end

return {
  name = "roster",
  empty = "No session is live.",
  load = function(done)
    view.request(protocol.requests.session_roster, {}, function(result)
      done(vim.tbl_map(row, result.sessions))
    end)
  end,
  keys = {
    y = answer("allow once", "allow"),
    n = answer("deny", "deny"),
    x = {
      label = "stop",
      run = function(at, shown)
        view.request(protocol.requests.session_interrupt, { sessionId = at.data.sessionId }, function()
          view.refresh(shown)
        end)
      end,
    },
    b = {
      label = "background",
      run = function(at, shown)
        local params = { sessionId = at.data.sessionId, keepRunning = not at.data.background }
        view.request(protocol.requests.session_configure, params, function()
          view.refresh(shown)
        end)
      end,
    },
    ["<CR>"] = {
      label = "open",
      run = function(at)
        require("assent.chat").start({ id = at.data.sessionId })
      end,
    },
  },
}
