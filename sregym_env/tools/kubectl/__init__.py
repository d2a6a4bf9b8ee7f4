"""kubectl: the agent's eyes and hands on the cluster."""

from __future__ import annotations

from sregym_env.tools.kubectl.app import CommandResult, Context, KubeConfig, Kubectl
from sregym_env.tools.kubectl.call import Call, FileReader, Verb

__all__ = ["Call", "CommandResult", "Context", "FileReader", "KubeConfig", "Kubectl", "Verb"]
