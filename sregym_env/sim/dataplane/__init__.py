"""What becomes of requests between processes, in numbers: queues, pools, retries, time-outs, caches, collectors.

A pure model that knows nothing of Kubernetes, worlds or programs. In flows a :class:`~.network.Network` (stations, the
operations they serve, the edges between these, the sources of load) with a :class:`~.state.State`; out flow the state at
a later time, events, and a :class:`~.reading.Reading` of any instant. Equations, constants and how well they agree with a
simulation of single requests: ``docs/dataplane.md``.
"""
