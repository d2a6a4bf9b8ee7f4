"""Bringing worlds up: the base cluster as kubeadm leaves it, its control loops, and an application deployed and settled.

In: an application and a seed. Out: an :class:`~sregym_env.sim.embedded.EmbeddedWorld` that serves its users.
"""
