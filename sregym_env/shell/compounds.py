"""Compound commands: loops, choices and tests."""

from __future__ import annotations

from abc import abstractmethod

from sregym_env.runtime.numbers import whole
from sregym_env.shell import conditions, globs
from sregym_env.shell.expansion import Expander
from sregym_env.shell.flow import Leave, ShellError
from sregym_env.shell.limits import TimeExceeded
from sregym_env.shell.run import Host, Run
from sregym_env.shell.session import Session
from sregym_env.shell.syntax import tree
from sregym_env.shell.variables import Variables


class Compounds(Run):
    """Runs compound commands."""

    def __init__(self, host: Host, session: Session) -> None:
        super().__init__(host, session)
        self._loops = 0
        self._guarded = 0
        self.variables = Variables(self)
        self.expander = Expander(self, self.variables)

    @abstractmethod
    def script(self, node: tree.Script) -> int:
        """Run statements in order; the exit code of the last."""

    def let_go(self) -> None:
        """Nothing is run any more: what expands words for it shall not keep it, nor itself."""
        self.expander.let_go()
        del self.expander, self.variables

    # --- loops --------------------------------------------------------------------------------------

    def leave(self, levels: int, *, again: bool) -> None:
        """``break`` and ``continue``. Raises Leave where there is a loop."""
        if self._loops:
            raise Leave(min(levels, self._loops), again=again)
        word = "continue" if again else "break"
        self.complain(f"{word}: only meaningful in a `for', `while', or `until' loop")

    def _turn(self, body: tree.Script) -> bool:
        """One turn of a loop; whether the loop goes on. Raises Leave for loops further out."""
        self._loops += 1
        try:
            self.script(body)
            return True
        except Leave as leave:
            if leave.levels > 1:
                raise Leave(leave.levels - 1, again=leave.again) from None
            return leave.again
        finally:
            self._loops -= 1

    def guarded(self, condition: tree.Script) -> bool:
        """Whether a condition holds; its failure ends nothing."""
        self._guarded += 1
        # `while break; do` leaves the loop: its condition is part of it.
        self._loops += 1
        try:
            return self.script(condition) == 0
        finally:
            self._guarded -= 1
            self._loops -= 1

    def loop_while(self, node: tree.While) -> int:
        """``while`` and ``until``."""
        code, turns = 0, 0
        try:
            while self.guarded(node.condition) != node.until:
                turns += 1
                if turns > self.limits.loop_iterations:
                    raise TimeExceeded("too many commands executed: loop without end")
                on = self._turn(node.body)
                code = self.session.exit_code
                if not on:
                    break
        except Leave as leave:
            if leave.levels > 1:
                raise Leave(leave.levels - 1, again=leave.again) from None
        return code

    def loop_for(self, node: tree.For) -> int:
        """``for`` and ``select``."""
        words = self.session.arguments if node.words is None else self.expander.fields(node.words)
        code = 0
        if node.select:
            return self._select(node, list(words))
        for word in words:
            self.spend()
            self.variables.set(node.name, word)
            if "xtrace" in self.session.flags and node.words is not None:
                self.err(f"+ for {node.name} in {' '.join(w.source for w in node.words)}\n")
            on = self._turn(node.body)
            code = self.session.exit_code
            if not on:
                break
        return code

    def _select(self, node: tree.For, words: list[str]) -> int:
        menu = "".join(f"{number}) {word}\n" for number, word in enumerate(words, 1))
        shown = True
        code = 0
        while True:
            self.spend()
            self.err((menu if shown else "") + (self.variables.get("PS3") or "#? "))
            line, found = self.input.until("\n")
            if not found and not line:
                self.out("\n")
                return code or 1
            shown = not line
            if not line:
                continue
            number = whole(line.strip(), 0)
            self.variables.set("REPLY", line)
            self.variables.set(node.name, words[number - 1] if 0 < number <= len(words) else "")
            if not self._turn(node.body):
                return self.session.exit_code
            code = self.session.exit_code

    def loop_count(self, node: tree.Count) -> int:
        """``for ((;;))``."""
        number = self.expander.number
        code = 0
        if node.start.source:
            number(node.start)
        while not node.condition.source or number(node.condition):
            self.spend()
            on = self._turn(node.body)
            code = self.session.exit_code
            if not on:
                break
            if node.step.source:
                number(node.step)
        return code

    # --- other compounds ----------------------------------------------------------------------------

    def choose(self, node: tree.If) -> int:
        """``if``."""
        for condition, body in node.clauses:
            self._guarded += 1
            try:
                holds = self.script(condition) == 0
            finally:
                self._guarded -= 1
            if holds:
                return self.script(body)
        return self.script(node.otherwise) if node.otherwise is not None else 0

    def case(self, node: tree.Case) -> int:
        """``case``."""
        subject = self.expander.text(node.subject)
        nocase = "nocasematch" in self.session.options
        code, through = 0, False
        for patterns, body, end in node.clauses:
            if not through and not any(
                globs.matches(subject, self.expander.pattern(pattern), nocase) for pattern in patterns
            ):
                continue
            self.session.exit_code = 0
            code = self.script(body)
            if end == ";;":
                break
            through = end == ";&"
        return code

    def calculation(self, node: tree.Calculation) -> int:
        """``(( ))``."""
        if "xtrace" in self.session.flags:
            self.err(f"+ (({node.expression.source}))\n")
        try:
            return int(self.expander.number(node.expression) == 0)
        except ShellError as error:
            self.complain(f"((: {error}")
            return 1

    def conditional(self, node: tree.Conditional) -> int:
        """``[[ ]]``."""
        try:
            return int(not conditions.holds(self.expander, node.condition))
        except conditions.TestProblem as error:
            self.complain(str(error))
            return 2
