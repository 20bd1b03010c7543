"""Ssh clients that break the protocol: they are sent away, and others do not notice."""

import contextlib
import os

import pytest

import ssh_raw as raw
from conftest import USER
from ssh_raw import Raw, message, nobody_is_left


@pytest.fixture
def server(shared_ssh_server):
    return shared_ssh_server


# -- messages at the wrong time --

NONE_REQUEST = message(raw.AUTH_REQUEST, USER, "ssh-connection", "none")
AT_ANY_TIME = {raw.DISCONNECT, raw.IGNORE, raw.UNIMPLEMENTED, raw.DEBUG}
NUMBERS = sorted(set(range(1, 101)) | {128, 192, 193, 255})
TAKEN = {"ident": {raw.KEXINIT}, "kexinit": {raw.KEX_INIT}, "kex": {raw.SERVICE_REQUEST, raw.EXT_INFO},
         "service": {raw.AUTH_REQUEST}}


@pytest.mark.parametrize("step", ["ident", "kexinit", "kex", "service"])
def test_before_the_login_nothing_passes_that_has_no_place_there(step, server):
    """Each number alone, in a connection of its own: the end, or UNIMPLEMENTED for what nobody knows."""
    taken = TAKEN[step] | ({raw.DISCONNECT} if step == "kexinit" else AT_ANY_TIME)
    for number in NUMBERS:
        if number in taken:
            continue
        with Raw(server, stop=step) as client:
            if step == "kexinit":
                client.expect(raw.KEXINIT)
            client.send(bytes([number]) + bytes(60))
            answers = []
            with contextlib.suppress(EOFError, ConnectionError):
                if step in ("kex", "service"):  # is it still there?
                    client.send(message(raw.SERVICE_REQUEST, "ssh-userauth") if step == "kex" else NONE_REQUEST)
                while True:
                    answers.append(client.receive()[0])
                    if answers[-1] in (raw.SERVICE_ACCEPT, raw.AUTH_FAILURE, raw.AUTH_SUCCESS):
                        break
            harmless = {raw.EXT_INFO, raw.AUTH_BANNER, raw.KEXINIT, raw.DISCONNECT}
            if raw.UNIMPLEMENTED in answers:
                harmless |= {raw.UNIMPLEMENTED, raw.SERVICE_ACCEPT, raw.AUTH_FAILURE}
                assert number not in (raw.OPEN, raw.REQUEST, raw.DATA, raw.GLOBAL_REQUEST, raw.AUTH_REQUEST, raw.NEWKEYS)
            assert set(answers) <= harmless, "message %d at %s: %s" % (number, step, answers)
    nobody_is_left(server)


def test_a_session_that_runs_says_of_strange_numbers_that_it_does_not_know_them(server):
    with Raw(server) as client:
        for number in (102, 127, 191, 194, 255):
            sequence = client.sent
            client.send(bytes([number]) + b"whatever")
            assert client.expect(raw.UNIMPLEMENTED)[1:5] == raw.u32(sequence)
        client.send(client.password_request(user="other"))  # too late, and without effect
        assert client.can_work()


@pytest.mark.parametrize("payload", [
    message(raw.AUTH_SUCCESS), message(raw.NEWKEYS), message(raw.KEX_INIT, bytes(32)), message(raw.SERVICE_REQUEST, "ssh-userauth"),
    message(raw.OPEN_CONFIRMATION, 0, 0, 1000, 1000), message(raw.SUCCESS, 0), message(raw.DATA, 5, "for no channel"),
    message(raw.REQUEST, 5, "exec", True, "x"), message(raw.CLOSE, 0), message(raw.ADJUST, 0xffffffff, 1),
    message(raw.OPEN, "session", 0), message(raw.OPEN), message(raw.OPEN, (b"\xff\xff\xff\xffsession",)), message(raw.REQUEST_SUCCESS),
    message(raw.GLOBAL_REQUEST), message(raw.KEXINIT), message(raw.KEXINIT, (bytes(16),), "curve25519-sha256"),
], ids=lambda payload: "%d-%d" % (payload[0], len(payload)))
def test_a_session_that_runs_ends_at_what_has_no_place_in_it(payload, server):
    with Raw(server) as client:
        client.send(payload)
        assert client.is_ended()
    nobody_is_left(server)


