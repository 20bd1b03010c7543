"""ferry bench ssh: ferryd and OpenSSH's server side by side. No number is judged, only that it is there."""

import json
import os
import re
import subprocess

import pytest

from conftest import BIN, IS_SANITIZED, require
from test_bench_peers import as_root, left_behind, processes_of
from test_bench_side_by_side import base_of

FERRY = str(BIN / "ferry")
CLIENTS, PAIRS = 6, 1
# One row of each kind of load: sessions, OpenSSH's programs that stay and that do not, our own channel, a relay.
ROWS = ["memory", "sftp_get", "scp_put", "cat_ssh", "cat", "both_ends", "own_put", "login", "small_put", "tar_put",
        "put_10ms"]
OF_BYTES = [row for row in ROWS if row not in ("memory", "login")]
SERVERS = ["ferryd", "sshd"]
SSHD = "/usr/sbin/sshd"
CACHED = "/var/cache/ferry/peers/sshd/usr/sbin/sshd"
DEADLINE_S = 600 if IS_SANITIZED else 240


def bench(*args, code=0):
    done = subprocess.run([FERRY, "bench", "ssh", *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Sanitizer:" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done.stdout, re.sub(r"==\d+==WARNING: ASan doesn't fully support .*\n", "", done.stderr)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """One run: (results, what was printed)."""
    if os.geteuid() != 0:
        pytest.skip("servers are started side by side by root alone")
    if not os.path.exists(SSHD) and not os.path.exists(CACHED):
        pytest.skip("not installed: sshd")
    for program in ("ssh", "sftp", "scp"):
        require(program)
    path = tmp_path_factory.mktemp("study") / "results.json"
    out, err = bench("--quick", "--pairs", str(PAIRS), "-n", str(CLIENTS), "--peers", "sshd", "--row", ",".join(ROWS),
                     "--json", str(path))
    assert err == ""
    return json.loads(path.read_text()), out


def cells(results):
    return [(row["row"], cell) for row in results["rows"] for cell in row["servers"]]


def test_both_servers_do_every_row(study):
    results, _ = study
    assert results["complete"] and "error" not in results
    assert [row["row"] for row in results["rows"]] == ROWS
    for row in results["rows"]:
        assert [cell["server"] for cell in row["servers"]] == SERVERS


def test_a_cell_holds_its_samples_and_what_they_cost(study):
    for name, cell in cells(study[0]):
        assert "error" not in cell, (name, cell)
        assert len(cell["samples"]) == PAIRS and cell["value"] > 0
        assert cell["operations"] > 0 and cell["seconds"] > 0
        assert (cell["bytes"] > 0) == (name in OF_BYTES), name
        if name != "memory":
            assert cell["server_cpu_s"] > 0 and cell["client_cpu_s"] > 0, name


def test_logins_and_sessions_are_as_many_as_were_asked_for(study):
    for name, cell in cells(study[0]):
        if name == "login":
            assert cell["operations"] == CLIENTS
        if name == "memory":
            assert cell["memory_per_session_between"] == [CLIENTS // 3, CLIENTS]
            assert cell["memory_bytes"] > 10000


def test_the_relay_s_own_round_trip_stands_beside_what_was_measured_with_it(study):
    for name, cell in cells(study[0]):
        if name == "put_10ms":
            trip = re.match(r"a relay ends TCP: ([\d.]+) ms", cell["note"])
            assert trip and float(trip.group(1)) >= 10


def test_whose_client_it_was_is_said_where_it_was_not_the_same(study):
    notes = {cell["server"]: cell["note"] for name, cell in cells(study[0]) if name == "both_ends"}
    assert notes == {"ferryd": "with ferry's client", "sshd": "with OpenSSH's client"}


def test_what_was_compared_is_recorded(study):
    ferryd, sshd = study[0]["servers"]
    assert "listen \"ssh\"" in ferryd["settings"] and "sessions = 0" in ferryd["settings"]
    assert "MaxStartups 100000" in sshd["settings"] and "Subsystem sftp" in sshd["settings"]
    assert re.match(r"(\d+:)?\d+\.\d+", sshd["version"])


def test_the_text_fits_80_columns(study):
    _, out = study
    assert max(len(line) for line in out.splitlines()) <= 80
    assert "ferry 0.1.0 bench ssh" in out and "\nIn short" in out


def test_nothing_is_left_of_a_run(study):
    base = base_of(study[0])
    assert processes_of(base) == []
    assert left_behind(base) == []


@as_root
def test_a_server_of_ssh_can_be_started_by_itself():
    if not os.path.exists(SSHD):
        pytest.skip("not installed: sshd")
    with subprocess.Popen([FERRY, "bench", "peers", "--run", "ssh/sshd"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        said = []
        for line in process.stdout:
            said.append(line)
            if line == "ready\n":
                break
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert said[-1:] == ["ready\n"], err
    assert process.returncode == 0 and re.match(r"sshd \S+ at 127\.0\.0\.\d+:\d+, process \d+\n", said[0])


@pytest.mark.parametrize("args,words", [
    (["--url", "ssh://a:b@127.0.0.1:1"], "--url: only servers that ferry starts are measured, which have its keys"),
    (["--compat"], "--compat: ftpbench measures FTP alone"),
    (["-s", "1M"], "--filesize: its rows have files of fixed sizes"),
    (["--row", "retr"], "there is no row 'retr'; see 'ferry bench ssh --row help'."),
    (["--peers", "vsftpd"], "there is no peer 'vsftpd'; see 'ferry bench peers'."),
])
def test_what_it_cannot_do_is_refused_with_a_reason(args, words):
    out, err = bench(*args, code=2)
    assert out == "" and words in err


def test_help_lists_its_rows_each_once():
    out, _ = bench("--row", "help")
    names = [line.split()[0] for line in out.splitlines() if line and not line.startswith("#")]
    assert set(ROWS) < set(names) and len(names) == len(set(names))
