"""``helm`` on the workstation: what it reads of the releases that the cluster keeps in its Secrets.

A release is a Secret of the type ``helm.sh/release.v1`` whose payload is JSON, gzipped, in base64 twice
(``pkg/storage/driver``). Installing and rolling back need charts, which are not here. Texts are those of Helm 3.16.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import io
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import yaml

from sregym_env.cluster.api import Cluster
from sregym_env.cluster.streams import ExecResult
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.status import StatusError
from sregym_env.kube.types import Manifest
from sregym_env.runtime.effort import spend
from sregym_env.runtime.numbers import whole
from sregym_env.shell.commands.arguments import UsageError, options

VERSION = 'version.BuildInfo{Version:"v3.16.4", GitCommit:"7877b45b63f95635153b29a42c0c2f4273ec45ca", GitTreeState:"clean", GoVersion:"go1.22.7"}'
LARGEST = 4 * 1024 * 1024
"""Bytes of a release; more than a Secret can hold compressed at its best is no release."""
COST = 0.1
"""What a byte costs to unpack and read (units of ``runtime/effort.py``)."""
DESIRED = "status in (deployed,failed,pending-install,pending-upgrade,pending-rollback,uninstalling)"

_HELP = """The Kubernetes package manager

Available Commands:
  get         download extended information of a named release
  history     fetch release history
  list        list releases
  status      display the status of the named release
  version     print the client version information

Usage:
  helm [command]
"""
_LONG = {
    "namespace": "n:", "output": "o:", "all-namespaces": "A", "all": "a", "revision": "1:", "max": "2:", "short": "q",
    "help": "h", "filter": "f:", "date": "d", "reverse": "r", "deployed": "3", "failed": "4", "pending": "5",
    "superseded": "6", "uninstalled": "7", "selector": "l:", "kube-context": "8:", "kubeconfig": "9:", "debug": "b",
    "show-resources": "s", "show-desc": "c", "template": "t:", "time-format": "m:", "offset": "0:", "no-headers": "N",
}  # fmt: skip
_READING = ("list", "ls", "status", "history", "hist", "get", "version", "help", "env")
_OTHERS = frozenset(
    "completion create dependency install lint package plugin pull push registry repo rollback search show template test "
    "uninstall upgrade verify".split()
)


class _Failed(Exception):
    """What helm says at its end, after ``Error: ``."""


def helm(cluster: Cluster, namespace: str, argv: Sequence[str], now: int) -> ExecResult:
    """``helm COMMAND ...`` as the user of ``cluster``, whose current namespace is given."""
    words = list(argv[1:])
    verb = words.pop(0) if words else "help"
    if verb in ("help", "-h", "--help"):
        return ExecResult(_HELP)
    if verb in _OTHERS:
        text = f"Error: {verb} is not available on this workstation: there are no charts here (list, status, history and get are)\n"
        return ExecResult(stderr=text, exit_code=1)
    if verb.startswith("-"):
        kind = (
            f"unknown flag: {verb}"
            if verb.startswith("--")
            else f"unknown shorthand flag: '{verb[1:2]}' in {verb}"
        )
        return ExecResult(stderr=f"Error: {kind}\n", exit_code=1)
    if verb not in _READING:
        return ExecResult(
            stderr=f'Error: unknown command "{verb}" for "helm"\nRun \'helm --help\' for usage.\n',
            exit_code=1,
        )
    try:
        given, operands = options(words, "n:o:AahqfdrlL:", _LONG)
    except UsageError as error:
        return ExecResult(stderr=f"Error: {_go_words(str(error), words)}\n", exit_code=1)
    flags = dict(given)
    if "h" in flags:
        return ExecResult(_HELP)
    shape = flags.get("o", "table")
    if shape not in ("table", "json", "yaml"):
        text = f'Error: invalid argument "{shape}" for "-o, --output" flag: invalid format type\n'
        return ExecResult(stderr=text, exit_code=1)
    if verb == "version":
        return ExecResult(f"{VERSION}\n")
    if verb == "env":
        return ExecResult(f'HELM_DRIVER="secret"\nHELM_NAMESPACE="{flags.get("n", namespace)}"\n')
    within = flags.get("n", namespace)
    try:
        if verb in ("list", "ls"):
            if operands:
                raise _Failed('"helm list" accepts no arguments\n\nUsage:  helm list [flags]')
            return ExecResult(_list(cluster, None if "A" in flags else within, flags, shape))
        if verb == "get":
            return ExecResult(_get(cluster, within, operands, flags))
        if len(operands) != 1:
            usage = f"helm {verb} RELEASE_NAME [flags]"
            raise _Failed(f'"helm {verb}" requires 1 argument\n\nUsage:  {usage}')
        found = _releases(cluster, within, f"owner=helm,name={operands[0]}")
        if not found:
            raise _Failed("release: not found")
        if verb == "status":
            return ExecResult(_status(_of_revision(found, flags), shape))
        return ExecResult(_history(found, flags, shape))
    except _Failed as error:
        return ExecResult(stderr=f"Error: {error}\n", exit_code=1)
    except StatusError as error:
        return ExecResult(stderr=f"Error: query: failed to query with labels: {error.message}\n", exit_code=1)


def _go_words(text: str, words: list[str]) -> str:
    """A complaint about options as Go's pflag words it."""
    if text.startswith("invalid option -- "):
        letter = text[-2:-1]
        word = next(
            (word for word in words if word.startswith("-") and letter in word and word[:2] != "--"),
            f"-{letter}",
        )
        return f"unknown shorthand flag: '{letter}' in {word}"
    if text.startswith("unrecognized option "):
        return f"unknown flag: {text.partition(' option ')[2].strip(chr(39)).partition('=')[0]}"
    if text.startswith("option requires an argument -- "):
        return f"flag needs an argument: '{text[-2:-1]}' in -{text[-2:-1]}"
    return (
        text.replace("option ", "flag needs an argument: ")
        .replace(" requires an argument", "")
        .replace("'", "")
    )


