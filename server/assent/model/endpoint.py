"""Where models are reached and as whom. Data only, and cheap to import; `transport` does the calling."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from assent.model.credentials import Credentials, Provider, find

FIRST_PARTY = "https://api.anthropic.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where and as whom to call. Nothing here may come from a project's files."""

    provider: Provider = "anthropic"
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)  # from the editor; when None the environment is looked at
    key_helper: str | None = None  # a command of the user that prints a key; run again after a 401
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    region: str | None = None  # Bedrock, Vertex
    project: str | None = None  # Vertex
    resource: str | None = None  # Foundry
    ca_bundle: str | None = None
    proxy: str | None = None
    connect_timeout: float = 10.0
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)

    @property
    def first_party(self) -> bool:
        """Whether it is the API itself, and no gateway or other provider, which may lack what is new."""
        address = self.base_url or self.env.get("ANTHROPIC_BASE_URL") or FIRST_PARTY
        return self.provider == "anthropic" and address.rstrip("/") == FIRST_PARTY

    def credentials(self) -> Credentials:
        return find(
            env=self.env,
            editor_key=self.api_key,
            key_helper=self.key_helper,
            provider=self.provider,
            base_url=self.base_url,
        )
