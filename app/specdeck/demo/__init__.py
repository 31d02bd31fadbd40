"""The embedded GPU host."""
