"""``kubectl create configmap`` and ``secret``: data from literals, files and environment files."""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Iterator

from sregym_env.cluster.key_pairs import pair_problem
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_compact_json
from sregym_env.shell.files import readable
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.create.generator import COMMON, Generator, verb
from sregym_env.tools.kubectl.errors import failure
from sregym_env.tools.kubectl.flags import Flag

_KEY = re.compile(r"[-._a-zA-Z0-9]+\Z")
_ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*\Z")
_HASH_LETTERS = str.maketrans("013ae", "ghkmt")


def _data(call: Call, kind: str) -> dict[str, str]:
    flags = call.flags
    if flags["from-env-file"] and (flags["from-file"] or flags["from-literal"]):
        raise failure("from-env-file cannot be combined with from-file or from-literal")
    data: dict[str, str] = {}
    for source in (_literals, _files, _environments):
        for key, value in source(call):
            if not _KEY.match(key):
                raise failure(
                    f'"{key}" is not a valid key name for a {kind}: a valid config key must consist of '
                    "alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', "
                    "regex used for validation is '[-._a-zA-Z0-9]+')"
                )
            if key in data:
                name = call.args[0]
                raise failure(
                    f'cannot add key "{key}", another key by that name already exists in Data for {kind} "{name}"'
                )
            data[key] = value
    return dict(sorted(data.items()))


def _literals(call: Call) -> Iterator[tuple[str, str]]:
    for literal in call.flags["from-literal"]:
        key, equals, value = literal.partition("=")
        if not equals or not key:
            raise failure(f"invalid literal source {literal}, expected key=value")
        yield key, value


def _files(call: Call) -> Iterator[tuple[str, str]]:
    for source in call.flags["from-file"]:
        key, equals, path = source.partition("=")
        if not equals:
            key, path = posixpath.basename(source), source
        elif not key:
            raise failure(f"key name for file path {path} missing")
        elif not path:
            raise failure(f"file path for key name {key} missing")
        directory = () if call.files is None else call.files.list_files(path)
        if not directory:
            yield key, read(call, path, "error reading {path}: no such file or directory")
        elif equals:
            raise failure("cannot give a key name for a directory path")
        else:
            for file in directory:
                full = file if "/" in file else posixpath.join(path, file)
                yield posixpath.basename(file), read(call, full, "error reading {path}")


def _environments(call: Call) -> Iterator[tuple[str, str]]:
    for path in call.flags["from-env-file"]:
        for line in read(call, path, "error reading {path}: no such file or directory").splitlines():
            stripped = line.lstrip()
            if not stripped or stripped.startswith("#"):
                continue
            key, equals, value = stripped.partition("=")
            if not _ENV_NAME.match(key):
                raise failure(
                    f'"{key}" is not a valid key name: a valid environment variable name must consist of alphabetic '
                    "characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or "
                    "'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"
                )
            # A bare name takes the value of the caller's own environment, which holds nothing of interest.
            yield key, value if equals else ""


def read(call: Call, path: str, complaint: str) -> str:
    """A file's text. Raises ``complaint`` with its ``{path}`` filled in."""
    try:
        if call.files is None:
            raise FileNotFoundError(path)
        return readable(call.files.read_text(path))
    except OSError:
        raise failure(complaint.format(path=path)) from None


def _hashed(call: Call, name: str, kind: str, body: Manifest) -> Manifest:
    """The body with a name that ends in a hash of the content, where ``--append-hash`` asks for it."""
    if not call.flags["append-hash"]:
        return body
    content: Manifest = {
        "kind": kind,
        "name": name,
        "data": body.get("data", "" if kind == "ConfigMap" else {}),
    }
    if kind == "Secret":
        content["type"] = body.get("type", "")
    digest = hashlib.sha256(to_compact_json(content).encode()).hexdigest()[:10]
    return {**body, "metadata": {"name": f"{name}-{digest.translate(_HASH_LETTERS)}"}}


def _configmap(call: Call, name: str) -> Manifest:
    data = _data(call, "ConfigMap")
    return _hashed(call, name, "ConfigMap", {"data": data} if data else {})


def _encoded(data: dict[str, str]) -> dict[str, str]:
    return {key: base64.b64encode(value.encode()).decode() for key, value in sorted(data.items())}


def _generic(call: Call, name: str) -> Manifest:
    data = _encoded(_data(call, "Secret"))
    body: Manifest = {"data": data} if data else {}
    if call.flags["type"]:
        body["type"] = call.flags["type"]
    return _hashed(call, name, "Secret", body)


