"""Hostile requests: mutations of valid objects of every kind, through every verb, patch type and subresource.

Everything follows from the seed, so a finding can be repeated. ``python -m tests.serve.hostile --seconds 300``
looks for as long as one likes.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.identity import ADMIN
from sregym_env.kube.registry import Resource
from sregym_env.serve.access import Identities
from sregym_env.serve.app import Application
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Request, encode
from sregym_env.serve.pace import Pace
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.sim.embedded import EmbeddedWorld
from tests.sim.conformance.entries import NAMESPACE, Entry, entries

SLOW_SECONDS = 1.5
"""No single request may keep the others waiting for so long."""

ROUND = 60
"""Requests before a fresh world is taken."""

VALUES: tuple[Any, ...] = (
    None, "", " ", "a", "A_b", "-", ".", "..", "a/b", "a=b", "%", "\x00", "\n", "é", "\U0001f600", "x" * 300,
    "0", "-1", "1e9", "1Ki", "100%", "101%", "NaN", "true", "2024-01-01T00:00:00Z", "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z", "*", "* * * * *", "@every 1s", "10.0.0.1", "::1", "10.0.0.0/8", "1.2.3", "[", "(?i",
    "^(a+)+$", 0, 1, -1, 0.5, -0.0, 1e308, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 65536, True, False,
    [], {}, [None], [[]], [{}], [""], [0], [1, 1], ["a", "a"], {"": ""}, {"a": None}, {"a": {}}, {"a": []},
    {"matchLabels": {}}, {"type": 1}, {"type": "Nope"}, {"name": "a"}, [{"name": "a"}, {"name": "a"}],
    {"metadata": None}, {"containers": None}, {"$patch": "replace"}, {"key": "a", "operator": "In"},
)  # fmt: skip

QUERIES = (
    "limit=-1", "limit=abc", "limit=", "limit=1", "limit=99999999999999999999", "resourceVersion=abc",
    "resourceVersion=0", "resourceVersion=999999999", "resourceVersion=-1", "continue=garbage", "continue=e30",
    "continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhL2IifQ", "fieldSelector=a", "fieldSelector=a=b",
    "fieldSelector=metadata.name=x", "fieldSelector=metadata.name==x,metadata.name!=x", "fieldSelector=%00",
    "fieldSelector=%5C", "labelSelector=a", "labelSelector=a%3D%3D%3Db", "labelSelector=a+in+(",
    "labelSelector=a+in+(b,c),!d", "labelSelector=%28%29", "labelSelector=,", "labelSelector=a>1",
    "labelSelector=" + ",".join(["!a"] * 1200), "timeoutSeconds=abc", "timeoutSeconds=-1", "pretty=true",
    "watch=0", "resourceVersionMatch=Exact", "resourceVersionMatch=x&resourceVersion=1", "sendInitialEvents=true",
    "dryRun=All", "dryRun=x", "fieldValidation=Strict", "fieldValidation=Ignore", "fieldValidation=x",
    "fieldManager=a", "fieldManager=" + "x" * 200, "fieldManager=%00", "force=true", "gracePeriodSeconds=-1",
    "gracePeriodSeconds=x", "gracePeriodSeconds=0", "propagationPolicy=x", "propagationPolicy=Orphan",
    "orphanDependents=maybe", "container=x", "tailLines=-1", "tailLines=x", "sinceSeconds=0", "sinceTime=x",
    "sinceTime=0001-01-01T00:00:00Z", "limitBytes=0", "limitBytes=-5", "previous=true", "command=", "",
    "tailLines=9223372036854775807", "sinceSeconds=9223372036854775807", "includeObject=Nope", "a=%FF%FE",
)  # fmt: skip

ACCEPTS = (
    "", "*/*", "application/json", "application/yaml", "text/html", "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", "application/json;as=Nope", ";;;,,,",
    "application/vnd.kubernetes.protobuf,application/json",
)  # fmt: skip

PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}

SUBRESOURCES = (
    "status", "scale", "eviction", "binding", "token", "log", "exec", "attach", "portforward", "proxy",
    "ephemeralcontainers", "approval", "finalize", "nope",
)  # fmt: skip

RAW = (
    b"", b"{", b"[]", b"null", b"0", b'"x"', b"{}", b'{"a":NaN}', b'{"a":1e999}', b"\xff\xfe", b"\x00", b"k8s\x00",
    b"k8s\x00\x0a\x04\x0a\x02v1", b"k8s\x00" + b"\xff" * 40, b'{"kind":1}', b'{"apiVersion":{}}', b"a: [", b"{{}}",
    b'{"metadata":' * 500, b"[" * 3000, b'{"a":"\\ud800"}', b"- " * 3000, b"a: &a [*a]", b'{"metadata":[]}',
    b'{"metadata":{"name":7}}', b'{"metadata":{"labels":{"a":1}}}', b'{"spec":[]}', b'{"spec":"x"}', b'{"status":0}',
)  # fmt: skip


@dataclass(frozen=True)
class Ask:
    """One hostile request."""

    method: str
    target: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def request(self) -> Request:
        """As the application takes it."""
        from sregym_env.serve.message import parse_query

        path, _, query = self.target.partition("?")
        headers = {"authorization": "Bearer admin", **self.headers}
        return Request(self.method, path, parse_query(query.encode()), headers, self.body)


@dataclass(frozen=True)
class Finding:
    """What should not have happened."""

    ask: Ask
    problem: str

    def __str__(self) -> str:
        return f"{self.ask.method} {self.ask.target[:300]} {self.ask.headers}\n{self.ask.body[:1500]!r}\n{self.problem}"


def collection(entry: Entry) -> str:
    """The path of the entry's collection."""
    kind = entry.resource
    base = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.api_version}"
    return f"{base}/namespaces/{NAMESPACE}/{kind.plural}" if kind.namespaced else f"{base}/{kind.plural}"


