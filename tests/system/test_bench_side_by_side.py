"""ferry bench ftp: ferryd, the floor and a peer side by side. No number is judged, only that it is there."""

import contextlib
import fcntl
import importlib.util
import json
import os
import pathlib
import pty
import re
import resource
import signal
import struct
import subprocess
import termios

import pytest

from conftest import BIN, IS_SANITIZED, require, wait_until
from test_bench_peers import as_root, left_behind, processes_of

FERRY = str(BIN / "ferry")
ROWS = ["memory", "stor", "retr", "login", "retr_many", "stor_many", "quit", "login_first", "small_up_1",
        "small_down_10", "list_100k", "mlsd_100k", "noop_stopped"]
OF_BYTES = ["stor", "retr", "retr_many", "stor_many", "small_up_1", "small_down_10"]
WITHOUT_FLOOR = ["list_100k", "mlsd_100k"]
FLOOR_WITHOUT_GOAL = ["memory", "quit", "noop_stopped"]
WITH_NOOPS = ["stor", "retr", "retr_many", "stor_many", "small_up_1", "small_down_10", "list_100k", "mlsd_100k",
              "noop_stopped"]
SIZE, CLIENTS, PAIRS = 64 * 1024, 10, 2
SERVERS = ["ferryd", "pyftpdlib", "floor"]
CACHE = "/var/cache/ferry/peers"
SMALL = ["--quick", "--pairs", str(PAIRS), "-n", str(CLIENTS), "-s", "64K", "--peers", "pyftpdlib"]
DEADLINE_S = 600 if IS_SANITIZED else 240


def start(*args, before=(), **named):
    named = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **named}
    return subprocess.Popen([*before, FERRY, "bench", "ftp", *args], stdin=subprocess.DEVNULL, text=True, **named)


