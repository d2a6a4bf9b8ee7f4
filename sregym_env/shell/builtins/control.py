"""Builtins that run other things, or end them."""

from __future__ import annotations

import re
from typing import Any

from sregym_env.shell import conditions
from sregym_env.shell.flow import Exit, Return, ShellError
from sregym_env.shell.interpreter import Interpreter
from sregym_env.shell.parameters import quoted

_RESERVED = frozenset(
    "if then else elif fi do done case esac while until for select in function { } ! [[ ]] time".split()
)


def nothing(run: Interpreter, args: list[Any]) -> int:
    """``:`` and ``true``."""
    return 0


def false(run: Interpreter, args: list[Any]) -> int:
    """``false``."""
    return 1


def eval_(run: Interpreter, args: list[Any]) -> int:
    """``eval word...``."""
    words = args[1:] if args[:1] == ["--"] else args
    text = " ".join(words)
    if not text.strip():
        return 0
    try:
        return run.source(text)
    except ShellError as error:
        run.complain(f"eval: {error}" if error.code == 2 else str(error))
        if error.code != 2:
            raise Exit(error.code) from None
        return error.code


def source(run: Interpreter, args: list[Any]) -> int:
    """``source file [argument...]``."""
    if not args:
        run.complain("source: filename argument required")
        return 2
    run.flush()
    text = run.files.text(run.files.resolve_path(run.session.cwd, args[0]))
    if text is None:
        run.complain(f"{args[0]}: No such file or directory")
        return 1
    outer = run.session.arguments
    if len(args) > 1:
        run.session.arguments = tuple(args[1:])
    run.functions += 1
    try:
        return run.source(text)
    except Return as end:
        return end.code
    finally:
        run.functions -= 1
        run.session.arguments = outer


def exec_(run: Interpreter, args: list[Any]) -> int:
    """``exec [command...]``; redirections without a command stay for the rest of the script."""
    words = list(args)
    while words and words[0] in ("-c", "-l", "-cl", "-lc", "-a", "--"):
        if words.pop(0) == "-a":
            # What the command is told it is called.
            words = words[1:]
    if not words:
        return 0
    raise Exit(run.program(words), asked=True)


def _code(run: Interpreter, args: list[Any], name: str) -> int:
    if not args:
        return run.session.exit_code
    text = str(args[0]).strip()
    if not text.lstrip("+-").isdecimal():
        run.complain(f"{name}: {args[0]}: numeric argument required")
        return 2
    # Python refuses to convert thousands of digits, which an agent may type.
    return int(text[:20]) & 255


def exit_(run: Interpreter, args: list[Any]) -> int:
    """``exit [code]``."""
    raise Exit(_code(run, args, "exit"), asked=True)


def return_(run: Interpreter, args: list[Any]) -> int:
    """``return [code]``."""
    if not run.functions:
        run.complain("return: can only `return' from a function or sourced script")
        return 1
    raise Return(_code(run, args, "return"))


def _levels(run: Interpreter, args: list[Any]) -> int:
    return int(args[0][:9]) if args and str(args[0]).isdecimal() and int(args[0][:9]) > 0 else 1


def break_(run: Interpreter, args: list[Any]) -> int:
    """``break [levels]``."""
    run.leave(_levels(run, args), again=False)
    return 0


def continue_(run: Interpreter, args: list[Any]) -> int:
    """``continue [levels]``."""
    run.leave(_levels(run, args), again=True)
    return 0


def trap(run: Interpreter, args: list[Any]) -> int:
    """``trap [action signal...]``: the end of a script and failures come here; other signals never arrive."""
    traps = run.session.traps
    words = [word for word in args if word != "--"]
    if not words or words[0] == "-p":
        wanted = {_signal(word) for word in words[1:]}
        for signal in sorted(traps):
            if not wanted or signal in wanted:
                run.out(f"trap -- {quoted(traps[signal])} {_SHOWN.get(signal, 'SIG' + signal)}\n")
        return 0
    if words[0] == "-l":
        run.out(" 1) SIGHUP\t 2) SIGINT\t 3) SIGQUIT\t 9) SIGKILL\t15) SIGTERM\n")
        return 0
    if len(words) == 1:
        traps.pop(_signal(words[0]), None)
        return 0
    for word in words[1:]:
        if words[0] == "-":
            traps.pop(_signal(word), None)
        else:
            traps[_signal(word)] = words[0]
    return 0


