"""A real cluster behind the seam: every conformant Kubernetes API that a kubeconfig leads to.

Objects, logs, commands, forwarded ports, deployment and edits go in through the API server; the users' health comes out
by sending the journeys' own requests. There is no telemetry and no disturbance yet. Needs ``sregym-env[live]``, and is
the only place that imports ``kubernetes``. It is a sibling of ``sim``: neither knows the other, both implement
:mod:`sregym_env.cluster.api`.
"""
