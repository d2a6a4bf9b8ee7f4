"""A week of virtual time, served at 1,000 times the speed of the wall, with everything open that clients hold open.

    python tools_dev/soak_serving.py                    # 605 s on the wall, a week inside
    python tools_dev/soak_serving.py --seconds 60       # less

A healthy application is served in a process of its own. Meanwhile watches follow its objects and begin again from where
they stood, a shell in a pod and a connection to a port are asked for an answer again and again, a log is followed, commands
are run, and rollouts churn the pods. It prints, as JSON, what was seen; it fails where a watch missed a change, where a
stream broke or said something else than it should, or where the server keeps files or memory that it should not.
"""

from __future__ import annotations

import argparse
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from base64 import b64decode
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import websocket
import yaml

APP = NAMESPACE = "hotel-reservation"
WEEK = 7 * 86400
SPEED = 1000

WATCHED = (
    "/api/v1/pods",
    "/api/v1/events",
    "/api/v1/endpoints",
    "/apis/apps/v1/deployments",
    "/apis/apps/v1/replicasets",
    f"/api/v1/namespaces/{NAMESPACE}/pods",
)
"""Collections that are watched; the same one twice, in different ways."""

ROLLED = "recommendation"
"""The Deployment that is rolled again and again."""

GROWTH = 1.1
"""How much larger the server may be at the end of the week than when three quarters of it have passed: what a world
remembers is bounded, and by then it has reached the bounds."""


class Cluster:
    """The served cluster, asked as its administrator."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        self._authority = b64decode(cluster["certificate-authority-data"]).decode()
        self.url: str = cluster["server"]
        self._context = ssl.create_default_context(cadata=self._authority)
        self._token: str = config["users"][0]["user"]["token"]

    def open(
        self,
        path: str,
        method: str = "GET",
        body: Any = None,
        kind: str = "application/json",
    ) -> Any:
        """An open response. Raises OSError."""
        request = urllib.request.Request(
            self.url + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": kind},
            method=method,
        )
        return urllib.request.urlopen(request, timeout=60, context=self._context)

    def ask(self, path: str, method: str = "GET", body: Any = None, kind: str = "application/json") -> Any:
        """A JSON answer."""
        with self.open(path, method, body, kind) as reply:
            return json.loads(reply.read())

    def connect(self, path: str, protocol: str) -> websocket.WebSocket:
        """A WebSocket to a subresource of a pod."""
        return websocket.create_connection(
            self.url.replace("https", "wss", 1) + path,
            timeout=60,
            header=[f"Authorization: Bearer {self._token}"],
            subprotocols=[protocol],
            sslopt={"context": self._context},
        )


@dataclass
class Seen:
    """What happened, by whom."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def complain(self, text: str) -> None:
        """Note something that should not be."""
        if len(self.wrong) < 50:
            self.wrong.append(text)


class Watch:
    """Follows a collection as an informer does, and knows what there is."""

    def __init__(self, cluster: Cluster, path: str, seen: Seen) -> None:
        self._cluster, self.path, self._seen = cluster, path, seen
        self.objects: dict[str, int] = {}
        """Revisions by UID."""
        self._gone: set[str] = set()
        self._revision = 0

    def run(self) -> None:
        """Until it is over."""
        while not self._seen.over.is_set():
            try:
                if not self._revision:
                    self._list()
                self._follow()
            except (OSError, ValueError) as error:
                if not self._seen.over.is_set():
                    self._seen.complain(f"watch {self.path}: {type(error).__name__}: {error}")
                    time.sleep(0.5)

    def _list(self) -> None:
        listed = self._cluster.ask(self.path)
        self._revision = int(listed["metadata"]["resourceVersion"])
        self.objects = {
            each["metadata"]["uid"]: int(each["metadata"]["resourceVersion"]) for each in listed["items"]
        }

    def _follow(self) -> None:
        query = f"?watch=true&allowWatchBookmarks=true&timeoutSeconds=20&resourceVersion={self._revision}"
        with self._cluster.open(self.path + query) as stream:
            for line in stream:
                event = json.loads(line)
                self._seen.counts[f"{self.path} {event['type']}"] += 1
                if event["type"] == "ERROR":
                    # A client that is too slow is told so, and begins anew.
                    if event["object"]["code"] != 410:
                        self._seen.complain(f"watch {self.path}: {event['object']['message']}")
                    self._revision = 0
                    return
                self._take(event["type"], event["object"]["metadata"])
                if self._seen.over.is_set():
                    return

    def _take(self, kind: str, metadata: dict[str, Any]) -> None:
        revision = int(metadata["resourceVersion"])
        if kind != "BOOKMARK":
            if revision <= self._revision:
                self._seen.complain(f"watch {self.path}: {revision} after {self._revision}")
            known = metadata["uid"] in self.objects
            if known is (kind == "ADDED"):
                self._seen.complain(f"watch {self.path}: {kind} of what is {'' if known else 'not '}known")
            if kind == "DELETED":
                self.objects.pop(metadata["uid"], None)
                self._gone.add(metadata["uid"])
            else:
                self.objects[metadata["uid"]] = revision
        self._revision = max(self._revision, revision)

    def check(self) -> None:
        """Whether what is known is what there is: whatever two lists in a row agree on."""
        before = self._cluster.ask(self.path)["items"]
        time.sleep(2.0)
        after = {each["metadata"]["uid"]: each for each in self._cluster.ask(self.path)["items"]}
        time.sleep(1.0)
        objects = dict(self.objects)
        for each in before:
            metadata = each["metadata"]
            same = after.get(metadata["uid"])
            changed = same is None or same["metadata"]["resourceVersion"] != metadata["resourceVersion"]
            # Events do not live longer than some seconds here.
            if changed or metadata["uid"] in self._gone:
                continue
            self._seen.counts[f"{self.path} checked"] += 1
            if objects.get(metadata["uid"], 0) < int(metadata["resourceVersion"]):
                self._seen.complain(
                    f"watch {self.path} missed {metadata['name']} {metadata['resourceVersion']}"
                )


