"""Version managers' shims obey files of the project: where such a file names a folder, unasked commands skip the shims."""

import os
from pathlib import Path

import pytest

from assent.tools.bash import Bash
from assent.tools.process.shims import without_shims
from toolbox import Toolbox

SHIM = """#!/bin/sh
# As asdf does: the project's file says which version, or in which folder.
version=$(sed -n 's/^python //p' .tool-versions 2>/dev/null)
case "$version" in
    path:*) exec "${version#path:}/bin/python3" "$@" ;;
    *) echo "shim $version" ;;
esac
"""


def _reads(*_where: object) -> bool:
    return True


@pytest.fixture
def project(box: Toolbox) -> Toolbox:
    shims = box.root.parent / "manager/shims"
    shims.mkdir(parents=True)
    (shims / "python3").write_text(SHIM)
    evil = box.root / "evil/bin/python3"
    evil.parent.mkdir(parents=True)
    evil.write_text("#!/bin/sh\necho evil\n")
    for program in (shims / "python3", evil):
        program.chmod(0o755)
    box.env["PATH"] = f"{shims}:/usr/bin:/bin"
    box.tools["Bash"] = Bash(is_read_only=_reads)
    return box


async def test_a_shim_does_not_run_what_a_file_of_the_project_names(project: Toolbox) -> None:
    (project.root / ".tool-versions").write_text("python path:./evil\n")
    assert "evil" not in await project.text("Bash", command="python3 --version || true")
    project.tools["Bash"] = Bash()  # allowed by a person: their own PATH counts
    assert await project.text("Bash", command="python3 --version") == "evil"


async def test_a_shim_runs_where_the_file_names_a_version(project: Toolbox) -> None:
    (project.root / ".tool-versions").write_text("python 3.12.1  # not path:./x\nnodejs 20.1.0\n")
    assert await project.text("Bash", command="python3 --version") == "shim 3.12.1  # not path:./x"


@pytest.mark.parametrize("name", [".python-version", ".ruby-version", ".tool-versions"])
@pytest.mark.parametrize("text", ["../../evil", "/tmp/evil", "x path:evil", "x ref:main", "a/b"])
def test_every_file_that_names_a_place_counts_also_in_folders_above(tmp_path: Path, name: str, text: str) -> None:
    inner = tmp_path / "a/b"
    inner.mkdir(parents=True)
    path = "/x/shims:/usr/bin"
    assert without_shims(path, roots=(str(inner), str(tmp_path))) == path
    (tmp_path / "a" / name).write_text(text)
    assert without_shims(path, roots=(str(inner), str(tmp_path))) == "/usr/bin"
    assert without_shims("/usr/bin", roots=(str(inner), str(tmp_path))) == "/usr/bin"
    assert without_shims(path, roots=(str(tmp_path),)) == path


def test_what_is_no_file_counts_as_one_that_names_a_place(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".tool-versions")
    assert without_shims("/x/shims:/usr/bin", roots=(str(tmp_path),)) == "/usr/bin"
