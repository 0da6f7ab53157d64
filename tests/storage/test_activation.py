"""What trust is about, item by item (P14)."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assent.storage import activation
from assent.storage.activation import TrustItem

NAMES = st.text(alphabet="abcXYZ_", min_size=1, max_size=4)
VALUES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "env": st.dictionaries(NAMES, st.text(max_size=5), min_size=1, max_size=3),
        "mcpServers": st.dictionaries(NAMES, st.fixed_dictionaries({"command": st.text(max_size=5)}), min_size=1),
        "hooks": st.dictionaries(
            NAMES, st.lists(st.fixed_dictionaries({"command": st.text(max_size=5)}), min_size=1, max_size=3), min_size=1
        ),
        "permissions": st.fixed_dictionaries({"defaultMode": st.sampled_from(["plan", "bypassPermissions"])}),
        "model": st.text(min_size=1, max_size=4),
        "sandbox": st.fixed_dictionaries({"scope": st.sampled_from(["off", "all"])}),
    },
)


@given(VALUES)
def test_all_items_together_are_the_whole_of_the_values_and_none_of_them_is_nothing(values: dict[str, Any]) -> None:
    assert activation.approved_part(values, "f", lambda _: True) == values
    assert activation.approved_part(values, "f", lambda _: False) == {}


@given(VALUES, st.data())
def test_only_approved_items_take_effect(values: dict[str, Any], data: st.DataObject) -> None:
    items = activation.activated(values, [], "f")
    chosen = set(data.draw(st.lists(st.sampled_from(items), max_size=len(items)))) if items else set[TrustItem]()
    kept = activation.approved_part(values, "f", lambda item: item in chosen)
    assert set(activation.activated(kept, [], "f")) == chosen


@given(VALUES, VALUES)
def test_two_sets_have_one_hash_only_when_they_hold_the_same_items(a: dict[str, Any], b: dict[str, Any]) -> None:
    first, second = activation.activated(a, [], "f"), activation.activated(b, [], "f")
    assert (activation.set_hash(first) == activation.set_hash(second)) == (set(first) == set(second))


def test_an_item_of_another_file_or_with_another_value_is_another_item() -> None:
    item = TrustItem(kind="env", name="A", value="1", file="/w/.assent/settings.json")
    others = [
        TrustItem(kind="env", name="A", value="2", file=item.file),
        TrustItem(kind="env", name="A", value="1", file="/w/.assent/settings.local.json"),
        TrustItem(kind="hook", name="A", value="1", file=item.file),
    ]
    assert len({item.digest, *(other.digest for other in others)}) == 4


def test_dangerous_items_come_first_and_reading_rules_are_none_of_them() -> None:
    values = {
        "model": "m",
        "hooks": {"Stop": [{"command": "x"}]},
        "env": {"PATH": "/evil"},
        "sandbox": {"scope": "off"},
    }
    items = activation.in_order(activation.activated(values, ["Read(src/**)", "Bash(make:*)"], "f"))
    assert [(item.name, item.dangerous) for item in items] == [
        ("Stop", True),
        ("PATH", True),
        ("sandbox", True),
        ("Bash(make:*)", True),
        ("model", False),
        ("Read(src/**)", False),
    ]


def test_a_long_list_of_names_says_how_many_more_there_are() -> None:
    items = activation.activated({}, [f"Bash(tool{number})" for number in range(9)], "/w/.assent/settings.json")
    assert activation.summary(items) == [
        "settings.json: allow rules Bash(tool0), Bash(tool1), Bash(tool2), Bash(tool3), Bash(tool4) and 4 more"
    ]
