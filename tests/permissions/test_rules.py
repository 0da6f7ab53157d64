"""Rules: what a line means, what is refused, and who it speaks to."""

import shlex

import pytest

from assent.permissions.chain import decide
from assent.permissions.context import PermissionContext
from assent.permissions.rules import RuleError, RuleSet, parse_rule
from assent.text.globs import absolute_patterns, compiled, literal_prefix
from assent.types.permissions import Action
from permissions.scratch import Scratch


@pytest.mark.parametrize(
    ("text", "words", "prefix"),
    [
        ("Bash(make test)", ("make", "test"), False),
        ("Bash(git status:*)", ("git", "status"), True),
        ("Bash(git status *)", ("git", "status"), True),
        ("Bash(  npm   run test:* )", ("npm", "run", "test"), True),
        ("Bash(echo 'a b')", ("echo", "a b"), False),
        ('Bash(echo "a b"c\\ d)', ("echo", "a bc d"), False),
        ("Bash(ls *.py)", ("ls", "*.py"), False),
        ("Bash(*)", (), False),
        ("Bash", (), False),
    ],
)
def test_command_rules_are_words(text: str, words: tuple[str, ...], prefix: bool) -> None:
    rule = parse_rule(text)
    assert (rule.words, rule.prefix, rule.bare) == (words, prefix, not words)


@pytest.mark.parametrize(
    "text",
    [
        "", "(x)", "Bash(", "Bash(x", "Bash(a; b)", "Bash(a && b)", "Bash(a | b)", "Bash($(x))", "Bash(a > b)", "Bash()", "Bash(:*)",
        "Bash(a * b:*)", "Bash(a\nb)", "B" * 3000, "Read()", "Read(../x)", "Read(~root/x)", "WebFetch(example.org)", "WebFetch(domain:)",
        "WebFetch(domain:http://x)", "WebFetch(domain:a.b:80)", "WebFetch(domain:*.org)", "WebFetch(domain:a/b)", "mcp__a__b(x)", "Agent( )", 3, None, ["Bash"],
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_a_reason(text: object) -> None:
    with pytest.raises(RuleError) as refused:
        parse_rule(text)
    assert str(refused.value)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("WebFetch(domain:Example.org.)", "example.org"),
        ("WebFetch(domain:*.example.org)", "*.example.org"),
        ("WebFetch(domain:localhost)", "localhost"),
        ("WebFetch(*)", None),
        ("WebFetch(domain:*)", None),
    ],
)
def test_host_rules(text: str, host: str | None) -> None:
    assert parse_rule(text).host == host


def test_other_tools_take_a_name_and_a_star_means_all() -> None:
    assert parse_rule("Agent(reviewer)").name == "reviewer"
    assert parse_rule("Read(**)").bare
    assert parse_rule("Skill").bare
    assert parse_rule("mcp__git__*").names_tool("mcp__git__log")


def test_good_rules_apply_beside_bad_ones_and_the_bad_are_told() -> None:
    rules = RuleSet.from_settings(
        {
            "user": {"allow": ["Bash(make:*)", "Bash(("], "deny": "Bash"},
            "project": {"deny": ["Read(~/.ssh/**)", 7]},
        }
    )
    assert [(rule.text, rule.behaviour, rule.source) for rule in rules.rules] == [
        ("Read(~/.ssh/**)", "deny", "project"),
        ("Bash(make:*)", "allow", "user"),
    ]
    assert [(problem.text, problem.source) for problem in rules.problems] == [
        ("Bash", "user"),
        ("7", "project"),
        ("Bash((", "user"),
    ]


