"""Generations over HTTP: the engine's own form, completions and chat, whole or as a stream of events."""

import json
import time
from collections.abc import AsyncIterator, Callable

from specdeck.demo.engine.scheduler import Request, Scheduler
from specdeck.demo.engine.web import Answer, Asked, answer_json

Shape = Callable[[Request, int], dict[str, object]]
"""How a request is told from a token on."""
_SENTENCE = " the deck holds eight cards and each of them carries a part of what was asked while tokens go by"
_WORDS = _SENTENCE.split(" ")[1:]


class Generation:
    """Takes prompts and hands out what the scheduler made of them."""

    def __init__(self, scheduler: Scheduler, model: str) -> None:
        self._scheduler, self._model = scheduler, model
        self.is_closed = False
        """Whether it takes no more."""

    async def native(self, asked: Asked) -> Answer:
        """POST /generate."""
        body = asked.json()
        options = body.get("sampling_params")
        limit = options.get("max_new_tokens", 128) if isinstance(options, dict) else 128
        return await self._run(body, body.get("text", body.get("input_ids")), limit, _native)

    async def completion(self, asked: Asked) -> Answer:
        """POST /v1/completions."""
        body = asked.json()
        return await self._run(body, body.get("prompt"), body.get("max_tokens", 16), self._completion)

    async def chat(self, asked: Asked) -> Answer:
        """POST /v1/chat/completions."""
        body = asked.json()
        limit = body.get("max_completion_tokens", body.get("max_tokens", 256))
        shape = self._chat_piece if body.get("stream") else self._chat
        return await self._run(body, str(body.get("messages")), limit, shape)

    async def _run(self, body: dict[str, object], prompt: object, limit: object, shape: Shape) -> Answer:
        if self.is_closed:
            return answer_json({"error": {"message": "The server is shutting down."}}, 503)
        if not isinstance(limit, int):
            return answer_json({"object": "error", "message": "max_tokens must be a whole number"}, 400)
        request = self._scheduler.submit(_length(prompt), limit)
        if body.get("stream"):
            return Answer(200, kind="text/event-stream; charset=utf-8", stream=self._stream(request, shape))
        while not request.is_over:
            request.moved.clear()
            await request.moved.wait()
        return answer_json(shape(request, 0))

    async def _stream(self, request: Request, shape: Shape) -> AsyncIterator[bytes]:
        """Events with the tokens that came since the last; a client that leaves ends its request."""
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
        return self._told(request, "text_completion", {"text": _text(sent, request.generated)})

    def _chat(self, request: Request, sent: int) -> dict[str, object]:
        message = {"role": "assistant", "content": _text(sent, request.generated)}
        return self._told(request, "chat.completion", {"message": message})

    def _chat_piece(self, request: Request, sent: int) -> dict[str, object]:
        piece = {"role": "assistant", "content": _text(sent, request.generated)}
        return self._told(request, "chat.completion.chunk", {"delta": piece})

    def _told(self, request: Request, kind: str, content: dict[str, object]) -> dict[str, object]:
        """OpenAI's frame around a piece of text."""
        reason = "abort" if request.is_aborted else "length" if request.is_over else None
        usage = {
            "prompt_tokens": request.prompt_tokens,
            "completion_tokens": request.generated,
            "total_tokens": request.held_tokens,
        }
        return {
            "id": request.rid,
            "object": kind,
            "created": int(time.time()),
            "model": self._model,
            "choices": [{"index": 0, **content, "finish_reason": reason}],
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
