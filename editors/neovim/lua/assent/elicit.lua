--- Questions the agent has for the user. They wait in the corner like asks do, since a picker that opens by itself
--- would take keys typed for something else; once gone into, vim.ui.select and vim.ui.input put them, so that any
--- picker works.
local async = require("assent.async")
local config = require("assent.config")
local form = require("assent.form")
local notice = require("assent.notice")
local questions = require("assent.questions")

local M = {}

local OTHER = "Something else…"

---@param question table
---@return string[]? labels
---@return string? other
local function ask(question)
  local picked, other = {}, nil
  local left = vim.deepcopy(question.options)
  repeat
    local choices = vim.list_slice(left)
    if question.allowOther ~= false then
      table.insert(choices, { label = OTHER })
    end
    if question.multiSelect and #picked > 0 then
      table.insert(choices, 1, { label = "Done", done = true })
    end
    local prompt = question.question .. (#picked > 0 and (" (%s)"):format(table.concat(picked, ", ")) or "")
    local choice = async.await(function(resume)
      vim.ui.select(choices, {
        prompt = prompt,
        kind = "assent",
        format_item = function(item)
          return item.label .. ((item.description and item.description ~= "") and (" — " .. item.description) or "")
        end,
      }, resume)
    end)
    if not choice then
      return nil
    end
    if choice.done then
      break
    end
    if choice.label == OTHER then
      other = async.await(function(resume)
        vim.ui.input({ prompt = question.question .. " " }, resume)
      end)
      if not other then
        return nil
      end
      break
    end
    table.insert(picked, choice.label)
    left = vim.tbl_filter(function(option)
      return option.label ~= choice.label
    end, left)
  until not question.multiSelect or #left == 0
  return picked, other
end

---@param list table[]
---@return table
local function ask_all(list)
  local answers, others = {}, {}
  for _, question in ipairs(list) do
    local labels, other = ask(question)
    if not labels then
      return { action = "cancel" }
    end
    answers[question.id] = labels
    if other then
      others[question.id] = other
    end
  end
  local content = { answers = answers }
  if not vim.tbl_isempty(others) then
    content.other = others
  end
  return { action = "accept", content = content }
end

---@param params table
---@return table
local function put(params)
  if params.questions then
    return ask_all(params.questions)
  end
  if params.url then
    local said = async.await(function(resume)
      vim.ui.select({ "Open", "Decline" }, { prompt = ("%s %s"):format(params.message, params.url) }, resume)
    end)
    if said == "Open" and not params.url:match("^https?://") then
      notice.tell("only pages of the web are opened", vim.log.levels.WARN)
      return { action = "decline" }
    end
    if said == "Open" then
      vim.ui.open(params.url)
      return { action = "accept" }
    end
    return { action = said == "Decline" and "decline" or "cancel" }
  end
  return form.fill(params.schema or {}, params)
end

---@param params table
---@return string[] lines
---@return table<integer, string> highlights
function M.render(params)
  local lines, highlights = {}, {}
  if not params.questions then
    questions.put(lines, highlights, params.message, "Title")
  end
  for _, question in ipairs(params.questions or {}) do
    questions.put(lines, highlights, question.question, "Title")
    for _, option in ipairs(question.options or {}) do
      local about = (option.description and option.description ~= "") and (" — " .. option.description) or ""
      questions.put(lines, highlights, ("  • %s%s"):format(option.label, about))
    end
  end
  if params.url then
    questions.put(lines, highlights, params.url, "Underlined")
  end
  for name, problem in vim.spairs(params.problems or {}) do
    questions.put(lines, highlights, ("  %s: %s"):format(name, problem), "WarningMsg")
  end
  return lines, highlights
end

--- `assent/elicit`.
---@param params table
---@return table
function M.elicit(params)
  if config.get().notify and not require("assent").visible() then
    notice.tell(("has a question (:Assent answer): %s"):format(params.message))
  end
  local lines, highlights = M.render(params)
  local start = function(question)
    vim.cmd.wincmd("p")
    coroutine.wrap(function()
      local result = put(params)
      -- A picker that was closed is not an answer: the question goes on waiting.
      if result.action ~= "cancel" then
        questions.answer(question, result)
      end
    end)()
  end
  local decline = function(question)
    questions.answer(question, { action = "decline" })
  end
  return async.await(function(resume)
    questions.add({
      id = params.elicitId,
      title = "Assent has a question",
      lines = lines,
      highlights = highlights,
      footer = " <CR> answer · n decline ",
      keys = { ["<CR>"] = start, y = start, n = decline },
      quick = { no = { label = "decline", run = decline, unseen = true } },
      waiting = {},
    }, params.requestId, resume)
  end) or { action = "cancel" }
end

return M
