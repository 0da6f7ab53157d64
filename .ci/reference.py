"""Writes docs/api.md, the reference of `import assent`, from the docstrings and the types in the sources.

    python -I .ci/reference.py [--check]

It reads the sources and imports nothing of them. `--check` writes nothing; exit code 1 if the page is not up to date.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SERVER = ROOT / "server"
PAGE = ROOT / "docs" / "api.md"
HEAD = """# API reference

<!-- Made by .ci/reference.py (`make protocol`) from the sources. Change those, not this page. -->

Everything that `import assent` gives, from its docstrings. [The Python SDK](sdk.md) tells how to use it.
"""
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def homes() -> dict[str, str]:
    """Public names and the modules they live in, as the package itself lists them."""
    for node in ast.parse((SERVER / "assent" / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            return ast.literal_eval(node.value)
    raise SystemExit("reference: assent/__init__.py has no _HOMES")


class Source:
    def __init__(self, module: str) -> None:
        path = SERVER / (module.replace(".", "/") + ".py")
        self.lines = path.read_text().splitlines()
        self.body = ast.parse("\n".join(self.lines)).body

    def definitions(self, name: str) -> list[Definition]:
        return [node for node in self.body if isinstance(node, Definition) and node.name == name]

    def classes(self) -> list[ast.ClassDef]:
        return [node for node in self.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]

    def note(self, node: ast.stmt) -> str:
        """The comment at the end of a field's line."""
        line = self.lines[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :]
        return line.partition("#")[2].partition("  # pyright")[0].strip()


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    answer = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{word} {node.name}({ast.unparse(node.args)}){answer}"


def code(text: str) -> str:
    return f"\n```python\n{text}\n```\n"


def prose(node: Definition) -> str:
    words = ast.get_docstring(node)
    return f"\n{words}\n" if words else ""


def fields(source: Source, node: ast.ClassDef) -> str:
    rows = [
        (each.target.id, ast.unparse(each.annotation), ast.unparse(each.value) if each.value else "", source.note(each))
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    if not rows:
        return ""
    lines = ["| field | type | default | |", "|---|---|---|---|"]
    for row in rows:
        name, kind, value, note = (cell.replace("|", "\\|") for cell in row)  # a bar would end the cell
        lines.append(f"| `{name}` | `{kind}` | {f'`{value}`' if value else ''} | {note} |")
    return "\n" + "\n".join(lines) + "\n"


def described(source: Source, node: Definition, level: str) -> str:
    if not isinstance(node, ast.ClassDef):
        return code(signature(node)) + prose(node)
    text = prose(node) + fields(source, node)
    for each in node.body:
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and (
            not each.name.startswith("_") or each.name == "__init__"
        ):
            title = "Making one" if each.name == "__init__" else each.name
            text += f"\n{level}# {node.name}: {title}\n" + described(source, each, level + "#")
    return text


def page() -> str:
    parts = [HEAD]
    for name, module in sorted(homes().items(), key=lambda item: item[0].lower()):
        source = Source(module)
        found = source.definitions(name)
        if not found:
            raise SystemExit(f"reference: {module} does not define {name}")
        parts.append(f"\n## {name}\n")
        shown = [each for each in found if ast.get_docstring(each)] or found[-1:]
        overloads = [each for each in found if each not in shown and not isinstance(each, ast.ClassDef)]
        parts += [code(signature(each)) for each in overloads]
        parts += [described(source, each, "##") for each in shown]
    parts.append("\n## assent.types: the messages\n\nFrozen dataclasses; each has its `type`.\n")
    messages = Source("assent.types.messages")
    for node in messages.classes():
        parts.append(f"\n### {node.name}\n" + described(messages, node, "###"))
    return "".join(parts)


if __name__ == "__main__":
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        raise SystemExit("docs/api.md is not up to date: run `make protocol`")
