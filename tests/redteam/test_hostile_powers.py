"""Hostile input to the consoles, files, schemas and expressions: everything ends soon and touches nothing real."""

from __future__ import annotations

import builtins
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sregym_env.cluster.identity import ADMIN, User
from sregym_env.cluster.oncall import ONCALL
from sregym_env.tools.workstation import Workstation
from tests.effort import at_most

from .playing import NAMESPACE, subject
from .test_powers import applied, definition

N = f"-n {NAMESPACE}"
LIMIT = 4.0
"""Seconds of processor time that a line may take; generous, since machines differ."""
LONGEST = 1_000_000
"""Characters of an answer."""


def at(user: User = ONCALL) -> Workstation:
    """A workstation in a fork of a world."""
    return Workstation(subject("wrong_binary", "geo").world(), user)


@contextmanager
def nothing_real() -> Iterator[list[str]]:
    """Watches the doors to the real machine; the list names those that were used."""
    used: list[str] = []
    doors = (
        ("os", "system"), ("subprocess", "Popen"), ("socket", "socket"), ("os", "fork"), ("os", "kill"),
        ("os", "remove"), ("os", "mkdir"), ("pathlib.Path", "write_bytes"), ("time", "sleep"),
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for module, name in doors:
            patch.setattr(f"{module}.{name}", lambda *a, _n=name, **k: used.append(f"{_n}{a}"))
        plain = builtins.open

        def opening(file: Any, *args: Any, **kwargs: Any) -> Any:
            if not str(file).endswith((".py", ".pyc", ".gz", ".json", ".yaml")):
                used.append(f"open {file}")
            return plain(file, *args, **kwargs)

        patch.setattr("builtins.open", opening)
        yield used


def bounded(workstation: Workstation, line: str) -> str:
    """The answer, which must come soon and be of bounded length."""
    with at_most(LIMIT, line[:200]):
        text = workstation.run(line).text
    assert len(text) < LONGEST, len(text)
    assert "Traceback" not in text and "object at 0x" not in text, text[:2000]
    return text


POD = f"$(kubectl get pod {N} -l io.kompose.service=consul -o jsonpath='{{.items[0].metadata.name}}')"

LINES = {
    "editor_shell": f"KUBE_EDITOR='sh -c \"id; cat /etc/shadow; rm -rf /\"' kubectl edit deploy geo {N}",
    "editor_substitution": f"KUBE_EDITOR='$(cat /etc/passwd)`id`' kubectl edit deploy geo {N}",
    "editor_python": f"EDITOR='python3 -c \"import os;os.system(1)\"' kubectl edit deploy geo {N}",
    "editor_absolute": f"KUBE_EDITOR=/usr/bin/vim kubectl edit deploy geo {N}; VISUAL=/bin/sh kubectl edit cm {N}",
    "editor_endless": f"KUBE_EDITOR='sed -i s/^/x/' kubectl edit deploy geo {N}",
    "editor_of_itself": f"KUBE_EDITOR='kubectl edit deploy geo {N} #' kubectl edit deploy geo {N}",
    "editor_recursive": f"export KUBE_EDITOR='env kubectl edit deploy geo {N}'; kubectl edit deploy geo {N}",
    "editor_bomb": f"KUBE_EDITOR='sed -i \"s/.*/&&/;s/.*/&&/;s/.*/&&/;s/.*/&&/;s/.*/&&/;s/.*/&&/;s/.*/&&/\"' kubectl edit deploy geo {N}",
    "cp_above": f"kubectl cp {N} {POD}:/etc/../../../../etc/passwd /../../../../tmp/outside-marker; ls /../../tmp",
    "cp_into": f"echo x > f; kubectl cp f {N} {POD}:../../../../../etc/cron.d/outside-marker",
    "cp_real": f"kubectl cp /proc/self/environ {N} {POD}:/tmp/x; kubectl cp /root {N} {POD}:/tmp; kubectl cp {POD}:/ . {N} | tail -3",
    "cp_colons": f"kubectl cp ::: {N} a:b:c; kubectl cp {POD}: {POD}: {N}; kubectl cp {N}/ /",
    "cp_option": f"kubectl cp {N} {POD}:'--to-command=id' x; kubectl cp {N} {POD}:'/etc;id' x",
    "tar_members": f"kubectl exec {N} {POD} -- tar cf - ../../../etc/passwd /etc/hostname | tar xf - -C /",
    "tar_bomb": f"kubectl exec {N} {POD} -- sh -c 'head -c 900000000 /dev/zero > /tmp/big; tar cf - /tmp' | tail -c 10",
    "zeros": f"kubectl exec {N} {POD} -- cat /dev/zero | head -c 10; kubectl exec {N} {POD} -- sh -c 'yes | cat | cat' | tail -1",
    "exec_loop": f"kubectl exec {N} {POD} -- sh -c 'while true; do :; done'",
    "exec_bomb": f"kubectl exec {N} {POD} -- sh -c ':(){{ :|:& }};:'",
    "exec_stdin": f"yes | kubectl exec -i {N} {POD} -- sh",
    "kustomize_above": "mkdir -p a; echo 'resources: [../../../../etc, /etc/passwd, ../a]' > a/kustomization.yaml; kubectl kustomize a",
    "kustomize_cycle": "mkdir -p a b; echo 'resources: [../b]' > a/kustomization.yaml; echo 'resources: [../a]' > b/kustomization.yaml; kubectl kustomize a",
    "kustomize_url": "mkdir -p a; echo 'resources: [\"https://example.com/x.yaml\", \"git@github.com:a/b\", \"file:///etc/passwd\"]' > a/kustomization.yaml; kubectl kustomize a",
    "kustomize_exec": "mkdir -p a; printf 'generators: [g.yaml]\\n' > a/kustomization.yaml; printf 'kind: X\\nmetadata: {name: x, annotations: {config.kubernetes.io/function: \"exec: {path: /bin/sh}\"}}' > a/g.yaml; kubectl kustomize a --enable-exec --enable-alpha-plugins",
    "kustomize_files": "mkdir -p a; printf 'configMapGenerator:\\n- {name: x, files: [/etc/passwd, ../../../etc/shadow], envs: [/proc/self/environ]}\\n' > a/kustomization.yaml; kubectl kustomize a --load-restrictor=LoadRestrictionsNone",
    "kustomize_regex": "mkdir -p a; printf 'resources: [p.yaml]\\npatches:\\n- target: {name: \"(a+)+$\"}\\n  patch: |-\\n    - {op: remove, path: /data}\\n' > a/kustomization.yaml; printf 'kind: ConfigMap\\napiVersion: v1\\nmetadata: {name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-b}\\n' > a/p.yaml; kubectl kustomize a",
    "from_file": "kubectl create cm x --from-file=/etc/passwd --from-file=a=/proc/1/environ --from-env-file=/root/.bashrc --from-file=/ --dry-run=client -o yaml",
    "from_file_above": "kubectl create secret generic x --from-file=../../../../../../etc/passwd --dry-run=client -o yaml",
    "tls_files": "kubectl create secret tls x --cert=/etc/ssl/certs/ca-certificates.crt --key=/etc/shadow --dry-run=client",
    "fork_bomb": ":(){ :|:& };:",
    "job_bomb": "bomb() { bomb & bomb & }; bomb",
    "sleeps": "for i in $(seq 10000); do sleep 99999 & done; jobs | wc -l; kill $(jobs -p); wait",
    "forwards": f"for i in $(seq 1 2000); do kubectl port-forward {N} svc/consul $((10000+i)):8500 & done; jobs | tail -1",
    "forward_loop": f"kubectl port-forward {N} svc/consul 8500:8500 & kubectl proxy --port=8500 & curl -s localhost:8500/v1/catalog/services; curl localhost:8500 -L --max-redirs 99999",
    "forward_low": f"kubectl port-forward {N} svc/consul 22:8500 0:8500 -1:8500 99999999999:8500 :8500:1 & sleep 1; jobs",
    "background_loop": "while true; do true; done & sleep 1; jobs; (while true; do echo x; done) & kill %2; kill -9 1 -1 0 $$",
    "proxy_path": "kubectl proxy --www=/etc --www-prefix=/x/ & sleep 1; curl localhost:8001/x/passwd; curl --path-as-is localhost:8001/static/../../etc/passwd",
    "proxy_socket": "kubectl proxy --unix-socket=/tmp/outside-marker & sleep 1; ls /tmp",
    "laughs": "printf 'a: &a [x,x,x,x,x,x,x,x,x]\\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f]\\nh: &h [*g,*g,*g,*g,*g,*g,*g,*g,*g]\\napiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: x}\\ndata: {x: *h}\\n' | kubectl apply -f -",
    "yaml_self": "printf 'apiVersion: v1\\nkind: ConfigMap\\nmetadata: &m {name: x, annotations: *m}\\n' | kubectl apply -f -",
    "yaml_tag": "printf 'apiVersion: !!python/object/apply:os.system [id]\\nkind: ConfigMap\\n' | kubectl apply -f -",
    "deep_flow": "printf '%0.s[' $(seq 20000) | kubectl apply -f -",
    "deep_json": "printf '%0.s{\"a\":' $(seq 20000) | kubectl apply -f -",
    "deep_patch": f"kubectl patch cm kube-root-ca.crt {N} --type=merge -p \"$(printf '%0.s{{\"a\":' $(seq 5000))1$(printf '%0.s}}' $(seq 5000))\"",
    "jsonpath": f"kubectl get pods -A -o jsonpath='{{..{'..' * 200}}}' | tail -c 100; kubectl get pods -A -o jsonpath='{'{..*}' * 30}' | tail -c 100",
    "jsonpath_filter": f"kubectl get pods -A -o jsonpath='{{.items[?(@.metadata.name=~\"(a+)+$\")]{{.x}}' ; kubectl wait {N} pod --all --for=jsonpath='{{..*}}'=1 --timeout=1s | tail -1",
    "template": "kubectl get pods -A -o go-template='{{define \"x\"}}{{template \"x\"}}{{end}}{{template \"x\"}}' | tail -c 300",
    "template_range": "kubectl get pods -A -o go-template='{{range .items}}{{range $.items}}{{range $.items}}{{range $.items}}{{.}}{{end}}{{end}}{{end}}{{end}}' | tail -c 100",
    "template_printf": "kubectl get pods -A -o go-template='{{printf \"%999999999d\" 1}}' | tail -c 100",
    "columns": f"kubectl get pods -A -o custom-columns={','.join(f'c{i}:..*' for i in range(60))} | tail -c 100",
    "sort": "kubectl get pods -A --sort-by='{..*..*}' | tail -1; kubectl get pods -A -l \"$(printf 'a=b,%0.s' $(seq 50000))\" | tail -1",
    "json_patch_growth": f"kubectl create cm grow {N} --from-literal=a=aaaaaaaaaa; kubectl patch cm grow {N} --type=json -p \"[$(for i in $(seq 60); do printf '{{\"op\":\"copy\",\"from\":\"/data\",\"path\":\"/data/x%s\"}},' $i; done){{\"op\":\"test\",\"path\":\"/x\",\"value\":1}}]\"",
    "cidr": f"kubectl run x {N} --image=busybox --overrides=\"$(printf '%0.s[' $(seq 3000))\"",
    "patch_file": f"kubectl patch cm x {N} --patch-file=/etc/passwd; kubectl replace -f /dev/zero; kubectl apply -f /dev/stdin < /dev/zero",
    "raw_paths": "kubectl get --raw '/api/v1/namespaces/../../../../etc/passwd'; kubectl replace --raw /api -f /etc/passwd; kubectl delete --raw '/api/v1/%2e%2e'",
    "kubeconfig": "kubectl --kubeconfig=/root/.kube/config get pods; KUBECONFIG=/etc/passwd kubectl get ns; kubectl config set-cluster x --certificate-authority=/etc/passwd --embed-certs; kubectl --token-file=/etc/shadow get ns; kubectl --client-key=/etc/ssl/private get ns",
    "debug_custom": f"kubectl debug {POD} {N} --image=busybox --custom=/etc/passwd; kubectl debug node/sre-worker --image=busybox -- chroot /host rm -rf /",
    "debug_many": f"for i in $(seq 200); do kubectl debug {POD} {N} --image=busybox -- sleep 9999; done 2>&1 | tail -1",
    "replicas": f"kubectl scale deploy geo {N} --replicas=2147483647; sleep 5",
    "parallel": f"kubectl create job x {N} --image=busybox -- sh -c 'while true; do :; done'; sleep 60",
    "plugin": "printf '#!/bin/sh\\nid' > kubectl-x; chmod +x kubectl-x; PATH=.:$PATH kubectl x; kubectl plugin list",
    "credential_plugin": "kubectl config set-credentials sre-agent --exec-command=/bin/sh --exec-arg=-c --exec-arg=id; kubectl get pods",
    "diff_program": f"KUBECTL_EXTERNAL_DIFF='sh -c id' kubectl diff -f /dev/null; KUBECTL_EXTERNAL_DIFF=/bin/sh kubectl diff -k . {N}",
}  # fmt: skip


@pytest.mark.parametrize("attempt", LINES)
def test_a_hostile_line_ends_soon_and_touches_nothing(attempt: str) -> None:
    workstation = at()
    with nothing_real() as used:
        text = bounded(workstation, LINES[attempt])
    assert not used
    assert "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1" not in text or "exec" in LINES[attempt]
    assert not Path("/tmp/outside-marker").exists()
    assert bounded(workstation, f"kubectl get deploy consul {N} -o name") == "deployment.apps/consul\n"


def crd(schema: object, **version: object) -> dict[str, object]:
    """A CustomResourceDefinition with a schema."""
    made = json.loads(json.dumps(definition("things", "example.com", "Thing")))
    made["spec"]["versions"][0] |= {"schema": {"openAPIV3Schema": schema}, **version}
    return dict(made)


def nested(levels: int) -> dict[str, object]:
    """A schema of that many levels."""
    found: dict[str, object] = {"type": "string"}
    for _ in range(levels):
        found = {"type": "object", "properties": {"a": found}}
    return found


def ruled(*rules: str, **spec: object) -> dict[str, object]:
    """A definition with CEL rules on ``spec``."""
    inner = {
        "type": "object",
        "x-kubernetes-validations": [{"rule": rule} for rule in rules],
        "properties": {"a": {"type": "string"}, "l": {"type": "array", "items": {"type": "integer"}}},
        **spec,
    }
    return crd({"type": "object", "properties": {"spec": inner}})


def thing(a: str, length: int = 0) -> dict[str, object]:
    """An object of the kind."""
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "x", "namespace": NAMESPACE},
        "spec": {"a": a, "l": list(range(length))},
    }


