"""What an engine has that needs nothing special: the base of new ones, each of which says only what differs."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from specdeck.config.objects import ArgValue, Server
from specdeck.engines.base import GpuUse, Probe
from specdeck.state.load import LoadReading


class PlainEngine:
    """Implements `base.Engine` but for its name, title, port, probes, words, `grammar`, and how to recognise it."""

    worker_titles: tuple[str, ...] = ()
    metrics_flag: str | None = None
    api_key_variable: str | None = ""
    abort: tuple[str, str] | None = None
    program = ""
    """What is started where `python` of the fleet file is an interpreter; else `python` is the program."""

    def entry(self, server: Server) -> tuple[str, ...]:
        """The program alone."""
        is_python = PurePosixPath(server.python).name.startswith("python")
        return (self.program,) if is_python else (server.python,)

    def own_args(self, server: Server) -> Mapping[str, ArgValue]:
        """Address and port of the fleet file."""
        return {"host": server.bind, "port": server.port}

    def version_script(self) -> str:
        """Asks the program; its version is the last word that it prints."""
        call = f"s.run([{self.program!r}, '--version'], capture_output=True, text=True)"
        return f"import subprocess as s; print({call}.stdout.split()[-1])"

    def launch_notes(self, version: str, flags: Mapping[str, str], env: Mapping[str, str]) -> tuple[str, ...]:
        """Nothing."""
        return ()

    def flags_script(self) -> str | None:
        """There is no way."""
        return None

    def flag_words(self, argv: Sequence[str]) -> Sequence[str]:
        """All after the program."""
        return argv[1:]

    def gpu_use(self, flags: Mapping[str, str]) -> GpuUse:
        """All that it sees."""
        return GpuUse(count=None)

    def read_answer(self, probe: Probe, body: bytes) -> LoadReading:
        """Nothing."""
        return LoadReading()
