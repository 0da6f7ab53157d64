"""What hooks are told of a turn's surroundings, under the names that existing scripts compare with. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from assent.types.blocks import Json

LONGEST = 1_000  # characters of a description or a command
_FAILURES: dict[str, str] = {
    "rate_limit_error": "rate_limit",
    "overloaded_error": "overloaded",
    "authentication_error": "authentication_failed",
    "permission_error": "authentication_failed",
    "no_credentials": "authentication_failed",
    "billing_error": "billing_error",
    "invalid_request_error": "invalid_request",
    "request_too_large": "invalid_request",
    "prompt_too_long": "invalid_request",
    "media_too_large": "invalid_request",
    "image_error": "invalid_request",
    "not_found_error": "model_not_found",
    "api_error": "server_error",
    "timeout_error": "server_error",
    "stream_interrupted": "server_error",
    "stalled": "server_error",
    "malformed": "server_error",
    "max_output_tokens_exhausted": "max_output_tokens",
}


def failure_name(kind: str) -> str:
    """`error` of StopFailure, which its matchers match; `kind` is that of a `ModelError` or the reason of the end."""
    return _FAILURES.get(kind, "unknown")


def background_tasks(jobs: Iterable[Json], agents: Iterable[Json]) -> list[Json]:
    """What still runs when a turn ends: commands, as `Jobs.list` tells of them, and agents in the background."""
    shells = [
        {"id": job["jobId"], "type": "shell", "status": "running", "description": said, "command": said}
        for job in jobs
        if job["state"] == "running"
        for said in [_cut(str(job["command"]))]
    ]
    helpers = [
        {
            "id": agent["agentId"],
            "type": "subagent",
            "status": "running",
            "description": _cut(str(agent["title"])),
            "agent_type": agent["name"],
        }
        for agent in agents
        if agent["state"] == "running" and agent["background"]
    ]
    return [*shells, *helpers]


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… [+{len(text) - LONGEST} chars]"
