"""What is asked in both editors, and what the scripted model answers: two hunks, one command, one sentence."""

from dataclasses import dataclass
from typing import Any

WIDTH, HEIGHT = 1120, 680
FILE = "cart.py"
BEFORE = '''\
"""The total of a shopping cart."""


def total(prices, discount=0):
    amount = 0
    for price in prices:
        amount = amount + price
    return amount - discount


def receipt(prices):
    lines = [f"{price:8.2f}" for price in prices]
    lines.append("Total: " + str(total(prices)))
    return "\\n".join(lines)
'''
PROMPT = "A discount must never make the total negative. Print the total with two decimals."
CHANGES = (
    ("    return amount - discount\n", "    return max(amount - discount, 0)\n"),
    ('    lines.append("Total: " + str(total(prices)))\n', '    lines.append(f"Total: {total(prices):.2f}")\n'),
)
REASON = "The total stops at zero, and the receipt prints two decimals."
COMMAND = "python3 -m unittest -q"
LAST = "Both tests pass."
TESTS = """\
import unittest

from cart import receipt, total


class CartTest(unittest.TestCase):
    def test_a_discount_stops_at_zero(self):
        self.assertEqual(total([3, 4], discount=10), 0)

    def test_a_receipt_has_two_decimals(self):
        self.assertTrue(receipt([3, 4.5]).endswith("Total: 7.50"))
"""
FILES = {FILE: BEFORE, "test_cart.py": TESTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A picture file, for how long it is shown, and the words under it."""

    file: str
    seconds: float
    said: str


def calls() -> list[list[Any]]:
    """The model's answers: words, or a tool's name with its input."""
    edits = [{"old_string": old, "new_string": new} for old, new in CHANGES]
    return [
        [("Read", {"file_path": FILE})],
        [REASON, ("MultiEdit", {"file_path": FILE, "edits": edits})],
        [("Bash", {"command": COMMAND, "description": "Run the tests"})],
        [LAST],
    ]
