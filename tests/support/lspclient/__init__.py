"""A raw LSP client for tests and benchmarks: it hides nothing, and can also misbehave.

`Server` is a spawned `assent serve --stdio` with a home of its own; `Client` speaks to it as an editor would. Every
wait is bounded.
"""

from lspclient.client import Client, Connect, Json, RpcError
from lspclient.process import Server

__all__ = ["Client", "Connect", "Json", "RpcError", "Server"]
