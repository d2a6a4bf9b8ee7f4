"""What a load generator is asked for: wrk2's command line, and the one in a script that runs it.

Options may stand before and behind the URL, as GNU's ``getopt`` takes them; numbers may have a unit (1k, 2m).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sregym_env.runtime.numbers import whole

USAGE = """\
Usage: wrk <options> <url>
  Options:
    -c, --connections <N>  Connections to keep open
    -d, --duration    <T>  Duration of test
    -t, --threads     <N>  Number of threads to use

    -s, --script      <S>  Load Lua script file
    -H, --header      <H>  Add header to request
    -L  --latency          Print latency statistics
        --timeout     <T>  Socket/request timeout
    -v, --version          Print version details
    -R, --rate        <T>  work rate (throughput)
                           in requests/sec (total)
                           [Required Parameter]

  Numeric arguments may include a SI unit (1k, 1M, 1G)
  Time arguments may include a time unit (2s, 2m, 2h)"""
"""What it prints where it does not understand its arguments."""

NAMES = ("wrk", "wrk2")
"""What it is called."""
LONG = {
    "connections": "c", "duration": "d", "threads": "t", "script": "s", "header": "H", "timeout": "T", "rate": "R",
    "dist": "D", "latency": "L", "u_latency": "U", "batch_latency": "B", "requests": "r", "version": "v", "help": "h",
}  # fmt: skip
VALUED = frozenset("cdtsHTRD")
PLAIN = frozenset("LUBPprSv")
METRIC: Mapping[str, int] = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
TIME: Mapping[str, int] = {"": 1, "s": 1, "m": 60, "h": 3600}

LONGEST = 65_536
"""Characters of a script that are looked at."""

_URL = re.compile(r"http://([A-Za-z0-9_.-]+):?(\d+)?(?:/.*)?")
_SIZE = re.compile(r"\s*(\d+)([A-Za-z]{0,2}).*", re.ASCII)
_ASSIGNED = re.compile(r"[ \t]*(?:export[ \t]+)?(\w+)=(?:\"([^\"\n]*)\"|'([^'\n]*)'|(\S*))[ \t]*", re.ASCII)
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::-([^}]*))?\})", re.ASCII)
_BREAKS = ";&|()\n"


@dataclass(frozen=True, slots=True)
class Options:
    """What is offered."""

    host: str
    port: int
    rate: float
    """Requests per second."""
    connections: int = 10
    threads: int = 2
    duration: float = 10.0
    """Seconds of a round."""


def options_of(words: Sequence[str]) -> Options | str:
    """What the words behind ``wrk`` ask for; the complaint, in one line, where it does not begin because of them."""
    given, urls, wrong = _sorted_out(words)
    if wrong:
        return wrong
    numbers: dict[str, int] = {"c": 10, "t": 2, "d": 10, "R": 0}
    for letter, what, units in (
        ("t", "threads", METRIC),
        ("c", "connections", METRIC),
        ("d", "duration", TIME),
        ("R", "rate", METRIC),
        ("T", "timeout", TIME),
    ):
        if letter in given:
            number = _number(given[letter], units)
            if number is None:
                return f"-{letter} (--{what}) wants a number, not {given[letter]!r}"
            numbers[letter] = number
    if not urls:
        return "no URL is given"
    for letter, what in (("t", "threads"), ("d", "duration")):
        if not numbers[letter]:
            return f"-{letter} (--{what}) must not be 0"
    target = _URL.fullmatch(urls[0])
    if target is None or (port := whole(target[2] or "80", 0, 5)) > 65535 or not port:
        return f"invalid URL: {urls[0]}"
    if numbers["c"] < numbers["t"]:
        return "number of connections must be >= threads"
    if not numbers["R"]:
        return "Throughput MUST be specified with the --rate or -R option"
    return Options(target[1], port, float(numbers["R"]), numbers["c"], numbers["t"], float(numbers["d"]))


def said(wrong: str) -> str:
    """What it prints itself of a complaint: of numbers that are none, and of a URL that is not there, its usage alone."""
    own = wrong.startswith(("wrk: ", "invalid URL", "number of", "Throughput"))
    return f"{wrong}\n{USAGE}" if own else USAGE


def words_in(script: str, env: Mapping[str, str]) -> list[str] | None:
    """The words behind the first ``wrk`` that a shell's script runs, with its variables and those of ``env``; None
    where it runs none."""
    text = script[:LONGEST].replace("\\\n", " ")
    known = dict(env)
    for line in text.split("\n"):
        if found := _ASSIGNED.fullmatch(line):
            known[found[1]] = _filled(next(filter(None, found.groups()[1:]), ""), known)
    for command in _commands(text):
        if command[0].rpartition("/")[2] in NAMES:
            return [_filled(word, known) for word in command[1:]]
    return None


def words_of(argv: Sequence[str], env: Mapping[str, str]) -> list[str] | None:
    """The words behind ``wrk`` in a container's own command line, directly or in ``sh -c``; None where it names a script."""
    if argv and argv[0].rpartition("/")[2] in NAMES:
        return list(argv[1:])
    return next((found for word in argv[1:] if (found := words_in(word, env)) is not None), None)


