"""A setting that was corrected in a new ConfigMap, while the workload still refers to the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from sregym_env.cluster.edits import Create, Delete, Edit, Elapse, ObjectRef, Rollout
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import names_of, until, variant, wrong_port
from sregym_env.faults.commands import mend, patch, put, restart, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault
from sregym_env.faults.revisions import revision, succession
from sregym_env.faults.variables import variables
from sregym_env.kube.kustomize.generators import with_hash
from sregym_env.kube.kustomize.resource import Piece
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.variation.environment import UNUSED

CORRECTED = (120.0, 900.0)
"""Seconds after which somebody has made the corrected one."""

USED = (40_000.0, 250_000.0)
"""Seconds for which the component has taken its settings from a ConfigMap when the change comes: so long that whoever takes
everything back some hours does not get behind that."""

STEMS = (
    "{name}-config", "{name}-settings", "{name}-env", "{name}-conf", "{app}-{name}", "{name}-params", "{name}", "{name}-runtime",
    "{name}-app-config", "{name}-endpoints",
)  # fmt: skip
"""What generated ConfigMaps are called, apart from the hash."""

ENDINGS = ("internal", "svc", "api", "main", "primary", "backend", "int", "private", "core", "lb")
"""What the names of Services end with that stand beside another one."""

LOCAL = ("localhost", "127.0.0.1", "0.0.0.0")
"""Hosts at which a program asks itself."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An address that a component needs for its users: a variable of its environment, or an entry of a file."""

    name: str
    value: str
    of: str
    """The component to which it leads."""
    host: str = ""
    """The name in it under which that is looked up; empty for a port alone."""
    port: int = 0
    """The port in it; 0 for none."""
    file: str = ""
    """The name of the file; empty for a variable."""
    path: tuple[str, ...] = ()
    """Where it stands in the file."""


@dataclass(frozen=True, slots=True)
class Sourced:
    """The settings of a component as a ConfigMap, and how its pods take them from it."""

    target: ComponentTarget
    setting: Setting
    whole: bool
    """Whether all variables come from it, and not those alone that are addresses."""

    def data(self, value: str, more: tuple[str, str]) -> dict[str, str]:
        """The content with a value of the setting, and one entry more where that is named."""
        extra = {more[0]: more[1]} if more[0] else {}
        if self.setting.file:
            return {**_with(self._files(), self.setting, value), **extra}
        return {**self._literals(), self.setting.name: value, **extra}

    def changes(self, name: str) -> dict[str, Any]:
        """Changes of the pod template, by JSON pointer, by which it takes the settings from a ConfigMap of that name."""
        target, container = self.target, self.target.container
        env = list(container.get("env") or ())
        if self.setting.file:
            return self._mounted(name)
        taken = self._literals()
        if not self.whole:
            refs = {key: {"configMapKeyRef": {"name": name, "key": key}} for key in taken}
            given = [
                {"name": e["name"], "valueFrom": refs[e["name"]]} if e["name"] in refs else e for e in env
            ]
            return {target.container_path("env"): given}
        sources = [*(container.get("envFrom") or ()), {"configMapRef": {"name": name}}]
        kept = [each for each in env if each["name"] not in taken]
        return {target.container_path("envFrom"): sources, target.container_path("env"): kept}

    def pointers(self) -> list[str]:
        """Where the pod template names the ConfigMap."""
        target, container = self.target, self.target.container
        if self.setting.file:
            volumes = target.pod_spec.get("volumes") or ()
            number = _mounts(target).get(self.setting.file, ("", len(volumes)))[1]
            return [target.template_path("volumes", number, "configMap", "name")]
        if self.whole:
            return [
                target.container_path("envFrom", len(container.get("envFrom") or ()), "configMapRef", "name")
            ]
        taken = self._literals()
        return [
            target.container_path("env", index, "valueFrom", "configMapKeyRef", "name")
            for index, each in enumerate(container.get("env") or ())
            if each["name"] in taken
        ]

    @property
    def field(self) -> str:
        """The field that names the ConfigMap."""
        if self.setting.file:
            return "volumes.configMap.name"
        return "envFrom.configMapRef.name" if self.whole else "env.configMapKeyRef.name"

    def _literals(self) -> dict[str, str]:
        """Variables that can come from elsewhere: none in which others are put in, or that is put in others."""
        env = [each for each in self.target.container.get("env") or () if "valueFrom" not in each]
        mentioned = " ".join(str(each.get("value", "")) for each in env)
        addresses = variables(self.target)
        return {
            each["name"]: str(each.get("value", ""))
            for each in env
            if each["name"] in addresses
            or (
                self.whole
                and "$(" not in str(each.get("value", ""))
                and f"$({each['name']})" not in mentioned
            )
        }

    def _files(self) -> dict[str, str]:
        return _files(self.target, self.setting.file)

    def _mounted(self, name: str) -> dict[str, Any]:
        target, file = self.target, self.setting.file
        volumes = list(target.pod_spec.get("volumes") or ())
        if file in (mounts := _mounts(target)):
            number = mounts[file][1]
            source = {**volumes[number], "configMap": {**volumes[number]["configMap"], "name": name}}
            return {
                target.template_path("volumes"): [
                    source if index == number else each for index, each in enumerate(volumes)
                ]
            }
        config = target.component.config
        assert config is not None
        mount = {"name": _VOLUME, "mountPath": config.path, "subPath": file}
        return {
            target.container_path("volumeMounts"): [*(target.declares("volumeMounts") or ()), mount],
            target.template_path("volumes"): [*volumes, {"name": _VOLUME, "configMap": {"name": name}}],
        }


