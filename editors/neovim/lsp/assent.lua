-- For `vim.lsp.enable("assent")` (Neovim 0.11 and later): the server starts with the first file you open.
return require("assent.client").config()
