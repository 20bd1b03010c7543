"""Ssh sessions as the administrator sees them: who, kick, the end of the server, and what idle ones cost."""

import contextlib
import json
import signal

import pytest

import ssh_raw as raw
from conftest import IS_SANITIZED, USER, private_dirty_kb, wait_until
from ssh_raw import Raw, message

OPEN_HOUSE = "limits { per_address = 0  per_account = 0  unauthenticated = 0 }\n"
LARGE = 1 << 30
SLOPE_BYTES = 8192  # of an idle session with an open channel


@pytest.fixture
def large(root):
    (root / "small").write_bytes(b"small")
    with open(root / "large", "wb") as file:
        file.truncate(LARGE)


def who(server):
    return [json.loads(line) for line in server.ferry("who", "--json").stdout.splitlines()]


def test_who_shows_protocol_user_and_what_a_session_does(ssh_server, large):
    with Raw(ssh_server) as busy, Raw(ssh_server) as idle, Raw(ssh_server, stop="kex") as new:
        busy.exec("cat large", window=100_000)
        busy.expect(raw.DATA)
        idle.open()
        sessions = wait_until("all three", lambda: len(found := who(ssh_server)) == 3 and found)
        assert {session["protocol"] for session in sessions} == {"ssh"}
        assert sorted(session.get("user", "") for session in sessions) == ["", USER, USER]
        assert "cat" in {session["doing"] for session in sessions}
        table = ssh_server.ferry("who").stdout
        assert "ssh" in table and USER in table
        assert new.socket.fileno() >= 0


@pytest.mark.parametrize("state", ["dozing", "downloading", "stopped", "rekeying", "login"])
def test_kick_ends_a_session_whatever_it_does(state, ssh_server, large):
    with Raw(ssh_server, stop="service" if state == "login" else "login", receive_buffer=4096) as client:
        if state == "downloading":
            client.exec("cat large", window=0)
        elif state == "stopped":
            client.exec("cat large", window=0xffffffff)
        elif state == "rekeying":
            client.send_kexinit()
        elif state == "dozing":
            client.open()
            ssh_server.wait_for_doze()
        done = ssh_server.ferry("kick", str(who(ssh_server)[0]["id"]))
        assert done.returncode == 0, done
        wait_until("its end", lambda: not who(ssh_server))
        words = client.words_at_the_end() if state != "stopped" else None
        assert words in (None, "The administrator ended this session.")


def test_the_end_of_the_server_waits_for_a_download_and_not_for_who_is_idle(ssh_server, large, root):
    (root / "part").write_bytes(bytes(3_000_000))
    with Raw(ssh_server) as busy, Raw(ssh_server) as idle, Raw(ssh_server, stop="kex"):
        busy.exec("cat part", window=100_000)
        idle.open()
        ssh_server.wait_for_doze()
        ssh_server.process.send_signal(signal.SIGTERM)
        assert idle.words_at_the_end() in (None, "The server is stopping.")
        received = 0
        while (payload := busy.next())[0] != raw.CLOSE:
            if payload[0] == raw.DATA:
                received += len(payload) - 9
                busy.send(message(raw.ADJUST, 0, len(payload) - 9))
        assert received == 3_000_000
        assert busy.words_at_the_end() in (None, "The server is stopping.")
    ssh_server.stop()


def test_an_idle_session_is_ended_in_time_and_told_why(ssh_ferryd, root):
    server = ssh_ferryd(root, config="timeouts { idle_s = 1 }")
    with Raw(server) as client:
        client.open()
        assert client.words_at_the_end() in (None, "Nothing was heard from you for too long.")


def test_a_session_that_dozes_wakes_for_whatever_comes(ssh_server, large):
    with Raw(ssh_server) as client:
        client.open()
        for action in (lambda: client.can_work(), client.rekey, lambda: client.can_work(),
                       lambda: client.send(message(raw.IGNORE, "x")), lambda: client.can_work()):
            ssh_server.wait_for_doze()
            action()


@pytest.mark.skipif(IS_SANITIZED, reason="a sanitizer's memory says nothing of ours")
def test_idle_sessions_with_an_open_channel_cost_little_and_give_it_back(ssh_ferryd, root, large, record_property):
    server = ssh_ferryd(root, config=OPEN_HOUSE)

    def crowd(count):
        """Memory in kB with 50 sessions, and with so many more, and when all have gone."""
        levels = []
        with contextlib.ExitStack() as stack:
            for more, total in (50, 50), (count, 50 + count):
                for _ in range(more):
                    stack.enter_context(Raw(server)).open()
                server.wait_for_doze(total)
                levels.append(private_dirty_kb(server.pid))
        wait_until("nobody", lambda: not who(server))
        return (*levels, private_dirty_kb(server.pid))

    few_kb, many_kb, _ = crowd(200)
    slope = (many_kb - few_kb) * 1024 / 200
    print("bytes per idle session with an open channel: %d" % slope)
    record_property("bytes_per_session", slope)
    assert slope < SLOPE_BYTES
    levels = [crowd(50)[-1] for _ in range(3)]
    assert levels[-1] < levels[0] + 128, levels
