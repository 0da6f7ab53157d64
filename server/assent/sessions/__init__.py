"""Live sessions: inbox, running turn, events, asks."""
