"""Actions that make little sense: drawn from the real vocabulary, so that they get past the first check."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from sregym_env.kube import registry
from sregym_env.tools.kubectl.call import Verb
from sregym_env.tools.kubectl.verbs import VERBS

NAMESPACE = "hotel-reservation"
PLURALS = [resource.plural for resource in registry.RESOURCES]
KINDS = [(resource.api_version, resource.kind) for resource in registry.RESOURCES]
NAMES = [
    "geo", "frontend", "mongodb-geo", "consul", "coredns", "wrk2-job", "sre-worker", "geo-pvc", "default", "kube-dns",
    "nothing", "-", "..", "a" * 300, "Ünïcode", "", "*", "geo/", "deploy/geo", "pod/geo", "svc/frontend", "nodes/",
]  # fmt: skip
VALUES = [
    "", "0", "-1", "1", "999999999999999999999", "1e99", "true", "json", "yaml", "wide", "name", "jsonpath={.items[*]}",
    "jsonpath={", "go-template={{.}}", "go-template={{range}}", "custom-columns=A:.b", "custom-columns=", "a=b",
    "a in (b", "!a", "a=b,c!=d", "metadata.name=geo", "5s", "-5s", "1h", "forever", "client", "server", "none", "{}", "[]",
    "null", '{"spec":null}', "{", "'", '"', "$", "\\", "/dev/null", "/etc/passwd", "-", "http://x", "app=x:y", "NoSchedule",
    "\u0000", "é", "😀", "hotel-reservation", "kube-system", "../../..", "%s%n", "cpu=1", "cpu=", "memory=-5", "geo:80",
]  # fmt: skip
SCRIPTS = [
    "for i in 1 2 3; do echo $i; done", "while true; do :; done", ":(){ :|:& };:", "cat /etc/passwd", "yes | head -5",
    "echo ${x:?}", "echo $((1/0))", "echo $((2**9999))", "f(){ f; }; f", "[[ a =~ ( ]]", "printf '%99999999d' 1",
    "seq 1 99999999", "awk 'BEGIN{while(1);}'", "awk 'BEGIN{printf \"%*d\", 99999999, 1}'", "sed 's/a/b", "jq '.[", "jq -n '[range(1e9)]'",
    "jq -n 'def f: f; f'", "head -c 999999999 /dev/zero", "cat /dev/urandom", "echo {1..999999999}", "a=$(a=$(a=$(", "<<EOF",
    "cat <<EOF\n$x\nEOF", "trap 'echo' EXIT; exit 3", "exec sh", "set -e; false; true", "source x", "eval 'eval \"eval ls\"'", "read x",
    "case x in", "if", "fi", "}", "&& ls", "ls ||", "| cat", "ls > /x/y/z", "ls > /dev/full", "cd /; rm -rf /", "find / -exec echo {} \\;",
    "xargs -n0", "echo a | xargs -I{} kubectl get {}", "timeout 1 kubectl get pods -w", "timeout", "timeout x y", "sleep -1", "sleep 1e9",
    "sleep nan", "sleep inf", "date -d @999999999999999999", "date +%%%", "kubectl logs -f deploy/geo", "sort -k999", "cut -f", "grep -P '(a+)+$'",
    "grep -E '(a|a)*b' <<< aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "tr", "wc -x", "uniq --x", "tail -n -x", "base64 -d <<< '!!!'", "diff a b",
    "curl", "curl -v", "curl http://", "curl http://frontend.hotel-reservation:99999", "curl http://[::1]", "curl -X POST -d @x http://frontend",
    "curl file:///etc/passwd", "curl http://10.96.0.1", "curl -m nan http://x", "curl --max-time -1 http://frontend", "alerts -o", "alerts --x", "alerts -o json",
    "submit", "submit x", "submit --help", "submit diagnosis", "help", "which", "kubectl", "k", "kubectl --", "kubectl -", "kubectl get", "history", "unset PATH; ls",
]  # fmt: skip
LEAVES: list[Any] = [
    None, True, 0, -1, 1e300, 2**70, "", "x", "9" * 40, [], {}, [None], [{}], {"x": None}, "1Gi", "-1", "100m", "a/b", "Always",
    ["a"], {"matchLabels": {"a": "b"}}, [{"name": "geo"}], [{"port": 80}], [{"name": "x", "image": "y"}],
]  # fmt: skip
FIELDS = [
    "spec", "metadata", "status", "data", "template", "selector", "containers", "ports", "replicas", "labels", "annotations",
    "name", "namespace", "image", "command", "env", "resources", "limits", "requests", "cpu", "memory", "volumes", "matchLabels",
    "type", "strategy", "nodeSelector", "tolerations", "affinity", "ownerReferences", "finalizers", "deletionTimestamp", "rules",
    "subjects", "roleRef", "hard", "ingress", "egress", "podSelector", "policyTypes", "schedule", "jobTemplate", "conditions",
    "uid", "resourceVersion", "generateName", "livenessProbe", "httpGet", "tcpSocket", "endpoints", "addresses", "hostAliases",
    "template/spec", "initContainers", "serviceAccountName", "capacity", "accessModes", "claimRef", "taints", "unschedulable",
]  # fmt: skip


def kubectl(chance: Random) -> str:
    """A kubectl command line from real verbs, flags, resources and names."""
    verb: Verb = chance.choice(VERBS)
    words = ["kubectl", verb.name]
    flags = [flag.name for flag in verb.flags]
    nested = getattr(verb, "verbs", ()) or ()
    if nested and chance.random() < 0.9:
        below = chance.choice(list(nested))
        words.append(below.name)
        flags = [flag.name for flag in below.flags]
    for _ in range(chance.randrange(4)):
        words.append(chance.choice([chance.choice(PLURALS), chance.choice(NAMES), chance.choice(VALUES)]))
    for _ in range(chance.randrange(4)):
        flag = chance.choice([*flags, "namespace", "output", "selector", "all-namespaces"])
        words.append(f"--{flag}" if chance.random() < 0.3 else f"--{flag}={chance.choice(VALUES)}")
    if chance.random() < 0.6:
        words.append(f"-n {NAMESPACE}")
    return " ".join(quoted(word) for word in words)


def quoted(word: str) -> str:
    """A word as a careful typist would quote it."""
    return (
        word if word.replace("-", "").replace("/", "").isalnum() else "'" + word.replace("'", "'\\''") + "'"
    )


def tree(chance: Random, depth: int = 4) -> Any:
    """A JSON value of Kubernetes' field names in no particular order."""
    if depth == 0 or chance.random() < 0.25:
        return chance.choice(LEAVES)
    if chance.random() < 0.2:
        return [tree(chance, depth - 1) for _ in range(chance.randrange(3))]
    return {chance.choice(FIELDS): tree(chance, depth - 1) for _ in range(chance.randrange(1, 4))}


