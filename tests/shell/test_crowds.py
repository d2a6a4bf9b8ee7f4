"""Texts in parts that each stand for several: what programs make of them is what they would make of all of it."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

import pytest

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell import crowds
from sregym_env.shell.files import Files, decoded, encoded
from sregym_env.shell.shell import Shell

BODY = "".join(f"src=10.0.0.{at % 5} port={at % 7} n{at}\n" for at in range(40))
PARTS = ((70, BODY), (69, "udp src=10.0.0.9 port=53 x\n"))
MANY = crowds.made(PARTS)
WHOLE = "".join(text * times for times, text in PARTS)


def _shell(text: str) -> Shell:
    def many(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
        return ExecResult(text, "told\n")

    return Shell(Files(), {"many": many})


SCRIPTS = [
    "many 2>/dev/null | wc",
    "many | wc -l",
    "many | wc -lc",
    "many | grep -c port=3",
    "many | grep -vc port=3",
    "many | grep port=3 | wc -l",
    "many | grep -o 'src=[0-9.]*' | sort | uniq -c | sort -rn",
    "many | grep -q udp && echo yes",
    "many | grep -q tcp || echo no",
    "many | grep -m 3 port=3",
    "many | awk '{print $1}' | sort | uniq -c",
    "many | awk '/udp/{print $2}' | sort | uniq -c",
    "many | awk '{n[$1]++} END {for (k in n) print n[k], k}' | sort",
    "many | awk -F'[ =]' '{n[$2] += 2; m++} END {for (k in n) print n[k], k; print m}' | sort",
    "many | awk '{for (i = 1; i <= NF; i++) if ($i ~ /^src=/) {split($i, p, \"=\"); n[p[2]]++; break}} END {for (k in n) print k, n[k]}' | sort",
    "many | awk '!seen[$1]++ {print $1}'",
    "many | awk '!seen[$1]++ {n++} END {print n; for (k in seen) print k, seen[k]}' | sort",
    "many | awk 'END {print NR}'",
    "many | awk 'NR == 41 {print}'",
    "many | awk '$2 != before {print $2; before = $2}' | sort | uniq -c",
    "many | sed 's/src=//' | cut -d' ' -f1 | sort | uniq -c",
    "many | sed -n '/udp/p' | wc -l",
    "many | sed -n '2p'",
    "many | tr ' ' '\\n' | sort | uniq -c | sort -rn | head -n 3",
    "many | cut -c1-3 | sort -u",
    "many | sort | uniq | wc -l",
    "many | sort | uniq -d | wc -l",
    "many | sort | head -n 90 | uniq -c",
    "many | head -n 43 | tail -n 2",
    "many | head -n 2000 | wc -l",
    "many | tail -n +2 | wc -l",
    "many | tail -n 71 | sort | uniq -c",
    "many | head -n -5 | wc -l",
    "many | rev | head -n 1",
    "many | nl | tail -n 1",
    "many | cat -n | tail -n 1",
    "many | md5sum",
    "many > f; wc -l f; wc -l < f; grep -c udp f; stat -c %s f; awk '{print $1}' f | sort | uniq -c",
    "many > f; many >> f; echo end >> f; wc -l f; tail -n 2 f; cp f g; cat f g | wc -l",
    "many | tee f | wc -l; wc -l f",
    "echo $(many 2>/dev/null | wc -l)",
    'x=$(many 2>/dev/null); echo "$x" | wc -l',
    "many 2>/dev/null | while read -r a b; do echo $a; done | sort | uniq -c",
    "cat <(many 2>/dev/null) | wc -l",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_what_programs_make_of_parts_they_make_of_the_whole(script: str) -> None:
    assert isinstance(MANY, crowds.Crowd)
    assert len(MANY) < 2000 < len(WHOLE)
    parts, whole = _shell(MANY).run(script), _shell(WHOLE).run(script)
    assert (parts.text, parts.exit_code) == (whole.text, whole.exit_code)


def test_it_goes_through_files_and_pickles() -> None:
    again = decoded(encoded(MANY))
    assert isinstance(again, crowds.Crowd) and again.parts == MANY.parts  # type: ignore[attr-defined]
    kept = pickle.loads(pickle.dumps(MANY))
    assert isinstance(kept, crowds.Crowd) and kept == MANY and kept.parts == MANY.parts  # type: ignore[attr-defined]
    assert decoded(b"\0\x0bparts\0nonsense") == "\0\x0bparts\0nonsense"


@pytest.mark.parametrize("script", ["many | jq -R . | wc -l", "many | nl | wc -l", "many | awk 'NR > 5'"])
def test_what_would_be_too_much_is_too_much(script: str) -> None:
    huge = crowds.made((times * 30_000, text) for times, text in PARTS)
    assert _shell(huge).run(script).stderr.endswith("Killed\n")
    assert _shell(huge).run("many | wc -l").stdout == f"{30_000 * WHOLE.count(chr(10))}\n"


def test_a_terminal_shows_every_part_once() -> None:
    assert _shell(MANY).run("many 2>/dev/null").stdout == BODY + PARTS[1][1]


@pytest.mark.parametrize("count", [0, 1, 39, 40, 41, 2799, 2800, 2801, 2869, 5000])
def test_beginnings_and_ends(count: int) -> None:
    lines = WHOLE.splitlines(keepends=True)
    assert crowds.written_out(crowds.first(MANY, count)) == "".join(lines[:count])
    assert crowds.written_out(crowds.without(MANY, count)) == "".join(lines[count:])


def test_what_is_short_is_an_ordinary_text() -> None:
    assert type(crowds.made([(3, "a\n"), (1, "b\n")])) is str
    assert crowds.made([(3, "a\n"), (0, "c\n"), (1, "b\n")]) == "a\na\na\nb\n"
