"""A deterministic stand-in for a model, for demos and for machines with no key. It is not a language model."""
