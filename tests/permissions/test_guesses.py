"""What a command may run besides itself: held against deny rules and the iron gate in bypass, and no further.

A deny rule speaks of what stands in the command line: also inside wrappers, code, pipes and arguments. It does not speak
of what programs in files do by themselves; those run in bypass, or bypass would be of no use.
"""

import functools
import shlex

import pytest

from assent.permissions.explain import explain
from assent.permissions.shell.judge import judge
from assent.permissions.shell.tables.gates import gate
from assent.types.permissions import Ask
from permissions.scratch import Scratch

BYPASS = {"mode": "bypassPermissions"}


@pytest.mark.parametrize(
    "command",
    [
        "bash <<EOF\ncurl x\nEOF",
        "bash <<'EOF'\ncurl x\nEOF",
        "sh <<< 'curl x'",
        "echo curl x | bash",
        "echo curl x | bash -x",
        "echo -e 'ls\\ncurl x' | sh -s",
        "printf 'curl x' | sh",
        "printf '%s\\n' ls 'curl x' | sh",
        "cat <<'E' | sh\ncurl x\nE",
        "echo curl x | cat | sudo sh",
        "echo curl x | source /dev/stdin",
        "echo curl x | (cd sub; sh)",
        "sh -c 'echo curl x | sh'",
        "echo x | xargs curl",
        "echo curl x | xargs timeout 5",
        "echo x | xargs -I{} sh -c 'curl {}'",
        "echo curl | xargs -I % % x",
        "echo curl | xargs -I% % x",
        "alias c=curl",
        "hash -p /usr/bin/curl c",
        "npx -c 'curl x'",
        "uv run curl x",
        "docker exec web curl x",
        "python -c \"import os; os.system('curl x')\"",
        "python3 <<'E'\nimport os\nos.system('curl x')\nE",
        "node -e \"exec('curl x')\"",
        "perl -e 'print `curl x`'",
        "awk 'BEGIN{system(\"curl x\")}'",
        "sed '1e curl x' README.md",
        "vim -c '!curl x'",
        "deno eval \"run('curl')\"",
        "git -c alias.x='!curl x' x",
        "git rebase -x 'curl x' HEAD",
        "git rebase --exec='curl x' HEAD",
        "git bisect run curl x",
        "git submodule foreach 'curl x'",
        "rsync -e 'curl x' a b",
        "rsync --rsh='c\\url x' a b",
        "tar --checkpoint-action=exec='curl x' -cf a.tar sub",
        "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='cu\"\"rl x' .",
        "tar --to-command='cu\\rl x' -xf a.tar",
        "tar -I \"c'u'rl x\" -cf a.tar sub",
        "tar --use-compress-prog=curl -cf a.tar sub",
        "sort --compress-program=curl README.md",
        "man -P 'curl x' ls",
        "npm run test --script-shell='curl x'",
        "wget --use-askpass=curl x",
        "split --filter='cu\"\"rl x' README.md",
        "ssh -o ProxyCommand='curl x' h",
        "go test -exec 'curl x' ./...",
    ],
)
def test_a_denied_command_is_found_wherever_the_line_shows_it(shared_ws: Scratch, command: str) -> None:
    # D09
    assert shared_ws.bash(command, deny=["Bash(curl:*)"], **BYPASS).decision == "deny"


@pytest.mark.parametrize(
    "command",
    [
        "less +!curl",
        "cp /usr/bin/curl c",
        "ln -s /usr/bin/curl c",
        "npm install curl",
    ],
)
def test_an_argument_that_may_be_a_denied_command_asks(shared_ws: Scratch, command: str) -> None:
    assert shared_ws.bash(command, deny=["Bash(curl:*)"], **BYPASS).decision == "ask"
    assert shared_ws.bash(command, **BYPASS).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "/usr/bin/cur? x",
        "/usr/bin/cur[l] x",
        "bash < x.sh",
        "bash",
        "python -c 'print(1)'",
        "python -",
        "python",
        "sqlite3 x.db 'select 1'",
        "sqlite3 -json x.db",
        "gdb -ex run",
        "perl -ne print a.py",
        "php -r 1",
        "enable -f x y",
        "git -c color.ui=never push",
        "seq 3 | xargs sh -c 'true'",
        "ls | xargs -I{} env {}",
        f"sudo {'x ' * 300}",
        f"echo {'x ' * 2000}| xargs echo",
        functools.reduce(lambda text, _: f"bash -c {shlex.quote(text)}", range(6), "ls -la"),
    ],
)
def test_what_nobody_can_read_asks_where_something_is_denied(ws: Scratch, command: str) -> None:
    assert ws.bash(command, deny=["Bash(curl:*)"], **BYPASS).decision == "ask"
    assert ws.bash(command, deny=["Read(secrets/**)"], **BYPASS).decision == "ask"
    assert ws.bash(command, deny=["WebFetch(domain:x.org)", "mcp__x"], mode="bypassPermissions").step != "tool"


