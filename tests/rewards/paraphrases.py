"""Right accounts in many voices, and near misses, for every fault; ``{c}`` is the component, ``{r}`` the object's name.

None of them is taken from the judge's vocabulary on purpose: they are what people and models write after looking.
"""

from __future__ import annotations

RIGHT: dict[str, tuple[str, ...]] = {
    "configmap_drift": (
        "{c} dies on boot. Reason: the mounted config ({r}) no longer contains {f}, so the DB address comes out as an empty string.",
        "Root cause is in ConfigMap/{r}: the {f} entry has gone missing from config.json. {c} reads that file at startup and bails out.",
        "I compared the mounted config.json with the one baked into the image; {f} isn't in the mounted copy ({r}), and that is why {c} crash-loops. Everything calling {c} fails as a consequence.",
    ),
    "cordoned_nodes": (
        "Somebody ran kubectl cordon on every worker, so when {c}'s pod was replaced it had nowhere to go.",
        "The scheduler has no node to offer: all workers show SchedulingDisabled. {c} is Pending because of it; apart from that {c} is healthy.",
        "{c} can't come back: all three worker nodes have been marked unschedulable.",
    ),
    "cpu_limit_too_low": (
        "{c} crawls. Its container may only use {wrong} of CPU (resources.limits.cpu), and the CFS throttling makes every call slow.",
        "The cpu limit on deployment/{c} has been dropped from {right} to {wrong}. Under the current load that leads to heavy throttling and timeouts in frontend.",
        "Someone tightened {c}'s CPU quota to {wrong}; it gets throttled nearly all the time.",
    ),
    "faulty_image": (
        "Last rollout of {c} moved it to {wrong}. That build is broken, it crashes right after it comes up; the previous image {right} is fine.",
        "{c} was deployed with a buggy image: {wrong}.",
        "The container of {c} keeps crashing since the release of {wrong}, which is a bad build. Search and frontend are merely downstream victims.",
    ),
    "feature_flag_latent_bug": (
        "Since {f} has been flipped to true (ConfigMap {r}) {c} takes a code path that returns HTTP 500. With false it works.",
        "{r} enables the feature flag {f}, and the code behind this flag is broken, so {c} answers with internal server errors.",
        "A feature toggle was switched on: {f}={wrong} in {r}. {c} reads it from its environment and fails on every request.",
    ),
    "incompatible_image": (
        "{c} got bumped from {right} to {wrong}; mongod refuses to start on the data files that the old version left behind.",
        "Version mismatch in the database: {c} now runs {wrong} while its on-disk data is from {right}. It exits during startup and {a} loses its storage.",
        "An upgrade of {c} to {wrong} skipped the required major versions, so the data files cannot be opened.",
    ),
    "incorrect_image": (
        "The kubelet can't pull {wrong} for {c}: no such image in any registry. ErrImagePull / ImagePullBackOff.",
        "deployment {c} was pointed at an image which doesn't exist ({wrong} instead of {right}).",
        "{c} has zero running pods as its image tag is bogus: {wrong} cannot be found.",
    ),
    "init_container_dependency_hang": (
        "{c}'s pods never get past Init:0/1. Their init container loops on nslookup of legacy-config-service, a Service nobody ever created.",
        "A new initContainer (wait-for-legacy-config) was added to {c}. It blocks forever because the thing it waits for, legacy-config-service, isn't there.",
        "Stuck init container in {c}: wait-for-legacy-config is waiting for legacy-config-service.",
    ),
    "latent_sector_error": (
        "Hardware problem on {r}: its disk produces read errors, so {all}, which keep their data there, go down with I/O errors.",
        "WiredTiger panics with Input/output error in {all}. Both sit on node {r}; the drive of that node is failing.",
        "The drive in node {r} has bad sectors. That kills {all}.",
    ),
    "liveness_probe_misconfiguration": (
        "The kubelet restarts {c} every few seconds because the livenessProbe does an HTTP GET of /healthz at 8080 and nothing is listening there.",
        "{c} itself works. It is its liveness check that is wrong: it goes to port 8080 (/healthz), so the container gets killed again and again.",
        "CrashLoopBackOff of {c} comes from a bad liveness probe (http-get :8080/healthz).",
    ),
    "missing_configmap": (
        "MountVolume.SetUp failed: {c} needs configmap {r} and it isn't there any more.",
        "Somebody deleted {r} (a ConfigMap). New {c} pods sit in ContainerCreating as they can't mount it.",
        "{c}: the ConfigMap it mounts, {r}, no longer exists in the namespace.",
    ),
    "missing_secret": (
        "{c}'s pod template has a secretKeyRef to {c}-credentials, but no Secret of that name exists, hence CreateContainerConfigError.",
        "The env var API_TOKEN of {c} should come from Secret {c}-credentials. That secret was never created.",
        "Container creation fails for {c} because it references a Secret ({c}-credentials) that is not there.",
    ),
    "missing_service": (
        "kubectl get svc shows no {c}: the Service was removed. The pods are up, but {a} can't resolve the name.",
        "{a} logs 'no such host'. The reason: Service/{r} has been deleted.",
        "The {c} deployment runs fine, however its Service is missing, so DNS lookups of {c} fail.",
    ),
    "missing_service_account": (
        "The ReplicaSet of {c} gets 'serviceaccount \"{c}-runner\" not found' when it tries to create pods.",
        "{c} was changed to run under the service account {c}-runner. There is no such account in the namespace, so no pod gets created.",
        "spec.serviceAccountName of deployment {c} refers to {c}-runner, a ServiceAccount that doesn't exist.",
    ),
    "namespace_memory_limit": (
        "A ResourceQuota ({r}) was added to the namespace. Because {c}'s containers declare no memory requests, the API server rejects its pods.",
        '{c} can\'t be scheduled again: pods "{c}-..." is forbidden: failed quota: {r}: must specify memory.',
        "The namespace's memory quota {r} ({wrong}) prevents {c}'s pod from being re-created.",
    ),
    "network_policy_block": (
        "There's a NetworkPolicy named {r} which selects {c} and has neither ingress nor egress rules, i.e. it drops everything. {a} gets i/o timeouts.",
        "All traffic to {c} is blocked by netpol {r}.",
        "{c} has been isolated from the network. Culprit: NetworkPolicy {r}.",
    ),
    "non_existent_node": (
        "{c}'s pod template demands kubernetes.io/hostname=extra-node. We don't have a node by that name, so it can't be placed anywhere.",
        "The nodeSelector of {c} is wrong (extra-node): none of the nodes matches, pods stay Pending.",
        "FailedScheduling for {c}: didn't match Pod's node affinity/selector. The selector asks for extra-node, which is not part of the cluster.",
    ),
    "pvc_claim_mismatch": (
        "{c} mounts a claim called {wrong}; there is no PVC of that name (the real one is {right}).",
        "The deployment {c} points to the wrong PersistentVolumeClaim: claimName {wrong} rather than {right}.",
        "Typo in the volume of {c}: it wants PVC {wrong}, and the pod is Pending since this claim doesn't exist.",
    ),
    "readiness_probe_misconfiguration": (
        "Pods of {c} are Running 0/1. The readinessProbe hits /healthz on 8080 and gets connection refused since {c} doesn't listen on that port.",
        "{c} is up, but its readiness check is broken (GET :8080/healthz), so its endpoints list is empty.",
        "The readiness probe configured on {c} points at a port where nothing listens (8080).",
    ),
    "resource_request_too_large": (
        "{c} asks for {wrong} memory. None of our nodes is that big, the pod can't be scheduled.",
        "resources.requests.memory={wrong} on {c} is more than any node can offer: 0/4 nodes are available, insufficient memory.",
        "The memory request of {c} was raised to an absurd {wrong}.",
    ),
    "resource_request_too_small": (
        "{c} gets OOM-killed on startup: with limits.memory at {wrong} it has far too little.",
        "Memory limit on {c} is {wrong}. The process needs more, so the kernel kills it each time (exit 137).",
        "Someone set {c}'s memory limit down to {wrong}, that's not enough to boot.",
    ),
    "revoke_auth_mongodb": (
        "{a} can log in to {c}, but the account 'admin' has had its readWrite role revoked, so each query returns Unauthorized.",
        "On {c} the admin user's grants were stripped: no readWrite any more.",
        "Mongo user admin in {c} is missing the readWrite role. That's why {a} reports 'not authorized on ... to execute command'.",
    ),
    "scale_to_zero": (
        "{c} is scaled down: spec.replicas is 0.",
        "Nobody is serving as {c}, because the deployment's replica count was set to zero.",
        "deploy/{c} 0/0. It has been scaled to zero, so {a} can't reach it.",
    ),
    "service_dns_resolution_failure": (
        "CoreDNS has been edited: a template stanza in its Corefile returns NXDOMAIN for {c}.hotel-reservation.svc.cluster.local although the Service exists.",
        "{a} fails with 'no such host' for {c}. The Service is there, it's the Corefile (kube-system/coredns) that has a rule denying this name.",
        "The coredns ConfigMap contains a block which makes lookups of {c} come back as NXDOMAIN.",
    ),
    "service_port_mismatch": (
        "Service {c} listens on {wrong} now. Its clients still dial {right}, so they time out.",
        "Someone changed spec.ports[0].port of Service {c} from {right} to {wrong}.",
        "The Service port of {c} is {wrong} while every client expects {right}.",
    ),
    "service_selector_mismatch": (
        "Endpoints of {c} are empty: the Service selector has an additional label (current_service_name) that the pods don't have.",
        "svc/{c} selects on current_service_name={c}; no pod is labelled like that.",
        "The selector on Service {c} doesn't match its pods' labels any more.",
    ),
    "service_target_port_mismatch": (
        "Service {c} sends traffic to port {wrong} of the pods, but the process listens on {right}.",
        "svc {c}: targetPort={wrong}, containerPort={right}. Hence connection refused.",
        "Connections to {c} get refused because the target port of its Service was set to {wrong}.",
    ),
    "service_wrong_pod_selection": (
        "The {c} Service's selector is too loose: it also picks up pods of {x}, so part of the traffic lands on the wrong workload.",
        "Endpoints of {c} include {x} pods. Both carry service-route={c}, which is all the Service selects on.",
        "Half of {c}'s endpoints belong to {x}, because the Service selects service-route={c} and {x}'s pods have that label as well.",
    ),
    "sidecar_port_conflict": (
        "A sidecar was injected into {c} and it binds the same port as the app: 'bind: address already in use'.",
        "Two containers in {c}'s pod fight over one port; the added sidecar listens where the main container wants to.",
        "{c} is in CrashLoopBackOff: its port is already taken by the new sidecar container.",
    ),
    "stale_host_alias": (
        "{c} has a static /etc/hosts entry (hostAliases) that sends memcached-reserve to 10.96.255.250, and there's nothing at that IP.",
        "hostAliases in {c}'s pod spec pins its cache's name to a dead address, 10.96.255.250.",
        "Because of a stale hostAliases entry {c} resolves memcached-reserve to the wrong IP.",
    ),
    "storage_user_unregistered": (
        "{a} cannot authenticate: the user 'admin' no longer exists in {c}.",
        "In {c} someone dropped the admin user. SCRAM authentication fails with UserNotFound.",
        "{c} lost its database account admin, so {a}'s logins are rejected.",
    ),
    "taint_no_toleration": (
        "The nodes got a dedicated=batch:NoSchedule taint. {c} doesn't tolerate it and so cannot be scheduled.",
        "All workers are tainted (dedicated=batch), {c}'s pod stays Pending.",
        "{c} can't run anywhere: every worker carries a NoSchedule taint that its pod has no toleration for.",
    ),
    "volume_node_conflict": (
        "{c} is forced to sre-worker through a nodeSelector while its PV lives on another node, so it can't be scheduled: volume node affinity conflict.",
        "The nodeSelector that was put on {c} contradicts the node affinity of its local volume.",
        "{c} Pending: its persistent volume is bound to a different node than the one the nodeSelector allows.",
    ),
    "wrong_binary": (
        "The {c} deployment starts the {wrong} binary. So although the pod is Running nobody registers as {c}.",
        "In deployment {c} the container command says {wrong} rather than {c}.",
        "{c}'s entrypoint was replaced: it executes {wrong}.",
    ),
    "wrong_dns_policy": (
        "{c}'s pods have dnsPolicy: None and use 8.8.8.8, so in-cluster names can't be resolved.",
        "Name resolution inside {c} is broken as its pod spec bypasses CoreDNS (dnsPolicy None, nameserver 8.8.8.8).",
        "The DNS settings of {c} were overridden: dnsPolicy=None with an external resolver. Looking up other services gives 'no such host'.",
    ),
}
"""``{a}`` is who suffers first, ``{x}`` the stranger of a broad selector."""

