"""Pick a launch profile: what each is for, whether it fits the engine there, and what it changes."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from specdeck.config.objects import Profile, Server
from specdeck.state.snapshot import ServerState
from specdeck.ui.drawing.profiles import profile_detail, profile_row
from specdeck.ui.messages import EditWanted
from specdeck.ui.screens.chooser import Choice, Chooser

LONGEST_NAME = 28


class ProfilePicker(Chooser):
    """Gives the profile's name back, None when the user changed their mind."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+e", "edit", "Edit", priority=True)]
    HINT = "type to filter   Enter shows what changes   ctrl+e edits   Esc cancels"

    def __init__(
        self,
        server: ServerState,
        profiles: Sequence[Profile],
        *,
        configured: Server | None,
        known: Mapping[str, Profile],
    ) -> None:
        self._profiles = {profile.name: profile for profile in profiles}
        width_of_names = min(max((len(name) for name in self._profiles), default=0), LONGEST_NAME)

        def choice(profile: Profile) -> Choice:
            words = f"{profile.name} {profile.engine} {profile.describe} {profile.requires}"
            return Choice(
                profile.name,
                profile_row(profile, server, width_of_names),
                words,
                lambda width: profile_detail(profile, server, configured, known, width),
            )

        super().__init__(f"profile for {server.name}", [choice(each) for each in profiles], chosen=server.profile)

    def action_edit(self) -> None:
        """Open the file of the profile under the cursor."""
        if self.present is not None:
            profile = self._profiles[self.present.id]
            self.dismiss(None)
            self.app.post_message(EditWanted(profile))
