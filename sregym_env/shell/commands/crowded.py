"""What programs make of texts that stand for more than is kept of them (:mod:`sregym_env.shell.crowds`).

Whoever works on each line by itself makes of every part what he would make of the whole. Who counts, counts with the parts. For
all others the text is written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell import crowds
from sregym_env.shell.awk import Awk
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.commands.lines import whole_lines
from sregym_env.shell.crowds import Crowd
from sregym_env.shell.reading import reads_input
from sregym_env.shell.run import Call, Program

MOST_PARTS = 64
"""Parts on each of which a program is run."""

Way = Callable[[Program, list[str], Call], ExecResult | None]
"""How a program goes about a text in parts on its standard input; None where it cannot."""


def crowded(name: str, program: Program) -> Program:
    """The program, for texts in parts too."""
    if name not in _READERS:
        return program
    way = _WAYS.get(name)

    def run(args: list[str], call: Call) -> ExecResult:
        found = _input(args, call)
        if found is None:
            return program(args, call)
        text, words = found
        given = replace(call, stdin=text)
        done = None if way is None else way(program, words, given)
        if done is None:
            whole = crowds.written_out(text)
            given.charge(len(whole))
            done = program(words, replace(call, stdin=whole))
        return done

    return run


def _input(args: list[str], call: Call) -> tuple[Crowd, list[str]] | None:
    """(text in parts that a program is to read, the words by which it reads it on its input)."""
    if reads_input([call.name, *args]):
        return (call.stdin, args) if isinstance(call.stdin, Crowd) else None
    # Whoever asks the tree has it made, and hardly any script reads a file.
    if _is_given_in_words(call.name, args) or not call.fs.crowded:
        return None
    for at, word in enumerate(args):
        text = None if word.startswith("-") else call.fs.text(call.resolve(word))
        if isinstance(text, Crowd):
            call.charge(len(text))
            return text, [*args[:at], "-", *args[at + 1 :]]
    return None


def _is_given_in_words(name: str, args: list[str]) -> bool:
    """Whether a shell is given its script as a word (``sh -c``), and not as a file."""
    first = args[0] if args else ""
    return name in ("bash", "sh") and first[:1] == "-" and first[:2] != "--" and "c" in first


def _each(program: Program, args: list[str], call: Call) -> ExecResult | None:
    """A program that does the same with every line."""
    assert isinstance(call.stdin, Crowd)
    known = call.stdin.parts
    if len(known) > MOST_PARTS:
        return None
    done = [program(args, replace(call, stdin=part)) for _, part in known]
    text = crowds.made(
        (times, each.stdout) for (times, _), each in zip(known, done, strict=True) if each.stdout
    )
    return ExecResult(text, done[0].stderr, max(each.exit_code for each in done))


_COUNTING = re.compile(r"-[A-Za-z]*[nABCbzLl]|--(?:line-number|after|before|context)|-\d")
_LIMITED = re.compile(r"-[A-Za-z]*m|--max-count")


def _grep(program: Program, args: list[str], call: Call) -> ExecResult | None:
    words = [word for word in args if word.startswith("-") and word != "-"]
    assert isinstance(call.stdin, Crowd)
    if any(_COUNTING.match(word) for word in words):
        return None
    if any(_LIMITED.match(word) for word in words):
        # The first ones are among the lines of which each is there once.
        return program(args, replace(call, stdin="".join(part for _, part in call.stdin.parts)))
    if any(word == "--count" or (word[1:2] != "-" and "c" in word) for word in words):
        found = [program(args, replace(call, stdin=part)) for _, part in call.stdin.parts[:MOST_PARTS]]
        if len(call.stdin.parts) > MOST_PARTS or not all(each.stdout.strip().isdecimal() for each in found):
            return None
        total = sum(
            times * int(each.stdout) for (times, _), each in zip(call.stdin.parts, found, strict=True)
        )
        return ExecResult(f"{total}\n", exit_code=int(not total))
    done = _each(program, args, call)
    if done is None:
        return None
    # It has found something if it has in any of the parts.
    quiet = any(word[1:2] != "-" and "q" in word for word in words)
    codes = (
        [program(args, replace(call, stdin=part)).exit_code for _, part in call.stdin.parts] if quiet else []
    )
    return replace(
        done, exit_code=min(codes, default=done.exit_code if done.exit_code > 1 else int(not done.stdout))
    )


_SED = re.compile(
    r"\s*(?:(?:/(?:[^/\\]|\\.)*/!?\s*)?(?:[dp]|y/[^/]*/[^/]*/|s([^\w\s\\])(?:(?!\1)[^\\]|\\.)*\1(?:(?!\1)[^\\]|\\.)*\1[gpI\d]*)\s*;?\s*)+"
)


def _sed(program: Program, args: list[str], call: Call) -> ExecResult | None:
    scripts = [word for word in args if word not in ("-n", "-E", "-r", "-e", "-u", "-")]
    return _each(program, args, call) if all(_SED.fullmatch(word) for word in scripts) else None


def _awk(program: Program, args: list[str], call: Call) -> ExecResult | None:
    return Awk().counted(args, call)


def _sort(program: Program, args: list[str], call: Call) -> ExecResult | None:
    """Lines in another order, each as often as it is there."""
    if any(word.startswith(("-o", "-c", "-C", "-z", "--")) for word in args):
        return None
    counts: dict[str, int] = {}
    for times, part in crowds.parts(call.stdin):
        for line in whole_lines(part):
            line = line.removesuffix("\n")
            counts[line] = counts.get(line, 0) + times
    done = program(args, replace(call, stdin="".join(f"{line}\n" for line in counts)))
    if any(word.startswith("-") and "u" in word.partition("t")[0] for word in args):
        return done
    return replace(
        done,
        stdout=crowds.made(
            (counts.get(line.removesuffix("\n"), 1), line) for line in whole_lines(done.stdout)
        ),
    )


def _ends(program: Program, args: list[str], call: Call) -> ExecResult | None:
    """``head`` and ``tail`` by lines."""
    words = [word for word in args if word != "-"]
    try:
        given, operands = options(
            [f"-n{word}" if not at and word.startswith("+") else word for at, word in enumerate(words)],
            "n:",
            {"lines": "n:"},
            numbers=True,
        )
    except UsageError:
        return None
    amount = next((value for _, value in reversed(given)), "10")
    number = amount.lstrip("+-")
    if operands or not number.isdecimal():
        return None
    count, total = int(number[:12]), crowds.lines(call.stdin)
    if call.name == "head":
        return ExecResult(
            crowds.first(call.stdin, max(total - count, 0) if amount.startswith("-") else count)
        )
    skipped = count - 1 if amount.startswith("+") else total - count
    return ExecResult(crowds.without(call.stdin, max(skipped, 0)))


_WAYS: Mapping[str, Way] = {
    "grep": _grep,
    "egrep": _grep,
    "fgrep": _grep,
    "sed": _sed,
    "awk": _awk,
    "sort": _sort,
    "head": _ends,
    "tail": _ends,
    **dict.fromkeys(("cut", "tr", "rev", "expand", "unexpand"), _each),
}

_READERS = frozenset(_WAYS) | frozenset(
    "base64 bc bash column comm diff fold gzip jq join md5sum nl od paste python3 sh sha1sum sha256sum sha512sum split strings tac tr "
    "xargs".split()
)
"""Programs that read texts, and do not know of parts themselves."""

__all__: Sequence[str] = ["MOST_PARTS", "crowded"]
