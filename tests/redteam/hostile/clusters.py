"""kubectl, the API server, controllers, pods and time."""

from __future__ import annotations

import json

from .attempt import Attempt, attempts
from .shells import nested

N = "-n hotel-reservation"
DEPTHS = [10, 100, 500, 2_000, 20_000]
COUNTS = [5, 40, 200]

FORMS = {
    "jsonpath_range": "kubectl get pods -A -o jsonpath='⟦{range .items[*]}⟧⟦{end}⟧' | tail -c 99",
    "jsonpath_open": "kubectl get pods -A -o jsonpath='⟦{range .items[*]}⟧' | tail -c 99",
    "jsonpath_end": "kubectl get pods -A -o jsonpath='⟦{end}⟧' | tail -c 99",
    "jsonpath_descent": "kubectl get pods -A -o jsonpath='{⟦..*⟧}' | tail -c 99",
    "jsonpath_descent_many": "kubectl get pods -A -o jsonpath='⟦{..*}⟧' | wc -c",
    "jsonpath_names": "kubectl get pods -A -o jsonpath='{⟦..metadata⟧}' | wc -c",
    "jsonpath_star": "kubectl get pods -A -o jsonpath='{.items⟦[*]⟧}' | wc -c; kubectl get pods -A -o jsonpath='{⟦.*⟧}' | wc -c",
    "jsonpath_filter": "kubectl get pods -A -o jsonpath='{.items⟦[?(@.metadata.name)]⟧}' | wc -c",
    "jsonpath_filter_nested": "kubectl get pods -A -o jsonpath='{.items⟦[?(@.metadata⟧⟦)]⟧}' | wc -c",
    "jsonpath_brackets": "kubectl get pods -A -o jsonpath='{⟦[⟧0⟦]}⟧' | wc -c; kubectl get pods -o jsonpath='{⟦(⟧' | wc -c",
    "jsonpath_union": "kubectl get pods -A -o jsonpath='{.items[*][⟦\"metadata\",⟧\"spec\"]}' | wc -c; kubectl get pods -A -o jsonpath='{.items[⟦0,⟧1]}' | wc -c",
    "jsonpath_slices": "kubectl get pods -A -o jsonpath='{.items[⟦9⟧:⟦9⟧]}'; kubectl get pods -A -o jsonpath='{.items[0:9:⟦0⟧1]}' | wc -c",
    "jsonpath_text": "kubectl get pods -A -o jsonpath='⟦x⟧{.items[*].metadata.name}⟦y⟧' | wc -c; kubectl get pods -A -o jsonpath='⟦{\"\\n\"}⟧' | wc -c",
    "jsonpath_open_brace": "kubectl get pods -A -o jsonpath='⟦{⟧' | wc -c",
    "jsonpath_fields": "kubectl get pods -A -o jsonpath='{⟦.a⟧}' | wc -c; kubectl get pods -A -o jsonpath='{⟦.items[0]⟧}' | wc -c",
    "template_range": "kubectl get pods -A -o go-template='⟦{{range .items}}⟧x⟦{{end}}⟧' | wc -c",
    "template_range_outer": "kubectl get pods -A -o go-template='⟦{{range $.items}}⟧x⟦{{end}}⟧' | wc -c",
    "template_if": "kubectl get pods -A -o go-template='⟦{{if true}}⟧x⟦{{end}}⟧' | wc -c",
    "template_with": "kubectl get pods -A -o go-template='⟦{{with .}}⟧x⟦{{end}}⟧' | wc -c",
    "template_open": "kubectl get pods -A -o go-template='⟦{{if true}}⟧' | wc -c; kubectl get pods -A -o go-template='⟦{{⟧' | wc -c",
    "template_paren": "kubectl get pods -A -o go-template='{{⟦(⟧.items⟦)⟧}}' | wc -c",
    "template_pipe": "kubectl get pods -A -o go-template='{{.items ⟦| printf \"%v%v\" 1 ⟧}}' | wc -c",
    "template_pipe_grow": "kubectl get pods -A -o go-template='{{$x := \"x\"}}⟦{{$x = printf \"%s%s\" $x $x}}⟧{{$x}}' | wc -c",
    "template_print_grow": "kubectl get pods -A -o go-template='{{$x := .}}⟦{{$x = printf \"%v\" $x | printf \"%q%q\" $x}}⟧{{$x}}' | wc -c",
    "template_define": "kubectl get pods -A -o go-template='⟦{{define \"a\"}}{{end}}⟧{{template \"a\"}}' | wc -c",
    "template_chain": "kubectl get pods -A -o go-template='{{define \"a\"}}⟦{{template \"a\"}}⟧{{end}}{{template \"a\"}}' 2>&1 | tail -c 99",
    "template_index": "kubectl get pods -A -o go-template='{{index . ⟦\"items\" ⟧}}' | wc -c; kubectl get pods -A -o go-template='{{⟦not ⟧true}}' | wc -c",
    "template_eq": "kubectl get pods -A -o go-template='{{eq ⟦1 ⟧}} {{and ⟦true ⟧}} {{len ⟦(printf \"%s\" ⟧\"x\"⟦)⟧}}' | wc -c",
    "template_printf": "kubectl get pods -A -o go-template='{{printf \"⟦%v⟧\" .items}}' | wc -c; kubectl get pods -A -o go-template='{{printf \"%⟦9⟧d\" 1}}' | wc -c",
    "template_vars": "kubectl get pods -A -o go-template='⟦{{$x := .items}}⟧{{len $x}}' | wc -c",
    "columns": "kubectl get pods -A -o custom-columns='⟦A:.metadata.name,⟧B:.kind' | wc -c",
    "columns_descent": "kubectl get pods -A -o custom-columns='⟦A:..*,⟧B:.kind' | wc -c; kubectl get pods -A -o custom-columns='A:⟦.a⟧' | wc -c",
    "columns_brackets": "kubectl get pods -A -o custom-columns='A:.items⟦[*]⟧,B:⟦[?(@.a)]⟧' | wc -c",
    "sort_by": "kubectl get pods -A --sort-by='{⟦..*⟧}' | tail -1; kubectl get pods -A --sort-by='⟦.metadata⟧' | tail -1",
    "selector": "kubectl get pods -A -l '⟦a=b,⟧c=d' | tail -1; kubectl get pods -A -l 'a in (⟦b,⟧c)' | tail -1; kubectl get pods -A -l '⟦!⟧a' | tail -1; kubectl get pods -A -l '⟦(⟧' | tail -1",
    "selector_or": "kubectl get pods -A -l 'app in (⟦geo,⟧x),app notin (⟦y,⟧z)' | wc -l; kubectl get all -A -l '⟦a,⟧b' | wc -l",
    "field_selector": "kubectl get pods -A --field-selector='⟦metadata.name!=x,⟧metadata.name=y' | tail -1; kubectl get events -A --field-selector='⟦type=Normal,⟧a=b' | tail -1",
    "names": "kubectl get pods ⟦x ⟧ 2>&1 | tail -1; kubectl get ⟦pods,⟧svc -A | wc -l; kubectl describe ⟦pod/x ⟧ 2>&1 | tail -1",
    "flags": "kubectl get pods ⟦-v=9 ⟧ | tail -1; kubectl get pods ⟦-n default ⟧ | tail -1; kubectl get pods ⟦--⟧ 2>&1 | tail -1",
    "explain": "kubectl explain pods⟦.spec⟧ | tail -1; kubectl explain ⟦pods.spec.containers⟧ --recursive | tail -1; kubectl explain pods --recursive | wc -l",
    "raw": "kubectl get --raw '/⟦api/⟧v1' | tail -c 99; kubectl get --raw '/api/v1/pods?⟦a=b&⟧limit=1' | wc -c; kubectl get --raw '/⟦../⟧' | wc -c",
    "patch_deep": "kubectl patch cm kube-root-ca.crt @N --type=merge -p '⟦{\"a\":⟧1⟦}⟧' 2>&1 | tail -c 99",
    "patch_list": "kubectl patch deploy geo @N --type=merge -p '{\"spec\":{\"template\":⟦[⟧1⟦]⟧}}' 2>&1 | tail -c 99",
    "patch_strategic": "kubectl patch deploy geo @N -p '{\"spec\":{\"template\":{\"spec\":{\"containers\":[⟦{\"name\":\"x\"},⟧{\"name\":\"y\"}]}}}}' 2>&1 | tail -c 99",
    "patch_json": "kubectl patch deploy geo @N --type=json -p '[⟦{\"op\":\"copy\",\"from\":\"/metadata\",\"path\":\"/metadata/x\"},⟧{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]' 2>&1 | tail -c 99",
    "patch_json_pointer": "kubectl patch deploy geo @N --type=json -p '[{\"op\":\"add\",\"path\":\"⟦/a⟧\",\"value\":1}]' 2>&1 | tail -c 99; kubectl patch deploy geo @N --type=json -p '[{\"op\":\"add\",\"path\":\"⟦/metadata⟧\",\"value\":1}]' 2>&1 | tail -c 99",
    "patch_json_grow": "kubectl patch deploy geo @N --type=json -p '[{\"op\":\"add\",\"path\":\"/metadata/annotations/a\",\"value\":[1]},⟦{\"op\":\"copy\",\"from\":\"/metadata/annotations\",\"path\":\"/metadata/annotations/a/-\"},⟧{\"op\":\"test\",\"path\":\"/a\",\"value\":1}]' 2>&1 | tail -c 99",
    "annotate": "kubectl annotate deploy geo @N a=⟦x⟧ 2>&1 | tail -c 99; kubectl label deploy geo @N a=⟦x⟧ 2>&1 | tail -c 99; kubectl annotate deploy geo @N ⟦a-⟧ 2>&1 | tail -c 99",
    "set_env": "kubectl set env deploy/geo @N ⟦A=b ⟧ 2>&1 | tail -c 99; kubectl set image deploy/geo @N ⟦a=b ⟧ 2>&1 | tail -c 99",
    "yaml_deep": "echo 'a: ⟦[⟧⟦]⟧' | kubectl apply -f - 2>&1 | tail -c 99; echo '⟦- ⟧x' | kubectl apply -f - 2>&1 | tail -c 99; echo '⟦? ⟧x' | kubectl apply -f - 2>&1 | tail -c 99",
    "yaml_flow": "echo '⟦{a: ⟧1⟦}⟧' | kubectl apply -f - 2>&1 | tail -c 99; echo '⟦[⟧' | kubectl apply -f - 2>&1 | tail -c 99; echo '⟦{⟧' | kubectl create -f - 2>&1 | tail -c 99",
    "yaml_documents": "echo '⟦---\n⟧' | kubectl apply -f - 2>&1 | tail -c 99; echo '⟦---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\n⟧' | kubectl apply -f - 2>&1 | tail -c 99",
    "yaml_anchors": "echo 'a: &a x\n⟦b: [*a,*a]\n⟧' | kubectl apply -f - 2>&1 | tail -c 99; echo '⟦&a ⟧x' | kubectl apply -f - 2>&1 | tail -c 99",
    "yaml_keys": "echo 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: x}\ndata:\n⟦  a: b\n⟧' | kubectl apply -f - 2>&1 | tail -c 99",
    "yaml_merge": "echo 'a: &a {x: 1}\nb: {⟦<<: *a, ⟧y: 1}' | kubectl apply -f - 2>&1 | tail -c 99",
    "yaml_scalar": "echo 'a: \"⟦\\\\n⟧\"' | kubectl apply -f - 2>&1 | tail -c 99; echo 'a: |\n⟦ x\n⟧' | kubectl apply -f - 2>&1 | tail -c 99; echo 'a: ⟦9⟧' | kubectl apply -f - 2>&1 | tail -c 99; echo 'a: ⟦1:⟧1' | kubectl apply -f - 2>&1 | tail -c 99",
    "yaml_indent": "echo '⟦ ⟧a: b' | kubectl apply -f - 2>&1 | tail -c 99; echo '⟦a:\n ⟧' | kubectl apply -f - 2>&1 | tail -c 99; echo '⟦!!str ⟧x' | kubectl apply -f - 2>&1 | tail -c 99",
    "json_deep": "echo '⟦[⟧⟦]⟧' | kubectl apply -f - 2>&1 | tail -c 99; echo '⟦{\"a\":⟧1⟦}⟧' | kubectl create -f - 2>&1 | tail -c 99; echo '{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":⟦[⟧⟦]⟧}' | kubectl apply -f - 2>&1 | tail -c 99",
    "json_lists": "echo '⟦{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[⟧⟦]}⟧' | kubectl apply -f - 2>&1 | tail -c 99",
    "overrides": "kubectl run x @N --image=busybox --overrides='⟦[⟧⟦]⟧' 2>&1 | tail -c 99; kubectl run x @N --image=busybox --overrides='⟦{\"spec\":⟧1⟦}⟧' 2>&1 | tail -c 99",
    "literal": "kubectl create cm x @N ⟦--from-literal=a=b ⟧ 2>&1 | tail -c 99; kubectl create secret generic x @N --from-literal=a=⟦x⟧ 2>&1 | tail -c 99; kubectl create cm y @N --from-literal=⟦a⟧=b 2>&1 | tail -c 99",
    "quantity": "kubectl set resources deploy geo @N --limits=cpu=⟦9⟧,memory=1e⟦9⟧ 2>&1 | tail -c 99; kubectl scale deploy geo @N --replicas=⟦9⟧ 2>&1 | tail -c 99; kubectl logs deploy/geo @N --tail=⟦9⟧ --since=⟦9⟧h 2>&1 | tail -c 99",
    "curl_url": "curl -s 'http://⟦a.⟧b/' 2>&1 | tail -c 99; curl -s 'http://10.96.0.1/⟦a/⟧' 2>&1 | tail -c 99; curl -s ⟦-H 'A: b' ⟧http://10.96.0.1 2>&1 | tail -c 99; curl -s 'http://[⟦:⟧]' ; curl -s '⟦http://⟧' 2>&1 | tail -c 99",
    "curl_data": "curl -s -d '⟦x⟧' http://10.96.0.1 2>&1 | tail -c 99; curl -s -w '⟦%{http_code}⟧' -o /dev/null http://10.96.0.1 2>&1 | tail -c 99; curl -s ⟦http://10.96.0.1/ ⟧2>&1 | tail -c 99; curl 'http://x/[1-⟦9⟧]' 'http://x/{⟦a,⟧b}' 2>&1 | tail -c 99",
    "alerts": "alerts ⟦x ⟧ 2>&1 | tail -1; alerts -o '⟦json⟧' 2>&1 | tail -1",
    "promql": "promql '⟦sum(⟧up⟦)⟧' 2>&1 | tail -c 99; promql '⟦-⟧up' 2>&1 | tail -c 99; promql 'up ⟦or up ⟧' 2>&1 | tail -c 99; promql 'up{job=~\"⟦(a|b)*⟧\"}' 2>&1 | tail -c 99",
    "promql_range": "promql --range ⟦9⟧d '{__name__=~\".+\"}' 2>&1 | tail -c 99; promql --step ⟦9⟧s --range 9d up 2>&1 | tail -c 99; promql --time ⟦9⟧ up 2>&1 | tail -c 99; promql 'up[⟦9⟧d:1s]' 2>&1 | tail -c 99",
    "promql_names": "promql --metrics '⟦(a*)*⟧' 2>&1 | tail -c 99; promql --series '{__name__=~\"⟦.*⟧\"}' 2>&1 | tail -c 99; promql --page ⟦9⟧ '{__name__=~\".+\"}' 2>&1 | tail -c 99",
    "logql": "logql '{namespace=~\".+\"} ⟦|= \"a\" ⟧' 2>&1 | tail -c 99; logql --since ⟦9⟧h '{namespace=~\".+\"} |~ \"⟦(x+)*⟧\"' 2>&1 | tail -c 99; logql 'sum(⟦rate(⟧{namespace=~\".+\"}[⟦9⟧h]⟦)⟧)' 2>&1 | tail -c 99",
    "traces": "traces search frontend ⟦--tag a=b ⟧ 2>&1 | tail -c 99; traces search ⟦x⟧ --since ⟦9⟧h 2>&1 | tail -c 99; traces get ⟦a⟧ 2>&1 | tail -c 99; traces ⟦x ⟧ 2>&1 | tail -c 99",
    "submit_words": "submit ⟦x ⟧ 2>&1 | tail -1; submit --help ⟦x ⟧",
    "kustomize": "mkdir -p a; echo 'resources: [⟦x.yaml,⟧y.yaml]' > a/kustomization.yaml; kubectl kustomize a 2>&1 | tail -1; echo 'namePrefix: ⟦x⟧\nresources: [p.yaml]' > a/kustomization.yaml; echo '{kind: ConfigMap, apiVersion: v1, metadata: {name: x}}' > a/p.yaml; kubectl kustomize a 2>&1 | tail -c 99",
    "kubeconfig": "kubectl config set-context ⟦x⟧ 2>&1 | tail -c 99; kubectl config view -o jsonpath='⟦{..*}⟧' | wc -c; kubectl config set ⟦a.⟧b c 2>&1 | tail -c 99; export KUBECONFIG=⟦/x:⟧/y; kubectl get ns | tail -1",
    "wait_for": "kubectl wait @N pod --all --for=jsonpath='{⟦..*⟧}'=1 --timeout=5s 2>&1 | tail -1; kubectl wait @N ⟦pod/x ⟧ --for=condition=⟦x⟧ --timeout=1s 2>&1 | tail -1",
}  # fmt: skip


