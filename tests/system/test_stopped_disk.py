"""A file system that has stopped costs those who are on it, and nobody else.

stoppable_fs is a FUSE file system; SIGSTOP stops it as a dead server or disk would.
"""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import threading

import pytest

from conftest import BIN, IS_SANITIZED, private_dirty_kb, random_bytes, wait_until
from dialogue import Dialogue, read_until

OLD = random_bytes(100_000)
BIG = 200_000_000
USERS = (("anna", "correct horse"), ("bob", "battery staple"))
MANY = "limits { per_address = 0  per_account = 0 }"


def find_tool():
    folders = [os.environ.get("FERRY_TOOLS"), BIN, "build/dev/bin", *pathlib.Path("build").glob("*/bin")]
    for folder in folders:
        if folder and (pathlib.Path(folder) / "stoppable_fs").is_file():
            return pathlib.Path(folder) / "stoppable_fs"
    return pytest.skip("stoppable_fs is not built")


class Disk:
    """A mounted directory that can be stopped."""

    def __init__(self, backing, place):
        self.backing = backing
        backing.mkdir()
        place.mkdir()
        (backing / "file").write_bytes(OLD)
        with open(backing / "big", "wb") as f:
            f.truncate(BIG)
        for i in range(600):  # more than one batch of a listing
            (backing / ("name-%d" % i)).touch()
        self.process = subprocess.Popen([find_tool(), backing, place], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.process.stdout.readline() != b"mounted\n":
            pytest.skip("no FUSE here: %s" % self.process.stderr.read().decode())

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)
        status = pathlib.Path("/proc/%d/stat" % self.process.pid)
        wait_until("a stopped disk", lambda: status.read_text().rsplit(")", 1)[1].split()[0] == "T")

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


@pytest.fixture
def disk(tmp_path, root):
    place = root / "disk"
    disk = Disk(tmp_path / "backing", place)
    yield disk
    disk.go_on()
    subprocess.run(["umount", "-l", place], check=True)
    disk.process.terminate()
    disk.process.wait()
    disk.process.stdout.close()
    disk.process.stderr.close()


def who(server):
    return {line["id"]: line for line in server.ask("who")}


def descriptors(server):
    """How many are open, once every worker has answered twice and so has opened all that it needs; but for
    pipes, of which a thread of the pool keeps the one it made."""
    for _ in range(2):
        server.ask("stats")
    folder, count = "/proc/%d/fd/" % server.pid, 0
    for name in os.listdir(folder):
        try:
            count += not os.readlink(folder + name).startswith("pipe:")
        except FileNotFoundError:
            pass
    return count


def doing(server, verb, count=1):
    """Waits until so many sessions do it; returns their ids."""
    def those():
        found = [i for i, line in who(server).items() if line["doing"] == verb]
        return found if len(found) >= count else None
    return wait_until("%d sessions in %s" % (count, verb), those)


def dialogues(server, count, user):
    """Whole ones, from the connection to the goodbye."""
    for _ in range(count):
        with Dialogue(server, login=False) as d:
            d.login(*user)
            d.ask("CWD folder", 250)
            assert d.fetch("LIST").count(b"\r\n") == 1
            assert d.fetch("RETR file") == OLD
            d.give("STOR mine", OLD)
            d.ask("DELE mine", 250)
            d.ask("QUIT", 221)


@pytest.fixture
def healthy(root):
    (root / "folder").mkdir()
    (root / "folder" / "file").write_bytes(OLD)


def use_disk(d):
    """Warm: what the kernel remembers of the disk must not lead anybody into it."""
    d.ask("CWD disk", 250)
    d.ask("SIZE file", 213)
    assert d.fetch("RETR file") == OLD


# What a session does when its disk stops, and what it is seen doing.
HANGS = {
    "RETR": ("RETR file", "RETR"),
    "LIST": ("LIST", "LIST"),
    "STOR": ("STOR new", "STOR"),
    "APPE": ("APPE file", "APPE"),
    "SIZE": ("SIZE name-5", None),
    "DELE": ("DELE name-6", None),
    "CWD": ("CWD /disk/..//disk/nothing", None),
}