_VOLUME = "generated-config"


# --- what a component is told ----------------------------------------------------------------------


def _mounts(target: ComponentTarget) -> dict[str, tuple[str, int]]:
    """JSON files that the main container mounts from a ConfigMap of the application: that, and which volume it is."""
    volumes = {each["name"]: index for index, each in enumerate(target.pod_spec.get("volumes") or ())}
    found: dict[str, tuple[str, int]] = {}
    for mount in target.container.get("volumeMounts") or ():
        number = volumes.get(mount["name"])
        if number is None:
            continue
        name = (target.pod_spec["volumes"][number].get("configMap") or {}).get("name", "")
        if ("configmaps", target.namespace, name) in target.inventory.declared:
            data = target.inventory.manifest("configmaps", name, target.namespace).get("data") or {}
            keys = [mount["subPath"]] if mount.get("subPath") else list(data)
            found |= {key: (name, number) for key in keys if key.endswith(".json") and key in data}
    return found


def _files(target: ComponentTarget, file: str) -> dict[str, str]:
    """All that lies beside a file: in the ConfigMap from which it is mounted, or the file alone as the image has it."""
    mounted = _mounts(target).get(file)
    if mounted is not None:
        manifest = target.inventory.manifest("configmaps", mounted[0], target.namespace)
        return dict(manifest.get("data") or {})
    config = target.component.config
    images = {image.reference: image for image in target.app.images}
    image = images.get(target.container["image"])
    if config is None or image is None or config.path.rpartition("/")[2] != file:
        return {}
    return {file: image.files[config.path]} if config.path in image.files else {}


def _with(files: Mapping[str, str], setting: Setting, value: str) -> dict[str, str]:
    """Files in which a setting has a value."""

    def put_in(part: Any, path: tuple[str, ...]) -> Any:
        return value if not path else {**part, path[0]: put_in(part[path[0]], path[1:])}

    changed = put_in(orjson.loads(files[setting.file]), setting.path)
    text = orjson.dumps(changed, option=orjson.OPT_INDENT_2).decode() + "\n"
    return {**files, setting.file: text}


def _leaves(part: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(part, dict):
        for key, inner in part.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(part, str):
        yield path, part


def _written(target: ComponentTarget) -> Iterator[Setting]:
    """Entries of its files that are addresses of what it needs, also to start."""
    config = target.component.config
    baked = [config.path.rpartition("/")[2]] if config is not None else []
    needed = [
        d
        for d in target.component.dependencies
        if d.essential and d.via == "service" and not (d.cached and d.at == {"request"})
    ]
    for file in dict.fromkeys((*_mounts(target), *baked)):
        text = _files(target, file).get(file, "")
        if not file.endswith(".json") or not text:
            continue
        try:
            document = orjson.loads(text)
        except orjson.JSONDecodeError:
            # Not every file that is called so is one: some mounted by the way are nobody's settings.
            continue
        for path, value in _leaves(document):
            host, _, port = value.partition(":")
            for each in needed:
                if host and host in (each.host, each.on) and (not port or port.isdigit()):
                    yield Setting(".".join(path), value, each.on, host, int(port or 0), file, path)


def _settings(target: ComponentTarget) -> dict[str, Setting]:
    """The addresses that a component needs, by name: of its environment, or of its files where that has none."""
    found = {
        each.name: Setting(each.name, each.value, each.of, each.host, each.port)
        for each in variables(target).values()
        if each.of and each.host and not each.suffix
    }
    found = found or {each.name: each for each in _written(target)}
    return {name: each for name, each in found.items() if _offered(target, each)}


def _offered(target: ComponentTarget, setting: Setting) -> Manifest | None:
    """The Service to which an address leads, where there is one with pods of its own."""
    asked = target.app.by_name[setting.of]
    key = "services", target.app.namespace_of(asked.name), setting.host.partition(".")[0]
    if key not in target.inventory.declared:
        return None
    found: Manifest = target.inventory.manifest(key[0], key[2], key[1])
    return found if found["spec"].get("selector") else None


def _alias(target: ComponentTarget, setting: Setting, name: str) -> Manifest:
    """One more Service in front of the same pods."""
    offered = _offered(target, setting)
    assert offered is not None
    spec = {
        field: offered["spec"][field]
        for field in ("selector", "ports", "clusterIP")
        if field in offered["spec"]
    }
    if spec.get("clusterIP") != "None":
        spec.pop("clusterIP", None)
    ports = [{k: v for k, v in port.items() if k != "nodePort"} for port in spec["ports"]]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": offered["metadata"]["namespace"]},
        "spec": {**spec, "ports": ports},
    }


