"""Requests to one API server with the credentials of a kubeconfig, on behalf of any identity.

The official client reads the kubeconfig, refreshes tokens and holds the connections; requests are made below its typed
methods, which know neither plain manifests nor warnings nor who is impersonated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import orjson
import urllib3
from kubernetes import client, config

from sregym_env.cluster.identity import ADMIN, User
from sregym_env.errors import ClusterError
from sregym_env.kube.status import StatusError

TIMEOUT = 60.0
"""Seconds after which an answer is no longer waited for."""

AGENT = "kubectl/v1.32.0"
"""What the API server is told of the program. Its first part is the default owner of what is written (managedFields),
which should not stand out."""

Query = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the API server, or something behind its proxy, answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON. Raises ClusterError if it is none."""
        try:
            return orjson.loads(self.body)
        except ValueError as error:
            raise ClusterError(f"the API server answered what is no JSON: {self.body[:80]!r}") from error

    @property
    def refusal(self) -> StatusError | None:
        """The ``Status`` in the body, where it says that something failed."""
        try:
            found = orjson.loads(self.body)
        except ValueError:
            return None
        if not isinstance(found, dict) or found.get("kind") != "Status" or found.get("status") != "Failure":
            return None
        return StatusError(
            int(found.get("code") or self.status),
            str(found.get("reason") or ""),
            str(found.get("message") or ""),
            found.get("details") or {},
        )


class Connection:
    """An API server and who asks it."""

    def __init__(self, api: client.ApiClient, user: User = ADMIN, warned: list[str] | None = None) -> None:
        """With :data:`ADMIN` requests are made with the kubeconfig's own identity, else that user is impersonated."""
        self.api = api
        self.user = user
        self.warned: list[str] = [] if warned is None else warned
        """Warnings of the API server that nobody has read yet."""

    @classmethod
    def of(cls, kubeconfig: str = "", context: str = "") -> Connection:
        """By a kubeconfig: the file, or the one that kubectl would take. Raises ClusterError if there is none."""
        try:
            api = config.new_client_from_config(  # type: ignore[no-untyped-call]
                kubeconfig or None, context or None, persist_config=False
            )
        except config.ConfigException as error:
            raise ClusterError(f"kubeconfig: {error}") from error
        return cls(api)

    def as_user(self, user: User) -> Connection:
        """The same server asked on behalf of another identity; warnings are told to whoever reads them first."""
        return Connection(self.api, user, self.warned)

    def headers(self) -> list[tuple[str, str]]:
        """Credentials, and who is impersonated."""
        found = [("User-Agent", AGENT)]
        for setting in self.api.configuration.auth_settings().values():
            if setting["in"] == "header" and setting["value"]:
                found.append((setting["key"], str(setting["value"])))
        if self.user != ADMIN:
            found.append(("Impersonate-User", self.user.name))
            # This group the API server adds itself; to impersonate it would need a permission of its own.
            groups = (group for group in self.user.groups if group != "system:authenticated")
            found.extend(("Impersonate-Group", group) for group in groups)
        return found

    def url(self, path: str, query: Query = ()) -> str:
        """The URL of an escaped path."""
        return f"{self.api.configuration.host.rstrip('/')}{path}" + (f"?{urlencode(query)}" if query else "")

    def send(
        self,
        method: str,
        path: str,
        query: Query = (),
        body: bytes | None = None,
        content_type: str = "application/json",
        *,
        accept: str = "application/json",
        headers: Sequence[tuple[str, str]] = (),
        timeout: float = TIMEOUT,
    ) -> Answer:
        """One request, whatever its answer is. Raises ClusterError if there is none."""
        sent = urllib3.HTTPHeaderDict()
        for name, value in (*headers, *self.headers(), ("Accept", accept)):
            sent.add(name, value)
        if body is not None:
            sent["Content-Type"] = content_type
        try:
            answer = self.api.rest_client.pool_manager.request(
                method,
                self.url(path, query),
                body=body,
                headers=sent,
                timeout=timeout,
                # A redirect is for the caller to see; following it would send the credentials elsewhere.
                redirect=False,
                # Only what changes nothing may be sent twice.
                retries=urllib3.Retry(2, read=2, status=0, redirect=False, allowed_methods=("GET",)),
            )
        except urllib3.exceptions.HTTPError as error:
            raise ClusterError(f"{method} {path}: no answer from the API server: {error}") from error
        self.warned.extend(_warnings(answer.headers.getlist("Warning")))
        return Answer(answer.status, answer.headers, answer.data)

    def ask(
        self,
        method: str,
        path: str,
        query: Query = (),
        body: Any = None,
        content_type: str = "application/json",
        *,
        accept: str = "application/json",
    ) -> Answer:
        """One request with a JSON body. Raises StatusError where the API server refuses it."""
        encoded = None if body is None else orjson.dumps(body)
        answer = self.send(method, path, query, encoded, content_type, accept=accept)
        if answer.status >= 400:
            text = answer.body.decode(errors="replace").strip()
            raise answer.refusal or StatusError(answer.status, "", text)
        return answer


def _warnings(values: Sequence[str]) -> list[str]:
    """The texts of ``Warning: 299 - "..."`` headers."""
    found = []
    for value in values:
        text = value.split(" ", 2)[-1].strip()
        if text.startswith('"') and text.endswith('"') and len(text) > 1:
            text = text[1:-1].replace('\\"', '"').replace("\\\\", "\\")
        found.append(text)
    return found
