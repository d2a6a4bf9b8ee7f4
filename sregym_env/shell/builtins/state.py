"""Builtins about variables, options, directories and names."""

from __future__ import annotations

from typing import Any

from sregym_env.runtime.numbers import whole
from sregym_env.shell.flow import ShellError
from sregym_env.shell.interpreter import Interpreter
from sregym_env.shell.parameters import Parameters, double_quoted, quoted
from sregym_env.shell.session import Indexed, Keyed
from sregym_env.shell.syntax.tree import Assignment, Elements
from sregym_env.shell.variables import NAME

FLAGS = {
    "a": "allexport", "e": "errexit", "u": "nounset", "x": "xtrace", "f": "noglob", "C": "noclobber", "v": "verbose",
    "n": "noexec", "h": "hashall", "B": "braceexpand", "m": "monitor", "b": "notify", "E": "errtrace", "T": "functrace",
    "P": "physical", "H": "histexpand",
}  # fmt: skip
_LONG_FLAGS = frozenset(FLAGS.values()) | {
    "pipefail",
    "posix",
    "emacs",
    "vi",
    "history",
    "ignoreeof",
    "nolog",
}
_SHOPTS = frozenset(
    "nullglob extglob globstar dotglob nocasematch nocaseglob failglob lastpipe expand_aliases inherit_errexit "
    "checkwinsize cmdhist histappend autocd cdspell dirspell sourcepath xpg_echo login_shell progcomp "
    "interactive_comments patsub_replacement globasciiranges globskipdots hostcomplete huponexit".split()
)


# --- directories ------------------------------------------------------------------------------------


def _enter(run: Interpreter, word: str, name: str) -> int:
    session = run.session
    path = run.files.resolve_path(session.cwd, word)
    entry = run.files.entry(path)
    if entry is None and path != "/":
        run.complain(f"{name}: {word}: No such file or directory")
        return 1
    if not run.files.is_folder(path):
        run.complain(f"{name}: {word}: Not a directory")
        return 1
    session.variables["OLDPWD"] = session.cwd
    session.cwd = path
    session.variables["PWD"] = path
    return 0


def cd(run: Interpreter, args: list[Any]) -> int:
    """``cd [-L|-P] [directory|-]``."""
    words = [word for word in args if word not in ("-L", "-P", "-e", "--")]
    if len(words) > 1:
        run.complain("cd: too many arguments")
        return 1
    if not words:
        home = run.variables.get("HOME")
        if home is None:
            run.complain("cd: HOME not set")
            return 1
        return _enter(run, home, "cd")
    if words[0] == "-":
        before = run.variables.get("OLDPWD")
        if before is None:
            run.complain("cd: OLDPWD not set")
            return 1
        code = _enter(run, before, "cd")
        if not code:
            run.out(f"{run.session.cwd}\n")
        return code
    if words[0].startswith("-") and len(words[0]) > 1:
        run.complain(f"cd: {words[0][:2]}: invalid option")
        run.err("cd: usage: cd [-L|[-P [-e]] [-@]] [dir]\n")
        return 2
    return _enter(run, words[0], "cd") if words[0] else 0


def pwd(run: Interpreter, args: list[Any]) -> int:
    """``pwd``."""
    run.out(f"{run.files.real(run.session.cwd) if '-P' in args else run.session.cwd}\n")
    return 0


def _dirs_text(run: Interpreter) -> str:
    home = run.variables.get("HOME") or "\0"
    shown = []
    for path in (run.session.cwd, *run.session.directories):
        shown.append("~" + path[len(home) :] if path == home or path.startswith(f"{home}/") else path)
    return " ".join(shown) + "\n"


def pushd(run: Interpreter, args: list[Any]) -> int:
    """``pushd [directory]``."""
    session = run.session
    before, stack = session.cwd, session.directories
    if not args:
        if not stack:
            run.complain("pushd: no other directory")
            return 1
        code = _enter(run, stack[0], "pushd")
        if not code:
            session.directories = (before, *stack[1:])
    else:
        code = _enter(run, args[0], "pushd")
        if not code:
            session.directories = (before, *stack)[:200]
    if not code:
        run.out(_dirs_text(run))
    return code


