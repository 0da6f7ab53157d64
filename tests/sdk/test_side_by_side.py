"""Many engines in one process share nothing: each has its key, rules, tools, hooks, mode, folder and settings."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import assent
from fakeapi import Answer, FakeApi, Reply, Request, text, tool

ENGINES = 6


async def test_six_engines_at_once_use_their_own_tools_rules_hooks_and_modes(project: Path, model: FakeApi) -> None:
    seen: dict[int, list[str]] = {number: [] for number in range(ENGINES)}
    waiting = asyncio.Barrier(ENGINES)

    def options(number: int) -> assent.Options:
        async def note(call: assent.HookCall) -> None:
            seen[number].append(call.subject)
            if call.subject == "whoami":
                await waiting.wait()  # all of them are in the middle of a turn now

        @assent.tool
        def whoami() -> str:
            """Who is asked."""
            return f"engine {number}"

        return assent.Options(
            tools=[whoami],
            hooks={"PreToolUse": [note]},
            mode="acceptEdits" if number % 2 else "default",
            deny=[f"Read(note-{number}.txt)"],
            system_prompt=f"You are number {number}.",
        )

    def answer(request: Request) -> Answer:
        mine = next(
            number for number in range(ENGINES) if f"You are number {number}." in json.dumps(request.body["system"])
        )
        steps = (
            tool("whoami"),
            tool("Read", file_path=f"note-{mine}.txt"),
            tool("Read", file_path=f"note-{(mine + 1) % ENGINES}.txt"),
            tool("Write", file_path="new.txt", content=str(mine)),
        )
        done = len(request.tool_results)
        if done == len(steps):
            told = [json.dumps(each["content"]) for each in request.tool_results.values()]
            return Reply(parts=(text(json.dumps(told)),))
        return Reply(parts=(steps[done],))

    model.otherwise(answer)
    folders = [project.parent / f"folder{number}" for number in range(ENGINES)]
    for folder in folders:
        folder.mkdir()
        for number in range(ENGINES):
            (folder / f"note-{number}.txt").write_text(f"words of {number}\n")

    async def one(number: int) -> assent.types.Result:
        async with assent.Client(cwd=folders[number], options=options(number)) as client:
            return await client.ask("go")

    results = await asyncio.gather(*map(one, range(ENGINES)))
    assert len({result.session_id for result in results}) == ENGINES
    for number, result in enumerate(results):
        who, own, others, _written = json.loads(result.result)
        assert f"engine {number}" in who
        assert "words of" not in own and f"words of {(number + 1) % ENGINES}" in others
        assert (folders[number] / "new.txt").exists() == bool(number % 2)
        assert seen[number] == ["whoami", "Read", "Read", "Write"]


async def test_each_engine_sends_its_own_key(project: Path) -> None:
    async with FakeApi(key="one") as first, FakeApi(key="two") as second:
        for api in (first, second):
            api.reply(text(f"Hello {api.url}."))

        async def ask(key: str, api: FakeApi) -> str:
            options = assent.Options(api_key=key, settings={"baseUrl": api.url})
            async with assent.Client(cwd=project, options=options) as client:
                return (await client.ask("hi")).result

        said = await asyncio.gather(ask("one", first), ask("two", second))
        assert said == [f"Hello {first.url}.", f"Hello {second.url}."]


async def test_scripts_in_threads_each_have_a_loop_of_their_own(project: Path, model: FakeApi) -> None:
    model.otherwise(Reply(parts=(text("Hello."),)))
    with ThreadPoolExecutor(4) as threads:
        loop = asyncio.get_running_loop()
        runs = [loop.run_in_executor(threads, lambda: assent.run("hi", cwd=project)) for _ in range(4)]
        results = await asyncio.gather(*runs)
    assert [result.result for result in results] == ["Hello."] * 4
    assert len({result.session_id for result in results}) == 4