def _elsewise(setting: Setting, name: str) -> str:
    """The address by another Service's name."""
    _, dot, domain = setting.host.partition(".")
    return setting.value.replace(setting.host, f"{name}{dot}{domain}", 1)


# --- what is drawn ---------------------------------------------------------------------------------


def _astray(target: ComponentTarget, chance: Chance) -> dict[str, str]:
    settings = _settings(target)
    chosen = settings[chance.choice("setting", list(settings))]
    taken = names_of(target.inventory, "services", target.namespace)
    service = chosen.host.partition(".")[0]
    retired = until(
        chance.at("retired"),
        lambda by: f"{service}-{by.choice('ending', ENDINGS)}",
        lambda name: name not in taken,
        f"{service}-0",
    )
    return {
        "setting": chosen.name,
        "value": _elsewhere(target, chosen, chance),
        "retired": str(retired),
    }


def _elsewhere(target: ComponentTarget, setting: Setting, chance: Chance) -> str:
    """The address of a host, or a port, where nobody serves what is looked for."""
    if setting.port and chance.yes("port", 0.5):
        asked = ComponentTarget(target.inventory, target.app.by_name[setting.of])
        head, _, tail = setting.value.rpartition(str(setting.port))
        return f"{head}{wrong_port(asked, chance.at('port'))}{tail}"
    taken = names_of(target.inventory, "services", target.namespace)
    host = setting.host
    if chance.yes("local", 0.3):
        other: str = chance.choice("local", LOCAL)
    else:
        other = until(chance, lambda by: variant(host, by), lambda name: name not in taken, f"{host}-next")
    return setting.value.replace(host, other, 1)


def _published(target: ComponentTarget) -> dict[str, str]:
    first = next(iter(_settings(target).values()))
    wrong = first.value.replace(first.host, f"{first.host}-next", 1)
    return {"setting": first.name, "value": wrong, "retired": f"{first.host.partition('.')[0]}-internal"}


def _beside(target: ComponentTarget) -> list[ComponentTarget]:
    """Other components of its namespace whose settings can be packed in the same way."""
    others = (ComponentTarget(target.inventory, c) for c in target.app.components if c.name != target.name)
    return [
        other
        for other in others
        if other.component.workload == "deployments.apps"
        and other.inventory.declares(other.component)
        and other.namespace == target.namespace
        and other.component.container
        and other.component.kind != "load"
        and _settings(other)
    ]


def _stem(target: ComponentTarget, chance: Chance) -> str:
    return str(chance.choice("stem", STEMS)).format(name=target.name, app=target.app.name.partition("-")[0])


def _bystander(target: ComponentTarget, chance: Chance) -> str:
    beside = [other.name for other in _beside(target)]
    return str(chance.choice("beside", beside)) if beside else ""


def _more(target: ComponentTarget, chance: Chance) -> tuple[str, str]:
    name = chance.choice("name", _free(target))
    return name, chance.choice("value", UNUSED[name])


def _free(target: ComponentTarget) -> list[str]:
    """Variables that no program reads, and that are not set yet."""
    known = {each["name"] for each in target.container.get("env") or ()}
    return [each for each in UNUSED if each not in known]


