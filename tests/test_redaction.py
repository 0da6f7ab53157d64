"""The one redactor: it finds what is secret by its value or its shape, and changes nothing else."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.types import redaction
from assent.types.redaction import REDACTED, hold, redact

TOKENS = {  # built here, so that no scanner takes this file for a leak
    "anthropic": "sk-" + "ant-api03-" + "Ab3_-" * 10,
    "openai": "sk-" + "proj-" + "x9Y" * 12,
    "plain sk": "sk-" + "a1B2" * 12,
    "github": "ghp" + "_" + "aB3" * 12,
    "github fine": "github" + "_pat_" + "11A_" * 10,
    "gitlab": "glpat" + "-" + "x-Y_" * 6,
    "aws": "AKIA" + "ABCDEFGH12345678",
    "slack": "xoxb" + "-" + "1234-5678-abcdefgh",
    "google": "AIza" + "a1_-b" * 7,
    "npm": "npm" + "_" + "a1B2" * 9,
    "jwt": ".".join(
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256"}, {"sub": "1234567890"}, {"signature": "abcdefgh"})
    ),
}
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\nAAAA\n-----END OPENSSH PRIVATE KEY-----"
ORDINARY = (
    "sk-learn, task-runner, ask-anything-about-this-very-long-name, gh_pages, AKIA, eyJ, npm_config_registry=x, "
    "authorization: config.authorizationHeader, Authorization: Bearer ${TOKEN}, Authorization: Bearer process.env.TOKEN, "
    "x-api-key: your-api-key-goes-here, -----BEGIN CERTIFICATE-----, -----BEGIN PUBLIC KEY-----, hf_model, "
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08, 550e8400-e29b-41d4-a716-446655440000"
)


@pytest.fixture(autouse=True)
def _nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_held", set[str]())


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("around", ["{}", 'key = "{}"', "({})", "https://x:{}@host/", "a\n{}\nb", "KEY={} next"])
def test_a_token_is_found_by_its_shape_wherever_it_stands(token: str, around: str) -> None:
    assert redact(around.format(token)) == around.format(REDACTED)


@pytest.mark.parametrize(
    ("header", "left"),
    [
        ("Authorization: Bearer abcdef0123456789abcdef", f"Authorization: Bearer {REDACTED}"),
        ("authorization: basic dXNlcjpwYXNzd29yZDE=", f"authorization: basic {REDACTED}"),
        ("'Authorization': 'token 0123456789abcdef01'", f"'Authorization': 'token {REDACTED}'"),
        ("-H x-api-key: 0123456789abcdef0", f"-H x-api-key: {REDACTED}"),
    ],
)
def test_the_value_of_an_authorization_header_goes_and_its_name_stays(header: str, left: str) -> None:
    assert redact(header) == left


def test_a_private_key_goes_whole_also_when_its_end_was_cut_off() -> None:
    assert redact(f"before\n{KEY}\nafter") == f"before\n{REDACTED}\nafter"
    assert redact(f"before\n{KEY[:60]}") == f"before\n{REDACTED}"


def test_ordinary_text_that_looks_a_little_like_a_secret_stays() -> None:
    assert redact(ORDINARY) == ORDINARY


def test_a_value_that_is_held_goes_whatever_its_shape() -> None:
    hold("correct horse battery", "short", None)
    assert redact("it is correct horse battery, in short") == f"it is {REDACTED}, in short"


@given(st.text(alphabet=st.characters(exclude_characters="-_.:="), max_size=200))
def test_text_without_the_marks_of_a_token_is_never_changed(text: str) -> None:
    assert redact(text) == text


PIECES = st.one_of(st.text(max_size=20), st.sampled_from([*TOKENS.values(), KEY, ORDINARY, "Authorization: Bearer "]))


@given(st.lists(PIECES, max_size=8))
def test_all_that_is_left_was_there_before_in_the_same_order_and_doing_it_twice_changes_nothing(
    pieces: list[str],
) -> None:
    text = "".join(pieces).replace(REDACTED, "")
    once = redact(text)
    at = 0
    for kept in once.split(REDACTED):
        found = text.find(kept, at)
        assert found >= 0
        at = found + len(kept)
    assert once.startswith(text[: len(once.partition(REDACTED)[0])])
    assert redact(once) == once


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "seed", ["eyJ", "sk-ant-", "-----BEGIN PRIVATE KEY-----", "ghp_", "Authorization: Bearer ", "x-api-key:", "a.eyJ"]
)
def test_no_text_takes_more_than_one_look_at_it(seed: str) -> None:
    """Were the time not linear, a megabyte of beginnings would take minutes."""
    text = seed * (1_000_000 // len(seed))
    assert len(redact(text)) <= len(text)
