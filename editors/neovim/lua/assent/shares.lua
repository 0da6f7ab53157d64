--- How much of the screen a chat takes: what it gets when it opens, what the user made of it, and the same share again
--- when the screen has another size.
local config = require("assent.config")

local M = {}

local NARROWEST = 40

--- How wide a chat beside the files is: its share of the screen, but on a small one not too narrow to read.
---@param share number
---@return integer
function M.width(share)
  local columns = vim.o.columns
  return math.max(math.floor(columns * share + 0.5), math.min(NARROWEST, math.floor(columns / 2)))
end

---@param share number
---@return integer
function M.height(share)
  return math.max(math.floor(vim.o.lines * share + 0.5), config.get().chat.prompt_height + 3)
end

---@return table upper, table lower
function M.floats()
  local columns, rows = vim.o.columns, vim.o.lines
  local low = config.get().chat.prompt_height
  local width, height = math.floor(columns * 0.8), math.floor(rows * 0.8)
  local place = { relative = "editor", width = width, col = math.floor((columns - width) / 2), border = "rounded" }
  local top = math.floor((rows - height) / 2)
  local upper =
    vim.tbl_extend("force", place, { row = top, height = math.max(height - low - 4, 3), title = " Assent " })
  local lower = vim.tbl_extend("force", place, { row = top + height - low - 2, height = low })
  return upper, lower
end

--- A chat has opened with its configured share.
---@param window integer
---@param prompt integer
---@param layout string
function M.give(window, prompt, layout)
  vim.w[window].assent_layout, vim.w[prompt].assent_layout = layout, layout
  vim.w[window].assent_share = config.get().chat.size
end

local screen = { vim.o.columns, vim.o.lines }
local group = vim.api.nvim_create_augroup("assent_shares", { clear = true })

---@param action fun(window: integer, layout: string)
local function each_chat(action)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.w[window].assent_share then
      action(window, vim.w[window].assent_layout)
    end
  end
end

---@param window integer
---@param layout string
---@return integer size, integer whole of the screen
local function measure(window, layout)
  if layout == "bottom" then
    return vim.api.nvim_win_get_height(window) + config.get().chat.prompt_height + 1, vim.o.lines
  end
  return vim.api.nvim_win_get_width(window), vim.o.columns
end

--- The user made a chat wider or narrower: that is its share from now on.
local function remember()
  if vim.o.columns ~= screen[1] or vim.o.lines ~= screen[2] then
    return
  end
  each_chat(function(window, layout)
    local size, whole = measure(window, layout)
    if vim.w[window].assent_size and vim.w[window].assent_size ~= size then
      vim.w[window].assent_share = size / whole
    end
    vim.w[window].assent_size = size
  end)
end

--- The screen has another size: a chat keeps its share of it.
local function resize()
  screen = { vim.o.columns, vim.o.lines }
  local upper, lower = M.floats()
  each_chat(function(window, layout)
    local share = vim.w[window].assent_share
    if layout == "float" then
      vim.api.nvim_win_set_config(window, upper)
    elseif layout == "bottom" then
      vim.api.nvim_win_set_height(window, math.max(M.height(share) - config.get().chat.prompt_height - 1, 1))
    elseif layout ~= "tab" then
      vim.api.nvim_win_set_width(window, M.width(share))
    end
    vim.w[window].assent_size = measure(window, layout)
  end)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local bufnr = vim.api.nvim_win_get_buf(window)
    if vim.bo[bufnr].filetype == "assent_prompt" then
      if vim.w[window].assent_layout == "float" then
        vim.api.nvim_win_set_config(window, lower)
      else
        vim.api.nvim_win_set_height(window, config.get().chat.prompt_height)
      end
    end
  end
end

vim.api.nvim_create_autocmd("WinResized", { group = group, callback = remember })
vim.api.nvim_create_autocmd("VimResized", { group = group, callback = resize })

return M
