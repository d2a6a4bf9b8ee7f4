"""An agent from outside: it has nothing but kubectl, curl and what they answer.

``sregym serve`` puts a broken cluster on this machine; the agent reads the incident, investigates with the real
``kubectl``, hands in its diagnosis, repairs and hands in again. Here the agent is a list of rules an engineer would
follow, so that it runs anywhere; they solve what the objects themselves show, if one compares them. Replace
``investigate`` and ``repair`` by a call of your own agent (Claude Code, Codex, ...), which gets the same three things:
KUBECONFIG, the address of the incident desk, a task.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

# Given on the command line, or these.
PROBLEMS = sys.argv[1:] or (
    "hotel-reservation/service_target_port_mismatch/frontend",
    "hotel-reservation/incorrect_image/profile",
    "hotel-reservation/missing_configmap/mongo-geo-script",
)
PATIENCE = 8  # seconds for the repaired workloads to come up
SPEED = "20"  # virtual seconds per second: an image pull or a back-off takes a moment


@dataclass
class Finding:
    """What is wrong, in words, and the kubectl commands that put it right."""

    text: str
    repairs: list[list[str]]


class Cluster:
    """What the agent can do: run kubectl and curl."""

    def __init__(self, kubeconfig: str, desk: str) -> None:
        self.desk = desk
        self.environment = {**os.environ, "KUBECONFIG": kubeconfig}
        self.app = json.loads(self.curl("/get_app"))
        self.namespace = self.app["namespace"]

    def run(self, words: list[str], stdin: str = "") -> str:
        """The output of a command; empty when it fails."""
        done = subprocess.run(
            words, input=stdin, capture_output=True, text=True, env=self.environment, check=False
        )
        return done.stdout

    def curl(self, path: str, *more: str) -> str:
        return self.run(["curl", "-s", *more, self.desk + path])

    def kubectl(self, *words: str, stdin: str = "") -> str:
        return self.run(["kubectl", "-n", self.namespace, *words], stdin)

    def get(self, kind: str, *more: str) -> list[dict[str, Any]]:
        return list(json.loads(self.kubectl("get", kind, "-o", "json", *more) or '{"items": []}')["items"])

    def submit(self, solution: str) -> None:
        self.curl("/submit", "-X", "POST", "-d", json.dumps({"solution": solution}))

    def look(self) -> None:
        """Read everything the rules ask about."""
        self.deployments = {name_of(found): found for found in self.get("deployments")}
        self.pods = self.get("pods")
        self.services = {name_of(found): found for found in self.get("services")}
        self.events = [found for found in self.get("events") if found["type"] == "Warning"]
        self.nodes = self.get("nodes")

    def pods_of(self, name: str) -> list[dict[str, Any]]:
        wanted = self.deployments[name]["spec"]["selector"]["matchLabels"].items()
        return [pod for pod in self.pods if wanted <= pod["metadata"]["labels"].items()]

    def told(self, name: str) -> str:
        """What warnings say about a Deployment, its ReplicaSets and its pods, newest last."""
        found = [e for e in self.events if e["involvedObject"]["name"].startswith(f"{name}-")]
        return "\n".join(event["message"] for event in found)


def name_of(found: dict[str, Any]) -> str:
    return str(found["metadata"]["name"])


def template(found: dict[str, Any]) -> dict[str, Any]:
    return dict(found["spec"]["template"]["spec"])


def ready(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def restarted(pod: dict[str, Any]) -> bool:
    return any(s["restartCount"] for s in pod["status"].get("containerStatuses", []))


def peers(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    """Deployments of the same sort: ``mongodb-rate`` for ``mongodb-geo``, the services for a service."""
    sort = name.partition("-")[0] if "-" in name else ""
    same = [n for n in cluster.deployments if n != name and ("-" in n) == bool(sort) and n.startswith(sort)]
    return [cluster.deployments[other] for other in same]


def patch(kind: str, name: str, *changes: dict[str, Any]) -> list[str]:
    return ["patch", kind, name, "--type=json", "-p", json.dumps(changes)]


def remove(name: str, *paths: str) -> list[str]:
    return patch("deployment", name, *({"op": "remove", "path": "/spec/template/spec/" + p} for p in paths))


# --- rules: each reads the cluster and yields what it finds ---------------------------------------------------------


def idle_workloads(cluster: Cluster) -> Iterator[Finding]:
    for name, found in cluster.deployments.items():
        if found["spec"]["replicas"] == 0:
            text = f"Deployment {name} is scaled to 0 replicas; none of its pods run."
            yield Finding(text, [["scale", "deployment", name, "--replicas=1"]])


def waiting_containers(cluster: Cluster) -> Iterator[Finding]:
    """Pods that do not get ready: what their containers, their events and their peers say."""
    for name, found in cluster.deployments.items():
        pods = [pod for pod in cluster.pods_of(name) if not ready(pod) or restarted(pod)]
        states = [s for pod in pods for s in pod["status"].get("containerStatuses", [])]
        told, spec = cluster.told(name), template(found)
        usual = Counter(
            template(peer)["containers"][0]["image"] for peer in peers(cluster, name)
        ).most_common(1)
        image = spec["containers"][0]["image"]
        container = spec["containers"][0]["name"]
        reasons = {s["state"].get("waiting", {}).get("reason") for s in states}
        last = {s.get("lastState", {}).get("terminated", {}).get("reason") for s in states}
        if states and usual and usual[0][0] != image and (usual[0][1] > 1 or "PullBackOff" in str(reasons)):
            problem = (
                "does not exist and cannot be pulled" if "Image" in str(reasons) else "fails when it runs"
            )
            text = f"Deployment {name} uses the image {image}, which {problem} (it should be {usual[0][0]})."
            yield Finding(text, [["set", "image", f"deployment/{name}", f"{container}={usual[0][0]}"]])
        elif "OOMKilled" in last or "OOMKilled" in str(states):
            limit = spec["containers"][0]["resources"].get("limits", {}).get("memory")
            text = (
                f"The container of Deployment {name} has a memory limit of {limit}, too low; it is OOMKilled."
            )
            yield Finding(text, [remove(name, "containers/0/resources/limits/memory")])
        elif missing := re.search(r'configmap "([^"]+)" not found', told):
            yield from missing_config_map(cluster, name, missing[1])
        elif missing := re.search(r'secret "([^"]+)" not found', told):
            entries = [json.dumps(e) for e in spec["containers"][0].get("env", [])]
            place = next((i for i, e in enumerate(entries) if f'"{missing[1]}"' in e), 0)
            text = f"Deployment {name} refers to the Secret {missing[1]} in its environment, which does not exist; "
            text += "its container hangs in CreateContainerConfigError."
            yield Finding(text, [remove(name, f"containers/0/env/{place}")])
        elif (
            pods
            and spec.get("initContainers")
            and not any(template(p).get("initContainers") for p in peers(cluster, name))
        ):
            waits = cluster.kubectl(
                "logs", f"deployment/{name}", "-c", spec["initContainers"][0]["name"], "--tail=3"
            )
            text = f"The init container {spec['initContainers'][0]['name']} of Deployment {name} never ends: "
            text += f"it waits for a Service that does not exist ({waits.strip()}); the pods hang in Init."
            yield Finding(text, [remove(name, "initContainers")])
        elif len(spec["containers"]) > 1 and pods:
            extra = spec["containers"][1]
            text = f"Deployment {name} has an extra container, {extra['name']}, that conflicts with the main one "
            text += "about the port (address already in use) and crash-loops; the pod is never Ready."
            yield Finding(text, [remove(name, "containers/1")])


def missing_config_map(cluster: Cluster, name: str, missing: str) -> Iterator[Finding]:
    """A ConfigMap that is gone is made again after the one of a peer."""
    own = name.rpartition("-")[2]
    text = (
        f"ConfigMap {missing} does not exist (it has been deleted); the pods of {name} mount it and hang in "
    )
    text += "ContainerCreating."
    for peer in peers(cluster, name):
        other = name_of(peer).rpartition("-")[2]
        found = cluster.kubectl("get", "configmap", missing.replace(own, other), "-o", "json")
        if found:
            model = json.loads(found)
            made = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": missing},
                "data": model["data"],
            }
            yield Finding(
                text,
                [
                    ["apply", json.dumps(made).replace(other, own)],
                    ["rollout", "restart", f"deployment/{name}"],
                ],
            )
            return


def probes(cluster: Cluster) -> Iterator[Finding]:
    for name, found in cluster.deployments.items():
        for kind in ("liveness", "readiness"):
            probe = template(found)["containers"][0].get(f"{kind}Probe")
            if probe and f"{kind.capitalize()} probe failed" in cluster.told(name):
                port = probe.get("httpGet", probe.get("tcpSocket", {})).get("port")
                text = f"Deployment {name} has a {kind}Probe on port {port}, which {name} does not serve; it fails."
                yield Finding(text, [remove(name, f"containers/0/{kind}Probe")])


def unschedulable_pods(cluster: Cluster) -> Iterator[Finding]:
    for name, found in cluster.deployments.items():
        told, spec = cluster.told(name), template(found)
        first = spec["containers"][0]
        if all(ready(pod) for pod in cluster.pods_of(name)) and "FailedCreate" not in str(cluster.events):
            continue
        if short := re.search(r"Insufficient (memory|cpu)", told):
            asked = first["resources"].get("requests", {}).get(short[1])
            text = f"The container of Deployment {name} has a {short[1]} request of {asked}, which exceeds the capacity of "
            text += f"every node; its pods stay Pending (Insufficient {short[1]})."
            yield Finding(text, [remove(name, f"containers/0/resources/requests/{short[1]}")])
        elif taint := re.search(r"untolerated taint \{(?!node)([^:}]+): ?([^}]*)\}", told):
            names = [
                name_of(n)
                for n in cluster.nodes
                if taint[1] in [t["key"] for t in n["spec"].get("taints", [])]
            ]
            text = f"The worker nodes carry the taint {taint[1]}={taint[2]}:NoSchedule, which the pods of {name} do not "
            text += "tolerate; they cannot be scheduled and stay Pending."
            yield Finding(text, [["taint", "nodes", *names, f"{taint[1]}-"]])
        elif "unschedulable" in told and (
            cordoned := [n for n in cluster.nodes if n["spec"].get("unschedulable")]
        ):
            text = f"The pods of {name} stay Pending because the worker nodes are cordoned (unschedulable)."
            yield Finding(text, [["uncordon", *map(name_of, cordoned)]])
        elif claim := re.search(r'persistentvolumeclaim "([^"]+)" not found', told):
            own = name.rpartition("-")[2]
            place = next(
                i
                for i, v in enumerate(spec["volumes"])
                if v.get("persistentVolumeClaim", {}).get("claimName") == claim[1]
            )
            right = next((name_of(c) for c in cluster.get("pvc") if name_of(c).startswith(own)), own)
            text = f"Deployment {name} mounts the PersistentVolumeClaim {claim[1]}, which does not exist (it should be {right})."
            change = {
                "op": "replace",
                "path": f"/spec/template/spec/volumes/{place}/persistentVolumeClaim/claimName",
                "value": right,
            }
            yield Finding(text, [patch("deployment", name, change)])
        elif spec.get("nodeSelector") and ("node affinity" in told or "selector" in told):
            text = f"Deployment {name} is pinned by its nodeSelector {spec['nodeSelector']} to a node where it cannot run "
            text += "(volume node affinity conflict or no such node); its pods cannot be scheduled."
            yield Finding(text, [remove(name, "nodeSelector")])
        elif account := re.search(r'serviceaccount "([^"]+)" not found', told):
            text = f"Deployment {name} uses the service account {account[1]}, which does not exist; its ReplicaSet cannot "
            text += "create pods."
            fields = [key for key in ("serviceAccountName", "serviceAccount") if key in spec]
            yield Finding(text, [remove(name, *fields)])
        elif quota := re.search(r"failed quota: ([^:]+): must specify (\w+)|exceeded quota: ([^,]+),", told):
            found_quota = quota[1] or quota[3]
            text = f"ResourceQuota {found_quota} limits memory in the namespace; pods that declare no memory are refused (must "
            text += f"specify memory), so the pods of {name} cannot be re-created."
            yield Finding(
                text, [["delete", "resourcequota", found_quota], ["rollout", "restart", f"deployment/{name}"]]
            )


def services(cluster: Cluster) -> Iterator[Finding]:
    """Every Service against the workload of its name: selector and ports."""
    for name, found in cluster.deployments.items():
        labels = found["spec"]["selector"]["matchLabels"]
        ports = [p for c in template(found)["containers"] for p in c.get("ports", [])]
        service = cluster.services.get(name)
        if service is None:
            if (
                ports
                and sum(n in cluster.services for n in cluster.deployments) > len(cluster.deployments) / 2
            ):
                text = f"Service {name} does not exist (it has been deleted); its name no longer resolves."
                numbers = ",".join(str(p["containerPort"]) for p in ports)
                selector = ",".join(f"{key}={value}" for key, value in labels.items())
                yield Finding(
                    text, [["expose", "deployment", name, f"--port={numbers}", f"--selector={selector}"]]
                )
            continue
        selector = service["spec"].get("selector", {})
        chosen = [pod for pod in cluster.pods if selector.items() <= pod["metadata"]["labels"].items()]
        own = [name_of(pod) for pod in cluster.pods_of(name)]
        if own and {name_of(pod) for pod in chosen} != set(own):
            strangers = (
                ", ".join(sorted(name_of(pod) for pod in chosen if name_of(pod) not in own)) or "no pod"
            )
            text = f"The selector of Service {name} is {selector}; it selects {strangers} instead of the pods of {name} "
            text += f"(labels {labels}), so it has wrong or no endpoints."
            change: dict[str, Any] = {"op": "replace", "path": "/spec/selector", "value": labels}
            yield Finding(text, [patch("service", name, change)])
        listening: list[int] = [p["containerPort"] for p in ports]
        for place, port in enumerate(service["spec"]["ports"]):
            target = port.get("targetPort")
            if (
                isinstance(target, int)
                and listening
                and target not in listening
                and port["port"] in listening
            ):
                text = f"Service {name} forwards to targetPort {target}, but {name} listens on port {port['port']}; every "
                text += "connection to the Service is refused."
                change = {
                    "op": "replace",
                    "path": f"/spec/ports/{place}/targetPort",
                    "value": port["port"],
                }
                yield Finding(text, [patch("service", name, change)])
            elif len(service["spec"]["ports"]) == 1 and port["port"] not in listening and target in listening:
                text = f"Service {name} is offered on port {port['port']} instead of {target}, the port its clients use; "
                text += "their connections time out."
                change = {"op": "replace", "path": f"/spec/ports/{place}/port", "value": target}
                yield Finding(text, [patch("service", name, change)])


def odd_templates(cluster: Cluster) -> Iterator[Finding]:
    """Pods that run, but not as their peers do."""
    for name, found in cluster.deployments.items():
        spec, others = template(found), [template(peer) for peer in peers(cluster, name)]
        first = spec["containers"][0]
        if spec.get("dnsPolicy") != "ClusterFirst":
            text = f"The pods of Deployment {name} have dnsPolicy {spec['dnsPolicy']} with nameservers "
            text += f"{spec.get('dnsConfig', {}).get('nameservers')}, which do not know cluster names: no such host."
            changes = [{"op": "replace", "path": "/spec/template/spec/dnsPolicy", "value": "ClusterFirst"}]
            changes += (
                [{"op": "remove", "path": "/spec/template/spec/dnsConfig"}] if spec.get("dnsConfig") else []
            )
            yield Finding(text, [patch("deployment", name, *changes)])
        for alias in spec.get("hostAliases", []):
            text = f"The pod template of Deployment {name} has a hostAliases entry that maps {', '.join(alias['hostnames'])} to "
            text += f"{alias['ip']}, where nothing listens; {name} cannot reach it."
            yield Finding(text, [remove(name, "hostAliases")])
        named = [
            p for p in peers(cluster, name) if template(p)["containers"][0].get("command") == [name_of(p)]
        ]
        if len(named) > 2 and first.get("command", [name]) != [name]:
            text = f"The container of Deployment {name} runs the command {first['command'][0]} instead of {name}."
            change = {"op": "replace", "path": "/spec/template/spec/containers/0/command", "value": [name]}
            yield Finding(text, [patch("deployment", name, change)])
        usual = Counter(json.dumps(o["containers"][0]["resources"]) for o in others).most_common(1)
        limit = first["resources"].get("limits", {}).get("cpu")
        if usual and limit and json.dumps(first["resources"]) != usual[0][0]:
            right = json.loads(usual[0][0])
            text = f"The container of Deployment {name} has a CPU limit of {limit} (its peers have "
            text += f"{right.get('limits', {}).get('cpu')}), less than its load needs; it is throttled and requests time out."
            change = {"op": "replace", "path": "/spec/template/spec/containers/0/resources", "value": right}
            yield Finding(text, [patch("deployment", name, change)])


def network_policies(cluster: Cluster) -> Iterator[Finding]:
    for policy in cluster.get("networkpolicies"):
        chosen = policy["spec"]["podSelector"].get("matchLabels", {})
        struck = sorted(
            n
            for n, d in cluster.deployments.items()
            if chosen.items() <= d["spec"]["template"]["metadata"]["labels"].items()
        )
        text = f"NetworkPolicy {name_of(policy)} denies all {' and '.join(policy['spec']['policyTypes'])} traffic of the pods of "
        text += f"{', '.join(struck)}; connections time out."
        yield Finding(text, [["delete", "networkpolicy", name_of(policy)]])


def cluster_dns(cluster: Cluster) -> Iterator[Finding]:
    """Name servers that answer for the application's names otherwise than they should."""
    corefile = json.loads(cluster.kubectl("get", "configmap", "coredns", "-n", "kube-system", "-o", "json"))[
        "data"
    ]["Corefile"]
    for block in re.finditer(r"\n *template \S+ \S+ (\S+) \{[^}]*\}", corefile):
        if cluster.namespace in block[1]:
            service = block[1].partition(".")[0]
            text = f"The Corefile in ConfigMap kube-system/coredns has a template block that answers NXDOMAIN for {block[1]}; "
            text += f"clients cannot resolve Service {service}."
            change = json.dumps({"data": {"Corefile": corefile.replace(block[0], "")}})
            words = ["patch", "configmap", "coredns", "-n", "kube-system", "--type=merge", "-p", change]
            yield Finding(text, [words, ["rollout", "restart", "deployment/coredns", "-n", "kube-system"]])


