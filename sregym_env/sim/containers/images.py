"""Image references: how they are written in full, which image they name, and why a pull fails."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from sregym_env.cluster.app import Image
from sregym_env.kube.pulling import canonical, repository
from sregym_env.runtime.clock import SECOND, seconds
from sregym_env.runtime.streams import keyed_bits

PULL_RATE = 50_000_000
"""Bytes per second that a node pulls from a registry."""
PULL_OVERHEAD = seconds(0.5)
"""Time of a pull besides the transfer, microseconds."""
BACKOFF = 10 * SECOND
"""First back-off between pulls; doubles up to :data:`BACKOFF_CAP` (kubelet ``imageBackOffPeriod``)."""
BACKOFF_CAP = 300 * SECOND

_REFERENCE = re.compile(
    r"^(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]+)?/)?"
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
    r"(?::[\w][\w.-]{0,127})?(?:@[a-z0-9]+(?:[+._-][a-z0-9]+)*:[0-9a-fA-F]{32,})?$"
)
_REGISTRIES = frozenset(
    ("docker.io", "ghcr.io", "gcr.io", "quay.io", "registry.k8s.io", "mcr.microsoft.com", "public.ecr.aws")
)


@lru_cache(maxsize=4096)
def is_valid(reference: str) -> bool:
    """Whether a reference can be parsed."""
    return _REFERENCE.match(reference) is not None


def find(images: Mapping[str, Image], reference: str) -> Image | None:
    """The image that a reference names, however much of it is left out."""
    found = images.get(reference)
    if found is not None:
        return found
    full = canonical(reference)
    found = images.get(full)
    if found is not None:
        return found
    name = _names(tuple(images)).get(image_id(full) if "@" in full else full)
    return None if name is None else images[name]


@lru_cache(maxsize=256)
def _names(references: tuple[str, ...]) -> Mapping[str, str]:
    """The first of some references of each full name and of each digest."""
    found: dict[str, str] = {}
    for reference in references:
        found.setdefault(canonical(reference), reference)
        found.setdefault(image_id(reference), reference)
    return found


@lru_cache(maxsize=4096)
def image_id(reference: str) -> str:
    """A stable content digest for an image: ``docker.io/library/mongo@sha256:<64 hex>``.

    A reference that names a digest is of the image that has it.
    """
    _, at, written = canonical(reference).partition("@")
    if at:
        return f"{repository(reference)}@{written}"
    digest = "".join(f"{keyed_bits('image', canonical(reference), part):016x}" for part in range(4))
    return f"{repository(reference)}@sha256:{digest}"


def pull_duration(image: Image | None, unit: float) -> int:
    """How long a pull takes, microseconds; ``unit`` in [0, 1) varies it. A refusal is quick."""
    if image is None:
        return seconds(0.6 + 0.8 * unit)
    return PULL_OVERHEAD + round(image.size / PULL_RATE * SECOND * (0.8 + 0.4 * unit))


def exact_size(image: Image, reference: str) -> int:
    """The bytes of an image: declared sizes are rounded, real ones are not."""
    name = image.reference if "@" in reference else reference
    return image.size + keyed_bits("image-size", canonical(name), 0) % (image.size // 40 + 1)


def reachable(images: Mapping[str, Image], reference: str) -> bool:
    """Whether there is a registry of the name that a reference begins with."""
    host = canonical(reference).partition("/")[0]
    return host in _REGISTRIES or any(canonical(known).startswith(f"{host}/") for known in images)


def unresolved(reference: str) -> str:
    """How containerd begins when a registry does not tell it what a reference names."""
    full = canonical(reference)
    return f'failed to pull and unpack image "{full}": failed to resolve reference "{full}": '


def pull_error(images: Mapping[str, Image], reference: str, resolver: str) -> str:
    """What containerd says of a reference that no registry serves."""
    full = canonical(reference)
    host, _, path = full.partition("/")
    prefix = unresolved(reference)
    repo = repository(reference)
    if not reachable(images, reference):
        name, _, tag = path.rpartition(":")
        lookup = f"dial tcp: lookup {host.partition(':')[0]} on {resolver}:53: no such host"
        return (
            f"rpc error: code = Unknown desc = {prefix}failed to do request: "
            f'Head "https://{host}/v2/{name}/manifests/{tag}": {lookup}'
        )
    if any(repository(known) == repo for known in images):
        return f"rpc error: code = NotFound desc = {prefix}{full}: not found"
    if host == "docker.io":
        return (
            f"rpc error: code = Unknown desc = {prefix}pull access denied, repository does not exist or may "
            "require authorization: server message: insufficient_scope: authorization failed"
        )
    if host == "ghcr.io":
        scope = repo.partition("/")[2].replace("/", "%2F")
        url = f"https://ghcr.io/token?scope=repository%3A{scope}%3Apull&service=ghcr.io"
        return (
            f"rpc error: code = Unknown desc = {prefix}failed to authorize: failed to fetch anonymous token: "
            f"unexpected status from GET request to {url}: 403 Forbidden"
        )
    return f"rpc error: code = NotFound desc = {prefix}{full}: not found"