def laughs(levels: int, width: int, lists: bool) -> str:
    """A document whose aliases stand for aliases."""
    first = ", ".join(["x"] * width)
    lines = [f"a0: &a0 [{first}]" if lists else "a0: &a0 {x: y}"]
    for level in range(1, levels):
        refs = [f"*a{level - 1}"] * width
        inner = ", ".join(refs) if lists else ", ".join(f"k{i}: {ref}" for i, ref in enumerate(refs))
        lines.append(f"a{level}: &a{level} {'[' if lists else '{'}{inner}{']' if lists else '}'}")
    head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: laughs}\n"
    tail = f"data: {{x: *a{levels - 1}}}\n"
    return "\n".join(lines) + "\n" + head + tail


OBJECTS = {
    "configmaps": f"for i in $(seq @n); do echo '---'; echo '{{kind: ConfigMap, apiVersion: v1, metadata: {{name: c'$i'}}}}'; done | kubectl create {N} -f - | tail -1|>kubectl get cm {N} | wc -l|>kubectl delete cm --all {N} | tail -1",
    "configmaps_generate": f"for i in $(seq @n); do echo '---'; echo '{{kind: ConfigMap, apiVersion: v1, metadata: {{generateName: c}}}}'; done | kubectl create {N} -f - | tail -1",
    "pods": f"for i in $(seq @n); do echo '---'; echo '{{kind: Pod, apiVersion: v1, metadata: {{name: p'$i'}}, spec: {{containers: [{{name: a, image: busybox, args: [sleep, \"9999\"]}}]}}}}'; done | kubectl apply {N} -f - | tail -1|>kubectl get pods {N} -o yaml | wc -l|>sleep 60|>kubectl delete pods --all {N} --wait=false | tail -1|>sleep 60",
    "deployments": f"for i in $(seq @n); do echo '---'; echo '{{kind: Deployment, apiVersion: apps/v1, metadata: {{name: d'$i'}}, spec: {{replicas: 3, selector: {{matchLabels: {{a: b'$i'}}}}, template: {{metadata: {{labels: {{a: b'$i'}}}}, spec: {{containers: [{{name: a, image: busybox, args: [sleep, \"9999\"]}}]}}}}}}}}'; done | kubectl apply {N} -f - | tail -1|>sleep 60|>kubectl rollout restart deploy {N} | tail -1|>sleep 60|>kubectl delete deploy --all {N} | tail -1",
    "services": f"for i in $(seq @n); do kubectl create service clusterip s$i --tcp=80 --dry-run=client -o yaml; echo ---; done > s.yaml; kubectl apply {N} -f s.yaml | tail -1|>kubectl get svc,ep,endpointslices {N} | wc -l|>curl -s http://frontend.hotel-reservation:5000 | wc -c",
    "services_all": f"for i in $(seq @n); do echo '---'; echo '{{kind: Service, apiVersion: v1, metadata: {{name: s'$i'}}, spec: {{ports: [{{port: 80}}], selector: {{}}}}}}'; done | kubectl apply {N} -f - | tail -1|>sleep 30|>kubectl describe svc {N} | wc -l",
    "policies": f"for i in $(seq @n); do echo '---'; echo '{{kind: NetworkPolicy, apiVersion: networking.k8s.io/v1, metadata: {{name: n'$i'}}, spec: {{podSelector: {{}}, ingress: [{{}}], egress: [{{}}]}}}}'; done | kubectl apply {N} -f - | tail -1|>sleep 60|>curl -s http://frontend.hotel-reservation:5000 | wc -c",
    "jobs": f"for i in $(seq @n); do kubectl create job j$i --image=busybox --dry-run=client -o yaml -- sh -c 'echo x; exit 1'; echo ---; done > j.yaml; kubectl apply {N} -f j.yaml | tail -1|>sleep 600|>kubectl get jobs,pods {N} | wc -l",
    "cronjobs": f"for i in $(seq @n); do kubectl create cronjob c$i --image=busybox --schedule='* * * * *' --dry-run=client -o yaml -- sh -c 'echo x'; echo ---; done > c.yaml; kubectl apply {N} -f c.yaml | tail -1|>sleep 600|>sleep 600; sleep 600; sleep 600; sleep 600; sleep 600|>kubectl get jobs,pods {N} | wc -l",
    "claims": f"for i in $(seq @n); do echo '---'; echo '{{kind: PersistentVolumeClaim, apiVersion: v1, metadata: {{name: v'$i'}}, spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}}}'; done | kubectl apply {N} -f - | tail -1|>sleep 60|>kubectl get pvc {N} | wc -l",
    "autoscalers": f"for i in $(seq @n); do echo '---'; echo '{{kind: HorizontalPodAutoscaler, apiVersion: autoscaling/v2, metadata: {{name: h'$i'}}, spec: {{minReplicas: 1, maxReplicas: 1000, scaleTargetRef: {{kind: Deployment, apiVersion: apps/v1, name: geo}}, metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 1}}}}}}]}}}}'; done | kubectl apply {N} -f - | tail -1|>sleep 600|>kubectl get hpa,pods {N} | wc -l",
    "budgets": f"for i in $(seq @n); do kubectl create pdb b$i --selector=a=b --min-available=1 --dry-run=client -o yaml; echo ---; done > b.yaml; kubectl apply {N} -f b.yaml | tail -1|>kubectl rollout restart deploy {N} | tail -1; sleep 60",
    "quotas": f"for i in $(seq @n); do kubectl create quota q$i --hard=pods=1000 --dry-run=client -o yaml; echo ---; done > q.yaml; kubectl apply {N} -f q.yaml | tail -1|>kubectl rollout restart deploy {N} | tail -1; sleep 60",
    "secrets_mounted": f"for i in $(seq @n); do echo '---'; echo '{{kind: Secret, apiVersion: v1, metadata: {{name: s'$i'}}, stringData: {{a: b}}}}'; done | kubectl apply {N} -f - | tail -1|>kubectl get secrets {N} -o yaml | wc -c",
    "events": f"for i in $(seq @n); do echo '---'; echo '{{kind: Event, apiVersion: v1, metadata: {{generateName: e, namespace: hotel-reservation}}, involvedObject: {{kind: Pod, name: x, namespace: hotel-reservation}}, reason: x, message: y, type: Warning}}'; done | kubectl create -f - | tail -1|>kubectl get events {N} | wc -l|>kubectl describe pods {N} | wc -l",
    "roles": f"for i in $(seq @n); do echo '---'; echo '{{kind: ServiceAccount, apiVersion: v1, metadata: {{name: a'$i'}}}}'; done | kubectl apply {N} -f - | tail -1; kubectl auth can-i --list {N} | wc -l",
    "statefulsets": f"for i in $(seq @n); do echo '---'; echo '{{kind: StatefulSet, apiVersion: apps/v1, metadata: {{name: s'$i'}}, spec: {{serviceName: x, replicas: 5, podManagementPolicy: Parallel, selector: {{matchLabels: {{a: b'$i'}}}}, template: {{metadata: {{labels: {{a: b'$i'}}}}, spec: {{containers: [{{name: a, image: busybox, args: [sleep, \"9999\"]}}]}}}}}}}}'; done | kubectl apply {N} -f - | tail -1|>sleep 120|>kubectl delete sts --all {N} | tail -1",
    "daemonsets": f"for i in $(seq @n); do echo '---'; echo '{{kind: DaemonSet, apiVersion: apps/v1, metadata: {{name: s'$i'}}, spec: {{selector: {{matchLabels: {{a: b'$i'}}}}, template: {{metadata: {{labels: {{a: b'$i'}}}}, spec: {{containers: [{{name: a, image: busybox, args: [sh, -c, \"while true; do sleep 1; done\"]}}]}}}}}}}}'; done | kubectl apply {N} -f - | tail -1|>sleep 600|>kubectl rollout restart ds {N} | tail -1; sleep 600",
}  # fmt: skip

