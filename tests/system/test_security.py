"""What docs/SECURITY-DESIGN.md claims and can be seen from outside."""

import contextlib
import json
import os
import pathlib
import socket
import stat
import subprocess
import sys

import pytest

from conftest import PASSWORD, USER, wait_until
from dialogue import Dialogue

SECRET = b"of somebody else"


def refuses(d, command, *codes):
    """A 5yz at once, and not one that only says that the command is unknown."""
    reply = d.ask(command, *codes)
    assert 500 <= reply.code < 600 and reply.code not in (500, 502, 503), reply
    return reply


def refuses_transfer(d, command):
    d.data().close()
    refuses(d, command)


# -- ways out of the tree --


@pytest.fixture
def outside(tmp_path, root):
    """A directory beside the root, and links that lead there in every way a link can."""
    place = tmp_path / "outside"
    (place / "folder").mkdir(parents=True)
    (place / "secret").write_bytes(SECRET)
    (place / "folder" / "secret").write_bytes(SECRET)
    (root / "inside").mkdir()
    links = {"absolute": place, "relative": "../outside", "deep": "inside/../../outside", "self": "/proc/self/cwd/../outside",
             "top": "/", "chain": "absolute", "chain-of-relatives": "inside/link"}
    for name, target in links.items():
        (root / name).symlink_to(target)
    (root / "inside" / "link").symlink_to("../../outside")
    (root / "file-link").symlink_to(place / "secret")
    (root / "new-link").symlink_to(place / "new")
    return place


def snapshot(place):
    """All that could be changed there."""
    def of(path):
        s = path.lstat()
        return s.st_mode, s.st_mtime_ns, path.read_bytes() if path.is_file() else None
    return {path: of(path) for path in [place, *place.rglob("*")]}


WAYS = ["absolute", "relative", "deep", "self", "chain", "chain-of-relatives", "inside/link"]


@pytest.mark.parametrize("way", WAYS)
def test_no_command_reaches_through_a_link_out_of_the_tree(server, root, outside, way):
    before = snapshot(outside)
    with Dialogue(server) as d:
        for command in ("CWD %s", "CWD %s/folder", "SIZE %s/secret", "MDTM %s/secret", "MLST %s/secret", "MLST %s/folder",
                        "DELE %s/secret", "RMD %s/folder", "MKD %s/made", "RNFR %s/secret", "SITE CHMOD 777 %s/secret",
                        "MFMT 20200101000000 %s/secret", "STAT %s/secret", "STAT %s/folder"):
            refuses(d, command % way)
        for command in ("RETR %s/secret", "STOR %s/secret", "STOR %s/made", "APPE %s/secret", "APPE %s/made",
                        "LIST %s/folder", "NLST %s/folder", "MLSD %s", "MLSD %s/folder", "STOU %s/made"):
            refuses_transfer(d, command % way)
        d.ask("REST 3", 350)
        refuses_transfer(d, "STOR %s/secret" % way)
        # a new place for a file of one's own
        d.give("STOR mine", b"mine")
        d.ask("RNFR mine", 350)
        refuses(d, "RNTO %s/mine" % way)
        assert b"secret" not in d.fetch("LIST %s*/*" % way[:3])
    assert snapshot(outside) == before
    assert (root / "mine").read_bytes() == b"mine"


@pytest.mark.parametrize("name", ["file-link", "new-link"])
def test_a_link_out_of_the_tree_is_no_file(server, root, outside, name):
    before = snapshot(outside)
    with Dialogue(server) as d:
        for command in ("SIZE %s", "MDTM %s", "SITE CHMOD 777 %s", "MFMT 20200101000000 %s"):
            refuses(d, command % name)
        refuses_transfer(d, "RETR " + name)
        refuses_transfer(d, "APPE " + name)
        d.data().close()
        d.send("STOR " + name)  # refused, or the link itself is replaced
        if d.reply().code == 150:
            d.expect(226, 426)
        d.ask("DELE " + name, 250, 550)
    assert snapshot(outside) == before
    assert not (outside / "new").exists()


