"""Sessions are values: they can be pickled, copied and forked, share nothing, and change no library."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence

import pytest

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.files import Files
from sregym_env.shell.session import Session
from sregym_env.shell.shell import Shell

PREPARED = (
    "x=1; export y=2; a=(p q); declare -A m=([k]=v); declare -i n=4; readonly r=5; f() { echo f$1; }; alias ll='echo L';"
    "set -o pipefail; shopt -s nullglob; cd /tmp; trap 'echo t' ERR; set -- one two; echo text > note; RANDOM=7"
)
ASKED = (
    "echo $x $y ${a[1]} ${m[k]} $n $r $1 $#; f 3; bash -c 'echo \"$y\"'; echo nothing*; pwd; cat note; trap; "
    "false | true; echo $?; echo $RANDOM\nll"
)


def tell(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    return ExecResult(f"{' '.join(argv)}|{stdin}")


def clock() -> float:
    return 5.0


def made() -> Shell:
    shell = Shell(Files({"/etc/f": "1\n"}), {"tell": tell}, env={"PATH": "/bin"}, seed=3, clock=clock)
    shell.run(PREPARED)
    return shell


@pytest.mark.parametrize(
    "duplicate",
    [copy.deepcopy, lambda shell: pickle.loads(pickle.dumps(shell)), Shell.fork],
    ids=["deep", "pickle", "fork"],
)
def test_a_duplicate_goes_on_where_the_session_stood(duplicate: object) -> None:
    shell = made()
    twin = duplicate(shell)  # type: ignore[operator]
    shell.run(
        "x=9; a[1]=z; m[k]=w; f() { echo g; }; unset y; unalias ll; cd /; rm /tmp/note; set --; trap - ERR"
    )
    expected = made().run(ASKED)
    assert expected.stdout.startswith("1 2 q v 4 5 one 2\nf3\n2\n\n/tmp\ntext\n")
    assert twin.run(ASKED) == expected
    assert twin.run("tell a b", "in").stdout == "tell a b|in"


def test_what_a_session_is_does_not_depend_on_how_it_came_to_be() -> None:
    one, other = made(), made()
    assert repr(one.state) == repr(other.state)
    assert one.state == pickle.loads(pickle.dumps(other.state)) != Session({}, "/", "bash", 0, 0.0)
    code = (
        "from tests.shell.test_sessions import made; from hashlib import sha1; "
        "print(sha1(repr(made().state).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


class _Jobs:
    """Counts what goes on in the background."""

    def __init__(self) -> None:
        self.started = 0

    def begin(self) -> None:
        self.started += 1

    def end(self, command: str, exit_code: int, output: str) -> int:
        return 100 + self.started

    def wait(self, words: list[str]) -> tuple[int, str]:
        return self.started, ""


BUSY = (
    "for i in 1 2 3; do echo $RANDOM; done; printf 'a\\nb\\nc\\n' | while read l; do echo $l$RANDOM; done; "
    "echo x & echo $!; wait; echo $?; (trap 'echo bye' EXIT; echo in); head -1 <<< $'1\\n2'; v=$(seq 30 | sort -n | tail -1); "
    "echo $v ${PIPESTATUS[@]}; awk 'BEGIN { print rand() }'; set -o pipefail; false | true || echo p$?; "
    "{ read a; cat; } <<< $'q\\nr'; echo $a; sed -n 2p <<< $'m\\nn'; jq -n now; echo $SECONDS > t; cat t"
)


def _busy(number: int) -> list[ExecResult]:
    shell = Shell(Files(), {}, seed=number + 1, clock=clock)
    shell.background = _Jobs()
    return [shell.run(BUSY) for _ in range(4)]


def test_sessions_in_threads_never_meet() -> None:
    alone = [_busy(number) for number in range(4)]
    assert len({results[0].stdout for results in alone}) == 4
    found: dict[int, list[ExecResult]] = {}
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(3):
            threads = [
                threading.Thread(target=lambda n=number: found.__setitem__(n, _busy(n)))
                for number in range(4)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [found[number] for number in range(4)] == alone
    finally:
        sys.setswitchinterval(interval)


UNCHANGED = """
import importlib, pkgutil, sys, types

def seen(module):
    out = {}
    for name, value in vars(module).items():
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
            out[name] = value.__module__, getattr(value, "__qualname__", "")
        elif isinstance(value, type) and value.__module__ == module.__name__:
            for inner, method in vars(value).items():
                if isinstance(method, (types.FunctionType, staticmethod, classmethod)):
                    method = getattr(method, "__func__", method)
                    out[f"{name}.{inner}"] = method.__module__, method.__qualname__
    return out

LIBRARIES = ("re2", "re", "json", "shlex", "httpx", "gymnasium", "yaml", "pydantic", "numpy", "orjson", "typer", "rich")
ours = sys.argv[1] == "ours"
for name in LIBRARIES:
    importlib.import_module(name)
if ours:
    import sregym_env
    for info in pkgutil.walk_packages(sregym_env.__path__, "sregym_env."):
        # Adapters import frameworks that are not installed here.
        if not info.name.endswith("__main__") and not info.name.startswith("sregym_env.adapters."):
            importlib.import_module(info.name)
    from sregym_env.shell.files import Files
    from sregym_env.shell.shell import Shell
    assert Shell(Files(), {}).run("echo a | grep a | sed s/a/b/ | awk 1 | jq -R .").exit_code == 0
for name in LIBRARIES:
    for key, value in sorted(seen(sys.modules[name]).items()):
        print(name, key, *value)
foreign = [
    (name, key, value[0])
    for name, module in sorted(sys.modules.items())
    if module is not None and not name.startswith(("sregym_env", "__m")) and isinstance(module, types.ModuleType)
    for key, value in seen(module).items()
    if str(value[0]).startswith("sregym_env")
]
print("foreign", foreign)
"""


def test_no_library_is_changed() -> None:
    """Functions of libraries are the same with and without the package, and none of them is one of ours."""
    listed = [
        subprocess.run(
            [sys.executable, "-c", UNCHANGED, kind],
            env={"PYTHONPATH": ":".join(sys.path), "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for kind in ("ours", "theirs")
    ]
    ours, theirs = (text.splitlines() for text in listed)
    # Libraries that load names when they are asked for have more of them in a process that asks.
    assert set(theirs) <= set(ours)
    assert ours[-1] == "foreign []"
    assert len(theirs) > 500
