"""How the tests are shared out when two run at a time: a file stays together, and so does all that uses one workbench."""

from pathlib import Path

import pytest

VSCODE = Path(__file__).parent / "vscode"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # They build the extension in its own folder, which must not change under a workbench that runs it.
        together = VSCODE if VSCODE in item.path.parents else item.path
        item.add_marker(pytest.mark.xdist_group(str(together.relative_to(VSCODE.parent))))
