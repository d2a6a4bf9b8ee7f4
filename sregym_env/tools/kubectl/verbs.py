"""Every kubectl command, named one by one."""

from __future__ import annotations

from sregym_env.tools.kubectl import (
    apply,
    auth,
    config,
    create,
    delete,
    describe,
    discovery,
    events,
    execute,
    explain,
    get,
    logs,
    node,
    patch,
    refused,
    rollout,
    run,
    top,
    wait,
)
from sregym_env.tools.kubectl import (
    set as set_,
)
from sregym_env.tools.kubectl.call import Verb

READ_VERBS: tuple[Verb, ...] = (
    get.VERB,
    describe.VERB,
    logs.VERB,
    execute.VERB,
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

WRITE_VERBS: tuple[Verb, ...] = (
    create.CREATE,
    run.RUN,
    run.EXPOSE,
    set_.SET,
    delete.DELETE,
    rollout.ROLLOUT,
    patch.SCALE,
    run.AUTOSCALE,
    node.CORDON,
    node.UNCORDON,
    node.DRAIN,
    node.TAINT,
    apply.DIFF,
    apply.APPLY,
    patch.PATCH,
    apply.REPLACE,
    wait.WAIT,
    patch.LABEL,
    patch.ANNOTATE,
)
"""Commands that change it."""

VERBS: tuple[Verb, ...] = (*READ_VERBS, *WRITE_VERBS)
