--- Columns as the wire counts them. Ours counts UTF-16 units; a language server may have settled on something else, and
--- Neovim counts bytes. Knows lines and columns, not what they are for.
local M = {}

local MODERN = vim.fn.has("nvim-0.11") == 1

---@alias assent.Encoding "utf-8"|"utf-16"|"utf-32"

--- The column of a byte.
---@param text string one line
---@param byte integer zero-based
---@param encoding assent.Encoding?
---@return integer
function M.column(text, byte, encoding)
  byte = math.min(byte, #text)
  if encoding == "utf-8" then
    return byte
  end
  if MODERN then
    return vim.str_utfindex(text, encoding or "utf-16", byte, false)
  end
  local wide, units = vim.str_utfindex(text, byte)
  return encoding == "utf-32" and wide or units
end

--- The byte a column stands for.
---@param text string one line
---@param column integer
---@param encoding assent.Encoding?
---@return integer
function M.byte(text, column, encoding)
  if encoding == "utf-8" then
    return math.min(column, #text)
  end
  if MODERN then
    return vim.str_byteindex(text, encoding or "utf-16", column, false)
  end
  local ok, byte = pcall(vim.str_byteindex, text, column, encoding ~= "utf-32")
  return ok and byte or #text
end

--- Whole lines of a buffer as a range: from the beginning of the first to the end of the last.
---@param bufnr integer
---@param first integer one-based
---@param last integer
---@return table
function M.lines(bufnr, first, last)
  local text = vim.api.nvim_buf_get_lines(bufnr, last - 1, last, false)[1] or ""
  return {
    start = { line = first - 1, character = 0 },
    ["end"] = { line = last - 1, character = M.column(text, #text) },
  }
end

---@param uri string
---@return integer? a buffer that holds the document now
function M.buffer_of(uri)
  local path = vim.uri_to_fname(uri)
  local loaded = vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.api.nvim_list_bufs())
  -- Not by bufnr(), which takes a name for a pattern: "/a/b" would find "/a/b.py".
  for _, bufnr in ipairs(loaded) do
    if vim.api.nvim_buf_get_name(bufnr) == path then
      return bufnr
    end
  end
  local real = vim.uv.fs_realpath(path)
  for _, bufnr in ipairs(real and loaded or {}) do
    local name = vim.api.nvim_buf_get_name(bufnr)
    if name ~= "" and vim.uv.fs_realpath(name) == real then
      return bufnr -- the same file by another way, such as a link
    end
  end
end

---@param uri string
---@return fun(row: integer): string
local function reader(uri)
  local bufnr = M.buffer_of(uri)
  if bufnr then
    return function(row)
      return vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
    end
  end
  local ok, lines = pcall(vim.fn.readfile, vim.uri_to_fname(uri))
  return function(row)
    return ok and lines[row + 1] or ""
  end
end

--- An LSP value with every position in it counted another way. Positions belong to the document named around them.
---@param value any
---@param uri string the document of positions that name none
---@param from assent.Encoding
---@param to assent.Encoding
---@return any
function M.recount(value, uri, from, to)
  if from == to then
    return value
  end
  local readers = {}
  local walk
  local function each(items, document)
    local done = {}
    for key, item in pairs(items) do
      done[key] = walk(item, document)
    end
    return done
  end
  walk = function(item, document)
    if type(item) ~= "table" then
      return item
    end
    if type(item.line) == "number" and type(item.character) == "number" then
      readers[document] = readers[document] or reader(document)
      local line = readers[document](item.line)
      return { line = item.line, character = M.column(line, M.byte(line, item.character, from), to) }
    end
    local own = item.targetUri or item.uri or (type(item.textDocument) == "table" and item.textDocument.uri) or document
    local done = each(item, own)
    if type(item.changes) == "table" then
      done.changes = {}
      for changed, edits in pairs(item.changes) do
        done.changes[changed] = each(edits, changed)
      end
    end
    return done
  end
  return walk(value, uri)
end

return M
