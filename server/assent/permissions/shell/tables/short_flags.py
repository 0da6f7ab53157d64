"""Short flags in one word, `-abcVALUE`: which of the letters ends the cluster, and what is left for it as a value.

The one loop for getopt's programs and for git. What may stand in a cluster, and what becomes of a value, is the
caller's business.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class HasArity(Protocol):
    @property
    def arity(self) -> str: ...  # `none`, or one of those that take a value


F = TypeVar("F", bound=HasArity)


@dataclass(frozen=True, slots=True)
class Last(Generic[F]):
    """The letter that ends the cluster: it takes a value, or (`flag` is None) it may not stand there."""

    name: str
    flag: F | None
    rest: str


def last_of(
    letters: str, flags: Mapping[str, F], used: set[str], *, fits: Callable[[F, int, str], bool]
) -> Last[F] | None:
    """None when every letter is a flag without a value. `fits`: may the flag stand at that index, with that rest?"""
    for index, letter in enumerate(letters):
        name, rest = f"-{letter}", letters[index + 1 :]
        used.add(name)
        flag = flags.get(name)
        if flag is None or not fits(flag, index, rest):
            return Last(name, None, rest)
        if flag.arity != "none":
            return Last(name, flag, rest)
    return None