HUGE = {
    "configmap_file": f"head -c @n /dev/zero | tr '\\0' x > f; kubectl create cm big {N} --from-file=f 2>&1 | tail -c 200|>kubectl get cm big {N} -o yaml | wc -c",
    "configmap_patch": f"for i in $(seq 40); do kubectl patch cm kube-root-ca.crt {N} --type=merge -p \"{{\\\"data\\\":{{\\\"k$i\\\":\\\"$(printf 'x%.0s' {{1..@n}})\\\"}}}}\" 2>&1 | tail -c 99; done; kubectl get cm kube-root-ca.crt {N} -o json | wc -c",
    "secret_file": f"head -c @n /dev/urandom > f; kubectl create secret generic big {N} --from-file=f 2>&1 | tail -c 200; kubectl get secret big {N} -o json | wc -c",
    "annotation": f"kubectl annotate deploy geo {N} big=\"$(printf 'x%.0s' {{1..@n}})\" 2>&1 | tail -c 200; kubectl get deploy geo {N} -o yaml | wc -c",
    "env": f"kubectl set env deploy/geo {N} BIG=\"$(printf 'x%.0s' {{1..@n}})\" 2>&1 | tail -c 200; kubectl get deploy geo {N} -o yaml | wc -c; sleep 30",
    "args": f"kubectl run big {N} --image=busybox -- sh -c \"$(printf ':;%.0s' {{1..@n}})\" 2>&1 | tail -c 200; sleep 10; kubectl get pod big {N}",
    "keys": f"kubectl create cm keys {N} $(for i in $(seq @n); do echo --from-literal=k$i=v; done) 2>&1 | tail -c 200; kubectl get cm keys {N} -o yaml | wc -l; kubectl describe cm keys {N} | wc -l",
    "labels": f"kubectl label deploy geo {N} $(for i in $(seq @n); do echo k$i=v; done) 2>&1 | tail -c 200; kubectl get deploy {N} --show-labels | wc -c; kubectl get deploy {N} -L $(seq -s, @n) | wc -c",
    "containers": f"(echo '{{kind: Pod, apiVersion: v1, metadata: {{name: many}}, spec: {{containers: ['; for i in $(seq @n); do echo \"{{name: c$i, image: busybox, args: [sleep, '99']}},\"; done; echo ']}}}}') | kubectl apply {N} -f - 2>&1 | tail -c 200|>sleep 60|>kubectl describe pod many {N} | wc -l; kubectl logs many {N} --all-containers | wc -l",
    "init_containers": f"(echo '{{kind: Pod, apiVersion: v1, metadata: {{name: many}}, spec: {{containers: [{{name: a, image: busybox}}], initContainers: ['; for i in $(seq @n); do echo \"{{name: c$i, image: busybox, args: [sh, -c, 'exit 1']}},\"; done; echo ']}}}}') | kubectl apply {N} -f - 2>&1 | tail -c 200|>sleep 600",
    "ports": f"(echo '{{kind: Service, apiVersion: v1, metadata: {{name: ports}}, spec: {{selector: {{io.kompose.service: geo}}, ports: ['; for i in $(seq @n); do echo \"{{name: p$i, port: $i}},\"; done; echo ']}}}}') | kubectl apply {N} -f - 2>&1 | tail -c 200|>sleep 10; kubectl get ep ports {N} -o yaml | wc -l",
    "policy_rules": f"(echo '{{kind: NetworkPolicy, apiVersion: networking.k8s.io/v1, metadata: {{name: np}}, spec: {{podSelector: {{}}, ingress: [{{from: ['; for i in $(seq @n); do echo '{{ipBlock: {{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}}},'; done; echo ']}}]}}}}') | kubectl apply {N} -f - 2>&1 | tail -c 200|>sleep 60; curl -s http://frontend.hotel-reservation:5000 | wc -c",
    "host_aliases": f"kubectl patch deploy geo {N} -p \"{{\\\"spec\\\":{{\\\"template\\\":{{\\\"spec\\\":{{\\\"hostAliases\\\":[$(for i in $(seq @n); do echo '{{\"ip\":\"10.0.0.1\",\"hostnames\":[\"x'$i'\"]}},'; done){{\\\"ip\\\":\\\"10.0.0.2\\\",\\\"hostnames\\\":[\\\"y\\\"]}}]}}}}}}}}\" 2>&1 | tail -c 200; sleep 30",
    "affinity": f"kubectl patch deploy geo {N} -p \"{{\\\"spec\\\":{{\\\"template\\\":{{\\\"spec\\\":{{\\\"tolerations\\\":[$(for i in $(seq @n); do echo '{{\"key\":\"k'$i'\",\"operator\":\"Exists\"}},'; done){{\\\"operator\\\":\\\"Exists\\\"}}]}}}}}}}}\" 2>&1 | tail -c 200; sleep 30; kubectl describe pods {N} | wc -l",
    "document": "printf 'a%.0s' {1..@n} | kubectl apply -f - 2>&1 | tail -c 200; printf 'a: b\\n%.0s' {1..@n} | kubectl apply -f - 2>&1 | tail -c 200; printf -- '- a\\n%.0s' {1..@n} | kubectl apply -f - 2>&1 | tail -c 200; printf '\\n%.0s' {1..@n} | kubectl apply -f - 2>&1 | tail -c 200",
    "document_quoted": "printf '\"%.0s' {1..@n} | kubectl apply -f - 2>&1 | tail -c 200; printf \"'%.0s\" {1..@n} | kubectl apply -f - 2>&1 | tail -c 200; printf '&a %.0s' {1..@n} | kubectl apply -f - 2>&1 | tail -c 200; printf '# %.0s\\n' {1..@n} | kubectl apply -f - 2>&1 | tail -c 200",
    "get_many": "kubectl get pods -A -o yaml $(printf -- '-l a%.0s ' {1..@n}) 2>&1 | tail -c 200; kubectl get $(printf 'pod/x%.0s ' {1..@n}) 2>&1 | tail -c 200; kubectl delete $(printf 'pod/x%.0s ' {1..@n}) 2>&1 | tail -c 200",
}  # fmt: skip

