"""A server of a few lines that opens a session and puts one question, for questions no tool of ours asks yet.

`python wire_server.py QUESTION.json ANSWER.json`: what the plugin answers is written to the second file.
"""

import json
import sys
from pathlib import Path
from typing import Any, BinaryIO

Json = dict[str, Any]


def read(wire: BinaryIO) -> Json | None:
    length = 0
    while line := wire.readline().strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return json.loads(wire.read(length)) if length else None


def write(message: Json) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def main() -> None:
    question, answer = (Path(name) for name in sys.argv[1:3])
    while message := read(sys.stdin.buffer):
        match message.get("method"):
            case "initialize":
                write({"id": message["id"], "result": {"capabilities": {"positionEncoding": "utf-16"}}})
            case "assent/session/new":
                write({"id": message["id"], "result": {"sessionId": "s1", "model": "m", "mode": "default"}})
                write({"id": 1, "method": "assent/elicit", "params": json.loads(question.read_text())})
            case None if message.get("id") == 1:
                answer.write_text(json.dumps(message.get("result", message.get("error"))))
            case "exit":
                return
            case _ if "id" in message and "method" in message:
                write({"id": message["id"], "result": None})
            case _:
                pass


if __name__ == "__main__":
    main()
