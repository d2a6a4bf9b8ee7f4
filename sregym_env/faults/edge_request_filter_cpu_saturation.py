"""A rule of the filter at the edge whose regular expression backtracks, and takes the proxy's CPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import orjson

from sregym_env.cluster.api import World
from sregym_env.cluster.app import App
from sregym_env.cluster.edits import AwaitRollout, Create, JsonPatch, ObjectRef, Restart, Rollout
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import fresh
from sregym_env.faults.commands import await_rollout, named, patch, selector, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, fault
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.sim.programs import envoy, envoy_config, request_filter
from sregym_env.sim.programs.request_filter import Rule

KEY = "envoy.tmpl.yaml"
ROUTER = "                  - name: envoy.filters.http.router\n"
FILTER = """\
                  - name: envoy.filters.http.wasm
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm
                      config:
                        name: request-filter
                        vm_config:
                          runtime: envoy.wasm.runtime.v8
                          code: {{ local: {{ filename: /etc/envoy/request-filter.wasm }} }}
                        configuration:
                          "@type": type.googleapis.com/google.protobuf.StringValue
                          value: |
{rules}"""


class Kind(NamedTuple):
    """Something that nobody should ask for, and how a rule says so."""

    good: tuple[str, ...]
    """Expressions that find it in as many steps as the path has characters, about."""
    bad: tuple[str, ...]
    """Expressions that find it too, and try every way of cutting up a path in which it is not."""
    probes: tuple[str, ...]
    """Paths that are refused."""


KINDS: dict[str, Kind] = {
    "script": Kind(
        (r"\.php$", r"^/[\w/-]*\.php$"),
        (r"^(/?[\w-]+)*\.php$", r"^(?:[\w-]+|/)*(?:[\w-]+)*\.php$", r"^((?:[\w/-])+)*\.php$"),
        ("/wp-login.php", "/api/cart.php", "/a/b/c/index.php"),
    ),
    "backup": Kind(
        (r"\.(?:bak|orig|swp)$", r"^/[\w/-]*\.(?:bak|orig|swp)$"),
        (r"^(?:[\w/-]+)+\.(?:bak|orig|swp)$", r"^(/?([\w-]+))*\.(?:bak|orig|swp)$"),
        ("/index.bak", "/api/config.orig", "/a/settings.swp"),
    ),
    "archive": Kind(
        (r"\.(?:tar|zip|sql)$", r"^/[\w/-]*\.(?:tar|zip|sql)$"),
        (r"^/?(?:(?:[\w-]+)/?)*\.(?:tar|zip|sql)$", r"^(?:/|([\w-]+))+\.(?:tar|zip|sql)$"),
        ("/dump.sql", "/api/data.zip", "/backup/all.tar"),
    ),
}  # fmt: skip
"""By what they are about."""
OTHERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\.\./", ("/images/../secrets",)),
    (r"^/(?:api|images)/[^.]*/\.(?:git|svn)", ("/images/x/.git",)),
    (r"^(/[a-z]{1,3}){9,}$", ("/a/b/c/d/e/f/g/h/i/j",)),
    (r"(?i)wp-(?:admin|content|includes)+/", ("/blog/WP-admin/x",)),
)
"""Rules beside it, which look no better and take next to nothing, with what they refuse."""
SHARES = (0.4, 0.65)
"""Part of what the filter would take that the CPU limit gives it."""
LEAST_CPU = 0.04
"""Cores that ordinary requests of all users are far away from."""
CHEAP = 0.002
"""Seconds that the filter may take for a path."""
LONG = "/api/" + "recommendation-" * 6
"""A path such as nobody has yet."""


def _burn(app: App, pattern: str) -> float:
    """Cores that users' requests take in a filter with an expression."""
    rules = (Rule("x", pattern),)
    return sum(
        app.rate * each.weight * request_filter.outcome(rules, each.path).seconds for each in app.journeys
    )


