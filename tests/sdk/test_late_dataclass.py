"""The messages' classes get their methods late; after that they are what `dataclasses.dataclass` makes."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import typing

import pytest

from assent.types import messages, usage
from assent.types.blocks import Json
from assent.types.late_dataclass import dataclass, field

KINDS = (*typing.get_args(messages.Message), messages.ChangedFile, messages.PermissionDenial)
NOTICE = messages.Notice(level="info", text="a")


def a_class() -> typing.Any:
    class Point:
        """A place."""

        x: int
        y: int = 2
        more: Json = field(default_factory=dict[str, object])

        @property
        def sum(self) -> int:
            return self.x + self.y

    return dataclass(frozen=True, slots=True, kw_only=True)(Point)


def test_importing_the_types_does_not_import_dataclasses_or_inspect() -> None:
    code = (
        "import sys; from assent.types import *; Result; print(sorted({'dataclasses', 'inspect'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path}; {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", [*KINDS, usage.Usage, usage.ModelUsage])
def test_every_type_is_a_dataclass_with_its_annotations_as_fields(kind: type[typing.Any]) -> None:
    assert dataclasses.is_dataclass(kind)
    assert [each.name for each in dataclasses.fields(kind)] == list(kind.__annotations__)
    assert list(inspect.signature(kind).parameters) == list(kind.__annotations__)
    assert not hasattr(kind, "__dict__") or "__slots__" in kind.__dict__


def test_the_first_instance_and_every_later_one_are_equal_frozen_and_without_a_dict() -> None:
    point = a_class()
    first, second = point(x=1), point(x=1)
    assert first == second
    assert (first.x, first.y, first.more, first.sum) == (1, 2, {}, 3)
    assert first.more is not second.more
    assert repr(first).endswith("Point(x=1, y=2, more={})")
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.x = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        del first.x
    assert not hasattr(first, "__dict__")


@pytest.mark.parametrize("values", [{}, {"x": 1, "z": 2}])
def test_a_missing_or_unknown_value_is_refused_for_the_first_instance_already(values: Json) -> None:
    with pytest.raises(TypeError):
        a_class()(**values)
    with pytest.raises(TypeError):
        a_class()(1)


def test_the_signature_is_known_before_the_first_instance() -> None:
    assert list(inspect.signature(a_class()).parameters) == ["x", "y", "more"]


def test_a_class_made_from_one_may_have_its_own_beginning() -> None:
    made = a_class()

    class Named(made):
        def __init__(self, x: int) -> None:
            made.__init__(self, x=x)

    assert (Named(4).x, Named(4).y) == (4, 2)


def test_replace_asdict_copy_and_pickle_work() -> None:
    assert dataclasses.replace(NOTICE, text="b").text == "b"
    assert dataclasses.asdict(NOTICE) == {"type": "system/notice", "level": "info", "text": "a"}
    assert copy.deepcopy(NOTICE) == NOTICE
    code = f"import pickle; print(pickle.loads({pickle.dumps(NOTICE)!r}).text)"  # a process that has made none yet
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "a\n"


def test_other_kinds_of_dataclasses_are_refused() -> None:
    with pytest.raises(TypeError):
        dataclass(frozen=False, slots=True, kw_only=True)
