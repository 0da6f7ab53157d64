"""Making the model's view smaller before a call: snips, folding, summaries (L4, C1–C6)."""
