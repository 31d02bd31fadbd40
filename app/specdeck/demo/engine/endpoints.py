"""SGLang's HTTP endpoints: what each answers, and which of them depend on the scheduler."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from specdeck.demo.engine import VERSION
from specdeck.demo.engine.arguments import ServerArgs
from specdeck.demo.engine.figures import PIECEWISE_GB, architecture, memory
from specdeck.demo.engine.generation import Generation
from specdeck.demo.engine.load_page import load_page
from specdeck.demo.engine.log import Log
from specdeck.demo.engine.metrics import CONTENT_TYPE, render
from specdeck.demo.engine.pace import Pace
from specdeck.demo.engine.scheduler import Scheduler
from specdeck.demo.engine.web import Answer, Asked, answer_json

_NOT_FOUND = {"detail": "Not Found"}
_HEALTH_LIMIT = 20.0


class Endpoints:
    """Answers by path."""

    def __init__(self, args: ServerArgs, log: Log, scheduler: Scheduler, pace: Pace) -> None:
        self._args, self._log, self._scheduler, self._pace = args, log, scheduler, pace
        self.is_starting = True
        generation = self._generation = Generation(scheduler, args.text("served_model_name") or "")
        self._routes: dict[tuple[str, str], Callable[[Asked], Awaitable[Answer]]] = {
            ("GET", "/health"): self._health,
            ("GET", "/health_generate"): self._health,
            ("GET", "/model_info"): self._model,
            ("GET", "/get_model_info"): self._model,
            ("GET", "/server_info"): self._server,
            ("GET", "/get_server_info"): self._server,
            ("GET", "/v1/models"): self._models,
            ("GET", "/v1/loads"): self._loads,
            ("GET", "/metrics"): self._metrics,
            ("POST", "/generate"): generation.native,
            ("POST", "/v1/completions"): generation.completion,
            ("POST", "/v1/chat/completions"): generation.chat,
            ("POST", "/abort_request"): self._abort,
            ("POST", "/flush_cache"): self._flush,
            ("GET", "/flush_cache"): self._flush,
        }

    @property
    def is_draining(self) -> bool:
        """Whether it was told to end."""
        return self._generation.is_closed

    def drain(self) -> None:
        """No new generations; those that run go on."""
        self._generation.is_closed = True

    async def __call__(self, asked: Asked) -> Answer:
        """The answer to a request."""
        path = asked.path.partition("?")[0]
        key = self._args.text("api_key")
        if (
            key
            and not path.startswith(("/health", "/metrics"))
            and asked.headers.get("authorization") != f"Bearer {key}"
        ):
            return answer_json({"error": "Unauthorized"}, 401)
        route = self._routes.get((asked.method, path))
        if route is None:
            is_known = any(known == path for _, known in self._routes)
            return answer_json({"detail": "Method Not Allowed"}, 405) if is_known else answer_json(_NOT_FOUND, 404)
        return await route(asked)

    async def _health(self, asked: Asked) -> Answer:
        """Costs a generation and at least a second, as the real one does."""
        if self.is_starting:
            return Answer(503)
        if self.is_draining:
            self._log.main("Health check request received during shutdown. Returning 503.")
            return Answer(503)
        if not self._scheduler.is_hung and not self._scheduler.running:
            self._scheduler.prefill_line(1, 1)
        began, asked_at = time.monotonic(), time.strftime("%H:%M:%S")
        beat = self._scheduler.heartbeat
        await asyncio.sleep(self._pace.serving(1.0))
        while self._scheduler.is_hung:
            if time.monotonic() - began >= self._pace.serving(_HEALTH_LIMIT):
                self._complain(asked_at, beat)
                return Answer(503)
            await asyncio.sleep(self._pace.serving(1.0))
        return Answer(200)

    def _complain(self, asked_at: str, beat: float) -> None:
        last = time.strftime("%H:%M:%S", time.localtime(time.time() - (time.monotonic() - beat)))
        self._log.main(
            "Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. "
            f"tic start time: {asked_at}. last_heartbeat time: {last}"
        )

    async def _model(self, asked: Asked) -> Answer:
        path = self._args.text("model_path")
        return answer_json(
            {
                "model_path": path,
                "tokenizer_path": self._args.text("tokenizer_path"),
                "is_generation": True,
                "preferred_sampling_params": None,
                "weight_version": "default",
                "has_image_understanding": False,
                "has_audio_understanding": False,
                "model_type": "kimi_k2" if "kimi" in str(path) else "qwen3",
                "architectures": [architecture(self._args)],
            }
        )

    async def _models(self, asked: Asked) -> Answer:
        name = self._args.text("served_model_name")
        entry = {"id": name, "object": "model", "created": int(time.time()), "owned_by": "sglang", "root": name}
        return answer_json({"object": "list", "data": [entry | {"parent": None, "max_model_len": 131072}]})

    async def _server(self, asked: Asked) -> Answer:
        await self._scheduler_answers()
        scheduler, pool = self._scheduler, memory(self._args)
        state: dict[str, object] = self._args.values | {
            "last_gen_throughput": scheduler.counters.throughput,
            "memory_usage": {
                "weight": round(pool.weights, 2), "kvcache": round(pool.kv, 2), "token_capacity": pool.tokens,
                "graph": PIECEWISE_GB,
            },
            "effective_max_running_requests_per_dp": scheduler.max_running,
        }  # fmt: skip
        if scheduler.drafting:
            mean = scheduler.counters.accepted / max(1, scheduler.counters.verified)
            state["avg_spec_accept_length"] = mean
        top = {"status": "ready", "max_total_num_tokens": pool.tokens, "max_req_input_len": 131066}
        return answer_json(self._args.values | top | {"internal_states": [state], "version": VERSION})

    async def _loads(self, asked: Asked) -> Answer:
        await self._scheduler_answers()
        return answer_json(load_page(self._scheduler, memory(self._args)))

    async def _scheduler_answers(self) -> None:
        """These endpoints ask the scheduler: they hang as long as it does."""
        while self._scheduler.is_hung:  # noqa: ASYNC110 - a stopped process sends no event
            await asyncio.sleep(0.2)

    async def _metrics(self, asked: Asked) -> Answer:
        if not self._args.is_on("enable_metrics"):
            return answer_json(_NOT_FOUND, 404)
        name = self._args.text("served_model_name") or ""
        return Answer(200, render(self._scheduler, name).encode(), CONTENT_TYPE)

    async def _abort(self, asked: Asked) -> Answer:
        if asked.json().get("abort_all"):
            self._scheduler.abort_all()
        return Answer(200)

    async def _flush(self, asked: Asked) -> Answer:
        is_busy = bool(self._scheduler.running or self._scheduler.queue)
        return Answer(
            400 if is_busy else 200, b"Cache flushed.\n" if not is_busy else b"Flush cache failed.\n", "text/plain"
        )
