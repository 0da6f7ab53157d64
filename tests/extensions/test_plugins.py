"""Plugins: layouts, sources, hashes, updates, and what they may not do (X)."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from assent.extensions.plugins.manifest import PluginError, read_plugin
from assent.extensions.plugins.parts import problems_of
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
    assert plugin.servers == {"s": {"type": "stdio", "command": "x", "cwd": "${PLUGIN_ROOT}"}}
    assert plugin.hooks == {} and plugin.problems == ()


SCHEMA = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"


def test_an_unknown_key_of_an_agent_plugin_is_told_with_its_line_and_means_nothing(
    store: Plugins, tmp_path: Path
) -> None:
    manifest = {"$schema": SCHEMA, "name": "ap", "hooks": "./x.json", "extensions": {"org.example": {"a": 1}}}
    root = made(tmp_path / "p", None, plugin_json=json.dumps(manifest, indent=1), x_json='{"Stop": [{"command": "x"}]}')
    plugin = read_plugin(str(root))
    assert plugin.problems == (f"{root}/plugin.json:4: hooks is not a key of Agent Plugins 1.0 and means nothing",)
    assert plugin.hooks == {}
    store.accept(store.stage(str(root), cwd="/"))
    (notice,) = store.active()[1]
    assert "plugin.json:4: hooks is not a key" in notice.text


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"$schema": "https://agent-plugins.org/schemas/2.0.0/plugin.schema.json"}, "version of Agent Plugins"),
        ({"name": "Not Small"}, "cannot be the name"),
        ({"name": "a--b"}, "cannot be the name"),
        ({"name": ""}, "cannot be the name"),
        ({"version": 2}, "version"),
        ({"author": {"name": "x", "phone": "1"}}, "author"),
        ({"keywords": "one"}, "keywords"),
    ],
)
def test_a_wrong_value_of_a_known_key_makes_an_agent_plugin_unusable(
    tmp_path: Path, more: dict[str, object], words: str
) -> None:
    root = made(tmp_path / "p", None, plugin_json=json.dumps({"$schema": SCHEMA, "name": "ap", **more}))
    with pytest.raises(PluginError, match=rf"plugin\.json(:1: name)?: .*{words}"):
        read_plugin(str(root))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"command": "x"}, "`type` must be"),
        ({"type": "http", "url": "https://h"}, "`type` must be"),
        ({"type": "stdio", "command": "x", "url": "https://h"}, "has no url"),
        ({"type": "stdio", "command": "x", "alwaysLoad": True}, "has no alwaysLoad"),
        ({"type": "stdio", "command": "sh -c x"}, "`command` must be"),
        ({"type": "stdio", "command": "../x"}, "`command` must be"),
        ({"type": "stdio", "command": "./../x"}, "`command` must be"),
        ({"type": "stdio", "command": "x", "args": ["${HOME}"]}, "{HOME} is not known"),
        ({"type": "stdio", "command": "x", "cwd": "/tmp"}, "`cwd` must begin"),
        ({"type": "stdio", "command": "x", "env": {"A": 1}}, "`env` must be"),
        ({"type": "sse", "url": "https://user@h/"}, "`url` must be"),
        ("x", "must be an object"),
    ],
)
def test_a_server_that_the_format_does_not_allow_is_left_out_with_its_line(
    tmp_path: Path, entry: object, words: str
) -> None:
    good = {"type": "stdio", "command": "./bin/x", "args": ["${PLUGIN_DATA}/a"], "cwd": "./work"}
    servers = {"mcpServers": {"good": good, "bad": entry}}
    manifest = json.dumps({"$schema": SCHEMA, "name": "ap"})
    root = made(tmp_path / "p", None, plugin_json=manifest, mcp_json=json.dumps(servers, indent=1))
    plugin = read_plugin(str(root))
    rooted = {**good, "command": "${PLUGIN_ROOT}/bin/x", "cwd": "${PLUGIN_ROOT}/work"}
    assert plugin.servers == {"good": rooted}
    (problem,) = plugin.problems
    assert problem.startswith(f"{root}/mcp.json:11: the server bad is left out: ") and words in problem


def test_a_folder_with_a_skill_of_its_own_is_a_plugin(tmp_path: Path) -> None:
    made(tmp_path / "solo", None, SKILL_md="---\nname: solo\ndescription: d\n---\nx")
    plugin = read_plugin(str(tmp_path / "solo"))
    assert plugin.name == "solo"
    assert (str(tmp_path / "solo" / "SKILL.md"),) in [place.files for place in plugin.places]


@pytest.mark.parametrize("path", ["../out", "/etc", "./a/../../out", "link", "./link/x.md"])
@pytest.mark.parametrize("key", ["commands", "skills", "agents", "outputStyles", "hooks", "mcpServers"])
def test_a_path_out_of_the_plugin_makes_it_unusable_and_is_named_by_file_line_and_field(
    tmp_path: Path, key: str, path: str
) -> None:
    root = made(tmp_path / "p", {})
    (root / "link").symlink_to(tmp_path)
    file = root / ".claude-plugin" / "plugin.json"
    file.write_text(json.dumps({"name": "p", "description": f"not {path}", key: path}, indent=1))
    with pytest.raises(PluginError) as refused:
        read_plugin(str(root))
    assert str(refused.value).startswith(f"{file}:4: {key}: {path!r} ")
    assert str(refused.value).endswith("leads out of the plugin")


def test_the_line_of_a_path_in_a_list_is_its_own(tmp_path: Path) -> None:
    root = made(tmp_path / "p", {})
    file = root / ".claude-plugin" / "plugin.json"
    file.write_text('{\n"name": "p",\n"keywords": ["..\\/x"],\n"commands": [\n "./a.md",\n "..\\/x"\n]\n}')
    with pytest.raises(PluginError, match=rf"^{file}:6: commands: '\.\./x' leads out of the plugin$"):
        read_plugin(str(root))


@pytest.mark.parametrize("value", [5, {"a": "./a.md"}, ["./a.md", 7], True])
def test_a_field_that_should_name_paths_and_holds_something_else_is_refused_with_its_line(
    tmp_path: Path, value: object
) -> None:
    root = made(tmp_path / "p", {"name": "p", "agents": value})
    with pytest.raises(PluginError, match=r"plugin\.json:1: agents must be a path or a list of paths"):
        read_plugin(str(root))


def test_a_name_that_is_a_path_is_refused_with_its_line(tmp_path: Path) -> None:
    root = made(tmp_path / "p", {})
    (root / ".claude-plugin" / "plugin.json").write_text('{\n"version": "1",\n"name": "../x"\n}')
    with pytest.raises(PluginError, match=r"plugin\.json:3: name: '\.\./x' cannot be the name of a plugin"):
        read_plugin(str(root))


@pytest.mark.parametrize("part", ["skills", "commands", "hooks/hooks.json", ".mcp.json", ".claude-plugin/plugin.json"])
def test_a_usual_part_that_is_a_link_out_of_the_plugin_is_named_by_its_own_path(tmp_path: Path, part: str) -> None:
    root = made(tmp_path / "p", None, x_md="x")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere.json").write_text("{}")
    (root / part).parent.mkdir(exist_ok=True)
    (root / part).symlink_to(tmp_path / ("elsewhere.json" if part.endswith(".json") else "elsewhere"))
    with pytest.raises(PluginError, match=rf"^{root}/{part} is a link that leads out of the plugin$"):
        read_plugin(str(root))


def test_a_link_between_folders_of_a_plugin_is_named_by_the_line_that_names_it(store: Plugins, tmp_path: Path) -> None:
    root = made(tmp_path / "p", {"name": "p", "commands": ["./linked/x.md"]}, real__x_md="x")
    (root / "linked").symlink_to(root / "real")
    words = r"plugin\.json:1: commands: './linked/x.md' goes through a link; a plugin may not hold links to folders$"
    with pytest.raises(PluginError, match=words):
        store.stage(str(root), cwd="/")


def test_what_other_programs_use_of_a_plugin_and_we_do_not_is_named_with_its_line(
    store: Plugins, tmp_path: Path
) -> None:
    root = made(tmp_path / "p", {}, commands__x_md="x", **{".lsp_json": "{}"})
    manifest = {"name": "p", "lspServers": {"go": {"command": "gopls"}}, "dependencies": ["q"], "keywords": ["k"]}
    (root / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest, indent=1))
    store.accept(store.stage(str(root), cwd="/"))
    (plugin,), notices = store.active()
    assert notices == [], "nobody is warned of it at every start"
    assert [each.partition(" is ignored: ")[0] for each in problems_of(plugin)] == [
        ".claude-plugin/plugin.json:3: lspServers",
        ".claude-plugin/plugin.json:8: dependencies",
        ".lsp.json",
    ]


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


def test_a_change_that_keeps_size_and_time_is_noticed_too(store: Plugins, tmp_path: Path) -> None:
    installed = store.accept(store.stage(str(full(tmp_path / "src")), cwd="/"))
    assert len(store.active()[0]) == 1
    file = Path(store.root(installed), "commands", "x.md")
    status = file.stat()
    file.write_bytes(b"!" * status.st_size)
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert store.active()[0] == []


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


@pytest.mark.timeout(300)
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
            {"name": "z", "source": {"source": "archive", "url": "https://example.org/p.zip", "sha256": "0"}},
            {"name": "c", "source": {"source": "command", "command": "touch made", "mode": "copy"}},
            {"name": "bad", "source": "../out"},
        ],
    )
    made(folder / "plugins" / "a", None, commands__x_md="x")
    made(folder / "plugins" / "b", {"name": "b", "version": "3"}, commands__x_md="x")
    first = store.stage(f"a@{folder}", cwd="/")
    assert (first.plugin.name, first.plugin.description) == ("a", "said by the market")
    assert store.stage(f"b@{folder}", cwd="/").plugin.version == "3"
    for name, kind in [("n", "npm"), ("z", "archive"), ("c", "command")]:
        words = rf"marketplace\.json:1: {name} comes from '{kind}'; only folders and git .* `assent plugin add FOLDER`"
        with pytest.raises(PluginError, match=words):
            store.stage(f"{name}@{folder}", cwd=str(tmp_path))
    assert not list(tmp_path.rglob("made"))
    market_file = folder / ".claude-plugin" / "marketplace.json"
    bad = rf"{market_file}:1: plugins\[5\]\.source: './plugins/\.\./out' leads out"
    for name, words in [("bad", bad), ("zzz", "has no plugin 'zzz'")]:
        with pytest.raises(PluginError, match=words):
            store.stage(f"{name}@{folder}", cwd="/")
    with pytest.raises(PluginError, match="marketplace of 6 plugins"):
        store.stage(str(folder), cwd="/")


@pytest.mark.parametrize("by_git", [False, True])
def test_a_path_that_a_marketplace_names_is_told_with_the_line_of_the_marketplace(
    store: Plugins, tmp_path: Path, by_git: bool
) -> None:
    folder = tmp_path / "m"
    made(folder / "a", None, commands__x_md="x")
    (folder / ".claude-plugin").mkdir()
    said = {"plugins": [{"name": "z", "agents": "../out"}, {"name": "a", "source": "./a", "agents": "../out"}]}
    (folder / ".claude-plugin" / "marketplace.json").write_text(json.dumps(said, indent=1))
    source = str(folder)
    if by_git:
        git(folder, "init")
        git(folder, "add", ".")
        git(folder, "commit", "-m", "one")
        source = f"file://{folder}"
    words = rf"^{source}/\.claude-plugin/marketplace\.json:10: plugins\[1\]\.agents: '\.\./out' leads out"
    with pytest.raises(PluginError, match=words):
        store.stage(f"a@{source}", cwd="/")


def test_a_plugin_of_a_marketplace_can_be_updated_by_its_name(store: Plugins, tmp_path: Path) -> None:
    folder = market(tmp_path / "m", [{"name": "a", "source": "./plugins/a"}])
    made(folder / "plugins" / "a", None, commands__x_md="x")
    store.accept(store.stage(f"a@{folder}", cwd="/"))
    (folder / "plugins" / "a" / "commands" / "x.md").write_text("y")
    assert [change.path for change in store.stage_update("a").changes] == ["commands/x.md"]


def test_two_plugins_of_one_name_are_both_installed_and_both_work(store: Plugins, tmp_path: Path) -> None:
    for place, said in (("one", "first"), ("two", "second")):
        made(tmp_path / place / "tools", {"name": "tools"}, commands__x_md=said)
        store.accept(store.stage(str(tmp_path / place / "tools"), cwd="/"))
    assert [each.name for each in store.installed()] == ["tools", "tools-2"]
    active, notices = store.active()
    assert [plugin.name for plugin in active] == ["tools", "tools-2"] and notices == []
    assert {place.plugin for plugin in active for place in plugin.places} == {"tools", "tools-2"}
    (tmp_path / "two/tools/commands/x.md").write_text("third")
    assert [change.path for change in store.stage_update("tools-2").changes] == ["commands/x.md"]
    again = store.stage(str(tmp_path / "one/tools"), cwd="/")
    assert (again.plugin.name, again.replaces and again.replaces.name) == ("tools", "tools")
    store.remove("tools")
    assert [each.name for each in store.installed()] == ["tools-2"] and store.active()[1] == []


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("owner/repo", "https://github.com/owner/repo.git"),
        ("https://example.org/r.git#v1", "https://example.org/r.git"),
        ("git@example.org:r.git", "git@example.org:r.git"),
        ("x@owner/repo", "https://github.com/owner/repo.git"),
        ("x@https://example.org/r.git#v1", "https://example.org/r.git"),
        ("x@file:///r.git", "file:///r.git"),
        ("x@git@example.org:r.git", "git@example.org:r.git"),
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


def test_what_a_plugin_would_run_is_told_whole_before_it_is_accepted(store: Plugins, tmp_path: Path) -> None:
    server = {"command": "node", "args": ["s.js"], "env": {"NODE_OPTIONS": "--require ./other.js"}, "cwd": "/tmp"}
    helped = {"type": "http", "url": "https://x.example/mcp", "headersHelper": "sh -c other"}
    root = made(tmp_path / "src", {"name": "tools", "mcpServers": {"s": server, "h": helped}})
    for place, text in (
        (
            "skills/quiet/SKILL.md",
            "---\nname: quiet\ndescription: d\nallowed-tools: Bash(make:*)\n---\n!`touch here`\n",
        ),
        (
            "commands/go.md",
            '---\ndescription: d\nhooks: {"Stop": [{"hooks": [{"command": "touch there"}]}]}\n---\nGo.\n',
        ),
        ("skills/words/SKILL.md", "---\nname: words\ndescription: only says something\n---\nSay it.\n"),
    ):
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_text(text)
    told = store.stage(str(root), cwd="/").brings()
    assert told == [
        'MCP server s: node s.js (env: {"NODE_OPTIONS":"--require ./other.js"}) (cwd: "/tmp")',
        'MCP server h: https://x.example/mcp (headersHelper: "sh -c other")',
        'command tools:go hooks {"Stop":[{"hooks":[{"command":"touch there"}]}]}',
        "skill tools:quiet runs touch here",
        "skill tools:quiet allows Bash(make:*) while it is in use",
    ]


HOOKS = """\
{"description": "d", "hooks": {
  "stop": [
    {"hooks": [{"type": "command", "command": "one"}]},
    "two",
    {"hooks": [{"type": "command", "command": "three"}]}],
  "Sometimes": [{"hooks": []}],
  "PreToolUse": {"matcher": "Bash"}
}}
"""


@pytest.mark.parametrize("inline", [False, True])
def test_hooks_of_a_plugin_have_their_lines_and_those_that_mean_nothing_are_named(
    store: Plugins, tmp_path: Path, inline: bool
) -> None:
    root = made(tmp_path / "p", {"name": "p"})
    file = root / (".claude-plugin/plugin.json" if inline else "hooks/hooks.json")
    file.parent.mkdir(exist_ok=True)
    file.write_text('{"name": "p", "hooks": ' + HOOKS + "}" if inline else HOOKS)
    plugin = read_plugin(str(root))
    assert {event: len(entries) for event, entries in plugin.hooks.items()} == {"Stop": 2}
    assert (plugin.hooks_file, plugin.hook_lines) == (str(file), {"Stop[0]": 3, "Stop[1]": 5})
    assert plugin.problems == (
        f"{file}:4: hooks.stop[1] must be an object",
        f"{file}:7: hooks.PreToolUse must be a list of hooks",
    )
    assert plugin.ignored == (f"{file}:6: hooks.Sometimes is ignored: there is no such event here",)
