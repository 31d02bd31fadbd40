"""What screens and panes ask of the app."""

from textual.message import Message

from specdeck.config.objects import Profile
from specdeck.state.snapshot import ActKind


class ServerChosen(Message):
    """Open this server's view."""

    def __init__(self, server: str) -> None:
        super().__init__()
        self.server = server


class ActWanted(Message):
    """Plan this act and ask; `keys` is the number of keys pressed until then, to notice those that came after."""

    def __init__(self, act: ActKind, server: str, profile: str | None = None, *, keys: int) -> None:
        super().__init__()
        self.act: ActKind = act
        self.server = server
        self.profile = profile
        self.keys = keys


class ProfileWanted(Message):
    """Let the user pick a profile for this server."""

    def __init__(self, server: str) -> None:
        super().__init__()
        self.server = server


class EditWanted(Message):
    """Open a profile's file in the user's editor; None: let the user pick a file."""

    def __init__(self, profile: Profile | None = None) -> None:
        super().__init__()
        self.profile = profile


class LookChanged(Message):
    """The user chose another server, filter or row: draw again now."""
