--- Whether a value fits a field of a form. The server checks every answer by the same rules; here they are told while
--- the field is asked. A limit that is no number limits nothing.
local M = {}

--- A limit of the field, if it has one.
---@param field table
---@param name string
---@return number?
local function limit(field, name)
  return type(field[name]) == "number" and field[name] or nil
end

---@param text string
---@return boolean
local function is_date(text)
  local year, month, day = text:match("^(%d%d%d%d)%-(%d%d)%-(%d%d)$")
  if not year then
    return false
  end
  local moment = os.time({ year = tonumber(year), month = tonumber(month), day = tonumber(day), hour = 12 })
  return os.date("%Y-%m-%d", moment) == text
end

---@param text string
---@return boolean
local function is_moment(text)
  local hour, minute, second, rest = text:sub(11):match("^[Tt ](%d%d):(%d%d):(%d%d)(.*)$")
  if not hour or not is_date(text:sub(1, 10)) then
    return false
  end
  local zone = rest:gsub("^%.%d+", "")
  local timely = tonumber(hour) < 24 and tonumber(minute) < 60 and tonumber(second) < 60
  return timely and (zone:match("^[Zz]$") or zone:match("^[+-]%d%d:%d%d$")) ~= nil
end

---@type table<string, { fits: (fun(text: string): boolean), expected: string }>
local FORMATS = {
  email = {
    fits = function(text)
      return text:match("^[^@%s]+@[^@%s]+$") ~= nil
    end,
    expected = "an e-mail address like name@example.org",
  },
  uri = {
    fits = function(text)
      return text:match("^%a[%w+.-]*:%S+$") ~= nil
    end,
    expected = "an address like https://example.org/page",
  },
  date = { fits = is_date, expected = "a date like 2026-01-31" },
  ["date-time"] = { fits = is_moment, expected = "a date and time like 2026-01-31T09:30:00Z" },
}

---@param typed string
---@param field table
---@return number? value
---@return string? problem
local function number(typed, field)
  local whole = field.type == "integer"
  local value = tonumber(typed)
  local finite = value and value == value and math.abs(value) ~= math.huge -- JSON has no other numbers
  if not finite or whole and value ~= math.floor(value) then
    return nil, whole and "a whole number is expected" or "a number is expected"
  end
  local least, most = limit(field, "minimum"), limit(field, "maximum")
  local above, below = limit(field, "exclusiveMinimum"), limit(field, "exclusiveMaximum")
  local problem = least and value < least and ("at least %s is expected"):format(least)
    or most and value > most and ("at most %s is expected"):format(most)
    or above and value <= above and ("more than %s is expected"):format(above)
    or below and value >= below and ("less than %s is expected"):format(below)
    or nil
  if problem then
    return nil, problem
  end
  return value
end

--- What a typed text stands for, or what is wrong with it.
---@param typed string
---@param field table
---@return any value
---@return string? problem
function M.read(typed, field)
  if field.type == "integer" or field.type == "number" then
    return number(typed, field)
  end
  local length = vim.fn.strchars(typed)
  local least, most = limit(field, "minLength"), limit(field, "maxLength")
  if least and length < least then
    return nil, ("at least %d characters are expected"):format(least)
  end
  if most and length > most then
    return nil, ("at most %d characters are expected"):format(most)
  end
  local format = type(field.format) == "string" and FORMATS[field.format]
  if format and not format.fits(typed) then
    return nil, format.expected .. " is expected"
  end
  return typed
end

--- What is wrong with so many chosen values.
---@param count integer
---@param field table
---@return string?
function M.too_few(count, field)
  local least = limit(field, "minItems")
  return least and count < least and ("at least %d must be chosen"):format(least) or nil
end

---@param count integer
---@param field table
---@return boolean
function M.enough(count, field)
  local most = limit(field, "maxItems")
  return most ~= nil and count >= most
end

return M
