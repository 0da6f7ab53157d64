"""Plugins: layouts, sources, hashes, updates, and what they may not do (X)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from assent.extensions.plugins.manifest import PluginError, read_plugin
from assent.extensions.plugins.sources import parse
from assent.extensions.plugins.store import Plugins
from oddfiles import put


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


@pytest.fixture
def store(tmp_path: Path) -> Plugins:
    return Plugins(tmp_path / "store", write=write)


def made(folder: Path, manifest: dict[str, object] | None = None, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if manifest is not None:
        (folder / ".claude-plugin").mkdir(exist_ok=True)
        (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest))
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_md", ".md").replace("_json", ".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def full(folder: Path) -> Path:
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/check.sh"}]}]}}
    return made(
        folder,
        {"name": "tools", "version": "1.0", "description": "some tools", "author": {"name": "me"}},
        commands__x_md="do x",
        skills__s__SKILL_md="---\nname: s\ndescription: d\n---\nx",
        agents__a_md="---\nname: a\ndescription: d\n---\nx",
        hooks__hooks_json=json.dumps(hooks),
        **{".mcp_json": json.dumps({"mcpServers": {"db": {"command": "run-db", "args": ["-v"]}}})},
    )


def test_a_claude_plugin_has_its_usual_parts(tmp_path: Path) -> None:
    plugin = read_plugin(str(full(tmp_path / "p")))
    assert (plugin.name, plugin.version, plugin.description, plugin.author) == ("tools", "1.0", "some tools", "me")
    assert [place.kind for place in plugin.places] == ["commands", "skills", "agents", "output-styles"]
    assert list(plugin.hooks) == ["Stop"]
    assert plugin.servers == {"db": {"command": "run-db", "args": ["-v"]}}


def test_paths_of_the_manifest_replace_the_usual_folders_and_add_skills(tmp_path: Path) -> None:
    manifest: dict[str, object] = {"name": "p", "commands": ["./extra/c.md"], "skills": "./more"}
    root = made(tmp_path / "p", manifest, extra__c_md="c", commands__x_md="x")
    plugin = read_plugin(str(root))
    folders = [(place.kind, os.path.relpath(place.folder, root)) for place in plugin.places]
    assert folders == [
        ("commands", "extra/c.md"),
        ("skills", "more"),
        ("skills", "skills"),
        ("agents", "agents"),
        ("output-styles", "output-styles"),
    ]


def test_an_agent_plugin_has_skills_and_servers_only(tmp_path: Path) -> None:
    root = tmp_path / "p"
    schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
    made(
        root,
        None,
        plugin_json=json.dumps({"$schema": schema, "name": "ap", "version": "2"}),
        mcp_json=json.dumps({"mcpServers": {"s": {"type": "stdio", "command": "x"}}}),
        skills__s__SKILL_md="---\nname: s\ndescription: d\n---\n",
        commands__no_md="not part of this format",
        hooks__hooks_json='{"Stop": []}',
    )
    plugin = read_plugin(str(root))
    assert (plugin.layout, plugin.name, plugin.version) == ("agent-plugins", "ap", "2")
    assert [place.kind for place in plugin.places] == ["skills"]
    assert (plugin.servers, plugin.hooks) == ({"s": {"type": "stdio", "command": "x"}}, {})


def test_a_folder_with_a_skill_of_its_own_is_a_plugin(tmp_path: Path) -> None:
    made(tmp_path / "solo", None, SKILL_md="---\nname: solo\ndescription: d\n---\nx")
    plugin = read_plugin(str(tmp_path / "solo"))
    assert plugin.name == "solo"
    assert (str(tmp_path / "solo" / "SKILL.md"),) in [place.files for place in plugin.places]


@pytest.mark.parametrize("path", ["../out", "/etc", "./a/../../out", "link"])
def test_a_path_out_of_the_plugin_makes_it_unusable_in_words(tmp_path: Path, path: str) -> None:
    root = made(tmp_path / "p", {"name": "p", "commands": path})
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(PluginError, match="leads out of the plugin"):
        read_plugin(str(root))


@pytest.mark.parametrize("text", ["{", "[]", '{"name": "../x"}', '{"name": "a b"}'])
def test_a_broken_manifest_is_named_in_words(tmp_path: Path, text: str) -> None:
    root = made(tmp_path / "p", {})
    file = root / ".claude-plugin" / "plugin.json"
    file.write_text(text)
    with pytest.raises(PluginError, match=r"plugin\.json"):
        read_plugin(str(root))


def test_a_plugin_counts_only_once_it_was_accepted_and_as_it_was_then(store: Plugins, tmp_path: Path) -> None:
    source = full(tmp_path / "src")
    staged = store.stage(str(source), cwd="/")
    assert staged.brings() == ["hook on Stop: ${CLAUDE_PLUGIN_ROOT}/check.sh", "MCP server db: run-db -v"]
    assert store.installed() == []
    store.accept(staged)
    (source / "commands" / "x.md").write_text("something else")
    (plugin,), notices = store.active()
    assert notices == []
    assert Path(plugin.root, "commands", "x.md").read_text() == "do x"
    assert {place.plugin for place in store.places()} == {"tools"}


def test_an_update_shows_what_changes_and_counts_after_a_yes(store: Plugins, tmp_path: Path) -> None:
    source = full(tmp_path / "src")
    first = store.accept(store.stage(str(source), cwd="/"))
    (source / "commands" / "x.md").write_text("do y\n")
    (source / "new.sh").write_text("rm -rf /\n")
    (source / "agents" / "a.md").unlink()
    staged = store.stage_update("tools")
    assert [(change.path, change.kind) for change in staged.changes] == [
        ("agents/a.md", "removed"),
        ("commands/x.md", "changed"),
        ("new.sh", "added"),
    ]
    assert "+do y" in staged.changes[1].lines
    assert store.installed() == [first]
    second = store.accept(staged)
    assert not Path(store.root(first)).exists()
    assert Path(store.root(second), "commands", "x.md").read_text() == "do y\n"


def test_a_refused_update_changes_nothing(store: Plugins, tmp_path: Path) -> None:
    source = full(tmp_path / "src")
    first = store.accept(store.stage(str(source), cwd="/"))
    (source / "commands" / "x.md").write_text("do y\n")
    staged = store.stage_update("tools")
    store.drop(staged)
    assert store.installed() == [first]
    assert not staged.folder.exists()


def test_a_copy_that_was_changed_by_others_is_not_used_and_told(store: Plugins, tmp_path: Path) -> None:
    installed = store.accept(store.stage(str(full(tmp_path / "src")), cwd="/"))
    assert len(store.active()[0]) == 1
    Path(store.root(installed), "commands", "x.md").write_text("send the keys away")
    plugins, (notice,) = store.active()
    assert plugins == []
    assert "commands/x.md" in str(notice)
    assert "assent plugin update tools" in str(notice)


def test_a_plugin_can_be_switched_off_and_removed(store: Plugins, tmp_path: Path) -> None:
    store.accept(store.stage(str(full(tmp_path / "src")), cwd="/"))
    store.enable("tools", enabled=False)
    assert store.places() == []
    store.enable("tools", enabled=True)
    assert store.places() != []
    store.remove("tools")
    assert store.installed() == []
    with pytest.raises(PluginError, match="no plugin 'tools'"):
        store.remove("tools")


def test_links_that_lead_out_are_refused(store: Plugins, tmp_path: Path) -> None:
    source = full(tmp_path / "src")
    (tmp_path / "secret").write_text("key")
    (source / "skills" / "leak").symlink_to(tmp_path / "secret")
    with pytest.raises(PluginError, match="leads out of the plugin"):
        store.stage(str(source), cwd="/")
    (source / "skills" / "leak").unlink()
    (source / "folder").symlink_to(tmp_path)
    with pytest.raises(PluginError, match="is a link"):
        store.stage(str(source), cwd="/")
    assert store.installed() == []


@pytest.mark.timeout(60)
def test_a_pipe_in_a_plugin_is_refused_at_once(store: Plugins, tmp_path: Path) -> None:
    source = full(tmp_path / "src")
    os.mkfifo(source / "commands" / "pipe.md")
    with pytest.raises(PluginError, match="named pipe"):
        store.stage(str(source), cwd="/")


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_plugins_come_from_git_by_address_and_branch(store: Plugins, tmp_path: Path) -> None:
    source = full(tmp_path / "repo")
    git(source, "init")
    git(source, "add", ".")
    git(source, "commit", "-m", "one")
    git(source, "branch", "old")
    (source / "commands" / "x.md").write_text("newer")
    git(source, "commit", "-am", "two")
    installed = store.accept(store.stage(f"file://{source}#old", cwd="/"))
    assert Path(store.root(installed), "commands", "x.md").read_text() == "do x"
    assert ".git" not in {path.split("/")[0] for path in installed.files}
    assert installed.source == f"file://{source}#old"


def market(folder: Path, plugins: list[dict[str, object]]) -> Path:
    (folder / ".claude-plugin").mkdir(parents=True)
    data = {"name": "m", "owner": {"name": "me"}, "plugins": plugins, "metadata": {"pluginRoot": "./plugins"}}
    (folder / ".claude-plugin" / "marketplace.json").write_text(json.dumps(data))
    return folder


def test_a_marketplace_offers_its_plugins_by_name(store: Plugins, tmp_path: Path) -> None:
    folder = market(
        tmp_path / "m",
        [
            {"name": "a", "source": "./plugins/a", "description": "said by the market"},
            {"name": "b", "source": "b"},
            {"name": "n", "source": {"source": "npm", "package": "x"}},
            {"name": "bad", "source": "../out"},
        ],
    )
    made(folder / "plugins" / "a", None, commands__x_md="x")
    made(folder / "plugins" / "b", {"name": "b", "version": "3"}, commands__x_md="x")
    first = store.stage(f"a@{folder}", cwd="/")
    assert (first.plugin.name, first.plugin.description) == ("a", "said by the market")
    assert store.stage(f"b@{folder}", cwd="/").plugin.version == "3"
    for name, words in [("n", "only folders and git"), ("bad", "leads out"), ("zzz", "has no plugin 'zzz'")]:
        with pytest.raises(PluginError, match=words):
            store.stage(f"{name}@{folder}", cwd="/")
    with pytest.raises(PluginError, match="marketplace of 4 plugins"):
        store.stage(str(folder), cwd="/")


def test_a_plugin_of_a_marketplace_can_be_updated_by_its_name(store: Plugins, tmp_path: Path) -> None:
    folder = market(tmp_path / "m", [{"name": "a", "source": "./plugins/a"}])
    made(folder / "plugins" / "a", None, commands__x_md="x")
    store.accept(store.stage(f"a@{folder}", cwd="/"))
    (folder / "plugins" / "a" / "commands" / "x.md").write_text("y")
    assert [change.path for change in store.stage_update("a").changes] == ["commands/x.md"]


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("owner/repo", "https://github.com/owner/repo.git"),
        ("https://example.org/r.git#v1", "https://example.org/r.git"),
        ("git@example.org:r.git", "git@example.org:r.git"),
        ("x@owner/repo", "https://github.com/owner/repo.git"),
    ],
)
def test_addresses_are_recognised(text: str, location: str) -> None:
    assert parse(text, cwd="/").location == location


@pytest.mark.parametrize("text", ["nothing", "https://example.org/r#--upload-pack=x", "ext::sh -c x", "--evil/x"])
def test_what_is_no_source_is_refused(text: str) -> None:
    with pytest.raises(PluginError):
        parse(text, cwd="/nonexistent")


def test_odd_things_where_the_list_should_be_mean_that_nothing_is_installed(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    put("directory", tmp_path / "store" / "installed.json")
    assert Plugins(tmp_path / "store", write=write).installed() == []
