"""The `specdeck` command: `--version` is answered before anything is imported."""

import signal
import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from specdeck import __version__

        print(f"specdeck {__version__}")
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # `nohup` ignores one, and means it
            signal.signal(number, _leave)
    try:
        from specdeck.cli.main import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    except Exception as error:
        from specdeck.services.crash_report import about

        print(about(error), file=sys.stderr)
        code = 1
    sys.exit(code)


def _leave(number: int, _frame: object) -> None:
    """Through every `finally`: a terminal that does not echo is restored, connections are closed."""
    sys.exit(128 + number)


if __name__ == "__main__":
    main()
