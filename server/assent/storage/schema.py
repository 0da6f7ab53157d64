"""The settings, documented as one JSON schema, and a small checker for the part of JSON schema it uses.

The checker names the key that is wrong, so that one bad value never takes the good ones with it. It is ours because
settings are read on the way to the first prompt, where a schema library's import would be felt.
"""

from typing import Any, cast

from assent.types.blocks import Json
from assent.types.permissions import MODES

_RULES: Json = {"type": "array", "items": {"type": "string", "minLength": 1}}

SCHEMA: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Assent settings",
    "type": "object",
    "properties": {
        "model": {"type": "string", "minLength": 1, "description": "The model that works for you."},
        "smallModel": {
            "type": "string",
            "minLength": 1,
            "description": "The model for titles, summaries, classifiers.",
        },
        "fallbackModel": {"type": "string", "minLength": 1, "description": "Used when the model stays overloaded."},
        "thinking": {"type": ["object", "null"], "description": "Extended thinking, as the Messages API takes it."},
        "effort": {"type": "string", "enum": ["low", "medium", "high", "xhigh", "max"]},
        "permissions": {
            "type": "object",
            "properties": {
                "allow": {**_RULES, "description": "Calls that need no asking, such as `Bash(npm test)`."},
                "ask": {**_RULES, "description": "Calls that are always asked about."},
                "deny": {**_RULES, "description": "Calls that are refused; stronger than any allow."},
                "defaultMode": {"type": "string", "enum": list(MODES)},
                "askTimeoutSeconds": {"type": "number", "minimum": 1, "description": "Deny an ask nobody answers."},
                "disableBypassPermissions": {"type": "boolean", "description": "Policy: that mode is refused."},
                "managedRulesOnly": {"type": "boolean", "description": "Policy: only its own allow rules apply."},
                "modes": {"type": "array", "items": {"type": "string"}, "description": "Policy: modes one may use."},
            },
        },
        "tools": {
            "type": "object",
            "properties": {"disabled": {"type": "array", "items": {"type": "string"}}},
            "description": "Policy: tools nobody may use.",
        },
        "hooks": {
            "type": "object",
            "description": "Not supported yet.",
            "additionalProperties": {"type": "array", "items": {"type": "object"}},
        },
        "env": {
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": "Variables for the commands the agent runs.",
        },
        "mcpServers": {
            "type": "object",
            "description": "Not supported yet.",
            "additionalProperties": {"type": "object"},
        },
        "sandbox": {"type": "object", "description": "How shell commands are confined."},
        "review": {"type": "string", "enum": ["before", "after", "off"]},
        "maxTurns": {"type": "integer", "minimum": 1, "description": "The most steps in one turn."},
        "maxBudgetUsd": {"type": "number", "minimum": 0},
        "backgroundCalls": {
            "type": "object",
            "description": "Calls to the small model beside the conversation; each kind is off unless true.",
            "properties": {
                kind: {"type": "boolean"} for kind in ("summary", "collapse", "suggestion", "memory", "dream")
            },
        },
        "appendSystemPrompt": {"type": "string"},
        "memory": {"type": "boolean", "description": "Read ASSENT.md, AGENTS.md and CLAUDE.md."},
        "allowPrivateAddresses": {"type": "array", "items": {"type": "string"}},
        "provider": {"type": "string", "enum": ["anthropic", "bedrock", "vertex", "foundry", "offline"]},
        "baseUrl": {"type": "string", "description": "The endpoint; never read from project files."},
        "apiKeyHelper": {
            "type": "string",
            "description": "A command that prints a key; never read from project files.",
        },
        "region": {"type": "string", "description": "Of the provider: AWS or Google Cloud."},
        "project": {"type": "string", "description": "The Google Cloud project."},
        "resource": {"type": "string", "description": "The Foundry resource."},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}, "description": "For the endpoint."},
        "proxy": {"type": "string", "description": "Goes before the proxies in the environment."},
        "caBundle": {"type": "string", "description": "A file of certificates to trust for the endpoint."},
        "betas": {"type": "array", "items": {"type": "string"}, "description": "Beta names sent with every call."},
        "promptCache": {"type": "string", "enum": ["5m", "1h", "off"], "description": "How long prompts stay cached."},
        "contextEdits": {
            "type": "boolean",
            "description": "Let the endpoint itself clear old tool results, where it offers that.",
        },
        "fastMode": {"type": "boolean", "description": "Faster and dearer, on models that offer it."},
        "models": {
            "type": "object",
            "additionalProperties": {"type": "object"},
            "description": "What we should know of a model and do not: contextWindow, maxOutputTokens, inputPrice …",
        },
        "persistentRetry": {"type": "boolean", "description": "Unattended: retry for ever."},
    },
}

NOT_YET = frozenset({"hooks", "mcpServers"})
"""Keys that are kept for what is still to come. Whoever sets one is told that nothing reads it."""

NEVER_FROM_PROJECT = frozenset(
    {
        "apiKeyHelper",
        "baseUrl",
        "betas",
        "caBundle",
        "fastMode",
        "headers",
        "models",
        "project",
        "promptCache",
        "provider",
        "proxy",
        "region",
        "resource",
    }
)
"""Who we talk to and with whose key: a repository has no say in it, trusted or not."""


def problems(value: object, schema: Json, path: str = "") -> list[tuple[str, str]]:
    """(key, what is wrong), for each wrong part; keys are dotted, the innermost wrong one is named."""
    kinds = schema.get("type")
    allowed = [kinds] if isinstance(kinds, str) else cast("list[str]", kinds or [])
    if allowed and not any(_is(value, kind) for kind in allowed):
        return [(path, f"must be {_words(allowed)}, not {_name(value)}")]
    found: list[tuple[str, str]] = []
    if "enum" in schema and value not in schema["enum"]:
        found.append((path, f"must be one of {', '.join(map(str, schema['enum']))}"))
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        found.append((path, "must not be empty"))
    if isinstance(value, int | float) and value < schema.get("minimum", value):
        found.append((path, f"must be at least {schema['minimum']}"))
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(cast("list[object]", value)):
            found += problems(item, schema["items"], f"{path}[{index}]")
    if isinstance(value, dict):
        known: Json = schema.get("properties", {})
        rest: Any = schema.get("additionalProperties")
        for key, item in cast("dict[str, object]", value).items():
            inner = known.get(key, rest)
            if isinstance(inner, dict):
                found += problems(item, cast("Json", inner), f"{path}.{key}" if path else key)
    return found


def unknown_keys(value: Json) -> list[str]:
    return [key for key in value if key not in SCHEMA["properties"] and key != "$schema"]


def _is(value: object, kind: str) -> bool:
    match kind:
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "null":
            return value is None
        case _:
            return True


def _words(kinds: list[str]) -> str:
    spoken = {"object": "an object", "array": "a list", "null": "null", "integer": "a whole number"}
    return " or ".join(spoken.get(kind, f"a {kind}") for kind in kinds)


def _name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"
