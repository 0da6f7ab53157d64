"""What commands changed goes back too (S3): compared with what git says the tree was."""

import os
import random
import shlex
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from assent.sessions.files import baseline
from assent.sessions.files.baseline import Baseline
from assent.tools.bash import Bash
from assent.tools.process.jobs import ShellJobs
from assent.tools.read import Read
from assent.tools.write import Write
from assent.types.blocks import Json
from sessions.harness import Harness, TestFront, running, say, use
from sessions.test_rewind import allow


def _same(jobs: ShellJobs, _session: str, _changed: object) -> ShellJobs:
    return jobs


def shell(home: Path, *commands: str) -> Any:
    """A session in which the model runs one command per prompt."""
    (home / "project").mkdir(parents=True, exist_ok=True)
    answers: list[Any] = []
    for number, command in enumerate(commands):
        answers += [[use("Bash", f"b{number}", command=command)], say(f"ran {number}")]
    jobs = ShellJobs()
    return running(home, *answers, tools=[Read(), Write(), Bash()], decide=allow, jobs=partial(_same, jobs))


async def prompted(app: Harness, front: TestFront, session: str, count: int) -> list[str]:
    for number in range(count):
        await app.send(session, f"prompt {number}", front, wait=True)
    return [event["messageId"] for event in front.of("turnStarted")]


async def rewound(app: Harness, session: str, message: str, **more: Any) -> Json:
    return await app.request("session/rewind", sessionId=session, messageId=message, restore="code", **more)


def tree(folder: Path) -> dict[str, tuple[bytes, bool]]:
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): (path.read_bytes(), bool(path.stat().st_mode & 0o100)) for path in found}


async def test_files_that_a_command_made_changed_and_removed_go_back_and_forward_again(tmp_path: Path) -> None:
    cwd = tmp_path / "project"
    (cwd / "sub").mkdir(parents=True)
    (cwd / "a.txt").write_text("one\ntwo\n")
    (cwd / "data.bin").write_bytes(b"\x00\xff" * 50)
    (cwd / "sub" / "run.sh").write_text("#!/bin/sh\n")
    (cwd / "sub" / "run.sh").chmod(0o755)
    command = "sed -i s/two/2/ a.txt && printf '\\1\\0' > data.bin && rm -r sub && mkdir new && echo hi > new/b.txt"
    front = TestFront()
    async with shell(tmp_path, "true", command) as app:
        was = tree(cwd)
        session = await app.new(front, mode="acceptEdits")
        prompts = await prompted(app, front, session, 2)
        made = tree(cwd)
        assert made != was and "new/b.txt" in made
        plan = await rewound(app, session, prompts[1], dryRun=True)
        assert {Path(each["path"]).name: each["change"] for each in plan["files"]} == {
            "a.txt": "modified",
            "data.bin": "modified",
            "run.sh": "created",
            "b.txt": "deleted",
        }
        assert plan["conflicts"] == [] and "untracked" not in plan and tree(cwd) == made
        done = await rewound(app, session, prompts[1])
        assert done["conflicts"] == [] and tree(cwd) == was
        undone = await rewound(app, session, done["rewindId"])
        assert undone["conflicts"] == [] and tree(cwd) == made


async def test_what_the_user_did_since_is_merged_or_named_and_never_lost(tmp_path: Path) -> None:
    cwd = tmp_path / "project"
    cwd.mkdir(parents=True)
    lines = [f"line {number}\n" for number in range(20)]
    for name in ("merges.txt", "touches.txt", "gone.txt"):
        (cwd / name).write_text("".join(lines))
    front = TestFront()
    async with shell(tmp_path, "sed -i '3s/.*/the agent/' *.txt") as app:
        session = await app.new(front, mode="acceptEdits")
        (prompt,) = await prompted(app, front, session, 1)
        merges, touches, gone = (cwd / f"{name}.txt" for name in ("merges", "touches", "gone"))
        merges.write_text(merges.read_text().replace("line 15", "the user"))
        touches.write_text(touches.read_text().replace("the agent", "the agent and the user"))
        gone.unlink()
        mine = touches.read_text()
        done = await rewound(app, session, prompt)
        assert done["files"] == [{"path": str(merges), "change": "merged"}]
        assert merges.read_text() == "".join(lines).replace("line 15", "the user")
        assert {Path(each["path"]).name: each["reason"] for each in done["conflicts"]} == {
            "touches.txt": "it was changed after the agent's last edit",
            "gone.txt": "it was deleted after the agent's last edit",
        }
        assert touches.read_text() == mine and not gone.exists()


