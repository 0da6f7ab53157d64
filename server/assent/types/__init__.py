"""Data only: messages, decisions, errors and ids that every layer shares.

Standard library only, so a program can import these types without pulling in the runtime.
"""
