"""How tool calls run: the executor of one answer, and the way of one call."""
