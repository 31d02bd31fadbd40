"""A simulated SGLang 0.5.12: real processes, its log, its HTTP, its way to stop and to fail; only the model is missing."""

VERSION = "0.5.12"
