"""Bytes in, events out; no I/O, no clock."""
