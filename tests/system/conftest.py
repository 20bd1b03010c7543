"""What every system test starts from: a real ferryd on a free port, and its peers if they are installed.

FERRY_BIN is the folder of the programs under test (default build/release/bin). A test asks for the fixture
`ferryd` and calls it: `server = ferryd(root, "--read-only", config="limits { sessions = 9 }")`. When the test
ends the server must have ended well: exit code 0 after SIGTERM, and no sanitizer's report.
"""

import contextlib
import ftplib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

BIN = pathlib.Path(os.environ.get("FERRY_BIN", "build/release/bin")).resolve()
IS_SANITIZED = "asan" in str(BIN) or "tsan" in str(BIN)
USER, PASSWORD = "anna", "correct horse"


def wait_until(what, condition, seconds=20):
    """Polls a condition with a deadline; returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            pytest.fail("waited %d s in vain: %s" % (seconds, what))
        time.sleep(0.01)  # polling, with the deadline above


def require(*programs):
    """Skips the test, by name, when a peer is not installed."""
    missing = [p for p in programs if not shutil.which(p)]
    if missing:
        pytest.skip("not installed: " + ", ".join(missing))


def private_dirty_kb(pid):
    text = pathlib.Path("/proc/%d/smaps_rollup" % pid).read_text()
    return int(re.search(r"Private_Dirty:\s+(\d+) kB", text).group(1))


class Server:
    """A running ferryd. Arguments as on its command line; config is the text of a configuration file, state a
    directory whose files it finds in its own."""

    def __init__(self, folder, root, *args, config=None, users=((USER, PASSWORD),), listen=("ftp://127.0.0.1:0",),
                 state=None):
        self.root = pathlib.Path(root)
        self.state = folder / "state"
        if state is not None:
            shutil.copytree(state, self.state)
        self.log_path = folder / "log"
        command = [str(BIN / "ferryd"), str(root), "--state", str(self.state), "--log-format", "json"]
        for address in listen:
            command += ["--listen", address]
        for name, password in users:
            path = folder / ("password-" + name)
            path.write_text(password)
            path.chmod(0o600)
            command += ["--user", "%s:@%s" % (name, path)]
        if config is not None:
            path = folder / "ferryd.conf"
            path.write_text(config)
            command += ["--config", str(path)]
        command += list(args)
        self.command = command
        self.user, self.password = users[0] if users else ("ferry", None)
        self.log_file = open(self.log_path, "wb")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log_file, stdin=subprocess.DEVNULL)
        self.banner = []
        self.ports = []
        self._read_banner()

    def _read_banner(self):
        for raw in self.process.stdout:
            line = raw.decode().rstrip("\n")
            self.banner.append(line)
            found = re.match(r"listening (\w+) (.*):(\d+)$", line)
            if found:
                self.ports.append(int(found.group(3)))
            if line == "ready":
                return
        self.process.wait()
        pytest.fail("ferryd did not start: %s\n%s" % (" ".join(self.command), self.log_text()))

    @property
    def pid(self):
        return self.process.pid

    @property
    def port(self):
        return self.ports[0]

    @property
    def url(self):
        return "ftp://127.0.0.1:%d" % self.port

    def log_text(self):
        return self.log_path.read_text(errors="replace")

    def records(self, event=None):
        """Log and audit records so far, as dictionaries."""
        found = []
        for line in self.log_text().splitlines():
            if line.startswith("{"):
                record = json.loads(line)
                if event is None or record.get("event") == event:
                    found.append(record)
        return found

    def last_audit(self, operation):
        """The latest record of that operation. The log is written a moment after the reply."""
        def found():
            return [record for record in self.records("audit") if record["operation"] == operation]
        return wait_until(operation + " is recorded", found)[-1]

    def client(self, user=None, password=None, host="127.0.0.1", login=True, timeout=30):
        """A logged-in ftplib session."""
        ftp = ftplib.FTP(timeout=timeout, encoding="utf-8")
        ftp.connect(host, self.port)
        if login:
            ftp.login(user or self.user, password or self.password)
        return ftp

    def ferry(self, *args):
        """Runs ferry against this server's control socket."""
        command = [str(BIN / "ferry"), *args, "--state", str(self.state)]
        return subprocess.run(command, capture_output=True, text=True, timeout=30)

    def ask(self, operation, **arguments):
        """Asks the control socket itself; the objects it answers, without the one that ends them."""
        folder = os.open(self.state, os.O_PATH | os.O_DIRECTORY)
        try:
            with socket.socket(socket.AF_UNIX) as control:
                control.settimeout(30)
                control.connect("/proc/self/fd/%d/control.sock" % folder)
                control.sendall(json.dumps(dict(arguments, op=operation)).encode() + b"\n")
                answers = [json.loads(line) for line in control.makefile("rb")]
        finally:
            os.close(folder)
        assert answers and answers[-1] == {"end": True}, answers
        return answers[:-1]

    def wait_for_doze(self, sessions=1):
        """An idle session gives its stack back after a second."""
        wait_until("%d sessions doze" % sessions,
                   lambda: sum(worker["dozing"] for worker in self.ask("stats")) >= sessions)

    def stop(self, expect=0, seconds=60):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # on a disk that never answers
                self.process.wait(timeout=10)
            pytest.fail("ferryd did not stop within %d s\n%s" % (seconds, self.log_text()[-3000:]))
        self.process.stdout.close()
        self.log_file.close()
        text = self.log_text()
        for mark in ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "WARNING: ThreadSanitizer"):
            assert mark not in text, text[-6000:]
        if expect is not None:
            assert code == expect, "exit code %d\n%s" % (code, text[-3000:])


