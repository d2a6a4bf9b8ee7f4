"""Every kubectl command, named one by one."""

from __future__ import annotations

from sregym_env.tools.kubectl import get
from sregym_env.tools.kubectl.call import Verb

READ_VERBS: tuple[Verb, ...] = (get.VERB,)
"""Commands that change nothing in the cluster."""

WRITE_VERBS: tuple[Verb, ...] = ()
"""Commands that change it."""

VERBS: tuple[Verb, ...] = (*READ_VERBS, *WRITE_VERBS)
