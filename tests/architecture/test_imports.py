"""Imports form no cycle, and they stand at the top of their modules.

An import inside a function, or one that only a type checker reads, counts as any other: whoever wants to understand
the one module has to read the other.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import sregym_env
from sregym_env.worlds.kept import MADE_BY

_QUICK_HELP = "`sregym --help` is there at once: what a command needs takes eight times as long to import"
_CERTIFICATES = (
    "cryptography takes as long to import as a cluster to deploy, and hardly any world has certificates"
)

ALLOWED: Mapping[tuple[str, str], str] = {
    ("sregym_env.envs", "sregym_env.envs.env"): "registering ids loads no simulation",
    ("sregym_env.cli.applications", "sregym_env.cli.checking"): _QUICK_HELP,
    ("sregym_env.cli.commands", "sregym_env.cli.evaluating"): _QUICK_HELP,
    ("sregym_env.cli.commands", "sregym_env.cli.running"): _QUICK_HELP,
    ("sregym_env.cli.commands", "sregym_env.rollouts.runner"): _QUICK_HELP,
    ("sregym_env.rollouts.bulk", "ray.data"): "Ray Data brings pandas; a worker of its own needs neither",
    ("sregym_env.cli.running", "sregym_env.rollouts.ray"): "Ray is an extra, and one process needs none",
    ("sregym_env.cli.main", "sregym_env.cli.judging"): _QUICK_HELP,
    ("sregym_env.cli.main", "sregym_env.cli.listing"): _QUICK_HELP,
    ("sregym_env.cli.main", "sregym_env.cli.model_context"): _QUICK_HELP,
    ("sregym_env.cli.main", "sregym_env.cli.playing"): _QUICK_HELP,
    ("sregym_env.cli.main", "sregym_env.cli.reporting"): _QUICK_HELP,
    ("sregym_env.cli.main", "sregym_env.cli.serving"): _QUICK_HELP,
    ("sregym_env.cli.main", "sregym_env.cli.shortcuts"): _QUICK_HELP,
    ("sregym_env.cli.main", "sregym_env.cli.validation"): _QUICK_HELP,
    ("sregym_env.cli.main", "sregym_env.rollouts.bench"): _QUICK_HELP,
    ("sregym_env.cli.main", "sregym_env.rollouts.validate"): _QUICK_HELP,
    ("sregym_env.cli.datasets", "sregym_env.rollouts"): _QUICK_HELP,
    ("sregym_env.rollouts.dataset.exporters.minari_dataset", "minari"): "an extra, and one exporter of many",
    ("sregym_env.rollouts.dataset.exporters.minari_dataset", "PIL"): "the same",
    ("sregym_env.rollouts.dataset.parquet", "pyarrow"): "an extra",
    ("sregym_env.cli.listing", "sregym_env.envs.tasks.splits"): "of all listings only two need a cluster",
    ("sregym_env.cli.listing", "sregym_env.envs.tasks.suites"): "of all listings only two need a cluster",
    ("sregym_env.adapters.trl", "datasets"): "only who trains with TRL has it",
    ("sregym_env.rollouts.bench", "sregym_env.rollouts.bench.served"): "the server and uvicorn are an extra",
    (
        "sregym_env.rewards.judges",
        "sregym_env.llm.endpoint",
    ): "httpx, which few episodes need, takes longer than the judge",
    (
        "sregym_env.rollouts.policies.llm",
        "sregym_env.llm.endpoint",
    ): "httpx, which most policies do not need, takes longer than they",
    (
        "sregym_env.serve.incident",
        "sregym_env.serve.model_context",
    ): "mcp, which most agents do not need, takes longer to import than the server",
    ("sregym_env.tools.openssl", "cryptography"): _CERTIFICATES,
    ("sregym_env.tools.openssl", "sregym_env.tools.openssl_issuing"): _CERTIFICATES,
    ("sregym_env.cluster.key_pairs", "cryptography"): _CERTIFICATES,
    ("sregym_env.kube.validation.cluster", "cryptography"): _CERTIFICATES,
    ("sregym_env.kube.describe.certificates", "cryptography"): _CERTIFICATES,
    ("sregym_env.sim.apiserver.admission.certificates", "cryptography"): _CERTIFICATES,
    ("sregym_env.sim.controllers.certificates", "cryptography"): _CERTIFICATES,
    ("sregym_env.sim.network.tls", "cryptography"): _CERTIFICATES,
    ("sregym_env.sim.network.pki", "cryptography"): "the published cluster's certificates are constants",
}
"""(module, what it imports inside a function): why."""


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement's reach for one module."""

    target: str
    line: int
    function: str = ""
    """The function it stands in; empty at the top of a module."""


def imports_of(name: str, text: bytes, known: Container[str]) -> list[Import]:
    """What a module imports, wherever in it; ``known`` are the modules of its own package."""
    found = dict.fromkeys(_statements(ast.parse(text).body, name, known, ""))
    return [each for each in found if each.target != name]


