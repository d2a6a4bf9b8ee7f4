"""How engineers put a cause, by mechanism: several ways each.

The names in braces are facts of one fault (:mod:`~sregym_env.rollouts.policies.narrative.diagnosis`); a way that needs
a fact which a fault does not have, or which nobody has seen yet, is not taken.
"""

from __future__ import annotations

from collections.abc import Mapping

CAUSES: Mapping[str, tuple[str, ...]] = {
    "wrong_target_port": (
        "Service {name} forwards to targetPort {wrong}, and nothing in the pods of {the} listens there.",
        "The targetPort of Service {name} is {wrong}; {component} listens on {right}, so every new connection to it is "
        "refused.",
        "Nothing listens on port {wrong} in the pods of {component}, yet the targetPort of Service {name} points there.",
        "Connections to {component} are refused: Service {name} has a wrong targetPort, {wrong}.",
    ),
    "wrong_selector": (
        "Service {name} has no endpoints: its selector asks for {extra}, a label that none of its pods carries.",
        "The selector of Service {name} contains {extra}. No pod has that label and the Service selects no pods at all.",
        "The selector of Service {name} was changed to ask for {extra}; the selector matches no pod and the Service has "
        "no endpoints.",
        "A wrong selector on Service {name} ({extra}) leaves it without endpoints although the pods of {the} run.",
    ),
    "extra_endpoints": (
        "Service {name} also selects pods of {stranger}: it goes by the label {shared}, which both carry. A part of the "
        "connections meets pods that do not listen on port {port}.",
        "The selector of Service {name} is too broad: {shared} also matches pods of {stranger}, and these do not listen "
        "on port {port}.",
        "Some endpoints of Service {name} are not its own. Its selector {shared} also selects pods of {stranger}.",
    ),
    "missing_service": (
        "Service {name} does not exist any more. Its name no longer resolves although the pods behind it run.",
        "There is no Service {name}: it has been deleted, and clients cannot look it up.",
        "The Service object {name} is missing. Pods of {the} run, yet nothing can reach them by that name.",
        "Somebody deleted Service {name}; the service {name} is gone and its name cannot be resolved.",
    ),
    "scaled_to_zero": (
        "{Workload} is scaled to 0 replicas, and no pod of it runs.",
        "No pod of {component} runs: {workload} has its replicas set to 0.",
        "Somebody scaled {workload} down to zero replicas.",
        "The replicas of {workload} are set to 0; {component} has no pods at all.",
    ),
    "unsatisfiable_node_selector": (
        "{Workload} has a nodeSelector for {wrong}, and there is no such node: its pods stay Pending.",
        "The pods of {component} wait for a node that does not exist: the nodeSelector of {workload} demands {wrong}.",
        "Scheduling of {component} fails. Its pod template carries a nodeSelector ({wrong}) that no node satisfies.",
        "No node satisfies the nodeSelector {wrong} of {workload}, and its pods cannot be scheduled.",
    ),
    "wrong_command": (
        "The container of {workload} runs the wrong command, {wrong}, instead of {proper}.",
        "{Workload} runs the binary {wrong} instead of {proper}: the pod is Running and yet {component} is not there.",
        "Its command is wrong: the container of {workload} executes {wrong}, and nobody serves as {component}.",
        "The pods of {component} look well and run the wrong program. The command of {workload} was changed to {wrong}.",
    ),
    "image_unavailable": (
        "{Workload} uses the image {wrong}, which cannot be pulled: it does not exist.",
        "The image {wrong} of {workload} does not exist; its pods hang in ImagePullBackOff.",
        "The pods of {component} never start, for {workload} names a non-existent image, {wrong}.",
        "A wrong image ({wrong}) was set on {workload}; the kubelet cannot pull it and the container never starts.",
    ),
    "registry_login_refused": (
        "The login in the pull secret {name} of {the} was rotated, and the registry {host} refuses it: new pods cannot pull their "
        "image. The valid login stands in Secret {right}.",
        "The registry credentials in Secret {name}, with which {workload} pulls its image, are expired; {host} answers that they "
        "are not authorized. Secret {right} has the new ones.",
        "{Workload} cannot pull its image, because the credentials in its imagePullSecret {name} are stale: {host} refuses them "
        "since the rotation, whose result stands in {right}.",
    ),
    "defective_image": (
        "{Workload} runs a defective build: the image {wrong} fails after it starts.",
        "The image of {workload} was changed to {wrong}, a faulty build, and its container fails.",
        "A broken image is deployed: {workload} runs {wrong}, whose container does not stay up.",
    ),
    "outdated_build_serves": (
        "Deployment {name} still runs an old build of {component}, {wrong}, and its pods stand behind the same Service: they answer "
        "a share of the requests and lack what the callers ask for.",
        "An old build serves beside the current one: Deployment {name} runs {wrong}, and the Service of {component} selects its pods "
        "too.",
        "{Component} itself is right. The left-over Deployment {name} with the old image {wrong} has pods among the endpoints of "
        "its Service, and these fail the requests that they get.",
        "A part of the requests to {component} meets pods of the old Deployment {name}, whose build {wrong} lacks an operation.",
    ),
    "incompatible_version": (
        "{Workload} runs {wrong}, a version that is incompatible with the data files on its volume; the database exits "
        "at start.",
        "The database {component} was upgraded to {wrong}, which cannot read its existing data files and exits at once.",
        "An incompatible version, {wrong}, was rolled out to {workload}. The database refuses its old data files.",
        "The image {wrong} of {workload} is too new a version for its data files, and {component} exits at start.",
    ),
    "missing_config_key": (
        "ConfigMap {name} is mounted over {path} of {the} and lacks the key {field}; without it {component} fails at "
        "start.",
        "The key {field} is missing from ConfigMap {name}, which {the} mounts as {path}.",
        "The configuration of {component} lost a key: {field} is absent from ConfigMap {name} mounted at {path}.",
        "{Component} has no {meaning}: its ConfigMap {name} lacks the entry {field}.",
        "ConfigMap {name}, from which {component} takes its configuration, lacks the key {field}.",
    ),
    "missing_variable": (
        "The environment variable {field} is missing from {workload}; {component} has no {meaning} without it.",
        "{Workload} lacks the environment variable {field}, which {component} needs: its {meaning}.",
        "Nobody gives {component} its variable {field} any more: it is absent from the pod template of {workload}.",
        "{Component} has no {meaning}, because its environment lacks {field}.",
        "The variable {field} was dropped from the environment of {workload}.",
    ),
    "wrong_variable": (
        "The environment variable {field} of {workload} has the wrong value {wrong}.",
        "{Workload} is given a wrong {field}: the variable is {wrong}, where nobody serves.",
        "{Component} reads {wrong} from its environment variable {field}, which is wrong: nobody serves there.",
        "In the pod template of {workload} the variable {field} is wrong; what takes effect is {wrong}.",
    ),
    "config_fix_not_rolled_out": (
        "{Workload} still refers to ConfigMap {wrong}, where {setting} is {value}, which is wrong; the corrected one, {right}, was never "
        "rolled out.",
        "The fix of {setting} was never rolled out: it stands in ConfigMap {right}, and the pods of {component} still take their settings "
        "from {wrong}, where it is {value}.",
        "{Component} runs with an old configuration. ConfigMap {right} has the corrected {setting}, but {workload} still uses {wrong}.",
        "In the ConfigMap that {workload} still references, {wrong}, {setting} leads to {value}, where nobody serves; the newer, "
        "corrected ConfigMap {right} is not referenced by anybody.",
    ),
    "autoscaler_counts_others": (
        "The HorizontalPodAutoscaler {scaler} averages over idle pods of Deployment {sibling} as well, whose labels match the selector of "
        "{workload}: utilization looks low, and {component} is kept at too few pods.",
        "Autoscaler {scaler} counts pods of {sibling}. They match the selector of {workload}, use no CPU and ask for much, so it scales "
        "{component} in under its usual load.",
        "The selector of {workload} also matches the pods of {sibling}, so its autoscaler {scaler} includes these idle pods in its average "
        "and leaves {component} with too few.",
    ),
    "jobs_never_end": (
        "The Jobs of CronJob {name} never complete: their sidecar container {wrong} goes on when the task is done, and the pods that "
        "are left behind use up ResourceQuota {quota}, so no pod of {component} can be created.",
        "CronJob {name} runs {wrong} as a regular container beside its task. It never exits, so no run of it ends, and its pods have "
        "piled up until the quota {quota} had no room for {component}.",
        "Every run of CronJob {name} leaves a pod that keeps running, because its sidecar {wrong} never terminates; they fill the "
        "quota {quota} of the namespace and {component} gets no pods.",
    ),
    "connections_exhausted": (
        "The connection pools of {pooler} ({elsewhere}) exhaust the connections of {component}: {pods} pods keep {size} each, and its "
        "max_connections is {most}; {field} is {wrong} instead of {right}.",
        "{Component} has no connection slots left, because the poolers {pooler} in namespace {elsewhere} hold them: {field} was raised "
        "from {right} to {wrong}, and pool size times pods is more than max_connections.",
        "Too many clients: Deployment {pooler} (namespace {elsewhere}) keeps pools of {size} connections in {pods} pods, more connections "
        "than {component} takes, since {field} was set to {wrong}.",
    ),
    "missing_configmap": (
        "ConfigMap {name} does not exist, and the pods of {component} that mount it hang in ContainerCreating.",
        "The ConfigMap {name} has been deleted, and new pods of {component}, which mount it, never start.",
        "A volume of {the} refers to the ConfigMap {name}, which does not exist any more.",
        "The pods of {component} cannot mount their volumes: ConfigMap {name} is missing.",
    ),
    "failing_readiness_probe": (
        "The readinessProbe of {workload} asks for {path} on port {port}, which {component} does not serve; its pods "
        "never become Ready and the Service has no endpoints.",
        "A misconfigured readiness probe, HTTP {path} on port {port}, keeps the pods of {component} out of their Service.",
        "The pods of {component} run and are never Ready: the readiness probe of {workload} goes to {path} on port "
        "{port}, where nothing answers.",
        "{Workload} has a readiness probe on {path}, port {port}. Nothing serves that, and the probe always fails.",
        "The readinessProbe of {workload} asks for {asked}, which {component} does not have: its pods never become Ready.",
    ),
    "failing_liveness_probe": (
        "The livenessProbe of {workload} asks for {path} on port {port}, which {component} does not serve; the kubelet "
        "kills the container over and over.",
        "A misconfigured liveness probe, HTTP {path} on port {port}, has the kubelet restart {component} again and again.",
        "{Component} is killed although it works: the liveness probe of {workload} goes to {path} on port {port}, where "
        "nothing answers.",
        "{Workload} has a liveness probe on {path}, port {port}. Nothing serves that, and each failure restarts it.",
        "The livenessProbe of {workload} asks for {asked}, which {component} does not have; the kubelet kills the container "
        "over and over.",
    ),
    "impatient_liveness_probe": (
        "The livenessProbe of {workload} ({delay} {period} {failures}) leaves no time for the start: the kubelet kills the "
        "container before it has started, again and again.",
        "{Component} never gets to start, for its liveness probe is too impatient: {delay} {period} {failures}, and no startup probe.",
        "{Workload} is killed by its own liveness probe before it listens: {delay}, {period} and {failures} are over before "
        "it has started.",
        "The liveness probe of {workload} asks too soon ({delay} {period} {failures}), so the kubelet kills the "
        "container while it is starting.",
    ),
    "liveness_kills_under_load": (
        "The liveness probe of {workload} waits behind the users' requests: under load it is late, the kubelet kills pods that are only "
        "busy, and those that are left are overloaded in turn ({period} {failures}).",
        "Since a surge of users the liveness probe kills every overloaded pod of {component}; whoever comes back has the load of all and "
        "is killed before the others are there ({period} {failures}).",
        "{Component} is not dead, only busy: its liveness probe stands in the same queue as the requests, times out under load, and has "
        "the kubelet kill one pod after the other.",
    ),
    "missing_volume_claim": (
        "{Workload} references the PersistentVolumeClaim {wrong}, which does not exist; its pods stay Pending.",
        "The claimName in {workload} is wrong: the PVC {wrong} does not exist, and its pod cannot be scheduled.",
        "The pods of {component} wait for a volume claim that does not exist: {workload} names {wrong}.",
        "A wrong claim name, {wrong}, in the volumes of {workload} keeps {component} Pending.",
    ),
    "volume_node_conflict": (
        "The {pinned} of {workload} pins it to {other}, where its volume is not: a volume node affinity conflict "
        "keeps its pods Pending.",
        "{Workload} must run on {other} by its {pinned}, and its volume lies on another node. No node satisfies "
        "both.",
        "The pods of {component} are Pending with a volume node affinity conflict: the {pinned} of {workload} says "
        "{other}, where its data are not.",
    ),
    "excessive_resource_request": (
        "The memory request of {workload} is {wrong}, more than any node has; its pods stay Pending.",
        "{Workload} has a memory request of {wrong}. No node can give that, and the scheduler reports Insufficient "
        "memory.",
        "The pods of {component} cannot be scheduled: a memory request of {wrong} exceeds the capacity of every node.",
        "Somebody raised the memory request of {workload} to {wrong}, which exceeds every node's capacity.",
    ),
    "memory_limit_too_low": (
        "The memory limit of {workload} is {wrong}, less than {component} needs; it is OOMKilled whenever it starts.",
        "{Workload} has a memory limit of only {wrong}: the kernel kills the container as soon as it starts.",
        "The container of {component} is OOMKilled again and again: its memory limit is {wrong}.",
        "A memory limit of {wrong} is too low for {component}, whose container is OOMKilled at every start.",
    ),
    "cpu_throttling": (
        "The CPU limit of {workload} is {wrong}, far less than its load needs; the container is throttled and its "
        "requests time out.",
        "{Workload} has a CPU limit of only {wrong}: it is throttled, and requests to {component} queue up.",
        "The pods of {component} are up and too slow. Their CPU limit is {wrong}, and the kernel throttles them.",
        "{Component} is starved of CPU by the CPU limit {wrong} of {workload}.",
    ),
    "rate_limit_too_low": (
        "{field} of {workload} is {wrong}, less than its load: requests expire in its queue, and their retries keep it full.",
        "{Workload} limits its requests per second to {wrong} ({field}), fewer than come; retries keep its queue full.",
        "A rate limit of {wrong} on {component} ({field}) is too low for the load: what it works off has expired.",
        "The QPS limit of {component} is {wrong}, too low for its callers, whose retries keep it saturated.",
    ),
    "impatient_retries": (
        "{Workload} gives up its RPCs after {patience} and retries each {wrong} times ({field}): its retries keep {callee} overloaded.",
        "The retry policy of {workload} is far too aggressive: {wrong} retries ({field}) and a time-out of {patience}, a storm that "
        "sustains itself at {callee}.",
        "{Component} has a time-out of only {patience} per call and {wrong} retries, so {callee} works for calls that were given up.",
        "A retry storm from {component} to {callee}: {field} is {wrong} while each attempt has only {patience}.",
    ),
    "collector_overworked": (
        "{Workload} has {field}={wrong}: its garbage collector runs all the time and takes the CPU that requests need.",
        "The garbage collector of {component} uses up its CPU limit, because of {field}={wrong}.",
        "{Workload} runs with {field}={wrong}, so that collecting garbage costs more CPU than its requests.",
        "{Component} spends its CPU on garbage collection: somebody set {field}={wrong}.",
    ),
    "quota_blocks_pods": (
        "ResourceQuota {name} limits memory in {namespace} to {memory}; pods that declare no memory are refused, and "
        "the pods of {component} cannot be created again.",
        "A ResourceQuota, {name}, refuses new pods that do not declare their memory: {the} has lost its pod and gets no "
        "other.",
        "{Workload} cannot create pods: the quota {name} on memory ({memory}) says that they must specify memory.",
        "New pods of {component} are forbidden by the ResourceQuota {name}, for they declare no memory.",
    ),
    "foreign_endpoint_slice": (
        "The EndpointSlice {name}, which no controller keeps, adds {wrong} to Service {target}; {component} is not served "
        "there, so a share of its connections fails.",
        "A stray EndpointSlice, {name}, lists {wrong} as endpoints of Service {target}, and nobody serves {component} there.",
        "Service {target} has a second EndpointSlice beside the controller's own: {name} adds {wrong}, where connections to "
        "{component} fail.",
        "Somebody left the EndpointSlice {name} behind. It bears the label of Service {target} and sends a part of the "
        "connections to {address}, where {component} is not served.",
    ),
    "local_traffic_only": (
        "Service {name} has internalTrafficPolicy {wrong}: it passes traffic only to pods on the caller's own node, and callers "
        "elsewhere time out.",
        "The internalTrafficPolicy of Service {name} is {wrong}, so {component} is reached only from its own node.",
        "Callers on other nodes cannot reach {component}: Service {name} is {wrong} in its internalTrafficPolicy; its endpoints "
        "are ready.",
    ),
    "interface_mtu_too_large": (
        "{field} in ConfigMap calico-config was raised to {wrong}, so pods created since have an MTU that the path between nodes does "
        "not carry: large answers of {component} are black-holed, small ones pass.",
        "The CNI's MTU is too large for the network between the nodes. New pods of {component} send packets that are dropped without "
        "an ICMP message, and their callers time out.",
        "MTU black hole: calico-config says {wrong} where the underlay carries less, so whatever {component} answers in more than one "
        "packet never reaches a caller on another node.",
    ),
    "local_ports_exhausted": (
        "The sysctl {field} in the pod template of {component} was narrowed to {wrong}, so its pods run out of ephemeral ports and dial "
        "with EADDRNOTAVAIL.",
        "{component} has too few local ports. {field} is {wrong}, all of them are in use or in TIME_WAIT.",
        "Ephemeral port exhaustion in {component}: its securityContext sets ip_local_port_range to {wrong}.",
    ),
    "connection_table_full": (
        "The pods of Deployment {component} open connections without end ({field} {wrong}) and have filled the conntrack table of node {node}: "
        "new connections there are dropped.",
        "nf_conntrack: table full on node {node}. {component} was told to hold {wrong} connections, and nobody else finds an entry.",
        "Conntrack exhaustion on {node}, caused by the {wrong} connections that {component} keeps open.",
    ),
    "open_files_exhausted": (
        "The command of {component} sets ulimit -n {wrong}: its process runs out of file descriptors and accepts no more connections.",
        "The limit of open files of {component} is {wrong}, too low for the connections that its users keep. The rest waits and times out.",
        "File descriptor limit of {component} is too low ({wrong}), so accept fails with EMFILE.",
    ),
    "lossy_machine": (
        "The network link of node {node} loses packets. The node is Ready, but every request to or from its pods is slow or times "
        "out, those of {component} too.",
        "Node {node} is degraded: packet loss on its link delays whatever enters or leaves it, among it {component}.",
        "Packets are lost on the link of node {node}, which is Ready all the while. {component} stands there and is slow.",
    ),
    "stale_service_rules": (
        "kube-proxy on node {node} is stuck: its rules still send clients there to old pods of {component}, which are gone. Service "
        "{target} and its endpoints are right.",
        "The kube-proxy of {node} no longer updates its rules. Whoever calls {component} from that node is sent to pods that have "
        "been replaced; other nodes are fine.",
        "Stale iptables rules on {node}, where kube-proxy hangs: connections to Service {target} end at addresses of pods that are "
        "no more.",
    ),
    "proxy_upstream_unresolved": (
        "New pods of {component} are not ready: their nginx proxy {proxy} cannot start, because the headless Service {gone} in namespace "
        "{elsewhere}, one of its upstreams, has no endpoints and does not resolve.",
        "Service {gone} of namespace {elsewhere} is headless and empty. It is an upstream of the proxy beside {component}, and nginx does "
        "not start with an upstream that it cannot resolve; proxies that were started before live on.",
        "The proxy {proxy} in the pods of {component} ends with host not found in upstream: nothing is behind the headless Service {gone} "
        "in {elsewhere} any more.",
    ),
    "network_policy_isolation": (
        "NetworkPolicy {name} selects the pods of {component} and allows {allowed}; their connections time out.",
        "The pods of {component} are cut off by the NetworkPolicy {name}, which allows {allowed}.",
        "The NetworkPolicy {name} blocks connections of {component}, which runs: it allows {allowed}.",
        "A NetworkPolicy called {name} isolates the pods of {component} from what they need. It allows {allowed}.",
    ),
    "bypassed_cluster_dns": (
        "The pods of {workload} have dnsPolicy {wrong} and ask {nameserver}, which does not know the cluster's names.",
        "{Workload} has dnsPolicy {wrong} with the nameserver {nameserver}; {component} cannot resolve the names of other "
        "services.",
        "Looking up service names fails in {component}: its dnsConfig sends all questions to {nameserver} (dnsPolicy "
        "{wrong}).",
        "{Component} does not use the cluster's name server. Its dnsPolicy is {wrong} and its nameserver {nameserver}.",
        "The pods of {workload} have dnsPolicy {wrong}: the name server that they ask does not know the cluster's names.",
    ),
    "dns_record_blocked": (
        "CoreDNS answers NXDOMAIN for {host}: its Corefile contains a rule for that name.",
        "The Corefile in ConfigMap kube-system/coredns has a rule by which {host} is NXDOMAIN; the existing Service {service} "
        "cannot be looked up.",
        "Clients cannot resolve Service {service}: a rule in the Corefile of CoreDNS denies {host}.",
    ),
    "port_conflict": (
        "{Workload} has an extra container, {wrong}, that listens on port {port} like the main one; the two conflict and "
        "the pod is never Ready.",
        "Two containers of {workload} want the same port, {port}: the {wrong} container and the main one. One of them "
        "crashes with address already in use.",
        "A sidecar in the pods of {component} takes port {port}, which {component} itself needs: a port conflict.",
        "Port {port} is already in use in the pods of {component}, for the container {wrong} of {workload} listens on it.",
    ),
    "untolerated_taint": (
        "All worker nodes carry the taint {wrong}, which the pods of {component} do not tolerate; they stay Pending.",
        "The pods of {component} cannot be scheduled: every worker node has the taint {wrong} and they have no "
        "toleration for it.",
        "Somebody tainted the worker nodes with {wrong}. New pods of {component} do not tolerate that and stay Pending.",
    ),
    "blocked_init_container": (
        "The init container {init} of {workload} waits for {service}, a Service that does not exist; the pods hang in "
        "Init:0/1.",
        "{Workload} never gets past its init container {init}, which waits for {service} for ever.",
        "The pods of {component} hang in Init: the init container {init} looks for {service}, and there is no such name.",
        "An init container, {init}, blocks {workload}. It waits for the Service {service}, which nobody has made.",
    ),
    "database_permission_revoked": (
        "In {component}, the user {account} lost the role {role} on the database {database}; {clients} is not authorized "
        "to use it.",
        "The account {account} of the {component} database no longer has {role} on {database}, and its client is not "
        "authorized.",
        "Permissions were revoked in {component}: the user {account} lacks {role} on {database}.",
        "{Component} answers that its client is not authorized: the role {role} on {database} is missing from the user "
        "{account}.",
    ),
    "database_account_missing": (
        "In {component}, the user {account} does not exist any more; authentication of {clients} fails.",
        "The account {account} is missing from the {component} database, and its client fails to authenticate.",
        "{Component} has no user {account}: the account was removed and logins with it fail.",
        "Authentication fails at {component}, whose user {account} no longer exists.",
    ),
    "store_demands_password": (
        "{Component} requires a password since {field} was set, and no client was given it: commands get NOAUTH Authentication "
        "required.",
        "Somebody set {field} {wrong} on {component}; its clients send no password and are answered with NOAUTH.",
        "{Component} was started with {field}: it demands a password that none of its clients has.",
    ),
    "stale_database_password": (
        "The password of the user {account} of {component} was rotated; {clients} still logs in with the old password and is refused.",
        "A stale password is used for {account} at {component}: it was changed in the database, and authentication of {clients} fails.",
        "In {component} the password of {account} is no longer the one that {clients} has: a rotation reached one side only.",
    ),
    "schema_changed_under_old_pods": (
        "The migration of the new build of {component} renamed column {field} to {wrong} while pods of the old build still serve, and "
        "the rollout does not get ahead: the old pods fail, because the column does not exist.",
        "{Workload} runs two builds at once, as its rollout stands still, and the database has been migrated for the new one: old pods "
        "name column {field}, which is called {wrong} now.",
        "A schema change came before the old pods of {component} were gone: column {field} is {wrong} now, and only the new build knows that.",
    ),
    "table_lock_held": (
        "{Writer} keeps a transaction open that holds an ACCESS EXCLUSIVE lock on {table} in {component}, and all queries on that table wait.",
        "Queries on {table} wait for a lock: a session of {writer} holds the table of {component} in an open transaction.",
        "In {component} the table {table} is locked (AccessExclusiveLock) by a session of {writer}, which never commits.",
    ),
    "producer_per_record": (
        "{Writer} opens a new Kafka producer for every record in {workers} threads ({field}={wrong}), so that {component} runs out of heap space.",
        "The producers of {writer} are not reused any more ({field} is {wrong}): one is opened per record, and their records fill the heap of {component}.",
        "{Component} dies of OutOfMemoryError, as {writer} leaks producers: it opens one for each record that it sends.",
    ),
    "backtracking_pattern": (
        "Rule {rule} of the request filter of {component} (ConfigMap {config}) has a regular expression that backtracks catastrophically on ordinary paths and burns its CPU.",
        "The regular expression {wrong} of request filter rule {rule} backtracks: {component} spends its whole CPU limit on it, and every request waits.",
        "{Component} is throttled because of the filter rule {rule} in {config}: its regex takes millions of steps of backtracking for a path.",
    ),
    "store_memory_cap": (
        "{Workload} starts its server with maxmemory {wrong}, less than it needs for itself, and all writes are refused.",
        "The maxmemory of {component} is set to {wrong}: too low, so that every write is answered with OOM command not allowed.",
        "{Component} refuses writes, because its maxmemory setting ({wrong}) is smaller than what an empty server takes.",
    ),
    "disk_corrupts_data": (
        "The data disk of node {node} silently corrupts what is read from it: blocks have wrong checksums, and {components} abort.",
        "{Components} keep their data on the disk of node {node}, which returns other bytes than were written; the checksums do not "
        "match, though no read fails.",
        "Silent data corruption on the disk of node {node}: WiredTiger finds checksum errors and {components} panic.",
    ),
    "disk_read_errors": (
        "The data disk of node {node} is bad: reads fail with input/output errors and crash the databases whose volumes "
        "lie there, {components}.",
        "Reads from the disk of node {node} return input/output errors, which crashes {components}: their volumes lie on "
        "that node.",
        "{Components} crash on read errors. Their volumes lie on node {node}, whose disk has bad sectors.",
    ),
    "wrong_service_port": (
        "Service {name} is offered on port {wrong} instead of {right}, the service port its clients use; their "
        "connections time out.",
        "The service port of {name} is {wrong}. Its clients connect to another port, on which Service {name} does not "
        "listen.",
        "Clients of {component} run into timeouts: Service {name} has the wrong service port, {wrong}.",
    ),
    "missing_service_account": (
        "{Workload} uses the service account {wrong}, which does not exist; no pod of it can be created.",
        "The serviceAccountName of {workload} is {wrong}. There is no such service account, and its pods are forbidden.",
        "No pod of {component} can be created: {workload} names the non-existent service account {wrong}.",
        "A missing service account, {wrong}, keeps {workload} from creating pods.",
    ),
    "wrong_source_of_truth": (
        "The source of truth is wrong: ConfigMap {name} says targetPort {wrong} for the Service of {component}, and CronJob {writer} "
        "({elsewhere}) applies it at every run; {component} listens on {right}.",
        "CronJob {writer} in namespace {elsewhere} keeps applying a wrong desired state: its source, ConfigMap {name}, has targetPort "
        "{wrong} for the Service of {component} instead of {right}.",
        "Whoever mends the Service of {component} is reverted: the desired state in ConfigMap {name}, which {writer} applies again "
        "and again, says targetPort {wrong}.",
    ),
    "outranked_by_others": (
        "The pods of {component} were preempted: the pods of Deployment {tenant} in namespace {elsewhere} have a higher priority "
        "({field}: {rank}), and no room is left on node {node} for {the}.",
        "{Workload} is outranked. The scheduler evicted its pods for {tenant} of namespace {elsewhere}, whose pods have a higher "
        "priority ({field} {rank}), and their replacements stay Pending.",
        "The priority of {component} is too low: by the {field} {rank} pods of the tenant {tenant} ({elsewhere}) rank higher, "
        "preempted its pods and took the memory of node {node}.",
    ),
    "missing_permission": (
        "ClusterRole {name} does not let the service account {account} get ConfigMap {settings} ({field}: {wrong}): the init "
        "container {init} of {workload} is refused with 403 and no new pod starts.",
        "RBAC is wrong: the {field} of ClusterRole {name} are {wrong} instead of {right}, so that {init}, the init container of "
        "{component}, may not read ConfigMap {settings}.",
        "The service account {account} lacks a permission. ClusterRole {name} grants {wrong} where {right} is needed, and the API "
        "server answers 403 to the init container of {workload}.",
    ),
    "missing_secret": (
        "{Workload} takes the variable {variable} from the Secret {secret}, which does not exist; the container hangs in "
        "CreateContainerConfigError.",
        "The Secret {secret}, to which the container of {workload} refers, does not exist.",
        "The container of {component} is never created: its variable {variable} comes from a missing Secret, {secret}.",
        "A secretKeyRef in {workload} names the Secret {secret}, which nobody made, so the container cannot be created.",
    ),
    "cordoned_nodes": (
        "All worker nodes are cordoned: a replaced pod of {component} finds no node and stays Pending.",
        "The pods of {component} stay Pending, for every worker node is unschedulable (SchedulingDisabled).",
        "Somebody cordoned all of the worker nodes. They are unschedulable, and new pods of {component} stay Pending.",
        "{Component} has nowhere to run: the worker nodes are cordoned (unschedulable) and its new pods stay Pending.",
    ),
    "stale_host_alias": (
        "A hostAliases entry in {workload} maps {host} to {address}, where nothing listens; {component} cannot reach "
        "{host}.",
        "The pods of {component} have {host} in /etc/hosts with a wrong address, {address}, from the hostAliases of "
        "{workload}.",
        "{Component} looks {host} up in its own hosts file: the hostAliases of {workload} send it to {address}, where "
        "nothing is.",
    ),
    "feature_flag_enabled": (
        "ConfigMap {name} sets the flag {field}={wrong}, which turns on a code path of {component} that fails.",
        "The feature flag {field} is on ({wrong}) in ConfigMap {name}; with it {component} answers with internal server "
        "errors.",
        "{Component} runs a latent code path that fails, for the flag {field} is set to {wrong} in ConfigMap {name}.",
    ),
    "unsatisfiable_anti_affinity": (
        "{Workload} has a required podAntiAffinity by the topology key {wrong}, and all nodes are one domain of it: no node satisfies the rule and its pods stay Pending.",
        "The pod anti-affinity of {workload} goes by {wrong}, which every node shares, so no node satisfies it.",
        "Pods of {component} cannot be scheduled: a required anti-affinity with topologyKey {wrong} rules out every node.",
    ),
    "webhook_unreachable": (
        "The admission webhook {name} cannot be called, for its Service does not exist, and its failurePolicy is Fail: the pods of {component} cannot be created.",
        "Webhook {name} points to a Service that does not exist. With failurePolicy Fail no pod of {component} is admitted.",
        "New pods of {component} are refused because the webhook {name} is unreachable and must not fail (failurePolicy Fail).",
    ),
    "shrunk_at_admission": (
        "The mutating admission webhook {name} sets the memory limit of every new pod to {wrong}, less than {component} needs.",
        "Pods of {component} are created with a memory limit of {wrong}: the webhook {name} rewrites it at admission, {workload} declares no such thing.",
        "Webhook {name} caps the memory of {component} at {wrong} when its pods are admitted, whatever {workload} says.",
    ),
    "recurring_overwrite": (
        "CronJob {name} writes a memory limit of {wrong} into {workload} every time it runs.",
        "The memory limit of {workload} is set to {wrong} by CronJob {name}, which overwrites whatever is put there.",
        "Every run of CronJob {name} patches {workload} to a memory limit of {wrong}; raised by hand it is overwritten again.",
    ),
    "certificate_expired": (
        "The serving certificate of the admission webhook {name} has expired, so that no pod of {component} can be created.",
        "Nobody has renewed the certificate of the webhook {name}: it has expired and pods of {component} are not admitted.",
        "Pods of {component} cannot be created, because the certificate of the webhook {name} has expired.",
    ),
    "untrusted_authority": (
        "The caBundle of the admission webhook {name} holds the authority {wrong}, but {right} has signed the certificate of its "
        "server, so that no pod of {component} can be created.",
        "Webhook {name} is not trusted: its certificate comes from {right}, and the caBundle in its configuration is that of "
        "{wrong}. Pods of {component} are not admitted.",
        "Pods of {component} cannot be created, because the caBundle of webhook {name} is another authority's, {wrong} instead of {right}.",
    ),
    "admission_deadline_exceeded": (
        "NetworkPolicy {name} in namespace {elsewhere} blocks the API server from the webhooks {webhooks}: each is waited for, and their "
        "timeouts together exceed the deadline of a request, so that no pod of {component} can be created.",
        "The mutating webhooks {webhooks} time out one after the other, longer together than a request may take, because NetworkPolicy "
        "{name} ({elsewhere}) blocks the API server from them. Pods of {component} cannot be created.",
        "Pods of {component} cannot be created: the webhooks {webhooks} are unreachable for the API server, which NetworkPolicy {name} "
        "blocks from them, and together they run into the deadline.",
    ),
    "pod_security_enforced": (
        "Namespace {name} enforces the Pod Security Standard {wrong} (label {field}), which the pods of {component} do not meet, so they "
        "cannot be created.",
        "The label {field}={wrong} of namespace {name} forbids the pods of {component}: they violate the Pod Security Standard.",
        "Pods of {component} cannot be created, because namespace {name} enforces PodSecurity {wrong}.",
    ),
    "host_port_conflict": (
        "{Workload} asks for hostPort {wrong}, which is taken on every node; its pods stay Pending.",
        "The hostPort {wrong} of {workload} conflicts with an agent that has that port on every node.",
        "Pods of {component} find no node: their hostPort {wrong} is taken everywhere.",
    ),
    "unsafe_rollout_strategy": (
        "{Workload} has an update strategy with maxUnavailable {wrong}, which took every old pod away before a new one was ready.",
        "The update strategy of {workload} allows maxUnavailable {wrong}: the rollout took all old pods away at once, and the new ones hang in their init container.",
        "Its rollout drained {workload}: maxUnavailable is {wrong}, so no old pod was kept while the new ones hang.",
    ),
    "node_down": (
        "Node {node} is down and its kubelet has stopped reporting; {components} cannot run anywhere else, since their volumes are local to it.",
        "The machine {node} has failed and is NotReady: {components} have their volumes on it and cannot move.",
        "{Components} are lost with the node {node}, which is NotReady: the node is down and their data lie there.",
    ),
    "eviction_threshold_too_high": (
        "The kubelet of node {node} evicts by {field} {wrong}, more than is free of its disk; so it reports DiskPressure and {component} stays Pending.",
        "An eviction threshold of the kubelet on {node} is too high ({field}: {wrong}), so {component}, bound to that node, has nowhere to run.",
        "{Workload} is bound to {node}, whose kubelet has the eviction threshold {field} at {wrong} and takes its disk for full.",
    ),
    "disk_filled": (
        "{writer} in another namespace records without a bound into a hostPath of node {node} ({field} {wrong}): the disk there is full, so its "
        "kubelet reports DiskPressure and evicts the pods of others, {components} among them.",
        "The disk of node {node} is full: {writer} writes to {folder} and never removes anything, for {field} is {wrong}.",
        "Another team's recorder {writer} fills the root disk of {node} through its hostPath {folder} ({field} {wrong}), which is why pods are evicted there.",
    ),
    "pids_taken": (
        "{asker} in another namespace, on node {node}, runs its jobs with {field} and leaves processes behind without end, until the machine has "
        "none of its process IDs (pid_max {bound}) left for {components}.",
        "Node {node} has run out of PIDs: the processes of {asker} pile up there, for {field} is set, and nothing can be started beside them.",
        "Another team's job runner {asker} uses up the process IDs of {node} ({field} in its arguments), so pods of {components} cannot run there.",
    ),
    "clock_wrong": (
        "The clock of node {node} is days {direction}, because its time service chronyd ({field}) is stopped and {wrong}; the certificate in Secret "
        "{secret} is fine, but it is refused there, so pods of {component} on that node are not ready.",
        "On {node} the time service {field} is {wrong} and does not run: the system clock there has drifted, and {sidecar} refuses a valid certificate.",
        "{Workload} is not ready since the node clock of {node} runs {direction} of the true time, with {field} {wrong}.",
    ),
    "kubelet_not_running": (
        "The kubelet on node {node} is not running ({field} {wrong}), while the machine is up; {components} cannot run anywhere else.",
        "The kubelet of {node} does not run ({field}: {wrong}); so the node is NotReady, though the machine and its containers go on.",
        "On {node} the kubelet has ended ({field} {wrong}): {components} are out of their Services until it runs again.",
    ),
}
"""Ways to put each mechanism, one or two sentences without an end of their own."""
