"""One attempt: actions of an agent that should cost the simulation more than it can bear."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempt:
    """Actions that are typed one after the other in a fresh episode."""

    family: str
    name: str
    actions: tuple[str, ...]

    @property
    def id(self) -> str:
        """The family and the name."""
        return f"{self.family}/{self.name}"


def attempts(family: str, templates: dict[str, str], **grid: object) -> list[Attempt]:
    """Every template with every value of the grid: ``@n`` stands for the values of ``n``.

    A grid's values are strings, or lists of strings: ``|>`` divides a template into several actions.
    """
    made = []
    for name, template in templates.items():
        forms = [(name, template)]
        for key, values in grid.items():
            assert isinstance(values, (list, tuple))
            if f"@{key}" not in template:
                continue
            forms = [(f"{n}-{v}"[:60], text.replace(f"@{key}", str(v))) for n, text in forms for v in values]
        made += [
            Attempt(family, f"{index:03d}-{n}", tuple(text.split("|>")))
            for index, (n, text) in enumerate(forms)
        ]
    return made
