-- Everything here is a definition; nothing of the plugin is loaded before it is used.
if vim.g.loaded_assent then
  return
end
vim.g.loaded_assent = true

if vim.fn.has("nvim-0.10") == 0 then
  -- Said in Vim script, which every Neovim understands: once when it is up, and again for whoever tries the command.
  local version = vim.version()
  vim.g.assent_too_old = ("Assent needs Neovim 0.10 or later; this is %d.%d.%d. Please update it."):format(
    version.major,
    version.minor,
    version.patch
  )
  vim.cmd([[command! -nargs=* -range -bang Assent echohl ErrorMsg | echomsg g:assent_too_old | echohl None]])
  vim.schedule(function()
    vim.cmd("Assent")
  end)
  return
end

vim.api.nvim_create_user_command("Assent", function(options)
  require("assent.command").run(options)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Assent, the coding agent: chat, review, sessions",
  complete = function(lead, line)
    return require("assent.command").complete(lead, line)
  end,
})

-- What a buffer's file was when it was read or written here. Neovim keeps it to itself, and asks in the middle of a
-- write when it differs; so it must be known before the write, also for files that were opened before any chat.
vim.api.nvim_create_autocmd({ "BufReadPost", "BufWritePost" }, {
  group = vim.api.nvim_create_augroup("assent_files", {}),
  callback = function(event)
    local found = vim.bo[event.buf].buftype == "" and vim.uv.fs_stat(event.match)
    local mtime = found and found.mtime
    vim.b[event.buf].assent_file = mtime and { event.match, found.size, mtime.sec, mtime.nsec } or nil
  end,
})

-- Code actions, also before the server runs. Scheduled: opening a file does not wait for it.
local function offer(event)
  vim.schedule(function()
    require("assent.offers").attach(event.buf)
  end)
end
vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, { group = "assent_files", callback = offer })

local plugs = {
  chat = "chat",
  ask = "ask",
  stop = "stop",
  review = "review",
  accept = "accept",
  reject = "reject",
  ["edit-hunk"] = "edit",
  ["accept-all"] = "accept all",
  ["reject-all"] = "reject all",
  ["next-hunk"] = "next",
  ["prev-hunk"] = "prev",
  answer = "answer",
  prompt = "prompt",
  sessions = "sessions",
  toggle = "toggle",
  hunks = "hunks",
  undo = "undo",
}
-- Answers from any buffer and mode, without going to the question.
for name, answer in pairs({ Yes = "yes", No = "no", Always = "always" }) do
  vim.keymap.set({ "n", "i", "x" }, ("<Plug>(Assent%s)"):format(name), ("<Cmd>Assent %s<CR>"):format(answer))
end
for name, arguments in pairs(plugs) do
  vim.keymap.set({ "n" }, ("<Plug>(assent-%s)"):format(name), ("<Cmd>Assent %s<CR>"):format(arguments))
end
vim.keymap.set("x", "<Plug>(assent-chat)", ":Assent chat<CR>", { silent = true })
vim.keymap.set("x", "<Plug>(assent-accept)", ":Assent accept<CR>", { silent = true })
vim.keymap.set("x", "<Plug>(assent-ask)", ":Assent ask<CR>", { silent = true })
vim.keymap.set("x", "<Plug>(assent-prompt)", ":Assent prompt<CR>", { silent = true })
