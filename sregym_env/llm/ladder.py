"""How a client comes to terms with what a server cannot do: it asks for less, and remembers. Pure.

Servers that call themselves compatible refuse parameters that others demand, and say so in words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sregym_env.llm.wire.wire import Document, Plan, Rung

FEATURES: Mapping[str, tuple[str, ...]] = {
    "return_token_ids": ("return_token_ids",),
    "logprobs": ("logprobs",),
    "stream_options": ("stream_options",),
    "max_tokens": ("max_completion_tokens",),
    "encrypted": ("encrypted_content", "encrypted content"),
}
"""What can be left out, and the words in an error (in lower case) by which a server asks for that.

``max_tokens`` is not left out but sent under the name that OpenAI gave it later.
"""

_REFUSALS = frozenset({400, 422})


def may_be_about_wording(status: int, complaint: str) -> bool:
    """Whether a status may mean that the request should have been worded otherwise."""
    return status in _REFUSALS or (status == 404 and "support" in complaint.lower())


def lowered(
    plan: Plan, rungs: Sequence[Rung], complaint: str, schema: bool, body: Callable[[Plan], Document]
) -> Plan | None:
    """The next plan to try after a refusal; None if nothing is left. ``body`` words the request by a plan."""
    said = complaint.lower()
    for feature, words in FEATURES.items():
        if feature not in plan.without and any(word in said for word in words):
            lower = replace(plan, without=plan.without | {feature})
            if body(lower) != body(plan):
                return lower
    return next_rung(plan, rungs) if schema else None


def next_rung(plan: Plan, rungs: Sequence[Rung]) -> Plan | None:
    """The plan with the next less strict way to ask for JSON; None after the last one."""
    index = rungs.index(plan.rung) + 1
    return replace(plan, rung=rungs[index]) if index < len(rungs) else None


def learnt(known: Plan, worked: Plan, rungs: Sequence[Rung], schema: bool) -> Plan:
    """What is known of a server after a plan has worked that others were refused for."""
    rung = known.rung
    if schema and rungs.index(worked.rung) > rungs.index(rung):
        rung = worked.rung
    return replace(known, rung=rung, without=known.without | worked.without)
