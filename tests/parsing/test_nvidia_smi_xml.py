"""`nvidia-smi -q -x` of a real H200, MIG as NVIDIA documents it, and files that are cut off or hostile."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from specdeck.parsing.mig import MigInstance, listed_instances, with_names
from specdeck.parsing.nvidia_smi import ProcessRow
from specdeck.parsing.nvidia_smi_xml import is_xml, read_xml

REAL = (Path(__file__).parents[1] / "captures" / "h200" / "q_load.xml").read_text()
UUID = "GPU-00000003-1111-2222-3333-444455556663"
MIG = """\
<nvidia_smi_log><driver_version>550.54</driver_version>
<gpu id="00000000:07:00.0"><product_name>NVIDIA A100-SXM4-80GB</product_name><uuid>GPU-a</uuid>
<mig_mode><current_mig>Enabled</current_mig></mig_mode>
<fb_memory_usage><total>81920 MiB</total><used>61 MiB</used></fb_memory_usage>
<utilization><gpu_util>N/A</gpu_util></utilization>
<mig_devices>
 <mig_device><index>0</index><gpu_instance_id>2</gpu_instance_id><compute_instance_id>0</compute_instance_id>
  <fb_memory_usage><total>40192 MiB</total><used>37 MiB</used><free>40155 MiB</free></fb_memory_usage></mig_device>
 <mig_device><index>1</index><gpu_instance_id>9</gpu_instance_id><compute_instance_id>0</compute_instance_id>
  <fb_memory_usage><total>9728 MiB</total><used>12 MiB</used></fb_memory_usage></mig_device>
</mig_devices>
<processes><process_info><gpu_instance_id>9</gpu_instance_id><pid>4711</pid><type>C</type>
 <process_name>python3 &lt;x&gt; &amp;</process_name><used_memory>9000 MiB</used_memory></process_info></processes>
</gpu>
</nvidia_smi_log>
"""
LIST = """\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-a)
  MIG 3g.40gb     Device  0: (UUID: MIG-c1)
  MIG 1g.10gb     Device  1: (UUID: MIG-c2)
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-b)
"""


def test_a_real_file_says_what_the_rows_of_the_same_moment_say() -> None:
    answer = read_xml(REAL)
    (gpu,) = answer.gpus
    assert (gpu.index, gpu.uuid, gpu.name, gpu.bus_id) == (0, UUID, "NVIDIA H200", "00:06.0")
    assert (gpu.utilization_percent, gpu.memory_used_mib, gpu.memory_total_mib) == (100.0, 39171, 143771)
    assert (gpu.temperature_c, gpu.power_w, gpu.power_limit_w, gpu.clock_mhz) == (53.0, 691.94, 700.0, 1425)
    assert (gpu.throttle, dict(gpu.unreadable)) == (("power cap",), {})
    (check,) = answer.checks
    assert (check.ecc_uncorrected, check.is_repair_pending, check.is_mig, check.clock_max_mhz) == (
        0,
        False,
        False,
        1980,
    )
    assert check.link is not None
    assert check.link.words == "gen 5 x16 of gen 5 x16"
    assert answer.processes == (ProcessRow(UUID, 524, "python3", 39162),)
    assert answer.instances == ()


def test_instances_have_memory_of_their_own_and_the_processes_that_run_in_them() -> None:
    answer = read_xml(MIG)
    (gpu,) = answer.gpus
    assert (gpu.utilization_percent, gpu.unreadable["utilization_percent"]) == (None, "N/A")
    assert answer.checks[0].is_mig is True
    assert answer.instances == (
        MigInstance("GPU-a", 0, "", "", 2, 0, 37, 40192),
        MigInstance("GPU-a", 1, "", "", 9, 0, 12, 9728, pids=(4711,)),
    )
    assert answer.processes == (ProcessRow("GPU-a", 4711, "python3 <x> &", 9000),)


def test_instances_get_their_names_from_the_list() -> None:
    named = with_names(read_xml(MIG).instances, listed_instances(LIST))
    assert [(each.name, each.uuid, each.memory_total_mib) for each in named] == [
        ("3g.40gb", "MIG-c1", 40192),
        ("1g.10gb", "MIG-c2", 9728),
    ]


def test_a_file_that_is_cut_off_tells_what_came_before() -> None:
    (gpu,) = read_xml(REAL[: REAL.index("<remapped_rows>")]).gpus
    assert (gpu.memory_used_mib, gpu.temperature_c) == (39171, None)


def test_entities_and_document_types_of_a_hostile_file_are_nothing() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><nvidia_smi_log><gpu id="x"><uuid>&b;</uuid></gpu>'
    assert read_xml(bomb).gpus[0].uuid == "&b;"


@given(
    st.lists(
        st.sampled_from(["<gpu id='1'>", "</gpu>", "<mig_device>", "</mig_device>", "<uuid>", "</uuid>", "x", "<", ">"])
    )
)
def test_any_order_of_tags_is_read_without_an_error(tags: list[str]) -> None:
    text = "<nvidia_smi_log>" + "".join(tags)
    assert is_xml(text)
    read_xml(text)
