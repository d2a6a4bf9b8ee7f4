"""Applications that are folders: manifests, and beside them ``app.yaml``, which says what their images do.

Folders whose applications should be known by name stand in the environment variable ``SREGYM_APPS``, separated as in
``PATH``; worker processes inherit it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import ValidationError

from sregym_env.apps import stock
from sregym_env.apps.app_yaml import AppModel, ServiceModel, value_of
from sregym_env.cluster.app import App, Binary, Component, Dependency, Image, Journey
from sregym_env.errors import AppError
from sregym_env.kube.types import Manifest
from sregym_env.sim.programs import wrk2_options
from sregym_env.sim.programs.services.drivers import SPOKEN
from sregym_env.sim.programs.services.graph import Need, asked, needs, reached
from sregym_env.sim.programs.services.peers import At, Peer
from sregym_env.sim.programs.services.protocols import Grpc, Thrift, Web, Wire
from sregym_env.sim.programs.services.runtimes import Runtime
from sregym_env.sim.programs.services.runtimes.cpp import Cpp
from sregym_env.sim.programs.services.runtimes.go import Go
from sregym_env.sim.programs.services.runtimes.openresty import OpenResty
from sregym_env.sim.programs.services.settings import Route, ServiceSettings
from sregym_env.sim.programs.services.steps import End, Handler, Open, Reach, ReadConfig, Say, Start
from sregym_env.sim.programs.services.values import Variable

DECLARATION = "app.yaml"
_SUFFIXES = (".yaml", ".yml", ".json")
"""Of files that are manifests, as kubectl takes them."""
_WORKLOADS = {"Deployment": "deployments.apps", "StatefulSet": "statefulsets.apps", "Job": "jobs.batch"}
_RUNTIMES: Mapping[str, Runtime] = {"go": Go("/app"), "cpp": Cpp(), "openresty": OpenResty()}
_WIRES: Mapping[str, Wire] = {"grpc": Grpc(), "thrift": Thrift(), "http": Web()}
_KINDS = {"grpc": "grpc_service", "thrift": "thrift_service", "http": "web"}
_STORES = {"jaeger": "http"}
"""What stores are spoken to in, where that is not called as they are."""
_VERSIONS = {"mongodb": "4.4.6", "redis": "6.2.4"}
"""What a store runs whose image's tag is no release."""


def load(folder: Path) -> App:
    """The application in a folder.

    Raises AppError with everything that is wrong with its declaration.
    """
    model = _declaration(folder)
    manifests = tuple(_manifests(folder))
    reader = _Reader(model, manifests)
    trouble = list(reader.trouble())
    if trouble:
        raise AppError(f"application in {folder}:\n" + "\n".join(f"- {each}" for each in trouble))
    return reader.app()


def name_of(folder: Path) -> str:
    """What the application in a folder is called. Raises AppError where its declaration does not say."""
    return _declaration(folder).name


