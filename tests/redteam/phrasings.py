"""How different engineers put each cause: statements to be framed by different habits of writing.

``{c}`` is the component, ``{r}`` the wrong object's name, ``{wrong}`` and ``{right}`` the values,
``{port}`` the port of a wrong probe.
"""

from __future__ import annotations

import json
from collections.abc import Callable

STATEMENTS: dict[str, tuple[str, ...]] = {
    "configmap_drift": (
        "the ConfigMap {r} mounted into {c} is missing the key {f}",
        "{c}'s config.json (ConfigMap {r}) lacks {f}, so it has no database address",
        "someone removed {f} from {r}; {c} panics at startup",
        "configuration drift in {r}: key {f} was dropped, which {c} needs to start",
    ),
    "configmap_fixed_but_not_rolled_out": (
        "{c} still references the old ConfigMap {wrong}; the fixed one, {right}, was never rolled out",
        "the deployment {c} uses {wrong} with a wrong address, while the corrected ConfigMap {right} exists but is not referenced",
        "the config fix for {c} ({right}) was not rolled out, its pods still run with {wrong}",
        "{c} takes its settings from the stale ConfigMap {wrong} instead of the corrected {right}",
    ),
    "cordoned_nodes": (
        "all worker nodes are cordoned, so the {c} pod cannot be scheduled",
        "{c}'s pod is Pending: every worker node is unschedulable (SchedulingDisabled)",
        "nodes were cordoned and {c}'s replacement pod stays Pending",
        "the worker nodes have spec.unschedulable set to true and {c} cannot be placed",
    ),
    "cpu_limit_too_low": (
        "the CPU limit of {c} is set to {wrong}, far too low, so it is throttled",
        "{c} is CPU throttled because its limit was cut to {wrong}",
        "{c}'s container has resources.limits.cpu={wrong} which starves it under load",
        "CPU starvation of {c}: limit {wrong} instead of {right}",
    ),
    "rate_limit_too_low": (
        "the rate limit of {c} ({f}={wrong}) is lower than its load, so requests expire in its queue",
        "{c} is limited to {wrong} requests per second by {f}, which is too low",
        "{f} of deployment {c} was lowered from {right} to {wrong}; retries keep its queue full",
        "{c}'s limiter lets through fewer requests than come: QPS limit {wrong} instead of {right}",
    ),
    "retry_collapse": (
        "the rate limit of {c} ({f}={wrong}) leaves no headroom, so retries keep its queue full since a surge",
        "{c} is limited to {wrong} requests per second by {f}; a past spike is kept alive by a retry storm",
        "{f} of deployment {c} was lowered from {right} to {wrong}; after a burst retries keep it overloaded",
        "retry storm against {c}: its QPS limit {wrong} is too low to work off the backlog of expired requests",
    ),
    "load_spike_retry_storm": (
        "{c} has a retry policy of {wrong} retries ({f}) with a time-out of milliseconds, which keeps an overload alive",
        "the RPC time-out of {c} is far too short and {f}={wrong} repeats every call, a self-sustaining retry storm",
        "{f} of deployment {c} was set to {wrong} with a tiny time-out; its retries saturate what it calls",
        "retry storm from {c}: {wrong} retries per call after a few milliseconds each",
    ),
    "capacity_decrease_retry_storm": (
        "{c} has a retry policy of {wrong} retries ({f}) with a time-out of milliseconds, which keeps an overload alive",
        "the RPC time-out of {c} is far too short and {f}={wrong} repeats every call, a self-sustaining retry storm",
        "{f} of deployment {c} was set to {wrong} with a tiny time-out; its retries saturate what it calls",
        "retry storm from {c}: {wrong} retries per call after a few milliseconds each",
    ),
    "garbage_collector_overworked": (
        "{f}={wrong} makes the garbage collector of {c} run all the time, which uses up its CPU",
        "{c} spends its CPU on garbage collection since {f} was set to {wrong} instead of {right}",
        "the GC percentage of deployment {c} ({f}) is {wrong}, far too low",
        "GC thrashing in {c}: {f} is {wrong}, the collector takes the CPU of the requests",
    ),
    "env_variable_shadowing": (
        "{c} has the environment variable {f} twice, and the later definition, {wrong}, wins over {right}",
        "the pod template of {c} has a second {f} entry that overrides the right value with {wrong}",
        "the variable {f} of deployment {c} is shadowed by a duplicate whose value is {wrong}",
        "{c} reads {f}={wrong}, which is wrong, because the env list defines it twice",
    ),
    "faulty_image": (
        "{c} runs the image {wrong}, a broken build",
        "the deployment {c} was switched to the defective image {wrong}",
        "a bad image ({wrong}) is deployed for {c} instead of {right}",
        "{c} crashes because the image {wrong} is buggy",
    ),
    "feature_flag_latent_bug": (
        "the flag {f} was set to true for {c} in ConfigMap {r}, enabling a buggy code path",
        "ConfigMap {r} turns on the feature flag {f} which makes {c} return 500s",
        "{c} has {f}=true in its environment; the feature flag enables broken code",
        "a feature flag ({f}) enabled in {r} triggers a latent bug in {c}",
    ),
    "autoscaler_counts_others": (
        "the autoscaler of {c} also counts the idle pods of {r}, whose labels match the same selector, so it keeps {c} at too few pods",
        "the HPA averages over pods of {r} because they match {c}'s selector; utilization looks low and {c} is not scaled up",
        "the labels of deployment {r} overlap with the selector of {c}, and the HPA counts its idle pods",
        "idle pods of {r} dilute the average that the HPA of {c} goes by",
    ),
    "cron_jobs_never_finish": (
        "the Jobs of CronJob {r} never complete because the sidecar {wrong} keeps running; their pods use up the quota and {c} cannot be created",
        "runs of the CronJob {r} never end: the regular container {wrong} does not exit, so pods pile up until the ResourceQuota refuses those of {c}",
        "CronJob {r} has a sidecar {wrong} that never terminates, every job stays active and {c} gets no pod under the quota",
        "the sidecar {wrong} of cronjob {r} keeps its jobs running forever",
    ),
    "gitops_reverts": (
        "the source of truth {r} has targetPort {wrong} for the Service of {c}, and a CronJob applies it again and again",
        "a CronJob keeps re-applying a wrong desired state to {c}'s Service: ConfigMap {r} says targetPort {wrong} instead of {right}",
        "the desired state of {c} in ConfigMap {r} is wrong (targetPort {wrong}); a fix by hand is reverted at every run",
        "gitops: {r} holds the wrong targetPort {wrong} for {c}, which is re-applied by a CronJob",
    ),
    "incompatible_image": (
        "{c} was upgraded to {wrong}, which is incompatible with the existing data files of {right}",
        "{c} runs {wrong} but its data directory was written by MongoDB 4.4, so it exits at start",
        "incompatible MongoDB version: the {c} deployment uses {wrong} instead of {right}",
        "the image of {c} was bumped to {wrong}; the on-disk data format (featureCompatibilityVersion) is not supported",
    ),
    "incorrect_port_assignment": (
        "the environment variable {f} of {c} has the wrong port: it is {wrong} instead of {right}",
        "{c} is given {f}={wrong}, where nobody listens; it should be {right}",
        "deployment {c} has an incorrect {f} in its env, {wrong}",
        "a wrong value of the variable {f} ({wrong}) makes {c} connect to a dead port",
    ),
    "incorrect_image": (
        "{c} uses the image {wrong}, which does not exist (ImagePullBackOff)",
        "the deployment {c} references a non-existent image {wrong}",
        "{c} is in ImagePullBackOff as its image was changed to {wrong}",
        "wrong image {wrong} on deployment {c}; it cannot be pulled, should be {right}",
    ),
    "init_container_dependency_hang": (
        "{c} is stuck in Init:0/1: the init container wait-for-legacy-config waits for the service legacy-config-service, which does not exist",
        "an init container of {c} waits forever for legacy-config-service",
        "the init container wait-for-legacy-config blocks the {c} pods from starting",
        "{c} has an initContainer that hangs waiting for a non-existent dependency legacy-config-service",
    ),
    "silent_data_corruption": (
        "the disk of node {r} silently corrupts data, and {all} abort on checksum errors",
        "node {r} has a disk that returns wrong bytes without any I/O error; {all} panic because block checksums do not match",
        "silent data corruption on the data disk of {r} hits {all}",
        "{all}: WiredTiger checksum errors, because the disk of {r} flips bits",
    ),
    "latent_sector_error": (
        "the disk of node {r} returns I/O errors, which crashes {all}",
        "node {r} has a failing disk (read errors, EIO); {all} crash because their volumes are on it",
        "latent sector errors on the data disk of {r} hit {all}",
        "{all} fail with input/output errors reading their data from the bad disk on {r}",
    ),
    "internal_traffic_policy_local": (
        "the internalTrafficPolicy of Service {c} is Local, so callers on other nodes cannot connect",
        "Service {c} has internalTrafficPolicy={wrong} instead of {right}; it serves only pods on the same node",
        "somebody set internalTrafficPolicy: Local on the service {c}, and its clients run on nodes without a pod of it",
        "Service {c} only passes traffic to pods on the caller's own node (internalTrafficPolicy Local)",
    ),
    "mtu_blackhole_by_payload_size": (
        "veth_mtu in calico-config was changed to {wrong}: new pods of {c} have a larger MTU than the path between nodes, large answers are dropped",
        "MTU black hole: the CNI gives new pods an MTU that the underlay does not carry, so big answers of {c} never arrive",
        "Calico's veth_mtu is too large for the network between the nodes; responses of {c} above the path MTU hang",
        "the MTU of the pods' interfaces exceeds the path MTU, which hits large responses of {c}",
    ),
    "ephemeral_port_range_too_narrow": (
        "the sysctl net.ipv4.ip_local_port_range in {c} was narrowed to {wrong}, so it runs out of local ports",
        "{c} has too few ephemeral ports: ip_local_port_range is {wrong}",
        "ephemeral port exhaustion in {c}, whose securityContext.sysctls limits the local port range to {wrong}",
        "the local port range of the {c} pods is too small, so outgoing connections fail with cannot assign requested address",
    ),
    "connection_table_full": (
        "the nf_conntrack table on the node of {c} is full because another team's client opens connections without end, so new ones are dropped",
        "conntrack exhaustion on {c}'s machine: a benchmark client with -c {wrong} fills the connection tracking table",
        "table full, dropping packet: clients of another namespace hold all conntrack entries of the node where {c} runs",
        "too many tracked connections of another team's fleet on the node of {c}; nf_conntrack_max is reached",
    ),
    "file_descriptor_limit_too_low": (
        "the command of {c} sets ulimit -n {wrong}, so its process runs out of file descriptors and cannot accept connections",
        "{c} has an open files limit of {wrong}, which is lower than the connections it has to hold",
        "file descriptor exhaustion in {c}: the nofile limit is {wrong}",
        "the start command of {c} lowers the limit of open files too far, so accept fails with too many open files",
    ),
    "one_slow_node_gray_failure": (
        "the network link of node {r} loses packets, so {c} there is slow",
        "packet loss on {r}: requests to and from its pods, {c} among them, time out",
        "{r} is degraded by a lossy network link although it is Ready, which slows {c}",
        "node {r} drops packets and has many retransmissions; {c} runs on it",
    ),
    "empty_service_crashes_new_proxy": (
        "a new nginx proxy beside {c} cannot start, because an upstream, a headless Service of another team, has no endpoints and does not resolve",
        "the proxy sidecar of {c} ends with host not found in upstream: the Deployment behind that headless Service was scaled to zero",
        "an empty headless Service in another namespace keeps the proxies in new pods of {c} from starting",
    ),
    "stale_backend_on_some_nodes": (
        "kube-proxy on one node is stuck, so clients there are still sent to old pods of {c}",
        "the kube-proxy of a node hangs and its iptables rules for Service {c} are stale",
        "kube-proxy has stopped updating its rules on one node; connections to {c} from there go to pods that are gone",
        "stale iptables rules on one node lead to old addresses of {c}, because kube-proxy no longer syncs there",
    ),
    "liveness_probe_misconfiguration": (
        "{c}'s livenessProbe checks /healthz on port {port}, which nothing serves, so the kubelet keeps killing it",
        "the liveness probe of deployment {c} is misconfigured ({wrong})",
        "{c} restarts over and over since its liveness probe targets the wrong port {port}",
        "a wrong livenessProbe (httpGet {wrong}) on {c} makes the container restart",
    ),
    "foreign_endpoint_slice": (
        "the EndpointSlice {r} adds {wrong} to the Service of {c}, where nobody serves it",
        "a stray EndpointSlice {r}, managed by no controller, sends a share of the connections to {c} to the dead address {wrong}",
        "the Service {c} has a second, hand-made EndpointSlice {r} with {wrong}",
        "somebody left an EndpointSlice for {c} behind ({r}: {wrong}), so a part of its connections fails",
    ),
    "liveness_probe_too_aggressive": (
        "the liveness probe of {c} is too aggressive: the kubelet kills the container before it has started",
        "{c} is killed over and over because its livenessProbe leaves no time for the start ({wrong})",
        "the livenessProbe of deployment {c} has initialDelaySeconds 0 and failureThreshold 1, too impatient for a program that takes seconds to start",
        "{c} never gets up since its liveness probe gives up before it listens and there is no startup probe",
    ),
    "liveness_kills_under_load": (
        "the liveness probe of {c} waits behind the users' requests, so the kubelet kills pods that are only busy",
        "under load the livenessProbe of deployment {c} times out and kills its overloaded pods one after the other",
        "{c} never recovers from a surge of users since its liveness probe kills every pod that is overloaded",
        "the liveness probe of {c} shares the queue with user requests and has saturated pods killed ({wrong})",
    ),
    "memory_leak": (
        "{c} runs the image {wrong}, a build that leaks memory",
        "the deployment {c} was rolled out with the leaking image {wrong} in the place of {right}",
        "a memory leak in the build {wrong} of {c} has its container OOMKilled again and again",
        "{c} is OOMKilled whenever it has grown to its limit, because the image {wrong} leaks with every request",
    ),
    "missing_configmap": (
        "the ConfigMap {r} that {c} mounts was deleted",
        "{c} is stuck in ContainerCreating since configmap {r} does not exist",
        "ConfigMap {r} is missing; {c} cannot mount it (FailedMount)",
        '{c} cannot start: configmap "{r}" not found',
    ),
    "missing_env_variable": (
        "the environment variable {f} is missing from the container of {c}",
        "{c} lacks the env var {f} in its pod template",
        "someone removed {f} from the environment of deployment {c}",
        "the variable {f} was dropped from {c}'s env, so it has no address to use",
    ),
    "missing_secret": (
        "{c} references the Secret {c}-credentials, which does not exist (CreateContainerConfigError)",
        "the secret {c}-credentials is missing, so {c}'s container can't be created",
        "deployment {c} has env API_TOKEN from a secret that doesn't exist",
        '{c}: CreateContainerConfigError, secret "{c}-credentials" not found',
    ),
    "missing_service": (
        "the Service {r} is missing",
        "Service {r} was deleted, so its DNS name no longer resolves",
        "there is no Service named {r} any more although the {c} pods run",
        "the Kubernetes service for {c} does not exist",
    ),
    "priority_preempts_production": (
        "the pods of {c} were preempted by a tenant's pod with a higher priority, which it got from the global default PriorityClass {wrong}",
        "{c} has no priority class, so pods that get the default PriorityClass {wrong} outrank it and preempt it",
        "the scheduler preempted {c} for a batch pod: PriorityClass {r} is the global default and ranks it higher",
        "the priority of {c} is too low; a tenant ranked by the globalDefault {wrong} took its place",
    ),
    "rbac_misconfiguration": (
        "the ClusterRole {r} does not let the service account of {c} get its ConfigMap, so the init container gets 403",
        "RBAC of {c} is wrong: {r} grants {wrong} instead of {right}, and its init container is forbidden to read the ConfigMap",
        "{c}'s service account lacks the permission to get configmaps: the rules of ClusterRole {r} name {wrong}",
        "the rules of the ClusterRole {r} were changed to {wrong}, so the init container of {c} is refused by the API server",
    ),
    "missing_service_account": (
        "{c} uses the ServiceAccount {c}-runner, which does not exist, so its pods can't be created",
        "the deployment {c} references a missing service account {c}-runner",
        "pods of {c} are forbidden: serviceaccount {c}-runner not found",
        "serviceAccountName of {c} points to {c}-runner which doesn't exist",
    ),
    "namespace_memory_limit": (
        "the ResourceQuota {r} blocks {c}'s pods, as they declare no memory",
        "{c} cannot be re-created: exceeded quota / must specify memory for {r}",
        "a resource quota on memory ({r}) rejects new pods of {c}",
        "FailedCreate for {c}: quota {r} requires memory to be specified",
    ),
    "network_policy_block": (
        "the NetworkPolicy {r} denies all ingress and egress of {c}",
        "a deny-all network policy isolates {c}",
        "{c} is cut off by NetworkPolicy {r}",
        "networkpolicy/{r} blocks all traffic to and from {c}",
    ),
    "non_existent_node": (
        "{c} has a nodeSelector for the node extra-node, which does not exist",
        "the {c} pod is Pending: its nodeSelector kubernetes.io/hostname=extra-node matches no node",
        "deployment {c} is pinned to a non-existent node (extra-node)",
        "no node matches the node selector of {c}",
    ),
    "pvc_claim_mismatch": (
        "{c} references the PVC {wrong}, which does not exist, instead of {right}",
        "the claimName of {c}'s volume is {wrong} but the claim is called {right}",
        '{c} is Pending: persistentvolumeclaim "{wrong}" not found',
        "wrong persistentVolumeClaim name in deployment {c} ({wrong})",
    ),
    "readiness_probe_misconfiguration": (
        "{c}'s readinessProbe checks /healthz on port {port}, which nothing serves, so it never becomes Ready",
        "the readiness probe of deployment {c} is misconfigured ({wrong})",
        "{c} never gets Ready as its readiness probe uses the wrong port {port}",
        "a wrong readinessProbe on {c} keeps it out of its Service's endpoints",
    ),
    "resource_request_too_large": (
        "{c} requests {wrong} of memory, more than any node has, so it is Pending",
        "the memory request of {c} is too large ({wrong}); Insufficient memory",
        "{c} is unschedulable: its resources.requests.memory of {wrong} exceeds every node",
        "excessive memory request on deployment {c}",
    ),
    "resource_request_too_small": (
        "{c}'s memory limit of {wrong} is too low, so it is OOMKilled",
        "{c} is OOMKilled at start because of limits.memory={wrong}",
        "the memory limit of {c} is only {wrong}",
        "{c} crash loops with OOMKilled, exit code 137: insufficient memory limit",
    ),
    "revoke_auth_mongodb": (
        "in {c} the user admin lost its readWrite role",
        "the MongoDB user admin in {c} no longer has the readWrite permission on its database",
        "permissions of admin were revoked in {c}: not authorized to execute command",
        "the readWrite role was revoked from the database account admin in {c}",
    ),
    "scale_to_zero": (
        "{c} has been scaled to 0 replicas",
        "deployment {c} has replicas: 0",
        "the {c} deployment was scaled down to zero",
        "{c} has no replicas (desired 0)",
    ),
    "served_feature_flag": (
        "the flag {f} was turned on in ConfigMap {r}, so {c} fails by design",
        "ConfigMap {r} serves the feature flag {f} as {wrong} instead of {right}, which makes {c} return errors",
        "{c} misbehaves because the feature flag {f} is enabled in {r}",
        "somebody enabled the feature flag {f} in {r}; with it {c} answers wrongly",
    ),
    "service_dns_resolution_failure": (
        "the CoreDNS Corefile has a template block that returns NXDOMAIN for {c}",
        "CoreDNS answers NXDOMAIN for {c}.hotel-reservation.svc.cluster.local because of a template in its ConfigMap",
        "the coredns ConfigMap was changed so that the name {c} does not resolve",
        "DNS resolution of {c} is broken by a template rule in the Corefile",
    ),
    "stale_coredns_config": (
        "the CoreDNS Corefile has a rule that returns NXDOMAIN for every name of the namespace, {c} included",
        "CoreDNS answers NXDOMAIN for {c} and all other Services because of a block for the whole zone in its ConfigMap",
        "the coredns ConfigMap was changed so that no name of the application resolves, neither {c} nor any other",
        "DNS resolution of the whole namespace is broken by a stale rule in the Corefile",
    ),
    "service_port_mismatch": (
        "the Service {c} exposes port {wrong} instead of {right}",
        "the service port of {c} was changed to {wrong}, clients use {right}",
        "Service {c} listens on the wrong port {wrong}",
        "port mismatch on service {c}: {wrong} rather than {right}",
    ),
    "service_selector_mismatch": (
        "the selector of Service {c} matches no pods (extra label current_service_name)",
        "Service {c} has no endpoints because its selector contains current_service_name={c}",
        "wrong selector on service {c}",
        "the service {c} selects a label that no pod has, so it has no endpoints",
    ),
    "service_target_port_mismatch": (
        "the Service {c} has targetPort {wrong} but the pods listen on {right}",
        "Service {c} forwards to the wrong port {wrong} instead of {right}",
        "targetPort of service {c} is {wrong}",
        "the target port of {c}'s Service is misconfigured ({wrong}); connection refused",
    ),
    "service_wrong_pod_selection": (
        "the selector of Service {c} (service-route={c}) also matches pods of another workload",
        "Service {c} selects foreign pods as well, since they carry the label service-route={c}",
        "half of the connections to {c} go to the wrong pods because its Service selector is too broad",
        "service {c} has extra endpoints: pods of another deployment that share the label service-route",
    ),
    "sidecar_port_conflict": (
        "{c} has a sidecar container that binds the same port, so one crashes with address already in use",
        "a sidecar in the {c} pod conflicts on the port with the main container",
        "port conflict between the sidecar and the main container in deployment {c}",
        "an extra container named sidecar was added to {c} and both listen on the same port",
    ),
    "stale_host_alias": (
        "{c} has a hostAliases entry that maps its dependency to a dead IP 10.96.255.250",
        "the pod template of {c} contains a stale hostAliases entry (10.96.255.250)",
        "/etc/hosts in {c} overrides DNS through hostAliases and points to a wrong address",
        "a wrong host alias in deployment {c} sends its traffic to 10.96.255.250",
    ),
    "registry_credentials_expired": (
        "the login in the imagePullSecret {r} of {c} was rotated, and the registry refuses it, so new pods of {c} cannot pull",
        "{c} hangs in ImagePullBackOff because the registry credentials in Secret {r} are expired (401)",
        "the pull secret {r} holds a stale registry token; the valid one is in {right}",
        "{c}: registry login in {r} is no longer valid",
    ),
    "secret_rotation_stale_credentials": (
        "the password of user admin in {c} was rotated and {a} still logs in with the old one",
        "{a} presents a stale password to {c}; password authentication failed",
        "the database password of admin in {c} no longer matches what its client uses",
        "{c}: password of admin changed, clients not updated",
    ),
    "storage_user_unregistered": (
        "the user admin does not exist in {c}, so authentication fails",
        "the MongoDB account admin was removed from {c}",
        "{c}: the admin user was dropped; authentication failed",
        "the database user admin is missing in {c}",
    ),
    "taint_no_toleration": (
        "all worker nodes carry the taint dedicated=batch:NoSchedule, which {c} does not tolerate",
        "{c} is Pending: the nodes are tainted (dedicated=batch) and it has no toleration",
        "nodes have an untolerated taint {wrong}, so {c}'s pod cannot be scheduled",
        "a NoSchedule taint was put on the worker nodes; {c} has no matching toleration",
    ),
    "volume_node_conflict": (
        "{c} is pinned by its nodeSelector to a node other than the one with its volume (volume node affinity conflict)",
        "the nodeSelector of deployment {c} conflicts with the node affinity of its persistent volume",
        "{c} is Pending: volume node affinity conflict, since the nodeSelector pins it to the wrong node",
        "{c}'s pod is forced onto a node where its PV is not available, by nodeSelector",
    ),
    "webhooks_time_out_together": (
        "the policy {r} blocks the API server from the mutating webhooks, whose timeouts together exceed the deadline of a request, so {c}'s pod cannot be created",
        "{c} cannot be re-created: four webhooks with failurePolicy Ignore time out one after the other, because NetworkPolicy {r} lets only pods of kube-system in",
        "the pods of {c} are not created because several webhooks are waited for in turn, longer than a request may take; {r} keeps the API server out",
        "NetworkPolicy {r} no longer allows the API server to reach the admission webhooks, so creating pods of {c} runs into the deadline",
    ),
    "wrong_binary": (
        "the container of {c} runs the wrong command ({wrong}) instead of {c}",
        "deployment {c} has command: {wrong}, so it starts another service's binary",
        "{c} is running the {wrong} binary",
        "the command of {c} was changed to {wrong}",
    ),
    "wrong_dns_policy": (
        "{c} has dnsPolicy None with nameserver 8.8.8.8, so it cannot resolve cluster names",
        "the dnsPolicy of deployment {c} is None and bypasses the cluster DNS",
        "{c} uses an external nameserver (8.8.8.8) because of dnsPolicy: None",
        "wrong DNS configuration in {c}'s pod spec: dnsPolicy None instead of ClusterFirst",
    ),
    "host_port_conflict": (
        "the {c} pod asks for hostPort {wrong}, which is already taken on every node",
        "{c} is Pending because its hostPort conflicts with a DaemonSet that runs on all nodes",
        "deployment {c} declares hostPort {wrong} and no node has that port free",
        "a hostPort was added to {c} that is in use on each node",
    ),
    "kubelet_eviction_threshold": (
        "the kubelet of {r} has an eviction threshold of {wrong} for {f}, more than is free, so {c} stays Pending there",
        "{r} reports DiskPressure because its evictionHard {f} is {wrong}, and {c} is bound to it",
        "evictionHard on {r} is set too high ({f}: {wrong}), and the node selector binds {c} to it",
        "the eviction threshold {f} in the kubelet configuration of {r} is {wrong}, so {c} has no place",
    ),
    "node_clock_drift": (
        "the clock of node {r} is weeks off because chronyd is {wrong} there, so a valid certificate is refused and {c} is not ready",
        "time sync on {r} is switched off ({f} {wrong}); the system clock there is wrong and certificate checks of {c} fail",
        "{r}'s clock has drifted: the {f} service is stopped and {wrong}",
        "clock skew on {r}, where the pod of {c} runs: its NTP service {f} is {wrong}, and a certificate that is fine is refused there",
    ),
    "node_disk_filled_by_neighbour": (
        "{r} of another namespace fills the disk of the node through its hostPath, so the kubelet reports DiskPressure and {c} has nowhere to run",
        "the root disk of the node is full of recordings of {r}, which never removes any ({f} {wrong}), and pods there are evicted",
        "disk full on the machine: {r} writes segments to a hostPath without a bound",
        "{r} keeps every recording because {f} is {wrong}; it has used up the file system of its node, hence the disk pressure and the evictions",
    ),
    "node_pids_taken_by_neighbour": (
        "{r} of another namespace has used up all process IDs of the node with processes that it leaves behind ({f}), and {c} cannot be started there",
        "the machine is out of PIDs: {r} runs with {f}, its processes pile up, and every fork beside it fails with resource temporarily unavailable",
        "pid exhaustion on the node by {r}, whose jobs leave processes behind",
        "{r} leaks processes because of {f}; kernel.pid_max is exhausted on its machine, so pods there do not start",
    ),
    "kubelet_does_not_run": (
        "the kubelet on {r} is not running, the machine is up",
        "{r} is NotReady because its kubelet is dead",
        "the kubelet of {r} does not run: {wrong}",
        "kubelet.service of {r} is not running, and nobody has started it",
    ),
    "node_without_power": (
        "node {r} is down, and {all} have their local volumes on it",
        "{r} is NotReady, its kubelet stopped reporting; {all} cannot run elsewhere",
        "the machine {r} has failed, taking {all} with it",
        "node failure of {r}: {all} are bound to their volumes there",
    ),
    "pod_anti_affinity_deadlock": (
        "{c} has a required podAntiAffinity that no node satisfies",
        "the pod anti-affinity of {c} (topologyKey {wrong}) rules out every node",
        "{c} is Pending because of a required anti-affinity rule with topologyKey {wrong}",
        "an anti-affinity rule keeps {c} off all nodes, since they are one topology domain",
    ),
    "pod_security_restricted": (
        "namespace {r} enforces the Pod Security Standard restricted, which the pods of {c} violate, so they cannot be created",
        "{c} is not re-created because its pods violate PodSecurity restricted, which the namespace's enforce label demands",
        "the label pod-security.kubernetes.io/enforce={wrong} on namespace {r} forbids new pods of {c}",
        "somebody set the namespace to enforce PodSecurity restricted; the pods of {c} do not comply",
    ),
    "pool_times_replicas_exceeds_server": (
        "the connection pools of {r} use up all connections of {c} (max_connections), since {f} was raised to {wrong}",
        "too many clients in {c}: pgbouncer {r} keeps more connections open than max_connections allows, {f} is {wrong}",
        "pool size times replicas of {r} exceeds the connection limit of {c} after {f} went from {right} to {wrong}",
        "{c} is out of connection slots because the pooler {r} holds them; its {f} is {wrong}",
    ),
    "schema_contract_before_drain": (
        "a migration renamed column {right} to {wrong} while pods of the old build of {c} still serve, because its rollout stands still",
        "the schema change of the new release of {c} ({right} is {wrong} now) breaks the old pods, whose rollout is not finished",
        "{c}: old pods name a column {right} that the migration of the new build has renamed to {wrong}",
        "old pods of {c} fail as column {right} does not exist any more since the new build's migration",
    ),
    "edge_request_filter_cpu_saturation": (
        "a regular expression in the request filter of {c} ({r}) backtracks catastrophically and burns its CPU",
        "the regex {wrong} in {r} makes {c} spend all of its CPU on backtracking",
        "a WAF rule of {c} has a regex with nested quantifiers that takes millions of steps per path, so {c} is throttled",
        "ReDoS at the edge: the filter rule's expression {wrong} in ConfigMap {r} backtracks on ordinary paths of {c}",
    ),
    "kafka_producer_leak": (
        "{r} opens a new producer for every record, so {c} runs out of heap space and crashes",
        "producer leak in {r}: with {f}={wrong} each thread has a producer of its own, and their records fill the heap of {c}",
        "{c} dies of OutOfMemoryError because the producers of {r} are no longer reused",
        "too many Kafka producers in {r} ({f} was set to {wrong}) exhaust the broker {c}",
    ),
    "postgres_lock_contention": (
        "{r} holds an ACCESS EXCLUSIVE lock on a table of {c}, so all queries on it wait",
        "a transaction of {r} stays open in {c} and blocks every reader of the table by its lock",
        "lock contention in {c}: the session of {r} never releases its table lock",
        "queries of {c} wait for a table lock that {r} holds",
    ),
    "old_build_still_behind_service": (
        "the old deployment {r} still runs the build {wrong} behind the service of {c}",
        "a left-over deployment, {r}, with the old image {wrong} shares the service with {c}",
        "pods of {r} run the outdated image {wrong} and are among the endpoints of {c}, so a share of the requests fails",
        "two builds answer for {c}: its own one and the old build {wrong} of deployment {r}",
    ),
    "recurring_memory_cut": (
        "CronJob {r} keeps patching the memory limit of {c} down to {wrong}",
        "the cronjob {r} sets the memory limit of {c} to {wrong} at every run, so it is OOMKilled",
        "{c} is OOMKilled because CronJob {r} writes a memory limit of {wrong} into it again and again",
        "a recurring job, {r}, overwrites the memory limit of {c}",
    ),
    "rolling_update_misconfigured": (
        "the update strategy of {c} has maxUnavailable {wrong}, so the rollout removed every old pod at once",
        "{c}'s rollout strategy (maxUnavailable {wrong}) took all old pods away while the new ones hang in an init container",
        "deployment {c} allows maxUnavailable {wrong} and drained itself",
        "maxUnavailable {wrong} on {c} left no old pod serving when the new revision did not start",
    ),
    "valkey_auth_disruption": (
        "{c} was started with requirepass {wrong}, and no client has the password (NOAUTH)",
        "{c} requires a password that none of its clients was given",
        "requirepass is set on {c}; its clients get NOAUTH Authentication required",
        "{c} demands authentication since requirepass was set, and clients send none",
    ),
    "valkey_memory_disruption": (
        "maxmemory of {c} is set to {wrong}, far too low, so it refuses writes",
        "{c} runs with maxmemory {wrong} and answers writes with OOM command not allowed",
        "the args of {c} limit its maxmemory to {wrong}",
        "{c}: --maxmemory {wrong} is less than the server itself needs",
    ),
    "webhook_ca_mismatch": (
        "the caBundle of the admission webhook {r} holds another authority ({wrong}), so pods of {c} cannot be created",
        "{c} has no pod because the certificate of webhook {r} is signed by an authority that is not in its caBundle",
        "webhook {r} has the wrong CA bundle ({wrong} instead of {right}) and {c} is not re-created",
        "the API server does not trust the certificate of webhook {r}: its caBundle is that of {wrong}, and {c} gets no pod",
    ),
    "webhook_certificate_expired": (
        "the certificate of the admission webhook {r} has expired, so pods of {c} cannot be created",
        "{c} has no pod because the serving certificate of webhook {r} expired",
        "x509 certificate has expired: webhook {r} cannot be called and {c} is not re-created",
        "the webhook {r} has an expired TLS certificate that blocks new pods of {c}",
    ),
    "webhook_shrinks_limits": (
        "the mutating webhook {r} sets the memory limit of new pods of {c} to {wrong}, so they are OOMKilled",
        "{c} is OOMKilled because the admission webhook {r} lowers its memory limit to {wrong} at pod creation",
        "webhook {r} rewrites the memory limit of {c}'s pods to {wrong}, the deployment itself is right",
        "an admission webhook, {r}, caps the memory limit of {c} at {wrong}",
    ),
    "webhook_without_backend": (
        "the admission webhook {r} has no backend and failurePolicy Fail, so {c}'s pod cannot be created",
        "{c} cannot be re-created: calling the webhook {r} fails because its service is not found",
        "the pods of {c} are not created because the webhook {r}, which must answer, cannot be called",
        "a leftover webhook configuration {r} with failurePolicy Fail rejects every new pod of {c}",
    ),
}

Frame = Callable[[str, str], str]
"""A statement and the component's name, as somebody would hand them in."""


def _json(statement: str, component: str) -> str:
    return json.dumps({"component": component, "root_cause": statement, "affected": ["frontend"]})


FRAMES: dict[str, Frame] = {
    "plain": lambda s, c: f"{s[0].upper()}{s[1:]}.",
    "report": lambda s, c: (
        f"Summary: users see errors on the hotel search page.\n\nRoot cause: {s}.\n\nImpact: requests through "
        "frontend fail."
    ),
    "because": lambda s, c: f"Users get errors because {s}.",
    "markdown": lambda s, c: f"## Diagnosis\n- **Component**: `{c}`\n- **Root cause**: {s}\n",
    "json": _json,
    "cleared": lambda s, c: (
        f"I checked the node conditions and the events. Jaeger is healthy. The problem is that {s}."
    ),
}
"""Habits of writing."""
