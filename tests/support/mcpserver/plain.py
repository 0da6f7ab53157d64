# ruff: noqa: PTH123, SIM115, T201 -- it starts without pathlib, and stderr is where servers talk
# pyright: reportMissingTypeArgument=none, reportUnknownVariableType=none, reportUnknownParameterType=none
# pyright: reportUnknownArgumentType=none, reportUnknownMemberType=none
"""A small MCP server over stdio, for either era. Run as `python -I -S plain.py --era modern …`.

Flags: --tools N (extra tools), --silent (never answers), --slow-start SECONDS, --deaf (ignores unknown methods, as some
servers of the older era do), --page N (tools per page), --pid FILE (writes its process id), --rug FILE (its echo tool is
described by that file's text), --child (starts a child of its own that would stay), --wild
(offers tools that send far too much), --more (offers tools that ask the model and that run as tasks), --order (offers a
tool whose form has limits, and which takes odd counts only: another answer is refused with the reason and asked again).
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
parser.add_argument("--more", action="store_true")
parser.add_argument("--order", action="store_true")
options = parser.parse_args()
MODERN = (os.environ.get("PLAIN_ERA") or options.era) == "modern"
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
    if options.more:
        required = {"execution": {"taskSupport": "required"}} if not MODERN else {}
        found += [
            {"name": "sample", "description": "Asks the model.", "inputSchema": {"type": "object"}},
            {"name": "work", "description": "Takes its time.", "inputSchema": TEXT, **required},
            {"name": "gate", "description": "Wants a page opened first.", "inputSchema": TEXT},
            {"name": "roots", "description": "Says which folders there are.", "inputSchema": {"type": "object"}},
            {
                "name": "show",
                "description": "Shows things.",
                "inputSchema": {"type": "object"},
                "icons": [{"src": "https://example.org/i.png"}, {"src": "data:image/png;base64,aGVsbG8="}],
                "annotations": {"readOnlyHint": True},
                "_meta": {"anthropic/maxResultSizeChars": 900000, "anthropic/alwaysLoad": True},
            },
        ]
    if options.order:
        found.append({"name": "order", "description": "Takes an order.", "inputSchema": {"type": "object"}})
    if options.wild:
        found += [{"name": name, "description": "Far too much.", "inputSchema": TEXT} for name in ("huge", "flood")]
    return found + added


def complete(result: dict) -> dict:
    return {"resultType": "complete", **result} if MODERN else result


def said(text: str, **more: object) -> dict:
    return complete({"content": [{"type": "text", "text": text}], **more})


def capabilities() -> dict:
    found = {"tools": {"listChanged": True}, "prompts": {"listChanged": True}, "resources": {}}
    if options.more and MODERN:
        return {**found, "extensions": {"io.modelcontextprotocol/tasks": {}}}
    return {**found, "tasks": {"requests": {"tools": {"call": {}}}, "cancel": {}}} if options.more else found


ORDER = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 3},
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "shade": {"type": "string", "enum": ["dark", "light"], "default": "light"},
        "share": {"type": "number"},
        "gift": {"type": "boolean"},
        "note": {"type": "string"},
    },
    "required": ["name", "count"],
}
COLOUR = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


SAMPLE = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "What is the capital of France?"}}],
    "systemPrompt": "Be brief.",
    "maxTokens": 50,
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
tasks: dict[str, dict] = {}
gates: list[str] = []


def begin_task(number: object, params: dict) -> None:
    """A task that works, asks for a colour, and ends with it."""
    asked_for = MODERN or "task" in params
    if not asked_for:
        write({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "only as a task"}})
        return
    text = str((params.get("arguments") or {}).get("text", ""))
    key = f"task-{len(tasks) + 1}"
    tasks[key] = {"status": "working", "statusMessage": "warming up", "looks": 0, "text": text}
    log(f"begun {key}")
    state = task_state(key)
    write({"jsonrpc": "2.0", "id": number, "result": {"resultType": "task", **state} if MODERN else {"task": state}})


def task_state(key: str) -> dict:
    task = tasks[key]
    state = {"taskId": key, "status": task["status"], "statusMessage": task["statusMessage"]}
    state |= {"createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z"}
    state |= {"ttlMs": 60000, "pollIntervalMs": 50} if MODERN else {"ttl": 60000, "pollInterval": 50}
    if MODERN and task["status"] == "input_required":
        question = {"mode": "form", "message": "Which colour?", "requestedSchema": COLOUR}
        state["inputRequests"] = {"q": {"method": "elicitation/create", "params": question}}
    if MODERN and task["status"] == "completed":
        state["result"] = {"content": [{"type": "text", "text": task["done"]}]}
    if MODERN and task["status"] == "failed":
        state["error"] = {"code": -32000, "message": "the oven broke"}
    return state


def look_at_task(number: object, method: str, params: dict) -> None:
    key = params["taskId"]
    task = tasks[key]
    if method == "tasks/cancel":
        task["status"] = "cancelled"
        log(f"cancelled {key}")
        result = {} if MODERN else task_state(key)
    elif method == "tasks/update":
        answer = params["inputResponses"]["q"]
        task |= {"status": "completed", "done": f"worked {answer['action']} {(answer.get('content') or {})}"}
        result = {}
    elif method == "tasks/result":
        answer = {}
        if task["status"] == "input_required":
            question = {"mode": "form", "message": "Which colour?", "requestedSchema": COLOUR}
            answer = request_input(number, params, question) or {}
            task |= {"status": "completed", "done": f"worked {answer.get('action')} {answer.get('content')}"}
        failed = task["status"] == "failed"
        words = "the oven broke" if failed else task["done"]
        result = {"content": [{"type": "text", "text": words}], "isError": failed}
    else:
        task["looks"] += 1
        if task["text"] == "fail":
            task |= {"status": "failed", "statusMessage": "broken"}
        elif task["text"] != "forever" and task["looks"] >= 2 and task["status"] == "working":
            task |= {"status": "input_required", "statusMessage": "waiting for you"}
        result = task_state(key)
    write({"jsonrpc": "2.0", "id": number, "result": complete(result)})


def request_input(number: object, params: dict, question: dict, method: str = "elicitation/create") -> dict | None:
    """The user's answer; in the modern era None when the call has to be sent again with it."""
    if MODERN:
        given = (params.get("inputResponses") or {}).get("q")
        if given is None:
            pending = {"q": {"method": method, "params": question}}
            result = {"resultType": "input_required", "inputRequests": pending, "requestState": "s1"}
            write({"jsonrpc": "2.0", "id": number, "result": result})
            return None
        return given
    asked = next(numbers)
    waiting[asked] = threading.Event()
    write({"jsonrpc": "2.0", "id": asked, "method": method, "params": question})
    waiting[asked].wait(600)
    return answers.get(asked, {})


