"""One word for a server that spans several hosts: the worst of its ranks; `unhealthy` where some run and some do not."""

from collections.abc import Iterable

from specdeck.state.snapshot import RankWitness, ServerState, Verdict, Word

WORST_FIRST = (
    Word.UNREACHABLE,
    Word.BLOCKED,
    Word.CRASHED,
    Word.UNHEALTHY,
    Word.STALLED,
    Word.STOPPING,
    Word.UNKNOWN,
    Word.STARTING,
    Word.READY,
    Word.STOPPED,
)
_RUNS = (Word.READY, Word.STARTING, Word.STALLED, Word.UNHEALTHY)


def witnesses_of(group: str, ranks: Iterable[ServerState]) -> tuple[RankWitness, ...]:
    """What the further ranks of a group say, in their order."""
    mine = [each for each in ranks if each.group and each.group.name == group]
    return tuple(_witness(each) for each in sorted(mine, key=lambda each: each.evidence.rank))


def _witness(server: ServerState) -> RankWitness:
    return RankWitness(
        rank=server.evidence.rank,
        host=server.host,
        word=server.word,
        sentence=f"{server.because[0] if server.because else ''}{_phase(server)}",
        gpu_memory_mib=server.gpu_memory_mib,
        is_acted_on=server.act is not None and not server.act.is_over,
    )


def _phase(server: ServerState) -> str:
    """How far its log says that its start is: only the head's row has a bar."""
    phase = server.story.phase if server.story else None
    return f", phase {phase.index} of {phase.total} ({phase.name})" if phase else ""


def judge_group(head: ServerState, own: Verdict) -> Verdict:
    """The group's verdict from the head's own and the witness of the others, each named with its host."""
    ranks = head.evidence.ranks
    everyone = (RankWitness(0, head.host, own.word, own.because[0] if own.because else ""), *ranks)
    told = tuple(f"rank {each.rank} on {each.host}: {_said(each)}" for each in ranks)
    is_acted_on = (head.act is not None and not head.act.is_over) or any(each.is_acted_on for each in ranks)
    word = group_word([each.word for each in everyone], is_acted_on=is_acted_on)
    if word is own.word:
        return Verdict(word, (*own.because, *told))
    halves = _halves(everyone)
    first = halves if word is Word.UNHEALTHY and halves else _of_the_worst(word, everyone)
    return Verdict(word, tuple(dict.fromkeys((*filter(None, (first,)), *own.because, *told))))


def group_word(words: Iterable[Word], *, is_acted_on: bool = False) -> Word:
    """The worst one; where some run and some do not, `unhealthy`, and in the middle of an act `starting`."""
    seen = set(words)
    worst = next((word for word in WORST_FIRST if word in seen), Word.UNKNOWN)
    if Word.STOPPED in seen and worst in (Word.READY, Word.STARTING):
        return Word.STARTING if is_acted_on else Word.UNHEALTHY
    return worst


def memory_of_group(own: int | None, ranks: Iterable[RankWitness]) -> int | None:
    """The sum of what is known."""
    known = [mib for mib in (own, *(each.gpu_memory_mib for each in ranks)) if mib is not None]
    return sum(known) if known else None


def _halves(everyone: tuple[RankWitness, ...]) -> str | None:
    """`rank 1 of 2 runs on lab2, rank 0 on lab does not`."""
    runs = [each for each in everyone if each.word in _RUNS]
    rests = [each for each in everyone if each.word is Word.STOPPED]
    if not runs or not rests:
        return None
    running = ", ".join(f"rank {each.rank} of {len(everyone)} runs on {each.host}" for each in runs)
    return f"{running}, {', '.join(f'rank {each.rank} on {each.host} does not' for each in rests)}"


def _of_the_worst(word: Word, everyone: tuple[RankWitness, ...]) -> str | None:
    return next((f"rank {each.rank} on {each.host}: {_said(each)}" for each in everyone if each.word is word), None)


def _said(witness: RankWitness) -> str:
    return f"{witness.word}, {witness.sentence}" if witness.sentence else str(witness.word)
