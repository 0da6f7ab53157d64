--- A form that a JSON schema describes, asked field by field with vim.ui.select and vim.ui.input. Runs in a coroutine;
--- who asks and what the answers are for is not known here. What a field holds already, by default or from an answer
--- that was refused, is filled in, or stands first where one chooses: Enter takes it. Enter skips an optional field.
local async = require("assent.async")
local values = require("assent.form_values")

local M = {}

local SKIP = "Leave it empty"

---@class assent.FormField
---@field schema table
---@field label string
---@field required boolean
---@field now any what it holds already
---@field problem string? what is wrong with that

---@class assent.FormChoice
---@field label string
---@field value any

---@param items assent.FormChoice[]
---@param prompt string
---@return assent.FormChoice?
local function pick(items, prompt)
  return async.await(function(resume)
    vim.ui.select(items, {
      prompt = prompt,
      kind = "assent",
      format_item = function(item)
        return item.label
      end,
    }, resume)
  end)
end

--- The values a field allows and what they are called, however its schema says so.
---@param schema table
---@return assent.FormChoice[]?
local function choices(schema)
  local found = {}
  if type(schema.enum) == "table" then
    local names = type(schema.enumNames) == "table" and schema.enumNames or {}
    for index, value in ipairs(schema.enum) do
      table.insert(found, { label = tostring(names[index] or value), value = value })
    end
    return found
  end
  local titled = schema.oneOf or schema.anyOf
  if type(titled) ~= "table" then
    return nil
  end
  for _, option in ipairs(titled) do
    if type(option) == "table" and option.const ~= nil then
      table.insert(found, { label = tostring(option.title or option.const), value = option.const })
    end
  end
  return found
end

--- One of these. Nil: the user left; vim.NIL: it stays empty.
---@param field assent.FormField
---@param offered assent.FormChoice[]
---@return any
local function pick_one(field, offered)
  local items = vim.list_slice(offered)
  local known = false
  for index, item in ipairs(items) do
    if item.value == field.now then
      table.insert(items, 1, table.remove(items, index))
      known = true
      break
    end
  end
  if not field.required then
    table.insert(items, known and #items + 1 or 1, { label = SKIP, value = vim.NIL })
  end
  local hint = field.problem and (" (%s)"):format(field.problem) or ""
  local choice = pick(items, field.label .. hint)
  if choice == nil then
    return nil
  end
  return choice.value
end

---@param field assent.FormField
---@return any
local function pick_several(field)
  local offered = choices(field.schema.items or {}) or {}
  local picked, labels, problem = {}, {}, field.problem
  local left = vim.tbl_filter(function(item)
    if type(field.now) ~= "table" or not vim.list_contains(field.now, item.value) then
      return true
    end
    table.insert(picked, item.value)
    table.insert(labels, item.label)
    return false
  end, offered)
  local kept = #picked > 0
  while #left > 0 or kept do
    local items = { { label = "Done", done = true } }
    vim.list_extend(items, left)
    if kept then
      table.insert(items, { label = "Choose anew", anew = true })
    end
    local words = table.concat(labels, ", ") .. (problem and ("; " .. problem) or "")
    local choice = pick(items, field.label .. (words ~= "" and (" (%s)"):format(words) or ""))
    if choice == nil then
      return nil
    end
    problem = nil
    if choice.anew then
      picked, labels, left, kept = {}, {}, offered, false
    elseif choice.done then
      problem = values.too_few(#picked, field.schema)
      if not problem or #picked == 0 and not field.required then
        break
      end
    else
      table.insert(picked, choice.value)
      table.insert(labels, choice.label)
      left = vim.tbl_filter(function(item)
        return item ~= choice
      end, left)
      if values.enough(#picked, field.schema) then
        break
      end
    end
  end
  return #picked == 0 and not field.required and vim.NIL or picked
end

--- A field that is typed, asked until the answer fits.
---@param field assent.FormField
---@return any
local function typed_value(field)
  local hint = field.problem and (" (%s)"):format(field.problem) or field.required and "" or " (may stay empty)"
  local simple = type(field.now) == "string" or type(field.now) == "number"
  local default = simple and tostring(field.now) or nil
  while true do
    local typed = async.await(function(resume)
      vim.ui.input({ prompt = field.label .. hint .. ": ", default = default }, resume)
    end)
    if typed == nil then
      return nil
    end
    if typed == "" and not field.required then
      return vim.NIL
    end
    local value, problem = values.read(typed, field.schema)
    if value ~= nil and value ~= "" then
      return value
    end
    hint = (" (%s)"):format(problem or "it is required")
    default = typed
  end
end

--- One field. Nil: the user left; vim.NIL: it stays empty.
---@param field assent.FormField
---@return any
local function field_value(field)
  if field.schema.type == "array" then
    return pick_several(field)
  end
  local offered = choices(field.schema)
  if field.schema.type == "boolean" then
    offered = { { label = "yes", value = true }, { label = "no", value = false } }
  end
  if offered then
    return pick_one(field, offered)
  end
  return typed_value(field)
end

---@param name string
---@param schema table
---@return string
local function label(name, schema)
  local title = type(schema.title) == "string" and schema.title ~= "" and schema.title or name
  local about = type(schema.description) == "string" and (" (%s)"):format(schema.description) or ""
  return (title .. about):gsub("%c", " ")
end

---@class assent.Refused an answer that did not fit
---@field given table?
---@field problems table<string, string>?

--- A form, field by field: the required ones first, then the others by name.
---@param schema table
---@param refused assent.Refused
---@return table
function M.fill(schema, refused)
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
    local described = (schema.properties or {})[name] or {}
    local now = described.default
    if refused.given then
      now = refused.given[name]
    end
    local value = field_value({
      schema = described,
      label = label(name, described),
      required = required[name] == true,
      now = now,
      problem = (refused.problems or {})[name],
    })
    if value == nil then
      return { action = "cancel" }
    end
    if value ~= vim.NIL then
      content[name] = value
    end
  end
  return { action = "accept", content = content }
end

return M
