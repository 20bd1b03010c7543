"""What may happen while a transfer runs, and what the types make of the bytes."""

import re
import socket

import pytest

from conftest import random_bytes, wait_until
from dialogue import Dialogue, as_line, cut, is_refused, read_all, read_until

LARGE = 1 << 30  # a hole: more than any buffers hold, so that who does not read keeps it running


@pytest.fixture
def ftp(server, root):
    with open(root / "large", "wb") as file:
        file.truncate(LARGE)
    (root / "small").write_bytes(b"small")
    with Dialogue(server) as dialogue:
        yield dialogue


def still_works(ftp):
    assert ftp.fetch("RETR small") == b"small"
    ftp.give("STOR another", b"another")


# -- ASCII --


@pytest.mark.parametrize("stored, sent", [
    (b"", b""), (b"\n", b"\r\n"), (b"a\nb\n", b"a\r\nb\r\n"), (b"no end", b"no end"), (b"\n\n\n", b"\r\n\r\n\r\n"),
    (b"a\r\nb\r\n", b"a\r\nb\r\n"), (b"a\rb", b"a\rb"), (b"\r", b"\r"), (b"\r\r\n", b"\r\r\n"),
    (bytes(range(256)), bytes(range(10)) + b"\r" + bytes(range(10, 256))),
], ids=repr)
def test_ascii_downloads_end_lines_with_crlf(ftp, root, stored, sent):
    (root / "text").write_bytes(stored)
    ftp.ask("TYPE A", 200)
    assert ftp.fetch("RETR text") == sent
    ftp.ask("TYPE I", 200)
    assert ftp.fetch("RETR text") == stored


@pytest.mark.parametrize("sent, stored", [
    (b"", b""), (b"\r\n", b"\n"), (b"a\r\nb\r\n", b"a\nb\n"), (b"no end", b"no end"), (b"\r\n\r\n", b"\n\n"),
    (b"a\nb\n", b"a\nb\n"), (b"a\rb", b"a\rb"), (b"\r", b"\r"), (b"\r\r\n", b"\r\n"), (b"\r\rx", b"\r\rx"),
], ids=repr)
def test_ascii_uploads_end_lines_with_newlines(ftp, root, sent, stored):
    ftp.ask("TYPE A", 200)
    ftp.give("STOR text", sent)
    assert (root / "text").read_bytes() == stored
    ftp.ask("TYPE I", 200)
    ftp.give("STOR text", sent)
    assert (root / "text").read_bytes() == sent


def test_ascii_holds_over_megabytes_however_they_are_cut(ftp, root):
    lines = random_bytes(2_000_000).replace(b"\r", b"x").split(b"\n")
    text = b"".join(line[: line[0]] + b"\n" for line in lines if line)
    (root / "text").write_bytes(text)
    ftp.ask("TYPE A", 200)
    assert ftp.fetch("RETR text") == text.replace(b"\n", b"\r\n")
    with ftp.data() as data:
        data.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ftp.ask("STOR back", 150)
        for line in text[:20_000].split(b"\n")[:-1]:
            data.sendall(line + b"\r")
            data.sendall(b"\n")
    ftp.expect(226)
    assert (root / "back").read_bytes() == text[: text[:20_000].rindex(b"\n") + 1]
    ftp.give("STOR back", text.replace(b"\n", b"\r\n"))
    assert (root / "back").read_bytes() == text


def test_rest_has_no_meaning_in_ascii(ftp):
    ftp.ask("TYPE A", 200)
    ftp.ask("REST 3")
    with ftp.data():
        ftp.ask("RETR small", 504)


def test_ascii_is_the_type_at_the_start(server, root):
    (root / "text").write_bytes(b"a\n")
    with Dialogue(server, login=False) as ftp:
        ftp.ask("USER " + server.user, 331)
        ftp.ask("PASS " + server.password, 230)
        assert ftp.fetch("RETR text") == b"a\r\n"


# -- uploads --


