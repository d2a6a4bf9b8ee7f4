"""The ontology of mechanisms: what kinds of cause there are, and the words engineers use for each.

A fault names its mechanism by key; the judge looks for its phrases in a diagnosis, and for those of other
mechanisms to see whether a wrong kind of cause was claimed. Phrases are regular expressions for
lower-case text with single spaces. Several phrases may hold for one sentence: that is no contradiction,
only a mechanism none of whose :attr:`Mechanism.kin` is the right one is a wrong claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One kind of cause."""

    key: str
    title: str
    family: str
    """What it is about, for splits: mechanisms of one family teach each other."""
    phrases: tuple[str, ...]
    """Any of these says it."""
    kin: tuple[str, ...] = ()
    """Mechanisms that a right diagnosis of this one may name as well, because it works through them."""


_ALL = (
    Mechanism(
        "wrong_target_port",
        "A Service forwards to a port on which nothing listens",
        "service",
        (
            r"target ?-?port",
            r"(wrong|incorrect|invalid|mis-?configured|bad|mismatch\w*|non-?listening) (service |container |backend )?port",
            r"port (mismatch|mis-?configur\w+)",
            r"(forward|rout|point|send|direct)\w* (traffic |requests |connections )?to (a |the )?(wrong |port )",
        ),
    ),
    Mechanism(
        "wrong_selector",
        "A Service's selector matches no pod",
        "service",
        (
            r"selector (\w+ ){0,6}(no|any|not|none|wrong|mismatch\w*|extra|incorrect|match\w*)",
            r"(wrong|incorrect|bad|mis-?configured|mismatch\w*|extra|additional|invalid|modified|broken) (\w+ ){0,2}(selector|label)",
            r"selector mismatch|label mismatch",
            r"(no|empty|without|zero|lacks?) (ready )?endpoints",
            r"selects? no pods?",
        ),
        kin=("extra_endpoints",),
    ),
    Mechanism(
        "extra_endpoints",
        "A Service's selector also matches pods of another workload",
        "service",
        (
            r"selector (\S+ ){0,8}(too broad|also|both|multiple|other|wrong|over-?match\w*|captur\w+|includ\w+)",
            r"(selects?|match\w*|captur\w+|includ\w+|rout\w+|balanc\w+) (\w+ ){0,8}pods? (\w+ ){0,4}(of|from|belonging)",
            r"(wrong|incorrect|foreign|unrelated|other|extra|both) (\w+ ){0,3}(pods?|endpoints?|backends?)",
            r"(overly|too) broad (\w+ )?selector",
            r"shared label",
            r"also (match\w*|select\w*|captur\w+|includ\w+|pick\w*|point\w*|rout\w+)",
            r"(carry|carries|have|has|share|shares) (it|the label|that label|the same label)( \w+)? (too|also|as well)",
        ),
        kin=("wrong_selector",),
    ),
    Mechanism(
        "missing_service",
        "A Service does not exist",
        "service",
        (
            r"service (\S+ ){0,5}(is|was|has been|does not|doesn'?t|has gone|went|no longer) (\w+ ){0,2}(missing|deleted|removed|exist\w*|gone)",
            r"(missing|deleted|absent|non-?existent|removed) (the )?(kubernetes |k8s )?(\S+ )?service",
            r"(no|without( a)?|lacks?( a)?) (\S+ )?service (object|resource|named|exists)",
            r"deletion of (the )?(\S+ )?service",
        ),
    ),
    Mechanism(
        "scaled_to_zero",
        "A workload has been scaled to no replicas",
        "admission",
        (
            r"scal\w+ (\w+ )?(down )?to (0|zero)",
            r"(0|zero|no) (desired )?(replicas?|pods are desired)",
            r"\breplicas? ?(count|number|field)? ?(is|was|are|were|set to|=|:|to|of) ?(0|zero)",
        ),
    ),
    Mechanism(
        "unsatisfiable_node_selector",
        "Pods ask for a node that does not exist",
        "scheduling",
        (
            r"node ?-?selector",
            r"non-?existent node|node (\S+ )?(that )?(does not|doesn'?t|not) exist",
            r"node (affinity|name)",
            r"(pinned|assigned|bound|restricted|constrained) to (a |the )?(\S+ ){0,3}node",
        ),
    ),
    Mechanism(
        "wrong_command",
        "A container runs the wrong program",
        "images",
        (
            r"(wrong|incorrect|different|bad|mis-?configured|another) (\w+ )?(binary|command|entry ?-?point|executable|program|process)",
            r"(command|entry ?-?point|binary) (\S+ ){0,6}(wrong|incorrect|instead|changed|set to|mis-?configured|overrid\w+)",
            r"(runs?|running|executes?|executing|starts?|starting|launch\w+) (the )?\S+ (binary |command |service |program |process |executable )?(instead|rather)",
        ),
    ),
    Mechanism(
        "image_unavailable",
        "A container image cannot be pulled",
        "images",
        (
            r"image ?pull ?back ?off|err ?image ?pull|invalid ?image ?name",
            r"(wrong|incorrect|non-?existent|invalid|bad|bogus|missing|unavailable|mis-?configured|unknown) (\w+ ){0,2}(image|tag)",
            r"image (\S+ ){0,6}(does not|doesn'?t|not|cannot|can'?t|can not|couldn'?t|could not) (exist|be pulled|found|be found|pull)",
            r"(unable|fail\w*|cannot) to pull|pull\w* (\w+ )?(the )?image",
        ),
        kin=("defective_image",),
    ),
    Mechanism(
        "defective_image",
        "A container runs a broken build of its image",
        "images",
        (
            r"(faulty|buggy|bad|broken|defective|wrong|incorrect|mis-?configured|unofficial|different|changed|unexpected) (\w+ ){0,3}(image|build|version|release|tag)",
            r"image (\S+ ){0,6}(bug\w*|fault\w*|broken|wrong|defective|instead|changed|replaced|incorrect)",
        ),
        kin=("image_unavailable", "incompatible_version", "wrong_command"),
    ),
    Mechanism(
        "incompatible_version",
        "A database was moved to an incompatible version, which cannot read its data files",
        "images",
        (
            r"incompatib\w+",
            r"(feature ?compatibility ?version|fcv)",
            r"upgrad\w+",
            r"(wrong|newer|unsupported|too new|major) (\w+ ){0,3}version",
            r"version (\w+ )?(mismatch|jump|bump)",
        ),
        kin=("defective_image",),
    ),
    Mechanism(
        "missing_config_key",
        "A configuration file lacks a key",
        "configuration",
        (
            r"(missing|lacks?|lacking|without|removed|absent|lost|dropped|no|deleted|omits?) (\S+ ){0,6}(key|entry|field|setting|address|property|value)",
            r"(key|entry|field|setting|address|property) (\S+ ){0,5}(missing|absent|removed|lost|dropped|deleted|omitted|empty)",
            r"config\w* ?(map)? (\S+ ){0,4}(drift\w*|incomplete|missing|lacks?|omits?)",
        ),
        kin=("missing_configmap",),
    ),
    Mechanism(
        "missing_configmap",
        "A ConfigMap that pods mount does not exist",
        "configuration",
        (
            r"config ?-?map (\S+ ){0,6}(missing|deleted|removed|not found|absent|gone|does not exist|doesn'?t exist|non-?existent)",
            r"(missing|deleted|removed|absent|non-?existent|deletion of|lost)( the)? (\S+ ){0,2}config ?-?map",
            r"config ?-?map \S+ not found",
        ),
    ),
    Mechanism(
        "failing_readiness_probe",
        "A readiness probe asks for something the program does not serve",
        "probes",
        (r"readiness ?-?probe", r"readiness (check|endpoint|health)"),
    ),
    Mechanism(
        "failing_liveness_probe",
        "A liveness probe asks for something the program does not serve",
        "probes",
        (r"liveness ?-?probe", r"liveness (check|endpoint|health)"),
    ),
    Mechanism(
        "missing_volume_claim",
        "Pods reference a PersistentVolumeClaim that does not exist",
        "scheduling",
        (
            r"(pvc|persistent ?volume ?claim|claim ?name|volume claim|claim) (\S+ ){0,8}(missing|not found|does not exist|doesn'?t exist|non-?existent|wrong|incorrect|mismatch\w*|invalid)",
            r"(missing|non-?existent|wrong|incorrect|mismatch\w*|invalid|mis-?named|bad) (\w+ ){0,3}(pvc|persistent ?volume ?claim|claim ?name|claim)",
            r"pvc (claim )?mismatch",
        ),
    ),
    Mechanism(
        "volume_node_conflict",
        "A volume lies on another node than the one its pods are held on",
        "scheduling",
        (
            r"volume node affinity",
            r"(pv|persistent ?volume|volume) (\S+ ){0,8}(different|another|other|wrong) node",
            r"node ?-?selector (\S+ ){0,10}(volume|pv)",
            r"(volume|pv|pvc|data|claim) (\S+ ){0,8}(local|bound|tied|pinned|lives?|lies|located|attached|resid\w+) (to|on|at) ",
            r"affinity (conflict|violation)",
        ),
        kin=("unsatisfiable_node_selector",),
    ),
    Mechanism(
        "excessive_resource_request",
        "Pods ask for more than any node has",
        "scheduling",
        (
            r"(memory|cpu|resource)s? requests?",
            r"requests? (of )?\S* ?(\S+ ){0,4}(memory|cpu|too (large|high|much)|exceed\w*|more than)",
            r"insufficient (memory|cpu)",
            r"(exceed\w*|larger|more|greater|bigger) (\w+ ){0,4}(than )?(\w+ ){0,4}(node|allocatable|capacity|cluster)",
        ),
    ),
    Mechanism(
        "memory_limit_too_low",
        "A container's memory limit is below what it needs",
        "resources",
        (
            r"memory limits?",
            r"limits?\.memory",
            r"oom ?-?kill\w*|out of memory",
            r"(too (low|small|little)|insufficient) (\w+ ){0,2}memory",
        ),
    ),
    Mechanism(
        "cpu_throttling",
        "A container's CPU limit is below what its load needs",
        "resources",
        (
            r"cpu (\w+ )?(limits?|throttl\w*|quota|starv\w*|constrain\w*|restrict\w*)",
            r"limits?\.cpu",
            r"throttl\w*|cfs quota",
            r"(too (low|small|little)|insufficient|starved of|lack of) (\w+ ){0,2}cpu",
        ),
    ),
    Mechanism(
        "quota_blocks_pods",
        "A ResourceQuota keeps new pods from being created",
        "admission",
        (r"(resource ?)?quota", r"must specify memory"),
    ),
    Mechanism(
        "network_policy_isolation",
        "A NetworkPolicy cuts pods off",
        "isolation",
        (r"network ?-?polic(y|ies)", r"deny-all", r"polic(y|ies) (\w+ ){0,4}(block\w*|den\w+|isolat\w+)"),
    ),
    Mechanism(
        "bypassed_cluster_dns",
        "Pods bypass the cluster's name server and ask one that does not know its names",
        "names",
        (
            r"dns ?-?policy",
            r"dns ?-?config",
            r"(external|public|wrong|incorrect|custom|google) (dns|name ?-?server|resolver)",
            r"(bypass\w*|not us\w+|instead of|does not use|doesn'?t use) (\w+ ){0,3}(cluster|coredns|kube-dns|in-cluster)",
            r"8\.8\.8\.8",
        ),
        kin=("dns_record_blocked",),
    ),
    Mechanism(
        "dns_record_blocked",
        "The cluster DNS denies names that exist",
        "names",
        (
            r"core ?-?dns",
            r"corefile",
            r"nx ?-?domain",
            r"template (plugin|block|rule|stanza|directive)",
            r"cluster dns",
        ),
        kin=("bypassed_cluster_dns",),
    ),
    Mechanism(
        "port_conflict",
        "Two containers of a pod want the same port",
        "startup",
        (
            r"port (conflict|collision|clash|contention)",
            r"(same|already|both) (\S+ ){0,5}port",
            r"port (\S+ ){0,5}(already|in use|taken|occupied|same)",
            r"address already in use|eaddrinuse",
            r"side ?-?car",
        ),
    ),
    Mechanism(
        "untolerated_taint",
        "Nodes carry a taint that pods do not tolerate",
        "scheduling",
        (r"taint\w*", r"tolerat\w+"),
    ),
    Mechanism(
        "blocked_init_container",
        "An init container waits for something that never comes",
        "startup",
        (
            r"init ?-?container",
            r"init:0/1",
            r"waits? (\w+ )?for (\S+ ){0,6}(service|dependency|config)",
            r"wait-for",
        ),
    ),
    Mechanism(
        "database_permission_revoked",
        "A database account lost its rights",
        "credentials",
        (
            r"not authori[sz]ed|unauthori[sz]ed",
            r"(revok\w+|lost|lacks?|lacking|missing|removed|without|no longer has|no|insufficient) (\S+ ){0,6}(role|permission|privilege|right|access|grant|readwrite|authori[sz]ation)",
            r"(role|permission|privilege|right|access|grant|readwrite|authori[sz]ation)s? (\S+ ){0,5}(revok\w+|removed|missing|lost|taken)",
            r"readwrite",
        ),
        kin=("database_account_missing",),
    ),
    Mechanism(
        "database_account_missing",
        "A database account does not exist",
        "credentials",
        (
            r"(user|account|credential|login)s? (\S+ ){0,7}(missing|not found|does not exist|doesn'?t exist|no longer exists?|removed|deleted|dropped|unregistered|gone|absent|not registered)",
            r"(missing|removed|deleted|dropped|unregistered|non-?existent|absent|no) (\S+ ){0,4}(user|account|credential|login)",
            r"user ?not ?found",
            r"authentication fail\w*|fail\w* (to )?authenticat\w*",
        ),
        kin=("database_permission_revoked",),
    ),
    Mechanism(
        "disk_read_errors",
        "A node's disk returns read errors",
        "disks",
        (
            r"(disk|storage|sector|block ?-?device|i/?o|media|drive) (\w+ ){0,3}(error|fail\w*|fault\w*|corrupt\w*|bad|read)",
            r"(bad|latent|faulty|failing|broken|defective|unreadable) (\w+ )?(sector|disk|drive|storage|hardware|device)",
            r"\beio\b|input/output error|i/o error",
            r"read errors?",
        ),
    ),
    Mechanism(
        "wrong_service_port",
        "A Service is offered on another port than its clients use",
        "service",
        (
            r"service ?-?port",
            r"(wrong|incorrect|invalid|mis-?configured|bad|mismatch\w*|changed|different|unexpected) (\w+ )?port",
            r"port (\S+ ){0,5}(wrong|incorrect|changed|mismatch\w*|instead|mis-?configured)",
            r"(exposes?|exposed|offers?|offered|listens?|serves?) on (the )?(wrong |a different |another )?port",
        ),
        kin=("wrong_target_port",),
    ),
    Mechanism(
        "missing_service_account",
        "Pods name a service account that does not exist",
        "admission",
        (r"service ?-?account",),
    ),
    Mechanism(
        "missing_secret",
        "A container refers to a Secret that does not exist",
        "configuration",
        (r"\bsecrets?\b", r"secret ?key ?ref", r"create ?container ?config ?error"),
    ),
    Mechanism(
        "cordoned_nodes",
        "Nodes are closed to new pods",
        "scheduling",
        (
            r"cordon\w*",
            r"unschedulable",
            r"scheduling ?disabled",
            r"nodes? (\S+ ){0,4}(closed|disabled|drained)",
        ),
    ),
    Mechanism(
        "stale_host_alias",
        "A pod's hosts file overrides a name with a wrong address",
        "names",
        (
            r"host ?-?alias\w*",
            r"/etc/hosts|hosts file",
            r"(wrong|stale|incorrect|bogus|outdated|hard-?coded|static) (\w+ )?(ip|address|host|name|dns) ?(\w+ )?(entry|mapping|override|alias)?",
        ),
    ),
    Mechanism(
        "feature_flag_enabled",
        "A configuration flag turned on a code path that fails",
        "configuration",
        (
            r"feature ?-?(flag|toggle|gate|switch)",
            r"\b[a-z]+(_[a-z]+)+ ?(=|is|set to|:)? ?\"?true\b",
            r"flag (\S+ ){0,5}(on|true|enabled|set)",
            r"(experimental|dormant|latent|new|buggy|untested) (\w+ )?(code|path|backend|feature)",
        ),
        kin=("missing_config_key",),
    ),
)

MECHANISMS: Mapping[str, Mechanism] = {mechanism.key: mechanism for mechanism in _ALL}
"""Every mechanism by key."""
