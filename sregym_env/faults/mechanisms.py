"""The ontology of mechanisms: what kinds of cause there are, and how engineers say each.

A fault names its mechanism by key. A statement of a mechanism is made of concepts near each other
(:mod:`~sregym_env.faults.ways`), and says what is wrong with the configuration, the node or the account: mere symptoms
(``OOMKilled``, no endpoints, connections refused) state no mechanism. What is published about them, titles and
definitions, stands in :mod:`~sregym_env.tools.taxonomy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from sregym_env.faults.ways import matches, tagged
from sregym_env.faults.words import FIELDS
from sregym_env.tools.taxonomy import TAXONOMY


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One kind of cause."""

    key: str
    family: str
    """What it is about, for splits: mechanisms of one family teach each other."""
    ways: tuple[str, ...]
    """Any of these says it, whoever says it of whatever."""
    valued: tuple[str, ...] = ()
    """Any of these says it as well, of a fault whose own wrong value (``VALUE``) stands beside."""
    unlike: tuple[str, ...] = ()
    """Any of these says another thing in much the same words: "the Secret exists, but lacks a key"."""
    kinds: tuple[str, ...] = ()
    """Kinds of the objects in which one may rightly say that it lies."""
    kin: tuple[str, ...] = ()
    """Mechanisms that a right diagnosis of this one may come near to, because it works through them."""
    through: tuple[str, ...] = ()
    """Mechanisms that telling this one states by the way, of nobody in particular."""
    rivals: tuple[str, ...] = ()
    """Mechanisms that share words with this one and exclude it: who states both has guessed."""

    @property
    def title(self) -> str:
        """What it is, as published."""
        return TAXONOMY[self.key].title

    @property
    def definition(self) -> str:
        """When to choose it, as published."""
        return TAXONOMY[self.key].definition


