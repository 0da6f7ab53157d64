"""Makes mutants of a module, and puts one into the program that is loaded.

A mutant is one change of one expression: a comparison turned, a number moved, a branch taken the other way, a keyword
or a statement left out. `mutants` makes them all; `put_in` exchanges the code of the functions of a loaded module (and
the constants that were imported from it) for those of the mutant, so that nothing has to be imported again.
"""

from __future__ import annotations

import ast
import functools
import sys
import types
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
Undo = Callable[[], object]
Change = Callable[[], Undo]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    line: int
    lines: range  # of the statement, or of its head
    where: str  # the function, or "" for the module itself
    what: str
    key: str  # the same as long as the function and the change are
    tree: ast.Module
    change: Change

    def text(self) -> str:
        undo = self.change()
        try:
            return ast.unparse(self.tree)
        finally:
            undo()

    def code(self, file: str) -> types.CodeType:
        undo = self.change()
        try:
            return compile(ast.fix_missing_locations(self.tree), file, "exec")
        finally:
            undo()


def mutants(text: str) -> list[Mutant]:
    """Every one, in the order of their lines. Annotations and docstrings are left alone: nothing there runs."""
    tree = ast.parse(text)
    skipped = set(_not_run(tree))
    stamps = {id(top): f"{zlib.crc32(ast.unparse(top).encode()):08x}" for top in (tree, *tree.body)}
    times: Counter[str] = Counter()
    found: list[Mutant] = []
    for node, statement, where, top in _walk(tree):
        if id(node) in skipped:
            continue
        for what, change, *line in _changes(node):
            at: int = line[0] if line else getattr(node, "lineno", 0)
            first, last = _run_with(statement, at)
            key = f"{where}:{what}:{stamps[id(top)]}"
            times[key] += 1
            found.append(
                Mutant(
                    line=at,
                    lines=range(at, at + 1) if line else range(first, last + 1),
                    where=where,
                    what=what,
                    key=f"{key}:{times[key]}",
                    tree=tree,
                    change=change,
                )
            )
    return sorted(found, key=lambda each: each.line)


def _run_with(statement: ast.AST, at: int) -> tuple[int, int]:
    """The first and the last line that are run when the change counts."""
    first = min(at, getattr(statement, "lineno", at))
    body: Any = getattr(statement, "body", None)
    if not isinstance(body, list) or not body:
        return first, max(at, getattr(statement, "end_lineno", at))
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):  # a default counts when the function is called
        inner = next((each for each in body if not (isinstance(each, ast.Expr) and _is_said_only(each))), body[0])
        return inner.lineno, inner.end_lineno
    return first, max(first, at, body[0].lineno - 1)


def _walk(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST, str, ast.AST]]:
    """Each node with its statement, the name of its function, and the statement of the module that holds it."""

    def inner(node: ast.AST, statement: ast.AST, where: str, top: ast.AST) -> Iterator[tuple[Any, ...]]:
        yield node, statement, where, top
        for child in ast.iter_child_nodes(node):
            within = where
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                within = f"{where}.{child.name}" if where else child.name
            yield from inner(child, child if isinstance(child, ast.stmt) else statement, within, top)

    yield tree, tree, "", tree
    for each in tree.body:
        name = each.name if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) else ""
        yield from inner(each, each, name, each)


def _not_run(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        match node:
            case ast.AnnAssign() | ast.arg():
                parts = [node.annotation]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                parts = [node.returns, *node.decorator_list]
            case ast.ClassDef():
                parts = list(node.decorator_list)
            case ast.Assert():  # tells the type checker what is so
                parts = [node]
            case ast.If() if ast.unparse(node.test) == "TYPE_CHECKING":
                parts = [node]
            case ast.Call() if ast.unparse(node.func).partition(".")[0] in ("cast", "logger"):
                parts = [node]
            case ast.Assign() if ast.unparse(node.targets[0]) in ("__all__", "logger", "Step", "View"):
                parts = [node]
            case _:
                pass
        for part in parts:
            if part is not None:
                yield from (id(inner) for inner in ast.walk(part))


def _changes(node: ast.AST) -> Iterator[tuple[Any, ...]]:
    """What, how, and the line where that is not the node's own."""
    match node:
        case ast.Compare():
            for at, op in enumerate(node.ops):
                if type(op) in COMPARED:
                    new = COMPARED[type(op)]()
                    yield f"{type(op).__name__} to {type(new).__name__}", _item(node.ops, at, new)
        case ast.BinOp() if type(node.op) in COMPUTED:
            new_op = COMPUTED[type(node.op)]()
            yield f"{type(node.op).__name__} to {type(new_op).__name__}", _field(node, "op", new_op)
        case ast.AugAssign() if type(node.op) in COMPUTED:
            new_op = COMPUTED[type(node.op)]()
            yield f"{type(node.op).__name__}= to {type(new_op).__name__}=", _field(node, "op", new_op)
        case ast.BoolOp():
            other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield f"{type(node.op).__name__} to {type(other).__name__}", _field(node, "op", other)
        case ast.UnaryOp(op=ast.Not()):
            yield "not left out", _not(node)
        case ast.Constant(value=bool()):
            yield f"{node.value} to {not node.value}", _field(node, "value", not node.value)
        case ast.Constant(value=int() | float()):
            yield f"{node.value} to {node.value + 1}", _field(node, "value", node.value + 1)
        case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.Constant):
            for taken in (True, False):
                yield f"condition always {taken}", _field(node, "test", ast.Constant(taken))
        case ast.Return() if node.value is not None and not _is_false(node.value):
            yield "returns None", _field(node, "value", ast.Constant(None))
        case ast.Call() if node.keywords:
            for at, keyword in enumerate(node.keywords):
                if keyword.arg is not None:
                    yield f"without {keyword.arg}=", _without(node.keywords, at)
        case _:
            pass
    for name in ("body", "orelse"):
        block: Any = getattr(node, name, None)
        if isinstance(block, list):
            for at, statement in enumerate(block):
                if isinstance(statement, ast.Expr) and not _is_said_only(statement):
                    yield f"without {ast.unparse(statement)[:50]!r}", _item(block, at, ast.Pass()), statement.lineno


