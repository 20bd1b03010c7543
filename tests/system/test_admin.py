"""The programs themselves: what ferryd says and refuses, who and kick, and how it stops."""

import ftplib
import json
import re
import signal
import socket
import subprocess

import pytest

from conftest import BIN, PASSWORD, USER, random_bytes, require, wait_until
from dialogue import Dialogue, is_refused, read_all, read_until

LARGE = 1 << 30


@pytest.fixture
def large(root):
    with open(root / "large", "wb") as file:
        file.truncate(LARGE)


def run(program, *arguments):
    return subprocess.run([BIN / program, *arguments], capture_output=True, text=True, timeout=30)


# -- the banner --


def test_without_an_account_one_is_made_and_its_password_works(ferryd, root):
    (root / "file").write_bytes(b"1")
    server = ferryd(root, users=())
    text = "\n".join(server.banner)
    assert str(root) in text
    password = re.search(r"^\s*password\s+([A-Za-z2-7]{20})$", text, re.M).group(1)
    with server.client("ferry", password) as ftp:
        assert ftp.nlst() == ["file"]
    with Dialogue(server, login=False) as ftp:
        ftp.ask("USER ferry", 331)
        ftp.ask("PASS " + password[:-1], 530)
    assert password not in server.log_text()


@pytest.mark.parametrize("program", ["curl", "lftp"])
def test_the_lines_to_paste_work_as_they_are(ferryd, root, tmp_path, program):
    require(program)
    (root / "file").write_bytes(b"1")
    server = ferryd(root, users=())
    line = next(line.strip() for line in server.banner if line.strip().startswith(program + " "))
    if program == "lftp":
        line += " -e 'cls; exit'"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
                          env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0 and "file" in done.stdout, done


def test_by_default_it_listens_on_loopback_only(ferryd, root):
    banner = [line for line in ferryd(root).banner if line.startswith("listening ")]
    assert len(banner) == 1 and banner[0].startswith("listening ftp 127.0.0.1:")
    assert "127.0.0.1:2121" in run("ferryd", "--help").stdout


# -- options --


@pytest.mark.parametrize("arguments, reason", [
    (("-z",), "-z"),
    (("--workers", "many"), "many"),
    (("--workers",), "--workers"),
    (("--listen", "127.0.0.1:2121"), "127.0.0.1:2121"),
    (("--listen", "ftp://127.0.0.1:99999"), "99999"),
    (("--listen", "gopher://127.0.0.1:70"), "gopher"),
    (("--listen", "ftps://127.0.0.1:0"), "ftps"),
    (("--user", ""), "account"),
    (("--user", "a:"), "a"),
    (("--user", "a:x", "--user", "a:y"), "twice"),
    (("--read-only=yes",), "--read-only"),
    (("one", "two"), "two"),
])
def test_bad_options_are_refused_with_the_reason(tmp_path, root, arguments, reason):
    takes_root = arguments and arguments[0] != "one"
    done = run("ferryd", "--state", tmp_path / "state", *arguments, *([root] if takes_root else []))
    assert done.returncode == 2, done
    assert reason in done.stderr and done.stdout == "", done
    assert "x\n" not in done.stderr


def test_help_is_no_error():
    for program in ("ferryd", "ferry"):
        done = run(program, "--help")
        assert done.returncode == 0 and done.stdout.startswith("usage: ") and done.stderr == ""


@pytest.mark.parametrize("arguments", [("who", "extra"), ("kick", "0"), ("kick", "-1"), ("kick", "1", "2")])
def test_ferry_refuses_bad_commands(arguments, tmp_path):
    done = run("ferry", *arguments, "--state", tmp_path)
    assert done.returncode == 2 and done.stderr.startswith("ferry") and done.stdout == "", done


@pytest.mark.parametrize("shares", [False, True])
def test_a_port_that_another_program_has_is_refused(root, tmp_path, shares):
    with socket.create_server(("127.0.0.1", 0), reuse_port=shares) as other:
        port = other.getsockname()[1]
        done = run("ferryd", root, "--state", tmp_path / "state", "--listen", "ftp://127.0.0.1:%d" % port)
        assert done.returncode == 1 and "in use" in done.stderr and str(port) in done.stderr
        assert "ready" not in done.stdout


