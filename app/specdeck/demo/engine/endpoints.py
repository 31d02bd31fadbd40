"""SGLang's HTTP endpoints: what each answers, and which of them depend on the scheduler."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

from specdeck.demo.engine import VERSION
from specdeck.demo.engine.arguments import ServerArgs
from specdeck.demo.engine.figures import PIECEWISE_GB, architecture, memory
from specdeck.demo.engine.log import Log
from specdeck.demo.engine.metrics import CONTENT_TYPE, render
from specdeck.demo.engine.pace import Pace
from specdeck.demo.engine.scheduler import Request, Scheduler
from specdeck.demo.engine.web import Answer, Asked, answer_json

_NOT_FOUND = {"detail": "Not Found"}
_WORDS = [
    "",
    "the",
    "deck",
    "holds",
    "eight",
    "cards",
    "and",
    "each",
    "of",
    "them",
    "carries",
    "a",
    "part",
    "of",
    "what",
    "was",
    "asked",
    "while",
    "tokens",
    "go",
    "by",
][1:]
_HEALTH_LIMIT = 20.0


class Endpoints:
    """Answers by path."""

    def __init__(self, args: ServerArgs, log: Log, scheduler: Scheduler, pace: Pace) -> None:
        self._args, self._log, self._scheduler, self._pace = args, log, scheduler, pace
        self.is_starting = True
        self.is_draining = False
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
            ("POST", "/generate"): self._generate,
            ("POST", "/v1/completions"): self._completions,
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/abort_request"): self._abort,
            ("POST", "/flush_cache"): self._flush,
            ("GET", "/flush_cache"): self._flush,
        }

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
        return answer_json(_loads(self._scheduler, memory(self._args).weights, memory(self._args).kv))

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

    async def _generate(self, asked: Asked) -> Answer:
        body = asked.json()
        options = body.get("sampling_params")
        limit = options.get("max_new_tokens", 128) if isinstance(options, dict) else 128
        return await self._run(body, _length(body.get("text", body.get("input_ids"))), limit, _native)

    async def _completions(self, asked: Asked) -> Answer:
        body = asked.json()
        return await self._run(body, _length(body.get("prompt")), body.get("max_tokens", 16), self._completion)

    async def _chat(self, asked: Asked) -> Answer:
        body = asked.json()
        limit = body.get("max_completion_tokens", body.get("max_tokens", 256))
        return await self._run(body, _length(str(body.get("messages"))), limit, self._completion)

    async def _run(
        self, body: dict[str, object], prompt: int, limit: object, shape: Callable[[Request, int], dict[str, object]]
    ) -> Answer:
        if self.is_draining:
            return answer_json({"error": {"message": "The server is shutting down."}}, 503)
        if not isinstance(limit, int):
            return answer_json({"object": "error", "message": "max_tokens must be a whole number"}, 400)
        request = self._scheduler.submit(prompt, limit)
        if body.get("stream"):
            return Answer(200, kind="text/event-stream; charset=utf-8", stream=self._stream(request, shape))
        while not request.is_over:
            request.moved.clear()
            await request.moved.wait()
        return answer_json(shape(request, 0))

    async def _stream(
        self, request: Request, shape: Callable[[Request, int], dict[str, object]]
    ) -> AsyncIterator[bytes]:
        try:
            sent = 0
            while not request.is_over or sent < request.generated:
                if sent == request.generated:
                    request.moved.clear()
                    await request.moved.wait()
                    continue
                yield _event(shape(request, sent))
                sent = request.generated
            if request.is_aborted:
                yield _event(shape(request, sent))
            yield b"data: [DONE]\n\n"
        finally:
            if not request.is_over:
                self._scheduler.abort(request)

    def _completion(self, request: Request, sent: int) -> dict[str, object]:
        usage = {
            "prompt_tokens": request.prompt_tokens,
            "completion_tokens": request.generated,
            "total_tokens": request.held_tokens,
        }
        reason = "abort" if request.is_aborted else "length" if request.is_over else None
        text = _text(sent, request.generated)
        choice = {"index": 0, "text": text, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
        return {
            "id": request.rid,
            "object": "text_completion",
            "created": int(time.time()),
            "model": self._args.text("served_model_name"),
            "choices": [choice],
            "usage": usage,
        }


def _event(value: dict[str, object]) -> bytes:
    """One server-sent event."""
    return b"data: " + json.dumps(value, separators=(",", ":")).encode() + b"\n\n"


def _native(request: Request, sent: int) -> dict[str, object]:
    """/generate's own form: text from the beginning, always."""
    reason = {"type": "length", "length": request.max_tokens} if request.is_over else None
    meta = {
        "id": request.rid,
        "finish_reason": reason,
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": request.generated,
        "cached_tokens": 0,
        "e2e_latency": time.monotonic() - request.arrived,
    }
    return {"text": _text(0, request.generated), "meta_info": meta}


def _text(begin: int, end: int) -> str:
    return "".join(f" {_WORDS[number % len(_WORDS)]}" for number in range(begin, end))


def _length(prompt: object) -> int:
    """Tokens of a prompt: a list has one each, a text one for four characters."""
    if isinstance(prompt, list):
        return max(1, len(prompt))
    return max(1, len(str(prompt or "")) // 4)


def _loads(scheduler: Scheduler, weights: float, kv: float) -> dict[str, object]:
    running, waiting, used = len(scheduler.running), len(scheduler.queue), scheduler.used_tokens
    counters = scheduler.counters
    load: dict[str, object] = {
        "num_running_reqs": running,
        "num_waiting_reqs": waiting,
        "num_used_tokens": used,
        "num_total_tokens": used,
        "max_total_num_tokens": scheduler.pool_tokens,
        "token_usage": round(scheduler.usage, 4),
        "gen_throughput": round(counters.throughput, 2),
        "cache_hit_rate": 0.0,
        "utilization": 0.0,
        "max_running_requests": scheduler.max_running,
        "memory": {
            "weight_gb": round(weights, 3), "kv_cache_gb": round(kv, 3), "graph_gb": PIECEWISE_GB,
            "token_capacity": scheduler.pool_tokens,
        },
    }  # fmt: skip
    if scheduler.drafting:
        load["speculative"] = {"accept_length": counters.accept_length, "accept_rate": counters.accept_rate}
    load["queues"] = {"waiting": waiting, "grammar": 0, "paused": 0, "retracted": 0}
    load["num_total_reqs"] = running + waiting
    total: dict[str, object] = {
        "total_running_reqs": running, "total_waiting_reqs": waiting, "total_reqs": running + waiting,
        "total_used_tokens": used, "total_tokens": used, "avg_token_usage": round(scheduler.usage, 4),
        "avg_throughput": round(counters.throughput, 2), "avg_utilization": 0.0,
    }  # fmt: skip
    stamp = datetime.now(UTC).isoformat()
    return {"timestamp": stamp, "version": VERSION, "dp_rank_count": 1, "loads": [load], "aggregate": total}
