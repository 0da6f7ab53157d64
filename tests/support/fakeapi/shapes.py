"""Does a value fit one of the SDK's request types? Unknown fields are errors, as they are at the endpoint.

The SDK's `TypedDict`s are read as they are installed, so what this program may send is what that SDK could send.
"""

from __future__ import annotations

import functools
import hashlib
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Union, cast

import orjson
import typing_extensions


class Misfit(Exception):
    """The path of the field, and what is wrong with it."""


def fit(value: object, kind: Any, path: str, *, allow_blocks: frozenset[str] = frozenset()) -> None:
    """Raises `Misfit`. Blocks whose `type` is in `allow_blocks` are taken as they are: the endpoint made them."""
    # A schema may have a property called "type", whose value is then no string at all.
    if isinstance(value, dict) and str(cast("dict[str, object]", value).get("type")) in allow_blocks:
        return
    _fit(cast("object", value), kind, path, allow_blocks)


def _fit(value: object, kind: Any, path: str, allow_blocks: frozenset[str]) -> None:
    origin = typing.get_origin(kind)
    if kind is Any or kind is object:
        return
    if typing_extensions.is_typeddict(kind):
        _fit_mapping(value, kind, path, allow_blocks)
    elif origin in (Union, types.UnionType):
        _fit_union(value, typing.get_args(kind), path, allow_blocks)
    elif origin is Literal or origin is typing_extensions.Literal:
        if value not in typing.get_args(kind):
            raise Misfit(f"{path}: Input should be {' or '.join(repr(each) for each in typing.get_args(kind))}")
    elif origin in (typing_extensions.Required, typing_extensions.NotRequired, typing.Annotated):
        fit(value, typing.get_args(kind)[0], path, allow_blocks=allow_blocks)
    elif _is_list(kind, origin):
        _fit_list(value, kind, path, allow_blocks)
    elif origin is dict or origin is Mapping or kind is dict:
        if not isinstance(value, dict):
            raise Misfit(f"{path}: Input should be a valid dictionary")
    elif kind in (str, int, float, bool):
        _fit_plain(value, kind, path)
    elif kind is type(None) and value is not None:
        raise Misfit(f"{path}: Input should be null")


@functools.cache
def fields(kind: Any) -> dict[str, Any]:
    return typing_extensions.get_type_hints(kind, include_extras=False)


@functools.cache
def required(kind: Any) -> tuple[str, ...]:
    """Read from the hints: with postponed annotations `__required_keys__` does not see `Required`."""
    hints = typing_extensions.get_type_hints(kind, include_extras=True)
    return tuple(name for name, hint in hints.items() if typing.get_origin(hint) is typing_extensions.Required)


def _fit_mapping(value: object, kind: Any, path: str, allow: frozenset[str]) -> None:
    if not isinstance(value, dict):
        raise Misfit(f"{path}: Input should be a valid dictionary")
    known = fields(kind)
    given = cast("dict[str, object]", value)
    for name in required(kind):
        if name not in given:
            raise Misfit(f"{_join(path, name)}: Field required")
    for name, each in given.items():
        if name not in known:
            if _open(kind):
                continue
            raise Misfit(f"{_join(path, name)}: Extra inputs are not permitted")
        fit(each, known[name], _join(path, name), allow_blocks=allow)


def _fit_union(value: object, choices: Sequence[Any], path: str, allow: frozenset[str]) -> None:
    if isinstance(value, dict):
        given = value = cast("dict[str, object]", value)
        mappings = [each for each in choices if typing_extensions.is_typeddict(each)]
        for key in () if any(typing.get_origin(each) is dict for each in choices) else ("type", "role"):
            tagged = [each for each in mappings if key in fields(each)]
            if not tagged or (key == "type" and "type" not in given and any(_optional(each) for each in tagged)):
                continue
            matching = [each for each in tagged if given.get(key) in _literal_values(fields(each)[key])]
            if not matching and key == "type" and any("role" in fields(each) for each in mappings):
                continue
            if not matching:
                raise Misfit(
                    f"{path}: Input tag {given.get(key)!r} found using {key!r} does not match the expected tags"
                )
            fit(value, matching[0], path, allow_blocks=allow)
            return
    problems: list[str] = []
    for each in choices:
        try:
            fit(value, each, path, allow_blocks=allow)
            return
        except Misfit as problem:
            problems.append(str(problem))
    # The alternative that fitted furthest is the one that was meant.
    raise Misfit(max(problems, key=lambda each: len(each.partition(":")[0]), default=f"{path}: no type fits"))


def _fit_list(value: object, kind: Any, path: str, allow: frozenset[str]) -> None:
    if not isinstance(value, list):
        raise Misfit(f"{path}: Input should be a valid list")
    arguments = typing.get_args(kind)
    element: Any = arguments[0] if arguments else Any
    for at, each in enumerate(cast("list[object]", value)):
        mark = _mark(each, element, allow)
        if mark not in _FITTED:
            fit(each, element, f"{path}.{at}", allow_blocks=allow)
            if mark is not None:
                _FITTED.add(mark)


_FITTED: set[tuple[int, frozenset[str], bytes]] = set()
"""What fitted before: each request of a conversation repeats the tools and messages of the one before it."""


def _mark(value: object, kind: Any, allow: frozenset[str]) -> tuple[int, frozenset[str], bytes] | None:
    if not isinstance(value, dict):
        return None
    return id(kind), allow, hashlib.blake2b(orjson.dumps(value), digest_size=16).digest()


def _fit_plain(value: object, kind: type, path: str) -> None:
    names = {str: "string", int: "integer", float: "number", bool: "boolean"}
    good = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        good = True
    if not good:
        raise Misfit(f"{path}: Input should be a valid {names[kind]}")


def _is_list(kind: Any, origin: Any) -> bool:
    if origin is None:
        return kind is list
    return (
        isinstance(origin, type)
        and origin is not dict
        and (issubclass(origin, (list, tuple)) or origin in (Iterable, Sequence) or origin.__name__ == "SequenceNotStr")
    )


def _literal_values(kind: Any) -> set[object]:
    if typing.get_origin(kind) in (Union, types.UnionType):
        return {value for each in typing.get_args(kind) for value in _literal_values(each)}
    return set(typing.get_args(kind))


def _optional(kind: Any) -> bool:
    return "type" not in required(kind)


def _open(kind: Any) -> bool:
    """Some of the SDK's types say of themselves that they take more fields (JSON schemas)."""
    return bool(getattr(kind, "__pydantic_config__", {}).get("extra") == "allow")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
