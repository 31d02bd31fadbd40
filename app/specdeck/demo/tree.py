"""The files of the demo host: a private temporary folder that is a virtual environment, a home and a model store at once."""

import os
import shlex
import sys
import tempfile
from pathlib import Path

from specdeck.demo.smi.gpus import HOLDINGS
from specdeck.quick_dataclass import dataclass

ENGINE_VERSION = "0.5.12"
SHARDS = 64
_APP = Path(__file__).resolve().parents[2]
"""The folder that holds the package: the simulated programs import from there."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Where everything of one demo lies."""

    root: Path

    @property
    def bin(self) -> Path:
        """python3 and nvidia-smi, first in the PATH of the demo's shells."""
        return self.root / "bin"

    @property
    def home(self) -> Path:
        """HOME of the demo's shells."""
        return self.root / "home"

    @property
    def models(self) -> Path:
        """Models in shards, and a draft."""
        return self.root / "models"

    @property
    def keys(self) -> Path:
        """Host key, client key, known_hosts."""
        return self.root / "keys"

    @property
    def ssh_config(self) -> Path:
        """For `ssh -F`."""
        return self.root / "ssh_config"

    @property
    def fleet(self) -> Path:
        """The fleet file."""
        return self.root / "fleet.yaml"


def make_tree() -> Tree:
    """A new folder that only we can read, filled."""
    tree = Tree(Path(tempfile.mkdtemp(prefix="specdeck-demo-")))
    for folder in (tree.bin, tree.home, tree.models, tree.keys, tree.root / HOLDINGS, _site(tree)):
        folder.mkdir(parents=True, mode=0o700)
    _make_python(tree)
    _make_engine(tree)
    _make_nvidia_smi(tree)
    for name in (".profile", ".zprofile"):
        (tree.home / name).write_text(f"PATH={shlex.quote(str(tree.bin))}:$PATH\n")
    make_model(tree.models / "kimi-k2", "DeepseekV3ForCausalLM", "kimi_k2", SHARDS)
    make_model(tree.models / "kimi-k2-eagle3", "LlamaForCausalLMEagle3", "llama", 1)
    make_model(tree.models / "qwen3-8b-eagle3", "LlamaForCausalLMEagle3", "llama", 1)
    make_model(tree.models / "qwen3-8b", "Qwen3ForCausalLM", "qwen3", 16)
    return tree


def make_model(folder: Path, architecture: str, kind: str, shards: int) -> None:
    """A model's folder: config.json and its shards, tiny."""
    folder.mkdir()
    (folder / "config.json").write_text(
        f'{{"architectures": ["{architecture}"], "model_type": "{kind}", "max_position_embeddings": 131072}}\n'
    )
    for number in range(1, shards + 1):
        (folder / f"model-{number:05d}-of-{shards:06d}.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")


def _site(tree: Tree) -> Path:
    return tree.root / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"


def _make_python(tree: Tree) -> None:
    """A virtual environment by hand: what runs in it is called `python3`, exactly as it was typed."""
    base = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    (tree.root / "pyvenv.cfg").write_text(
        f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {sys.version.split()[0]}\n"
    )
    for name in ("python3", "python"):
        (tree.bin / name).symlink_to(base)


def _make_engine(tree: Tree) -> None:
    """`sglang` of that environment: its modules lead to the simulated engine, its metadata tell the version."""
    package = _site(tree) / "sglang"
    (package / "srt").mkdir(parents=True)
    (package / "__init__.py").write_text(
        f"import sys\n\nsys.path.append({str(_APP)!r})\n__version__ = {ENGINE_VERSION!r}\n"
    )
    (package / "srt" / "__init__.py").write_text("")
    (package / "srt" / "server_args.py").write_text(
        "from specdeck.demo.engine.arguments import ServerArgs, prepare_server_args\n"
    )
    (package / "launch_server.py").write_text(
        'if __name__ == "__main__":\n    import sys\n\n'
        "    from specdeck.demo.engine.main import main\n\n    sys.exit(main(sys.argv[1:]))\n"
    )
    metadata = _site(tree) / f"sglang-{ENGINE_VERSION}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: sglang\nVersion: {ENGINE_VERSION}\n")


def _make_nvidia_smi(tree: Tree) -> None:
    """Started without site packages: it must cost little."""
    code = f"import sys; sys.path.append({str(_APP)!r}); from specdeck.demo.smi.main import main; sys.exit(main(sys.argv[1:]))"
    words = shlex.join([str(tree.bin / "python3"), "-I", "-S", "-c", code])
    program = tree.bin / "nvidia-smi"
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    program.chmod(0o700)


def search_path(tree: Tree) -> str:
    """PATH of the demo's shells."""
    return os.pathsep.join([str(tree.bin), os.environ.get("PATH", os.defpath)])
