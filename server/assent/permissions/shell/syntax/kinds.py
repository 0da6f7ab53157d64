"""What the kinds of nodes of the grammar are called, for people."""

_KINDS = {
    "command_substitution": "a command substitution",
    "process_substitution": "a process substitution",
    "function_definition": "a function definition",
    "arithmetic_expansion": "arithmetic",
    "declaration_command": "a variable declaration",
    "variable_assignment": "an assignment",
    "variable_assignments": "assignments",
    "unset_command": "`unset`",
    "c_style_for_statement": "a loop",
    "while_statement": "a loop",
    "case_statement": "a `case`",
    "ERROR": "something unreadable",
}


def kind_of(kind: str) -> str:
    return _KINDS.get(kind, kind.replace("_", " "))
