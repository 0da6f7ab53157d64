"""Sessions as files: lists, searches, exports and summaries."""
