"""csandbox.ray on a real local cluster; skips, and says so, where Ray is not installed.

Ray is in no requirements file of `make test` (it is 100 MB): `make test-rl` installs it and runs
this. What needs no Ray is tested below it always.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HAS_RAY = find_spec("ray") is not None


@pytest.mark.slow
@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed: `make test-rl` installs and runs")
def test_two_nodes_and_a_killed_actor() -> None:
    # Ray puts sockets below this folder, and their names have little room.
    folder = tempfile.mkdtemp(prefix="csb-ray-", dir="/tmp")
    os.chmod(folder, 0o755)
    env = {
        **os.environ,
        "TMPDIR": folder,
        "RAY_TMPDIR": folder,
        "HOME": folder,  # Ray keeps a token for its clusters there
        "PYTHONPATH": str(ROOT),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_raylet_start_wait_time_s": "240",
    }
    try:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("cluster.py"))],
            env=env, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["nodes"] == found["actors"] == found["workers"] == 2
    assert found["same_as_local"] == {"ordered": True, "unordered": True, "count": 60}
    assert 0 < found["held_back"]["ahead"] <= found["held_back"]["bound"]
    assert "there are no tests" in found["raised"]
    assert found["killed"] == {
        "places": True, "scores": True, "lost": [1, 0], "new_pid": True,
        "had_children": True, "children_gone": True,
    }  # fmt: skip
    assert found["deadly"]["scores"] == [1.0, None, 1.0, 1.0, 1.0, 1.0]
    assert found["deadly"]["verdict"] == "internal_error"
    assert found["deadly"]["reason"] == "the Ray actor was lost, 2 times"
    assert found["closed"] and found["blocks"] == 2  # of docs/how-to/ray.md


@pytest.mark.skipif(HAS_RAY, reason="Ray is installed")
def test_without_ray_the_message_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"pip install 'csandbox\[ray\]'"):
        import csandbox.ray  # noqa: F401


@pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed")
def test_sizes_by_node() -> None:
    from csandbox.ray._slots import Size, sizes

    nodes = [
        {"NodeID": "a", "Alive": True, "Resources": {"CPU": 8.0}},
        {"NodeID": "b", "Alive": True, "Resources": {"CPU": 1.0, "GPU": 1.0}},
        {"NodeID": "c", "Alive": False, "Resources": {"CPU": 8.0}},
        {"NodeID": "d", "Alive": True, "Resources": {"memory": 1.0}},
    ]
    found = sizes(nodes, actors_per_node=1, workers=None, num_cpus=None)
    assert found == [Size("a", 8, 8.0), Size("b", 1, 1.0)]
    found = sizes(nodes, actors_per_node=2, workers=None, num_cpus=None)
    assert found == [Size("a", 4, 4.0)] * 2 + [Size("b", 1, 0.5)] * 2
    found = sizes(nodes[:1], actors_per_node=1, workers=16, num_cpus=0.1)
    assert found == [Size("a", 16, 0.1)]
