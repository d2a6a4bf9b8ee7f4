"""``cut``: bytes, characters or fields of each line."""

from __future__ import annotations

from functools import lru_cache

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell.commands.arguments import UsageError, content, lines_of, options, reason
from sregym_env.shell.run import Call

_LONG = {
    "bytes": "b:",
    "characters": "c:",
    "delimiter": "d:",
    "fields": "f:",
    "only-delimited": "s",
    "complement": "C",
    "output-delimiter": "o:",
    "zero-terminated": "z",
}
_END = 1 << 30


class Cut:
    """The command."""

    name = "cut"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Print the chosen parts of every line."""
        try:
            given, operands = options(args, "b:c:d:f:snz", _LONG)
            chosen = [(letter, value) for letter, value in given if letter in "bcf"]
            if not chosen:
                raise UsageError("you must specify a list of bytes, characters, or fields")
            if len({letter for letter, _ in chosen}) > 1:
                raise UsageError("only one list may be specified")
            values = dict(given)
            kind, spoken = chosen[0]
            if kind != "f" and "d" in values:
                raise UsageError("an input delimiter may be specified only when operating on fields")
            delimiter = values.get("d", "\t") or "\0"
            if len(delimiter) > 1:
                raise UsageError("the delimiter must be a single character")
            spans = _spans(spoken, "C" in values, kind == "f")
        except UsageError as error:
            return ExecResult("", f"cut: {error}\nTry 'cut --help' for more information.\n", 1)
        out: list[str] = []
        errors: list[str] = []
        for operand in operands or ["-"]:
            try:
                lines = lines_of(content(ctx, operand))
            except OSError as error:
                errors.append(f"cut: {operand}: {reason(error)}\n")
                continue
            if kind == "f":
                joint = values.get("o", delimiter)
                out += _fields(lines, spans, delimiter, joint, "s" in values)
            else:
                joint = values.get("o", "")
                out += [
                    joint.join(line[start:stop] for start, stop in spans if start < len(line))
                    for line in lines
                ]
        return ExecResult("".join(f"{line}\n" for line in out), "".join(errors), int(bool(errors)))


def _fields(
    lines: list[str], spans: tuple[tuple[int, int], ...], delimiter: str, joint: str, strict: bool
) -> list[str]:
    out: list[str] = []
    for line in lines:
        if delimiter not in line:
            if not strict:
                out.append(line)
            continue
        parts = line.split(delimiter)
        out.append(joint.join([part for start, stop in spans for part in parts[start:stop]]))
    return out


@lru_cache(maxsize=256)
def _spans(spoken: str, complement: bool, fields: bool) -> tuple[tuple[int, int], ...]:
    """Half-open spans from 0, merged and in order. Raises UsageError."""
    what = "field" if fields else "byte/character position"
    spans: list[tuple[int, int]] = []
    for part in spoken.replace(" ", ",").split(","):
        low, dash, high = part.partition("-")
        if not (low or high) or not (low or "1").isdigit() or not (high or "1").isdigit():
            raise UsageError(
                f"invalid {what} value '{part}'" if part != "-" else "invalid range with no endpoint: -"
            )
        start = int(low or 1)
        stop = int(high or _END) if dash else start
        if start == 0 or stop == 0:
            raise UsageError(f"{what}s are numbered from 1")
        if stop < start:
            raise UsageError("invalid decreasing range")
        spans.append((start - 1, stop))
    spans.sort()
    merged: list[tuple[int, int]] = []
    for start, stop in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    if not complement:
        return tuple(merged)
    outside: list[tuple[int, int]] = []
    position = 0
    for start, stop in merged:
        if start > position:
            outside.append((position, start))
        position = stop
    outside.append((position, _END))
    return tuple(outside)
