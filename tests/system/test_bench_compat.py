"""ferry bench ftp --compat: the lines, the dialogue and the memory order of ftpbench. No time is judged."""

import contextlib
import importlib.util
import os
import pty
import re
import signal
import socket
import socketserver
import subprocess
import sys
import threading

import pytest

from conftest import BIN, PASSWORD, USER, require, wait_until

LIMITS_OFF = "limits { sessions = 1000  per_address = 0  per_account = 0  unauthenticated = 0 }"
CLIENTS = 4
ALL_LABELS = [
    ("STOR (client -> server)", "MB/sec"),
    ("RETR (server -> client)", "MB/sec"),
    ("4 concurrent clients (connect, login)", "secs"),
    ("STOR (1 file with 4 idle clients)", "MB/sec"),
    ("RETR (1 file with 4 idle clients)", "MB/sec"),
    ("4 concurrent clients (RETR 64.0K file)", "secs"),
    ("4 concurrent clients (STOR 64.0K file)", "secs"),
    ("4 concurrent clients (QUIT)", "secs"),
]
LABELS = {"transfer": ALL_LABELS[:2], "download": ALL_LABELS[1:2], "upload": ALL_LABELS[:1],
          "concurrence": ALL_LABELS[2:], "all": ALL_LABELS}
SIZE = r"\d+\.\d[BKMG]"


def start(port, *args, user=USER, password=PASSWORD, **named):
    command = [str(BIN / "ferry"), "bench", "ftp", "--compat", "-H", "127.0.0.1", "-P", str(port), "-u", user,
               "-p", password, "-n", str(CLIENTS), "-s", "64K", "-t", "30", *args]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True, **named)


def compat(port, *args, code=0, **named):
    """(standard output, standard error) of a run that must end with that code."""
    process = start(port, *args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **named)
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        pytest.fail("it did not end: %r" % (process.communicate(),))
    assert process.returncode == code, out + err
    return out, checked(err)


def checked(err):
    """Standard error without AddressSanitizer's word about tasks, after a look for any other."""
    assert "Sanitizer:" not in err and "runtime error" not in err, err
    return re.sub(r"==\d+==WARNING: ASan doesn't fully support .*\n", "", err)


def check_lines(out, kind, memory=""):
    """Every line as ftpbench sets it; returns the memory at the ends of the lines."""
    lines = out.splitlines()
    assert len(lines) == len(LABELS[kind]), out
    found = []
    for line, (label, unit) in zip(lines, LABELS[kind]):
        end = r"%-8s(%s)" % (unit, memory) if memory else unit
        match = re.fullmatch(r"%s +\d+\.\d\d %s" % (re.escape(label), end), line)
        assert match, line
        value = float(line[51:59])
        assert line[59:] == " " + (("%-8s" % unit) + match.group(1) if memory else unit)
        assert line[:60] == "%-50s %8.2f " % (label, value)
        assert unit == "secs" or value > 0
        found.append(match.group(1) if memory else None)
    return found


@contextlib.contextmanager
def pyftpdlib_server(root, certificate=""):
    """A running pyftpdlib; yields its port and its process, whose standard error has the commands it got. With a
    certificate it takes logins and data in TLS only."""
    for module in ["pyftpdlib"] + (["OpenSSL"] if certificate else []):
        if importlib.util.find_spec(module) is None:
            pytest.skip("not installed: " + module)
    log = open(root.parent / "pyftpdlib.log", "w+")
    command = [sys.executable, "-W", "ignore", "-c", PYFTPDLIB, str(root), USER, PASSWORD, str(certificate)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        yield int(process.stdout.readline()), process
    finally:
        process.kill()
        process.communicate()
        log.close()


PYFTPDLIB = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, format="%(message)s")
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer
root, user, password, certificate = sys.argv[1:]
if certificate:
    from pyftpdlib.handlers import TLS_FTPHandler as FTPHandler
    FTPHandler.certfile = certificate
    FTPHandler.tls_control_required = FTPHandler.tls_data_required = True