# -- who may do what --


def test_read_only_changes_nothing(ferryd, root):
    (root / "file").write_bytes(b"1")
    (root / "dir").mkdir()
    before = sorted((path.name, path.stat().st_mtime_ns) for path in root.iterdir())
    with Dialogue(ferryd(root, "--read-only")) as ftp:
        for command in ("DELE file", "MKD new", "RMD dir", "RNFR file", "SITE CHMOD 600 file",
                        "MFMT 20200102030405 file"):
            ftp.ask(command, 550)
        for command in ("STOR file", "STOR new", "APPE file", "STOU"):
            with ftp.data():
                ftp.ask(command, 550)
        assert ftp.fetch("RETR file") == b"1"
        assert set(ftp.names()) == {"file", "dir"}
    assert sorted((path.name, path.stat().st_mtime_ns) for path in root.iterdir()) == before


@pytest.mark.parametrize("name", ["anonymous", "ftp", "FTP", "Anonymous"])
def test_anonymous_reads_and_changes_nothing(ferryd, root, name):
    (root / "file").write_bytes(b"1")
    server = ferryd(root, "--anonymous")
    with Dialogue(server, login=False) as ftp:
        ftp.login(name, "guest@example.org")
        assert ftp.fetch("RETR file") == b"1"
        with ftp.data():
            ftp.ask("STOR new", 550)
        ftp.ask("DELE file", 550)
    with Dialogue(server) as ftp:
        ftp.give("STOR new", b"2")


def test_anonymous_is_refused_unless_asked_for(server):
    with Dialogue(server, login=False) as ftp:
        ftp.ask("USER anonymous", 331)
        ftp.ask("PASS guest@example.org", 530)


def test_limits_of_sessions_are_kept(ferryd, root):
    server = ferryd(root, config="limits { sessions = 3 per_account = 2 }")
    with Dialogue(server), Dialogue(server), Dialogue(server, login=False) as third:
        third.ask("USER " + USER, 331)
        third.ask("PASS " + PASSWORD, 421)
        with pytest.raises(ftplib.error_temp, match="421"):
            while True:
                server.client(login=False)


# -- the configuration --

GOOD = """listen "ftp" { address = {"127.0.0.1:0"} passive_ports = "48000-48099" }
account "carl" { password_file = "%(password)s" root = "%(root)s" }
defaults { rights = {"list", "read"} }
timeouts { idle_s = 30 }
"""


@pytest.mark.parametrize("bad", [
    "nonsense = 1", "timeouts { idle_s = soon }", "limits { sessions = -1 }", 'listen "ssh" { }', 'account "dora" { }',
    '\nlisten "ftp" { address = {"nowhere"} }', "log { format = xml }", 'defaults { rights = {"fly"} }',
    'tls { certificate = "x" }', "limits { sessions = {1, 2",
])
def test_a_bad_configuration_is_refused_with_file_and_line(root, tmp_path, bad):
    (tmp_path / "password").write_text("secret\n")
    path = tmp_path / "ferryd.conf"
    path.write_text((GOOD + bad + "\n") % {"password": tmp_path / "password", "root": root})
    done = run("ferryd", "--check-config", "--config", path)
    assert done.returncode == 1 and done.stdout == "", done
    line = int(re.search(re.escape(str(path)) + r":(\d+): ", done.stderr).group(1))
    assert line - (GOOD + bad).count("\n") in (1, 2), done.stderr
    assert run("ferryd", "--config", path, "--state", tmp_path / "state").returncode == 1


# -- who and kick --


