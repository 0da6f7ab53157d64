"""The entry for the ACP registry, which other programs read to start us."""

import json
import tomllib
from pathlib import Path

import assent

ROOT = Path(__file__).parents[2]


def test_the_registry_entry_names_a_program_that_the_package_installs() -> None:
    folder = ROOT / "editors" / "acp"
    told = json.loads((folder / "agent.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert told["distribution"] == {
        "uvx": {"package": f"{project['name']}[acp]=={assent.__version__}", "args": ["acp"]}
    }
    assert project["name"] in project["scripts"]  # what uvx starts
    assert (told["id"], told["version"], told["license"]) == ("assent", assent.__version__, project["license"])
    icon = (folder / "icon.svg").read_text()
    assert 'width="16" height="16"' in icon and "currentColor" in icon


def test_the_entry_names_the_repository_as_soon_as_the_project_has_a_public_address() -> None:
    """The field is optional in the registry's schema, and there is no address to give until `[project.urls]` has one."""
    told = json.loads((ROOT / "editors" / "acp" / "agent.json").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert told.get("repository") == project.get("urls", {}).get("Repository")
