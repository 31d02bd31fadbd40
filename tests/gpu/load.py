"""Streams completions of one port for some seconds; rows of time, requests open and tokens so far each 100 ms.

Standard library only. Usage: load.py PORT STREAMS SECONDS MODEL [TOKENS]. The last line is `total TOKENS SECONDS`.
"""

import http.client
import json
import sys
import threading
import time

PORT, STREAMS, SECONDS = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
MODEL, TOKENS = sys.argv[4], int(sys.argv[5]) if len(sys.argv) > 5 else 256
END = time.time() + SECONDS
open_requests, tokens, lock = 0, 0, threading.Lock()


def one(number: int) -> None:
    """One request to its end."""
    global open_requests, tokens
    body = {
        "model": MODEL,
        "prompt": f"tell {number} " * 40,
        "max_tokens": TOKENS,
        "stream": True,
        "temperature": 0.8,
        "ignore_eos": True,
    }
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=300)
    with lock:
        open_requests += 1
    try:
        connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
        for line in connection.getresponse():
            if line.startswith(b"data: {"):
                with lock:
                    tokens += 1
    except OSError:
        time.sleep(0.5)
    finally:
        with lock:
            open_requests -= 1
        connection.close()


def stream(number: int) -> None:
    """One after the other."""
    while time.time() < END:
        one(number)


began = time.time()
threads = [threading.Thread(target=stream, args=(number,), daemon=True) for number in range(STREAMS)]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    print(f"{time.time():.2f}\t{open_requests}\t{tokens}", flush=True)
    time.sleep(0.1)
print(f"{time.time():.2f}\t0\t{tokens}", flush=True)
print(f"total {tokens} {time.time() - began:.1f}", file=sys.stderr, flush=True)
