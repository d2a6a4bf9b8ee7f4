"""Compare the in-process kubectl with a real one on command lines that nobody wrote.

    python tools_dev/draw_kubectl_lines.py [--lines 400] [--seed 0] [--state healthy] [--words WORD ...] [-v]
    python tools_dev/draw_kubectl_lines.py --minor 33   # another minor version of the real one
    python tools_dev/draw_kubectl_lines.py --flags      # write down the real one's flags, for a test

Lines are drawn by rules: a verb, what it is about (names of the world itself, and wrong ones), and some of its flags
with right and wrong values. The flags are those that the real kubectl lists in its own help, so that one that ours
lacks is drawn as well. Both sides are typed as ``make parity`` types them; nothing is recorded. Ours is kubectl 1.32: where
another minor version is asked for, what differs is typed into a 1.32 too, and is a difference of versions if that one says
what ours says.
"""

from __future__ import annotations

import argparse
import difflib
import json
import random
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.parity.harness import Case, Outcome, sides
from tests.parity.states import state
from tests.serve.serving import real_kubectl

FLAGS = Path(__file__).parents[1] / "tests" / "tools" / "data" / "kubectl_flags.json"
"""The flags of the real kubectl by command: the shorthand and the default as help shows them."""

_FLAG = re.compile(r"^    (?:-\w, )?--([\w-]+)=(.*):$", re.MULTILINE)
_SHORT = re.compile(r"^    (?:-(\w), )?--([\w-]+)=(.*):$", re.MULTILINE)

NEVER = frozenset(
    (
        # What waits for ever, writes to this machine, or takes another cluster.
        "watch", "watch-only", "follow", "stdin", "tty", "interactive", "attach", "leave-stdin-open", "profile",
        "profile-output", "kubeconfig", "server", "output-directory", "cache-dir", "help", "windows-line-endings",
        "edit", "v", "vmodule", "rm",
    )
)  # fmt: skip
"""Flags that are not drawn."""

KINDS = (
    "pods", "po", "pod", "deploy", "deployments", "deployment.apps", "svc", "services", "endpoints", "ep", "rs", "cm",
    "configmaps", "secrets", "nodes", "no", "ns", "namespaces", "events", "ev", "pvc", "pv", "sc", "sa", "sts", "ds",
    "jobs", "cronjobs", "hpa", "ing", "netpol", "networkpolicies", "quota", "limits", "pdb", "roles", "rolebindings",
    "clusterroles", "clusterrolebindings", "endpointslices", "leases", "crd", "all", "statefulset", "priorityclasses",
    "poo", "deployment.v1.apps", "replicasets.apps", "csr", "rc", "mutatingwebhookconfigurations",
)  # fmt: skip

FORMATS = (
    "wide", "yaml", "json", "name", "jsonpath={.items[*].metadata.name}", "jsonpath={.metadata.name}",
    'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.status.phase}{"\\n"}{end}',
    "jsonpath={.items[?(@.metadata.name==\"frontend\")].spec}", "jsonpath={.spec.template.spec.containers[0].image}",
    "jsonpath={.items[*].spec['nodeName','hostname']}", "jsonpath={.items", "jsonpath={..image}",
    "custom-columns=NAME:.metadata.name,NODE:.spec.nodeName,IMAGE:.spec.containers[*].image",
    "custom-columns=N:.metadata.name", "custom-columns=N", "custom-columns=A:{.kind},B:.metadata.labels.pod-template-hash",
    "go-template={{range .items}}{{.metadata.name}} {{end}}", "go-template={{.metadata.name}}", "go-template={{.x.y}}",
    "go-template={{range .items}}{{with .status}}{{.phase}}{{end}}{{\"\\n\"}}{{end}}", "jsonpath-as-json={.metadata}",
    "table", "Yaml", "jsonpath", "go-template",
)  # fmt: skip

SELECTORS = (
    "io.kompose.service=frontend", "io.kompose.service in (geo,rate)", "io.kompose.service!=frontend", "app=nothing", "a=b=c",
    "!io.kompose.service", "io.kompose.service", "k8s-app=kube-dns", "a in", "=x", "tier notin (a, b),io.kompose.service",
)  # fmt: skip

