"""Whether alerts ring, in the line on top of every view: who silenced them shall not wonder tomorrow why nothing rang."""

import math

from specdeck.state.alert_book import Silence
from specdeck.ui.drawing.spans import Row
from specdeck.ui.drawing.words import age
from specdeck.ui.view import View


def silence_row(view: View) -> Row:
    """`silent 15m`, in minutes that have begun; empty where alerts ring."""
    silence = view.fleet.alerts.silence
    if silence == Silence():
        return ()
    left = silence.until - view.now if silence.until is not None else None
    words = "" if left is None else f" {age(60 * math.ceil(left / 60))}"
    return ((f"  silent{words} ", "warning"),)
