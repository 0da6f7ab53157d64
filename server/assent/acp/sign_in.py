"""Who pays for the model: the one way to authenticate, and signing out. The key itself is never stored here.

The key comes from the environment of the agent or from the user's own configuration, as everywhere in Assent, so
authenticating only checks that there is one. Signing out lasts until the client authenticates again.
"""

from collections.abc import Callable

from acp.schema import AuthMethodAgent

from acp import RequestError
from assent.types.errors import ProtocolError

METHOD = "environment"
HINT = "Set ANTHROPIC_API_KEY in the agent's `env`, or sign in to a profile of the Anthropic SDK, and start it again."


class ModelSignIn:
    def __init__(self, offline: Callable[[], bool]) -> None:
        self._offline = offline
        self._signed_out = False

    @staticmethod
    def methods() -> list[AuthMethodAgent]:
        return [
            AuthMethodAgent(
                id=METHOD,
                name="Key from the environment",
                description="Uses ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the credentials the Anthropic SDK finds.",
            )
        ]

    def authenticate(self, method_id: str) -> None:
        if method_id != METHOD:
            raise ProtocolError("invalidParams", f"there is no authentication method {method_id!r}", hint=HINT)
        if self._offline():
            raise RequestError(-32000, f"There are no credentials. {HINT}", {"kind": "noCredentials"})
        self._signed_out = False

    def sign_out(self) -> None:
        self._signed_out = True

    def require(self) -> None:
        """Without credentials the offline stand-in answers, which costs nobody anything: only signing out refuses."""
        if self._signed_out:
            raise RequestError(-32000, "You are signed out. Authenticate first.", {"kind": "noCredentials"})
