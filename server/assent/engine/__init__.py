"""The query loop and the engine that owns a conversation."""
