"""Gymnasium's own checker, and OpenEnv's own server and client."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

import csandbox
from tests.rl.tasks import ASSERTS, DOUBLE, PRINTS, PROGRAM, WRONG, broken_sandbox, fenced

ROOT = Path(__file__).resolve().parents[2]
TASKS = [
    {"prompt": "Write double(x). – “twice”", "tests": ASSERTS, "id": "double"},
    {"prompt": "Read a number, print twice it.", "tests": PROGRAM},
]


def gym_env(**options: Any) -> Any:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed")
    from csandbox.rl.gymnasium import CodeEnv

    return CodeEnv(TASKS, **options)


def test_gymnasium_checks_it() -> None:
    checker = pytest.importorskip("gymnasium.utils.env_checker", reason="no Gymnasium")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*due to the environment not having a spec")
        checker.check_env(gym_env(turns=2, max_characters=200))


def test_gymnasium_episode() -> None:
    env = gym_env(turns=3, render_mode="ansi")
    observation, info = env.reset(options={"task": 0})
    assert observation["prompt"].startswith("Write double(x). \\u2013 ") and info["turn"] == 0
    observation, reward, terminated, truncated, info = env.step(fenced(WRONG))
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info == {
        "task": "double", "verdict": "wrong_answer", "solved": False, "turn": 1, "left_out": False,
    }  # fmt: skip
    assert "0 of 4 tests passed" in observation["feedback"]
    assert "wrong_answer" in env.render()
    observation, *_ = env.step("```python\nimport socket\n```")
    assert "CSB" in observation["feedback"]  # the diagnostics of what was refused
    observation, reward, terminated, truncated, info = env.step(fenced(DOUBLE))
    assert (reward, terminated, truncated, info["solved"]) == (1.0, True, False, True)
    assert observation in env.observation_space
    with pytest.raises(Exception, match=r"reset\(\)"):
        env.step(fenced(DOUBLE))


def test_gymnasium_ends_after_its_turns() -> None:
    env = gym_env()
    env.reset(options={"task": 1})
    _, reward, terminated, truncated, info = env.step("print('é' * 20000)")
    assert (reward, terminated, truncated, info["task"]) == (0.0, True, False, "1")


def test_gymnasium_leaves_faults_out(monkeypatch: pytest.MonkeyPatch) -> None:
    env = gym_env(turns=5)
    env.reset(options={"task": 1})
    broken_sandbox(monkeypatch)
    _, reward, terminated, truncated, info = env.step(fenced(PRINTS))
    assert math.isnan(reward) and truncated and not terminated and info["left_out"]


def test_gymnasium_arguments() -> None:
    with pytest.raises(ValueError, match="turns"):
        gym_env(turns=0)
    with pytest.raises(ValueError, match="render_mode"):
        gym_env(render_mode="human")
    with pytest.raises(ValueError, match="from 0 to 1"):
        gym_env().reset(options={"task": 2})
    with pytest.raises(Exception, match=r"reset\(\)"):
        gym_env().step("x")


def openenv() -> Any:
    pytest.importorskip("openenv.core.env_server", reason="OpenEnv is not installed: make test-rl")
    from csandbox.rl import openenv as module

    return module


def test_openenv_episode() -> None:
    module = openenv()
    env = module.CodeEnvironment(TASKS, turns=3)
    assert env.reset(seed=3).prompt == env.reset(seed=3).prompt
    first = env.reset(task=1, episode_id="e")
    assert first.prompt == TASKS[1]["prompt"] and first.reward is None and not first.done
    look = env.step(module.CodeAction(code="print('saw', input())", submit=False, stdin="it"))
    assert (look.stdout, look.exit_code, look.reward, look.done) == ("saw it\n", 0, None, False)
    bad = env.step(module.CodeAction(code="print("), timeout_s=20)
    assert (bad.reward, bad.verdict, bad.done) == (0.0, "compile_error", False)
    assert "syntax error" in bad.feedback
    good = env.step(module.CodeAction(code=fenced(PRINTS)))
    assert (good.reward, good.done, good.metadata) == (1.0, True, {"task": "1"})
    assert (env.state.episode_id, env.state.step_count, env.state.solved) == ("e", 3, True)
    with pytest.raises(RuntimeError, match=r"reset\(\)"):
        env.step(module.CodeAction(code="1"))


SERVER = """
import sys, uvicorn
from openenv.core.env_server import create_fastapi_app
from csandbox.rl.openenv import CodeAction, CodeEnvironment, CodeObservation
from tests.rl.test_environments import TASKS
make = lambda: CodeEnvironment(TASKS, turns=3)
app = create_fastapi_app(make, CodeAction, CodeObservation)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_openenv_by_its_own_server_and_client(tmp_path: Path) -> None:
    openenv()
    client = pytest.importorskip("openenv.core.generic_client")
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(port)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 120
        while not answers(port) and time.monotonic() < deadline and server.poll() is None:
            time.sleep(0.1)
        with client.GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() as env:
            first = env.reset(task=1)
            assert first.observation["prompt"] == TASKS[1]["prompt"] and not first.done
            wrong = env.step({"code": "print(1)"})
            assert (wrong.reward, wrong.done) == (0.0, False)
            right = env.step({"code": fenced(PRINTS)})
            assert (right.reward, right.done) == (1.0, True)
            assert env.state()["solved"] is True
    finally:
        server.send_signal(signal.SIGINT)  # after SIGTERM uvicorn ends by it, without atexit
        server.wait(30)


def test_openenv_time_out_is_the_shorter_one() -> None:
    module = openenv()
    env = module.CodeEnvironment(TASKS, turns=3, limits={"cpu_s": 20, "wall_s": 60})
    env.reset(task=1)
    slow = module.CodeAction(code="import time\ntime.sleep(30)", submit=False)
    assert env.step(slow, timeout_s=0.5).verdict == "time_limit"
    assert env.step(module.CodeAction(code=slow.code), timeout_s=0.5).verdict == "time_limit"


def test_openenv_leaves_faults_out(monkeypatch: pytest.MonkeyPatch) -> None:
    module = openenv()
    env = module.CodeEnvironment(TASKS, turns=3)
    env.reset(task=1)
    broken_sandbox(monkeypatch)
    seen = env.step(module.CodeAction(code=fenced(PRINTS)))
    assert seen.reward is None and seen.left_out and seen.done


def test_openenv_arguments() -> None:
    module = openenv()
    with pytest.raises(ValueError, match="turns"):
        module.CodeEnvironment(TASKS, turns=True)
    with pytest.raises(ValueError, match="at least one task"):
        module.CodeEnvironment([])
    with pytest.raises(ValueError, match="from 0 to 1"):
        module.CodeEnvironment(TASKS).reset(task=9)


def test_both_run_on_a_pool() -> None:
    module = openenv()
    with csandbox.Pool("contest", workers=1) as pool:
        env = module.CodeEnvironment(TASKS, turns=2, pool=pool)
        env.reset(task=1)
        assert env.step(module.CodeAction(code="print(1)", submit=False)).stdout == "1\n"
        assert env.step(module.CodeAction(code=PRINTS)).reward == 1.0
        assert pool.stats()["runs"] == 3
