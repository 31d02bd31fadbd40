"""The demo's fleet file and its extra profiles, each of which shows another way to fail."""

from collections.abc import Mapping

from specdeck.demo.tree import Tree

_SERVERS = """\
# The demo host. Everything here is real but the GPUs and the model.
hosts:
  demo:
    ssh: demo-gpu
    ssh_config: {ssh_config}
    servers:
      kimi:
        model: {models}/kimi-k2
        port: {kimi}
        python: python3
        draft_model: {models}/kimi-k2-eagle3
        args: {{tp-size: 8, mem-fraction-static: 0.76, max-running-requests: 64}}
        profiles: [eagle3-v1, eagle3-v2, baseline, {extra}]
        drain_seconds: 10
        kill_after_seconds: 30
      qwen:
        model: {models}/qwen3-8b
        port: {qwen}
        python: python3
        draft_model: {models}/qwen3-8b-eagle3
        args: {{base-gpu-id: 7, mem-fraction-static: 0.14, max-running-requests: 32}}
        profiles: [baseline, eagle3-v2]
        drain_seconds: 10
        kill_after_seconds: 30
"""
_FAILING: Mapping[str, tuple[str, str]] = {
    "demo-oom": ("oom-rank3", "rank 3 runs out of GPU memory while it captures graphs"),
    "demo-silent": ("silent", "killed in the middle of loading, without a word"),
    "demo-model": ("model", "the model cannot be found"),
    "demo-port": ("port", "finds its port taken at the very end, and says fired up all the same"),
    "demo-hang": ("hang", "serves for a while, then its scheduler hangs"),
    "demo-crash": ("crash", "serves for a while, then its first scheduler is killed"),
}
_BAD_FLAG = """\
engine: sglang
extends: baseline
describe: Demo of a failure, a flag that this version does not know
args: {no-such-flag: 3}
"""


def failing_profiles() -> dict[str, str]:
    """YAML text by profile name."""
    return {name: _profile(*words) for name, words in _FAILING.items()} | {"demo-bad-flag": _BAD_FLAG}


def _profile(failure: str, describe: str) -> str:
    return f"engine: sglang\nextends: eagle3-v2\ndescribe: Demo of a failure, {describe}\nenv: {{SPECDECK_DEMO_FAIL: {failure}}}\n"


def write_fleet(tree: Tree, ports: Mapping[str, int]) -> None:
    """fleet.yaml and profiles/ beside it."""
    profiles = failing_profiles()
    folder = tree.root / "profiles"
    folder.mkdir(mode=0o700)
    for name, text in profiles.items():
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    text = _SERVERS.format(ssh_config=tree.ssh_config, models=tree.models, extra=", ".join(profiles), **ports)
    tree.fleet.write_text(text, "utf-8")
