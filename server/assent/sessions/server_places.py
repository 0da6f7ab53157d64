"""Where the user's own MCP servers start while a folder is not trusted: outside of it.

`npx tool`, `python -m tool` and a plain `tool` look into the working directory or along the PATH first, so a folder
that somebody prepared would decide what they run. Once the folder is trusted they start in it, as their authors expect.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from assent.extensions.mcp.config import Scope, ServerConfig
from assent.types.programs import NEUTRAL, safe_path

_MADE_FOR_THIS_RUN: frozenset[Scope] = frozenset({"cli", "session"})
"""Whoever starts the program named them for this very folder."""


def placed(config: ServerConfig, folder: str, *, trusted: bool) -> ServerConfig:
    """The server with its working directory, which is a neutral one where its own would lie in an untrusted folder."""
    if not _kept_out(config, trusted) or not _inside(str(Path(folder, config.cwd)), folder):
        return config
    return replace(config, cwd=NEUTRAL)


def environment(base: Mapping[str, str], config: ServerConfig, folder: str, *, trusted: bool) -> dict[str, str]:
    """Its environment; without the folder's entries of the PATH while that is not trusted."""
    if not _kept_out(config, trusted):
        return dict(base)
    return {**base, "PATH": safe_path(base.get("PATH", os.defpath), outside=(folder,))}


def _kept_out(config: ServerConfig, trusted: bool) -> bool:
    return not trusted and config.own and config.scope not in _MADE_FOR_THIS_RUN


def _inside(path: str, folder: str) -> bool:
    real, top = os.path.realpath(path), os.path.realpath(folder)
    return real == top or real.startswith(top.rstrip(os.sep) + os.sep)
