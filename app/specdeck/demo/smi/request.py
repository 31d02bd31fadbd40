"""What was asked of the simulated nvidia-smi, and the two ways it refuses."""

from specdeck.demo.smi.gpus import Gpu

NO_DEVICE = 6


class Refusal(Exception):
    """A sentence for the user and the exit code that goes with it."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.sentence, self.code = sentence, code


class Request:
    """What was asked on the command line."""

    def __init__(self, argv: list[str]) -> None:
        self.query_gpu = self.query_apps = ""
        self.formats: list[str] = []
        self.every_seconds = 0.0
        self.indices: list[str] = []
        self.is_list = False
        words = [part for word in argv for part in _split(word)]
        while words:
            self._take(words.pop(0), words)

    def _take(self, word: str, rest: list[str]) -> None:
        if word in ("-L", "--list-gpus"):
            self.is_list = True
            return
        if not rest:
            raise Refusal("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n", 1)
        value = rest.pop(0)
        if word in ("--query-gpu",):
            self.query_gpu = value
        elif word in ("--query-compute-apps",):
            self.query_apps = value
        elif word == "--format":
            self.formats = value.split(",")
        elif word in ("-i", "--id"):
            self.indices = value.split(",")
        elif word in ("-lms", "--loop-ms"):
            self.every_seconds = int(value) / 1000
        elif word in ("-l", "--loop"):
            self.every_seconds = float(value)
        else:
            raise Refusal("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n", 1)

    def chosen(self, gpus: list[Gpu]) -> list[Gpu]:
        """The GPUs that -i names, by index, UUID or bus id."""
        if not self.indices:
            return gpus
        found = [gpu for gpu in gpus if {str(gpu.index), gpu.uuid, gpu.bus_id} & set(self.indices)]
        if not found:
            raise Refusal("No devices were found\n", NO_DEVICE)
        return found


def _split(word: str) -> list[str]:
    """`--query-gpu=index` as two words; what has no `=` stays one."""
    name, mark, value = word.partition("=")
    return [name, value] if mark and name.startswith("--") else [word]
