"""The words of `ssh -G` from asyncssh's own reader, where OpenSSH's client is not installed."""

from pathlib import Path

import asyncssh

from specdeck.errors import ConfigError
from specdeck.transport.target import Target


def ask_asyncssh(target: Target, config: Path | None) -> dict[str, list[str]]:
    """The same words from asyncssh's own reader, where OpenSSH's client is not installed."""
    default = Path("~/.ssh/config").expanduser()
    files = [str(config)] if config else [str(default)] if default.is_file() else []
    try:
        options = asyncssh.SSHClientConnectionOptions(
            config=files,
            host=target.name,
            username=target.user or (),
            port=target.port or (),
            client_keys=None,
            known_hosts=None,
        )
    except (asyncssh.ConfigParseError, OSError, ValueError) as err:
        raise ConfigError(f"{target.name}: the SSH configuration cannot be read: {err}") from err
    return _asyncssh_words(options)


def _asyncssh_words(options: asyncssh.SSHClientConnectionOptions) -> dict[str, list[str]]:
    words = {"hostname": [options.host], "port": [str(options.port)], "user": [options.username]}
    for key in ("IdentityFile", "CertificateFile", "ProxyJump", "HostKeyAlias", "UserKnownHostsFile"):
        value = options.config.get(key)
        if value:
            listed = value if isinstance(value, list) else [value]
            words[key.lower()] = [" ".join(map(str, listed))] if key.startswith("User") else [str(v) for v in listed]
    words.setdefault("identityfile", [f"~/.ssh/id_{kind}" for kind in ("ed25519", "ecdsa", "rsa")])
    words.setdefault("userknownhostsfile", ["~/.ssh/known_hosts"])
    words["identityagent"] = [str(options.config.get("IdentityAgent", "SSH_AUTH_SOCK") or "none")]
    words["identitiesonly"] = ["yes" if options.config.get("IdentitiesOnly") else "no"]
    return words
