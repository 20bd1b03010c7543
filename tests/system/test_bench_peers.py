"""The servers that ferry bench starts: each does what a client asks, changes nothing of the host, and leaves nothing."""

import contextlib
import ftplib
import io
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess

import pytest

from conftest import BIN, IS_SANITIZED, random_bytes, require, wait_until

FERRY = str(BIN / "ferry")
NAMES = ["ferryd", "vsftpd", "proftpd", "pure-ftpd", "pyftpdlib", "twisted", "floor"]
WITH_SWITCH = ["vsftpd", "proftpd", "pyftpdlib"]  # those whose use of sendfile can be turned off
WITHOUT_MLSD = ["vsftpd", "twisted", "floor"]
PLACES = ["/tmp", "/var/tmp", "/dev/shm", "/run", "/var/log"]

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="a name space of its own needs root")


def ferry(*args, **named):
    return subprocess.run([FERRY, "bench", *args], capture_output=True, text=True, timeout=60, **named)


def installed():
    out = ferry("peers").stdout
    return [line.split()[0] for line in out.splitlines() if "not installed" not in line] + ["floor"]


class Peer:
    """One of them as the benchmark runs it."""

    def __init__(self, what):
        self.name = what.split(":")[0]
        if os.geteuid() != 0:
            pytest.skip("a name space of its own needs root")
        if self.name not in installed():
            pytest.skip("not installed: " + what)
        self.process = subprocess.Popen([FERRY, "bench", "peers", "--run", what], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line == "ready\n":
                break
        else:
            pytest.fail("it did not start: " + self.process.communicate()[1])
        text = "".join(said)
        self.host, port, pid = re.search(r" at (127\.0\.0\.\d+):(\d+), process (\d+)", text).groups()
        self.port, self.pid = int(port), int(pid)
        self.password = re.search(r"password (\w+)", text).group(1)
        self.files, self.disk = (pathlib.Path(p) for p in re.search(r"files (.+), on disk (.+)", text).groups())
        self.base = self.files.parent

    def client(self, user="bench", password=None, source=2):
        ftp = ftplib.FTP(timeout=60, source_address=("127.0.1.%d" % source, 0))
        ftp.connect(self.host, self.port)
        ftp.login(user, password or self.password)
        return ftp

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=60)
        assert "Sanitizer" not in err and "runtime error" not in err, err
        assert self.process.returncode == 0, err


@contextlib.contextmanager
def running(what):
    peer = Peer(what)
    try:
        yield peer
    finally:
        peer.stop()


def fetch(ftp, name):
    got = io.BytesIO()
    ftp.retrbinary("RETR " + name, got.write)
    return got.getvalue()


