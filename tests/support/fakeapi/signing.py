"""Signatures of thinking blocks: made from the words, the model and everything before them, and checked the same way.

No state is kept, so a conversation can move to another fake (a restarted program, a resumed session) and still pass.
"""

from __future__ import annotations

import hashlib

import orjson

from fakeapi.body import Json


class Prefix:
    """A running digest of the conversation before some point: roles and blocks, cache marks left out."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, role: str, block: Json) -> None:
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        self._hash.update(role.encode() + b"\0" + orjson.dumps(bare, option=orjson.OPT_SORT_KEYS) + b"\0")

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()[:16]


def sign(words: str, *, model: str, prefix: Prefix) -> str:
    return f"sig.{_short(model)}.{prefix.digest}.{_short(model + words)}"


def check(block: Json, *, model: str, prefix: Prefix) -> str | None:
    """None when the block is as it was made; otherwise what is wrong with it: `altered`, `model` or `prefix`."""
    parts = str(block.get("signature", "")).split(".")
    if len(parts) != 4 or parts[0] != "sig":
        return "altered"
    if parts[1] != _short(model):
        return "model"
    if parts[3] != _short(model + str(block.get("thinking", ""))):
        return "altered"
    return None if parts[2] == prefix.digest else "prefix"


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
