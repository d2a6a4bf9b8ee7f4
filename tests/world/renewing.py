"""A world in which much has happened, and texts from renewed worlds as the kept one would have said them."""

from __future__ import annotations

import re

from sregym_env.cluster.identity import ADMIN
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.bringup.renewal import Renewal
from sregym_env.sim.bringup.renewal.identities import Drawn
from sregym_env.sim.embedded import EmbeddedWorld
from sregym_env.tools.workstation import Workstation
from tests.world.worlds import APP, NAMESPACE

SECRET_WORD = "s3cr3tWord"

_TENANT = f"""
apiVersion: v1
kind: Namespace
metadata: {{name: billing}}
---
apiVersion: v1
kind: Secret
metadata: {{name: db, namespace: billing}}
stringData: {{uri: "mongodb://billing:{SECRET_WORD}@db.billing.svc:27017/x", password: {SECRET_WORD}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: settings, namespace: billing}}
data:
  app.env: |
    A=1
    {SECRET_WORD}=key
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db, namespace: billing}}
spec:
  serviceName: db
  replicas: 2
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}}}
    spec:
      containers:
      - name: c
        image: busybox:1.36
        command: [sh, -c, "echo started $PASSWORD $HOSTNAME; sleep 100000"]
        env: [{{name: PASSWORD, valueFrom: {{secretKeyRef: {{name: db, key: password}}}}}}]
  volumeClaimTemplates:
  - metadata: {{name: data}}
    spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
---
apiVersion: v1
kind: Service
metadata: {{name: db, namespace: billing}}
spec: {{clusterIP: None, selector: {{app: db}}, ports: [{{port: 27017}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: billing}}
spec: {{type: NodePort, selector: {{app: web}}, ports: [{{port: 80}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: billing}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
      - name: c
        image: busybox:1.36
        command: [sh, -c, "echo hello from $HOSTNAME; sleep 100000"]
        env: [{{name: SECRET, value: {SECRET_WORD}}}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {{name: report, namespace: billing}}
spec:
  schedule: "*/5 * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - {{name: c, image: "busybox:1.36", command: [sh, -c, "echo report; exit 0"]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: crash, namespace: billing}}
spec:
  selector: {{matchLabels: {{app: crash}}}}
  template:
    metadata: {{labels: {{app: crash}}}}
    spec:
      containers:
      - {{name: c, image: "busybox:1.36", command: [sh, -c, "echo bye; exit 3"]}}
"""

_PAST = (
    f"kubectl apply -f - <<'EOF'\n{_TENANT}\nEOF",
    "sleep 60",
    f"kubectl -n {NAMESPACE} rollout restart deployment/frontend",
    f"kubectl -n {NAMESPACE} set env deployment/geo A=b",
    "sleep 60",
    f"kubectl -n {NAMESPACE} rollout undo deployment/geo",
    "kubectl -n billing rollout restart deployment/web",
    "kubectl -n billing rollout restart statefulset/db",
    "sleep 60",
    "kubectl -n kube-system rollout restart daemonset/kube-proxy",
    "sleep 100",
    f"kubectl -n {NAMESPACE} delete pod -l io.kompose.service=search",
    "kubectl -n billing scale deployment web --replicas=5",
    "sleep 300",
)


def busy_world() -> EmbeddedWorld:
    """The application beside a tenant, after rollouts, deletions, crashes and a few runs of a job."""
    world = deployed_world(APP, 2)
    desk = Workstation(world, ADMIN)
    for line in _PAST:
        desk.run(line)
    return world


def unchanged(renewal: Renewal) -> Drawn:
    """The identities that the kept world has."""
    known = renewal.identities
    return Drawn(known.words(), [*known.ports], dict.fromkeys(known.ranges, 0))


_WORD = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+\.\d+\.\d+\.\d+|[0-9A-Za-z]+", re.ASCII
)


_ENDPOINTS = re.compile(r"(?<=Endpoints: )[0-9.:,]+")


class Back:
    """Says what a world with these identities says in the words of the kept one."""

    def __init__(self, renewal: Renewal, drawn: Drawn) -> None:
        known = renewal.identities
        self._words = dict(zip(drawn.words, known.words(), strict=True))
        self._words |= dict(zip(map(str, drawn.ports), map(str, known.ports), strict=True))
        self._shifts = {node.prefix: (node, shift) for node, shift in drawn.shifts.items()}

    def __call__(self, text: str) -> str:
        said = _WORD.sub(lambda match: self._word(match[0]), text)
        return plain(said)

    def _word(self, word: str) -> str:
        if word in self._words:
            return self._words[word]
        prefix, dot, last = word.rpartition(".")
        # Addresses given later have moved, too.
        if not dot or prefix not in self._shifts or last == "0":
            return word
        node, shift = self._shifts[prefix]
        return f"{prefix}.{node.moved(int(last), -shift)}"


def plain(text: str) -> str:
    """What the kept world says, to be compared."""
    # Columns are as wide as names, a hash of digits alone is quoted in YAML, and endpoints that become ready at once
    # stand in an order that follows from their names.
    said = _ENDPOINTS.sub(lambda found: ",".join(sorted(found[0].split(","))), re.sub(" +", " ", text))
    return "\n".join(sorted(said.replace('"', "").split("\n")))
