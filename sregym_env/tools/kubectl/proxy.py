"""``kubectl proxy``: a local port behind which the API server answers with one's own rights."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Protocol

import re2

from sregym_env.cluster.api import Cluster
from sregym_env.kube.status import StatusError, method_not_allowed
from sregym_env.tools.kubectl.attach import ATTACHED_SECONDS, SLOW_LOOK_SECONDS
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.desk import Proxy
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.kubeconfig import ConfigFile
from sregym_env.tools.kubectl.raw import get_raw

_REJECTED_PATHS = re.compile(r"/api/.*/pods/.*/exec|/api/.*/pods/.*/attach")


@lru_cache(maxsize=64)
def _rejected(pattern: str) -> Any:
    """Methods that are refused, in Go's syntax (RE2), which takes linear time. Raises re2.error."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def run(call: Call) -> None:
    """Serve the API on a local port; in the background it stays open."""
    flags = call.flags
    try:
        _rejected(flags["reject-methods"])
    except re2.error as error:
        said = error.args[0] if error.args else ""
        raise failure(f"error parsing regexp: {said.decode() if isinstance(said, bytes) else said}") from None
    prefix = f"/{flags['api-prefix'].strip('/')}/".replace("//", "/")
    address, wanted = flags["address"] or "127.0.0.1", flags["port"]
    desk = call.desk
    if desk is None:
        raise failure(f"listen tcp {address}:{wanted}: bind: cannot assign requested address")
    try:
        port = desk.listen(wanted, Proxy(prefix, flags["reject-methods"]))
    except OSError as error:
        raise failure(f"listen tcp {address}:{wanted}: bind: {error}") from None
    call.print(f"Starting to serve on {address}:{port}\n")
    if desk.detached:
        return
    stayed = 0.0
    try:
        while stayed < ATTACHED_SECONDS:
            call.advance(SLOW_LOOK_SECONDS)
            stayed += SLOW_LOOK_SECONDS
    finally:
        desk.close(port)
    call.warn(f"proxy closed after {ATTACHED_SECONDS:.0f}s; run it in the background (&) to use its port")


class Person(Protocol):
    """Who has opened a proxy: every request to it is made in this name."""

    @property
    def cluster(self) -> Cluster:
        """The cluster, which answers as this person's user."""
        ...

    @property
    def kubeconfig(self) -> ConfigFile:
        """Where the cluster is found."""
        ...


def answer(person: Person, proxy: Proxy, method: str, path: str) -> tuple[int, str]:
    """Status and body of a request to a proxy."""
    if not path.startswith(proxy.prefix):
        return 404, "404 page not found\n"
    inner = path[len(proxy.prefix) - 1 :]
    if _rejected(proxy.reject_methods).match(method) or _REJECTED_PATHS.match(inner):
        return 403, "Forbidden"
    call = Call(person.kubeconfig, person.cluster, "get", {}, frozenset(), (), -1, "", None)
    try:
        if method not in ("GET", "HEAD"):
            raise method_not_allowed("", method.lower())
        get_raw(call, inner)
    except StatusError as error:
        return error.code, json.dumps(error.status, indent=2, ensure_ascii=False)
    text = "".join(call.out)
    # The API server indents what it answers to curl.
    return 200, json.dumps(json.loads(text), indent=2, ensure_ascii=False) if text[:1] == "{" else text


VERB = Verb(
    "proxy",
    "Run a proxy to the Kubernetes API server",
    run,
    flags=(
        Flag(
            "accept-hosts",
            default=r"^localhost$,^127\.0\.0\.1$,^\[::1\]$",
            help="Regular expression for hosts that the proxy should accept.",
        ),
        Flag(
            "accept-paths", default="^.*", help="Regular expression for paths that the proxy should accept."
        ),
        Flag("address", default="127.0.0.1", help="The IP address on which to serve on."),
        Flag("api-prefix", default="/", help="Prefix to serve the proxied API under."),
        Flag(
            "append-server-path",
            kind="bool",
            help="If true, enables automatic path appending of the kube context server path to each request.",
        ),
        Flag("disable-filter", kind="bool", help="If true, disable request filtering in the proxy."),
        Flag(
            "keepalive",
            kind="duration",
            help="keepalive specifies the keep-alive period for an active network connection. Set to 0 to disable "
            "keepalive.",
        ),
        Flag(
            "port",
            "p",
            kind="int",
            default=8001,
            help="The port on which to run the proxy. Set to 0 to pick a random port.",
        ),
        Flag(
            "reject-methods",
            default="^$",
            help="Regular expression for HTTP methods that the proxy should reject (example "
            "--reject-methods='POST,PUT,PATCH').",
        ),
        Flag(
            "reject-paths",
            default="^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach",
            help="Regular expression for paths that the proxy should reject.",
        ),
        Flag("unix-socket", "u", help="Unix socket on which to run the proxy."),
        Flag("www", "w", help="Also serve static files from the given directory under the specified prefix."),
        Flag(
            "www-prefix",
            "P",
            default="/static/",
            help="Prefix to serve static files under, if static file directory is specified.",
        ),
    ),
    usage="proxy [--port=PORT] [--www=static-dir] [--www-prefix=prefix] [--api-prefix=prefix] [options]",
    description="Creates a proxy server or application-level gateway between localhost and the Kubernetes API server.",
    examples=(
        "# To proxy all of the Kubernetes API and nothing else\n  kubectl proxy --api-prefix=/",
        "# Run a proxy to the Kubernetes API server on an arbitrary local port\n  kubectl proxy --port=0",
    ),
    group="Troubleshooting and Debugging Commands",
)
