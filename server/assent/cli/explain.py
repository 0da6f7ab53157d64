"""`assent explain`: what the permission chain would decide. One JSON object a line in, one answer a line out.

A line that cannot be understood gets an answer too, `{"error": {kind, message}}`, and the next line is read.
"""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TextIO, cast

import orjson

from assent.permissions.context import PermissionContext, Policy
from assent.permissions.explain import explain
from assent.permissions.managed import ManagedPolicy
from assent.permissions.rules import Behaviour, RuleSet, parse_rule
from assent.storage.paths import POLICY_FILE, config_dir, data_dir
from assent.storage.settings import SettingsFiles
from assent.storage.trust import EVERYTHING, UNTRUSTED
from assent.tools.process import sandbox
from assent.types.blocks import Json
from assent.types.errors import AssentError, ProtocolError
from assent.types.permissions import RuleSource
from assent.types.programs import keep_out

MAX_LINE = 1_000_000


def run(stdin: TextIO, stdout: TextIO, *, policy_file: Path = POLICY_FILE, config: Path | None = None) -> int:
    """Answers every line; always 0, since a line nobody understands is answered too."""
    files = SettingsFiles(config_dir=config or config_dir(), policy_file=policy_file, parse_rule=parse_rule)
    policy = ManagedPolicy(policy_file).current()
    for line in stdin:
        if not line.strip():
            continue
        answer = _answer(line, files, policy)
        stdout.write(orjson.dumps(answer).decode() + "\n")
        stdout.flush()
    return 0


def _answer(line: str, files: SettingsFiles, policy: Policy) -> Json:
    try:
        if len(line) > MAX_LINE:
            raise ProtocolError("tooLarge", f"a line holds at most {MAX_LINE} characters")
        try:
            params: object = orjson.loads(line)
        except ValueError as error:
            raise ProtocolError("invalidRequest", f"not JSON: {error}") from None
        if not isinstance(params, dict):
            raise ProtocolError("invalidRequest", "each line must be a JSON object")
        question = cast("Json", params)
        answer = explain(question, context=_context(question, files, policy))
        if question.get("tool") == "Bash":
            answer["sandbox"] = sandbox.available()  # what would fence the command in; it changes no decision
        return answer
    except ProtocolError as error:
        return {"error": {"kind": error.kind, "message": str(error)}}
    except (AssentError, OSError, RecursionError) as error:
        return {"error": {"kind": "internal", "message": str(error)}}


def _context(question: Json, files: SettingsFiles, policy: Policy) -> PermissionContext | None:
    """The rules of the settings files, when the question gives none of its own."""
    cwd = question.get("cwd")
    if not isinstance(cwd, str) or not cwd.startswith("/") or "\0" in cwd:
        return None  # `explain` says so
    keep_out(cwd)
    own = (str(config_dir()), str(data_dir()))
    context = PermissionContext(cwd=cwd, home=str(Path.home()), policy=policy, own_dirs=own)
    if question.get("rules") is not None:
        return context
    with contextlib.suppress(OSError, ValueError):
        settings = files.load(cwd, trust=UNTRUSTED if question.get("trusted") is False else EVERYTHING)
        found: list[tuple[str, RuleSource, Behaviour]] = [
            (rule.rule, rule.source, rule.behaviour) for rule in settings.rules if rule.source != "policy"
        ]
        return replace(context, rules=RuleSet.from_rules(found))
    return context
