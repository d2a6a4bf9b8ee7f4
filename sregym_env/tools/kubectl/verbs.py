"""Every kubectl command, named one by one."""

from __future__ import annotations

from sregym_env.tools.kubectl import (
    auth,
    config,
    describe,
    discovery,
    events,
    exec,
    explain,
    get,
    logs,
    refused,
    top,
)
from sregym_env.tools.kubectl.call import Verb

READ_VERBS: tuple[Verb, ...] = (
    get.VERB,
    describe.VERB,
    logs.VERB,
    exec.VERB,
    top.VERB,
    events.VERB,
    explain.VERB,
    auth.VERB,
    config.VERB,
    discovery.API_RESOURCES,
    discovery.API_VERSIONS,
    discovery.CLUSTER_INFO,
    discovery.VERSION,
    discovery.OPTIONS,
    *refused.REFUSED,
)
"""Commands that change nothing in the cluster."""

WRITE_VERBS: tuple[Verb, ...] = ()
"""Commands that change it."""

VERBS: tuple[Verb, ...] = (*READ_VERBS, *WRITE_VERBS)
