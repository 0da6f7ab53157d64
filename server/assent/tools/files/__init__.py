"""Files as tools see them: reading, decoding, matching, replacing, and what the model has seen of each."""
