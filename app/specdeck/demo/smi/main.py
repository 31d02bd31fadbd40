"""The command line of the simulated nvidia-smi. Every row leaves in one write, as the real one's do."""

import time

from specdeck.demo.smi.gpus import look
from specdeck.demo.smi.request import Refusal, Request
from specdeck.demo.smi.rows import GpuRows, ProcessRows
from specdeck.demo.smi.say import say

TYPE_CHECKING = False
if TYPE_CHECKING:  # what this imports costs more than the answer
    from collections.abc import Callable


def main(argv: list[str]) -> int:
    """Answer once or for ever; the exit code of the real one."""
    try:
        _answer(Request(argv))
    except Refusal as refusal:
        say(refusal.sentence)
        return refusal.code
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    return 0


def _answer(request: Request) -> None:
    if request.query_gpu:
        _repeat(GpuRows(request).draw, request.every_seconds)
    elif request.query_apps:
        _repeat(ProcessRows(request).draw, request.every_seconds)
    else:
        from specdeck.demo.smi.plain import draw_list, draw_table

        draw = draw_list if request.is_list else draw_table
        _repeat(lambda at: say(draw(request.chosen(look(at)), at)), request.every_seconds)


def _repeat(draw: "Callable[[float], None]", every_seconds: float) -> None:
    draw(time.time())
    while every_seconds:
        time.sleep(every_seconds)
        draw(time.time())
