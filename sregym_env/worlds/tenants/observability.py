"""The monitoring of a drawn cluster: namespace ``observe``, in the releases that its team runs."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.runtime.chance import Chance
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.sim.bringup import observability
from sregym_env.sim.programs.monitoring_images import MONITORING_IMAGES, RELEASES
from sregym_env.worlds.tenants.deeds import Deed, Install, Release, Story
from sregym_env.worlds.tenants.delivery import HELM, delivery_of
from sregym_env.worlds.tenants.workloads import Span

NAMESPACE = observability.NAMESPACE
PODS = 4
"""Besides one on every machine."""


def monitoring(namespaces: Sequence[str], chance: Chance, span: Span) -> Story:
    """Prometheus, its exporters and Loki, installed early; its rules watch ``namespaces``."""
    releases = {repository: chance.choice(repository, tags) for repository, tags in RELEASES.items()}
    start = span.at(chance.uniform("share", 0.004, 0.04))
    how = delivery_of(chance.at("delivery"), HELM, "prometheus")
    pace = chance.uniform("pace", 0.2, 1.5)
    first, *rest = observability.manifests(namespaces, releases)
    deeds = [
        Deed(start - SECOND, Install((first,), HELM)),
        Deed(start - SECOND // 2, Release(how, NAMESPACE, 1)),
    ]
    deeds += [
        Deed(start + seconds(index * pace), Install((how.marked(manifest),), HELM))
        for index, manifest in enumerate(rest)
    ]
    images = {
        image.reference: image
        for image in MONITORING_IMAGES
        if image.reference in {f"{repository}:{tag}" for repository, tag in releases.items()}
    }
    return Story(tuple(deeds), images, PODS)
