"""Plans a stop, launch, relaunch or pivot, and hands it to the host, where a detached script does it (act.sh)."""

import secrets
from collections.abc import Callable, Mapping

from specdeck.config.objects import Fleet, Profile, Server
from specdeck.config.shell import quote
from specdeck.engines.api_key import api_key_notes
from specdeck.engines.command import Command, as_launch, as_shell, build_command, difference, flags_of
from specdeck.engines.nearest import Nearest
from specdeck.engines.recovery import Running, unlike
from specdeck.engines.registry import ENGINES
from specdeck.errors import Refused, TransportError, UsageError
from specdeck.quick_dataclass import replace
from specdeck.services.api_key import bring_key, check_key
from specdeck.services.audit import for_audit
from specdeck.services.deck import Change, Check, Plan
from specdeck.services.discovery import engine_of, nearest_of, with_words
from specdeck.services.preflight import Preflight, check_lock, check_owner, check_port, check_start, neighbour_notes
from specdeck.services.presence import read_watchers
from specdeck.services.run_records import HostClock
from specdeck.services.runs import Look, SeenProcess, asked_in_time, look, only_at, read_lock, write_spec
from specdeck.services.survey import describe
from specdeck.services.target import Target, check_permission, find_target
from specdeck.services.unfinished import broken_off_notes, unfinished_profile
from specdeck.services.who import whoami
from specdeck.state.snapshot import ActKind
from specdeck.transport.base import Transport
from specdeck.transport.script import Script, script_text


class NothingRuns(Refused):
    """There is nothing to stop."""