async def test_the_users_own_changes_between_two_commands_stay(tmp_path: Path) -> None:
    front = TestFront()
    cwd = tmp_path / "project"
    async with shell(tmp_path, "echo a > a.txt", "echo b > b.txt") as app:
        session = await app.new(front, mode="acceptEdits")
        await prompted(app, front, session, 1)
        (cwd / "mine.txt").write_text("mine\n")
        await app.send(session, "again", front, wait=True)
        first = front.of("turnStarted")[0]["messageId"]
        done = await rewound(app, session, first)
        assert {Path(each["path"]).name for each in done["files"]} == {"a.txt", "b.txt"}
        assert tree(cwd) == {"mine.txt": (b"mine\n", False)}


async def test_ignored_files_and_build_output_are_left_alone(tmp_path: Path) -> None:
    cwd = tmp_path / "project"
    cwd.mkdir(parents=True)
    (cwd / ".gitignore").write_text("out/\n*.log\n")
    front = TestFront()
    async with shell(tmp_path, "mkdir -p out node_modules/x && touch out/o node_modules/x/y a.log real.txt") as app:
        session = await app.new(front, mode="acceptEdits")
        (prompt,) = await prompted(app, front, session, 1)
        done = await rewound(app, session, prompt)
        assert [Path(each["path"]).name for each in done["files"]] == ["real.txt"]
        assert (cwd / "out" / "o").exists() and (cwd / "a.log").exists()


async def test_what_could_not_be_followed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "LARGEST", 100)
    front = TestFront()
    async with shell(tmp_path, "head -c 500 /dev/zero > large.bin; echo small > small.txt") as app:
        session = await app.new(front, mode="acceptEdits")
        (prompt,) = await prompted(app, front, session, 1)
        done = await rewound(app, session, prompt)
        assert [Path(each["path"]).name for each in done["files"]] == ["small.txt"]
        (words,) = done["untracked"]
        assert "large.bin" in words and "too large" in words


def test_a_tree_with_too_many_files_or_too_little_time_is_unknown_never_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for number in range(30):
        (project / f"f{number:02}.txt").write_text("old\n")
    monkeypatch.setattr(baseline, "MOST_FILES", 10)
    for before, after in ((5.0, 5.0), (-1.0, 5.0), (5.0, -1.0)):
        looked = Baseline(str(project), tmp_path / "copies")
        looked.before(before)
        (project / "f01.txt").write_text(f"new {before}\n")
        (project / "f29.txt").write_text(f"new {before}\n")
        (project / "made.txt").write_text("made\n")
        changes = looked.after(after)
        names = {Path(change.path).name for change in changes.found}
        assert names <= {"f01.txt"} and all(change.before is not None for change in changes.found)
        assert changes.untracked
        looked.close()


def git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=True).stdout


def snapshot(folder: Path, repository: Path) -> str:
    """The tree as git sees it, in a repository of its own."""
    where = (f"--git-dir={repository}", f"--work-tree={folder}")
    git(folder, *where, "add", "-A")
    return git(folder, *where, "write-tree").decode().strip()


def random_command(chance: random.Random, folder: Path) -> str:
    names = sorted(name for name in tree(folder) if not name.startswith(".")) or ["none"]
    some = shlex.quote(chance.choice(names))
    new = f"d{chance.randint(0, 2)}/n{chance.randint(0, 9)}"
    return chance.choice(
        [
            f"rm -f {some}",
            f"mkdir -p {Path(new).parent} && echo {chance.random()} > {new}",
            f"test -f {some} && echo {chance.random()} >> {some}",
            f"test -f {some} && sed -i 1d {some}",
            f"test -f {some} && mv {some} moved{chance.randint(0, 3)}.txt",
            f"test -f {some} && chmod +x {some} && echo x >> {some}",
            f"head -c {chance.randint(1, 400)} /dev/urandom > {Path(new).name}.bin",
            f"rm -rf d{chance.randint(0, 2)}",
            f"test -f {some} && cp {some} copy{chance.randint(0, 3)} && truncate -s 0 {some}",
        ]
    )