def _tls(call: Call, name: str) -> Manifest:
    if not call.flags["cert"] or not call.flags["key"]:
        raise failure("key and cert must be specified")
    unreadable = "Cannot read file {path}, open {path}: no such file or directory"
    certificate = read(call, call.flags["cert"], unreadable)
    key = read(call, call.flags["key"], unreadable)
    problem = pair_problem(certificate, key)
    if problem:
        raise failure(problem)
    data = _encoded({"tls.crt": certificate, "tls.key": key})
    return _hashed(call, name, "Secret", {"type": "kubernetes.io/tls", "data": data})


def _registry(call: Call, name: str) -> Manifest:
    flags = call.flags
    user, password = flags["docker-username"], flags["docker-password"]
    if not flags["from-file"] and not (user and password):
        raise failure(
            "either --from-file or the combination of --docker-username, --docker-password and "
            "--docker-server is required"
        )
    if flags["from-file"]:
        data = _data(call, "Secret")
        # kubectl takes a single file of any name for the configuration itself.
        if len(data) == 1:
            data = {".dockerconfigjson": next(iter(data.values()))}
    else:
        entry = {"username": user, "password": password}
        if flags["docker-email"]:
            entry["email"] = flags["docker-email"]
        entry["auth"] = base64.b64encode(f"{user}:{password}".encode()).decode()
        text = json.dumps({"auths": {flags["docker-server"]: entry}}, separators=(",", ":"))
        data = {".dockerconfigjson": text}
    body = {"type": "kubernetes.io/dockerconfigjson", "data": _encoded(data)}
    return _hashed(call, name, "Secret", body)


_HASH = Flag("append-hash", kind="bool", help="Append a hash of the object to its name.")
_DATA = (
    Flag("from-file", kind="strings", help="Key file can be specified using its file path."),
    Flag("from-literal", kind="strings", help="Specify a key and literal value to insert."),
    Flag("from-env-file", kind="strings", help="Specify the path to a file to read lines of key=val pairs."),
    _HASH,
)

CONFIGMAP = verb(
    "configmap",
    "Create a config map from a local file, directory or literal value",
    Generator("configmaps", _configmap, "configmap:"),
    *_DATA,
    aliases=("cm",),
    usage="create configmap NAME [--from-file=[key=]source] [--from-literal=key1=value1] [--dry-run=server|client|none]",
)
SECRET = Verb(
    "secret",
    "Create a secret using a specified subcommand",
    description=(
        "Create a secret with specified type.\n\n"
        " A docker-registry type secret is for accessing a container registry.\n\n"
        " A generic type secret indicate an Opaque secret type.\n\n"
        " A tls type secret holds TLS certificate and its associated key."
    ),
    usage="create secret (docker-registry | generic | tls)",
    verbs=(
        Verb(
            "docker-registry",
            "Create a secret for use with a Docker registry",
            Generator("secrets", _registry, "secret"),
            (
                *COMMON,
                _HASH,
                Flag("from-file", kind="strings", help="Key files can be specified using their file path."),
                Flag("docker-server", default="https://index.docker.io/v1/", help="Server location."),
                Flag("docker-username", help="Username for Docker registry authentication"),
                Flag("docker-password", help="Password for Docker registry authentication"),
                Flag("docker-email", help="Email for Docker registry"),
            ),
            usage="create secret docker-registry NAME --docker-username=user --docker-password=password "
            "--docker-email=email [--docker-server=string] [--from-file=[key=]source] "
            "[--dry-run=server|client|none]",
        ),
        Verb(
            "generic",
            "Create a secret from a local file, directory, or literal value",
            Generator("secrets", _generic, "secret"),
            (*COMMON, *_DATA, Flag("type", help="The type of secret to create")),
            usage="create secret generic NAME [--type=string] [--from-file=[key=]source] "
            "[--from-literal=key1=value1] [--dry-run=server|client|none]",
        ),
        Verb(
            "tls",
            "Create a TLS secret",
            Generator("secrets", _tls, "secret"),
            (
                *COMMON,
                _HASH,
                Flag("cert", help="Path to PEM encoded public key certificate."),
                Flag("key", help="Path to private key associated with given certificate."),
            ),
            usage="create secret tls NAME --cert=path/to/cert/file --key=path/to/key/file "
            "[--dry-run=server|client|none]",
        ),
    ),
)