_SHOWN = {"EXIT": "EXIT", "ERR": "ERR", "DEBUG": "DEBUG", "RETURN": "RETURN"}
_NUMBERS = {"0": "EXIT", "1": "HUP", "2": "INT", "3": "QUIT", "9": "KILL", "15": "TERM"}


def _signal(word: str) -> str:
    name = word.upper().removeprefix("SIG")
    return _NUMBERS.get(name, name)


def wait(run: Interpreter, args: list[Any]) -> int:
    """``wait [-n] [job...]``."""
    return run.wait([str(word) for word in args])


def kind_of(run: Interpreter, name: str) -> str:
    """What a name leads to: ``alias``, ``keyword``, ``function``, ``builtin``, ``file``, or nothing."""
    if name in run.session.aliases:
        return "alias"
    if name in _RESERVED:
        return "keyword"
    if name in run.session.functions:
        return "function"
    if run.has_builtin(name):
        return "builtin"
    if run.has_program(name):
        return "file"
    return ""


def _path(name: str) -> str:
    return name if name.startswith("/") else f"/usr/bin/{name}"


def type_(run: Interpreter, args: list[Any]) -> int:
    """``type [-t] [-a] [-p] name...``."""
    flags = "".join(word[1:] for word in args if word.startswith("-"))
    code = 0
    for name in (word for word in args if not word.startswith("-")):
        kind = kind_of(run, name)
        if not kind:
            if not flags or "a" in flags:
                run.complain(f"type: {name}: not found")
            code = 1
        elif "t" in flags:
            run.out(f"{kind}\n")
        elif "p" in flags or "P" in flags:
            run.out(f"{_path(name)}\n" if kind == "file" else "")
        elif kind == "alias":
            run.out(f"{name} is aliased to `{run.session.aliases[name]}'\n")
        elif kind == "function":
            run.out(f"{name} is a function\n{run.session.functions[name].source}\n")
        elif kind == "keyword":
            run.out(f"{name} is a shell keyword\n")
        else:
            run.out(f"{name} is a shell builtin\n" if kind == "builtin" else f"{name} is {_path(name)}\n")
    return code


def command(run: Interpreter, args: list[Any]) -> int:
    """``command [-vV] name [argument...]``."""
    words: list[str] = list(args)
    if words[:1] and words[0] in ("-v", "-V"):
        code = 1
        for name in words[1:]:
            kind = kind_of(run, name)
            if not kind:
                if words[0] == "-V":
                    run.complain(f"command: {name}: not found")
                continue
            code = 0
            if words[0] == "-V":
                type_(run, [name])
            elif kind == "alias":
                run.out(f"alias {name}={quoted(run.session.aliases[name])}\n")
            else:
                run.out(f"{_path(name) if kind == 'file' else name}\n")
        return code
    if words[:1] in (["-p"], ["--"]):
        words.pop(0)
    if not words:
        return 0
    return run.execute(words, functions=False)


def builtin(run: Interpreter, args: list[Any]) -> int:
    """``builtin name [argument...]``."""
    if not args:
        return 0
    if not run.has_builtin(args[0]):
        run.complain(f"builtin: {args[0]}: not a shell builtin")
        return 1
    return run.execute(list(args), functions=False)


def test(run: Interpreter, args: list[Any]) -> int:
    """``test expression``."""
    return _test(run, list(args), "test")


def bracket(run: Interpreter, args: list[Any]) -> int:
    """``[ expression ]``."""
    if args[-1:] != ["]"]:
        run.complain("[: missing `]'")
        return 2
    return _test(run, list(args[:-1]), "[")


def _test(run: Interpreter, words: list[str], name: str) -> int:
    try:
        return int(not conditions.test(run.expander, words))
    except conditions.TestProblem as error:
        run.complain(f"{name}: {error}")
        return 2
    except (RecursionError, ShellError):
        run.complain(f"{name}: too many arguments")
        return 2


