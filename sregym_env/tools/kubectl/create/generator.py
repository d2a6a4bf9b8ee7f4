"""What the generators of ``kubectl create`` have in common: one name, one object, one report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sregym_env.kube.registry import Resource
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure, usage_failure
from sregym_env.tools.kubectl.flags import DRY_RUN, OUTPUT, Flag
from sregym_env.tools.kubectl.writing import FIELD_MANAGER, SAVE_CONFIG, VALIDATE, create_object

Make = Callable[[Call, str], Manifest]
"""The body of an object with a given name: everything except apiVersion, kind and name."""

COMMON = (OUTPUT, DRY_RUN, FIELD_MANAGER, SAVE_CONFIG, VALIDATE)

UNSET: dict[str, Any] = {"creationTimestamp": None}
"""Metadata that a client has not filled in; Go prints the empty time."""


@dataclass(frozen=True, slots=True)
class Generator:
    """One kind that ``kubectl create`` can make from flags."""

    token: str
    """The resource, as a person names it."""
    make: Make
    called: str
    """How an error of the server is introduced (``failed to create CALLED:``); empty for as it is."""
    required: tuple[str, ...] = ()
    """Flags that must be given."""
    takes_command: bool = False
    """Whether words after ``--`` are a container's command."""

    def __call__(self, call: Call) -> None:
        """Make the object, send it and report it."""
        name = self._name(call)
        resource = call.find(self.token)
        manifest = typed(call, resource, name, self.make(call, name))
        try:
            create_object(call, resource, manifest)
        except StatusError as error:
            if not self.called:
                raise
            raise failure(f"failed to create {self.called} {error.message}") from None

    def _name(self, call: Call) -> str:
        missing = [f'"{flag}"' for flag in self.required if not call.flags[flag]]
        if missing:
            raise failure(f"required flag(s) {', '.join(missing)} not set")
        before = len(call.args) if call.dash < 0 or not self.takes_command else call.dash
        if before != 1:
            raise usage_failure(f"exactly one NAME is required, got {before}", call.command)
        return call.args[0]


def typed(call: Call, resource: Resource, name: str, body: Manifest) -> Manifest:
    """A whole object from a generator's body."""
    rest = {key: value for key, value in body.items() if key != "metadata"}
    metadata: dict[str, Any] = {**UNSET, "name": name, **body.get("metadata", {})}
    if resource.namespaced:
        metadata["namespace"] = call.namespace
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **rest}


def verb(
    name: str,
    summary: str,
    generator: Generator,
    *flags: Flag,
    aliases: tuple[str, ...] = (),
    usage: str = "",
) -> Verb:
    """The declaration of ``kubectl create NAME``."""
    return Verb(
        name,
        summary,
        generator,
        (*COMMON, *flags),
        usage=usage or f"create {name} NAME",
        aliases=aliases,
        required=generator.required,
    )