def mutated(rng: random.Random, tree: Any) -> Any:
    """The tree with one to three places changed."""
    for _ in range(rng.randint(1, 3)):
        tree = _changed(rng, tree)
    return tree


def _changed(rng: random.Random, tree: Any) -> Any:
    if isinstance(tree, dict) and tree and rng.random() < 0.9:
        key = rng.choice(list(tree))
        roll = rng.random()
        if roll < 0.06:
            return {name: value for name, value in tree.items() if name != key}
        if roll < 0.1:
            return {**tree, rng.choice(("zzz", "", "name", "$patch", "spec")): rng.choice(VALUES)}
        return {**tree, key: _changed(rng, tree[key])}
    if isinstance(tree, list) and tree and rng.random() < 0.9:
        index = rng.randrange(len(tree))
        roll = rng.random()
        if roll < 0.1:
            return [*tree, tree[index]]
        if roll < 0.15:
            return tree[:index] + tree[index + 1 :]
        return [*tree[:index], _changed(rng, tree[index]), *tree[index + 1 :]]
    return rng.choice(VALUES)


def paths(tree: Any, base: str = "") -> Iterator[str]:
    """JSON pointers of everything in a tree."""
    yield base
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from paths(value, f"{base}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from paths(value, f"{base}/{index}")


def _subtree(rng: random.Random, tree: Any) -> Any:
    """A patch that touches one place of a tree."""
    if isinstance(tree, dict) and tree and rng.random() < 0.85:
        key = rng.choice(list(tree))
        made = {key: _subtree(rng, tree[key])}
        if rng.random() < 0.1:
            directive = rng.choice(
                (f"$setElementOrder/{key}", f"$deleteFromPrimitiveList/{key}", "$retainKeys", "$patch")
            )
            made[directive] = rng.choice((*VALUES, "delete", "merge", ["a"], [{"name": "x"}]))
        return made
    if isinstance(tree, list) and tree and rng.random() < 0.8:
        return [_subtree(rng, rng.choice(tree))]
    return rng.choice(VALUES)


def _operations(rng: random.Random, tree: Any) -> Any:
    pointers = list(paths(tree))
    made = []
    for _ in range(rng.randint(1, 3)):
        op = rng.choice(("add", "remove", "replace", "copy", "move", "test", "nope"))
        pointer = rng.choice(pointers) + rng.choice(("", "", "", "/-", "/0", "/x", "/~", "/-1", "/99999"))
        made.append({"op": op, "path": pointer, "from": rng.choice(pointers), "value": rng.choice(VALUES)})
    if rng.random() < 0.1:
        return mutated(rng, made)
    return made


_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "x-kubernetes-validations": [
                {"rule": "self.size < 10 || has(self.text)", "message": "too large"}
            ],
            "properties": {
                "size": {"type": "integer", "minimum": 0, "maximum": 100, "default": 1},
                "text": {"type": "string", "maxLength": 20, "pattern": "^(a|b)+$", "enum": ["a", "b", "ab"]},
                "port": {"x-kubernetes-int-or-string": True},
                "when": {"type": "string", "format": "date-time"},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "parts": {
                    "type": "array",
                    "maxItems": 5,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string"},
                            "n": {"type": "integer", "nullable": True},
                        },
                    },
                },
                "names": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
            },
        },
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}}},
    },
}
_CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "shortNames": ["gd"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _SCHEMA},
                "subresources": {
                    "status": {},
                    "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.replicas"},
                },
                "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
                "selectableFields": [{"jsonPath": ".spec.text"}],
            }
        ],
    },
}
_GADGET: dict[str, Any] = {
    "spec": {
        "size": 3,
        "text": "ab",
        "port": "http",
        "when": "2024-01-01T00:00:00Z",
        "free": {"a": [1, {"b": None}]},
        "parts": [{"name": "a", "n": 1}, {"name": "b"}],
        "names": ["x", "y"],
        "map": {"a": True},
    }
}


