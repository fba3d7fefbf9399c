"""The audit record: who ran what, under which profile, and how it ended."""

import hashlib
import json
import logging
import multiprocessing
import os
import re
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

import csandbox
from csandbox import _audit

FIELDS = {
    "schema", "time", "run_id", "pid", "uid", "source_sha256", "source_bytes", "filename",
    "profile", "profile_sha256", "verdict", "code", "limit_hit", "exit_code", "signal", "error",
    "usage", "violations", "findings", "isolation",
}  # fmt: skip


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_one_line_a_run(tmp_path):
    path = tmp_path / "audit.jsonl"
    source = "import socket\ntry: socket.socket()\nexcept PermissionError as e: print('no')"
    result = csandbox.run(source, profile="open", audit_log=path)
    refused = csandbox.run("import os\nos.system('x')\nimport ctypes", audit_log=path)
    first, second = lines(path)
    assert set(first) == set(second) == FIELDS
    assert first["source_sha256"] == hashlib.sha256(source.encode()).hexdigest()
    assert first["source_bytes"] == len(source)
    assert (first["verdict"], first["profile"]) == ("accepted", "open")
    assert first["profile_sha256"] == csandbox.Profile.load("open").digest()
    assert first["violations"] == [{"syscall": "socket", "domain": "AF_INET", "count": 1}]
    assert first["isolation"]["seccomp"] == "enforced"
    assert first["usage"]["wall_s"] > 0
    assert first["run_id"] == result.run_id != refused.run_id
    assert second["verdict"] == "rejected"
    assert second["findings"]["CSB101"] >= 1
    assert first["time"].endswith("Z")
    assert "\x1b" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_source_and_the_output_stay_out(tmp_path):
    path = tmp_path / "audit.jsonl"
    csandbox.run("print('a-' + 'secret')", stdin="other-secret", audit_log=path)
    assert "secret" not in path.read_text()


def test_the_logger_gets_the_same_record(caplog, tmp_path):
    with caplog.at_level(logging.INFO, logger="csandbox.audit"):
        result = csandbox.run("print(1)", audit_log=tmp_path / "a")
    (message,) = caplog.records
    assert message.audit == lines(tmp_path / "a")[0]
    assert message.getMessage() == f"run {result.run_id}: accepted"


def test_nothing_is_made_when_nobody_listens():
    assert logging.getLogger("csandbox.audit").isEnabledFor(logging.INFO) is False
    assert _audit.begin(None) is None
    assert csandbox.run("pass").run_id is None


def test_logging_is_not_imported_for_it():
    code = "import sys, csandbox; csandbox.run('pass'); print('logging' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_log_that_cannot_be_written_is_told_before_anything_runs(tmp_path):
    with pytest.raises(csandbox.SetupError, match=r"audit log .*: cannot open it") as caught:
        csandbox.run("print(1)", audit_log=tmp_path / "no" / "such" / "folder")
    assert caught.value.step == "audit"
    with pytest.raises(csandbox.SetupError, match="cannot write it: No space left"):
        csandbox.run("print(1)", audit_log="/dev/full")


def test_a_run_that_does_not_start_is_recorded(tmp_path, monkeypatch):
    path = tmp_path / "audit.jsonl"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(csandbox.SetupError):
        csandbox.run("print(1)", audit_log=path)
    (record,) = lines(path)
    assert record["verdict"] == "not_started"
    assert record["error"].startswith("SetupError: ")


def test_the_page_names_every_field():
    page = Path(__file__).parents[2].joinpath("docs/reference/audit.md").read_text()
    assert set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE)) == FIELDS


def _write_many(path, name, count):
    for index in range(count):
        descriptor = _audit.open_log(path)
        try:
            # Every fifth line is longer than what a pipe takes at once.
            padding = "x" * (9000 if index % 5 == 0 else 50)
            _audit.append(descriptor, _audit.line_of({"who": name, "index": index, "pad": padding}))
        finally:
            os.close(descriptor)


def test_many_writers_lose_nothing_and_mix_nothing(tmp_path):
    path = tmp_path / "audit.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(path, n, 200)) for n in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
        writer.close()
    multiprocessing.resource_tracker._resource_tracker._stop()
    seen = {(record["who"], record["index"]) for record in lines(path)}
    assert seen == {(who, index) for who in range(8) for index in range(200)}
    assert len(path.read_text().splitlines()) == 1600


def test_long_lines_do_not_mix_in_a_pipe(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    writers = [threading.Thread(target=_write_many, args=(path, n, 20)) for n in range(4)]
    keep = _audit.open_log(path)
    got = []

    def drain():
        while chunk := os.read(reader, 1 << 16):
            got.append(chunk)

    drainer = threading.Thread(target=drain)
    drainer.start()
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    os.close(keep)
    drainer.join()
    os.close(reader)
    records = [json.loads(line) for line in b"".join(got).splitlines()]
    assert len({(record["who"], record["index"]) for record in records}) == 80
