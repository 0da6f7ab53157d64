"""Searching the workspace: ripgrep, the same without it, and what both leave out."""
