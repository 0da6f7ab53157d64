# ruff: noqa: PTH123, T201 -- it starts without pathlib, and stderr is where servers talk
# pyright: reportMissingTypeArgument=none, reportUnknownVariableType=none, reportUnknownParameterType=none
# pyright: reportUnknownArgumentType=none, reportUnknownMemberType=none
"""An MCP server of the older era that says exactly what it is told to, right or wrong. Run as `rogue.py FILE`.

FILE holds JSON and is read again for each request: `lists` (the answers to `tools/list`, one after the other, the last
one again and again), `results` (by tool), `answers` (by method, whole results), `noise` (lines for stdout before all
else), `stderr` (how many bytes of it), `exit` (end at once with this status), `ask` (by tool: an elicitation to make
before it answers), `questions` (by tool: how
many of them at once, and a file that is made when all but so many are answered).
"""

import json
import sys

lists = 0
ANSWER = {"content": [{"type": "text", "text": "done"}]}


def told() -> dict:
    with open(sys.argv[1]) as file:
        return json.load(file)


def write(message: dict) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def listed(options: dict) -> dict:
    global lists
    choices = options.get("lists") or [[{"name": "echo", "inputSchema": {"type": "object"}}]]
    found = choices[min(lists, len(choices) - 1)]
    lists += 1
    return found if isinstance(found, dict) else {"tools": found}


def flooded(count: int, open_ones: int, note: str) -> dict:
    form = {"type": "object", "properties": {"a": {"type": "string"}}}
    for number in range(count):
        params = {"message": f"question {number}", "requestedSchema": form}
        write({"id": f"flood-{number}", "method": "elicitation/create", "params": params})
    said = []
    for number in range(count):
        if number == count - open_ones:
            open(note, "w").close()
        said.append(json.loads(sys.stdin.readline()).get("result") or {})
    return {"content": [{"type": "text", "text": json.dumps([each.get("action") for each in said])}]}


def answer(message: dict) -> dict | None:
    method, params, options = message["method"], message.get("params") or {}, told()
    if method in (options.get("answers") or {}):
        return options["answers"][method]
    if method == "initialize":
        info = {"name": "rogue", "version": "1"}
        capabilities = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}
        return {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}
    if method == "tools/list":
        return listed(options)
    if method == "tools/call":
        name = params["name"]
        if name in (options.get("ask") or {}):
            write({"id": f"ask-{message['id']}", "method": "elicitation/create", "params": options["ask"][name]})
            reply = json.loads(sys.stdin.readline())
            return {"content": [{"type": "text", "text": json.dumps(reply.get("result") or reply.get("error"))}]}
        if name in (options.get("questions") or {}):
            return flooded(*options["questions"][name])
        if name == "relist":
            write({"method": "notifications/tools/list_changed"})
        return (options.get("results") or {}).get(name, ANSWER)
    if method == "resources/list":
        return {"resources": []}
    if method == "prompts/list":
        return {"prompts": []}
    return None


def main() -> None:
    options = told()
    if "exit" in options:
        print("not today", file=sys.stderr, flush=True)
        raise SystemExit(options["exit"])
    for line in options.get("noise") or []:
        print(line, flush=True)
    sys.stderr.write("e" * options.get("stderr", 0) + "\nlast words\n")
    sys.stderr.flush()
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message)
        if result is None:
            write({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        else:
            write({"id": message["id"], "result": result})


main()