_ALL = (
    Mechanism(
        "wrong_target_port",
        "service",
        (
            "target_port wrong|dead|instead|number",
            "target_port changed|absent /6",
            "port service forwards dead|wrong|contrast !probe|readiness_probe|liveness_probe|startup_probe !service_port !selector !host_alias /14",
            "port forwards dead|wrong|contrast !probe|readiness_probe|liveness_probe|startup_probe !service_port !selector !host_alias !policy !command /10",
            "port endpoints wrong|dead|contrast !probe|readiness_probe|liveness_probe|startup_probe !service_port !selector",
            "port service wrong !offers !probe|readiness_probe|liveness_probe|startup_probe !service_port !selector !host_alias !sidecar !address_in_use /8",
            "port service dead number !probe|readiness_probe|liveness_probe|startup_probe !service_port !selector !host_alias !sidecar !address_in_use !command|binary /12",
            "forwards number service dead|wrong !probe|readiness_probe|liveness_probe|startup_probe !host_alias !selector /12",
            "into_pod forwards !probe|readiness_probe|liveness_probe|startup_probe !host_port !sidecar !policy /12",
        ),
        valued=("VALUE port|listens|forwards|service|endpoints|dead",),
        unlike=(
            "service fine = /2",
            "published !target_port|forwards|into_pod|listens|host_port|pods",
            "health_path",
        ),
        kinds=("Service",),
    ),
    Mechanism(
        "wrong_service_port",
        "service",
        (
            "service_port wrong|instead|number|dead !target_port",
            "service_port changed !target_port /5",
            "port service offers wrong|instead|changed !dead !target_port !probe|readiness_probe|liveness_probe|startup_probe !forwards !sidecar|address_in_use /12",
            "port service wrong|instead !target_port !probe|readiness_probe|liveness_probe|startup_probe !forwards !selector !host_alias !sidecar !sidecar|address_in_use /9",
            "port clients wrong|contrast service|offers !probe|readiness_probe|liveness_probe|startup_probe !target_port !sidecar|address_in_use /12",
            "port_now service|clients !target_port !forwards !into_pod !probe|readiness_probe|liveness_probe|startup_probe !sidecar|address_in_use /14",
            "port dead service port_now !target_port !forwards !into_pod /16",
        ),
        valued=("VALUE service|port|offers|clients",),
        unlike=(
            "service fine = /2",
            "hands_on",
            "target_port wrong|instead|dead|number !fine",
            "health_path",
        ),
        kinds=("Service",),
        kin=("wrong_target_port",),
    ),
    Mechanism(
        "wrong_selector",
        "service",
        (
            "selector nopods|absent|extra !no_node|node_selector !own_selector",
            "selector wrong !no_node|node_selector !also !own_selector",
            "selector changed label|nopods /18 !own_selector",
            "service|selector selects_none /8 !own_selector",
            "label service nopods !node|no_node|also !shared /14 !own_selector",
            "service|selector selects nopods|label nopods|absent /12 !own_selector",
            "nopods label service|selector|selects !own_selector",
            "label wrong service|selector !shared !also !own_selector",
            "service selects nopods /16 !own_selector !foreign_pods|also|shared",
            "label extra service selects /14 !no_node|node_selector !own_selector !foreign_pods|also|shared",
        ),
        valued=("VALUE selector|selects|label|endpoints",),
        unlike=("own_selector wrong|label|selector",),
        kinds=(
            "Service",
            "Endpoints",
            "EndpointSlice",
        ),
        kin=("extra_endpoints",),
        rivals=("extra_endpoints",),
    ),
    Mechanism(
        "extra_endpoints",
        "service",
        (
            "selector also|foreign_pods|shared /14",
            "service|endpoints selects foreign_pods /12",
            "service selects also /8",
            "endpoints foreign_pods|also service|selector|selects !webhook /12",
            "label shared service|selector|pods|selects",
            "endpoints wrong service !port !probe !webhook /7",
            "foreign_pods service forwards|offers|selects|endpoints !webhook /12",
        ),
        valued=("VALUE selector|selects|label|endpoints|pods",),
        unlike=("selector|service selects_none /8",),
        kinds=(
            "Service",
            "Endpoints",
            "EndpointSlice",
        ),
        kin=("wrong_selector",),
        rivals=("wrong_selector",),
    ),
    Mechanism(
        "foreign_endpoint_slice",
        "service",
        (
            "endpoint_slice stray|dead|wrong|extra|also|foreign_pods !selector /16",
            "stray >endpoint_slice !selector /6",
        ),
        valued=("VALUE endpoint_slice|endpoints|stray|service",),
        kinds=("EndpointSlice", "Service", "Endpoints"),
        through=("extra_endpoints", "wrong_selector", "wrong_target_port"),
    ),
    Mechanism(
        "missing_service",
        "service",
        (
            "service = gone !endpoints|configmap|secret|service_account|claim /5 !nameserver|dns_policy|cluster_dns",
            "service = gone !endpoints|configmap|secret|service_account|claim|init_container|pods /2 !nameserver|dns_policy|cluster_dns",
            "service_object gone !endpoints|configmap|secret|service_account|claim|init_container|pods /8 !nameserver|dns_policy|cluster_dns",
            "gone >service_object !endpoints|configmap|secret|service_account|claim /2 !nameserver|dns_policy|cluster_dns",
            "lack = >service !configmap|secret|service_account|claim|selector /3 !nameserver|dns_policy|cluster_dns",
            "service no_component /4 !nameserver|dns_policy|cluster_dns",
        ),
        unlike=(
            "service present = /3",
            "workload_gone",
        ),
        kinds=("Service",),
    ),
    Mechanism(
        "scaled_to_zero",
        "admission",
        (
            "scaled_away !quota",
            "replicas zero !quota /6",
            "replicas changed zero /9",
            "replicas absent|lack = !endpoints|selector|quota /3",
        ),
        unlike=("replicas one_replica = /2",),
        kinds=("Deployment",),
    ),
    Mechanism(
        "unsatisfiable_node_selector",
        "scheduling",
        (
            "node_selector wrong|gone|no_node|unsatisfied !volume|conflict|memory_request !anti_affinity",
            "no_node pinned|node_selector|label !volume|taint|cordon|memory_request|cpu|memory /10",
            "node pinned gone !volume|taint|cordon|memory_request",
            "node_selector node gone|unsatisfied|wrong !volume|conflict",
            "label no_node pinned|node_selector|pods !volume",
        ),
        valued=("VALUE node_selector|pinned|no_node|gone|node",),
        kinds=(
            "Deployment",
            "Node",
        ),
        through=("wrong_selector", "extra_endpoints"),
        rivals=("node_down",),
        unlike=("node_selector unset = /2",),
    ),
    Mechanism(
        "wrong_command",
        "images",
        (
            "command wrong !role|not_authorized|probe|readiness_probe|liveness_probe|startup_probe",
            "command instead !role|not_authorized|probe|readiness_probe|liveness_probe|startup_probe /5",
            "command changed binary|VALUE !role|not_authorized",
            "runs binary wrong|instead !image|build /6",
            "binary wrong !image|build|data_files /6",
            "binary instead !image|build|data_files /3",
            "runs VALUE instead",
        ),
        valued=("VALUE command|binary|runs",),
        kinds=("Deployment",),
    ),
    Mechanism(
        "image_unavailable",
        "images",
        (
            "image unpullable|gone !data_files|bygone",
            "pull image wrong|gone|fails",
            "build unpullable|gone /5",
        ),
        valued=("VALUE image|build|pull|unpullable|runs|command !defective|bygone",),
        kinds=(
            "Deployment",
            "Image",
        ),
        kin=("defective_image",),
        unlike=("pullable",),
    ),
    Mechanism(
        "registry_login_refused",
        "images",
        (
            "pull_secret expired|rotated|stale|wrong|not_authorized|bygone|fails|absent",
            "secret|password|account expired|rotated|stale|wrong|not_authorized pull|image|registry",
            "registry not_authorized|refuses secret|password|account|pull_secret",
            "authentication pull|registry|image expired|rotated|stale|fails|wrong",
        ),
        valued=("VALUE pull_secret|registry|pull|expired|rotated",),
        kinds=("Secret", "Deployment", "ServiceAccount"),
        kin=("image_unavailable",),
        through=("image_unavailable", "stale_database_password", "missing_secret"),
    ),
    Mechanism(
        "defective_image",
        "images",
        (
            "build|image defective|fails /7 !pull|unpullable|data_files|incompatible",
            "image changed defective|fails|code_path !pull|unpullable|incompatible",
        ),
        valued=(
            "VALUE image|build|runs|upgraded",
            "VALUE defective|fails /9",
        ),
        kinds=(
            "Deployment",
            "Image",
        ),
        kin=(
            "image_unavailable",
            "incompatible_version",
            "wrong_command",
        ),
        unlike=("pull_fails",),
    ),
    Mechanism(
        "outdated_build_serves",
        "images",
        (
            "bygone build|image beside service|endpoints|selector|selects|offers|runs|label /16",
            "bygone_pods beside service|endpoints|selector|selects|offers|label /16",
            "bygone_pods build|image service|endpoints|selector|selects|offers|label|beside /16",
            "bygone_pods again build|image|service|endpoints|beside /16",
        ),
        valued=("VALUE beside|bygone_pods", "VALUE image|build bygone /14"),
        kinds=("Deployment", "Service", "Pod", "ReplicaSet", "Image"),
        kin=("defective_image", "image_unavailable"),
        through=("extra_endpoints",),
        unlike=("replaced_whole build|image /9",),
    ),
    Mechanism(
        "incompatible_version",
        "images",
        (
            "incompatib build|data_files|database|image",
            "incompatible build|data_files|image",
            "data_files build|upgraded|image incompatible|wrong|fails",
            "data_files contrast|incompatible build|image|upgraded|VALUE",
            "build upgraded database|data_files incompatible|wrong|contrast|fails",
            "build wrong data_files|database !account|role",
            "upgraded data_files !role|account",
            "upgraded database|image|build incompatible",
        ),
        valued=("VALUE data_files|incompatible|upgraded|build",),
        kinds=(
            "Deployment",
            "Image",
        ),
        kin=("defective_image",),
        unlike=("pull_fails",),
    ),
    Mechanism(
        "missing_config_key",
        "configuration",
        (
            "config_key absent config|configmap|address_key /12",
            "lack config_key|address_key config|configmap /12",
            "address_key absent|lack config|configmap|database /10",
            "config absent address_key|config_key",
            "named_key absent|lack|misnamed /10",
            "config_key|address_key misnamed config|configmap /10",
        ),
        valued=("VALUE absent|lack|misnamed !command|image|port",),
        unlike=(
            "config_key|address_key|named_key present = /3 !others",
            "config_key|address_key|named_key|config its_value /12",
        ),
        kinds=("ConfigMap",),
        kin=("missing_configmap",),
    ),
    Mechanism(
        "missing_configmap",
        "configuration",
        (
            "configmap gone !config_key|flag|named_key /7",
            "lack >configmap !config_key|flag|named_key /4",
            "volume configmap gone !config_key|named_key /12",
        ),
        valued=("VALUE gone !secret|claim|service_account",),
        unlike=(
            "configmap present = /3",
            "configmap lack >config_key|named_key /4",
        ),
        kinds=(
            "ConfigMap",
            "Deployment",
        ),
    ),
    Mechanism(
        "missing_variable",
        "configuration",
        (
            "variable|named_variable absent|lack|misnamed !configmap|config|flag /10",
            "lack >variable|named_variable !configmap|config|flag /6",
        ),
        valued=("VALUE absent|lack|misnamed !command|image|port|configmap",),
        unlike=("variable|named_variable present = /3 !others",),
        kinds=("Deployment",),
        kin=("wrong_variable",),
        through=("missing_config_key", "missing_service", "wrong_variable"),
    ),
    Mechanism(
        "wrong_variable",
        "configuration",
        (
            "variable|named_variable wrong|instead|twice !flag|configmap !on /14",
            "variable|named_variable dead|contrast|number !flag|configmap !on /12",
            "variable|named_variable changed port|number|address_key !flag|configmap !on /10",
        ),
        valued=("VALUE variable|named_variable|address_key|twice|port|dead",),
        kinds=("Deployment",),
        kin=("missing_variable",),
        through=(
            "wrong_target_port",
            "wrong_service_port",
            "missing_config_key",
            "missing_service",
        ),
    ),
    Mechanism(
        "config_fix_not_rolled_out",
        "configuration",
        (
            "configmap|config corrected not_taken|bygone|stale !secret|certificate|password|image|build /24",
            "corrected not_taken configmap|config|variable|config_key|address_key !secret|certificate|password|image|build /24",
            "configmap not_taken bygone !secret|image|build|endpoints|selector /16",
        ),
        valued=("VALUE not_taken|corrected|bygone|configmap|config",),
        kinds=("Deployment", "ConfigMap", "StatefulSet", "DaemonSet"),
        kin=("wrong_variable", "missing_config_key"),
        through=(
            "wrong_variable",
            "missing_variable",
            "missing_config_key",
            "missing_configmap",
            "missing_service",
            "wrong_target_port",
            "wrong_service_port",
        ),
    ),
    Mechanism(
        "failing_readiness_probe",
        "probes",
        (
            "readiness_probe wrong|dead|instead|asks",
            "readiness_probe >number|path /14",
            "readiness_probe changed /4",
            "probe ready wrong|dead|path|instead !kill !liveness_probe !startup_probe /16",
        ),
        valued=("VALUE readiness_probe|ready",),
        kinds=("Deployment",),
        through=("wrong_target_port",),
    ),
    Mechanism(
        "failing_liveness_probe",
        "probes",
        (
            "liveness_probe wrong|dead|instead|asks !impatient|busy|behind_requests",
            "liveness_probe >number|path !impatient|busy|behind_requests /14",
            "liveness_probe changed !impatient|busy|behind_requests /4",
            "probe kill wrong|dead|path|instead !ready !readiness_probe !startup_probe !impatient|busy|behind_requests /16",
        ),
        valued=("VALUE liveness_probe|kill",),
        kinds=("Deployment",),
        through=("wrong_target_port",),
    ),
    Mechanism(
        "impatient_liveness_probe",
        "probes",
        (
            "liveness_probe impatient /14",
            "probe kill impatient !ready !readiness_probe",
            "probe impatient kill|fails|again !ready !readiness_probe /16",
            "kill impatient probe|again /16",
            "probe_timing impatient|kill",
        ),
        valued=("VALUE liveness_probe|kill|impatient",),
        kinds=("Deployment",),
        through=("failing_liveness_probe", "impatient_retries"),
    ),
    Mechanism(
        "liveness_kills_under_load",
        "probes",
        (
            "liveness_probe|probe busy kill /26",
            "liveness_probe busy /14",
            "liveness_probe|probe behind_requests /20",
            "kill busy liveness_probe|probe /26",
        ),
        valued=("VALUE liveness_probe|kill|busy|behind_requests",),
        kinds=("Deployment",),
        kin=("impatient_liveness_probe",),
        through=(
            "impatient_liveness_probe",
            "impatient_retries",
            "cpu_throttling",
        ),
    ),
    Mechanism(
        "missing_volume_claim",
        "scheduling",
        (
            "claim gone|wrong !node_selector",
            "claim instead !node_selector|conflict|volume /5",
            "lack >claim /4",
            "claim changed wrong",
            "volume claim|database gone|wrong !node_selector|configmap|secret|conflict /8",
        ),
        valued=("VALUE claim|volume|gone",),
        kinds=(
            "Deployment",
            "PersistentVolumeClaim",
        ),
    ),
    Mechanism(
        "volume_node_conflict",
        "scheduling",
        (
            "node_selector volume other_node|conflict /22",
            "node volume pinned other_node /22",
            "volume node at_odds",
            "volume other_node node_selector|pinned node /18",
            "node_selector|pinned volume conflict|no_node /18",
            "node_selector volume /8",
        ),
        valued=("VALUE volume|other_node|conflict",),
        kinds=(
            "Deployment",
            "PersistentVolume",
            "PersistentVolumeClaim",
            "Node",
        ),
        kin=("unsatisfiable_node_selector",),
        through=("unsatisfiable_node_selector", "wrong_selector", "extra_endpoints"),
        unlike=("node_selector unset = /2",),
    ),
    Mechanism(
        "excessive_resource_request",
        "scheduling",
        (
            "memory_request high|number|wrong|changed !memory_limit|quota",
            "memory|cpu asks number|high !memory_limit|cpu_limit|quota|oom|limit /6",
            "memory|cpu asks high node !memory_limit|quota",
        ),
        valued=("VALUE memory_request|high|pending|asks|memory !memory_limit !oom",),
        kinds=("Deployment",),
        rivals=("webhook_unreachable",),
        unlike=(
            "oom memory|limit|kill",
            "throttled cpu",
        ),
    ),
    Mechanism(
        "memory_limit_too_low",
        "resources",
        (
            "memory_limit low|number|oom|wrong|changed !quota",
            "limit memory|oom low|number|changed|wrong !quota !cpu|throttled|memory_request",
            "oom memory low !quota",
            "oom low limit !cpu",
        ),
        valued=("VALUE memory_limit|oom|limit|low !memory_request|cpu|cpu_limit /16",),
        unlike=(
            "ephemeral limit|low|number",
            "unplaced !liveness_probe|readiness_probe",
        ),
        kinds=("Deployment",),
    ),
    Mechanism(
        "cpu_throttling",
        "resources",
        (
            "cpu_limit low|number|throttled|changed|wrong",
            "limit throttled|cpu low|number|changed|throttled|wrong !memory !oom",
            "throttled cpu low|limit|number",
        ),
        valued=("VALUE cpu_limit|throttled|limit|cpu !memory_request",),
        kinds=("Deployment",),
        unlike=("unplaced",),
    ),
    Mechanism(
        "rate_limit_too_low",
        "resources",
        (
            "rate_limit low|number|throttled|changed|wrong|instead|contrast !cpu_limit|memory_limit",
            "rate_limit retries|queue|headroom !cpu_limit|memory_limit",
            "retries headroom !cpu|memory",
            "limit throughput low|number|changed|wrong !cpu|memory",
        ),
        valued=("VALUE rate_limit|headroom|low|limit|throughput !memory_limit|cpu_limit|memory|cpu",),
        kinds=("Deployment",),
        through=("impatient_retries",),
    ),
    Mechanism(
        "impatient_retries",
        "resources",
        (
            "impatience retries|number|low|contrast|wrong|changed !rate_limit|probe|liveness_probe|readiness_probe|webhook|api_server|adds_up",
            "retries number|contrast|impatience|wrong|changed|unbounded !rate_limit|headroom|queue|probe|liveness_probe|readiness_probe /6",
            "attempts number|impatience|unbounded !rate_limit|headroom",
        ),
        valued=("VALUE impatience|retries|attempts !rate_limit|headroom|cpu_limit|memory_limit",),
        kinds=("Deployment",),
    ),
    Mechanism(
        "collector_overworked",
        "resources",
        ("collector low|number|wrong|changed|contrast|unbounded|cpu|throttled !memory_limit",),
        valued=("VALUE collector",),
        unlike=("collector unset = /2", "collector absent = /4"),
        kinds=("Deployment",),
        through=("cpu_throttling", "wrong_variable", "missing_variable"),
    ),
    Mechanism(
        "quota_blocks_pods",
        "admission",
        ("quota require|blocked|low|number|wrong|memory !limit_range",),
        valued=("VALUE quota|require|blocked|memory !limit_range",),
        unlike=(
            "quota counted /12",
            "limit_range memory|low",
            "oom",
            "unplaced memory",
        ),
        kinds=("ResourceQuota",),
        through=("excessive_resource_request", "scaled_to_zero"),
    ),
    Mechanism(
        "network_policy_isolation",
        "isolation",
        (
            "policy blocked|wrong|conflict|lack|absent",
            "policy blocked pods /16",
            "deny_all",
        ),
        valued=("VALUE policy|blocked",),
        kinds=("NetworkPolicy",),
        unlike=("one_way",),
    ),
    Mechanism(
        "local_traffic_only",
        "service",
        (
            "internal_traffic is_local|same_node|wrong|changed|instead",
            "service same_node !volume|claim|disk|host_network",
            "service is_local = node !volume|claim|disk",
        ),
        valued=("VALUE internal_traffic|same_node",),
        kinds=("Service",),
        through=("network_policy_isolation", "stale_service_rules"),
    ),
    Mechanism(
        "stale_service_rules",
        "service",
        (
            "kube_proxy stuck|stale|bygone|wrong|fails|dead|absent /14",
            "proxy_rules stale|bygone|stuck|wrong|dead|gone /14",
        ),
        valued=("VALUE kube_proxy|proxy_rules",),
        unlike=("kube_proxy works = /1",),
        kinds=("DaemonSet", "Pod", "Node"),
        kin=("foreign_endpoint_slice",),
        through=(
            "foreign_endpoint_slice",
            "extra_endpoints",
            "wrong_selector",
            "local_traffic_only",
            "outdated_build_serves",
        ),
    ),
    Mechanism(
        "proxy_upstream_unresolved",
        "names",
        (
            "upstream unresolved|headless|empty_service !nameserver|dns_policy|cluster_dns|nxdomain /28",
            "upstream proxy_sidecar gone|scaled_away /28",
            "proxy_sidecar unresolved|headless|empty_service !nameserver|dns_policy|cluster_dns /30",
            "headless scaled_away|unresolved|gone|fails|empty_service /28",
        ),
        valued=("VALUE upstream|proxy_sidecar|headless|empty_service|unresolved|scaled_away|sidecar",),
        kinds=("Deployment", "Service", "ConfigMap"),
        through=("scaled_to_zero", "missing_service", "extra_endpoints", "jobs_never_end"),
    ),
    Mechanism(
        "interface_mtu_too_large",
        "isolation",
        ("mtu !policy",),
        kinds=("ConfigMap", "DaemonSet", "Node", "Pod"),
        kin=("network_policy_isolation",),
        through=("lossy_machine",),
    ),
    Mechanism(
        "local_ports_exhausted",
        "resources",
        (
            "local_ports narrow|low|wrong|number|changed|exhausted_ports|instead|contrast !target_port|service_port|host_port",
            "exhausted_ports local_ports /14",
        ),
        valued=("VALUE local_ports|narrow|exhausted_ports /20",),
        kinds=("Deployment", "Pod"),
        unlike=("local_ports unset = /2",),
        through=("wrong_target_port", "wrong_service_port", "port_conflict"),
    ),
    Mechanism(
        "open_files_exhausted",
        "resources",
        (
            "open_files low|wrong|number|changed|exhausted_ports|narrow|instead|contrast",
            "exhausted_ports open_files /14",
            "open_files command /14",
        ),
        valued=("VALUE open_files|low|limit|narrow /20",),
        kinds=("Deployment", "Pod"),
        unlike=("open_files unset = /2",),
        through=("wrong_command", "cpu_throttling"),
    ),
    Mechanism(
        "producer_per_record",
        "resources",
        (
            "producers each_record|unbounded|piles_up|high|off /16",
            "producers exhausts|heap /18",
        ),
        valued=("VALUE producers|each_record",),
        kinds=("Deployment", "Pod"),
        through=("connections_exhausted", "memory_limit_too_low", "defective_image"),
    ),
    Mechanism(
        "backtracking_pattern",
        "resources",
        (
            "regex backtracks|cpu|throttled|high|wrong|defective|busy /20",
            "request_filter backtracks|cpu|throttled|busy /20",
            "backtracks request_filter|cpu|throttled /20",
        ),
        valued=("VALUE regex|backtracks|request_filter",),
        kinds=("ConfigMap", "Deployment"),
        kin=("cpu_throttling",),
        through=("cpu_throttling",),
    ),
    Mechanism(
        "connection_table_full",
        "resources",
        (
            "conntrack",
            "many_connections unbounded|number|wrong|changed|high|exhausted_ports /14",
        ),
        valued=("VALUE conntrack|many_connections /20",),
        kinds=("Deployment", "Node", "Pod"),
        through=("network_policy_isolation", "lossy_machine"),
    ),
    Mechanism(
        "lossy_machine",
        "disks",
        ("lossy !policy",),
        kinds=("Node",),
        through=("cordoned_nodes", "node_down"),
    ),
    Mechanism(
        "bypassed_cluster_dns",
        "names",
        (
            "public_dns !corefile|nxdomain !host_network",
            "resolution external !corefile|nxdomain !host_network",
            "dns_policy wrong|external|changed|instead|zero !host_network",
            "nameserver instead cluster_dns !host_network",
            "nameserver external|wrong|instead|dead !corefile|nxdomain !host_alias !host_network",
            "cluster_dns external !corefile !nxdomain !host_network",
            "dns_policy cluster_dns !host_network",
        ),
        valued=("VALUE dns_policy|nameserver|cluster_dns",),
        unlike=("host_network on|changed|dns_policy",),
        kinds=("Deployment",),
        kin=("dns_record_blocked",),
    ),
    Mechanism(
        "dns_record_blocked",
        "names",
        (
            "corefile nxdomain|tells !dns_policy",
            "nxdomain cluster_dns|corefile !dns_policy",
            "cluster_dns nxdomain|tells !dns_policy !nameserver|external",
        ),
        valued=("VALUE corefile|nxdomain|cluster_dns",),
        kinds=("ConfigMap",),
        kin=("bypassed_cluster_dns",),
    ),
    Mechanism(
        "stale_host_alias",
        "names",
        (
            "host_alias maps|wrong|dead|instead",
            "hosts_file maps|wrong|dead",
        ),
        valued=("VALUE host_alias|hosts_file|maps",),
        kinds=("Deployment",),
        through=(
            "wrong_target_port",
            "missing_config_key",
            "missing_service",
            "wrong_service_port",
        ),
        unlike=("host_alias unset = /2",),
    ),
    Mechanism(
        "port_conflict",
        "startup",
        (
            "sidecar address_in_use",
            "sidecar port conflict|address_in_use !service|probe|readiness_probe|liveness_probe|startup_probe",
            "sidecar >conflict port|address_in_use|number",
            "port conflict pods !service|target_port|service_port|probe|readiness_probe|liveness_probe|startup_probe|selector|dead",
            "address_in_use conflict sidecar|port",
        ),
        valued=("VALUE sidecar|conflict|port|address_in_use",),
        kinds=("Deployment",),
        unlike=("health_path",),
    ),
    Mechanism(
        "untolerated_taint",
        "scheduling",
        ("taint node|toleration|pending|number !tolerated",),
        valued=("VALUE taint|toleration|node|pending",),
        kinds=("Node",),
        unlike=("tolerated",),
    ),
    Mechanism(
        "cordoned_nodes",
        "scheduling",
        ("cordon",),
        kinds=("Node",),
        unlike=("other_nodes_well",),
    ),
    Mechanism(
        "blocked_init_container",
        "startup",
        ("init_container waits|absent|wrong|fails|blocked",),
        valued=("VALUE init_container|waits",),
        kinds=(
            "Deployment",
            "Service",
        ),
        through=("missing_service",),
    ),
    Mechanism(
        "database_permission_revoked",
        "credentials",
        (
            "role revoked !service_account|policy|configmap|secret",
            "lack >role !service_account|policy|configmap|secret",
            "revoked >account role !service_account|claim /9",
            "not_authorized account|role = /7",
        ),
        valued=("VALUE role|revoked|not_authorized",),
        unlike=(
            "role granted /3",
            "other_role revoked|lack",
            "other_user revoked|lack|role /6",
        ),
        kinds=("MongoDBAccount",),
        kin=("database_account_missing",),
        rivals=("database_account_missing",),
    ),
    Mechanism(
        "database_account_missing",
        "credentials",
        (
            "dropped_user !role|service_account",
            "account gone !role|service_account|secret|configmap|policy|claim /7",
            "lack = >account !role|service_account|secret|configmap|policy|claim /5",
            "authentication account gone|lack|wrong !role|service_account|secret /12",
        ),
        valued=("VALUE account|authentication|gone",),
        unlike=(
            "account present /3",
            "other_user gone|lack|account /5",
        ),
        kinds=("MongoDBAccount",),
        kin=("database_permission_revoked",),
        rivals=("database_permission_revoked",),
    ),
    Mechanism(
        "stale_database_password",
        "credentials",
        (
            "password rotated|stale|wrong|contrast !absent|gone /14",
            "account password rotated|stale|wrong /14",
            "authentication password rotated|stale /14",
        ),
        valued=("VALUE password rotated|stale|wrong",),
        unlike=("secret gone|absent = /4", "account gone|absent = /4"),
        kinds=("DatabaseAccount", "Secret", "Deployment"),
        kin=("database_account_missing",),
        through=("store_demands_password",),
        rivals=("database_account_missing", "database_permission_revoked"),
    ),
    Mechanism(
        "store_demands_password",
        "credentials",
        (
            "requirepass demands|nobody_has|changed|rotated|instead|on|clients|database /18",
            "password demands nobody_has /20",
            "authentication demands nobody_has|clients /16",
        ),
        valued=("VALUE requirepass|password|demands",),
        kinds=("Deployment", "StatefulSet", "ConfigMap"),
        kin=("stale_database_password", "database_account_missing"),
        through=("stale_database_password", "database_account_missing"),
    ),
    Mechanism(
        "schema_changed_under_old_pods",
        "images",
        (
            "schema_change column|table|database bygone_pods|bygone|half_rolled /40",
            "column absent|gone bygone_pods|bygone|half_rolled /30",
        ),
        valued=("VALUE column|schema_change bygone_pods|bygone|half_rolled /40",),
        kinds=("Deployment", "ConfigMap", "Pod", "ReplicaSet"),
    ),
    Mechanism(
        "table_lock_held",
        "resources",
        (
            "table_lock held|waits|blocked|open_transaction /16",
            "table held|blocked|waits open_transaction|table_lock /16",
            "open_transaction held|blocked|waits table|database /16",
        ),
        valued=("VALUE table_lock|held|waits|blocked|open_transaction",),
        kinds=("Job", "CronJob", "Deployment", "ConfigMap"),
    ),
    Mechanism(
        "connections_exhausted",
        "resources",
        (
            "pool too_many_clients /26",
            "pool connections high|number|exhausts /16",
            "too_many_clients replicas|number|high|exhausts !maxmemory|quota /16",
            "connections exhausts database|too_many_clients /18",
        ),
        valued=("VALUE pool|too_many_clients|connections",),
        kinds=("ConfigMap", "Deployment"),
        through=("rate_limit_too_low", "scaled_to_zero"),
    ),
    Mechanism(
        "store_memory_cap",
        "resources",
        ("maxmemory low|number|wrong|changed|blocked|limit /14",),
        valued=("VALUE maxmemory",),
        kinds=("Deployment",),
        kin=("memory_limit_too_low",),
        through=("memory_limit_too_low", "wrong_command"),
    ),
    Mechanism(
        "disk_read_errors",
        "disks",
        (
            "disk io_error|fails|wrong|defective !memory|quota|corrupt",
            "io_error node|volume|database !corrupt",
        ),
        valued=("VALUE disk|io_error",),
        kinds=("Node",),
    ),
    Mechanism(
        "disk_corrupts_data",
        "disks",
        ("corrupt disk|node|volume /16",),
        valued=("VALUE disk|corrupt",),
        kinds=("Node",),
        kin=("disk_read_errors",),
        through=("disk_read_errors",),
        rivals=("disk_read_errors",),
    ),
    Mechanism(
        "missing_service_account",
        "admission",
        (
            "service_account gone|wrong",
            "lack >service_account /4",
        ),
        valued=("VALUE service_account|gone|absent|lack|account !rbac",),
        unlike=(
            "service_account present /3",
            "service_account rbac /8",
        ),
        kinds=(
            "Deployment",
            "ServiceAccount",
        ),
        through=(
            "database_account_missing",
            "missing_permission",
        ),
    ),
    Mechanism(
        "wrong_source_of_truth",
        "service",
        (
            "source wrong|instead|target_port|service_port|changed",
            "rewrites again target_port|port|service",
            "cronjob|source rewrites target_port|port|service",
            "cronjob again target_port|port|service",
        ),
        valued=("VALUE source|cronjob", "VALUE rewrites again"),
        kinds=("ConfigMap", "CronJob", "Service"),
        kin=("wrong_target_port",),
        through=("wrong_target_port", "wrong_service_port", "recurring_overwrite"),
        unlike=("source|VALUE right_value /9",),
    ),
    Mechanism(
        "outranked_by_others",
        "scheduling",
        (
            "priority low|wrong|lack|absent|changed|instead|preempted|gone",
            "preempted priority|outranks",
            "outranks preempted|pending|pods",
        ),
        valued=("VALUE priority|preempted|outranks",),
        kinds=("Deployment", "StatefulSet", "PriorityClass", "Pod"),
        kin=("excessive_resource_request",),
        through=("excessive_resource_request",),
    ),
    Mechanism(
        "missing_permission",
        "admission",
        (
            "cluster_role lack|wrong|changed|gone|absent|revoked|instead /14",
            "rbac service_account lack|wrong|changed|gone|absent|not_authorized|revoked|blocked /18",
            "rbac configmap lack|wrong|gone|absent|not_authorized|revoked|blocked !account|secret /16",
            "service_account not_authorized configmap|init_container|cluster_role /14",
        ),
        valued=("VALUE rbac|service_account|cluster_role|not_authorized",),
        kinds=("ClusterRole", "Role", "RoleBinding", "ServiceAccount", "Deployment"),
        through=(
            "blocked_init_container",
            "database_permission_revoked",
            "missing_configmap",
            "missing_config_key",
        ),
        unlike=("service_account gone !rbac|cluster_role|configmap = /3",),
    ),
    Mechanism(
        "missing_secret",
        "configuration",
        (
            "secret gone|absent !service_account /14",
            "lack >secret /4",
        ),
        valued=("VALUE secret gone|absent|lack !wrong",),
        unlike=(
            "secret present /3",
            "secret lack >config_key|variable|named_key = /4",
        ),
        kinds=(
            "Deployment",
            "Secret",
        ),
        through=(
            "missing_variable",
            "wrong_variable",
            "missing_config_key",
        ),
    ),
    Mechanism(
        "feature_flag_enabled",
        "configuration",
        (
            "flag on|code_path|wrong|defective !absent",
            "code_path on|flag|variable|configmap !build|image",
            "variable on code_path|fails|defective",
        ),
        valued=("VALUE flag|on|code_path|variable",),
        unlike=("flag|variable off = /2", "variable absent = /2"),
        kinds=(
            "ConfigMap",
            "Deployment",
        ),
        kin=("missing_config_key",),
    ),
    Mechanism(
        "unsatisfiable_anti_affinity",
        "scheduling",
        (
            "anti_affinity no_node|unsatisfied|pending|wrong|blocked|require|gone",
            "anti_affinity topology_key|conflict|pods|changed",
            "topology_key unsatisfied|no_node|wrong|blocked",
        ),
        valued=("VALUE anti_affinity|topology_key",),
        kinds=("Deployment",),
        through=("unsatisfiable_node_selector", "untolerated_taint"),
        unlike=(
            "anti_affinity unset = /2",
            "anti_affinity soft /4",
        ),
    ),
    Mechanism(
        "webhook_unreachable",
        "admission",
        (
            "webhook unanswered|blocked|gone|dead|absent|fails|require|wrong|lack",
            "webhook service_object|service|endpoints gone|absent|unanswered|lack|dead /16",
        ),
        valued=("VALUE webhook",),
        kinds=("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"),
        through=(
            "missing_service",
            "scaled_to_zero",
            "quota_blocks_pods",
            "shrunk_at_admission",
            "network_policy_isolation",
        ),
        rivals=("excessive_resource_request",),
        unlike=("webhook_up",),
    ),
    Mechanism(
        "shrunk_at_admission",
        "resources",
        (
            "webhook rewrites",
            "webhook memory_limit|limit|memory low|changed|number|again",
            "rewrites memory_limit|limit|memory webhook",
        ),
        valued=("VALUE webhook",),
        kinds=("MutatingWebhookConfiguration", "ConfigMap"),
        kin=("memory_limit_too_low",),
        through=("memory_limit_too_low", "excessive_resource_request", "webhook_unreachable"),
    ),
    Mechanism(
        "recurring_overwrite",
        "resources",
        (
            "cronjob rewrites",
            "cronjob memory_limit|limit|memory low|changed|number|again",
            "rewrites again memory_limit|limit|memory !disk_full|fills_disk",
        ),
        valued=("VALUE cronjob",),
        kinds=("CronJob",),
        kin=("memory_limit_too_low",),
        through=("memory_limit_too_low", "excessive_resource_request"),
    ),
    Mechanism(
        "jobs_never_end",
        "admission",
        (
            "never_ends cronjob|job_run !table_lock|open_transaction|table|init_container /16",
            "sidecar never_ends !init_container /12",
            "piles_up cronjob|job_run !table_lock|open_transaction /12",
        ),
        valued=("VALUE never_ends|piles_up",),
        kinds=("CronJob", "Job"),
        kin=("quota_blocks_pods",),
        through=("quota_blocks_pods", "scaled_to_zero", "port_conflict", "blocked_init_container"),
    ),
    Mechanism(
        "autoscaler_counts_others",
        "resources",
        (
            "autoscaler averages foreign_pods|others_pods /26",
            "autoscaler overlaps /22",
            "autoscaler selector averages /26",
            "overlaps averages utilization /22",
        ),
        valued=("VALUE autoscaler|utilization averages|overlaps|foreign_pods|others_pods|selects /26",),
        kinds=("Deployment", "HorizontalPodAutoscaler"),
        through=(
            "cpu_throttling",
            "extra_endpoints",
            "wrong_selector",
            "excessive_resource_request",
            "scaled_to_zero",
        ),
    ),
    Mechanism(
        "certificate_expired",
        "credentials",
        ("certificate expired", "certificate wrong|dead|fails expired|again"),
        valued=("VALUE certificate",),
        kinds=("ValidatingWebhookConfiguration", "Secret"),
        through=(
            "webhook_unreachable",
            "missing_service",
            "quota_blocks_pods",
            "scaled_to_zero",
            "shrunk_at_admission",
            "network_policy_isolation",
        ),
        unlike=("webhook_up",),
    ),
    Mechanism(
        "untrusted_authority",
        "credentials",
        (
            "authority wrong|instead|contrast|stale|changed|absent|lack|unknown_ca",
            "certificate unknown_ca",
            "certificate wrong authority",
            "untrusted certificate|authority|webhook",
        ),
        valued=("VALUE authority|certificate|webhook",),
        kinds=("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "Secret"),
        kin=("certificate_expired",),
        through=("webhook_unreachable", "missing_service", "quota_blocks_pods"),
        rivals=("certificate_expired",),
    ),
    Mechanism(
        "admission_deadline_exceeded",
        "admission",
        (
            "webhook together deadline|waits /18",
            "adds_up deadline /8",
            "webhook policy deadline|unanswered|blocked /18",
            "api_server policy blocked|unanswered|deadline|lack|absent|wrong /14",
        ),
        valued=("VALUE policy|webhook|api_server",),
        kinds=("NetworkPolicy", "MutatingWebhookConfiguration"),
        through=(
            "network_policy_isolation",
            "webhook_unreachable",
            "missing_service",
            "quota_blocks_pods",
            "impatient_retries",
        ),
    ),
    Mechanism(
        "pod_security_enforced",
        "admission",
        (
            "pod_security blocked|wrong|changed|require|violates|contrast",
            "pod_security label",
        ),
        valued=("VALUE pod_security|label",),
        kinds=("Namespace",),
        through=("quota_blocks_pods", "webhook_unreachable"),
    ),
    Mechanism(
        "host_port_conflict",
        "scheduling",
        ("host_port conflict|wrong|no_node|pending|changed|number|require",),
        valued=("VALUE host_port",),
        kinds=("Deployment",),
        through=("port_conflict", "unsatisfiable_node_selector", "excessive_resource_request"),
        unlike=(
            "health_path",
            "host_port unset = /2",
        ),
    ),
    Mechanism(
        "unsafe_rollout_strategy",
        "startup",
        (
            "update_strategy wrong|number|high|gone|takes_all|blocked|changed",
            "takes_all update_strategy|pods|clients /14",
        ),
        valued=("VALUE update_strategy",),
        unlike=("max_surge zero|number|wrong !max_unavailable|takes_all = /3",),
        kinds=("Deployment",),
        kin=("blocked_init_container",),
        through=("blocked_init_container", "scaled_to_zero"),
    ),
    Mechanism(
        "node_down",
        "disks",
        ("node_dead",),
        valued=("VALUE node_dead",),
        kinds=("Node", "PersistentVolume"),
        kin=("disk_read_errors",),
        through=(
            "volume_node_conflict",
            "unsatisfiable_node_selector",
            "cordoned_nodes",
        ),
        rivals=("unsatisfiable_node_selector",),
    ),
    Mechanism(
        "eviction_threshold_too_high",
        "disks",
        ("eviction_threshold",),
        valued=("VALUE eviction",),
        unlike=("no_node node_selector|pinned", "node_selector node gone"),
        kinds=("Node", "Deployment"),
        kin=("kubelet_not_running",),
        through=("unsatisfiable_node_selector", "cordoned_nodes"),
    ),
    Mechanism(
        "disk_filled",
        "disks",
        (
            "disk_full writer|fills_disk|unbounded|exhausts|retention /16",
            "fills_disk",
            "writer unbounded|retention disk|host_path|eviction /16",
        ),
        valued=("VALUE disk_full|fills_disk|retention|host_path /20",),
        unlike=("eviction_threshold !disk_full|fills_disk",),
        kinds=("Node", "Deployment", "DaemonSet", "Pod"),
        kin=("eviction_threshold_too_high",),
        through=(
            "eviction_threshold_too_high",
            "unsatisfiable_node_selector",
            "cordoned_nodes",
            "volume_node_conflict",
        ),
    ),
    Mechanism(
        "pids_taken",
        "disks",
        (
            "pids_gone",
            "leaves_processes pids|node_unforked|defunct /16",
            "defunct pids|exhausts|unreaped|gathers|node_unforked /16",
            "unreaped jobs_of|defunct /16",
        ),
        valued=("VALUE pids|defunct|leaves_processes|gathers /20",),
        kinds=("Node", "Deployment", "DaemonSet", "Pod"),
        kin=("disk_filled",),
        through=("cordoned_nodes",),
    ),
    Mechanism(
        "clock_wrong",
        "disks",
        (
            "node_clock clock_astray /12",
            "time_service time_service_ended /12",
            "clock_drift",
        ),
        valued=("VALUE time_service|node_clock /20",),
        kinds=("Node",),
        through=(
            "certificate_expired",
            "untrusted_authority",
        ),
    ),
    Mechanism(
        "kubelet_not_running",
        "disks",
        ("kubelet_ended",),
        valued=("VALUE kubelet",),
        kinds=("Node",),
        kin=("node_down",),
        through=("node_down", "cordoned_nodes", "volume_node_conflict", "wrong_command"),
    ),
)

MECHANISMS: Mapping[str, Mechanism] = {mechanism.key: mechanism for mechanism in _ALL}
"""Every mechanism by key."""

STAYING = frozenset(
    {
        "outdated_build_serves", "schema_changed_under_old_pods", "foreign_endpoint_slice", "cordoned_nodes", "untolerated_taint", "network_policy_isolation",
        "quota_blocks_pods", "stale_host_alias", "table_lock_held", "webhook_unreachable",
    }
)  # fmt: skip
"""Mechanisms by which something is there that should not be: that it was never removed acquits nobody."""


@lru_cache(maxsize=64)
def unlike(key: str) -> tuple[str, ...]:
    """Ways of saying something that is easily taken for a mechanism, also that the very thing it is about is right."""
    mechanism = MECHANISMS[key]
    heads = [head for text in mechanism.ways for head in text.split()[0].split("|")]
    return (
        *mechanism.unlike,
        *(
            f"{head} reasonable = /1"
            for head in dict.fromkeys(heads)
            if head in FIELDS and head not in _HOLDERS and (key, head) not in _APART
        ),
    )


@lru_cache(maxsize=64)
def own_fields(key: str) -> frozenset[str]:
    """The fields that a mechanism is said of."""
    mechanism = MECHANISMS[key]
    words = [
        word for text in (*mechanism.ways, *mechanism.valued) for word in text.split() if word[0] not in "!/="
    ]
    return frozenset(concept for word in words for concept in word.lstrip(">").split("|"))


_HOLDERS = frozenset({"configmap", "secret", "service_account", "image", "policy", "quota", "taint"})
"""Objects that may be right in themselves where something else about them is wrong."""


def states(key: str, text: str) -> bool:
    """Whether a sentence in lower case states a mechanism, of whatever."""
    return bool(matches(MECHANISMS[key].ways, tagged(text)))


_APART = frozenset({("untrusted_authority", "certificate")})
"""What may be right in itself where a mechanism is about something beside it: a certificate is valid, and nobody trusts who signed it."""
