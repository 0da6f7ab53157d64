--- Prompts that are sent by a command: about a range of lines, into the chat or without leaving the buffer.
local sessions = require("assent.session")

local M = {}

---@class assent.Range
---@field bufnr integer
---@field first integer
---@field last integer

--- The prompt with the lines it is about.
---@param text string
---@param range assent.Range?
---@return string prompt
---@return table? options
local function with_range(text, range)
  if not range then
    return text, nil
  end
  if vim.api.nvim_buf_get_name(range.bufnr) == "" then
    -- Nothing has a name that the agent could read: the lines go along as they are.
    local quoted = vim.api.nvim_buf_get_lines(range.bufnr, range.first - 1, range.last, false)
    return ("%s\n\n~~~~\n%s\n~~~~"):format(text, table.concat(quoted, "\n")), nil
  end
  require("assent").remember_selection(range.bufnr, range.first, range.last)
  local lines = require("assent.positions").lines(range.bufnr, range.first, range.last)
  return text, { mentions = { { uri = vim.uri_from_bufnr(range.bufnr), range = lines } } }
end

--- The lines that a command was given; nil where it was given none.
---@param options table
---@return assent.Range?
function M.range_of(options)
  if options.range == 0 then
    return nil
  end
  return { bufnr = vim.api.nvim_get_current_buf(), first = options.line1, last = options.line2 }
end

--- The words of a command, or what the user types when there are none.
---@param arguments string[]
---@param question string
---@param done fun(text: string)
local function words(arguments, question, done)
  local text = table.concat(arguments, " ")
  if text ~= "" then
    return done(text)
  end
  vim.ui.input({ prompt = question }, function(typed)
    if typed and typed ~= "" then
      done(typed)
    end
  end)
end

--- `:Assent ask`: the chat opens and shows the answer.
---@param arguments string[]
---@param options table
function M.ask(arguments, options)
  local range = M.range_of(options)
  words(arguments, "Ask Assent: ", function(text)
    require("assent.chat").start(nil, function(opened)
      local prompt, extra = with_range(text, range)
      require("assent.panes").all_to_end(opened)
      sessions.send(sessions.get(opened.id), prompt, extra)
    end)
  end)
end

--- `:Assent prompt`: the lines are changed where they stand; their progress shows beside them.
---@param arguments string[]
---@param options table
function M.change(arguments, options)
  local range = M.range_of(options)
    or { bufnr = vim.api.nvim_get_current_buf(), first = vim.fn.line("."), last = vim.fn.line(".") }
  words(arguments, "Change this: ", function(text)
    sessions.some(function(session)
      if not session then
        return
      end
      require("assent.review")
      local prompt, extra = with_range(text, range)
      local progress = require("assent.progress")
      progress.at(session, range.bufnr, range.last - 1)
      sessions.send(session, prompt, extra, function(err)
        if err then
          progress.failed(session)
        end
      end)
    end)
  end)
end

return M