def test_the_file_is_there_whole_when_226_comes(ftp, root):
    for i in range(50):
        with ftp.data() as data:
            ftp.ask("STOR file", 150)
            data.sendall(b"%d" % i * 1000)
        ftp.expect(226)
        assert (root / "file").read_bytes() == b"%d" % i * 1000


def test_an_upload_is_not_seen_before_it_is_complete(ftp, server, root):
    (root / "file").write_bytes(b"old")
    with Dialogue(server) as other, ftp.data() as data:
        ftp.ask("STOR file", 150)
        data.sendall(b"new" * 1000)
        wait_until("it arrived", lambda: " 3000 bytes" in ftp.ask("STAT", 211).text)
        assert other.fetch("RETR file") == b"old"
        assert set(other.names()) == {"large", "small", "file"}
        data.close()
        ftp.expect(226)
        assert other.fetch("RETR file") == b"new" * 1000


def test_stou_never_takes_a_name_that_is_taken(ftp, root):
    names = []
    for command in ("STOU", "STOU", "STOU small", "STOU small"):
        first = ftp.give(command, b"%d" % len(names))
        names.append(re.fullmatch(r"150 FILE: (\S+)", first.text).group(1))
    assert len(set(names)) == 4 and "small" not in names
    assert (root / "small").read_bytes() == b"small"
    assert [(root / name).read_bytes() for name in names] == [b"0", b"1", b"2", b"3"]


def test_appe_appends_and_makes(ftp, root):
    ftp.give("APPE log", b"one\n")
    ftp.give("APPE log", b"two\n")
    assert (root / "log").read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("command", ["RETR dir", "RETR missing", "RETR dir/missing", "STOR dir", "STOR no/file",
                                     "APPE dir", "STOR /", "RETR /"])
def test_what_cannot_be_opened_is_550(ftp, root, command):
    (root / "dir").mkdir()
    with ftp.data():
        ftp.ask(command, 550, 553)
    still_works(ftp)


def test_rest_past_the_end_is_refused(ftp):
    ftp.ask("REST 6", 350)
    with ftp.data():
        ftp.ask("RETR small", 550, 554)
    ftp.ask("REST 5", 350)
    assert ftp.fetch("RETR small") == b""
    still_works(ftp)


# -- ABOR --


def plain(control):
    control.sendall(b"ABOR\r\n")


def as_rfc959(control):
    """IAC IP, then the synch: IAC and DM with DM urgent, then the command."""
    control.sendall(b"\xff\xf4\xff")
    control.send(b"\xf2", socket.MSG_OOB)
    control.sendall(b"ABOR\r\n")


def as_bsd_ftp(control):
    """The IAC before DM is urgent (its sendabort())."""
    control.sendall(b"\xff\xf4")
    control.send(b"\xff", socket.MSG_OOB)
    control.sendall(b"\xf2ABOR\r\n")


def as_ftplib(control):
    control.sendall(b"ABOR\r\n", socket.MSG_OOB)


ABORTS = pytest.mark.parametrize("abort", [plain, as_rfc959, as_bsd_ftp, as_ftplib])


@ABORTS
@pytest.mark.parametrize("verb", ["EPSV", "PASV", "PORT"])
def test_abor_ends_a_download(ftp, abort, verb):
    if verb == "PORT":
        listener = ftp.listener()
        ftp.ask("RETR large", 150)
        data, _ = listener.accept()
        listener.close()
    else:
        data = ftp.data(verb)
        ftp.ask("RETR large", 150)
    with data:
        read_until(data, 100_000)
        abort(ftp.control)
        ftp.expect(426)
        ftp.expect(226)
        ftp.ask("NOOP", 200)
    still_works(ftp)


@ABORTS
def test_abor_ends_an_upload_and_leaves_the_old_file(ftp, root, abort):
    (root / "file").write_bytes(b"old")
    with ftp.data() as data:
        ftp.ask("STOR file", 150)
        data.sendall(b"x" * 10_000)
        wait_until("it arrived", lambda: " 10000 bytes" in ftp.ask("STAT", 211).text)
        abort(ftp.control)
        ftp.expect(426)
        ftp.expect(226)
    assert (root / "file").read_bytes() == b"old"
    still_works(ftp)


