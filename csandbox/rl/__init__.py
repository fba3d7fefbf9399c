"""Rewards by tests, in the shapes in which trainers and benchmarks call them.

================ ===========================================================================
trl              reward functions for TRL's trainers, plain and async
verl             ``compute_score`` for verl, plain, async and by the batch
livecodebench    ``check_correctness`` of LiveCodeBench and its forks
humaneval        ``check_correctness`` of HumanEval
verifiers        a reward function for a rubric of ``verifiers``
gymnasium        a Gymnasium environment (needs ``csandbox[gym]``)
openenv          an OpenEnv environment (needs ``csandbox[openenv]``)
================ ===========================================================================

What they share is here: `extract` finds the program in a completion, `Scorer` grades it, `Shaping`
makes a reward of the grade. **A sample on which the sandbox failed has no reward**: each face says
so in its framework's own words, and never 0.
"""

from csandbox.rl._extract import STRATEGIES, Extraction, extract, extract_code
from csandbox.rl._faults import InfrastructureFault
from csandbox.rl._rows import RowError, Rows
from csandbox.rl._scorer import Scored, Scorer
from csandbox.rl._shaping import Shaping, neutral_to_length

__all__ = [
    "STRATEGIES",
    "Extraction",
    "InfrastructureFault",
    "RowError",
    "Rows",
    "Scored",
    "Scorer",
    "Shaping",
    "extract",
    "extract_code",
    "neutral_to_length",
]

for _public in (Extraction, InfrastructureFault, RowError, Rows, Scored, Scorer, Shaping,
                extract, extract_code, neutral_to_length):  # fmt: skip
    _public.__module__ = __name__
del _public
