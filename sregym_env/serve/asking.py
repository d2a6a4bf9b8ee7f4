"""One API request on its way: who asks whom for what, and how the answer is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sregym_env.cluster.identity import ADMIN
from sregym_env.kube import status
from sregym_env.kube.registry import Resource
from sregym_env.kube.types import Manifest
from sregym_env.serve import parameters
from sregym_env.serve.hosted import Hosted
from sregym_env.serve.message import Request, Response, json_response
from sregym_env.serve.negotiate import Representation, partial, table
from sregym_env.serve.paths import ApiPath
from sregym_env.sim.cluster import SimCluster

Validation = Literal["Strict", "Warn", "Ignore"]


@dataclass(frozen=True, slots=True)
class Ask:
    """One API request on its way: who asks whom for what."""

    hosted: Hosted
    cluster: SimCluster
    where: ApiPath
    request: Request

    @property
    def resource(self) -> Resource:
        """The resource the path names."""
        return self.where.resource

    @property
    def admin(self) -> SimCluster:
        """The same cluster without questions; for what has been authorised already."""
        return self.cluster.as_user(ADMIN)

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be kept."""
        return self.request.first("dryRun") == "All"

    @property
    def validation(self) -> Validation:
        """How unknown fields are treated."""
        chosen = self.request.first("fieldValidation")
        return chosen if chosen in ("Strict", "Ignore") else "Warn"  # type: ignore[return-value]

    @property
    def manager(self) -> str:
        """The field manager of a write: the one it names, else the client by its ``User-Agent``."""
        named = self.request.first("fieldManager")
        return named or parameters.manager_of_agent(self.request.header("user-agent"))

    def demand(self, verb: str, subresource: str = "") -> None:
        """Raises Forbidden where RBAC does not allow the verb."""
        where = self.where
        if not self.cluster.review_access(verb, self.resource.key, where.namespace, where.name, subresource):
            raise status.forbidden(
                self.resource, where.name, self.cluster.user.name, verb, where.namespace or "", subresource
            )

    def answer(
        self, obj: Manifest, code: int = 200, warnings: tuple[str, ...] = (), shape: Representation = "object"
    ) -> Response:
        """An object as the response."""
        if shape == "table" and obj.get("kind") == self.resource.kind:
            include = self.request.first("includeObject", "Metadata")
            version = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
            obj = table(self.resource, [obj], self.hosted.world.now(), include=include, metadata=version)
        elif shape == "metadata" and obj.get("kind") == self.resource.kind:
            obj = partial(obj)
        return json_response(obj, code, tuple(("Warning", f'299 - "{quoted(text)}"') for text in warnings))


def quoted(text: str) -> str:
    """A text inside the quotation marks of a ``Warning`` header."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