def _custom(rng: random.Random) -> Iterator[Ask]:
    """A definition that is right or nearly so, and objects of it."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    json = {"content-type": "application/json"}
    definition = _CRD if rng.random() < 0.6 else mutated(rng, _CRD)
    yield Ask("POST", definitions, json, encode(definition))
    resource = Resource("example.com", "v1", "Gadget", "gadgets", "gadget", True)
    made = Entry(resource, "made", _GADGET, _GADGET, {}, ())
    whole = made.manifest(_GADGET)
    yield Ask("POST", collection(made), json, encode(whole))
    for _ in range(12):
        yield _ask(rng, made, collection(made), whole)
    yield Ask("PUT", f"{definitions}/gadgets.example.com", json, encode(mutated(rng, _CRD)))
    for _ in range(4):
        yield _ask(rng, made, collection(made), whole)
    yield Ask("DELETE", f"{definitions}/gadgets.example.com")


def asks(rng: random.Random) -> Iterator[Ask]:
    """Hostile requests without end: first the object as it should be, then what may go wrong with it."""
    known = entries()
    while True:
        if rng.random() < 0.06:
            yield from _custom(rng)
        entry = rng.choice(known)
        where = collection(entry)
        whole = entry.manifest(rng.choice((entry.minimal, entry.rich, entry.rich)))
        yield Ask("POST", where, {"content-type": "application/json"}, orjson.dumps(whole))
        for _ in range(6):
            yield _ask(rng, entry, where, whole)


def _ask(rng: random.Random, entry: Entry, where: str, whole: Any) -> Ask:
    item = f"{where}/{entry.name}"
    query = rng.choice(QUERIES) if rng.random() < 0.5 else ""
    accept = {"accept": rng.choice(ACCEPTS)} if rng.random() < 0.3 else {}
    roll = rng.random()
    if rng.random() < 0.25:
        item += "/" + rng.choice((*entry.resource.subresources, *SUBRESOURCES))
    target = f"{item}?{query}"
    if roll < 0.1:
        return Ask("GET", rng.choice((f"{where}?{query}", target)), accept)
    if roll < 0.35:
        name = rng.choice(list(PATCHES))
        tree = {"json": _operations, "apply": mutated}.get(name, _subtree)(rng, whole)
        if name == "apply":
            target += "&fieldManager=me"
        return Ask("PATCH", target, {"content-type": PATCHES[name], **accept}, _body(rng, tree))
    if roll < 0.55:
        return Ask(
            "PUT", target, {"content-type": "application/json", **accept}, _body(rng, mutated(rng, whole))
        )
    if roll < 0.62:
        options = mutated(rng, {"preconditions": {"uid": "x"}, "gracePeriodSeconds": 0, "dryRun": ["All"]})
        return Ask("DELETE", rng.choice((target, f"{where}?{query}")), {}, _body(rng, options))
    if roll < 0.7:
        return Ask("POST", target, {"content-type": "application/json"}, _body(rng, mutated(rng, whole)))
    tree = mutated(rng, whole)
    if isinstance(tree, dict) and isinstance(tree.get("metadata"), dict) and rng.random() < 0.5:
        tree = {**tree, "metadata": {**tree["metadata"], "name": f"{entry.name}-{rng.randrange(3)}"}}
    kind = rng.choice(
        ("application/json", "application/json", "application/json", "application/yaml", "text/plain")
    )
    return Ask("POST", f"{where}?{query}", {"content-type": kind, **accept}, _body(rng, tree))


def _body(rng: random.Random, tree: Any) -> bytes:
    if rng.random() < 0.04:
        return rng.choice(RAW)
    raw = encode(tree)
    if rng.random() < 0.03:
        at = rng.randrange(len(raw) + 1)
        return raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :]
    return raw


class Failures(logging.Handler):
    """What the server logged as its own failure."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.found.append(logging.Formatter().format(record))


