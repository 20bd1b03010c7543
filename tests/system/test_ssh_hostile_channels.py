"""Ssh clients that have logged in and mean harm, or are broken: they cost little, and the others nothing."""

import contextlib
import os
import signal
import socket
import subprocess
import time

import pytest

import ssh_clients
import ssh_raw as raw
from conftest import USER, private_dirty_kb, wait_until
from dialogue import cut
from ssh_raw import LARGE, OPEN_HOUSE, Raw, assert_grew_less, message, nobody_is_left, sessions


@pytest.fixture
def server(shared_ssh_server):
    return shared_ssh_server


# -- channels --


def test_ten_thousand_channels_are_refused_and_cost_nothing(server):
    before_kb = private_dirty_kb(server.pid)
    with Raw(server) as other, Raw(server) as client:
        with contextlib.suppress(ConnectionError):
            for number in range(100):
                client.send(*(client.open_message(own=number * 100 + i) for i in range(100)))
        confirmed = 0
        with contextlib.suppress(EOFError, ConnectionError):
            for _ in range(10_000):
                confirmed += client.receive()[0] == raw.OPEN_CONFIRMATION
        assert confirmed == 10
        assert_grew_less(server, before_kb, 4096)
        assert other.can_work()


@pytest.mark.parametrize("what", ["requests", "global", "pings", "opens"])
def test_questions_whose_answers_nobody_reads_cost_no_more_than_so_much(what, server):
    before_kb = private_dirty_kb(server.pid)
    with Raw(server) as other, Raw(server, receive_buffer=4096) as client:
        channel = client.open()
        flood = {"requests": lambda: message(raw.REQUEST, channel, "env", True, "A", "b"),
                 "global": lambda: message(raw.GLOBAL_REQUEST, "keepalive@openssh.com", True),
                 "pings": lambda: message(192, "x" * 200),
                 "opens": lambda: message(raw.OPEN, "x11", 9, 1, 1000)}[what]
        client.socket.settimeout(1)
        with contextlib.suppress(ConnectionError, TimeoutError):
            for _ in range(100):
                client.socket.sendall(b"".join(client.packet(flood()) for _ in range(100)))
        assert_grew_less(server, before_kb, 8192)
        assert other.can_work()
    nobody_is_left(server)


def test_data_beyond_the_window_ends_the_connection(server):
    with Raw(server) as client:
        channel = client.open()
        client.send(message(raw.EOF, channel))  # what comes now is dropped, but counts
        with contextlib.suppress(ConnectionError):
            for _ in range(100):
                client.send(message(raw.DATA, channel, bytes(32_000)))
        assert client.is_ended()
    nobody_is_left(server)


def test_data_that_nobody_takes_is_held_up_to_a_cap_and_ends_the_connection(ssh_ferryd, root):
    server = ssh_ferryd(root, config=OPEN_HOUSE + "timeouts { stall_s = 2 }")
    with Raw(server) as client:
        channel = client.open()
        before_kb = private_dirty_kb(server.pid)
        client.socket.settimeout(1)
        with contextlib.suppress(ConnectionError, TimeoutError):
            for _ in range(600):  # more than the kernel takes
                client.send(message(raw.DATA, channel, bytes(32_000)))
        assert_grew_less(server, before_kb, 4096)
        nobody_is_left(server)


def test_a_window_that_overflows_ends_the_connection(server):
    with Raw(server) as client:
        channel = client.open(window=0xffffffff)
        client.send(message(raw.ADJUST, channel, 1))
        assert client.is_ended()
    nobody_is_left(server)


@pytest.mark.parametrize("packet", [0, 1, 63])
def test_a_channel_of_tiny_packets_is_refused(packet, server):
    with Raw(server) as client:
        client.send(client.open_message(packet=packet))
        assert client.next()[0] in (raw.OPEN_FAILURE, raw.DISCONNECT)
    nobody_is_left(server)


def test_a_download_into_no_window_waits_and_ends_with_its_channel(server):
    with Raw(server) as client:
        channel = client.exec("cat large", window=0)
        client.send(message(raw.GLOBAL_REQUEST, "keepalive@openssh.com", True))
        assert client.next()[0] == raw.REQUEST_FAILURE  # and no byte of data before it
        client.send(message(raw.CLOSE, channel))
        client.expect(raw.CLOSE)
        assert client.can_work()