RULES = (
    idle_workloads, waiting_containers, unschedulable_pods, services, network_policies, odd_templates, probes,
    cluster_dns,
)  # fmt: skip


# --- the loop -------------------------------------------------------------------------------------------------------


def investigate(cluster: Cluster) -> list[Finding]:
    """What the first rule that finds something finds: causes before consequences."""
    cluster.look()
    for rule in RULES:
        found = list(rule(cluster))
        if found:
            return found
    return []


def repair(cluster: Cluster, findings: list[Finding]) -> None:
    """Run the commands, then wait until everything is available; restart who does not recover."""
    for finding in findings:
        for words in finding.repairs:
            print("  $ kubectl", " ".join(words)[:160])
            if words[0] == "apply":
                cluster.kubectl("apply", "-f", "-", stdin=words[1])
            else:
                cluster.kubectl(*words)
    for _ in range(2):
        time.sleep(1)
        cluster.look()
        sick = sorted(n for n in cluster.deployments if not all(map(ready, cluster.pods_of(n))))
        for name in sick:
            cluster.kubectl("rollout", "restart", f"deployment/{name}")
        deadline = time.monotonic() + PATIENCE
        for name in sick:
            left = max(1, int(deadline - time.monotonic()))
            cluster.kubectl("rollout", "status", f"deployment/{name}", f"--timeout={left}s")


