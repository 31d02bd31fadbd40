"""Which speculation a launch profile asks for, by its arguments and environment; what the engine makes of it is another matter."""

import re

from specdeck.config.objects import ArgValue, Profile

_EAGLE = ("EAGLE", "EAGLE3", "NEXTN", "STANDALONE")
_TRUE = ("true", "1", "yes", "y")
_FALSE = ("false", "0", "no", "n")


def asked_speculation(profile: Profile) -> str | None:
    """`v1`, `v2`, `ngram`, `eagle3`, ..., `none`; None: it leaves that to the engine's version."""
    args = {_flag(name): value for name, value in {**profile.base_args, **profile.args}.items()}
    if profile.engine == "sglang":
        return _of_sglang(args, profile)
    if profile.engine == "vllm":
        return _of_vllm(args)
    return None


def _of_sglang(args: dict[str, ArgValue], profile: Profile) -> str | None:
    algorithm = args.get("speculative-algorithm")
    if algorithm is None:
        return "none"
    if str(algorithm).upper() not in _EAGLE:
        return str(algorithm).lower()
    variable = profile.env.get("SGLANG_ENABLE_SPEC_V2", "").lower()
    return "v2" if variable in _TRUE else "v1" if variable in _FALSE else None


def _of_vllm(args: dict[str, ArgValue]) -> str | None:
    config = args.get("speculative-config", args.get("sc"))
    if config is None:
        method = args.get("spec-method")
        return str(method) if method is not None else None if "spec-model" in args else "none"
    import json  # behind the first frame, where no profile of the fleet is vLLM's

    try:
        found = json.loads(str(config))
    except ValueError:
        return None
    method = found.get("method") if isinstance(found, dict) else None
    return method if isinstance(method, str) else None


def _flag(name: str) -> str:
    return re.sub("_", "-", name.lstrip("-"))
