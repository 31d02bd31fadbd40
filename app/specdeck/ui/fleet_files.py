"""Editing and adding to the user's files from the dashboard: what is wrong is said, and what runs is never lost."""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, SuspendNotSupported

from specdeck.config import places
from specdeck.config.objects import Fleet, Host, Profile, Server
from specdeck.errors import ConfigError, Refused, SpecdeckError
from specdeck.services.deck import Deck
from specdeck.ui.drawing.additions import difference_rows, problem_rows, stranger_detail, stranger_row
from specdeck.ui.drawing.spans import Row, clean, fit
from specdeck.ui.editor import edit
from specdeck.ui.screens.chooser import Choice, Chooser
from specdeck.ui.screens.form import Form
from specdeck.ui.screens.text_sheet import TextSheet
from specdeck.ui.wanted_entries import host_fields, host_of, server_fields, server_of

if TYPE_CHECKING:
    from specdeck.engines.recovery import Recovered
    from specdeck.services.fleet_file import Addition

WRITES: Row = (("Enter", "key"), (" writes it", ""), ("      Esc", "key"), (" leaves the files as they are", ""))
AGAIN: Row = (("Enter", "key"), (" opens it again", ""), ("      Esc", "key"), (" goes on as before", ""))
HOST, SERVER = "+host", "+server "


