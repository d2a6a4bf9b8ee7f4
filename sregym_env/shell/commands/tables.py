"""Programs that compare and arrange lines: ``uniq``, ``column``, ``comm``, ``join``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.numbers import whole
from sregym_env.shell import crowds
from sregym_env.shell.commands.arguments import UsageError, options, reason
from sregym_env.shell.commands.lines import inputs, read, refused, whole_lines
from sregym_env.shell.commands.printed import Printed
from sregym_env.shell.run import Call, Program


def uniq(args: list[str], call: Call) -> ExecResult:
    """``uniq [-cdiuz] [-f fields] [-s chars] [-w chars] [input [output]]``."""
    long = {"count": "c", "repeated": "d", "unique": "u", "ignore-case": "i", "skip-fields": "f:", "skip-chars": "s:",
            "check-chars": "w:", "all-repeated": "D::", "zero-terminated": "z"}  # fmt: skip
    try:
        given, operands = options(args, "cdDiuzf:s:w:", long)
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)

    def number(letter: str) -> int:
        return int(asked[letter][:9]) if asked.get(letter, "").isdecimal() else 0

    fields, skip, width, fold = number("f"), number("s"), number("w"), "i" in asked
    try:
        text = read(call, operands[0] if operands else "-")
    except OSError as error:
        return ExecResult("", f"uniq: {operands[0]}: {reason(error)}\n", 1)

    def key(line: str) -> str:
        if fields:
            match = re.match(rf"(?:[ \t]*[^ \t]+){{0,{min(fields, 900)}}}", line)
            line = line[match.end() :] if match else line
        line = line[skip:]
        line = line[:width] if width else line
        return line.lower() if fold else line

    groups: list[list[tuple[int, str]]] = []
    last = ""
    for times, part in crowds.parts(text):
        for line in whole_lines(part):
            body = line.removesuffix("\n")
            found = key(body)
            if groups and found == last:
                groups[-1].append((times, body))
            else:
                groups.append([(times, body)])
            last = found
    counted = [(sum(times for times, _ in group), group) for group in groups]
    if "D" in asked:
        out = crowds.made(
            (times, f"{line}\n") for count, group in counted if count > 1 for times, line in group
        )
    else:
        wanted = [
            (count, group[0][1])
            for count, group in counted
            if not ("d" in asked and count < 2) and not ("u" in asked and count > 1)
        ]
        out = "".join(f"{count:7} {line}\n" if "c" in asked else f"{line}\n" for count, line in wanted)
    if len(operands) > 1:
        call.fs.put_text(call.resolve(operands[1]), out)
        return ExecResult()
    return ExecResult(out)


def column(args: list[str], call: Call) -> ExecResult:
    """``column -t [-s separators] [-o separator] [-N names] [file...]``; without ``-t`` the lines side by side."""
    try:
        given, operands = options(
            args, "ts:o:c:xN:n", {"table": "t", "separator": "s:", "output-separator": "o:"}
        )
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    printed = Printed()
    lines = [line for _, text in inputs(call, operands, printed) for line in text.split("\n") if line.strip()]
    if "t" not in asked:
        printed.out(_side_by_side(lines, whole(asked.get("c", ""), 80, 4)))
        return printed.result()
    separators = asked.get("s")
    if separators is None:
        rows = [line.split() for line in lines]
    else:
        rows = [re.split(f"[{re.escape(separators)}]", line) for line in lines]
    if "N" in asked:
        rows.insert(0, asked["N"].split(","))
    widths: list[int] = []
    for row in rows:
        for index, cell in enumerate(row):
            if index == len(widths):
                widths.append(0)
            widths[index] = max(widths[index], len(cell))
    between = asked.get("o", "  ")
    for row in rows:
        cells = [cell.ljust(widths[index]) for index, cell in enumerate(row)]
        if len(row) == len(widths) or row:
            cells[-1] = row[-1]
        printed.out(between.join(cells) + "\n")
    return printed.result()


def _side_by_side(lines: list[str], width: int) -> str:
    if not lines:
        return ""
    size = (max(len(line) for line in lines) // 8 + 1) * 8
    columns = max(1, width // size)
    rows = -(-len(lines) // columns)
    out = []
    for row in range(rows):
        cells = lines[row::rows]
        text = ""
        for index, cell in enumerate(cells):
            if index == len(cells) - 1:
                text += cell
            else:
                text += cell + "\t" * ((size - len(cell) + 7) // 8)
        out.append(f"{text}\n")
    return "".join(out)


def comm(args: list[str], call: Call) -> ExecResult:
    """``comm [-123] file1 file2``."""
    try:
        given, operands = options(
            args, "123", {"output-delimiter": "d:", "total": "T", "check-order": "o", "nocheck-order": "o"}
        )
        if len(operands) < 2:
            missing = f"missing operand after '{operands[0]}'" if operands else "missing operand"
            raise UsageError(missing)
    except UsageError as error:
        return refused(call, error)
    hidden = {letter for letter, _ in given}
    printed = Printed()
    texts = [text for _, text in inputs(call, operands[:2], printed)]
    if len(texts) < 2:
        return printed.result()
    one, other = ([line.removesuffix("\n") for line in whole_lines(text)] for text in texts)
    out: list[str] = []
    left = right = 0
    while left < len(one) or right < len(other):
        if right == len(other) or (left < len(one) and one[left] < other[right]):
            kind, line = "1", one[left]
            left += 1
        elif left == len(one) or other[right] < one[left]:
            kind, line = "2", other[right]
            right += 1
        else:
            kind, line = "3", one[left]
            left, right = left + 1, right + 1
        if kind not in hidden:
            out.append("\t" * sum(1 for k in "12" if k < kind and k not in hidden) + f"{line}\n")
    printed.out("".join(out))
    return printed.result()


def join(args: list[str], call: Call) -> ExecResult:
    """``join [-t char] [-1 field] [-2 field] [-j field] [-a file] [-v file] [-o list] [-e text] file1 file2``."""
    try:
        given, operands = options(args, "t:1:2:j:a:v:o:e:i", {"ignore-case": "i"})
        if len(operands) < 2:
            raise UsageError(f"missing operand after '{operands[0]}'" if operands else "missing operand")
    except UsageError as error:
        return refused(call, error)
    asked = dict(given)
    separator = asked.get("t")
    unpaired = {value for letter, value in given if letter in "av"}
    fields = [int(asked.get("1", asked.get("j", "1"))) - 1, int(asked.get("2", asked.get("j", "1"))) - 1]
    printed = Printed()
    texts = [text for _, text in inputs(call, operands[:2], printed)]
    if len(texts) < 2:
        return printed.result()
    tables = [
        [
            line.removesuffix("\n").split(separator) if separator else line.split()
            for line in whole_lines(text)
        ]
        for text in texts
    ]

    def key(row: list[str], side: int) -> str:
        found = row[fields[side]] if 0 <= fields[side] < len(row) else ""
        return found.lower() if "i" in asked else found

    between = separator or " "

    def shown(name: str, one: list[str] | None, other: list[str] | None) -> str:
        if "o" in asked:
            cells = []
            for spec in re.split(r"[ ,]+", asked["o"]):
                side, _, number = spec.partition(".")
                row = one if side == "1" else other
                index = whole(number, 0) - 1
                cells.append(
                    name
                    if spec == "0"
                    else row[index]
                    if row and 0 <= index < len(row)
                    else asked.get("e", "")
                )
            return between.join(cells)
        rest = [cell for i, cell in enumerate(one or []) if i != fields[0]]
        rest += [cell for i, cell in enumerate(other or []) if i != fields[1]]
        return between.join([name, *rest])

    out: list[str] = []
    left = right = 0
    one, other = tables
    while left < len(one) and right < len(other):
        a, b = key(one[left], 0), key(other[right], 1)
        if a == b:
            ends = [left, right]
            while ends[0] < len(one) and key(one[ends[0]], 0) == a:
                ends[0] += 1
            while ends[1] < len(other) and key(other[ends[1]], 1) == a:
                ends[1] += 1
            if "v" not in asked:
                # Before it is made: where all lines have one key, this is the product of the files.
                call.run.move((ends[0] - left) * (ends[1] - right) * 40)
                out += [
                    shown(one[i][fields[0]], one[i], other[j])
                    for i in range(left, ends[0])
                    for j in range(right, ends[1])
                ]
            left, right = ends
        elif a < b:
            out += [shown(one[left][fields[0]], one[left], None)] if "1" in unpaired else []
            left += 1
        else:
            out += [shown(other[right][fields[1]], None, other[right])] if "2" in unpaired else []
            right += 1
    if "1" in unpaired:
        out += [shown(key(row, 0), row, None) for row in one[left:]]
    if "2" in unpaired:
        out += [shown(key(row, 1), None, row) for row in other[right:]]
    printed.out("".join(f"{line}\n" for line in out))
    return printed.result()


PROGRAMS: Mapping[str, Program] = {"uniq": uniq, "column": column, "comm": comm, "join": join}
