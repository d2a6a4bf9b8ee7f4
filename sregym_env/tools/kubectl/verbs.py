"""Every kubectl command, named one by one."""

from __future__ import annotations

from sregym_env.tools.kubectl import (
    apply,
    auth,
    autoscale,
    certificate,
    config,
    create,
    delete,
    describe,
    diff,
    discovery,
    events,
    execute,
    explain,
    expose,
    get,
    logs,
    mark,
    node,
    patch,
    refused,
    rollout,
    run,
    scale,
    setting,
    taint,
    top,
    wait,
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
    expose.EXPOSE,
    setting.SET,
    delete.DELETE,
    rollout.ROLLOUT,
    scale.SCALE,
    autoscale.AUTOSCALE,
    node.CORDON,
    node.UNCORDON,
    node.DRAIN,
    taint.TAINT,
    diff.DIFF,
    apply.APPLY,
    patch.PATCH,
    apply.REPLACE,
    wait.WAIT,
    mark.LABEL,
    mark.ANNOTATE,
    certificate.VERB,
)
"""Commands that change it."""

VERBS: tuple[Verb, ...] = (*READ_VERBS, *WRITE_VERBS)
