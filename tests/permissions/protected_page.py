"""`docs/protected-paths.md` from the table itself: `PYTHONPATH=tests python -m permissions.protected_page` writes it."""

from pathlib import Path

from assent.permissions.protected_names import ORDINARY, TABLE, Kind

PAGE = Path(__file__).parents[2] / "docs" / "protected-paths.md"
_HEAD = """# Protected paths

Changing one of these files makes something run, hands over keys, or tells an agent what to do, without anybody starting
it. So Assent asks before it changes them, in every mode and whatever your rules allow; neither a hook nor a classifier can
answer for you. Names count in any letter case, in any folder of the workspace, before the file exists, and for every
command that would write, copy, move or unpack something there.

This page is made from `permissions/protected_names.py`; a test holds one against the other.
"""
_KINDS: dict[Kind, str] = {
    "folder": "folder",
    "name": "file",
    "pair": "file or folder",
    "pattern": "name like",
}


def page() -> str:
    lines = [_HEAD, "| what | names | why it asks |", "|---|---|---|"]
    lines += [f"| {_KINDS[row.kind]} | {_listed(row.names)} | {row.why} |" for row in TABLE]
    lines += ["", "## Ordinary files", "", "These look alike and are edited like any other file.", ""]
    lines += ["| names | why not |", "|---|---|"]
    lines += [f"| {_listed(names)} | {why} |" for names, why in ORDINARY]
    return "\n".join(lines) + "\n"


def _listed(names: str) -> str:
    return ", ".join(f"`{name}`".replace("|", "\\|") for name in names.split())


if __name__ == "__main__":
    PAGE.write_text(page())