def test_sets_are_united_and_saved_answers_added() -> None:
    one = RuleSet.from_rules([("Bash(make:*)", "user", "allow")])
    two = RuleSet.from_rules([("Bash(curl:*)", "project", "deny")])
    both = one.united(two).with_rule(parse_rule("Edit", source="session"))
    assert [rule.text for rule in both.rules] == ["Bash(make:*)", "Bash(curl:*)", "Edit"]
    assert [rule.text for rule in both.of("allow")] == ["Bash(make:*)", "Edit"]


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("src/**", "/w/src/a/b.py", True),
        ("src/**", "/w/src", True),
        ("src/**", "/w/srcs/a", False),
        ("src/*.py", "/w/src/a.py", True),
        ("src/*.py", "/w/src/a/b.py", False),
        ("src/", "/w/src/a/b", True),
        ("*.env", "/w/a/b/.env", True),
        ("./.env", "/w/.env", True),
        ("./.env", "/w/a/.env", False),
        ("**/x/**", "/w/a/x/b", True),
        ("a**b/c", "/w/a/z/b/c", True),
        ("a?c/d", "/w/abc/d", True),
        ("[ab]/c", "/w/a/c", True),
        ("[!ab]/c", "/w/a/c", False),
        ("[!ab]/c", "/w/z/c", True),
        ("[z-a]/c", "/w/[z-a]/c", True),
        ("[a/c", "/w/[a/c", True),
        ("~/.ssh/**", "/h/.ssh/id", True),
        ("~", "/h/x", True),
        ("/etc/**", "/etc/passwd", True),
        ("//etc/**", "/etc/passwd", True),
        ("/etc/**", "/w/etc/passwd", False),
    ],
)
def test_path_patterns_read_like_gitignore(pattern: str, path: str, matches: bool) -> None:
    patterns = absolute_patterns(pattern, roots=["/w"], home="/h", wide=False)
    assert any(compiled(p, folded=False).fullmatch(path) for p in patterns) is matches


def test_deny_patterns_are_read_in_every_way_and_case() -> None:
    patterns = absolute_patterns("/etc/**", roots=["/w"], home="/h", wide=True)
    assert any(compiled(p, folded=True).fullmatch("/w/etc/x") for p in patterns)
    anywhere = absolute_patterns(".ENV", roots=["/w"], home="/h", wide=True)
    assert any(compiled(p, folded=True).fullmatch("/elsewhere/.env") for p in anywhere)
    assert [literal_prefix(p) for p in ("/a/b*/c", "/a/b", "/**/x")] == ["/a", "/a/b", ""]


