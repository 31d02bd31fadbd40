"""The simulated `python3 -m sglang.launch_server`: arguments, start, serving."""

import os
from collections.abc import Sequence

from specdeck.demo.engine import failures
from specdeck.demo.engine.arguments import prepare_server_args
from specdeck.demo.engine.log import Log, raw
from specdeck.demo.engine.pace import Pace
from specdeck.demo.engine.ranks import Family
from specdeck.demo.engine.startup import Startup

_OLD_ENTRY = """\
/opt/sglang/launch_server.py:54: UserWarning: 'python -m sglang.launch_server' is still supported, but 'sglang serve' is the recommended entrypoint.
  Example: sglang serve --model-path <model> [options]
  warnings.warn(
"""  # noqa: E501


def main(argv: Sequence[str]) -> int:
    """Run a server until it is ended; the exit code."""
    family = Family()
    log = Log()
    Pace(failures.Watch(log, family)).load(25)
    raw(_OLD_ENTRY)
    args = prepare_server_args(argv)
    log = Log(args.number("tp_size", 1))
    pace = Pace(failures.Watch(log, family))
    model = args.text("model_path") or ""
    if failures.wanted() == "model" or not os.path.exists(os.path.join(model, "config.json")):
        failures.model_missing(model if failures.wanted() != "model" else model + "-no-such")
    free_gb = Startup(args, log, family, pace).run()
    from specdeck.demo.engine.life import serve

    return serve(args, log, family, pace, free_gb)
