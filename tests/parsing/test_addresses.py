"""Which rows of /proc/net/tcp and tcp6 stand in the way of a server; the words were read from a kernel's own tables."""

import pytest

from specdeck.parsing.addresses import address_of, in_the_way_of

ANY_V4 = "00000000"
ANY_V6 = "00000000000000000000000000000000"


def test_loopback_is_in_the_way_as_itself_as_any_and_as_ipv4_on_an_ipv6_socket() -> None:
    assert set(in_the_way_of("127.0.0.1")) == {"0100007F", ANY_V4, ANY_V6, "0000000000000000FFFF00000100007F"}


def test_loopback_of_ipv6_has_its_bytes_turned_word_by_word() -> None:
    assert set(in_the_way_of("::1")) == {"00000000000000000000000001000000", ANY_V4, ANY_V6}
    assert in_the_way_of("[::1]") == in_the_way_of("::1")


def test_localhost_is_both() -> None:
    assert set(in_the_way_of("localhost")) == {*in_the_way_of("127.0.0.1"), *in_the_way_of("::1")}


def test_another_address_of_the_host() -> None:
    assert "15020AC0" not in in_the_way_of("127.0.0.1")
    assert "15020AC0" in in_the_way_of("192.10.2.21")


@pytest.mark.parametrize("bind", ["0.0.0.0", "::", "gpu-a", ""])  # noqa: S104 - nothing is bound here
def test_a_server_on_all_addresses_or_on_a_name_meets_everybody(bind: str) -> None:
    assert in_the_way_of(bind) == ()


@pytest.mark.parametrize(
    ("word", "address"),
    [
        ("0100007F", "127.0.0.1"),
        ("15020AC0", "192.10.2.21"),
        (ANY_V6, "::"),
        ("00000000000000000000000001000000", "::1"),
        ("0000000000000000FFFF00000100007F", "127.0.0.1"),
        ("0100", None),
        ("no hex", None),
    ],
)
def test_a_word_of_the_kernel_is_an_address_or_nothing(word: str, address: str | None) -> None:
    assert address_of(word) == address