@pytest.mark.parametrize("how", HANGS)
def test_a_session_on_a_stopped_disk_holds_up_nobody_and_can_be_kicked(ferryd, root, disk, healthy, how):
    command, seen = HANGS[how]
    server = ferryd(root, users=USERS)
    dialogues(server, 1, USERS[0])
    before = descriptors(server)
    with Dialogue(server) as d:
        use_disk(d)
        number = max(who(server))
        if seen:
            d.data()
        disk.stop()
        d.send(command)
        if seen:
            assert doing(server, seen) == [number]
        dialogues(server, 50, USERS[0])
        dialogues(server, 50, USERS[1])
        assert number in who(server)

        assert server.ferry("kick", str(number)).returncode == 0
        wait_until("the session gone, the disk still stopped", lambda: number not in who(server))
        assert b"421 " in d.control.recv(1000)
        dialogues(server, 3, USERS[0])
        disk.go_on()
    wait_until("all descriptors closed", lambda: descriptors(server) <= before)
    assert (disk.backing / "file").read_bytes() == OLD
    assert not (disk.backing / "new").exists()
    wait_until("no upload in progress", lambda: not list(disk.backing.glob(".ferry-up-*")))


@pytest.mark.parametrize("verb", ["RETR", "STOR"])
def test_a_disk_that_stops_in_mid_transfer_holds_up_nobody(ferryd, root, disk, healthy, verb):
    server = ferryd(root, users=USERS)
    dialogues(server, 1, USERS[1])
    before = descriptors(server)
    with Dialogue(server) as d, contextlib.ExitStack() as stack:
        d.ask("CWD disk", 250)
        data = stack.enter_context(d.data())
        d.ask(verb + " big", 150)
        if verb == "RETR":
            read_until(data, 1_000_000)
            disk.stop()
            stack.enter_context(Flow(data, "in"))
        else:
            data.sendall(OLD)
            disk.stop()
            stack.enter_context(Flow(data, "out"))
        dialogues(server, 100, USERS[1])
        assert d.ask("STAT", 211).lines[-2].startswith(b" %s big" % verb.encode())
        number = doing(server, verb)[0]
        server.ask("kick", id=number)
        wait_until("the session gone, the disk still stopped", lambda: number not in who(server))
        disk.go_on()
    wait_until("all descriptors closed", lambda: descriptors(server) <= before)
    assert (disk.backing / "big").stat().st_size == BIG


class Flow(contextlib.AbstractContextManager):
    """Moves data in the background until the connection ends."""

    def __init__(self, data, way):
        self.data, self.way = data, way
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        with contextlib.suppress(OSError):
            while self.way == "out" or self.data.recv(1 << 20):
                if self.way == "out":
                    self.data.sendall(OLD)

    def __exit__(self, *exc):
        with contextlib.suppress(OSError):
            self.data.shutdown(socket.SHUT_RDWR)
        self.thread.join()


def test_abor_frees_a_session_from_a_stopped_disk(ferryd, root, disk, healthy):
    server = ferryd(root, users=USERS)
    with Dialogue(server) as warm, Dialogue(server) as d:
        use_disk(warm)
        with d.data():
            disk.stop()
            d.send("RETR disk/file")
            doing(server, "RETR")
            d.send("ABOR")
            d.expect(426)
            d.expect(226)
        d.ask("CWD folder", 250)
        assert d.fetch("RETR file") == OLD
        disk.go_on()


def test_a_client_that_leaves_a_stopped_disk_has_left(ferryd, root, disk, healthy):
    server = ferryd(root, users=USERS)
    with Dialogue(server) as d:
        use_disk(d)
        with d.data():
            disk.stop()
            d.send("RETR file")
            doing(server, "RETR")
    wait_until("the session gone, the disk still stopped", lambda: not who(server))
    disk.go_on()


