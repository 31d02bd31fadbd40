"""One file per engine: log grammar, phases, failures, health, metrics, command line."""