def popd(run: Interpreter, args: list[Any]) -> int:
    """``popd``."""
    stack = run.session.directories
    if not stack:
        run.complain("popd: directory stack empty")
        return 1
    code = _enter(run, stack[0], "popd")
    if not code:
        run.session.directories = stack[1:]
        run.out(_dirs_text(run))
    return code


def dirs(run: Interpreter, args: list[Any]) -> int:
    """``dirs``."""
    if "-c" in args:
        run.session.directories = ()
        return 0
    run.out(_dirs_text(run).replace(" ", "\n") if "-p" in args else _dirs_text(run))
    return 0


# --- declarations -----------------------------------------------------------------------------------


def _described(run: Interpreter, name: str) -> str | None:
    """A variable as ``declare -p`` shows it."""
    session = run.session
    value = session.variables.get(name)
    if value is None and name not in session.attributes and name not in session.exported:
        return None
    letters = ("A" if isinstance(value, Keyed) else "a" if isinstance(value, Indexed) else "") + "".join(
        letter for letter in "ilnru" if letter in session.attributes.get(name, "")
    )
    letters += "x" if name in session.exported else ""
    head = f"declare -{letters or '-'} {name}"
    if value is None:
        return f"{head}\n"
    if isinstance(value, str):
        return f"{head}={double_quoted(value)}\n"
    return f"{head}={Parameters(run, run.variables, run.expander).array_text(name)}\n"


def declare(run: Interpreter, args: list[Any]) -> int:
    """``declare [-aAilnprux] [name[=value]...]``."""
    return _declare(run, args, "declare", local=bool(run.session.scopes))


def local(run: Interpreter, args: list[Any]) -> int:
    """``local``."""
    if not run.session.scopes:
        run.complain("local: can only be used in a function")
        return 1
    return _declare(run, args, "local", local=True)


def readonly(run: Interpreter, args: list[Any]) -> int:
    """``readonly``."""
    return _declare(run, ["-r", *args], "readonly", local=False)


def export(run: Interpreter, args: list[Any]) -> int:
    """``export [-n] [-p] [name[=value]...]``."""
    if "-n" in args:
        return _declare(run, ["+x", *(word for word in args if word != "-n")], "export", local=False)
    return _declare(run, ["-x", *args], "export", local=False)


def _letters(args: list[Any]) -> tuple[str, str, list[Any]]:
    on, off = "", ""
    rest = list(args)
    while rest and type(rest[0]) is str and rest[0][:1] in ("-", "+") and len(rest[0]) > 1:
        word = rest.pop(0)
        if word == "--":
            break
        if word[0] == "-":
            on += word[1:]
        else:
            off += word[1:]
    return on, off, rest


def _declare(run: Interpreter, args: list[Any], name: str, *, local: bool) -> int:
    on, off, operands = _letters(args)
    wrong = next((letter for letter in on + off if letter not in "aAfFgilnprtuxI"), "")
    if wrong:
        run.complain(f"{name}: -{wrong}: invalid option")
        return 2
    if "f" in on or "F" in on:
        return _functions(run, operands, names_only="F" in on, exports=name == "export")
    if "p" in on or not operands:
        return _list(run, on.replace("p", ""), operands, name)
    code = 0
    for operand in operands:
        try:
            code = _declare_one(run, operand, on, off, name, local=local and "g" not in on) or code
        except ShellError as error:
            text = str(error)
            run.complain(text if text.startswith(f"{name}: ") or "readonly" in text else f"{name}: {text}")
            code = error.code
    return code