def versions(count: int) -> dict[str, object]:
    """A definition with very many versions."""
    made = json.loads(json.dumps(definition("things", "example.com", "Thing")))
    first = made["spec"]["versions"][0]
    made["spec"]["versions"] = [{**first, "name": f"v{i + 1}", "storage": i == 0} for i in range(count)]
    return dict(made)


CELS = {
    "nested_loops": ("self.l.all(a, self.l.all(b, self.l.all(c, self.l.all(d, a + b + c + d >= 0))))", thing("x", 200)),
    "growth": ("self.a.matches('x') || (self.a + self.a + self.a + self.a).size() > 0 " * 1 + "".join("&& (self.a + self.a).size() >= 0 " for _ in range(200)), thing("y" * 100_000)),
    "regex": ("self.a.matches('(a+)+$')", thing("a" * 5000 + "b")),
    "regex_nested": ("self.a.matches('((((((a*)*)*)*)*)*)*$')", thing("a" * 2000 + "b")),
    "regex_counts": ("self.a.matches('((a{0,1000}){0,1000}){0,1000}')", thing("a" * 1000)),
    "deep": ("(" * 2000 + "true" + ")" * 2000, thing("x")),
    "long": (" && ".join(["true"] * 20000), thing("x")),
    "not": ("!" * 5000 + "true", thing("x")),
    "replace": ("self.a.replace('a', 'aaaaaaaaaaaaaaaaaaaa').replace('a', 'aaaaaaaaaaaaaaaaaaaa').replace('a', 'aaaaaaaaaaaaaaaaaaaa').replace('a', 'aaaaaaaaaaaaaaaaaaaa').size() > 0", thing("a" * 1000)),
    "split": ("self.a.split('').map(x, self.a.split('').map(y, x + y)).size() > 0", thing("a" * 5000)),
    "map": ("self.l.map(x, self.l.map(y, self.l.map(z, [x, y, z]))).size() > 0", thing("x", 300)),
    "format": ("'%s%s%s%s'.format([self.a, self.a, self.a, self.a]).size() > 0 && '%.999999999f'.format([1.0]).size() > 0", thing("x" * 1000)),
    "numbers": ("9223372036854775807 + 1 > 0 || int('9' + '9') % 0 == 1 || uint(-1) > 0u", thing("x")),
    "python": ("self.__class__.__mro__ == dyn(1) || __import__('os').system('id') == 0", thing("x")),
}  # fmt: skip


