--- A form that a JSON schema describes, asked field by field with vim.ui.select and vim.ui.input. Runs in a coroutine;
--- who asks and what the answers are for is not known here.
local async = require("assent.async")

local M = {}

---@param items any[]
---@param prompt string
---@param names table<any, string>?
---@return any
local function pick(items, prompt, names)
  return async.await(function(resume)
    vim.ui.select(items, {
      prompt = prompt,
      kind = "assent",
      format_item = function(item)
        return names and names[item] or tostring(item)
      end,
    }, resume)
  end)
end

--- The values a field allows and what they are called, however its schema says so.
---@param field table
---@return any[]? values
---@return table<any, string> names
local function choices(field)
  local values, names = field.enum, {}
  for index, name in ipairs(field.enum and field.enumNames or {}) do
    names[field.enum[index]] = name
  end
  local titled = field.oneOf or field.anyOf
  if not values and titled then
    values = {}
    for _, option in ipairs(titled) do
      if option.const ~= nil then
        table.insert(values, option.const)
        names[option.const] = option.title
      end
    end
  end
  return values, names
end

---@param field table
---@param prompt string
---@return any[]?
local function pick_several(field, prompt)
  local left, names = choices(field.items or {})
  left = vim.list_slice(left or {})
  local picked = {}
  while #left > 0 do
    local offered = vim.list_extend({ "Done" }, left)
    local so_far = #picked > 0 and (" (%s)"):format(table.concat(vim.tbl_map(tostring, picked), ", ")) or ""
    local choice = pick(offered, prompt .. so_far, names)
    if choice == nil then
      return nil
    end
    if choice == "Done" then
      break
    end
    table.insert(picked, choice)
    left = vim.tbl_filter(function(value)
      return value ~= choice
    end, left)
  end
  return picked
end

--- What a typed text stands for, or what is wrong with it.
---@param typed string
---@param field table
---@return any value
---@return string? problem
local function read(typed, field)
  local whole = field.type == "integer"
  if whole or field.type == "number" then
    local value = tonumber(typed)
    if not value or whole and value ~= math.floor(value) then
      return nil, whole and "a whole number, please" or "a number, please"
    end
    if field.minimum and value < field.minimum or field.maximum and value > field.maximum then
      return nil, ("between %s and %s, please"):format(field.minimum or "…", field.maximum or "…")
    end
    return value
  end
  local length = vim.fn.strchars(typed)
  if field.minLength and length < field.minLength then
    return nil, ("at least %d characters, please"):format(field.minLength)
  end
  if field.maxLength and length > field.maxLength then
    return nil, ("at most %d characters, please"):format(field.maxLength)
  end
  return typed
end

--- One field of a form, asked until the answer fits. Nil: the user left; vim.NIL: it stays empty.
---@param name string
---@param field table
---@param required boolean
---@return any
local function field_value(name, field, required)
  local label = (field.title or name) .. (field.description and (" (%s)"):format(field.description) or "")
  local values, names = choices(field)
  if values then
    return pick(values, label, names)
  end
  if field.type == "array" then
    return pick_several(field, label)
  end
  if field.type == "boolean" then
    local said = pick({ "yes", "no" }, label)
    if said == nil then
      return nil
    end
    return said == "yes"
  end
  local hint = required and "" or " (may stay empty)"
  local default = field.default ~= nil and tostring(field.default) or nil
  while true do
    local typed = async.await(function(resume)
      vim.ui.input({ prompt = label .. hint .. ": ", default = default }, resume)
    end)
    if typed == nil then
      return nil
    end
    if typed == "" and not required then
      return vim.NIL
    end
    local value, problem = read(typed, field)
    if value ~= nil and value ~= "" then
      return value
    end
    hint = (" (%s)"):format(problem or "it is needed")
    default = typed
  end
end

--- A form, field by field: the required ones first, then the others by name.
---@param schema table
---@return table
function M.fill(schema)
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

return M
