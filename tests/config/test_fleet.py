"""Fleet files as they should be, targets without one, and where a fleet file is looked for."""

from pathlib import Path

import pytest
from tests.config.writing import Desk

from specdeck.config.fleet import load_fleet, notes_of
from specdeck.config.objects import Server, Tls
from specdeck.errors import UsageError

LAB = """\
hosts:
  lab:
    ssh: root@gpu-a
    ssh_config: ssh/config
    env: {PATH: "/opt/nvidia/bin:/usr/bin:/bin"}
    servers:
      kimi:
        model: /data/models/kimi
        port: 30000
        bind: 0.0.0.0
        python: ~/ml-env/bin/python3
        draft_model: /data/eagle3/draft
        args: {tp-size: 8, mem-fraction-static: 0.90, trust-remote-code: true, log-level: null, cuda-graph-bs: [1, 2]}
        env: {CUDA_VISIBLE_DEVICES: 0, VERSION: 1.10, NAME: ünï}
        workdir: /data
        setup: [module load cuda, ". ~/env.sh"]
        profiles: [eagle3-v1, eagle3-v2, baseline]
        log: /var/log/kimi.log
        drain_seconds: 2.5
        kill_after_seconds: 90
        login_shell: true
        api_key_env: KIMI_KEY
        tls: {verify: false}
"""


def test_every_key_of_a_server(desk: Desk) -> None:
    desk.write("fleet.yaml", LAB)
    assert load_fleet(None).server("lab/kimi") == Server(
        name="kimi",
        host="lab",
        model="/data/models/kimi",
        port=30000,
        bind="0.0.0.0",  # noqa: S104 - data, nothing is bound
        python="~/ml-env/bin/python3",
        draft_model="/data/eagle3/draft",
        args={
            "tp-size": 8,
            "mem-fraction-static": "0.90",
            "trust-remote-code": True,
            "log-level": None,
            "cuda-graph-bs": (1, 2),
        },
        env={"CUDA_VISIBLE_DEVICES": "0", "VERSION": "1.10", "NAME": "ünï"},
        workdir="/data",
        setup=("module load cuda", ". ~/env.sh"),
        profiles=("eagle3-v1", "eagle3-v2", "baseline"),
        log="/var/log/kimi.log",
        drain_seconds=2.5,
        kill_after_seconds=90.0,
        login_shell=True,
        api_key_env="KIMI_KEY",
        tls=Tls(verify=False),
    )


def test_every_key_of_a_host(desk: Desk) -> None:
    fleet = load_fleet(desk.write("here/fleet.yaml", LAB))
    [host] = fleet.hosts
    assert (host.name, host.ssh) == ("lab", "root@gpu-a")
    assert host.ssh_config == desk.folder / "here/ssh/config"
    assert host.env == {"PATH": "/opt/nvidia/bin:/usr/bin:/bin"}


def test_what_is_not_said_has_its_default(desk: Desk) -> None:
    desk.write("fleet.yaml", "hosts: {gpu-a: {servers: {s: {model: m, port: 1}}}, gpu-b: }\n")
    fleet = load_fleet(None)
    assert [(host.name, host.ssh, host.ssh_config) for host in fleet.hosts] == [
        ("gpu-a", "gpu-a", None),
        ("gpu-b", "gpu-b", None),
    ]
    assert fleet.server("s") == Server(name="s", host="gpu-a", model="m", port=1)


def test_one_value_counts_as_a_list_of_one(desk: Desk) -> None:
    desk.write("fleet.yaml", "hosts: {a: {servers: {s: {model: m, port: 1, setup: . ~/env.sh, profiles: baseline}}}}\n")
    server = load_fleet(None).server("s")
    assert server is not None
    assert (server.setup, server.profiles) == ((". ~/env.sh",), ("baseline",))


def test_anchors_and_merge_keys(desk: Desk) -> None:
    desk.write(
        "fleet.yaml",
        """\
        x-base: &base {model: m, args: {tp-size: 8}}
        x-more: &more
          <<: *base
          workdir: /data
        hosts:
          lab:
            servers:
              a: {<<: *more, port: 1}
              b: {<<: *more, port: 2, model: n}
        """,
    )
    fleet = load_fleet(None)
    assert fleet.server("a") == Server(name="a", host="lab", model="m", port=1, args={"tp-size": 8}, workdir="/data")
    assert fleet.server("b") == Server(name="b", host="lab", model="n", port=2, args={"tp-size": 8}, workdir="/data")


def test_named_file_goes_before_the_variable_and_that_before_the_usual_places(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    xdg = Path("../xdg/specdeck/fleet.yaml")
    desk.write(str(xdg), "hosts: {in-xdg: }\n")
    assert load_fleet(None).source == (desk.folder.parent / "xdg/specdeck/fleet.yaml")
    desk.write("fleet.yaml", "hosts: {here: }\n")
    assert load_fleet(None).hosts[0].name == "here"
    monkeypatch.setenv("SPECDECK_FLEET", str(desk.write("other.yaml", "hosts: {by-variable: }\n")))
    assert load_fleet(None).hosts[0].name == "by-variable"
    assert load_fleet(desk.write("named.yaml", "hosts: {named: }\n")).hosts[0].name == "named"


def test_targets_make_a_fleet_without_a_file(desk: Desk) -> None:
    fleet = load_fleet(None, ["root@gpu-a", "localhost", "root@gpu-b:2222", "root@[fd00::1]:22", "root@gpu-a"])
    assert [(host.name, host.ssh) for host in fleet.hosts] == [
        ("gpu-a", "root@gpu-a"),
        ("localhost", "localhost"),
        ("gpu-b", "root@gpu-b:2222"),
        ("fd00-1", "root@[fd00::1]:22"),
    ]
    assert fleet.source is None
    assert "baseline" in fleet.profiles


def test_two_targets_on_one_machine_are_told_apart(desk: Desk) -> None:
    assert [host.name for host in load_fleet(None, ["gpu-a:22", "gpu-a:23"]).hosts] == ["gpu-a", "gpu-a-23"]


def test_target_of_the_fleet_narrows_it_by_name_or_address(desk: Desk) -> None:
    desk.write("fleet.yaml", "hosts: {a: , b: {ssh: root@gpu-b}, c: }\n")
    assert [host.name for host in load_fleet(None, ["c", "root@gpu-b"]).hosts] == ["c", "b"]
    assert [(host.name, host.ssh) for host in load_fleet(None, ["a", "root@b"]).hosts] == [
        ("a", "a"),
        ("root-b", "root@b"),
    ]


@pytest.mark.parametrize("target", ["-oProxyCommand=x", "a b", "", "a\x1b[31m"])
def test_target_that_ssh_would_misread(desk: Desk, target: str) -> None:
    with pytest.raises(UsageError, match="is no host"):
        load_fleet(None, [target])


def test_fewer_than_two_profiles_are_worth_a_note(desk: Desk) -> None:
    desk.write(
        "fleet.yaml",
        "hosts: {a: {servers: {s: {model: m, port: 1, profiles: baseline}, t: {model: m, port: 2}}}, b: }\n",
    )
    assert notes_of(load_fleet(None)) == (
        "server a/s has one profile: a pivot needs two",
        "server a/t has no profiles: a pivot needs two",
        "host b has no servers: specdeck shows those that it finds there",
    )
