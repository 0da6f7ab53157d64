"""An MCP server over HTTP on loopback, for either era, for HTTP+SSE, and behind OAuth of its own.

Standard library alone. The authorization server checks PKCE, resource, redirect and rotation: a refresh token that is
used twice revokes everything, as real ones do.
"""

import base64
import gzip
import hashlib
import json
import secrets
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any, cast
from urllib.parse import parse_qs, urlencode, urlsplit

Json = dict[str, Any]
TOOLS: list[Json] = [
    {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object", "properties": {"text": {}}}},
    {"name": "secret", "description": "Needs the scope `more`.", "inputSchema": {"type": "object"}},
    {"name": "huge", "description": "Sends 100 MB.", "inputSchema": {"type": "object"}},
]


class Site:
    """What the server knows and remembers."""

    def __init__(
        self,
        *,
        era: str,
        oauth: bool,
        sse_only: bool,
        register: bool,
        iss: str | None,
        grants: str,
        wants: str,
        sessions: bool,
    ) -> None:
        self.era, self.oauth, self.sse_only, self.register, self.iss = era, oauth, sse_only, register, iss
        self.grants = grants  # what it grants at most; empty: whatever is asked for
        self.described = "/.well-known/oauth-authorization-server/as"  # where its authorization server describes itself
        self.wants = wants  # a value that the header X-Key must have
        self.session = secrets.token_urlsafe(8) if sessions else ""  # the one session it knows
        self.packed = False  # answer compressed, whoever asks
        self.late = False  # answer the first probe only after the handshake of the older era came
        self.greeted = threading.Event()
        self.url = ""
        self.clients: dict[str, Json] = {}
        self.codes: dict[str, Json] = {}
        self.access: dict[str, str] = {}  # token → scopes
        self.refresh: dict[str, str] = {}
        self.used: set[str] = set()
        self.revoked = False
        self.refreshes = 0
        self.slow = threading.Event()  # cleared: whoever refreshes waits until it is set
        self.slow.set()
        self.asked = threading.Event()  # set with the first refresh
        self.requests: list[tuple[str, str, Json]] = []  # method, path, headers
        self.streams: dict[str, Queue[Json]] = {}
        self.lock = threading.Lock()

    def tokens(self, scope: str) -> Json:
        access, refresh = secrets.token_urlsafe(8), secrets.token_urlsafe(8)
        self.access[access], self.refresh[refresh] = scope, scope
        return {
            "access_token": access,
            "refresh_token": refresh,
            "token_type": "Bearer",
            "expires_in": 3600,
            "scope": scope,
        }

    def expire(self) -> None:
        """Every access token ends; refresh tokens stay."""
        self.access.clear()

    def answer(self, message: Json) -> Json | None:
        method, params = message.get("method"), cast("Json", message.get("params") or {})
        modern = self.era == "modern"
        extra: Json = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"} if modern else {}
        capabilities: Json = {"tools": {}}
        match method:
            case "server/discover" if modern:
                return {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, **extra}
            case "initialize" if not modern:
                info = {"name": "web", "version": "1"}
                return {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
            case "tools/list":
                return {"tools": TOOLS, **extra}
            case "tools/call":
                given = cast("Json", params.get("arguments", {}))
                size = 100 * 1024 * 1024 if params["name"] == "huge" else 0
                words = "x" * size or f"{params['name']}: {given.get('text', '')}"
                result: Json = {"content": [{"type": "text", "text": words}]}
                return {**result, "resultType": "complete"} if modern else result
            case _:
                return None


class Handler(BaseHTTPRequestHandler):
    site: Site
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None: ...

    def reply(self, status: int, body: Any = None, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.site.requests.append(("GET", parts.path, dict(self.headers.items())))
        fields = {name: values[0] for name, values in parse_qs(parts.query).items()}
        origin = self.site.url
        match parts.path:
            case "/.well-known/oauth-protected-resource/mcp" if self.site.oauth and "well-known" in self.site.described:
                self.reply(200, {"resource": f"{origin}/mcp", "authorization_servers": [f"{origin}/as"]})
            case self.site.described if self.site.oauth:
                metadata: Json = {
                    "issuer": f"{origin}/as",
                    "authorization_endpoint": f"{origin}/as/authorize",
                    "token_endpoint": f"{origin}/as/token",
                    "code_challenge_methods_supported": ["S256"],
                    "response_types_supported": ["code"],
                    "authorization_response_iss_parameter_supported": True,
                    "token_endpoint_auth_methods_supported": ["none"],
                }
                if self.site.register:
                    metadata["registration_endpoint"] = f"{origin}/as/register"
                else:
                    metadata["client_id_metadata_document_supported"] = True
                self.reply(200, metadata)
            case "/as/authorize":
                self.authorize(fields)
            case "/sse":
                self.stream()
            case _:
                self.reply(404 if parts.path != "/mcp" else 405, {"error": "no"})

    def authorize(self, fields: Json) -> None:
        name = str(fields.get("client_id"))
        client = {} if name.startswith("https://") and not self.site.register else self.site.clients.get(name)
        good = client is not None and fields.get("code_challenge_method") == "S256" and fields.get("resource")
        if not good:
            self.reply(400, {"error": "invalid_request", "got": fields})
            return
        code = secrets.token_urlsafe(8)
        self.site.codes[code] = fields
        iss = self.site.iss if self.site.iss is not None else f"{self.site.url}/as"
        query = urlencode({"code": code, "state": fields["state"], "iss": iss})
        self.reply(302, b"", Location=f"{fields['redirect_uri']}?{query}")

    def stream(self) -> None:
        """HTTP+SSE, the older transport."""
        session, queue = secrets.token_urlsafe(8), cast("Queue[Json]", Queue())
        self.site.streams[session] = queue
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            self.wfile.write(f"event: endpoint\ndata: /messages?session={session}\n\n".encode())
            self.wfile.flush()
            while True:
                message = queue.get(timeout=120)
                self.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
                self.wfile.flush()
        except Exception:
            self.close_connection = True

    def do_DELETE(self) -> None:
        self.reply(200, {})

    def do_POST(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.site.requests.append(("POST", parts.path, dict(self.headers.items())))
        match parts.path:
            case "/as/register":
                client = {**json.loads(body), "client_id": secrets.token_urlsafe(8)}
                self.site.clients[client["client_id"]] = client
                self.reply(201, client)
            case "/as/token":
                self.token({name: values[0] for name, values in parse_qs(body.decode()).items()})
            case "/mcp" if not self.site.sse_only:
                self.mcp(json.loads(body))
            case "/messages":
                message = json.loads(body)
                queue = self.site.streams[parse_qs(parts.query)["session"][0]]
                if "id" in message:
                    queue.put(self.response(message))
                self.reply(202)
            case _:
                self.reply(404, {"error": "no"})

    def token(self, fields: Json) -> None:
        site = self.site
        with site.lock:
            if fields.get("grant_type") == "refresh_token":
                given = fields["refresh_token"]
                site.refreshes += 1
                if given in site.used or site.revoked or given not in site.refresh:
                    site.revoked = True
                    site.access.clear()
                    self.reply(400, {"error": "invalid_grant"})
                    return
                site.used.add(given)
                site.asked.set()
                site.slow.wait(60)
                self.reply(200, site.tokens(site.refresh[given]))
                return
            asked = site.codes.pop(str(fields.get("code")), None)
            digest = base64.urlsafe_b64encode(hashlib.sha256(str(fields.get("code_verifier")).encode()).digest())
            fits = asked is not None and digest.decode().rstrip("=") == asked["code_challenge"]
            if (
                asked is None
                or not fits
                or any(fields.get(name) != asked[name] for name in ("resource", "redirect_uri"))
            ):
                self.reply(400, {"error": "invalid_grant"})
                return
            self.reply(200, site.tokens(site.grants or str(asked.get("scope", "basic"))))

    def mcp(self, message: Json) -> None:
        site = self.site
        if site.oauth:
            token = str(self.headers.get("Authorization", "")).removeprefix("Bearer ")
            metadata = f'resource_metadata="{site.url}/.well-known/oauth-protected-resource/mcp"'
            if token not in site.access:
                self.reply(401, {"error": "who are you"}, WWW_Authenticate=f'Bearer {metadata}, scope="basic"')
                return
            called = cast("Json", message.get("params") or {}).get("name")
            if called == "secret" and "more" not in site.access[token].split():
                challenge = f'Bearer error="insufficient_scope", scope="more", {metadata}'
                self.reply(403, {"error": "more"}, WWW_Authenticate=challenge)
                return
        if site.wants and self.headers.get("X-Key") != site.wants:
            self.reply(401, {"error": "wrong key"})
            return
        if "id" not in message:
            self.reply(202)
            return
        begins = message.get("method") in ("initialize", "server/discover")
        if site.session and not begins and self.headers.get("Mcp-Session-Id") != site.session:
            self.reply(404, {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}})
            return
        if message.get("method") == "initialize":
            site.greeted.set()
        elif site.late and message.get("method") == "server/discover":
            site.greeted.wait(600)
        response = self.response(message)
        status = 404 if "error" in response and site.era == "modern" else 200
        more = {"Mcp_Session_Id": site.session} if site.session and message.get("method") == "initialize" else {}
        if site.packed:
            self.reply(status, gzip.compress(json.dumps(response).encode()), Content_Encoding="gzip", **more)
        else:
            self.reply(status, response, **more)

    def response(self, message: Json) -> Json:
        result = self.site.answer(message)
        base: Json = {"jsonrpc": "2.0", "id": message["id"]}
        if message.get("method") == "initialize" and self.site.era == "modern":
            versions = {"supported": ["2026-07-28"], "requested": ""}
            return {**base, "error": {"code": -32022, "message": "modern only", "data": versions}}
        return (
            {**base, "result": result} if result is not None else {**base, "error": {"code": -32601, "message": "no"}}
        )


@contextmanager
def site(
    *,
    era: str = "legacy",
    oauth: bool = False,
    sse_only: bool = False,
    register: bool = True,
    iss: str | None = None,
    grants: str = "",
    wants: str = "",
    sessions: bool = False,
) -> Generator[Site, None, None]:
    served = Site(
        era=era,
        oauth=oauth,
        sse_only=sse_only,
        register=register,
        iss=iss,
        grants=grants,
        wants=wants,
        sessions=sessions,
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"site": served}))
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
