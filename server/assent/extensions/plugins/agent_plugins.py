"""What Agent Plugins 1.0 allows in `plugin.json` and `mcp.json`: closed lists of keys.

An unknown key of the manifest is told and has no meaning; a known one with a wrong value makes the plugin unusable. A
server with an unknown key, type or variable is told and left out, and the others work. Pure.
"""

from __future__ import annotations

import re
from typing import cast

from assent.types.blocks import Json

SCHEMAS = "https://agent-plugins.org/schemas/"
SCHEMA = f"{SCHEMAS}1.0.0/plugin.schema.json"
ROOT = "${PLUGIN_ROOT}"
_TEXTS = ("version", "description", "homepage", "repository", "license")
_KNOWN = frozenset({"$schema", "name", "author", "keywords", "extensions", *_TEXTS})
_NAME = re.compile(r"(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]{0,62}[a-z0-9])?")
_COMMAND = re.compile(r"[^\s/\\$]+|\./[^\s$]+")
_CWD = re.compile(r"(?:\./|\$\{PLUGIN_(?:ROOT|DATA)\}(?:/|$)).*")
_VARIABLE = re.compile(r"\$\{(?!PLUGIN_ROOT\}|PLUGIN_DATA\})[^}]*\}")
_OF_TYPE = {
    "stdio": frozenset({"type", "command", "args", "env", "cwd"}),
    "streamable-http": frozenset({"type", "url", "headers"}),
    "sse": frozenset({"type", "url", "headers"}),
}


def unknown_keys(manifest: Json) -> list[str]:
    return [key for key in manifest if key not in _KNOWN]


def fatal_problem(manifest: Json) -> str:
    """Why the plugin cannot be used; empty: it can."""
    if manifest.get("$schema") != SCHEMA:
        return f"this version of Agent Plugins is not known: {manifest.get('$schema')}"
    name = manifest.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"{name!r} cannot be the name of a plugin: small letters, digits, single dots and hyphens"
    wrong = [key for key in _TEXTS if key in manifest and not isinstance(manifest[key], str)]
    if "author" in manifest and not _texts(manifest["author"], only=("name", "email", "url")):
        wrong.append("author")
    keywords = manifest.get("keywords", [])
    if not isinstance(keywords, list) or not all(isinstance(each, str) for each in cast("list[object]", keywords)):
        wrong.append("keywords")
    return f"{', '.join(wrong)}: not what the format wants there" if wrong else ""


def server_problem(entry: object) -> str:
    """Why a server of `mcp.json` is left out; empty: it is not."""
    if not isinstance(entry, dict):
        return "it must be an object"
    said = cast("Json", entry)
    known = _OF_TYPE.get(str(said.get("type")))
    if known is None:
        return f"`type` must be {', '.join(_OF_TYPE)}, not {said.get('type')!r}"
    if odd := [key for key in said if key not in known]:
        return f"a server of type {said['type']} has no {', '.join(odd)}"
    if "url" in known:
        return _web_problem(said)
    command, args, cwd = said.get("command"), said.get("args", []), said.get("cwd")
    if not isinstance(command, str) or not _COMMAND.fullmatch(command) or ".." in command.split("/"):
        return "`command` must be the name of a program, or a path that begins with ./"
    if not isinstance(args, list) or not all(isinstance(each, str) for each in cast("list[object]", args)):
        return "`args` must be a list of texts"
    if not _texts(said.get("env", {})):
        return "`env` must be a map of texts"
    if cwd is not None and (not isinstance(cwd, str) or not _CWD.fullmatch(cwd) or ".." in cwd.split("/")):
        return "`cwd` must begin with ./, ${PLUGIN_ROOT} or ${PLUGIN_DATA} and stay there"
    values = [*cast("list[str]", args), *cast("dict[str, str]", said.get("env", {})).values()]
    odd = next((found[0] for value in values if (found := _VARIABLE.search(value))), "")
    return f"{odd} is not known: only ${{PLUGIN_ROOT}} and ${{PLUGIN_DATA}} are" if odd else ""


def rooted(entry: Json) -> Json:
    """The server with its paths below the plugin: that is where they are meant, and where its program starts."""
    if entry["type"] != "stdio":
        return entry
    command, cwd = str(entry["command"]), str(entry.get("cwd", ROOT))
    return {**entry, "command": _below_root(command), "cwd": _below_root(cwd)}


def _below_root(path: str) -> str:
    return f"{ROOT}/{path[2:]}".rstrip("/") if path.startswith("./") else path


def _web_problem(said: Json) -> str:
    url = said.get("url")
    if not isinstance(url, str) or not re.fullmatch(r"https?://[^\s@#]+", url):
        return "`url` must be the address of a server, without a user and without #"
    return "" if _texts(said.get("headers", {})) else "`headers` must be a map of texts"


def _texts(value: object, only: tuple[str, ...] = ()) -> bool:
    if not isinstance(value, dict):
        return False
    said = cast("Json", value)
    return all(isinstance(each, str) for each in said.values()) and (not only or not said.keys() - set(only))
