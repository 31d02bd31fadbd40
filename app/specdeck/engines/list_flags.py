"""Flags that take all their values at once (`--flag a b`): given twice, the engine's argparse silently keeps only the last.

Read from the parsers themselves: SGLang 0.5.23 has no flag that may be repeated, nor had earlier ones
(`--cuda-graph-bs`); vLLM 0.32 repeats only `--middleware`.
Flags that are not here are repeated, as llama.cpp wants it.
"""

_SGLANG = """
    allowed-media-domains bucket-e2e-request-latency bucket-inter-token-latency bucket-time-to-first-token cuda-graph-bs
    cuda-graph-bs-decode cuda-graph-bs-prefill custom-weight-loader debug-tensor-dump-layers encoder-register-urls encoder-urls
    flashinfer-autotune-skip-ops gc-threshold generation-tokens-buckets log-requests-target lora-paths lora-target-modules
    numa-node prefill-delayer-forward-passes-buckets prefill-delayer-wait-seconds-buckets
    prompt-tokens-buckets return-aux-hidden-state-layer-ids tokenizer-metrics-allowed-custom-labels
    uvicorn-access-log-exclude-prefixes
"""
_VLLM = """
    allowed-media-domains api-key collect-detailed-traces cpu-offload-params cudagraph-capture-sizes ignore-patterns
    kv-cache-dtype-skip-layers logits-processors lora-modules lora-target-modules numa-bind-cpus numa-bind-nodes
    offload-params served-model-name sleep-preserve-parameter-names
"""
TAKES_SEVERAL = frozenset((*_SGLANG.split(), *_VLLM.split()))
