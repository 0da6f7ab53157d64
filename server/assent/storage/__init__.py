"""What lives on disk: transcripts, spilled results, file history, settings."""
