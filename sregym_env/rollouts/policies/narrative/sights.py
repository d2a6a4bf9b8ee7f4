"""What an engineer makes of an output: who is not ready, what an error says, whether users are served.

Everything said here is taken from the text that was printed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

Kind = Literal[
    "alerts", "users", "load", "pods", "events", "endpoints", "workloads", "nodes", "top", "logs", "describe", "read"
]  # fmt: skip
"""What a command line shows."""

QUOTED = 150
"""Characters of a line that are quoted."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What was noticed in one output."""

    remark: str
    """A sentence in the first person; empty if there is nothing to say."""
    trouble: bool = False
    """Whether it shows that something is wrong."""
    red: tuple[tuple[str, str], ...] = ()
    """Pods that are not ready, with their status."""
    proof: str = ""
    """The line that shows what was looked for."""


_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"^alerts\b", "alerts"),
    (r"^curl ", "users"),
    (r"\blogs job/|\blogs \S*(?:wrk|load|visitor)", "load"),
    (r"\blogs\b", "logs"),
    (r"\bget events\b", "events"),
    (r"\bget endpoints?\b", "endpoints"),
    (r"\bget nodes\b", "nodes"),
    (r"\btop\b", "top"),
    (r"\bdescribe\b", "describe"),
    (r"\bget (?:pods?|po)\b(?!.*-o (?:yaml|json))", "pods"),
    (r"\bget (?:deployments?|deploy|statefulsets?|daemonsets?)(?=[, ]|$)(?!.*-o (?:yaml|json))", "workloads"),
)


def kind_of_look(command: str) -> Kind:
    """What a command line shows."""
    return next((kind for pattern, kind in _KINDS if re.search(pattern, command)), "read")


def sight(
    command: str,
    text: str,
    wanted: Iterable[str],
    chance: Random,
    field: str = "",
    common: Collection[str] = (),
) -> Sight:
    """What is to be noticed in the output of a command, looking out for the values ``wanted`` of a ``field``.

    ``common``: values that are also names of healthy things.
    """
    kind = kind_of_look(command)
    proof = pointing(text, wanted, field, common)
    refused = re.search(r"^Error from server.*$", text, re.MULTILINE)
    if refused:
        return Sight(f"The server says: {quoted(refused.group())}.", True)
    if kind == "pods":
        return _pods(text, chance)
    if kind == "users":
        return _users(text, chance)
    if '"user" : ' in text and kind == "read":
        return _accounts(text)
    if kind in ("describe", "read", "nodes", "endpoints", "workloads") and proof:
        return Sight(_say(_FOUND, chance, line=quoted(proof)), True, proof=proof)
    return _READERS[kind](text, chance)


SHORT = 4
"""Values with fewer characters stand anywhere."""


def pointing(text: str, wanted: Iterable[str], field: str = "", common: Collection[str] = ()) -> str:
    """The line that shows one of the values, the longest value first; empty if none is shown.

    A value that is short, or ``common``, is shown only by a line that names its field or follows one that does.
    """
    lines = text.split("\n")
    words = [word.lower() for word in re.findall(r"[A-Za-z]{3,}", field)]
    for value in sorted(wanted, key=len, reverse=True):
        before = "" if value.startswith("/") else r"(?<![\w.])"
        pattern = re.compile(rf"{before}{re.escape(value)}(?!\w)")
        found = [number for number, line in enumerate(lines) if pattern.search(line)]
        for number in found:
            if any(word in lines[number].lower() for word in words):
                return lines[number].strip()
            heading = lines[number - 1].strip() if number else ""
            if heading.endswith(":") and any(word in heading.lower() for word in words):
                return f"{heading} {lines[number].strip()}"
        if found and len(value) >= SHORT and value not in common:
            # A manifest repeats itself in the annotation that kubectl apply leaves.
            shortest = [lines[number] for number in found if len(lines[number]) < 300]
            return (shortest or [lines[found[0]]])[0].strip()
    return ""


