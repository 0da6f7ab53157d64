--- The windows of a chat: where they open, how they are dressed, how they close. What stands in them is for `chat`.
local config = require("assent.config")

local M = {}

M.LAYOUTS = { "right", "left", "bottom", "tab", "float" }

---@class assent.Panes
---@field bufnr integer the conversation
---@field prompt integer

--- Options of one window for the buffer it shows now; another buffer in it gets its own again.
---@param window integer
---@param options table<string, any>
local function set(window, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { scope = "local", win = window })
  end
end

local PLAIN = {
  wrap = true,
  linebreak = true,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  list = false,
  spell = false,
}

---@param window integer
local function dress_chat(window)
  set(window, PLAIN)
  set(window, {
    foldmethod = "expr",
    foldexpr = "v:lua.require'assent.transcript'.fold(v:lnum)",
    foldtext = "v:lua.require'assent.transcript'.foldtext()",
    foldlevel = 0,
    foldminlines = 0,
    foldenable = true,
    fillchars = "fold: ,eob: ",
    conceallevel = 2,
    winbar = "%{%v:lua.require'assent'.winbar()%}",
  })
end

---@param window integer
local function dress_prompt(window)
  set(window, PLAIN)
  set(window, {
    foldenable = false,
    winfixheight = true,
    fillchars = "eob: ",
    winbar = "%#Comment# %{%v:lua.require'assent'.prompt_hint()%}",
  })
end

--- Dress every window these buffers come into, however they get there.
---@param panes assent.Panes
function M.follow(panes)
  local group = vim.api.nvim_create_augroup("assent_panes_" .. panes.bufnr, { clear = true })
  for bufnr, dress in pairs({ [panes.bufnr] = dress_chat, [panes.prompt] = dress_prompt }) do
    vim.api.nvim_create_autocmd("BufWinEnter", {
      group = group,
      buffer = bufnr,
      callback = function()
        dress(vim.api.nvim_get_current_win())
      end,
    })
  end
end

---@param bufnr integer
---@return integer? window on this tab page
local function window_of(bufnr)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(window) == bufnr then
      return window
    end
  end
end

---@param panes assent.Panes
---@return integer prompt
local function float(panes)
  local columns, rows = vim.o.columns, vim.o.lines
  local low = config.get().chat.prompt_height
  local width, height = math.floor(columns * 0.8), math.floor(rows * 0.8)
  local place = { relative = "editor", width = width, col = math.floor((columns - width) / 2), border = "rounded" }
  local top = math.floor((rows - height) / 2)
  local upper =
    vim.tbl_extend("force", place, { row = top, height = math.max(height - low - 4, 3), title = " Assent " })
  local lower = vim.tbl_extend("force", place, { row = top + height - low - 2, height = low })
  dress_chat(vim.api.nvim_open_win(panes.bufnr, true, upper))
  local prompt = vim.api.nvim_open_win(panes.prompt, true, lower)
  dress_prompt(prompt)
  return prompt
end

local NARROWEST = 40

--- How wide a chat beside the files is: its share of the screen, but on a small one not too narrow to read.
---@return integer
local function width()
  local columns = vim.o.columns
  return math.max(math.floor(columns * config.get().chat.size), math.min(NARROWEST, math.floor(columns / 2)))
end

---@param panes assent.Panes
---@param layout string
---@return integer prompt
local function split(panes, layout)
  local own = config.get().chat
  if layout == "tab" then
    vim.cmd.tabnew()
    vim.bo.bufhidden = "wipe"
  elseif layout == "bottom" then
    vim.cmd(("botright %dsplit"):format(math.floor(vim.o.lines * own.size)))
  else
    local side = layout == "left" and "topleft" or "botright"
    vim.cmd(("%s %dvsplit"):format(side, width()))
  end
  local window = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(window, panes.bufnr)
  dress_chat(window)
  vim.cmd(("belowright %dsplit"):format(own.prompt_height))
  local prompt = vim.api.nvim_get_current_win()
  vim.api.nvim_win_set_buf(prompt, panes.prompt)
  dress_prompt(prompt)
  return prompt
end

--- Show the chat on this tab page and put the cursor into its prompt.
---@param panes assent.Panes
---@param layout string? another than the configured one
function M.open(panes, layout)
  local window, prompt = window_of(panes.bufnr), window_of(panes.prompt)
  if not (window and prompt) or layout then
    for _, each in pairs({ window, prompt }) do
      pcall(vim.api.nvim_win_close, each, true)
    end
    layout = layout or config.get().chat.layout
    prompt = layout == "float" and float(panes) or split(panes, layout)
  end
  vim.api.nvim_set_current_win(prompt --[[@as integer]])
end

---@param panes assent.Panes
function M.close(panes)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local bufnr = vim.api.nvim_win_get_buf(window)
    if (bufnr == panes.bufnr or bufnr == panes.prompt) and #vim.api.nvim_list_wins() > 1 then
      pcall(vim.api.nvim_win_close, window, true)
    end
  end
end

--- A window that shows a file, for opening another there: this one, the one before, any; or a new one.
---@return integer
function M.file_window()
  local candidates = { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#")) }
  vim.list_extend(candidates, vim.api.nvim_tabpage_list_wins(0))
  for _, window in ipairs(candidates) do
    if window ~= 0 and vim.api.nvim_win_get_config(window).relative == "" then
      if vim.bo[vim.api.nvim_win_get_buf(window)].buftype == "" then
        return window
      end
    end
  end
  local empty = vim.api.nvim_create_buf(false, false)
  vim.bo[empty].bufhidden = "wipe"
  return vim.api.nvim_open_win(empty, false, { split = "left", win = -1 })
end

return M
