--- The windows of a chat: where they open, how they are dressed, how they close. What stands in them is for `chat`.
local config = require("assent.config")
local folds = require("assent.folds")
local shares = require("assent.shares")

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
  winfixwidth = true,
  winfixbuf = true, -- a file opened by mistake here would take the place of the conversation
}

---@param window integer
local function dress_chat(window)
  set(window, PLAIN)
  set(window, {
    foldmethod = "manual", -- they are made by `folds`
    foldtext = "v:lua.require'assent.folds'.text()",
    foldlevel = 0,
    foldminlines = 0,
    foldenable = true,
    fillchars = "fold: ,eob: ",
    conceallevel = 0, -- Markdown would hide the stars and underscores of commands and paths
    smoothscroll = true, -- the end of a paragraph longer than the window can be seen
    winbar = "%{%v:lua.require'assent'.winbar()%}",
  })
end

--- A conversation that is only read: folds as in the chat, its own bar.
---@param window integer
function M.dress_reading(window)
  dress_chat(window)
  set(window, { winbar = "", winfixwidth = false })
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

--- Put the end of the conversation at the bottom of a window.
---@param window integer
function M.to_end(window)
  local bufnr = vim.api.nvim_win_get_buf(window)
  local last = vim.api.nvim_buf_line_count(bufnr)
  local text = vim.api.nvim_buf_get_lines(bufnr, last - 1, last, false)[1] or ""
  pcall(vim.api.nvim_win_set_cursor, window, { last, #text })
  vim.api.nvim_win_call(window, function()
    vim.cmd("normal! zb")
  end)
end

--- Put the end of the conversation into sight in every window that shows it.
---@param panes assent.Panes
function M.all_to_end(panes)
  for _, window in ipairs(vim.fn.win_findbuf(panes.bufnr)) do
    M.to_end(window)
  end
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
        if bufnr == panes.bufnr then
          folds.all(vim.api.nvim_get_current_win())
          M.to_end(vim.api.nvim_get_current_win())
        end
      end,
    })
  end
end

--- Show another buffer in a window of ours.
---@param window integer
---@param bufnr integer
local function show_in(window, bufnr)
  set(window, { winfixbuf = false })
  vim.api.nvim_win_set_buf(window, bufnr)
end

--- Give prompts their height back once this window is closed: Vim shares out its rows without asking 'winfixheight'.
---@param window integer a new one
---@param heights table<integer, integer> of the prompts before it came
function M.restore_after(window, heights)
  vim.api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(window),
    once = true,
    callback = vim.schedule_wrap(function()
      for prompt, height in pairs(heights) do
        if vim.api.nvim_win_is_valid(prompt) then
          vim.api.nvim_win_set_height(prompt, height)
        end
      end
    end),
  })
end

---@return table<integer, integer> heights of the prompts on this tab page
function M.prompt_heights()
  local heights = {}
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local inside = vim.api.nvim_win_get_config(window).relative == ""
    if inside and vim.bo[vim.api.nvim_win_get_buf(window)].filetype == "assent_prompt" then
      heights[window] = vim.api.nvim_win_get_height(window)
    end
  end
  return heights
end

--- A new window that shows this buffer, and has the focus.
---@param bufnr integer
---@param command string such as "botright 10split"
---@return integer window
function M.split_off(bufnr, command)
  local heights, before = M.prompt_heights(), vim.api.nvim_get_current_win()
  vim.cmd(command)
  local window = vim.api.nvim_get_current_win()
  show_in(window, bufnr) -- a new window has the options of the one it was split from
  M.restore_after(window, heights)
  vim.api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(window),
    once = true,
    callback = function()
      local inside = vim.api.nvim_get_current_win() == window
      vim.schedule(function()
        if inside and vim.api.nvim_win_is_valid(before) then
          vim.api.nvim_set_current_win(before) -- where one came from; Vim would go to a neighbour
        end
      end)
    end,
  })
  return window
end

---@param matches fun(bufnr: integer): boolean
---@return integer? window on this tab page
local function window_with(matches)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if matches(vim.api.nvim_win_get_buf(window)) then
      return window
    end
  end
