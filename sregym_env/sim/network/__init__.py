"""The network: addresses, names, Services and their endpoints, policies, links, certificates.

In: who dials what. Out: where such connections lead (:func:`.connections.connect`), in shares. Nothing answers here;
requests that are answered are :mod:`sregym_env.sim.processes.exchange`.
"""