@pytest.mark.parametrize(
    ("command", "deny"),
    [
        ("/usr/bin/curl x", "Bash(curl:*)"),
        ("./curl x", "Bash(curl:*)"),
        ("CURL x", "Bash(curl:*)"),
        ("c\\url x", "Bash(curl:*)"),
        ("'cu'\"rl\" x", "Bash(curl:*)"),
        ("$'cu\\x72l' x", "Bash(curl:*)"),
        ("$'\\143url' x", "Bash(curl:*)"),
        ("$'c\\u0075rl' x", "Bash(curl:*)"),
        ("timeout 5 curl x", "Bash(curl:*)"),
        ("env A=b curl x", "Bash(curl:*)"),
        ("sudo -u root curl x", "Bash(curl:*)"),
        ("xargs -n1 curl", "Bash(curl:*)"),
        ("nohup nice curl x", "Bash(curl:*)"),
        ("bash -c 'curl x'", "Bash(curl:*)"),
        ("bash -c \"bash -c 'curl x'\"", "Bash(curl:*)"),
        ("bash -lc 'ls; curl x'", "Bash(curl:*)"),
        ("eval curl x", "Bash(curl:*)"),
        ("eval 'cu''rl x'", "Bash(curl:*)"),
        ("command curl x", "Bash(curl:*)"),
        ("exec curl x", "Bash(curl:*)"),
        ("time curl x", "Bash(curl:*)"),
        ("echo $(curl x)", "Bash(curl:*)"),
        ("echo `curl x`", "Bash(curl:*)"),
        ("cat <(curl x)", "Bash(curl:*)"),
        ("f() { curl x; }; f", "Bash(curl:*)"),
        ("for i in 1; do curl x; done", "Bash(curl:*)"),
        ("if true; then curl x; fi", "Bash(curl:*)"),
        ("X=$(curl x) ls", "Bash(curl:*)"),
        ("X=$(curl x)", "Bash(curl:*)"),
        ("cat <<EOF\n$(curl x)\nEOF", "Bash(curl:*)"),
        ('echo "$(curl x)"', "Bash(curl:*)"),
        ("echo ${x:-$(curl x)}", "Bash(curl:*)"),
        ("[[ $(curl x) ]]", "Bash(curl:*)"),
        ("(( $(curl x) ))", "Bash(curl:*)"),
        ("ls | curl x", "Bash(curl:*)"),
        ("! curl x", "Bash(curl:*)"),
        ("ls & curl x", "Bash(curl:*)"),
        ("find . -exec curl {} ';'", "Bash(curl:*)"),
        ("trap 'curl x' EXIT", "Bash(curl:*)"),
        ("watch curl x", "Bash(curl:*)"),
        ("ssh host curl x", "Bash(curl:*)"),
        ("git -C sub push", "Bash(git push:*)"),
        ("git -c a=b push origin", "Bash(git push:*)"),
        ("git --no-pager push", "Bash(git push:*)"),
        ("rm -rf x", "Bash(rm -rf:*)"),
        ("make test", "Bash(make test)"),
        ("cat ~/.ssh/id_rsa", "Read(~/.ssh/**)"),
        ("cat $HOME/.ssh/id_rsa", "Read(~/.ssh/**)"),
        ('cat "${HOME}/.ssh/id_rsa"', "Read(~/.ssh/**)"),
        ("cat ~/.SSH/id_rsa", "Read(~/.ssh/**)"),
        ("cat ~/.ssh/*", "Read(~/.ssh/**)"),
        ("cat ~/.ss?/id_rsa", "Read(~/.ssh/**)"),
        ("cd ~/.ssh && cat id_rsa", "Read(~/.ssh/**)"),
        ("cat < ~/.ssh/id_rsa", "Read(~/.ssh/**)"),
        ("cp ~/.ssh/id_rsa x", "Read(~/.ssh/**)"),
        ("tar cf - ~/.ssh", "Read(~/.ssh/**)"),
        ("python x.py --key=$HOME/.ssh/id_rsa", "Read(~/.ssh/**)"),
        ("curl -d @$HOME/.ssh/id_rsa x", "Read(~/.ssh/**)"),
        ("cat key", "Read(~/.ssh/**)"),
        ("grep -r x key", "Read(~/.ssh/**)"),
        ("head -c 10 -- key", "Read(~/.ssh/**)"),
        ("cat k*", "Read(~/.ssh/**)"),
        ("cat sub/../key", "Read(~/.ssh/**)"),
        ("cd sub && cat ../key", "Read(~/.ssh/**)"),
        ("git show HEAD:sub/a.py", "Read(sub/**)"),
        ("cat sub/a.py", "Read(sub/**)"),
        ("sed -i s/a/b/ sub/a.py", "Edit(sub/**)"),
        ("echo x > sub/a.py", "Edit(sub/**)"),
        ("tee sub/a.py", "Edit(sub/**)"),
        ("mv sub/a.py x", "Edit(sub/**)"),
        ("rm sub/a.py", "Edit(sub/**)"),
    ],
)
def test_a_denied_thing_is_found_wherever_it_hides(shared_ws: Scratch, command: str, deny: str) -> None:
    for mode in ("default", "bypassPermissions"):
        decision = shared_ws.bash(command, deny=[deny], mode=mode, allow=["Bash"])
        assert (decision.decision, decision.rule) == ("deny", deny), decision.reason


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("grep -r x .", {"deny": ["Read(sub/**)"]}),
        ("rg x", {"deny": ["Read(*.env)"]}),
        ("git grep x", {"deny": ["Read(sub/**)"]}),
        ("git log -p", {"ask": ["Read(sub/**)"]}),
        ("grep -r x missing/../..", {"deny": ["Read(sub/**)"]}),
    ],
)
def test_a_search_that_would_reach_denied_files_asks(
    shared_ws: Scratch, command: str, rules: dict[str, list[str]]
) -> None:
    assert shared_ws.bash(command, allow=["Bash"], **rules).decision == "ask"


