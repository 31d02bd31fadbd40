"""Processes that belong to nobody of the test; they end when their standard input does: strangers.py decoy|port|memory VALUE.

`decoy` looks like an engine of another port and does nothing, `port` listens, `memory` holds so many GiB of the first GPU.
"""

import os
import socket
import sys

kind, value = sys.argv[1], int(sys.argv[2])
held = None
if kind == "port":
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", value))
    held.listen()
elif kind == "memory":
    import torch  # type: ignore[import-not-found, unused-ignore]

    held = torch.empty(value << 30, dtype=torch.uint8, device="cuda")
print(os.getpid(), flush=True)
sys.stdin.read()
