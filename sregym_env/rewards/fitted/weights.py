"""The weights, and what they make of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from sregym_env.faults.mechanisms import MECHANISMS
from sregym_env.rewards.fitted.wording import Told

Floats = npt.NDArray[np.float64]
Arrays = Mapping[str, npt.NDArray[np.generic]]

FINDINGS = (
    "passed", "located", "understood", "read", "foreign", "unlike", "contradicted", "other_cause", "detail",
    "length",
)  # fmt: skip
"""What the hand-written reader found, as it is weighed with what was learnt: each 1 or 0, and the logarithm of its words."""

SCORES = ("told", "margin", "topic")
"""What the fitted part found."""


@dataclass(frozen=True)
class Weights:
    """Linear models over hashed features, each weight a whole number between -127 and 127 times its model's scale."""

    mechanisms: tuple[str, ...]
    shared_keys: npt.NDArray[np.uint32]
    shared: npt.NDArray[np.int8]
    own_keys: npt.NDArray[np.uint32]
    own_starts: npt.NDArray[np.int64]
    own_of: npt.NDArray[np.uint8]
    """To which mechanism an own weight belongs."""
    own: npt.NDArray[np.int8]
    topic_keys: npt.NDArray[np.uint32]
    topic: npt.NDArray[np.int8]
    scales: Floats
    """Of shared and own, and of topics."""
    bias: float
    blend: Floats
    """Of :data:`FINDINGS`, :data:`SCORES` and the constant."""
    threshold: float
    """Logarithm of the odds above which an account is affirmed that was not understood and accuses nobody."""

    def heard(self, topics: Sequence[int]) -> Floats:
        """How likely each mechanism is to be what a text is about: logarithms."""
        known = _known(self.topic_keys, topics)
        if not len(known):
            return np.full(len(self.mechanisms), -np.log(len(self.mechanisms)))
        logits = self.topic[known].astype(np.float64).sum(0) * self.scales[1] / np.sqrt(len(known))
        logits -= logits.max()
        return np.asarray(logits - np.log(np.exp(logits).sum()))

    def told(self, features: Told) -> tuple[float, Floats]:
        """How much a text is like right accounts at large, and like those of each mechanism."""
        known = _known(self.shared_keys, features.shared)
        at_large = self.shared[known].astype(np.float64).sum() / np.sqrt(max(1, len(known)))
        rows = _known(self.own_keys, features.own)
        entries = np.concatenate(
            [np.arange(self.own_starts[row], self.own_starts[row + 1]) for row in rows] or [np.arange(0)]
        )
        of = self.own_of[entries]
        sums = np.bincount(of, weights=self.own[entries], minlength=len(self.mechanisms))
        counts = np.bincount(of, minlength=len(self.mechanisms))
        own = sums / np.sqrt(np.maximum(1, counts))
        return float(at_large * self.scales[0] + self.bias), own * self.scales[0]

    def scores(self, key: str, features: Told, topics: Sequence[int]) -> tuple[float, float, float]:
        """:data:`SCORES` of a text beside a fault of a mechanism."""
        at_large, own = self.told(features)
        rest = self.excluding(key)
        mine = self.mechanisms.index(key)
        heard = self.heard(topics)
        return (
            float(at_large + own[mine]),
            float(own[mine] - own[rest].max()),
            float(heard[mine] - heard[rest].max()),
        )

    def blended(self, findings: Sequence[float], scores: Sequence[float]) -> float:
        """How likely a text is right, as logarithm of the odds."""
        return float(self.blend @ np.array([*findings, *scores, 1.0]))

    def excluding(self, key: str) -> list[int]:
        """The places of mechanisms that exclude one: not of those through which it works."""
        mechanism = MECHANISMS[key]
        near = {key, *mechanism.kin, *mechanism.through}
        return [number for number, other in enumerate(self.mechanisms) if other not in near]


def _known(keys: npt.NDArray[np.uint32], features: Sequence[int]) -> npt.NDArray[np.intp]:
    """Where those features stand that have a weight."""
    asked = np.array(features, np.uint32)
    if not len(asked) or not len(keys):
        return np.zeros(0, np.intp)
    at = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.asarray(at[keys[at] == asked], np.intp)


def of_arrays(data: Arrays) -> Weights:
    """Weights as they are stored."""
    return Weights(
        tuple(str(key) for key in data["mechanisms"]),
        data["shared_keys"].astype(np.uint32),
        data["shared"].astype(np.int8),
        data["own_keys"].astype(np.uint32),
        np.concatenate([[0], np.cumsum(data["own_counts"].astype(np.int64))]),
        data["own_of"].astype(np.uint8),
        data["own"].astype(np.int8),
        data["topic_keys"].astype(np.uint32),
        data["topic"].astype(np.int8),
        data["scales"].astype(np.float64),
        float(data["bias"].astype(np.float64)[0]),
        data["blend"].astype(np.float64),
        float(data["threshold"].astype(np.float64)[0]),
    )


@lru_cache(maxsize=1)
def weights() -> Weights:
    """Those that ship with the package."""
    with (
        files(__package__).joinpath("weights.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as data,
    ):
        return of_arrays({name: data[name] for name in data.files})
