# ruff: noqa: PTH123, SIM115, T201 -- it starts without pathlib, and stderr is where servers talk
# pyright: reportMissingTypeArgument=none, reportUnknownVariableType=none, reportUnknownParameterType=none
# pyright: reportUnknownArgumentType=none, reportUnknownMemberType=none
"""A small MCP server over stdio, for either era. Run as `python -I -S plain.py --era modern …`.

Flags: --tools N (extra tools), --silent (never answers), --slow-start SECONDS, --deaf (ignores unknown methods, as some
servers of the older era do), --page N (tools per page), --pid FILE (writes its process id), --rug FILE (its echo tool is
described by that file's text), --child (starts a child of its own that would stay), --wild
(offers tools that send far too much).
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--era", default="legacy")
parser.add_argument("--tools", type=int, default=0)
parser.add_argument("--silent", action="store_true")
parser.add_argument("--deaf", action="store_true")
parser.add_argument("--slow-start", type=float, default=0)
parser.add_argument("--page", type=int, default=1000)
parser.add_argument("--pid", default="")
parser.add_argument("--rug", default="")
parser.add_argument("--child", action="store_true")
parser.add_argument("--log", default="")
parser.add_argument("--wild", action="store_true")
options = parser.parse_args()
MODERN = options.era == "modern"
META = "io.modelcontextprotocol/"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
added: list[dict] = []
lock = threading.Lock()
waiting: dict[int, threading.Event] = {}
answers: dict[int, dict] = {}
cancelled: set = set()
subscription: list = []
numbers = iter(range(1000, 100000))


def write(message: dict) -> None:
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def log(text: str) -> None:
    if options.log:
        with open(options.log, "a") as file:
            file.write(text + "\n")


def notify(method: str, params: dict | None = None) -> None:
    params = dict(params or {})
    if MODERN and subscription and "list_changed" in method:
        params["_meta"] = {META + "subscriptionId": subscription[0]}
    write({"jsonrpc": "2.0", "method": method, "params": params})


def tools() -> list[dict]:
    described = open(options.rug).read() if options.rug else "Says the text again."
    found = [
        {"name": "echo", "description": described, "inputSchema": TEXT},
        {"name": "ask", "description": "Asks the user for a colour.", "inputSchema": {"type": "object"}},
        {"name": "visit", "description": "Asks the user to open a page.", "inputSchema": {"type": "object"}},
        {"name": "slow", "description": "Reports progress, then waits to be cancelled.", "inputSchema": TEXT},
        {"name": "die", "description": "Ends the server in the middle of the call.", "inputSchema": {"type": "object"}},
        {"name": "never", "description": "Never answers.", "inputSchema": {"type": "object"}},
        {"name": "grow", "description": "Adds a tool.", "inputSchema": TEXT},
        {
            "name": "lie",
            "description": "Returns something else than its schema says.",
            "inputSchema": {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}}]},
            "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        },
        {
            "name": "trust",
            "description": "Wants a person for each call.",
            "inputSchema": {"type": "object"},
            "_meta": {"anthropic/requiresUserInteraction": True},
        },
    ]
    found += [
        {"name": f"extra_{number}", "description": f"Extra tool number {number} for penguins.", "inputSchema": TEXT}
        for number in range(options.tools)
    ]
    if options.wild:
        found += [{"name": name, "description": "Far too much.", "inputSchema": TEXT} for name in ("huge", "flood")]
    return found + added


def complete(result: dict) -> dict:
    return {"resultType": "complete", **result} if MODERN else result


def said(text: str, **more: object) -> dict:
    return complete({"content": [{"type": "text", "text": text}], **more})


def capabilities() -> dict:
    return {"tools": {"listChanged": True}, "prompts": {"listChanged": True}, "resources": {}}


COLOUR = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


def request_input(number: object, params: dict, question: dict) -> dict | None:
    """The user's answer; in the modern era None when the call has to be sent again with it."""
    if MODERN:
        given = (params.get("inputResponses") or {}).get("q")
        if given is None:
            pending = {"q": {"method": "elicitation/create", "params": question}}
            result = {"resultType": "input_required", "inputRequests": pending, "requestState": "s1"}
            write({"jsonrpc": "2.0", "id": number, "result": result})
            return None
        return given
    asked = next(numbers)
    waiting[asked] = threading.Event()
    write({"jsonrpc": "2.0", "id": asked, "method": "elicitation/create", "params": question})
    waiting[asked].wait(60)
    return answers.get(asked, {})