@pytest.mark.parametrize("command", ["grep -r x sub", "cat a.py", "ls -R", "find . -name x"])
def test_rules_elsewhere_do_not_disturb(shared_ws: Scratch, command: str) -> None:
    assert shared_ws.bash(command, deny=["Read(~/.ssh/**)", "Read(secrets/**)", "Bash(curl:*)"]).decision == "allow"


@pytest.mark.parametrize(
    ("command", "allow"),
    [
        ("find . -exec touch PWNED ';'", "Bash(find:*)"),
        ("find . -delete", "Bash(find:*)"),
        ("sort -o PWNED a.py", "Bash(sort:*)"),
        ("git diff --output=PWNED", "Bash(git diff:*)"),
        ("git log --output=PWNED", "Bash(git log:*)"),
        ("git grep -Otouch x", "Bash(git grep:*)"),
        ("git -c core.pager=x log", "Bash(git:*)"),
        ("sed -i s/a/b/ a.py", "Bash(sed:*)"),
        ("sed 'w PWNED' a.py", "Bash(sed:*)"),
        ("awk 'BEGIN{system(1)}'", "Bash(awk:*)"),
        ("rg --pre ./ev.sh x", "Bash(rg:*)"),
        ("xargs touch", "Bash(xargs:*)"),
        ("timeout 5 touch PWNED", "Bash(timeout:*)"),
        ("timeout 5 touch PWNED", "Bash(timeout 5:*)"),
        ("env touch PWNED", "Bash(env:*)"),
        ("sudo touch PWNED", "Bash(sudo:*)"),
        ("bash -c 'touch PWNED'", "Bash(bash:*)"),
        ("bash", "Bash(bash:*)"),
        ("eval 'touch PWNED'", "Bash(eval:*)"),
        ("nohup touch PWNED", "Bash(nohup:*)"),
        ("xargs", "Bash(xargs:*)"),
        ("echo x > PWNED", "Bash(echo:*)"),
        ("date -s now", "Bash(date:*)"),
        ("cd sub/nested && git status", "Bash(git status:*)"),
    ],
)
def test_a_prefix_rule_covers_only_the_harmless_use(ws: Scratch, command: str, allow: str) -> None:
    (ws.root / "sub/nested/.git").mkdir(parents=True)
    assert ws.bash(command, allow=[allow]).decision == "ask"


@pytest.mark.parametrize(
    ("command", "allow"),
    [
        ("find . -name x -delete", "Bash(find . -name x -delete)"),
        ("sed -i s/a/b/ a.py", "Bash(sed -i s/a/b/:*)"),
        ("sort -o out a.py", "Bash(sort -o out a.py)"),
        ("xargs grep x", "Bash(xargs grep:*)"),
        ("sudo apt update", "Bash(sudo apt:*)"),
        ("bash scripts/build.sh --fast", "Bash(bash scripts/build.sh:*)"),
        ("git commit -m 'a b'", "Bash(git commit:*)"),
        ("cp a.py c.py", "Bash(cp:*)"),
        ("npm run test:unit", "Bash(npm run test:unit)"),
        ("timeout 5 make all", "Bash(make:*)"),
        ("cat /etc/hostname", "Bash(cat:*)"),
        ("FOO", "Bash(FOO)"),
    ],
)
def test_what_a_rule_spells_out_it_covers(shared_ws: Scratch, command: str, allow: str) -> None:
    decision = shared_ws.bash(command, allow=[allow])
    iron = decision.step == "ironGate" and "delete" in command  # removing from the root is asked even so
    assert decision.decision == "allow" or iron, decision.reason


