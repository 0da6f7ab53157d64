"""docs/settings.md, made from the schema: every key, its type, default and meaning."""

from collections.abc import Iterator
from typing import cast

import orjson

from assent.storage.settings.schema import generated
from assent.storage.settings.structure import OWN_ONLY
from assent.types.blocks import Json

HEAD = """# Settings

<!-- Made by `make settings` from server/assent/storage/settings/structure.py. Change that file, not this one. -->

Settings are JSON files. Later places win over earlier ones; rule lists and hooks of all places are united.

| place | file |
|---|---|
| user | `$XDG_CONFIG_HOME/assent/settings.json` (`~/.config/assent/settings.json`) |
| project | `.assent/settings.json` in the project; shared with others |
| local | `.assent/settings.local.json` in the project; yours alone |
| editor | the settings that your editor hands over |
| command line | `--settings` and other options |
| session | what was chosen in the conversation |
| policy | `/etc/assent/policy.json`; set by whoever manages the machine |

Of the files of Claude Code (`~/.claude/settings.json`, or where `CLAUDE_CONFIG_DIR` points; `.claude/settings.json` and
`.claude/settings.local.json` in the project) Assent reads `hooks`, `disableAllHooks`, `allowedHttpHookUrls`,
`httpHookAllowedEnvVars` and the lists of `permissions`, and nothing else; of `.github/hooks/*.json` it reads `hooks`.
`"readClaudeSettings": false` turns that off.

- What comes with a project can only restrict until you trust the project: its deny and ask rules apply at once, all
  else after you were shown it.
- A wrong or unknown key is named with its file and line, with a suggestion; the rest of the file applies. A file that
  is no JSON at all still gives its deny and ask rules.
- `assent doctor` shows which file set each value; so does `assent/settings/get` in `origins`.
- Editors complete and check the files with the schema in the package,
  `assent/storage/settings/settings.schema.json`; the VS Code extension does so by itself. In other editors, `"$schema"`
  in the file may point to it.

Keys marked with * are read from your own settings only, never from a project's.

"""


def page() -> str:
    schema = generated()
    definitions = cast("dict[str, Json]", schema["$defs"])
    parts = [HEAD, *_table("", cast("dict[str, Json]", schema["properties"]), definitions)]
    for key, rule in cast("dict[str, Json]", schema["properties"]).items():
        name, inner = _structure(rule, definitions)
        if inner is not None:
            suffix = "" if name == key or "$ref" in rule else ".NAME"
            parts += [f"\n## {key}{suffix}\n\n", *_said(inner), *_table(key, inner["properties"], definitions)]
    parts += ["\n## hooks\n\nSee [hooks.md](hooks.md) for what each event gets and may change.\n\n"]
    parts += _table("hooks", cast("Json", schema["properties"]["hooks"])["properties"], definitions)
    parts += ["\n### A handler\n\n", *_table("hooks", definitions["HookGroup"]["properties"], definitions)]
    return "".join(parts)


def _said(rule: Json) -> list[str]:
    return [f"{rule['description']}\n\n"] if rule.get("description") else []


def _table(key: str, properties: Json, definitions: dict[str, Json]) -> Iterator[str]:
    if key == "hooks" and "PreToolUse" in properties:
        yield "| event | fires |\n|---|---|\n"
        for name, rule in cast("dict[str, Json]", properties).items():
            yield f"| `{name}` | {rule['description']} |\n"
        return
    yield "| key | type | default | meaning |\n|---|---|---|---|\n"
    for name, rule in cast("dict[str, Json]", properties).items():
        if name == "$schema":
            continue
        own = "*" if not key and name in OWN_ONLY else ""
        words = str(rule.get("description", "")).removesuffix(" Never read from project files.")
        examples = "".join(f" Example: `{_json(each)}`." for each in cast("list[object]", rule.get("examples", [])))
        kind = _kind(rule, definitions).replace("|", "\\|")
        yield f"| `{name}`{own} | {kind} | {_default(rule)} | {words.replace('|', chr(92) + '|')}{examples} |\n"


def _structure(rule: Json, definitions: dict[str, Json]) -> tuple[str, Json | None]:
    inner = rule.get("additionalProperties")
    reference = rule.get("$ref") or (cast("Json", inner).get("$ref") if isinstance(inner, dict) else None)
    name = str(reference).rpartition("/")[2] if reference else ""
    return name, definitions[name] if name and name != "HookGroup" else None


def _kind(rule: Json, definitions: dict[str, Json]) -> str:
    if "enum" in rule:
        return " or ".join(f"`{each}`" for each in rule["enum"])
    if "$ref" in rule:
        return "object"
    match rule.get("type"):
        case "array":
            return f"list of {_kind(rule.get('items', {}), definitions)}"
        case "object":
            inner = rule.get("additionalProperties")
            return f"object of {_kind(cast('Json', inner), definitions)}" if isinstance(inner, dict) else "object"
        case str(kind):
            return {"integer": "whole number"}.get(kind, kind)
        case _:
            kinds = [_kind(each, definitions) for each in cast("list[Json]", rule.get("anyOf", []))]
            return " or ".join(kinds) or "any"


def _default(rule: Json) -> str:
    return f"`{_json(rule['default'])}`" if "default" in rule and rule["default"] not in ([], {}) else ""


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
