"""What people get wrong, to draw from: ports, names, labels, images, sizes; the choosers of many faults' parameters.

A chooser takes a target and a chance. Its values are often right elsewhere in the same world, or what somebody could
have meant; it never gives one that would work, and new objects get names like those that people give.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from sregym_env.cluster.inventory import Inventory, template
from sregym_env.cluster.targets import ROLLED, ComponentTarget, InApp, ServiceTarget
from sregym_env.kube.quantity import canonical
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

Choose = Callable[[Any, Chance], Any]

ATTEMPTS = 64
"""How often something is drawn again that turns out to be taken, or to work."""

USUAL_PORTS = (
    80, 443, 3000, 4000, 4317, 5000, 5001, 5432, 6379, 7000, 8000, 8001, 8008, 8080, 8081, 8082, 8088, 8090, 8443, 8500,
    8888, 9000, 9001, 9090, 9091, 9100, 9113, 9121, 9187, 9216, 10254, 15020, 27018, 50051, 11212, 6060, 2112, 3306,
)  # fmt: skip
"""Ports that people know by heart: of web servers, metrics, databases and gRPC."""

HEALTH_PATHS = (
    "/health", "/healthz", "/healthz/ready", "/healthz/live", "/ready", "/readyz", "/livez", "/live", "/status", "/ping",
    "/api/health", "/api/healthz", "/api/v1/health", "/api/status", "/actuator/health", "/actuator/health/readiness",
    "/actuator/health/liveness", "/-/healthy", "/-/ready", "/_health", "/health/live", "/health/ready", "/up",
    "/internal/health", "/q/health", "/heartbeat", "/probe", "/manage/health", "/_status/healthz", "/alive",
)  # fmt: skip
"""Where programs of various families answer that they are well."""


def one_of(*values: Any) -> Choose:
    """Any of some values, whatever the target."""
    return lambda target, chance: chance.choice("value", values)


def two_of(name: str, values: Sequence[str]) -> Choose:
    """Two different ones of some values, drawn by a name."""

    def choose(target: Any, chance: Chance) -> tuple[str, str]:
        first, second = chance.sample(name, values, 2)
        return first, second

    return choose


def elsewhere(namespaces: Sequence[str], name: str = "place") -> Choose:
    """One of some namespaces in which the application does not live, drawn by a name."""
    return lambda target, chance: chance.choice(
        name, [each for each in namespaces if each not in target.app.namespaces]
    )


def until(chance: Chance, draw: Callable[[Chance], Any], works: Callable[[Any], bool], last: Any) -> Any:
    """The first draw for which ``works`` holds; ``last`` where none of many does."""
    for attempt in range(ATTEMPTS):
        value = draw(chance.at(attempt))
        if works(value):
            return value
    return last


# --- numbers --------------------------------------------------------------------------------------


def served_ports(target: InApp) -> frozenset[int]:
    """Ports that the component, its pods or its Services have: no wrong port is one of them."""
    component: Any = target.component  # type: ignore[attr-defined]
    pods = ComponentTarget(target.inventory, component)
    listed = (
        number
        for service in _services(target.inventory, pods)
        for port in service["spec"].get("ports") or ()
        for number in (port["port"], port.get("targetPort"), port.get("nodePort"))
    )
    return frozenset((*pods.ports, component.offered_port, *(n for n in listed if isinstance(n, int))))


def wrong_port(target: InApp, chance: Chance) -> int:
    """A port on which the component does not serve: a neighbour's, nearly its own, or one that people know."""
    taken = served_ports(target)
    own: int = target.component.offered_port  # type: ignore[attr-defined]
    neighbours = sorted({c.port for c in target.app.components if c.port} - taken)
    usual = [port for port in USUAL_PORTS if port not in taken]

    def draw(by: Chance) -> int:
        kind = by.weighted("kind", {"neighbour": 0.3 if neighbours else 0.0, "near": 0.4, "usual": 0.3})
        if kind == "neighbour":
            return by.choice("port", neighbours)
        return near_number(own, by) if kind == "near" else by.choice("port", usual)

    return int(until(chance, draw, lambda port: 0 < port < 65536 and port not in taken, usual[0]))


def near_number(number: int, chance: Chance) -> int:
    """A number that differs by a slip: two digits swapped, one wrong, lost or doubled, or a round step away."""
    digits = str(number)
    at = chance.below("at", len(digits))
    match chance.choice("slip", ("swap", "digit", "digit", "lose", "double", "step", "step")):
        case "swap" if len(digits) > 1:
            at = chance.below("at", len(digits) - 1)
            slipped = digits[:at] + digits[at + 1] + digits[at] + digits[at + 2 :]
        case "digit":
            slipped = digits[:at] + str(chance.below("digit", 10)) + digits[at + 1 :]
        case "lose":
            slipped = digits[:at] + digits[at + 1 :]
        case "double":
            slipped = digits[:at] + digits[at] + digits[at:]
        case _:
            return number + chance.choice("step", (-1000, -100, -10, -2, -1, 1, 2, 3, 10, 100, 1000))
    return int(slipped or 0)


