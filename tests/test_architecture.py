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
    "host": {"types", "text", *MIDDLE, "engine", "sessions", "wire", "lsp"},
    "shared": {"types", "text", *MIDDLE, "engine", "sessions", "wire", "lsp", "app", "assembly"},
    "cli": {"types", "text", *MIDDLE, "engine", "sessions", "wire", "lsp", "acp", "host", "app", "shared"},
    "sdk": {"types", "text", *MIDDLE, "engine", "sessions", "wire", "app"},
    "assembly": {"types", "text", *MIDDLE, "engine", "sessions"},
    "app": {"types", "text", *MIDDLE, "engine", "sessions", "wire", "lsp", "acp", "assembly"},
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


def _public_classes() -> dict[str, list[str]]:
    """Every public class outside `wire/` and the modules that define it.

    `wire/` is left out: its names are the protocol's, and a struct there is the form on the wire of the class it is
    named after (`wire.shapes.Hunk` of `editor.hunks.Hunk`).
    """
    found: dict[str, list[str]] = {}
    for path in _modules():
        if _layer(path) == "wire":
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(_module_name(path))
    return found


SHARED_NAMES = {"Options"}  # of `app` and of the SDK: both are public, and read with their module's name


def test_a_public_class_name_means_one_thing() -> None:
    shared = {name: modules for name, modules in _public_classes().items() if len(modules) > 1}
    assert {name: modules for name, modules in shared.items() if name not in SHARED_NAMES} == {}
    assert set(shared) >= SHARED_NAMES, "a name in the list is no longer shared"


FAMILIES = {"lsp/features", "wire", "sessions/slash"}  # each module there has the name of what it serves
SHARED_MODULES = set(  # still shared; the list may only become shorter
    """
    agent calls catalogue client commands config connection conversation definitions explain files front
    history hooks isolation lines mcp options parts paths ports programs prompts registry server sign_in
    snip store tasks trust turns web words
    """.split()  # noqa: SIM905 -- one name a line would fill the page
)


def test_a_module_name_means_one_thing() -> None:
    found: dict[str, list[str]] = {}
    for path in _modules():
        folder = str(path.parent.relative_to(PACKAGE))
        if path.stem not in ("__init__", "__main__") and folder not in FAMILIES:
            found.setdefault(path.stem, []).append(folder)
    shared = {name: folders for name, folders in found.items() if len(folders) > 1}
    assert {name: folders for name, folders in shared.items() if name not in SHARED_MODULES} == {}
    assert set(shared) >= SHARED_MODULES, "a name in the list is no longer shared"


SIBLINGS = 26  # modules in a folder
ONE_FILE_EACH = {"tools"}  # one file per tool, and every tool is one noun


def test_no_folder_has_too_many_modules() -> None:
    counts = {str(folder.relative_to(PACKAGE)): len(list(folder.glob("*.py"))) for folder in PACKAGE.rglob("*/")}
    assert {folder: n for folder, n in counts.items() if n > SIBLINGS and folder not in ONE_FILE_EACH} == {}


def _named_in_architecture() -> list[str]:
    """The dotted names in the walks and in the table of decisions."""
    page = (PACKAGE.parent.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    part = page[page.index("## Four walks") : page.index("## Decisions")]
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