class Launcher:
    """Keeps nothing between two acts: what it must know it asks the host."""

    def __init__(self, fleet: Fleet, transports: Mapping[str, Transport], clock: Callable[[], float]) -> None:
        self._fleet = fleet
        self._transports = transports
        self._clock = clock

    async def plan(self, act: ActKind, name: str, profile_name: str | None = None) -> Plan:
        """Look and check; nothing is touched. Raises UsageError, Refused, TransportError."""
        server = self._server(name)
        transport = self._transports[server.host]
        seen, target = await self._seen(act, server)
        running = seen.run.profile if seen.run and target and target.run_id else None
        others = tuple(each.words for each in read_watchers(seen.watchers, HostClock()))
        told = (*broken_off_notes(seen),)
        owned = check_permission(seen, target) if target else ()
        owned += check_owner(act, target.owner) if target and target.owner else ()
        if act == "stop":
            checks: tuple[Check, ...] = (check_lock(seen, self._clock(), server.port), *owned)
            return replace(
                self._described(act, server, seen, target, running, None, checks), notes=told, watchers=others
            )
        unfinished = unfinished_profile(act, seen) if target is None else None
        theirs = target.pid if target and not target.run_id else None
        found = await self._found_profile(server, theirs) if theirs is not None else None
        last = running or (found.profile.name if found else seen.run.profile if seen.run else None)
        running = found.words if found else running
        profile = self._profile(act, server, profile_name or unfinished, last)
        command = build_command(server, profile)
        preflight = await check_start(transport, server, profile, command, seen, old_pid=theirs)
        checks = (
            *preflight.checks,
            *check_key(server),
            check_port(server, seen, frees_it=target is not None),
            check_lock(seen, self._clock(), server.port),
            *owned,
        )
        plan = self._described(act, server, seen, target, running, profile, checks)
        if theirs is not None:
            old = _old_command(seen, target, preflight.old_env)
            plan = replace(plan, changes=_changes_from_others(old, command, server, profile) if old else ())
        comes_back = server.rollback and act == "pivot" and bool(target and target.run_id)
        notes = (*told, *_notes(server, profile, preflight, command), *neighbour_notes(self._fleet, server))
        return replace(plan, notes=notes, rolls_back=comes_back, watchers=others)

    async def perform(self, plan: Plan) -> None:
        """Hand the plan to the host; returns once its actor has begun. Raises Refused, TransportError."""
        if not plan.is_allowed:
            raise Refused(refusal(plan))
        server = self._server(plan.server)
        transport = self._transports[server.host]
        seen, target = await self._seen(plan.act, server)
        if (target.pid if target else None, target.start_time if target else None) != (plan.pid, plan.start_time):
            raise Refused(f"{server.name} has changed since the plan was made: look again")
        command = None
        if plan.new_profile:
            command = build_command(server, self._fleet.profiles[plan.new_profile])
            await bring_key(transport, server)
        outcome = await transport.run(
            Script(
                asked_in_time(seen),
                _ask_args(plan, server, self._engine(server), target, command),
                is_urgent=True,
            ),
            limit_seconds=30,
        )
        answer = outcome.stdout.decode("utf-8", "replace").strip()
        if answer.startswith("locked"):
            holder = read_lock(f"held {answer.removeprefix('locked').strip()}")
            raise Refused(
                f"{server.name}: somebody else acts on port {server.port} now ({holder.words(self._clock())})"
            )
        if answer.startswith("refused "):
            raise Refused(f"{server.host}: {answer.removeprefix('refused ')}")
        if answer != "taken":
            said = answer or outcome.stderr.decode("utf-8", "replace").strip()
            raise TransportError(f"{server.host} did not take the {plan.act} of {server.name}: {said}")

    def _server(self, name: str) -> Server:
        server = self._fleet.server(name)
        if server is None:
            raise UsageError(f"no server is called {name}")
        return server

    def _profile(self, act: ActKind, server: Server, asked: str | None, running: str | None) -> Profile:
        """The profile to start with: as asked; a pivot goes to the other one of the pair; else the one that ran last."""
        name = asked
        if name is None and act == "pivot":
            pair = server.profiles[:2]
            if len(pair) < 2:
                raise UsageError(f"{server.name} has no pivot pair: list two profiles in the fleet file")
            name = pair[1] if running == pair[0] else pair[0]
        name = name or running or (server.profiles[0] if server.profiles else None)
        if name is None:
            raise UsageError(f"{server.name} has no profile: name one")
        if name not in self._fleet.profiles:
            raise UsageError(f"no profile is called {name}")
        return self._fleet.profiles[name]

    async def _found_profile(self, server: Server, pid: int) -> Nearest | None:
        """What a server that others started comes nearest to; None: its engine or its command line is not known."""
        described = await describe(self._transports[server.host], [pid])
        process = with_words(described[pid]) if pid in described else None
        engine = engine_of(process) if process is not None else None
        return nearest_of(process, engine.name, server, self._fleet.profiles) if process and engine else None

    async def _seen(self, act: ActKind, server: Server) -> tuple[Look, Target | None]:
        """One look, and what the act is about; a server of others is looked at again with its family."""
        transport = self._transports[server.host]
        seen = await look(transport, server)
        target = self._target(act, server, seen)
        if target and not target.run_id:
            seen = await look(transport, server, target.words)
        return seen, target

    def _target(self, act: ActKind, server: Server, seen: Look) -> Target | None:
        """What will be ended. Raises Refused where the identity is in doubt, or where nothing fits the act."""
        target = find_target(server, seen, self._engine(server))
        if act == "launch" and target is not None:
            raise Refused(_in_the_way(server, seen, target))
        if act == "stop" and target is None:
            raise NothingRuns(f"{server.name} does not run: there is nothing to stop")
        return target

    def _engine(self, server: Server) -> str:
        names = [self._fleet.profiles[name].engine for name in server.profiles if name in self._fleet.profiles]
        return names[0] if names else ""

    def _described(
        self,
        act: ActKind,
        server: Server,
        seen: Look,
        target: Target | None,
        running: str | None,
        profile: Profile | None,
        checks: tuple[Check, ...],
    ) -> Plan:
        new = build_command(server, profile) if profile else None
        old = _old_command(seen, target)
        family = _family(seen, target) if target else ()
        return Plan(
            owner=target.owner.words if target and target.owner else None,
            act=act,
            server=server.name,
            host=server.host,
            old_profile=running,
            new_profile=profile.name if profile else None,
            pid=target.pid if target else None,
            start_time=target.start_time if target else None,
            family=tuple((member.pid, member.name) for member in family),
            gpu_memory_mib=sum(seen.gpu_mib.get(member.pid, 0) for member in family) if seen.gpu_mib else None,
            changes=_changes(old, new),
            command=as_shell(new) if new else None,
            checks=checks,
            drain_seconds=server.drain_seconds,
            kill_after_seconds=server.kill_after_seconds,
        )


def _changes(old: Command | None, new: Command | None) -> tuple[Change, ...]:
    """What is different, as far as the old one is known."""
    return tuple(Change(*change) for change in difference(old, new)) if old and new else ()


