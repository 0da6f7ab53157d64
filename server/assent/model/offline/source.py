"""What the offline model knows of source code: where things are defined, and how to write a stub. Text in, text out."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

_LANGUAGES = {
    ".py": "Python",
    ".js": "JavaScript",
    ".ts": "TypeScript",
    ".tsx": "TypeScript",
    ".go": "Go",
    ".rs": "Rust",
    ".md": "Markdown",
    ".lua": "Lua",
    ".c": "C",
    ".java": "Java",
    ".rb": "Ruby",
    ".sh": "shell",
    ".json": "JSON",
    ".toml": "TOML",
}
_DEFINED = re.compile(
    r"^\s*(?:export\s+|pub\s+|public\s+|async\s+|static\s+|default\s+|local\s+)*"
    r"(?P<kind>def|class|function|func|fn|struct|interface|type|enum|trait|impl)\s+(?P<name>[A-Za-z_]\w*)"
)


@dataclass(frozen=True, slots=True)
class SourceChange:
    old: str
    new: str


def definition_pattern(name: str) -> str:
    """A ripgrep pattern for the usual ways to define a name."""
    keyword = r"\b(def|class|function|func|fn|struct|interface|type|enum|trait|const|let|var|local)"
    return rf"{keyword}\s+{re.escape(name)}\b|^\s*{re.escape(name)}\s*[:=]"


def function_at(text: str, line: int) -> str | None:
    """The function or class a line belongs to: the last one that begins at or before it, or else the first of all."""
    found = [
        (number, match["name"]) for number, each in enumerate(text.split("\n"), 1) if (match := _DEFINED.match(each))
    ]
    before = [name for number, name in found if number <= line]
    return before[-1] if before else (found[0][1] if found else None)


def explained(path: str, text: str) -> str:
    lines = text.split("\n")
    language = _LANGUAGES.get(PurePosixPath(path).suffix, "text")
    head = f"{path} is {language}, {len(lines)} {'line' if len(lines) == 1 else 'lines'}."
    found = [(number, match) for number, line in enumerate(lines, 1) if (match := _DEFINED.match(line))]
    told = [head]
    if (about := _first_words(text)) is not None:
        told.append(f"It says of itself: {about}")
    if found:
        told.append("It defines:")
        told += [f"- {match['kind']} `{match['name']}`, line {number}" for number, match in found[:40]]
    elif language == "Markdown":
        told += [f"- {line}" for line in lines if line.startswith("#")][:40]
    return "\n".join([*told, "", "That is what I can tell from its shape; I cannot judge what it means."])


def with_docstring(path: str, text: str, name: str) -> SourceChange | str:
    """The edit that adds a docstring, or words on why there is none."""
    if not path.endswith(".py"):
        return f"I can write docstrings for Python only, and `{name}` is in {path}."
    lines = text.split("\n")
    start = next(
        (at for at, line in enumerate(lines) if re.match(rf"\s*(async\s+)?(def|class)\s+{name}\b", line)), None
    )
    if start is None:
        return f"I found no definition of `{name}` in {path}."
    end = next((at for at in range(start, len(lines)) if re.search(r":\s*(#.*)?$", lines[at])), None)
    if end is None:
        return f"I do not understand how `{name}` is written in {path}."
    following = next((line for line in lines[end + 1 :] if line.strip()), "")
    if following.strip().startswith(('"""', "'''", '"', "'", 'r"""')):
        return f"`{name}` in {path} has a docstring already."
    indent = " " * (len(lines[start]) - len(lines[start].lstrip()) + 4)
    old = "\n".join(lines[start : end + 1])
    if text.count(old) > 1:
        return f"`{name}` is defined more than once in {path}; I do not know which you mean."
    words = name.strip("_").replace("_", " ")
    return SourceChange(old, f'{old}\n{indent}"""{words[:1].upper()}{words[1:]}."""')


def test_path(path: str) -> str:
    file = PurePosixPath(path)
    return str(file.with_name(f"test_{file.name}"))


def has_test(text: str, function: str) -> bool:
    return re.search(rf"\bdef test_{function}\b", text) is not None


def with_test(before: str, path: str, function: str) -> str:
    """A test file with a stub for the function in it; unittest, so that nothing has to be installed."""
    module = PurePosixPath(path).stem
    stub = f'    def test_{function}(self):\n        self.fail("say what {function} should do")\n'
    if not before.strip():
        case = "".join(part.capitalize() for part in function.split("_")) or "Case"
        return (
            f"import unittest\n\nfrom {module} import {function}\n\n\nclass {case}Test(unittest.TestCase):\n{stub}"
            '\n\nif __name__ == "__main__":\n    unittest.main()\n'
        )
    head, guard, rest = before.partition('\nif __name__ == "__main__":')
    case = f"class {function.title().replace('_', '')}Stub(unittest.TestCase):\n{stub}"
    added = "" if re.search(rf"import\s+.*\b{function}\b", head) else f"    # from {module} import {function}\n"
    return f"{head.rstrip()}\n\n\n{case.replace(stub, added + stub)}" + (f"\n{guard}{rest}" if guard else "")


def test_command(files: set[str]) -> str | None:
    if "package.json" in files:
        return "npm test"
    if "Cargo.toml" in files:
        return "cargo test"
    if "go.mod" in files:
        return "go test ./..."
    return None


def python_tests(files: set[str]) -> bool:
    return any(PurePosixPath(file).name.startswith("test_") and file.endswith(".py") for file in files)


def tail(text: str, lines: int) -> str:
    parts = text.strip("\n").split("\n")
    return "\n".join(parts if len(parts) <= lines else ["…", *parts[-lines:]])


def _first_words(text: str) -> str | None:
    found = re.match(r'\s*(?:#![^\n]*\n)?\s*(?:"""|\'\'\'|/\*\*?|//+|--+|#+)\s*(.+?)\s*(?:"""|\'\'\'|\*/|\n|$)', text)
    return found.group(1).strip(" *") if found else None
