"""Which lines two texts share, as GNU ``diff`` decides it.

There are many shortest edit scripts; the one that ``diff`` prints follows from its way of searching: equal
ends are set aside, lines that cannot match are left out, the rest is searched from both ends at once
(Myers, "An O(ND) Difference Algorithm and Its Variations"), and runs of changes slide until they join others or
stand as low as they can. Source of the rules: ``analyze.c`` of GNU diffutils 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HORIZON = 3
"""Lines of equal ends that still take part in the search (``--unified``'s context)."""

_FEW = 5
_TOO_EXPENSIVE = 256


@dataclass(frozen=True, slots=True)
class Change:
    """Lines ``before[start:stop]`` become ``after[new_start:new_stop]``; all half-open."""

    start: int
    stop: int
    new_start: int
    new_stop: int


def changes(before: Sequence[str], after: Sequence[str], horizon: int = HORIZON) -> list[Change]:
    """The changes that lead from one text to the other, in order."""
    prefix, suffix = _equal_ends(before, after, horizon)
    ids: dict[str, int] = {}
    left = [ids.setdefault(line, len(ids)) for line in before[prefix : len(before) - suffix]]
    right = [ids.setdefault(line, len(ids)) for line in after[prefix : len(after) - suffix]]
    search = _Search(left, right, len(ids))
    search.run()
    return [
        Change(a + prefix, b + prefix, c + prefix, d + prefix)
        for a, b, c, d in _script(search.changed_left, search.changed_right)
    ]


def _equal_ends(before: Sequence[str], after: Sequence[str], horizon: int) -> tuple[int, int]:
    """How many lines at the beginning and at the end take no part."""
    shorter = min(len(before), len(after))
    prefix = 0
    while prefix < shorter and before[prefix] == after[prefix]:
        prefix += 1
    prefix = max(0, prefix - horizon)
    suffix = 0
    while suffix < shorter - prefix and before[-1 - suffix] == after[-1 - suffix]:
        suffix += 1
    return prefix, max(0, suffix - horizon)


class _Search:
    """One comparison of lines, given as numbers that are equal where the lines are."""

    def __init__(self, left: list[int], right: list[int], kinds: int) -> None:
        self.left, self.right = left, right
        self.changed_left = [False] * len(left)
        self.changed_right = [False] * len(right)
        self._kinds = kinds

    def run(self) -> None:
        """Find the changed lines of both sides."""
        counts_left, counts_right = [0] * self._kinds, [0] * self._kinds
        for line in self.left:
            counts_left[line] += 1
        for line in self.right:
            counts_right[line] += 1
        self._real_left = _kept(self.left, counts_right, self.changed_left)
        self._real_right = _kept(self.right, counts_left, self.changed_right)
        self._x = [self.left[i] for i in self._real_left]
        self._y = [self.right[i] for i in self._real_right]
        size = len(self._x) + len(self._y) + 3
        self._forward, self._backward = [0] * (size + 1), [0] * (size + 1)
        self._offset = len(self._y) + 1
        self._most = max(_TOO_EXPENSIVE, _root(size))
        self._compare(0, len(self._x), 0, len(self._y))
        _shift(self.left, self.changed_left, self.changed_right)
        _shift(self.right, self.changed_right, self.changed_left)

    def _compare(self, x: int, x_end: int, y: int, y_end: int) -> None:
        xs, ys = self._x, self._y
        while x < x_end and y < y_end and xs[x] == ys[y]:
            x, y = x + 1, y + 1
        while x < x_end and y < y_end and xs[x_end - 1] == ys[y_end - 1]:
            x_end, y_end = x_end - 1, y_end - 1
        if x == x_end:
            for i in range(y, y_end):
                self.changed_right[self._real_right[i]] = True
        elif y == y_end:
            for i in range(x, x_end):
                self.changed_left[self._real_left[i]] = True
        else:
            x_middle, y_middle = self._middle(x, x_end, y, y_end)
            self._compare(x, x_middle, y, y_middle)
            self._compare(x_middle, x_end, y_middle, y_end)

    def _middle(self, x: int, x_end: int, y: int, y_end: int) -> tuple[int, int]:
        """A point on a shortest path, found from both ends."""
        forward, backward, at = self._forward, self._backward, self._offset
        lowest, highest = x - y_end, x_end - y
        f_middle, b_middle = x - y, x_end - y_end
        f_low = f_high = f_middle
        b_low = b_high = b_middle
        odd = (f_middle - b_middle) & 1
        forward[at + f_middle], backward[at + b_middle] = x, x_end
        cost = 0
        while True:
            cost += 1
            if f_low > lowest:
                f_low -= 1
                forward[at + f_low - 1] = -1
            else:
                f_low += 1
            if f_high < highest:
                f_high += 1
                forward[at + f_high + 1] = -1
            else:
                f_high -= 1
            for d in range(f_high, f_low - 1, -2):
                found = self._ahead(d, x_end, y_end)
                if odd and b_low <= d <= b_high and backward[at + d] <= found:
                    return found, found - d
            if b_low > lowest:
                b_low -= 1
                backward[at + b_low - 1] = _FAR
            else:
                b_low += 1
            if b_high < highest:
                b_high += 1
                backward[at + b_high + 1] = _FAR
            else:
                b_high -= 1
            for d in range(b_high, b_low - 1, -2):
                found = self._back(d, x, y)
                if not odd and f_low <= d <= f_high and found <= forward[at + d]:
                    return found, found - d
            if cost >= self._most:
                return self._good_enough((f_low, f_high), (b_low, b_high), (x, x_end), (y, y_end))

    def _ahead(self, d: int, x_end: int, y_end: int) -> int:
        """The farthest point forwards on a diagonal."""
        forward, at, xs, ys = self._forward, self._offset, self._x, self._y
        low, high = forward[at + d - 1], forward[at + d + 1]
        x = high if low < high else low + 1
        y = x - d
        while x < x_end and y < y_end and xs[x] == ys[y]:
            x, y = x + 1, y + 1
        forward[at + d] = x
        return x

    def _back(self, d: int, x_start: int, y_start: int) -> int:
        """The farthest point backwards on a diagonal."""
        backward, at, xs, ys = self._backward, self._offset, self._x, self._y
        low, high = backward[at + d - 1], backward[at + d + 1]
        x = low if low < high else high - 1
        y = x - d
        while x_start < x and y_start < y and xs[x - 1] == ys[y - 1]:
            x, y = x - 1, y - 1
        backward[at + d] = x
        return x

    def _good_enough(
        self, ahead: tuple[int, int], back: tuple[int, int], xs: tuple[int, int], ys: tuple[int, int]
    ) -> tuple[int, int]:
        """Where a search that takes too long got farthest."""
        at = self._offset
        best_forward, fx = -1, xs[0]
        for d in range(ahead[1], ahead[0] - 1, -2):
            x = min(self._forward[at + d], xs[1])
            y = x - d
            if ys[1] < y:
                x, y = ys[1] + d, ys[1]
            if best_forward < x + y:
                best_forward, fx = x + y, x
        best_backward, bx = _FAR, xs[1]
        for d in range(back[1], back[0] - 1, -2):
            x = max(xs[0], self._backward[at + d])
            y = x - d
            if y < ys[0]:
                x, y = ys[0] + d, ys[0]
            if x + y < best_backward:
                best_backward, bx = x + y, x
        if (xs[1] + ys[1]) - best_backward < best_forward - (xs[0] + ys[0]):
            return fx, best_forward - fx
        return bx, best_backward - bx


_FAR = 1 << 60


def _root(size: int) -> int:
    """About the square root."""
    root = 1
    while size:
        root <<= 1
        size >>= 2
    return root


def _kept(lines: list[int], counts: list[int], changed: list[bool]) -> list[int]:
    """Indexes of the lines that take part in the search; others are marked as changed.

    Left out are lines that the other side does not have, and lines that it has too often where they stand in
    the middle of such lines.
    """
    many = _FEW
    rest = len(lines) // 64
    while (rest := rest >> 2) > 0:
        many *= 2
    marks = [1 if not counts[line] else 2 if counts[line] > many else 0 for line in lines]
    _settle_provisional(marks)
    kept = []
    for index, mark in enumerate(marks):
        if mark:
            changed[index] = True
        else:
            kept.append(index)
    return kept


def _settle_provisional(marks: list[int]) -> None:
    """Decide on lines that are too frequent (2): out with the run they stand in (1), or in (0)."""
    end, i = len(marks), 0
    while i < end:
        if marks[i] == 2:
            marks[i] = 0  # a run cannot begin with one
        elif marks[i]:
            i = _settle_run(marks, i)
        i += 1


def _settle_run(marks: list[int], start: int) -> int:
    """Settle the run that begins at ``start``; the index of its last line."""
    j = start
    provisional = 0
    while j < len(marks) and marks[j]:
        provisional += marks[j] == 2
        j += 1
    while j > start and marks[j - 1] == 2:
        j -= 1
        marks[j] = 0
        provisional -= 1
    length = j - start
    if provisional * 4 > length:
        for k in range(start, j):
            if marks[k] == 2:
                marks[k] = 0
        return j - 1 if j > start else start
    _cancel_long_stretches(marks, start, length)
    _cancel_at_ends(marks, range(start, j))
    _cancel_at_ends(marks, range(j - 1, start - 1, -1))
    return j - 1


def _cancel_long_stretches(marks: list[int], start: int, length: int) -> None:
    """Provisional lines in a row of more than about the root of the run's length stay in."""
    minimum = 1
    rest = length >> 2
    while (rest := rest >> 2) > 0:
        minimum <<= 1
    minimum += 1
    consecutive = 0
    k = 0
    while k < length:
        if marks[start + k] != 2:
            consecutive = 0
        else:
            consecutive += 1
            if consecutive == minimum:
                k -= consecutive  # back to the beginning of the stretch
            elif consecutive > minimum:
                marks[start + k] = 0
        k += 1


def _cancel_at_ends(marks: list[int], indexes: range) -> None:
    """Provisional lines near an end of the run stay in, up to three sure ones in a row."""
    sure = 0
    for position, index in enumerate(indexes):
        if position >= 8 and marks[index] == 1:
            return
        if marks[index] == 2:
            marks[index] = 0
            sure = 0
        elif marks[index] == 0:
            sure = 0
        else:
            sure += 1
        if sure == 3:
            return


def _shift(lines: list[int], changed: list[bool], others: list[bool]) -> None:
    """Slide runs of changed lines: join them where possible, else as far down as they go, and beside a run of
    the other side where there is one."""
    end, i, j = len(lines), 0, 0
    flag, other = _Padded(changed), _Padded(others)
    while True:
        while i < end and not flag[i]:
            while other[j]:
                j += 1
            j += 1
            i += 1
        if i == end:
            return
        start = i
        i += 1
        while flag[i]:
            i += 1
        while other[j]:
            j += 1
        while True:
            length = i - start
            while start and lines[start - 1] == lines[i - 1]:
                start -= 1
                changed[start] = True
                i -= 1
                changed[i] = False
                while flag[start - 1]:
                    start -= 1
                j -= 1
                while other[j]:
                    j -= 1
            corresponding = i if other[j - 1] else end
            while i != end and lines[start] == lines[i]:
                changed[start] = False
                start += 1
                changed[i] = True
                i += 1
                while flag[i]:
                    i += 1
                j += 1
                while other[j]:
                    j += 1
                    corresponding = i
            if length == i - start:
                break
        while corresponding < i:
            start -= 1
            changed[start] = True
            i -= 1
            changed[i] = False
            j -= 1
            while other[j]:
                j -= 1


class _Padded:
    """Flags that are false outside their range."""

    __slots__ = ("_flags",)

    def __init__(self, flags: list[bool]) -> None:
        self._flags = flags

    def __getitem__(self, index: int) -> bool:
        return 0 <= index < len(self._flags) and self._flags[index]


def _script(left: list[bool], right: list[bool]) -> list[tuple[int, int, int, int]]:
    found = []
    i = j = 0
    while i < len(left) or j < len(right):
        a, c = i, j
        while i < len(left) and left[i]:
            i += 1
        while j < len(right) and right[j]:
            j += 1
        if (i, j) != (a, c):
            found.append((a, i, c, j))
        i, j = i + 1, j + 1
    return found


# --- output -----------------------------------------------------------------------------------------


def unified(before: Sequence[str], after: Sequence[str], names: tuple[str, str], context: int = 3) -> str:
    """The two texts (lines with their ends) as a unified diff; empty where they are the same."""
    found = changes(before, after, context)
    if not found:
        return ""
    out = [f"--- {names[0]}\n", f"+++ {names[1]}\n"]
    for hunk in hunks(found, context):
        first, last = hunk[0], hunk[-1]
        start, stop = max(0, first.start - context), min(len(before), last.stop + context)
        new_start = max(0, first.new_start - context)
        new_stop = min(len(after), last.new_stop + context)
        out.append(f"@@ -{span(start, stop)} +{span(new_start, new_stop)} @@\n")
        at = start
        for change in hunk:
            out += [_marked(" ", line) for line in before[at : change.start]]
            out += [_marked("-", line) for line in before[change.start : change.stop]]
            out += [_marked("+", line) for line in after[change.new_start : change.new_stop]]
            at = change.stop
        out += [_marked(" ", line) for line in before[at:stop]]
    return "".join(out)


def hunks(found: list[Change], context: int) -> list[list[Change]]:
    """Changes in groups that are printed together."""
    groups = [[found[0]]]
    for change in found[1:]:
        if change.start - groups[-1][-1].stop <= 2 * context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def span(start: int, stop: int) -> str:
    """A range of lines as the head of a hunk writes it."""
    length = stop - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, line: str) -> str:
    return mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
