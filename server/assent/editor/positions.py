"""Positions as clients write them."""

from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]