@fault(
    layer="configuration",
    mechanism="config_fix_not_rolled_out",
    targets=components(where=lambda target: bool(_settings(target))),
    level="hard",
)
def configmap_fixed_but_not_rolled_out(
    target: ComponentTarget,
    astray: dict[str, str] = drawn(_astray, published=_published),
    stem: str = drawn(_stem, published=lambda target: f"{target.name}-settings"),
    more: tuple[str, str] = drawn(_more, published=("SUPPORT_CONTACT", "oncall@example.com")),
    whole: bool = drawn(lambda target, chance: chance.yes("whole", 0.6), published=True),
    frozen: bool = drawn(lambda target, chance: chance.yes("frozen", 0.5), published=False),
    later: float = drawn(lambda target, chance: float(round(chance.uniform("later", *CORRECTED))), published=240.0),
    since: float = drawn(lambda target, chance: float(round(chance.uniform("since", *USED))), published=43_200.0),
    bystander: str = drawn(
        _bystander, published=lambda target: next((other.name for other in _beside(target)), "")
    ),
) -> Fault:  # fmt: skip
    """A wrong address was corrected in a new ConfigMap, and the workload still refers to the one before.

    ConfigMaps have names that end in a hash of their content, as generators make them. Whoever looks at the newest one finds
    everything right, and restarts change nothing. Before that it found the same pods by a Service that has been ``retired``
    with the change, so that the revision before is no way out. Of another workload (``bystander``) the newest one is no use, and the one it
    refers to is right. ``astray`` names the ``setting``, its wrong ``value`` and that Service, ``more`` what else came with the change;
    ``whole`` says that all variables come from the ConfigMap, ``frozen`` that ConfigMaps are immutable, ``since`` for how long
    that has been so, and ``later`` after how many seconds the correction was made.
    """
    setting = _settings(target)[astray["setting"]]
    packed, value, retired = Sourced(target, setting, whole), astray["value"], astray["retired"]
    alias = _alias(target, setting, retired)
    first, bad, good = (
        _generated(target, stem, packed.data(text, extra), frozen)
        for text, extra in ((_elsewise(setting, retired), ("", "")), (value, more), (setting.value, more))
    )
    old, new = bad["metadata"]["name"], good["metadata"]["name"]
    where = ObjectRef("configmaps", old, target.namespace)
    mended = patch(
        target.workload, [{"op": "replace", "path": path, "value": new} for path in packed.pointers()]
    )
    change = revision(target, packed.changes(old), starts=True, before=[Create(bad)])
    # Nobody needs the name any more that the first one has: to go back to that is no way out.
    gone = ObjectRef("services", retired, alias["metadata"]["namespace"])
    change["edits"] += [Delete(gone), Elapse(later), Create(good)]
    key = setting.file or setting.name
    told = f"{setting.name} in {setting.file}" if setting.file else setting.name
    return Fault(
        resource=target.workload,
        cause=f"{target.kind} {target.name} still refers to ConfigMap {old}; the corrected ConfigMap {new} exists, but was "
        f"never rolled out, and in {old} {told} is {value} instead of {setting.value}, so {target.name} does not reach {setting.of}.",
        earlier=[
            Create(alias),
            *_packed(packed, first),
            *_kept(target, bystander, stem.replace(target.name, bystander), more, whole, frozen, later),
            Elapse(since),
        ],
        **change | {"trigger": succession(target), "rollback": []},
        details={"field": packed.field, "wrong": old, "right": new},
        facts={"setting": setting.name, "value": value, "asked": setting.of, "before": first["metadata"]["name"],
               "retired": retired},
        remedies=[
            mend(target, mended),
            *([] if frozen else [[put(where, f"/data/{key}", good["data"][key]), *restart(target, [target.name])]]),
        ],
        look=[
            show(target),
            f"kubectl get configmaps -n {target.namespace} --sort-by=.metadata.creationTimestamp",
            f"kubectl get configmap {old} -n {target.namespace} -o yaml",
            f"kubectl get configmap {new} -n {target.namespace} -o yaml",
        ],
        accepts=[where],
        spared=[bystander] if bystander else [],
        aliases=[old, new],
    )  # fmt: skip


def _generated(target: ComponentTarget, stem: str, data: dict[str, str], frozen: bool) -> Manifest:
    """A ConfigMap as a generator makes it."""
    made: Manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": stem, "namespace": target.namespace},
        "data": dict(sorted(data.items())),
    }
    if frozen:
        made["immutable"] = True
    return dict(with_hash(Piece(made, hashed=True)).obj)


def _packed(packed: Sourced, first: Manifest) -> list[Edit]:
    """The component takes its settings from a ConfigMap, and everything is as it was."""
    return [Create(first), Rollout(packed.target.workload, packed.changes(first["metadata"]["name"]))]


def _kept(
    target: ComponentTarget,
    name: str,
    stem: str,
    more: tuple[str, str],
    whole: bool,
    frozen: bool,
    later: float,
) -> list[Edit]:
    """Another component that takes its settings from the second of three ConfigMaps: in the newest an address is wrong."""
    if not name:
        return []
    other = ComponentTarget(target.inventory, target.app.by_name[name])
    setting = next(iter(_settings(other).values()))
    packed = Sourced(other, setting, whole)
    wrong = setting.value.replace(setting.host, f"{setting.host}-v2", 1)
    free = _free(other)
    if more[0] not in free:
        more = free[0], UNUSED[free[0]][0]
    first, taken, unused = (
        _generated(other, stem, packed.data(text, extra), frozen)
        for text, extra in ((setting.value, ("", "")), (setting.value, more), (wrong, more))
    )
    return [Create(first), Elapse(later), *_packed(packed, taken), Elapse(later), Create(unused)]
