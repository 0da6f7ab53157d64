"""What the wire asks of the program as a whole: its status, the models on offer, whether a key works."""

from collections.abc import Callable, Sequence
from pathlib import Path

from assent.assembly.model_access import ModelAccess
from assent.model.model_settings import model_settings
from assent.permissions.managed import ManagedPolicy
from assent.storage.settings import SettingsFiles
from assent.storage.trust import UNTRUSTED, TrustStore
from assent.types.blocks import Json


class ProgramAnswers:
    """`access` says whose models are meant: clients of one program may reach theirs in different ways."""

    def __init__(
        self,
        settings: SettingsFiles,
        trust: TrustStore,
        policy: ManagedPolicy,
        roots: Callable[[], Sequence[str]],
    ) -> None:
        self._settings = settings
        self._trust = trust
        self._policy = policy
        self._roots = roots
        self._home = str(Path.home())

    def status(self, access: ModelAccess) -> Json:
        models = access.models
        return {
            "model": models.default_model,
            "offline": models.offline,
            "credentials": models.credentials.source,
            "warnings": self._warnings(),
        }

    async def offered_models(self, access: ModelAccess, cwd: str, refresh: bool) -> Json:
        own = self._settings.load(cwd, trust=self._trust.of(cwd))
        named = tuple(str(own.get(key)) for key in ("model", "smallModel", "fallbackModel") if own.get(key))
        offer, models = await access.models.offered(refresh=refresh, own=named)
        answer: Json = {
            "models": [{"id": each.id, "name": each.name, "source": each.source} for each in models],
            "endpoint": offer.endpoint,
            "askedAt": offer.asked_at or None,
            "error": offer.error or None,
        }
        return {name: value for name, value in answer.items() if value is not None}

    async def check_key(self, access: ModelAccess, key: str | None) -> Json:
        # The settings as they are now: whoever sets a key may just have set its endpoint.
        now = model_settings(self._settings.load(self._home, trust=UNTRUSTED).values)
        found = await access.models.check_key(key, now.endpoint)
        answer = {"verdict": found.verdict, "endpoint": found.endpoint, "detail": found.detail}
        return {name: value for name, value in answer.items() if value}

    def _warnings(self) -> list[Json]:
        """What is wrong with the settings that count here, once each."""
        found: dict[str, Json] = {}
        for folder in self._roots() or (self._home,):
            for problem in self._settings.load(folder, trust=self._trust.of(folder)).problems:
                found[str(problem)] = {"kind": "settings", "text": str(problem), "hint": problem.hint}
        for text in self._policy.current().problems:
            found[text] = {"kind": "policy", "text": text, "hint": "Ask whoever manages this machine."}
        return list(found.values())