def _releases(cluster: Cluster, namespace: str | None, selector: str) -> list[dict[str, Any]]:
    """The releases that can be read, by namespace, name and revision. Raises StatusError."""
    secrets = cluster.list("secrets", namespace, label_selector=selector)
    found = [release for secret in secrets if (release := _decoded(secret)) is not None]
    return sorted(found, key=lambda release: (release["namespace"], release["name"], release["version"]))


def _decoded(secret: Manifest) -> dict[str, Any] | None:
    """What a Secret keeps; None where nobody can read it, as Helm leaves it out then."""
    if secret.get("type") != "helm.sh/release.v1":
        return None
    try:
        packed = base64.b64decode(base64.b64decode((secret.get("data") or {}).get("release", "")))
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as file:
            data = file.read(LARGEST)
        spend(len(data) * COST)
        release = json.loads(data)
    except (ValueError, OSError, EOFError, binascii.Error, RecursionError):
        return None
    if not isinstance(release, dict) or not all(
        isinstance(release.get(k), str) for k in ("name", "namespace")
    ):
        return None
    info, chart = release.get("info"), release.get("chart")
    if not isinstance(release.get("version"), int) or not isinstance(info, dict):
        return None
    if not isinstance(chart, dict) or not isinstance(chart.get("metadata"), dict):
        return None
    return release


def _chart(release: dict[str, Any]) -> tuple[str, str]:
    metadata = release["chart"]["metadata"]
    return f"{metadata.get('name', '')}-{metadata.get('version', '')}", str(metadata.get("appVersion", ""))


