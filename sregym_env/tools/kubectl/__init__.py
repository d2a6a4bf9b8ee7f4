"""kubectl: the agent's eyes and hands on the cluster."""

from __future__ import annotations

from sregym_env.tools.kubectl.app import CommandResult, Kubectl
from sregym_env.tools.kubectl.call import Call, FileReader, Verb
from sregym_env.tools.kubectl.kubeconfig import Context, KubeConfig

__all__ = ["Call", "CommandResult", "Context", "FileReader", "KubeConfig", "Kubectl", "Verb"]