def test_who_shows_sessions_and_what_they_do(server, large):
    with Dialogue(server) as busy, Dialogue(server, login=False) as new, busy.data() as data:
        busy.ask("RETR large", 150)
        read_until(data, 1000)
        new.ask("NOOP", 200)
        table = server.ferry("who")
        assert table.returncode == 0
        rows = table.stdout.splitlines()
        assert len(rows) == 3 and rows[0].split()[0] == "ID"
        assert sum(USER in row and "RETR" in row and "127.0.0.1" in row for row in rows) == 1
        objects = [json.loads(line) for line in server.ferry("who", "--json").stdout.splitlines()]
        assert len(objects) == 2
        mine = next(o for o in objects if o["user"] == USER)
        assert mine["doing"] == "RETR" and mine["protocol"] == "ftp" and isinstance(mine["id"], int)
        assert PASSWORD not in table.stdout
        wait_until("who tells the bytes", lambda: max(o["bytes"] for o in server.ask("who")) >= 1000)


def id_of(server, count=1):
    sessions = wait_until("sessions are there", lambda: len(server.ask("who")) == count and server.ask("who"))
    return str(sessions[0]["id"])


@pytest.mark.parametrize("logged_in", [True, False])
@pytest.mark.parametrize("dozing", [True, False])
def test_kick_ends_an_idle_session(server, logged_in, dozing):
    with Dialogue(server, login=logged_in) as ftp:
        ftp.ask("NOOP", 200)
        if dozing:
            server.wait_for_doze()
        assert server.ferry("kick", id_of(server)).returncode == 0
        ftp.expect(421)
        assert ftp.is_closed()
    wait_until("it is gone", lambda: server.ask("who") == [])
    server.client().quit()


def test_kick_ends_a_download(server, large):
    with Dialogue(server) as ftp, ftp.data() as data:
        ftp.ask("RETR large", 150)
        read_until(data, 1000)
        assert server.ferry("kick", id_of(server)).returncode == 0
        codes = [ftp.reply().code]
        if codes == [426]:
            codes.append(ftp.reply().code)
        assert codes[-1] == 421 and ftp.is_closed()
    wait_until("it is gone", lambda: server.ask("who") == [])


def test_kick_ends_an_upload_and_keeps_the_old_file(server, root):
    (root / "file").write_bytes(b"old")
    with Dialogue(server) as ftp, ftp.data() as data:
        ftp.ask("STOR file", 150)
        data.sendall(b"new" * 1000)
        wait_until("it arrived", lambda: " 3000 bytes" in ftp.ask("STAT", 211).text)
        assert server.ferry("kick", id_of(server)).returncode == 0
        while ftp.reply().code != 421:
            pass
        assert ftp.is_closed()
    wait_until("it is gone", lambda: server.ask("who") == [])
    assert (root / "file").read_bytes() == b"old"
    assert server.last_audit("upload")["result"] != "ok"


# -- stopping --


def test_sigterm_lets_a_transfer_finish_and_sends_the_idle_away(server, root):
    content = random_bytes(50_000_000)
    (root / "file").write_bytes(content)
    with Dialogue(server) as busy, Dialogue(server) as idle, Dialogue(server, login=False) as new, \
            Dialogue(server) as storing, busy.data(receive_buffer=65536) as data, storing.data() as upload:
        busy.ask("RETR file", 150)
        storing.ask("STOR stored", 150)
        received = read_until(data, 1000)
        upload.sendall(b"first half, ")
        server.process.send_signal(signal.SIGTERM)
        for session in (idle, new):
            session.expect(421)
            assert session.is_closed()
        wait_until("nobody new is let in", lambda: is_refused("127.0.0.1", server.port))
        assert server.process.poll() is None
        upload.sendall(b"second half")
        upload.close()
        storing.expect(226)
        storing.expect(421)
        received += read_all(data)
        busy.expect(226)
        busy.expect(421)
        assert busy.is_closed() and received == content
    assert (root / "stored").read_bytes() == b"first half, second half"
    server.stop(expect=0)


def test_sigterm_wakes_the_dozing(server):
    with Dialogue(server) as ftp:
        server.wait_for_doze()
        server.process.send_signal(signal.SIGTERM)
        ftp.expect(421)
        assert ftp.is_closed()
    server.stop(expect=0)


