"""The name under which verifiers finds the task set: its loader takes the names of top-level modules alone.

``vf-eval sregym_verifiers --env.taskset.suite lite ...``
"""

from sregym_env.adapters.verifiers import SREGymEnvironment, SREGymTask, SREGymTaskset

__all__ = ["SREGymEnvironment", "SREGymTask", "SREGymTaskset"]
