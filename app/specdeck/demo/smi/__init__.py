"""A simulated nvidia-smi: the words of an H200 with driver 580, the figures of the simulated engine's processes."""
