"""A policy that asks a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic import ValidationError

from sregym_env.envs.arguments import flag, mapping, whole
from sregym_env.envs.env import SREGymEnv
from sregym_env.errors import UsageError
from sregym_env.llm.messages import Message
from sregym_env.llm.model import Model, Request, Sampling
from sregym_env.llm.settings import endpoint_settings, explained
from sregym_env.rollouts.answering import answers
from sregym_env.rollouts.policies.eliding import elided
from sregym_env.rollouts.policies.policy import Turn
from sregym_env.rollouts.policies.prompts import found

ToolMode = Literal["tools", "text"]
"""Whether a model calls tools through its server's interface, or writes its actions into its words."""

DEFAULT_PROMPTS: Mapping[ToolMode, str] = {"tools": "sre", "text": "sre_text"}

PATIENCE: Mapping[str, Any] = {
    "timeouts": {"read": 300.0},
    "retry": {"attempts": 6, "total_seconds": 300.0},
}
"""Of the endpoint, where the options do not say: an episode in the middle is worth waiting for, and models think long."""


class LLMPolicy:
    """Plays what a language model says.

    The conversation is what is recorded: the system's prompt, the briefing, and then in turn what the model said and what
    the environment answered, every tool call by its id. A model that says nothing, or nothing that is an action, is told so
    by the environment.
    """

    name = "llm"
    version = "1"

    def __init__(
        self,
        model: str | Model = "",
        *,
        mode: ToolMode = "tools",
        prompt: str | None = None,
        sampling: Mapping[str, Any] | Sampling | None = None,
        context_chars: int | None = None,
        tokens: bool = False,
        **endpoint: Any,
    ) -> None:
        """A policy for a model, by its name or as an object.

        Args:
            model: the model's name, which makes ``endpoint`` an endpoint's options
                (:class:`~sregym_env.llm.settings.EndpointSettings`: ``base_url``, ``api``, ``stream``, ``retry`` ...); or
                any :class:`~sregym_env.llm.model.Model`.
            mode: ``tools`` or ``text``.
            prompt: the system's prompt: the name of one that ships, or the path of a file, in which ``{{tools}}`` stands
                for the tools in words. The mode's own if left out.
            sampling: see :class:`~sregym_env.llm.model.Sampling`. The seed in it is added to the episode's, so that no two
                members of a group are one.
            context_chars: send no more than so many characters: the oldest answers of the environment are left out, each
                with a note in its place. None never leaves anything out, so that every conversation sent begins with the
                one before it, as trainers and caches want it.
            tokens: ask for token ids and logprobs, for training.

        Raises UsageError for options that make no sense.
        """
        if not isinstance(model, str) and not callable(getattr(model, "complete", None)):
            raise UsageError(
                f"policy llm: model must be a name, or a model with a method complete, not {model!r}"
            )
        if not model:
            raise UsageError(
                "policy llm: which model? e.g. model=gpt-5, and base_url where it is served elsewhere"
            )
        if mode not in get_args(ToolMode):
            raise UsageError(f"policy llm: mode must be tools or text, not {mode!r}")
        if context_chars is not None:
            whole("policy llm: context_chars", context_chars, 1)
        self._mode = mode
        self._prompt = found(prompt or DEFAULT_PROMPTS[mode])
        self._sampling = _sampling(sampling)
        self._context_chars = context_chars
        self._want_tokens = flag("policy llm: tokens", tokens)
        told: Mapping[str, Any]
        self._model, told = _model(model, endpoint)
        self.settings: Mapping[str, Any] = {
            **told,
            "mode": mode,
            "prompt": self._prompt.name,
            "prompt_sha": self._prompt.sha,
            "sampling": self._sampling.model_dump(mode="json", exclude_defaults=True),
            "context_chars": context_chars,
        }
        self._env: SREGymEnv | None = None
        self._messages: list[Message] = []
        self._tools: tuple[dict[str, Any], ...] = ()
        self._left_out = 0
        self._episode_sampling = self._sampling

    def begin(self, env: SREGymEnv, briefing: str, seed: int) -> Sequence[Message]:
        """The system's prompt and the briefing."""
        system = self._prompt.text.replace("{{tools}}", env.tools_text())
        opening = (Message(role="system", content=system), Message(role="user", content=briefing))
        self._env = env
        self._messages = list(opening)
        self._tools = tuple(env.tools("openai")) if self._mode == "tools" else ()
        self._left_out = 0
        self._episode_sampling = self._sampling
        if self._sampling.seed is not None:
            own = (self._sampling.seed + seed) % 2**31
            self._episode_sampling = self._sampling.model_copy(update={"seed": own})
        return opening

    def act(self, observation: str, info: Mapping[str, Any]) -> Turn:
        """What the model says next. Raises ModelError where it cannot be asked."""
        if self._env is None:
            raise UsageError("policy llm: begin an episode before acting in it")
        if self._messages[-1].role == "assistant":
            self._messages += answers(self._env, self._messages[-1])
        request = Request(
            messages=self._sent(),
            tools=self._tools,
            sampling=self._episode_sampling,
            want_tokens=self._want_tokens,
        )
        reply = self._model.complete(request)
        self._messages.append(reply.message)
        return Turn(reply.message, reply.tokens, reply.usage, reply.finish_reason or None)

    def _sent(self) -> tuple[Message, ...]:
        """What is sent of the conversation."""
        if self._context_chars is None:
            return tuple(self._messages)
        sent, self._left_out = elided(self._messages, self._context_chars, self._left_out)
        return sent


def _sampling(given: Mapping[str, Any] | Sampling | None) -> Sampling:
    if isinstance(given, Sampling):
        return given
    try:
        return Sampling.model_validate(mapping("policy llm: sampling", given))
    except ValidationError as error:
        raise UsageError(f"policy llm: sampling: {explained(error)}") from None


def _model(model: str | Model, options: Mapping[str, Any]) -> tuple[Model, Mapping[str, Any]]:
    """The model to ask, and what to record about it."""
    if isinstance(model, str):
        # httpx takes longer to import than the rest of a policy, and most policies ask nobody.
        from sregym_env.llm.endpoint import Endpoint

        settings = endpoint_settings({**PATIENCE, **options, "model": model})
        return Endpoint(settings), settings.public
    if options:
        raise UsageError(
            f"policy llm: {min(options)} is an option of endpoints, and the model is given as an object"
        )
    return model, {"model": model.name}
