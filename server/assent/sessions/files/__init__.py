"""The files that a session changes: watched, remembered, put back."""