def _pod(cluster: Cluster, prefix: str) -> str:
    pods = cluster.ask(f"/api/v1/namespaces/{NAMESPACE}/pods")["items"]
    return next(
        each["metadata"]["name"]
        for each in pods
        if each["metadata"]["name"].startswith(prefix) and each["status"]["phase"] == "Running"
    )


def converse(cluster: Cluster, seen: Seen) -> None:
    """A shell in a pod that stays open: what it is told to say comes back."""
    query = urllib.parse.urlencode(
        [("command", "sh"), ("stdin", "true"), ("stdout", "true"), ("stderr", "true")]
    )
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{_pod(cluster, 'frontend')}/exec?{query}"
    stream = cluster.connect(path, "v5.channel.k8s.io")
    number = 0
    while not seen.over.wait(0.2):
        number += 1
        stream.send_binary(b"\x00echo said-%d\n" % number)
        heard = b""
        while b"said-%d\n" % number not in heard:
            data = stream.recv()
            if not data:
                seen.complain(f"the shell was closed after {number} answers")
                return
            heard += bytes(data)[1:]
        seen.counts["shell answers"] += 1
    stream.close()


def forward(cluster: Cluster, seen: Seen) -> None:
    """A connection to a port of a pod that stays open: every request is answered."""
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{_pod(cluster, 'frontend')}/portforward?ports=5000"
    stream = cluster.connect(path, "v4.channel.k8s.io")
    while not seen.over.wait(0.2):
        stream.send_binary(b"\x00GET / HTTP/1.1\r\nHost: frontend\r\n\r\n")
        while True:
            data = bytes(stream.recv())
            if not data:
                seen.complain("the forwarded connection was closed")
                return
            # The first message of each of the two channels tells the port.
            if len(data) > 3:
                break
        if not data.startswith(b"\x00HTTP/1.1 200"):
            seen.complain(f"the forwarded connection said {data[:60]!r}")
        seen.counts["forwarded answers"] += 1
    stream.close()


def follow(cluster: Cluster, seen: Seen) -> None:
    """The log of the load generator, which writes all the time, followed."""
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{_pod(cluster, 'wrk2')}/log?follow=true&tailLines=1"
    with cluster.open(path) as stream:
        for _ in stream:
            seen.counts["log lines"] += 1
            if seen.over.is_set():
                return


def command(cluster: Cluster, seen: Seen) -> None:
    """Commands that are run and end."""
    query = urllib.parse.urlencode([("command", "date"), ("stdout", "true"), ("stderr", "true")])
    name = _pod(cluster, "frontend")
    while not seen.over.wait(0.5):
        stream = cluster.connect(
            f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/exec?{query}", "v5.channel.k8s.io"
        )
        said = b""
        while data := stream.recv():
            said += bytes(data)
        # The library leaves a socket open that the other side has closed first.
        stream.shutdown()
        if b"UTC" not in said or b"Success" not in said:
            seen.complain(f"date said {said[:80]!r}")
        seen.counts["commands"] += 1


def churn(cluster: Cluster, seen: Seen) -> None:
    """Rollouts, one after another."""
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{ROLLED}"
    number = 0
    while not seen.over.wait(2.0):
        number += 1
        marked = {"spec": {"template": {"metadata": {"annotations": {"rolled": str(number)}}}}}
        cluster.ask(path, "PATCH", marked, "application/strategic-merge-patch+json")
        seen.counts["rollouts"] += 1


