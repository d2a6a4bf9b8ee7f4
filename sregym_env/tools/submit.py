"""The ``submit`` command: how an agent hands in its diagnosis and its repair.

``submit diagnosis TEXT`` and ``submit mitigation`` are ordinary commands of the workstation, and also lines
that are understood without a shell, because prose is full of apostrophes that a shell would choke on.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from sregym_env.tools.call import Submission, SubmissionStage

USAGE = (
    'usage: submit diagnosis "TEXT"   hand in the root cause: which component, what is wrong with it\n'
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


def from_argv(arguments: Sequence[str], stdin: str = "") -> Submission | str:
    """Understand ``submit``'s arguments (without the command's name), or the usage text to print."""
    if not arguments or arguments[0].lower() not in _STAGES:
        return USAGE
    stage = _STAGES[arguments[0].lower()]
    words = [word for word in arguments[1:] if word != "-"]
    return Submission(stage, (" ".join(words) or stdin).strip())


def from_line(line: str) -> Submission | str | None:
    """Understand a line that begins with ``submit`` as a person means it.

    None when the line is not a plain submission (another command, a pipeline): the shell should have it.
    """
    match = _LINE.match(line)
    if match is None:
        return None
    word = (match["word"] or "").lower()
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
    return Submission(_STAGES[word], _prose(rest))


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