class FleetFiles:
    """Between the keys `E` and `+` and the files."""

    def __init__(self, app: App[None], deck: Deck, left: Callable[[bool], None]) -> None:
        self._app = app
        self._deck = deck
        self._left = left

    # Editing

    def pick(self, engine: str) -> None:
        """Let the user choose one of the files."""
        fleet = self._deck.fleet
        files = {fleet.source: "the fleet file"} if fleet.source is not None else {}
        for profile in fleet.profiles.values():
            if profile.source is not None and (not engine or profile.engine == engine):
                is_ours = _is_shipped(profile.source)
                files[profile.source] = "profile, shipped: a copy of your own is made" if is_ours else "profile"
        if files:
            width = max(len(path.name) for path in files)
            choices = [self._file_choice(path, kind, width) for path, kind in files.items()]
            self._app.push_screen(Chooser("edit a file", choices), self._picked)
        else:
            self._app.notify("there is no file yet: + adds a host", markup=False)

    def _file_choice(self, path: Path, kind: str, width: int) -> Choice:
        row: Row = ((f"{fit(path.name, width)}  ", ""), (kind, "dim"))
        return Choice(str(path), row, f"{path} {kind}", lambda _: [((str(path.absolute()), "dim"),)])

    def _picked(self, path: str | None) -> None:
        if path is not None:
            self.edit(Path(path))

    def edit_profile(self, profile: Profile) -> None:
        """The file of a profile; one that was read off a running server has none yet."""
        if profile.source is not None:
            self.edit(profile.source)
        else:
            words = clean(f"{profile.name} is in no file yet: + adopts its server")
            self._app.notify(words, severity="warning", markup=False)

    def edit(self, path: Path) -> None:
        """Open the editor, then take up what it left."""
        self._app.run_worker(self._edit(path), name="edit", group="edit", exclusive=True, exit_on_error=False)

    async def _edit(self, path: Path) -> None:
        before = await asyncio.to_thread(_fleet_as_it_is, self._path)
        shipped, path = path, await asyncio.to_thread(_own_copy, path, self._deck.fleet.source)
        try:
            with self._app.suspend():
                self._left(True)
                try:
                    wrong = await edit(path)
                finally:
                    self._left(False)
        except SuspendNotSupported:
            wrong = "this terminal cannot be left to an editor"
        self._app.refresh(layout=True)
        if await asyncio.to_thread(_is_needless, path, shipped):
            return
        if wrong is not None:
            self._app.notify(wrong, severity="warning", markup=False)
        await self._take_up(before, path, "" if wrong else "the files were read again")

    async def _take_up(self, before: Fleet | None, edited: Path | None, done: str) -> None:
        """What the files say now; problems are shown by their places, and all goes on as before."""
        from specdeck.services.fleet_change import read_again

        try:
            fleet = await asyncio.to_thread(read_again, self._path, self._deck.fleet, before)
            await self._deck.take(fleet)
        except SpecdeckError as error:
            again = partial(self.edit, edited) if edited is not None else None
            title = "nothing was taken up: the dashboard goes on as before"
            self._show(title, str(error), AGAIN if again else WRITES, again)
        else:
            if done:
                self._app.notify(done, markup=False)

    def _show(self, title: str, text: str, question: Row, then: Callable[[], None] | None) -> None:
        def decided(is_agreed: bool | None) -> None:
            if is_agreed and then is not None:
                then()

        sheet = TextSheet(title, lambda width: problem_rows(text, width), question, is_problem=True)
        self._app.push_screen(sheet, decided)

    @property
    def _path(self) -> Path:
        from specdeck.services.fleet_file import fleet_path

        return self._deck.fleet.source or fleet_path(None)

    # Adding

    def add(self, server: str | None) -> None:
        """Let the user choose what: a found server, a host, a server on a host; the chosen server comes first."""
        strangers = {f"{each.server.host}:{each.server.port}": each for each in self._deck.strangers}
        choices = [_stranger_choice(key, each) for key, each in strangers.items()]
        choices.append(Choice(HOST, (("a host", ""), ("  any that ssh takes", "dim")), "host new"))
        for host in self._deck.fleet.hosts:
            row: Row = ((f"a server on {host.name}", ""), ("  one that does not run yet", "dim"))
            choices.append(Choice(f"{SERVER}{host.name}", row, f"server on {host.name} {host.ssh}"))
        chosen = next((key for key, each in strangers.items() if each.server.name == server), None)
        self._app.push_screen(
            Chooser("add to the fleet file", choices, chosen=chosen), partial(self._chosen, strangers)
        )

    def _chosen(self, strangers: "Mapping[str, Recovered]", key: str | None) -> None:
        if key is None:
            return
        if key in strangers:
            seen, name = strangers[key], strangers[key].server.name
            self._preview(partial(self._adoption, seen), f"adopt {name}", seen.notes, name)
        elif key == HOST:
            self._ask_host()
        else:
            self._ask_server(self._deck.fleet.host(key.removeprefix(SERVER)))

    def _ask_host(self) -> None:
        def filled(texts: Mapping[str, str] | None) -> None:
            if texts is not None:
                host = host_of(texts)
                self._preview(partial(self._with, host, None), "a new host", (), f"the host {host.name}")

        form = Form("a new host", host_fields(), lambda texts: self._wrong(host_of(texts), None))
        self._app.push_screen(form, filled)

    def _ask_server(self, host: Host | None) -> None:
        if host is None:
            return

        def filled(texts: Mapping[str, str] | None) -> None:
            if texts is not None:
                server = server_of(host.name, texts)
                self._preview(partial(self._with, host, server), f"a new server on {host.name}", (), server.name)

        fields = server_fields([*self._deck.fleet.profiles])
        form = Form(
            f"a new server on {host.name}", fields, lambda texts: self._wrong(host, server_of(host.name, texts))
        )
        self._app.push_screen(form, filled)

    def _wrong(self, host: Host, server: Server | None) -> str | None:
        try:
            self._with(host, server)
        except ConfigError as error:
            return str(error)
        return None

    def _with(self, host: Host, server: Server | None) -> "Addition":
        from specdeck.quick_dataclass import replace
        from specdeck.services.fleet_file import add

        bare = replace(host, servers=())
        self._refuse_lost_file()
        return add(self._path, {host.name: (bare, () if server is None else (server,))})

    def _adoption(self, seen: "Recovered") -> "Addition":
        from specdeck.services.adoption import addition, adopted

        self._refuse_lost_file()
        fleet = self._deck.fleet
        known = {name: profile for name, profile in fleet.profiles.items() if profile is not seen.profile}
        state = self._deck.store.state.server(seen.server.name)
        version = (state.engine_version or "") if state is not None and state.port == seen.server.port else ""
        return addition(self._path, fleet, [adopted(seen, Fleet(fleet.hosts, known, fleet.source), version)])

    def _refuse_lost_file(self) -> None:
        """A new file in its place would have none of what is watched. Raises ConfigError."""
        source = self._deck.fleet.source
        if source is not None and not source.exists():
            raise ConfigError(f"{source}: the fleet file is not there any more: bring it back, then add to it")

    def _preview(self, make: "Callable[[], Addition]", title: str, notes: tuple[str, ...], what: str) -> None:
        """What would be written; Enter writes it, and the dashboard takes it up and says so of `what`."""
        try:
            added = make()
        except ConfigError as error:
            self._show(title, str(error), (("Esc", "key"), (" closes", "")), None)
            return

        def decided(is_agreed: bool | None) -> None:
            if is_agreed:
                self._app.run_worker(
                    self._write(added, what), name="write", group="write", exclusive=True, exit_on_error=False
                )

        sheet = TextSheet(title, lambda width: difference_rows(added.changes, notes, width), WRITES)
        self._app.push_screen(sheet, decided)

    async def _write(self, added: "Addition", what: str) -> None:
        if self._deck.is_read_only:
            raise Refused("read-only: nothing is written")
        before = await asyncio.to_thread(_fleet_as_it_is, self._path)
        try:
            await asyncio.to_thread(added.write)
        except ConfigError as error:
            self._show("nothing was written", str(error), (("Esc", "key"), (" closes", "")), None)
            return
        await self._take_up(before, None, f"{clean(what)} is in {clean(self._path.name)} now, and watched")


def _stranger_choice(key: str, seen: "Recovered") -> Choice:
    row = stranger_row(seen)
    return Choice(key, row, "".join(text for text, _ in row), partial(stranger_detail, seen))


def _is_shipped(path: Path) -> bool:
    return path.parent == places.shipped("profiles")


def _own_copy(path: Path, fleet: Path | None) -> Path:
    """A shipped profile is not the user's to change: a copy in a folder of their own hides it."""
    if not _is_shipped(path):
        return path
    folder = fleet.parent / "profiles" if fleet is not None else places.config_folder() / "profiles"
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / path.name
    if not copy.exists():
        shutil.copyfile(path, copy)
    return copy


def _is_needless(copy: Path, shipped: Path) -> bool:
    """A copy in which nothing was changed is taken away again: it would hide what a later specdeck ships."""
    if copy == shipped or not copy.exists() or copy.read_bytes() != shipped.read_bytes():
        return False
    copy.unlink()
    return True


def _fleet_as_it_is(path: Path) -> Fleet | None:
    """Before it is changed; None: there is none, or it has problems."""
    from specdeck.config.fleet import read_fleet
    from specdeck.config.problems import Problems

    problems = Problems()
    fleet = read_fleet(path, problems) if path.exists() else None
    return None if problems.found else fleet