NUMBERS = [0, 1, 50, 1_000, 2147483647, 9223372036854775807, -1]

WORKLOADS = {
    "scale": f"kubectl scale deploy geo {N} --replicas=@n|>sleep 60|>kubectl get pods {N} | tail -3|>sleep 600|>kubectl scale deploy geo {N} --replicas=1|>sleep 60",
    "scale_all": f"kubectl scale deploy --all {N} --replicas=@n|>sleep 600|>submit mitigation",
    "scale_busybox": f"kubectl create deploy d {N} --image=busybox --replicas=@n -- sh -c 'while true; do sleep 1; done'|>sleep 600|>kubectl rollout restart deploy d {N}; sleep 60|>kubectl delete deploy d {N}|>submit mitigation",
    "scale_crash": f"kubectl create deploy d {N} --image=busybox --replicas=@n -- sh -c 'exit 1'|>sleep 600|>kubectl get pods {N} -o yaml | wc -c",
    "scale_bad_image": f"kubectl create deploy d {N} --image=no/such --replicas=@n|>sleep 600|>kubectl describe pods {N} | wc -c",
    "scale_statefulset": f"echo '{{kind: StatefulSet, apiVersion: apps/v1, metadata: {{name: s}}, spec: {{serviceName: x, replicas: @n, podManagementPolicy: Parallel, selector: {{matchLabels: {{a: b}}}}, template: {{metadata: {{labels: {{a: b}}}}, spec: {{containers: [{{name: a, image: busybox, args: [sleep, \"99\"]}}]}}}}}}}}' | kubectl apply {N} -f -|>sleep 600|>kubectl delete sts s {N}",
    "job_parallel": f"echo '{{kind: Job, apiVersion: batch/v1, metadata: {{name: j}}, spec: {{parallelism: @n, completions: @n, backoffLimit: @n, template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: busybox, args: [sh, -c, \"exit 1\"]}}]}}}}}}}}' | kubectl apply {N} -f -|>sleep 600|>kubectl get pods {N} | wc -l",
    "job_index": f"echo '{{kind: Job, apiVersion: batch/v1, metadata: {{name: j}}, spec: {{completionMode: Indexed, parallelism: @n, completions: @n, template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: busybox}}]}}}}}}}}' | kubectl apply {N} -f -|>sleep 600|>kubectl get job j {N} -o yaml | wc -c",
    "job_deadline": f"echo '{{kind: Job, apiVersion: batch/v1, metadata: {{name: j}}, spec: {{activeDeadlineSeconds: @n, ttlSecondsAfterFinished: @n, backoffLimit: 0, template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: busybox, args: [sleep, \"30\"]}}]}}}}}}}}' | kubectl apply {N} -f -|>sleep 600|>kubectl get job j {N} -o yaml | wc -c",
    "history_limit": f"kubectl patch deploy geo {N} -p '{{\"spec\":{{\"revisionHistoryLimit\":@n}}}}'|>for i in $(seq 50); do kubectl set env deploy/geo {N} X=$i; done | tail -1|>sleep 60; kubectl rollout history deploy geo {N} | wc -l",
    "surge": f"kubectl patch deploy geo {N} -p '{{\"spec\":{{\"strategy\":{{\"rollingUpdate\":{{\"maxSurge\":@n,\"maxUnavailable\":0}}}}}}}}'; kubectl scale deploy geo {N} --replicas=30; kubectl rollout restart deploy geo {N}|>sleep 120",
    "probes": f"kubectl patch deploy geo {N} -p '{{\"spec\":{{\"template\":{{\"spec\":{{\"containers\":[{{\"name\":\"hotel-reserv-geo\",\"livenessProbe\":{{\"tcpSocket\":{{\"port\":1}},\"periodSeconds\":1,\"failureThreshold\":@n,\"initialDelaySeconds\":@n}}}}]}}}}}}}}'|>sleep 600|>kubectl get pods {N} | wc -l",
    "grace": f"kubectl patch deploy geo {N} -p '{{\"spec\":{{\"template\":{{\"spec\":{{\"terminationGracePeriodSeconds\":@n}}}}}}}}'; sleep 30|>kubectl delete pods --all {N} --grace-period=@n|>sleep 600",
    "min_ready": f"kubectl patch deploy geo {N} -p '{{\"spec\":{{\"minReadySeconds\":@n,\"progressDeadlineSeconds\":@n}}}}'; kubectl rollout restart deploy geo {N}; kubectl rollout status deploy geo {N} --timeout=10m",
    "autoscale": f"kubectl autoscale deploy geo {N} --min=@n --max=@n --cpu-percent=1|>sleep 600|>kubectl get pods {N} | wc -l|>sleep 600",
    "cron": f"kubectl create cronjob c {N} --image=busybox --schedule='* * * * *' -- sh -c 'sleep @n'|>for i in 1 2 3 4 5 6; do sleep 600; done|>for i in 1 2 3 4 5 6; do sleep 600; done|>kubectl get jobs {N} | wc -l",
    "cron_old": f"kubectl create cronjob c {N} --image=busybox --schedule='* * * * *' -- sh -c 'exit 1'; kubectl patch cronjob c {N} -p '{{\"spec\":{{\"startingDeadlineSeconds\":@n,\"suspend\":true}}}}'|>sleep 600; kubectl patch cronjob c {N} -p '{{\"spec\":{{\"suspend\":false,\"successfulJobsHistoryLimit\":@n,\"failedJobsHistoryLimit\":@n}}}}'|>sleep 600; sleep 600",
    "resources": f"kubectl set resources deploy geo {N} --limits=cpu=@n,memory=@n|>sleep 600|>kubectl describe pods {N} | wc -l",
    "tail": f"kubectl logs deploy/frontend {N} --tail=@n | wc -l; kubectl logs deploy/frontend {N} --since=@ns | wc -l; kubectl logs deploy/frontend {N} --limit-bytes=@n | wc -c",
    "chunk": "kubectl get pods -A --chunk-size=@n | wc -l; kubectl get events -A --watch --request-timeout=@ns | wc -l; kubectl drain sre-worker --timeout=@ns --grace-period=@n 2>&1 | tail -1",
    "wait_timeout": f"kubectl wait {N} pod --all --for=delete --timeout=@ns 2>&1 | tail -1; kubectl rollout status deploy {N} --timeout=@ns | tail -1; kubectl wait {N} deploy/geo --for=condition=x --timeout=@nh 2>&1 | tail -1",
    "ports": f"kubectl port-forward {N} svc/consul @n:8500 & sleep 1; curl -s localhost:@n/v1/catalog/services | wc -c; kubectl proxy --port=@n & sleep 1; curl -s localhost:@n/api | wc -c; jobs",
    "generation": f"for i in $(seq 55); do kubectl patch deploy geo {N} -p \"{{\\\"spec\\\":{{\\\"replicas\\\":$((i*@n%90))}}}}\"; done | tail -1|>sleep 60",
}  # fmt: skip

