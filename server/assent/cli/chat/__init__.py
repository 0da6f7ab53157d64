"""`assent chat`: the conversation, its prompt line, its questions, and how things look on a terminal."""
