"""What a row of `specdeck status` says of a server: short enough for a line, in words that people say."""

from dataclasses import replace

from tests.ui import fleets

from specdeck.cli.state_words import act_words, detail
from specdeck.state.snapshot import Act, Word


def test_a_row_has_the_first_sentences_of_a_long_cause() -> None:
    glm = fleets.glm()
    assert glm.word is Word.CRASHED
    assert glm.story is not None
    assert glm.story.cause is not None
    memory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.31 GiB."
    rest = "GPU 3 has a total capacity of 139.81 GiB of which 0.42 GiB is free. Including non-PyTorch memory"
    cause = replace(glm.story.cause, message=f"{memory} {rest}")
    evidence = replace(glm.evidence, story=replace(glm.story, cause=cause))
    assert detail(replace(glm, evidence=evidence), fleets.NOW) == f"{memory} …"


def test_a_row_says_what_an_act_waits_for() -> None:
    act = Act("pivot", "waiting", "left=13", fleets.NOW - 12, fleets.NOW + 48, "eagle3-v1", "ana")
    assert act_words(replace(fleets.kimi(), act=act)) == "pivot to eagle3-v1 by ana: waiting for 13 processes to end"
