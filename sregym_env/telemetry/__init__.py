"""Engines that answer agents' queries over a small interface: what a series is, and PromQL.

Nothing here knows where series come from. A source renders them when they are asked for (``series.py``).
"""