def test_links_can_be_set_to_begin_at_the_root(ferryd, root, outside):
    (root / "inside" / "file").write_bytes(b"mine")
    (root / "from-the-root").symlink_to("/inside/file")
    (root / "above").symlink_to("../../inside")
    before = snapshot(outside)
    with Dialogue(ferryd(root, config='defaults { links = in-root }')) as d:
        assert d.fetch("RETR from-the-root") == b"mine"
        assert d.fetch("RETR above/file") == b"mine"
        for way in WAYS:
            refuses_transfer(d, "RETR %s/secret" % way)
            refuses(d, "DELE %s/secret" % way)
        refuses_transfer(d, "RETR file-link")
    assert snapshot(outside) == before


def test_dots_lead_nowhere(server, root, outside):
    with Dialogue(server) as d:
        for path in ("../outside/secret", "/../outside/secret", "inside/../../outside/secret", "./../outside/secret",
                     "..//../outside/secret", str(outside / "secret"), "/etc/passwd", "../../../../../../etc/passwd"):
            refuses(d, "SIZE " + path, 550)
            refuses_transfer(d, "RETR " + path)
        d.ask("CWD ..", 250)
        d.ask("CDUP", 250)
        assert '"/"' in d.ask("PWD", 257).text
        d.ask("CWD ../../inside", 250)
        assert '"/inside"' in d.ask("PWD", 257).text


def test_the_longest_path_works_and_one_byte_more_is_refused(server, root):
    folders = ["d%02d" % i + "x" * 252 for i in range(15)]
    longest = "/" + "/".join(folders + ["f" * 254])
    assert len(longest) == 4095
    with Dialogue(server) as d:
        for folder in folders:
            d.ask("MKD " + folder, 257)
            d.ask("CWD " + folder, 250)
        d.give("STOR " + longest, b"deep")
        d.ask("SIZE " + longest, 213)
        d.ask("MLST " + longest, 250)
        assert d.fetch("RETR " + longest) == b"deep"
        assert d.fetch("NLST " + longest).decode().strip() == longest
        for path in (longest + "f", "f" * 255, "f" * 4096, "f/" * 2048, "/" * 4096 + "f" * 256):
            for command in ("SIZE %s", "CWD %s", "MKD %s", "DELE %s", "RMD %s", "RNFR %s", "MLST %s", "STAT %s",
                            "MFMT 20200101000000 %s", "SITE CHMOD 600 %s"):
                refuses(d, command % path)
            for command in ("RETR %s", "STOR %s", "APPE %s", "LIST %s", "MLSD %s"):
                refuses_transfer(d, command % path)
        d.ask("RNFR " + longest, 350)
        refuses(d, "RNTO %sf" % longest)
        d.ask("DELE " + longest, 250)
        d.ask("NOOP", 200)


def test_the_root_cannot_be_removed_or_renamed(server, root):
    with Dialogue(server) as d:
        for command in ("RMD /", "RMD .", "RMD nothing/..", "DELE /"):
            refuses(d, command)
        (root / "folder").mkdir()
        for old, new in ("/", "other"), ("folder", "/"), ("/", "folder/inside"):
            if d.ask("RNFR " + old).code == 350:
                refuses(d, "RNTO " + new)
        d.give("STOR file", b"x")
    assert (root / "file").read_bytes() == b"x"


def test_a_directory_that_turns_into_a_link_leads_nowhere(server, root, outside):
    (root / "folder").mkdir()
    (root / "folder" / "secret").write_bytes(b"mine")
    with Dialogue(server) as d:
        d.ask("CWD folder", 250)
        (root / "folder").rename(root / "was")
        (root / "folder").symlink_to(outside)
        refuses_transfer(d, "RETR secret")
        refuses_transfer(d, "STOR made")
        refuses(d, "DELE secret")
    assert (outside / "secret").read_bytes() == SECRET and not (outside / "made").exists()


