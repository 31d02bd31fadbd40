"""Names lead where the user's own `ssh` would go."""

import shutil
from pathlib import Path

import pytest

from specdeck.errors import ConfigError
from specdeck.transport.resolve import resolve
from specdeck.transport.target import Target, parse_target

CASES = Path(__file__).parents[1] / "cases" / "B24_ssh_config_words"
needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="ssh is not installed")


@pytest.fixture(params=[pytest.param("openssh", marks=needs_ssh), "asyncssh"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """OpenSSH's client, or asyncssh's reader where that is not installed."""
    if request.param == "asyncssh":
        monkeypatch.setattr("shutil.which", lambda _name: None)
    return str(request.param)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("gpu-a", Target("gpu-a")),
        ("ops@gpu-a", Target("gpu-a", "ops")),
        ("gpu-a:2222", Target("gpu-a", None, 2222)),
        ("ops@192.0.2.7:2222", Target("192.0.2.7", "ops", 2222)),
        ("ssh://ops@gpu-a:2222/", Target("gpu-a", "ops", 2222)),
        ("ops@[2001:db8::7]:2222", Target("2001:db8::7", "ops", 2222)),
        ("2001:db8::7", Target("2001:db8::7")),
        ("me@example.org@gpu-a", Target("gpu-a", "me@example.org")),
    ],
)
def test_all_spellings_of_a_target_are_taken_apart(text: str, target: Target) -> None:
    assert parse_target(text) == target


@pytest.mark.parametrize(
    "text",
    ["", "-oProxyCommand=touch x", "ops@-oProxyCommand=x", "-l@gpu-a", "gpu a", "gpu\n", "gpu-a:0", "gpu-a:99999"],
)
def test_what_is_no_name_is_refused_before_anything_runs(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_target(text if text != "gpu\n" else "gp\nu")


@pytest.mark.parametrize("case", ["control_master", "trailing_comment", "request_tty"])
@needs_ssh
async def test_words_that_ssh_knows_do_not_stop_a_name(case: str) -> None:
    route = await resolve("gpu-a", CASES / f"{case}.conf")
    assert (route.host, route.user, route.port) == ("192.0.2.21", "ops", 22)
    assert route.place == "gpu-a (192.0.2.21:22)"


@needs_ssh
async def test_a_word_that_this_ssh_does_not_know_is_named_with_its_line() -> None:
    path = CASES / "match_version.conf"
    try:
        said = (await resolve("gpu-a", path)).host
    except ConfigError as err:
        said = str(err)
    assert f"{path} line 1" in said or said == "192.0.2.21"


async def test_the_asyncssh_reader_names_what_it_cannot_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(ConfigError, match="gpu-a: the SSH configuration cannot be read"):
        await resolve("gpu-a", CASES / "trailing_comment.conf")


async def test_everything_that_a_login_needs_is_read(reader: str, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        "Host gpu-a\n  HostName 192.0.2.7\n  Port 2207\n  User ops\n  IdentityFile /keys/one\n  IdentityFile /keys/two\n"
        "  IdentitiesOnly yes\n  IdentityAgent none\n  UserKnownHostsFile /keys/known\n  HostKeyAlias gpu-a-key\n"
        "  ProxyJump edge,ops2@mid:2208\nHost edge\n  HostName 192.0.2.1\n  User door\n  ProxyJump outer\n"
    )
    route = await resolve("gpu-a", config)
    assert (route.host, route.port, route.user) == ("192.0.2.7", 2207, "ops"), reader
    assert route.identity_files == (Path("/keys/one"), Path("/keys/two"))
    assert (route.identities_only, route.agent, route.host_key_alias) == (True, "", "gpu-a-key")
    assert route.known_hosts_files[0] == Path("/keys/known")
    assert [(jump.user, jump.host, jump.port) for jump in route.jumps[1:]] == [
        ("door", "192.0.2.1", 22),
        ("ops2", "mid", 2208),
    ]
    assert route.jumps[0].host == "outer"


@needs_ssh
async def test_included_files_and_conditions_count(tmp_path: Path) -> None:
    config, more = tmp_path / "config", tmp_path / "more"
    config.write_text(f"Include {more}\nHost gpu-*\n  Port 2207\nMatch host 192.0.2.9 exec false\n  User nobody\n")
    more.write_text(
        "Host gpu-a\n  HostName 192.0.2.9\nMatch originalhost gpu-a exec true\n  User ops\n  ProxyJump edge\n"
    )
    route = await resolve("gpu-a", config)
    assert (route.host, route.port, route.user) == ("192.0.2.9", 2207, "ops")
    assert [jump.name for jump in route.jumps] == ["edge"]


async def test_what_is_typed_wins_over_the_configuration(reader: str, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host gpu-a\n  HostName 192.0.2.7\n  Port 2207\n  User ops\n")
    route = await resolve("root@gpu-a:22", config)
    assert (route.host, route.port, route.user) == ("192.0.2.7", 22, "root"), reader


async def test_a_known_hosts_file_with_a_space_in_its_name_is_one_file(reader: str, tmp_path: Path) -> None:
    known = tmp_path / "my hosts"
    known.touch()
    config = tmp_path / "config"
    config.write_text(f'Host gpu-a\n  UserKnownHostsFile "{known}" /keys/other\n')
    assert (await resolve("gpu-a", config)).known_hosts_files[:2] == (known, Path("/keys/other")), reader


async def test_jump_hosts_that_lead_back_to_themselves_end_in_a_sentence(reader: str, tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text("Host a\n  ProxyJump b\nHost b\n  ProxyJump a\n")
    with pytest.raises(ConfigError, match="does ProxyJump lead back to itself"):
        await resolve("a", config)
    assert reader
