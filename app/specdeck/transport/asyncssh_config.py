"""The words of `ssh -G` from asyncssh's own reader, where OpenSSH's client is not installed."""

from pathlib import Path

import asyncssh

from specdeck.errors import ConfigError
from specdeck.transport.target import Target

_TAKEN = (
    "IdentityFile", "CertificateFile", "ProxyJump", "ProxyCommand", "HostKeyAlias", "UserKnownHostsFile",
    "GlobalKnownHostsFile", "BindAddress", "PreferredAuthentications", "ConnectTimeout",
)  # fmt: skip
_SWITCHES = ("PasswordAuthentication", "KbdInteractiveAuthentication", "PubkeyAuthentication", "Compression")


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
    for key in _TAKEN:
        value = options.config.get(key)
        if value:
            listed = value if isinstance(value, list) else [value]
            is_line = key.endswith("KnownHostsFile")
            words[key.lower()] = [" ".join(map(str, listed))] if is_line else [str(v) for v in listed]
    words.setdefault("identityfile", [f"~/.ssh/id_{kind}" for kind in ("ed25519", "ecdsa", "rsa")])
    words.setdefault("userknownhostsfile", ["~/.ssh/known_hosts"])
    words["identityagent"] = [str(options.config.get("IdentityAgent", "SSH_AUTH_SOCK") or "none")]
    words["identitiesonly"] = ["yes" if options.config.get("IdentitiesOnly") else "no"]
    for key in _SWITCHES:
        if (value := options.config.get(key)) is not None:
            words[key.lower()] = ["yes" if value else "no"]
    return words | _algorithms(options)


def _algorithms(options: asyncssh.SSHClientConnectionOptions) -> dict[str, list[str]]:
    """Of the lines that are there: as asyncssh spells them out, then what it does not know."""
    found = {}
    for key, names in (
        ("Ciphers", options.encryption_algs),
        ("KexAlgorithms", options.kex_algs),
        ("MACs", options.mac_algs),
        ("HostKeyAlgorithms", options.server_host_key_algs),
    ):
        line = str(options.config.get(key) or "")
        spelled = [name.decode("ascii") for name in names or () if isinstance(name, bytes)]
        unknown = [] if line.startswith("-") else [each for each in line.lstrip("+^").split(",") if each not in spelled]
        if line:
            found[key.lower()] = [",".join([*spelled, *(each for each in unknown if not set(each) & set("*?!"))])]
    return found
