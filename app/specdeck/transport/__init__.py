"""The only sockets and processes."""
