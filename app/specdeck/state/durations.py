"""Spans of time in words, for sentences."""


def span(seconds: float) -> str:
    """`0.3 s`, `51 s`, `1m50s`, `2h05m`, `3d02h`."""
    if 0 < seconds < 9.95:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    if whole < 86_400:
        return f"{whole // 3600}h{whole % 3600 // 60:02}m"
    return f"{whole // 86_400}d{whole % 86_400 // 3600:02}h"
