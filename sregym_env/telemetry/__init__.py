"""Engines for metrics, logs and traces over small lazily rendered sources."""