def _declare_one(run: Interpreter, operand: Any, on: str, off: str, name: str, *, local: bool) -> int:
    variables = run.variables
    assignment: Assignment | None = None
    text: str | None = None
    append = False
    if type(operand) is Assignment:
        assignment, word = operand, operand.name
    else:
        word, equals, text_found = str(operand).partition("=")
        text = text_found if equals else None
        append = word.endswith("+") and bool(equals)
        word = word[:-1] if append else word
    if not NAME.match(word.partition("[")[0]):
        run.complain(
            f"{name}: `{operand if type(operand) is str else operand.source}': not a valid identifier"
        )
        return 1
    plain = word.partition("[")[0]
    value: Any = None
    if assignment is not None and not isinstance(assignment.value, Elements) and local:
        # The value is that outside: local x=$x.
        value = run.expander.text(assignment.value)
    if local:
        variables.localize(plain)
    session = run.session
    if "r" in session.attributes.get(plain, "") and (assignment is not None or text is not None):
        raise ShellError(f"{plain}: readonly variable")
    attributes = on.replace("r", "").replace("n", "")
    if assignment is not None and isinstance(assignment.value, Elements) and not set("aA") & set(on):
        attributes += "a"
    if "n" in on:
        if text is None and assignment is not None:
            text = run.expander.text(assignment.value)  # type: ignore[arg-type]
        session.attributes.pop(plain, None)
        session.variables[plain] = text or ""
        variables.declare(plain, "n")
        return 0
    variables.declare(plain, attributes, off=off)
    if value is not None and assignment is not None:
        if assignment.subscript is None:
            variables.set(plain, value, assignment.append)
        else:
            variables.set_element(plain, run.expander.text(assignment.subscript), value, assignment.append)
    elif assignment is not None:
        run.assign(assignment)
    elif text is not None:
        variables.set(word, text, append)
    elif local and plain not in session.variables and "a" not in on and "A" not in on:
        session.variables.pop(plain, None)
    if "r" in on:
        variables.declare(plain, "r")
    return 0


def _functions(run: Interpreter, names: list[Any], *, names_only: bool, exports: bool) -> int:
    functions = run.session.functions
    code = 0
    for name in names or sorted(functions):
        function = functions.get(name)
        if function is None:
            code = 1
        elif names_only:
            run.out(f"{name}\n" if names else f"declare -f {name}\n")
        elif not exports:
            run.out(f"{function.source}\n")
    return code


def _list(run: Interpreter, letters: str, names: list[Any], command: str) -> int:
    session = run.session
    code = 0
    if names:
        for name in names:
            shown = _described(run, name)
            if shown is None:
                run.complain(f"{command}: {name}: not found")
                code = 1
            else:
                run.out(shown)
        return code
    for name in sorted({*session.variables, *session.attributes}):
        attributes = session.attributes.get(name, "")
        value = session.variables.get(name)
        have = set(attributes) | ({"x"} if name in session.exported else set())
        have |= {"A"} if isinstance(value, Keyed) else {"a"} if isinstance(value, Indexed) else set()
        if set(letters.replace("g", "")) <= have and (command != "local"):
            run.out(_described(run, name) or "")
    return code


def unset(run: Interpreter, args: list[Any]) -> int:
    """``unset [-f] [-v] name...``."""
    code = 0
    functions = "-f" in args
    for name in (word for word in args if word not in ("-f", "-v", "-n")):
        try:
            if functions or (
                name not in run.session.variables and name in run.session.functions and "-v" not in args
            ):
                run.session.functions.pop(name, None)
            elif not NAME.match(name.partition("[")[0]):
                run.complain(f"unset: `{name}': not a valid identifier")
                code = 1
            else:
                run.variables.unset(name)
        except ShellError as error:
            run.complain(str(error))
            code = 1
    return code


# --- options ----------------------------------------------------------------------------------------


def set_(run: Interpreter, args: list[Any]) -> int:
    """``set [-abefhuxC] [-o option] [--] [argument...]``."""
    session = run.session
    if not args:
        for name in sorted(session.variables):
            value = session.variables[name]
            if isinstance(value, str):
                shown = value if value and value.isalnum() else quoted(value) if not _plain(value) else value
                run.out(f"{name}={shown if value else ''}\n")
            else:
                run.out(f"{name}={Parameters(run, run.variables, run.expander).array_text(name)}\n")
        return 0
    words: list[str] = list(args)
    while words:
        word = words.pop(0)
        if word in ("--", "-"):
            session.arguments = tuple(words)
            return 0
        if word[:1] not in ("-", "+") or len(word) < 2:
            session.arguments = (word, *words)
            return 0
        for letter in word[1:]:
            if letter == "o":
                if not words:
                    for name in sorted(_LONG_FLAGS):
                        run.out(f"{name:<15}\t{'on' if name in session.flags else 'off'}\n")
                    return 0
                name = words.pop(0)
            else:
                name = FLAGS.get(letter, "")
            if name not in _LONG_FLAGS:
                run.complain(f"set: {name or word}: invalid option{'' if not name else ' name'}")
                return 2
            session.flags = session.flags | {name} if word[0] == "-" else session.flags - {name}
    return 0


def _plain(text: str) -> bool:
    return all(char.isalnum() or char in "_@%+=:,./-" for char in text)


