"""What importing costs, and what it pulls in: `assent.types` is standard library only, `import assent` loads nothing."""

import subprocess
import sys

LOADED = "import sys; before = set(sys.modules); import {0}; print('\\n'.join(sorted(set(sys.modules) - before)))"


def loaded(module: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", LOADED.format(module)], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_types_pull_in_the_standard_library_only() -> None:
    roots = {name.partition(".")[0] for name in loaded("assent.types")}
    assert roots - set(sys.stdlib_module_names) == {"assent"}


def test_every_name_of_the_types_is_made_and_used_with_the_standard_library_only() -> None:
    use = "types; names = [getattr(assent.types, each) for each in assent.types.__all__]; "
    use += "repr(assent.types.Notice(level='info', text='a')), assent.types.Usage()"
    roots = {name.partition(".")[0] for name in loaded(f"assent.{use}")}
    assert "assent" in roots and roots - set(sys.stdlib_module_names) == {"assent"}


def test_the_first_import_needs_no_module_that_the_interpreter_has_not_loaded_itself() -> None:
    code = f"import sys; sys.path[:0] = {sys.path}; {LOADED.format('assent, assent.types')}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["assent", "assent.types"]


def test_importing_the_package_loads_nothing_of_it() -> None:
    assert {name for name in loaded("assent") if name.startswith("assent.")} == set()


def test_every_public_name_can_be_had() -> None:
    import assent

    assert all(getattr(assent, name) is not None for name in assent.__all__)
    assert set(assent.__all__) <= set(dir(assent))
