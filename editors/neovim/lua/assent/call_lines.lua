--- The lines of a tool call in the chat: what it is about, what it runs, why it failed, what it gave. Draws nothing.
local folds = require("assent.folds")
local transcript = require("assent.transcript")

local M = {}

local WHOLE_COMMAND, BEGINNING = 5, 3
local SHORT_FAILURE, SHORT_SUMMARY = 3, 40

---@param text string
---@return string[]
function M.split(text)
  return vim.split((text:gsub("\r\n?", "\n")), "\n", { plain = true })
end

--- What a call is about, in the words its input has for that; a command stands below instead.
---@param input table
---@param title string?
---@return string
local function about(input, title)
  if type(input.command) == "string" then
    return type(input.description) == "string" and input.description or ""
  end
  local said = title or input.file_path or input.pattern or input.description or input.url or input.query
  return type(said) == "string" and said or ""
end

--- What stands on the line of a tool call: its name, and what it is about unless that says the same again.
---@param tool string
---@param input table?
---@param title string?
---@return string
function M.head(tool, input, title)
  local words = M.split(input and about(input, title) or "")[1]
  if vim.startswith(words, tool .. " ") then
    words = words:sub(#tool + 2)
  end
  if words == "" or words == tool then
    return ("- `%s`"):format(tool)
  end
  return ("- `%s` %s"):format(tool, words)
end

--- A command as it ran, line by line. The middle of a long one folds away, its beginning and its end never do.
---@param command string
---@return string[]
local function command_lines(command)
  local lines = vim.split(command:gsub("\n+$", ""), "\n", { plain = true })
  local shown = #lines > WHOLE_COMMAND and BEGINNING or #lines
  for index, line in ipairs(lines) do
    -- The last line stands between this fold and that of the output, which would be one otherwise.
    local hidden = index > shown and index < #lines
    local prefix = index == 1 and transcript.COMMAND or hidden and transcript.REST or transcript.NEXT
    lines[index] = prefix .. line
  end
  return lines
end

---@param input table<string, any>
---@return string[]
local function argument_lines(input)
  local names, lines = vim.tbl_keys(input), {}
  table.sort(names)
  for _, name in ipairs(names) do
    table.insert(lines, ("%s%s: %s"):format(transcript.DETAIL, name, vim.json.encode(input[name])))
  end
  return lines
end

--- What stands below that line: the command, or the arguments of an MCP tool; nil for any other call.
---@param tool string
---@param input table
---@return string[]?
function M.input(tool, input)
  if type(input.command) == "string" then
    return command_lines(input.command)
  elseif vim.startswith(tool, "mcp__") and not vim.tbl_isempty(input) then
    return argument_lines(input)
  end
end

--- Why a call failed or was denied, whole: a few lines as they are, more of them folded under the first.
---@param text string
---@param summary string
---@return string mark for the line of the call
---@return string[]
function M.failure(text, summary)
  local lines = M.split(vim.trim(text))
  local said = summary ~= lines[1] and vim.fn.strdisplaywidth(summary) <= SHORT_SUMMARY and summary or ""
  local prefix = #lines > SHORT_FAILURE and transcript.ERROR or transcript.FAILED
  for index, line in ipairs(lines) do
    lines[index] = (index > 1 and prefix == transcript.FAILED and "    " or prefix) .. line
  end
  return "✗ " .. said, lines
end

--- What a call gave, as far as it is shown.
---@param output string
---@return string[]
function M.output(output)
  local all, shown = M.split(output), {}
  for index, line in ipairs(all) do
    if index > folds.MOST_DETAIL then
      table.insert(shown, ("%s… %d more lines"):format(transcript.DETAIL, #all - folds.MOST_DETAIL))
      break
    end
    table.insert(shown, transcript.DETAIL .. line)
  end
  return shown
end

return M
