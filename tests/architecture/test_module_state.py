"""State belongs to an environment: modules and classes keep nothing but caches of pure values.

Three looks at it: no function changes what a module or a class holds, except the caches that are listed here
with the reason why they are none of a world's business; whatever else is held is of an immutable type; and
after episodes have been played every container that is held is as it was.
"""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env import SREGymEnv
from sregym_env.rollouts.policies import ExpertPolicy, RandomPolicy
from tests.architecture.modulestate import (
    CONTAINERS,
    caches,
    changes,
    changes_of,
    held,
    is_value,
    key,
    plain_type,
)

CHANGED = {
    "deploy._clusters": "settled worlds, made of (variant) alone and never written to",
    "deploy._settled": "settled worlds, made of (application, variant) alone and never written to",
    "lived._bases": "base worlds, made of (application, number) alone and never written to",
    "garbage._deferring": "how many threads make worlds, for whom the process's collector waits; behind a lock",
    "garbage._was_enabled": "whether that collector was at work before",
    "staging._staged": "staged problems, made of (problem, variant, mode) alone and never played in; behind a lock",
    "held._known": "locks of folders that this process writes to, which are the process's; gone with their writers",
    "inferred._shown": "what clients see of an object, by the object's identity, which is kept beside it",
    "inferred._presented": "the same",
    "registry._custom_cache": "resources of a definition, by the identity of its spec, which is kept beside it",
    "registry._registry_cache": "the registry of a list of definitions, by its identity; the list is kept beside it",
    "resources._requests_memo": "requests of a pod, checked by the identity of its spec",
    "schema._structs": "compiled definitions of the packaged schema, by name",
    "schema._types": "compiled types of the packaged schema, by name",
    "schema._cleaners": "decoders of the packaged schema's types, by name",
    "shape._built": "shapes of the packaged schema's types, by name",
    "functions.BUILTINS": "jq's functions, added by decorators while the module is imported",
    "functions.PATHS": "the same",
    "elsewhere.sys": "a program of its own, run to measure another checkout",
}
"""What functions change, and why that is no state."""

HELD = {
    "Registry": "never changed once made",
    "Shape": "a type of the packaged schema, which fills in the types of its fields when they are asked for",
    "DerivedFrom": "a cache by identity, safe under threads",
    "DerivedFromEach": "a cache by identity, safe under threads",
    "DerivedWith": "a cache by identity, safe under threads",
    "_Removed": "a constant without fields",
    "Printed": "a constant without fields",
    "Schema": "pyarrow's columns of a table, which never change",
    "WeakValueDictionary": "locks of folders that this process writes to",
    "Typer": "the command line's own declaration",
    "ContextVar": "what an action may cost, known to the thread that carries it out alone",
    "NormalDist": "a constant",
    "lock": "guards the staged problems, and who has the collector wait",
}
"""Classes of what is held besides plain values, and why that is no state."""

REMEMBERED = {
    # Data of the applications, the packaged schema and tables of functions, read or put together once.
    "apps._in_folders", "apps._installed", "components._reached", "data.geo", "data.numbers", "data.profiles", "data.rates", "data.recommendations",
    "data.reservations", "data.users", "goorder._order", "inferred._zeros", "library.library", "node_files.below",
    "node_files.machine_files", "protobuf._table", "schema._descriptions", "schema._structure", "services.services",
    # The labelled diagnoses' data, behind read-only views.
    "lines.frames", "lines.wordings", "specs.specs",
    # What is installed beside this package, and what the healthy worlds of applications hold.
    "pairs.inventory_of",
    # Address ranges, which never change.
    "allocation._network",
    # Compiled programs: evaluation keeps its state apart from them.
    "awk._parsed", "backtracking._compiled", "cel._compiled", "columns.parse_columns", "custom._compiled", "globs._around",
    "globs.expression", "gotemplate.compile_go_template", "grep._matcher", "javascript._linear",
    "jsonpath.compile_template", "patterns.compiled", "posix.compiled", "proxy._rejected", "regexes.compiled",
    "sed_syntax.parsed", "selecting._pattern", "series.compiled", "strings._compiled", "syntax.parsed",
    # The fields of a class.
    "frozen._fields", "mould._blank", "mould._constructed", "mould._tuples",
    # Follows from a registry, which never changes.
    "discovery.aggregated", "discovery.group", "discovery.groups", "discovery.resources", "matching._others",
    "openapi.document", "openapi.index", "openapi2.document", "paths.parse", "registry.without_group",
    # Grids of numbers, which cannot be written to.
    "law.centres", "law.edges", "wrk2._mixture",
    # Values of classes that are not frozen by declaration, but never changed.
    "cronjob._zone", "fields.order", "flagd._parsed", "flags.flag_set", "images._names", "names._names", "services._network",
    "key_pairs._mismatch", "key_pairs.certificates", "keys._primes", "keys.ec_key", "keys.ed25519_key", "keys.rsa_key",
    "tls._unsigned", "tls.facts",
    # What a text says, whatever it is compared with.
    "case._implied", "free_text._read", "names._found",
    # A folder of this machine's, which is there.
    "kept._folder",
    # Files that servers read at their start, which nobody changes.
    "yaml_files.document",
}  # fmt: skip
"""Functions with a cache whose arguments or results are not immutable by their declared types."""


