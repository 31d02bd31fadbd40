"""The parts of the test: each stands alone, takes ten minutes at most and leaves nothing running."""

import subprocess
import time
from collections.abc import Callable, Sequence

from tests.gpu.place import SERVER, Place, Typing

LOAD_SECONDS = 15.0
GONE_SECONDS = 90.0


def launch_and_load(place: Place) -> None:
    """Ours is launched, watched to ready, loaded and stopped."""
    place.launch(place.profiles[0])
    _load(place, (1, 8))
    _stop(place)


def pivots(place: Place) -> None:
    """Without speculation to the first of the pair by the command line, to the second by one key of the dashboard."""
    plain, first, second = place.profiles[:3]
    place.launch(plain)
    _load(place, (8,))
    place.stage(f"pivot {first}")
    done = place.specdeck("pivot", SERVER, "--profile", first, "--yes")
    place.expect("the pivot went well", done.returncode == 0, done.stderr[-300:])
    place.wait()
    _load(place, (1, 8))
    typing = Typing(place)
    try:
        _until(lambda: bool(list((place.out / "screens").glob("*ready*"))), 60)
        place.stage(f"pivot {second} by one key")
        typing.press("v")  # preflight, then three seconds, and nothing else is pressed
        place.expect("one key pivots", _until(lambda: place.status().get("profile") == second, 120), place.status())
        place.wait()
        _load(place, (1, 8))
    finally:
        typing.close()
    _stop(place)


def failing_pivots(place: Place) -> None:
    """One whose preflight fails, one whose new run dies while starting; then a stop while four streams are served."""
    second = place.profiles[2]
    place.launch(second)
    run = place.status().get("run")
    place.stage("a preflight that fails")
    done = place.specdeck("pivot", SERVER, "--profile", "nowhere", "--yes")
    place.expect("a failing preflight is refused", done.returncode != 0, done.returncode)
    place.expect("and nothing was touched", place.status().get("run") == run, place.status())
    place.stage("pivot broken")
    done = place.specdeck("pivot", SERVER, "--profile", "broken", "--yes")
    place.expect("the pivot says that it failed", done.returncode != 0, done.returncode)
    place.wait()
    state = place.status()
    place.expect("the old profile runs again", (state.get("state"), state.get("profile")) == ("ready", second), state)
    load = place.load(4, LOAD_SECONDS)
    time.sleep(3)
    _stop(place)
    load.wait(120)


def strangers(place: Place) -> None:
    """GPU memory and port held by strangers; then kill -9 of the parent one second after its children were spawned."""
    plain = place.profiles[0]
    if place.settings.get("hold_gib"):
        with place.stranger(
            "memory", int(place.settings["hold_gib"]), python=place.settings["server"]["python"]
        ) as pid:
            done = place.specdeck("launch", SERVER, "--profile", plain, "--yes")
            said = done.stdout + done.stderr
            place.expect("memory held by a stranger refuses the launch", done.returncode != 0, said[-300:])
            place.expect("and the stranger is named", str(pid) in said, said[-300:])
    with place.stranger("port", place.port) as pid:
        done = place.specdeck("launch", SERVER, "--profile", plain, "--yes")
        said = done.stdout + done.stderr
        place.expect("a port thief refuses the launch", done.returncode != 0, said[-300:])
        place.expect("and the thief is named", str(pid) in said, said[-300:])
    place.stage(f"launch {plain}")
    place.specdeck("launch", SERVER, "--profile", plain, "--yes")
    parent = int(place.status()["pid"])
    _until(lambda: len(place.processes()) > 1, 120)
    time.sleep(1)
    place.stage("kill -9 of the parent")
    family = [pid for pid, _ in place.processes() if pid != parent]
    place.way.call(f"kill -9 {parent}")
    place.expect("it counts as crashed", _until(lambda: place.status().get("state") == "crashed", 20), place.status())
    place.stage("stop what is left")
    place.specdeck("stop", SERVER, "--yes")
    living = place.way.call(" ".join(("ps -o pid=,stat= -p", ",".join(map(str, family))))) if family else ""
    left = [line for line in living.splitlines() if not line.split()[1].startswith("Z")]
    place.expect("no orphan is left", not left, left)


def hung_scheduler(place: Place) -> None:
    """SIGSTOP of the scheduler while four streams are served: stalled, and ready again after SIGCONT; then a minute of rest."""
    place.launch(place.profiles[2])
    scheduler = next((pid for pid, args in place.processes() if "scheduler" in args), 0)
    place.expect("there is a scheduler", scheduler)
    if scheduler:
        load = place.load(4, 100)
        time.sleep(8)
        place.stage("SIGSTOP of the scheduler")
        place.way.call(f"kill -STOP {scheduler}")
        is_seen = _until(lambda: place.status().get("state") in ("stalled", "unhealthy"), 70)
        place.way.call(f"kill -CONT {scheduler}")
        place.stage("SIGCONT")
        place.expect("it was seen", is_seen, place.status())
        place.expect("and is over", _until(lambda: place.status().get("state") == "ready", 60), place.status())
        load.wait(240)
    place.stage("rest")
    time.sleep(60)
    _stop(place)


def found(place: Place) -> None:
    """A server that somebody else starts is found with its GPU memory, watched to ready, and gone when its owner ends it."""
    server = place.settings["server"]
    env = " ".join(f"{name}='{value}'" for name, value in server.get("env", {}).items())
    args = " ".join(
        f"--{key}" if value is True else f"--{key} {value}" for key, value in server.get("args", {}).items()
    )
    text = f"{server['python']} -m sglang.launch_server --model-path {server['model']} --port {place.port} {args}"
    place.stage("a server that somebody else starts")
    log = f"{place.settings['state']}/foreign.log"
    started = place.way.call(
        f"mkdir -p {place.settings['state']}; cd /; env {env} setsid nohup {text} >{log} 2>&1 </dev/null & echo $!"
    )
    place.expect("it is found once it listens", _until(lambda: place.status("bare"), 280))
    is_ready = _until(lambda: place.status("bare").get("state") == "ready", 280)
    place.expect("and comes to ready", is_ready, place.status("bare"))
    if place.settings.get("has_gpu", True):
        place.expect("its GPU memory is known", place.status("bare").get("gpu_memory_mib"), place.status("bare"))
    _load(place, (4,))
    place.stage("stop by its owner")
    place.way.call(f"kill {started.split()[-1]}")
    place.expect("it is gone", _until(lambda: not place.processes(), GONE_SECONDS), place.processes())
    time.sleep(3)


PARTS: Sequence[Callable[[Place], None]] = (launch_and_load, pivots, failing_pivots, strangers, hung_scheduler, found)


def _load(place: Place, streams: Sequence[int]) -> None:
    for count in streams:
        place.stage(f"load {count}")
        place.load(count, LOAD_SECONDS).wait(300)


def _stop(place: Place) -> None:
    place.stage("stop")
    done = place.specdeck("stop", SERVER, "--yes")
    place.expect("the stop went well", done.returncode == 0, (done.stdout + done.stderr)[-300:])
    place.expect("nothing is left", not place.processes(), place.processes())
    place.expect("specdeck says stopped", place.status().get("state") == "stopped", place.status())


def _until(is_so: Callable[[], object], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if is_so():
                return True
        except (subprocess.SubprocessError, ValueError, KeyError, TypeError):
            pass  # what cannot be asked now is asked again
        time.sleep(1.0)
    return False
