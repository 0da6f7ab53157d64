"""The table of `make flake` tells what failed, and a run without a report is no green run."""

from pathlib import Path

import flake

REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_one" time="1.5"/>
<testcase classname="tests.a" name="test_two" time="2"><failure message="no"/></testcase>
<testcase classname="tests.a" name="test_three" time="0"><skipped message="later"/></testcase>
</testsuite></testsuites>"""


def test_failures_are_counted_by_name_over_all_runs(tmp_path: Path) -> None:
    report = tmp_path / "run.xml"
    report.write_text(REPORT)
    run = flake.read(report)
    assert (run.passed, run.failed, run.seconds, run.green) == (1, ("tests.a::test_two",), 3.5, False)
    assert "2 of 2  tests.a::test_two" in flake.table([run, run])
    assert flake.table([run]).startswith("0 of 1 runs green")


def test_a_run_without_a_report_or_without_any_test_is_not_green(tmp_path: Path) -> None:
    assert not flake.read(tmp_path / "missing.xml").green
    (tmp_path / "empty.xml").write_text("<testsuites/>")
    assert not flake.read(tmp_path / "empty.xml").green
