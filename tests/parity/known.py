"""Command lines on which the two are known to differ, with the reason.

A line that is listed here and comes out equal fails the replay: it is to be removed from the list.
"""

from __future__ import annotations

from tests.parity.harness import Case

REASONS: dict[str, str] = {
    "raw writes": "create, replace and delete take no --raw",
    "template errors": "a template that names a missing key prints '<no value>' whatever --allow-missing-template-keys says",
    "list version": "the metadata of lists that get --raw prints hold no resourceVersion",
    "several files": "where a file names several objects, view-last-applied goes on after the first that is missing, and "
    "exec takes none",
    "separators": "run --expose -o yaml prints one separator between Service and Pod, the real one two",
    "usage of apply": "apply set-last-applied and edit-last-applied without files complain in other words",
    "short names": "a short name with a version (hpa.v1.autoscaling) means that version, not the preferred one",
}
"""What is behind the differences, by a short name; docs/limits.md says the same."""

KNOWN: dict[str, dict[str, str]] = {
    "healthy-wide": {
        "get pods -o go-template='{{.nothing}}' --allow-missing-template-keys=false": "template errors",
        "get --raw /apis/metrics.k8s.io/v1beta1/nodes": "list version",
        "create -f config.yaml --raw /api/v1/namespaces/hotel-reservation/configmaps": "raw writes",
        "replace --raw /api -f config.yaml": "raw writes",
        "delete --raw /api/v1/namespaces/hotel-reservation/services/frontend": "raw writes",
        "delete --raw /x -f web.yaml": "raw writes",
        "run x --image=nginx --port=80 --expose -o yaml --dry-run=client": "separators",
        "apply set-last-applied": "usage of apply",
        "apply edit-last-applied": "usage of apply",
        "apply view-last-applied -f web.yaml": "several files",
        "exec -f web.yaml -- ls": "several files",
    },
    "situation-autoscaled": {"get hpa.v1.autoscaling frontend -o yaml": "short names"},
}
"""State to command line (with what went before) to the short name of the reason."""


def reason(state: str, case: Case) -> str | None:
    """Why this line is not expected to be equal, None when it is."""
    name = KNOWN.get(state, {}).get(str(case))
    return None if name is None else REASONS[name]
