"""Widgets that know nothing of servers: rows, a log tail, a chart."""
