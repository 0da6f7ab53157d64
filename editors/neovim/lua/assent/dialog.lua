--- Plain questions of the server, one button per answer: Neovim's own picker would open by itself and take the keys.
--- They wait in the corner like everything else that asks.
local async = require("assent.async")
local config = require("assent.config")
local notice = require("assent.notice")
local questions = require("assent.questions")

local M = {}

--- `window/showMessageRequest`. Nothing is chosen when the question is withdrawn or has no buttons.
---@param params lsp.ShowMessageRequestParams|{requestId: string?}
---@return lsp.MessageActionItem|vim.NIL
function M.choose(params)
  local actions = params.actions or {}
  local words = params.message:gsub("^Assent: ", "")
  if #actions == 0 then
    notice.tell(words)
    return vim.NIL
  end
  if config.get().notify and not require("assent").visible() then
    notice.tell(("has a question (:Assent answer): %s"):format(words))
  end
  local lines, highlights, keys = {}, {}, {}
  questions.put(lines, highlights, (words:gsub("^%l", string.upper)), "Title")
  for number, action in ipairs(actions) do
    questions.put(lines, highlights, ("  %d  %s"):format(number, action.title))
    keys[tostring(number)] = function(question)
      questions.answer(question, action)
    end
  end
  local id = params.requestId or params.message
  local chosen = async.await(function(resume)
    questions.add({
      id = id,
      title = "Assent has a question",
      lines = lines,
      highlights = highlights,
      footer = (" 1–%d answers "):format(#actions),
      keys = keys,
      quick = {},
      waiting = {},
    }, id, resume)
  end)
  return chosen and chosen.title and chosen or vim.NIL
end

return M
