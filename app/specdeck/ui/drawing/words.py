"""Numbers, ages and sizes as short words of a width that does not jump; unknown is `-`."""

import time

UNKNOWN = "-"


def age(seconds: float | None) -> str:
    """`5s`, `41m`, `3h12`, `2d`: how long ago, in at most five characters."""
    if seconds is None:
        return UNKNOWN
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m"
    if whole < 86_400:
        return f"{whole // 3600}h{whole % 3600 // 60:02}"
    return f"{whole // 86_400}d"


def lasted(seconds: float | None) -> str:
    """`0.3 s`, `25 s`, `8m25s`, `1h02m`: how long something took, in at most five characters from a minute on."""
    if seconds is None:
        return UNKNOWN
    if 0 < seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.0f} s" if seconds == int(seconds) else f"{max(seconds, 0.0):.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60}m{int(seconds) % 60:02}s"
    return f"{int(seconds) // 3600}h{int(seconds) % 3600 // 60:02}m"


def span_clock(seconds: float) -> str:
    """`4:08`, `1:02:11`: a place in something that has a length."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def day_and_clock(at: float) -> str:
    """`20261129-140211`, local time, as a part of a file name."""
    return time.strftime("%Y%m%d-%H%M%S", time.localtime(at))


def clock(at: float) -> str:
    """`14:02:11`, local time."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def moment(at: float, now: float) -> str:
    """`14:02:11` today, `28 Nov 14:02` on another day."""
    then, today = time.localtime(at), time.localtime(now)
    is_today = (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M:%S" if is_today else "%d %b %H:%M", then)


def rate(value: float | None) -> str:
    """Tokens per second: one decimal below 100, none above."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}"


def percent(value: float | None) -> str:
    """`62%` of a value that is already in percent."""
    return UNKNOWN if value is None else f"{value:.0f}%"


def count(value: int | None) -> str:
    """A whole number."""
    return UNKNOWN if value is None else str(value)


def gib(mib: int | None) -> str:
    """`94` GiB: whole from 10 on, else one decimal."""
    if mib is None:
        return UNKNOWN
    return f"{mib / 1024:.0f}" if mib >= 10_189 or mib == 0 else f"{mib / 1024:.1f}"


def amount(mib: int) -> str:
    """`272 GiB`, `640 MiB`, for sentences."""
    return f"{mib / 1024:,.0f} GiB" if mib >= 1024 else f"{mib} MiB"


def memory(used: int | None, total: int | None) -> str:
    """`34/96G`."""
    if used is None and total is None:
        return UNKNOWN
    return f"{gib(used)}/{gib(total)}G"


def plural(number: int, noun: str) -> str:
    """`1 host`, `3 hosts`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