@pytest.fixture
def root(tmp_path):
    """An empty directory to serve."""
    path = tmp_path / "root"
    path.mkdir()
    return path


@pytest.fixture
def ferryd(tmp_path):
    """Starts servers; all are stopped, and must stop well, when the test ends."""
    started = []

    def start(root, *args, **named):
        folder = tmp_path / ("server-%d" % len(started))
        folder.mkdir()
        server = Server(folder, root, *args, **named)
        started.append(server)
        return server

    yield start
    for server in started:
        if server.process.returncode is None:
            server.stop()


@pytest.fixture
def server(ferryd, root):
    """The usual one: one account, everything allowed, serving `root`."""
    return ferryd(root)


def pytest_configure(config):
    config.addinivalue_line("markers", "heavy: minutes or gigabytes; runs once, against the plain build")


def random_bytes(count, seed=1):
    """The same bytes for the same seed, fast."""
    import random
    return random.Random(seed).randbytes(count)


# -- ssh --


@pytest.fixture(scope="session")
def ssh_keys(tmp_path_factory):
    """Host keys as the server makes them at its first start, once for all tests, and keys of users."""
    import ssh_clients
    folder = tmp_path_factory.mktemp("ssh")
    for name in ("root", "server", "host-keys", "user-keys"):
        (folder / name).mkdir(mode=0o700)
    require("ssh", "ssh-keygen")
    server = Server(folder / "server", folder / "root", listen=("ssh://127.0.0.1:0",))
    server.stop()
    for path in server.state.glob("ssh_host_*_key"):
        shutil.copy(path, folder / "host-keys")
    return ssh_clients.Keys(folder / "user-keys", folder / "host-keys")


def start_ssh(start, keys, root, *args, authorized=None, listen=("ssh://127.0.0.1:0",), **named):
    """A server that knows the test's keys; `authorized` is the text of another authorized_keys file."""
    file = keys.folder / "authorized_keys"
    if authorized is not None or not file.exists():
        file = file if authorized is None else pathlib.Path(root).parent / "authorized_keys"
        file.write_text(keys.authorized() if authorized is None else authorized)
    return start(root, "--authorized-keys", str(file), *args, listen=listen, state=keys.host_keys, **named)


@pytest.fixture
def ssh_ferryd(ferryd, ssh_keys):
    def start(root, *args, **named):
        return start_ssh(ferryd, ssh_keys, root, *args, **named)
    return start


@pytest.fixture
def ssh_server(ssh_ferryd, root):
    return ssh_ferryd(root)


@pytest.fixture(scope="module")
def shared_ssh_server(tmp_path_factory, ssh_keys):
    """One without limits for tests that leave it as they found it: it serves the files "small" and "large"."""
    from ssh_raw import LARGE, OPEN_HOUSE
    folder = tmp_path_factory.mktemp("shared")
    root = folder / "root"
    root.mkdir()
    (root / "small").write_bytes(b"small")
    with open(root / "large", "wb") as file:
        file.truncate(LARGE)
    server = start_ssh(lambda *args, **named: Server(folder, *args, **named), ssh_keys, root, config=OPEN_HOUSE)
    yield server
    server.stop()
