-- Everything here is a definition; nothing of the plugin is loaded before it is used.
if vim.g.loaded_assent then
  return
end
vim.g.loaded_assent = true

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
}
for name, arguments in pairs(plugs) do
  vim.keymap.set({ "n" }, ("<Plug>(assent-%s)"):format(name), ("<Cmd>Assent %s<CR>"):format(arguments))
end
vim.keymap.set("x", "<Plug>(assent-ask)", ":Assent ask<CR>", { silent = true })
vim.keymap.set("x", "<Plug>(assent-prompt)", ":Assent prompt<CR>", { silent = true })