def quoted(line: str) -> str:
    """A line in quotes, shortened in its middle: what matters stands at its ends."""
    flat = re.sub(r"\s+", " ", line.strip())
    if len(flat) > QUOTED:
        flat = f"{flat[: QUOTED // 2].rstrip()} ... {flat[-QUOTED // 2 :].lstrip()}"
    return f'"{flat}"' if '"' not in flat else f"`{flat}`"


_FOUND = (
    "There it is: {line}.",
    "This line matters: {line}.",
    "I see {line} here.",
    "It says {line}.",
    "Here is something: {line}.",
)


def _say(phrases: Sequence[str], chance: Random, **named: object) -> str:
    return chance.choice(phrases).format(**named)


# --- tables ---------------------------------------------------------------------------------------

_ROW = re.compile(
    r"^(?:\S+\s+)?(?P<name>\S+)\s+(?P<ready>\d+)/(?P<wanted>\d+)\s+(?P<status>\S+)", re.MULTILINE
)


def unready(listing: str) -> tuple[tuple[str, str], ...]:
    """Pods of a ``kubectl get pods`` listing that are not ready and are still wanted, with their status."""
    return tuple(
        (row["name"], row["status"])
        for row in _ROW.finditer(listing)
        if row["ready"] != row["wanted"] and row["status"] not in ("Completed", "Terminating")
    )


def _pods(text: str, chance: Random) -> Sight:
    red = unready(text)
    if not red:
        empty = not _ROW.search(text)
        phrases = ("It lists no pods.",) if empty else _ALL_READY
        return Sight(chance.choice(phrases))
    names = [f"{name} ({status})" for name, status in red[:2]]
    more = f", and {len(red) - 2} more are not ready either" if len(red) > 2 else ""
    phrases = _NOT_READY if len(red) == 1 else _SOME_NOT_READY
    return Sight(_say(phrases, chance, names=" and ".join(names), more=more), True, red)


_ALL_READY = (
    "Every pod is ready at this moment.",
    "All of these pods are ready; the pods' state alone does not give it away.",
    "The pods look well just now, all of them ready.",
)
_NOT_READY = (
    "One pod is not ready: {names}{more}.",
    "Only {names} is not ready{more}.",
    "{names} stands out, it is not ready{more}.",
)
_SOME_NOT_READY = (
    "Not ready are {names}{more}.",
    "Some pods are not ready: {names}{more}.",
    "{names} are not ready{more}.",
)


def _workloads(text: str, chance: Random) -> Sight:
    short = [
        (row["name"], f"{row['ready']} of {row['wanted']}")
        for row in re.finditer(r"^(?P<name>\S+)\s+(?P<ready>\d+)/(?P<wanted>\d+)\s", text, re.MULTILINE)
        if row["ready"] != row["wanted"] or row["wanted"] == "0"
    ]
    if not short:
        return Sight(
            chance.choice(("Every workload has the replicas it wants.", "No workload lacks a replica."))
        )
    told = " and ".join(f"{name} has {count}" for name, count in short[:3])
    return Sight(f"Not all replicas are ready: {told}.", True)


def _nodes(text: str, chance: Random) -> Sight:
    odd = re.findall(r"^(\S+)\s+(\S*(?:NotReady|SchedulingDisabled)\S*)", text, re.MULTILINE)
    if not odd:
        return Sight(
            chance.choice(("The nodes are all Ready.", "Nothing is wrong with the nodes at first sight."))
        )
    told = ", ".join(f"{name} is {status}" for name, status in odd)
    return Sight(f"The nodes are not as they should be: {told}.", True)


