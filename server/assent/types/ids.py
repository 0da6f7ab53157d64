"""Ids we mint: at most 12 characters, URL-safe, unguessable enough to name files."""

import secrets

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str = "") -> str:
    """A fresh id of exactly 12 characters, the prefix included."""
    return prefix + "".join(_ALPHABET[byte & 31] for byte in secrets.token_bytes(12 - len(prefix)))
