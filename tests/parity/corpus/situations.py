"""Clusters in the middle of something: how to get there, and what is typed there beyond a diagnosis."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Situation:
    """A state of the world, made by commands."""

    name: str
    commands: tuple[str, ...]
    seconds: float = 40.0
    """Virtual time from the last command to the moment somebody looks."""
    lines: tuple[str, ...] = ()
    pause: float = 1.0
    """Virtual time after each command."""
    down: tuple[str, ...] = ()
    """Nodes whose kubelet stops after the commands."""


SITUATIONS = (
    Situation(
        "rollout-stuck",
        ("create -f web.yaml", "set image deploy/web web=nothing/here:1"),
        lines=("rollout undo deploy/web", "rollout history deploy/web --revision=2", "get rs -l app=web -o wide",
               "rollout history deploy/web -o yaml", "describe rs -l app=web"),
    ),
    Situation("rollout-overdue", ("create -f slow.yaml", "set image deploy/slow slow=nothing/here:1"), 100.0),
    Situation(
        "rollout-half-way", ("create -f slow.yaml", "set env deploy/slow A=b"), 6.0, pause=30.0,
        lines=("rollout status deploy/slow", "get rs", "get pods -l app=slow", "rollout pause deploy/slow"),
    ),
    Situation(
        "terminating", ("create -f stubborn.yaml", "delete pod stubborn --wait=false"), 5.0, pause=20.0,
        lines=("get pod stubborn", "describe pod stubborn", "delete pod stubborn --force --grace-period=0"),
    ),
    Situation(
        "finalizer", ("create -f held.yaml", "delete cm held --wait=false"),
        lines=("get cm held -o yaml", "describe cm held", "delete cm held --timeout=1s",
               "patch cm held --type=merge -p '{\"metadata\":{\"finalizers\":null}}'"),
    ),
    Situation(
        "jobs", ("create -f jobs.yaml",), 130.0,
        lines=("get jobs", "get cronjobs -o wide", "describe jobs", "describe cronjobs", "get jobs -o yaml",
               "logs job/done", "logs job/failing", "wait --for=condition=complete job/done --timeout=1s",
               "wait --for=condition=failed job/failing --timeout=1s", "create job now --from=cronjob/often",
               "get pods -l batch.kubernetes.io/job-name=done -o wide", "delete job done", "describe job running"),
    ),
    Situation(
        "autoscaled", ("autoscale deploy frontend --min=2 --max=4 --cpu-percent=1",
                       "autoscale deploy mongodb-geo --max=2",), 120.0,
        lines=("get hpa", "describe hpa", "get hpa -o yaml", "get hpa.v1.autoscaling frontend -o yaml",
               "describe deploy frontend"),
    ),
    Situation(
        "claim-pending", ("create -f claims.yaml",),
        lines=("get pvc -o wide", "describe pvc", "get pod claimant", "describe pod claimant", "get sc"),
    ),
    Situation("crash-loop", ("create -f crashing.yaml",), 100.0,
              lines=("logs crashing", "logs crashing -p", "describe pod crashing", "get pod crashing",
                     "logs mixed --all-containers", "logs mixed -c nothing", "logs mixed", "describe pod mixed")),
    Situation("image-pull", ("create deployment ghost --image=nothing/here:1", "run typo --image=busybx"), 60.0),
    Situation("out-of-memory", ("create -f hungry.yaml",), 60.0, lines=("describe pod hungry", "get pod hungry")),
    Situation("unready", ("create -f unready.yaml",), 60.0, lines=("describe pod unready", "get pods")),
    Situation("missing-references", ("create -f missing.refs.yaml",), 60.0,
              lines=("describe pods -l missing", "logs nokey", "get pods -l missing -o wide")),
    Situation("init-containers", ("create -f init.yaml",), 60.0,
              lines=("describe pods -l init", "logs initfail -c first", "logs initfail", "logs initslow -c first",
                     "get pods -l init")),
    Situation("unschedulable", ("create -f unschedulable.yaml",), 40.0,
              lines=("describe pods -l unschedulable", "get pods -l unschedulable -o wide")),
    Situation("cordoned", ("cordon sre-worker", "taint node sre-worker2 key=value:NoSchedule"), 10.0,
              lines=("get nodes", "describe node sre-worker", "drain sre-worker --dry-run=client",
                     "drain sre-worker --ignore-daemonsets --dry-run=client",
                     "drain sre-worker --dry-run=server")),
    Situation("drained", ("create -f guarded.yaml", "create pdb guarded --selector=app=guarded --max-unavailable=1",
                          "drain sre-worker --ignore-daemonsets --delete-emptydir-data"), 5.0, pause=10.0,
              lines=("get pdb", "describe pdb", "get pods -o wide", "uncordon sre-worker")),
    Situation("node-lost", ("create -f web.yaml",), 400.0, down=("sre-worker2",),
              lines=("get nodes", "describe node sre-worker2", "get pods -o wide", "get leases -n kube-node-lease")),
    Situation("quota-exceeded", ("create -f quota.yaml", "create -f limits.yaml", "create -f web.yaml",
                                 "scale deploy/web --replicas=30"), 30.0,
              lines=("describe quota", "get quota -o yaml", "describe limits", "run one --image=busybox",
                     "create -f greedy.yaml", "describe ns hotel-reservation")),
    Situation("stateful", ("create -f stateful.yaml",), 60.0,
              lines=("get sts -o wide", "describe sts db", "get pvc", "rollout status sts/db",
                     "rollout history sts/db", "scale sts/db --replicas=1", "rollout restart sts/db",
                     "get controllerrevisions", "describe pod db-0", "delete sts db --cascade=orphan")),
    Situation("daemons", ("create -f daemon.yaml", "set image ds/agent agent=busybox:1.37"), 30.0, pause=10.0,
              lines=("get ds -o wide", "describe ds agent", "rollout status ds/agent", "rollout history ds/agent",
                     "rollout undo ds/agent", "rollout history ds/agent --revision=2", "delete ds agent")),
    Situation("kinds", ("create -f kinds.yaml",), 20.0,
              lines=tuple(f"{verb} {kind}" for kind in (
                  "configmap sample", "secret sample", "secret tls-sample", "secret docker-sample",
                  "service external", "service headless", "service balanced", "service node", "service affine",
                  "endpoints manual", "ingress sample", "ingress backend", "networkpolicy sample",
                  "networkpolicy closed", "pdb sample", "resourcequota sample", "limitrange sample", "role sample",
                  "rolebinding sample", "serviceaccount sample", "hpa sample", "cronjob sample", "podtemplate sample",
                  "rc sample", "lease sample", "pvc sample", "pv sample-pv", "storageclass sample",
                  "priorityclass sample", "runtimeclass sample", "ingressclass sample", "clusterrole sample",
                  "clusterrolebinding sample", "csidriver sample.example.com", "namespace sample",
                  "mutatingwebhookconfiguration sample", "validatingwebhookconfiguration sample",
                  "validatingadmissionpolicy sample", "validatingadmissionpolicybinding sample",
                  "flowschema sample", "prioritylevelconfiguration sample", "certificatesigningrequest sample",
                  "endpointslice manual-1", "pod everything",
              ) for verb in ("get", "describe") if (verb, kind) != ("describe", "configmap sample")) + tuple(f"get {kind} -o wide" for kind in (
                  "ingress sample", "networkpolicy sample", "hpa sample", "rc sample", "pv sample-pv",
                  "service balanced", "storageclass sample", "csr sample", "rolebinding sample",
                  "clusterrolebinding sample", "cronjob sample", "endpointslice manual-1", "pod everything",
              )) + ("get pod everything -o yaml", "get csr sample -o yaml", "certificate approve sample",
                    "certificate deny sample", "certificate approve sample --force")),
)  # fmt: skip
