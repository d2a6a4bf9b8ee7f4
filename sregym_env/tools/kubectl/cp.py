"""``kubectl cp``: files between the workstation and containers, carried by ``tar`` in the container."""

from __future__ import annotations

import io
import posixpath
import tarfile
from dataclasses import dataclass

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.files import MAX_BYTES, decoded, encoded
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.desk import Desk
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.execute import execute
from sregym_env.tools.kubectl.flags import Flag

_FORMAT = "filespec must match the canonical format: [[namespace/]pod:]file/path"


@dataclass(frozen=True, slots=True)
class _Spec:
    """One side of a copy; without a pod it is a local file."""

    path: str
    pod: str = ""
    namespace: str = ""


def run(call: Call) -> None:
    """Copy a file or directory to or from a container."""
    if len(call.args) != 2:
        raise failure("source and destination are required")
    source, target = (_spec(word) for word in call.args)
    if source.pod and target.pod:
        raise failure("one of src or dest must be a local file specification")
    if not source.path or not target.path:
        raise failure("filepath can not be empty")
    desk = call.desk
    if desk is None:
        raise failure("no files can be written here")
    if source.pod:
        _from_pod(call, desk, source, target)
    elif target.pod:
        _to_pod(call, desk, source, target)
    else:
        raise failure("one of src or dest must be a remote file specification")


def _spec(word: str) -> _Spec:
    pod, colon, path = word.partition(":")
    if not colon:
        return _Spec(_unslashed(word))
    pieces = pod.split("/")
    if not pod or len(pieces) > 2:
        raise failure(_FORMAT)
    return _Spec(_unslashed(path), pieces[-1], pieces[0] if len(pieces) == 2 else "")


def _unslashed(path: str) -> str:
    return path[:-1] if len(path) > 1 and path.endswith("/") else path


# --- to a pod ---------------------------------------------------------------------------------------


def _to_pod(call: Call, desk: Desk, source: _Spec, target: _Spec) -> None:
    local, remote = source.path, target.path
    files = _local_files(desk, local)
    if files is None:
        raise failure(f"{local} doesn't exist in local filesystem")
    probe = execute(call, target.pod, ["test", "-d", remote], namespace=target.namespace, quiet=True)
    if probe.exit_code == 0:
        remote = posixpath.join(remote, posixpath.basename(posixpath.normpath(local)))
    command = ["tar", "-xmf", "-", "-C", posixpath.dirname(remote) or "."]
    if call.flags["no-preserve"]:
        command[1:1] = ["--no-same-permissions", "--no-same-owner"]
    archive = _packed(files, posixpath.basename(remote))
    result = execute(call, target.pod, command, stdin=decoded(archive), namespace=target.namespace)
    call.print(result.stdout)
    _end(call, result)


def _local_files(desk: Desk, path: str) -> list[tuple[str, bytes | None]] | None:
    """(relative path, content) of what is copied; an empty path is the file or directory itself."""
    if desk.is_directory(path):
        return [("", None), *desk.walk(path)]
    try:
        return [("", desk.read_bytes(path))]
    except OSError:
        return None


def _packed(files: list[tuple[str, bytes | None]], name: str) -> bytes:
    """An archive as kubectl writes it: directories only where they are empty."""
    made = io.BytesIO()
    full = {posixpath.dirname(path) for path, _ in files if path}
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in files:
            info = tarfile.TarInfo(posixpath.join(name, path) if path else name)
            if data is not None:
                info.size, info.mode = len(data), 0o644
                archive.addfile(info, io.BytesIO(data))
            elif path not in full:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(info)
    return made.getvalue()


# --- from a pod -------------------------------------------------------------------------------------


def _from_pod(call: Call, desk: Desk, source: _Spec, target: _Spec) -> None:
    command = ["tar", "cf", "-", source.path]
    if call.flags["retries"]:
        command = ["sh", "-c", f"tar cf - {source.path} | tail -c+1"]
    result = execute(call, source.pod, command, namespace=source.namespace, notes=call.out)
    data = encoded(result.stdout)
    if not data:
        # kubectl ends with the command's failure when there is nothing to unpack.
        call.out.append(result.stderr)
        _end(call, ExecResult("", "", result.exit_code))
        return
    call.out.append(result.stderr)
    prefix = posixpath.normpath(source.path.strip("/"))
    while prefix.startswith("../"):
        prefix = prefix[3:]
    prefix = "" if prefix in (".", "..", "/") else prefix
    _unpack(call, desk, source, target.path, prefix, data)


def _unpack(call: Call, desk: Desk, source: _Spec, local: str, prefix: str, data: bytes) -> None:
    warned = False
    try:
        # Without compression, as kubectl reads it: so an archive from a pod cannot explode.
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for info in archive:
                name = info.name.removeprefix("./")
                if not name.startswith(prefix):
                    raise failure("tar contents corrupted")
                inner = name[len(prefix) :].lstrip("/")
                path = posixpath.normpath(posixpath.join(local, inner)) if inner else local
                if ".." in inner.split("/"):
                    call.warn(f'warning: file "{path}" is outside target destination, skipping')
                elif info.issym():
                    _skip_link(call, source, path, info.linkname, warned)
                    warned = True
                else:
                    _place(desk, archive, info, path)
    except (tarfile.TarError, EOFError, ValueError, OverflowError) as error:
        raise failure(str(error) or "unexpected EOF") from None


def _skip_link(call: Call, source: _Spec, path: str, link: str, warned: bool) -> None:
    text = f'warning: skipping symlink: "{path}" -> "{link}"'
    if not warned:
        namespace = source.namespace or call.namespace
        text += f' (consider using "kubectl exec -n "{namespace}" "{source.pod}" -- tar cf - "{source.path}" | tar xf -")'
    call.warn(text)


def _place(desk: Desk, archive: tarfile.TarFile, info: tarfile.TarInfo, path: str) -> None:
    if info.isdir():
        desk.make_directories(path)
        return
    parent = posixpath.dirname(path)
    if parent:
        desk.make_directories(parent)
    if desk.is_directory(path):
        raise failure(f"open {path}: is a directory")
    opened = archive.extractfile(info)
    try:
        desk.write_bytes(path, b"" if opened is None else opened.read(MAX_BYTES))
    except OSError:
        raise failure(f"open {path}: no space left on device") from None


def _end(call: Call, result: ExecResult) -> None:
    """Tell of a command that failed in the container."""
    if result.stderr:
        call.complain(result.stderr)
    if result.exit_code:
        raise KubectlError(f"command terminated with exit code {result.exit_code}", result.exit_code)


VERB = Verb(
    "cp",
    "Copy files and directories to and from containers",
    run,
    flags=(
        f.CONTAINER,
        Flag(
            "no-preserve",
            kind="bool",
            help="The copied file/directory's ownership and permissions will not be preserved in the container",
        ),
        Flag(
            "retries",
            kind="int",
            help="Set number of retries to complete a copy operation from a container. Specify 0 to disable or any "
            "negative value for infinite retrying. The default is 0 (no retry).",
        ),
    ),
    usage="cp <file-spec-src> <file-spec-dest> [options]",
    description="Copy files and directories to and from containers.",
    examples=(
        "# Copy /tmp/foo_dir local directory to /tmp/bar_dir in a remote pod in the default namespace\n"
        "  kubectl cp /tmp/foo_dir <some-pod>:/tmp/bar_dir",
        "# Copy /tmp/foo from a remote pod to /tmp/bar locally\n"
        "  kubectl cp <some-namespace>/<some-pod>:/tmp/foo /tmp/bar",
    ),
    group="Troubleshooting and Debugging Commands",
)
