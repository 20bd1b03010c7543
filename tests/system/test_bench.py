"""ferry bench ftp --url: small runs against real servers; what it claims is what the servers saw. No time is judged."""

import contextlib
import importlib.util
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys

import pytest

from conftest import BIN, PASSWORD, USER, wait_until

ALL_ROWS = ["stor", "retr", "login", "stor_idle", "retr_idle", "retr_many", "stor_many", "quit", "login_window"]
STREAMS = ["stor", "retr", "stor_idle", "retr_idle"]
LIMITS_OFF = "limits { sessions = 1000  per_address = 0  per_account = 0  unauthenticated = 0 }"
SIZE, CLIENTS = 64 * 1024, 10


def start(url, *args, **named):
    command = [str(BIN / "ferry"), "bench", "ftp", "--url", url, *args]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, **named)


def bench(url, *args, code=0, seconds=120):
    """(standard output, standard error) of a run that must end with that code."""
    process = start(url, *args, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail("ferry bench did not end: %r" % (process.communicate(),))
    assert process.returncode == code, out + err
    assert "Sanitizer:" not in err and "runtime error" not in err, err
    # AddressSanitizer has a word of its own about tasks.
    return out, re.sub(r"==\d+==WARNING: ASan doesn't fully support .*\n", "", err)


def url_of(port, password=PASSWORD, user=USER):
    return "ftp://%s:%s@127.0.0.1:%d" % (user, password.replace(" ", "%20"), port)


def small(tmp_path, url, *args):
    """A quick run of everything; its results and what it printed."""
    path = tmp_path / "results.json"
    out, err = bench(url, "-b", "all", "--quick", "-n", str(CLIENTS), "-s", "64K", "--json", str(path), *args)
    assert err == ""
    return json.loads(path.read_text()), out


def check_plausible(results, rows=ALL_ROWS):
    """What each row says of the one server."""
    assert results["complete"] and "error" not in results
    assert [row["row"] for row in results["rows"]] == rows
    assert all(len(row["servers"]) == 1 for row in results["rows"])
    cells = {row["row"]: row["servers"][0] for row in results["rows"]}
    for row in results["rows"]:
        samples = cells[row["row"]]["samples"]
        assert 1 <= len(samples) <= 3 and min(samples) > 0, row
        assert min(samples) <= cells[row["row"]]["value"] <= max(samples)
        assert row["unit"] == ("MB/sec" if row["row"] in STREAMS else "MB" if row["row"] == "memory" else "secs")
    for name in STREAMS:
        cell = cells[name]
        assert cell["operations"] >= len(cell["samples"]) and cell["bytes"] == cell["operations"] * SIZE
        assert "interval_90" not in cell  # of three samples there is none
        # The fastest sample cannot be below what all the time gives, pauses and all.
        assert max(cell["samples"]) >= 0.99 * cell["bytes"] / 1048576 / cell["seconds"]
        noop = cell["noop"]
        assert noop["count"] > 0 and 0 < noop["p50_ms"] <= noop["p95_ms"] <= noop["p99_ms"]
    for name in ("login", "retr_many", "stor_many", "quit", "login_window"):
        cell = cells[name]
        assert cell["operations"] == CLIENTS * len(cell["samples"])
        assert sum(cell["samples"]) <= cell["seconds"] + 1e-9  # what floating point leaves
        assert cell["bytes"] == (cell["operations"] * SIZE if name.endswith("_many") else 0)
    return cells


def test_bytes_and_files_are_those_that_the_server_recorded(ferryd, root, tmp_path):
    server = ferryd(root, config=LIMITS_OFF)
    results, _ = small(tmp_path, url_of(server.port))
    cells = check_plausible(results)
    server.stop()
    audits = server.records("audit")
    moved = {operation: [a for a in audits if a["operation"] == operation and a["result"] == "ok"]
             for operation in ("upload", "download")}
    uploads = sum(cells[name]["operations"] for name in ("stor", "stor_idle", "stor_many"))
    downloads = sum(cells[name]["operations"] for name in ("retr", "retr_idle", "retr_many"))
    assert len(moved["upload"]) == uploads + 2  # the first file, before any row; and the one that many download
    assert len(moved["download"]) == downloads
    assert sum(a["bytes"] for a in moved["upload"]) == results["stored_bytes"] == (uploads + 2) * SIZE
    assert sum(a["bytes"] for a in moved["download"]) == results["retrieved_bytes"] == downloads * SIZE


def test_uploads_at_once_have_names_of_their_own_and_nothing_is_left(ferryd, root, tmp_path):
    server = ferryd(root, config=LIMITS_OFF)
    (root / "mine").write_text("stays")
    small(tmp_path, url_of(server.port))
    assert [path.name for path in root.iterdir()] == ["mine"]
    server.stop()
    names = [a["path"] for a in server.records("audit") if a["operation"] == "upload"]
    assert all(re.fullmatch(r"/ferry-bench-[a-z2-7]{8}(-\d+)?", name) for name in names)
    assert len({name for name in names if re.search(r"-\d+$", name)}) == CLIENTS


def test_memory_and_cpu_of_the_server_are_shown(ferryd, root, tmp_path):
    server = ferryd(root, config=LIMITS_OFF)
    try:
        open("/proc/%d/smaps_rollup" % server.pid).read()
    except PermissionError:
        pytest.skip("memory of another process cannot be read here")
    results, out = small(tmp_path, url_of(server.port), "-k", str(server.pid))
    cells = check_plausible(results, ["memory"] + ALL_ROWS)
    assert re.match(r"ferry .*\n\(starting with \d+\.\d[KMG] of memory being used\)\n", out)
    known, = results["servers"]
    assert known["memory_start_bytes"] > 100000
    for cell in cells.values():
        assert 0 <= cell["server_cpu_s"] < 100
    for name in [*STREAMS, "login", "retr_many", "stor_many", "memory"]:
        assert 100000 < cells[name]["memory_bytes"] < 2 ** 32
    assert cells["retr"]["server_cpu_s"] > 0 and cells["retr"]["client_cpu_s"] > 0
    assert cells["memory"]["memory_per_session_between"] == [CLIENTS // 3, CLIENTS]


def test_the_table_has_the_lines_of_ftpbench_within_80_columns(ferryd, root, tmp_path):
    server = ferryd(root, config=LIMITS_OFF)
    results, out = small(tmp_path, url_of(server.port))
    assert "\x1b" not in out and "\r" not in out
    assert max(len(line) for line in out.splitlines()) <= 80
    labels = ["STOR (client -> server)", "RETR (server -> client)", "10 concurrent clients (connect, login)",
              "STOR (1 file with 10 idle clients)", "RETR (1 file with 10 idle clients)",
              "10 concurrent clients (RETR 64.0K file)", "10 concurrent clients (STOR 64.0K file)",
              "10 concurrent clients (QUIT)", "10 concurrent clients (login, 10 at once)"]
    assert [row["label"] for row in results["rows"]] == labels
    for row in results["rows"]:
        assert "%-50s %8.2f %-8s" % (row["label"], row["servers"][0]["value"], row["unit"]) in [
            line.ljust(68) for line in out.splitlines()]


def test_the_kind_of_benchmark_chooses_the_rows(server, tmp_path):
    for kind, rows in (("upload", ["stor"]), ("download", ["retr"]), ("transfer", ["stor", "retr"])):
        out, err = bench(url_of(server.port), "-b", kind, "--quick", "-s", "64K", "--json", "-")
        assert [row["row"] for row in json.loads(out)["rows"]] == rows
        assert "CPU-s/GB" in err  # the table, since standard output is taken


def test_the_options_of_ftpbench_do_without_a_url(server):
    done = subprocess.run(
        [str(BIN / "ferry"), "bench", "ftp", "-H", "127.0.0.1", "-P", str(server.port), "-u", USER, "-p", PASSWORD,
         "-b", "download", "-s", "1k", "-n", "3", "-t", "20", "--quick"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "RETR (server -> client)" in done.stdout


def test_a_file_larger_than_memory_is_kept_for_is_sent_whole(server, tmp_path):
    path = tmp_path / "j"
    bench(url_of(server.port), "-b", "upload", "--quick", "-s", "70M", "--json", str(path))
    row, = json.loads(path.read_text())["rows"]
    cell, = row["servers"]
    assert cell["bytes"] == cell["operations"] * 70 * 1024 * 1024
    assert server.last_audit("upload")["bytes"] == 70 * 1024 * 1024


# -- what goes wrong --


def test_a_wrong_password_is_said_in_the_server_s_words(server):
    out, err = bench(url_of(server.port, "wrong"), code=1)
    assert out == "" and re.fullmatch(r"ferry bench ftp: 127.0.0.1 port \d+: the server says: 530 .*\n", err)


def test_a_server_that_is_not_there_is_said(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    out, err = bench(url_of(port), "--json", str(tmp_path / "j"), code=1)
    assert (out, err) == ("", "ferry bench ftp: 127.0.0.1 port %d: connection refused\n" % port)
    assert json.loads((tmp_path / "j").read_text())["complete"] is False


def test_a_server_that_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        _, err = bench(url_of(silent.getsockname()[1]), "-t", "1", code=1)
    assert "timed out" in err


def test_an_account_that_may_not_write_is_said(ferryd, root):
    server = ferryd(root, "--read-only")
    out, err = bench(url_of(server.port), code=1)
    assert out == "" and "upload of the first file: the server says: 550" in err


def test_a_limit_of_the_server_fails_the_row_with_the_client_s_number(ferryd, root, tmp_path):
    server = ferryd(root, config="limits { sessions = 1000  per_address = 0  per_account = 7  unauthenticated = 0 }")
    out, err = bench(url_of(server.port), "-b", "concurrence", "--quick", "-n", "20", "-s", "64K",
                     "--json", str(tmp_path / "j"), code=1)
    results = json.loads((tmp_path / "j").read_text())
    row, = results["rows"]
    cell, = row["servers"]
    assert not results["complete"]
    assert re.match(r"login 8 of 20: the server says: (421|530) ", cell["error"]), row
    assert cell["error"] in out and list(root.iterdir()) == []


def test_a_process_that_is_not_there_is_said(server):
    _, err = bench(url_of(server.port), "-k", "4194304", code=1)  # above the kernel's largest
    assert err == "ferry bench ftp: there is no process 4194304\n"


def test_a_result_that_cannot_be_written_is_said_before_the_run(server, tmp_path):
    out, err = bench(url_of(server.port), "--json", str(tmp_path / "no" / "file"), code=1)
    assert out == "" and "cannot be written" in err
    assert server.records("login") == []


@pytest.mark.parametrize("args", [["-b", "nonsense"], ["-n", "0"], ["-s", "ten"], ["--nope"], ["extra"]])
def test_wrong_use_is_2_and_says_why(args):
    out, err = bench("ftp://a:b@127.0.0.1:1", *args, code=2)
    assert out == "" and err.endswith("Try 'ferry bench ftp --help'.\n")


def test_the_suite_must_be_named():
    for args in ([], ["dance"]):
        done = subprocess.run([str(BIN / "ferry"), "bench", *args], capture_output=True, text=True, timeout=30)
        assert done.returncode == 2 and "ferry bench: what is to be measured?" in done.stderr


# -- a terminal, and Ctrl-C --


def interrupt(server, tmp_path, signals, stderr):
    """Interrupts a long run after its first row; its output and results."""
    json_path, out_path = tmp_path / "j", tmp_path / "out"
    with open(out_path, "w") as out:
        process = start(url_of(server.port), "-b", "transfer", "-s", "64K", "--json", str(json_path),
                        stdout=out, stderr=stderr)
    wait_until("the first row", lambda: "NOOPs" in out_path.read_text() or process.poll() is not None)
    process.send_signal(signals)
    assert process.wait(timeout=60) == 1
    return out_path.read_text(), json.loads(json_path.read_text())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_prints_what_is_complete_and_removes_the_files(server, root, tmp_path, number):
    with open(tmp_path / "err", "w+") as err:
        out, results = interrupt(server, tmp_path, number, err)
        err.seek(0)
        assert "ferry bench ftp: interrupted\n" in err.read()
    assert [row["row"] for row in results["rows"]] == ["stor"]
    assert not results["complete"] and results["error"] == "interrupted"
    assert "STOR (client -> server)" in out and "RETR" not in out
    assert [path.name for path in root.iterdir()] == []


def test_progress_is_shown_on_a_terminal_only_and_wiped_away(server):
    ours, theirs = pty.openpty()
    shown = b""
    try:
        process = start(url_of(server.port), "-b", "upload", "--quick", "-s", "64K", stdout=subprocess.PIPE,
                        stderr=theirs, env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while True:
                data = os.read(ours, 4096)
                if not data:
                    break
                shown += data
        out = process.communicate(timeout=60)[0]
    finally:
        os.close(ours)
    assert process.returncode == 0
    assert b"STOR (client -> server) ..." in shown and shown.endswith(b"\r\x1b[K")
    assert "..." not in out


# -- another server --

PYFTPDLIB = """
import logging, sys
logging.disable(logging.CRITICAL)
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer
FTPHandler.authorizer = DummyAuthorizer()
FTPHandler.authorizer.add_user(sys.argv[2], sys.argv[3], sys.argv[1], perm="elradfmwMT")
server = FTPServer(("127.0.0.1", 0), FTPHandler)
print(server.socket.getsockname()[1], flush=True)
server.serve_forever()
"""


def test_pyftpdlib_is_measured_as_well(root, tmp_path):
    if importlib.util.find_spec("pyftpdlib") is None:
        pytest.skip("not installed: pyftpdlib")
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", PYFTPDLIB, str(root), USER, PASSWORD],
                               stdout=subprocess.PIPE, text=True)
    try:
        port = int(process.stdout.readline())
        results, _ = small(tmp_path, url_of(port), "-k", str(process.pid))
        cells = check_plausible(results, ["memory"] + ALL_ROWS)
        assert cells["retr"]["server_cpu_s"] > 0
        assert list(root.iterdir()) == []
    finally:
        process.kill()
        process.communicate()


def test_a_server_that_leaves_noops_unanswered_does_not_seem_quick(root, tmp_path):
    if importlib.util.find_spec("pyftpdlib") is None:
        pytest.skip("not installed: pyftpdlib")
    silent = PYFTPDLIB.replace("server = FTPServer",
                               "FTPHandler.ftp_NOOP = lambda self, line: None\nserver = FTPServer")
    process = subprocess.Popen([sys.executable, "-W", "ignore", "-c", silent, str(root), USER, PASSWORD],
                               stdout=subprocess.PIPE, text=True)
    try:
        port = int(process.stdout.readline())
        out, _ = bench(url_of(port), "-b", "upload", "--quick", "-s", "64K", "--json", "-")
        cell = json.loads(out)["rows"][0]["servers"][0]
        # The one of each sample has waited for as long as that took.
        assert cell["noop"]["count"] == len(cell["samples"]) and cell["noop"]["p50_ms"] >= 90
    finally:
        process.kill()
        process.communicate()
