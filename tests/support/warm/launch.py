"""launch.py ADDRESS MODULE ARGUMENTS…: gives its streams to a server that the keeper forks, and waits for its end."""

import json
import os
import signal
import socket
import sys

_, address, _module, *arguments = sys.argv
keeper = socket.socket(socket.AF_UNIX)
keeper.connect(address)
start = {"env": dict(os.environ), "cwd": os.getcwd(), "arguments": arguments}  # noqa: PTH109 (pathlib is slow to load)
socket.send_fds(keeper, [json.dumps(start).encode()], [0, 1, 2])
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda got, _frame: keeper.send(bytes([got])) and None)
for stream in (0, 1, 2):  # the server has them; an end of file must not wait for us
    os.close(stream)
code = keeper.recv(1)
os._exit(code[0] if code else 1)