FIELDS = (
    "status.phase=Running", "status.phase!=Running", "metadata.name=frontend", "spec.nodeName=sre-worker", "type=Warning",
    "involvedObject.kind=Pod", "reason=Scheduled", "spec.nothing=1", "status.phase", "involvedObject.name=frontend,type!=Normal",
)  # fmt: skip

SORTS = (
    ".metadata.name", ".metadata.creationTimestamp", ".lastTimestamp", ".spec.replicas", "{.status.startTime}", ".status.podIP",
    "metadata.nothing", ".status.containerStatuses[0].restartCount", ".spec.nodeName", "{.x", ".metadata.labels",
)  # fmt: skip

PATHS = (
    "pods", "pod.spec", "deployment.spec.strategy", "deploy.spec.template.spec.containers", "svc.spec.ports", "pods.spec.x", "nothing",
    "pod.status.containerStatuses", "networkpolicy.spec.egress", "pvc.spec", "hpa.spec.metrics", "node.status", "ev", "cm.data",
    "resourcequota.spec", "sts.spec.volumeClaimTemplates.spec", "pod.spec.containers.livenessProbe.httpGet",
)  # fmt: skip

RAW = (
    "/healthz", "/livez", "/readyz", "/livez?verbose", "/readyz?verbose", "/version", "/api", "/apis", "/api/v1/namespaces/default",
    "/api/v1/nodes/sre-worker", "/apis/apps/v1/namespaces/hotel-reservation/deployments/frontend/scale", "/nothing", "/healthz/etcd",
    "/api/v1/namespaces/hotel-reservation/services/frontend:5000/proxy/", "/api/v1/namespaces/hotel-reservation/endpoints/geo",
    "/apis/metrics.k8s.io/v1beta1/namespaces/hotel-reservation/pods?labelSelector=x%3Dy", "/api/v1/namespaces/x/pods/y/log",
    "/api/v1/nodes/sre-worker/proxy/healthz", "/apis/apps", "/apis/apps/v1", "/readyz/ping", "/livez/nothing", "/api/v1/nodes/x/proxy/metrics",
)  # fmt: skip

PATCHES = (
    '{"spec":{"replicas":2}}', "{'spec':{'replicas':2}}", "{spec: {replicas: 2}}", '{"spec":{"replicas":2},}', "spec:\n  replicas: 2",
    '{"spec":{"replicas":"two"}}', '{"spec":{bogus:1}}', '{"metadata":{"labels":{"a":"b"}}}', '{"metadata":{"labels":{"a":1}}}', "[]",
    '[{"op":"replace","path":"/spec/replicas","value":2}]', '[{"op":"remove","path":"/spec/nothing"}]', "null", '"x"', "{}", "{", "3",
    '[{"op":"test","path":"/spec/replicas","value":7}]', '{"spec":{"template":{"spec":{"containers":[{"name":"x"}]}}}}', "a b",
    '{"spec":{"nothing":true}}', '{"spec":{"selector":{"matchLabels":{"a":"b"}}}}', '[{"op":"add","path":"/metadata/labels/x","value":"y"}]',
    '{"spec":{"template":{"spec":{"containers":[{"name":"hotel-reserv-frontend","image":"x:1"}]}}}}', '{"spec":{"replicas":null}}', "- a\n- b",
    '{"spec":{"replicas":9223372036854775807}}', '{"spec":{"replicas":2}} trailing', '{"spec":{"type":"NodePort"}}', "{\"a\": tru}",
    '{"metadata":{"name":"other"}}', '[{"op":"replace","path":"spec/replicas","value":2}]', '[{"op":"jump","path":"/a"}]', '{"kind":"Pod"}',
    '[{"path":"/a","value":1}]', '{"spec":{"replicas":-1}}', '{"spec": [1]}', '{"metadata":{"annotations":{"a":"b"},"labels":null}}',
)  # fmt: skip

NUMBERS = (
    "0", "1", "2", "-1", "x", "3.5", "", "9223372036854775807", "9223372036854775808", "2147483648", "1e3", "0x10", "010", " 1", "1_000", "+2",
)  # fmt: skip
TIMES = ("0", "1s", "1", "1m", "x", "-1s", "5x", "1.5s", "1h2m", "", "2 s")
BOOLS = ("true", "false", "yes", "1", "", "True", "no")
WORDS = (
    "x",
    "a=b",
    "a=b,c=d",
    "",
    "A B",
    "a/b",
    "frontend",
    "=",
    "a=",
    "-",
    "none",
    "client",
    "server",
    "strict",
    "ignore",
)

