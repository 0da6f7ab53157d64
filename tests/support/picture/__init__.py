"""The README's moving picture: one request, recorded in a real VS Code workbench and in a real Neovim (`make picture`)."""
