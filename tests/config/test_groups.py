"""`nodes:` of a server: one server for each host, the head first; every mistake in it has its place."""

from itertools import pairwise

import pytest
from tests.config.writing import Desk

from specdeck.config.fleet import load_fleet
from specdeck.engines.command import build_command

FLEET = """\
hosts:
  lab:
    ssh: root@gpu-a:2222
    servers:
      kimi:
        model: m
        port: 30000
        nodes: [lab, lab2]
        args: {nnodes: "{nnodes}", node-rank: "{node_rank}", dist-init-addr: "{head}:5000"}
        profiles: [baseline]
  lab2:
    ssh: root@gpu-b
    servers:
      small: {model: s, port: 30001}
"""


def test_a_server_of_two_nodes_is_one_for_each_host_and_the_head_has_its_name(desk: Desk) -> None:
    desk.write("fleet.yaml", FLEET)
    fleet = load_fleet(None)
    assert [[server.name for server in host.servers] for host in fleet.hosts] == [["kimi"], ["small", "kimi.1"]]
    head = fleet.server("kimi")
    assert head is not None
    assert [(each.host, each.is_rank) for each in fleet.members(head)] == [("lab", False), ("lab2", True)]


def test_rank_count_and_head_stand_in_the_arguments_of_each(desk: Desk) -> None:
    desk.write("fleet.yaml", FLEET)
    fleet = load_fleet(None)
    rank = fleet.server("kimi.1")
    assert rank is not None
    argv = build_command(rank, fleet.profiles["baseline"]).argv
    flags = dict(pairwise(argv))
    assert (flags["--nnodes"], flags["--node-rank"], flags["--dist-init-addr"]) == ("2", "1", "gpu-a:5000")


def test_the_head_s_address_can_be_another_than_ssh_uses(desk: Desk) -> None:
    desk.write(
        "fleet.yaml", FLEET.replace("        port: 30000\n", "        port: 30000\n        head_address: 10.0.0.1\n")
    )
    rank = load_fleet(None).server("kimi.1")
    assert rank is not None
    assert rank.group is not None
    assert rank.group.head == "10.0.0.1"


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        ("[lab2, lab]", "the first node must be lab, the host that serves the requests"),
        ("[lab, lab3]", "there is no host lab3, did you mean lab?"),
        ("[lab, lab2, lab2]", "lab2 is in the list twice"),
    ],
)
def test_nodes_that_cannot_be(desk: Desk, nodes: str, problem: str) -> None:
    assert f"8:16: hosts.lab.servers.kimi.nodes: {problem}" in desk.problems(FLEET.replace("[lab, lab2]", nodes))


def test_the_port_is_taken_on_another_node(desk: Desk) -> None:
    assert desk.problems(FLEET.replace("30001", "30000")) == [
        "8:16: hosts.lab.servers.kimi.nodes: 30000 is the port of small on lab2 already"
    ]


def test_rollback_of_several_nodes_is_refused(desk: Desk) -> None:
    assert desk.problems(FLEET.replace("        port: 30000\n", "        port: 30000\n        rollback: true\n")) == [
        "8:19: hosts.lab.servers.kimi.rollback: does not work with `nodes`: leave it out"
    ]


def test_a_rank_is_named_by_a_server_of_one_host_only(desk: Desk) -> None:
    [problem] = desk.problems(
        FLEET.replace("        nodes: [lab, lab2]\n", "").replace('nnodes: "{nnodes}", node-rank: "{node_rank}", ', "")
    )
    assert problem.endswith("uses {head}, and this server has no head")


def test_no_server_takes_the_name_of_a_rank(desk: Desk) -> None:
    assert desk.problems(FLEET.replace("small:", "kimi.1:")) == [
        "8:16: hosts.lab.servers.kimi.nodes: lab2 has a server kimi.1 already, which is the name of rank 1"
    ]


def test_narrowed_to_one_host_a_server_still_knows_what_it_needs(desk: Desk) -> None:
    desk.write("fleet.yaml", FLEET)
    fleet = load_fleet(None, ["lab"])
    head = fleet.server("kimi")
    assert head is not None
    assert head.group is not None
    assert head.group.hosts == ("lab", "lab2")
    assert fleet.members(head) == (head,)