def test_twenty_sessions_of_one_account_on_a_stopped_disk_hold_up_no_other(ferryd, root, disk, healthy):
    server = ferryd(root, users=USERS, config=MANY)
    grew_kb = []
    for _ in range(3):  # the first finds no memory that stays in use
        before, memory_kb = descriptors(server), private_dirty_kb(server.pid)
        with contextlib.ExitStack() as stack:
            stuck = [stack.enter_context(Dialogue(server)) for _ in range(20)]
            for d in stuck:
                use_disk(d)
                stack.enter_context(d.data())
            disk.stop()
            for d in stuck:
                d.send("RETR file")
            numbers = doing(server, "RETR", 20)
            dialogues(server, 100, USERS[1])
            for number in numbers:
                server.ask("kick", id=number)
            wait_until("the sessions gone, the disk still stopped", lambda: not who(server))
            dialogues(server, 10, USERS[1])
            grew_kb.append(private_dirty_kb(server.pid) - memory_kb)
            disk.go_on()
        wait_until("all descriptors closed", lambda: descriptors(server) <= before)
        dialogues(server, 1, USERS[0])
    # With the sessions all is gone but an account's share of jobs. Sanitizers keep what was freed.
    assert IS_SANITIZED or grew_kb[-1] < 20 * 32, grew_kb


def test_a_stopped_root_of_one_account_is_no_matter_of_others(ferryd, root, disk, healthy, tmp_path):
    (tmp_path / "secret").write_text("of carla")
    config = MANY + """
account "carla" { password_file = "%s"  root = "%s" }
""" % (tmp_path / "secret", root / "disk")
    server = ferryd(root, users=USERS, config=config)
    with contextlib.ExitStack() as stack:
        stuck = []
        for _ in range(20):
            d = stack.enter_context(Dialogue(server, login=False))
            d.login("carla", "of carla")
            stack.enter_context(d.data())
            stuck.append(d)
        disk.stop()
        for d in stuck:
            d.send("RETR file")
        numbers = doing(server, "RETR", 20)
        dialogues(server, 50, USERS[0])
        dialogues(server, 50, USERS[1])
        for number in numbers:
            server.ask("kick", id=number)
        wait_until("the sessions gone, the disk still stopped", lambda: not who(server))
        disk.go_on()


@pytest.mark.skipif(IS_SANITIZED, reason="at its end LeakSanitizer waits for threads that wait for the disk")
@pytest.mark.parametrize("kicked", [True, False], ids=["kicked", "in_mid_transfer"])
def test_the_server_stops_well_while_the_disk_is_stopped(ferryd, root, disk, healthy, kicked):
    server = ferryd(root, users=USERS)
    with Dialogue(server) as d, Dialogue(server) as other:
        for session in (d, other):
            use_disk(session)
        with d.data(), other.data() as upload:
            other.ask("STOR new", 150)
            upload.sendall(OLD)
            wait_until("the upload", lambda: [p for p in disk.backing.glob(".ferry-up-*") if p.stat().st_size == len(OLD)])
            # Not even SIGKILL ends a process whose request the disk has taken up: let it answer all.
            d.ask("SIZE file", 213)
            disk.stop()
            upload.sendall(OLD)
            d.send("RETR file")
            doing(server, "RETR")
            if kicked:
                for number in who(server):
                    server.ask("kick", id=number)
                wait_until("the sessions gone", lambda: not who(server))
            else:
                server.process.send_signal(signal.SIGTERM)  # drains
                wait_until("the draining", lambda: server.records("stopping"))
            server.stop()  # a second one waits for nobody
    disk.go_on()
    assert not (disk.backing / "new").exists()
    with Dialogue(ferryd(root)) as d:
        assert d.fetch("RETR disk/file") == OLD


def test_a_server_stops_well_when_the_disk_goes_on_before(ferryd, root, disk, healthy):
    server = ferryd(root, users=USERS)
    with Dialogue(server) as d:
        use_disk(d)
        with d.data() as data:
            disk.stop()
            d.send("RETR file")
            doing(server, "RETR")
            server.process.send_signal(signal.SIGTERM)
            wait_until("the draining", lambda: server.records("stopping"))
            disk.go_on()
            d.expect(150)
            assert read_until(data, len(OLD)) == OLD
            d.expect(226)
            d.expect(421)
    server.stop()


def test_a_disk_that_dies_is_an_error(ferryd, root, disk, healthy):
    server = ferryd(root, users=USERS)
    with Dialogue(server) as d:
        use_disk(d)
        with d.data():
            disk.stop()
            d.send("RETR file")
            doing(server, "RETR")
            disk.process.kill()
            d.expect(451, 550)
        d.ask("NOOP", 200)
    dialogues(server, 1, USERS[0])
