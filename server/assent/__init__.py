"""Assent: an AI coding agent hosted as a language server."""

__version__ = "0.1.0"
