"""What the model sees: how it is counted and how it is made smaller (C). Pure functions over messages; no I/O."""
