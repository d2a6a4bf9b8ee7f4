"""``app.yaml``: what is said of an application beside its manifests."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sregym_env.kube.quantity import bytes_
from sregym_env.sim.programs.services.drivers import DRIVERS
from sregym_env.sim.programs.services.peers import At
from sregym_env.sim.programs.services.steps import Ask, Compute, LookAside, Lost, Say, Step, Together
from sregym_env.sim.programs.services.values import Setting, Value, Variable

_DURATION = re.compile(r"([0-9.]+) ?(us|ms|s)")
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def seconds_of(text: Any) -> Any:
    """``0.8ms`` as seconds. Raises ValueError."""
    if not isinstance(text, str):
        if text:
            raise ValueError(f"{text!r} has no unit; write 800us, 0.8ms or 1s")
        return text
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no time; write 800us, 0.8ms or 1s")
    return float(found[1]) * _UNITS[found[2]]


Seconds = Annotated[float, BeforeValidator(seconds_of), Field(ge=0)]
Bytes = Annotated[int, BeforeValidator(bytes_), Field(ge=0)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PeerModel(_Model):
    """Somebody whom a service asks."""

    library: Literal[tuple(sorted(DRIVERS))]  # type: ignore[valid-type]
    """The client library."""
    address: str
    """``$VARIABLE``, ``config:KEY`` or ``host:port``."""
    database: str = ""
    timeout: Seconds = 0.0

    @property
    def at(self) -> At:
        """Where it is, as a service finds it."""
        return At(value_of(self.address))


def value_of(text: str) -> Value:
    """``$NAME`` is an environment variable, ``config:KEY`` a key of the configuration; everything else is itself."""
    if text.startswith("$"):
        return Variable(text.removeprefix("$"))
    return Setting(text.removeprefix("config:")) if text.startswith("config:") else text


def step_of(written: Any) -> Step:
    """A step as YAML writes it. Raises ValueError.

    ``compute: 1ms`` · ``ask: PEER OPERATION [OF]``, with ``otherwise: ignore`` and ``log: TEXT`` · ``cached: CACHE SPACE`` with
    ``miss: [steps]`` · ``together: [[steps], [steps]]``.
    """
    if not isinstance(written, dict):
        raise ValueError(f"{written!r} is no step; write `compute: 1ms`, `ask: PEER OPERATION`, ...")
    kind = next(iter(written), "")
    known = {
        "compute": {"compute"},
        "ask": {"ask", "otherwise", "log"},
        "cached": {"cached", "miss", "otherwise"},
        "together": {"together"},
    }
    if kind not in known:
        raise ValueError(f"no step {kind!r}; there are {', '.join(known)}")
    if extra := written.keys() - known[kind]:
        raise ValueError(f"a step {kind!r} has no {', '.join(sorted(extra))}")
    match kind:
        case "compute":
            return Compute(float(seconds_of(written["compute"])))
        case "together":
            return Together(tuple(steps_of(branch) for branch in written["together"]))
    words = str(written[kind]).split()
    log = Say("error", "", str(written["log"])) if "log" in written else None
    otherwise = written.get("otherwise", "error")
    if otherwise not in ("error", "ignore", "panic"):
        raise ValueError(f"otherwise: {otherwise!r}; there are error, ignore and panic")
    if len(words) < 2:
        raise ValueError(
            f"{kind}: {written[kind]!r} needs a peer and {'an operation' if kind == 'ask' else 'a key space'}"
        )
    lost = Lost(otherwise, log=log)
    if kind == "cached":
        cache = Ask(words[0], "get", words[1], lost)
        return LookAside(cache, steps_of(written.get("miss", ())))
    # What is asked over HTTP is two words: a method and a path.
    length = 3 if words[1] in _METHODS else 2
    return Ask(words[0], " ".join(words[1:length]), " ".join(words[length:]), lost)


_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")


def steps_of(written: Any) -> tuple[Step, ...]:
    """Several steps. Raises ValueError."""
    if not isinstance(written, (list, tuple)):
        raise ValueError(f"{written!r} is no list of steps")
    return tuple(step_of(each) for each in written)


class ServiceModel(_Model):
    """What one of the application's own images does."""

    language: Literal["go", "cpp", "openresty"] = "go"
    protocol: Literal["grpc", "thrift", "http"]
    port: str
    """``$VARIABLE``, ``config:KEY`` or a number."""
    memory: Bytes = 20 * 1024 * 1024
    """Resident at rest."""
    config: str = ""
    """Path of a JSON configuration file."""
    reach: tuple[str, ...] = ()
    """Peers without which it does not start."""
    peers: dict[str, PeerModel] = {}
    operations: dict[str, Annotated[tuple[Step, ...], BeforeValidator(steps_of)]]
    binary: str = ""
    """The executable in its image; its own name if left out."""


class StoreModel(_Model):
    """A component that runs a program of its kind."""

    program: Literal["mongodb", "redis", "memcached", "jaeger", "wrk2"]
    database: str = ""


class JourneyModel(_Model):
    """Something users do."""

    request: str
    """``GET /path?query``."""
    weight: float = Field(default=1.0, gt=0)


class AppModel(_Model):
    """The declaration."""

    name: str = Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")
    title: str = ""
    namespace: str
    description: str = ""
    entry: str
    """The component that users call."""
    rate: float = Field(default=50.0, gt=0)
    """Requests per second that users offer."""
    journeys: dict[str, JourneyModel] = Field(min_length=1)
    services: dict[str, ServiceModel] = Field(min_length=1)
    stores: dict[str, StoreModel] = {}