def nested(command: str, levels: int) -> str:
    for _ in range(levels):
        command = f"bash -c {shlex.quote(command)}"
    return command


@pytest.mark.parametrize(
    "command",
    [
        "sudo " * 600 + "curl x",
        "timeout 5 " * 300 + "curl x",
        "env " * 300 + "curl x",
        nested("curl x", 8),
        nested("c=curl; $c x", 1),
        "eval 'c=curl; $c x'",
        "make " + "a " * 2500 + "~/.ssh/id_rsa",
        "[ " + "! " * 3000 + "-f x ]; c=curl; $c x",
        "true; " * 5000 + "curl x",
    ],
    ids=lambda command: command[:20],
)
def test_nothing_slips_past_a_deny_rule_by_sheer_size(shared_ws: Scratch, command: str) -> None:
    rules = ["Bash(curl:*)", "Read(~/.ssh/**)"]
    for mode in ("default", "bypassPermissions"):
        assert shared_ws.bash(command, mode=mode, deny=rules, allow=["Bash"]).decision in ("ask", "deny")
    assert shared_ws.bash(command).decision == "ask"


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("bash(curl:*)", Action(tool="Bash", input={"command": "curl x"}, command="curl x")),
        ("READ(~/.ssh/**)", Action(tool="Read", input={}, reads=("/home/u/.ssh/id",), read_only=True)),
        ("webfetch", Action(tool="WebFetch", input={}, url="https://example.org/")),
    ],
)
def test_a_deny_rule_is_not_lost_over_the_case_of_a_letter(line: str, call: Action) -> None:
    rules = RuleSet.from_settings({"user": {"deny": [line]}})
    context = PermissionContext(cwd="/home/u/w", home="/home/u", rules=rules, mode="bypassPermissions")
    assert decide(call, context).decision == "deny"


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("Task(explore)", Action(tool="Agent", input={"subagent_type": "explore"})),
        ("Task", Action(tool="Agent", input={"subagent_type": "explore"})),
        ("mcp__*", Action(tool="mcp__db__query", input={})),
        ("*", Action(tool="Read", input={}, reads=("/home/u/w/a",), read_only=True)),
        ("Web*", Action(tool="WebSearch", input={"query": "x"})),
        ("Bash(git * main:*)", Action(tool="Bash", input={}, command="git push origin main --force")),
        ("Bash(git * main:*)", Action(tool="Bash", input={}, command="git push origin main")),
    ],
)
def test_deny_rules_of_claude_code_mean_here_what_they_mean_there(line: str, call: Action) -> None:
    rules = RuleSet.from_settings({"user": {"deny": [line]}})
    assert not rules.problems
    tools = frozenset({"Agent", "Read", "WebSearch", "Bash", "mcp__db__query"})
    context = PermissionContext(cwd="/home/u/w", home="/home/u", rules=rules, mode="bypassPermissions", tools=tools)
    assert decide(call, context).decision == "deny"


@pytest.mark.parametrize("line", ["*", "mcp__*", "Web*"])
def test_an_allow_rule_speaks_of_one_tool_or_one_server(line: str) -> None:
    rules = RuleSet.from_settings({"user": {"allow": [line]}})
    assert not rules.rules and "several tools" in rules.problems[0].message


def test_a_rule_for_several_tools_says_nothing_of_others() -> None:
    several = parse_rule("mcp__*", behaviour="deny")
    assert several.names_tool("mcp__a__b") and not several.names_tool("Bash")
    git = RuleSet.from_settings({"user": {"deny": ["Bash(git * main:*)"]}})
    context = PermissionContext(cwd="/home/u/w", home="/home/u", rules=git, mode="bypassPermissions")
    other = Action(tool="Bash", input={}, command="git push origin maintenance")
    assert decide(other, context).decision != "deny"
