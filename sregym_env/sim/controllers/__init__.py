"""The control loops of kube-controller-manager, one file a kind.

In: changes of objects. Out: writes through :mod:`sregym_env.sim.apiserver` that bring what is closer to what is wanted.
"""
