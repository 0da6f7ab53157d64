"""What package.json promises: every command is there, says what it is, is offered only where it works, and is driven."""

import json
import re
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
EXTENSION = ROOT / "vscode-extension"
MANIFEST: Any = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
CONTRIBUTES = MANIFEST["contributes"]
COMMANDS: dict[str, Any] = {each["command"]: each for each in CONTRIBUTES["commands"]}
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in sorted((EXTENSION / "src").glob("*.ts")))
SCENES = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests/vscode/workbench").glob("*.mjs")))

MADE_BY_THE_EDITOR = {"assent.chat.focus"}

# Commands that a scene reaches by another way than their title or key: the words that do it there.
REACHED_BY = {
    "assent.review.dropDraft": 'lens("Back to the proposal").click()',
    "assent.review.open": 'listed.filter({ hasText: "two = 2.0" }).click()',
    "assent.review.showReason": 'lens("I will raise both.").click()',
    "assent.restartServer": 'name: "Try again"',
    "assent.setApiKey": 'name: "Set API key"',
    "assent.setup.open": 'row("Look around").click()',
    "assent.setup.refresh": 'aria-label^="Refresh Setup"',
    "assent.trust.folder": 'name: "Trust…"',
    "assent.view.exportChat": 'take(entry("Export Chat as Markdown"))',
    "assent.view.newSession": 'button("New Chat")',
    "assent.view.openInTab": 'button("Open Chat in Editor Tab")',
    "assent.view.showHistory": 'button("Show Chat History")',
}

# Commands that no scene reaches, each with its reason.
NOT_DRIVEN: dict[str, str] = {
    "assent.setup.mcpApprove": "a project's server waits for trust first; tests/lsp/test_mcp.py drives the request",
    "assent.setup.mcpSignIn": "needs a browser of the user; tests/extensions/mcp/test_web.py drives the rest with a real authorisation server",
}

# What a `when` may speak of: our own keys, each set in the source, and the editor's.
EDITORS_KEYS = {
    "editorHasSelection",
    "editorIsOpen",
    "editorTextFocus",
    "explorerResourceIsFolder",
    "gitOpenRepositoryCount",
    "isInDiffEditor",
    "resourcePath",
    "resourceScheme",
    "scmProvider",
    "terminalIsOpen",
    "view",
    "viewItem",
    "workspaceFolderCount",
}

pytestmark = pytest.mark.editor


def _items() -> list[Any]:
    return [*chain.from_iterable(CONTRIBUTES["menus"].values()), *CONTRIBUTES["keybindings"]]


def test_every_command_has_a_title_and_our_category() -> None:
    for name, command in COMMANDS.items():
        assert command["title"], name
        assert command["category"] == "Assent", name


def test_every_command_in_a_menu_a_key_or_a_walkthrough_is_contributed_and_registered() -> None:
    registered = set(re.findall(r'^    "(assent\.[\w.]+)":', SOURCE, re.MULTILINE))
    steps = json.dumps(CONTRIBUTES["walkthroughs"])
    used = {item["command"] for item in _items() if "command" in item}
    used |= set(re.findall(r"command:([\w.]+)", steps)) | set(re.findall(r"onCommand:([\w.]+)", steps))
    used |= set(re.findall(r'"(assent\.[\w.]+)"', (EXTENSION / "src/statusText.ts").read_text(encoding="utf-8")))
    assert registered == set(COMMANDS)
    assert used - set(COMMANDS) <= MADE_BY_THE_EDITOR


def test_conditions_speak_only_of_keys_that_someone_sets() -> None:
    set_here = set(re.findall(r'"setContext", "(assent\.\w+)"', SOURCE)) | set(
        re.findall(r'this\.set\(\s*"(assent\.\w+)"', SOURCE)
    )
    views = {view["id"] for group in CONTRIBUTES["views"].values() for view in group} | {"assent.review"}
    clauses = [item["when"] for item in _items() if "when" in item]
    clauses += [view["when"] for group in CONTRIBUTES["views"].values() for view in group if "when" in view]
    for clause in clauses:
        plain = re.sub(r"/[^/]*/|(?<=== )[\w.-]+|(?<=!= )[\w.-]+", "", clause)
        for key in re.findall(r"[A-Za-z][\w.]*", plain):
            assert key in EDITORS_KEYS | set_here | views | {"false", "in"}, (key, clause)


def test_no_key_or_menu_waits_for_us_to_say_which_file_is_active() -> None:
    # Keys of our own arrive a moment after the file: a press in between did nothing. They may tell only what the
    # workbench cannot know, and none of that depends on the active file (the editor of several diffs excepted).
    own = {key for item in _items() for key in re.findall(r"assent\.\w+", item.get("when", ""))}
    views = {view["id"] for group in CONTRIBUTES["views"].values() for view in group}
    allowed = {"running", "hasChat", "waiting", "hasHunks", "hunkPaths", "inAllChanges", "canUndo", "review"}
    assert own - views <= {f"assent.{name}" for name in allowed}
    keys = {item["command"]: item.get("when", "") for item in CONTRIBUTES["keybindings"]}
    for command in ("assent.inlinePrompt", "assent.askSelection"):
        assert keys[command].startswith("editorTextFocus && resourceScheme"), keys[command]
    for command in ("assent.review.accept", "assent.review.reject", "assent.review.edit"):
        assert "resourcePath in assent.hunkPaths" in keys[command]


def test_what_needs_something_is_offered_by_the_palette_only_with_it() -> None:
    palette = {item["command"]: item["when"] for item in CONTRIBUTES["menus"]["commandPalette"]}
    needs = re.compile(r"^assent\.(review\.|view\.|stop$|allowOnce$|deny$|showWaiting$|explain$|refactor$|writeTests$)")
    for name in COMMANDS:
        if needs.match(name):
            assert name in palette, f"{name} would be offered where it cannot work"


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - set(NOT_DRIVEN)))
def test_the_command_is_driven_in_the_workbench(name: str) -> None:
    title = COMMANDS[name]["title"]
    keys: list[str] = [each["key"] for each in CONTRIBUTES["keybindings"] if each["command"] == name]
    pressed = ["+".join("Control" if part == "ctrl" else part.capitalize() for part in key.split("+")) for key in keys]
    ways = [
        f'"Assent: {title}"',
        f'fromMenu(change, "{title}")',
        f'"{title}")',
        f'["{title}", /',
        *(f'"{key}"' for key in pressed),
    ]
    ways += [REACHED_BY[name]] if name in REACHED_BY else []
    assert any(way in SCENES for way in ways), f"no scene drives {name}: {ways}"
