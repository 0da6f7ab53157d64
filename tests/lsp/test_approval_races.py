"""Between a question and its answer the files change: what the person allowed is what happens, or nothing (P4)."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fakeapi import FakeApi, text, tool
from fakeapi.script import Block
from lspclient import Connect, Json

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def allowed_after(
    connect: Connect, api: FakeApi, place: Path, calls: list[Block], between: Callable[[], None]
) -> tuple[list[str], str]:
    """A turn with these calls. The first question is allowed once `between` has run, every later one refused. Gives the
    reasons that were shown, and what the model was told last."""
    reasons: list[str] = []
    folder = place / "project"
    client = await connect(assent={"client": {"permissions": True}}, root=folder, home=place / "home", api=api)
    session = (await client.request("assent/session/new", {"cwd": str(folder)}))["sessionId"]

    def answer(params: Json) -> Json:
        reasons.append(params["reason"])
        if len(reasons) > 1:
            return {"decision": "deny"}
        between()
        return {"decision": "allow"}

    client.answers["assent/permission/ask"] = answer
    for call in calls:
        api.reply(call)
    api.reply(text("Done."))
    await client.request("assent/session/send", {"sessionId": session, "prompt": "go", "wait": True})
    told = api.calls[-1].last_text
    await client.stop()
    return reasons, told


def laid_out(place: Path, name: str) -> Path:
    """A project with a file, a git hook beside it, a folder outside, a home with a secret and a rule that denies it."""
    top = place / name
    for file in ("project/src/a.txt", "project/.git/hooks/pre-commit", "outside/a.txt", "outside/b.txt"):
        (top / file).parent.mkdir(parents=True, exist_ok=True)
        (top / file).write_text("one\n")
    (top / "home/.ssh").mkdir(parents=True)
    (top / "home/.ssh/id").write_text("SECRET\n")
    settings(top / "home/config/assent", ["Read(~/.ssh/**)"])
    return top


def settings(folder: Path, deny: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps({"permissions": {"deny": deny}}))


def swap(path: Path, target: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize(
    ("file", "swapped", "target"),
    [
        ("src/new.txt", "src", "outside"),
        ("src/a.txt", "src", "outside"),
        ("src/a.txt", "src/a.txt", "outside/a.txt"),
        ("src/new.txt", "src/new.txt", "outside/new.txt"),
        ("src/a.txt", "src/a.txt", "project/.git/hooks/pre-commit"),
        ("src/pre-commit", "src", "project/.git/hooks"),
    ],
)
async def test_an_allowed_write_lands_where_it_was_shown_or_nowhere(
    connect: Connect, place: Path, api: FakeApi, file: str, swapped: str, target: str
) -> None:
    top = laid_out(place, f"write-{file}-{swapped}-{target}".replace("/", "-"))
    path = top / "project" / file
    read = [tool("Read", file_path=str(path))] if path.exists() else []
    write = tool("Write", file_path=str(path), content="EVIL\n")
    await allowed_after(connect, api, top, [*read, write], lambda: swap(top / "project" / swapped, top / target))
    assert [
        file for file in top.rglob("*") if file.is_file() and "EVIL" in file.read_text() and file.suffix != ".jsonl"
    ] == []


async def test_an_allowed_read_does_not_follow_a_link_that_was_made_meanwhile(
    connect: Connect, place: Path, api: FakeApi
) -> None:
    for target, reason in (("home/.ssh/id", "denied"), ("outside/b.txt", "asked again")):
        top = laid_out(place, f"read-{reason}")
        path = top / "outside/a.txt"
        (top / "outside/b.txt").write_text("OTHER\n")
        call = tool("Read", file_path=str(path))
        reasons, told = await allowed_after(connect, api, top, [call], partial(swap, path, top / target))
        assert "SECRET" not in told and "OTHER" not in told
        assert len(reasons) == (1 if reason == "denied" else 2)
    assert reasons[1].endswith(f"leads to {top}/outside/b.txt now")


@pytest.mark.parametrize("where", ["home/config/assent", "project/.assent"])
async def test_a_deny_rule_that_is_written_while_a_question_is_open_counts(
    connect: Connect, place: Path, api: FakeApi, where: str
) -> None:
    top = laid_out(place, f"rule-{where}".replace("/", "-"))
    call = tool("Bash", command="touch made")
    reasons, told = await allowed_after(connect, api, top, [call], lambda: settings(top / where, ["Bash(touch:*)"]))
    assert not (top / "project/made").exists()
    assert len(reasons) == 1 and "touch" in told


async def test_an_answer_counts_when_nothing_of_it_changed(connect: Connect, place: Path, api: FakeApi) -> None:
    top = laid_out(place, "unchanged")
    call = tool("Bash", command="touch made")
    reasons, _ = await allowed_after(connect, api, top, [call], lambda: settings(top / "project/.assent", ["WebFetch"]))
    assert (top / "project/made").exists()
    assert len(reasons) == 1


@pytest.mark.parametrize(
    "line", ["echo EVIL > src/a.txt", "printf EVIL | tee src/a.txt", "sh -c 'echo EVIL' > src/a.txt"]
)
@pytest.mark.parametrize(
    ("swapped", "target"),
    [("src/a.txt", "project/.git/hooks/pre-commit"), ("src/a.txt", "home/.ssh/authorized_keys"), ("src", "outside")],
)
async def test_an_allowed_command_is_asked_about_again_when_its_file_leads_elsewhere(
    connect: Connect, place: Path, api: FakeApi, line: str, swapped: str, target: str
) -> None:
    top = laid_out(place, f"bash-{len(line)}-{swapped}-{target}".replace("/", "-"))
    call = tool("Bash", command=line)
    reasons, told = await allowed_after(
        connect, api, top, [call], lambda: swap(top / "project" / swapped, top / target)
    )
    assert len(reasons) == 2 or told.startswith("Denied by your rules")
    assert [file for file in top.rglob("*") if file.is_file() and file.read_text().startswith("EVIL")] == []
