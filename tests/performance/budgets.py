"""Words for figures."""


def ratio(measured: float, floor: float) -> str:
    """`1.42 x`."""
    return f"{measured / floor:.2f} x"


def seconds(value: float) -> str:
    """`123 ms`."""
    return f"{value * 1000:.1f} ms" if value < 10 else f"{value:.1f} s"
