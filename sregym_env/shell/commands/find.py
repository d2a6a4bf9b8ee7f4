"""``find``: an expression that is tried on everything below a directory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sregym_env.cluster.streams import ExecResult
from sregym_env.shell import globs
from sregym_env.shell.commands.arguments import UsageError
from sregym_env.shell.commands.listing import mode_text, size_of
from sregym_env.shell.commands.printed import Printed
from sregym_env.shell.files import DirectoryEntry, Entry, FileEntry, SymlinkEntry
from sregym_env.shell.patterns import compiled
from sregym_env.shell.run import Call

_UNITS = {"c": 1, "w": 2, "b": 512, "k": 1024, "M": 1 << 20, "G": 1 << 30}
_KINDS: dict[str, type] = {"f": FileEntry, "d": DirectoryEntry, "l": SymlinkEntry}


@dataclass(slots=True)
class _Found:
    """One thing that was found."""

    shown: str
    path: str
    entry: Entry
    depth: int
    start: str
    pruned: bool = False


Test = Callable[[_Found], bool]


@dataclass(slots=True)
class _Expression:
    """An expression, with what of it concerns the whole walk."""

    words: list[str]
    call: Call
    printed: Printed
    at: int = 0
    deepest: int = 1 << 30
    least: int = 0
    acts: bool = False
    depth_first: bool = False
    stopped: bool = False
    collected: list[tuple[list[str], list[str]]] = field(default_factory=list)
    """Commands of ``-exec ... +`` and the paths that they will get."""

    def _word(self, option: str) -> str:
        if self.at >= len(self.words):
            raise UsageError(f"missing argument to `{option}'")
        self.at += 1
        return self.words[self.at - 1]

    def either(self, depth: int = 0) -> Test:
        if depth > 40:
            raise UsageError("expression too deeply nested")
        left = self._all(depth)
        while self.at < len(self.words) and self.words[self.at] in ("-o", "-or"):
            self.at += 1
            left = _either(left, self._all(depth))
        return left

    def _all(self, depth: int) -> Test:
        left = self._not(depth)
        while self.at < len(self.words) and self.words[self.at] not in ("-o", "-or", ")", ","):
            if self.words[self.at] in ("-a", "-and"):
                self.at += 1
            left = _both(left, self._not(depth))
        return left

    def _not(self, depth: int) -> Test:
        if self.at >= len(self.words):
            raise UsageError("expected an expression")
        word = self.words[self.at]
        self.at += 1
        if word in ("!", "-not"):
            inner = self._not(depth + 1) if depth < 40 else _always
            return lambda found: not inner(found)
        if word == "(":
            inner = self.either(depth + 1)
            if self._word("(") != ")":
                raise UsageError(
                    "invalid expression; I was expecting to find a ')' somewhere but did not see one."
                )
            return inner
        return self._primary(word)

    def _primary(self, word: str) -> Test:
        if word in ("-name", "-iname", "-path", "-wholename", "-ipath", "-regex", "-iregex"):
            return self._named(word, self._word(word))
        if word == "-type":
            kinds = tuple(_KINDS[letter] for letter in self._word(word).split(",") if letter in _KINDS)
            return lambda found: isinstance(found.entry, kinds)
        if word in ("-maxdepth", "-mindepth"):
            number = self._word(word)
            if not number.isdecimal():
                raise UsageError(
                    f"Expected a positive decimal integer argument to {word}, but got '{number}'"
                )
            if word == "-maxdepth":
                self.deepest = int(number[:9])
            else:
                self.least = int(number[:9])
            return _always
        if word == "-empty":
            return lambda found: (
                not found.entry.content
                if isinstance(found.entry, FileEntry)
                else isinstance(found.entry, DirectoryEntry) and not self.call.fs.names(found.path)
            )
        if word in ("-size", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin"):
            return self._counted(word, self._word(word))
        if word == "-newer":
            other = self.call.fs.entry(self.call.resolve(self._word(word)))
            return lambda found: other is not None and found.entry.mtime > other.mtime
        if word == "-perm":
            return self._permitted(self._word(word))
        if word in ("-user", "-group", "-xdev", "-mount", "-depth", "-follow", "-L", "-H", "-P", "-noleaf"):
            if word in ("-user", "-group"):
                self._word(word)
            self.depth_first = self.depth_first or word == "-depth"
            return _always
        if word in ("-true", "-false"):
            return _always if word == "-true" else lambda found: False
        return self._action(word)

    def _named(self, option: str, pattern: str) -> Test:
        nocase = option[1] == "i"
        if option.endswith("regex"):
            expression = compiled(f"(?:{pattern})", 2 if nocase else 0)
            return lambda found: expression.fullmatch(found.shown) is not None
        if option in ("-name", "-iname"):
            return lambda found: globs.matches(
                found.shown.rstrip("/").rpartition("/")[2] or found.shown, pattern, nocase
            )
        return lambda found: globs.matches(found.shown, pattern, nocase)

    def _counted(self, option: str, text: str) -> Test:
        sign = text[:1] if text[:1] in "+-" else ""
        unit = _UNITS.get(text[-1:], 0) if option == "-size" else 0
        digits = text[len(sign) : len(text) - bool(unit)]
        if not digits.isdecimal():
            raise UsageError(f"invalid argument `{text}' to `{option}'")
        number = int(digits[:12])

        def measured(found: _Found) -> bool:
            if option == "-size":
                value = -(-size_of(found.entry) // (unit or 512))
            else:
                value = int(
                    (self.call.now - found.entry.mtime) // (86_400 if option.endswith("time") else 60)
                )
            return value > number if sign == "+" else value < number if sign == "-" else value == number

        return measured

    def _permitted(self, text: str) -> Test:
        digits = text.lstrip("-/")
        if not digits.isdecimal() or set(digits) & set("89"):
            return _always
        wanted = int(digits, 8)
        if text.startswith("-"):
            return lambda found: found.entry.mode & wanted == wanted
        if text.startswith("/"):
            return lambda found: bool(found.entry.mode & wanted)
        return lambda found: found.entry.mode == wanted

    def _action(self, word: str) -> Test:
        self.acts = self.acts or word != "-prune"
        if word == "-prune":
            return self._prune
        if word in ("-print", "-print0"):
            end = "\n" if word == "-print" else "\0"
            return lambda found: self._print(found.shown + end)
        if word == "-printf":
            form = self._word(word)
            return lambda found: self._print(_formatted(found, form))
        if word == "-ls":
            return lambda found: self._print(
                f"{mode_text(found.entry)} {size_of(found.entry):>8} {found.shown}\n"
            )
        if word == "-delete":
            self.depth_first = True
            return self._delete
        if word == "-quit":
            return self._quit
        if word in ("-exec", "-execdir", "-ok"):
            return self._exec(word)
        raise UsageError(f"unknown predicate `{word}'")

    def _print(self, text: str) -> bool:
        self.printed.out(text)
        return True

    def _prune(self, found: _Found) -> bool:
        found.pruned = True
        return True

    def _quit(self, found: _Found) -> bool:
        self.stopped = True
        return True

    def _delete(self, found: _Found) -> bool:
        if isinstance(found.entry, DirectoryEntry) and self.call.fs.names(found.path):
            self.printed.err(f"find: cannot delete '{found.shown}': Directory not empty\n")
            return False
        self.call.fs.remove_tree(found.path)
        return True

    def _exec(self, option: str) -> Test:
        end = next((i for i in range(self.at, len(self.words)) if self.words[i] in (";", "+")), -1)
        command = self.words[self.at : end]
        if end < 0 or not command:
            raise UsageError(f"missing argument to `{option}'")
        self.at = end + 1
        if self.words[end] == "+":
            paths: list[str] = []
            self.collected.append((command[:-1], paths))
            return lambda found: _noted(paths, found)

        def each(found: _Found) -> bool:
            self.flush()
            return self.call.execute([word.replace("{}", found.shown) for word in command]) == 0

        return each

    def flush(self) -> None:
        """Write what was printed so far, before another program prints."""
        self.call.run.show(self.printed.result())
        self.printed.chunks.clear()

    def finish(self) -> None:
        """Run the commands that get all paths at once."""
        for command, paths in self.collected:
            if paths:
                self.flush()
                if self.call.execute([*command, *paths]):
                    self.printed.code = 1


def _noted(paths: list[str], found: _Found) -> bool:
    paths.append(found.shown)
    return True


def _always(found: _Found) -> bool:
    return True


def _either(left: Test, right: Test) -> Test:
    return lambda found: left(found) or right(found)


def _both(left: Test, right: Test) -> Test:
    return lambda found: left(found) and right(found)


def _formatted(found: _Found, form: str) -> str:
    name = found.shown.rpartition("/")[2]
    inside = found.shown[len(found.start) :].lstrip("/")
    values = {
        "p": found.shown, "f": name, "h": found.shown.rpartition("/")[0] or ".", "s": str(size_of(found.entry)), "P": inside,
        "m": f"{found.entry.mode:o}", "M": mode_text(found.entry), "d": str(found.depth), "%": "%", "u": "root", "g": "root",
        "y": "d" if isinstance(found.entry, DirectoryEntry) else "l" if isinstance(found.entry, SymlinkEntry) else "f",
        "T@": f"{found.entry.mtime:.10f}",
    }  # fmt: skip
    out: list[str] = []
    at = 0
    while at < len(form):
        if form[at] == "%" and at + 1 < len(form):
            key = form[at + 1 : at + 3] if form[at + 1 : at + 3] in values else form[at + 1]
            out.append(values.get(key, ""))
            at += 1 + len(key)
        elif form[at] == "\\" and at + 1 < len(form):
            out.append({"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}.get(form[at + 1], form[at + 1]))
            at += 2
        else:
            out.append(form[at])
            at += 1
    return "".join(out)


def _walk(expression: _Expression, start: str) -> Iterator[_Found]:
    call = expression.call
    path = call.resolve(start)
    entry = call.fs.own_entry(path)
    if entry is None:
        expression.printed.err(f"find: '{start}': No such file or directory\n")
        return
    waiting = [_Found(start, path, entry, 0, start)]
    while waiting:
        call.run.spend()
        found = waiting.pop()
        yield found
        if isinstance(found.entry, DirectoryEntry) and found.depth < expression.deepest and not found.pruned:
            for name in reversed(call.fs.names(found.path)):
                inner = f"{found.path.rstrip('/')}/{name}"
                below = call.fs.own_entry(inner)
                if below is not None:
                    waiting.append(
                        _Found(
                            f"{found.shown.rstrip('/') or ''}/{name}", inner, below, found.depth + 1, start
                        )
                    )


def find(args: list[str], call: Call) -> ExecResult:
    """``find [directory...] [expression]``."""
    words = [word for word in args if word not in ("-L", "-H", "-P")]
    starts: list[str] = []
    while words and not words[0].startswith("-") and words[0] not in ("!", "("):
        starts.append(words.pop(0))
    printed = Printed()
    expression = _Expression(words, call, printed)
    try:
        test = expression.either() if words else _always
        if expression.at < len(words):
            raise UsageError(f"paths must precede expression: `{words[expression.at]}'")
    except UsageError as error:
        return ExecResult("", f"find: {error}\n", 1)
    for start in starts or ["."]:
        found_all = _walk(expression, start)
        order = reversed(list(found_all)) if expression.depth_first else found_all
        for found in order:
            if expression.least <= found.depth <= expression.deepest and test(found) and not expression.acts:
                printed.out(f"{found.shown}\n")
            if expression.stopped:
                break
    expression.finish()
    return printed.result()
