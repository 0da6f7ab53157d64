"""A small but real language server for the scenes: it finds names by their word, and does not like the word "Helo"."""

import re
from collections.abc import Iterator
from typing import cast

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

server = LanguageServer("spelling", "1")


def at(line: int, text: str, first: int, last: int) -> types.Range:
    """A range in whatever units the client and we agreed on."""
    units = server.workspace.position_codec.client_num_units
    return types.Range(types.Position(line, units(text[:first])), types.Position(line, units(text[:last])))


def places(document: TextDocument, pattern: str) -> Iterator[types.Range]:
    for number, text in enumerate(document.lines):
        for found in re.finditer(pattern, text):
            yield at(number, text, *found.span())


Placed = types.DefinitionParams | types.ReferenceParams | types.HoverParams | types.RenameParams


def named(params: Placed) -> tuple[TextDocument, str]:
    document = server.workspace.get_text_document(params.text_document.uri)
    return document, document.word_at_position(params.position)


@server.feature(types.TEXT_DOCUMENT_DEFINITION)
def definition(params: types.DefinitionParams) -> list[types.Location]:
    document, word = named(params)
    return [types.Location(document.uri, place) for place in places(document, rf"(?<=def ){word}\b")]


@server.feature(types.TEXT_DOCUMENT_REFERENCES)
def references(params: types.ReferenceParams) -> list[types.Location]:
    document, word = named(params)
    return [types.Location(document.uri, place) for place in places(document, rf"\b{word}\b")]


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params: types.HoverParams) -> types.Hover:
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, f"*{named(params)[1]}* is a word"))


@server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
def document_symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    document = server.workspace.get_text_document(params.text_document.uri)
    found = [(place, document.lines[place.start.line]) for place in places(document, r"(?<=def )\w+")]
    return [
        types.DocumentSymbol(text.split()[1].partition("(")[0], types.SymbolKind.Function, place, place)
        for place, text in found
    ]


@server.feature(types.WORKSPACE_SYMBOL)
def workspace_symbols(params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
    return [
        types.SymbolInformation(types.Location(document.uri, place), params.query, types.SymbolKind.Function)
        for document in list(server.workspace.text_documents.values())
        for place in places(document, rf"(?<=def ){params.query}\w*")
    ]


@server.feature(types.TEXT_DOCUMENT_RENAME)
def rename(params: types.RenameParams) -> types.WorkspaceEdit:
    """In every document that is open: a name has users in other files."""
    _, word = named(params)
    found = {
        document.uri: [types.TextEdit(place, params.new_name) for place in places(document, rf"\b{word}\b")]
        for document in list(server.workspace.text_documents.values())
    }
    return types.WorkspaceEdit(changes={uri: edits for uri, edits in found.items() if edits})


@server.feature(types.TEXT_DOCUMENT_FORMATTING)
def formatting(params: types.DocumentFormattingParams) -> list[types.TextEdit]:
    document = server.workspace.get_text_document(params.text_document.uri)
    return [types.TextEdit(place, "") for place in places(document, r"[ \t]+(?=\n)")]


@server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(resolve_provider=True))
def code_actions(params: types.CodeActionParams) -> list[types.CodeAction]:
    """One for each problem the client names: without them there is nothing to fix. The edit comes with `resolve`."""
    return [
        types.CodeAction(
            f"Spell it right: {problem.message}", data=[params.text_document.uri, problem.range.start.line]
        )
        for problem in params.context.diagnostics
    ]


@server.feature(types.CODE_ACTION_RESOLVE)
def resolve(action: types.CodeAction) -> types.CodeAction:
    uri, line = cast("tuple[str, int]", action.data)
    here = [each for each in places(server.workspace.get_text_document(uri), "Helo") if each.start.line == line]
    action.edit = types.WorkspaceEdit(changes={uri: [types.TextEdit(each, "Hello") for each in here]})
    return action


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
def opened(params: types.DidOpenTextDocumentParams) -> None:
    check(params.text_document.uri)


@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def changed(params: types.DidChangeTextDocumentParams) -> None:
    check(params.text_document.uri)


def check(uri: str) -> None:
    document = server.workspace.get_text_document(uri)
    wrong = [
        types.Diagnostic(place, "Helo is Hello", types.DiagnosticSeverity.Error, "S1", source="spelling")
        for place in places(document, r"\bHelo\b")
    ]
    server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, wrong))


if __name__ == "__main__":
    server.start_io()