MANIFEST = {
    "one": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: drawn\ndata:\n  a: b\n",
    "two": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drawn}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: drawn}\n"
    "spec: {ports: [{port: 80}]}\n",
    "json": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"drawn"},"data":{"a":"b"}}',
    "trailing comma": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"drawn"},"data":{"a":"b"},}',
    "single quotes": "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'drawn'}}",
    "flow": "{apiVersion: v1, kind: ConfigMap, metadata: {name: drawn}}",
    "half": '{"apiVersion":"v1","kind":"ConfigMap",',
    "tab": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n\tname: drawn\n",
    "indent": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: drawn\n   labels: {}\n",
    "twice": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drawn}\ndata: {a: b}\ndata: {c: d}\n",
    "number": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drawn}\ndata: {a: 1}\n",
    "no kind": "apiVersion: v1\nmetadata: {name: drawn}\n",
    "no version": "kind: ConfigMap\nmetadata: {name: drawn}\n",
    "no name": "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n",
    "list": "- a\n- b\n",
    "text": "drawn\n",
    "empty": "",
    "comment": "# nothing\n",
    "unknown kind": "apiVersion: apps/v1\nkind: Deploy\nmetadata: {name: drawn}\n",
    "unknown field": "apiVersion: v1\nkind: Service\nmetadata: {name: drawn}\nspec: {port: 80, ports: [{port: 80, x: 1}]}\n",
    "wrong type": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: drawn}\nspec: {replicas: two, selector: {matchLabels: {a: b}}}\n",
    "invalid": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: Drawn_}\nspec: {selector: {}, template: {}}\n",
    "two json": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a1"}}\n{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a2"}}',
    "other namespace": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drawn, namespace: default}\n",
    "null": "null\n",
    "windows": "apiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: drawn\r\n",
    "anchor": "apiVersion: v1\nkind: ConfigMap\nmetadata: &m {name: drawn}\ndata: {a: *n}\n",
    "percent": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drawn}\ndata: {a: %x}\n",
    "colon": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drawn}\ndata:\n  a: b: c\n",
    "quote": 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drawn}\ndata:\n  a: "b\n',
}
"""What is sent to ``-f -``."""


@dataclass(frozen=True)
class Names:
    """What there is in a world, by kind."""

    pods: Sequence[str]
    deployments: Sequence[str] = ("frontend", "geo", "mongodb-rate", "memcached-profile", "consul", "search")
    services: Sequence[str] = ("frontend", "geo", "mongodb-rate", "consul")
    nodes: Sequence[str] = ("sre-worker", "sre-worker2", "sre-control-plane")


