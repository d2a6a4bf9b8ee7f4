"""``diff``: normal and unified output of two files."""

from __future__ import annotations

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import is_whole, whole
from sregym_env.shell.commands.arguments import UsageError, content, options, reason
from sregym_env.shell.linediff import Change, changes, hunks, span
from sregym_env.shell.run import Call

_LONG = {
    "unified": "u::",
    "brief": "q",
    "report-identical-files": "s",
    "ignore-case": "i",
    "ignore-all-space": "w",
    "ignore-space-change": "b",
    "ignore-blank-lines": "B",
    "side-by-side": "y",
    "recursive": "r",
    "new-file": "N",
    "text": "a",
    "color": "?::",
    "label": "L:",
    "normal": "?",
}
LARGEST = 20_000
"""Lines in one file that are compared line by line."""


class Diff:
    """The command."""

    name = "diff"

    def execute(self, args: list[str], ctx: Call) -> ExecResult:
        """Print how two files differ; 0 when they do not, 1 when they do, 2 after an error."""
        try:
            given, operands = options(args, "uU:qsiwbByrNaL:", _LONG)
        except UsageError as error:
            return ExecResult("", f"diff: {error}\ndiff: Try 'diff --help' for more information.\n", 2)
        if len(operands) != 2:
            what = "missing operand after" if len(operands) < 2 else "extra operand"
            word = (operands or ["diff"])[-1]
            return ExecResult(
                "", f"diff: {what} '{word}'\ndiff: Try 'diff --help' for more information.\n", 2
            )
        texts: list[str] = []
        errors: list[str] = []
        for operand in operands:
            try:
                texts.append(content(ctx, operand))
            except OSError as error:
                errors.append(f"diff: {operand}: {reason(error)}\n")
        if errors:
            return ExecResult("", "".join(errors), 2)
        letters = {letter for letter, _ in given}
        left, right = (text.split("\n") for text in texts)
        before, after = (_shown(lines, letters) for lines in (left, right))
        if before == after:
            same = f"Files {operands[0]} and {operands[1]} are identical\n" if "s" in letters else ""
            return ExecResult(same, "", 0)
        if "q" in letters:
            return ExecResult(f"Files {operands[0]} and {operands[1]} differ\n", "", 1)
        if max(len(left), len(right)) > LARGEST:
            return ExecResult("", "diff: memory exhausted\n", 2)
        left, right = _closed(left), _closed(right)
        before, after = (_shown(lines, letters) for lines in (left, right))
        if letters & {"u", "U"}:
            labels = [value for letter, value in given if letter == "L"]
            width = next(
                (whole(value, 1 << 30) for letter, value in given if letter == "U" and is_whole(value)), 3
            )
            named = [*labels, *operands[len(labels) :]]
            text = _unified(changes(before, after, width), left, right, named, width)
        else:
            text = _normal(changes(before, after, 0), left, right)
        return ExecResult(text, "", 1)


_MISSING = "\0\\ No newline at end of file"


def _closed(lines: list[str]) -> list[str]:
    """Lines without the empty one after a final newline; a missing final newline is marked."""
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + _MISSING]


def _shown(lines: list[str], letters: set[str]) -> list[str]:
    """Lines as they are compared."""
    if "i" in letters:
        lines = [line.lower() for line in lines]
    if "w" in letters:
        lines = ["".join(line.split()) for line in lines]
    elif "b" in letters:
        lines = [" ".join(line.split()) for line in lines]
    return lines


def _marked(mark: str, lines: list[str]) -> str:
    return "".join(mark + line.replace("\0", "\n") + "\n" for line in lines)


def _normal(found: list[Change], left: list[str], right: list[str]) -> str:
    out: list[str] = []
    for each in found:
        old, new = left[each.start : each.stop], right[each.new_start : each.new_stop]
        letter = "c" if old and new else "d" if old else "a"
        out.append(f"{_range(each.start, each.stop)}{letter}{_range(each.new_start, each.new_stop)}\n")
        out.append(_marked("< ", old))
        if old and new:
            out.append("---\n")
        out.append(_marked("> ", new))
    return "".join(out)


def _range(start: int, stop: int) -> str:
    if stop - start <= 1:
        return str(stop if stop > start else start)
    return f"{start + 1},{stop}"


def _unified(found: list[Change], left: list[str], right: list[str], names: list[str], width: int) -> str:
    out = [f"--- {names[0]}\n", f"+++ {names[1]}\n"]
    for group in hunks(found, width):
        start, stop = max(0, group[0].start - width), min(len(left), group[-1].stop + width)
        new_start, new_stop = max(0, group[0].new_start - width), min(len(right), group[-1].new_stop + width)
        out.append(f"@@ -{span(start, stop)} +{span(new_start, new_stop)} @@\n")
        for each in group:
            out.append(_marked(" ", left[start : each.start]))
            out.append(_marked("-", left[each.start : each.stop]))
            out.append(_marked("+", right[each.new_start : each.new_stop]))
            start = each.stop
        out.append(_marked(" ", left[start:stop]))
    return "".join(out)
