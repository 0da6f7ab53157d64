--- Places the agent mentions: `path/to/file.py:12:3`, a plain path, or an address of the web.
local notice = require("assent.notice")

local M = {}

---@class assent.Reference
---@field path string?
---@field line integer?
---@field column integer?
---@field url string?

--- The reference in a line of text at this column.
---@param text string
---@param column integer zero-based byte
---@return assent.Reference?
function M.parse(text, column)
  local from = 1
  while true do
    local first, last = text:find("[^%s`'\"%(%)%[%]<>,│┊]+", from)
    if not first then
      return nil
    end
    if column < last and column >= first - 1 then
      local word = text:sub(first, last):gsub("[%.;:]+$", "")
      if word:match("^https?://") then
        return { url = word }
      end
      local path, line, rest = word:match("^(.-):(%d+)(.*)$")
      if path and path ~= "" then
        return { path = path, line = tonumber(line), column = tonumber(rest:match("^:(%d+)")) }
      end
      local hash_path, hash_line = word:match("^(.-)#L(%d+)")
      if hash_path and hash_path ~= "" then
        return { path = hash_path, line = tonumber(hash_line) }
      end
      return { path = word }
    end
    from = last + 1
  end
end

--- Open what is under the cursor in a window that shows files.
---@param cwd string where relative paths begin
function M.open(cwd)
  local found = M.parse(vim.api.nvim_get_current_line(), vim.api.nvim_win_get_cursor(0)[2])
  if not found then
    return notice.tell("no file is named here")
  end
  if found.url then
    return vim.ui.open(found.url)
  end
  local path = vim.fn.fnamemodify(found.path, ":p")
  if not vim.startswith(found.path, "/") and not vim.startswith(found.path, "~") then
    path = vim.fs.joinpath(cwd, found.path)
  end
  if vim.fn.filereadable(path) == 0 then
    return notice.tell("there is no file " .. found.path)
  end
  local problem = require("assent.files").show(path)
  if problem then
    return notice.tell(problem, vim.log.levels.WARN)
  end
  if found.line then
    pcall(vim.api.nvim_win_set_cursor, 0, { found.line, (found.column or 1) - 1 })
  end
end

return M
