"""An OpenEnv environment whose actions are programs. Needs ``csandbox[openenv]``.

To serve it::

    from openenv.core.env_server import create_fastapi_app
    app = create_fastapi_app(lambda: CodeEnvironment(tasks), CodeAction, CodeObservation)
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

try:
    from openenv.core.env_server import Action, Environment, Observation, State
    from pydantic import Field
except ImportError as _error:
    raise ImportError(
        "csandbox.rl.openenv needs OpenEnv, which is not installed here: "
        "pip install 'csandbox[openenv]'"
    ) from _error

from csandbox.rl._episode import Attempt, Problem, attempt, explore, problems_of
from csandbox.rl._scorer import Scorer


class CodeAction(Action):
    """A program, or an answer that holds one.

    With ``submit`` it is graded; without, it is only run with ``stdin``, which costs a turn and
    gives no reward.
    """

    code: str = Field(description="the program, or text with the program in a fenced block")
    submit: bool = Field(default=True, description="grade it; False: only run it")
    stdin: str = Field(default="", description="standard input of a program that is only run")


class CodeObservation(Observation):
    """What came of an action. ``reward`` is None when there is none, and when nothing is known."""

    prompt: str = Field(default="", description="the task")
    verdict: str = Field(default="", description="csandbox's word for how it ended")
    feedback: str = Field(default="", description="what may be told of the tests, or diagnostics")
    stdout: str = Field(default="", description="output, as far as it may be shown")
    stderr: str = Field(default="", description="errors, as far as they may be shown")
    exit_code: int | None = Field(default=None, description="of a program that was only run")
    left_out: bool = Field(default=False, description="the sandbox failed: leave this step out")


class CodeState(State):
    """The episode's state."""

    task: str = ""
    turns: int = 1
    solved: bool = False


class CodeEnvironment(Environment[CodeAction, CodeObservation, CodeState]):
    """Each episode is one task (`tasks`: `Problem`s or mappings); `turns` actions at most.

    More keywords are those of `csandbox.rl.Scorer`. Instances share nothing, so a server may hold
    one for each session. ``reset(seed=…)`` draws the task, ``reset(task=n)`` names it.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        tasks: Sequence[Problem | Mapping[str, Any]],
        *,
        turns: int = 1,
        feedback: str = "first",
        **options: Any,
    ) -> None:
        """Check; see the class."""
        super().__init__()
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            raise ValueError(f"turns must be a whole number from 1 on, not {turns!r}")
        self.problems = problems_of(tasks)
        self._scorer = Scorer(feedback=feedback, **options)
        self._random = random.Random()
        self._problem: Problem | None = None
        self._done = False
        self._state = CodeState(turns=turns)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> CodeObservation:
        """Begin an episode."""
        if seed is not None:
            self._random.seed(seed)
        chosen = kwargs.get("task")
        number = self._random.randrange(len(self.problems)) if chosen is None else int(chosen)
        if not 0 <= number < len(self.problems):
            raise ValueError(f"task must be from 0 to {len(self.problems) - 1}, not {number}")
        self._problem = self.problems[number]
        self._done = False
        self._state = CodeState(
            episode_id=episode_id or str(uuid.uuid4()),
            turns=self._state.turns,
            task=self._problem.id or str(number),
        )
        return CodeObservation(prompt=self._problem.prompt, done=False, reward=None)

    def step(
        self, action: CodeAction, timeout_s: float | None = None, **kwargs: Any
    ) -> CodeObservation:
        """Grade or run a program. `timeout_s` bounds the time for all its tests by the clock."""
        if self._problem is None or self._done:
            raise RuntimeError("the episode is over, or none has begun: reset()")
        self._state.step_count += 1
        tried: Attempt
        if action.submit:
            tried = attempt(self._scorer, self._problem, action.code, total_s=timeout_s)
        else:
            tried = explore(self._scorer, action.code, action.stdin, timeout_s)
        left_out = tried.reward is None
        self._state.solved = tried.solved
        self._done = left_out or tried.solved or self._state.step_count >= self._state.turns
        return CodeObservation(
            prompt=self._problem.prompt,
            verdict=tried.verdict,
            feedback=tried.feedback,
            stdout=tried.stdout,
            stderr=tried.stderr,
            exit_code=tried.exit_code,
            left_out=left_out,
            done=self._done,
            reward=tried.reward if action.submit else None,
            metadata={"task": self._state.task},
        )

    @property
    def state(self) -> CodeState:
        """Where the episode is."""
        return self._state
