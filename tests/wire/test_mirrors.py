"""What `make protocol` writes from the structs is what is committed."""

from pathlib import Path

from assent.wire.generate.__main__ import differing, main, mirrors

ROOT = Path(__file__).parents[2]


def test_the_committed_mirrors_are_what_the_structs_say() -> None:
    assert differing(ROOT) == []


def test_a_mirror_that_was_edited_by_hand_is_named(tmp_path: Path) -> None:
    for name, text in mirrors().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert differing(tmp_path) == []
    edited = tmp_path / "vscode-extension/src/protocol/shapes.ts"
    edited.write_text(edited.read_text(encoding="utf-8") + "// mine\n", encoding="utf-8")
    assert differing(tmp_path) == ["vscode-extension/src/protocol/shapes.ts"]


def test_the_generator_refuses_arguments_it_does_not_know() -> None:
    assert main(["--help-me"]) == 2