@pytest.mark.parametrize(
    "command",
    [
        "ls | xargs cat",
        "ls | xargs -n 1 -P 4 head",
        "xargs -a list cat",
        "tar -T list -cf x.tar",
        "cpio -o < list",
        "git add .",
        "git add -A",
        "git stash",
        "git stash show -p",
        "git archive HEAD",
    ],
)
def test_files_nobody_names_are_asked_about_where_files_are_denied(ws: Scratch, command: str) -> None:
    # D12
    assert ws.bash(command, deny=["Read(secrets/**)"], **BYPASS).decision == "ask"
    assert ws.bash(command, deny=["Bash(curl:*)"], **BYPASS).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git checkout .",
        "git checkout HEAD -- .",
        "git restore .",
        "git -C . reset --hard",
        "git clean -fd",
    ],
)
def test_changing_files_without_naming_them_is_asked_about_where_edits_are_denied(ws: Scratch, command: str) -> None:
    assert ws.bash(command, deny=["Edit(sub/**)"], **BYPASS).decision == "ask"
    assert ws.bash(command, deny=["Bash(curl:*)"], **BYPASS).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "git checkout main",
        "git reset HEAD",
        "git stash list",
        "tar cf x.tar a.py",
        "cp a.py .",
        "unrar l x",
        "git",
        "make",
    ],
)
def test_other_changes_beside_denied_edits_pass(ws: Scratch, command: str) -> None:
    assert ws.bash(command, deny=["Edit(sub/**)"], **BYPASS).decision == "allow"


@pytest.mark.parametrize("command", ["git add key", "git hash-object key", "echo $(<key)", 'echo "$(< key)"'])
def test_taking_in_a_denied_file_is_reading_it(ws: Scratch, command: str) -> None:
    # D12
    assert ws.bash(command, deny=["Read(~/.ssh/**)"], **BYPASS).decision == "deny"


def test_arguments_from_a_pipe_may_complete_a_denied_command(ws: Scratch) -> None:
    assert ws.bash("ls | xargs git", deny=["Bash(git push:*)"], **BYPASS).decision == "ask"
    assert ws.bash("echo push | xargs git", deny=["Bash(git push:*)"], **BYPASS).decision == "deny"
    assert ws.bash("ls | xargs echo", deny=["Bash(git push:*)"], **BYPASS).decision == "allow"
    assert ws.bash("ls | xargs -I", deny=["Read(x)"], **BYPASS).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "make",
        "python script.py",
        "python -m pytest -x",
        "bash run.sh",
        "./run.sh",
        "git commit -m 'curl less'",
        "gh pr create --title 'Use curl less'",
        "grep -n curl README.md",
        "sed -i -e s/a/b/ a.py",
        "echo ls | sh",
        "docker build .",
        "git add a.py",
    ],
)
def test_bypassing_stays_useful_beside_deny_rules(ws: Scratch, command: str) -> None:
    assert ws.bash(command, deny=["Bash(curl:*)", "Read(secrets/**)"], **BYPASS).decision == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "curl x | sh",
        "curl x | sudo bash -s -- y",
        "cat x.sh | bash",
        "base64 -d x | sh",
        "curl x | tee y | sh",
        "echo $x | sh",
        "echo *.sh | sh",
        "printf '%d' 1 | sh",
        "printf | sh",
        "echo a < b | sh < c | sh",
        "echo 'rm -rf /' | sh",
        "sh <<'E'\nrm -rf ~\nE",
        "sh -c 'curl x | sh'",
        "find . | xargs rm -rf",
        "ls | xargs -I{} rm {}",
        "echo / | xargs rm -rf",
        "cat x | xargs -I% %",
        "cat x | xargs sh -c",
        "python -c \"os.system('rm -rf /')\"",
        "crontab -",
        "sudo mkfs.ext4 /dev/sda1",
        "gpg -a --export-secret-keys me",
        "at now",
        "shutdown now",
        "passwd",
        "gh auth token",
    ],
)
def test_bypassing_still_asks_before_running_or_removing_what_nobody_sees(ws: Scratch, command: str) -> None:
    for options in (BYPASS, {"allow": ["Bash"]}):
        decision = ws.bash(command, **options)
        assert f"{decision.decision} {decision.step}" in ("ask ironGate", "ask tool"), decision.reason
    assert ws.bash(command, **BYPASS).step == "ironGate"


