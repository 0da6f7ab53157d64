"""Which error everyone above is told of."""

import pytest

from assent.model.failures import CallFailed, as_model_error, from_answer, retry_after
from assent.types.errors import MediaTooLarge, ModelError, NoCredentials, PromptTooLong, StreamInterrupted


def answer(status: int, message: str, kind: str = "invalid_request_error", **headers: str) -> CallFailed:
    return from_answer(status, headers, {"type": "error", "error": {"type": kind, "message": message}}, now=0.0)


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (400, "prompt is too long: 208310 tokens > 200000 maximum", (208_310, 200_000)),
        (400, "Prompt is too long", (None, None)),
        (413, "Prompt is too long: 5 tokens > 4 maximum", (5, 4)),
        (413, "Request exceeds the maximum size", (None, None)),
    ],
)
def test_a_prompt_too_long_carries_the_numbers_it_was_told(
    status: int, message: str, expected: tuple[int | None, int | None]
) -> None:
    error = as_model_error(answer(status, message))
    assert isinstance(error, PromptTooLong)
    assert ((error.actual, error.limit), error.status) == (expected, status)


@pytest.mark.parametrize(
    "message",
    [
        "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes",
        "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
        "A maximum of 100 PDF pages may be provided: too many pages in the PDF, maximum 100",
        "The PDF specified is password protected.",
    ],
)
def test_media_the_endpoint_will_not_take_is_named_so(message: str) -> None:
    assert isinstance(as_model_error(answer(400, message)), MediaTooLarge)


def test_a_body_too_large_is_about_media_when_there_is_some() -> None:
    failure = answer(413, "Request exceeds the maximum size", "request_too_large")
    failure.has_media = True
    assert isinstance(as_model_error(failure), MediaTooLarge)


def test_401_says_what_to_do() -> None:
    error = as_model_error(answer(401, "invalid x-api-key", "authentication_error"))
    assert isinstance(error, NoCredentials)
    assert "ANTHROPIC_API_KEY" in str(error)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (402, "billing_error"),
        (403, "permission_error"),
        (404, "not_found_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (504, "timeout_error"),
        (529, "overloaded_error"),
    ],
)
def test_other_statuses_keep_kind_status_and_request_id(status: int, kind: str) -> None:
    error = as_model_error(answer(status, "so it is", kind, **{"request-id": "req_1"}))
    assert (type(error), error.kind, error.status, error.request_id, str(error)) == (
        ModelError,
        kind,
        status,
        "req_1",
        "so it is",
    )


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        (502, "<html><h1>Bad\n Gateway</h1></html>", "api_error", "Bad Gateway"),
        (429, None, "rate_limit_error", "HTTP 429"),
        (529, {}, "overloaded_error", "HTTP 529"),
        (418, [], "invalid_request_error", "HTTP 418"),
        (500, {"error": "words"}, "api_error", "HTTP 500"),
    ],
)
def test_bodies_that_are_not_the_usual_json_still_make_sense(
    status: int, body: object, kind: str, message: str
) -> None:
    failure = from_answer(status, {}, body, now=0.0)
    assert (failure.kind, failure.message) == (kind, message)


@pytest.mark.parametrize("kind", ["stalled", "malformed", "stream_interrupted"])
def test_a_broken_stream_stays_one(kind: str) -> None:
    assert isinstance(as_model_error(CallFailed(message="x", kind=kind)), StreamInterrupted)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
    ],
)
def test_retry_after_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=10.0) == seconds