def test_no_function_changes_what_modules_and_classes_hold() -> None:
    found = {(change.key, change.module, change.line) for change in changes()}
    assert sorted(place for place in found if place[0] not in CHANGED) == []
    assert sorted(set(CHANGED) - {key for key, *_ in found}) == [], "listed, but nothing changes them"


def test_modules_and_classes_hold_values() -> None:
    found = {
        (type(value).__name__, key(module, name))
        for module, name, value in held()
        if not is_value(value) and not isinstance(value, CONTAINERS)
    }
    assert sorted(place for place in found if place[0] not in HELD) == []
    assert sorted(set(HELD) - {kind for kind, _ in found}) == [], "listed, but nothing holds one"


def test_caches_are_of_pure_values() -> None:
    found = {
        key(module, name)
        for module, name, types in caches()
        if not all(plain_type(hint) for hint in types.values())
    }
    assert sorted(found - REMEMBERED) == []
    assert sorted(REMEMBERED - found) == [], "listed, but there is no such cache"


def containers() -> dict[str, str]:
    """What every container that modules and classes hold says of itself."""
    return {
        f"{module}.{name}": repr(value)
        for module, name, value in held()
        if isinstance(value, CONTAINERS) and key(module, name) not in CHANGED
    }


def test_episodes_leave_every_module_as_it_was() -> None:
    before = containers()
    for policy, problem in (
        (ExpertPolicy(), "revoke_auth_mongodb-1"),
        (RandomPolicy(30), "latent_sector_error"),
    ):
        env = SREGymEnv(problem=problem, noise=True, raise_errors=True)
        observation, info = env.reset(seed=1)
        policy.begin(env, observation, 1)
        over = False
        while not over:
            observation, _, terminated, truncated, info = env.step(policy.act(observation, info))
            over = terminated or truncated
    after = containers()
    assert [name for name in before if before[name] != after[name]] == []


MUTABLE = """
from itertools import count
import other

_known = {}
_number = 0
_counts = [0]
LISTED: list[int] = []
_next = count()

class Budget:
    left = 0
    seen = []
    fields: dict[str, int] = {}

    def spend(self):
        Budget.left -= 1
        self.seen.append(1)
        self.own = []
        self.own.append(2)

    @classmethod
    def more(cls):
        cls.left = 9

    def less(self):
        type(self).left = 3
        def inner():
            other.patched = 1
        return inner

def a(x, known={}):
    global _number
    _known[x] = 1
    known[x] = 2
    local = {}
    local[x] = [y.append(1) for y in x]
    LISTED.sort()
    for _counts[0] in x:
        setattr(Budget, "left", 1)

async def b(_known):
    _known["local"] = 1
    (one, LISTED[0]), *rest = x
    del other.registry["y"]
    lambda LISTED: LISTED.append(1)
"""


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("_known", 1), ("_number", 1), ("_counts", 1), ("LISTED", 2), ("Budget", 2), ("Budget.seen", 1),
        ("Budget.left", 2), ("other", 2), ("known", 0), ("local", 0), ("Budget.fields", 0), ("Budget.own", 0),
        ("y", 0),
    ],
)  # fmt: skip
def test_the_reading_finds_what_is_changed(name: str, times: int) -> None:
    found: list[str] = changes_of(MUTABLE)
    assert found.count(name) == times, found


@pytest.mark.parametrize("value", [iter([]), bytearray, SREGymEnv, (1, ("a", None)), frozenset({1}), len])
def test_plain_values_and_code_are_no_state(value: Any) -> None:
    assert is_value(value) is (type(value).__name__ != "list_iterator")
