"""What goes wrong in mid-transfer: the code says it, the log and the audit record too, and never does half a
file stand where a good one was.
"""

import contextlib
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

from conftest import BIN, PASSWORD, USER, random_bytes, require, wait_until
from dialogue import Dialogue, cut, read_all, read_until

OLD = random_bytes(300_000, seed=1)
NEW = random_bytes(3_000_000, seed=2)
HALF = 1_500_000


@contextlib.contextmanager
def mounted(place, kind, options):
    """A file system of the test's own."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    place.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-t", kind, "-o", options, kind, place], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("cannot mount a %s here: %s" % (kind, done.stderr.strip()))
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def has_come(path, size):
    """Whether so many bytes of an upload in progress, or of a broken one, lie in the directory."""
    found = [p.stat().st_size for p in path.glob(".ferry-*")]
    return any(n >= size for n in found)


def begin_upload(d, command="STOR file", content=NEW[:HALF]):
    """Sends the first part and sees it written; returns the data connection."""
    data = d.data()
    d.ask(command, 150)
    data.sendall(content)
    return data


def audit_of(server, operation, path="/file"):
    """The last audit record of an operation on a file."""
    def last():
        found = [r for r in server.records("audit") if r["operation"] == operation and r["path"] == path]
        return found[-1] if found else None
    return wait_until("an audit record of %s %s" % (operation, path), last)


def assert_told(server, operation, result=None, path="/file"):
    """A failed transfer stands in the audit trail and in the log, by the same name."""
    audit = audit_of(server, operation, path)
    assert audit["result"] != "ok"
    assert result is None or audit["result"] in result, audit
    assert audit["user"] == USER and audit["peer"].startswith("127.0.0.1:")
    logged = wait_until("a log record", lambda: [r for r in server.records("transfer-failed") if r["path"] == path])
    assert logged[-1]["level"] == "warning"
    assert logged[-1]["session"] == audit["session"]


def assert_nothing_in_progress(root):
    wait_until("no temporary file", lambda: not list(root.rglob(".ferry-up-*")))


@pytest.fixture
def old_file(root):
    (root / "file").write_bytes(OLD)
    return root / "file"


# -- the client goes --


def test_a_reset_in_mid_upload_leaves_the_old_file(server, root, old_file):
    with Dialogue(server) as d:
        data = begin_upload(d)
        wait_until("half of it", lambda: has_come(root, HALF))
        cut(data)
        d.expect(426)
        d.ask("NOOP", 200)
    assert old_file.read_bytes() == OLD
    assert_told(server, "upload")
    assert_nothing_in_progress(root)


def test_a_cut_control_connection_ends_the_upload_and_leaves_the_old_file(server, root, old_file):
    with Dialogue(server) as d:
        data = begin_upload(d)
        cut(d.control)
        try:
            assert read_all(data) == b""
        except ConnectionResetError:
            pass
        data.close()
    assert_told(server, "upload")
    assert old_file.read_bytes() == OLD
    assert_nothing_in_progress(root)


UPLOADER = """
import ftplib, sys
ftp = ftplib.FTP()
ftp.connect("127.0.0.1", int(sys.argv[1]))
ftp.login(sys.argv[2], sys.argv[3])
ftp.set_pasv(sys.argv[4] == "passive")
ftp.voidcmd("TYPE I")
data = ftp.transfercmd("STOR file")
data.sendall(bytes(%d))
print("sent", flush=True)
sys.stdin.read()
""" % HALF


def kill_uploader(server, mode, when=lambda: True):
    command = [sys.executable, "-c", UPLOADER, str(server.port), USER, PASSWORD, mode]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
        assert client.stdout.readline() == b"sent\n"
        wait_until("the moment to kill the client", when)
        client.kill()


def count_ends(server):
    return len(server.records("session-end"))


# The kernel closes both connections of a dead process in good order: to the server the data looks complete,
# and only the control connection tells that nobody waits for the answer.
@pytest.mark.parametrize("mode", ["passive", "active"])
def test_a_client_killed_in_mid_upload_leaves_the_old_file(server, root, old_file, mode):
    for done in range(10):
        # in turn while bytes are on their way and when all are written
        kill_uploader(server, mode, lambda: done % 2 or has_come(root, HALF))
        wait_until("the session's end", lambda: count_ends(server) > done)
        assert old_file.read_bytes() == OLD
    assert_told(server, "upload")
    assert_nothing_in_progress(root)


def test_a_client_cut_off_in_its_first_upload_leaves_no_file_but_can_resume(server, root):
    with Dialogue(server) as d, begin_upload(d):
        wait_until("half of it", lambda: has_come(root, HALF))
        cut(d.control)
        wait_until("the session's end", lambda: count_ends(server) > 0)
    assert not (root / "file").exists()
    with Dialogue(server) as d:
        assert d.ask("SIZE file", 213).text == "213 %d" % HALF
        assert d.names() == []


def test_a_killed_curl_leaves_the_old_file(server, root, old_file, tmp_path):
    require("curl")
    (tmp_path / "new").write_bytes(NEW)
    command = ["curl", "-q", "-sS", "--limit-rate", "200K", "-u", "%s:%s" % (USER, PASSWORD), "-T", tmp_path / "new",
               server.url + "/file"]
    for done in range(3):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as curl:
            wait_until("bytes of the upload", lambda: has_come(root, 1))
            curl.kill()
        wait_until("the session's end", lambda: count_ends(server) > done)
        assert old_file.read_bytes() == OLD
    assert_told(server, "upload")
    assert_nothing_in_progress(root)


def test_a_client_killed_in_mid_download_ends_the_session(server, root):
    with open(root / "file", "wb") as f:
        f.truncate(1 << 30)
    with Dialogue(server) as d:
        data = d.data()
        d.ask("RETR file", 150)
        read_until(data, 1000)
        cut(data)
        cut(d.control)
    assert_told(server, "download")
    wait_until("the session's end", lambda: count_ends(server) == 1)


def test_a_cut_download_is_426_and_the_session_goes_on(server, root):
    with open(root / "file", "wb") as f:
        f.truncate(1 << 30)
    with Dialogue(server) as d:
        data = d.data()
        d.ask("RETR file", 150)
        read_until(data, 1000)
        cut(data)
        d.expect(426)
        d.ask("NOOP", 200)
    assert_told(server, "download")


# -- the disk --


def test_a_full_disk_is_452_and_leaves_the_old_file(ferryd, root):
    with mounted(root, "tmpfs", "size=2m"):
        server = ferryd(root)
        (root / "file").write_bytes(OLD)
        with Dialogue(server) as d:
            data = d.data()
            d.ask("STOR file", 150)
            with pytest.raises(OSError):  # the server hangs up
                while True:
                    data.sendall(NEW)
            d.expect(452)
            assert (root / "file").read_bytes() == OLD
            assert_nothing_in_progress(root)
            assert_told(server, "upload", {"ENOSPC"})
            d.give("STOR file", NEW[:1_000_000])
        assert (root / "file").read_bytes() == NEW[:1_000_000]
        server.stop()


def test_a_disk_without_room_for_what_is_announced_is_said_before_the_first_byte(ferryd, root):
    with mounted(root, "tmpfs", "size=2m"):
        server = ferryd(root)
        with Dialogue(server) as d:
            d.ask("ALLO 3000000", 200, 202)
            d.data()
            d.ask("STOR file", 452)
        assert not list(root.iterdir())
        server.stop()


def test_a_quota_reached_in_mid_upload_is_552_and_leaves_the_old_file(ferryd, root):
    server = ferryd(root, config="defaults { quota_bytes = 1M }")
    with Dialogue(server) as d:
        d.give("STOR file", OLD)
        data = d.data()
        d.ask("STOR file", 150)
        with pytest.raises(OSError):
            while True:
                data.sendall(NEW)
        d.expect(552)
        assert (root / "file").read_bytes() == OLD
        assert_nothing_in_progress(root)
        d.give("STOR second", NEW[:600_000])  # what the broken one took was given back
    assert (root / "second").read_bytes() == NEW[:600_000]
    assert_told(server, "upload", {"FERRY_EQUOTA"})


def test_a_new_file_that_found_no_room_takes_none(ferryd, root):
    server = ferryd(root, config="defaults { quota_bytes = 1M }")
    with Dialogue(server) as d:
        data = d.data()
        d.ask("STOR new", 150)
        with pytest.raises(OSError):
            while True:
                data.sendall(NEW)
        d.expect(552)
        assert not list(root.iterdir()), "a hidden partial would lock the account"
        d.give("STOR other", NEW[:1_000_000])


def test_a_quota_of_files_refuses_one_more_but_not_its_replacement(ferryd, root):
    server = ferryd(root, config="defaults { quota_files = 2 }")
    with Dialogue(server) as d:
        d.give("STOR one", OLD)
        d.give("STOR two", OLD)
        d.give("STOR one", NEW)
        d.data()
        d.ask("STOR three", 552)
        d.ask("DELE two", 250)
        d.give("STOR three", OLD)
    assert sorted(p.name for p in root.iterdir()) == ["one", "three"]


def test_a_disk_that_became_read_only_refuses_by_name(ferryd, root):
    with mounted(root, "tmpfs", "size=8m"):
        server = ferryd(root)
        (root / "file").write_bytes(OLD)
        subprocess.run(["mount", "-o", "remount,ro", root], check=True)
        with Dialogue(server) as d:
            d.data()
            d.ask("STOR file", 550)
            d.data()
            assert "read-only" in d.ask("STOR other", 550).text
            d.ask("DELE file", 550)
            d.ask("MKD folder", 550)
            assert d.fetch("RETR file") == OLD
        assert_told(server, "upload", {"EROFS"})
        server.stop()


def test_a_permission_lost_in_mid_upload_leaves_the_old_file(ferryd, root):
    folder = root / "folder"
    folder.mkdir()
    (folder / "file").write_bytes(OLD)
    server = ferryd(root)
    with Dialogue(server) as d:
        data = begin_upload(d, "STOR folder/file")
        folder.chmod(0o555)
        data.close()
        d.expect(550)
        d.ask("NOOP", 200)
    folder.chmod(0o755)
    assert (folder / "file").read_bytes() == OLD
    assert_told(server, "upload", {"EACCES"}, path="/folder/file")


def test_a_permission_lost_before_the_command_is_550(server, root, old_file):
    old_file.chmod(0)
    with Dialogue(server) as d:
        d.data()
        d.ask("RETR file", 550)
    assert_told(server, "download", {"EACCES"})


def test_a_file_that_shrinks_in_mid_download_is_451(server, root):
    with open(root / "file", "wb") as f:
        f.truncate(1 << 28)
    with Dialogue(server) as d:
        data = d.data(receive_buffer=4096)
        d.ask("RETR file", 150)
        read_until(data, 1000)
        os.truncate(root / "file", 1)
        assert len(read_all(data)) < 1 << 28
        d.expect(451)
        d.ask("NOOP", 200)
    assert_told(server, "download", {"FERRY_ETRUNCATED"})


def test_a_file_that_grows_in_mid_download_ends_where_it_ended(server, root):
    size = 1 << 26
    with open(root / "file", "wb") as f:
        f.truncate(size)
    with Dialogue(server) as d:
        data = d.data(receive_buffer=65536)
        d.ask("RETR file", 150)
        first = len(read_until(data, 1000))
        with open(root / "file", "ab") as f:
            f.write(b"more")
        assert first + len(read_all(data)) == size
        d.expect(226)


def test_a_file_replaced_in_mid_download_comes_as_it_was(server, root):
    content = random_bytes(50_000_000)
    (root / "file").write_bytes(content)
    with Dialogue(server) as d, Dialogue(server) as other:
        data = d.data(receive_buffer=65536)
        d.ask("RETR file", 150)
        first = read_until(data, 1000)
        other.give("STOR file", NEW)
        assert first + read_all(data) == content
        d.expect(226)
    assert (root / "file").read_bytes() == NEW


def test_a_directory_removed_in_mid_upload_is_an_error_and_no_hang(server, root):
    (root / "folder").mkdir()
    with Dialogue(server) as d:
        data = begin_upload(d, "STOR folder/file")
        wait_until("half of it", lambda: has_come(root / "folder", HALF))
        shutil.rmtree(root / "folder")
        data.close()
        d.expect(550, 451)
        d.ask("NOOP", 200)
    assert_told(server, "upload", path="/folder/file")
    assert not (root / "folder").exists()


# -- time passes --


def test_an_upload_where_nothing_comes_is_426_and_leaves_the_old_file(ferryd, root, old_file):
    server = ferryd(root, config="timeouts { stall_s = 1 }")
    with Dialogue(server) as d:
        data = begin_upload(d)
        d.expect(426)
        d.ask("NOOP", 200)
        data.close()
    assert old_file.read_bytes() == OLD
    assert_told(server, "upload", {"FERRY_ESTALLED"})
    assert_nothing_in_progress(root)


def test_a_download_that_nobody_reads_is_426(ferryd, root):
    with open(root / "file", "wb") as f:
        f.truncate(1 << 30)
    server = ferryd(root, config="timeouts { stall_s = 1 }")
    with Dialogue(server) as d:
        data = d.data(receive_buffer=4096)
        d.ask("RETR file", 150)
        d.expect(426)
        d.ask("NOOP", 200)
        data.close()
    assert_told(server, "download", {"FERRY_ESTALLED"})


def test_a_slow_upload_is_no_stalled_one(ferryd, root):
    server = ferryd(root, config="timeouts { stall_s = 2  idle_s = 1 }")
    with Dialogue(server) as d:
        data = d.data()
        d.ask("STOR file", 150)
        for _ in range(8):  # together more than either deadline
            data.sendall(b"x")
            time.sleep(0.4)  # the pace of the client
        data.close()
        d.expect(226)
    assert (root / "file").read_bytes() == b"x" * 8


def test_an_idle_session_is_421(ferryd, root):
    server = ferryd(root, config="timeouts { idle_s = 1 }")
    with Dialogue(server) as d:
        d.expect(421)
        assert d.is_closed()
    wait_until("its record", lambda: [r for r in server.records("session-end") if r.get("error")])


def test_an_idle_session_with_a_passive_port_is_421_too(ferryd, root):
    server = ferryd(root, config="timeouts { idle_s = 2  connect_s = 1 }")
    with Dialogue(server) as d:
        d.passive_port()
        d.expect(421)
        assert d.is_closed()


def test_commands_keep_a_session_alive(ferryd, root):
    server = ferryd(root, config="timeouts { idle_s = 2 }")
    with Dialogue(server) as d:
        end = time.monotonic() + 3
        while time.monotonic() < end:
            d.ask("NOOP", 200)
            time.sleep(0.1)  # the pace of the client


def test_a_login_that_does_not_come_is_421(ferryd, root):
    server = ferryd(root, config="timeouts { login_s = 1 }")
    with Dialogue(server, login=False) as silent, Dialogue(server, login=False) as half:
        half.ask("USER " + USER, 331)
        silent.expect(421)
        half.expect(421)
        assert silent.is_closed() and half.is_closed()


def test_commands_do_not_put_off_the_login_deadline(ferryd, root):
    server = ferryd(root, config="timeouts { login_s = 1 }")
    with Dialogue(server, login=False) as d:
        replies = []
        while not replies or replies[-1].code != 421:
            d.send("NOOP")
            replies.append(d.reply())
            time.sleep(0.1)  # the pace of the client
        assert "too long" in replies[-1].text


def is_refused(d, port):
    try:
        d.connect(port).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_passive_port_to_which_nobody_connects_is_425(ferryd, root, old_file):
    server = ferryd(root, config="timeouts { connect_s = 1 }")
    with Dialogue(server) as d:
        port = d.passive_port()
        d.ask("RETR file", 150)
        d.expect(425)
        wait_until("the port closed", lambda: is_refused(d, port))
        d.ask("NOOP", 200)
    assert_told(server, "download")


def test_an_upload_that_never_connects_leaves_the_old_file(ferryd, root, old_file):
    server = ferryd(root, config="timeouts { connect_s = 1 }")
    with Dialogue(server) as d:
        d.passive_port()
        d.ask("STOR file", 150)
        d.expect(425)
    assert old_file.read_bytes() == OLD
    assert_nothing_in_progress(root)


def test_a_passive_port_is_given_up_when_no_command_comes(ferryd, root, old_file):
    server = ferryd(root, config="timeouts { connect_s = 1 }")
    with Dialogue(server) as d:
        port = d.passive_port()
        wait_until("the port closed", lambda: is_refused(d, port))
        d.ask("RETR file", 425)


def test_an_active_port_where_nobody_listens_is_425(server, old_file):
    with Dialogue(server) as d:
        d.listener().close()
        d.ask("RETR file", 150)
        d.expect(425)
        d.ask("NOOP", 200)


def test_an_active_port_that_does_not_answer_is_425(ferryd, root, old_file):
    server = ferryd(root, config="timeouts { connect_s = 1 }")
    with Dialogue(server) as d, contextlib.ExitStack() as crowd:
        listener = crowd.enter_context(d.listener())
        listener.listen(0)
        for _ in range(100):  # until its queue is full and the kernel drops what else comes
            waiting = crowd.enter_context(socket.socket())
            waiting.settimeout(0.5)
            try:
                waiting.connect(listener.getsockname())
            except TimeoutError:
                break
        else:
            pytest.skip("the kernel drops nothing here")
        d.ask("RETR file", 150)
        d.expect(425)
        d.ask("NOOP", 200)
    assert_told(server, "download", {"ETIMEDOUT"})


# -- going on with a broken upload --


def break_upload(server, root, content):
    with Dialogue(server) as d:
        data = begin_upload(d, content=content[:HALF])
        wait_until("half of it", lambda: has_come(root, HALF))
        cut(data)
        d.expect(426)
    assert not (root / "file").exists()


def assert_whole(root, content):
    assert hashlib.sha256((root / "file").read_bytes()).digest() == hashlib.sha256(content).digest()
    assert [p.name for p in root.iterdir()] == ["file"]


@pytest.mark.parametrize("command", ["STOR", "APPE"])
def test_a_broken_upload_goes_on_where_size_says(server, root, command):
    break_upload(server, root, NEW)
    with Dialogue(server) as d:
        kept = int(d.ask("SIZE file", 213).text[4:])
        assert kept == HALF
        if command == "STOR":
            d.ask("REST %d" % kept, 350)
        d.give(command + " file", NEW[kept:])
        assert d.ask("SIZE file", 213).text == "213 %d" % len(NEW)
    assert_whole(root, NEW)
    audit = audit_of(server, "upload" if command == "STOR" else "append")
    assert audit["offset"] == kept and audit["bytes"] == len(NEW) - kept


def test_an_upload_that_breaks_twice_goes_on_twice(server, root):
    break_upload(server, root, NEW)
    with Dialogue(server) as d:
        d.ask("REST %d" % HALF, 350)
        data = begin_upload(d, content=NEW[HALF:2_000_000])
        wait_until("more of it", lambda: has_come(root, 2_000_000))
        cut(data)
        d.expect(426)
        assert d.ask("SIZE file", 213).text == "213 2000000"
        d.ask("REST 2000000", 350)
        d.give("STOR file", NEW[2_000_000:])
    assert_whole(root, NEW)


def test_an_upload_from_the_start_forgets_the_broken_one(server, root):
    break_upload(server, root, OLD + NEW)
    with Dialogue(server) as d:
        d.give("STOR file", OLD)
    assert_whole(root, OLD)


def test_an_append_without_size_begins_anew(server, root):
    break_upload(server, root, NEW)
    with Dialogue(server) as d:
        d.give("APPE file", OLD)
    assert_whole(root, OLD)


def test_a_broken_append_keeps_what_was_there_and_what_came(server, root, old_file):
    with Dialogue(server) as d:
        data = begin_upload(d, "APPE file", NEW[:HALF])
        wait_until("the bytes", lambda: old_file.stat().st_size == len(OLD) + HALF)
        cut(data)
        d.expect(426)
        kept = int(d.ask("SIZE file", 213).text[4:])
        d.ask("REST %d" % kept, 350)
        d.give("STOR file", NEW[kept - len(OLD):])
    assert_whole(root, OLD + NEW)


@pytest.mark.parametrize("program", ["curl", "lftp"])
def test_clients_resume_a_broken_upload(server, root, tmp_path, program):
    require(program)
    break_upload(server, root, NEW)
    (tmp_path / "new").write_bytes(NEW)
    if program == "curl":
        command = ["curl", "-q", "-sS", "-C", "-", "-u", "%s:%s" % (USER, PASSWORD), "-T", tmp_path / "new",
                   server.url + "/file"]
    else:
        command = ["lftp", "-c", 'set net:max-retries 1; set ftp:ssl-allow no; open -u %s,"%s" %s; put -c %s -o file'
                   % (USER, PASSWORD, server.url, tmp_path / "new")]
    subprocess.run(command, check=True, timeout=60)
    assert_whole(root, NEW)
    assert audit_of(server, "append" if program == "curl" else "upload")["offset"] == HALF


def test_partials_are_not_kept_if_so_configured(ferryd, root):
    server = ferryd(root, config="defaults { keep_partial = false }")
    break_upload(server, root, NEW)
    with Dialogue(server) as d:
        d.ask("SIZE file", 550)
    assert list(root.iterdir()) == []


# -- the server goes --


def kill_server(server):
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    server.process.stdout.close()
    server.log_file.close()


def test_a_killed_server_leaves_the_old_file(ferryd, root, old_file):
    first = ferryd(root)
    with Dialogue(first) as d, begin_upload(d):
        wait_until("half of it", lambda: has_come(root, HALF))
        kill_server(first)
    assert old_file.read_bytes() == OLD
    second = ferryd(root, "--state", str(first.state))
    with Dialogue(second) as d:
        assert d.fetch("RETR file") == OLD
        assert d.names() == ["file"]
        assert d.fetch("LIST").count(b"\r\n") == 1
        d.give("STOR file", NEW)
    assert old_file.read_bytes() == NEW


@pytest.mark.parametrize("sync", ["none", "file"])
def test_what_226_was_said_of_outlives_the_server(ferryd, root, old_file, sync):
    for turn in range(4):
        content = random_bytes(100_000 + turn, seed=turn)
        server = ferryd(root, config="defaults { sync = %s }" % sync)
        with Dialogue(server) as d:
            d.give("STOR file", content)
            kill_server(server)
        assert old_file.read_bytes() == content
        assert_nothing_in_progress(root)


def connect_to_worker(server, wanted):
    """The kernel chooses the worker: asks until it is the wanted one, which then has this session alone."""
    for _ in range(200):
        d = Dialogue(server)
        counts = {worker["worker"]: worker["sessions"] for worker in server.ask("stats")}
        if counts[wanted] == 1:
            return d
        d.close()
        wait_until("the session's end", lambda: not server.ask("who"))
    return pytest.fail("no session came to worker %d" % wanted)


# Signals and the control socket are worker 0's; it may have nothing left to drain itself.
@contextlib.contextmanager
def draining(ferryd, root, worker):
    """A server that was told to stop and waits for the download that one of its two workers serves."""
    with open(root / "file", "wb") as f:
        f.truncate(1 << 30)
    server = ferryd(root, "--workers", "2")
    with connect_to_worker(server, worker) as d, d.data():
        d.ask("RETR file", 150)
        server.process.send_signal(signal.SIGTERM)
        wait_until("the draining", lambda: server.records("stopping"))
        yield server, d


@pytest.mark.parametrize("worker", [0, 1])
def test_a_draining_server_can_be_asked_and_told_to_hurry(ferryd, root, worker):
    with draining(ferryd, root, worker) as (server, d):
        with pytest.raises(ConnectionRefusedError):
            wait_until("closed listeners", lambda: socket.create_connection(("127.0.0.1", server.port)).close())
        assert [line["doing"] for line in server.ask("who")] == ["RETR"]
        server.stop()  # the second signal waits for nobody
        d.expect(421)


@pytest.mark.parametrize("worker", [0, 1])
def test_a_kick_ends_what_a_draining_server_waits_for(ferryd, root, worker):
    with draining(ferryd, root, worker) as (server, d):
        server.ask("kick", id=server.ask("who")[0]["id"])
        assert server.process.wait(timeout=60) == 0
    server.stop()