def test_magic_links_of_proc_lead_nowhere(ferryd, root):
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    (root / "proc").mkdir()
    if subprocess.run(["mount", "-t", "proc", "proc", root / "proc"], stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("cannot mount a proc here")
    try:
        server = ferryd(root)
        with Dialogue(server) as d:
            for path in ("self/cwd/etc/passwd", "self/cwd/.", "self/fd/0", "self/exe", "1/cwd/etc/passwd",
                         "%d/cwd/etc/passwd" % server.pid, "%d/fd/2" % server.pid):
                refuses_transfer(d, "RETR proc/" + path)
                refuses_transfer(d, "STOR proc/" + path)
            refuses(d, "CWD proc/self/root")
            refuses(d, "CWD proc/%d/cwd" % server.pid)
        server.stop()
    finally:
        subprocess.run(["umount", "-l", root / "proc"], check=True)


# -- what is no file --


@pytest.fixture
def odd_things(root):
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as s:
        here = os.getcwd()
        os.chdir(root)  # the name of a socket is short
        s.bind("socket")
        os.chdir(here)
    names = ["fifo", "socket"]
    with contextlib.suppress(PermissionError):
        os.mknod(root / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
        names.append("zero")
    (root / "to-fifo").symlink_to("fifo")
    return names + ["to-fifo"]


def test_fifo_socket_and_device_are_refused_at_once(server, root, odd_things):
    with Dialogue(server) as d:
        for name in odd_things:
            for command in ("RETR ", "STOR ", "APPE "):
                refuses_transfer(d, command + name)
            refuses(d, "SIZE " + name)
            refuses(d, "CWD " + name)
            refuses_transfer(d, "MLSD " + name)
        listing = d.fetch("LIST").decode()
        for name in odd_things:
            assert name in listing
        d.ask("NOOP", 200)
    assert stat.S_ISFIFO((root / "fifo").stat().st_mode)


def test_a_fifo_with_a_writer_is_refused_too(server, root, odd_things):
    with open(os.open(root / "fifo", os.O_RDWR), "wb") as writer:
        writer.write(b"bait")
        writer.flush()
        with Dialogue(server) as d:
            refuses_transfer(d, "RETR fifo")
            refuses_transfer(d, "STOR fifo")


@pytest.mark.parametrize("mode", ["4755", "2755", "1777", "7777", "6644"])
def test_no_setuid_setgid_or_sticky_bit_can_be_set(server, root, mode):
    (root / "file").write_bytes(b"x")
    (root / "folder").mkdir()
    with Dialogue(server) as d:
        for name in ("file", "folder"):
            d.ask("SITE CHMOD %s %s" % (mode, name))
            assert stat.S_IMODE((root / name).stat().st_mode) & 0o7000 == 0


# -- names that mean harm --

NASTY = [b"line\nend", b"carriage\rreturn", b"bell\x07", b"\x1b]0;title\x07", b"\x1b[2J", b"del\x7f", b"tab\t",
         b"220 ready\r\n230 welcome", b"\xff\xf4iac"]


@pytest.fixture
def nasty(root):
    for name in NASTY:
        (root / os.fsdecode(name)).write_bytes(b"x")
    return root


def has_controls(data):
    return any(byte < 32 or byte == 127 for byte in data)


@pytest.mark.parametrize("command", ["LIST", "NLST", "MLSD"])
def test_listings_show_controls_as_question_marks(server, nasty, command):
    with Dialogue(server) as d:
        lines = d.fetch(command).split(b"\r\n")
    assert lines.pop() == b""
    assert len(lines) == len(NASTY)
    assert not any(has_controls(line) for line in lines)
    assert any(line.endswith(b"line?end") for line in lines)
    assert any(line.endswith(b"?]0;title?") for line in lines)
    assert any(line.endswith(b"\xff\xf4iac") for line in lines)  # not Telnet here


def test_replies_show_controls_as_question_marks(server, nasty):
    with Dialogue(server) as d:
        lines = d.ask("STAT .", 213).lines
        assert len(lines) == len(NASTY) + 2
        # the dialogue itself refuses a reply with controls that end lines; here are the others
        for command in (b"SIZE \x1b[2J-not-there", b"MKD \x07bell", b"CWD \x1b]0;x\x07", b"RNFR \x7f", b"USELESS\x1b", b"\x1b",
                        b"HELP \x1b", b"SITE \x1b", b"OPTS \x1b", b"TYPE \x1b", b"PORT \x1b", b"MDTM a\rb", b"DELE a\rb\rc"):
            d.send(command)
            for line in d.reply().lines:
                assert not has_controls(line), (command, line)


def log_lines(server, count_of, event):
    wait_until("the records", lambda: len(server.records(event)) >= count_of)
    return server.log_path.read_bytes().splitlines()


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_names_cannot_write_records_of_their_own(ferryd, root, log_format):
    server = ferryd(root, "--log-format", log_format)
    forged = b'x" user="root\rts="2000" {"event":"login"}\x1b[2J\x85\xe2\x80\xa8'
    with Dialogue(server, login=False) as d:
        for name in (forged, b"\x1b]0;owned\x07", b'{"level":"error"}', b"%n%s%n", b"\xff\xfe\xfd" * 20):
            d.ask(b"USER " + name)
            if d.ask(b"PASS wrong").code == 421:
                break
    with Dialogue(server) as d:
        for name in (forged, b"\x1b]0;owned\x07"):
            d.ask(b"DELE " + name)
            d.data().close()
            d.ask(b"RETR " + name)
    server.stop()
    raw = server.log_path.read_bytes()
    assert b"login-failed" in raw and b"transfer-failed" in raw
    lines = raw.split(b"\n")
    assert lines.pop() == b""
    for line in lines:
        assert not has_controls(line), line
        assert b"ASan" in line or line.startswith((b"{", b"20", b"ferryd: ")), line
        line.decode("utf-8")
        if line.startswith(b"{"):
            assert json.loads(line)["event"] != "login" or json.loads(line)["user"] == USER


# -- secrets --


def test_a_password_stands_nowhere_that_others_can_look(ferryd, root):
    server = ferryd(root, "--user", "bob:hunter2hunter2")
    with Dialogue(server, login=False) as d:
        d.login("bob", "hunter2hunter2")
        d.ask("REIN", 220)
        d.ask("USER bob", 331)
        d.ask("PASS wrong-as-typed", 530)
        d.send("PASS another-try")
        d.reply()
        assert "hunter2" not in d.ask("HELP").text
    seen = b"".join(pathlib.Path("/proc/%d/%s" % (server.pid, name)).read_bytes() for name in ("cmdline", "environ", "comm"))
    log_lines(server, 1, "login-failed")
    seen += server.log_path.read_bytes()
    for secret in (b"hunter2", b"wrong-as-typed", b"another-try", PASSWORD.encode()):
        assert secret not in seen
    assert b"bob" in seen
    assert not [p for p in server.state.rglob("*") if p.is_file() and b"hunter2" in p.read_bytes()]


def test_no_reply_shows_where_the_tree_is(server, root):
    (root / "folder").mkdir()
    (root / "absolute").symlink_to(root / "folder")
    with Dialogue(server) as d:  # each of its replies is looked at
        for command in ("PWD", "CWD folder", "CWD /nothing", "SIZE /folder", "RNFR /nothing", "MKD /folder", "DELE /folder",
                        "RMD /nothing", "STAT", "STAT /", "MLST /", "MLST /folder", "HELP", "SYST", "FEAT", "MDTM /nothing"):
            d.ask(command)
        d.ask("CWD /", 250)
        for command in ("LIST", "MLSD", "NLST"):
            assert bytes(root) not in d.fetch(command)


# -- other users of the machine --

ASK_AS_OTHER = """
import os, socket, sys
os.chdir(sys.argv[1])
os.setgid(65534)
os.setuid(65534)
s = socket.socket(socket.AF_UNIX)
s.settimeout(30)
try:
    s.connect("control.sock")
    s.sendall(b'{"op":"who"}\\n')
    print(s.recv(4096))
except OSError as e:
    print(type(e).__name__)
"""


def ask_as_other(server):
    command = [sys.executable, "-c", ASK_AS_OTHER, server.state]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_only_the_server_s_user_may_ask_the_control_socket(server):
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    assert stat.S_IMODE(server.state.stat().st_mode) == 0o700
    assert stat.S_IMODE((server.state / "control.sock").stat().st_mode) == 0o600
    with Dialogue(server):
        assert ask_as_other(server) == "PermissionError"
        # even if somebody opened the doors
        server.state.chmod(0o755)
        (server.state / "control.sock").chmod(0o666)
        assert ask_as_other(server) in ("b''", "ConnectionResetError", "BrokenPipeError")
        assert len(server.ask("who")) == 1


def test_a_state_directory_that_others_may_write_is_refused(tmp_path, root):
    from conftest import BIN
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    state.chmod(0o777)
    done = subprocess.run([BIN / "ferryd", root, "--state", state, "--listen", "ftp://127.0.0.1:0"], capture_output=True,
                          text=True, timeout=30)
    assert done.returncode != 0
    assert "others may write" in done.stderr