SCRIPTS = {
    "spin": "while true; do :; done",
    "spin_true": "while true; do true; done",
    "spin_count": "i=0; while true; do i=$((i+1)); done",
    "sleep": "while true; do sleep 1; done",
    "sleep_little": "while true; do sleep 0.01; done",
    "sleep_none": "while true; do sleep 0; done",
    "sleep_echo": "while true; do echo hello; sleep 1; done",
    "sleep_date": "while true; do date; sleep 1; done",
    "sleep_count": "i=0; while true; do echo $i; i=$((i+1)); sleep 1; done",
    "sleep_file": "while true; do date >> /tmp/log; sleep 1; done",
    "sleep_double": "echo x > /tmp/f; while true; do cat /tmp/f /tmp/f > /tmp/g; mv /tmp/g /tmp/f; sleep 1; done",
    "sleep_mixed": "while true; do sleep 1; echo a; sleep 2; echo b; sleep 0.5; done",
    "sleep_wget": "while true; do wget -qO- http://frontend:5000 > /dev/null; sleep 1; done",
    "sleep_nslookup": "while true; do nslookup geo; sleep 1; done",
    "sleep_seq": "for i in $(seq 1000); do sleep 1; done",
    "sleep_random": "while true; do sleep $((RANDOM % 5)); echo $RANDOM; done",
    "echo": "while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
    "yes": "yes",
    "yes_null": "yes > /dev/null",
    "cat_zero": "cat /dev/zero",
    "wget": "while true; do wget -qO- http://frontend:5000; done",
    "bomb": "f() { f | f & }; f",
    "recurse": "f() { f; }; f",
    "memory": "x=x; while true; do x=$x$x; done",
    "exit": "exit 1",
    "exit_0": "exit 0",
    "crash_busy": "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; exit 1",
    "crash_late": "sleep 5; exit 1",
    "crash_noisy": "seq 5000; exit 1",
    "wait": "sleep 99999 & wait",
    "server": "while true; do nc -l -p 80 -e echo; done",
    "awk": "awk 'BEGIN{while(1);}'",
    "sed": "echo x | sed ':a;s/x/xx/;ba'",
    "dd": "dd if=/dev/zero of=/tmp/x bs=1M count=100000; sleep 1; exit 1",
    "tail": "tail -f /dev/null",
    "trap": "trap '' TERM; while true; do sleep 1; done",
    "until": "until nslookup nothing; do sleep 2; done",
    "until_wget": "until wget -qO- http://nothing:80; do echo waiting; sleep 0.1; done",
}  # fmt: skip

