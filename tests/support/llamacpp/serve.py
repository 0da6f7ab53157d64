"""Runs llama.cpp's server on a free port, prints its address, and ends with stdin. Needs `xllamacpp` alone."""

import os
import sys
from importlib import import_module
from typing import Any

llama: Any = import_module("xllamacpp")  # installed into a cache of its own
parameters = llama.CommonParams()
parameters.model.path = sys.argv[1]
wanted = {"hostnames": ["127.0.0.1"], "port": 0, "n_ctx": 65536, "n_parallel": 1, "warmup": False}
wanted["use_jinja"] = True  # `--jinja` of llama-server
for name, value in wanted.items():
    setattr(parameters, name, value)
said = os.dup(1)
os.dup2(2, 1)  # its own log lines go elsewhere
server = llama.Server(parameters)
os.write(said, f"{server.listening_address}\n".encode())
sys.stdin.read()
os._exit(0)