def _is_envoy(target: ComponentTarget) -> bool:
    return target.name == target.app.entry and any(
        binary.program == "envoy"
        for image in target.app.images
        if image.reference == target.container.get("image")
        for binary in image.binaries.values()
    )


def _fits(target: ComponentTarget) -> bool:
    return _is_envoy(target) and bool(_choices(target)) and not target.declares("resources", "limits", "cpu")


def _choices(target: ComponentTarget) -> list[tuple[str, str]]:
    """(kind, expression) of those that take enough of the users' requests."""
    return [
        (kind, bad)
        for kind, each in KINDS.items()
        for bad in each.bad
        if _burn(target.app, bad) * SHARES[0] > LEAST_CPU
    ]


def _rule(target: ComponentTarget, chance: Chance) -> tuple[str, str]:
    return chance.choice("rule", _choices(target))


def _number(target: ComponentTarget, chance: Chance) -> int:
    return chance.between("first", 901, 979) * 1000 + chance.between("rest", 1, 18) * 10


@fault(
    layer="application",
    mechanism="backtracking_pattern",
    targets=components(at_request=True, where=_fits),
    level="hard",
)
def edge_request_filter_cpu_saturation(
    target: ComponentTarget,
    rule: tuple[str, str] = drawn(_rule, published=lambda target: _choices(target)[0]),
    number: int = drawn(_number, published=920450),
    share: float = drawn(lambda target, chance: round(chance.uniform("share", *SHARES), 2), published=0.5),
    place: int = drawn(lambda target, chance: chance.below("place", 1 + len(OTHERS)), published=2),
    config: str = drawn(
        fresh(
            "configmaps",
            "{name}-envoy",
            "edge-config",
            "edge-envoy",
            "{name}-template",
            "ingress-envoy",
            "edge-filter",
        ),
        published="edge-envoy",
    ),
) -> Fault:
    """The edge proxy filters requests by regular expressions, and one of them now backtracks on paths that users ask for.

    The filter has long been there, with rules about what nobody should ask for, and the proxy has a CPU limit that is many times
    what it took. The new expression finds the same as the one before; on a path in which it finds nothing it tries all ways of cutting
    that up, up to ten million steps. The kernel throttles the proxy, and every request waits, the cheap ones too. SREGym has a forwarder
    in Perl in the proxy's place and sends crafted requests; here it is Envoy with a filter module, and the users' own paths do.
    """
    kind, bad = rule
    good = KINDS[kind].good[0]
    settings = ObjectRef("configmaps", config, target.namespace)
    limit = f"{round(1000 * share * _burn(target.app, bad))}m"
    probes = (*KINDS[kind].probes, *(path for _, paths in OTHERS for path in paths))
    template = _template(target)

    def written(pattern: str) -> str:
        return _filtered(template, _rules(number, place, pattern))

    key = KEY.replace("/", "~1")
    back = [
        f"kubectl rollout restart {named(target.workload)} -n {target.namespace}",
        await_rollout(target.workload),
    ]
    mended = [
        [patch(settings, [{"op": "replace", "path": f"/data/{key}", "value": written(each)}]), *back]
        for each in KINDS[kind].good
    ]
    mount = {"name": "edge-template", "mountPath": envoy.TEMPLATE, "subPath": KEY}
    volume = {"name": "edge-template", "configMap": {"name": config}}
    resources = target.declares("resources") or {}
    return Fault(
        resource=settings,
        cause=f"Rule {number} of the request filter of {target.name} (ConfigMap {config}) has a regular expression, {bad}, that backtracks "
        f"catastrophically on ordinary paths: each takes up to {request_filter.STEP * 1e7:.1f} s of CPU, and the proxy is throttled at its limit of {limit}.",
        earlier=[
            Create({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": config, "namespace": target.namespace},
                "data": {KEY: written(good)},
            }),
            Rollout(target.workload, {
                target.container_path("resources"): {**resources, "limits": {**(resources.get("limits") or {}), "cpu": limit},
                                                     "requests": {**(resources.get("requests") or {}), "cpu": limit}},
                target.container_path("volumeMounts"): [*(target.declares("volumeMounts") or ()), mount],
                target.template_path("volumes"): [*(target.template_declares("volumes") or ()), volume],
            }),
            AwaitRollout(target.workload),
        ],
        edits=[JsonPatch(settings, f"/data/{key}", written(bad))],
        trigger=[Restart(target.workload)],
        details={"field": "pattern", "wrong": bad, "right": good},
        facts={"rule": str(number), "config": config},
        remedies=mended,
        look=[
            f"kubectl top pods -n {target.namespace} {selector(target)}",
            f"kubectl logs {named(target.workload)} -n {target.namespace} --tail=20",
            show(target),
            f"kubectl get configmap {config} -n {target.namespace} -o yaml",
        ],
        accepts=[settings],
        aliases=[config, str(number), "request-filter"],
        cured=[_Filters(target, probes)],
    )  # fmt: skip


