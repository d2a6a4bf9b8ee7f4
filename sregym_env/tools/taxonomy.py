"""The published taxonomy of causes: what a structured diagnosis chooses its mechanism from.

Every key has a title and a definition by which one can choose without knowing how faults are made. Which of
them is right in an episode nobody here knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class KindOfCause:
    """One mechanism as it is published."""

    key: str
    title: str
    definition: str
    """When to choose it, and what tells it from its neighbours."""


_ALL = (
    KindOfCause(
        "wrong_target_port",
        "A Service forwards to a port on which nothing listens",
        "targetPort of a Service names a port that its pods do not serve; the Service's own port is right.",
    ),
    KindOfCause(
        "wrong_service_port",
        "A Service is offered on another port than its clients use",
        "port of a Service is not the one its clients call; the targetPort behind it is right.",
    ),
    KindOfCause(
        "wrong_selector",
        "A Service's selector matches no pod",
        "The selector of a Service asks for labels that none of its pods has, so it has no endpoints.",
    ),
    KindOfCause(
        "extra_endpoints",
        "A Service's selector also matches pods of another workload",
        "The selector of a Service fits foreign pods as well, so a part of the connections goes astray.",
    ),
    KindOfCause(
        "missing_service",
        "A Service does not exist",
        "The Service object is gone (deleted or renamed) while the pods behind it run.",
    ),
    KindOfCause(
        "scaled_to_zero",
        "A workload has been scaled to no replicas",
        "replicas of a workload is 0: no pod is wanted, so none is there.",
    ),
    KindOfCause(
        "unsatisfiable_node_selector",
        "Pods ask for a node that does not exist",
        "nodeSelector or node affinity of a pod template fits no node, whatever the volumes.",
    ),
    KindOfCause(
        "wrong_command",
        "A container runs the wrong program",
        "command or args of a container start another program than the component's own; the image is right.",
    ),
    KindOfCause(
        "image_unavailable",
        "A container image cannot be pulled",
        "The image reference of a container exists in no registry it can reach: ErrImagePull, ImagePullBackOff.",
    ),
    KindOfCause(
        "registry_login_refused",
        "A registry refuses the login with which an image is pulled",
        "The image exists, but the pull secret of the pods holds a login that is expired, rotated or disabled: 401 Unauthorized, "
        "403 Forbidden, ImagePullBackOff.",
    ),
    KindOfCause(
        "defective_image",
        "A container runs a broken build of its image",
        "The image can be pulled and starts, but this build of the program fails, crashes or leaks memory; an older one works.",
    ),
    KindOfCause(
        "outdated_build_serves",
        "An old build serves beside the current one",
        "A workload that was kept from an earlier release has pods behind the component's name; they answer a share of the "
        "requests and lack what callers ask for by now. The component's own workload is right.",
    ),
    KindOfCause(
        "incompatible_version",
        "A database was moved to an incompatible version, which cannot read its data files",
        "The image of a database is a version that refuses the data files of the one before.",
    ),
    KindOfCause(
        "missing_config_key",
        "A configuration file lacks a key",
        "A ConfigMap exists and is mounted, but a key that the program needs is gone, empty or misnamed in it.",
    ),
    KindOfCause(
        "missing_configmap",
        "A ConfigMap that pods mount does not exist",
        "Pods refer to a ConfigMap that is not there (FailedMount, ContainerCreating).",
    ),
    KindOfCause(
        "missing_variable",
        "A container lacks an environment variable that its program needs",
        "A variable of the pod template (env, envFrom), an address or a port, is gone or stands there under another name.",
    ),
    KindOfCause(
        "wrong_variable",
        "An environment variable of a container has a wrong value",
        "A variable of the pod template (env), an address or a port, leads where nobody serves; also where it is given twice and "
        "the later, wrong entry wins.",
    ),
    KindOfCause(
        "config_fix_not_rolled_out",
        "A setting was corrected, but pods still run with the configuration of before",
        "A right ConfigMap exists by now, under a name of its own, and the workload still refers to the one before it, whose value is "
        "wrong: the correction was never rolled out.",
    ),
    KindOfCause(
        "failing_readiness_probe",
        "A readiness probe asks for something the program does not serve",
        "readinessProbe checks a wrong path, port or command: pods run, and are never Ready.",
    ),
    KindOfCause(
        "failing_liveness_probe",
        "A liveness probe asks for something the program does not serve",
        "livenessProbe checks a wrong path, port or command: the kubelet kills a container that works.",
    ),
    KindOfCause(
        "impatient_liveness_probe",
        "A liveness probe leaves no time for the start",
        "livenessProbe asks what the program does serve, but initialDelaySeconds, periodSeconds and failureThreshold are over "
        "before it has started: the kubelet kills it each time.",
    ),
    KindOfCause(
        "liveness_kills_under_load",
        "A liveness probe kills what is only busy",
        "livenessProbe waits behind the users' requests, or for what these wait for, and gives up soon: under load the kubelet kills pods "
        "that work, the others get more to do, and are killed in turn.",
    ),
    KindOfCause(
        "missing_volume_claim",
        "Pods reference a PersistentVolumeClaim that does not exist",
        "claimName in a pod template names a claim that is not there, so pods stay Pending.",
    ),
    KindOfCause(
        "volume_node_conflict",
        "A volume lies on another node than the one its pods are held on",
        "nodeSelector or affinity holds pods on a node other than that of their volume (volume node affinity conflict).",
    ),
    KindOfCause(
        "excessive_resource_request",
        "Pods ask for more than any node has",
        "resources.requests of a container exceeds every node's capacity (Insufficient memory or cpu).",
    ),
    KindOfCause(
        "memory_limit_too_low",
        "A container's memory limit is below what it needs",
        "resources.limits.memory of a container is less than the program takes: OOMKilled.",
    ),
    KindOfCause(
        "cpu_throttling",
        "A container's CPU limit is below what its load needs",
        "resources.limits.cpu of a container is so low that the kernel throttles it: slow, not down.",
    ),
    KindOfCause(
        "rate_limit_too_low",
        "A limit on the rate of requests is below the load or without headroom, and retries keep the queue before it full",
        "A limiter of a service (a *_QPS_LIMIT) lets through less than comes, or too little to catch up after a surge: "
        "queued requests expire and are tried again.",
    ),
    KindOfCause(
        "impatient_retries",
        "A component gives up its calls too soon and repeats them too often",
        "Settings of a caller (a time-out of some milliseconds, dozens of retries) multiply calls that fail: whoever it calls is "
        "overloaded by repeated calls alone since a surge or a loss of capacity that has passed.",
    ),
    KindOfCause(
        "collector_overworked",
        "A program's garbage collector is told to run all the time",
        "A setting of a runtime (GOGC or the like, a percentage) makes it collect garbage after hardly any growth: the collector "
        "uses up a CPU limit that is enough for the requests.",
    ),
    KindOfCause(
        "quota_blocks_pods",
        "A ResourceQuota keeps new pods from being created",
        "A ResourceQuota of the namespace refuses pods (exceeded quota, must specify memory).",
    ),
    KindOfCause(
        "network_policy_isolation",
        "A NetworkPolicy cuts pods off",
        "A NetworkPolicy selects pods and does not allow traffic that they need: connections time out.",
    ),
    KindOfCause(
        "foreign_endpoint_slice",
        "A slice that no controller keeps adds endpoints to a Service",
        "A second EndpointSlice bears the Service's label and lists addresses at which it is not served: a share of the "
        "connections fails, though selector, pods and the controller's own slice are right.",
    ),
    KindOfCause(
        "local_traffic_only",
        "A Service passes traffic only to pods on the caller's own node",
        "internalTrafficPolicy of a Service is Local while callers run on nodes without one of its pods: their connections "
        "time out, though its endpoints are ready.",
    ),
    KindOfCause(
        "stale_service_rules",
        "kube-proxy on a machine no longer updates its rules",
        "Clients on one machine are still sent to pods that are gone: its kube-proxy is stuck. Service, endpoints and pods are "
        "right, and clients on other machines are served.",
    ),
    KindOfCause(
        "proxy_upstream_unresolved",
        "A proxy cannot start because a Service among its upstreams has no endpoints",
        "A proxy looks up its upstreams when it starts, and one of them, a headless Service whose workload was scaled to zero or taken "
        "away, has no address any more: each new proxy ends at once, those that run go on with what they know.",
    ),
    KindOfCause(
        "interface_mtu_too_large",
        "The CNI gives pods a larger MTU than the network between machines carries",
        "Large messages between newer pods on different machines are never delivered while small ones, probes and pods from before "
        "pass: the MTU of the pods' interfaces exceeds the path's, and nobody tells the sender.",
    ),
    KindOfCause(
        "local_ports_exhausted",
        "Pods have too few local ports",
        "A pod's kernel may dial from a narrow range of local ports only (net.ipv4.ip_local_port_range): connections beyond them cannot be "
        "opened.",
    ),
    KindOfCause(
        "connection_table_full",
        "A machine's table of connections is full",
        "Clients open more and more connections, until a machine's kernel has no entry left for further ones (nf_conntrack: table full): new "
        "connections to and from all of its pods are dropped, those that stand go on.",
    ),
    KindOfCause(
        "open_files_exhausted",
        "A process may open too few files",
        "A process's limit on open files (ulimit -n, RLIMIT_NOFILE) is lower than the connections it has to hold: it cannot accept further ones.",
    ),
    KindOfCause(
        "producer_per_record",
        "A client of the message broker opens a producer for every record",
        "A program that writes to a message broker opens new producers instead of using one: so many connections bring large records at once "
        "that the broker runs out of heap space, and dies again whenever it is back.",
    ),
    KindOfCause(
        "backtracking_pattern",
        "A regular expression of a request filter backtracks on ordinary requests",
        "A rule of a filter in front of requests (a WAF) has a regular expression that tries very many ways before it fails to match: the "
        "server that evaluates it has no CPU left, and all requests wait.",
    ),
    KindOfCause(
        "lossy_machine",
        "A machine's network link loses packets",
        "Whatever enters or leaves one machine is slow or times out, though the machine and its pods are Ready: packets are lost on "
        "its link and sent again.",
    ),
    KindOfCause(
        "bypassed_cluster_dns",
        "Pods bypass the cluster's name server and ask one that does not know its names",
        "dnsPolicy or dnsConfig of a pod template points to a name server outside; other pods resolve well.",
    ),
    KindOfCause(
        "dns_record_blocked",
        "The cluster DNS denies names that exist",
        "The Corefile of CoreDNS answers NXDOMAIN for a name whose Service exists, or for all of a namespace; all clients are hit.",
    ),
    KindOfCause(
        "stale_host_alias",
        "A pod's hosts file overrides a name with a wrong address",
        "hostAliases of a pod template maps a name to an address where the component is not.",
    ),
    KindOfCause(
        "port_conflict",
        "Two containers of a pod want the same port",
        "An extra container (sidecar) of a pod binds the port of the main one: address already in use.",
    ),
    KindOfCause(
        "untolerated_taint",
        "Nodes carry a taint that pods do not tolerate",
        "A taint on the nodes keeps pods without a matching toleration Pending.",
    ),
    KindOfCause(
        "cordoned_nodes",
        "Nodes are closed to new pods",
        "spec.unschedulable of the nodes is true (SchedulingDisabled), so replaced pods stay Pending.",
    ),
    KindOfCause(
        "blocked_init_container",
        "An init container waits for something that never comes",
        "An init container of a pod never ends (Init:0/1), so the main container never starts.",
    ),
    KindOfCause(
        "database_permission_revoked",
        "A database account lost its rights",
        "The account exists and can log in, but lacks its role on the database: not authorized.",
    ),
    KindOfCause(
        "database_account_missing",
        "A database account does not exist",
        "The account with which a client logs in is gone or renamed: authentication failed.",
    ),
    KindOfCause(
        "stale_database_password",
        "A client logs in with a password that the database no longer takes",
        "The account exists, but its password was rotated on one side only: password authentication failed.",
    ),
    KindOfCause(
        "store_demands_password",
        "A store asks for a password that no client was given",
        "requirepass of a Redis or Valkey server was set, by its arguments or its configuration: clients get NOAUTH.",
    ),
    KindOfCause(
        "schema_changed_under_old_pods",
        "A migration has changed the database's schema while pods of the build before it still serve",
        "A release renames or drops a column that the old build names, and its rollout does not end: the old pods' statements fail "
        "(column does not exist), those of the new pods work.",
    ),
    KindOfCause(
        "table_lock_held",
        "A session holds a lock on a table, and others wait for it",
        "A transaction that stays open holds a table (pg_locks: granted), so that queries on it wait and time out.",
    ),
    KindOfCause(
        "connections_exhausted",
        "Connection pools are together larger than what a database server takes",
        "The size of each pool times the number of pods that keep one is more than the server's max_connections: whoever opens a "
        "connection anew is refused (too many clients, remaining connection slots are reserved).",
    ),
    KindOfCause(
        "store_memory_cap",
        "A store in memory is allowed too little memory by its own setting",
        "maxmemory of a Redis or Valkey server is less than it needs, so writes are refused (OOM command not allowed).",
    ),
    KindOfCause(
        "disk_read_errors",
        "A node's disk returns read errors",
        "Hardware: reads from the disk of a node fail (I/O error) for whatever has its volume there.",
    ),
    KindOfCause(
        "disk_corrupts_data",
        "A node's disk returns other data than were written",
        "Hardware: what is read from the disk of a node is wrong and no read fails (checksum errors in databases, healthy SMART "
        "figures), for whatever has its volume there.",
    ),
    KindOfCause(
        "missing_service_account",
        "Pods name a service account that does not exist",
        "serviceAccountName of a pod template names none that exists, so pods are forbidden.",
    ),
    KindOfCause(
        "wrong_source_of_truth",
        "A reconciler keeps applying a wrong desired state from its source",
        "What a GitOps tool, operator or job applies again and again is wrong where it comes from; who only mends the live object is "
        "reverted.",
    ),
    KindOfCause(
        "outranked_by_others",
        "Pods went for others of a higher priority, and rank too low to come back",
        "PriorityClass: the scheduler preempted pods that have no class, or a low one, for pods to which a class of their own or "
        "the global default gives more; what replaces them stays Pending.",
    ),
    KindOfCause(
        "missing_permission",
        "A pod's account may not do what its pod needs of the API server",
        "RBAC: no rule of a role bound to the service account grants a verb on a resource that a container asks for (403).",
    ),
    KindOfCause(
        "missing_secret",
        "A container refers to a Secret that does not exist",
        "A Secret that a container takes its environment or files from is not there (CreateContainerConfigError).",
    ),
    KindOfCause(
        "feature_flag_enabled",
        "A configuration flag turned on a code path that fails",
        "A flag in the environment or a ConfigMap is on, and the program fails only while it is.",
    ),
    KindOfCause(
        "unsatisfiable_anti_affinity",
        "A required anti-affinity keeps pods off every node",
        "podAntiAffinity of a pod template forbids every domain of its topologyKey, so pods stay Pending.",
    ),
    KindOfCause(
        "webhook_unreachable",
        "An admission webhook that must answer cannot be called",
        "A webhook configuration with failurePolicy Fail points where nobody answers (failed calling webhook).",
    ),
    KindOfCause(
        "shrunk_at_admission",
        "An admission webhook gives new pods other resources than declared",
        "A mutating webhook that answers changes pods as they are created: the template is right, the pod's limit is not.",
    ),
    KindOfCause(
        "recurring_overwrite",
        "A recurring job keeps writing a wrong value into a workload",
        "A CronJob or controller sets a field wrong at every run; who only mends the field has it wrong again.",
    ),
    KindOfCause(
        "jobs_never_end",
        "Runs of a scheduled job never end, and hold places or resources that others need",
        "Jobs of a CronJob go on when their work is done, as with a sidecar that never exits: their pods pile up until a quota, or "
        "the cluster, has nothing left for others.",
    ),
    KindOfCause(
        "autoscaler_counts_others",
        "An autoscaler counts pods that are not its target's",
        "A HorizontalPodAutoscaler averages over all pods that match its target's selector; another workload's match too, so that it "
        "scales by what they use and ask for.",
    ),
    KindOfCause(
        "certificate_expired",
        "A certificate has expired",
        "A serving certificate is past its date, so that whoever verifies it refuses the connection (x509: expired).",
    ),
    KindOfCause(
        "untrusted_authority",
        "A client does not trust the authority that has signed a certificate",
        "A valid certificate is verified against another authority's bundle, as a webhook's caBundle (x509: unknown authority).",
    ),
    KindOfCause(
        "admission_deadline_exceeded",
        "Admission webhooks that may fail take longer together than a request may",
        "Webhooks with failurePolicy Ignore that the API server cannot reach, as by a NetworkPolicy, are waited for one after the "
        "other (context deadline exceeded).",
    ),
    KindOfCause(
        "pod_security_enforced",
        "A namespace enforces a Pod Security Standard that its pods do not meet",
        "A label of the namespace (pod-security.kubernetes.io/enforce) forbids its pods (violates PodSecurity), so that none is created.",
    ),
    KindOfCause(
        "host_port_conflict",
        "A pod asks for a port of its node that another pod has",
        "hostPort of a container is taken on every node (didn't have free ports), so pods stay Pending.",
    ),
    KindOfCause(
        "unsafe_rollout_strategy",
        "An update strategy takes every old pod away before a new one is ready",
        "maxUnavailable of a Deployment allows all its pods to go at once, and the new revision does not come up.",
    ),
    KindOfCause(
        "node_down",
        "A node is down, with the volumes that lie on it",
        "A machine has failed (NotReady, its kubelet is silent), and pods bound to its volumes have nowhere to run.",
    ),
    KindOfCause(
        "eviction_threshold_too_high",
        "A kubelet's eviction threshold is above what is free of its disk",
        "evictionHard in a kubelet's configuration wants more free than there is (DiskPressure), so pods are evicted and none may start there.",
    ),
    KindOfCause(
        "disk_filled",
        "A program fills the disk of a machine",
        "A program writes files without a bound to a path of a machine (hostPath) until its disk is full: DiskPressure is right, the kubelet evicts "
        "pods of others, and who is bound to that machine has nowhere to run.",
    ),
    KindOfCause(
        "pids_taken",
        "A program uses up the process IDs of a machine",
        "A program leaves processes behind on a machine (zombies that it never reaps, jobs that pile up) until its kernel has none left for others: "
        "PIDPressure is right, or nothing new can be started there.",
    ),
    KindOfCause(
        "clock_wrong",
        "The clock of a machine is wrong",
        "The time service of a machine (chronyd) does not run, and its clock is far ahead or behind: certificates that are valid count there as "
        "expired or not yet valid, and on other machines they do not.",
    ),
    KindOfCause(
        "kubelet_not_running",
        "The kubelet of a machine that is up has ended",
        "The kubelet's systemd unit is stopped, or exits at every start (a setting in its files that it refuses), so its node is NotReady.",
    ),
)

TAXONOMY: Mapping[str, KindOfCause] = {kind.key: kind for kind in _ALL}
"""Every mechanism by key."""

NOTHING_WRONG = KindOfCause(
    "nothing_wrong",
    "Nothing is wrong",
    "There is no cause: users are served, and what was noticed has passed by itself or harms nobody. Goes alone, without a component.",
)
"""The answer where there is no cause: no mechanism, and chosen in the place of one."""

ANSWERS: Mapping[str, KindOfCause] = {**TAXONOMY, NOTHING_WRONG.key: NOTHING_WRONG}
"""Everything that a structured diagnosis may choose, by key."""


def told() -> str:
    """What may be chosen as lines of text, ``key: definition``."""
    return "\n".join(f"{kind.key}: {kind.definition}" for kind in ANSWERS.values())


def keyed(word: str) -> str:
    """The key that a word means, whatever its case and hyphens; empty for none."""
    key = "_".join(word.strip().lower().replace("-", "_").replace(" ", "_").split("_"))
    return key if key in ANSWERS else ""


def near(word: str) -> tuple[str, ...]:
    """Keys that look like a word that is none."""
    return tuple(get_close_matches(word.strip().lower().replace("-", "_").replace(" ", "_"), ANSWERS, n=3))
