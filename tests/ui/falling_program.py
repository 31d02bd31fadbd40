"""`python -m tests.ui.falling_program KEY|TIMER|HANDLER|VERB`: a dashboard or a verb with a fault of its own, and what follows."""

import asyncio
import sys

from tests.ui.fake_deck import FakeDeck

from specdeck.ui.app import SpecdeckApp

TOKEN = "hf_abcdefghijklmnopqrstuvwxyz"  # noqa: S105 - nobody's


def falls(*_: object) -> None:
    raise ValueError(f"it fell \x1b[2J[/x] with token {TOKEN} for http://ana:geheim99@proxy")


def main(where: str) -> int:
    """Returns as the verb does."""
    if where == "VERB":
        from specdeck import __main__
        from specdeck.cli import main as cli

        cli.run = falls  # type: ignore[assignment]
        __main__.main()
    if where == "KEY":
        SpecdeckApp.action_pause = falls  # type: ignore[method-assign,assignment]
    if where == "TIMER":
        SpecdeckApp._on_second = falls  # type: ignore[method-assign,assignment]
    if where == "HANDLER":
        SpecdeckApp.on_worker_state_changed = falls  # type: ignore[method-assign,assignment]
    app = SpecdeckApp(FakeDeck())
    asyncio.run(app.run_async())
    return app.return_code or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
