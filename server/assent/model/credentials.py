"""Where the key comes from: the environment, the editor, a profile of the user, or the provider. Never a project file.

Cheap by design: it looks at variables and whether files exist, and imports nothing, so that `initialize` and `doctor`
can name the source at once. What it finds is what the SDK's own chain will then use; the order is the same.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Provider = Literal["anthropic", "bedrock", "vertex", "foundry"]
Source = Literal["none", "env", "editor", "helper", "profile", "federation", "local", "bedrock", "vertex", "foundry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """`detail` says in a few words what was found, and is safe to show: it never holds the secret."""

    source: Source
    detail: str = ""
    api_key: str | None = None
    auth_token: str | None = None

    def __repr__(self) -> str:
        return f"Credentials(source={self.source!r}, detail={self.detail!r})"


def find(
    *,
    env: Mapping[str, str] | None = None,
    editor_key: str | None = None,
    key_helper: str | None = None,
    provider: Provider = "anthropic",
    base_url: str | None = None,
) -> Credentials:
    env = os.environ if env is None else env
    if provider != "anthropic":
        return _of_provider(provider, env, editor_key)
    if editor_key:
        return Credentials(source="editor", detail="a key handed over by the editor", api_key=editor_key)
    if key := env.get("ANTHROPIC_API_KEY"):
        return Credentials(source="env", detail="ANTHROPIC_API_KEY", api_key=key)
    if token := env.get("ANTHROPIC_AUTH_TOKEN"):
        return Credentials(source="env", detail="ANTHROPIC_AUTH_TOKEN", auth_token=token)
    if key_helper:
        return Credentials(source="helper", detail="the command in apiKeyHelper")
    if profile := env.get("ANTHROPIC_PROFILE"):
        return Credentials(source="profile", detail=f"the profile {profile}")
    if _federated(env):
        return Credentials(source="federation", detail="workload identity from the environment")
    if (profile := _active_profile(env)) is not None:
        return Credentials(source="profile", detail=f"the profile {profile}")
    if url := base_url or env.get("ANTHROPIC_BASE_URL"):
        # A server of one's own often wants no key; the SDK insists on sending something.
        return Credentials(source="local", detail=f"no key, but an endpoint of your own: {url}", api_key="none")
    return Credentials(source="none", detail="no ANTHROPIC_API_KEY, profile or key from the editor")


def _of_provider(provider: Provider, env: Mapping[str, str], editor_key: str | None) -> Credentials:
    match provider:
        case "bedrock":
            if editor_key or env.get("AWS_BEARER_TOKEN_BEDROCK"):
                return Credentials(source="bedrock", detail="a Bedrock API key", api_key=editor_key)
            return Credentials(source="bedrock", detail="the AWS credential chain")
        case "vertex":
            return Credentials(source="vertex", detail="Google application default credentials")
        case "foundry":
            detail = "a Foundry API key" if editor_key or env.get("ANTHROPIC_FOUNDRY_API_KEY") else "no Foundry API key"
            return Credentials(source="foundry", detail=detail, api_key=editor_key)
        case "anthropic":
            raise AssertionError("handled by find")


def _federated(env: Mapping[str, str]) -> bool:
    token = env.get("ANTHROPIC_IDENTITY_TOKEN") or env.get("ANTHROPIC_IDENTITY_TOKEN_FILE")
    return bool(token and env.get("ANTHROPIC_FEDERATION_RULE_ID") and env.get("ANTHROPIC_ORGANIZATION_ID"))


def _active_profile(env: Mapping[str, str]) -> str | None:
    """The profile the SDK would load from the user's configuration, if its file is there."""
    folder = _config_folder(env)
    if folder is None:
        return None
    try:
        name = (folder / "active_config").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        name = ""
    profile = name or "default"
    if "/" in profile or "\\" in profile or profile.startswith("."):
        return None
    try:
        return profile if (folder / "configs" / f"{profile}.json").is_file() else None
    except OSError:
        return None


def _config_folder(env: Mapping[str, str]) -> Path | None:
    if folder := env.get("ANTHROPIC_CONFIG_DIR"):
        return Path(folder)
    if os.name == "nt":
        return Path(env["APPDATA"]) / "Anthropic" if env.get("APPDATA") else None
    return Path(env["HOME"]) / ".config" / "anthropic" if env.get("HOME") else None
