"""A running server: who is there, kick, and how it stops."""

import ftplib
import json
import os
import re
import signal
import socket
import stat
import subprocess

import pytest

from conftest import BIN, wait_until


def complaint(done):
    """What ferry said to standard error; AddressSanitizer has a word of its own about tasks."""
    return re.sub(r"==\d+==WARNING: ASan doesn't fully support .*\n", "", done.stderr)


def who(server):
    done = server.ferry("who", "--json")
    assert (done.returncode, complaint(done)) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_who_lists_every_session_of_every_worker(ferryd, root):
    server = ferryd(root, "--workers", "3", config="limits { per_address = 0 per_account = 0 }")
    clients = [server.client() for _ in range(40)]
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
    wait_until("45 sessions", lambda: len(who(server)) == 45)
    sessions = who(server)
    assert len({s["id"] for s in sessions}) == 45
    assert sum(s["user"] == server.user for s in sessions) == 40
    assert all(s["protocol"] == "ftp" and s["peer"].startswith("127.0.0.1:") for s in sessions)
    for c in clients + silent:
        c.close()
    wait_until("no session", lambda: who(server) == [])


def test_who_is_a_table_for_people(server):
    client = server.client()
    done = server.ferry("who")
    assert done.returncode == 0
    head, line = done.stdout.splitlines()
    assert head.split() == ["ID", "PROTO", "PEER", "USER", "DOING", "AGE", "IDLE", "BYTES"]
    assert line.split()[1] == "ftp" and line.split()[3] == server.user
    assert len(head) == len(line) == 80
    client.close()


def test_a_long_name_in_utf8_does_not_end_the_list(ferryd, root):
    server = ferryd(root, users=[("\u00e9" * 40, "secret")])
    client = server.client()
    assert [s["user"] for s in who(server)] == ["\u00e9" * 31 + "?"]
    client.close()


def test_kick_ends_one_session_and_tells_its_client(server):
    first, second = server.client(), server.client()
    victim = who(server)[0]["id"]
    assert server.ferry("kick", str(victim)).returncode == 0
    wait_until("one session", lambda: [s["id"] for s in who(server)] != [] and victim not in [s["id"] for s in who(server)])
    ends = []
    for client in (first, second):
        try:
            client.voidcmd("NOOP")
            ends.append("lives")
        except (ftplib.error_temp, EOFError, OSError) as e:
            ends.append(str(e)[:3])
    assert sorted(ends) == ["421", "lives"]


def test_kick_of_nobody_says_so(server):
    done = server.ferry("kick", "424242")
    assert done.returncode == 1
    assert complaint(done) == "ferry: there is no such session\n"


def test_without_a_server_ferry_says_so(tmp_path):
    done = subprocess.run([str(BIN / "ferry"), "who", "--state", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 3
    assert complaint(done) == "ferry: no ferryd is running with state directory %s (see --state)\n" % tmp_path


def test_the_state_directory_is_the_owner_s_alone(server):
    assert stat.S_IMODE(os.stat(server.state).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(server.state / "control.sock").st_mode) == 0o600


# -- stopping --

def test_sigterm_says_goodbye_to_idle_sessions(server):
    client = server.client()
    server.stop()
    with pytest.raises((ftplib.error_temp, EOFError)) as raised:
        client.voidresp()
    assert str(raised.value).startswith("421")
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", server.port), timeout=10)


def test_sigterm_lets_a_transfer_finish(server):
    client = server.client()
    data = client.transfercmd("STOR file")
    data.sendall(b"half of it ")
    wait_until("the transfer", lambda: any(s["bytes"] > 0 for s in who(server)))
    server.process.send_signal(signal.SIGTERM)
    wait_until("the drain", lambda: server.records("stopping"))
    data.sendall(b"and the rest")
    data.close()
    assert client.voidresp().startswith("226")
    server.stop()
    assert (server.root / "file").read_bytes() == b"half of it and the rest"


@pytest.mark.parametrize("first, second", [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, None)])
def test_a_second_sigterm_or_a_sigint_cuts_transfers_off(server, first, second):
    (server.root / "file").write_bytes(b"the old one")
    client = server.client()
    data = client.transfercmd("STOR file")
    data.sendall(b"half of it")
    wait_until("the transfer", lambda: any(s["bytes"] > 0 for s in who(server)))
    server.process.send_signal(first)
    if second is not None:
        wait_until("the drain", lambda: server.records("stopping"))
        server.process.send_signal(second)
    assert server.process.wait(timeout=60) == 0
    server.stop()
    assert (server.root / "file").read_bytes() == b"the old one"
    data.close()
    client.close()


def test_a_hundred_sessions_in_mid_download_are_cut_off_cleanly(ferryd, root):
    (root / "big").write_bytes(bytes(64 * 1024 * 1024))
    server = ferryd(root)
    clients = [server.client() for _ in range(100)]
    streams = [c.transfercmd("RETR big") for c in clients]
    wait_until("downloads", lambda: sum(s["bytes"] > 0 for s in who(server)) == 100)
    server.process.send_signal(signal.SIGINT)
    server.stop()
    for s in streams + clients:
        s.close()
