"""The ``submit`` command: how an agent hands in its diagnosis and its repair.

``submit diagnosis TEXT``, ``submit diagnosis --component ... --mechanism ...`` and ``submit mitigation`` are ordinary
commands of the workstation, and also lines that are understood without a shell, because prose is full of apostrophes that
a shell would choke on.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from sregym_env.tools.call import Submission, SubmissionStage
from sregym_env.tools.causes import FIELDS, MAX_CAUSES, Cause, handed_in, understood
from sregym_env.tools.taxonomy import told

USAGE = (
    'usage: submit diagnosis "TEXT"   hand in the root cause: which component, what is wrong with it\n'
    "       submit diagnosis --component NAME --kind KIND --name NAME --mechanism KEY --field FIELD\n"
    '                        --value VALUE --because "TEXT"   the same in closed answers; for several faults\n'
    "                        begin again with --component\n"
    "       submit diagnosis --mechanism nothing_wrong   where there is no fault; nothing is to be changed then\n"
    "       submit mechanisms         list the keys of --mechanism\n"
    "       submit mitigation         hand in the repaired system\n"
    "TEXT may also come from standard input: submit diagnosis <<'EOF' ... EOF"
)

_STAGES: dict[str, SubmissionStage] = {
    "diagnosis": "diagnosis",
    "diagnose": "diagnosis",
    "mitigation": "mitigation",
    "mitigate": "mitigation",
}

_LINE = re.compile(r"\s*submit(?:[ \t]+(?P<word>[A-Za-z_-]+)[:=]?)?(?P<rest>.*)\Z", re.DOTALL)
_HEREDOC = re.compile(r"\s*<<-?[ \t]*(['\"]?)(\w+)\1[ \t]*\n(?P<body>.*)\Z", re.DOTALL)
_MORE_COMMANDS = re.compile(r"[\"']\s*(?:&&|\|\||;)\s*[a-z]")
_COMPOUND = re.compile(r"\s*(?:&&|\|\||;|\||>|<)")
_FLAG = re.compile(rf"--({'|'.join([*FIELDS, 'components'])})(?:=(.*))?", re.DOTALL)


def from_argv(arguments: Sequence[str], stdin: str = "") -> Submission | str:
    """Understand ``submit``'s arguments (without the command's name), or the text to print."""
    if arguments and arguments[0].lower() == "mechanisms":
        return told()
    if not arguments or arguments[0].lower() not in _STAGES:
        return USAGE
    stage = _STAGES[arguments[0].lower()]
    words = [word for word in arguments[1:] if word != "-"]
    if stage == "diagnosis" and words and _FLAG.fullmatch(words[0]):
        return _structured(words)
    return Submission(stage, (" ".join(words) or stdin).strip())


def from_line(line: str) -> Submission | str | None:
    """Understand a line that begins with ``submit`` as a person means it.

    None when the line is not a plain submission (another command, a pipeline): the shell should have it.
    """
    match = _LINE.match(line)
    if match is None:
        return None
    word = (match["word"] or "").lower()
    if word == "mechanisms":
        return None
    if word not in _STAGES:
        starts_a_shell_line = _COMPOUND.match(match["rest"]) is not None
        return None if starts_a_shell_line or not re.match(r"\s*submit(\s|$)", line) else USAGE
    rest = match["rest"]
    if rest and not rest[0].isspace() and rest[0] not in "\"'<":
        return None
    if _COMPOUND.match(rest) and not _HEREDOC.match(rest):
        return None
    # `submit diagnosis "..." && kubectl ...` is a line for the shell; unquoted prose may hold anything.
    if rest.lstrip()[:1] in {'"', "'"} and _MORE_COMMANDS.search(rest):
        return None
    if _STAGES[word] == "diagnosis" and re.match(rf"\s+{_FLAG.pattern.partition('(?:=')[0]}(?:\s|=|$)", rest):
        return _flags(rest)
    return Submission(_STAGES[word], _prose(rest))


def _flags(rest: str) -> Submission | str | None:
    if re.search(r"[\"'\w]\s*(?:&&|\|\||;|\|)\s*[a-z]", rest):
        return None
    try:
        words = shlex.split(rest)
    except ValueError:
        # An apostrophe in the sentence: what is left of it belongs to the sentence.
        words = re.split(r"\s+(?=--)", rest.strip())
        words = [part.strip("\"'") for word in words for part in word.split(None, 1)]
    return _structured(words)


def _structured(words: Sequence[str]) -> Submission | str:
    """A structured diagnosis from its flags, or what is wrong with it. ``--component`` begins the next cause."""
    entries: list[dict[str, list[str]]] = []
    flag = ""
    for word in words:
        match = _FLAG.fullmatch(word)
        if match is not None:
            flag = "component" if match[1] == "components" else match[1]
            only_components = bool(entries) and set(entries[-1]) == {"component"}
            if not entries or (flag in entries[-1] and not (flag == "component" and only_components)):
                entries.append({})
            entries[-1].setdefault(flag, [])
            if match[2] is not None:
                entries[-1][flag].append(match[2])
        elif word.startswith("--"):
            return f"submit diagnosis: unknown flag {word.partition('=')[0][:40]}\n{USAGE}"
        elif flag:
            entries[-1][flag].append(word)
        else:
            return USAGE
    causes: list[Cause] = []
    for entry in entries[: MAX_CAUSES + 1]:
        said = {name: ("," if name == "component" else " ").join(values) for name, values in entry.items()}
        cause = understood(said)
        if isinstance(cause, str):
            return f"submit diagnosis: {cause}"
        causes.append(cause)
    if len(entries) > MAX_CAUSES:
        return f"submit diagnosis: {len(entries)} causes; at most {MAX_CAUSES} are read"
    return Submission("diagnosis", handed_in(causes))


def _prose(rest: str) -> str:
    heredoc = _HEREDOC.match(rest)
    if heredoc is not None:
        return _until_delimiter(heredoc["body"], heredoc[2])
    text = rest.strip()
    if text[:1] in {'"', "'"}:
        return _unquoted(text)
    return text


def _unquoted(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError:
        return text.strip("\"'").strip()
    return " ".join(words).strip()


def _until_delimiter(body: str, delimiter: str) -> str:
    lines = []
    for line in body.split("\n"):
        if line.strip() == delimiter:
            break
        lines.append(line)
    return "\n".join(lines).strip()
