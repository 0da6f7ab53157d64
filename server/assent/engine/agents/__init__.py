"""Subagents (T7): set up, run, isolated in a worktree, and their changes taken over."""
