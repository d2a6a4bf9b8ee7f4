"""Whether a text is meant for the shell, and what in it the shell would not look at.

A command may quote anything: a manifest in JSON, a page of a log with tool calls in it. A model may write anything before
a call: prose with apostrophes. What begins with a command's name is read as a shell would; all else is prose.
"""

from __future__ import annotations

import re

from sregym_env.shell import builtins
from sregym_env.shell.commands.library import LIBRARY

Span = tuple[int, int]
"""From an index to the index behind it."""

_OWN = frozenset(
    "kubectl k curl alerts sleep timeout time date submit hostname whoami which help jobs fg bg kill wait disown".split()
)
_RESERVED = frozenset("if for while until case select function coproc".split())
_ABSENT = frozenset(
    "apk apt apt-get bash chmod chown crictl ctr dig df docker du edit env ethtool exec free git go grpcurl helm history host "
    "htop ifconfig iostat ip iptables istioctl journalctl k9s kustomize less ls lsof man mkdir mongo mongosh more mount mv "
    "mysql nano nc netstat node nohup npm nslookup openssl perl pgrep ping pip pkill podman promql logql traces ps psql "
    "python python3 redis-cli route rm rsync scp service sh ss ssh stat strace su sudo systemctl tcpdump telnet top touch "
    "tracepath traceroute tree uname uptime vi vim watch wget yq zsh".split()
)
"""Commands that people try though the workstation may not have them."""

COMMANDS = frozenset({*LIBRARY, *builtins.TABLE, *_OWN, *_RESERVED, *_ABSENT})
"""First words by which a line is known as one for the shell."""

_FIRST = re.compile(
    r"(?:\#[^\n]*+\n\s*+)*+(?:\$[ \t]+)?(?P<assigned>[A-Za-z_]\w*\+?=(?!=))?"
    r"(?P<word>\[\[?(?=\s)(?!\s*\{)|[({!](?=[\s(])(?!\s*\")|[A-Za-z_./~][\w./~:+-]*)?(?P<behind>.?)",
    re.DOTALL,
)

_TOKEN = re.compile(
    r"\\."
    r"|\$'(?:[^'\\]|\\.)*+'"
    r"|'[^']*+'"
    r'|"(?:[^"\\]|\\.)*+"'
    r"|<<<"
    r"|<<-?[ \t]*(?P<quote>['\"]?)(?P<delimiter>[A-Za-z_]\w*)(?P=quote)"
    r"|(?<![^\s;&|(])\#[^\n]*+"
    r"|\n",
    re.DOTALL,
)


def is_command(text: str) -> bool:
    """Whether a text begins with the name of a command, or as a shell's compound command does."""
    match = _FIRST.match(text)
    assert match is not None
    word = match["word"]
    if match["assigned"] or word is None:
        return match["assigned"] is not None
    if match["behind"] and not (match["behind"].isspace() or match["behind"] in ";|&<>()"):
        return False
    return word in COMMANDS or word[0] in "[({!" or word.startswith(("./", "/", "~/", "../"))


def quoted(text: str) -> list[Span]:
    """What a shell takes as it stands: quotations, here-documents and comments. Quotes that stay open quote nothing."""
    spans: list[Span] = []
    waiting: list[str] = []
    index = 0
    while (match := _TOKEN.search(text, index)) is not None:
        index = match.end()
        if match["delimiter"]:
            waiting.append(match["delimiter"])
        elif match[0] == "\n":
            for delimiter in waiting:
                start = index
                index = _behind_document(text, start, delimiter)
                spans.append((start, index))
            waiting = []
        elif match[0][0] in "'\"#$":
            spans.append(match.span())
    return spans


def _behind_document(text: str, start: int, delimiter: str) -> int:
    """The index behind a here-document; that of the text's end where it is not closed, which bash allows."""
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if text[start:end].strip("\t ") == delimiter:
            return end
        start = end + 1
    return len(text)


def masked(text: str) -> str:
    """A shell line in which what the shell would not look at is blanked out; other texts as they are."""
    if not is_command(text):
        return text
    pieces = []
    index = 0
    for start, end in quoted(text):
        pieces += [text[index:start], " " * (end - start)]
        index = end
    return "".join([*pieces, text[index:]])


_BULLET = re.compile(r"(?:[-*\u2022#>]+|\d+[.)])[ \t]+")
_OPERATORS = ("|", "&&", "$(", " > ", "`")


def is_prose(text: str) -> bool:
    """Whether a text is plainly addressed to a person: sentences, and not a line among them for a shell.

    No command of ours begins with a capital letter.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines or not _speaks(lines[0]):
        return False
    if any(operator in text for operator in _OPERATORS):
        return False
    if len(text.split()) < 4 and lines[-1][-1] not in ".!?:":
        return False
    return all(_speaks(line) or _BULLET.match(line) is not None for line in lines)


def _speaks(line: str) -> bool:
    first, rest = line[0], line[1:2]
    if not first.isalpha() or "=" in line.split(maxsplit=1)[0]:
        return False
    return (first.isupper() and (not rest or not rest.isupper())) or not first.isascii()
