"""python -m sglang.launch_server --port N, as far as a watcher sees it: a log on stdout, a port, /health, /v1/loads, no /metrics.

FAKE_SERVER in the environment is a folder; a file in it named `status` holds what /health answers, and as long as there is
one named `slow` the weights are being loaded.
"""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

folder = Path(os.environ["FAKE_SERVER"])
LOADS = {
    "version": "0.5.12",
    "loads": [{"dp_rank": 0, "num_running_reqs": 3, "num_waiting_reqs": 1, "token_usage": 0.25}],
}


class Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        with (folder / "asked").open("a") as asked:
            asked.write(f"{path} {self.headers.get('Authorization', '-')}\n")
        if path == "/health":
            self.reply(int((folder / "status").read_text()), b"")
        elif path == "/v1/loads":
            self.reply(200, json.dumps(LOADS).encode())
        else:
            self.reply(404, b'{"detail":"Not Found"}')

    def reply(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *words: object) -> None:
        return


print("[2026-11-29 14:59:50 TP0] Load weight begin. avail mem=139.29 GB", flush=True)
while (folder / "slow").exists():
    time.sleep(0.02)
port = int(sys.argv[sys.argv.index("--port") + 1])
server = ThreadingHTTPServer(("127.0.0.1", port), Answers)
print("[2026-11-29 15:00:00] INFO:     Uvicorn running on http://127.0.0.1 (Press CTRL+C to quit)", flush=True)
print("[2026-11-29 15:00:01] The server is fired up and ready to roll!", flush=True)
server.serve_forever()
