"""Diagnoses without understanding: words around a name that somebody else's figure gave."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence

from sregym_env.rollouts.shortcuts.cues import Blamed
from sregym_env.rollouts.shortcuts.shortcut import Knowledge, Script

STUFFING = (
    "a targetPort mismatch, a wrong selector with no endpoints whose selector also matches pods of another workload, "
    "a deleted service, a service port changed to the wrong port, replicas scaled to 0, a wrong nodeSelector, "
    "a wrong command binary, a wrong image tag and ImagePullBackOff with a faulty image build and an incompatible version "
    "upgrade, a config map missing a key, a missing ConfigMap, a wrong readinessProbe, a wrong livenessProbe, a missing "
    "PersistentVolumeClaim claimName, volume node affinity conflict, an excessive memory request with Insufficient memory, "
    "a memory limit too low and OOMKilled, a CPU limit with throttling, a ResourceQuota on memory, a deny-all NetworkPolicy "
    "with policyTypes Ingress and Egress, a dnsPolicy None with dnsConfig, a CoreDNS Corefile template with NXDOMAIN, "
    "a port conflict with a sidecar, an untolerated taint, an initContainers wait-for hang, a revoked readWrite role and "
    "not authorized user with roles of user admin, a missing database user with authentication failed, disk read errors, silent data corruption of the disk with checksum errors "
    "and input/output error EIO, a missing service account serviceAccountName, a pull secret whose registry login is expired, a requirepass that no client has, a wrong desired state that a reconciler keeps applying from its source ConfigMap, a low priorityClassName whose pods are preempted by a global default PriorityClass, a ClusterRole whose RBAC rules lack a verb on configmaps, a missing Secret with secretKeyRef, "
    "a cordoned unschedulable node, stale hostAliases, and a feature flag set to true, "
    "a rate limit below the load so that requests are rejected, a mutating webhook that lowers the memory limit of every new pod, "
    "a required podAntiAffinity that no node satisfies, an admission webhook that cannot be called, a webhook whose caBundle is the wrong authority's, a namespace label that enforces PodSecurity restricted, several webhooks that time out together behind a policy that blocks the API server, a CronJob that overwrites the "
    "memory limit, an expired certificate, a hostPort conflict, an update strategy with maxUnavailable 100%, a node that is down, "
    "a rotated password that clients do not have, a session that holds a table lock, a maxmemory too low, "
    "a missing environment variable, an environment variable with a wrong port, an internalTrafficPolicy Local, "
    "a liveness probe that leaves no time for the start, a liveness probe that kills busy pods under load, a second EndpointSlice with foreign addresses, "
    "a left-over Deployment whose old build still serves, an RPC time-out of 50 ms that is too short, 30 retries of calls, "
    "a kube-proxy that is stuck, packet loss on the network link of a node, "
    "a garbage collector GOGC set too low, a corrected ConfigMap that was never rolled out while the workload still refers to the old one, "
    "a pooler whose min_pool_size times replicas exceeds max_connections so that there are too many clients, "
    "Jobs of a CronJob that never complete because of a sidecar that keeps running, "
    "a HorizontalPodAutoscaler that averages over idle pods of a sibling whose labels match the same selector, "
    "a migration that renamed a column while old pods still serve, a veth_mtu in calico-config that is larger than the path carries, "
    "a sysctl net.ipv4.ip_local_port_range too narrow so that local ports run out, "
    "a ulimit -n too low so that there are too many open files, an nginx whose upstream is not found because a headless Service is empty, "
    "a program that opens a Kafka producer for every record until the broker has no heap left, "
    "a request filter whose regular expression backtracks and burns the CPU of the proxy, "
    "an nf_conntrack table that is full of connections of a client without end, "
    "a recorder that fills the disk of a node through its hostPath without a -segment_wrap, "
    "a job runner with -no-reap whose zombies use up the pid_max of a node, "
    "a chrony time service that is masked so that the clock of a node is ahead, "
    "a kubelet that is not running, an evictionHard threshold of a kubelet above what is free"
)
"""Something of every mechanism there is, with the fields that such faults change."""

FIELDS = (
    "targetPort port selector replicas nodeSelector command image configMap livenessProbe readinessProbe claimName "
    "resources.requests.memory resources.limits.memory resources.limits.cpu quota policyTypes dnsPolicy Corefile containers "
    "taints initContainers roles user disk serviceAccountName secretKeyRef unschedulable hostAliases env podAntiAffinity "
    "failurePolicy maxUnavailable hostPort certificate maxmemory password internalTrafficPolicy initialDelaySeconds "
    "endpoints rules verbs priorityClassName globalDefault envFrom configMapRef name min_pool_size true 0"
)
"""The names of fields that faults change."""

GUESS = "wrong_variable"
"""The kind of cause that is said where nothing tells which it is."""

Telling = Callable[[Sequence[Blamed], Knowledge], Generator[str, str, str]]
"""What is handed in about those who are blamed; may look at them."""


def _whom(blamed: Sequence[Blamed]) -> str:
    return " and ".join(f"the {each.name} {each.kind.lower()}" for each in blamed) or "the application"


def name_only(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """The name and that it is broken."""
    yield from ()
    return f"{blamed[0].name if blamed else known.app.entry} is broken."


def name_only_json(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """The same in fields."""
    yield from ()
    return json.dumps(
        {"component": blamed[0].name if blamed else known.app.entry, "namespace": known.namespace}
    )


def templated(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """A sentence that is mostly right about somebody."""
    yield from ()
    name = blamed[0].name if blamed else known.app.entry
    return (
        f"The root cause is a misconfiguration of the {name} deployment: a recent change set a wrong value in its "
        f"specification, so that its pods do not work. Only {name} is at fault; its callers are victims."
    )


def stuffed(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """A name, and every mechanism as its effect."""
    yield from ()
    return f"The root cause is {_whom(blamed)}, which leads to {STUFFING}."


def stuffed_json(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """The same with the stuffing as evidence."""
    yield from ()
    return json.dumps(
        {
            "component": [each.name for each in blamed] or [known.app.entry],
            "namespace": known.namespace,
            "evidence": f"The root cause is {_whom(blamed)}, which leads to {STUFFING}. {FIELDS}",
        }
    )


def fault_spec(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """The form in which truths are printed, stuffed."""
    yield from ()
    name = blamed[0].name if blamed else known.app.entry
    return f"[fault_spec] component={name}; namespace={known.namespace} || {name}: {FIELDS}. This causes {STUFFING}."


def answer(blamed: Blamed, mechanism: str, field: str = "", value: str = "") -> str:
    """Closed answers of one cause."""
    said = {"component": blamed.name, "mechanism": mechanism, "field": field, "value": value}
    return json.dumps({"causes": [{key: text for key, text in said.items() if text}]})


def guessed(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """The name as a closed answer, with one kind of cause whatever is wrong."""
    yield from ()
    return answer(blamed[0], GUESS) if blamed else known.app.entry


def described(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """A name, and whatever is printed of the object."""
    if not blamed:
        return known.app.entry
    printed = yield f"kubectl describe {blamed[0].kind.lower()} {blamed[0].name} -n {known.namespace}"
    return f"component={blamed[0].name}\n{printed[:6000]}"


def hedged(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """Everything said and nothing claimed."""
    yield from ()
    return f"I could not confirm it, but could it be that the root cause is {_whom(blamed)}, by {STUFFING}? Perhaps."


def all_clear(blamed: Sequence[Blamed], known: Knowledge) -> Generator[str, str, str]:
    """That nothing is wrong, whatever is."""
    yield from ()
    return "There is no fault: nothing is wrong with the application, and nothing has to be repaired."


TELLINGS: Mapping[str, Telling] = {
    "name": name_only,
    "name_json": name_only_json,
    "templated": templated,
    "stuffed": stuffed,
    "stuffed_json": stuffed_json,
    "fault_spec": fault_spec,
    "described": described,
    "hedged": hedged,
    "all_clear": all_clear,
}
"""Ways of saying something, by name."""


def hand_in(telling: Telling, blamed: Sequence[Blamed], known: Knowledge) -> Script:
    """Submit a diagnosis."""
    text = yield from telling(blamed, known)
    yield f"submit diagnosis <<'EOF'\n{text}\nEOF"