def _moment(text: object) -> datetime:
    try:
        return datetime.fromtimestamp(parse_rfc3339(str(text)) // 1_000_000, UTC)
    except (ValueError, OverflowError):
        return datetime(1, 1, 1, tzinfo=UTC)


def _updated(release: dict[str, Any]) -> str:
    """As Go prints a time: with what there is of a second."""
    text = release["info"].get("last_deployed")
    part = re.search(r"\.\d*[1-9]", str(text))
    return f"{_moment(text):%Y-%m-%d %H:%M:%S}{part[0] if part else ''} +0000 UTC"


def _list(cluster: Cluster, namespace: str | None, flags: dict[str, str], shape: str) -> str:
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for release in _releases(cluster, namespace, "owner=helm"):
        newest[release["namespace"], release["name"]] = release
    chosen = [r for r in newest.values() if flags.get("f", "") in r["name"]]
    chosen = sorted(chosen, key=lambda release: (release["name"], release["namespace"]), reverse="r" in flags)
    if "q" in flags:
        return "".join(f"{release['name']}\n" for release in chosen)
    fields = ("name", "namespace", "revision", "updated", "status", "chart", "app_version")
    rows = [
        (
            r["name"],
            r["namespace"],
            str(r["version"]),
            _updated(r),
            str(r["info"].get("status", "")),
            *_chart(r),
        )
        for r in chosen
    ]
    if shape != "table":
        return _document([dict(zip(fields, row, strict=True)) for row in rows], shape)
    heads = ("NAME", "NAMESPACE", "REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION")
    return _table([] if "N" in flags else [heads], rows)


def _history(found: list[dict[str, Any]], flags: dict[str, str], shape: str) -> str:
    most = flags.get("2", "256")
    shown = found[-whole(most, 256, 5) :]
    fields = ("revision", "updated", "status", "chart", "app_version", "description")
    rows = [
        (
            str(r["version"]),
            _moment(r["info"].get("last_deployed")).strftime("%a %b %e %H:%M:%S %Y"),
            str(r["info"].get("status", "")),
            *_chart(r),
            str(r["info"].get("description", "")),
        )
        for r in shown
    ]
    if shape != "table":
        return _document([dict(zip(fields, row, strict=True)) for row in rows], shape)
    return _table([("REVISION", "UPDATED", "STATUS", "CHART", "APP VERSION", "DESCRIPTION")], rows)


def _status(release: dict[str, Any], shape: str) -> str:
    if shape != "table":
        return _document({key: release[key] for key in ("name", "info", "version", "namespace")}, shape)
    last = _moment(release["info"].get("last_deployed")).strftime("%a %b %e %H:%M:%S %Y")
    return (
        f"NAME: {release['name']}\nLAST DEPLOYED: {last}\nNAMESPACE: {release['namespace']}\n"
        f"STATUS: {release['info'].get('status', '')}\nREVISION: {release['version']}\n"
        f"TEST SUITE: None\n{_notes(release)}"
    )


def _notes(release: dict[str, Any]) -> str:
    notes = release["info"].get("notes")
    return f"NOTES:\n{notes}\n" if notes else ""


def _get(cluster: Cluster, namespace: str, operands: list[str], flags: dict[str, str]) -> str:
    what = operands[0] if operands else ""
    if what not in ("values", "manifest", "notes", "metadata", "hooks", "all"):
        if not what:
            return _HELP
        raise _Failed(f'unknown command "{what}" for "helm get"\nRun \'helm get --help\' for usage.')
    if len(operands) != 2:
        raise _Failed(
            f'"helm get {what}" requires 1 argument\n\nUsage:  helm get {what} RELEASE_NAME [flags]'
        )
    found = _releases(cluster, namespace, f"owner=helm,name={operands[1]}")
    if not found:
        raise _Failed("release: not found")
    release = _of_revision(found, flags)
    if what == "values":
        given = release.get("config") or {}
        if "o" in flags and flags["o"] != "table":
            return _document(given or None, flags["o"])
        return (
            f"{'COMPUTED' if 'a' in flags else 'USER-SUPPLIED'} VALUES:\n{_document(given or None, 'yaml')}"
        )
    if what == "metadata":
        chart, version = _chart(release)
        name, _, number = chart.rpartition("-")
        return (
            f"NAME: {release['name']}\nCHART: {name}\nVERSION: {number}\nAPP_VERSION: {version}\n"
            f"NAMESPACE: {release['namespace']}\nREVISION: {release['version']}\n"
            f"STATUS: {release['info'].get('status', '')}\nDEPLOYED_AT: {release['info'].get('last_deployed', '')}\n"
        )
    if what == "notes":
        return _notes(release)
    if what == "hooks":
        return ""
    return f"{release.get('manifest') or ''}\n"


def _of_revision(found: list[dict[str, Any]], flags: dict[str, str]) -> dict[str, Any]:
    asked = flags.get("1", "")
    if not asked or asked == "0":
        return found[-1]
    if not asked.isdecimal():
        raise _Failed(
            f'invalid argument "{asked}" for "--revision" flag: strconv.ParseInt: parsing "{asked}": invalid syntax'
        )
    chosen = next((release for release in found if str(release["version"]) == asked.lstrip("0")), None)
    if chosen is None:
        raise _Failed("release: not found")
    return chosen


def _document(value: Any, shape: str) -> str:
    if shape == "json":
        return f"{json.dumps(value, separators=(',', ':'))}\n"
    text: str = yaml.safe_dump(value, sort_keys=True, default_flow_style=False)
    return text.removesuffix("...\n")


def _table(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> str:
    lines = [*heads, *rows]
    if not lines:
        return ""
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    shown = (
        "\t".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + "\n"
        for line in lines
    )
    return "".join(shown)
