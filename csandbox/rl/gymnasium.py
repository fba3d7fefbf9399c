r"""A Gymnasium environment whose actions are programs. Needs ``csandbox[gym]``.

An episode is one task, and each action an answer to it::

env = csandbox.rl.gymnasium.CodeEnv([{"prompt": "…", "tests": [...]}], turns=3)
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step("```python\n…\n```")
"""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence
from typing import Any

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as _error:
    raise ImportError(
        "csandbox.rl.gymnasium needs Gymnasium, which is not installed here: "
        "pip install 'csandbox[gym]'"
    ) from _error

from csandbox.rl._episode import Attempt, Problem, attempt, problems_of
from csandbox.rl._scorer import Scorer

#: What observations are made of; anything else in a program's output is escaped.
CHARACTERS = string.ascii_letters + string.digits + string.punctuation + " \n\t"
_KNOWN = frozenset(CHARACTERS)
_MOST = 10_000


def plain(text: str) -> str:
    """The text in `CHARACTERS`, other characters as Python escapes, cut to the space's length."""
    shown = "".join(
        c if c in _KNOWN else ascii(c)[1:-1] for c in text[:_MOST]
    )  # one character is one to ten of these
    return shown[:_MOST]


class CodeEnv(gymnasium.Env[dict[str, str], str]):
    """Each episode is one task; an action is an answer with a program; the reward is its grade.

    =============== ==========================================================================
    tasks           `Problem`s, or mappings with ``prompt``, ``tests`` and perhaps ``id``
    turns           answers that an episode may take; it terminates earlier when one is right
    feedback        what an answer's observation shows of the tests (`csandbox.grade`): first
    max_characters  the longest answer that the action space holds
    =============== ==========================================================================

    More keywords are those of `csandbox.rl.Scorer`. Observations are ``prompt``, ``feedback`` (what
    came of the last answer) and ``stdout``. ``info`` has ``task``, ``verdict``, ``solved``,
    ``turn`` and ``left_out``; nothing in it depends on time, so that steps are repeatable.

    When the sandbox failed the reward is **nan**, ``info["left_out"]`` is True and the episode is
    truncated: leave that step out. ``reset(options={"task": n})`` chooses the task.
    """

    metadata = {"render_modes": ["ansi"]}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(
        self,
        tasks: Sequence[Problem | Mapping[str, Any]],
        *,
        turns: int = 1,
        feedback: str = "first",
        max_characters: int = 20_000,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Check; see the class."""
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            raise ValueError(f"turns must be a whole number from 1 on, not {turns!r}")
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode must be None or 'ansi', not {render_mode!r}")
        self.render_mode = render_mode
        self.problems = problems_of(tasks)
        self.turns = turns
        self._scorer = Scorer(feedback=feedback, **options)
        text = {"min_length": 0, "charset": CHARACTERS}
        self.action_space: Any = spaces.Text(max_characters, **text)
        self.observation_space: Any = spaces.Dict(
            {name: spaces.Text(_MOST, **text) for name in ("prompt", "feedback", "stdout")}
        )
        self._task: int | None = None
        self._turn = 0
        self._over = False
        self._last = ""

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Begin an episode with a task that is drawn, or that ``options["task"]`` names."""
        super().reset(seed=seed)
        chosen = (options or {}).get("task")
        if chosen is None:
            chosen = int(self.np_random.integers(len(self.problems)))
        if not isinstance(chosen, int) or not 0 <= chosen < len(self.problems):
            raise ValueError(f"task must be from 0 to {len(self.problems) - 1}, not {chosen!r}")
        self._task, self._turn, self._over, self._last = chosen, 0, False, ""
        return self._observation("", ""), self._info("", False, False)

    def step(self, action: str) -> tuple[dict[str, str], float, bool, bool, dict[str, Any]]:
        """Grade an answer: observation, reward, terminated, truncated, info."""
        if self._task is None or self._over:
            raise gymnasium.error.ResetNeeded("the episode is over, or none has begun: reset()")
        tried: Attempt = attempt(self._scorer, self.problems[self._task], action)
        self._turn += 1
        self._last = f"{tried.verdict}: {tried.feedback}"
        left_out = tried.reward is None
        terminated = not left_out and (tried.solved or self._turn >= self.turns)
        self._over = terminated or left_out
        reward = math.nan if tried.reward is None else float(tried.reward)
        info = self._info(tried.verdict, tried.solved, left_out)
        return self._observation(tried.feedback, tried.stdout), reward, terminated, left_out, info

    def render(self) -> str | None:
        """What came of the last answer, as text."""
        return self._last if self.render_mode == "ansi" else None

    def _observation(self, feedback: str, stdout: str) -> dict[str, str]:
        assert self._task is not None
        prompt = self.problems[self._task].prompt
        return {"prompt": plain(prompt), "feedback": plain(feedback), "stdout": plain(stdout)}

    def _info(self, verdict: str, solved: bool, left_out: bool) -> dict[str, Any]:
        assert self._task is not None
        return {
            "task": self.problems[self._task].id or str(self._task),
            "verdict": verdict,
            "solved": solved,
            "turn": self._turn,
            "left_out": left_out,
        }
