"""Writing the user's fleet file: checked before, in one step, and never at the cost of what stands in it."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from specdeck.config.entries import profile_text
from specdeck.config.fleet import load_fleet
from specdeck.config.objects import Host, Profile, Server
from specdeck.errors import ConfigError
from specdeck.services.fleet_file import add, add_host

FLEET = "# mine\nhosts:\n  lab:\n    ssh: root@gpu-a  # the big one\n    ssh_config: here/config\n"
LAB = Host("lab", "root@gpu-a")
FULL = Server(
    name="kimi",
    host="lab",
    model="/m/kimi: odd",
    port=30000,
    bind="::1",
    python="~/env/bin/python3",
    draft_model="/m/draft",
    args={"tp": "8", "share": "0.90", "bare": True, "off": None, "json": '{"a": [1]}', "many": ("x", "b")},
    env={"CUDA_VISIBLE_DEVICES": "0,1", "ON": "1", "EMPTY": ""},
    workdir="/srv/a b",
    setup=("module load cuda", "true"),
    profiles=("kimi-found",),
    api_key_env="KIMI_KEY",
    rollback=True,
    drain_seconds=5,
)
PROFILE = Profile(
    "kimi-found", "sglang", "eagle3-v1, but topk 8", args={"topk": "8", "draft": "{draft_model}"}, env={"A": "True"}
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A fleet file with one host."""
    file = tmp_path / "fleet.yaml"
    file.write_text(FLEET)
    return file


def test_everything_that_a_server_can_say_reads_back_as_it_is(path: Path) -> None:
    add(path, {"lab": (LAB, [FULL])}, [PROFILE]).write()
    assert path.read_text().startswith(FLEET)
    fleet = load_fleet(path)
    server = fleet.server("kimi")
    assert server is not None
    told = {
        name: str(value) if isinstance(value, int | float) and value is not True else value
        for name, value in server.args.items()
    }
    assert told == FULL.args
    assert (server.model, server.bind, server.setup, server.env) == (FULL.model, FULL.bind, FULL.setup, FULL.env)
    assert (server.workdir, server.rollback, server.drain_seconds) == ("/srv/a b", True, 5)
    assert fleet.profiles["kimi-found"].describe == "eagle3-v1, but topk 8"
    assert fleet.profiles["kimi-found"].env == {"A": "True"}


def test_the_file_keeps_its_rights_and_a_link_stays_a_link(path: Path) -> None:
    path.chmod(0o640)
    link = path.with_name("link.yaml")
    link.symlink_to(path)
    add_host(link, Host("new", "gpu-b")).write()
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [host.name for host in load_fleet(path).hosts] == ["lab", "new"]
    assert sorted(each.name for each in path.parent.iterdir()) == ["fleet.yaml", "link.yaml"]


def test_a_file_that_changed_meanwhile_is_left_alone_with_all_others(path: Path) -> None:
    added = add(path, {"lab": (LAB, [FULL])}, [PROFILE])
    path.write_text(FLEET + "# somebody typed this\n")
    with pytest.raises(ConfigError, match="was changed meanwhile"):
        added.write()
    assert path.read_text().endswith("# somebody typed this\n")
    assert not (path.parent / "profiles" / "kimi-found.yaml").exists()


def test_a_folder_that_cannot_be_written_to_costs_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ConfigError, match="No space left on device"):
        add_host(path, Host("new", "gpu-b")).write()
    assert path.read_text() == FLEET
    assert [each.name for each in path.parent.iterdir()] == ["fleet.yaml"]


def test_an_entry_that_would_change_another_one_is_refused(path: Path) -> None:
    path.write_text("hosts:\n  lab: &lab\n    ssh: x\n    servers: {a: {model: m, port: 1}}\n  b: *lab\n")
    with pytest.raises(ConfigError, match="b would not be read as it should"):
        add(path, {"lab": (Host("lab", "x"), [Server("new", "lab", "/m", 2)])})


def test_problems_of_the_new_entry_are_told_by_the_place_where_it_would_stand(path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"^{path}:\d+:\d+: .*there is no profile nobody"):
        add(path, {"lab": (LAB, [Server("new", "lab", "/m", 2, profiles=("nobody",))])})


def test_a_profile_of_that_name_is_not_overwritten(path: Path) -> None:
    (path.parent / "profiles").mkdir()
    file = path.parent / "profiles" / "kimi-found.yaml"
    file.write_text("engine: sglang\n")
    with pytest.raises(ConfigError, match=r"kimi-found.yaml is there already and says something else"):
        add(path, {"lab": (LAB, [FULL])}, [PROFILE])
    file.write_text(profile_text(PROFILE))
    assert [change.path for change in add(path, {"lab": (LAB, [FULL])}, [PROFILE]).changes] == [path]


def test_bytes_that_are_no_text_are_refused_in_words(path: Path) -> None:
    odd = replace(FULL, model="/m/\udcff", profiles=())
    with pytest.raises(ConfigError, match="no UTF-8 cannot be written"):
        add(path, {"lab": (LAB, [odd])})


def test_the_difference_is_that_of_diff(path: Path) -> None:
    (change,) = add_host(path, Host("new", "gpu-b")).changes
    assert change.difference == (
        f"--- {path}\n+++ {path}\n@@ -3,3 +3,5 @@\n   lab:\n     ssh: root@gpu-a  # the big one\n     ssh_config: here/config\n"
        "+  new:\n+    ssh: gpu-b\n"
    )
