"""Instruction files of every tool: what they import, when a rule counts, and where a quick note goes."""