@pytest.mark.parametrize("number", [raw.IGNORE, raw.DEBUG, raw.UNIMPLEMENTED])
@pytest.mark.parametrize("is_first", [True, False], ids=["before-KEXINIT", "after-KEXINIT"])
def test_a_strict_exchange_takes_no_packet_that_could_have_been_put_into_it(number, is_first, server):
    filler = message(number, "filler") if number != raw.UNIMPLEMENTED else message(number, 0)
    with Raw(server, stop="ident" if is_first else "kexinit") as client:
        client.send(filler)
        if is_first:
            client.send_kexinit()
        else:
            client.send(message(raw.KEX_INIT, os.urandom(32)))
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                assert client.receive()[0] in (raw.KEXINIT, raw.DISCONNECT)
    nobody_is_left(server)


def test_who_knows_no_strict_exchange_may_fill_it(server):
    with Raw(server, stop="ident", strict=False) as client:
        client.send(message(raw.IGNORE, "filler"), message(raw.DEBUG, True, "text", ""))
        client.send_kexinit()
        client.send(message(raw.IGNORE, "filler"))
        client.finish_kex()
        client.ask_service()
        client.login()
        assert client.can_work()


# -- what does not fit --


@pytest.mark.parametrize("ident", [b"GET / HTTP/1.1\r\n", b"SSH-1.5-old\r\n", b"SSH-2.0-" + b"x" * 300 + b"\r\n", b"x" * 300, b"\0" * 300,
                                   b"SSH-2.0-a\0b\r\n", b"SSH-2.0\r\n", b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\xfc\x03\x03\n"],
                         ids=lambda ident: ident[:12].decode("latin-1").encode("unicode_escape").decode())
def test_what_is_no_ident_ends_at_once(ident, server):
    with Raw(server, stop="connect") as client:
        client.socket.sendall(ident)
        received = b""
        with contextlib.suppress(ConnectionError):
            while part := client.socket.recv(4096):
                received += part
        assert received.count(b"\n") == 1 or b"Protocol" in received or b"ssh" in received  # its own ident, and last words
    nobody_is_left(server)


@pytest.mark.parametrize("length", [0, 1, 4, 11, 35001, (1 << 18) + 8, 0x7fffffff, 0xffffffff])
@pytest.mark.parametrize("step", ["ident", "login"])
def test_a_packet_of_an_impossible_length_ends_the_connection(step, length, server):
    if step == "login" and length == 35001:
        length = 300_000  # more is taken after the login
    with Raw(server, stop=step) as client:
        head = raw.u32(length)
        if client.sealing:
            head = client.sealing.stream(client.sealing.head, client.sent, 0, head)
        client.socket.sendall(head + bytes(64))
        assert client.is_ended()
    nobody_is_left(server)


@pytest.mark.parametrize("where", range(0, 36, 5))
def test_a_flipped_bit_ends_the_connection(where, server):
    with Raw(server) as client:
        packet = bytearray(client.packet(message(raw.GLOBAL_REQUEST, "x", True)))
        packet[min(where, len(packet) - 1)] ^= 1
        client.socket.sendall(packet + bytes(1 << 19))  # whatever the length was made
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                assert client.receive()[0] == raw.DISCONNECT
    nobody_is_left(server)


def test_padding_that_is_longer_than_the_packet_ends_the_connection(server):
    with Raw(server, stop="ident") as client:
        client.socket.sendall(raw.u32(12) + bytes([200]) + bytes(11))
        assert client.is_ended()


@pytest.mark.parametrize("lists", [{"kex": ",".join(["curve25519-sha256"] + ["x" * 60] * 400)},
                                   {"kex": "y" * 30000}, {"cipher": "none"}, {"kex": ""}, {"mac": "none", "cipher": "aes128-ctr"},
                                   {"host_key": "ssh-dss"}, {"compression": "zlib"}, {"cipher": raw.CIPHER + "\0"}],
                         ids=lambda lists: "%s-%d" % (list(lists)[0], len(list(lists.values())[0])))
def test_lists_of_algorithms_that_are_too_long_or_have_nothing_of_ours_end_the_connection(lists, server):
    with Raw(server, stop="ident", kexinit_lists=lists) as client:
        client.send_kexinit()
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                assert client.receive()[0] in (raw.KEXINIT, raw.DISCONNECT)
    nobody_is_left(server)


@pytest.mark.parametrize("public", [b"", bytes(31), bytes(33), bytes(32), b"\1" + bytes(31), b"x" * 30000,
                                    bytes.fromhex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")],
                         ids=lambda public: "%d-%s" % (len(public), public[:2].hex()))
def test_a_public_value_that_is_none_ends_the_connection(public, server):
    with Raw(server, stop="kexinit") as client:
        client.expect(raw.KEXINIT)
        client.send(message(raw.KEX_INIT, public))
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                assert client.receive()[0] == raw.DISCONNECT
    nobody_is_left(server)