# --- words ----------------------------------------------------------------------------------------


def near_word(word: str, chance: Chance) -> str:
    """A word with a slip of the pen: letters swapped, lost, doubled or mistaken."""
    places = [index for index in range(1, len(word) - 1) if word[index : index + 2].isalpha()] or [0]
    at = chance.choice("place", places)
    match chance.choice("slip", ("swap", "lose", "double", "other")):
        case "swap":
            return word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
        case "lose":
            return word[:at] + word[at + 1 :]
        case "double":
            return word[:at] + word[at] + word[at:]
        case _:
            return word[:at] + chance.choice("letter", "aeinorst") + word[at + 1 :]


def variant(name: str, chance: Chance) -> str:
    """Another name for the same thing, as a rename, a copy or a slip makes it."""
    words = name.split("-")
    forms = [
        f"{name}-v{chance.between('version', 2, 4)}",
        f"{name}-{chance.choice('suffix', ENDINGS)}",
        f"{chance.choice('prefix', STAGES)}-{name}",
        f"{name}-{chance.between('number', 0, 3)}",
        near_word(name, chance.at("slip")),
        "-".join(reversed(words)) if len(words) > 1 else f"{name}-svc",
        "".join(words) if len(words) > 1 else f"{name}s",
        f"{name.replace('mongodb', 'mongo').replace('memcached', 'memcache')}-{chance.choice('kind', KINDS)}",
    ]
    return chance.choice("form", forms).strip("-")


STAGES = (
    "prod",
    "live",
    "main",
    "blue",
    "green",
    "canary",
    "stable",
    "primary",
    "shared",
    "core",
    "eu",
    "hotel",
)
ENDINGS = (
    "new",
    "next",
    "prod",
    "main",
    "primary",
    "internal",
    "svc",
    "headless",
    "blue",
    "green",
    "stable",
    "int",
    "ro",
)
KINDS = ("db", "svc", "service", "store", "data", "master", "srv", "node", "cluster", "backend")

_HASH = "bcdfghjklmnpqrstvwxz2456789"


def tagged(chance: Chance) -> str:
    """A suffix such as generators of objects append: ``-5h2k9t8m4c``, ``-v3``, or mostly nothing."""
    kind = chance.weighted("suffix", {"": 0.6, "hash": 0.2, "version": 0.2})
    if kind == "hash":
        return "-" + "".join(chance.choice(index, _HASH) for index in range(10))
    return f"-v{chance.between('version', 2, 9)}" if kind else ""


def fresh(resource: str, *patterns: str) -> Choose:
    """A name for a new object of a kind, from patterns with ``{name}`` and ``{app}``; none that is taken."""

    def choose(target: Any, chance: Chance) -> str:
        app = target.app.name
        taken = names_of(target.inventory, resource, target.namespace)
        component = target.components[0]

        def draw(by: Chance) -> str:
            pattern = by.choice("pattern", patterns)
            return pattern.format(name=component, app=app.split("-")[0]) + tagged(by)

        made: str = until(chance, draw, lambda name: name not in taken, f"{component}-{len(taken)}")
        return made

    return choose


def names_of(inventory: Inventory, resource: str, namespace: str) -> frozenset[str]:
    """Names of the application's own objects of a kind in a namespace."""
    return frozenset(
        name for kind, space, name in inventory.declared if (kind, space) == (resource, namespace)
    )


PODS = (*ROLLED, "jobs.batch", "cronjobs.batch")
"""Kinds of workload that have a pod template."""

# --- labels ---------------------------------------------------------------------------------------


def templates(inventory: Inventory) -> list[Manifest]:
    """The pod templates of all the application's workloads."""
    own = [manifest for (resource, _, _), manifest in inventory.declared.items() if resource in PODS]
    return [template(workload) for workload in (*own, *inventory.made.values())]


def carried(inventory: Inventory) -> frozenset[tuple[str, str]]:
    """Every label that pods of the application carry."""
    found = (t.get("metadata", {}).get("labels") or {} for t in templates(inventory))
    return frozenset(pair for labels in found for pair in labels.items())


