"""From the user's settings to a client, and which model that makes."""

import sys
from contextlib import aclosing
from pathlib import Path

import pytest
from anyio import fail_after

from assent.model.choice import Models
from assent.model.client import ModelSettings, make_call_model
from assent.model.http_transport import Endpoint
from assent.model.model_settings import model_settings
from assent.types.errors import NoCredentials
from assent.types.messages import AssistantFinal
from assent.types.ports import ModelRequest
from fakeapi import FakeApi, InstantClock, text
from fakeapi.talk import user


def test_every_key_reaches_its_place() -> None:
    settings = model_settings(
        {
            "provider": "vertex",
            "baseUrl": "http://127.0.0.1:1",
            "apiKeyHelper": "cat key",
            "headers": {"x-team": "blue"},
            "region": "eu",
            "project": "p",
            "resource": "r",
            "caBundle": "ca.pem",
            "proxy": "http://127.0.0.1:2",
            "betas": ["files-api-2025-04-14"],
            "promptCache": "1h",
            "fastMode": True,
            "models": {"local": {"contextWindow": 32_000, "thinkingModes": ["adaptive"], "id": "x", "nonsense": 1}},
        },
        api_key="from the editor",
    )
    endpoint = settings.endpoint
    assert (endpoint.provider, endpoint.base_url, endpoint.api_key) == (
        "vertex",
        "http://127.0.0.1:1",
        "from the editor",
    )
    assert (endpoint.key_helper, endpoint.headers) == ("cat key", {"x-team": "blue"})
    assert (endpoint.region, endpoint.project, endpoint.resource) == ("eu", "p", "r")
    assert (endpoint.ca_bundle, endpoint.proxy) == ("ca.pem", "http://127.0.0.1:2")
    assert (settings.betas, settings.cache, settings.fast) == (("files-api-2025-04-14",), "1h", True)
    assert settings.models == {"local": {"context_window": 32_000, "thinking_modes": frozenset({"adaptive"})}}


def test_no_settings_at_all_are_fine() -> None:
    assert model_settings({}).endpoint.provider == "anthropic"


class TestTheOfflineModel:
    def test_is_the_default_when_there_are_no_credentials(self) -> None:
        models = Models(ModelSettings(endpoint=Endpoint(env={})))
        assert (models.offline, models.default_model, models.reachable("claude-opus-5-5")) == (
            True,
            "offline",
            "offline",
        )

    def test_is_never_chosen_silently_when_there_are(self) -> None:
        models = Models(ModelSettings(endpoint=Endpoint(env={"ANTHROPIC_API_KEY": "bad"})))
        assert not models.offline
        assert models.reachable("opus") == "claude-opus-5-5"
        assert models.reachable("offline") == models.default_model == "claude-opus-5-5"

    def test_can_be_asked_for_where_there_are(self) -> None:
        settings = model_settings({"provider": "offline"}, api_key="k")
        assert Models(settings).offline
        assert Models(ModelSettings(endpoint=Endpoint(env={"ANTHROPIC_API_KEY": "k"})), offline_only=True).offline

    async def test_does_not_step_in_for_credentials_that_fail(self) -> None:
        async with FakeApi(key="right") as api:
            api.expect_refusal(2)
            endpoint = Endpoint(env={**api.env, "ANTHROPIC_API_KEY": "wrong"})
            models = Models(ModelSettings(endpoint=endpoint))
            with pytest.raises(NoCredentials), fail_after(60):
                async with aclosing(
                    models.call(ModelRequest(model=models.default_model, messages=(user("hi"),)))
                ) as events:
                    async for _ in events:
                        pass
            await models.aclose()


class TestAKeyHelper:
    async def test_is_run_again_after_a_401(self, tmp_path: Path) -> None:  # M3
        (tmp_path / "helper.py").write_text(
            "import pathlib\nn = pathlib.Path('n')\nn.write_text((n.read_text() if n.exists() else '') + 'x')\n"
            "print('key-' + n.read_text())\n"
        )
        async with FakeApi(key="key-xx") as api:
            api.expect_refusal(1).reply(text("ok"))
            helper = f"cd {tmp_path} && {sys.executable} helper.py"
            endpoint = Endpoint(env={"ANTHROPIC_BASE_URL": api.url}, key_helper=helper)
            client = make_call_model(ModelSettings(endpoint=endpoint), clock=InstantClock())
            with fail_after(60):
                async with aclosing(client(ModelRequest(model="claude-opus-5-5", messages=(user("hi"),)))) as events:
                    seen = [event async for event in events]
            assert isinstance(seen[-1], AssistantFinal)
            await client.aclose()

    @pytest.mark.parametrize("command", ["echo no >&2; exit 3", "true", "printf 'a\\nb'"])
    async def test_that_fails_says_so(self, command: str) -> None:
        client = make_call_model(ModelSettings(endpoint=Endpoint(env={}, key_helper=command)), clock=InstantClock())
        with pytest.raises(NoCredentials, match="apiKeyHelper"), fail_after(60):
            async with aclosing(client(ModelRequest(model="claude-opus-5-5", messages=(user("hi"),)))) as events:
                async for _ in events:
                    pass


def test_the_small_model_is_the_users_choice_and_may_be_an_alias() -> None:
    assert Models(model_settings({}, api_key="k")).small_model == "claude-haiku-5-5"
    assert Models(model_settings({"smallModel": "sonnet"}, api_key="k")).small_model == "claude-sonnet-5-5"
    assert Models(ModelSettings(endpoint=Endpoint(env={}))).small_model == "offline"
