"""The verbs of the command line: where each lives and what it does, so that help and completion import none of them."""

from specdeck.quick_dataclass import dataclass

DASHBOARD = "dashboard"


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb: the module in cli/verbs, its attribute, and its line in the help."""

    module: str
    describe: str
    attribute: str = "command"


VERBS = {
    "demo": Verb("demo", "A GPU host to try everything on, on this machine"),
    "status": Verb("status", "What every host and server is doing, once"),
    "wait": Verb("wait", "Wait until a server is ready, or stopped"),
    "launch": Verb("acts", "Start a server with a profile", "launch"),
    "stop": Verb("acts", "Stop a server and wait until its GPU memory is back", "stop"),
    "relaunch": Verb("acts", "Stop a server and start it again with the same profile", "relaunch"),
    "pivot": Verb("acts", "Stop a server and start it with the other profile", "pivot"),
    "end": Verb("end", "End a worker that holds GPU memory and belongs to no server"),
    "adopt": Verb("adopt", "Write servers that run into the fleet file"),
    "logs": Verb("logs", "The log of a server"),
    "diagnose": Verb("diagnose", "Why a server failed: the first cause, how it ended, what to do"),
    "replay": Verb("replay", "Watch a recording that --record made"),
    "inspect": Verb("inspect", "What a log or an nvidia-smi reply on disk says"),
    "check": Verb("check", "Check the fleet file, the profiles and the themes"),
    "profiles": Verb("profiles", "The launch profiles, or the exact command of one"),
    "themes": Verb("themes", "The colour themes"),
    "keys": Verb("keys", "The keys of the dashboard, with the names to change them by"),
    "schema": Verb("schema", "JSON schema of the files, for editors"),
    "completion": Verb("completion", "Completion for bash, zsh or fish"),
}
HIDDEN = {DASHBOARD: Verb("dashboard", "The dashboard")}
LATER = frozenset({"bench", "compare", "history", "report"})
"""Verbs that the design names and that are not built yet: said so, instead of looking for a host of that name."""