@pytest.mark.parametrize("name", CELS)
def test_an_expression_has_its_limits(name: str) -> None:
    rule, obj = CELS[name]
    workstation = at(ADMIN)
    bounded(workstation, applied(ruled(rule)))
    bounded(workstation, "sleep 3")
    bounded(workstation, applied(obj, flags="--server-side"))


SCHEMAS = {
    "deep": crd(nested(150)),
    "very_deep": crd(nested(300)),
    "wide": crd({"type": "object", "properties": {f"p{i}": {"type": "string", "pattern": "(a+)+$"} for i in range(5000)}}),
    "versions": versions(1000),
    "regex": crd({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a|a)*$"}}}}}),
    "defaults": crd({"type": "object", "properties": {"spec": {"type": "object", "default": {}, "properties": {"a": {"type": "string", "default": "x" * 200_000}}}}}),
    "reference": crd({"type": "object", "properties": {"a": {"$ref": "#/"}}}),
    "combined": crd({"type": "object", "allOf": [{"anyOf": [{"oneOf": [{"not": {"required": ["a"]}}] * 50}] * 20}] * 5}),
    "columns": crd({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, additionalPrinterColumns=[{"name": f"c{i}", "type": "string", "jsonPath": ".." + ".*" * 20} for i in range(500)]),
}  # fmt: skip


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_has_its_limits(name: str) -> None:
    workstation = at(ADMIN)
    bounded(workstation, applied(SCHEMAS[name], flags="--server-side"))
    bounded(workstation, "sleep 3")
    bounded(workstation, applied(thing("a" * 3000 + "b")))
    bounded(workstation, f"kubectl get things {N} | tail -c 300; kubectl explain things | tail -c 100")
    bounded(workstation, "kubectl api-resources | tail -1; kubectl get --raw /apis | tail -c 10")


def test_a_webhook_that_triggers_itself_ends() -> None:
    """A configuration whose webhook is asked about the writes that it causes itself, and about itself."""
    workstation = at(ADMIN)
    rules = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]
    hook = {
        "clientConfig": {"service": {"namespace": NAMESPACE, "name": "consul", "path": "/", "port": 8500}},
        "rules": rules,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "IfNeeded",
        "timeoutSeconds": 30,
    }
    manifest = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "self"},
        "webhooks": [{"name": f"h{i}.example.com", **hook} for i in range(50)],
    }
    bounded(workstation, applied(manifest))
    bounded(workstation, f"kubectl rollout restart deploy {N}; sleep 60")
    bounded(workstation, "kubectl delete mutatingwebhookconfiguration self")
