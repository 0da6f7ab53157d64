"""Plugins: folders with commands, skills, agents, hooks, servers or styles, installed only by the user."""