def test_abor_ends_the_wait_for_a_data_connection(ftp):
    ftp.passive_port()
    ftp.ask("RETR small", 150)
    ftp.send("ABOR")
    ftp.expect(425, 426)
    ftp.expect(226)
    still_works(ftp)


def test_abor_after_the_end_is_answered_too(ftp):
    with ftp.data() as data:
        ftp.ask("RETR small", 150)
        assert read_all(data) == b"small"
    ftp.send("ABOR")
    ftp.expect(226)
    ftp.expect(225, 226)
    ftp.ask("ABOR", 225, 226)
    still_works(ftp)


def test_abor_closes_a_passive_port_that_nobody_used(ftp):
    port = ftp.passive_port()
    ftp.ask("ABOR", 225, 226)
    wait_until("the port is closed", lambda: is_refused(ftp.host, port))


def test_ftplibs_abort_works(server, root):
    with open(root / "large", "wb") as file:
        file.truncate(LARGE)
    with server.client() as ftp:
        data = ftp.transfercmd("RETR large")
        data.recv(1000)
        assert ftp.abort()[:3] in ("225", "226", "426")
        data.close()
        assert ftp.getresp()[:3] in ("225", "226")
        assert ftp.nlst() == ["large"]


# -- other commands during a transfer --


def so_far(ftp):
    return int(re.search(r"RETR large: (\d+) bytes", ftp.ask("STAT", 211).text).group(1))


def test_noop_and_stat_are_answered_while_data_flows(ftp):
    with ftp.data() as data:
        ftp.ask("RETR large", 150)
        read_until(data, 100_000)
        for _ in range(3):
            ftp.ask("NOOP", 200)
            assert 0 <= so_far(ftp) < LARGE
        wait_until("STAT tells what was sent", lambda: so_far(ftp) >= 100_000)
        ftp.send("ABOR")
        ftp.expect(426)
        ftp.expect(226)


def test_other_commands_wait_for_the_end(ftp):
    with ftp.data() as data:
        ftp.ask("STOR file", 150)
        ftp.send("SIZE file", "PWD", "NOOP")
        data.sendall(b"12345")
        data.shutdown(socket.SHUT_WR)
        assert [ftp.reply().text[:5] for _ in range(4)] == ["226 T", "213 5", '257 "', "200 N"]


def test_quit_waits_for_the_transfer(ftp, root):
    content = random_bytes(30_000_000)
    (root / "file").write_bytes(content)
    with ftp.data() as data:
        ftp.ask("RETR file", 150)
        ftp.send("QUIT")
        assert read_all(data) == content
    ftp.expect(226)
    ftp.expect(221)
    assert ftp.is_closed()


def test_a_client_that_leaves_in_mid_transfer_leaves_nothing_behind(ftp, server):
    with ftp.data() as data:
        ftp.ask("RETR large", 150)
        read_until(data, 100_000)
        cut(ftp.control)
        wait_until("the session is gone", lambda: server.ask("who") == [])
    assert server.last_audit("download")["result"] != "ok"
    assert len(server.records("audit")) == 1


def test_the_idle_clock_stands_still_while_data_flows(ferryd, root):
    with open(root / "large", "wb") as file:
        file.truncate(LARGE)
    (root / "small").write_bytes(b"small")
    server = ferryd(root, config="timeouts { idle_s = 2 }")
    with Dialogue(server) as busy, Dialogue(server) as idle, busy.data() as data:
        busy.ask("RETR large", 150)
        read_until(data, 100_000)
        idle.expect(421)
        assert idle.is_closed()
        busy.ask("NOOP", 200)
        busy.control.sendall(as_line("ABOR"))
        busy.expect(426)
        busy.expect(226)
        assert busy.fetch("RETR small") == b"small"
