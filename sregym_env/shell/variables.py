"""Variables of a session: attributes, arrays, references, and those that bash makes up when asked."""

from __future__ import annotations

import re
from collections.abc import Callable

from sregym_env.shell.flow import ShellError
from sregym_env.shell.limits import MemoryExceeded
from sregym_env.shell.run import Run
from sregym_env.shell.session import Indexed, Keyed, Session, Value
from sregym_env.shell.syntax.arithmetic import ArithmeticProblem, evaluate

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ELEMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\[(.*)\]\Z", re.DOTALL)
_MADE_UP = frozenset(
    "RANDOM SECONDS LINENO EPOCHSECONDS BASHPID PPID UID EUID BASH_VERSION BASH SHLVL OSTYPE MACHTYPE HOSTTYPE "
    "PIPESTATUS FUNCNAME HOSTNAME BASH_SUBSHELL SHELLOPTS DIRSTACK".split()
)
_FIXED = {
    "BASHPID": "1", "PPID": "1", "UID": "1000", "EUID": "1000", "BASH_VERSION": "5.2.15(1)-release", "BASH": "/bin/bash",
    "SHLVL": "1", "OSTYPE": "linux-gnu", "MACHTYPE": "x86_64-pc-linux-gnu", "HOSTTYPE": "x86_64", "HOSTNAME": "localhost",
    "BASH_SUBSHELL": "0",
}  # fmt: skip
_MOST_ELEMENTS = 100_000