def play(cluster: Cluster) -> None:
    """One incident, from the call to the hand-in."""
    alerts = json.loads(cluster.curl("/api/v1/alerts"))["data"]["alerts"]
    print(f"  {cluster.app['app_name']}: {len(alerts)} alerts")
    findings = investigate(cluster)
    diagnosis = " ".join(finding.text for finding in findings) or "Nothing is found."
    print(f"  {diagnosis}")
    cluster.submit(f"{diagnosis} (namespace {cluster.namespace})")
    repair(cluster, findings)
    cluster.submit("")


@contextlib.contextmanager
def served(problem: str) -> Iterator[tuple[str, str, subprocess.Popen[str]]]:
    """``sregym serve`` in a process of its own: the kubeconfig, the desk's address, the process."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "sregym_env.cli.main", "serve", problem, "--speed", SPEED]
        process = subprocess.Popen([*command, "--directory", directory], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        told = ""
        while "incident desk" not in told:
            line = process.stdout.readline()
            assert line, told
            told += line
        kubeconfig, desk = (
            re.search(r"KUBECONFIG=(\S+)", told),
            re.search(r"incident desk\s+(http://\S+)", told),
        )
        assert kubeconfig and desk
        try:
            yield kubeconfig[1], desk[1], process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(10)
            process.stdout.close()


def main() -> None:
    missing = [tool for tool in ("kubectl", "curl") if shutil.which(tool) is None]
    if missing:
        print(f"This example drives a real cluster client; not installed here: {', '.join(missing)}")
        return
    for number, problem in enumerate(PROBLEMS, 1):
        print(f"incident {number}")
        with served(problem) as (kubeconfig, desk, process):
            play(Cluster(kubeconfig, desk))
            assert process.stdout is not None
            result = next(line for line in process.stdout if line.startswith("{"))
        print(f"  verdict: {result.strip()}")


if __name__ == "__main__":
    main()
