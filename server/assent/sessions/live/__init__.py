"""One conversation while it lives: its turns, inbox, options and file."""
