"""Slash commands that need the session around the conversation, and those that files define."""
