"""Commands, skills, agents and styles from files: where they are found, who wins, what waits for trust (X, T7, P14)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assent.extensions.catalogue import NOT_APPROVED, NOT_TRUSTED, Activation
from assent.extensions.places import Place
from definition_files import Ground, Word, ground
from oddfiles import ODD, put

SKILL = "---\nname: {name}\ndescription: what {name} is for\n---\nDo it.\n"


@pytest.fixture
def place(tmp_path: Path) -> Ground:
    return ground(tmp_path)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (".assent/commands/fix.md", "fix"),
        (".claude/commands/front/fix.md", "fix"),
        (".github/prompts/fix.prompt.md", "fix"),
        (".opencode/commands/fix.md", "fix"),
        ("~/config/commands/fix.md", "fix"),
        ("~/.claude/commands/fix.md", "fix"),
        ("~/.config/opencode/commands/fix.md", "fix"),
    ],
)
def test_commands_are_found_where_every_tool_keeps_them(place: Ground, path: str, name: str) -> None:
    file = place.write(path, "---\ndescription: mend it\n---\nMend $ARGUMENTS\n")
    (command,) = place.load().commands
    assert (command.name, command.description, command.origin.file) == (name, "mend it", str(file))
    assert command.first_argument == (1 if "opencode" in path else 0)


@pytest.mark.parametrize(
    "folder",
    [
        ".assent/skills",
        ".claude/skills",
        ".agents/skills",
        ".github/skills",
        ".opencode/skills",
        "~/config/skills",
        "~/.claude/skills",
        "~/.agents/skills",
        "~/.copilot/skills",
        "~/.config/opencode/skills",
    ],
)
def test_skills_are_found_where_every_tool_keeps_them(place: Ground, folder: str) -> None:
    place.write(f"{folder}/pdf/SKILL.md", SKILL.format(name="pdf"))
    (skill,) = place.load().skills
    assert (skill.name, skill.listing) == ("pdf", "what pdf is for")


@pytest.mark.parametrize(
    "path",
    [
        ".assent/agents/a.md",
        ".claude/agents/deep/a.md",
        ".github/agents/a.agent.md",
        "~/config/agents/a.md",
        "~/.claude/agents/a.md",
        "~/.copilot/agents/a.md",
    ],
)
def test_agents_are_found_where_every_tool_keeps_them(place: Ground, path: str) -> None:
    place.write(path, "---\nname: scout\ndescription: looks around\n---\nYou look.\n")
    found = [agent for agent in place.load().agents if agent.origin.scope != "built-in"]
    assert [(agent.name, agent.prompt) for agent in found] == [("scout", "You look.")]


def test_definitions_of_every_folder_up_to_the_root_of_the_repository_count_nearest_first(place: Ground) -> None:
    place.write(".claude/agents/a.md", "---\nname: a\ndescription: outer\n---\nx")
    place.write("src/.claude/agents/a.md", "---\nname: a\ndescription: inner\n---\nx")
    catalogue = place.catalogues().load(str(place.project / "src"), Word())
    found = {agent.name: agent.description for agent in catalogue.agents if agent.origin.scope == "project"}
    assert found == {"a": "inner", "project:a": "outer"}


def test_two_of_one_name_are_both_listed_and_the_order_says_who_keeps_it(place: Ground) -> None:
    for where in ("~/.claude", ".claude"):
        place.write(f"{where}/agents/x.md", f"---\nname: x\ndescription: agent of {where}\n---\nx")
        place.write(f"{where}/skills/x/SKILL.md", f"---\nname: x\ndescription: skill of {where}\n---\nx")
        place.write(f"{where}/commands/clear.md", "clear up")
    catalogue = place.load(reserved=("clear",))
    agents = {agent.name: agent.description for agent in catalogue.agents if agent.origin.scope != "built-in"}
    assert agents == {"x": "agent of .claude", "user:x": "agent of ~/.claude"}
    skills = {skill.name: skill.description for skill in catalogue.skills}
    assert skills == {"x": "skill of ~/.claude", "project:x": "skill of .claude"}
    assert [command.name for command in catalogue.commands] == ["user:clear", "project:clear"]


def test_a_skill_takes_the_name_of_a_command_and_the_command_gets_a_longer_one(place: Ground) -> None:
    place.write(".claude/skills/x/SKILL.md", SKILL.format(name="x"))
    place.write(".claude/commands/x.md", "do x")
    catalogue = place.load()
    assert [skill.name for skill in catalogue.skills] == ["x"]
    assert [command.name for command in catalogue.commands] == ["project:x"]


def test_one_file_that_is_reached_by_two_links_counts_once(place: Ground) -> None:
    place.write(".agents/skills/x/SKILL.md", SKILL.format(name="x"))
    (place.project / ".claude").mkdir()
    (place.project / ".claude" / "skills").symlink_to("../.agents/skills")
    assert [skill.name for skill in place.load().skills] == ["x"]


def test_links_out_of_the_project_are_told_and_not_followed(place: Ground) -> None:
    place.write("~/secret/SKILL.md", SKILL.format(name="secret"))
    (place.project / ".claude" / "skills").mkdir(parents=True)
    (place.project / ".claude" / "skills" / "secret").symlink_to(place.home / "secret")
    (place.project / ".agents").symlink_to(place.home)
    (place.home / "skills").mkdir()
    catalogue = place.load()
    assert catalogue.skills == ()
    assert [Path(notice.file).name for notice in catalogue.notices] == ["secret", "skills"]


def test_nothing_of_an_untrusted_project_can_be_used_and_what_trust_would_activate_is_named(place: Ground) -> None:
    place.write(".claude/commands/plain.md", "Say hello")
    place.write(".claude/commands/shell.md", "Look: !`git status`")
    place.write(".claude/skills/s/SKILL.md", "---\nname: s\ndescription: d\nallowed-tools: Bash(ls:*)\n---\nx")
    place.write(".claude/agents/a.md", "---\nname: a\ndescription: d\nhooks:\n  Stop:\n    - hooks: []\n---\nx")
    place.write("~/.claude/commands/mine.md", "!`date`")
    catalogue = place.load(Word(trusted=False, approved=lambda _: False))
    withheld = {each.name: each.withheld for each in (*catalogue.commands, *catalogue.skills, *catalogue.agents)}
    assert {name: why for name, why in withheld.items() if why} == dict.fromkeys(
        ("plain", "shell", "s", "a"), NOT_TRUSTED
    )
    assert {(each.kind, each.name, each.value) for each in catalogue.activations if each.kind != "definitions"} == {
        ("command", "shell", "runs git status"),
        ("skill", "s", "allows Bash(ls:*) while it is in use"),
        ("agent", "a", 'hooks {"Stop":[{"hooks":[]}]}'),
    }
    assert sorted(Path(each.name).name for each in catalogue.activations if each.kind == "definitions") == [
        "agents",
        "commands",
        "skills",
    ]


def test_what_runs_something_waits_for_its_own_approval_in_a_trusted_folder(place: Ground) -> None:
    place.write(".claude/commands/plain.md", "Say hello")
    place.write(".claude/commands/shell.md", "Look: !`git status`")

    def definitions_only(activation: Activation) -> bool:
        return activation.kind == "definitions"

    catalogue = place.load(Word(approved=definitions_only))
    assert {command.name: command.withheld for command in catalogue.commands} == {"plain": "", "shell": NOT_APPROVED}


def test_a_broken_file_is_named_with_its_line_and_the_others_work(place: Ground) -> None:
    place.write(".claude/skills/good/SKILL.md", SKILL.format(name="good"))
    broken = place.write(".claude/skills/broken/SKILL.md", "---\nname: broken\n???\ndescription: d\n---\nx")
    silent = place.write(".claude/skills/silent/SKILL.md", "---\nname: silent\n---\nx")
    nameless = place.write(".claude/agents/n.md", "---\ndescription: d\n---\nx")
    catalogue = place.load()
    assert [skill.name for skill in catalogue.skills] == ["broken", "good"]
    assert [(notice.file, notice.line) for notice in catalogue.notices] == [
        (str(broken), 3),
        (str(silent), 1),
        (str(nameless), 1),
    ]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", ODD)
def test_odd_files_are_refused_at_once_and_told(place: Ground, kind: str) -> None:
    place.write(".claude/commands/good.md", "Say hello")
    put(kind, place.project / ".claude" / "commands" / "odd.md")
    catalogue = place.load()
    assert [command.name for command in catalogue.commands] == ["good"]


def test_a_changed_file_is_read_again(place: Ground) -> None:
    file = place.write(".claude/commands/a.md", "one")
    catalogues = place.catalogues()
    assert catalogues.load(str(place.project), Word()).commands[0].body == "one"
    file.write_text("two")
    os.utime(file, ns=(1, 1))
    assert catalogues.load(str(place.project), Word()).commands[0].body == "two"


def test_skills_beside_a_file_further_down_count_once_it_is_touched(place: Ground) -> None:
    place.write("web/.claude/skills/css/SKILL.md", SKILL.format(name="css"))
    assert place.load().skills == ()
    assert [skill.name for skill in place.load(nested=str(place.project / "web" / "a.css")).skills] == ["css"]


def test_definitions_of_a_plugin_carry_its_name_and_cannot_take_another(place: Ground) -> None:
    place.write("~/plug/commands/x.md", "do x")
    place.write(".claude/commands/x.md", "do my x")
    root = str(place.home / "plug")
    place.plugins.append(Place(kind="commands", folder=f"{root}/commands", scope="plugin", bound=root, plugin="tools"))
    assert [command.name for command in place.load().commands] == ["x", "tools:x"]


def test_styles_come_with_the_built_in_ones(place: Ground) -> None:
    place.write("~/.claude/output-styles/pirate.md", "---\nname: Pirate\ndescription: arr\n---\nTalk so.")
    catalogue = place.load()
    assert [style.name for style in catalogue.styles] == ["default", "explanatory", "learning", "Pirate"]
    found = catalogue.style("pirate")
    assert found is not None
    assert (found.prompt, found.keep_coding_instructions) == ("Talk so.", False)


def test_a_skill_that_names_a_missing_script_is_told_with_its_line_and_works(place: Ground) -> None:
    text = (
        "---\nname: build\ndescription: builds\n---\nRun `scripts/here.py`, then scripts/gone.sh --fast.\n"
        "See ${CLAUDE_SKILL_DIR}/lib/also_gone.py and https://example.org/scripts/far.py or ../scripts/out.py.\n"
    )
    place.write("~/.claude/skills/build/SKILL.md", text)
    place.write("~/.claude/skills/build/scripts/here.py", "print()")
    found = place.load()
    assert [skill.name for skill in found.usable_skills] == ["build"]
    told = [(notice.line, notice.text.split(",")[0]) for notice in found.notices]
    assert told == [(5, "names scripts/gone.sh"), (6, "names lib/also_gone.py")]


def test_while_nothing_changed_the_same_catalogue_is_given_again(place: Ground) -> None:
    file = place.write(".claude/skills/pdf/SKILL.md", SKILL.format(name="pdf"))
    catalogues, cwd = place.catalogues(), str(place.project)
    first = catalogues.load(cwd, Word())
    assert catalogues.load(cwd, Word()) is first
    withheld = catalogues.load(cwd, Word(trusted=False))
    assert withheld.skills[0].withheld == NOT_TRUSTED
    assert catalogues.load(cwd, Word()).skills[0].withheld == ""
    file.write_text(SKILL.format(name="pdf").replace("Do it.", "Do it well."))
    assert "Do it well." in catalogues.load(cwd, Word()).skills[0].body
    place.write(".claude/agents/a.md", "no header")
    assert [notice.file for notice in catalogues.load(cwd, Word()).notices] == [f"{cwd}/.claude/agents/a.md"]


def test_an_agent_in_a_folder_of_a_plugin_has_that_folder_in_its_name(place: Ground) -> None:
    agents = place.home / "tools" / "agents"
    for path in ("top.md", "review/security.md"):
        place.write(f"~/tools/agents/{path}", f"---\nname: {Path(path).stem}\ndescription: d\n---\nx")
    place.plugins.append(
        Place(kind="agents", folder=str(agents), scope="plugin", bound=str(agents.parent), plugin="tools")
    )
    names = {agent.name for agent in place.load().agents if agent.origin.scope == "plugin"}
    assert names == {"tools:top", "tools:review:security"}


def test_bytes_that_are_no_text_and_hooks_of_a_wrong_shape_are_told_with_their_line(place: Ground) -> None:
    odd = place.write(".claude/commands/odd.md", "---\ndescription: d\n---\nfirst\n")
    odd.write_bytes(odd.read_bytes() + b"second \xff\xfe\n")
    shaped = place.write(".claude/skills/s/SKILL.md", "---\nname: s\ndescription: d\nhooks: [1, 2]\n---\nx")
    catalogue = place.load()
    assert [command.name for command in catalogue.commands] == ["odd"]
    assert [(skill.name, skill.hooks) for skill in catalogue.skills] == [("s", {})]
    told = {(notice.file, notice.line): notice.text.split(" ")[0] for notice in catalogue.notices}
    assert told == {(str(odd), 5): "is", (str(shaped), 4): "hooks"}