async def against_git(home: Path, seed: int, *, turns: int = 5) -> None:
    """Random commands; then back to any prompt, and back again: git says whether every byte and mode is as it was."""
    chance = random.Random(seed)
    project, repository = home / "project", home / "oracle.git"
    project.mkdir(parents=True)
    git(project, "init", "-q", "--bare", str(repository))
    for number in range(4):
        (project / f"f{number}.txt").write_text("".join(f"{chance.random()}\n" for _ in range(5)))
    front = TestFront()
    commands: list[str] = []
    answers: list[Any] = []

    def next_command() -> str:
        commands.append("; ".join(random_command(chance, project) for _ in range(chance.randint(1, 3))) + "; true")
        return commands[-1]

    async def run(_request: Any) -> list[Json]:
        return [use("Bash", f"b{len(commands)}", command=next_command())]

    for number in range(turns):
        answers += [run, say(f"ran {number}")]
    jobs = ShellJobs()
    async with running(home, *answers, tools=[Bash()], decide=allow, jobs=partial(_same, jobs)) as app:
        session = await app.new(front, mode="acceptEdits")
        states: list[str] = []
        for number in range(turns):
            states.append(snapshot(project, repository))
            await app.send(session, f"prompt {number}", front, wait=True)
        prompts = [event["messageId"] for event in front.of("turnStarted")]
        for _ in range(3):
            now, back = snapshot(project, repository), chance.randrange(turns)
            done = await rewound(app, session, prompts[back])
            assert done["conflicts"] == [] and "untracked" not in done, (seed, commands, done)
            assert snapshot(project, repository) == states[back], (seed, back, commands)
            undone = await rewound(app, session, done["rewindId"])
            assert undone["conflicts"] == []
            again = snapshot(project, repository)
            changes = git(project, f"--git-dir={repository}", "diff", "--stat", "--summary", now, again).decode()
            assert again == now, (seed, back, commands, changes, undone)


async def test_a_file_that_a_command_gave_another_encoding_goes_back_and_forward_byte_for_byte(tmp_path: Path) -> None:
    file = tmp_path / "project" / "a.txt"
    file.parent.mkdir()
    file.write_bytes("café\n".encode())
    other = b"caf\xe9 \xff\xfe\n"
    front = TestFront()
    async with shell(tmp_path, "printf 'caf\\351 \\377\\376\\n' > a.txt") as app:
        session = await app.new(front, mode="acceptEdits")
        (prompt,) = await prompted(app, front, session, 1)
        assert file.read_bytes() == other
        done = await rewound(app, session, prompt)
        assert file.read_bytes() == "café\n".encode()
        await rewound(app, session, done["rewindId"])
        assert file.read_bytes() == other


async def test_names_that_came_to_a_folder_which_was_looked_at_long_ago_are_seen(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "sub").mkdir(parents=True)
    (project / "sub" / "old.txt").write_text("old\n")
    for folder in (project / "sub", project):
        os.utime(folder, (1_000_000_000, 1_000_000_000))  # settled: its listing is kept
    look = Baseline(str(project), tmp_path / "kept")
    look.before(60)
    look.after(60)
    look.before(60)
    (project / "sub" / "new.txt").write_text("new\n")
    (project / "sub" / "old.txt").write_text("changed\n")
    found = {Path(change.path).name: change.after for change in look.after(60).found}
    assert found == {"new.txt": b"new\n", "old.txt": b"changed\n"}
    look.before(60)
    (project / ".gitignore").write_text("*.log\n")
    (project / "sub" / "some.log").write_text("ignored\n")
    assert [Path(change.path).name for change in look.after(60).found] == [".gitignore"]
    look.before(60)
    (project / ".gitignore").write_text("nothing\n")  # in place: no folder shows it
    look.before(60)
    (project / "sub" / "some.log").write_text("followed\n")
    assert [Path(change.path).name for change in look.after(60).found] == ["some.log"]
    look.close()


@pytest.mark.parametrize("seed", range(4))
async def test_rewinding_random_commands_gives_the_tree_that_git_remembers(tmp_path: Path, seed: int) -> None:  # S3
    await against_git(tmp_path, seed)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(100, 300))
async def test_rewinding_many_random_commands_gives_the_tree_that_git_remembers(tmp_path: Path, seed: int) -> None:
    await against_git(tmp_path, seed, turns=12)
