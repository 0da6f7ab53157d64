--- Questions the agent has for the user, with vim.ui.select and vim.ui.input, so that any picker works.
local async = require("assent.async")

local M = {}

---@type table<string, fun(result: table)>
local open = {}

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
      break
    end
    table.insert(picked, choice.label)
    left = vim.tbl_filter(function(option)
      return option.label ~= choice.label
    end, left)
  until not question.multiSelect or #left == 0
  return picked, other
end

---@param questions table[]
---@return table
local function ask_all(questions)
  local answers, others = {}, {}
  for _, question in ipairs(questions) do
    local labels, other = ask(question)
    if not labels then
      return { action = "cancel" }
    end
    answers[question.id] = #labels > 0 and labels or vim.empty_dict()
    if #labels == 0 then
      answers[question.id] = {}
    end
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

---@param schema table
---@return table
local function fill(schema)
  local content = {}
  for name, field in vim.spairs(schema.properties or {}) do
    local value
    local label = (field.title or name) .. (field.description and (" (%s)"):format(field.description) or "")
    if field.enum then
      value = async.await(function(resume)
        vim.ui.select(field.enum, { prompt = label }, resume)
      end)
    elseif field.type == "boolean" then
      local said = async.await(function(resume)
        vim.ui.select({ "yes", "no" }, { prompt = label }, resume)
      end)
      if said then
        value = said == "yes"
      end
    else
      value = async.await(function(resume)
        vim.ui.input({ prompt = label .. ": ", default = field.default and tostring(field.default) or nil }, resume)
      end)
      if value and (field.type == "integer" or field.type == "number") then
        value = tonumber(value)
      end
    end
    if value == nil then
      return { action = "cancel" }
    end
    content[name] = value
  end
  return { action = "accept", content = vim.tbl_isempty(content) and vim.empty_dict() or content }
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
    return { action = "decline" }
  end
  return fill(params.schema or {})
end

--- `assent/elicit`.
---@param params table
---@return table
function M.elicit(params)
  local answered = async.await(function(resume)
    open[params.requestId] = resume
    vim.notify("Assent: " .. params.message, vim.log.levels.INFO)
    coroutine.wrap(function()
      resume(put(params))
    end)()
  end)
  open[params.requestId] = nil
  return answered or { action = "cancel" }
end

---@param request_id string
function M.withdrawn(request_id)
  if open[request_id] then
    open[request_id]({ action = "cancel" })
  end
end

return M