def _sorted_out(words: Sequence[str]) -> tuple[dict[str, str], list[str], str]:
    """(values by short option, arguments, complaint)."""
    given: dict[str, str] = {}
    rest: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            return given, [*rest, *waiting], ""
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            letter = LONG.get(name) or _abbreviated(name)
            if not letter:
                return given, rest, f"wrk: unrecognized option '--{name}'"
            if letter == "h":
                return given, rest, "--help asks for nothing"
            if letter in VALUED and not equals and not waiting:
                return given, rest, f"wrk: option '--{name}' requires an argument"
            given[letter] = value if equals else waiting.pop(0) if letter in VALUED else ""
        elif word.startswith("-") and len(word) > 1:
            if wrong := _short(word[1:], waiting, given):
                return given, rest, wrong
        else:
            rest.append(word)
    return given, rest, ""


def _short(letters: str, waiting: list[str], given: dict[str, str]) -> str:
    """Take a word of short options; the complaint, empty if there is none."""
    for index, letter in enumerate(letters):
        if letter in VALUED:
            value = letters[index + 1 :]
            if not value and not waiting:
                return f"wrk: option requires an argument -- '{letter}'"
            given[letter] = value or waiting.pop(0)
            return ""
        if letter not in PLAIN:
            return f"wrk: invalid option -- '{letter}'"
    return ""


def _abbreviated(name: str) -> str:
    """The letter of the only long option that begins so; empty where there is none, or several."""
    found = [letter for known, letter in LONG.items() if name and known.startswith(name)]
    return found[0] if len(found) == 1 else ""


def _number(text: str, units: Mapping[str, int]) -> int | None:
    found = _SIZE.fullmatch(text)
    number = None if found is None else whole(found[1])
    scale = None if found is None else units.get(found[2].lower())
    return None if number is None or scale is None else number * scale


def _filled(word: str, known: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda found: known.get(found[1] or found[2], "") or found[3] or "", word)


def _commands(text: str) -> Iterator[list[str]]:
    """The commands of a script that may run the generator, as lists of words."""
    for line in text.split("\n"):
        if "wrk" not in line:
            continue
        reader = shlex.shlex(line, posix=True, punctuation_chars=_BREAKS.strip())
        reader.whitespace_split = True
        words: list[str] = []
        try:
            for word in [*reader, ";"]:
                if word.strip(_BREAKS) and word not in ("do", "then", "else", "exec", "time", "{", "!"):
                    words.append(word)
                    continue
                while words and _ASSIGNED.fullmatch(words[0]):
                    del words[0]
                if words:
                    yield words
                words = []
        except ValueError:  # a quotation that does not end on its line
            continue