def _top(text: str, chance: Random) -> Sight:
    used = [(int(cpu), name) for name, cpu in re.findall(r"^(\S+)\s+(\d+)m\s", text, re.MULTILINE)]
    if not used:
        return Sight("")
    cpu, name = max(used)
    return Sight(_say(("{name} uses the most CPU, {cpu}m.", "At the top stands {name} with {cpu}m of CPU."), chance, name=name, cpu=cpu))  # fmt: skip


def _endpoints(text: str, chance: Random) -> Sight:
    rows = re.findall(r"^(\S+)[ \t]+(\S*)[ \t]+\d+[smhd]", text, re.MULTILINE)
    empty = [name for name, addresses in rows if not addresses or addresses == "<none>"]
    if empty:
        return Sight(f"{' and '.join(empty[:2])} {'have' if len(empty) > 1 else 'has'} no endpoints.", True)
    if len(rows) == 1:
        return Sight(f"The Service has endpoints: {rows[0][1]}.")
    return Sight(chance.choice(("Every Service has endpoints.", "No Service lacks endpoints.")))


# --- users ----------------------------------------------------------------------------------------


def answered(text: str) -> str:
    """The status with which users were answered; ``000`` for none, empty if nobody was asked."""
    found = re.search(r"^(?:HTTP/\S+ )?(\d{3})\b", text, re.MULTILINE)
    return found.group(1) if found else "000" if "curl: (" in text else ""


def _users(text: str, chance: Random) -> Sight:
    code = answered(text)
    failed = re.search(r"curl: \(\d+\) (.*)", text)
    if code[:1] in ("2", "3"):
        return Sight(_say(("This request is answered with {code}.", "{code}: this one works."), chance, code=code))  # fmt: skip
    if failed:
        return Sight(f"The request fails: {quoted(failed.group(1))}.", True)
    if not code:
        return Sight("There is no answer at all.", True)
    body = next(
        (line for line in reversed(text.strip().split("\n")) if "error" in line or "desc" in line), ""
    )
    if body:
        return Sight(f"The answer is {code}, and it says {quoted(body)}.", True)
    return Sight(_say(("Users get {code} for this.", "{code}: this request fails.", "The answer is {code}, so users do suffer."), chance, code=code), True)  # fmt: skip


def _load(text: str, chance: Random) -> Sight:
    lost = re.findall(r"^unable to (?:connect|resolve) .*", text, re.MULTILINE)
    if lost:
        return Sight(f"The load generator cannot even begin its round: {quoted(lost[-1])}.", True)
    rounds = re.findall(r"(\d+) requests in \S+ (?:\S+ read)\n\s*Non-2xx or 3xx responses: (\d+)", text)
    if rounds:
        total, bad = rounds[-1]
        return Sight(f"The load generator counts {bad} bad answers among {total} in its last round.", True)
    if re.search(r"\d+ requests in ", text):
        return Sight("The load generator's last rounds show no bad answers.")
    return _logs(text, chance)


# --- prose ----------------------------------------------------------------------------------------

_WRONG = re.compile(
    r"\b(?:FTL|ERR|ERROR|FATAL|PANIC|panic|fatal|[Ee]rror|exception|[Rr]efused|timed? ?out|no such host|not found|"
    r"denied|not authorized|[Aa]uthentication failed|OOM\w*|[Ff]ailed|cannot|unable|unavailable|Unavailable|invalid|"
    r"still waiting|deadline exceeded|in use)\b|\"s\":\"[FE]\""
)
_FRAME = re.compile(r"^\s|^goroutine|^main\.|\.go:\d+ \+0x|^github\.com")
"""Lines of a stack trace."""


_TELLING = re.compile(
    r"no such host|refused|not authorized|Authentication failed|Input/output|I/O error|read error|UPGRADE|panic:|"
    r"no reachable|still waiting|in use|not found|DeadlineExceeded|timeout",
    re.IGNORECASE,
)
"""What says more than that something failed."""


