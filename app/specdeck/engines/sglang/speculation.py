"""Which speculation SGLang really runs, by its own words: the variable alone decides nothing."""

import re

_ALGORITHM = re.compile(r"speculative_algorithm'?[=:] ?(?:'(?P<name>[A-Za-z0-9_]+)'|None)")
_NO_OVERLAP = re.compile(r"disable_overlap_schedule'?[=:] ?True")
_WITHOUT_DRAFT = ("NGRAM",)
_DECLARED = (
    ("Non-overlap (synchronous) spec v2 is used", "v2 sync"),
    ("Spec v2 is enabled", "v2"),
    ("Overlap spec v2 is enabled", "v2"),
    ("Beta spec is enabled", "v2"),
    ("Spec v1 is used", "v1"),
    ("Overlap scheduler is disabled when spec v2 is off", "v1"),
    ("Overlap scheduler is disabled because of using eagle3", "v1"),
)
_DECLARING = tuple(words for words, _ in _DECLARED)
_STEPS = re.compile(
    r"Adaptive spec params updated: steps \d{1,4} -> (?P<now>\d{1,4})"
    r"|AdaptiveSpeculativeParams initialized: steps=(?P<first>\d{1,4})"
)
NO_ADAPTION = "speculative_adaptive disabled:"
"""What was asked for, and this run cannot do."""


def adaptive_steps(message: str) -> int | None:
    """How many steps are drafted from now on, where the engine decides it while it runs; 0: none."""
    match = _STEPS.match(message)
    return int(match["now"] or match["first"]) if match else None


def declared_mode(message: str) -> str | None:
    """The mode that this line declares; None: it declares none."""
    if not message.startswith(_DECLARING):
        return None
    return next(mode for words, mode in _DECLARED if message.startswith(words))


def algorithm_of(arguments: str) -> str | None:
    """`EAGLE3` out of the dump of the server's arguments."""
    match = _ALGORITHM.search(arguments)
    return match["name"] if match else None


def drafts(arguments: str) -> bool:
    """Whether this run loads a draft model of its own."""
    name = algorithm_of(arguments)
    return name is not None and name.upper() not in _WITHOUT_DRAFT


def mode_of_arguments(arguments: str, declared: str | None) -> str | None:
    """The mode once the arguments are known: none without an algorithm, whatever a line before said."""
    name = algorithm_of(arguments)
    if name is None:
        return None
    if name.upper() in _WITHOUT_DRAFT:
        return name.lower()
    if declared is not None or not _is_mapping(arguments):
        return declared
    return "v2 sync" if _NO_OVERLAP.search(arguments) else "v2"


def _is_mapping(arguments: str) -> bool:
    """`server_args={'model_path': ...}`: a release that has the v2 worker only, and that no longer says so."""
    return arguments.startswith("server_args={")