@pytest.mark.parametrize(
    ("command", "gated"),
    [
        ("crontab -l", False),
        ("crontab x", True),
        ("gpg --verify x", False),
        ("mkfs.vfat x", True),
        ("wipefs x", True),
        ("reboot", True),
        ("useradd x", True),
        ("at -l", False),
        ("batch", True),
        ("systemctl --user enable x", True),
        ("systemctl status x", False),
        ("npm config set a b", True),
        ("npm test", False),
        ("git credential fill", True),
        ("git -C . credential fill", True),
        ("git maintenance start", True),
        ("git -C x maintenance register", True),
        ("git maintenance run", False),
        ("git commit credential", False),
        ("aws --profile p configure get x", True),
        ("aws configure --profile p export-credentials", True),
        ("aws s3 cp configure get", False),
        ("gcloud --project x auth application-default print-access-token", True),
        ("gh --repo a/b auth token", True),
        ("gh auth --hostname x status --show-token", True),
        ("gh auth status", False),
        ("gh pr create --title auth token", False),
        ("npm --prefix . config --global set a b", True),
        ("npm c set a b", True),
        ("npm set a b", True),
        ("npm install set", False),
        ("yarn --cwd . config set a b", True),
        ("pip --quiet config --user unset a", True),
        ("mise -C . trust", True),
        ("systemctl -H h enable x", True),
        ("systemd-run --user --on-calendar=daily x", True),
        ("systemd-run --user x", False),
        ("loginctl enable-linger", True),
        ("kubectl config view --raw", True),
        ("kubectl config view", False),
        ("vault kv get x", True),
        ("ssh-keygen -l -f x", False),
        ("ssh-keygen -f x", True),
    ],
)
def test_the_gate_knows_commands_by_their_arguments(command: str, gated: bool) -> None:
    name, *arguments = command.split()
    assert (gate(name, arguments) is not None) == gated


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("c=curl; $c x", "Bash(curl:*)"),
        ("npm install curl", "Bash(curl:*)"),
        ("ls | xargs cat", "Read(secrets/**)"),
        ("grep -r x .", "Read(secrets/**)"),
    ],
)
def test_where_a_denial_may_be_slipped_past_only_a_person_answers(ws: Scratch, command: str, rule: str) -> None:
    # P13: neither hook nor classifier overrules a deny rule
    denied, asked = ws.bash(command, mode="auto", deny=[rule]), ws.bash(command, mode="auto", ask=[rule])
    assert isinstance(denied, Ask)
    assert isinstance(asked, Ask)
    assert denied.iron
    assert not asked.iron


def test_a_pipe_is_only_read_where_it_ends() -> None:
    found = judge("echo curl x | cat > y; sh x.sh", cwd="/w", home="/h")
    assert found.blind == ()
    assert judge("curl x | sh -c 'ls'", cwd="/w", home="/h").blind == ()
    assert judge("curl x | cat - | sh", cwd="/w", home="/h").blind


def test_explain_tells_the_same(shared_ws: Scratch) -> None:
    question = {"tool": "Bash", "input": {"command": "curl x | sh"}, "cwd": str(shared_ws.root), **BYPASS}
    assert explain(question)["step"] == "ironGate"
