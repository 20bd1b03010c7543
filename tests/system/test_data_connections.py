"""Data connections: who may make them, to where, and how often (RFC 2428, RFC 2577)."""

import contextlib
import socket

import pytest

from conftest import random_bytes, wait_until
from dialogue import Dialogue, is_refused, read_all, received

CONTENT = random_bytes(50_000)


@pytest.fixture
def ftp(server, root):
    (root / "file").write_bytes(CONTENT)
    with Dialogue(server) as dialogue:
        yield dialogue


@pytest.fixture
def ftp6(ferryd, root):
    (root / "file").write_bytes(CONTENT)
    with Dialogue(ferryd(root, listen=("ftp://[::1]:0",)), host="::1") as dialogue:
        yield dialogue


# -- passive --


@pytest.mark.parametrize("verb", ["PASV", "EPSV"])
def test_passive_transfers_go_both_ways(ftp, root, verb):
    with ftp.data(verb) as data:
        ftp.ask("RETR file", 150)
        assert read_all(data) == CONTENT
    ftp.expect(226)
    with ftp.data(verb) as data:
        ftp.ask("STOR copy", 150)
        data.sendall(CONTENT)
    ftp.expect(226)
    assert (root / "copy").read_bytes() == CONTENT


def test_the_client_may_connect_after_the_command(ftp):
    port = ftp.passive_port()
    ftp.ask("RETR file", 150)
    with ftp.connect(port) as data:
        assert read_all(data) == CONTENT
    ftp.expect(226)


@pytest.mark.parametrize("verb", ["PASV", "EPSV"])
def test_a_passive_port_accepts_once(ftp, verb):
    port = ftp.passive_port(verb)
    with ftp.connect(port) as first, ftp.connect(port) as second:
        ftp.ask("RETR file", 150)
        assert read_all(first) == CONTENT
        assert received(second) == b""
    ftp.expect(226)
    wait_until("the port is closed", lambda: is_refused(ftp.host, port))
    ftp.ask("RETR file", 425)


def test_a_passive_port_serves_no_second_transfer(ftp):
    assert ftp.fetch("RETR file") == CONTENT
    ftp.ask("RETR file", 425)


def test_a_new_pasv_closes_the_old_port(ftp):
    old, new = ftp.passive_port(), ftp.passive_port("PASV")
    wait_until("the old port is closed", lambda: is_refused(ftp.host, old))
    with ftp.connect(new) as data:
        ftp.ask("RETR file", 150)
        assert read_all(data) == CONTENT
    ftp.expect(226)


@pytest.mark.parametrize("command", ["RETR file", "STOR file", "LIST"])
def test_a_third_address_gets_nothing_and_gives_nothing(ftp, root, command):
    port = ftp.passive_port()
    with ftp.connect(port, source="127.0.0.2") as thief:
        with contextlib.suppress(OSError):
            thief.sendall(b"not yours")
        ftp.ask(command, 150)
        ftp.expect(425)
        assert received(thief) == b""
    assert (root / "file").read_bytes() == CONTENT
    assert ftp.fetch("RETR file") == CONTENT


def test_passive_ports_cannot_be_guessed(ftp):
    ports = [ftp.passive_port(verb) for verb in ("PASV", "EPSV") * 10]
    steps = [after - before for before, after in zip(ports, ports[1:])]
    assert len(set(ports)) > 10 and len(set(steps)) > 10
    assert any(step > 0 for step in steps) and any(step < 0 for step in steps)
    assert sum(abs(step) <= 2 for step in steps) < 10


def test_passive_ports_keep_to_their_range_and_the_address_that_is_told(ferryd, root):
    (root / "file").write_bytes(CONTENT)
    server = ferryd(root, listen=(), config='listen "ftp" { address = {"127.0.0.1:0"} '
                    'passive_ports = "47000-47199" }')
    with Dialogue(server) as ftp:
        ports = [ftp.passive_port(verb) for verb in ("PASV", "EPSV") * 10]
        assert all(47000 <= port <= 47199 for port in ports)
        assert len(set(ports)) > 10 and ports != sorted(ports)
        assert ftp.fetch("RETR file") == CONTENT


def test_pasv_tells_the_address_that_was_set(ferryd, root):
    server = ferryd(root, listen=(), config='listen "ftp" { address = {"127.0.0.1:0"} masquerade = "203.0.113.7" }')
    with Dialogue(server) as ftp:
        assert "(203,0,113,7," in ftp.ask("PASV", 227).text


