"""Print a policy as lines "key value", for C tests that start a child without the glue."""

from __future__ import annotations

from csandbox._interpreter import interpreter
from csandbox._policy import policy_spec
from csandbox._profile import Profile

spec = policy_spec(Profile.load("open"), interpreter(None), frozenset())
for key in ("python", "child_module"):
    print(key, spec[key])
for key in ("module_path", "read", "list", "execute"):
    for path in spec[key]:
        print(key, path)