FLEETS = {
    "pod": f"kubectl run p {N} --image=busybox --restart=@p -- sh -c '@s'|>sleep 600|>kubectl logs p {N} | tail -2; kubectl get pod p {N}|>sleep 600; sleep 600; sleep 600|>submit mitigation",
    "deploy": f"kubectl create deploy d {N} --image=busybox --replicas=@n -- sh -c '@s'|>sleep 600|>kubectl logs deploy/d {N} | tail -2; kubectl delete deploy d {N}|>submit mitigation",
}  # fmt: skip

EXECS = {
    "geo": f"kubectl exec {N} deploy/geo -- sh -c '@s' | tail -c 200",
    "mongodb": f"kubectl exec {N} deploy/mongodb-geo -- bash -c '@s' | tail -c 200",
    "consul_loop": f"for i in $(seq 50); do kubectl exec {N} deploy/consul -- sh -c '@s' > /dev/null; done; date",
    "memcached_timeout": f"timeout 5 kubectl exec {N} deploy/memcached-rate -- sh -c '@s' | head -1; echo $?",
}  # fmt: skip

CONSOLES = {
    "mongo_loop": f"kubectl exec {N} deploy/mongodb-geo -- mongo --quiet --eval 'while(true){{}}'",
    "mongo_for": f"kubectl exec {N} deploy/mongodb-geo -- mongo --quiet --eval 'for(;;);'; kubectl exec {N} deploy/mongodb-geo -- mongo --quiet --eval 'for(var i=0;i<1e9;i++)db.x.insert({{a:i}})'",
    "mongo_deep": "kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval '⟦[⟧⟦]⟧'; kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval '⟦(⟧1⟦)⟧'",
    "mongo_object": "kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval 'printjson(⟦{a:⟧1⟦}⟧)'",
    "mongo_calls": "kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval '⟦db.stats();⟧'; kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval 'db⟦.x⟧.find()'",
    "mongo_sum": "kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval 'var x=\"x\";⟦x=x+x;⟧x'; kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval '⟦1+⟧1'",
    "mongo_nest": "kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval 'var x=[1];⟦x=[x,x];⟧x'; kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval 'var x={a:1};⟦x={a:x,b:x};⟧tojson(x)'",
    "mongo_insert": "kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval '⟦db.x.insert({a:1});⟧'; kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval 'db.x.find({$or:[⟦{a:1},⟧{b:1}]})'",
    "mongo_regex": "kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval 'db.x.insert({a:\"⟦a⟧b\"});db.x.find({a:/(a+)+$/})'",
    "mongo_quotes": "kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval '\"⟦\\\\⟧'; kubectl exec @N deploy/mongodb-geo -- mongo --quiet --eval '/*⟦*⟧'",
    "mongo_lines": "echo '⟦show dbs\n⟧' | kubectl exec -i @N deploy/mongodb-geo -- mongo --quiet | tail -1",
    "curl_pod": "kubectl exec @N deploy/frontend -- sh -c '⟦wget -qO- localhost:5000;⟧' | tail -c 99",
    "exec_nested": "kubectl exec @N deploy/geo -- ⟦sh -c ⟧ls 2>&1 | tail -1; kubectl exec @N deploy/geo -- sh -c '⟦sh -c \"⟧⟦\"⟧' 2>&1 | tail -1",
    "exec_env": "kubectl exec @N deploy/geo -- ⟦env ⟧ls 2>&1 | tail -1; kubectl exec @N deploy/geo -- ⟦time ⟧ls 2>&1 | tail -1; kubectl exec @N deploy/geo -- ⟦timeout 5 ⟧ls 2>&1 | tail -1; kubectl exec @N deploy/geo -- ⟦chroot / ⟧ls 2>&1 | tail -1",
    "exec_stdin": "printf '⟦echo x\n⟧' | kubectl exec -i @N deploy/geo -- sh | tail -1; yes | kubectl exec -i @N deploy/geo -- cat | tail -1; yes 'yes' | kubectl exec -i @N deploy/geo -- sh | tail -c 99",
    "attach": "yes | kubectl attach -i @N deploy/geo | tail -1; kubectl run a @N -i --image=busybox --rm -- sh -c '⟦echo x;⟧' | tail -1",
    "run_rm": "kubectl run a @N --rm -i --restart=Never --image=busybox -- ⟦sh -c ⟧ls 2>&1 | tail -1; kubectl run b @N --rm -i --restart=Never --image=busybox -- yes | head -1",
    "debug": "kubectl debug @N deploy/geo --image=busybox -- sh -c 'while true; do :; done' 2>&1 | tail -1; kubectl debug node/sre-worker --image=busybox -- sh -c 'find / | wc -l' 2>&1 | tail -1; ⟦kubectl debug -n hotel-reservation deploy/geo --image=busybox -- sleep 1;⟧ sleep 60",
    "cp": "head -c 3000000 /dev/zero > f; P=$(kubectl get pod @N -l io.kompose.service=geo -o name | cut -d/ -f2); kubectl cp f $P:/tmp/f @N; kubectl exec @N $P -- sh -c '⟦cat /tmp/f /tmp/f > /tmp/g; mv /tmp/g /tmp/f;⟧ wc -c /tmp/f'; kubectl cp $P:/tmp/f g @N; wc -c g; kubectl cp $P:/ all @N; du -s all",
}  # fmt: skip

