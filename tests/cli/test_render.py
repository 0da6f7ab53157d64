from assent.cli.chat import render
from assent.cli.chat.render import Palette

PLAIN = Palette(colour=False)


def test_a_proposal_is_shown_as_removed_and_added_lines() -> None:
    proposal = {
        "uri": "file:///proj/a%20b.py",
        "hunks": [
            {
                "range": {"start": {"line": 4, "character": 0}, "end": {"line": 5, "character": 0}},
                "oldText": "old\n",
                "newText": "new\r\nmore\r\n",
            }
        ],
    }
    assert render.proposal_diff(proposal, PLAIN) == [
        "  /proj/a b.py",
        "  @@ line 5",
        "  - old",
        "  + new",
        "  + more",
    ]


def test_characters_that_could_fool_the_reader_are_spelt_out() -> None:
    assert render.visible("a\x1b[2Jb\u202egnp\u200b\ttab") == "a⟨U+001B⟩[2Jb⟨U+202E⟩gnp⟨U+200B⟩\ttab"


def test_an_ask_for_a_command_shows_the_command_and_each_part() -> None:
    ask = {
        "title": "Run a command",
        "reason": "rm is not read-only",
        "input": {"command": "ls; rm x"},
        "command": {
            "text": "ls; rm x",
            "parts": [{"argv": ["ls"], "decision": "allow"}, {"argv": ["rm", "x"], "decision": "ask"}],
        },
    }
    assert render.ask_card(ask, PLAIN) == [
        "? Run a command",
        "  rm is not read-only",
        "  $ ls; rm x",
        "    ls  [allow]",
        "    rm x  [ask]",
    ]


def test_an_ask_for_anything_else_shows_its_input() -> None:
    ask = {"title": "Fetch", "reason": "asks", "input": {"url": "https://example.org", "prompt": "x" * 500}}
    lines = render.ask_card(ask, PLAIN)
    assert lines[2] == "  url: https://example.org"
    assert lines[3].endswith("… (500 characters)")


def test_a_result_says_how_it_ended_and_what_it_cost() -> None:
    result = {
        "usage": {"inputTokens": 1200, "outputTokens": 34},
        "numTurns": 1,
        "totalCostUsd": 0.5,
        "isError": False,
        "terminal": "completed",
        "result": "done",
    }
    assert render.result_line(result, PLAIN) == "✓ completed (1 step, 1,234 tokens, $0.5000)"
    failed = result | {"isError": True, "terminal": "model_error", "result": "no route", "numTurns": 2}
    assert render.result_line(failed, PLAIN) == "✗ model_error: no route (2 steps, 1,234 tokens, $0.5000)"


def test_long_tool_output_is_cut_with_a_count() -> None:
    event = {
        "isError": False,
        "summary": "12 lines",
        "content": [{"type": "text", "text": "\n".join(f"l{number}" for number in range(12))}],
    }
    lines = list(render.tool_lines(event, PLAIN))
    assert lines[0] == "  ✓ 12 lines"
    assert lines[-1] == "    … 4 more lines"


def test_a_result_is_not_said_twice_when_it_is_its_own_summary() -> None:
    event = {"isError": True, "summary": "no", "content": [{"type": "text", "text": "no"}]}
    assert list(render.tool_lines(event, PLAIN)) == ["  ✗ no"]
    longer = {"isError": False, "summary": "ok", "content": [{"type": "text", "text": "ok\nmore"}]}
    assert list(render.tool_lines(longer, PLAIN)) == ["  ✓ ok", "    more"]


def test_a_plan_is_shown_as_it_is_written() -> None:
    plan = {"tool": "ExitPlanMode", "title": "Use ExitPlanMode", "reason": "why", "input": {"plan": "1. this\n2. that"}}
    assert render.ask_card(plan, PLAIN) == ["? Go ahead with this plan?", "  why", "  1. this", "  2. that"]


def test_colour_is_left_out_when_nobody_would_see_it() -> None:
    assert Palette(colour=True).paint("red", "x") == "\x1b[31mx\x1b[0m"
    assert PLAIN.paint("red", "x") == "x"


def test_a_diff_on_a_terminal_is_red_and_green() -> None:
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    proposal = {"uri": "file:///a.py", "hunks": [{"range": span, "oldText": "old\n", "newText": "new\n"}]}
    painted = Palette(colour=True)
    lines = render.proposal_diff(proposal, painted)
    removed, added = (next(line for line in lines if word in line) for word in ("old", "new"))
    assert "\x1b[31m" in removed and "\x1b[32m" in added
