"""The words of `[ … ]` and `[[ … ]]`, out of the expressions that the grammar makes of them. Judges nothing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from assent.permissions.shell.syntax.words import Word

if TYPE_CHECKING:
    from tree_sitter import Node


def file_tests(node: "Node") -> bool:
    """`[[ -f name ]]` and its like, joined by `&&` and `||`; every other use evaluates patterns or arithmetic."""
    pending = node.children[1:-1]
    if len(pending) != 1:
        return False
    while pending:
        each = pending.pop()
        kinds = [child.type for child in each.children]
        if each.type == "unary_expression" and kinds[0] == "!":
            pending += each.children[1:]
        elif each.type == "binary_expression" and len(kinds) == 3 and kinds[1] in ("&&", "||"):
            pending += (each.children[0], each.children[2])
        elif each.type != "unary_expression" or [kind == "test_operator" for kind in kinds] != [True, False]:
            return False
    return True


def by_itself(test: list[Word]) -> list[Word]:
    """One of several tests in double brackets, between brackets of its own."""
    inner = [word for word in test if word.text not in ("[[", "]]")]
    opening, closing = (Word(text=bracket, pattern=bracket, span=test[0].span) for bracket in ("[[", "]]"))
    return [opening, *inner, closing]


def words_in_brackets(node: "Node") -> Iterator["Node"]:
    """The words of `[ … ]`, out of the expressions the grammar makes of them; without recursion, they may be deep."""
    pending = list(reversed(node.children))
    while pending:
        child = pending.pop()
        if child.type in ("unary_expression", "binary_expression", "negation_expression", "negated_command"):
            pending.extend(reversed(child.children))
        else:
            yield child