FTPHandler.authorizer = DummyAuthorizer()
FTPHandler.authorizer.add_user(user, password, root, perm="elradfmwMT")
FTPServer.max_cons = 0
server = FTPServer(("127.0.0.1", 0), FTPHandler)
print(server.socket.getsockname()[1], flush=True)
server.serve_forever()
"""


def commands(root):
    """What the clients of pyftpdlib_server() have sent."""
    return re.findall(r"<- (.*)", (root.parent / "pyftpdlib.log").read_text())


# -- lines --


@pytest.mark.parametrize("kind", sorted(LABELS))
def test_each_kind_prints_the_lines_of_ftpbench_and_removes_the_file(ferryd, root, kind):
    server = ferryd(root, config=LIMITS_OFF)
    (root / "mine").write_text("stays")
    # Small files would take long: the time to ask for the next one is not part of the second.
    out, err = compat(server.port, "-b", kind, *(["-s", "4M"] if kind == "download" else []))
    check_lines(out, kind)
    assert err == "" and [path.name for path in root.iterdir()] == ["mine"]


def test_memory_is_a_pile_whose_first_sample_is_shown_last(ferryd, root):
    server = ferryd(root, config=LIMITS_OFF)
    out, err = compat(server.port, "-b", "all", "-k", str(server.pid))
    first, rest = out.split("\n", 1)
    assert err == "" and re.fullmatch(r"\(starting with \d+ of memory being used\)", first)
    memory = check_lines(rest, "all", SIZE)
    resident = int(re.search(r"\d+", first).group())
    assert 1024 * 1024 < resident < 2 ** 32
    # The sample of the start is of an idle server; without the shared pages it is less than what is resident.
    kilobytes = {m: float(m[:-1]) * {"B": 1 / 1024, "K": 1, "M": 1024, "G": 1024 ** 2}[m[-1]] for m in memory}
    assert kilobytes[memory[-1]] == min(kilobytes.values()) < resident / 1024
    assert kilobytes[memory[-1]] < max(kilobytes.values())  # transfers cost something


def test_pyftpdlib_is_measured_as_well(root):
    with pyftpdlib_server(root) as (port, process):
        out, err = compat(port, "-b", "all", "-k", str(process.pid))
        assert err == "" and list(root.iterdir()) == []
        check_lines(out.split("\n", 1)[1], "all", SIZE)


def lines_on_a_terminal(server, **environment):
    ours, theirs = pty.openpty()
    shown = b""
    known = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    try:
        process = start(server.port, "-b", "upload", "-k", str(server.pid), stdout=theirs, stderr=subprocess.PIPE,
                        env={**known, "TERM": "xterm", **environment})
        os.close(theirs)
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while data := os.read(ours, 4096):
                shown += data
        assert process.wait(timeout=60) == 0 and checked(process.stderr.read()) == ""
    finally:
        os.close(ours)
    return shown.decode().splitlines()


def test_a_terminal_gets_the_colours_of_ftpbench(server):
    first, line = lines_on_a_terminal(server)
    assert re.fullmatch(r"\(starting with \x1b\[32m\d+\x1b\[0m of memory being used\)", first)
    assert re.fullmatch(r"\x1b\[mSTOR \(client -> server\) {27}\x1b\[0m \x1b\[32m {1,6}\d+\.\d\d\x1b\[0m MB/sec  "
                        r"\x1b\[32m%s\x1b\[0m" % SIZE, line)


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colour_gets_none(server, environment):
    first, line = lines_on_a_terminal(server, **environment)
    assert re.fullmatch(r"\(starting with \d+ of memory being used\)", first) and "\x1b" not in line


# -- the dialogue --

LOGIN = ["USER " + USER, "PASS ******"]
PREFLIGHT = LOGIN + ["PASV", "STOR $testfile", "DELE $testfile", "QUIT"]
STOR = ["TYPE I", "PASV", "STOR $testfile"]
RETR = ["TYPE I", "PASV", "RETR $testfile"]
RETR_ALONE = ["TYPE I", "PASV", "retr $testfile"]
CLEANUP = LOGIN + ["TYPE A", "PASV", "NLST", "DELE $testfile", "QUIT"]


def test_one_file_is_uploaded_and_fetched_again_and_again(root):
    with pyftpdlib_server(root) as (port, _):
        compat(port, "-b", "transfer")
        sent = commands(root)
    begin = PREFLIGHT + LOGIN + STOR + ["QUIT"] + LOGIN
    assert sent[:len(begin)] == begin
    end = ["QUIT"] + CLEANUP
    assert sent[-len(end):] == end
    again = sent[len(begin):-len(end)]
    assert len(again) >= 3 and again == RETR_ALONE * (len(again) // 3)


def test_the_crowd_logs_in_one_by_one_and_shares_one_file(root):
    with pyftpdlib_server(root) as (port, _):
        compat(port, "-b", "concurrence")
        sent = commands(root)
    begin = PREFLIGHT + LOGIN * CLIENTS + LOGIN + STOR + ["QUIT"] + LOGIN
    assert sent[:len(begin)] == begin
    end = STOR + RETR * CLIENTS + STOR * CLIENTS + ["QUIT"] * CLIENTS + CLEANUP
    assert sent[-len(end):] == end
    alone = sent[len(begin):-len(end)]
    assert alone.pop() == "QUIT" and alone == RETR_ALONE * (len(alone) // 3)


def test_the_file_is_uploaded_in_whole_chunks(ferryd, root):
    server = ferryd(root, config=LIMITS_OFF)
    compat(server.port, "-b", "download", "-s", "4194305b")
    server.stop()
    downloads = [a for a in server.records("audit") if a["operation"] == "download" and a["result"] == "ok"]
    assert downloads and {a["bytes"] for a in downloads} == {4194304 + 8192} and {a["path"] for a in downloads} == {"/$testfile"}


# -- TLS --

LOGIN_TLS = ["AUTH TLS"] + LOGIN + ["PBSZ 0", "PROT P"]


@pytest.fixture
def certificate(tmp_path):
    """A key and a certificate that nobody has signed."""
    require("openssl")
    path = tmp_path / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-subj", "/CN=test", "-days", "2", "-keyout", str(path), "-out", str(path) + ".cert"],
                   check=True, capture_output=True)
    with open(path, "a") as f:
        f.write((tmp_path / "certificate.pem.cert").read_text())
    return path


def test_everything_is_measured_in_tls_as_well(root, certificate):
    with pyftpdlib_server(root, certificate) as (port, process):
        out, err = compat(port, "-S", "-b", "all", "-k", str(process.pid))
        assert err == "" and list(root.iterdir()) == []
        check_lines(out.split("\n", 1)[1], "all", SIZE)
        sent = commands(root)
    assert sent[:len(LOGIN_TLS)] == LOGIN_TLS
    assert sent.count("AUTH TLS") == sent.count("PROT P") == sent.count("USER " + USER) == 6 + CLIENTS


def test_the_file_arrives_whole_in_tls(root, certificate):
    with pyftpdlib_server(root, certificate) as (port, _):
        process = start(port, "-S", "-b", "download", "-s", "4M", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # While it is fetched the file lies there.
        wait_until("it is fetched", lambda: "retr $testfile" in commands(root) or process.poll() is not None)
        data = (root / "$testfile").read_bytes()
        assert process.communicate(timeout=60) and process.returncode == 0
    assert data == b"x" * 4194304


def test_a_server_without_tls_is_not_talked_to_in_clear(server):
    _, err = compat(server.port, "-S", code=1)
    assert re.fullmatch(r"ferry bench ftp: trying to write: the server says: 50\d .*\n", err)
    assert server.records("login") == []


# -- what goes wrong --


def test_an_unknown_kind_is_refused_in_the_words_of_ftpbench():
    out, err = compat(1, "-b", "nonsense", code=2)
    assert (out, err) == ("", "invalid 'benchmark' parameter 'nonsense'\n")


def test_who_may_not_write_is_told_so_before_any_line(ferryd, root):
    server = ferryd(root, "--read-only")
    out, err = compat(server.port, code=1)
    assert out == "" and re.fullmatch(r"ferry bench ftp: trying to write: the server says: 550 .*\n", err)


def test_a_wrong_password_is_said_in_the_server_s_words(server):
    out, err = compat(server.port, code=1, password="wrong")
    assert out == "" and re.fullmatch(r"ferry bench ftp: trying to write: the server says: 530 .*\n", err)


def test_a_process_that_is_not_there_is_said_before_the_server_is_asked(server):
    out, err = compat(server.port, "-k", "4194304", code=1)  # above the kernel's largest
    assert (out, err) == ("", "ferry bench ftp: process 4194304: no such process\n")
    assert server.records("login") == []


def test_a_limit_of_the_server_ends_it_with_the_client_s_number(ferryd, root):
    server = ferryd(root, config="limits { sessions = 1000  per_address = 0  per_account = 2  unauthenticated = 0 }")
    out, err = compat(server.port, "-b", "concurrence", code=1)
    # the session that tried to write may still be leaving: then it is the second that is one too many
    assert out == "" and re.fullmatch(
        r"ferry bench ftp: 4 concurrent clients \(connect, login\): client [23]: the server says: (421|530) .*\n", err)
    assert list(root.iterdir()) == []


def test_a_server_that_says_nothing_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        _, err = compat(silent.getsockname()[1], "-t", "1", code=1)
    assert err == "ferry bench ftp: trying to write: timed out\n"


class EmptyFiles(socketserver.StreamRequestHandler):
    """Takes every upload; each file that it sends is empty. The test of what would never end."""

    def handle(self):
        self.say("220 hello")
        for raw in self.rfile:
            verb = raw.decode().split()[0].upper()
            if verb == "PASV":
                listener = socket.create_server(("127.0.0.1", 0))
                port = listener.getsockname()[1]
                self.say("227 here (127,0,0,1,%d,%d)" % divmod(port, 256))
            elif verb in ("STOR", "RETR", "NLST"):
                self.say("150 go")
                with listener, listener.accept()[0] as data:
                    while verb == "STOR" and data.recv(65536):
                        pass
                self.say("226 done")
            else:
                self.say({"USER": "331 password", "QUIT": "221 bye", "PASS": "230 in"}.get(verb, "250 fine"))

    def say(self, line):
        self.wfile.write(line.encode() + b"\r\n")


def test_a_server_of_empty_files_does_not_hold_us_for_ever():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), EmptyFiles) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        out, err = compat(server.server_address[1], "-b", "download", code=1)
        server.shutdown()
    assert out == "" and "RETR (server -> client): the data ended too early" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_the_file_is_removed(server, root, tmp_path, number):
    out_path = tmp_path / "out"
    with open(out_path, "w") as out:
        process = start(server.port, "-b", "transfer", stdout=out, stderr=subprocess.PIPE)
    wait_until("the first line", lambda: "STOR" in out_path.read_text() or process.poll() is not None)
    process.send_signal(number)
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and "ferry bench ftp: interrupted\n" in err
    assert "RETR" not in out_path.read_text() and list(root.iterdir()) == []