class Drawing:
    """Command lines by rules, from one seed."""

    def __init__(self, seed: int, names: Names, flags: dict[str, dict[str, str]]) -> None:
        self._dice = random.Random(seed)
        self._names = names
        self._flags = flags
        self._rules: Sequence[tuple[int, Callable[[], str | Case]]] = (
            (30, self._get), (14, self._describe), (8, self._logs), (5, self._top), (6, self._rollout), (8, self._patch), (4, self._scale),
            (6, self._set), (6, self._mark), (10, self._piped), (4, self._delete), (3, self._events), (3, self._explain), (6, self._create),
            (3, self._run), (2, self._expose), (2, self._autoscale), (3, self._auth), (2, self._node), (4, self._raw), (3, self._wait),
            (3, self._config), (2, self._about), (3, self._exec),
        )  # fmt: skip

    def case(self) -> Case:
        """The next line."""
        weights = [weight for weight, _ in self._rules]
        made = self._dice.choices([rule for _, rule in self._rules], weights)[0]()
        return made if isinstance(made, Case) else Case(made)

    # --- words ---

    def _one(self, of: Sequence[str]) -> str:
        return self._dice.choice(of)

    def _maybe(self, chance: float, text: str) -> str:
        return f" {text}" if self._dice.random() < chance else ""

    def _pod(self) -> str:
        return self._one(self._names.pods) if self._dice.random() < 0.85 else "nothing"

    def _workload(self) -> str:
        return (
            self._one(self._names.deployments)
            if self._dice.random() < 0.9
            else self._one(("nothing", "Frontend", ""))
        )

    def _thing(self) -> str:
        """A kind with or without a name, in the ways there are."""
        kind = self._one(KINDS[:26]) if self._dice.random() < 0.8 else self._one(KINDS)
        name = {
            "p": self._pod,
            "d": self._workload,
            "s": lambda: self._one(self._names.services),
            "e": lambda: self._one(self._names.services),
            "n": lambda: (
                self._one(self._names.nodes)
                if kind.startswith("no")
                else self._one(("default", "kube-system"))
            ),
        }.get(kind[0], lambda: "frontend")()
        shape = self._dice.random()
        if shape < 0.35:
            return kind
        if shape < 0.6:
            return f"{kind} {name}"
        if shape < 0.8:
            return f"{kind}/{name}"
        if shape < 0.9:
            return f"{kind},{self._one(KINDS)}"
        return f"{kind} {name} {self._workload()}"

    def _place(self) -> str:
        return self._maybe(
            0.25,
            self._one(
                (
                    "-n kube-system",
                    "-n default",
                    "-n nowhere",
                    "-A",
                    "-n hotel-reservation",
                    "--all-namespaces",
                )
            ),
        )

    def _flag(self, verb: str) -> str:
        """A flag of the verb, or one that it does not have, with a value of its type or another."""
        known = {name: shown for name, shown in self._flags[verb].items() if name not in NEVER}
        if self._dice.random() < 0.12:
            return self._one(
                (
                    "--nothing",
                    "--outputs=yaml",
                    "-Z",
                    "--tail=5",
                    "--replicas=2",
                    "-lapp=x",
                    "--all",
                    "--force=maybe",
                    "--record",
                    "-x1",
                )
            )
        name = self._one(sorted(known))
        shown = known[name]
        special = {
            "output": FORMATS, "selector": SELECTORS, "field-selector": FIELDS, "sort-by": SORTS, "subresource": ("status", "scale", "x", "log"),
            "dry-run": ("client", "server", "none", "x", ""), "type": ("merge", "json", "strategic", "x", ""), "raw": RAW,
            "namespace": ("default", "kube-system", "nowhere", ""), "as": ("system:serviceaccount:hotel-reservation:default", "jane"),
            "filename": ("web.yaml", "folder", "missing.yaml", "bad.yaml", "config.json"), "kustomize": ("folder", "k/over"),
            "cascade": ("orphan", "background", "foreground", "x", "true"), "validate": ("strict", "warn", "ignore", "x", "true"),
            "image": ("nginx", "nginx:1.27", "Nginx", ""), "container": ("hotel-reserv-frontend", "x", "mongodb"), "for": ("pod/x", "condition=Ready"),
            "since-time": ("2025-01-01T00:00:00Z", "yesterday"), "context": ("x", "kubernetes-admin@kubernetes", ""), "labels": ("a=b", "a", "a=b,c=d"),
        }.get(name)  # fmt: skip
        if special is None:
            if shown in ("true", "false"):
                if self._dice.random() < 0.75:
                    return f"--{name}"
                special = BOOLS
            elif re.fullmatch(r"-?\d+", shown):
                special = NUMBERS
            elif re.fullmatch(r"[\dhm.]+s", shown):
                special = TIMES
            else:
                special = WORDS
        value = self._one(special)
        return f"--{name}{self._one('= ')}{shlex.quote(value)}" if value else f"--{name}="

    def _some(self, verb: str, chance: float = 0.5) -> str:
        text = ""
        while self._dice.random() < chance:
            text += f" {self._flag(verb)}"
            chance /= 2
        return text

    def _output(self, chance: float = 0.5) -> str:
        return self._maybe(chance, f"-o {shlex.quote(self._one(FORMATS))}")

    # --- rules, one per family of verbs ---

    def _get(self) -> str:
        return f"get {self._thing()}{self._place()}{self._output()}" + self._some("get", 0.55)

    def _describe(self) -> str:
        return f"describe {self._thing()}{self._place()}{self._some('describe', 0.25)}"

    def _logs(self) -> str:
        about = self._one(
            (
                self._pod(),
                f"deploy/{self._workload()}",
                "-l io.kompose.service=geo",
                f"pod/{self._pod()}",
                f"svc/{self._workload()}",
                "",
            )
        )
        return f"logs {about} --tail={self._one(('1', '3', '5', 'x', '-1'))}{self._place()}{self._some('logs', 0.6)}"

    def _top(self) -> str:
        about = self._one(
            ("pods", "pod", "nodes", "node", f"pod {self._pod()}", "node sre-worker", "node x", "", "svc")
        )
        verb = "top node" if about.startswith("node") else "top pod"
        return f"top {about}{self._place()}{self._some(verb, 0.6)}"

    def _rollout(self) -> str:
        what = self._one(("status", "history", "undo", "restart", "pause", "resume"))
        about = self._one(
            (
                f"deploy/{self._workload()}",
                f"deploy {self._workload()}",
                "deploy",
                "pod/x",
                "",
                "ds/kube-proxy -n kube-system",
            )
        )
        return f"rollout {what} {about}{self._some(f'rollout {what}', 0.5)}"

    def _patch(self) -> str:
        about = self._one(
            (
                f"deploy {self._workload()}",
                f"deploy/{self._workload()}",
                "svc frontend",
                "node sre-worker",
                f"pod {self._pod()}",
                "deploy",
            )
        )
        return (
            f"patch {about}{self._maybe(0.5, '--type=' + self._one(('merge', 'json', 'strategic', 'yaml')))} -p {shlex.quote(self._one(PATCHES))}"
            + (self._some("patch", 0.3))
        )

    def _scale(self) -> str:
        about = self._one(
            (
                f"deploy {self._workload()}",
                f"deploy/{self._workload()}",
                "svc frontend",
                "rs --all",
                "deploy geo rate",
            )
        )
        return f"scale {about} --replicas={shlex.quote(self._one(NUMBERS))}{self._some('scale', 0.4)}"

    def _set(self) -> str:
        what = self._one(("image", "env", "resources", "serviceaccount", "selector"))
        value = {
            "image": ("hotel-reserv-frontend=x:1", "*=x:2", "x=y", "x", "", "hotel-reserv-frontend="),
            "env": ("A=b", "A-", "--list", "A", "", "A=b C=d", "--from=configmap/x"),
            "resources": ("--limits=cpu=1", "--requests=memory=64Mi,cpu=1m", "--limits=cpu=x", "--limits=x", "", "--requests=cpu=2 --limits=cpu=1"),
            "serviceaccount": ("default", "x", ""),
            "selector": ("a=b", "a", "a=b,c=d", ""),
        }[what]  # fmt: skip
        about = f"svc {self._workload()}" if what == "selector" else f"deploy/{self._workload()}"
        return f"set {what} {about} {self._one(value)}{self._some(f'set {what}', 0.5)}"

    def _mark(self) -> str:
        verb = self._one(("label", "annotate"))
        value = self._one(
            ("a=b", "a-", "io.kompose.service=x", "a", "a=b c=d", "a=b a-", "a=b!", "-a", "A/B/c=d", "a=", "")
        )
        return f"{verb} {self._thing()} {value}{self._some(verb, 0.5)}"

    def _piped(self) -> Case:
        verb = self._one(("apply", "apply", "create", "replace", "delete", "diff", "get", "describe"))
        text = MANIFEST[self._one(list(MANIFEST))]
        return Case(f"{verb} -f -{self._some(verb, 0.35)}", stdin=text)

    def _delete(self) -> str:
        return f"delete {self._thing()}{self._some('delete', 0.6)} --wait=false"

    def _events(self) -> str:
        return f"events{self._place()}{self._maybe(0.3, f'--for deploy/{self._workload()}')}{self._some('events', 0.5)}"

    def _explain(self) -> str:
        return f"explain {self._one(PATHS)}{self._some('explain', 0.4)}"

    def _create(self) -> str:
        what = self._one(
            (
                "deployment web --image=nginx", "deployment web", "configmap c --from-literal=a=b", "configmap c --from-literal=a",
                "secret generic s --from-literal=a=b", "namespace n", "ns", "serviceaccount sa", "job j --image=busybox", "job j --from=cronjob/x",
                "cronjob c --image=busybox --schedule='* * * * *'", "cronjob c --image=busybox", "role r --verb=get --resource=pods",
                "role r --verb=get --resource=x", "rolebinding b --role=r --user=u", "rolebinding b", "clusterrole c --verb=get --resource=nodes",
                "service clusterip s --tcp=80:8080", "service nodeport s --tcp=80", "service clusterip s", "quota q --hard=cpu=1,pods=2",
                "pdb p --selector=a=b --min-available=1", "pdb p", "ingress i --rule=a.b/c=svc:80", "priorityclass p --value=10", "token nothing", "nothing x",
            )
        )  # fmt: skip
        words = what.split()
        verb = " ".join(words[:2]) if words[0] in ("secret", "service") else words[0]
        verb = {"ns": "namespace", "pdb": "poddisruptionbudget"}.get(verb, verb)
        return f"create {what}{self._some(f'create {verb}', 0.5) if f'create {verb}' in self._flags else ''}"

    def _run(self) -> str:
        about = self._one(
            (
                "x --image=busybox",
                "x",
                "X --image=busybox",
                "x --image=busybox -- sleep 1",
                "x --image=nginx --port=80 --expose",
            )
        )
        return f"run{self._some('run', 0.5)} {about}"

    def _expose(self) -> str:
        return f"expose {self._one(('deploy', 'svc', 'pod', 'cm'))} {self._workload()}{self._maybe(0.7, '--port=80')}{self._some('expose', 0.5)}"

    def _autoscale(self) -> str:
        return f"autoscale deploy {self._workload()}{self._maybe(0.8, '--max=' + self._one(NUMBERS[:6]))}{self._some('autoscale', 0.5)}"

    def _auth(self) -> str:
        about = self._one(
            (
                "can-i get pods",
                "can-i '*' '*'",
                "can-i --list",
                "can-i delete deploy/frontend",
                "whoami",
                "can-i",
                "can-i get /healthz",
                "can-i get x",
            )
        )
        return f"auth {about}{self._some('auth ' + about.split()[0], 0.4)}"

    def _node(self) -> str:
        verb = self._one(("cordon", "uncordon", "taint"))
        value = (
            self._one(("a=b:NoSchedule", "a:NoExecute-", "a=b", "a=b:X", "a-", "")) if verb == "taint" else ""
        )
        about = self._one(("node ", "nodes ", "")) if verb == "taint" else ""
        return f"{verb} {about}{self._one((*self._names.nodes, 'x', ''))} {value}{self._some(verb, 0.4)}"

    def _raw(self) -> str:
        return f"get --raw {shlex.quote(self._one(RAW))}{self._some('get', 0.1)}"

    def _wait(self) -> str:
        for_ = self._one(
            (
                "condition=Ready",
                "condition=Available",
                "delete",
                "jsonpath={.status.phase}=Running",
                "x",
                "condition=Nothing",
                "create",
            )
        )
        return f"wait --for={shlex.quote(for_)} {self._thing()} --timeout={self._one(('1s', '0', '2s', 'x'))}{self._some('wait', 0.3)}"

    def _config(self) -> str:
        about = self._one(
            (
                "view",
                "current-context",
                "get-contexts",
                "use-context x",
                "view --minify",
                "get-clusters",
                "get-users",
                "get-contexts -o name",
            )
        )
        return f"config {about}{self._some('config ' + about.split()[0], 0.3)}"

    def _about(self) -> str:
        verb = self._one(("version", "cluster-info", "api-versions", "api-resources"))
        return f"{verb}{self._some(verb, 0.5)}"

    def _exec(self) -> str:
        about = self._one((self._pod(), f"deploy/{self._workload()}", ""))
        command = self._one(("true", "sh -c 'exit 3'", "nothing", "cat /etc/hostname", ""))
        return f"exec {about}{self._some('exec', 0.4)} -- {command}"