def manifest(chance: Random) -> str:
    """Something to apply, create or replace."""
    api_version, kind = chance.choice(KINDS)
    document: Any = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": chance.choice(NAMES), "namespace": NAMESPACE},
        "spec": tree(chance),
    }
    if chance.random() < 0.3:
        document[chance.choice(FIELDS)] = tree(chance)
    if chance.random() < 0.1:
        document = tree(chance)
    verb = chance.choice(
        ["apply", "create", "replace", "apply --server-side", "delete", "diff", "replace --force"]
    )
    return f"kubectl {verb} --validate={chance.choice(['true', 'false'])} -f - <<'EOF'\n{json.dumps(document)}\nEOF"


def bent(chance: Random) -> str:
    """A real object with one part replaced by nonsense."""
    resource, name = chance.choice(
        [("deploy", "geo"), ("svc", "frontend"), ("cm", "mongo-geo-script"), ("pvc", "geo-pvc"), ("job", "wrk2-job"),
         ("deploy", "mongodb-geo"), ("sa", "default")]
    )  # fmt: skip
    path = ".".join(chance.choice(FIELDS[:30]) for _ in range(chance.randrange(1, 4))).replace("/", ".")
    value = json.dumps(tree(chance, 2))
    verb = chance.choice(["replace", "apply", "create"])
    return (
        f"kubectl get {resource} {name} -n {NAMESPACE} -o json | jq '.{path} = {value}' 2>/dev/null "
        f"| kubectl {verb} --validate=false -f -"
    )


