"""The five reductions, as pure functions over messages."""