TIMES = {
    "logs": f"sleep @n; kubectl logs deploy/@c {N} | tail -2|>kubectl logs deploy/@c {N} | wc|>kubectl logs deploy/@c {N} --timestamps | head -2; kubectl logs deploy/@c {N} --since=1h | wc -l; kubectl logs {N} -l io.kompose.service=@c --tail=-1 | wc -l",
    "attach": f"sleep @n; kubectl attach deploy/@c {N} | head -2|>timeout 30 kubectl attach deploy/@c {N} | wc -l",
    "follow": f"timeout @n kubectl logs -f deploy/@c {N} | tail -1; kubectl logs -f deploy/@c {N} --since=1s | head -3",
    "watch": f"timeout @n kubectl get pods {N} -w | tail -1; kubectl get events -A -w | head -5; kubectl get pods {N} --watch-only | wc -l",
    "rollout": f"kubectl rollout restart deploy {N}; kubectl rollout status deploy/@c {N} --timeout=@ns|>kubectl delete pods --all {N}; sleep @n|>kubectl get events {N} | wc -l",
    "crash": f"kubectl set image deploy/@c {N} '*=busybox'|>sleep @n|>sleep @n; kubectl describe pods {N} | wc -l|>kubectl get events {N} | wc -l; kubectl logs deploy/@c {N} --previous | tail -1|>submit mitigation",
    "break": f"kubectl delete svc --all {N}; sleep @n|>sleep @n; kubectl logs deploy/@c {N} | wc -l|>submit mitigation",
    "break_dns": f"kubectl scale deploy coredns -n kube-system --replicas=0; sleep @n; kubectl logs deploy/@c {N} | tail -1|>submit mitigation",
    "drain": f"kubectl drain sre-worker --ignore-daemonsets --delete-emptydir-data --force; sleep @n; kubectl logs deploy/@c {N} | tail -1|>kubectl uncordon sre-worker; sleep @n|>submit mitigation",
    "throttle": f"kubectl set resources deploy {N} --all --limits=cpu=1m; sleep @n|>sleep @n; kubectl top pods {N} | wc -l; kubectl logs deploy/@c {N} | wc -l|>submit mitigation",
    "starve": f"kubectl set resources deploy {N} --all --limits=memory=5Mi; sleep @n|>sleep @n; kubectl get pods {N} | wc -l|>submit mitigation",
    "policy": f"echo '{{kind: NetworkPolicy, apiVersion: networking.k8s.io/v1, metadata: {{name: deny}}, spec: {{podSelector: {{}}, policyTypes: [Ingress, Egress]}}}}' | kubectl apply {N} -f -; sleep @n|>kubectl logs deploy/@c {N} | wc -l; curl -s -m 5 http://frontend.hotel-reservation:5000|>submit mitigation",
    "curls": f"for i in $(seq 60); do curl -s http://frontend.hotel-reservation:5000/hotels > /dev/null; done; sleep @n; kubectl logs deploy/@c {N} | wc -l",
}  # fmt: skip

