"""What images are called in full, and what pull secrets say: the logins that a kubelet finds for an image."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import orjson

from sregym_env.kube.types import Manifest

PULL_SECRET = "kubernetes.io/dockerconfigjson"
"""The type of Secrets with which images are pulled."""
CONFIG = ".dockerconfigjson"
"""Where they hold logins."""
OLD_PULL_SECRET, OLD_CONFIG = "kubernetes.io/dockercfg", ".dockercfg"
"""The same of an older kind, which is the inner part of the newer one."""

HUB = "docker.io"
HUB_KEY = "https://index.docker.io/v1/"
"""How ``docker login`` calls Docker Hub."""


@lru_cache(maxsize=4096)
def canonical(reference: str) -> str:
    """The reference in full: ``mongo`` is ``docker.io/library/mongo:latest``."""
    name, at, digest = reference.partition("@")
    first, slash, _ = name.partition("/")
    if not slash:
        name = f"docker.io/library/{name}"
    elif "." not in first and ":" not in first and first != "localhost":
        name = f"docker.io/{name}"
    if not at and ":" not in name.rsplit("/", 1)[-1]:
        name = f"{name}:latest"
    return f"{name}{at}{digest}"


@lru_cache(maxsize=4096)
def repository(reference: str) -> str:
    """The full reference without tag and digest."""
    name = canonical(reference).partition("@")[0]
    head, _, tail = name.rpartition("/")
    return f"{head}/{tail.partition(':')[0]}"


def pulling(logins: Mapping[str, str]) -> dict[str, str]:
    """The data of a pull secret with logins (``user:password``) by registry."""
    auths = {
        HUB_KEY if host == HUB else host: {"auth": b64encode(login.encode()).decode()}
        for host, login in logins.items()
    }
    return {CONFIG: b64encode(orjson.dumps({"auths": auths})).decode()}


def logins(secrets: Iterable[Manifest], reference: str) -> tuple[str, ...]:
    """The logins for an image in some Secrets, those of the longest names first, as a kubelet's keyring has them."""
    wanted = repository(reference)
    found = [entry for secret in secrets for entry in _entries(secret)]
    found.sort(key=lambda entry: entry[0], reverse=True)
    fitting = [login for key, login in found if _fits(key, wanted)]
    if not fitting and wanted.startswith(f"{HUB}/"):
        fitting = [login for key, login in found if key == _key(HUB_KEY)]
    return tuple(dict.fromkeys(fitting))


def _entries(secret: Manifest) -> tuple[tuple[str, str], ...]:
    """What a pull secret holds: (registry or repository, login)."""
    data = secret.get("data") or {}
    if secret.get("type") == PULL_SECRET:
        return _read(str(data.get(CONFIG, "")), "auths")
    return _read(str(data.get(OLD_CONFIG, "")), "") if secret.get("type") == OLD_PULL_SECRET else ()


@lru_cache(maxsize=256)
def _read(text: str, part: str) -> tuple[tuple[str, str], ...]:
    try:
        parsed: Any = orjson.loads(b64decode(text))
    except ValueError:
        return ()
    auths = parsed.get(part) if part and isinstance(parsed, dict) else parsed
    if not isinstance(auths, dict):
        return ()
    listed = ((_key(key), _login(entry)) for key, entry in auths.items())
    return tuple((key, login) for key, login in listed if login)


def _login(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    if entry.get("auth"):
        try:
            return b64decode(str(entry["auth"])).decode(errors="replace")
        except ValueError:
            return ""
    return f"{entry['username']}:{entry.get('password', '')}" if entry.get("username") else ""


def _key(written: str) -> str:
    """``https://index.docker.io/v1/`` is ``index.docker.io``."""
    host, _, path = re.sub(r"^https?://", "", written).partition("/")
    path = re.sub(r"^v[12](/|$)", "", path).strip("/")
    return f"{host}/{path}" if path else host


def _fits(key: str, wanted: str) -> bool:
    """Whether a login's registry or repository, stars in its host's name included, is that of an image."""
    host, _, path = wanted.partition("/")
    pattern, _, prefix = key.partition("/")
    return pattern.count(".") == host.count(".") and fnmatchcase(host, pattern) and path.startswith(prefix)