LABELS = (
    ("version", ("v2", "v1.2", "stable", "canary", "2.0", "next")),
    ("tier", ("backend", "frontend", "db", "cache", "web")),
    ("component", ("api", "server", "database", "web", "worker")),
    ("role", ("primary", "master", "client", "server", "api")),
    ("environment", ("prod", "production", "live", "staging")),
    ("env", ("prod", "live", "stage")),
    ("release", ("stable", "hotel", "main", "2025-10")),
    ("track", ("stable", "canary", "release")),
    ("app.kubernetes.io/name", ("{name}",)),
    ("app.kubernetes.io/component", ("{name}", "server", "backend")),
    ("app.kubernetes.io/instance", ("{app}", "{app}-prod", "{name}")),
    ("app.kubernetes.io/part-of", ("{app}", "booking")),
    ("app", ("{name}", "{app}", "{app}-{name}")),
    ("k8s-app", ("{name}", "{app}")),
    ("service", ("{name}", "{name}-svc")),
    ("name", ("{name}", "{app}-{name}")),
    ("team", ("booking", "platform", "search")),
    ("slot", ("blue", "green")),
)  # fmt: skip
"""Labels that people select by, and their values."""


def absent_label(target: InApp, chance: Chance, avoid: Collection[str] = ()) -> dict[str, str]:
    """A label that no pod of the application carries, and that somebody could have meant."""
    have = carried(target.inventory)
    name = target.components[0]  # type: ignore[attr-defined]
    app = target.app.name.split("-")[0]

    def draw(by: Chance) -> tuple[str, str]:
        key, values = by.choice("label", LABELS)
        return key, by.choice("value", values).format(name=name, app=app)

    key, value = until(
        chance, draw, lambda pair: pair not in have and pair[0] not in avoid, ("revision", "2025-11")
    )
    return {key: value}


# --- images ---------------------------------------------------------------------------------------

PRIVATE = (
    "registry.internal:5000", "harbor.corp.example.com/apps", "registry.example.com/team", "docker.corp.example.com",
    "nexus.example.com:8443/docker", "123456789012.dkr.ecr.us-east-1.amazonaws.com", "eu.gcr.io/booking-prod",
    "registry.gitlab.example.com/platform", "artifactory.example.com/docker-local", "quay.example.com/sre",
)  # fmt: skip
"""Registries that only their owners reach."""

HOSTS = {"ghcr.io": ("gchr.io", "ghcr.oi", "ghrc.io"), "docker.io": ("docker.oi", "doker.io", "dokcer.io")}
TAGS = (
    "latest",
    "stable",
    "main",
    "master",
    "edge",
    "release",
    "prod",
    "hotfix",
    "rc",
    "lts",
    "alpine",
    "slim",
)


def split_image(reference: str) -> tuple[str, str]:
    """Repository and tag of a reference; ``latest`` where it has none."""
    name, _, tag = reference.partition("@")[0].rpartition(":")
    return (name, tag) if name and "/" not in tag else (reference.partition("@")[0], "latest")


def missing_image(target: ComponentTarget, chance: Chance) -> str:
    """A reference near the container's own that nobody has published: a tag, a slip, or another registry."""
    repository, tag = split_image(target.container["image"])
    known = {split_image(image.reference) for image in target.app.images}
    known.update(
        split_image(t["image"]) for each in templates(target.inventory) for t in each["spec"]["containers"]
    )
    known.update(
        split_image(build) for c in target.app.components for build in (*c.releases, *c.builds.values())
    )

    def draw(by: Chance) -> str:
        host, slash, path = repository.partition("/")
        last = repository.rpartition("/")
        match by.choice("kind", ("tag", "tag", "tag", "word", "host", "private")):
            case "word":
                return f"{last[0]}{last[1]}{near_word(last[2], by)}:{tag}"
            case "host" if slash and "." in host:
                return f"{by.choice('host', HOSTS.get(host, (near_word(host, by),)))}/{path}:{tag}"
            case "private":
                return f"{by.choice('private', PRIVATE)}/{last[2]}:{next_tag(tag, by)}"
            case _:
                return f"{repository}:{next_tag(tag, by)}"

    last = f"{PRIVATE[0]}/{target.name}:{tag}"
    return str(until(chance, draw, lambda name: split_image(name) not in known and _well_formed(name), last))


