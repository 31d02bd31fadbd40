"""What a TLS connection that fails means, by the errors of real handshakes."""

import ssl
from contextlib import suppress
from pathlib import Path

import pytest
from tests.transport.web import make_certificate

from specdeck.transport.tls_words import common_name_of, is_untrusted, tls_error, tls_words


def failed(certificate: Path, ca: Path | None, asked: str) -> ssl.SSLError:
    """The error of a client that checks everything."""
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(certificate)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    client = ssl.create_default_context(cafile=str(ca) if ca else None).wrap_bio(
        to_client, to_server, server_hostname=asked
    )
    for _ in range(4):
        with suppress(ssl.SSLWantReadError):
            client.do_handshake()
        with suppress(ssl.SSLWantReadError):
            server.do_handshake()
    raise AssertionError("the handshake succeeded")


@pytest.mark.parametrize(
    ("days", "is_known", "asked", "words"),
    [
        ((-1, 1), False, "127.0.0.1", "certificate not trusted (self-signed, CN gpu-a)"),
        ((-9, -2), True, "127.0.0.1", "certificate has expired (CN gpu-a)"),
        ((2, 9), True, "127.0.0.1", "certificate is not valid yet (CN gpu-a)"),
        ((-1, 1), True, "127.0.0.2", "certificate is for another name (CN gpu-a)"),
        ((-1, 1), True, "gpu-b.example", "certificate is for another name (CN gpu-a)"),
    ],
)
def test_each_fault_of_a_certificate_has_its_own_short_text(
    tmp_path: Path, days: tuple[int, int], is_known: bool, asked: str, words: str
) -> None:
    certificate = make_certificate(tmp_path / "server.pem", "gpu-a", days=days)
    with pytest.raises(ssl.SSLError) as caught:
        failed(certificate, certificate if is_known else None, asked)
    assert is_untrusted(caught.value)
    assert tls_words(caught.value, "gpu-a") == words
    assert tls_words(caught.value, None) == words.replace(", CN gpu-a", "").replace(" (CN gpu-a)", "")


def test_a_port_that_answers_in_plain_words_has_no_tls_and_the_error_is_found_behind_that_of_http() -> None:
    incoming = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, ssl.MemoryBIO(), server_hostname="gpu-a")
    incoming.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(ssl.SSLError) as caught:
        client.do_handshake()
    outer = ConnectionError("all attempts failed")
    outer.__cause__ = caught.value
    assert tls_error(outer) is caught.value
    assert tls_error(ConnectionError("refused")) is None
    assert not is_untrusted(caught.value)
    assert tls_words(caught.value, None) == "no TLS on this port: remove `tls` of this server"


def test_what_is_no_certificate_has_no_name() -> None:
    assert common_name_of(b"no certificate") is None