def _changes_from_others(old: Command, new: Command, server: Server, profile: Profile) -> tuple[Change, ...]:
    """What is different from a server that others started: another spelling is none, and no secret is shown."""
    engine = ENGINES[profile.engine]
    running = Running(old.argv, server.port, dict(old.env), bind=server.bind)
    return tuple(Change(*each) for each in unlike(engine, new, running))


def _old_command(seen: Look, target: Target | None, env: tuple[tuple[str, str], ...] = ()) -> Command | None:
    """What runs now: as its run recorded it, else as /proc shows it."""
    if target is None:
        return None
    if target.run_id and seen.run:
        return seen.run.command
    return next((Command(argv=each.argv, env=env) for each in seen.members if each.pid == target.pid), None)


def _family(seen: Look, target: Target) -> tuple[SeenProcess, ...]:
    """The server's own process first."""
    return tuple(sorted(seen.members, key=lambda member: (member.pid != target.pid, member.pid)))


def _in_the_way(server: Server, seen: Look, target: Target) -> str:
    """Why it is not launched: it runs, or workers that it left behind do."""
    if any(member.pid == target.pid for member in seen.members) or not seen.members:
        return f"{server.name} runs already (pid {target.pid}): relaunch or pivot it"
    left = ", ".join(f"pid {member.pid} ({member.words})" for member in seen.members)
    return f"{server.name} (pid {target.pid}) is gone and has left {left}: relaunch or stop it, which ends them first"


def refusal(plan: Plan) -> str:
    """Why it is not done: the checks that failed."""
    failed = "; ".join(check.detail or check.name for check in plan.checks if check.state == "failed")
    return f"{plan.server} stays as it is: {failed}"


def _ask_args(
    plan: Plan, server: Server, engine: str, target: Target | None, command: Command | None
) -> tuple[str, ...]:
    """The arguments of ask.sh: what to stage, then what act.sh gets."""
    who = whoami()
    run_id = f"{server.name}-{secrets.token_hex(8)}"
    staged = (
        (as_launch(command), as_shell(command), write_spec(command), for_audit(command))
        if command
        else ("-", "", "", "")
    )
    stop = (
        (f"{target.pid}:{target.start_time}", target.boot, target.run_id, target.run_folder)
        if target
        else ("-", "-", "", "-")
    )
    abort_url, abort_body = _abort(server, engine)
    return (
        server.name,
        "\n".join((only_at(server.bind), *map(script_text, ("proc", "lock", "journal", "act")))),
        script_text("wrapper"),
        *staged,
        run_id,
        plan.new_profile or "-",
        plan.act,
        who,
        plan.new_profile or "-",
        str(server.port),
        *stop,
        str(int(plan.drain_seconds)),
        str(int(plan.kill_after_seconds)),
        abort_url,
        abort_body,
        f"{server.name}-{secrets.token_hex(8)}" if plan.rolls_back else "-",
        ENGINES[engine].ready_words if engine in ENGINES else "",
        _owners_stop(target),
        plan.group_act or "-",
        plan.why or "-",
    )


def _owners_stop(target: Target | None) -> str:
    """The owner's own stop as words for a shell; `-`: there is no owner."""
    argv = target.owner.stop_argv if target and target.owner else None
    return " ".join(map(quote, argv)) if argv else "-"


def _abort(server: Server, engine: str) -> tuple[str, str]:
    """Where the host's actor may ask the engine to end its requests when the drain takes too long."""
    abort = ENGINES[engine].abort if engine in ENGINES else None
    if abort is None or server.tls is not None:
        return "-", ""
    asked = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(server.bind, server.bind)  # noqa: S104 - it is asked, not bound
    host = f"[{asked}]" if ":" in asked else asked
    return f"http://{host}:{server.port}{abort[0]}", abort[1]


def _notes(server: Server, profile: Profile, preflight: Preflight, command: Command) -> tuple[str, ...]:
    """What the version found on the host makes of the command, and what the server will not see of the user's own environment."""
    engine = ENGINES[profile.engine]
    told = (
        engine.launch_notes(preflight.version, flags_of(command.argv), dict(command.env)) if preflight.version else ()
    )
    return (*told, *api_key_notes(server, command.api_key, engine.title, engine.api_key_variable), *preflight.notes)
