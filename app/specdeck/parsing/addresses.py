"""Which listening addresses stand in the way of a server, as /proc/net/tcp and tcp6 write them."""

from ipaddress import IPv4Address, IPv6Address, ip_address

_ANY = ("00000000", "0" * 32)
"""Whoever listens on all addresses stands in every way. (Of IPv6 only, or both: the table does not say.)"""
_LOOPBACKS = (IPv4Address("127.0.0.1"), IPv6Address("::1"))


def in_the_way_of(bind: str) -> tuple[str, ...]:
    """For the address that a server binds; empty: any may be."""
    if bind == "localhost":
        return (*_ANY, *(word for address in _LOOPBACKS for word in _as_in_proc(address)))
    try:
        address = ip_address(bind.strip("[]"))
    except ValueError:
        return ()  # a name, which only the host can resolve
    return () if address.is_unspecified else (*_ANY, *_as_in_proc(address))


def address_of(word: str) -> str | None:
    """`127.0.0.1` for `0100007F`, an IPv4 address on an IPv6 socket as such; None: it is no such word."""
    try:
        raw = bytes.fromhex(word)
    except ValueError:
        return None
    packed = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    if len(packed) not in (4, 16):
        return None
    address = ip_address(packed)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _as_in_proc(address: IPv4Address | IPv6Address) -> tuple[str, ...]:
    """Words of four bytes, each as a number of a little-endian machine; IPv4 also as it looks on an IPv6 socket."""
    if isinstance(address, IPv4Address):
        mapped = IPv6Address(f"::ffff:{address}")
        return (_turned(address.packed), _turned(mapped.packed))
    return (_turned(address.packed),)


def _turned(packed: bytes) -> str:
    return "".join(packed[at : at + 4][::-1].hex().upper() for at in range(0, len(packed), 4))
