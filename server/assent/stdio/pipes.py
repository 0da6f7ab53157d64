"""stdin and stdout, taken for the wire before anything else can write to them."""

import os
import sys


def take_stdio() -> tuple[int, int]:
    """The wire on descriptors of our own; what a library prints goes to stderr, and children inherit neither end."""
    incoming, outgoing = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return incoming, outgoing