def _is_said_only(statement: ast.Expr) -> bool:
    """A docstring, or a line for the log."""
    return isinstance(statement.value, ast.Constant) or ast.unparse(statement).startswith("logger.")


def _is_false(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or node.value is False)


def _field(node: Any, name: str, new: object) -> Change:
    def change() -> Undo:
        old = getattr(node, name)
        setattr(node, name, new)
        return lambda: setattr(node, name, old)

    return change


def _item(items: list[Any], at: int, new: object) -> Change:
    def change() -> Undo:
        old, items[at] = items[at], new
        return lambda: items.__setitem__(at, old)

    return change


def _without(items: list[Any], at: int) -> Change:
    def change() -> Undo:
        old = items.pop(at)
        return lambda: items.insert(at, old)

    return change


def _not(node: ast.UnaryOp) -> Change:
    """`not x` becomes `bool(x)`: the operand keeps its place in the tree."""

    def change() -> Undo:
        operand = node.operand
        node.operand = ast.UnaryOp(op=ast.Not(), operand=operand)
        return lambda: setattr(node, "operand", operand)

    return change


# --- putting one in ---------------------------------------------------------------------------------------------------


def put_in(module: str, code: types.CodeType) -> bool:
    """Whether the mutant could be put into the loaded module; if not, all that uses it must be imported again."""
    old = sys.modules[module]
    new = types.ModuleType(module)
    new.__file__, new.__package__ = old.__file__, old.__package__
    exec(code, new.__dict__)
    try:
        return sum(_exchange(vars(old).get(name), value, module, name) for name, value in vars(new).items()) > 0
    except (TypeError, ValueError, AttributeError):  # another number of free variables, a class that cannot be changed
        return False


def _exchange(old: Any, new: Any, module: str, name: str) -> int:
    """How many differences were found and made."""
    if old is new or (name.startswith("__") and name not in ("__init__", "__call__", "__aenter__", "__aexit__")):
        return 0
    if isinstance(old, types.FunctionType) and isinstance(new, types.FunctionType):
        return _exchange_function(old, new, module)
    if isinstance(old, type) and isinstance(new, type):
        if new.__module__ != module:
            return 0
        found = 0
        for inner, value in list(vars(new).items()):
            before = vars(old).get(inner)
            if _is_plain(value) and _is_plain(before) and not inner.startswith("__") and value != before:
                setattr(old, inner, value)
                found += 1
            else:
                found += _exchange(before, value, module, inner)
        return found
    for kind, parts in (
        (property, ("fget", "fset")),
        ((staticmethod, classmethod), ("__func__",)),
        (functools.cached_property, ("func",)),
    ):
        if isinstance(old, kind) and isinstance(new, kind):  # type: ignore[arg-type]
            return sum(_exchange(getattr(old, part), getattr(new, part), module, part.strip("_")) for part in parts)
    if hasattr(old, "__wrapped__") and hasattr(new, "__wrapped__"):
        return _exchange(old.__wrapped__, new.__wrapped__, module, "wrapped")
    if _is_plain(old) and _is_plain(new) and old != new:
        for loaded in list(sys.modules.values()):
            if vars(loaded).get(name) is old and (loaded.__name__ or "").partition(".")[0] == "assent":
                setattr(loaded, name, new)
        return 1
    return 0


def _exchange_function(old: types.FunctionType, new: types.FunctionType, module: str) -> int:
    found = 0
    if old.__code__ != new.__code__:
        old.__code__ = new.__code__
        found += 1
    if old.__defaults__ and new.__defaults__:
        old.__defaults__ = tuple(map(_default, old.__defaults__, new.__defaults__))
    if old.__kwdefaults__ and new.__kwdefaults__:
        keyed = {name: _default(old.__kwdefaults__.get(name), new.__kwdefaults__[name]) for name in new.__kwdefaults__}
        found += keyed != old.__kwdefaults__
        old.__kwdefaults__ = keyed
    elif bool(old.__kwdefaults__) != bool(new.__kwdefaults__):
        raise ValueError("other defaults")
    for before, after in zip(old.__closure__ or (), new.__closure__ or (), strict=True):
        if isinstance(before.cell_contents, types.FunctionType):
            found += _exchange(before.cell_contents, after.cell_contents, module, "inner")
    return found


def _default(old: object, new: object) -> object:
    return new if _is_plain(old) and _is_plain(new) else old


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple | list | frozenset | set):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return value is None or isinstance(value, int | float | str | bytes)
