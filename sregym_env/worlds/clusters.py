"""Clusters as people have them: names, machines, versions, ages, what happened to them, how fast they write.

All of a cluster follows from one :class:`~sregym_env.runtime.chance.Chance`. Distributions are those counted in real
clusters, with these exceptions: control planes stand on nodes that one sees, so on clouds clusters are such as people
make themselves (kops, Cluster API) and not managed ones; machines that an application's local volumes may be on stay
for good, so only machines with taints are replaced; there are at most eight machines at a time; and no cluster has been
upgraded, so none is older than its release of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import DAY, HOUR, MINUTE, SECOND
from sregym_env.sim.bringup.plan import ClusterPlan, Machine, Pace, Upkeep

ENOUGH_CPU, ENOUGH_MEMORY = 16, 32
"""Cores and GiB that the machines without taints have together, unless more is asked for."""
MOST_MACHINES = 8
OLDEST = 1500 * DAY
"""No cluster is older, and none is older than its release of Kubernetes."""

Place = tuple[str, int]
"""What a machine is for, and its number among those, from 0."""


def drawn_cluster(
    chance: Chance, cpu: float = ENOUGH_CPU, memory: float = ENOUGH_MEMORY, present: int | None = None
) -> ClusterPlan:
    """A cluster that has lived, until ``present`` or a drawn instant. ``cpu`` cores and ``memory`` GiB are what all that
    will run on it may need at most."""
    present = _present(chance.at("present")) if present is None else present
    age = min(_age(chance.at("age")), present - _RELEASED["v1.32.0"])
    born = present - age
    site = _SITES[chance.weighted("provider", _PROVIDERS)](chance.at("site"))
    fleet = _fleet(chance.at("fleet"), site, age, cpu, memory)
    # Nothing here is ever upgraded: what a cluster runs was there when it was made.
    known = {version: share for version, share in _VERSIONS.items() if _RELEASED[version] <= born}
    version = chance.weighted("version", known)
    machines = _with_kubelets(chance.at("kubelets"), fleet.machines, version)
    planes = sum(machine.control_plane for machine in machines)
    addons = min(25, 1 + chance.poisson("addons", 5.0))
    return ClusterPlan(
        machines=machines,
        born=born,
        present=present,
        key=f"{chance.bits('key'):016x}",
        seed=-1 - chance.bits("seed") % 2**62,
        provider=site.provider,
        cluster_name=site.cluster,
        version=version,
        pod_cidr=site.pods,
        service_cidr=site.services,
        upstream=site.upstream,
        addons=addons,
        installed=_installed(chance.at("installed"), fleet),
        pace=_pace(chance.at("pace"), born, present, planes, len(fleet.staying), addons),
        upkeep=_upkeep(chance.at("upkeep"), fleet, age),
    )


# --- when ---------------------------------------------------------------------------------------------------

FIRST_DAY, DAYS = datetime(2026, 7, 1, tzinfo=UTC), 350
"""The year of which one day is the present: while the API server's certificate is valid."""


