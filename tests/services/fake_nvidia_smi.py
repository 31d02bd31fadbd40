#!/usr/bin/env python3
"""A stand-in for nvidia-smi: --query-gpu, --query-compute-apps, nvlink, -L and -q -x from the JSON file in FAKE_SMI.

{"delay": 0, "unknown_fields": [], "gpus": [{"index": 0, "memory.used": 10}], "apps": [], "starts": "/path", "streams": true,
 "stdout": "...", "rc": 0, "lost": ["1A:00.0"], "hangs_after": 3, "nvlink": "...", "list": "...", "xml": "..."}.
`apps_text` is the process list as it is; `starts` gets a line for each start and end; `stdout` is printed as it is; a GPU that is
lost spoils every query that does not name others; after `hangs_after` samples of a stream nothing comes any more.
"""

import json
import os
import sys
import time

with open(os.environ["FAKE_SMI"]) as file:
    told = json.load(file)
arguments = sys.argv[1:]
query = next((word for word in arguments if word.startswith("--query-")), arguments[0] if arguments else "")


def note(word: str) -> None:
    if told.get("starts"):
        with open(told["starts"], "a") as starts:
            starts.write(f"{word} {os.getpid()} {query.partition('=')[0]}\n")


def end(text: str = "", status: int = 0) -> None:
    sys.stdout.write(text)
    note("end")
    sys.exit(status)


def fields() -> list[str]:
    return query.partition("=")[2].split(",")


def wanted() -> list[str]:
    return arguments[arguments.index("-i") + 1].split(",") if "-i" in arguments else []


def names(gpu: dict[str, object]) -> set[str]:
    """All that -i takes for it."""
    bus = str(gpu.get("pci.bus_id", ""))
    return {str(gpu["index"]), str(gpu.get("uuid", "")), bus, bus[4:].lower()}


def rows() -> list[dict[str, object]]:
    gpus: list[dict[str, object]] = told.get("gpus", [])
    if query.startswith("--query-gpu"):
        return [gpu for gpu in gpus if not wanted() or names(gpu) & set(wanted())]
    apps: list[dict[str, object]] = told.get("apps", [])
    return apps


def answer() -> None:
    for row in rows():
        print(", ".join(str(row.get(name, "[N/A]")) for name in fields()), flush=True)


note("start")
time.sleep(told.get("delay", 0))
if "stdout" in told:
    end(told["stdout"], told.get("rc", 0))
if arguments[:1] == ["nvlink"]:
    end(told.get("nvlink", ""))
if "-L" in arguments:
    end(told.get("list", ""))
if "-q" in arguments:
    end(told.get("xml", ""))
for bus in told.get("lost", []):
    if not wanted():
        sentence = "Unable to determine the device handle for GPU0000:{}: GPU is lost.  Reboot the system to recover this GPU\n"
        end(sentence.format(bus), 15)
if "apps_text" in told and query.startswith("--query-compute-apps"):
    end(told["apps_text"])
for name in fields():
    if name in told.get("unknown_fields", []):
        end(f'Field "{name}" is not a valid field to query.\n\n', 2)
answer()
samples = 1
while "-lms" in arguments and told.get("streams", True):
    if samples == told.get("hangs_after"):
        time.sleep(600)
    time.sleep(float(arguments[arguments.index("-lms") + 1]) / 1000)
    answer()
    samples += 1
note("end")
