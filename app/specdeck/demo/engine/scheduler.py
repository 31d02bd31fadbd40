"""The heart of a serving engine: a queue, iterations that hand out tokens, counters that agree with them, and its log lines."""

import asyncio
import random
import time
from collections import deque

from specdeck.demo.engine.counters import Counters
from specdeck.demo.engine.figures import Speculation, output_rate
from specdeck.demo.engine.log import Log
from specdeck.demo.engine.ranks import Family

TICK_SECONDS = 0.1
LOG_EVERY = 40
"""Iterations between Decode lines."""


class Request:
    """One generation."""

    def __init__(self, rid: str, prompt_tokens: int, max_tokens: int) -> None:
        self.rid, self.prompt_tokens, self.max_tokens = rid, prompt_tokens, max_tokens
        self.generated = 0
        self.is_aborted = False
        self.arrived = time.monotonic()
        self.first_token: float | None = None
        self.moved = asyncio.Event()
        """Set when tokens came or the request ended."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.is_aborted or self.generated >= self.max_tokens

    @property
    def held_tokens(self) -> int:
        """What it takes of the KV pool."""
        return self.prompt_tokens + self.generated


class Scheduler:
    """Runs requests. Costs nothing while there are none."""

    def __init__(
        self, log: Log, family: Family, *, max_running: int, tokens: int, drafting: Speculation | None, mib: int
    ) -> None:
        self._log, self._family, self._mib = log, family, mib
        self.max_running, self.pool_tokens, self.drafting = max_running, tokens, drafting
        self.running: list[Request] = []
        self.queue: deque[Request] = deque()
        self.counters = Counters()
        self.must_hang = False
        self.heartbeat = time.monotonic()
        self._random = random.Random()  # noqa: S311
        self._work = asyncio.Event()
        self._owed = 0.0
        self._busy = -1
        self._since_line = (time.monotonic(), 0, 0, 0)

    @property
    def is_hung(self) -> bool:
        """Whether the scheduler process does nothing: asked to, or stopped by a signal."""
        return self.must_hang or self._family.is_first_rank_stopped()

    @property
    def used_tokens(self) -> int:
        """Of the KV pool, now."""
        return sum(request.held_tokens for request in self.running)

    @property
    def usage(self) -> float:
        """Share of the KV pool."""
        return self.used_tokens / self.pool_tokens

    def submit(self, prompt_tokens: int, max_tokens: int) -> Request:
        """Queue a request."""
        request = Request(f"{self._random.getrandbits(128):032x}", prompt_tokens, max(1, max_tokens))
        self.queue.append(request)
        self._work.set()
        return request

    def abort_all(self) -> None:
        """End everything that runs or waits."""
        for request in [*self.running, *self.queue]:
            request.is_aborted = True
            request.moved.set()
        self.running.clear()
        self.queue.clear()

    def abort(self, request: Request) -> None:
        """The client went away."""
        request.is_aborted = True
        if request in self.running:
            self.running.remove(request)
        if request in self.queue:
            self.queue.remove(request)

    async def run(self) -> None:
        """For ever: ticks while there is work."""
        while True:
            if not self.running and not self.queue:
                self._show_load(0)
                self._work.clear()
                await self._work.wait()
            if not self.is_hung:
                self._admit()
                self._show_load(len(self.running))
                await asyncio.sleep(TICK_SECONDS)
                self._iterate(TICK_SECONDS)
            else:
                self._show_load(0)
                await asyncio.sleep(TICK_SECONDS)

    def _admit(self) -> None:
        """Prefill of what fits."""
        taken: list[Request] = []
        while self.queue and len(self.running) + len(taken) < self.max_running:
            taken.append(self.queue.popleft())
        if taken:
            self.prefill_line(len(taken), sum(request.prompt_tokens for request in taken))
            self.running += taken

    def prefill_line(self, requests: int, tokens: int) -> None:
        """The line of a prefill, and its counter."""
        now = time.monotonic()
        rate = tokens / max(0.04, now - self.heartbeat)
        self.heartbeat = now
        self.counters.prefill_tokens += tokens
        self.counters.prefill_passes += 1
        self._log.rank(
            f"Prefill batch, #new-seq: {requests}, #new-token: {tokens}, #cached-token: 0, "
            f"token usage: {self.usage:.2f}, #running-req: {len(self.running)}, #queue-req: {len(self.queue)}, "
            f"#pending-token: 0, cuda graph: {self.drafting is None}, input throughput (token/s): {rate:.2f}"
        )

    def _iterate(self, seconds: float) -> None:
        """The iterations that fit into this time."""
        if not self.running:
            return
        count = len(self.running)
        length = self.drafting.accept_length if self.drafting else 1.0
        self._owed += output_rate(count, self.drafting) / (count * length) * seconds
        while self._owed >= 1 and self.running:
            self._owed -= 1
            self._step(length)
        self.heartbeat = time.monotonic()

    def _step(self, length: float) -> None:
        """One iteration: each running request gets one token, or what was accepted."""
        for request in self.running:
            accepted = self._accepted(length)
            handed = min(accepted, request.max_tokens - request.generated)
            request.generated += handed
            request.first_token = request.first_token or time.monotonic()
            request.moved.set()
            self.counters.decode_tokens += handed
            self.counters.accepted += accepted
            self.counters.verified += 1
        self.counters.decode_passes += 1
        if self.counters.decode_passes % LOG_EVERY == 0:
            self._decode_line()
        for request in [request for request in self.running if request.is_over]:
            self.running.remove(request)
            self.counters.finish(request.prompt_tokens, request.generated, time.monotonic() - request.arrived)
            self.counters.first_tokens.add((request.first_token or request.arrived) - request.arrived)

    def _accepted(self, length: float) -> int:
        """1 without drafts; else around the mean, never beyond the chain."""
        if length == 1.0:
            return 1
        whole = int(length)
        count = whole + (self._random.random() < length - whole)
        spread = self._random.random()
        return max(1, min(4, count + (spread > 0.85) - (spread < 0.15 and count > 1)))

    def _decode_line(self) -> None:
        now = time.monotonic()
        counters = self.counters
        then, tokens, accepted, verified = self._since_line
        rate = (counters.decode_tokens - tokens) / max(1e-3, now - then)
        mean = (counters.accepted - accepted) / max(1, counters.verified - verified)
        self._since_line = (now, counters.decode_tokens, counters.accepted, counters.verified)
        counters.note_line(rate, mean, self.accept_rate(mean))
        spec = f"accept len: {mean:.2f}, accept rate: {self.accept_rate(mean):.2f}, " if self.drafting else ""
        self._log.rank(
            f"Decode batch, #running-req: {len(self.running)}, #token: {self.used_tokens}, token usage: {self.usage:.2f}, "
            f"{spec}cuda graph: True, gen throughput (token/s): {rate:.2f}, #queue-req: {len(self.queue)}"
        )

    def accept_rate(self, accept_length: float) -> float:
        """0.5.12's definition: accepted drafts by drafts made."""
        return (accept_length - 1) / max(1, (self.drafting.draft_tokens if self.drafting else 2) - 1)

    def _show_load(self, running: int) -> None:
        busy = min(100, 58 + 6 * running) if running else 0
        if busy != self._busy:
            self._busy = busy
            self._family.hold(self._mib, busy)
