--- Questions the agent has for the user. They wait in the corner like asks do, since a picker that opens by itself
--- would take keys typed for something else; once gone into, vim.ui.select and vim.ui.input put them, so that any
--- picker works.
local async = require("assent.async")
local client = require("assent.client")
local config = require("assent.config")
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

--- One field of a form, asked until the answer fits its type. Nil: the user left.
---@param name string
---@param field table
---@param required boolean
---@return any
local function field_value(name, field, required)
  local label = (field.title or name) .. (field.description and (" (%s)"):format(field.description) or "")
  if field.enum then
    return async.await(function(resume)
      vim.ui.select(field.enum, { prompt = label, kind = "assent" }, resume)
    end)
  end
  if field.type == "boolean" then
    local said = async.await(function(resume)
      vim.ui.select({ "yes", "no" }, { prompt = label, kind = "assent" }, resume)
    end)
    if said then
      return said == "yes"
    end
    return nil
  end
  local number = field.type == "integer" or field.type == "number"
  local hint = number and " (a number): " or required and ": " or " (may stay empty): "
  while true do
    local typed = async.await(function(resume)
      vim.ui.input({ prompt = label .. hint, default = field.default and tostring(field.default) or nil }, resume)
    end)
    if typed == nil then
      return nil
    end
    local value = typed
    if number then
      value = tonumber(typed)
      if value and field.type == "integer" and value ~= math.floor(value) then
        value = nil
      end
    end
    if typed == "" and not required then
      return vim.NIL
    end
    if value and value ~= "" then
      return value
    end
  end
end

--- A form, field by field: the required ones first, then the others by name.
---@param schema table
---@return table
local function fill(schema)
  local required, order = {}, {}
  for _, name in ipairs(schema.required or {}) do
    required[name] = true
    table.insert(order, name)
  end
  for name in vim.spairs(schema.properties or {}) do
    if not required[name] then
      table.insert(order, name)
    end
  end
  local content = vim.empty_dict()
  for _, name in ipairs(order) do
    local value = field_value(name, (schema.properties or {})[name] or {}, required[name] == true)
    if value == nil then
      return { action = "cancel" }
    end
    if value ~= vim.NIL then
      content[name] = value
    end
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
    if said == "Open" then
      vim.ui.open(params.url)
      return { action = "accept" }
    end
    return { action = said == "Decline" and "decline" or "cancel" }
  end
  return fill(params.schema or {})
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
  return lines, highlights
end

--- `assent/elicit`.
---@param params table
---@return table
function M.elicit(params)
  if config.get().notify and not require("assent").visible() then
    client.notify(("has a question: %s (:Assent answer)"):format(params.message))
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
      quick = { deny = decline },
      waiting = {},
    }, params.requestId, resume)
  end) or { action = "cancel" }
end

return M
