"""``kubectl port-forward``: local ports of the workstation behind which ports of a pod are."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.kube.types import Manifest
from sregym_env.runtime.numbers import is_whole, whole
from sregym_env.tools.kubectl.attach import ATTACHED_SECONDS, POD_RUNNING_TIMEOUT, SLOW_LOOK_SECONDS
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.desk import Desk, Forward
from sregym_env.tools.kubectl.errors import failure, usage_failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.resolve import get_object, one_pod, targets

LARGEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class _Pair:
    local: int
    remote: int


def run(call: Call) -> None:
    """Listen on local ports and forward what comes to a pod; in the background the ports stay open."""
    if len(call.args) < 2:
        raise usage_failure("TYPE/NAME and list of ports are required for port-forward", "port-forward")
    word, *ports = call.args
    pod = one_pod(call, word)
    if "/" in word:
        target = targets(call, [word])[0]
        if target.resource.key == "services":
            ports = [_of_service(port, get_object(call, target), pod) for port in ports]
    ports = [_numbered(port, pod) for port in ports]
    phase = (pod.get("status") or {}).get("phase", "")
    if phase != "Running":
        raise failure(f"unable to forward port because pod is not running. Current status={phase}")
    pairs = [_pair(port) for port in ports]
    if call.desk is None:
        raise failure(f"unable to listen on any of the requested ports: {_shown(pairs)}")
    opened = _listen(call, call.desk, pod, pairs)
    if not call.desk.detached:
        _stay(call, call.desk, opened)


def _listen(call: Call, desk: Desk, pod: Manifest, pairs: list[_Pair]) -> list[int]:
    addresses = _addresses(call)
    metadata = pod["metadata"]
    opened: list[int] = []
    for pair in pairs:
        forward = Forward(metadata["namespace"], metadata["name"], pair.remote, metadata["uid"])
        try:
            port = desk.listen(pair.local, forward)
        except OSError as error:
            shown = " ".join(
                f"unable to create listener: Error listen {family} {address}:{pair.local}: bind: {error}"
                for family, address in addresses
            )
            call.warn(
                f"Unable to listen on port {pair.local}: Listeners failed to create with the following errors: [{shown}]"
            )
            continue
        opened.append(port)
        for _, address in addresses:
            call.print(f"Forwarding from {address}:{port} -> {pair.remote}\n")
    if not opened:
        raise failure(f"unable to listen on any of the requested ports: {_shown(pairs)}")
    return opened


def _stay(call: Call, desk: Desk, opened: list[int]) -> None:
    """Stay in the foreground for as long as that makes sense."""
    stayed = 0.0
    try:
        while stayed < ATTACHED_SECONDS:
            call.advance(SLOW_LOOK_SECONDS)
            stayed += SLOW_LOOK_SECONDS
    finally:
        for port in opened:
            desk.close(port)
    call.warn(
        f"port-forward closed after {ATTACHED_SECONDS:.0f}s; run it in the background (&) to use its ports"
    )


def _shown(pairs: list[_Pair]) -> str:
    return "[" + " ".join(f"{{{pair.local} {pair.remote}}}" for pair in pairs) + "]"


def _addresses(call: Call) -> list[tuple[str, str]]:
    """(network, address) of every address to listen on. Raises kubectl's complaint about one that is none."""
    found: list[tuple[str, str]] = []
    for word in call.flags["address"] or ("localhost",):
        if word == "localhost":
            found += [("tcp4", "127.0.0.1"), ("tcp6", "[::1]")]
        elif word.replace(".", "").isdecimal() and word.count(".") == 3:
            found.append(("tcp4", word))
        elif ":" in word:
            found.append(("tcp6", f"[{word}]"))
        else:
            raise failure(f"{word} is not a valid IP")
    return found


# --- which ports ------------------------------------------------------------------------------------


def _split(port: str) -> tuple[str, str]:
    """(local, remote) of ``8080:80``, ``80``, ``:80``; the local part is empty for any free port."""
    parts = port.split(":")
    return (parts[0], parts[1]) if len(parts) > 1 else (port, port)


def _pair(port: str) -> _Pair:
    local, remote = _split(port)
    numbers = []
    for name, text in (("local", local or "0"), ("remote", remote)):
        if not is_whole(text):
            raise failure(
                f"error parsing {name} port '{text}': strconv.ParseUint: parsing \"{text}\": invalid syntax"
            )
        number = whole(text)
        if number is None or number > LARGEST_PORT:
            raise failure(
                f"error parsing {name} port '{text}': strconv.ParseUint: parsing \"{text}\": value out of range"
            )
        numbers.append(number)
    if numbers[1] == 0:
        raise failure("remote port must be > 0")
    return _Pair(*numbers)


def _of_service(port: str, service: Manifest, pod: Manifest) -> str:
    """The port of the pod that a port of a Service leads to."""
    local, remote = _split(port)
    name, spec = service["metadata"]["name"], service["spec"]
    ports = spec.get("ports") or ()
    if is_whole(remote):
        found = next((known for known in ports if known["port"] == whole(remote)), None)
        if found is None:
            raise failure(f"Service {name} does not have a service port {remote}")
    else:
        found = next((known for known in ports if known.get("name") == remote), None)
        if found is None:
            raise failure(f"Service '{name}' does not have a named port '{remote}'")
    if spec.get("clusterIP") == "None":
        # A headless Service translates no ports, so kubectl takes the Service's for the pod's.
        target: object = found["port"]
    else:
        target = found.get("targetPort") or found["port"]
    number = str(target) if isinstance(target, int) else str(_container_port(pod, str(target)))
    # Without a local port of its own the Service's is used.
    if ":" not in port:
        local = str(found["port"])
    return number if local == number else f"{local}:{number}"


def _numbered(port: str, pod: Manifest) -> str:
    """The port with the number of a named container port."""
    local, remote = _split(port)
    if not remote or remote.isdecimal():
        return port
    number = _container_port(pod, remote)
    if ":" not in port:
        return str(number)
    return f"{local}:{number}"


def _container_port(pod: Manifest, name: str) -> int:
    for container in pod["spec"]["containers"]:
        for port in container.get("ports") or ():
            if port.get("name") == name:
                return int(port["containerPort"])
    raise failure(f"Pod '{pod['metadata']['name']}' does not have a named port '{name}'")


VERB = Verb(
    "port-forward",
    "Forward one or more local ports to a pod",
    run,
    flags=(
        Flag(
            "address",
            kind="csv",
            help="Addresses to listen on (comma separated). Only accepts IP addresses or localhost as a value. When "
            "localhost is supplied, kubectl will try to bind on both 127.0.0.1 and ::1 and will fail if neither of "
            "these addresses are available to bind.",
        ),
        POD_RUNNING_TIMEOUT,
    ),
    usage="port-forward TYPE/NAME [options] [LOCAL_PORT:]REMOTE_PORT [...[LOCAL_PORT_N:]REMOTE_PORT_N]",
    description="Forward one or more local ports to a pod.",
    examples=(
        "# Listen on ports 5000 and 6000 locally, forwarding data to/from ports 5000 and 6000 in the pod\n"
        "  kubectl port-forward pod/mypod 5000 6000",
        '# Listen on port 8443 locally, forwarding to the targetPort of the service\'s port named "https"\n'
        "  kubectl port-forward service/myservice 8443:https",
    ),
    group="Troubleshooting and Debugging Commands",
)