def end(process, code=0):
    """(standard output, standard error) of a run that must end with that code."""
    try:
        out, err = process.communicate(timeout=DEADLINE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail("ferry bench did not end: %r" % (process.communicate(),))
    assert process.returncode == code, "%s%s" % (out, err)
    assert "Sanitizer:" not in str(err) and "runtime error" not in str(err), err
    # AddressSanitizer has a word of its own about tasks.
    return out, re.sub(r"==\d+==WARNING: ASan doesn't fully support .*\n", "", err or "")


def bench(*args, code=0, **named):
    return end(start(*args, **named), code)


def base_of(results):
    """The folder that the servers shared, from the settings that they got."""
    for server in results["servers"]:
        found = re.search(r"(/\S*/ferry-bench-[a-z2-7]{8}(-m)?)/ferryd-plain/", server.get("settings", ""))
        if found:
            return pathlib.Path(found.group(1))
    pytest.fail("ferryd's settings name no folder: %r" % results["servers"])


def base_of_running(process):
    """The same, of a run that is under way."""
    def found():
        assert process.poll() is None
        for folder in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if parent == process.pid and words[1:5] == [b"bench", b"run-peer", b"ftp", b"ferryd"]:
                    return pathlib.Path(os.fsdecode(words[6]))
        return None
    return wait_until("ferryd is started", found, DEADLINE_S)


def check_nothing_left(base):
    assert processes_of(base) == []
    assert left_behind(base) == []
    assert base.name not in pathlib.Path("/proc/self/mountinfo").read_text()


def need_pyftpdlib():
    if importlib.util.find_spec("pyftpdlib") is None:
        pytest.skip("not installed: pyftpdlib")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """One run of most rows: (results, what was printed, the path of the JSON)."""
    if os.geteuid() != 0:
        pytest.skip("servers are started side by side by root alone")
    need_pyftpdlib()
    path = tmp_path_factory.mktemp("study") / "results.json"
    out, err = bench(*SMALL, "--row", ",".join(ROWS), "--json", str(path))
    assert err == ""
    return json.loads(path.read_text()), out, path


# -- a run --


def test_every_row_has_every_server_that_can_do_it(study):
    results, _, _ = study
    assert results["complete"] and "error" not in results
    assert [row["row"] for row in results["rows"]] == ROWS
    for row in results["rows"]:
        expected = [name for name in SERVERS
                    if not (name == "floor" and row["row"] in WITHOUT_FLOOR)
                    and not (name == "pyftpdlib" and row["row"] == "login_first")]  # it compares plain text
        assert [cell["server"] for cell in row["servers"]] == expected
        assert [cell["floor"] for cell in row["servers"]] == [name == "floor" for name in expected]


def cells(results):
    return [(row, cell) for row in results["rows"] for cell in row["servers"]]


def test_a_cell_holds_its_samples_and_what_they_cost(study):
    for row, cell in cells(study[0]):
        name = row["row"]
        assert "error" not in cell, (name, cell)
        assert 1 <= len(cell["samples"]) <= (1 if name == "memory" else PAIRS)
        assert min(cell["samples"]) <= cell["value"] <= max(cell["samples"])
        assert cell["operations"] > 0 and cell["seconds"] > 0
        assert (cell["bytes"] > 0) == (name in OF_BYTES)
        assert cell["server_cpu_s"] >= 0 and cell["client_cpu_s"] >= 0
        assert ("noop" in cell) == (name in WITH_NOOPS)
        kind = "per_byte" if name in OF_BYTES else "each"
        assert len(cell["server_cpu_s_%s_samples" % kind]) == len(cell["samples"])


def test_every_server_did_as_much_as_the_row_says(study):
    for row, cell in cells(study[0]):
        count = len(cell["samples"])
        if row["row"] in ("login", "quit"):
            assert cell["operations"] == CLIENTS * count
        elif row["row"] in ("retr_many", "stor_many"):
            assert cell["operations"] == CLIENTS * count and cell["bytes"] == cell["operations"] * SIZE
        elif row["row"] in ("list_100k", "mlsd_100k", "login_first"):
            assert cell["operations"] == count
        elif row["row"].startswith("small"):
            assert cell["bytes"] == cell["operations"] * 4096


def test_ferryd_has_as_many_samples_as_any_other(study):
    for row in study[0]["rows"]:
        first = len(row["servers"][0]["samples"])
        for cell in row["servers"][1:]:
            assert len(cell["samples"]) <= first
            assert cell["ratio"]["pairs"] <= len(cell["samples"])


def test_all_but_ferryd_have_a_ratio_and_a_verdict(study):
    for row in study[0]["rows"]:
        ours, *others = row["servers"]
        assert "ratio" not in ours and "verdict" not in ours
        for cell in others:
            assert cell["ratio"]["value"] > 0 and cell["ratio"]["pairs"] >= 1
            if cell["server"] == "floor" and row["row"] in FLOOR_WITHOUT_GOAL:
                assert not {"verdict", "target", "judged_by"} & set(cell)
                continue
            assert cell["verdict"] in ("met", "missed", "undecided")
            assert 0.5 < cell["target"] and cell["judged_by"] in ("ratio", "cpu_ratio")


def test_memory_is_of_idle_servers(study):
    for row, cell in cells(study[0]):
        if row["row"] in ("login", "memory"):
            assert cell["memory_bytes"] > 10000
        if row["row"] == "memory":
            assert cell["memory_per_session_between"] == [CLIENTS // 3, CLIENTS]
            assert cell["value"] == pytest.approx(cell["memory_bytes"] / 1048576)


def test_what_was_compared_is_recorded(study):
    results, _, _ = study
    assert [server["server"] for server in results["servers"]] == SERVERS
    for server in results["servers"]:
        assert re.match(r"\d+\.\d+", server["version"]) and server["where"].startswith("/")
        assert "error" not in server and server["memory_start_bytes"] > 10000
    ferryd, pyftpdlib, _ = results["servers"]
    assert "account \"bench\"" in ferryd["settings"] and "sessions = 0" in ferryd["settings"]
    assert 'listen "ftp" { address = {"127.0.0.2:' in ferryd["settings"]
    assert "use_sendfile" in pyftpdlib["settings"] and "authorizer.add_user('bench'" in pyftpdlib["settings"]
    assert results["host"]["cores"] >= 1 and results["host"]["kernel"]
    options = results["options"]
    assert (options["clients"], options["pairs"], options["quick"]) == (CLIENTS, PAIRS, True)
    assert options["peers"] == "pyftpdlib" and "host" not in options


def test_how_each_server_checks_a_password_is_said_beside_logins(study):
    notes = {(row["row"], cell["server"]): cell.get("note") for row, cell in cells(study[0])}
    for name in ("login", "login_first"):
        said = {notes[name, server] for server in SERVERS if (name, server) in notes} - {None}
        assert len(said) == (2 if name == "login_first" else 3)  # no plain text is compared there
    assert notes["stor", "ferryd"] is None


def test_goals_name_rows_of_the_run(study):
    goals = study[0]["goals"]
    assert goals and {goal["row"] for goal in goals} <= set(ROWS)
    assert {goal["verdict"] for goal in goals} <= {"met", "missed", "undecided"}


def test_the_text_fits_80_columns_and_has_a_block_for_each_row(study):
    results, out, _ = study
    assert "\x1b" not in out and "\r" not in out
    assert max(len(line) for line in out.splitlines()) <= 80
    for row in results["rows"]:
        assert "client CPU: ferryd " in out
        block = out.split("\n%s: %s" % (row["label"], row["unit"]))[1].split("\n\n")[0]
        for cell in row["servers"]:
            assert re.search(r"^  %s +\d" % cell["server"], block, re.M), block
    assert "\nIn short" in out and re.search(r"^Goals: \d+ met, \d+ missed, \d+ undecided", out, re.M)


def test_nothing_is_left_of_a_run(study):
    check_nothing_left(base_of(study[0]))


def test_a_run_beside_an_earlier_one_says_how_each_cell_has_changed(study):
    _, _, path = study
    out, err = bench(*SMALL, "--row", "stor,login", "--baseline", str(path))
    assert err == ""
    assert len(re.findall(r"^    beside the baseline: \d", out, re.M)) == 2 * len(SERVERS)


# -- which servers --


@as_root
def test_ferryd_and_the_floor_are_measured_without_a_peer(tmp_path):
    path = tmp_path / "j"
    bench(*SMALL[:-1], "none", "--row", "stor", "--json", str(path))
    results = json.loads(path.read_text())
    assert [cell["server"] for cell in results["rows"][0]["servers"]] == ["ferryd", "floor"]


@as_root
def test_a_peer_that_is_not_installed_is_listed_as_such(tmp_path):
    require("unshare")
    if os.path.exists("/usr/sbin/vsftpd"):
        pytest.skip("vsftpd is part of this system")
    # Of what an earlier run has fetched, nothing is seen.
    hide = '[ ! -d %s ] || mount -t tmpfs none %s; exec "$0" "$@"' % (CACHE, CACHE)
    path = tmp_path / "j"
    out, _ = bench(*SMALL[:-1], "vsftpd", "--row", "stor", "--json", str(path),
                   before=["unshare", "--mount", "--propagation", "private", "sh", "-c", hide])
    results = json.loads(path.read_text())
    assert results["complete"]
    assert [cell["server"] for cell in results["rows"][0]["servers"]] == ["ferryd", "floor"]
    assert [server["server"] for server in results["servers"]] == ["ferryd", "vsftpd", "floor"]
    assert results["servers"][1]["error"] == "not installed: ferry bench peers --install"
    assert "  vsftpd     not measured: not installed: ferry bench peers --install\n" in out


# -- how it ends early --


def interruptible(tmp_path):
    """A run of many rows, after its first one; its folder."""
    need_pyftpdlib()
    out = tmp_path / "out"
    with open(out, "w") as file:
        process = start(*SMALL, "--row", "stor,login_first,small_up_1,small_up_10,list_100k,mlsd_100k",
                        "--json", str(tmp_path / "j"), stdout=file)
    base = base_of_running(process)
    wait_until("the first row", lambda: "STOR (client -> server): MB" in out.read_text(), DEADLINE_S)
    return process, base, out


@as_root
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_prints_what_is_complete_and_leaves_nothing(tmp_path, number):
    process, base, path = interruptible(tmp_path)
    process.send_signal(number)
    _, err = end(process, 1)
    assert err == "ferry bench ftp: interrupted\n"
    out, results = path.read_text(), json.loads((tmp_path / "j").read_text())
    assert not results["complete"] and results["error"] == "interrupted"
    names = [row["row"] for row in results["rows"]]
    assert names[0] == "stor" and "mlsd_100k" not in names
    assert [cell["server"] for cell in results["rows"][0]["servers"]] == SERVERS
    assert "In short" in out and out.count("STOR (client -> server)") == 2
    check_nothing_left(base)


@as_root
def test_servers_die_with_a_run_that_is_killed_and_the_next_run_clears_up(tmp_path):
    process, base, _ = interruptible(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    wait_until("all of its processes have ended", lambda: processes_of(base) == [], DEADLINE_S)
    assert base.name not in pathlib.Path("/proc/self/mountinfo").read_text()
    assert left_behind(base) != []
    bench(*SMALL[:-1], "none", "--row", "stor")
    check_nothing_left(base)


def shown_on_a_terminal(*args, columns=80, term="xterm"):
    """(what a terminal of so many columns got, standard output) of a run."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    shown = b""
    try:
        process = start(*args, stderr=theirs, env={**os.environ, "TERM": term})
        os.close(theirs)
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while data := os.read(ours, 4096):
                shown += data
        out, _ = end(process)
    finally:
        os.close(ours)
    return shown, out


@as_root
def test_a_terminal_shows_row_server_and_sample_and_is_wiped():
    need_pyftpdlib()
    shown, out = shown_on_a_terminal(*SMALL, "--row", "memory,list_100k")
    lines = shown.decode().split("\r")
    assert any(re.match(r"10 idle clients \(memory\): (ferryd|pyftpdlib|floor), (beginning|1 of 1) \.\.\.", line)
               for line in lines), lines
    assert all(len(line.replace("\x1b[K", "")) < 80 for line in lines if "..." in line)
    assert shown.endswith(b"\r\x1b[K") and "..." not in out


@as_root
def test_progress_is_cut_to_the_terminal_and_a_dumb_one_gets_none():
    args = [*SMALL[:-1], "none", "--row", "memory"]
    shown, _ = shown_on_a_terminal(*args, columns=30)
    lines = [line.replace("\x1b[K", "") for line in shown.decode().split("\r")]
    assert any(line.startswith("10 idle clients (memory)") for line in lines), lines
    assert max(len(line) for line in lines) < 30
    assert shown_on_a_terminal(*args, term="dumb")[0] == b""


# -- what is refused before anything starts --


@pytest.mark.parametrize("args,words", [
    (["--row", "stor,nonsense"], "there is no row 'nonsense'; see 'ferry bench ftp --row help'.\n"),
    (["--peers", "nonsense"], "there is no peer 'nonsense'; see 'ferry bench peers'.\n"),
    (["--peers", "vsftpd,ferryd"], "ferryd is no peer: it takes part in any case.\n"),
    (["--url", "ftp://a:b@127.0.0.1:1", "--peers", "vsftpd"], "--peers and --url"),
    (["--url", "ftp://a:b@127.0.0.1:1", "--row", "list_100k"], "row 'list_100k' is for servers that ferry starts"),
    (["--url", "ftp://a:b@127.0.0.1:1", "--row", "memory"], "row 'memory' is about the server's process"),
    (["--ssl"], "--ssl is for a server that runs: give --url"),
])
def test_wrong_use_is_2_and_says_where_to_look(args, words):
    out, err = bench(*args, code=2)
    assert out == "" and words in err


def test_help_lists_the_rows_and_the_list_of_peers_is_a_command():
    out, err = bench("--row", "help")
    assert err == "" and set(ROWS) < {line.split()[0] for line in out.splitlines() if line}
    out, _ = bench("--help")
    assert "ferry bench peers [--install | --run NAME]\n" in out


@pytest.mark.parametrize("option,path,words", [
    ("--json", "no/file", "cannot be written"),
    ("--baseline", "garbage", "line 1, column "),
    ("--baseline", "list", "row 1: "),
    ("--baseline", "nowhere", "no such file"),
    ("--disk", "nowhere", "no such file"),
    ("--disk", "garbage", "not a directory"),
])
def test_a_file_of_no_use_is_told_before_the_run(tmp_path, option, path, words):
    (tmp_path / "garbage").write_text("not JSON\n")
    (tmp_path / "list").write_text('{"rows": [{"row": 7}]}\n')
    out, err = bench(option, str(tmp_path / path), code=1)
    assert out == "" and err.startswith("ferry bench ftp: %s: " % (tmp_path / path)) and words in err


@as_root
def test_who_is_not_root_is_told_why_he_must_be():
    out, err = bench("--quick", code=1, user=65534, group=65534, cwd="/")
    assert out == ""
    assert err.startswith("ferry bench ftp: it must be root to start ferryd and its peers side by side")
    assert max(len(line) for line in err.splitlines()) <= 80


@as_root
def test_a_disk_that_takes_no_folder_is_named_with_its_option():
    out, err = bench("--disk", "/proc", code=1)
    assert out == "" and err.startswith("ferry bench ftp: --disk /proc: ")


@as_root
def test_settings_of_each_variant_are_recorded_with_what_pam_is_asked(tmp_path):
    path = tmp_path / "j"
    bench(*SMALL[:-1], "vsftpd", "--row", "retr_read,login_hashed", "--json", str(path))
    servers = {server["server"]: server for server in json.loads(path.read_text())["servers"]}
    ferryd = servers["ferryd"]
    assert "sendfile = false" in ferryd["settings_no_sendfile"] and "sendfile" not in ferryd["settings"]
    assert "remember_s = 0" in ferryd["settings_hashed"] and "remember_s" not in ferryd["settings"]
    if "error" not in servers["vsftpd"]:
        assert "use_sendfile=NO" in servers["vsftpd"]["settings_no_sendfile"]
        assert "# /etc/pam.d/vsftpd\nauth required pam_unix.so" in servers["vsftpd"]["settings"]


@as_root
def test_rows_of_thousands_hold_what_descriptors_allow_and_decide_no_goal(tmp_path):
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (2400, 2400))
    path = tmp_path / "j"
    out, err = bench(*SMALL[:-1], "none", "--row", "memory_10k,retr_10k,idle_100k", "--json", str(path),
                     preexec_fn=few)
    assert err == ""
    results = json.loads(path.read_text())
    for row, cell in cells(results):
        assert "error" not in cell, (row["row"], cell)
        assert cell["sessions_held"] == 1900 and cell["note"].startswith("1900 sessions")
    goals = [goal for goal in results["goals"] if goal["row"] in ("memory_10k", "idle_100k")]
    assert len(goals) == 4
    assert all(goal["verdict"] == "undecided" and "value" not in goal for goal in goals)
    assert out.count("not possible here: descriptors for 1900 sessions") == 4


@as_root
def test_rows_of_thousands_are_refused_where_there_are_no_descriptors():
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
    out, err = bench("--row", "memory_10k", code=2, preexec_fn=few)
    assert out == "" and "row 'memory_10k' needs some 2000 descriptors or more" in err


@as_root
def test_a_baseline_that_has_nothing_of_the_run_is_told(tmp_path):
    (tmp_path / "j").write_text('{"rows": []}')
    _, err = bench(*SMALL[:-1], "none", "--row", "quit", "--baseline", str(tmp_path / "j"))
    assert err == "ferry bench ftp: %s: it has no row and server of this run\n" % (tmp_path / "j")
