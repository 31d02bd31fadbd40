#!/usr/bin/env python3
"""A stand-in for nvidia-smi: answers --query-gpu and --query-compute-apps from the JSON file in FAKE_SMI, with the real habits.

{"delay": 0, "unknown_fields": [], "gpus": [{"index": 0, "memory.used": 10}], "apps": [], "starts": "/path", "streams": true,
 "stdout": "...", "rc": 0}. `starts` gets a line for each start and each end; `stdout` is printed as it is.
"""

import json
import os
import sys
import time

with open(os.environ["FAKE_SMI"]) as file:
    told = json.load(file)
arguments = sys.argv[1:]


def note(word: str) -> None:
    if told.get("starts"):
        with open(told["starts"], "a") as starts:
            starts.write(f"{word} {os.getpid()} {arguments[0].partition('=')[0]}\n")


def fields() -> list[str]:
    return arguments[0].partition("=")[2].split(",")


def rows() -> list[dict[str, object]]:
    found: list[dict[str, object]] = told.get("gpus" if arguments[0].startswith("--query-gpu") else "apps", [])
    return found


def answer() -> None:
    for row in rows():
        print(", ".join(str(row.get(name, "[N/A]")) for name in fields()), flush=True)


note("start")
time.sleep(told.get("delay", 0))
if "stdout" in told:
    sys.stdout.write(told["stdout"])
    note("end")
    sys.exit(told.get("rc", 0))
for name in fields():
    if name in told.get("unknown_fields", []):
        print(f'Field "{name}" is not a valid field to query.\n')
        note("end")
        sys.exit(2)
answer()
while "-lms" in arguments and told.get("streams", True):
    time.sleep(float(arguments[arguments.index("-lms") + 1]) / 1000)
    answer()
note("end")
