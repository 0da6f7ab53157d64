"""Making the `anthropic` SDK's client for a provider: credentials, proxies, certificates. Its own retries are off.

The SDK takes more than a second to import, so nothing here imports it before it is asked to, and all of this is meant
to run in a thread.
"""

from __future__ import annotations

import ssl
import subprocess
from typing import TYPE_CHECKING, Any, cast

from assent.model.endpoint import Endpoint
from assent.types.errors import ModelError, NoCredentials
from assent.types.redaction import hold

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic

HELPER_SECONDS = 30


def make_client(endpoint: Endpoint) -> AsyncAnthropic:
    import anthropic
    import httpx2

    timeout = httpx2.Timeout(None, connect=endpoint.connect_timeout, write=60.0)
    common: dict[str, Any] = {
        "max_retries": 0,
        "timeout": timeout,
        "default_headers": dict(endpoint.headers),
        "http_client": _http_client(endpoint, timeout),
        "open_telemetry": False,
    }
    if endpoint.base_url:
        common["base_url"] = endpoint.base_url
    found = endpoint.credentials()
    try:
        match endpoint.provider:
            case "anthropic":
                common.setdefault("base_url", endpoint.env.get("ANTHROPIC_BASE_URL") or None)
                key = _helped_key(endpoint) if found.source == "helper" else found.api_key
                return anthropic.AsyncAnthropic(api_key=key, auth_token=found.auth_token, **common)
            case "bedrock":
                from anthropic.lib.bedrock import AsyncAnthropicBedrock

                bedrock: Any = AsyncAnthropicBedrock
                return bedrock(aws_region=endpoint.region, api_key=found.api_key, **common)
            case "vertex":
                from anthropic.lib.vertex import AsyncAnthropicVertex

                vertex: Any = AsyncAnthropicVertex
                known = {"region": endpoint.region, "project_id": endpoint.project}
                return vertex(**{name: value for name, value in known.items() if value}, **common)
            case "foundry":
                foundry: Any = anthropic.AsyncAnthropicFoundry
                return foundry(resource=endpoint.resource, api_key=found.api_key, **common)
    except anthropic.AnthropicError as error:
        raise NoCredentials(str(error)) from None
    except (ValueError, ImportError, RuntimeError, httpx2.InvalidURL) as error:
        raise unusable(endpoint, error) from None


def unusable(endpoint: Endpoint, error: Exception) -> ModelError:
    said = f"The {endpoint.provider} provider cannot be used: {error}"
    if isinstance(error, ImportError):
        said += f". Install assent-lsp[{endpoint.provider}]"
    return ModelError(said, kind="settings")


def _helped_key(endpoint: Endpoint) -> str:
    """Runs the user's own command, as they would in a shell. What it prints is a secret: it is never repeated."""
    try:
        done = subprocess.run(
            endpoint.key_helper or "",
            shell=True,
            env=dict(endpoint.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HELPER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NoCredentials(f"The command in apiKeyHelper gave no key within {HELPER_SECONDS} seconds.") from None
    key = done.stdout.strip()
    if done.returncode != 0 or not key or "\n" in key:
        said = done.stderr.strip().splitlines()[-1:] or ["it must print a key and nothing else"]
        raise NoCredentials(f"The command in apiKeyHelper failed ({done.returncode}): {said[0][:200]}")
    hold(key)
    return key


def _http_client(endpoint: Endpoint, timeout: httpx2.Timeout) -> httpx2.AsyncClient:
    """The SDK's own defaults (environment proxies, keep-alive), with the user's proxy and certificates laid over."""
    import anthropic
    import httpx2

    options: dict[str, Any] = {"timeout": timeout}
    verify: ssl.SSLContext | None = None
    if endpoint.ca_bundle:
        try:
            verify = ssl.create_default_context(cafile=endpoint.ca_bundle)
        except (OSError, ssl.SSLError) as error:
            said = f"The certificates in {endpoint.ca_bundle} cannot be used: {error}"
            raise ModelError(said, kind="settings") from None
        options["verify"] = verify
    if endpoint.proxy:
        through = {"verify": verify} if verify is not None else {}
        options["mounts"] = {"all://": httpx2.AsyncHTTPTransport(proxy=endpoint.proxy, **cast("Any", through))}
    return anthropic.DefaultAsyncHttpxClient(**options)