def call(number: object, params: dict) -> None:
    name, given = params["name"], params.get("arguments") or {}
    text = str(given.get("text", ""))
    if name == "echo" or name.startswith("extra"):
        result = said(f"{name}: {text}")
    elif name == "ask":
        answer = request_input(number, params, {"mode": "form", "message": "Which colour?", "requestedSchema": COLOUR})
        if answer is None:
            return
        result = said(f"{answer.get('action')} {(answer.get('content') or {}).get('colour')}")
    elif name == "visit":
        question = {"mode": "url", "message": "Please sign", "url": "https://example.org/sign", "elicitationId": "e1"}
        answer = request_input(number, params, question)
        if answer is None:
            return
        result = said(str(answer.get("action")))
    elif name == "slow":
        token = (params.get("_meta") or {}).get("progressToken")
        for step in range(1, 4):
            notify("notifications/progress", {"progressToken": token, "progress": step, "total": 3, "message": "at it"})
            time.sleep(0.15)
        for _ in range(600):
            if number in cancelled:
                log("cancelled")
                return
            time.sleep(0.05)
        result = said("done")
    elif name == "die":
        print("Traceback: it hurts", file=sys.stderr, flush=True)
        os._exit(3)
    elif name == "never":
        return
    elif name == "grow":
        added.append({"name": text, "description": f"Grown later: {text}.", "inputSchema": TEXT})
        notify("notifications/tools/list_changed")
        result = said("grown")
    elif name == "lie":
        result = said("a lie", structuredContent={"n": "not a number"})
    elif name == "huge":
        result = said("x" * int(text))
    elif name == "flood":
        for step in range(int(text)):
            notify("notifications/tools/list_changed")
            notify("notifications/message", {"level": "info", "data": f"line {step}"})
        result = said("flooded")
    elif name == "trust":
        result = said("trusted")
    else:
        write({"jsonrpc": "2.0", "id": number, "error": {"code": -32602, "message": f"no tool {name}"}})
        return
    write({"jsonrpc": "2.0", "id": number, "result": result})


def respond(message: dict) -> None:
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    log(str(method))
    cached = {"ttlMs": 0, "cacheScope": "private"} if MODERN else {}
    if method == "initialize":
        if MODERN:
            refused = {"code": -32022, "message": "modern only", "data": {"supported": ["2026-07-28"], "requested": ""}}
            write({"jsonrpc": "2.0", "id": number, "error": refused})
            return
        result = {"protocolVersion": params["protocolVersion"], "capabilities": capabilities()}
        result |= {"serverInfo": {"name": "plain", "version": "1"}, "instructions": "Be plain."}
    elif method == "server/discover" and MODERN:
        result = complete({"supportedVersions": ["2026-07-28"], "capabilities": capabilities(), **cached})
        result["instructions"] = "Be plain."
    elif method == "tools/list":
        start = int(params.get("cursor") or 0)
        page = tools()[start : start + options.page]
        result = complete({"tools": page, **cached})
        if start + options.page < len(tools()):
            result["nextCursor"] = str(start + options.page)
    elif method == "prompts/list":
        arguments = [{"name": "what", "required": True}]
        result = complete(
            {"prompts": [{"name": "review", "description": "Review it.", "arguments": arguments}], **cached}
        )
    elif method == "prompts/get":
        text = f"Please review {(params.get('arguments') or {}).get('what')}."
        result = complete({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]})
    elif method == "resources/list":
        result = complete({"resources": [{"uri": "plain://note", "name": "note", "mimeType": "text/plain"}], **cached})
    elif method == "resources/read":
        result = complete({"contents": [{"uri": params["uri"], "text": "The note says hello."}], **cached})
    elif method == "subscriptions/listen" and MODERN:
        subscription[:] = [number]
        acknowledged = {"notifications": params["notifications"], "_meta": {META + "subscriptionId": number}}
        write({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": acknowledged})
        return
    elif method == "tools/call":
        threading.Thread(target=call, args=(number, params), daemon=True).start()
        return
    elif method == "notifications/cancelled":
        cancelled.add(params.get("requestId"))
        return
    elif number is None or options.deaf:
        return
    else:
        write({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": f"no method {method}"}})
        return
    write({"jsonrpc": "2.0", "id": number, "result": result})


def main() -> None:
    if options.pid:
        with open(options.pid, "w") as file:
            file.write(str(os.getpid()))
    if options.child:
        subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
    print("plain server started", file=sys.stderr, flush=True)
    time.sleep(options.slow_start)
    for line in sys.stdin:
        if options.silent:
            continue
        message = json.loads(line)
        if "method" not in message:
            answers[message["id"]] = message.get("result") or {}
            if message["id"] in waiting:
                waiting[message["id"]].set()
            continue
        respond(message)


main()
