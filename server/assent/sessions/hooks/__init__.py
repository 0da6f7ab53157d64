"""Hooks in sessions: which events a session fires, what running a hook needs from here, and the list of hooks."""
