"""Every error that specdeck raises on purpose: each says what, where and what to do."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What the command line returns."""

    FINE = 0
    NOT_AS_ASKED = 1
    """A server is not ready, crashed or unhealthy."""
    USAGE = 2
    """The command line or a configuration file is wrong."""
    UNREACHABLE = 3
    REFUSED = 4
    """Locked, read-only, or the identity of a process is in doubt."""
    INTERRUPTED = 130


class SpecdeckError(Exception):
    """An error with one sentence for the user; `str(error)` is that sentence."""

    exit_code: ExitCode = ExitCode.NOT_AS_ASKED


class ConfigError(SpecdeckError):
    """One or more problems in YAML files; one line each, as `file:line:column: key: what`."""

    exit_code = ExitCode.USAGE


class UsageError(SpecdeckError):
    """The user asked for something that does not exist: a server, a profile, a theme."""

    exit_code = ExitCode.USAGE


class Refused(SpecdeckError):
    """An act that specdeck will not do: read-only, locked, or the identity of a process is in doubt."""

    exit_code = ExitCode.REFUSED


class TransportError(SpecdeckError):
    """A host could not be asked."""

    exit_code = ExitCode.UNREACHABLE


class HostUnreachable(TransportError):
    """No connection: name, route, refused port or time-out."""


class LoginRefused(TransportError):
    """The host answered and refused the user or the key; never retried by itself."""


class HostKeyUnknown(TransportError):
    """The host's key is in no known_hosts file; carries its fingerprint in the sentence."""


class HostKeyChanged(TransportError):
    """The host's key differs from the known one; never accepted."""


class ConnectionLost(TransportError):
    """The SSH connection broke while something was asked over it."""


class ChannelRefused(TransportError):
    """The host takes no further session on this connection (MaxSessions): busy, not down."""


class ForwardingForbidden(ChannelRefused):
    """The host forbids TCP forwarding on this connection."""


class ScriptTimeout(TransportError):
    """A script on the host did not end within its limit."""


class NotRecorded(ScriptTimeout):
    """A replay has no answer to this: nobody asked while it was recorded."""