def _declaration(folder: Path) -> AppModel:
    path = folder / DECLARATION
    try:
        written = yaml.safe_load(path.read_text())
    except OSError as error:
        raise AppError(
            f"no application in {folder}: {DECLARATION} cannot be read ({error.strerror})"
        ) from error
    except yaml.YAMLError as error:
        raise AppError(f"{path} is no YAML: {error}") from error
    try:
        return AppModel.model_validate(written)
    except ValidationError as error:
        wrong = "\n".join(f"- {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise AppError(f"{path}:\n{wrong}") from error


def _manifests(folder: Path) -> Iterator[Manifest]:
    """What ``kubectl apply`` would be given, by the names of the files; namespaces first."""
    found: list[Manifest] = []
    for path in sorted(folder.glob("**/*")):
        if path.name == DECLARATION or path.suffix not in _SUFFIXES or not path.is_file():
            continue
        try:
            documents = list(yaml.safe_load_all(path.read_text()))
        except OSError as error:
            raise AppError(f"{path} cannot be read ({error.strerror})") from error
        except ValueError as error:
            raise AppError(f"{path} is no text: {error}") from error
        except yaml.YAMLError as error:
            raise AppError(f"{path} is no YAML: {error}") from error
        for document in documents:
            found.extend(() if document is None else _unfolded(document, str(path)))
    yield from (each for each in found if each["kind"] == "Namespace")
    yield from (each for each in found if each["kind"] != "Namespace")


def _unfolded(document: Any, place: str) -> Iterator[Manifest]:
    """A manifest, or those in a list (``kind: List``, ``ConfigMapList``, ...). Raises AppError for what is none."""
    if not isinstance(document, dict):
        raise AppError(f"{place}: {str(document)[:60]!r} is no manifest")
    kind, metadata = document.get("kind"), document.get("metadata")
    if not kind or not isinstance(kind, str):
        raise AppError(f"{place}: a document has no kind, but {', '.join(map(str, document)) or 'nothing'}")
    if isinstance(document.get("items"), list) or kind == "List":
        for number, each in enumerate(document.get("items") or ()):
            yield from _unfolded(each, f"{place}: {kind}.items[{number}]")
        return
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise AppError(f"{place}: a {kind} has no metadata.name")
    if kind in _WORKLOADS and not _has_image(document):
        raise AppError(f"{place}: {kind} {metadata['name']} has no container with a name and an image")
    yield document


def _has_image(workload: Manifest) -> bool:
    inner: Any = workload
    for key in ("spec", "template", "spec", "containers"):
        inner = inner.get(key) if isinstance(inner, dict) else None
    first = inner[0] if isinstance(inner, list) and inner else None
    return isinstance(first, dict) and bool(first.get("name")) and bool(first.get("image"))


class _Reader:
    def __init__(self, model: AppModel, manifests: tuple[Manifest, ...]) -> None:
        self.model = model
        self.manifests = tuple(self._placed(each) for each in manifests)
        self.workloads: dict[str, Manifest] = {
            each["metadata"]["name"]: each for each in self.manifests if each.get("kind") in _WORKLOADS
        }
        self.settings = {name: self._settings(name, each) for name, each in model.services.items()}

    def _placed(self, manifest: Manifest) -> Manifest:
        """A manifest with its namespace, where it has none of its own."""
        if manifest.get("kind") in (
            "Namespace",
            "ClusterRole",
            "ClusterRoleBinding",
            "PersistentVolume",
            "StorageClass",
        ):
            return manifest
        metadata = manifest.get("metadata") or {}
        return {**manifest, "metadata": {"namespace": self.model.namespace, **metadata}}

    # --- what is wrong --------------------------------------------------------------------------------

    def trouble(self) -> Iterator[str]:
        """Everything that is missing or contradicts itself."""
        model = self.model
        made = {each["metadata"]["name"] for each in self.manifests if each.get("kind") == "Namespace"}
        if model.namespace not in made:
            yield f"no manifest makes the namespace {model.namespace}"
        declared = {**model.services, **model.stores}
        for name in self.workloads.keys() - declared.keys():
            image = self._container(name)["image"]
            yield f"nothing says what {image} of {name} does; declare {name} under services or stores"
        for name in declared.keys() - self.workloads.keys():
            yield f"no Deployment, StatefulSet or Job is called {name}"
        if model.entry not in model.services:
            yield f"entry: no service is called {model.entry}"
        for name, journey in model.journeys.items():
            operation = journey.request.partition("?")[0]
            entry = self.settings.get(model.entry)
            if entry is not None and entry.handler(operation) is None:
                yield f"journeys.{name}: {model.entry} has no operation {operation}"
        for name in self.workloads:
            for port in self._container(name).get("ports") or ():
                if "containerPort" not in port:
                    yield f"a port of {name} has no containerPort, but {', '.join(port) or 'nothing'}"
        for name, settings in self.settings.items():
            yield from self._calls(name, settings)
            if name in self.workloads:
                yield from self._unset(name, settings)
        if not any(store.program == "wrk2" for store in model.stores.values()):
            yield "nobody offers load: no store runs wrk2"
        for name, store in model.stores.items():
            if store.program == "wrk2" and name in self.workloads:
                yield from self._unoffered(name)

    def _unoffered(self, name: str) -> Iterator[str]:
        """What is wrong with a load generator's command line; a script that it names is read where it runs."""
        container = self._container(name)
        argv = [str(word) for part in ("command", "args") for word in container.get(part) or ()]
        if any("$(" in word for word in argv):
            return  # the kubelet fills that in
        env = {str(each.get("name")): str(each.get("value", "")) for each in container.get("env") or ()}
        words = wrk2_options.words_of(argv, env)
        wrong = None if words is None else wrk2_options.options_of(words)
        if isinstance(wrong, str):
            yield f"stores.{name}: wrk does not begin: {wrong}"

    def _calls(self, name: str, settings: ServiceSettings) -> Iterator[str]:
        operations = {handler.operation for handler in settings.handlers}
        for peer in asked(settings):
            if peer not in settings.by_peer:
                yield f"services.{name}: no peer is called {peer}"
        for known in settings.peers:
            if known.name not in self.workloads:
                yield f"services.{name}.peers.{known.name}: no workload is called {known.name}"
            elif wrong := self._unspoken(known):
                yield f"services.{name}.peers.{known.name}: {wrong}"
        for operation in operations:
            for callee, wanted in reached(self.settings, name, operation).items():
                called = self.settings.get(callee)
                for each in sorted(wanted):
                    if callee != name and called is not None and called.handler(each) is None:
                        yield f"services.{callee}: no operation {each}, which {name} asks for"

    def _unspoken(self, peer: Peer) -> str:
        """Why a client library does not fit whom it asks; empty if it does."""
        service, store = self.model.services.get(peer.name), self.model.stores.get(peer.name)
        told, wanted = "", ""
        if service is not None:
            told, wanted = f"serves {service.protocol}", service.protocol
        elif store is not None:
            told, wanted = f"runs {store.program}", _STORES.get(store.program, store.program)
        else:
            return ""
        spoken = SPOKEN.get(peer.driver, wanted)
        if spoken == wanted:
            return ""
        fitting = [library for library in sorted(SPOKEN) if SPOKEN[library] == wanted]
        way = f"take {' or '.join(fitting)}" if fitting else "which nobody can ask"
        return f"its library {peer.driver} speaks {spoken}, but {peer.name} {told}; {way}"

    def _unset(self, name: str, settings: ServiceSettings) -> Iterator[str]:
        """Variables that say where a peer is, and that nobody sets."""
        container = self._container(name)
        if container.get("envFrom"):
            return  # of which only the cluster knows
        known = {each.get("name") for each in container.get("env") or ()}
        for peer in settings.peers:
            at = peer.address if isinstance(peer.address, At) else peer.address.registry
            for part in (at.host, at.port):
                if isinstance(part, Variable) and not part.default and part.name not in known:
                    yield f"services.{name}.peers.{peer.name}: its container sets no {part.name}, where the address is"

    # --- what is right --------------------------------------------------------------------------------

    def app(self) -> App:
        """The application."""
        model = self.model
        total = sum(journey.weight for journey in model.journeys.values())
        return App(
            name=model.name,
            title=model.title or model.name,
            namespace=model.namespace,
            description=model.description or f"The application {model.name}; users call {model.entry}.",
            components=self._components(),
            manifests=self.manifests,
            images=self._images(),
            journeys=tuple(
                Journey(
                    name,
                    journey.request.partition(" ")[0],
                    journey.request.partition(" ")[2],
                    journey.weight / total,
                    tuple(reached(self.settings, model.entry, journey.request.partition("?")[0])),
                )
                for name, journey in model.journeys.items()
            ),
            entry=model.entry,
            rate=model.rate,
        )

    def _settings(self, name: str, service: ServiceModel) -> ServiceSettings:
        here = f"{name}/main"
        start: list[Start] = [Say("info", here, f"starting {name}")]
        if service.config:
            start.append(
                ReadConfig(
                    service.config, Say("error", here, f"open {service.config}: no such file or directory")
                )
            )
        failed = (Say("error", here, "{error}"),)
        start += [Reach(peer, every=1.0, log=failed) for peer in service.reach]
        end = End("fatal", here)
        start += [
            Open(value_of(service.port), unset=end, taken=end),
            Say("info", here, f"{name} serves on {service.port}"),
        ]
        handlers = tuple(Handler(operation, steps) for operation, steps in service.operations.items())
        peers = tuple(
            Peer(each, peer.library, peer.at, timeout=peer.timeout, database=peer.database)
            for each, peer in service.peers.items()
        )
        routes = tuple(_routes(service.operations)) if service.protocol == "http" else ()
        return ServiceSettings(
            name,
            _RUNTIMES[service.language],
            _WIRES[service.protocol],
            service.memory,
            tuple(start),
            handlers,
            peers,
            routes,
        )

    def _images(self) -> tuple[Image, ...]:
        made: dict[str, Image] = {}
        for name, settings in self.settings.items():
            service, reference = self.model.services[name], self._container(name)["image"]
            binaries = dict(made[reference].binaries) if reference in made else {}
            binaries[service.binary or name] = Binary("service", settings)
            made[reference] = Image(
                reference, 120_000_000, binaries, command=(service.binary or name,), workdir="/app"
            )
        for name, store in self.model.stores.items():
            reference = self._container(name)["image"]
            tag = reference.rpartition(":")[2]
            version = tag if tag.replace(".", "").isdecimal() else _VERSIONS.get(store.program, "")
            match store.program:
                case "mongodb":
                    made[reference] = stock.mongodb(reference, version)
                case "redis":
                    made[reference] = stock.redis(reference, version)
                case "memcached":
                    made[reference] = stock.memcached(reference)
                case "jaeger":
                    made[reference] = stock.jaeger(reference)
                case "wrk2":
                    made[reference] = stock.wrk2(reference)
        return tuple(made.values())

    def _components(self) -> tuple[Component, ...]:
        """Leaves first."""
        operations: dict[str, set[str]] = {}
        for journey in self.model.journeys.values():
            led = reached(self.settings, self.model.entry, journey.request.partition("?")[0])
            for name, found in led.items():
                operations.setdefault(name, set()).update(found)
        made = {
            name: self._store(name) for name in self.model.stores if self.model.stores[name].program != "wrk2"
        }
        waiting = {
            name: (self._service(name, needs(settings, operations.get(name, set()))))
            for name, settings in self.settings.items()
        }
        while waiting:
            ready = [n for n, each in waiting.items() if all(d.on in made for d in each.dependencies)]
            if not ready:
                raise AppError(f"{', '.join(waiting)} need each other in a circle")
            made |= {name: waiting.pop(name) for name in ready}
        load = (name for name, store in self.model.stores.items() if store.program == "wrk2")
        return (*made.values(), *(self._load(name) for name in load))

    def _service(self, name: str, found: tuple[Need, ...]) -> Component:
        service, port = self.model.services[name], self._port(name)
        return Component(
            name,
            _KINDS[service.protocol],
            self._resource(name),
            str(self._container(name)["name"]),
            port,
            self._offered(name)[0],
            self._volume(name),
            service.memory,
            tuple(self._dependency(need) for need in found),
            stateless=True,
            service_port=self._offered(name)[1] if self._offered(name)[1] != port else 0,
        )

    def _store(self, name: str) -> Component:
        store, port = self.model.stores[name], self._port(name)
        kind = "tracing" if store.program == "jaeger" else store.program
        memory = {"mongodb": 92, "redis": 6, "memcached": 4, "jaeger": 30}[store.program] * 1024 * 1024
        return Component(
            name,
            kind,
            self._resource(name),
            str(self._container(name)["name"]),
            port,
            self._offered(name)[0],
            self._volume(name),
            memory,
            database=store.database,
            service_port=self._offered(name)[1] if self._offered(name)[1] != port else 0,
        )

    def _load(self, name: str) -> Component:
        entry = self.model.entry
        return Component(
            name,
            "load",
            self._resource(name),
            str(self._container(name)["name"]),
            memory=40 * 1024 * 1024,
            dependencies=(Dependency(entry, frozenset({"request"}), "service", self._offered(entry)[1]),),
        )

    def _dependency(self, need: Need) -> Dependency:
        moments: list[Literal["start", "request"]] = []
        if need.at_start:
            moments.append("start")
        if need.at_request:
            moments.append("request")
        return Dependency(
            need.on,
            frozenset(moments),
            "service",
            self._offered(need.on)[1],
            essential=need.essential,
            cached=need.cached and need.at_request,
        )

    # --- what the manifests say -------------------------------------------------------------------------

    def _pod(self, name: str) -> Manifest:
        template: Manifest = self.workloads[name]["spec"]["template"]
        return template

    def _container(self, name: str) -> Manifest:
        container: Manifest = self._pod(name)["spec"]["containers"][0]
        return container

    def _resource(self, name: str) -> str:
        return _WORKLOADS[self.workloads[name]["kind"]]

    def _port(self, name: str) -> int:
        ports: list[dict[str, Any]] = self._container(name).get("ports") or []
        return int(ports[0]["containerPort"]) if ports else 0

    def _offered(self, name: str) -> tuple[str, int]:
        """The Service that selects a component's pods, and its first port; empty and 0 without one."""
        labels = (self._pod(name).get("metadata") or {}).get("labels") or {}
        for manifest in self.manifests:
            selector = (
                (manifest.get("spec") or {}).get("selector") if manifest.get("kind") == "Service" else None
            )
            if selector and selector.items() <= labels.items() and manifest["spec"].get("ports"):
                return str(manifest["metadata"]["name"]), int(manifest["spec"]["ports"][0]["port"])
        return "", 0

    def _volume(self, name: str) -> str:
        for volume in self._pod(name)["spec"].get("volumes") or ():
            if "persistentVolumeClaim" in volume:
                return str(volume["persistentVolumeClaim"]["claimName"])
        return ""


def _routes(operations: Mapping[str, Any]) -> Iterator[Route]:
    paths: dict[str, dict[str, str]] = {}
    for operation in operations:
        method, _, path = operation.partition(" ")
        paths.setdefault(path, {})[method] = operation
    for path, methods in paths.items():
        yield Route(path, _nothing_wrong, _answer, methods)


def _nothing_wrong(given: Mapping[str, str]) -> str:
    return ""


def _answer(given: Mapping[str, str]) -> str:
    return "ok\n"