def patch(chance: Random) -> str:
    """A patch of an existing object."""
    target = chance.choice(
        ["deploy/geo", "deploy/mongodb-geo", "svc/frontend", "svc/consul", "job/wrk2-job", "cm/mongo-geo-script",
         "pvc/geo-pvc", "endpoints/geo", "sa/default", "node/sre-worker", "clusterrole/sre-oncall"]
    )  # fmt: skip
    kind = chance.choice(["json", "merge", "strategic", "bogus"])
    if kind == "json":
        body: Any = [
            {
                "op": chance.choice(["add", "remove", "replace", "move", "copy", "test", "x"]),
                "path": "/"
                + "/".join(chance.choice([*FIELDS, "0", "-", "~1"]) for _ in range(chance.randrange(1, 5))),
                "value": tree(chance, 2),
                "from": "/spec",
            }
            for _ in range(chance.randrange(1, 3))
        ]
    else:
        body = {"spec": tree(chance)} if chance.random() < 0.7 else tree(chance)
    sub = chance.choice(["", "", "", " --subresource=status", " --subresource=scale"])
    return f"kubectl patch {target} -n {NAMESPACE} --type={kind}{sub} -p {quoted(json.dumps(body))}"


def call(chance: Random) -> str:
    """A tool call, whole or cut off."""
    text = json.dumps(
        chance.choice(
            [
                {"name": "shell", "arguments": {"command": chance.choice(SCRIPTS)}},
                {"name": "kubectl", "arguments": tree(chance, 2)},
                {"function": {"name": chance.choice(["submit", "shell", "x"]), "arguments": "{"}},
                {"type": "tool_use", "name": "submit", "input": tree(chance, 1)},
                [{"name": "shell", "arguments": {"command": "ls"}}] * 40,
                {"tool_calls": tree(chance, 3)},
                tree(chance, 5),
            ]
        )
    )
    if chance.random() < 0.3:
        text = f"<tool_call>{text}"
    return text[: chance.randrange(1, len(text) + 1)] if chance.random() < 0.4 else text


def noise(chance: Random) -> str:
    """Characters."""
    alphabet = chance.choice(
        ["\x00\x01\x1b\x7f\n\r\t", "éß漢😀\u202e\ud800\udfff", "{}[]\"':,\\", "$(`)|&;<>*?~#!", "abc -/="]
    )
    return "".join(chance.choice(alphabet) for _ in range(chance.randrange(200)))


def inside(chance: Random) -> str:
    """A script inside a pod."""
    pod = chance.choice(
        ["deploy/geo", "deploy/mongodb-geo", "deploy/consul", "deploy/memcached-rate", "job/wrk2-job"]
    )
    shell = chance.choice(["sh -c", "bash -c", "mongo --eval", "cat", "env", "python3 -c", ""])
    return f"kubectl exec {pod} -n {NAMESPACE} -- {shell} {quoted(chance.choice(SCRIPTS + VALUES))}"


MAKERS = (kubectl, kubectl, kubectl, manifest, manifest, bent, patch, patch, call, noise, inside)


def action(chance: Random) -> str:
    """One action of any sort."""
    roll = chance.randrange(len(MAKERS) + 1)
    text = chance.choice(SCRIPTS) if roll == len(MAKERS) else MAKERS[roll](chance)
    if chance.random() < 0.1:
        text += chance.choice(
            [" | head -3", " ; echo $?", " && kubectl get pods", " > /tmp/x; cat /tmp/x", " &"]
        )
    return text


def mutated(chance: Random, value: Any, depth: int = 0) -> Any:
    """A copy of a JSON value in which one place is different."""
    if isinstance(value, dict) and value and (depth < 2 or chance.random() < 0.85):
        key = chance.choice(sorted(value))
        roll = chance.random()
        if roll < 0.07 and depth > 1:
            return {name: item for name, item in value.items() if name != key}
        if roll < 0.12:
            return {**value, chance.choice(FIELDS): chance.choice(LEAVES)}
        return {**value, key: mutated(chance, value[key], depth + 1)}
    if isinstance(value, list) and value and chance.random() < 0.8:
        index = chance.randrange(len(value))
        roll = chance.random()
        if roll < 0.1:
            return value[:index] + value[index + 1 :]
        if roll < 0.2:
            return [*value, value[index]]
        return [*value[:index], mutated(chance, value[index], depth + 1), *value[index + 1 :]]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice([0, 1, 2, value + 1, -1, 7, 65535, 70000, 2**31])
    if isinstance(value, str):
        return chance.choice(
            ["", "x", value + "x", value.upper(), "0", "1Gi", "nothing", "a" * 70, "é", *NAMES[:8]]
        )
    return chance.choice(LEAVES)