def take_order(number: object, params: dict) -> dict | None:
    """What was ordered, or how the user left; None when the call has to be sent again with the answer."""
    message = "What may it be?"
    while True:
        answer = request_input(number, params, {"mode": "form", "message": message, "requestedSchema": ORDER})
        if answer is None:
            return None
        log(f"answered {json.dumps(answer, sort_keys=True)}")
        if answer.get("action") != "accept":
            return answer
        if answer["content"]["count"] % 2:
            return answer["content"]
        message = f"Refused: {answer['content']['count']} is even, and only odd counts are sold."
        params = {**params, "inputResponses": {}}


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
    elif name == "order":
        answer = take_order(number, params)
        if answer is None:
            return
        result = said(f"ordered: {json.dumps(answer, sort_keys=True)}")
    elif name == "visit":
        question = {"mode": "url", "message": "Please sign", "url": "https://example.org/sign", "elicitationId": "e1"}
        answer = request_input(number, params, question)
        if answer is None:
            return
        result = said(str(answer.get("action")))
    elif name == "sample":
        answer = request_input(number, params, SAMPLE, "sampling/createMessage")
        if answer is None:
            return
        result = said(f"{answer.get('model')} said {(answer.get('content') or {}).get('text')}")
    elif name == "gate":
        gates.append(text)
        if len(gates) == 1:
            page = {"mode": "url", "message": "Sign first", "url": "https://example.org/gate", "elicitationId": "e9"}
            wanted = {"code": -32042, "message": "open a page", "data": {"elicitations": [page]}}
            write({"jsonrpc": "2.0", "id": number, "error": wanted})
            return
        result = said("through the gate")
    elif name == "show":
        data = "aGVsbG8="
        contents = [
            {"type": "text", "text": "four things"},
            {"type": "audio", "data": data, "mimeType": "audio/mpeg"},
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            {"type": "resource_link", "uri": "plain://note", "name": "note", "mimeType": "text/plain"},
            {"type": "resource", "resource": {"uri": "plain://page", "text": "a whole page"}},
        ]
        result = complete({"content": contents})
    elif name == "roots":
        result = said(json.dumps(request_input(number, params, {}, "roots/list") or {}))
    elif name == "work":
        begin_task(number, params)
        return
    elif name == "slow":
        token = (params.get("_meta") or {}).get("progressToken")
        for step in range(1, 4):
            notify("notifications/progress", {"progressToken": token, "progress": step, "total": 3, "message": "at it"})
            time.sleep(0.15)
        while number not in cancelled:
            time.sleep(0.05)
        log("cancelled")
        return
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
    elif str(method).startswith("tasks/"):
        threading.Thread(target=look_at_task, args=(number, method, params), daemon=True).start()
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
            refused = {"action": (message.get("error") or {}).get("message")}
            answers[message["id"]] = message.get("result") or refused
            if message["id"] in waiting:
                waiting[message["id"]].set()
            continue
        respond(message)


main()
