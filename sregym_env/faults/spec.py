"""The fault spec: the ground truth of one fault on one target, in the form in which diagnoses are graded."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from sregym_env.tools.causes import Cause

Layer = Literal["application", "configuration", "kubernetes", "network", "storage", "node", "hardware"]
"""Where in the stack a cause lies."""

Level = Literal["easy", "medium", "hard"]
"""How far the symptom lies from the cause."""


class FaultSpec(BaseModel):
    """What is wrong, where, by which mechanism, and whom it hurts. Never shown to an agent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: str
    """The declared fault's name."""
    layer: Layer
    mechanism: str
    """A key of :data:`~sregym_env.faults.mechanisms.MECHANISMS`."""
    namespace: str
    components: tuple[str, ...]
    """Where the cause lies; the first is the one a diagnosis must name."""
    aliases: tuple[str, ...]
    """Other names by which the cause's place may rightly be called: its Service, volume claim, container,
    ConfigMap, node, operator resource."""
    resource_kind: str
    """Kind of the object that is wrong (``Service``, ``Deployment``, ``Node``, ``MongoDB user`` ...)."""
    resource_name: str
    cause: str
    """The cause in a sentence or two, with its concrete values."""
    field: str = ""
    """The mutated field or setting."""
    wrong: str = ""
    """Its value now; empty when something is absent."""
    right: str = ""
    """Its healthy value; empty when something was added."""
    affected: tuple[str, ...] = ()
    """Components that suffer although nothing is wrong with them, nearest first."""
    journeys: tuple[str, ...] = ()
    """User journeys that pass the faulty component."""

    @property
    def answer(self) -> Cause:
        """The cause as a structured diagnosis gives it."""
        return Cause(
            self.components,
            self.mechanism,
            kind=self.resource_kind,
            name=self.resource_name,
            field=self.field,
            value=self.wrong,
            because=self.cause,
        )

    @property
    def root_cause(self) -> str:
        """The cause as one line of prose, as judges and reports print it."""
        where = ", ".join(self.components)
        return f"[fault_spec] component={where}; namespace={self.namespace} || {self.cause}"
