--- Questions of the server about the editor: its buffers, its diagnostics, its selection; and saving. What only a
--- language server knows is for `language`.
local async = require("assent.async")
local documents = require("assent.documents")
local files = require("assent.files")
local language = require("assent.language")
local positions = require("assent.positions")

local M = {}

---@param uri string?
---@return integer?
local function buffer_of(uri)
  return uri and positions.buffer_of(uri) or nil
end

---@param bufnr integer
---@return string
local function text_of(bufnr)
  local ending = ({ unix = "\n", dos = "\r\n", mac = "\r" })[vim.bo[bufnr].fileformat]
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), ending)
  return vim.bo[bufnr].eol and text .. ending or text
end

--- Diagnostics, once they have been quiet for a moment.
---@param params table
---@return table
local function diagnostics(params)
  local bufnr = buffer_of(params.uri)
  if not bufnr then
    return { status = "noServer", value = {}, settled = false }
  end
  local settle, timeout = params.settleMs or 300, params.timeoutMs or 3000
  local began = vim.uv.now()
  local changed = began
  local watch = vim.api.nvim_create_autocmd("DiagnosticChanged", {
    buffer = bufnr,
    callback = function()
      changed = vim.uv.now()
    end,
  })
  local settled
  repeat
    async.sleep(50)
    local now = vim.uv.now()
    settled = now - changed >= settle
  until settled or now - began >= timeout
  vim.api.nvim_del_autocmd(watch)
  local list = require("assent.diagnostics").all(bufnr)
  return { status = "success", version = language.version(bufnr), value = list, settled = settled }
end

---@type table<string, fun(params: table): table>
local answers = {
  diagnostics = diagnostics,
  document = function(params)
    local bufnr = buffer_of(params.uri)
    if not bufnr then
      return { status = "noServer", value = vim.NIL }
    end
    local version, dirty = language.version(bufnr), vim.bo[bufnr].modified
    local value = { version = version, sha256 = vim.fn.sha256(text_of(bufnr)), dirty = dirty }
    return { status = "success", version = version, value = value }
  end,
  openEditors = function()
    local value = {}
    local current = vim.api.nvim_get_current_buf()
    for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
      local name = vim.api.nvim_buf_get_name(bufnr)
      if vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == "" and name ~= "" then
        table.insert(value, {
          uri = vim.uri_from_bufnr(bufnr),
          version = language.version(bufnr),
          active = bufnr == current,
          visible = #vim.fn.win_findbuf(bufnr) > 0,
          dirty = vim.bo[bufnr].modified,
          languageId = vim.bo[bufnr].filetype,
        })
      end
    end
    return { status = "success", value = value }
  end,
  selection = function()
    local seen = require("assent").last_selection()
    return { status = "success", value = seen or vim.NIL }
  end,
  openFile = function(params)
    local window, problem = files.put(vim.uri_to_fname(params.uri))
    if not window then
      return { status = "error", value = problem }
    end
    if params.range then
      pcall(vim.api.nvim_win_set_cursor, window, { params.range.start.line + 1, 0 })
    end
    return { status = "success", value = vim.NIL }
  end,
}

--- `assent/editor/query`.
---@param params table
---@return table
function M.query(params)
  local answer = answers[params.kind] or (language.answers(params.kind) and language.query)
  if not answer then
    return { status = "error", value = ("this editor does not know %s"):format(params.kind) }
  end
  local ok, result = pcall(answer, params)
  if not ok then
    return { status = "error", value = tostring(result) }
  end
  return result
end

--- Whether Neovim noticed by itself that the file was changed under the buffer. It tells once, to whoever asks first.
---@param bufnr integer
---@return boolean
local function noticed(bufnr)
  local changed = false
  local watch = vim.api.nvim_create_autocmd("FileChangedShell", {
    buffer = bufnr,
    callback = function()
      changed = true
      vim.v.fcs_choice = ""
    end,
  })
  vim.cmd("silent! checktime " .. bufnr)
  vim.api.nvim_del_autocmd(watch)
  return changed
end

--- Whether the file was changed under the buffer. Writing would then stop at a question that takes the user's keys.
---@param bufnr integer
---@return boolean
local function changed_outside(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  local known = vim.b[bufnr].assent_file -- the plugin's file keeps it
  if not known or known[1] ~= path then
    return noticed(bufnr)
  end
  local found = vim.uv.fs_stat(path)
  return found ~= nil and not vim.deep_equal(known, { path, found.size, found.mtime.sec, found.mtime.nsec })
end

--- `assent/editor/save`: the save barrier before a command.
---@param params table
---@return table
function M.save(params)
  local saved, failed = {}, {}
  for _, uri in ipairs(params.uris) do
    local bufnr = buffer_of(uri)
    if not bufnr then
      table.insert(failed, { uri = uri, message = "it is not open here" })
    elseif vim.bo[bufnr].modified and changed_outside(bufnr) then
      table.insert(failed, { uri = uri, message = "its file was changed by another program" })
    else
      local ok, problem = files.unasked(function()
        vim.api.nvim_buf_call(bufnr, function()
          vim.cmd("silent update")
        end)
      end)
      if ok and not vim.bo[bufnr].modified then
        table.insert(saved, uri)
      else
        table.insert(failed, { uri = uri, message = ok and "it is still modified" or tostring(problem) })
      end
    end
  end
  documents.flush()
  return { saved = saved, failed = failed }
end

return M
