"""ferry cp --explain, with each limit made in earnest: a shaped link, a slow disk, a slow peer, --limit."""

import contextlib
import os
import re
import signal
import subprocess
import threading
import time

import pytest

from conftest import random_bytes, require
from test_client_places import FERRY, OwnServer, home, own  # noqa: F401
from test_stopped_disk import find_tool

LIMITED = re.compile(r"^limited by   (.*)$", re.M)


def explained(*args, before=()):
    done = subprocess.run([*before, FERRY, "cp", "--explain", *map(str, args)], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done
    return LIMITED.search(done.stderr).group(1), done.stderr


def explains(wanted, *args):
    """On a busy machine a copy may be held back by something else, and says so: it gets three tries."""
    for _ in range(3):
        verdict, text = explained(*args)
        if verdict.startswith(wanted):
            return
    assert verdict.startswith(wanted), text


@contextlib.contextmanager
def slowed(*pids):
    """Processes that run for a small part of the time."""
    over = threading.Event()

    def run():
        while not over.is_set():
            for number, seconds in ((signal.SIGSTOP, 0.1), (signal.SIGCONT, 0.005)):
                for pid in pids:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)
                time.sleep(seconds)  # this is the slowness

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@pytest.fixture
def big(tmp_path):
    path = tmp_path / "big"
    path.write_bytes(random_bytes(1 << 20) * 12)
    return path


@pytest.fixture
def huge(tmp_path):
    path = tmp_path / "huge"
    path.write_bytes(random_bytes(1 << 20) * 200)
    return path


@pytest.mark.parametrize("scheme, method", [("sftp", "sftp"), ("sftp", "scp"), ("ftp", "ftp")])
def test_a_limit_that_was_asked_for(own, big, tmp_path, scheme, method):
    url = OwnServer(own, scheme).url
    for source, target in ((big, url + "/f"), (url + "/f", tmp_path / "back")):
        verdict, text = explained("--limit", "8M", "--method", method, source, target)
        assert verdict == "the limit that was asked for", text
        assert "method       %s: it was asked for" % method in text


def test_the_processor_of_this_machine(own, big):
    verdict, text = explained("--compress", "zlib:9", big, OwnServer(own, "sftp").url + "/f")
    assert verdict == "this machine's CPU", text


def test_a_short_copy_tells_nothing(own, tmp_path):
    (tmp_path / "f").write_text("x")
    assert "so short" in explained(tmp_path / "f", OwnServer(own, "ftp").url + "/f")[0]


def inside(folder, *args):
    return subprocess.run(["ip", "netns", "exec", folder, *args], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def shaped():
    """A name space from which ferryd is reached at 40 Mbit/s, both ways."""
    require("ip", "tc")
    if os.geteuid() != 0:
        pytest.skip("a name space needs root")
    name = "cpx%d" % os.getpid()
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip("no name spaces here: " + made.stderr)
    try:
        subprocess.run(["ip", "link", "add", name + "a", "type", "veth", "peer", "name", name + "b", "netns", name],
                       check=True)
        subprocess.run(["ip", "addr", "add", "10.213.7.1/24", "dev", name + "a"], check=True)
        subprocess.run(["ip", "link", "set", name + "a", "up"], check=True)
        inside(name, "ip", "addr", "add", "10.213.7.2/24", "dev", name + "b")
        inside(name, "ip", "link", "set", name + "b", "up")
        shape = ("root", "tbf", "rate", "40mbit", "burst", "64kb", "latency", "100ms")
        subprocess.run(["tc", "qdisc", "add", "dev", name + "a", *shape], check=True)
        inside(name, "tc", "qdisc", "add", "dev", name + "b", *shape)
        yield name
    finally:
        subprocess.run(["ip", "link", "del", name + "a"], capture_output=True)
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


@pytest.mark.parametrize("scheme, options", [("sftp", ()), ("sftp", ("-O",)), ("ftp", ())])
def test_a_slow_link(ferryd, root, home, shaped, big, tmp_path, scheme, options):
    key = home / ".ssh" / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (home / ".ssh" / "config").write_text("StrictHostKeyChecking accept-new\n")
    server = ferryd(root, "--authorized-keys", str(key) + ".pub", listen=("ftp://10.213.7.1:0", "ssh://10.213.7.1:0"))
    url = OwnServer(server, scheme).url.replace("127.0.0.1", "10.213.7.1")
    before = ("ip", "netns", "exec", shaped)
    verdict, text = explained(*options, big, url + "/f", before=before)
    assert verdict == "the link", text
    assert re.search(r"sending      busy [1-9]", text), text
    verdict, text = explained(*options, url + "/f", tmp_path / "back", before=before)
    assert verdict.startswith("the link or the other machine"), text


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount needs root")
@pytest.mark.parametrize("scheme", ["sftp", "ftp"])
def test_a_slow_disk_here(own, tmp_path, scheme):
    backing, place = tmp_path / "backing", tmp_path / "place"
    backing.mkdir()
    place.mkdir()
    (backing / "big").write_bytes(random_bytes(1 << 20) * 60)
    disk = subprocess.Popen([find_tool(), backing, place], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        if disk.stdout.readline() != b"mounted\n":
            pytest.skip("no FUSE here")
        with slowed(disk.pid):
            verdict, text = explained(place / "big", OwnServer(own, scheme).url + "/f")
        assert verdict == "this machine's disks", text
        assert "files here   waited for" in text
    finally:
        disk.terminate()
        disk.wait(20)
        subprocess.run(["umount", "-l", place], capture_output=True)


@pytest.mark.parametrize("options", [(), ("-O",), ("--method", "ftp")])
def test_a_slow_peer(own, huge, tmp_path, options):
    url = OwnServer(own, "ftp" if "ftp" in options else "sftp").url
    with slowed(own.process.pid):
        explains("the other machine: its CPU or its disk", *options, huge, url + "/f")
        explains("the link or the other machine", *options, url + "/f", tmp_path / "back")


def test_what_tar_was_limited_by_and_why_it_was_taken(own, tmp_path):
    tree = tmp_path / "tree"
    tree.mkdir()
    for i in range(400):
        (tree / str(i)).write_bytes(random_bytes(20000, i))
    with slowed(own.process.pid):
        verdict, text = explained("-r", tree, OwnServer(own, "sftp").url + "/copy")
    assert verdict == "the other machine: its CPU or its disk", text
    assert "method       tar: many small files" in text
