"""Devices and the kernel's own files: nothing removes or replaces them or changes their mode unasked, in any mode."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from assent.permissions.paths import Located
from assent.permissions.protected import protected_node
from machine import spared
from permissions.scratch import Scratch

BYPASS = {"mode": "bypassPermissions"}

HARMFUL = """
    rm /dev/null | rm -f /dev/nul? | unlink /dev/null | shred -u /dev/null | mv /dev/null x | mv -f a.py /dev/null
    cp --remove-destination a.py /dev/null | ln -sf a.py /dev/null | install a.py /dev/null | rsync a.py /dev/null
    sed -i s/a/b/ /dev/null | perl -pi -e s/a/b/ /dev/null | awk -i inplace 1 /dev/null | gzip -f /dev/null
    sort -o /dev/null a.py | zip /dev/null a.py | strip -o /dev/null a | split a.py /dev/null | ed /dev/null
    chmod 600 /dev/null | chown nobody /dev/null | setfacl -m u:a:rwx /dev/null | chattr +i /dev/null | touch /dev/null
    mknod /dev/null c 1 3 | mount --bind a.py /dev/null | umount /dev | losetup /dev/loop0 a.py | swapoff -a x
    find /dev -name null -delete | find / -name null -delete | find /dev -name null -exec rm {} + | fd null /dev -x rm
    cd /dev && rm null | rm /dev//null | rm /proc/self/root/dev/null | sudo rm /dev/null | bash -c 'rm /dev/null'
    rename s/a/b/ /dev/null | dos2unix /dev/null | python3 -c 'import os; os.remove("/dev/null")'
    node -e 'require("fs").unlinkSync("/dev/null")' | perl -e 'unlink "/dev/null"' | busybox rm /dev/null
    tee /boot/vmlinuz | tee /sys/power/state | tee /proc/sys/kernel/core_pattern | rm -r /boot/grub | dd if=a.py of=/dev/sda
    echo x > /dev/sda | echo b > /proc/sysrq-trigger | sed -i s/a/b/ /boot/grub/grub.cfg | gzip /sys/x
    sed -i s/a/b/ /etc/hosts | gzip /etc/hosts | find /etc -name x -delete | find ~ -name x -delete
"""
HARMLESS = """
    make > /dev/null | make > /dev/null 2>&1 | make 2> /dev/stderr | echo x > /dev/stdout | echo x > /dev/fd/2
    tee /dev/null < a.py | tee /dev/stderr < a.py | dd if=a.py of=/dev/null | dd if=/dev/zero of=zeros count=1
    uniq a.py /dev/null | git diff --output=/dev/null | sed -n 'w /dev/null' a.py | cat /dev/null > x | cp /dev/null x
    install -m 600 /dev/null y | curl -o /dev/null http://localhost:9/ | grep x a.py /dev/null | gzip -c /dev/null
    sed -i s,/dev/null,/dev/zero, a.py | sed -i /foo/d a.py | find . -name x -delete | losetup -a | mount
"""
PIPED = ["echo /dev/null | xargs rm", "printf /dev/null | xargs chmod 600"]


def lines(table: str) -> list[str]:
    return [line.strip() for row in table.strip().splitlines() for line in row.split(" | ")]


@pytest.mark.parametrize("line", [*lines(HARMFUL), *PIPED])
def test_what_would_remove_replace_or_open_up_a_device_asks_in_every_mode(shared_ws: Scratch, line: str) -> None:  # P6
    for options in (BYPASS, {"mode": "acceptEdits"}, {"allow": ["Bash", "Edit"]}):
        assert shared_ws.bash(line, **options).decision == "ask", options


@pytest.mark.parametrize("line", lines(HARMLESS))
def test_what_opens_a_device_and_writes_to_it_is_nothing_to_ask_about_in_bypass(
    ws: Scratch, tmp_path: Path, line: str
) -> None:  # P6
    assert ws.bash(line, **BYPASS).decision == "allow"
    look = "; [ -c /dev/null ] && [ -w /dev/null ] && echo whole"
    argv = [*spared(tmp_path), "bash", "-c", line + look]
    done = subprocess.run(argv, cwd=ws.root, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert done.stdout.endswith(b"whole\n")


OUTPUTS = """
    rustc -o /dev/null x.rs | ghc -o /dev/null x.hs | tool --output=/dev/null | tool --out /dev/null | tool -o/dev/null x
    ocamlc -vo /dev/null x.ml | tool -out /dev/null | nohup tool -o /dev/null | env tool --output-file /dev/null
"""


@pytest.mark.parametrize("line", lines(OUTPUTS))
def test_a_strange_program_that_root_tells_to_write_to_a_device_asks(
    shared_ws: Scratch, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:  # P6: it may put a file in its place, which only root can
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert shared_ws.bash(line, **BYPASS).decision == "ask"
    for plain in ("gcc -o /dev/null x.c", "tool /dev/null", "tool -o x", "go build -o /dev/null"):
        assert shared_ws.bash(plain, **BYPASS).decision == "allow", plain
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert shared_ws.bash(line, **BYPASS).decision == "allow"


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit", "NotebookEdit"])
@pytest.mark.parametrize("path", ["/dev/null", "/dev/stdout", "/boot/vmlinuz", "/sys/power/state", "/proc/self/comm"])
def test_an_edit_of_a_device_asks_in_every_mode(shared_ws: Scratch, tool: str, path: str) -> None:  # P6
    given = {"file_path": path, "notebook_path": path}
    for options in (BYPASS, {"mode": "acceptEdits"}, {"allow": ["Edit", "Write", "MultiEdit", "NotebookEdit"]}):
        assert shared_ws.decide(tool, given, **options).decision == "ask"


def test_a_device_counts_wherever_it_lies() -> None:
    def located(**more: bool) -> Located:
        return Located(written="/w/node", target="/w/node", names=("/w/node",), exists=True, **more)

    assert protected_node(located(special=True, device=True)) is not None
    assert protected_node(located(special=True)) is None  # a socket or a FIFO of the project's own


def test_lines_that_run_in_tests_cannot_hurt_the_machine(tmp_path: Path) -> None:
    before = os.lstat("/dev/null")
    harm = "rm -f /dev/null; echo x > /dev/null; chmod 600 /dev/zero; touch /usr/harm; touch mine"
    subprocess.run([*spared(tmp_path), "sh", "-c", harm], cwd=tmp_path, capture_output=True, check=False)
    now = os.lstat("/dev/null")
    assert stat.S_ISCHR(now.st_mode) and (now.st_mode, now.st_rdev, now.st_ino) == (
        before.st_mode,
        before.st_rdev,
        before.st_ino,
    )
    assert not Path("/usr/harm").exists()
    assert (tmp_path / "mine").exists()