CALLS = {
    "json_deep": '{"name": "kubectl", "arguments": ⟦[⟧⟦]⟧}',
    "json_objects": '⟦{"a":⟧1⟦}⟧',
    "json_open": '⟦{"name":⟧',
    "json_list": '[⟦{"name": "kubectl", "arguments": {"command": "get ns"}},⟧{"name": "alerts", "arguments": {}}]',
    "json_arguments": '{"name": "kubectl", "arguments": "⟦\\\\⟧\\"}"}',
    "json_string": '{"name": "kubectl", "arguments": {"command": "get ns ⟦\\\\u0041⟧"}}',
    "json_number": '{"name": "kubectl", "arguments": {"command": ⟦9⟧}}',
    "xml": "⟦<tool_call>⟧{}⟦</tool_call>⟧",
    "xml_calls": '⟦<tool_call>{"name": "alerts", "arguments": {}}</tool_call>\n⟧',
    "xml_function": "<function_calls>⟦<invoke name=\"kubectl\"><parameter name=\"command\">get ns</parameter></invoke>⟧</function_calls>",
    "xml_open": "⟦<invoke name=\"⟧",
    "fences": "⟦```bash\nkubectl get ns\n```\n⟧",
    "fences_open": "⟦```⟧",
    "think": "⟦<think>⟧x⟦</think>⟧ kubectl get ns",
    "think_open": "⟦<think>⟧kubectl get ns",
    "python_call": "kubectl(⟦command=\"get ns\", ⟧)",
    "python_deep": "kubectl(⟦[⟧⟦]⟧)",
    "tokens": "⟦<|python_tag|>⟧kubectl get ns⟦<|eot_id|>⟧",
    "spaces": "⟦ ⟧kubectl get ns⟦ ⟧",
    "newlines": "⟦\n⟧kubectl get ns⟦\n⟧",
    "lines": "⟦kubectl get ns\n⟧",
    "quotes": "⟦'⟧",
    "double_quotes": '⟦"⟧',
    "backslashes": "⟦\\\\⟧",
    "nulls": "⟦\x01⟧",
    "emoji": "⟦😀⟧",
    "surrogates": "⟦\\ud83d⟧",
    "controls": "⟦\u001b[2J⟧",
    "submit": "submit diagnosis '⟦x ⟧'",
    "submit_json": '{"name": "submit_diagnosis", "arguments": {"text": "⟦x ⟧"}}',
    "submit_nested": 'submit diagnosis \'⟦{"component":⟧"geo"⟦}⟧\'',
    "submit_guess": "submit diagnosis '⟦The geo deployment has a wrong image and port and selector. ⟧'",
    "submit_names": "submit diagnosis '⟦mongodb-geo and mongodb-rate fail because of ⟧'",
    "submit_marks": "submit diagnosis '⟦,.;:()[]-- ⟧'",
    "submit_regex": "submit diagnosis '⟦a⟧⟦ ⟧⟦a⟧⟦-⟧⟦b⟧'",
    "submit_heredoc": "submit diagnosis <<'EOF'\n⟦line of text about geo\n⟧EOF",
    "arithmetic_words": "⟦$((1+⟧1⟦))⟧",
    "dollars": "⟦$⟧{⟦x⟧}",
    "assignments": "⟦A=b ⟧kubectl get ns",
    "kubectl_words": "kubectl ⟦get ⟧",
    "yaml_call": "tool: kubectl\narguments:\n⟦  - x\n⟧",
}  # fmt: skip


def corpus() -> list[Attempt]:
    """Everything about the cluster."""
    made = []
    for depth in DEPTHS:
        made += [
            Attempt("form", f"{name}-{depth}", (nested(text, depth).replace("@N", N),))
            for name, text in FORMS.items()
        ]
        made += [
            Attempt("console", f"{name}-{depth}", (nested(text, depth).replace("@N", N),))
            for name, text in CONSOLES.items()
        ]
        made += [
            Attempt("call", f"{name}-{depth}", (nested(text, depth).replace("@N", N),))
            for name, text in CALLS.items()
        ]
    for levels in (3, 8, 20, 100):
        for lists in (False, True):
            for verb in ("apply", "create", "replace", "delete", "diff"):
                line = f"cat <<'EOF' | kubectl {verb} -f - 2>&1 | tail -c 200\n{laughs(levels, 9, lists)}EOF"
                made.append(Attempt("laughs", f"{verb}-{levels}-{'lists' if lists else 'maps'}", (line,)))
    made += attempts("objects", OBJECTS, n=[20, 300, 3_000, 100_000])
    made += attempts("huge", HUGE, n=[1_000, 60_000, 100_000, 4_000_000])
    made += attempts("workload", WORKLOADS, n=NUMBERS)
    made += attempts("time", TIMES, c=["frontend", "search", "wrk2", "mongodb-geo"], n=[60, 600])
    scripts = [script.replace("'", "'\\''") for script in SCRIPTS.values()]
    made += attempts("fleet", {"pod": FLEETS["pod"]}, p=["Always", "Never"], s=scripts)
    made += attempts("fleet", {"deploy": FLEETS["deploy"]}, n=COUNTS, s=scripts)
    made += attempts("exec", EXECS, s=scripts)
    big = json.dumps(
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}, "data": {"a": "x" * 200_000}}
    )
    made.append(Attempt("huge", "action-configmap", (f"kubectl create {N} -f - <<'EOF'\n{big}\nEOF",)))
    return made