def test_sessions_do_not_take_each_others_data(server, ftp, root):
    (root / "other").write_bytes(b"other" * 1000)
    with Dialogue(server) as second:
        with ftp.data() as mine, second.data() as others:
            second.ask("RETR other", 150)
            ftp.ask("RETR file", 150)
            assert (read_all(mine), read_all(others)) == (CONTENT, b"other" * 1000)


# -- active --


@pytest.mark.parametrize("verb", ["PORT", "EPRT"])
def test_active_transfers_go_both_ways(ftp, root, verb):
    for command in ("RETR file", "STOR copy"):
        with ftp.listener(verb) as listener:
            ftp.ask(command, 150)
            data, peer = listener.accept()
            assert peer[0] == ftp.host
            with data:
                if command == "RETR file":
                    assert read_all(data) == CONTENT
                else:
                    data.sendall(CONTENT)
        ftp.expect(226)
    assert (root / "copy").read_bytes() == CONTENT
    ftp.ask("RETR file", 425)


def test_where_nobody_listens_the_answer_is_425(ftp):
    ftp.listener().close()
    ftp.ask("RETR file", 150)
    ftp.expect(425)
    assert ftp.fetch("RETR file") == CONTENT


@pytest.mark.parametrize("command", ["PORT 127,0,0,2,%d,%d", "EPRT |1|127.0.0.2|%d|", "PORT 127,0,0,1,0,22",
                                     "PORT 127,0,0,1,3,255", "EPRT |1|127.0.0.1|25|", "PORT 127,0,0,1,0,0",
                                     "PORT 10,0,0,1,200,200", "EPRT |1|10.0.0.1|50000|"])
def test_bounces_are_refused(ftp, command):
    with socket.create_server(("127.0.0.2", 0)) as victim:
        port = victim.getsockname()[1]
        if "%d,%d" in command:
            command %= (port >> 8, port & 255)
        elif "%d" in command:
            command %= port
        ftp.ask(command, 500, 501, 504)
        ftp.ask("RETR file", 425)
        victim.setblocking(False)
        with pytest.raises(BlockingIOError):
            victim.accept()
    assert ftp.fetch("RETR file") == CONTENT


# -- IPv6 --


def test_ipv6_transfers_work_passive_and_active(ftp6, root):
    assert ftp6.fetch("RETR file") == CONTENT
    with ftp6.listener("EPRT") as listener:
        ftp6.ask("RETR file", 150)
        data, _ = listener.accept()
        with data:
            assert read_all(data) == CONTENT
    ftp6.expect(226)


def test_pasv_and_port_have_no_words_for_ipv6(ftp6):
    ftp6.ask("PASV", 425, 500, 501, 502, 503, 522)
    ftp6.ask("PORT 127,0,0,1,200,200", 500, 501, 504, 522)
    assert "(2)" in ftp6.ask("EPRT |1|127.0.0.1|50000|", 522).text
    assert "(2)" in ftp6.ask("EPSV 1", 522).text
    ftp6.ask("EPSV 2", 229)
    ftp6.ask("EPRT |2|::2|50000|", 504)


def test_any_address_is_the_clients_own(ftp6, ftp):
    """lftp 4.9 says EPRT |2|::|port|. The connection is made to the control connection's peer all the same."""
    for dialogue, address in ((ftp6, "|2|::|"), (ftp, "|1|0.0.0.0|")):
        with socket.create_server((dialogue.host, 0), family=socket.AF_INET6 if ":" in dialogue.host
                                  else socket.AF_INET) as listener:
            dialogue.ask("EPRT %s%d|" % (address, listener.getsockname()[1]), 200)
            dialogue.ask("RETR file", 150)
            data, _ = listener.accept()
            with data:
                assert read_all(data) == CONTENT
            dialogue.expect(226)


def test_eprt_and_epsv_name_the_family_they_want(ftp):
    assert "(1)" in ftp.ask("EPRT |2|::1|50000|", 522).text
    assert "(1)" in ftp.ask("EPSV 2", 522).text
    ftp.ask("EPSV 1", 229)


def test_after_epsv_all_nothing_else_is_taken(ftp):
    ftp.ask("EPSV ALL", 200)
    for command in ("PASV", "PORT 127,0,0,1,200,200", "EPRT |1|127.0.0.1|50000|"):
        ftp.ask(command, 503)
    assert ftp.fetch("RETR file") == CONTENT


def test_both_families_are_served_at_once(ferryd, root):
    (root / "file").write_bytes(CONTENT)
    server = ferryd(root, listen=("ftp://127.0.0.1:0", "ftp://[::1]:0"))
    for host, port in zip(("127.0.0.1", "::1"), server.ports):
        with Dialogue(server, host=host, port=port) as ftp:
            assert ftp.fetch("RETR file") == CONTENT
