"""What a plugin asks its user for (`userConfig`), the values that were given, and where they go. Pure.

A value reaches the plugin's programs as CLAUDE_PLUGIN_OPTION_<KEY>, and its files as ${user_config.KEY}. One that is
sensitive is never put into a text: programs read it from their environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

import orjson

from assent.types.blocks import Json

Kind = Literal["string", "number", "boolean", "directory", "file"]
Value = str | float | bool | list[Any]
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACE = re.compile(r"\$\{user_config\.([A-Za-z_][A-Za-z0-9_]*)\}")
_YES = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


class OptionError(ValueError):
    """A value that does not fit, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginOption:
    key: str
    kind: Kind = "string"
    title: str = ""
    description: str = ""
    sensitive: bool = False
    required: bool = False
    default: Value | None = None
    multiple: bool = False
    least: float | None = None
    most: float | None = None

    @property
    def label(self) -> str:
        """For people: its title, and what it is for."""
        words = self.title or self.key
        return f"{words}: {self.description}" if self.description else words

    def read(self, value: object) -> Value:
        """A value as it was typed or written, in the type that the plugin wants. Raises OptionError."""
        if self.multiple:
            given = cast("list[object]", value) if isinstance(value, list) else _listed(value)
            return [self._one(each) for each in given]
        return self._one(value)

    def _one(self, value: object) -> Value:
        match self.kind:
            case "number":
                return self._number(value)
            case "boolean":
                found = value if isinstance(value, bool) else _YES.get(str(value).strip().casefold())
                if found is None:
                    raise OptionError(f"{self.key} is yes or no, not {value!r}")
                return found
            case "directory" | "file":
                path = Path(self._text(value)).expanduser()
                if not (path.is_dir() if self.kind == "directory" else path.is_file()):
                    raise OptionError(f"{self.key}: there is no {self.kind} {path}")
                return os.path.abspath(path)  # noqa: PTH100 -- links stay as the user wrote them
            case "string":
                return self._text(value)

    def _text(self, value: object) -> str:
        if not isinstance(value, str) or "\0" in value or "\n" in value:
            raise OptionError(f"{self.key} must be one line of text")
        if self.required and not value:
            raise OptionError(f"{self.key} must not be empty")
        return value

    def _number(self, value: object) -> float:
        try:
            number = float(cast("Any", value)) if not isinstance(value, bool) else float("nan")
        except (TypeError, ValueError):
            number = float("nan")
        if number != number:
            raise OptionError(f"{self.key} must be a number, not {value!r}")
        if (self.least is not None and number < self.least) or (self.most is not None and number > self.most):
            bounds = " and ".join(
                f"at {words} {limit:g}"
                for words, limit in (("least", self.least), ("most", self.most))
                if limit is not None
            )
            raise OptionError(f"{self.key} must be {bounds}, not {number:g}")
        return int(number) if number.is_integer() else number


def read_options(said: object) -> tuple[tuple[PluginOption, ...], list[str]]:
    """`userConfig` of a manifest, and what is wrong with it."""
    if said is None:
        return (), []
    if not isinstance(said, dict):
        return (), ["userConfig must be an object"]
    found: list[PluginOption] = []
    wrong: list[str] = []
    for key, entry in cast("Json", said).items():
        if not _KEY.fullmatch(key) or not isinstance(entry, dict):
            wrong.append(f"userConfig.{key} is not an option: its name must be a word, its entry an object")
            continue
        raw = cast("Json", entry)
        kind = raw.get("type", "string")
        if kind not in get_args(Kind):
            wrong.append(f"userConfig.{key}: there is no type {kind!r}; it is read as a string")
            kind = "string"
        found.append(
            PluginOption(
                key=key,
                kind=cast("Kind", kind),
                title=str(raw.get("title") or ""),
                description=str(raw.get("description") or ""),
                sensitive=raw.get("sensitive") is True,
                required=raw.get("required") is True,
                default=raw.get("default"),
                multiple=raw.get("multiple") is True,
                least=_limit(raw.get("min")),
                most=_limit(raw.get("max")),
            )
        )
    return tuple(found), wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The values of one plugin: what was given, else what the plugin takes by itself."""

    options: tuple[PluginOption, ...] = ()
    values: Mapping[str, Value]
    problems: tuple[str, ...] = ()

    def environment(self) -> dict[str, str]:
        """For its programs, under the names that scripts read: the key as it is written, and in capitals."""
        return {
            f"{family}_PLUGIN_OPTION_{name}": text_of(value)
            for key, value in self.values.items()
            for name in dict.fromkeys((key, key.upper()))
            for family in ("CLAUDE", "ASSENT")
        }

    def texts(self) -> dict[str, str]:
        """What may stand in a text, by `user_config.KEY`."""
        secret = {option.key for option in self.options if option.sensitive}
        return {f"user_config.{key}": text_of(value) for key, value in self.values.items() if key not in secret}


def given(options: tuple[PluginOption, ...], said: Mapping[str, object]) -> Given:
    """The values that count. What does not fit is told and left out."""
    values: dict[str, Value] = {}
    problems: list[str] = []
    for option in options:
        value = said.get(option.key, option.default)
        if value is None:
            if option.required:
                problems.append(f"{option.key} is not set ({option.label})")
            continue
        try:
            values[option.key] = option.read(value)
        except OptionError as error:
            problems.append(str(error))
    known = {option.key for option in options}
    problems += [f"it has no option {key}" for key in said if key not in known]
    return Given(options=options, values=values, problems=tuple(problems))


def missing(of: Given) -> bool:
    """Whether a value is missing without which its programs must not run."""
    return any(option.required and option.key not in of.values for option in of.options)


def by_environment(value: object) -> Any:
    """`${user_config.KEY}` in an entry as the variable that holds the value, wherever it stands."""
    if isinstance(value, str):
        return _PLACE.sub(r"${CLAUDE_PLUGIN_OPTION_\1}", value)
    if isinstance(value, list):
        return [by_environment(each) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: by_environment(each) for key, each in cast("Json", value).items()}
    return value


def text_of(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return orjson.dumps(value).decode() if isinstance(value, list) else str(value)


def _listed(value: object) -> list[object]:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else [value]


def _limit(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