def processes_of(base):
    """Those that name the folder in their arguments or have a file of it open."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            told = (folder / "cmdline").read_bytes().decode(errors="replace")
            if str(base) in told or any(str(base) in os.readlink(fd) for fd in (folder / "fd").iterdir()):
                found.append((folder.name, told))
    return found


def host():
    """What must be as it was: /etc with all times, and what is mounted where a peer has mounts of its own. Other
    tests may mount something elsewhere meanwhile."""
    etc = sorted((str(p), p.lstat().st_mtime_ns, p.lstat().st_ctime_ns) for p in pathlib.Path("/etc").rglob("*"))
    places = [line.split()[4] for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines()]
    return [p for p in places if re.match(r"/(etc|run|var/log|dev/log)\b|.*ferry-bench-", p)], etc


def left_behind(base):
    """Whatever bears the name of this run, anywhere that a server might have put it."""
    return [str(p) for place in PLACES for p in pathlib.Path(place).glob(base.name + "*")]


@pytest.fixture(scope="module", params=NAMES)
def peer(request):
    """Each of them in turn, for what leaves it as it was."""
    with running(request.param) as started:
        yield started


@as_root
def test_a_peer_does_what_a_client_asks(peer):
    data = random_bytes(1000000)
    ftp = peer.client()
    for path in ["a"] if peer.name == "floor" else ["a", "disk/a"]:
        ftp.storbinary("STOR " + path, io.BytesIO(data))
        assert fetch(ftp, path) == data
    assert (peer.files / "a").read_bytes() == data
    if peer.name != "floor":
        assert (peer.disk / "a").read_bytes() == data
        listed = []
        ftp.retrlines("LIST", listed.append)
        assert sorted(line.split()[-1] for line in listed) == ["a", "disk"]
        ftp.delete("disk/a")
    if peer.name in WITHOUT_MLSD:
        with pytest.raises(ftplib.error_perm):
            list(ftp.mlsd())
    else:
        assert "a" in [entry for entry, _ in ftp.mlsd()]
    ftp.delete("a")
    assert sorted(os.listdir(peer.files)) == ["disk"]
    ftp.quit()


@as_root
def test_a_peer_knows_its_accounts_and_no_other_password(peer):
    peer.client(user="bench63").quit()
    if peer.name == "floor":
        return  # takes any
    for user, password in [("bench", "wrong"), ("bench64", None), ("root", None)]:
        with pytest.raises(ftplib.error_perm):
            peer.client(user=user, password=password)


@as_root
def test_a_peer_has_no_cap_on_sessions_of_an_address(peer):
    sessions = [peer.client(user="bench1") for _ in range(60)]
    for ftp in sessions:
        ftp.voidcmd("NOOP")
        ftp.close()


@as_root
@pytest.mark.parametrize("name", WITH_SWITCH)
def test_sendfile_is_used_unless_the_variant_is_without(name, tmp_path):
    require("strace")
    for variant, wanted in [("plain", True), ("no-sendfile", False)]:
        with running(name + ":" + variant) as peer:
            (peer.files / "a").write_bytes(b"x" * 1000000)
            trace = tmp_path / variant
            tracer = subprocess.Popen(["strace", "-f", "-e", "trace=sendfile,sendfile64", "-o", str(trace), "-p",
                                       str(peer.pid)], stderr=subprocess.PIPE, text=True)
            assert "attached" in tracer.stderr.readline()
            assert len(fetch(peer.client(), "a")) == 1000000
            tracer.terminate()
            tracer.communicate(timeout=30)
            assert ("sendfile" in trace.read_text()) == wanted, trace.read_text()


@as_root
@pytest.mark.parametrize("name", NAMES)
def test_a_peer_changes_nothing_of_the_host_and_leaves_nothing(name):
    before = host()
    with running(name) as peer:
        ftp = peer.client()
        ftp.storbinary("STOR a", io.BytesIO(b"x"))
        assert host() == before
        assert processes_of(peer.base)
        stayed = ftp  # a session that is still open when it is stopped
        assert stayed.voidcmd("NOOP").startswith("2")
    assert host() == before
    assert processes_of(peer.base) == []
    assert left_behind(peer.base) == []
    assert not pathlib.Path("/proc/%d" % peer.pid).exists()


@as_root
@pytest.mark.parametrize("name", ["ferryd", "vsftpd", "pure-ftpd", "twisted"])
def test_a_peer_ends_with_a_benchmark_that_is_killed(name):
    peer = Peer(name)
    session = peer.client()
    peer.process.kill()
    peer.process.communicate(timeout=30)
    wait_until("all of its processes have ended", lambda: processes_of(peer.base) == [])
    assert not pathlib.Path("/proc/%d" % peer.pid).exists()
    session.close()
    assert left_behind(peer.base) != []
    with running("floor"):
        pass  # a later run clears up
    assert left_behind(peer.base) == []


@as_root
def test_a_run_leaves_what_another_one_uses():
    with running("floor") as first:
        with running("floor") as second:
            assert first.base != second.base
        first.client().storbinary("STOR a", io.BytesIO(b"x"))
        assert (first.files / "a").exists()


@as_root
@pytest.mark.skipif(IS_SANITIZED, reason="the search for leaks needs descriptors too")
def test_a_peer_that_cannot_start_is_told_with_its_own_words():
    few = (12, 12)  # descriptors: enough for the benchmark, too few for ferryd
    result = ferry("peers", "--run", "ferryd", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, few))
    assert result.returncode == 1
    assert "ferryd: " in result.stderr and "too many open files" in result.stderr


@as_root
def test_a_peer_is_not_started_in_a_place_that_is_no_stage(tmp_path):
    result = ferry("run-peer", "ftp", "pyftpdlib", "plain", str(tmp_path), "127.0.0.2:2121")
    assert result.returncode == 1
    assert "no such file or directory" in result.stderr
    assert os.listdir(tmp_path) == []


def test_the_list_has_every_peer_with_its_version():
    result = ferry("peers")
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*NAMES[:-1], "ssh/sshd", "ssh/proftpd", "rsync/rsyncd"]
    for line in lines:
        assert "not installed: ferry bench peers --install" in line or re.match(r"\S+ +\d\S* +/", line), line


@pytest.mark.parametrize("args,words", [
    (["--run", "wu-ftpd"], "wu-ftpd: there is no recipe of that name"),
    (["--run", "vsftpd:fast"], "vsftpd:fast: there is no variant of that name"),
    (["--run"], "--run: a value is missing"),
    (["--frob"], "--frob: unknown option"),
    (["vsftpd"], "vsftpd: one argument too many"),
    (["--install", "--run", "vsftpd"], "--install and --run: one or the other"),
    (["--disk", "/tmp"], "--disk: it is for --run"),
])
def test_what_was_asked_wrongly_is_2_and_says_where_to_look(args, words):
    result = ferry("peers", *args)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "ferry bench peers: %s\nTry 'ferry bench peers --help'.\n" % words


@as_root
def test_servers_have_addresses_of_their_own_and_their_settings_say_so():
    with running("ferryd") as one, running("floor") as other:
        assert one.host == "127.0.0.2" and other.host not in ("127.0.0.1", one.host)
        for peer in (one, other):
            ftp = peer.client()
            host, _ = ftp.makepasv()
            assert host == peer.host and ftp.sock.getpeername()[0] == peer.host


def test_a_ferryd_that_is_not_beside_ferry_is_told_as_such(tmp_path):
    alone = tmp_path / "ferry"
    shutil.copy(FERRY, alone)
    out = subprocess.run([alone, "bench", "peers"], capture_output=True, text=True, timeout=60).stdout
    assert out.splitlines()[0] == "ferryd     is not there, beside this program"


@as_root
def test_only_root_can_start_one():
    result = ferry("peers", "--run", "floor", user=65534, group=65534)
    assert result.returncode == 1
    assert "only root" in result.stderr
