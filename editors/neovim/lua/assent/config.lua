--- Configuration: `vim.g.assent`, a table or a function that gives one. No setup() is needed.
local M = {}

---@class assent.Config
---@field cmd string[] the server
---@field root_markers string[] what marks the root of a project
---@field settings table<string, any> Assent settings, as in settings.json; they count as your own
---@field trusted boolean? vouch for the workspace; nil leaves it to Assent's own trust question
---@field chat assent.ChatConfig
---@field review assent.ReviewConfig
---@field keys table<string, string|false> keys in the chat, the ask and under review; false switches one off
---@field notify boolean tell of finished turns and waiting asks with vim.notify
---@field attach boolean attach to every file buffer once the server runs, so that it sees unsaved text

---@class assent.ChatConfig
---@field layout "right"|"left"|"bottom"|"tab"|"float"
---@field size number a fraction of the screen
---@field prompt_height integer
---@field attach "selection"|"file"|"none" what goes along with a prompt: selected lines, also the active file, nothing

---@class assent.ReviewConfig
---@field open_files boolean open a file with pending hunks in a window of its own when none shows it

---@type assent.Config
M.defaults = {
  cmd = { "assent", "serve", "--stdio" },
  root_markers = { ".assent", ".git", "pyproject.toml", "package.json", "Cargo.toml", "go.mod", "Makefile" },
  settings = {},
  trusted = nil,
  chat = { layout = "right", size = 0.4, prompt_height = 4, attach = "selection" },
  review = { open_files = false },
  keys = {
    send = "<CR>",
    send_insert = "<C-s>",
    stop = "<C-c>",
    close = "q",
    open_reference = "gx",
    next_message = "]]",
    prev_message = "[[",
    yank_code = "gy",
    insert_code = "gp",
    paste_image = "<M-v>",
    accept = "gha",
    reject = "ghr",
    edit = "ghe",
    lines = "ghl",
    yes = "<M-y>",
    no = "<M-n>",
    always = "<M-a>",
    next_hunk = "]h",
    prev_hunk = "[h",
  },
  notify = true,
  attach = true,
}

---@type assent.Config?
local merged
---@type any
local merged_from

---@return assent.Config
function M.get()
  local given = vim.g.assent
  if merged and vim.deep_equal(merged_from, given) then
    return merged
  end
  local own = given
  if type(own) == "function" then
    own = own()
  end
  merged_from = given
  merged = vim.tbl_deep_extend("force", M.defaults, type(own) == "table" and own or {})
  return merged
end

---@return string? problem what is wrong with the configuration, in words
function M.problem()
  local config = M.get()
  if type(config.cmd) ~= "table" or #config.cmd == 0 then
    return "vim.g.assent.cmd must be a list such as { 'assent', 'serve', '--stdio' }"
  end
  if not vim.tbl_contains({ "right", "left", "bottom", "tab", "float" }, config.chat.layout) then
    return "vim.g.assent.chat.layout must be right, left, bottom, tab or float"
  end
  if not vim.tbl_contains({ "selection", "file", "none" }, config.chat.attach) then
    return "vim.g.assent.chat.attach must be selection, file or none"
  end
  return nil
end

return M
