"""The arrows between layers, read from the imports themselves."""

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parent.parent / "server" / "assent"

MIDDLE = {"model", "tools", "permissions", "context", "extensions", "storage", "editor", "stdio"}
ALLOWED: dict[str, set[str]] = {
    "types": set(),
    "text": {"types"},
    **{layer: {"types", "text"} for layer in MIDDLE},
    "wire": {"types", "text"},
    "engine": {"types", "text", *MIDDLE},
    "sessions": {"types", "text", *MIDDLE, "engine", "wire"},
    "lsp": {"types", "text", *MIDDLE, "engine", "sessions", "wire"},
    "acp": {"types", "text", *MIDDLE, "engine", "sessions", "wire"},
    "cli": {"types", "text", *MIDDLE, "engine", "sessions", "wire", "lsp", "acp", "app"},
    "sdk": {"types", "text", *MIDDLE, "engine", "sessions", "app"},
    "app": {"types", "text", *MIDDLE, "engine", "sessions", "wire", "lsp", "acp"},
}
OWNERS = {
    "pygls": "lsp",
    "lsprotocol": "lsp",
    "acp": "acp",
    "anthropic": "model",
    "tree_sitter": "permissions",
    "mcp": "extensions",
    "mcp_types": "extensions",
}
OWN_PROCESSES = PACKAGE / "extensions" / "mcp" / "worker"  # started when a server is configured; not ours to load
HEAVY = {"anthropic", "mcp", "mcp_types", "tree_sitter", "tree_sitter_bash", "jsonschema", "watchfiles", "pypdf"}


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _layer(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def _imports(tree: ast.AST) -> list[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def _top_level_imports(tree: ast.Module) -> list[str]:
    found: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found += _imports(ast.Module(body=[node], type_ignores=[]))
    return found


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    layer = _layer(path)
    if layer == "__init__":
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    wrong: list[str] = []
    for name in _imports(tree):
        parts = name.split(".")
        if parts[0] == "assent" and len(parts) > 1 and parts[1] != layer and parts[1] != "__version__":
            if parts[1] not in ALLOWED[layer]:
                wrong.append(name)
        elif OWNERS.get(parts[0], layer) != layer:
            wrong.append(name)
    assert wrong == [], f"{layer}/ may import only {sorted(ALLOWED[layer])}"


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_libraries_are_imported_only_when_first_used(path: Path) -> None:
    if path.is_relative_to(OWN_PROCESSES):
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [name for name in _top_level_imports(tree) if name.split(".")[0] in HEAVY] == []


def test_types_need_nothing_but_the_standard_library() -> None:
    import sys

    for path in (PACKAGE / "types").glob("*.py"):
        for name in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            root = name.split(".")[0]
            assert root == "assent" or root in sys.stdlib_module_names, f"{path.name} imports {name}"


def _module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _import_graph() -> dict[str, set[str]]:
    """Every module and the modules it names in an import, anywhere: at the top, in a function, for type checking."""
    trees = {_module_name(path): ast.parse(path.read_text(encoding="utf-8")) for path in _modules()}
    graph: dict[str, set[str]] = {}
    for module, tree in trees.items():
        named: set[str] = set()
        for name in _imports(tree):
            if name == "assent.__version__":
                continue  # the package itself names everything for users of the SDK, and loads it on first use
            owner = name.rpartition(".")[0]
            named |= {name} if name in trees else {owner} if owner in trees else set()
        graph[module] = named - {module}
    return graph


def _cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Modules left over when those that import none of the others are taken away, again and again."""
    left = {module: set(named) for module, named in graph.items()}
    while free := {module for module, named in left.items() if not named & left.keys()}:
        for module in free:
            del left[module]
    while loose := {module for module in left if not any(module in named for named in left.values())}:
        for module in loose:  # imports a cycle, and is in none
            del left[module]
    return [[module, *sorted(named & left.keys())] for module, named in sorted(left.items())]


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert _cycles(_import_graph()) == []


def test_a_cycle_through_type_checking_imports_would_be_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    assert _cycles(graph) == [["b", "c"], ["c", "b"]]


def _named_in_architecture() -> list[str]:
    """The dotted names in the walks and in the table of decisions."""
    page = (PACKAGE.parent.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    part = page[page.index("## Three walks") : page.index("## Decisions")]
    layers = "|".join(sorted(ALLOWED))
    return sorted(set(re.findall(rf"`((?:{layers})\.[\w.]+)`", part)))


@pytest.mark.parametrize("name", _named_in_architecture())
def test_what_architecture_names_in_its_walks_and_decisions_exists(name: str) -> None:
    parts = ["assent", *name.split(".")]
    module: Any = None
    for end in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            module = getattr(module, attribute)
        return
    pytest.fail(f"{name} names no module")


def test_architecture_answers_all_twelve_questions() -> None:
    page = (PACKAGE.parent.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = page[page.index("## Where is it decided?") : page.index("## Decisions")]
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| question")]
    assert len(rows) == 12
    assert all("`" in row.split("|")[2] for row in rows)
