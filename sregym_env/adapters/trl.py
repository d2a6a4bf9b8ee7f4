"""TRL: ``GRPOTrainer(environment_factory=...)`` and the rows of its dataset.

TRL makes an instance per rollout, calls ``reset(**row)``, offers every other public method to the model as a tool
(its signature and docstring are the schema), and asks ``get_reward()`` at the end::

    from sregym_env.adapters.trl import SREGymSpec

    spec = SREGymSpec(suite="lite", part="train", seeds=range(8))
    trainer = GRPOTrainer(model=..., train_dataset=spec.train_dataset, environment_factory=spec.environment_factory)

Nothing here needs TRL but :attr:`SREGymSpec.train_dataset`, which needs ``datasets``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sregym_env.adapters.session import Session, rows
from sregym_env.envs.tasks.splits import By, Split

SYSTEM = (
    "You are the site reliability engineer on call. Find the root cause, hand in a diagnosis, repair the system, hand "
    "in the repair. Look before you change anything."
)
"""The system message of every row. The briefing follows at the reset."""


class SREGymTools:
    """An episode whose tools are methods.

    A judge or a world that failed gives a reward of None, which TRL leaves out.
    """

    def __init__(self, **arguments: Any) -> None:
        self._session = Session(**arguments)

    def reset(self, problem: str = "", seed: int = 0, **_: Any) -> str:
        """Set up the problem of a row; the briefing, which TRL adds to the last user message."""
        return self._session.begin(problem, seed)

    def get_reward(self) -> float | None:
        """What the episode earned; what was handed in counts even if the rollout was cut."""
        return self._session.reward("max_tokens")

    def shell(self, command: str) -> str:
        """
        Run a bash command line on the on-call workstation. kubectl is configured for the cluster; curl, grep, awk, sed,
        jq, sleep and other common commands are there too. Nothing is interactive.

        Args:
            command: The command line, e.g. kubectl get pods -A | grep -v Running

        Returns:
            What the command printed.
        """
        return self._call("shell", command=command)

    def alerts(self) -> str:
        """
        List the alerts that are pending or firing now.

        Returns:
            The alerts as a table.
        """
        return self._call("alerts")

    def wait(self, seconds: int) -> str:
        """
        Let time pass in the cluster.

        Args:
            seconds: How many seconds, at most 600.

        Returns:
            Nothing, after that time.
        """
        return self._call("wait", seconds=seconds)

    def submit_diagnosis(self, text: str) -> str:
        """
        Hand in the root cause, once: which component is at fault, what exactly is wrong with it, whom it affects.

        Args:
            text: The diagnosis in your own words.

        Returns:
            What to do next.
        """
        return self._call("submit_diagnosis", text=text)

    def submit_mitigation(self) -> str:
        """
        Hand in the repair, which ends the episode.

        Returns:
            That the episode is over.
        """
        return self._call("submit_mitigation")

    def _call(self, tool: str, **arguments: Any) -> str:
        return self._session.call(tool, **arguments)


class SREGymSpec:
    """What a trainer wants, as one object: the dataset, the environment's factory.

    ``arguments`` are the environment's (``reward``, ``judge``, ``noise``, ``variation``, ``max_commands``...). Raises
    UsageError and ProblemError for what makes no sense, before a model is loaded.
    """

    def __init__(
        self,
        suite: str = "lite",
        *,
        part: Split | None = None,
        by: By = "family",
        seeds: Iterable[int] = range(4),
        system: str = SYSTEM,
        **arguments: Any,
    ) -> None:
        Session(**arguments)
        self._rows = rows(suite, part=part, by=by, seeds=seeds)
        self._system = system
        self._arguments = arguments

    @property
    def environment_factory(self) -> Callable[[], SREGymTools]:
        """Makes an environment, with no arguments."""
        arguments = self._arguments

        class Tools(SREGymTools):
            def __init__(self) -> None:
                super().__init__(**arguments)

        return Tools

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The dataset as plain rows: a prompt, and the columns that ``reset`` takes."""
        prompt = [{"role": "system", "content": self._system}, {"role": "user", "content": ""}]
        return [{"prompt": prompt, **row} for row in self._rows]

    @property
    def train_dataset(self) -> Any:
        """The rows as a ``datasets.Dataset``."""
        from datasets import Dataset

        return Dataset.from_list(self.rows)