CONTINUED: tuple[str, ...] = (
    "{s} {a} fails, so users get errors.",
    "{s} {a} cannot reach it, so frontend fails as well.",
    "{s} Because of this {a} returns errors, and the frontend shows 500s to users.",
    "Users report failing pages. I looked at frontend and at the logs of {a}; both only pass on errors. {s}",
    "{s} Consul, jaeger and memcached-profile are healthy.",
    "{s}\n\nImpact: {a}, frontend.\nRuled out: memory pressure, network policies, image problems.",
    "## Root cause\n{s}\n\n## Impact\n- {a} returns errors\n- users see 5xx\n\n## Not the cause\n- consul (healthy)\n- the recent rollout of jaeger",
    "I first suspected a bad image, but that was not it. {s}",
    "{s} Jaeger was restarted an hour ago; that is unrelated.",
)
"""What right accounts go on to tell; ``{s}`` is the account itself."""

NEAR: dict[str, tuple[str, ...]] = {
    "configmap_drift": (
        "The ConfigMap {r} that {c} mounts was deleted.",
        "{c} has a wrong image and crashes at start.",
        "{c} crashes at start because its database rejects its password.",
    ),
    "cordoned_nodes": (
        "All worker nodes carry a taint that {c} does not tolerate.",
        "{c} is Pending because its memory request exceeds every node.",
        "{c} has a nodeSelector for a node that does not exist.",
    ),
    "cpu_limit_too_low": (
        "The memory limit of {c} is too low, so it is OOMKilled.",
        "{c} is slow because of its database.",
        "The CPU request of {c} exceeds every node's capacity.",
    ),
    "faulty_image": (
        "{c} runs the command geo-server instead of geo.",
        "{c} crashes because the ConfigMap geo-config lacks a key.",
        "{c} is OOMKilled because its memory limit is too low.",
    ),
    "feature_flag_latent_bug": (
        "The ConfigMap {r} has been deleted, so {c} cannot start.",
        "{c} runs a broken image.",
        "{c} answers with 500 since its database is down.",
    ),
    "incompatible_image": (
        "{c} cannot pull its image.",
        "{c} exits at start because the disk of its node returns read errors.",
        "The readiness probe of {c} asks for a port on which nothing listens.",
    ),
    "incorrect_image": (
        "{c} runs a version that is incompatible with its data files.",
        "{c} was scaled to zero replicas.",
        "{c} references a PVC that does not exist.",
    ),
    "init_container_dependency_hang": (
        "The liveness probe of {c} is misconfigured.",
        "{c} has a sidecar that binds the same port.",
        "{c} cannot mount the ConfigMap legacy-config, which was deleted.",
    ),
    "latent_sector_error": (
        "Node {r} has been cordoned, so {all} stay Pending.",
        "The PVCs of {all} do not exist.",
        "{all} run a version that is incompatible with their data files.",
    ),
    "liveness_probe_misconfiguration": (
        "The readiness probe of {c} asks for /healthz on port 8080, which nothing serves.",
        "The startup probe of {c} asks for /healthz on port 8080.",
        "The targetPort of Service {c} is 8080.",
    ),
    "missing_configmap": (
        "The ConfigMap {r} lacks a key.",
        "The Secret {r} that {c} mounts does not exist.",
        "The PVC of {c} does not exist.",
    ),
    "missing_secret": (
        "The ConfigMap {c}-credentials that {c} refers to does not exist.",
        "The ServiceAccount of {c} does not exist.",
        "In {c} the user admin was dropped.",
    ),
    "missing_service": (
        "The Deployment {r} was deleted.",
        "The selector of Service {r} matches no pods.",
        "Service {r} has a wrong targetPort.",
        "{c} was scaled to zero replicas.",
    ),
    "missing_service_account": (
        "{c} refers to a Secret {c}-runner that does not exist.",
        "In {c} the database user was dropped.",
        "A ResourceQuota keeps {c} from creating pods.",
    ),
    "namespace_memory_limit": (
        "The memory limit of {c} is too low.",
        "{c} requests more memory than any node has.",
        "The service account of {c} does not exist.",
    ),
    "network_policy_block": (
        "Service {c} has a wrong targetPort.",
        "The Service {c} does not exist.",
        "CoreDNS answers NXDOMAIN for {c}.",
        "The selector of Service {c} matches no pod.",
    ),
    "non_existent_node": (
        "All worker nodes are cordoned, so {c} stays Pending.",
        "The nodes carry a taint that {c} does not tolerate.",
        "{c} requests more memory than any node has.",
        "{c} references a PVC that does not exist.",
    ),
    "pvc_claim_mismatch": (
        "{c} has a volume node affinity conflict: its nodeSelector pins it to another node than its volume's.",
        "{c} mounts a ConfigMap that does not exist.",
        "{c} has a nodeSelector for a node that does not exist.",
    ),
    "readiness_probe_misconfiguration": (
        "The liveness probe of {c} asks for /healthz on port 8080, which nothing serves.",
        "The targetPort of Service {c} is 8080 instead of 27017.",
        "Service {c} has no endpoints because its selector matches no pod.",
    ),
    "resource_request_too_large": (
        "The memory limit of {c} is too low: it is OOMKilled.",
        "A ResourceQuota blocks the pods of {c}.",
        "All nodes are cordoned, {c} stays Pending.",
    ),
    "resource_request_too_small": (
        "The CPU limit of {c} is too low, it is throttled.",
        "The memory request of {c} exceeds what any node has.",
        "{c} is killed by its liveness probe, which asks the wrong port.",
    ),
    "revoke_auth_mongodb": (
        "The user admin was dropped from {c}; authentication fails.",
        "A NetworkPolicy blocks {c}.",
        "{a} has the wrong address of {c} in its config.",
    ),
    "scale_to_zero": (
        "The image of {c} cannot be pulled.",
        "The Service {c} was deleted.",
        "{c} cannot be scheduled because the nodes are cordoned.",
    ),
    "service_dns_resolution_failure": (
        "The Service {c} was deleted, so its name does not resolve.",
        "{a} has dnsPolicy None with an external nameserver and cannot resolve {c}.",
        "{a} has a hostAliases entry that maps {c} to a dead address.",
    ),
    "service_port_mismatch": (
        "The targetPort of Service {c} is wrong.",
        "The selector of Service {c} matches no pod.",
        "The readiness probe of {c} asks for the wrong port.",
    ),
    "service_selector_mismatch": (
        "The Service {c} forwards to the wrong targetPort.",
        "The selector of Service {c} also matches pods of geo.",
        "{c} has no endpoints because its readiness probe asks for the wrong port.",
        "The nodeSelector of {c} matches no node.",
    ),
    "service_target_port_mismatch": (
        "The liveness probe of {c} asks for port {wrong}.",
        "The selector of Service {c} matches no pods.",
        "The Service {c} was deleted.",
        "The Service {c} has targetPort 8080 instead of 5000.",
    ),
    "service_wrong_pod_selection": (
        "The selector of Service {c} matches no pods.",
        "The targetPort of Service {c} is wrong.",
        "{x} runs the wrong binary.",
    ),
    "sidecar_port_conflict": (
        "An init container of {c} waits for a service that does not exist.",
        "The targetPort of Service {c} is wrong.",
        "The liveness probe of {c} asks for the wrong port.",
    ),
    "stale_host_alias": (
        "{c} has dnsPolicy None with an external nameserver.",
        "CoreDNS answers NXDOMAIN for memcached-reserve.",
        "The Service memcached-reserve was deleted.",
    ),
    "storage_user_unregistered": (
        "In {c} the user admin lost the role readWrite.",
        "The service account of {c} does not exist.",
        "The Secret with {a}'s password does not exist.",
    ),
    "taint_no_toleration": (
        "All worker nodes are cordoned and {c} stays Pending.",
        "{c} has a nodeSelector that matches no node.",
        "{c} requests more memory than any node has.",
    ),
    "volume_node_conflict": (
        "{c} references a PVC that does not exist.",
        "{c} cannot be scheduled because all nodes are cordoned.",
        "The nodes carry a taint that {c} does not tolerate.",
    ),
    "wrong_binary": (
        "{c} runs a broken image.",
        "{c} was scaled to zero.",
        "The targetPort of Service {c} is wrong.",
    ),
    "wrong_dns_policy": (
        "CoreDNS answers NXDOMAIN for consul because of a template in the Corefile.",
        "{c} has a hostAliases entry with a wrong address.",
        "A NetworkPolicy blocks {c}.",
    ),
}
"""Wrong accounts of the right component."""