def hash_(run: Interpreter, args: list[Any]) -> int:
    """``hash``: nothing is remembered here."""
    if not args:
        run.out("hash: hash table empty\n")
    missing = [name for name in args if not name.startswith("-") and not run.has_program(name)]
    for name in missing:
        run.complain(f"hash: {name}: not found")
    return int(bool(missing))


def umask(run: Interpreter, args: list[Any]) -> int:
    """``umask``: always the usual one; what it is set to would matter to nobody."""
    words = [word for word in args if not word.startswith("-")]
    if not words:
        symbolic = any("S" in word for word in args)
        shown = "u=rwx,g=rx,o=rx" if symbolic else "0022"
        run.out(
            f"umask {'-S ' if symbolic else ''}{shown}\n"
            if any("p" in word for word in args)
            else f"{shown}\n"
        )
        return 0
    mode = str(words[0])
    if mode.isdecimal() and (len(mode) > 4 or not set(mode) <= set("01234567")):
        run.complain(f"umask: {mode}: octal number out of range")
        return 1
    if not mode.isdecimal() and not set(mode) <= set("ugoarwxXst+-=,"):
        run.complain(f"umask: `{mode[0]}': invalid symbolic mode operator")
        return 1
    return 0


def times(run: Interpreter, args: list[Any]) -> int:
    """``times``."""
    run.out("0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n")
    return 0


OPEN_FILES = 1_048_576
"""Files that a process may have open under containerd."""
LIMITS = (
    ("real-time non-blocking time", "(microseconds, -R)", "unlimited"),
    ("core file size", "(blocks, -c)", "unlimited"),
    ("data seg size", "(kbytes, -d)", "unlimited"),
    ("scheduling priority", "(-e)", "0"),
    ("file size", "(blocks, -f)", "unlimited"),
    ("pending signals", "(-i)", "63441"),
    ("max locked memory", "(kbytes, -l)", "8192"),
    ("max memory size", "(kbytes, -m)", "unlimited"),
    ("open files", "(-n)", str(OPEN_FILES)),
    ("pipe size", "(512 bytes, -p)", "8"),
    ("POSIX message queues", "(bytes, -q)", "819200"),
    ("real-time priority", "(-r)", "0"),
    ("stack size", "(kbytes, -s)", "8192"),
    ("cpu time", "(seconds, -t)", "unlimited"),
    ("max user processes", "(-u)", "unlimited"),
    ("virtual memory", "(kbytes, -v)", "unlimited"),
    ("file locks", "(-x)", "unlimited"),
)
"""What ``ulimit -a`` shows under containerd: what is limited, its unit and option, and the limit."""


def ulimit(run: Interpreter, args: list[Any]) -> int:
    """``ulimit``: of what could be set only the open files matter to anybody."""
    flags = "".join(word[1:] for word in args if word.startswith("-")).replace("S", "").replace("H", "")
    words = [word for word in args if not word.startswith("-")]
    number = int(words[0]) if words and re.fullmatch(r"[0-9]{1,19}", words[0]) else None
    if words and words[0] not in ("unlimited", "hard", "soft") and number is None:
        run.complain(f"ulimit: {words[0]}: invalid number")
        return 1
    if number is not None and "n" in flags:
        # Whoever is root in a container has no right to raise what containerd gave it.
        if number > (run.session.open_files or OPEN_FILES):
            run.complain("ulimit: open files: cannot modify limit: Operation not permitted")
            return 1
        # With none at all a process is as good as with one.
        run.session.open_files = number or 1
    if words:
        return 0
    limits = tuple(
        (*row[:2], str(run.session.open_files or OPEN_FILES)) if "-n)" in row[1] else row for row in LIMITS
    )
    if "a" in flags:
        run.out("".join(f"{what:<21} {unit:>20} {value}\n" for what, unit, value in limits))
        return 0
    asked = flags or "f"
    for letter in asked:
        found = next((row for row in limits if f"-{letter})" in row[1]), None)
        value = found[2] if found is not None else "unlimited"
        run.out(f"{found[0]:<21} {found[1]:>20} {value}\n" if found and len(asked) > 1 else f"{value}\n")
    return 0