@dataclass
class Measured:
    """How large the server is."""

    megabytes: float
    files: int

    @classmethod
    def of(cls, process: int) -> Measured:
        """Now."""
        status = Path(f"/proc/{process}/status").read_text()
        kilobytes = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        return cls(round(kilobytes / 1024, 1), len(os.listdir(f"/proc/{process}/fd")))


def run(seconds: float, speed: float = SPEED, tell: Callable[[str], None] = print) -> dict[str, Any]:
    """Serve for so many seconds on the wall; what was seen. ``wrong`` in it lists what should not have been."""
    with tempfile.TemporaryDirectory(prefix="sregym-soak-") as made:
        folder = Path(made)
        ready = folder / "ready"
        words = ["serve", "--healthy", APP, "--published", "--admin", "--speed", str(speed)]
        words += ["--directory", str(folder / "files"), "--ready-file", str(ready)]
        server = subprocess.Popen(
            [sys.executable, "-m", "sregym_env.cli.main", *words], stdout=subprocess.DEVNULL
        )
        try:
            while not ready.exists():
                if server.poll() is not None:
                    raise RuntimeError("the server has ended")
                time.sleep(0.05)
            return _observed(Cluster(folder / "files" / "admin.kubeconfig"), server.pid, seconds, speed, tell)
        finally:
            server.terminate()
            server.wait(30)


def _observed(
    cluster: Cluster, process: int, seconds: float, speed: float, tell: Callable[[str], None]
) -> dict[str, Any]:
    seen = Seen()
    idle = Measured.of(process)
    began, virtual = time.monotonic(), _now(cluster)
    watches = [Watch(cluster, path, seen) for path in WATCHED]
    clients: list[Callable[[], None]] = [watch.run for watch in watches]
    for act in (converse, forward, follow, command, churn):
        clients.append(lambda act=act: _guarded(act, cluster, seen))  # type: ignore[misc]
    threads = [threading.Thread(target=client, daemon=True) for client in clients]
    for thread in threads:
        thread.start()
    sizes: list[Measured] = []
    while time.monotonic() - began < seconds:
        time.sleep(min(15.0, max(0.5, seconds / 20)))
        sizes.append(Measured.of(process))
        tell(
            f"{time.monotonic() - began:5.0f} s: {sizes[-1].megabytes} MB, {sizes[-1].files} files, {len(seen.wrong)} wrong"
        )
    wall, lived = time.monotonic() - began, _now(cluster) - virtual
    for watch in watches:
        watch.check()
    seen.over.set()
    for thread in threads:
        thread.join(30)
    time.sleep(1.5)
    left = Measured.of(process)
    late, end = sizes[len(sizes) * 3 // 4], sizes[-1]
    if left.files > idle.files + 4:
        seen.complain(f"{left.files} files are open when all has ended, {idle.files} were at the start")
    if lived > 0.95 * WEEK and end.megabytes > GROWTH * late.megabytes:
        seen.complain(f"{end.megabytes} MB at the end, {late.megabytes} MB after three quarters")
    return {
        "wall_seconds": round(wall, 1),
        "virtual_hours": round(lived / 3600, 1),
        "speed": round(lived / wall),
        "wanted_speed": speed,
        "megabytes": {
            "start": idle.megabytes,
            "three_quarters": late.megabytes,
            "end": end.megabytes,
            "left": left.megabytes,
        },
        "files": {"start": idle.files, "end": end.files, "left": left.files},
        "counts": dict(sorted(seen.counts.items())),
        "wrong": seen.wrong,
    }


def _guarded(act: Callable[[Cluster, Seen], None], cluster: Cluster, seen: Seen) -> None:
    try:
        act(cluster, seen)
    except Exception as error:  # whatever ends a client is to be reported
        if not seen.over.is_set():
            seen.complain(f"{act.__name__}: {type(error).__name__}: {error}")


def _now(cluster: Cluster) -> float:
    """The cluster's time, seconds: of an object that is made and removed."""
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
    made = cluster.ask(path, "POST", {"metadata": {"generateName": "now-"}})
    cluster.ask(f"{path}/{made['metadata']['name']}", "DELETE")
    stamp = made["metadata"]["creationTimestamp"]
    return time.mktime(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ")) - time.timezone


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=WEEK / SPEED, help="on the wall")
    parser.add_argument("--speed", type=float, default=SPEED, help="virtual seconds per second")
    given = parser.parse_args()
    report = run(given.seconds, given.speed, lambda text: print(text, file=sys.stderr, flush=True))
    print(json.dumps(report, indent=2))
    sys.exit(1 if report["wrong"] else 0)


if __name__ == "__main__":
    main()
