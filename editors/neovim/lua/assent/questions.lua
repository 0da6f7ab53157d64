--- What waits for the user's answer: a queue whose first entry the corner shows. No text typed for a buffer can answer
--- it: `:Assent answer` goes to it, and the keys of `one_key` are chords. What a question looks like and what its keys
--- do is for `ask`, `elicit` and `dialog`.
local corner = require("assent.corner")
local notice = require("assent.notice")
local one_key = require("assent.one_key")

local M = {}

---@class assent.Question
---@field id string askId or elicitId: the same question may be asked again after an attach
---@field title string of the window
---@field lines string[]
---@field highlights table<integer, string>
---@field footer string
---@field keys table<string, fun(question: assent.Question)>
---@field render? fun(): string[], table<integer, string>, boolean  its lines as they are now, where they may change
---@field cut boolean? whether its lines are not all of it, and the rest was not shown yet
---@field page (fun(): boolean)? whether all of it was read in the tab that shows it whole; shows the next part
---@field leave fun()? close the tab that shows it whole
---@field quick table<assent.QuickAnswer, assent.Quick> answers that can be given from any buffer
---@field waiting table<string, fun(result: table)> who asked, by requestId

---@class assent.Quick
---@field label string
---@field run fun(question: assent.Question)
---@field unseen boolean? whether it may be given before all of the question was on the screen

---@type assent.Question[] the first is the one on the screen
local queue = {}
---@type table<string, true> questions that were answered here, until their end is told
local answered = {}

--- Whether this question was answered in this Neovim; asked once, when its end is told.
---@param id string
---@return boolean
function M.answered_here(id)
  local here = answered[id] == true
  answered[id] = nil
  return here
end

---@return integer
function M.count()
  return #queue
end

--- Text that cannot hide anything: control characters and those that reorder text are spelled out.
---@param text string
---@return string
function M.visible(text)
  local plain = text
    :gsub("\r\n", "\n")
    :gsub("[%z\1-\8\11-\31\127]", function(char)
      return ("\\x%02x"):format(char:byte())
    end)
    :gsub("\226\128[\139-\143\170-\174]", function(char)
      return ("\\u%04x"):format(vim.fn.char2nr(char))
    end)
    :gsub("\226\129[\160-\175]", function(char)
      return ("\\u%04x"):format(vim.fn.char2nr(char))
    end)
    :gsub("\239\187\191", "\\ufeff")
  return plain
end

---@param lines string[]
---@param highlights table<integer, string>
---@param text string
---@param highlight string?
function M.put(lines, highlights, text, highlight)
  for _, line in ipairs(vim.split(M.visible(text), "\n", { plain = true })) do
    table.insert(lines, line)
    if highlight then
      highlights[#lines] = highlight
    end
  end
end

--- It waits no more.
---@param index integer
local function settled(index)
  local question = table.remove(queue, index)
  if question.leave then
    question.leave()
  end
end

--- Show the first question, or nothing.
function M.show()
  local first = queue[1]
  if first then
    one_key.map()
    corner.show(first, #queue)
  else
    one_key.unmap()
    corner.hide()
  end
  vim.cmd.redrawstatus({ bang = true }) -- it may count what waits
end

--- What is asked about may have been decided in part: the lines say what is left.
function M.refresh()
  for _, question in ipairs(queue) do
    if question.render then
      local lines, highlights, cut = question.render()
      if not vim.deep_equal(lines, question.lines) then
        question.lines, question.highlights, question.cut = lines, highlights, cut
        corner.rewrite(question)
      end
    end
  end
end

--- A question arrives, perhaps not for the first time.
---@param question assent.Question
---@param request_id string
---@param resume fun(result: table)
function M.add(question, request_id, resume)
  for _, each in ipairs(queue) do
    if each.id == question.id then
      each.waiting[request_id] = resume
      return
    end
  end
  question.waiting = { [request_id] = resume }
  table.insert(queue, question)
  M.show()
end

--- Answer this question, if it still waits.
---@param question assent.Question
---@param result table
function M.answer(question, result)
  for index, each in ipairs(queue) do
    if each == question then
      settled(index)
      answered[question.id] = true
      M.show()
      for _, resume in pairs(question.waiting) do
        resume(result)
      end
      return
    end
  end
  notice.tell("this question has been settled meanwhile")
end

--- Someone else answered, or the question is moot. What we say now is dropped by the server.
---@param request_id string
function M.withdrawn(request_id)
  for index, each in ipairs(queue) do
    local resume = each.waiting[request_id]
    if resume then
      each.waiting[request_id] = nil
      if vim.tbl_isempty(each.waiting) then
        settled(index)
      end
      resume({ decision = "deny", action = "cancel", message = "withdrawn" })
      return M.show()
    end
  end
end

--- The server is gone, and its questions with it. It will ask again.
function M.forget()
  queue = {}
  M.show()
end

--- Go into the question, to answer it with its keys.
function M.focus()
  if #queue == 0 then
    return notice.tell("nothing is waiting for an answer")
  end
  if vim.t.assent_details and queue[1].page then
    return notice.tell("the keys above answer it")
  end
  corner.enter(queue[1], #queue)
end

--- Answer the question on the screen from wherever the user is; the focus stays there.
---@param word assent.QuickAnswer
function M.quick(word)
  local first = queue[1]
  if not first then
    return notice.tell("nothing is waiting for an answer")
  end
  local quick = first.quick[word]
  if not quick then
    return notice.tell("this question has other answers; :Assent answer shows them")
  end
  if not quick.unseen and not corner.shows_all(first) and not corner.inside() then
    corner.enter(first, #queue)
    local more = corner.shows_all(first) and "here it is. The keys below answer it"
      or "scroll to its end. The keys below answer it"
    return notice.tell("not all of this was on the screen; " .. more)
  end
  quick.run(first)
end

vim.api.nvim_create_autocmd({ "VimResized", "WinNew", "WinClosed", "TabEnter" }, {
  group = vim.api.nvim_create_augroup("assent_ask", { clear = true }),
  callback = function(event)
    if #queue > 0 then
      vim.schedule(function()
        if event.event == "TabEnter" then
          corner.hide() -- a float belongs to one tab page
        end
        M.show()
      end)
    end
  end,
})

vim.api.nvim_create_autocmd("User", {
  group = vim.api.nvim_create_augroup("assent_questions_follow", { clear = true }),
  pattern = "AssentHunksChanged",
  callback = M.refresh,
})

return M
