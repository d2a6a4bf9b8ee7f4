"""``ps`` of procps: which processes are chosen, in which columns and in which order they are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime import effort
from sregym_env.runtime.clock import SECOND
from sregym_env.sim.programs.image_tools import format_date

MOST_THREADS = 4096
"""Threads of one process that are listed."""
ROW_EFFORT = 0.2
"""What listing a process costs (units of ``runtime/effort.py``)."""


class Row(NamedTuple):
    """A process as ``ps`` knows it."""

    pid: int
    parent: int
    since: int
    """When it was started, microseconds."""
    command: str
    name: str
    resident: int = 0
    """Bytes."""
    seconds: float = 0.0
    """CPU time that it has had."""
    state: str = "Ssl"
    threads: int = 1
    user: str = "root"
    """As whom it runs, by name, or by number where that has none."""
    uid: int = 0
    thread: int = 0
    """The number of one of its threads, where these are listed."""
    cores: float = 0.0
    """In use now."""

    @property
    def size(self) -> int:
        """Kilobytes of its address space."""
        return (self.resident >> 10) * 9


@dataclass(slots=True)
class _Wish:
    """What a command line asks for."""

    columns: list[tuple[str, str]] = field(default_factory=list)
    """Names and headers."""
    form: str = ""
    """A form that has a letter: ``u``, ``f``, ``l``."""
    keys: list[str] = field(default_factory=list)
    pids: set[int] = field(default_factory=set)
    parents: set[int] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    headless: bool = False
    threads: str = ""
    """``L`` or ``T`` where threads are listed."""


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    width: int
    """Negative where the text stands on the left."""
    text: Callable[[Row, int, int], str]
    order: Callable[[Row, int, int], float | str]


def listing(rows: Iterable[Row], argv: Sequence[str], now: int, memory: int) -> ExecResult:
    """What ``ps`` prints of these processes. ``memory``: bytes that the machine has."""
    wish = _Wish()
    try:
        _read(wish, list(argv[1:]))
        columns = _columns(wish)
        keys = [(key.lstrip("+-"), key.startswith("-")) for key in wish.keys]
        for name, _ in keys:
            _known(name)
    except ValueError as error:
        return ExecResult(stderr=f"{error}\n\nUsage:\n ps [options]\n\n{_TRY}", exit_code=1)
    chosen = sorted(_chosen(rows, wish), key=attrgetter("pid"))
    if wish.threads:
        chosen = [
            row._replace(thread=row.pid + number, seconds=row.seconds / row.threads)
            for row in chosen
            for number in range(min(row.threads, MOST_THREADS))
        ]
    for name, falling in reversed(keys):
        chosen.sort(key=lambda row: _COLUMNS[name].order(row, now, memory), reverse=falling)
    effort.spend(len(chosen) * ROW_EFFORT)
    heads = [header for _, header in columns]
    lines = [] if wish.headless or not any(heads) else [_line(heads, columns)]
    lines += _lines(chosen, columns, now, memory)
    return ExecResult("".join(lines), exit_code=int(not chosen))


_TRY = (
    " Try 'ps --help <simple|list|output|threads|misc|all>'\n  or 'ps --help <s|l|o|t|m|a>'\n for additional help text.\n\n"
    "For more details see ps(1).\n"
)


def _read(wish: _Wish, words: list[str]) -> None:
    """The options: of Unix, of BSD without a dash, and long ones."""
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            _long(wish, word[2:], words)
        elif word.isdecimal() or (word.replace(",", "").isdecimal() and "," in word):
            wish.pids |= _numbers(word)
        else:
            _letters(wish, word.removeprefix("-"), words, dashed=word.startswith("-"))


def _long(wish: _Wish, option: str, words: list[str]) -> None:
    name, equals, value = option.partition("=")
    if name in ("no-headers", "no-heading", "noheader", "noheaders", "no-headings"):
        wish.headless = True
        return
    if name not in ("sort", "pid", "ppid", "format", "user", "cols", "columns", "width"):
        if name in ("forest", "headers", "deselect"):
            return
        raise ValueError("error: unknown gnu long option")
    if not equals:
        value = words.pop(0) if words else ""
    _given(wish, {"sort": "k", "pid": "p", "ppid": "P", "format": "o"}.get(name, ""), value)


_WITH_VALUE = "opCkugUGtsON"
"""Unix letters that take a value."""


def _letters(wish: _Wish, letters: str, words: list[str], *, dashed: bool) -> None:
    valued = _WITH_VALUE if dashed else "opkUtO"
    for at, letter in enumerate(letters):
        if letter in valued:
            value = letters[at + 1 :] or (words.pop(0) if words else "")
            _given(wish, letter, value)
            return
        if letter == "h" and not dashed:
            wish.headless = True
        elif letter in ("u", "l", "j") or (letter in "fF" and dashed):
            wish.form = wish.form or letter.lower()
        elif (letter in "LT" and dashed) or letter == "H":
            wish.threads = "T" if letter == "T" else "L"
        elif letter not in "aAexwWTHdrcfLmMZSvnV":
            raise ValueError(
                "error: unsupported option (BSD syntax)" if not dashed else "error: unknown option"
            )


def _given(wish: _Wish, letter: str, value: str) -> None:
    if letter == "o":
        rest = value
        while rest:
            item, comma, after = rest.partition(",")
            name, equals, header = item.partition("=")
            if equals and header:
                # A header is all the rest, commas and what follows them included.
                wish.columns.append((name, rest.partition("=")[2] if _known(name) else ""))
                return
            wish.columns.append((name, "" if equals and _known(name) else _known(name).header))
            rest = after
            if comma and not after:
                _known("")
    elif letter == "k":
        wish.keys += value.split(",")
    elif letter == "p":
        wish.pids |= _numbers(value)
    elif letter == "P":
        wish.parents |= _numbers(value)
    elif letter == "C":
        wish.names |= set(value.split(","))


def _numbers(value: str) -> set[int]:
    words = value.replace(",", " ").split()
    if not words or not all(word.isdecimal() and len(word) < 10 for word in words):
        raise ValueError("error: process ID list syntax error")
    return {int(word) for word in words}


def _known(name: str) -> _Column:
    found = _COLUMNS.get(name)
    if found is None:
        raise ValueError(f'error: unknown user-defined format specifier "{name}"')
    return found


def _columns(wish: _Wish) -> list[tuple[str, str]]:
    if wish.columns:
        return wish.columns
    names = list(_FORMS[wish.form])
    if wish.threads:
        # They come behind the numbers of their processes, and how many there are before the time of the start.
        at = names.index("ppid" if "ppid" in names else "pid") + 1
        names.insert(at, "lwp" if wish.threads == "L" else "spid")
        if wish.form == "f" and wish.threads == "L":
            names.insert(names.index("stime"), "nlwp")
    return [(name, _HEADERS.get((wish.form, name), _COLUMNS[name].header)) for name in names]


def _chosen(rows: Iterable[Row], wish: _Wish) -> Iterable[Row]:
    if not (wish.pids or wish.parents or wish.names):
        return rows
    return (
        row for row in rows if row.pid in wish.pids or row.parent in wish.parents or row.name in wish.names
    )


_NUMBER = "\0"
"""Stands for the number of a process in a line that many have in common."""


def _lines(rows: Sequence[Row], columns: Sequence[tuple[str, str]], now: int, memory: int) -> Iterator[str]:
    # Thousands of children of one process differ in their numbers: what else such a line says is made once a second.
    known: dict[tuple[object, ...], str] = {}
    widths = [max(_COLUMNS[name].width, len(header)) for name, header in columns if name == "pid"]
    for row in rows:
        key = (row.since // SECOND, *row[1:2], *row[3:])
        line = known.get(key)
        if line is None:
            cells = [
                _NUMBER if name == "pid" else _COLUMNS[name].text(row, now, memory) for name, _ in columns
            ]
            line = known[key] = _line(cells, columns)
        for width in widths:
            line = line.replace(_NUMBER.rjust(width), str(row.pid).rjust(width), 1)
        yield line


def _line(cells: Sequence[str], columns: Sequence[tuple[str, str]]) -> str:
    padded = []
    for cell, (name, header) in zip(cells, columns, strict=True):
        width = _COLUMNS[name].width
        wide = max(abs(width), len(header))
        padded.append(cell.ljust(wide) if width < 0 else cell.rjust(wide))
    padded[-1] = padded[-1].rstrip() if _COLUMNS[columns[-1][0]].width < 0 else padded[-1]
    return " ".join(padded) + "\n"


def started(since: int, now: int) -> str:
    """When a process was started, as ``START`` and ``STIME`` say it."""
    if format_date(since, "%F") == format_date(now, "%F"):
        return format_date(since, "%H:%M")
    return format_date(since, "%b%d" if format_date(since, "%Y") == format_date(now, "%Y") else "%Y")


def _share(row: Row, now: int) -> float:
    return 100.0 * row.seconds * SECOND / max(now - row.since, SECOND)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    days, rest = divmod(whole, 86_400)
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


def _elapsed(seconds: int) -> str:
    days, rest = divmod(seconds, 86_400)
    text = f"{rest // 60 % 60:02d}:{rest % 60:02d}"
    if days or rest >= 3600:
        text = f"{rest // 3600:02d}:{text}"
    return f"{days}-{text}" if days else text


def _column(
    header: str,
    width: int,
    text: Callable[[Row, int, int], str],
    order: Callable[[Row, int, int], float | str],
) -> _Column:
    return _Column(header, width, text, order)


def _named(header: str, width: int, text: Callable[[Row, int, int], str]) -> _Column:
    return _Column(header, width, text, text)


_PCPU = _column(
    "%CPU", 4, lambda row, now, _: f"{_share(row, now):.1f}", lambda row, now, _: _share(row, now)
)
_PMEM = _column(
    "%MEM", 4, lambda row, _, memory: f"{row.resident * 100 / memory:.1f}", lambda row, _, __: row.resident
)
_VSZ = _column("VSZ", 6, lambda row, _, __: str(row.size), lambda row, _, __: row.size)
_RSS = _column("RSS", 5, lambda row, _, __: str(row.resident >> 10), lambda row, _, __: row.resident)
_TTY = _named("TT", -8, lambda _, __, ___: "?")
_USER = _named("USER", -8, lambda row, _, __: row.user if len(row.user) < 9 else row.user[:7] + "+")
_THREADS = _column("NLWP", 4, lambda row, _, __: str(row.threads), lambda row, _, __: row.threads)
_THREAD = _column(
    "LWP", 7, lambda row, _, __: str(row.thread or row.pid), lambda row, _, __: row.thread or row.pid
)
_STIME = _column("STIME", 5, lambda row, now, _: started(row.since, now), lambda row, _, __: row.since)
_ETIMES = _column(
    "ELAPSED",
    7,
    lambda row, now, _: str((now - row.since) // SECOND),
    lambda row, now, _: now - row.since,
)
_ARGS = _named("COMMAND", -27, lambda row, _, __: row.command)
_CMD = _named("CMD", -27, lambda row, _, __: row.command)
_COMM = _named(
    "COMMAND", -15, lambda row, _, __: row.name[:15] + (" <defunct>" if row.state[0] == "Z" else "")
)

_COLUMNS: dict[str, _Column] = {
    "pid": _column("PID", 7, lambda row, _, __: str(row.pid), lambda row, _, __: row.pid),
    "ppid": _column("PPID", 7, lambda row, _, __: str(row.parent), lambda row, _, __: row.parent),
    "user": _USER,
    "euser": _USER,
    "ruser": _USER,
    "nlwp": _THREADS,
    "thcount": _THREADS,
    "lwp": _THREAD,
    "tid": _column("TID", 7, _THREAD.text, _THREAD.order),
    "spid": _column("SPID", 7, _THREAD.text, _THREAD.order),
    "uid": _named("UID", 5, lambda row, _, __: str(row.uid)),
    "pcpu": _PCPU,
    "%cpu": _PCPU,
    "c": _column(
        "C", 2, lambda row, now, _: str(int(_share(row, now))), lambda row, now, _: _share(row, now)
    ),
    "pmem": _PMEM,
    "%mem": _PMEM,
    "vsz": _VSZ,
    "vsize": _VSZ,
    "rss": _RSS,
    "rssize": _RSS,
    "tty": _TTY,
    "tt": _TTY,
    "stat": _named("STAT", -4, lambda row, _, __: row.state),
    "state": _named("S", -1, lambda row, _, __: row.state[0]),
    "s": _named("S", -1, lambda row, _, __: row.state[0]),
    "ni": _named("NI", 3, lambda _, __, ___: "0"),
    "pri": _named("PRI", 3, lambda _, __, ___: "19"),
    "stime": _STIME,
    "start_time": _column("START", 5, _STIME.text, _STIME.order),
    "start": _column("STARTED", 8, _STIME.text, _STIME.order),
    "lstart": _column(
        "STARTED",
        24,
        lambda row, _, __: format_date(row.since, "%a %b %e %T %Y"),
        lambda row, _, __: row.since,
    ),
    "etime": _column(
        "ELAPSED",
        11,
        lambda row, now, _: _elapsed((now - row.since) // SECOND),
        lambda row, now, _: now - row.since,
    ),
    "etimes": _ETIMES,
    "time": _column("TIME", 8, lambda row, _, __: _clock(row.seconds), lambda row, _, __: row.seconds),
    "cputime": _column("TIME", 8, lambda row, _, __: _clock(row.seconds), lambda row, _, __: row.seconds),
    "bsdtime": _column("TIME", 6, lambda row, _, __: used(row.seconds), lambda row, _, __: row.seconds),
    "args": _ARGS,
    "command": _ARGS,
    "cmd": _CMD,
    "comm": _COMM,
    "ucmd": _COMM,
    "ucomm": _COMM,
}

_FORMS = {
    "": ("pid", "tty", "time", "comm"),
    "u": ("user", "pid", "pcpu", "pmem", "vsz", "rss", "tty", "stat", "start_time", "bsdtime", "args"),
    "f": ("user", "pid", "ppid", "c", "stime", "tty", "time", "cmd"),
    "l": ("s", "uid", "pid", "ppid", "c", "pri", "ni", "rss", "tty", "time", "comm"),
    "j": ("pid", "ppid", "tty", "time", "comm"),
}
_HEADERS = {
    ("", "tty"): "TTY",
    ("", "comm"): "CMD",
    ("u", "tty"): "TTY",
    ("f", "user"): "UID",
    ("f", "tty"): "TTY",
    ("l", "tty"): "TTY",
    ("l", "comm"): "CMD",
    ("j", "tty"): "TTY",
    ("j", "comm"): "CMD",
}


def used(seconds: float) -> str:
    """CPU time in minutes and seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
