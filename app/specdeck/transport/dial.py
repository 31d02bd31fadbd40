"""TCP to a name: each of its addresses has a head start over the next (RFC 8305); a resolver that hangs holds nobody else up."""

import asyncio
import socket
import threading
from contextlib import suppress

HEAD_START_SECONDS = 0.25
"""A host whose IPv6 leads nowhere is reached over IPv4 so much later."""

Place = tuple[int, tuple[object, ...]]
"""Family and address."""


async def dial(host: str, port: int, *, family: int = 0, bind: str | None = None) -> socket.socket:
    """A connected socket; `bind`: the address of this machine to connect from. Raises OSError, socket.gaierror."""
    trying: set[asyncio.Task[socket.socket]] = set()
    errors: list[BaseException] = []
    try:
        for place in await _places(host, port, family):
            trying.add(asyncio.create_task(_connected(place, bind)))
            if (found := await _first(trying, errors, HEAD_START_SECONDS)) is not None:
                return found
        while trying:
            if (found := await _first(trying, errors, None)) is not None:
                return found
    finally:
        for task in trying:
            task.cancel()
        for left in await asyncio.gather(*trying, return_exceptions=True):
            if isinstance(left, socket.socket):
                left.close()
    raise next((each for each in errors if isinstance(each, ConnectionRefusedError)), errors[-1])


async def _first(
    trying: set[asyncio.Task[socket.socket]], errors: list[BaseException], seconds: float | None
) -> socket.socket | None:
    """The next one that is connected within this time; those that failed are no longer tried."""
    done, _ = await asyncio.wait(trying, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        trying.discard(task)
        error = task.exception()
        if error is None:
            trying |= done - {task}  # whoever else came through is closed
            return task.result()
        errors.append(error)
    return None


async def _connected(place: Place, bind: str | None) -> socket.socket:
    kind, address = place
    sock = socket.socket(kind, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        if bind is not None:
            sock.bind((bind, 0))
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


async def _places(host: str, port: int, family: int) -> list[Place]:
    """In the resolver's order. Its thread is our own: of asyncio's few, those that hang would hold up other hosts and the end."""
    with suppress(socket.gaierror):
        return _look_up(host, port, family, socket.AI_NUMERICHOST)
    loop = asyncio.get_running_loop()
    found: asyncio.Future[list[Place]] = loop.create_future()

    def look_up() -> None:
        try:
            places = _look_up(host, port, family)
        except OSError as error:
            tell(error)
        else:
            tell(places)

    def tell(what: list[Place] | OSError) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(take, what)

    def take(what: list[Place] | OSError) -> None:
        if found.done():
            return
        if isinstance(what, OSError):
            found.set_exception(what)
        else:
            found.set_result(what)

    threading.Thread(target=look_up, name=f"look up {host}", daemon=True).start()
    return await found


def _look_up(host: str, port: int, family: int, flags: int = 0) -> list[Place]:
    try:
        found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, flags=flags)
    except UnicodeError as err:
        raise socket.gaierror(socket.EAI_NONAME, "no name that a host can have") from err
    return [(kind, address) for kind, _, _, _, address in found]
