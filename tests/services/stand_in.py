"""A stand-in for an engine on a host: real processes, a real port, and GPU memory as files that a fake nvidia-smi lists.

It is not the demo: it does in the crudest way what the launcher must cope with (workers in sessions of their own, SIGTERM ignored,
memory that comes back late), and nothing else.
"""

import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from specdeck.config.objects import Fleet, Host, Profile, Server

ENGINE = '''
"""python -m sglang.launch_server, stand-in."""
import http.server, os, signal, subprocess, sys, time
from pathlib import Path

modes = os.environ.get("STAND_IN", "").split(",")
port = int(sys.argv[sys.argv.index("--port") + 1])
Path(os.environ["GPUS"], "argv").write_bytes(b"\\0".join(os.fsencode(word) for word in sys.argv[1:]))
if "bad" in modes:
    sys.exit("launch_server.py: error: unrecognized arguments: --no-such-flag")
worker = "import os, signal, sys, time\\n"
worker += "signal.signal(signal.SIGTERM, signal.SIG_IGN)\\n" if "stubborn" in modes else ""
worker += "open(os.environ['GPUS'] + '/' + str(os.getpid()), 'w').write('1000')\\n"
worker += "print('worker', flush=True)\\ntime.sleep(600)"
workers = [
    subprocess.Popen([sys.executable, "-c", worker], stdout=subprocess.PIPE, start_new_session="orphans" in modes)
    for _ in range(2)
]
for each in workers:
    each.stdout.readline()

def end(*_):
    for each in workers:
        each.kill()
        each.wait()
    os._exit(0)

if "stubborn" in modes:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
elif "orphans" not in modes:
    signal.signal(signal.SIGTERM, end)
class Answers(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if "healthy" in modes and self.path.startswith("/health") else 404)
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/abort_request" and b"abort_all" in body and "drains" in modes:
            self.send_response(200)
            self.end_headers()
            end()
        self.send_error(404)

if "drains" in modes:
    signal.signal(signal.SIGTERM, lambda *_: print("Gracefully exiting... Remaining number of requests 1.", flush=True))
if "breeds" in modes:
    born = [sys.executable, "-c", worker]
    signal.signal(signal.SIGTERM, lambda *_: workers.append(subprocess.Popen(born, start_new_session=True)))
if "swallows" in modes:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while not Path(os.environ["GPUS"], "go").exists():
        time.sleep(0.02)
    signal.signal(signal.SIGTERM, end)
if "liar" in modes:
    print("The server is fired up and ready to roll!", flush=True)
    time.sleep(3)
    os._exit(1)
if "silent" in modes:
    time.sleep(600)
print("[2026-11-29 15:00:01] " * ("healthy" in modes) + "The server is fired up and ready to roll!", flush=True)
http.server.ThreadingHTTPServer(("127.0.0.1", port), Answers).serve_forever()
'''

NVIDIA_SMI = """#!/bin/sh
# Lists the files of $GPUS that are named after a living process; `late` stays in use after all of them have gone.
echo "$*" >>"$GPUS/asked"
used=0 rows=
for file in "$GPUS"/[0-9]*; do
    pid=${file##*/}
    [ -d "/proc/$pid" ] || continue
    read -r mib <"$file"
    used=$((used + mib))
    rows="$rows$pid, $mib
"
done
[ -z "$rows" ] && [ -f "$GPUS/late" ] && read -r late <"$GPUS/late" && used=$((used + late))
case "$*" in
*query-compute-apps=pid,used_memory*) printf '%s' "$rows" ;;
*query-gpu=memory.used*) echo "$used" ;;
*) echo "unexpected: $*"; exit 2 ;;
esac
"""


@dataclass(frozen=True)
class StandIn:
    """A host's tree with the stand-in engine, and a fleet that uses it."""

    folder: Path
    gpus: Path
    port: int
    env: dict[str, str]
    python: Path

    def server(self, **changes: object) -> Server:
        """A server of the fleet."""
        values: dict[str, object] = {
            "name": "kimi",
            "host": "lab",
            "model": str(self.folder / "model"),
            "port": self.port,
            "python": str(self.python),
            "profiles": ("one", "two"),
            "drain_seconds": 1,
            "kill_after_seconds": 2,
            **changes,
        }
        return Server(**values)  # type: ignore[arg-type]

    def fleet(self, host: Host, *profiles: Profile) -> Fleet:
        """A fleet of this one server with two profiles that differ in a flag."""
        mine = profiles or (profile("one"), profile("two", args={"page-size": 16}))
        return Fleet(hosts=(host,), profiles={each.name: each for each in mine})

    @property
    def runs(self) -> Path:
        """The state folder of server `kimi`."""
        return self.folder / "state" / "specdeck" / "kimi"


def profile(name: str, **changes: object) -> Profile:
    """A profile of the stand-in engine."""
    return Profile(name=name, engine="sglang", **changes)  # type: ignore[arg-type]


def make_stand_in(folder: Path) -> StandIn:
    """Lay out the tree under `folder`."""
    site = folder / "site"
    (site / "sglang").mkdir(parents=True)
    (site / "sglang" / "__init__.py").touch()
    (site / "sglang" / "launch_server.py").write_text(ENGINE)
    metadata = site / "sglang-0.5.12.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.12\n")
    for name in ("bin", "gpus", "model"):
        (folder / name).mkdir()
    python = _script(folder / "bin" / "python3", f'#!/bin/sh\nPYTHONPATH={site} exec {sys.executable} "$@"\n')
    _script(folder / "bin" / "nvidia-smi", NVIDIA_SMI)
    env = {
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "GPUS": str(folder / "gpus"),
    }
    return StandIn(folder, folder / "gpus", _free_port(), env, python)


def _script(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
