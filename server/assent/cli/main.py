"""The one program, `assent`. Here is only what must come first; the command line itself is in `program`.

The language server answers `initialize` before the command line is parsed: an editor waits for it.
"""

import sys
from collections.abc import Sequence

from assent.cli.closed_streams import open_closed
from assent.cli.privacy import close_memory


def main(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    close_memory()
    open_closed()
    opening = None
    if arguments[:1] == ["serve"]:
        from assent.cli import serve

        opening = serve.open_wire() if serve.wants_early_answer(arguments) else None
        if opening is not None:
            served = serve.bridged(opening, arguments)
            if isinstance(served, int):
                return served
            opening = served
    elif arguments[:1] == ["host"] and len(arguments) == 2 and not arguments[1].startswith("-"):
        from assent.cli import serve

        return serve.start_host(arguments[1])  # by forking, so before anything has a thread
    from assent.cli import program

    return program.run(arguments, opening=opening)


if __name__ == "__main__":
    sys.exit(main())
