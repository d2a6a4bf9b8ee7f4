"""Episodes for tests, played once: of an expert, and of policies that say what they are told to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sregym_env.envs.env import SREGymEnv
from sregym_env.llm.messages import Message, call
from sregym_env.llm.model import ModelError, Tokens, Usage
from sregym_env.rollouts.policies import ExpertPolicy, Turn
from sregym_env.rollouts.runner import Budgets, Place, Rollout, run_episode

PROBLEM = "network_policy_block"
"""Of a family that belongs to the test split."""

TRAINED = "hotel-reservation/service_target_port_mismatch/consul"
"""Of one that belongs to the training split."""

BOTH = {
    "id": "two-causes",
    "app": "hotel-reservation",
    "faults": [
        {"fault": "service_target_port_mismatch", "target": "consul"},
        {"fault": "network_policy_block", "target": "recommendation"},
    ],
}
"""Of both."""


class Says:
    """A policy that says these things, one after the other."""

    name = "says"
    version = "1"

    def __init__(self, *said: str | Turn, model: str | None = None, opening: Sequence[Message] = ()) -> None:
        self.settings: Mapping[str, Any] = {} if model is None else {"model": model}
        self._said = iter(said)
        self._opening = tuple(opening)

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> Sequence[Message] | None:
        """Whatever was given, before the briefing."""
        return [*self._opening, Message(role="user", content=briefing)] if self._opening else None

    def act(self, observation: str, info: Mapping[str, Any]) -> str | Turn:
        """The next one; a model that cannot be asked when there is none left."""
        try:
            return next(self._said)
        except StopIteration:
            raise ModelError("the server is gone", "unreachable") from None


def calls(*named: tuple[str, dict[str, Any]], thought: str = "", reasoning: str | None = None) -> Turn:
    """A turn of tool calls, as a model's."""
    message = Message(
        role="assistant",
        content=thought,
        reasoning_content=reasoning,
        tool_calls=tuple(call(f"c{number}", name, **args) for number, (name, args) in enumerate(named)),
    )
    return Turn(
        message,
        tokens=Tokens(prompt_token_ids=(1, 2), completion_token_ids=(3,), logprobs=(-0.5,)),
        usage=Usage(prompt_tokens=2, completion_tokens=1, requests=1),
        finish_reason="tool_calls",
    )


TALK = (
    calls(("kubectl", {"command": "get pods -n hotel-reservation"}), thought="First a look."),
    calls(("alerts", {}), ("wait", {"seconds": 30}), reasoning="Two at once."),
    calls(("shell", {"command": "echo 'é' | tee note; cat note"})),
    calls(("no_such_tool", {"x": 1})),
    Turn(Message(role="assistant", content="I think that it is the network.")),
    calls(
        ("submit_diagnosis", {"text": "The network policy deny-all-recommendation isolates recommendation."})
    ),
    calls(("submit_mitigation", {})),
)
"""A model's turns: thoughts, several calls at once, ids used twice, a tool that there is not, mere words."""

TEXT = (
    "kubectl get pods -n hotel-reservation",
    "<think>Perhaps the logs.</think>kubectl logs deploy/frontend -n hotel-reservation --tail 2",
    "I look at two things:\n```bash\nalerts\n```\nand\n```bash\nkubectl get svc -n hotel-reservation\n```",
    '{"name": "wait", "arguments": {"seconds": 5}}',
    "",
    'submit diagnosis "the pods of recommendation are isolated by a NetworkPolicy"',
    "submit mitigation",
)
"""Text actions: a line, a thought before it, two fences, a call as JSON, nothing, both submissions."""


@cache
def expert(
    problem: str = PROBLEM, seed: int = 4, index: int = 0, sample: int = 0, digests: bool = True
) -> Rollout:
    """The expert's episode."""
    return run_episode(
        SREGymEnv(problem, raise_errors=True, max_commands=200),
        ExpertPolicy(),
        seed=seed,
        place=Place("run", f"group-{index}", sample),
        digests=digests,
    )


@cache
def talked(index: int = 0, sample: int = 1) -> Rollout:
    """A model's episode, with tool calls; the cause is found and not repaired."""
    return said(*TALK, index=index, sample=sample, model="talker-1")


@cache
def typed(index: int = 0, sample: int = 2) -> Rollout:
    """An episode of text actions."""
    return said(*TEXT, index=index, sample=sample)


def said(
    *turns: str | Turn,
    problem: str | Mapping[str, Any] = PROBLEM,
    seed: int = 4,
    index: int = 0,
    sample: int = 0,
    model: str | None = None,
    budgets: Budgets = Budgets(),
    opening: Sequence[Message] = (),
    **env: Any,
) -> Rollout:
    """An episode in which this is said."""
    return run_episode(
        SREGymEnv(problem, raise_errors=True, **{"max_commands": 200, **env}),
        Says(*turns, model=model, opening=opening),
        seed=seed,
        place=Place("run", f"group-{index}", sample),
        budgets=budgets,
        digests=True,
    )
