"""What a client that may log in tries against the server's memory: channels against each other, credit against chunks."""

import struct

import pytest

import ssh_clients
import ssh_raw as raw
from conftest import IS_SANITIZED, private_dirty_kb, wait_until
from ssh_raw import Raw, message, string, u32

LARGE = 1 << 30
SFTP_INIT, SFTP_OPEN, SFTP_CLOSE, SFTP_READ, SFTP_OPENDIR, SFTP_HANDLE = 1, 3, 4, 5, 11, 102


@pytest.fixture
def server(ssh_ferryd, root):
    with open(root / "large", "wb") as file:
        file.truncate(LARGE)
    return ssh_ferryd(root)


def of_channel(client, own, number):
    """The next message of that number to that channel of ours."""
    while True:
        payload = client.next()
        if payload[0] == number and payload[1:5] == u32(own):
            return payload


def request(kind, *parts):
    body = bytes([kind]) + b"".join(parts)
    return u32(len(body)) + body


class Sftp:
    """One channel that speaks SFTP, as far as it is needed here."""

    def __init__(self, client, own, window):
        self.client, self.own = client, own
        client.send(client.open_message(own=own, window=window))
        self.channel = struct.unpack(">I", of_channel(client, own, raw.OPEN_CONFIRMATION)[5:9])[0]
        client.send(message(raw.REQUEST, self.channel, "subsystem", True, "sftp"))
        of_channel(client, own, raw.SUCCESS)
        self.send(request(SFTP_INIT, u32(3)))
        of_channel(client, own, raw.DATA)

    def send(self, data):
        self.client.send(message(raw.DATA, self.channel, data))

    def ask(self, kind, *parts):
        """The answer: its kind and what follows the id."""
        self.send(request(kind, u32(1), *parts))
        answer = of_channel(self.client, self.own, raw.DATA)[9:]
        return answer[4], answer[9:]

    def open(self, path):
        kind, handle = self.ask(SFTP_OPEN, string(path), u32(1), u32(0))
        assert kind == SFTP_HANDLE
        return handle

    def read(self, handle, count):
        self.send(request(SFTP_READ, u32(2), handle, struct.pack(">Q", 0), u32(count)))


def test_a_channel_that_outlives_another_shows_nothing_of_it(server):
    """Two downloads of one session wait for windows; the first goes, the second is done: who asks then is told."""
    with Raw(server) as client:
        first, second = Sftp(client, 0, window=1000), Sftp(client, 1, window=1000)
        for sftp in (first, second):
            sftp.read(sftp.open("large"), 100000)
            of_channel(client, sftp.own, raw.DATA)
        client.send(message(raw.CLOSE, first.channel))
        of_channel(client, 0, raw.CLOSE)
        client.send(message(raw.ADJUST, second.channel, LARGE))
        wait_until("nothing is done any more", lambda: [line["doing"] for line in server.ask("who")] == ["idle"])
        assert [line["bytes"] for line in server.ask("who")] == [0]


def test_little_data_keeps_no_large_memory_while_it_waits(server):
    """While a download waits for a window, data is read on: what comes between it must not be kept with it."""
    ignored = message(raw.IGNORE, bytes(30000))
    with Raw(server) as client:
        channel = client.exec("cat large", window=0)
        before_kb = private_dirty_kb(server.pid)
        for _ in range(300):
            client.send(message(raw.DATA, channel, bytes(1100)), *[ignored] * 8)
        client.send(message(raw.GLOBAL_REQUEST, "are you there", True))
        client.expect(raw.REQUEST_FAILURE)
        if not IS_SANITIZED:
            assert private_dirty_kb(server.pid) - before_kb < 16 * 1024


@pytest.mark.parametrize("kind, parts, limit", [(SFTP_OPENDIR, (), 32), (SFTP_OPEN, (u32(1), u32(0)), 256)])
def test_channels_of_one_session_share_its_handles(kind, parts, limit, server, root):
    path = string("/" if kind == SFTP_OPENDIR else "large")
    with Raw(server) as client:
        channels = [Sftp(client, own, window=LARGE) for own in range(10)]
        answers = [sftp.ask(kind, path, *parts) for sftp in channels for _ in range(limit // 8)]
        assert [answer[0] == SFTP_HANDLE for answer in answers] == [i < limit for i in range(len(answers))]
        channels[0].ask(SFTP_CLOSE, answers[0][1])
        client.send(message(raw.CLOSE, channels[1].channel))  # takes its own with it
        of_channel(client, 1, raw.CLOSE)
        for _ in range(1 + limit // 8):
            assert channels[9].ask(kind, path, *parts)[0] == SFTP_HANDLE
        assert channels[9].ask(kind, path, *parts)[0] != SFTP_HANDLE


def test_connections_that_were_open_before_the_ban_win_no_more_guesses(ssh_ferryd, root):
    server = ssh_ferryd(root, config="limits { ban_failures = 3 }")
    with Raw(server, stop="service") as first, Raw(server, stop="service") as second:
        for client in (first, second, first):
            client.send(client.password_request(password="a guess"))
            client.expect(raw.AUTH_FAILURE)
        second.send(second.password_request())
        assert "from your address" in second.words_at_the_end()


def test_the_first_line_of_a_key_counts(ssh_ferryd, ssh_keys, root, tmp_path):
    """As in OpenSSH: a second line of the same key, by oversight or not, does not lift its command."""
    (root / "file").write_bytes(b"content")
    (root / "secret").write_bytes(b"hidden")
    key = ssh_keys.public("ed25519")
    server = ssh_ferryd(root, authorized='from="10.0.0.1" %s\ncommand="cat file" %s\n%s\n' % (key, key, key))
    assert ssh_clients.OpenSsh(server, tmp_path, ssh_keys).exec("cat secret") == b"content"


def test_data_before_any_request_does_not_hold_a_session_open(ssh_ferryd, root):
    server = ssh_ferryd(root, config="timeouts { idle_s = 1 }")
    with Raw(server) as client:
        client.send(message(raw.DATA, client.open(), b"for nobody"))
        assert "for too long" in client.words_at_the_end()
