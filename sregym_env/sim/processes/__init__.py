"""Processes at work: what one sees and does, how it begins and ends, and what becomes of calls and requests.

In: the world's table of programs, and connections. Out: outcomes of calls (:mod:`.flow`) and of single requests
(:mod:`.exchange`), with the same code for user traffic, probes, webhooks and ``curl``.
"""
