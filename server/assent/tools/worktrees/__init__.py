"""Git worktrees: a copy of the repository for an agent, the hooks around it, and the records of open ones."""