class Variables:
    """The variables of whichever session an interpreter runs now."""

    __slots__ = ("_run", "subscript")

    def __init__(self, run: Run) -> None:
        self._run = run
        self.subscript: Callable[[str], str] = str
        """Expands what a script has put between brackets in arithmetic."""

    @property
    def session(self) -> Session:
        """The session that runs now."""
        return self._run.session

    # --- reading ------------------------------------------------------------------------------------

    def target(self, name: str) -> str:
        """The variable that a name stands for: its own, or that to which it refers (``declare -n``)."""
        session = self.session
        if not session.attributes:
            return name
        # References may lead in a circle.
        for _ in range(10):
            if "n" not in session.attributes.get(name, ""):
                return name
            value = session.variables.get(name)
            if not isinstance(value, str) or not value:
                return name
            name = value
        return name

    def value(self, name: str) -> Value | None:
        """What a variable holds; None where it is not set."""
        found = self.session.variables.get(name)
        if found is not None:
            if self.session.attributes and "n" in self.session.attributes.get(name, ""):
                return self._referred(name)
            return found
        return self._made_up(name) if name in _MADE_UP else None

    def _referred(self, name: str) -> Value | None:
        target = self.target(name)
        if target == name:
            return None
        element = _ELEMENT.match(target)
        if element is not None:
            return self.element(element[1], element[2])
        return self.value(target)

    def get(self, name: str) -> str | None:
        """A variable's text, that of element 0 for an array; None where it is not set."""
        found = self.value(name)
        if found is None or type(found) is str:
            return found
        return found.get(0) if isinstance(found, Indexed) else found.get("0")  # type: ignore[union-attr]

    def _made_up(self, name: str) -> Value | None:
        run, session = self._run, self.session
        if name in _FIXED:
            return _FIXED[name]
        if name == "RANDOM":
            return str(session.random())
        if name == "SECONDS":
            return str(int(run.now - session.started))
        if name == "EPOCHSECONDS":
            return str(int(run.now))
        if name == "LINENO":
            return str(run.line)
        if name == "PIPESTATUS":
            return Indexed(enumerate(str(code) for code in session.pipe_codes))
        if name == "FUNCNAME":
            return Indexed(enumerate(session.frames)) if session.frames else None
        if name == "DIRSTACK":
            return Indexed(enumerate((session.cwd, *session.directories)))
        return ":".join(sorted(session.flags))

    def elements(self, name: str) -> list[str]:
        """All elements in order; the one text of a plain variable; nothing where it is not set."""
        found = self.value(name)
        if found is None:
            return []
        if type(found) is str:
            return [found]
        if isinstance(found, Indexed):
            return [found[key] for key in sorted(found)]
        return list(found.values())  # type: ignore[union-attr]

    def keys(self, name: str) -> list[str]:
        """All subscripts in order."""
        found = self.value(name)
        if found is None:
            return []
        if type(found) is str:
            return ["0"]
        if isinstance(found, Indexed):
            return [str(key) for key in sorted(found)]
        return list(found)

    def element(self, name: str, subscript: str) -> str | None:
        """One element; None where there is none. Raises ShellError for a wrong subscript."""
        found = self.value(name)
        if isinstance(found, Keyed):
            return found.get(subscript)
        index = self._index(found, subscript, name)
        if isinstance(found, Indexed):
            return found.get(index)
        return found if index in (0, -1) else None

    def _index(self, found: Value | None, subscript: str, name: str) -> int:
        index = self.calculate(subscript)
        if index < 0 and isinstance(found, Indexed) and found:
            index += max(found) + 1
        if index < 0:
            raise ShellError(f"{name}: bad array subscript")
        return index

    def calculate(self, text: str) -> int:
        """The value of an arithmetic text without expansions. Raises ShellError."""
        try:
            self._run.study(text)
            return evaluate(text, self)
        except ArithmeticProblem as error:
            raise ShellError(str(error)) from None

    def number(self, name: str, subscript: str | None) -> str:
        """For arithmetic: the text of a variable or an element."""
        if subscript is None:
            found = self.get(name)
            if found is None and "nounset" in self.session.flags:
                raise ShellError(f"{name}: unbound variable")
            return found or ""
        return self.element(name, self._key(name, subscript)) or ""

    def _key(self, name: str, subscript: str) -> str:
        """A subscript in arithmetic, with its expansions."""
        if isinstance(self.value(name), Keyed):
            subscript = subscript.strip("\"'")
        return self.subscript(subscript)

    # --- writing ------------------------------------------------------------------------------------

    def set_number(self, name: str, subscript: str | None, value: int) -> None:
        """For arithmetic: assign a number."""
        if subscript is None:
            self.set(name, str(value))
        else:
            self.set_element(name, self._key(name, subscript), str(value))

    def _writable(self, name: str) -> str:
        target = self.target(name)
        attributes = self.session.attributes
        if attributes and "r" in attributes.get(target, ""):
            raise ShellError(f"{name}: readonly variable")
        return target

    def _shaped(self, name: str, text: str, before: str, append: bool) -> str:
        """A text as the attributes of a variable have it."""
        letters = self.session.attributes.get(name, "")
        if letters:
            if "i" in letters:
                value = self.calculate(text)
                return str(value + self.calculate(before)) if append else str(value)
            text = before + text if append else text
            if "l" in letters:
                text = text.lower()
            elif "u" in letters:
                text = text.upper()
        elif append:
            text = before + text
        if len(text) > self._run.limits.variable_bytes:
            raise MemoryExceeded("xrealloc: cannot allocate memory")
        if len(text) > 1000:
            self._run.move(len(text))
        return text

    def set(self, name: str, text: str, append: bool = False) -> None:
        """Assign to a variable. Raises ShellError for one that may only be read."""
        session = self.session
        name = self._writable(name)
        element = None if NAME.match(name) else _ELEMENT.match(name)
        if element is not None:
            self.set_element(element[1], element[2], text, append)
            return
        found = session.variables.get(name)
        if isinstance(found, Indexed):
            found[0] = self._shaped(name, text, found.get(0, ""), append)
            return
        if isinstance(found, Keyed):
            found["0"] = self._shaped(name, text, found.get("0", ""), append)
            return
        if name == "RANDOM":
            session.chance = self.calculate(text) & 0xFFFFFFFF
            return
        if name == "SECONDS":
            session.started = self._run.now - self.calculate(text)
            return
        if name == "OPTIND":
            session.getopts_at = 0
        session.variables[name] = self._shaped(name, text, found or "", append)
        if "allexport" in session.flags:
            session.exported |= {name}

    def set_element(self, name: str, subscript: str, text: str, append: bool = False) -> None:
        """Assign to an element, making an array where there is none. Raises ShellError."""
        name = self._writable(name)
        array = self.array(name)
        if isinstance(array, Keyed):
            array[subscript] = self._shaped(name, text, array.get(subscript, ""), append)
        else:
            index = self._index(array, subscript, f"{name}[{subscript}]")
            array[index] = self._shaped(name, text, array.get(index, ""), append)
        if len(array) > _MOST_ELEMENTS:
            raise MemoryExceeded("xmalloc: cannot allocate memory")

    def array(self, name: str) -> Indexed | Keyed:
        """The array of that name, made where there is none; a plain text becomes element 0."""
        variables = self.session.variables
        found = variables.get(name)
        if isinstance(found, Indexed | Keyed):
            return found
        array = Indexed() if found is None else Indexed({0: found})
        variables[name] = array
        return array

    def set_array(self, name: str, items: list[str]) -> None:
        """Make a variable an array of these elements. Raises ShellError."""
        name = self._writable(name)
        if len(items) > _MOST_ELEMENTS:
            raise MemoryExceeded("xmalloc: cannot allocate memory")
        self._run.move(sum(map(len, items)))
        self.session.variables[name] = Indexed(enumerate(items))

    def declare(self, name: str, letters: str, *, off: str = "") -> None:
        """Give a variable attributes, or take some away."""
        session = self.session
        if "A" in letters and not isinstance(session.variables.get(name), Keyed):
            session.variables[name] = Keyed()
        elif "a" in letters and not isinstance(session.variables.get(name), Indexed | Keyed):
            found = session.variables.get(name)
            session.variables[name] = Indexed() if not isinstance(found, str) else Indexed({0: found})
        kept = {letter for letter in letters if letter in "rilun"} | set(session.attributes.get(name, ""))
        kept -= set(off)
        if kept:
            session.attributes[name] = "".join(sorted(kept))
        else:
            session.attributes.pop(name, None)
        if "x" in letters:
            session.exported |= {name}
        if "x" in off:
            session.exported -= {name}

    def localize(self, name: str) -> None:
        """Make a variable local to the running function."""
        session = self.session
        scope = session.scopes[-1]
        if name not in scope:
            scope[name] = (
                session.variables.get(name), name in session.exported, session.attributes.get(name, "")
            )  # fmt: skip
            session.variables.pop(name, None)
            session.attributes.pop(name, None)

    def unset(self, name: str) -> None:
        """Remove a variable. Raises ShellError for one that may only be read."""
        session = self.session
        element = _ELEMENT.match(name)
        if element is not None:
            array = self.value(element[1])
            if isinstance(array, Keyed):
                array.pop(element[2].strip("\"'"), None)
            elif isinstance(array, Indexed):
                if element[2] in ("@", "*"):
                    session.variables.pop(element[1], None)
                else:
                    array.pop(self._index(array, element[2], name), None)
            return
        target = self.target(name)
        if "r" in session.attributes.get(target, ""):
            raise ShellError(f"unset: {name}: cannot unset: readonly variable")
        session.variables.pop(target, None)
        session.attributes.pop(target, None)
        if target in session.exported:
            session.exported -= {target}
