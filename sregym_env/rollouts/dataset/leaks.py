"""Whether an episode tells its answer: the problem's id, a fault's name, the judge's view of the cause.

What the agent itself said first may be said back to it; but nothing that the judge alone knows is ever said by anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sregym_env.rollouts.record import EpisodeRecord, Labels
from sregym_env.tools.taxonomy import TAXONOMY

MARK = "[fault_spec]"
"""What root causes begin with as judges and reports print them."""


def leaks(record: EpisodeRecord, labels: Labels) -> Iterator[str]:
    """Names of what is wrong that are in the record and were not first said by the agent."""
    names = _names(labels)
    pattern = _pattern(names)
    said: set[str] = set()
    for message in record.messages:
        texts = [message.content, message.reasoning_content or ""]
        texts += [str(call.function.arguments) for call in message.tool_calls]
        found = {match.lower() for text in texts for match in pattern.findall(text)}
        if message.role == "assistant":
            said |= found
            if any(MARK in text for text in texts):
                yield f"the agent says {MARK}, which it cannot know"
        else:
            yield from (f"a message of the {message.role} names {name}" for name in sorted(found - said))
            if any(MARK in text for text in texts):
                yield f"a message of the {message.role} holds {MARK}"
    rest = record.model_dump_json(exclude={"messages", "diagnosis"})
    yield from (f"{name} stands beside the messages" for name in sorted(set(pattern.findall(rest))))


def _names(labels: Labels) -> tuple[str, ...]:
    """Identifiers that nobody writes by chance: plain words are left out, and kinds of cause that every agent is shown."""
    problem = labels.problem
    ids = {str(problem.get("id", "")), *(str(each.get("fault", "")) for each in problem.get("faults", ()))}
    ids |= {str(spec.get("fault", "")) for spec in labels.specs}
    return tuple(sorted(name for name in ids - TAXONOMY.keys() if re.search(r"[_/]", name)))


@lru_cache(maxsize=256)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(re.escape(name) for name in names) or r"(?!)"
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)