class Attack:
    """A world under attack."""

    def __init__(self, settled: EmbeddedWorld) -> None:
        self._settled = settled
        self.failures = Failures()
        log = logging.getLogger("sregym_env.serve")
        log.handlers = [self.failures]
        log.propagate = False
        self.renew()

    def renew(self) -> None:
        """Go on with a fresh world."""
        self.world = self._settled.fork()
        hosted = Hosted(Pace(self.world, "step"), Identities({"admin": ADMIN}))
        self.application = Application(hosted)
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self.application.respond(Ask("POST", "/api/v1/namespaces", {}, orjson.dumps(body)).request())

    def send(self, ask: Ask) -> Finding | None:
        """Send a request and let a little time pass, so that controllers see what was stored."""
        began = time.process_time()
        self.failures.found.clear()
        try:
            self.application.respond(ask.request())
            if self.failures.found:
                return Finding(ask, self.failures.found[0])
            self.world.advance(0.5)
        except Exception:  # the finding is the traceback
            return Finding(ask, traceback.format_exc())
        taken = time.process_time() - began
        return Finding(ask, f"took {taken:.1f} s") if taken > SLOW_SECONDS else None


def attack(settled: EmbeddedWorld, seed: int, number: int) -> Iterator[Finding]:
    """What goes wrong in a number of requests."""
    rng = random.Random(seed)
    under = Attack(settled)
    for index, ask in enumerate(asks(rng)):
        if index >= number:
            return
        if index and index % ROUND == 0:
            under.renew()
        found = under.send(ask)
        if found is not None:
            yield found
            under.renew()


def main() -> int:
    """Attack for some seconds and print what is found, each place of failure once."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    settled = deployed_world(APP)
    end = time.monotonic() + given.seconds
    seen: set[str] = set()
    sent, seed = 0, given.seed
    while time.monotonic() < end:
        for finding in attack(settled, seed, 300):
            place = finding.problem[-600:]
            key = "\n".join(line for line in place.splitlines() if "File" in line)[-300:] or place[:120]
            if key not in seen:
                seen.add(key)
                print(f"--- seed {seed}\n{finding}\n", flush=True)
        sent += 300
        seed += 1
    print(f"{sent} requests, {len(seen)} findings")
    return 1 if seen else 0


if __name__ == "__main__":
    sys.exit(main())
