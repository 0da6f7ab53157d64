-- For `vim.lsp.enable("assent")` (Neovim 0.11 and later): the server starts with the first file you open.
local client = require("assent.client")

return vim.tbl_extend("force", client.config(), { root_dir = client.root_dir })
