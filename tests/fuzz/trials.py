"""All trials by name: each takes bytes and fails if something that must hold of every input does not."""

from collections.abc import Callable, Mapping

from tests.fuzz import states, texts

TRIALS: Mapping[str, Callable[[bytes], None]] = {
    "logs": texts.logs,
    "smi_answers": texts.smi_answers,
    "http_answers": texts.http_answers,
    "host_answers": texts.host_answers,
    "any_facts": states.any_facts,
}