def _template(target: ComponentTarget) -> str:
    """The template in the proxy's own image."""
    image = next(each for each in target.app.images if each.reference == target.container["image"])
    return str(image.files[envoy.TEMPLATE])


def _rules(number: int, place: int, pattern: str) -> list[dict[str, str]]:
    """The rules in their order, with their numbers."""
    patterns = [pattern_ for pattern_, _ in OTHERS]
    patterns.insert(place, pattern)
    return [
        {"id": str(number + 10 * (at - place)), "target": "path", "pattern": each, "action": "deny"}
        for at, each in enumerate(patterns)
    ]


def _filtered(template: str, rules: Sequence[dict[str, str]]) -> str:
    """A template with the filter in front of its router."""
    pad = " " * 28
    listed = ",\n".join(f"{pad}  {orjson.dumps(each).decode()}" for each in rules)
    text = f'{pad}{{"rules": [\n{listed}\n{pad}]}}\n'
    return template.replace(ROUTER, FILTER.format(rules=text) + ROUTER)


class _Filters:
    """Whether every proxy refuses what it refused, and takes no time for what users ask."""

    def __init__(self, target: ComponentTarget, probes: Sequence[str]) -> None:
        self._target = target
        self._probes = tuple(probes)
        self._paths = (*(each.path for each in target.app.journeys), LONG)

    def __call__(self, world: World) -> Finding:
        """Read the configuration of each proxy that runs."""
        name, expected = "request filter", "refuses what it refused, and takes no time for ordinary paths"
        found = list(self._configurations(world))
        wrong = ["no proxy runs"] if not found else []
        for pod, text in found:
            try:
                rules = envoy_config.parsed(text).denied
            except envoy_config.ConfigError as error:
                wrong.append(f"{pod}: {error}")
                continue
            open_ = [path for path in self._probes if not request_filter.outcome(rules, path).denied]
            slow = [path for path in self._paths if request_filter.outcome(rules, path).seconds > CHEAP]
            wrong += [f"{pod} lets {path} through" for path in open_[:2]]
            wrong += [f"{pod} takes long for {path}" for path in slow[:2]]
        return Finding(name, not wrong, "; ".join(wrong) or "as expected", expected)

    def _configurations(self, world: World) -> Iterator[tuple[str, str]]:
        """(pod, its configuration) of every proxy."""
        target = self._target
        labels = ",".join(f"{key}={value}" for key, value in target.labels.items())
        for pod in world.cluster.list("pods", target.namespace, label_selector=labels):
            if "deletionTimestamp" in pod["metadata"] or not _ready(pod):
                continue
            name = pod["metadata"]["name"]
            try:
                asked = [
                    world.cluster.exec(
                        target.namespace, name, argv, container=target.component.container
                    ).stdout
                    for argv in (["cat", envoy.TEMPLATE], ["env"])
                ]
            except StatusError:
                continue
            env = dict(line.split("=", 1) for line in asked[1].splitlines() if "=" in line)
            yield name, envoy_config.filled(asked[0], env)


def _ready(pod: Manifest) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