def shopt(run: Interpreter, args: list[Any]) -> int:
    """``shopt [-su] [option...]``."""
    session = run.session
    names = [word for word in args if not word.startswith("-")]
    flags = "".join(word[1:] for word in args if word.startswith("-"))
    wrong = [name for name in names if name not in _SHOPTS and "o" not in flags]
    for name in wrong:
        run.complain(f"shopt: {name}: invalid shell option name")
    if wrong:
        return 1
    if "o" in flags:
        return set_(run, [f"{'-' if 's' in flags else '+'}o", *names])
    if "s" in flags and names:
        session.options |= frozenset(names)
    elif "u" in flags and names:
        session.options -= frozenset(names)
    elif "q" in flags:
        return int(not all(name in session.options for name in names))
    else:
        for name in names or sorted(_SHOPTS):
            run.out(f"{name:<15}\t{'on' if name in session.options else 'off'}\n")
        return int(bool(names) and not all(name in session.options for name in names))
    return 0


def shift(run: Interpreter, args: list[Any]) -> int:
    """``shift [count]``."""
    count = whole(str(args[0]), 10**9) if args and str(args[0]).isdecimal() else 1
    if args and not str(args[0]).isdecimal():
        run.complain(f"shift: {args[0]}: numeric argument required")
        return 1
    if count > len(run.session.arguments):
        return 1
    run.session.arguments = run.session.arguments[count:]
    return 0


def getopts(run: Interpreter, args: list[Any]) -> int:
    """``getopts optstring name [argument...]``."""
    if len(args) < 2:
        run.err("bash: getopts: usage: getopts optstring name [arg ...]\n")
        return 2
    wanted, name = args[0], args[1]
    session = run.session
    words = list(args[2:]) or list(session.arguments)
    silent = wanted.startswith(":")
    index = int(run.variables.get("OPTIND") or 1)
    at = session.getopts_at or 1
    if index > len(words) or not words[index - 1].startswith("-") or words[index - 1] == "-":
        run.variables.set(name, "?")
        return 1
    word = words[index - 1]
    if word == "--":
        session.variables["OPTIND"] = str(index + 1)
        run.variables.set(name, "?")
        return 1
    letter = word[at]
    place = wanted.find(letter)
    ends = at + 1 >= len(word)
    value: str | None = None
    result = letter
    if place < 0 or letter == ":":
        result = "?"
        value = letter if silent else None
        if not silent:
            run.complain(f"illegal option -- {letter}")
        index, at = (index + 1, 1) if ends else (index, at + 1)
    elif wanted[place + 1 : place + 2] == ":":
        if not ends:
            value, index = word[at + 1 :], index + 1
        elif index < len(words):
            value, index = words[index], index + 2
        else:
            index += 1
            result = ":" if silent else "?"
            value = letter if silent else None
            if not silent:
                run.complain(f"option requires an argument -- {letter}")
        at = 1
    else:
        index, at = (index + 1, 1) if ends else (index, at + 1)
    session.variables["OPTIND"] = str(index)
    session.getopts_at = at
    if value is None:
        session.variables.pop("OPTARG", None)
    else:
        session.variables["OPTARG"] = value
    run.variables.set(name, result)
    return 0


def let(run: Interpreter, args: list[Any]) -> int:
    """``let expression...``."""
    value = 0
    for text in args:
        try:
            value = run.variables.calculate(run.expander.subscript(text))
        except ShellError as error:
            run.complain(f"let: {error}")
            return 1
    return int(value == 0)


def alias(run: Interpreter, args: list[Any]) -> int:
    """``alias [name[=value]...]``."""
    aliases = run.session.aliases
    code = 0
    for word in args or [f"{name}" for name in sorted(aliases)]:
        name, equals, value = str(word if type(word) is str else word.source).partition("=")
        if equals:
            aliases[name] = value
        elif name in aliases:
            run.out(f"alias {name}={quoted(aliases[name])}\n")
        elif name != "-p":
            run.complain(f"alias: {name}: not found")
            code = 1
    return code


def unalias(run: Interpreter, args: list[Any]) -> int:
    """``unalias [-a] name...``."""
    code = 0
    for name in args:
        if name == "-a":
            run.session.aliases.clear()
        elif run.session.aliases.pop(name, None) is None:
            run.complain(f"unalias: {name}: not found")
            code = 1
    return code
