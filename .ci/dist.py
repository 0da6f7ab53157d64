"""Builds what we release, twice, and tries it where nothing of ours is installed: `make dist`.

    python .ci/dist.py [--no-extension]

The sdist, the wheel made from it, and the .vsix with that wheel inside go to dist/. Times in them are those of the last
commit, so that the same sources give the same bytes; both builds are compared. The wheel is then installed into an
empty environment, with a home of its own and no credentials, and used. Prints each thing that was checked; exit code 1
where one is not so.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
EXTENSION = ROOT / "vscode-extension"
TOOLS = ("build", "hatchling")
NEVER = (".env", ".git/", "node_modules/", "__pycache__", ".pyc", "tests/", ".map")  # what no package may hold


class Failed(Exception):
    pass


def run(*command: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None, given: str = "") -> str:
    words = [str(part) for part in command]
    done = subprocess.run(
        words, cwd=cwd, env=env, input=given, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def expect(condition: bool, text: str) -> None:
    if not condition:
        raise Failed(f"not so: {text}")
    say(f"  ok  {text}")


def empty_environment(folder: Path) -> Path:
    venv.EnvBuilder(with_pip=True, symlinks=True).create(folder)
    return folder / "bin"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build(tools: Path, target: Path, env: dict[str, str]) -> None:
    """The sdist, and the wheel from what is in the sdist alone."""
    run(tools / "python", "-m", "build", "--no-isolation", "--outdir", target, ROOT, env=env)


def pack(python: Path, target: Path, env: dict[str, str]) -> None:
    if not (EXTENSION / "node_modules").exists():
        run("npm", "ci", "--no-audit", "--no-fund", cwd=EXTENSION)
    run("npm", "run", "package", "--", target, cwd=EXTENSION, env={**env, "ASSENT_PYTHON": str(python)})


def names_in(path: Path) -> list[str]:
    if path.suffix == ".gz":
        with tarfile.open(path) as packed:
            return packed.getnames()
    with zipfile.ZipFile(path) as packed:
        return packed.namelist()


def check_contents(folder: Path) -> None:
    for path in sorted(folder.iterdir()):
        names = names_in(path)
        never = NEVER if path.suffix == ".vsix" else (*NEVER, ".whl")
        wrong = [name for name in names if any(each in name for each in never)]
        expect(
            not wrong,
            f"{path.name}: {len(names)} files, {path.stat().st_size // 1024} kB, nothing left over {wrong or ''}",
        )


def check_extension(package: Path, wheel: Path) -> None:
    with zipfile.ZipFile(package) as packed:
        about = json.loads(packed.read("extension/package.json"))
        inside = [name for name in packed.namelist() if name.endswith(".whl")]
        expect(f"-{about['version']}-" in wheel.name, f"the extension and the server are both {about['version']}")
        same = len(inside) == 1 and hashlib.sha256(packed.read(inside[0])).hexdigest() == digest(wheel)
        expect(same, "the .vsix brings this very wheel along")
        expect("extension/" + about["main"].removeprefix("./") in packed.namelist(), "the .vsix holds its program")


def check_installed(wheel: Path, scratch: Path) -> None:
    """As a user gets it: an empty environment, an empty home, no key."""
    bin = empty_environment(scratch / "venv")
    run(
        bin / "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "-c",
        ROOT / "constraints.txt",
        f"{wheel}[acp]",
    )
    home, project = scratch / "home", scratch / "project"
    for folder in (home, project):
        folder.mkdir()
    (project / "greeter.py").write_text('def greet():\n    return "Helo"\n')
    env = {"HOME": str(home), "PATH": f"{bin}:/usr/bin:/bin", "LANG": "C.UTF-8"}

    def assent(*words: str, given: str = "") -> str:
        return run(bin / "assent", *words, cwd=project, env=env, given=given)

    version = wheel.name.split("-")[1]
    expect(version in assent("--version"), f"assent --version says {version}")
    found = {each["name"]: each for each in json.loads(assent("doctor", "--json"))}
    expect(str(scratch) in found["assent"]["text"], "assent doctor --json finds the installed program, not the sources")
    failed = [name for name, each in found.items() if each["state"] not in ("ok", "note", "warning")]
    expect(not failed, f"assent doctor has nothing to mend {failed or ''}")
    answer = json.loads(assent("ask", "--offline", "--json", "read greeter.py"))
    expect(not answer["isError"], "assent ask --offline --json answers")
    expect(
        "Helo" in assent("ask", "--offline", "--stream-json", "read greeter.py"), "assent ask reads a file by its tools"
    )
    expect("Hello" in assent("demo"), "assent demo fixes the typo of its scratch project")
    example = ROOT / "docs" / "examples" / "resume_session.py"
    said = run(bin / "python", example, "hello", cwd=home, env=env)  # a folder without a conversation so far
    expect("not a language model" in said, f"the SDK example {example.name} runs offline")
    typed = run(
        bin / "python", "-c", "import assent, pathlib; print(pathlib.Path(assent.__file__).parent / 'py.typed')"
    )
    expect(Path(typed.strip()).exists(), "the package is typed (py.typed)")
    check_protocols(bin / "assent", project, env)


def check_protocols(program: Path, project: Path, env: dict[str, str]) -> None:
    """One conversation as a language server and one as an ACP agent, each by a client of a few lines."""
    with Spoken([program, "serve", "--stdio"], project, env, framed=True) as server:
        told = server.ask("initialize", {"processId": None, "rootUri": project.as_uri(), "capabilities": {}})
        expect(told["serverInfo"]["name"] == "assent", "assent serve --stdio answers initialize")
        server.tell("initialized", {})
        opened = server.ask("assent/session/new", {"cwd": str(project)})
        said = server.ask("assent/session/send", {**_session(opened), "prompt": "read greeter.py", "wait": True})
        expect(said["result"]["terminal"] == "completed", "a prompt over LSP is answered")
        server.ask("shutdown", None)
        server.tell("exit", None)
    expect(server.process.returncode == 0, "and the server ends when it is told to")
    with Spoken([program, "acp"], project, env, framed=False) as agent:
        told = agent.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        expect(told["protocolVersion"] == 1, "assent acp answers initialize")
        opened = agent.ask("session/new", {"cwd": str(project), "mcpServers": []})
        words = [{"type": "text", "text": "read greeter.py"}]
        ended = agent.ask("session/prompt", {**_session(opened), "prompt": words})
        kinds = {each["update"]["sessionUpdate"] for each in agent.heard}
        expect(ended["stopReason"] == "end_turn", "a prompt over ACP is answered")
        expect({"tool_call", "agent_message_chunk"} <= kinds, "and the client sees the call and the words")
    expect(agent.process.returncode == 0, "and the agent ends with its client")


def _session(opened: dict[str, Any]) -> dict[str, Any]:
    return {"sessionId": opened["sessionId"]}


class Spoken:
    """A program that speaks JSON-RPC on its pipes: with headers as LSP has them, or a line each as ACP has them."""

    def __init__(self, command: list[str | Path], cwd: Path, env: dict[str, str], *, framed: bool) -> None:
        self._framed, self._last = framed, 0
        self.heard: list[dict[str, Any]] = []  # parameters of what it told unasked
        self.process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> "Spoken":
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        finally:
            self.process.kill()

    def tell(self, method: str, params: object, **more: int) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) if self._framed else body + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: object) -> Any:
        self._last += 1
        self.tell(method, params, id=self._last)
        while True:
            message = self._next()
            if "method" not in message and message.get("id") == self._last:
                if "error" in message:
                    raise Failed(f"{method}: {message['error']}")
                return message["result"]
            self.heard += [message["params"]] if "id" not in message else []

    def _next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = -1
        while self._framed and (line := self.process.stdout.readline().strip()):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        data = self.process.stdout.read(length) if length >= 0 else self.process.stdout.readline()
        if not data:
            raise Failed(f"{self.process.args} ended without an answer")
        return json.loads(data)


def check_install_lines(scratch: Path) -> None:
    """As printed, with uv, pipx and pip, against an index on loopback: tests/docs/test_install_lines.py."""
    every = ("-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib", "-q", "--basetemp", scratch / "lines")
    said = run(sys.executable, "-m", "pytest", *every, "tests/docs/test_install_lines.py")
    expect(" passed" in said and "failed" not in said, said.strip().splitlines()[-1])


def main() -> None:
    extension = "--no-extension" not in sys.argv[1:]
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct").strip()
    env = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "PYTHONHASHSEED": "0", "TZ": "UTC"}
    with tempfile.TemporaryDirectory(prefix="assent-dist-") as name:
        scratch = Path(name)
        tools = empty_environment(scratch / "tools")
        pip = (tools / "pip", "install", "--quiet", "--disable-pip-version-check", "-c", ROOT / "constraints.txt")
        run(*pip, *TOOLS)
        builds = (scratch / "one", scratch / "two")
        for target in builds:
            say(f"Building ({target.name}) …")
            build(tools, target, env)
            if extension:
                pack(tools / "python", target / "assent.vsix", env)
        say("What was built")
        for path in sorted(builds[0].iterdir()):
            expect(
                digest(path) == digest(builds[1] / path.name), f"{path.name}: the same bytes twice, {digest(path)[:16]}"
            )
        check_contents(builds[0])
        (wheel,) = builds[0].glob("*.whl")
        if extension:
            check_extension(builds[0] / "assent.vsix", wheel)
        say("Installed into an empty environment")
        check_installed(wheel, scratch)
        say("The install lines of the documentation")
        check_install_lines(scratch)
        shutil.rmtree(DIST, ignore_errors=True)
        shutil.copytree(builds[0], DIST)
    say(f"{DIST.name}/: {', '.join(sorted(path.name for path in DIST.iterdir()))}")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        raise SystemExit(f"dist: {failed}") from None
