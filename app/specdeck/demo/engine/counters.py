"""What the engine counts; histograms with the real ones' bounds."""

import bisect


class Histogram:
    """Counts by upper bound."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.total = 0.0
        self.count = 0

    def add(self, value: float) -> None:
        """One observation."""
        bisect.insort(self.values, value)
        self.total += value
        self.count += 1
        if len(self.values) > 20_000:
            del self.values[::2]

    def below(self, bound: float) -> float:
        """How many were at most so large (exact until old ones are thinned out)."""
        if not self.values:
            return 0.0
        return float(round(self.count * bisect.bisect_right(self.values, bound) / len(self.values)))


class Counters:
    """Everything that /metrics, /v1/loads and /server_info tell."""

    def __init__(self) -> None:
        self.decode_tokens = 0
        """Moves with each iteration."""
        self.generation_tokens = 0
        """Moves at the end of a request."""
        self.prompt_tokens = 0
        self.prefill_tokens = 0
        self.requests = 0
        self.prefill_passes = 0
        self.decode_passes = 0
        self.accepted = 0
        self.verified = 0
        self.throughput = 0.0
        """Of the newest Decode line; stays when all is idle."""
        self.accept_length = 0.0
        self.accept_rate = 0.0
        self.first_tokens = Histogram()
        self.latencies = Histogram()
        self.token_gaps = Histogram()
        self.prompt_lengths = Histogram()
        self.generation_lengths = Histogram()
        self.http: dict[tuple[str, str, int], int] = {}
        """Answers by path, method and status."""

    def finish(self, prompt_tokens: int, generated: int, seconds: float) -> None:
        """A request ended well."""
        self.requests += 1
        self.prompt_tokens += prompt_tokens
        self.generation_tokens += generated
        self.latencies.add(seconds)
        self.token_gaps.add(seconds / generated)
        self.prompt_lengths.add(prompt_tokens)
        self.generation_lengths.add(generated)

    def note_line(self, throughput: float, accept_length: float, accept_rate: float) -> None:
        """What the newest Decode line said."""
        self.throughput, self.accept_length, self.accept_rate = throughput, accept_length, accept_rate
