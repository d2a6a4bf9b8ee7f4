"""The API server: what happens to a request before and while an object is stored.

In: requests of people, programs and the cluster's own components, as manifests. Out: stored objects, or the API's
errors. Here are the calls that control loops, the scheduler and the kubelets make (:mod:`.requests`); beside them
admission, authorisation, quotas, field ownership, custom resources and the subresources that are more than a view.
:class:`sregym_env.sim.cluster.SimCluster` puts an identity in front of it.
"""

from sregym_env.sim.apiserver.custom import resource_of, served
from sregym_env.sim.apiserver.requests import (
    create,
    delete,
    finalize_delete,
    is_current,
    patch_metadata,
    update,
    update_status,
)

__all__ = [
    "create",
    "delete",
    "finalize_delete",
    "is_current",
    "patch_metadata",
    "resource_of",
    "served",
    "update",
    "update_status",
]
