"""A small HTTP server on loopback that counts its connections; with TLS of its own authority if asked."""

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass
class Web:
    """Answers `/slow` after `release` is set, everything else at once with the path."""

    port: int = 0
    connections: int = 0
    release: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept alive."""
        self.connections += 1
        self._writers.append(writer)
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                path = request.split(b" ")[1]
                if path == b"/slow":
                    await self.release.wait()
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(path), path))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def drop_connections(self) -> None:
        """Close all connections, as a server that restarts."""
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def running_web(address: str = "127.0.0.1", *, certificate: Path | None = None) -> AsyncIterator[Web]:
    """A server while the context is open."""
    web = Web()
    context = None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
    server = await asyncio.start_server(web.serve, address, 0, ssl=context)
    web.port = server.sockets[0].getsockname()[1]
    try:
        yield web
    finally:
        web.release.set()
        web.drop_connections()
        server.close()
        await server.wait_closed()


def make_certificate(
    path: Path, name: str = "specdeck test", *, days: tuple[int, int] = (-1, 1), address: str = "127.0.0.1"
) -> Path:
    """A self-signed certificate for an address, with its key in the same file; valid between these days from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=days[0]))
        .not_valid_after(now + datetime.timedelta(days=days[1]))
        .add_extension(names, critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path