def _present(chance: Chance) -> int:
    """An instant of the year: in working hours, in the evening and at night, or at a weekend."""
    kind = chance.weighted("kind", {"work": 0.65, "off": 0.25, "weekend": 0.10})
    day = FIRST_DAY + timedelta(days=chance.below("day", DAYS))
    weekend = kind == "weekend"
    while (day.weekday() >= 5) is not weekend:
        day += timedelta(days=1)
    hour = chance.uniform("hour", 8.0, 18.0)
    if kind == "off":
        hour = (18.0 + 14.0 * chance.unit("night")) % 24.0
    elif weekend:
        hour = chance.uniform("hour", 0.0, 24.0)
    start = (day - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return start + int(hour * HOUR)


def _age(chance: Chance) -> int:
    if chance.yes("young", 0.05):
        return int(chance.uniform("hours", 1.0, 24.0) * HOUR)
    return int(min(OLDEST, max(DAY / 2, chance.lognormal("days", 120.0, 1.3) * DAY)))


# --- where --------------------------------------------------------------------------------------------------

_WORDS = (
    "acorn", "alder", "amber", "anvil", "argon", "aspen", "atlas", "aurora", "basalt", "beacon", "birch", "bolt",
    "boreal", "cadence", "canyon", "cedar", "cinder", "citadel", "cobalt", "comet", "copper", "coral", "corvus", "cosmos",
    "cypress", "delta", "drift", "dune", "echo", "ember", "falcon", "fjord", "flint", "forge", "garnet", "glacier",
    "granite", "harbor", "hazel", "helios", "heron", "indigo", "iris", "juniper", "kestrel", "lagoon", "lantern", "larch",
    "lumen", "lynx", "magma", "maple", "marlin", "meridian", "mica", "mistral", "nimbus", "north", "oak", "obsidian",
    "onyx", "orbit", "orchid", "osprey", "otter", "pebble", "pinnacle", "pioneer", "polaris", "prairie", "quartz",
    "quasar", "raven", "reef", "ridge", "river", "saffron", "sequoia", "sierra", "slate", "solstice", "sparrow", "summit",
    "tango", "teal", "terra", "tundra", "umbra", "vale", "vector", "velvet", "vertex", "willow", "zenith", "zephyr",
)  # fmt: skip
_STAGES = (
    "prod",
    "production",
    "prd",
    "live",
    "staging",
    "stg",
    "shared",
    "main",
    "core",
    "platform",
    "apps",
    "test",
)
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"

_PODS = ("10.244.0.0/16", "10.42.0.0/16", "192.168.0.0/16", "100.64.0.0/16", "10.200.0.0/16", "172.25.0.0/16")
_SERVICES = (
    "10.96.0.0/16",
    "10.43.0.0/16",
    "10.233.0.0/16",
    "172.20.0.0/16",
    "10.100.0.0/16",
    "10.152.0.0/16",
)


@dataclass(frozen=True, slots=True)
class Image:
    """An operating system as its nodes report it."""

    os_image: str
    kernel: str
    runtime: str


@dataclass(frozen=True, slots=True)
class Site:
    """What the machines of a cluster have in common."""

    provider: str
    cluster: str
    pods: str
    services: str
    upstream: str
    image: Image
    name: Callable[[str, int], str]
    """The name of the machine of a role with a number; those of the control plane are numbered apart."""
    address: Callable[[int], str]
    """The address of the machine of a rank in the cluster."""
    zones: tuple[str, ...] = ()
    """None: machines do not say where they are."""
    region: str = ""
    instance: Callable[[int, int], str] = lambda cpu, memory: ""
    """The type of a machine with so many cores and GiB; empty where there are no types."""
    provider_id: Callable[[str, str], str] = lambda name, zone: ""
    reserved: bool = False
    """Whether the kubelets keep something back for the machine."""
    slow: float = 600.0
    """Seconds within which the first machines join."""
    worker_role: bool = False
    """Whether workers carry the role ``worker``."""
    pool_label: str = ""
    """The label that names a machine's pool; empty: ``node.kubernetes.io/pool``, on extra machines only."""


def _suffix(chance: Chance, name: str | int, length: int) -> str:
    return "".join(chance.choice(f"{name}:{index}", _SUFFIX) for index in range(length))


def _cluster_name(chance: Chance) -> str:
    word, stage = chance.choice("word", _WORDS), chance.choice("stage", _STAGES)
    return chance.choice(
        "form",
        (
            f"{word}-{stage}",
            f"{stage}-{word}",
            word,
            f"{word}-{stage}-{1 + chance.below('n', 4)}",
            f"{word}{stage}",
        ),
    )


def _network(chance: Chance, pods: str) -> tuple[str, Callable[[int], str]]:
    """(the gateway, address by rank) of the machines' network."""
    nets = [
        f"10.{chance.between('a', 1, 39)}.{chance.below('b', 256)}",
        f"172.{chance.between('a', 16, 19)}.{chance.below('b', 256)}",
        f"10.{chance.between('c', 110, 149)}.{chance.below('b', 256)}",
    ]
    if not pods.startswith("192.168"):
        nets.append(f"192.168.{chance.below('b', 256)}")
    net = chance.choice("net", nets)
    hosts = chance.sample("hosts", range(10, 250), 40)
    if chance.yes("sorted", 0.5):
        first = chance.between("first", 10, 200)
        hosts = list(range(first, first + 40))
    return f"{net}.1", lambda rank: f"{net}.{hosts[rank]}"


def _ranges(chance: Chance) -> tuple[str, str]:
    return chance.choice("pods", _PODS), chance.choice("services", _SERVICES)


_GENERIC_IMAGES = (
    Image("Ubuntu 22.04.5 LTS", "5.15.0-{}-generic", "containerd://1.7.{}"),
    Image("Ubuntu 24.04.2 LTS", "6.8.0-{}-generic", "containerd://1.7.{}"),
    Image("Ubuntu 20.04.6 LTS", "5.4.0-{}-generic", "containerd://1.7.{}"),
    Image("Debian GNU/Linux 12 (bookworm)", "6.1.0-{}-amd64", "containerd://1.7.{}"),
    Image("Rocky Linux 9.5 (Blue Onyx)", "5.14.0-503.{}.1.el9_5.x86_64", "containerd://1.7.{}"),
    Image("Flatcar Container Linux by Kinvolk 4152.2.2 (Oklo)", "6.6.{}-flatcar", "containerd://1.7.{}"),
)
_KERNELS = {
    "Ubuntu 22.04.5 LTS": (119, 142), "Ubuntu 24.04.2 LTS": (48, 62), "Ubuntu 20.04.6 LTS": (196, 218),
    "Debian GNU/Linux 12 (bookworm)": (27, 37), "Rocky Linux 9.5 (Blue Onyx)": (14, 40),
    "Flatcar Container Linux by Kinvolk 4152.2.2 (Oklo)": (74, 90), "Amazon Linux 2023.7.20250512": (128, 134),
}  # fmt: skip


def _image(chance: Chance, images: tuple[Image, ...], name: str = "image") -> Image:
    found = chance.choice(name, images)
    low, high = _KERNELS.get(found.os_image, (10, 90))
    kernel = found.kernel.format(chance.between(f"{name} kernel", low, high))
    return Image(found.os_image, kernel, found.runtime.format(chance.between(f"{name} runtime", 20, 27)))


def _kind(chance: Chance) -> Site:
    cluster = chance.choice(
        "name", ("kind", "dev", "lab", "local", chance.choice("word", _WORDS), "sandbox", "ci")
    )
    hosts = chance.shuffled("hosts", range(2, 12))
    short = {"control": "control-plane", "main": "worker"}

    def name(role: str, number: int) -> str:
        return f"{cluster}-{short.get(role, 'worker')}{number + 1 if number else ''}"

    image = Image(
        "Debian GNU/Linux 12 (bookworm)", f"{chance.choice('kernel', _HOSTS)}", "containerd://2.0.3"
    )
    return Site(
        "kind", cluster, "10.244.0.0/16", "10.96.0.0/16", "172.18.0.1", image, name,
        lambda rank: f"172.18.0.{hosts[rank]}",
        provider_id=lambda name, zone: f"kind://docker/{cluster}/{name}", slow=40.0,
    )  # fmt: skip


_HOSTS = (
    "6.8.0-60-generic",
    "6.1.0-34-amd64",
    "5.15.0-139-generic",
    "6.14.0-15-generic",
    "6.6.87.1-microsoft-standard-WSL2",
)


def _hosts(chance: Chance) -> Site:
    """Machines of one's own, set up with kubeadm."""
    pods, services = _ranges(chance)
    gateway, address = _network(chance, pods)
    cluster = _cluster_name(chance)
    word = chance.choice("host word", _WORDS)
    pad = chance.choice("pad", (1, 2, 2, 3))
    first = chance.choice("first", (0, 1, 1, 1, chance.between("some", 2, 60)))
    control, worker = chance.choice(
        "style",
        (
            ("k8s-master-{}", "k8s-worker-{}"), ("k8s-cp{}", "k8s-node{}"), ("node{}", "node{}"),
            (f"{word}-cp-{{}}", f"{word}-wk-{{}}"), (f"{word}kubm{{}}", f"{word}kubw{{}}"), (f"{word}-m{{}}", f"{word}-n{{}}"),
            (f"{cluster}-master-{{}}", f"{cluster}-node-{{}}"), ("kube-controller-{}", "kube-node-{}"), (f"srv-{word}-{{}}", f"srv-{word}-{{}}"),
        ),
    )  # fmt: skip
    same = control == worker
    domain = chance.choice("domain", ("", "", "", ".internal", f".{word}.lan", ".example.net"))

    def name(role: str, number: int) -> str:
        if role == "control":
            return control.format(f"{first + number:0{pad}d}") + domain
        # Machines of one series are numbered on after those of the control plane.
        return worker.format(f"{first + number + (3 if same else 0):0{pad}d}") + domain

    zones = chance.weighted("racks", {0: 0.6, 2: 0.2, 3: 0.2})
    racks = tuple(f"{chance.choice('rack', ('rack', 'room', 'dc', 'az'))}{n + 1}" for n in range(zones))
    return Site(
        "kubeadm", cluster, pods, services, chance.choice("dns", (gateway, gateway[:-1] + "53", "10.10.0.53")),
        _image(chance, _GENERIC_IMAGES), name, address, racks, worker_role=chance.yes("worker role", 0.4),
    )  # fmt: skip


def _aws(chance: Chance) -> Site:
    """EC2 instances as kops makes them."""
    region = chance.choice(
        "region", ("eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "ap-southeast-2", "eu-north-1")
    )
    net = f"10.{chance.below('net', 256) % 99}"
    domain = "ec2.internal" if region == "us-east-1" else f"{region}.compute.internal"
    hosts = [(chance.below(f"third:{n}", 128), chance.between(f"fourth:{n}", 4, 250)) for n in range(40)]

    def address(rank: int) -> str:
        return f"{net}.{hosts[rank][0] + rank % 2 * 128}.{hosts[rank][1]}"

    def name(role: str, number: int) -> str:
        return f"ip-{address(_rank(role, number)).replace('.', '-')}.{domain}"

    family = chance.choice("family", ("m5", "m6i", "m7i", "c6i", "r6i", "m6a"))
    sizes = {4: "xlarge", 8: "2xlarge", 16: "4xlarge"}
    images = (
        Image("Ubuntu 22.04.5 LTS", "6.8.0-1028-aws", "containerd://1.7.{}"),
        Image("Amazon Linux 2023.7.20250512", "6.1.{}-147.221.amzn2023.x86_64", "containerd://1.7.{}"),
    )
    return Site(
        "aws", f"{_cluster_name(chance)}.k8s.local", "100.64.0.0/16", "172.20.0.0/16", f"{net}.0.2",
        _image(chance, images), name, address, _zones(chance, region), region,
        lambda cpu, memory: f"{family}.{sizes[cpu]}",
        lambda name, zone: f"aws:///{zone}/i-0{chance.bits(f'instance:{name}'):016x}", reserved=True,
        pool_label="kops.k8s.io/instancegroup",
    )  # fmt: skip


def _zones(chance: Chance, region: str, form: str = "{}{}") -> tuple[str, ...]:
    count = chance.weighted("zones", {1: 0.35, 2: 0.15, 3: 0.5})
    return tuple(form.format(region, letter) for letter in "abc"[:count])


def _google(chance: Chance) -> Site:
    """Compute Engine instances as kops makes them."""
    region = chance.choice(
        "region", ("europe-west1", "europe-west4", "us-central1", "us-east4", "asia-northeast1")
    )
    cluster, project = (
        _cluster_name(chance),
        f"{chance.choice('project', _WORDS)}-{chance.between('number', 100, 999)}",
    )
    _, address = _network(chance, "10.42.0.0/16")
    zones = _zones(chance, region, "{}-{}")

    def name(role: str, number: int) -> str:
        group = {"control": "control-plane", "main": "nodes"}.get(role, role)
        return f"{group}-{zones[number % len(zones)]}-{_suffix(chance, f'{role}{number}', 4)}"

    images = (
        Image("Ubuntu 22.04.5 LTS", "6.8.0-1029-gcp", "containerd://1.7.{}"),
        Image("Container-Optimized OS from Google", "6.6.{}+", "containerd://1.7.{}"),
    )
    kind = chance.choice("family", ("e2-standard", "n2-standard", "n2d-standard", "c3-standard"))
    return Site(
        "gce", cluster, "10.42.0.0/16", "10.43.0.0/16", "169.254.169.254", _image(chance, images), name, address, zones,
        region, lambda cpu, memory: f"{kind}-{cpu}", lambda name, zone: f"gce://{project}/{zone}/{name}", reserved=True,
        pool_label="kops.k8s.io/instancegroup",
    )  # fmt: skip


def _azure(chance: Chance) -> Site:
    """Virtual machines as Cluster API makes them on Azure."""
    region = chance.choice(
        "region", ("westeurope", "northeurope", "eastus2", "germanywestcentral", "uksouth")
    )
    cluster = _cluster_name(chance)
    subscription = _uuid(chance, "subscription")
    pods, services = "192.168.0.0/16", "10.96.0.0/16"

    def name(role: str, number: int) -> str:
        middle = "control-plane" if role == "control" else "md-0" if role == "main" else f"md-{role}"
        return f"{cluster}-{middle}-{_suffix(chance, f'{role}{number}', 5)}"

    return Site(
        "azure", cluster, pods, services, "168.63.129.16",
        _image(chance, (Image("Ubuntu 22.04.5 LTS", "5.15.0-1089-azure", "containerd://1.7.{}"),
                        Image("Ubuntu 24.04.2 LTS", "6.8.0-1028-azure", "containerd://1.7.{}"))),
        name, lambda rank: f"10.{rank % 2}.0.{4 + rank}", _zones(chance, region, "{}-{}"), region,
        lambda cpu, memory: f"Standard_D{cpu}s_v{chance.choice('generation', ('3', '4', '5'))}",
        lambda name, zone: (
            f"azure:///subscriptions/{subscription}/resourceGroups/{cluster}/providers/Microsoft.Compute/"
            f"virtualMachines/{name}"
        ),
        reserved=True,
    )  # fmt: skip


def _talos(chance: Chance) -> Site:
    pods, services = "10.244.0.0/16", "10.96.0.0/16"
    gateway, address = _network(chance, pods)
    cluster = _cluster_name(chance)
    minor, patch = chance.choice("release", (("1.9", "5"), ("1.9", "6"), ("1.10", "0"), ("1.10", "2")))
    kernel = {"1.9": "6.12.{}-talos", "1.10": "6.12.{}-talos"}[minor].format(chance.between("kernel", 18, 28))
    return Site(
        "talos", cluster, pods, services, gateway, Image(f"Talos (v{minor}.{patch})", kernel, "containerd://2.0.5"),
        lambda role, number: f"talos-{_suffix(chance, f'{role}{number}a', 3)}-{_suffix(chance, f'{role}{number}b', 3)}",
        address,
    )  # fmt: skip


def _machines_api(chance: Chance) -> Site:
    """Virtual machines as Cluster API makes them on OpenStack, vSphere or Hetzner."""
    pods, services = _ranges(chance)
    gateway, address = _network(chance, pods)
    cluster = _cluster_name(chance)
    scheme = chance.choice("scheme", ("openstack:///{}", "vsphere://{}", "hcloud://{}"))
    template = _suffix(chance, "template", 5)

    def provider_id(name: str, zone: str) -> str:
        if scheme.startswith("hcloud"):
            return scheme.format(40_000_000 + chance.below(f"server:{name}", 30_000_000))
        return scheme.format(_uuid(chance, f"server:{name}"))

    def name(role: str, number: int) -> str:
        suffix = _suffix(chance, f"{role}{number}", 5)
        return (
            f"{cluster}-control-plane-{suffix}"
            if role == "control"
            else f"{cluster}-{role}-{template}-{suffix}"
        )

    return Site(
        scheme.partition(":")[0], cluster, pods, services, gateway, _image(chance, _GENERIC_IMAGES), name, address,
        provider_id=provider_id,
    )  # fmt: skip


def _uuid(chance: Chance, name: str) -> str:
    text = f"{chance.bits(f'{name}/0'):016x}{chance.bits(f'{name}/1'):016x}"
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


_PROVIDERS = {
    "kubeadm": 0.30, "aws": 0.22, "gce": 0.13, "azure": 0.10, "talos": 0.07, "kind": 0.08, "capi": 0.10,
}  # fmt: skip
_SITES: dict[str, Callable[[Chance], Site]] = {
    "kubeadm": _hosts, "aws": _aws, "gce": _google, "azure": _azure, "talos": _talos, "kind": _kind, "capi": _machines_api,
}  # fmt: skip


# --- machines -----------------------------------------------------------------------------------------------

_SIZES = ((4, 16), (8, 16), (8, 32), (16, 32), (16, 64))
"""(cores, GiB)."""
_POOLS = {"infra": 0.30, "spot": 0.25, "gpu": 0.15, "arm": 0.35, "spare": 0.12, "retired": 0.50}
"""Machines beside the workers, and the shares of clusters that have them. ``retired`` is a worker that is there no more
for anybody: its disk is bad, so whoever opens all that is closed has pods that cannot start; on an ``arm`` machine
start only those whose images are built for it. In reality a tenth of clusters has the one, and fewer the other; here
they are many, because "open every node" must not be the answer."""
_POOL_AGES = {
    "infra": (250.0, 0.8),
    "spot": (1.2, 0.6),
    "gpu": (30.0, 0.9),
    "arm": (60.0, 1.0),
    "spare": (60.0, 1.0),
    "main": (90.0, 1.0),
}
"""Median age in days and its spread."""


@dataclass(frozen=True, slots=True)
class _Fleet:
    """All machines that ever are, in the order in which they join, and the names of some of them."""

    machines: tuple[Machine, ...]
    leaving: tuple[tuple[str, str], ...]
    """(who leaves, who takes the place)."""
    spares: tuple[str, ...]
    retired: tuple[str, ...]

    @property
    def staying(self) -> list[Machine]:
        gone = [name for name, _ in self.leaving]
        return [machine for machine in self.machines if machine.name not in gone]


def _fleet(chance: Chance, site: Site, age: int, cpu: float, memory: float) -> _Fleet:
    plain = site.provider != "kind"
    workers = chance.weighted("workers", {2: 0.28, 3: 0.42, 4: 0.22, 5: 0.08})
    planes = 3 if plain and workers > 2 and chance.yes("planes", 0.12) else 1

    def enough(count: int, size: tuple[int, int]) -> bool:
        return count * size[0] >= 1.25 * cpu and count * size[1] >= 1.25 * memory

    size = chance.choice("size", [size for size in _SIZES if enough(workers, size)] or [_SIZES[-1]])
    made = [_machine(chance, site, "control", n, _CONTROL_SIZE) for n in range(planes)]
    # The last worker may have come later, for one whose number is gone; the others must do without it.
    gap = chance.below("gap", 3) if plain and enough(workers - 1, size) and chance.yes("young", 0.45) else -1
    serials = [*range(workers - 1), workers - 1 + max(gap, 0)]
    made += [_machine(chance, site, "main", serial, size) for serial in serials]
    made[planes:] = [replace(machine, joins=_early(chance, site, machine.name)) for machine in made[planes:]]
    if gap >= 0:
        made[-1] = replace(made[-1], joins=_late(chance, site, "main", made[-1].name, age))
    # Disks of clusters that are hours old are good.
    likely = {pool: share for pool, share in _POOLS.items() if pool != "retired" or age > 2 * DAY}
    pools = [pool for pool, share in likely.items() if plain and chance.yes(pool, share)]
    pools = pools[: MOST_MACHINES - planes - workers]
    leaving: list[tuple[str, str]] = []
    apart: dict[str, list[str]] = {"spare": [], "retired": []}
    serial = serials[-1] + 1
    for pool in pools:
        role = "main" if pool == "retired" else pool
        heir = _machine(chance, site, role, serial + 1, _pool_size(pool, size))
        heir = replace(heir, joins=_late(chance, site, role, heir.name, age))
        # Only where no application's volumes can be does a machine leave for good.
        if pool not in apart and not leaving and heir.joins > DAY and chance.yes("replaced", 0.6):
            old = _machine(chance, site, pool, serial, _pool_size(pool, size))
            made.append(replace(old, joins=_early(chance, site, old.name)))
            leaving.append((old.name, heir.name))
        made.append(heir)
        serial += 2
        if pool in apart:
            apart[pool].append(heir.name)
    made = [*made[:planes], *sorted(made[planes:], key=lambda machine: (machine.joins, machine.name))]
    placed = tuple(_placed(site, machine, index) for index, machine in enumerate(made))
    return _Fleet(placed, tuple(leaving), tuple(apart["spare"]), tuple(apart["retired"]))


def _installed(chance: Chance, fleet: _Fleet) -> int:
    """When the add-ons come: at once, or once the first workers are there."""
    first = max((machine.joins for machine in fleet.machines if machine.joins < HOUR), default=0)
    soon = int(chance.uniform("soon", 3.0, 30.0) * SECOND)
    return soon if chance.yes("at once", 0.3) else first + soon


def _pool_size(pool: str, size: tuple[int, int]) -> tuple[int, int]:
    return _CONTROL_SIZE if pool == "infra" else size


_CONTROL_SIZE = (4, 16)


def _rank(role: str, serial: int) -> int:
    """The place of a machine in the cluster: those of the control plane come first."""
    return serial if role == "control" else serial + 3


def _early(chance: Chance, site: Site, name: str) -> int:
    return int(chance.uniform(name, 12.0, site.slow) * SECOND)


def _late(chance: Chance, site: Site, pool: str, name: str, age: int) -> int:
    """When a machine joins that was not there from the start."""
    median, spread = _POOL_AGES[pool]
    own = int(chance.lognormal(f"{name} age", median, spread) * DAY)
    if own >= age - HOUR:
        return _early(chance, site, name)
    return age - max(own, min(HOUR, age // 4))


def _machine(chance: Chance, site: Site, role: str, serial: int, size: tuple[int, int]) -> Machine:
    name = site.name(role, serial)
    own = chance.at("machine", name)
    zone = site.zones[serial % len(site.zones)] if site.zones else ""
    labels = _labels(site, role, zone, size)
    cpu, memory = size
    disk = chance.choice("disk", (50, 80, 100, 100, 200)) * 1_000_000
    capacity = {
        "cpu": str(cpu),
        "ephemeral-storage": f"{int(disk * own.uniform('disk', 0.975, 0.999)) // 4 * 4}Ki",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": f"{(int(memory * 262_144 * chance.uniform('memory', 0.955, 0.985)) + own.below('pages', 64)) * 4}Ki",
        "pods": "110",
    }
    if role == "gpu":
        capacity["nvidia.com/gpu"] = "1"
    allocatable = dict(capacity)
    allocatable["ephemeral-storage"] = str(int(capacity["ephemeral-storage"][:-2]) * 1024 * 9 // 10)
    kept = 102_400 + (memory * 30_000 if site.reserved else 0)
    allocatable["memory"] = f"{int(capacity['memory'][:-2]) - kept}Ki"
    if site.reserved:
        allocatable["cpu"] = f"{cpu * 1000 - 50 - 10 * cpu // 2}m"
    address = site.address(_rank(role, serial))
    made = Machine(
        name=name,
        address=address,
        pod_cidr="",
        control_plane=role == "control",
        labels=labels,
        taints=_TAINTS.get(role, ()),
        annotations=(("projectcalico.org/IPv4Address", f"{address}/24"),),
        capacity=tuple(capacity.items()),
        allocatable=tuple(sorted(allocatable.items())),
        runtime=site.image.runtime,
        kernel=site.image.kernel,
        os_image=site.image.os_image,
        provider_id=site.provider_id(name, zone),
    )
    return _as_arm(site, made, cpu) if role == "arm" else made


_TAINTS = {
    "gpu": (("nvidia.com/gpu", "present", "NoSchedule"),),
    "spot": (("spot", "true", "NoSchedule"),),
    "infra": (("dedicated", "infra", "NoSchedule"),),
    "arm": (("kubernetes.io/arch", "arm64", "NoSchedule"),),
}

_ARM_TYPES = {"aws": ("m7g.{}", {4: "xlarge", 8: "2xlarge", 16: "4xlarge"}), "gce": ("t2a-standard-{}", {}),
              "azure": ("Standard_D{}ps_v5", {})}  # fmt: skip
"""Types of machines with ARM processors by provider: the form, and what stands there for a number of cores."""


def _as_arm(site: Site, machine: Machine, cpu: int) -> Machine:
    """The same machine with a processor of the other architecture."""
    labels = dict(machine.labels)
    if site.provider in _ARM_TYPES:
        form, sizes = _ARM_TYPES[site.provider]
        kind = form.format(sizes.get(cpu, cpu))
        labels["beta.kubernetes.io/instance-type"] = labels["node.kubernetes.io/instance-type"] = kind
    kernel = machine.kernel.replace("amd64", "arm64").replace("x86_64", "aarch64")
    return replace(machine, architecture="arm64", kernel=kernel, labels=tuple(sorted(labels.items())))


def _labels(site: Site, role: str, zone: str, size: tuple[int, int]) -> tuple[tuple[str, str], ...]:
    labels: dict[str, str] = {}
    instance = site.instance(*size)
    if instance:
        labels["beta.kubernetes.io/instance-type"] = labels["node.kubernetes.io/instance-type"] = instance
    if site.region:
        labels["failure-domain.beta.kubernetes.io/region"] = labels["topology.kubernetes.io/region"] = (
            site.region
        )
        labels["failure-domain.beta.kubernetes.io/zone"] = zone
    if zone:
        labels["topology.kubernetes.io/zone"] = zone
    if site.pool_label:
        labels[site.pool_label] = {"control": "control-plane", "main": "nodes"}.get(role, role)
    elif role not in ("control", "main", "spare"):
        labels["node.kubernetes.io/pool"] = role
    if site.worker_role and role in ("main", "spare"):
        labels["node-role.kubernetes.io/worker"] = ""
    if role in ("infra", "gpu"):
        labels[f"node-role.kubernetes.io/{role}"] = ""
    return tuple(sorted(labels.items()))


def _placed(site: Site, machine: Machine, index: int) -> Machine:
    """The machine with the range for its pods: ranges are handed out in the order of joining."""
    first, second, *_ = site.pods.split(".")
    return replace(machine, pod_cidr=f"{first}.{second}.{index}.0/24")


_VERSIONS = {
    "v1.32.0": 0.05,
    "v1.32.1": 0.1,
    "v1.32.2": 0.15,
    "v1.32.3": 0.25,
    "v1.32.4": 0.2,
    "v1.32.5": 0.25,
}


def _day(year: int, month: int, day: int) -> int:
    return (datetime(year, month, day, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


_RELEASED = {
    "v1.32.0": _day(2024, 12, 12), "v1.32.1": _day(2025, 1, 16), "v1.32.2": _day(2025, 2, 14), "v1.32.3": _day(2025, 3, 13),
    "v1.32.4": _day(2025, 4, 24), "v1.32.5": _day(2025, 5, 17),
}  # fmt: skip
"""From when on somebody could install them."""


def _with_kubelets(chance: Chance, machines: tuple[Machine, ...], version: str) -> tuple[Machine, ...]:
    """Kubelets as new as the control plane; in some clusters a part of the workers is behind."""
    skew = chance.weighted("skew", {"equal": 0.65, "patch": 0.20, "minor": 0.13, "two": 0.02})
    patch = int(version.rpartition(".")[2])
    behind = {
        "equal": version,
        "patch": f"v1.32.{max(0, patch - 1 - chance.below('patch', 2))}",
        "minor": f"v1.31.{chance.between('minor', 3, 9)}",
        "two": f"v1.30.{chance.between('two', 6, 13)}",
    }[skew]
    share = chance.uniform("behind", 0.3, 1.0)
    return tuple(
        replace(
            machine,
            kubelet=behind
            if not machine.control_plane
            and machine.joins <= HOUR
            and chance.yes(f"behind:{machine.name}", share)
            else version,
        )
        for machine in machines
    )


# --- what has happened ----------------------------------------------------------------------------------------


def _upkeep(chance: Chance, fleet: _Fleet, age: int) -> tuple[Upkeep, ...]:
    found: list[Upkeep] = []
    joined = {machine.name: machine.joins for machine in fleet.machines}
    for name, heir in fleet.leaving:
        found.append(Upkeep(joined[heir] - int(chance.uniform("gone", 4.0, 18.0) * MINUTE), "leave", name))
    if age > 2 * DAY:
        # A machine whose disk is bad is not booted again before it has another.
        steady = [m for m in fleet.staying if m.joins <= HOUR and m.name not in fleet.retired]
        found += _reboots(chance, steady, age)
        for number in range(min(4, chance.poisson("failovers", 0.7))):
            component = chance.choice(f"who:{number}", ("kube-controller-manager", "kube-scheduler"))
            at = int(chance.uniform(f"failover:{number}", 0.02, 0.97) * (age - DAY)) + HOUR
            found.append(Upkeep(at, "failover", component))
    for name in fleet.spares:
        ago = int(chance.uniform(f"cordoned:{name}", 1.0 / 24.0, 60.0) * DAY)
        found.append(Upkeep(age - min(ago, (age - joined[name]) * 9 // 10), "cordon", name))
    found += [_retirement(chance.at("retired", name), name, joined[name], age) for name in fleet.retired]
    return tuple(sorted(found, key=lambda upkeep: (upkeep.at, upkeep.kind, upkeep.subject)))


_HOLDS = (
    ("node.example.com/quarantine", "disk"), ("maintenance", "hardware"), ("quarantine", "true"), ("node-health", "bad-disk"),
    ("out-of-service", "storage"), ("drained", "rma"),
)  # fmt: skip
"""(key, value) of taints that people put on a machine that is not to be used."""
_WHY = (
    "root disk read-only", "disk replacement", "EXT4-fs error on root, remounted ro", "waiting for new disk", "I/O errors on sda1",
    "do not uncordon: bad disk", "RMA", "read-only file system", "hardware fault", "bad blocks, vendor case open",
)  # fmt: skip
_WHY_KEYS = (
    "maintenance",
    "node-ops/reason",
    "cordon-reason",
    "ops/maintenance",
    "fleet.example.com/maintenance",
    "reason",
)


def _retirement(chance: Chance, name: str, joined: int, age: int) -> Upkeep:
    """How a worker whose disk went bad was closed and emptied, and what was noted."""
    ago = int(max(0.1, chance.lognormal("ago", 5.0, 1.2)) * DAY)
    at = age - min(ago, (age - joined) * 9 // 10)
    key, value = chance.choice("hold", _HOLDS)
    tainted = chance.yes("tainted", 0.5)
    notes = {chance.choice("key", _WHY_KEYS): chance.choice("why", _WHY)}
    if chance.yes("ticket", 0.4):
        notes["ticket"] = f"OPS-{chance.between('number', 1100, 9800)}"
    taint = (key, value, "NoSchedule")
    return Upkeep(at, "retire", name, taint=taint, tainted=tainted, notes=tuple(notes.items()))


def _reboots(chance: Chance, machines: list[Machine], age: int) -> list[Upkeep]:
    """None to two days on which one machine, or all of them in turn, were rebooted; more than a day ago."""
    found = []
    longest = min(150 * DAY, age * 9 // 10)
    for event in range(chance.weighted("reboots", {0: 0.4, 1: 0.35, 2: 0.25})):
        own = chance.at("reboot", event)
        at = age - int(own.uniform("ago", 1.1 * DAY, float(longest)))
        everyone = len(machines) <= 4 and own.yes("all", 0.15)
        for rank, machine in enumerate(own.shuffled("order", machines)[: None if everyone else 1]):
            seconds = own.uniform(f"outage:{rank}", 24.0, 48.0)
            if own.yes("long", 0.25):
                seconds += own.uniform(f"longer:{rank}", 20.0, 90.0)
            found.append(
                Upkeep(
                    at + rank * int(own.uniform("apart", 6.0, 25.0) * MINUTE),
                    "reboot",
                    machine.name,
                    round(seconds, 3),
                )
            )
    return found


# --- the counter ------------------------------------------------------------------------------------------------


def _pace(chance: Chance, born: int, present: int, planes: int, nodes: int, addons: int) -> Pace:
    """A counter that has run since the cluster was born and will run on."""
    formula = 3600 + 720 * planes + 372 * nodes + 1800 * addons
    # What renews its lease must find a place in every frame of two seconds.
    least = 1800 * (2 + addons + -(-(nodes + planes) // 5) + 2)
    rate = int(max(least, formula * chance.lognormal("rate", 1.15, 0.25))) + chance.below("odd", 1800)
    age = present - born
    head = int(rate * (age / HOUR) * chance.uniform("load", 0.6, 1.4) + chance.uniform("more", 1e3, 1e5))
    last = max(1, int(age * chance.uniform("last", 0.02, 0.25)))
    before = head - rate * last // HOUR
    inner = chance.between("knots", 1, 6)
    times = sorted(int((age - last) * (0.02 + 0.96 * chance.unit(f"time:{n}"))) for n in range(inner))
    bends = sorted(chance.unit(f"value:{n}") for n in range(inner))
    knots = [(born, 0)]
    for time, bend in zip(times, bends, strict=True):
        share = 0.6 * time / (age - last) + 0.4 * bend
        if born + time > knots[-1][0] and int(before * share) > knots[-1][1]:
            knots.append((born + time, int(before * share)))
    while knots[-1][1] >= before:
        knots.pop()
    return Pace((*knots, (present - last, before)), rate)