def test_windows_of_one_byte_get_one_byte_each(server):
    with Raw(server) as client:
        channel = client.exec("cat large", window=1)
        for _ in range(50):
            assert len(client.expect(raw.DATA)) == 10
            client.send(message(raw.ADJUST, channel, 1))
        client.send(message(raw.CLOSE, channel))
        while client.next()[0] != raw.CLOSE:
            pass
        assert client.can_work()


def test_what_comes_behind_the_end_of_a_channel_is_dropped(server):
    with Raw(server) as client:
        channel = client.open()
        client.send(message(raw.EOF, channel), message(raw.DATA, channel, "late"), message(raw.EOF, channel),
                    client.exec_message(channel, "cat small"))
        client.expect(raw.SUCCESS)
        while client.next()[0] != raw.CLOSE:
            pass
        client.send(message(raw.CLOSE, channel))
        assert client.can_work()


def test_one_channel_runs_one_command(server):
    with Raw(server) as client:
        channel = client.exec("cat large", window=10)
        for payload in (client.exec_message(channel, "cat small"), message(raw.REQUEST, channel, "shell", True),
                        message(raw.REQUEST, channel, "subsystem", True, "sftp")):
            client.send(payload)
            while (answer := client.next()[0]) == raw.DATA:
                pass
            assert answer == raw.FAILURE


def test_new_keys_may_be_asked_for_all_the_time_in_mid_download(server):
    with Raw(server) as client:
        client.exec("cat large", window=100_000)
        for _ in range(20):
            client.send_kexinit()
            while (payload := client.next())[0] == raw.DATA:
                pass
            assert payload[0] == raw.KEXINIT
            client.finish_kex(payload)
        assert client.can_work()


def test_a_second_kexinit_within_an_exchange_ends_the_connection(server):
    with Raw(server) as client:
        client.send(client.kexinit(), client.kexinit())
        assert client.is_ended()


def test_an_exchange_that_the_client_does_not_finish_seals_nothing_else(server):
    """From KEXINIT to NEWKEYS no data comes, and its memory is bounded."""
    with Raw(server) as client:
        client.exec("cat large", window=0xffffffff)
        client.send_kexinit()
        while client.next()[0] == raw.DATA:
            pass
        client.socket.settimeout(1)
        with pytest.raises(TimeoutError):
            client.receive()


# -- readers that stop, and clients that go --


def test_a_reader_who_stops_costs_no_more_than_so_much_and_is_ended(ssh_ferryd, root):
    with open(root / "large", "wb") as file:
        file.truncate(LARGE)
    (root / "small").write_bytes(b"small")
    server = ssh_ferryd(root, config=OPEN_HOUSE + "timeouts { stall_s = 2 }")
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(Raw(server))
        before_kb = private_dirty_kb(server.pid)
        for _ in range(8):
            stack.enter_context(Raw(server, receive_buffer=4096)).exec("cat large", window=0xffffffff)
        assert other.can_work()
        time.sleep(0.5)  # they are as full as they get
        assert_grew_less(server, before_kb, 8 * 3072)
        wait_until("the end of those who stopped", lambda: sessions(server) == 1)


def test_a_client_that_is_killed_in_mid_transfer_leaves_no_session(server, ssh_keys, tmp_path):
    client = ssh_clients.OpenSsh(server, tmp_path, ssh_keys)
    words = [str(word) for word in client.command()] + ["cat large"]
    processes = [subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) for _ in range(4)]
    for process in processes:
        assert process.stdout.read(100_000)
        assert USER in server.ferry("who").stdout
    for process in processes:
        process.send_signal(signal.SIGKILL)
        process.stdout.close()
        process.wait()
    nobody_is_left(server)
    assert USER not in server.ferry("who").stdout


@pytest.mark.parametrize("step", ["connect", "ident", "kexinit", "kex", "service", "login"])
@pytest.mark.parametrize("end", ["close", "reset", "half-close"])
def test_who_goes_at_any_step_leaves_nothing(step, end, server):
    with Raw(server):  # what stays open once and for all
        pass
    nobody_is_left(server)
    before = len(os.listdir("/proc/%d/fd" % server.pid))
    for _ in range(5):
        client = Raw(server, stop=step)
        if step == "kexinit":
            client.send(message(raw.KEX_INIT, os.urandom(32)))  # the answer is being computed
        if end == "close":
            client.close()
        elif end == "reset":
            cut(client.socket)
        else:
            client.socket.shutdown(socket.SHUT_WR)
            assert client.is_ended()
            client.close()
    nobody_is_left(server)
    wait_until("their descriptors", lambda: len(os.listdir("/proc/%d/fd" % server.pid)) <= before)
