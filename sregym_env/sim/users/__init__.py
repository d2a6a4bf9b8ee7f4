"""The users: the load that is offered, what becomes of it, and what it does to the servers.

In: what load generators offer. Out: segments of history (:mod:`sregym_env.sim.world.history`), log lines, crashes.
"""