end

---@param bufnr integer
---@return integer?
local function window_of(bufnr)
  return window_with(function(shown)
    return shown == bufnr
  end)
end

--- Windows on this tab page that show a chat, whichever it is.
---@return integer? chat
---@return integer? prompt
local function windows_of_any()
  local named = function(filetype)
    return window_with(function(bufnr)
      return vim.bo[bufnr].filetype == filetype
    end)
  end
  return named("assent"), named("assent_prompt")
end

---@param panes assent.Panes
---@return integer chat, integer prompt
local function float(panes)
  local upper, lower = shares.floats()
  local window = vim.api.nvim_open_win(panes.bufnr, true, upper)
  return window, vim.api.nvim_open_win(panes.prompt, true, lower)
end

---@param panes assent.Panes
---@param layout string
---@return integer chat, integer prompt
local function split(panes, layout)
  local own = config.get().chat
  local window
  if layout == "tab" then
    window = M.split_off(panes.bufnr, "tab split")
  elseif layout == "bottom" then
    window = M.split_off(panes.bufnr, ("botright %dsplit"):format(shares.height(own.size)))
  else
    local side = layout == "left" and "topleft" or "botright"
    window = M.split_off(panes.bufnr, ("%s %dvsplit"):format(side, shares.width(own.size)))
  end
  return window, M.split_off(panes.prompt, ("belowright %dsplit"):format(own.prompt_height))
end

--- Show the chat on this tab page and put the cursor into its prompt. Another chat that is there makes place for it.
---@param panes assent.Panes
---@param layout string? another than the configured one
function M.open(panes, layout)
  local window, prompt = window_of(panes.bufnr), window_of(panes.prompt)
  local known = window and prompt and not layout
  if not known and not layout then
    window, prompt = windows_of_any()
  end
  if window and prompt and not layout then
    show_in(window, panes.bufnr)
    show_in(prompt, panes.prompt)
  else
    for _, each in pairs({ window, prompt }) do
      pcall(vim.api.nvim_win_close, each, true)
    end
    layout = layout or config.get().chat.layout
    local open = layout == "float" and float or split
    window, prompt = open(panes, layout)
    shares.give(window, prompt, layout)
  end
  dress_chat(window --[[@as integer]])
  dress_prompt(prompt --[[@as integer]])
  if not known then
    M.to_end(window --[[@as integer]])
  end
  vim.api.nvim_set_current_win(prompt --[[@as integer]])
end

---@param panes assent.Panes
function M.close(panes)
  local ours = {}
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local bufnr = vim.api.nvim_win_get_buf(window)
    if bufnr == panes.bufnr or bufnr == panes.prompt then
      table.insert(ours, window)
    end
  end
  if #ours == #vim.api.nvim_list_wins() then
    M.file_window()
  end
  for _, window in ipairs(ours) do
    pcall(vim.api.nvim_win_close, window, true)
  end
end

--- The window with the file that the user works on: this one, the one before, or any on this tab page.
---@return integer?
function M.active_window()
  local candidates = { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#")) }
  vim.list_extend(candidates, vim.api.nvim_tabpage_list_wins(0))
  for _, window in ipairs(candidates) do
    if window ~= 0 and vim.bo[vim.api.nvim_win_get_buf(window)].buftype == "" then
      return window
    end
  end
end

---@return integer? bufnr
function M.active_file()
  local window = M.active_window()
  return window and vim.api.nvim_win_get_buf(window) or nil
end

--- Whether a chat is on this tab page.
---@param panes assent.Panes
---@return boolean
function M.shown(panes)
  return window_of(panes.bufnr) ~= nil
end

--- A window that shows a file, for opening another there: this one, the one before, any; or a new one.
---@return integer
function M.file_window()
  local candidates = { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#")) }
  vim.list_extend(candidates, vim.api.nvim_tabpage_list_wins(0))
  for _, window in ipairs(candidates) do
    if window ~= 0 and vim.api.nvim_win_get_config(window).relative == "" and not vim.wo[window].winfixbuf then
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
