"""A pull secret with a login that its registry does not know any more."""

from __future__ import annotations

import shlex

import orjson

from sregym_env.apps.builds import login
from sregym_env.cluster.api import World
from sregym_env.cluster.disturbances import RegistryLogin
from sregym_env.cluster.edits import (
    AwaitRollout,
    Create,
    Edit,
    Enroll,
    ObjectRef,
    RecreatePods,
    Restart,
    Rollout,
)
from sregym_env.cluster.inventory import template
from sregym_env.cluster.targets import ComponentTarget, components
from sregym_env.faults.choices import fresh, one_of
from sregym_env.faults.commands import mend, named, put, registrants, show
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, Finding, Predicate, fault
from sregym_env.kube.pulling import CONFIG, PULL_SECRET, canonical, logins, pulling
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance

PLACES = (
    "registry-logins",
    "credential-rotation",
    "artifact-access",
    "registry-tokens",
    "pull-credentials",
    "image-access",
)
"""Namespaces in which rotations keep what they hand out."""


def _host(target: ComponentTarget) -> str:
    return canonical(target.container["image"]).partition("/")[0]


def _login(target: ComponentTarget, chance: Chance) -> str:
    return login(chance, _host(target), target.app.name.partition("-")[0])


@fault(layer="kubernetes", mechanism="registry_login_refused", targets=components())
def registry_credentials_expired(
    target: ComponentTarget,
    secret: str = drawn(
        fresh("secrets", "{name}-pull", "{name}-regcred", "{name}-registry", "regcred-{name}", "{app}-images"),
        published=lambda target: f"{target.name}-regcred",
    ),
    record: str = drawn(
        fresh("secrets", "registry-login-{name}", "{name}-robot", "vault-{name}-images", "{name}-image-access", "rotated-{name}-login"),
        published=lambda target: f"{target.name}-robot",
    ),
    place: str = drawn(one_of("", "", *PLACES), published=""),
    before: str = drawn(_login, published="pull:Yq7vN2kXw9LrT4mZ"),
    after: str = drawn(_login, published="pull:h3DcB8sPf6GjV5eU"),
) -> Fault:  # fmt: skip
    """The login in a workload's pull secret was rotated, and its registry refuses the one that the Secret holds.

    Pods that run serve on; each new one asks the registry and hangs in ImagePullBackOff. The valid login stands in another
    Secret, beside it or in the namespace of the rotation.
    """
    host = _host(target)
    stale = ObjectRef("secrets", secret, target.namespace)
    valid = ObjectRef("secrets", record, place or target.namespace)
    new = pulling({host: after})
    named_secrets = [{"name": secret}]
    earlier: list[Edit] = [
        Enroll(host, before),
        Create(_secret(stale, pulling({host: before}))),
        Rollout(
            target.workload,
            {
                target.template_path("imagePullSecrets"): named_secrets,
                target.container_path("imagePullPolicy"): "Always",
            },
        ),
        # One more revision, so that the one before the newest has the pull secret, too.
        Restart(target.workload),
    ]
    if place:
        earlier.insert(0, Create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}}))
    late = registrants(target)
    if late:
        earlier += [AwaitRollout(target.workload), *map(RecreatePods, late)]
    where = f"in namespace {place}" if place else "beside it"
    template_path = {
        "spec": {
            "template": {
                "spec": {"imagePullSecrets": [{"name": record}, {"$patch": "delete", "name": secret}]}
            }
        }
    }
    pointed = (
        f"kubectl patch {named(target.workload)} -n {target.namespace} -p {shlex.quote(_json(template_path))}"
    )
    corrected = put(stale, f"/data/{CONFIG}", new[CONFIG])
    return Fault(
        resource=stale,
        cause=f"{target.kind} {target.name} pulls its image with stale registry credentials: the login in its pull secret {secret} was "
        f"rotated, and {host} refuses it (the valid one stands in Secret {record} {where}); new pods hang in ImagePullBackOff.",
        earlier=earlier,
        edits=[Enroll(host, after), Create(_secret(valid, new))],
        disturbances=[RegistryLogin(host, before, known=False)],
        trigger=[RecreatePods(name) for name in (target.name, *target.dependents)],
        details={"field": CONFIG, "right": record},
        facts={"host": host, "elsewhere": where},
        remedies=[mend(target, corrected, *_again(target)), *([] if place else [mend(target, pointed)])],
        look=[
            f"kubectl get secrets -n {target.namespace}",
            f"kubectl get events -n {target.namespace} --field-selector reason=Failed",
            f"kubectl get secret {secret} -n {target.namespace} -o yaml",
            f"kubectl get secret {record} -n {valid.namespace} -o yaml",
            show(target),
        ],
        accepts=[valid, target.workload, *_account(target)],
        aliases=[secret],
        cured=[_let_in(target, host, after)],
    )


def _json(value: Manifest) -> str:
    return orjson.dumps(value).decode()


def _again(target: ComponentTarget) -> list[str]:
    """The pods anew, so that nobody waits for the end of a back-off."""
    return [f"kubectl rollout restart {named(target.workload)} -n {target.namespace}"]


def _secret(where: ObjectRef, data: dict[str, str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": where.name, "namespace": where.namespace},
        "type": PULL_SECRET,
        "data": data,
    }


def _account(target: ComponentTarget) -> list[ObjectRef]:
    """The service account of its pods, by which they may be given pull secrets as well."""
    name = target.template_declares("serviceAccountName") or "default"
    return [ObjectRef("serviceaccounts", name, target.namespace)]


def _let_in(target: ComponentTarget, host: str, after: str) -> Predicate:
    """Whether new pods come with a login that the registry knows.

    Nobody in particular is no such login: what everybody may have is handed out to strangers only so many times an hour.
    """

    def cured(world: World) -> Finding:
        expected = f"new pods of {target.name} come to {host} with a valid login"
        known = {
            after,
            *(each for registry in world.app.registries if registry.host == host for each in registry.logins),
        }
        try:
            secrets, image = _pulls(world, target)
        except (StatusError, StopIteration) as error:
            return Finding("pull secret", False, str(error), expected)
        found = logins(secrets, image)
        return Finding("pull secret", not known.isdisjoint(found), f"of {len(found)} logins", expected)

    return cured


def _pulls(world: World, target: ComponentTarget) -> tuple[list[Manifest], str]:
    """The pull secrets that new pods of a component have, and its image."""
    workload = target.workload
    spec = template(world.cluster.get(workload.resource, workload.name, workload.namespace))["spec"]
    image = next(c["image"] for c in spec["containers"] if c["name"] == target.component.container)
    listed = spec.get("imagePullSecrets")
    if not listed:
        account = spec.get("serviceAccountName") or "default"
        listed = world.cluster.get("serviceaccounts", account, target.namespace).get("imagePullSecrets")
    found = []
    for each in listed or ():
        try:
            found.append(world.cluster.get("secrets", each["name"], target.namespace))
        except StatusError:
            continue
    return found, image