def flags_of(binary: Path) -> dict[str, dict[str, str]]:
    """The flags of every command by name, with the defaults as help shows them; global ones as well."""
    everywhere = subprocess.run([str(binary), "options"], capture_output=True, text=True).stdout
    shared = dict(_FLAG.findall(everywhere))
    common = {
        name: shared[name] for name in ("namespace", "context", "as", "request-timeout", "warnings-as-errors")
    }
    found: dict[str, dict[str, str]] = {}

    def walk(words: tuple[str, ...]) -> None:
        text = help_of(binary, *words)
        own = dict(_FLAG.findall(text))
        found[" ".join(words)] = {**own, **(common if own else {})} or common
        block = re.search(r"^Available Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
        for name in re.findall(r"^  ([\w-]+)", block[1], re.MULTILINE) if block else ():
            walk((*words, name))

    for group in re.findall(r"^  ([a-z][\w-]+) +[A-Z]", help_of(binary), re.MULTILINE):
        walk((group,))
    return found


def help_of(binary: Path, *words: str) -> str:
    """The help of a command."""
    return subprocess.run([str(binary), *words, "--help"], capture_output=True, text=True).stdout


def write_flags(binary: Path) -> None:
    """Freeze the flags of every command, so that ours can be held against them where there is no real kubectl."""
    commands = flags_of(binary)
    found = {
        command: {
            name: [short, shown] for short, name, shown in _SHORT.findall(help_of(binary, *command.split()))
        }
        for command in commands
    }
    lines = [
        f"{json.dumps(command)}: {json.dumps(flags)}" for command, flags in sorted(found.items()) if flags
    ]
    FLAGS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _same(real: Outcome, ours: Outcome, verb: str) -> bool:
    """Whether both say the same; the keys of a ConfigMap are described in no fixed order."""
    if verb != "describe" or real == ours:
        return real == ours
    lines = [sorted(each.stdout.splitlines()) for each in (real, ours)]
    return lines[0] == lines[1] and (real.stderr, real.code) == (ours.stderr, ours.code)


def _show(case: Case, real: Outcome, ours: Outcome, whole: bool) -> None:
    for part in real.differing(ours):
        print(
            f"--- kubectl {case.line!r} <<< {case.stdin!r}: {part}"
            if case.stdin
            else f"--- kubectl {case.line}: {part}"
        )
        lines = [
            line.rstrip("\n")
            for line in difflib.unified_diff(
                str(getattr(real, part)).splitlines(keepends=True),
                str(getattr(ours, part)).splitlines(keepends=True),
                n=0,
            )
        ][2:]
        for line in lines if whole else lines[:6]:
            print(f"    {line if whole else line[:220]}")


def main() -> None:
    """Draw, compare, count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--state", default="healthy", help="a state of tests/parity/states.py")
    parser.add_argument("--minor", type=int, default=32, help="minor version of the real kubectl")
    parser.add_argument("--words", nargs="*", default=(), help="only lines that hold them all")
    parser.add_argument("--typed", type=Path, help="lines from a file instead of drawn ones")
    parser.add_argument("--flags", action="store_true", help="write down the real one's flags and end")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args()
    binary, usual = real_kubectl(options.minor), real_kubectl()
    if binary is None or usual is None:
        sys.exit(f"no kubectl 1.{options.minor} found; name a 1.32 in SREGYM_KUBECTL")
    if options.flags:
        write_flags(binary)
        return
    chosen = state(options.state)
    world = chosen.make()
    if options.typed:
        cases = [Case(line) for line in options.typed.read_text().splitlines() if line.strip()]
    else:
        pods = [pod["metadata"]["name"] for pod in world.cluster.list("pods", "hotel-reservation")]
        drawing = Drawing(options.seed, Names(pods[::4]), flags_of(binary))
        cases = list(dict.fromkeys(drawing.case() for _ in range(options.lines)))
    cases = [case for case in cases if all(word in case.line for word in options.words)]
    equal: Counter[str] = Counter()
    every: Counter[str] = Counter()
    codes = versions = 0
    with sides(world, chosen.files, **chosen.how) as both:
        for case in cases:
            try:
                both.type_into(binary)
                real, ours = both.compare(case, tries=2)
            except ValueError:  # an unbalanced quote is nobody's line
                continue
            verb = case.line.split()[0]
            every[verb] += 1
            equal[verb] += _same(real, ours, verb)
            codes += real.code == ours.code
            if _same(real, ours, verb):
                continue
            if binary != usual:
                both.type_into(usual)
                if _same(both.real(case), ours, verb):
                    versions += 1
                    print("(1.32 says what ours says)")
            _show(case, real, ours, options.verbose)
    total = sum(every.values())
    for verb, count in every.most_common():
        print(f"{verb:15} {equal[verb]:5} of {count}")
    if versions:
        print(f"{versions} lines differ between 1.{options.minor} and 1.32")
    print(
        f"{sum(equal.values())} of {total} lines byte-equal ({sum(equal.values()) / total:.1%}); exit codes {codes / total:.1%}"
    )


if __name__ == "__main__":
    main()
