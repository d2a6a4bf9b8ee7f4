"""The machines: kubelets with the pods they run, what nodes report, and the streams into containers.

In: pods that are bound to a node. Out: running processes, statuses, logs, ``attach`` and forwarded connections.
"""
