"""DefaultIngressClass: an Ingress that names no class gets the default one."""

from __future__ import annotations

from sregym_env.kube.types import Manifest
from sregym_env.sim.apiserver.admission.attributes import Attributes
from sregym_env.sim.apiserver.admission.storage import default_class
from sregym_env.sim.world import SimWorld

CLASSES = "ingressclasses.networking.k8s.io"
IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class"
ANNOTATION = "kubernetes.io/ingress.class"
"""How a class was named before there was a field for it."""


def mutate(world: SimWorld, request: Attributes, ingress: Manifest, _: Manifest | None) -> Manifest:
    """A new Ingress with the newest default class, where it names none."""
    spec = ingress.get("spec") or {}
    annotations = ingress["metadata"].get("annotations") or {}
    if request.operation != "CREATE" or spec.get("ingressClassName") is not None or ANNOTATION in annotations:
        return ingress
    name = default_class(world, CLASSES, IS_DEFAULT)
    return {**ingress, "spec": {**spec, "ingressClassName": name}} if name else ingress