def next_tag(tag: str, chance: Chance) -> str:
    """A tag that could follow: a version on, a slip, a branch, a commit, a date."""
    numbers = re.findall(r"\d+", tag)
    match chance.choice("tag", ("version", "version", "commit", "branch", "date", "slip")):
        case "version" if numbers:
            at = chance.below("which", len(numbers))
            parts = re.split(r"(\d+)", tag)
            parts[2 * at + 1] = str(int(numbers[at]) + chance.between("ahead", 1, 9))
            return "".join(parts)
        case "version":
            return (
                f"{chance.choice('v', ('v', ''))}{chance.between('major', 0, 3)}"
                f".{chance.between('minor', 0, 19)}.{chance.between('patch', 0, 9)}"
            )
        case "commit":
            return f"{chance.choice('sha', ('', 'sha-', 'main-'))}{chance.bits('commit') >> 36:07x}"
        case "branch":
            word = chance.choice("branch", TAGS)
            return word if word != tag else f"{word}-{chance.between('build', 2, 400)}"
        case "date":
            return f"2025{chance.between('month', 1, 12):02d}{chance.between('day', 1, 28):02d}"
        case _:
            return near_word(tag, chance)


def _well_formed(reference: str) -> bool:
    return (
        bool(re.fullmatch(r"[a-z0-9.:-]+(/[a-z0-9._-]+)*(:[\w][\w.-]*)?", reference))
        and reference[-1:] != ":"
    )


# --- sizes, nodes, addresses ----------------------------------------------------------------------

MEBI = 1024**2


def sized(size: float, chance: Chance) -> str:
    """An amount of memory of about ``size`` bytes, never more, in one of the units that people write."""
    unit, factor = chance.choice(
        "unit", (("Mi", MEBI), ("Mi", MEBI), ("M", 10**6), ("Ki", 1024), ("k", 1000), ("", 1))
    )
    count = int(size / factor)
    return canonical(f"{count // 1000 * 1000 if unit == '' else count}{unit}")


def sibling_node(inventory: Inventory, chance: Chance) -> str:
    """The name of a node that there is not, like those that there are: one that is gone or has never come."""
    known = set(inventory.nodes)

    def draw(by: Chance) -> str:
        name = by.choice("node", inventory.nodes)
        head, number = re.match(r"(.*?)(\d*)$", name).groups()  # type: ignore[union-attr]
        if number and len(number) < 4:
            return f"{head}{int(number) + by.between('ahead', 1, 9)}"
        if not number and by.yes("numbered", 0.7):
            return f"{head}{by.between('number', 2, 12)}"
        return _other_ending(name, by)

    return str(until(chance, draw, lambda name: name not in known, f"{inventory.nodes[0]}-b"))


def _other_ending(name: str, chance: Chance) -> str:
    """A name whose last few letters and digits are others of their kind, as generated names differ."""
    tail = list(name)
    for index in range(max(1, len(name) - 4), len(name)):
        if tail[index].isdigit():
            tail[index] = str(chance.below(f"digit{index}", 10))
        elif tail[index].isalpha():
            tail[index] = chance.choice(f"letter{index}", "bcdfghjklmnpqrstvwxz")
    return "".join(tail)


def node_labels(inventory: Inventory) -> frozenset[tuple[str, str]]:
    """Every label that nodes carry."""
    found = (machine["metadata"].get("labels") or {} for machine in inventory.machines)
    hosts = (("kubernetes.io/hostname", name) for name in inventory.nodes)
    return frozenset((*hosts, *(pair for labels in found for pair in labels.items())))


# --- what stands around a component ---------------------------------------------------------------


def _services(inventory: Inventory, target: ComponentTarget) -> Iterable[Manifest]:
    """Services that select the component's pods."""
    labels = (template(target.manifest).get("metadata", {}).get("labels") or {}).items()
    for (resource, namespace, _), manifest in inventory.declared.items():
        selector = manifest.get("spec", {}).get("selector") if resource == "services" else None
        if selector and namespace == target.namespace and selector.items() <= labels:
            yield manifest


def services_of(target: ServiceTarget | ComponentTarget) -> Sequence[Manifest]:
    """Services that select the component's pods."""
    return list(_services(target.inventory, ComponentTarget(target.inventory, target.component)))


def renamed(resource: str) -> Choose:
    """The name that an object of the component has been given instead of its own; empty where it is simply gone."""

    def choose(target: Any, chance: Chance) -> str:
        if chance.yes("gone", 0.2):
            return ""
        taken = names_of(target.inventory, resource, target.namespace)
        found: str = until(chance, lambda by: variant(target.name, by), lambda name: name not in taken, "")
        return found

    return choose


def under(manifest: Manifest, name: str) -> Manifest:
    """An object with another name, and without an address of its own."""
    spec = {
        k: v
        for k, v in manifest.get("spec", {}).items()
        if k not in ("clusterIP", "clusterIPs") or v == "None"
    }
    ports = [{k: v for k, v in port.items() if k != "nodePort"} for port in spec.get("ports") or ()]
    body = {**manifest, "metadata": {**manifest["metadata"], "name": name}}
    return {**body, "spec": {**spec, "ports": ports}} if "spec" in manifest else body
