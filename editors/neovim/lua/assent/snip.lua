--- Taking parts of a conversation out of the model's view, and putting them back. People still see them.
local client = require("assent.client")
local conversations = require("assent.conversations")
local notice = require("assent.notice")
local protocol = require("assent.protocol")
local session_store = require("assent.session")

local M = {}

---@type table<string, string[]> what can be put back, by session, the newest last
local snipped = {}

session_store.listen("snip", function(session, event)
  if session and event.type == "snipped" then
    snipped[session.id] = vim.list_extend(snipped[session.id] or {}, { event.snipId })
  end
end)

---@param session assent.Session
local function put_back(session)
  local stack = snipped[session.id] or {}
  local last = table.remove(stack)
  if not last then
    return notice.tell("nothing was taken out here")
  end
  local params = { sessionId = session.id, snipId = last }
  client.request(protocol.requests.session_unsnip, params, function(err)
    if err then
      return notice.report(err)
    end
    notice.tell("the model sees it again")
  end)
end

--- Pick one of the prompts; it goes out of the model's view with everything up to the next one.
---@param again boolean put back what was taken out last
function M.pick(again)
  session_store.some(function(session)
    if not session then
      return
    elseif again then
      return put_back(session)
    end
    conversations.prompts_of(session.id, function(prompts)
      if #prompts == 0 then
        return notice.tell("nothing was said yet")
      end
      local format = function(prompt)
        return vim.fn.strcharpart(prompt.text:gsub("%s+", " "), 0, 80)
      end
      vim.ui.select(prompts, { prompt = "Take out of the model's view", format_item = format }, function(prompt)
        if not prompt then
          return
        end
        local params = { sessionId = session.id, messageIds = prompt.messages }
        client.request(protocol.requests.session_snip, params, function(err, answer)
          if err then
            return notice.report(err)
          end
          notice.tell(("%d tokens are free again; :Assent! snip puts them back"):format(answer.tokensFreed))
        end)
      end)
    end)
  end)
end

return M