def _statements(body: list[ast.stmt], name: str, known: Container[str], function: str) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, function) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name}, line {node.lineno}: imports are absolute here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield Import(inner if inner in known else str(node.module), node.lineno, function)
        else:
            inside = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
            for field in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, field, []), name, known, inside)
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from _statements(part.body, name, known, inside)


def graph_of(root: Path) -> dict[str, list[Import]]:
    """What every module of the package in a folder imports."""
    files = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        files[name] = path
    return {name: imports_of(name, path.read_bytes(), files) for name, path in files.items()}


@lru_cache(maxsize=1)
def graph() -> dict[str, list[Import]]:
    """The imports of the project."""
    return graph_of(Path(sregym_env.__file__).parent)


def cycles(graph: Mapping[str, list[Import]]) -> list[list[str]]:
    """A shortest cycle through every module that is in one, each cycle once, its first module at the end again."""
    edges = {name: sorted({each.target for each in graph[name]} & graph.keys()) for name in sorted(graph)}
    found: dict[frozenset[str], list[str]] = {}
    for name in _cyclic(edges):
        path = _way_back(edges, name)
        found.setdefault(frozenset(path), path)
    return sorted(found.values(), key=lambda path: (len(path), path))


def _cyclic(edges: Mapping[str, list[str]]) -> list[str]:
    """The modules that are left when those that import, or are imported by, nothing left are taken away."""
    left = set(edges)
    while True:
        importing = {name for name in left if left & set(edges[name])}
        imported = {target for name in importing for target in edges[name]}
        if left == importing & imported:
            return sorted(left)
        left = importing & imported


def _way_back(edges: Mapping[str, list[str]], start: str) -> list[str]:
    """A shortest way from a module to itself; only itself where there is none."""
    before: dict[str, str] = {}
    queue = deque([start])
    while queue:
        name = queue.popleft()
        for target in edges[name]:
            if target == start:
                path = [start, name]
                while path[-1] != start:
                    path.append(before[path[-1]])
                return path[::-1]
            if target not in before:
                before[target] = name
                queue.append(target)
    return [start]


def told(path: list[str], graph: Mapping[str, list[Import]]) -> str:
    """A cycle, an import a line."""
    lines = ["an import cycle:"]
    for name, target in pairwise(path):
        step = next(each for each in graph[name] if each.target == target)
        where = f", in {step.function}()" if step.function else ""
        lines.append(f"  {name} imports {target} (line {step.line}{where})")
    return "\n".join(lines)


def test_imports_form_no_cycle() -> None:
    bad = [told(path, graph()) for path in cycles(graph()) if len(path) > 1]
    assert not bad, "\n".join([*bad, "", "Move what both need into a module below them."])


def _reason(name: str, target: str) -> tuple[str, str] | None:
    """The entry of ALLOWED that allows a module an import inside a function."""
    return next((key for key in ALLOWED if key[0] == name and f"{target}.".startswith(f"{key[1]}.")), None)


def test_imports_stand_at_the_top() -> None:
    bad = [
        f"{name}, line {each.line}: {each.function}() imports {each.target}"
        for name, found in graph().items()
        for each in found
        if each.function and _reason(name, each.target) is None
    ]
    assert not bad, "\n".join([*bad, "", "Move them to the top, or say in ALLOWED why not."])


def test_every_exception_is_in_use() -> None:
    used = {_reason(name, each.target) for name, found in graph().items() for each in found if each.function}
    assert not ALLOWED.keys() - used


SOURCES = {
    "__init__": "",
    "top": "from pack import middle\n",
    "middle": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pack.low import thing\n",
    "low": "def thing():\n    try:\n        import pack.deep\n    finally:\n        pass\n",
    "deep": "from pack import middle\nfrom pack import leaf\n",
    "leaf": "import json\n",
}


def test_hidden_cycles_are_found(tmp_path: Path) -> None:
    """A type checker's import, one inside a function and an ordinary one."""
    root = tmp_path / "pack"
    root.mkdir()
    for name, text in SOURCES.items():
        (root / f"{name}.py").write_text(text)
    graph = graph_of(root)
    (path,) = cycles(graph)
    assert path == ["pack.deep", "pack.middle", "pack.low", "pack.deep"]
    assert told(path, graph).splitlines()[1:] == [
        "  pack.deep imports pack.middle (line 1)",
        "  pack.middle imports pack.low (line 3)",
        "  pack.low imports pack.deep (line 3, in thing())",
    ]


def test_what_is_kept_of_worlds_belongs_to_all_that_makes_them() -> None:
    """A change of anything that a base world follows from makes files on disk those of other sources."""
    met: set[str] = set()
    open_ = ["sregym_env.worlds.lived", "sregym_env.apps"]
    while open_:
        name = open_.pop()
        if name not in met:
            met.add(name)
            open_ += [each.target for each in graph().get(name, ())]
    parts = {name.split(".")[1] for name in met if name.startswith("sregym_env.")}
    assert parts <= {part.removesuffix(".py") for part in MADE_BY}, sorted(parts)
