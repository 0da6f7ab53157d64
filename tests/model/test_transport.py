"""Where and as whom calls go out: providers, credentials, proxies, certificates."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import orjson
import pytest
from anyio import fail_after

from assent.model import credentials
from assent.model.client import ModelSettings, make_call_model
from assent.model.http_transport import Endpoint
from assent.types.blocks import Json
from assent.types.errors import ModelError, NoCredentials
from assent.types.messages import AssistantFinal
from assent.types.ports import ModelEvent, ModelRequest
from assent.types.usage import Usage
from fakeapi import CERTIFICATE, FakeApi, InstantClock, hold, text, thinking
from fakeapi.talk import user


async def answer(endpoint: Endpoint, model: str = "claude-opus-5-5") -> ModelEvent:
    client = make_call_model(ModelSettings(endpoint=endpoint), clock=InstantClock())
    try:
        with fail_after(60):
            async with aclosing(client(ModelRequest(model=model, messages=(user("hi"),)))) as stream:
                return [event async for event in stream][-1]
    finally:
        await client.aclose()


class TestProviders:
    async def test_bedrock_streams_its_own_frames(self) -> None:  # M1
        async with FakeApi(key="aws-key") as api:
            api.reply(thinking("hm"), text("from Bedrock"))
            endpoint = Endpoint(provider="bedrock", base_url=api.url, api_key="aws-key", region="eu-west-1", env={})
            last = await answer(endpoint)
            assert isinstance(last, AssistantFinal)
            assert last.stop_reason == "end_turn"
            assert api.calls[0].path == "/model/claude-opus-5-5/invoke-with-response-stream"

    async def test_vertex_is_asked_at_its_own_path(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async with FakeApi() as api:
            api.reply(text("from Vertex"))
            headers = {"Authorization": "Bearer google-token"}
            endpoint = Endpoint(
                provider="vertex", base_url=api.url, region="global", project="p", headers=headers, env={}
            )
            last = await answer(endpoint)
            assert isinstance(last, AssistantFinal)
            assert api.calls[0].path.endswith("/models/claude-opus-5-5:streamRawPredict")

    async def test_foundry_is_asked_with_its_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ANTHROPIC_FOUNDRY_RESOURCE", raising=False)
        async with FakeApi(key="azure") as api:
            api.reply(text("from Foundry"))
            endpoint = Endpoint(provider="foundry", base_url=f"{api.url}/anthropic", api_key="azure", env={})
            assert isinstance(await answer(endpoint), AssistantFinal)

    async def test_one_that_is_not_set_up_says_what_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_RESOURCE", "CLOUD_ML_REGION"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(NoCredentials, match="ANTHROPIC_FOUNDRY_API_KEY"):
            await answer(Endpoint(provider="foundry", env={}))
        with pytest.raises(ModelError, match="CLOUD_ML_REGION"):
            await answer(Endpoint(provider="vertex", env={}))

    async def test_a_server_of_ones_own_needs_no_key(self) -> None:
        async with FakeApi() as api:
            api.reply(text("local"))
            assert isinstance(await answer(Endpoint(base_url=api.url, env={})), AssistantFinal)

    async def test_a_token_is_sent_as_one_and_extra_headers_too(self) -> None:
        async with FakeApi(key="tok") as api:
            api.reply(text("x"))
            env = {"ANTHROPIC_AUTH_TOKEN": "tok", "ANTHROPIC_BASE_URL": api.url}
            await answer(Endpoint(env=env, headers={"x-team": "blue"}))
            assert api.calls[0].headers["x-team"] == "blue"


async def test_a_proxy_is_gone_through() -> None:
    """A proxy that forwards absolute-form requests, as for plain http."""
    seen: list[bytes] = []
    async with FakeApi() as api:

        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            seen.append(head.split(b"\r\n")[0])
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
            )
            body = await reader.readexactly(length)
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", api.port)
            up_writer.write(head.replace(api.url.encode(), b"", 1) + body)
            while data := await up_reader.read(65536):
                writer.write(data)
                if data.endswith(b"0\r\n\r\n"):
                    break
            writer.close()
            up_writer.close()

        proxy = await asyncio.start_server(forward, "127.0.0.1", 0)
        port = proxy.sockets[0].getsockname()[1]
        api.reply(text("through"))
        last = await answer(Endpoint(env=api.env, proxy=f"http://127.0.0.1:{port}"))
        assert isinstance(last, AssistantFinal)
        assert seen[0].startswith(b"POST http://127.0.0.1:")
        proxy.close()


class TestTls:
    async def test_with_the_users_own_certificates(self) -> None:  # M1
        async with FakeApi(tls=True) as api:
            api.reply(text("safe"))
            assert isinstance(await answer(Endpoint(env=api.env, ca_bundle=str(CERTIFICATE))), AssistantFinal)

    async def test_without_them_is_refused_at_once_and_says_what_to_set(self) -> None:
        async with FakeApi(tls=True) as api:
            with pytest.raises(ModelError, match="caBundle"):
                await answer(Endpoint(env=api.env))
            assert api.requests == []


@pytest.mark.parametrize("url", ["not a url", "ftp://127.0.0.1/x", "http://[::1"])
async def test_a_url_that_is_none_is_an_error_at_once(url: str) -> None:
    with pytest.raises(ModelError):
        await answer(Endpoint(env={"ANTHROPIC_API_KEY": "k"}, base_url=url))


class TestEndpointsThatDoNotStream:
    """Servers that ignore `stream`, and pages that are no API at all."""

    async def test_one_whole_message_is_as_good_as_its_events(self) -> None:
        message: Json = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "content": [
                {"type": "text", "text": "all at once"},
                {"type": "tool_use", "id": "t", "name": "R", "input": {"a": 1}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 3, "output_tokens": 4},
        }
        async with FakeApi() as api:
            api.error(200, body=orjson.dumps(message), headers={"content-type": "application/json"})
            last = await answer(Endpoint(env=api.env))
        assert isinstance(last, AssistantFinal)
        assert (last.stop_reason, last.usage) == ("tool_use", Usage(input_tokens=3, output_tokens=4))

    @pytest.mark.parametrize("body", [b"<html>Log in to the hotel network</html>", b"[]", b"{}"])
    async def test_anything_else_is_said_to_be_no_api(self, body: bytes) -> None:
        async with FakeApi() as api:
            api.error(200, body=body, headers={"content-type": "application/json"})
            with pytest.raises(ModelError, match="is the URL right"):
                await answer(Endpoint(env=api.env))

    async def test_an_error_dressed_as_success_is_an_error(self) -> None:
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
        async with FakeApi() as api:
            api.error(200, body=orjson.dumps(error), headers={"content-type": "application/json"})
            with pytest.raises(ModelError, match="no"):
                await answer(Endpoint(env=api.env))


async def test_certificates_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text("not a certificate")
    with pytest.raises(ModelError, match=r"ca\.pem"):
        await answer(Endpoint(env={"ANTHROPIC_API_KEY": "x"}, ca_bundle=str(bundle)))


async def test_a_client_in_use_is_closed_only_when_its_last_stream_ends() -> None:
    async with FakeApi() as api:
        client = make_call_model(ModelSettings(endpoint=Endpoint(env=api.env)), clock=InstantClock())
        api.reply(text("slow ", hold("h"), "end"))
        events: list[ModelEvent] = []

        async def read(stream: AsyncGenerator[ModelEvent, None]) -> None:
            async with aclosing(stream):
                async for event in stream:
                    events.append(event)

        with fail_after(60):
            task = asyncio.create_task(read(client(ModelRequest(model="claude-opus-5-5", messages=(user("a"),)))))
            await api.reached("h")
            api.error(401).reply(text("other"))
            async with aclosing(client(ModelRequest(model="claude-opus-5-5", messages=(user("b"),)))) as other:
                async for _ in other:
                    pass
            api.release("h")
            await task
        assert isinstance(events[-1], AssistantFinal)
        await client.aclose()


class TestFindingCredentials:
    @pytest.mark.parametrize(
        ("env", "options", "source"),
        [
            ({}, {}, "none"),
            ({"ANTHROPIC_API_KEY": "k"}, {}, "env"),
            ({"ANTHROPIC_AUTH_TOKEN": "t"}, {}, "env"),
            ({"ANTHROPIC_API_KEY": "k"}, {"editor_key": "e"}, "editor"),
            ({"ANTHROPIC_API_KEY": ""}, {}, "none"),
            ({"ANTHROPIC_PROFILE": "work"}, {}, "profile"),
            (
                {
                    "ANTHROPIC_IDENTITY_TOKEN": "t",
                    "ANTHROPIC_FEDERATION_RULE_ID": "r",
                    "ANTHROPIC_ORGANIZATION_ID": "o",
                },
                {},
                "federation",
            ),
            ({"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, {}, "local"),
            ({}, {"base_url": "http://127.0.0.1:1"}, "local"),
            ({}, {"provider": "bedrock"}, "bedrock"),
            ({}, {"provider": "vertex"}, "vertex"),
            ({}, {"provider": "foundry"}, "foundry"),
        ],
    )
    def test_names_the_source(self, env: dict[str, str], options: dict[str, Any], source: str) -> None:
        assert credentials.find(env=env, **options).source == source

    def test_finds_a_profile_of_the_user(self, tmp_path: Path) -> None:
        folder = tmp_path / ".config" / "anthropic" / "configs"
        folder.mkdir(parents=True)
        env = {"HOME": str(tmp_path)}
        assert credentials.find(env=env).source == "none"
        (folder / "default.json").write_text("{}")
        assert credentials.find(env=env).source == "profile"
        (folder.parent / "active_config").write_text("../../evil")
        assert credentials.find(env=env).source == "none"

    def test_never_shows_the_secret(self) -> None:
        found = credentials.find(env={"ANTHROPIC_API_KEY": "sk-secret"})
        endpoint = Endpoint(api_key="sk-secret", env={"ANTHROPIC_API_KEY": "sk-secret"}, headers={"x": "sk-secret"})
        for shown in (repr(found), found.detail, repr(endpoint), repr(ModelSettings(endpoint=endpoint))):
            assert "sk-secret" not in shown
