"""``python3``: modules that people call by name, and programs in a small part of the language (``shell/python/``).

Whatever is typed stays inside this process and never reaches its own interpreter. What that part does not know is said,
with an exit code that is not 0, and with what does the job instead.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from typing import Any

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.effort import spend
from sregym_env.runtime.numbers import whole
from sregym_env.shell.commands.arguments import UsageError, options
from sregym_env.shell.python.run import run
from sregym_env.shell.shell import Shell

VERSION = "Python 3.11.2"
COST = 0.25
"""What a character costs to read and to write again (units of ``runtime/effort.py``)."""

MOST_INDENTED = 32 * 1024 * 1024
"""Blanks that all indentation together may have: a deep document is as long as its depth by its length."""

NO_MODULE = (
    "python3: the module {} cannot be run here (only json.tool and base64 can); use jq, awk or a shell\n"
)
_USAGE = "usage: python3 [option] ... [-c cmd | -m mod | file | -] [arg] ...\nTry `python -h' for more information.\n"
_FLAGS = frozenset("-B -E -I -O -OO -P -S -b -bb -d -i -q -s -u -v -x".split())


def python(argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``python3``."""
    words = list(argv[1:])
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word in ("-V", "--version", "-VV"):
            return ExecResult(f"{VERSION}\n")
        if word in ("-h", "--help", "-?"):
            return ExecResult(_USAGE)
        if word in ("-W", "-X"):
            words = words[1:]
        elif word == "-m":
            return _module(words, stdin, shell)
        elif word.startswith("-c"):
            if word == "-c" and not words:
                return ExecResult(stderr=f"Argument expected for the -c option\n{_USAGE}", exit_code=2)
            code, rest = (words[0], words[1:]) if word == "-c" else (word[2:], words)
            return run(code, ["-c", *rest], stdin, shell)
        elif word not in _FLAGS:
            shown = word[:2] if not word.startswith("--") else word
            return ExecResult(stderr=f"unknown option {shown}\n{_USAGE}", exit_code=2)
    if not words or words[0] == "-":
        return run(stdin, words or [""], "", shell, "<stdin>")
    full = shell.resolve(words[0])
    text = shell.files.text(full)
    if text is None:
        complaint = f"/usr/bin/python3: can't open file '{full}': [Errno 2] No such file or directory\n"
        return ExecResult(stderr=complaint, exit_code=2)
    return run(text, words, stdin, shell, full)


def _module(words: list[str], stdin: str, shell: Shell) -> ExecResult:
    if not words:
        return ExecResult(stderr=f"Argument expected for the -m option\n{_USAGE}", exit_code=2)
    name, rest = words[0], words[1:]
    if name == "json.tool":
        return _json_tool(rest, stdin, shell)
    if name == "base64":
        return _base64(rest, stdin, shell)
    if name in ("http.server", "pip", "venv", "timeit", "pdb", "unittest", "yaml", "this"):
        return ExecResult(stderr=NO_MODULE.format(name), exit_code=1)
    return ExecResult(stderr=f"/usr/bin/python3: No module named {name}\n", exit_code=1)


_TOOL_USAGE = (
    "usage: python3 -m json.tool [-h] [--sort-keys] [--no-ensure-ascii] [--json-lines] [--indent INDENT | --tab | "
    "--no-indent | --compact] [infile] [outfile]\n"
)


def _json_tool(words: list[str], stdin: str, shell: Shell) -> ExecResult:
    try:
        given, operands = options(
            words,
            "h",
            {"help": "h", "sort-keys": "s", "no-ensure-ascii": "a", "json-lines": "l", "indent": "i:", "tab": "t",
             "no-indent": "n", "compact": "c"},
        )  # fmt: skip
        if len(operands) > 2:
            raise UsageError("unrecognized arguments: " + " ".join(operands[2:]))
    except UsageError as error:
        return ExecResult(stderr=f"{_TOOL_USAGE}json.tool: error: {error}\n", exit_code=2)
    flags = dict(given)
    if "h" in flags:
        return ExecResult(_TOOL_USAGE)
    indent = flags.get("i", "4")
    if whole(indent, 33) > 32:
        text = f"{_TOOL_USAGE}json.tool: error: argument --indent: invalid int value: '{indent}'\n"
        return ExecResult(stderr=text, exit_code=2)
    text = stdin
    if operands and operands[0] != "-":
        found = shell.files.text(shell.resolve(operands[0]))
        if found is None:
            missing = f"can't open '{operands[0]}': [Errno 2] No such file or directory: '{operands[0]}'"
            return ExecResult(
                stderr=f"{_TOOL_USAGE}json.tool: error: argument infile: {missing}\n", exit_code=2
            )
        text = found
    spend(len(text) * COST)
    if _widest(text) * int(indent) > MOST_INDENTED:
        return ExecResult(stderr="MemoryError\n", exit_code=1)
    try:
        documents = [json.loads(line) for line in text.splitlines()] if "l" in flags else [json.loads(text)]
        out = "".join(f"{_dumped(document, flags, int(indent))}\n" for document in documents)
    except ValueError as error:
        return ExecResult(stderr=f"{error}\n", exit_code=1)
    except RecursionError:
        return ExecResult(stderr="RecursionError: maximum recursion depth exceeded\n", exit_code=1)
    spend(len(out) * COST)
    if len(operands) > 1:
        shell.files.put_text(shell.resolve(operands[1]), out)
        return ExecResult()
    return ExecResult(out)


_BRACKETS = re.compile(r"[\[\]{}]")


def _widest(text: str) -> int:
    """At most how many levels all lines of a document together are indented by."""
    depth = deepest = 0
    for char in _BRACKETS.findall(text):
        depth += 1 if char in "[{" else -1
        deepest = max(deepest, depth)
    return deepest * (text.count(",") + 2 * text.count("[") + 2 * text.count("{"))


def _dumped(document: Any, flags: dict[str, str], indent: int) -> str:
    layout: dict[str, Any] = {"indent": indent}
    if "c" in flags:
        layout = {"separators": (",", ":")}
    elif "n" in flags:
        layout = {}
    elif "t" in flags:
        layout = {"indent": "\t"}
    return json.dumps(document, sort_keys="s" in flags, ensure_ascii="a" not in flags, **layout)


def _base64(words: list[str], stdin: str, shell: Shell) -> ExecResult:
    try:
        given, operands = options(words, "deut", {})
    except UsageError:
        return ExecResult(stderr="usage: base64 [-d|-e|-u|-t] [file|-]\n", exit_code=2)
    text = stdin
    if operands and operands[0] != "-":
        found = shell.files.text(shell.resolve(operands[0]))
        if found is None:
            missing = f"FileNotFoundError: [Errno 2] No such file or directory: '{operands[0]}'\n"
            return ExecResult(stderr=missing, exit_code=1)
        text = found
    spend(len(text) * COST)
    if {"d", "u"} & {letter for letter, _ in given}:
        try:
            return ExecResult(base64.b64decode(text.encode()).decode("utf-8", "replace"))
        except (binascii.Error, ValueError) as error:
            return ExecResult(stderr=f"binascii.Error: {error}\n", exit_code=1)
    return ExecResult(base64.encodebytes(text.encode("utf-8", "surrogateescape")).decode())
