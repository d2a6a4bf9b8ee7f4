"""A view for classic reinforcement learning: numbers in, one entry of a finite menu out.

``scene`` reads the objects, ``signals`` makes numbers of them, ``menu`` makes command lines of choices, ``view`` is the
wrapper that joins them.
"""

from __future__ import annotations

from sregym_env.envs.wrappers.numeric.menu import VERBS, Choice, Menu
from sregym_env.envs.wrappers.numeric.signals import FEATURES, Layout
from sregym_env.envs.wrappers.numeric.view import NumericView

__all__ = ["FEATURES", "VERBS", "Choice", "Layout", "Menu", "NumericView"]