def complaint(text: str) -> str:
    """The last line of a log that says what is wrong, or at least that something is; empty if none does."""
    lines = [line for line in text.split("\n") if _WRONG.search(line) and not _FRAME.search(line)]
    telling = [line for line in lines if _TELLING.search(line)]
    line = (telling or lines or [""])[-1].strip()
    # The message of a structured line, without what comes before it in each of them.
    start = line.find('"msg":')
    return line[start:] if start > 0 else line


def _logs(text: str, chance: Random) -> Sight:
    if text.startswith("error:"):
        return Sight(f"There is no log to read: {quoted(text)}.", True)
    line = complaint(text)
    if line:
        said = ("The log says {line}.", "Its last complaint is {line}.", "In the log I read {line}.")
        return Sight(_say(said, chance, line=quoted(line)), True, proof=line)
    if not text.strip():
        return Sight("The log is empty.")
    return Sight(
        chance.choice(("The log shows no error.", "There is no complaint in this log.", "The log is quiet."))
    )


def _events(text: str, chance: Random) -> Sight:
    rows = re.findall(r"^\S+(?: \(\S+.*?\))?\s+Warning\s+(\S+)\s+(\S+)\s+(.*)$", text, re.MULTILINE)
    if not rows:
        return Sight(chance.choice(("The events show no warning.", "No warning among the events.")))
    reason, thing, message = rows[-1]
    said = (
        "A warning stands out, {reason} on {thing}: {line}.",
        "The events tell of {thing}: {reason}, {line}.",
    )
    return Sight(_say(said, chance, reason=reason, thing=thing, line=quoted(message)), True)


def _describe(text: str, chance: Random) -> Sight:
    rows = re.findall(r"^\s+Warning\s+(\S+)\s+(.*)$", text, re.MULTILINE)
    if rows:
        reason, rest = rows[-1]
        message = re.split(r"\s{2,}", rest.strip())[-1]
        return Sight(f"Its events say {reason}: {quoted(message)}.", True)
    short = re.search(r"^Replicas:\s+(.*)$", text, re.MULTILINE)
    if short and re.search(r"\b[1-9]\d* unavailable|\b0 desired", short.group(1)):
        return Sight(f"Its replicas: {quoted(short.group(1))}.", True)
    return Sight(chance.choice(("Nothing in it looks wrong.", "I find nothing odd in this description.")))


def _read(text: str, chance: Random) -> Sight:
    return Sight("")


def _accounts(text: str) -> Sight:
    """The users that a MongoDB database lists, with their roles."""
    users = re.split(r'"user" : ', text)[1:]
    told = [f"{_unquoted(user)} with {_roles(user)}" for user in users]
    return Sight(f"The accounts are {'; '.join(told)}.", True)


def _unquoted(user: str) -> str:
    return user.partition(",")[0].strip().strip('"')


def _roles(user: str) -> str:
    found = re.findall(r'"role" : "(\w+)",\s+"db" : "([\w-]+)"', user)
    return " and ".join(f"{role} on {database}" for role, database in found) or "no role"


def _alerts(text: str, chance: Random) -> Sight:
    rows = re.findall(r"^(?:firing|pending)\s+\S+\s+\S+\s+(\S+)\s+(.*)$", text, re.MULTILINE)
    if not rows:
        return Sight(chance.choice(("No alert is firing.", "The alerts are silent.")))
    name, summary = chance.choice(rows)
    if len(rows) == 1:
        return Sight(f"The one alert says {quoted(summary)}.", True)
    said = (
        "Among the alerts: {line}.",
        "The alerts say {line}.",
        "{count} alerts, one of them {name}: {line}.",
    )
    return Sight(_say(said, chance, line=quoted(summary), count=len(rows), name=name), True)


_READERS = {
    "alerts": _alerts, "load": _load, "events": _events, "endpoints": _endpoints, "workloads": _workloads,
    "nodes": _nodes, "top": _top, "logs": _logs, "describe": _describe, "read": _read,
}  # fmt: skip
