"""Strange requests to log in, signatures that are not what they should be, and slowness before the login."""

import base64
import contextlib
import struct
import time

import pytest

import ssh_raw as raw
from conftest import PASSWORD, USER, private_dirty_kb, wait_until
from ssh_raw import OPEN_HOUSE, Raw, assert_grew_less, message, nobody_is_left, sessions


@pytest.fixture
def server(shared_ssh_server):
    return shared_ssh_server


# -- requests --


@pytest.mark.parametrize("request_of", [
    lambda c: c.password_request(password="x" * 511), lambda c: c.password_request(user="x" * 128),
    lambda c: c.password_request(user=USER + "\0"), lambda c: c.password_request(user=USER + "\0x"), lambda c: c.password_request(password=PASSWORD + "\0x"),
    lambda c: c.password_request(user=""), lambda c: c.password_request(password=""),
    lambda c: message(raw.AUTH_REQUEST, USER, "ssh-connection", "password", True, PASSWORD, PASSWORD),
    lambda c: message(raw.AUTH_REQUEST, USER, "ssh-other", "password", False, PASSWORD),
    lambda c: message(raw.AUTH_REQUEST, USER, "ssh-connection", "none"),
    lambda c: message(raw.AUTH_REQUEST, USER, "ssh-connection", "hostbased", "ssh-ed25519", "x", "y", "z", "s"),
    lambda c: message(raw.AUTH_REQUEST, USER, "ssh-connection", "keyboard-interactive", "", ""),
], ids=["long-password", "long-name", "name-with-nul", "name-behind-nul", "password-with-nul", "no-name", "no-password",
        "change", "service", "none", "hostbased", "interactive"])
def test_a_strange_request_to_log_in_fails_and_the_right_one_behind_it_does_not(request_of, server):
    with Raw(server, stop="service") as client:
        client.send(request_of(client))
        failure = raw.Reader(client.expect(raw.AUTH_FAILURE)[1:])
        assert failure.string() == b"publickey,password" and failure.raw(1) == b"\0"
        client.login()
        assert client.can_work()


@pytest.mark.parametrize("named", [{"user": "x" * 10_000}, {"password": "x" * 30_000}], ids=["name", "password"])
def test_a_name_or_a_password_beyond_all_measure_ends_the_connection(named, server):
    with Raw(server, stop="service") as client:
        client.send(client.password_request(**named))
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                assert client.receive()[0] == raw.DISCONNECT
    nobody_is_left(server)


def test_questions_without_end_are_answered_so_many_times(server):
    with Raw(server, stop="service") as client:
        for _ in range(1000):
            with contextlib.suppress(ConnectionError):
                client.send(message(raw.AUTH_REQUEST, USER, "ssh-connection", "none"))
        answers = []
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                answers.append(client.receive()[0])
        assert answers.count(raw.AUTH_FAILURE) <= 64 and raw.AUTH_SUCCESS not in answers


# -- signatures --


@pytest.fixture
def own_key(ssh_ferryd, root):
    """A key and a server that knows it alone: (server, key, blob)."""
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    key = ed25519.Ed25519PrivateKey.generate()
    public = key.public_key()
    (root / "small").write_bytes(b"small")
    server = ssh_ferryd(root, config=OPEN_HOUSE,
                        authorized=public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode() + "\n")
    return server, key, raw.string("ssh-ed25519") + raw.string(public.public_bytes(Encoding.Raw, PublicFormat.Raw))


def key_request(client, key, blob, *, session_id=None, user=USER, algorithm="ssh-ed25519", signed_user=None, method="publickey",
                name="ssh-ed25519", change=lambda signature: signature):
    def unsigned(user):
        return message(raw.AUTH_REQUEST, user, "ssh-connection", method, True, algorithm, blob)
    signature = key.sign(raw.string(session_id or client.session_id) + unsigned(signed_user or user))
    return unsigned(user) + raw.string(raw.string(name) + raw.string(change(signature)))


def test_a_signature_lets_in_once_the_key_was_asked_for_or_not(own_key):
    server, key, blob = own_key
    with Raw(server, stop="service") as client:
        client.send(message(raw.AUTH_REQUEST, USER, "ssh-connection", "publickey", False, "ssh-ed25519", blob))
        assert client.expect(raw.PK_OK)[1:] == raw.string("ssh-ed25519") + raw.string(blob)
        client.send(key_request(client, key, blob))
        client.expect(raw.AUTH_SUCCESS)
        assert client.can_work()


def test_an_rsa_key_lets_in_with_sha2_alone(ssh_ferryd, root):
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
    public = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    line = public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    blob = base64.b64decode(line.split()[1])
    with Raw(ssh_ferryd(root, config=OPEN_HOUSE, authorized=line + "\n"), stop="service") as client:
        for algorithm, answer in (("rsa-sha2-512", raw.PK_OK), ("ssh-rsa", raw.AUTH_FAILURE), ("rsa-sha2-256", raw.PK_OK),
                                  ("ssh-ed25519", raw.AUTH_FAILURE)):
            client.send(message(raw.AUTH_REQUEST, USER, "ssh-connection", "publickey", False, algorithm, blob))
            client.expect(answer)


@pytest.mark.parametrize("how", [
    {"session_id": bytes(32)}, {"signed_user": "other"}, {"user": "other"}, {"algorithm": "rsa-sha2-256"}, {"algorithm": "ssh-rsa"},
    {"algorithm": "ssh-ed25519\0"}, {"name": "rsa-sha2-512"}, {"name": ""}, {"change": lambda s: b""}, {"change": lambda s: s[:-1]},
    {"change": lambda s: s + b"\0"}, {"change": lambda s: bytes(64)}, {"change": lambda s: s[:-1] + bytes([s[-1] ^ 1])},
], ids=lambda how: "%s-%s" % list(how.items())[0] if "change" not in how else "signature")
def test_a_signature_that_is_not_of_this_session_user_and_key_is_refused(how, own_key):
    server, key, blob = own_key
    with Raw(server, stop="service") as client:
        client.send(key_request(client, key, blob, **how))
        client.expect(raw.AUTH_FAILURE)
        client.send(key_request(client, key, blob))
        client.expect(raw.AUTH_SUCCESS)


def test_a_stranger_s_key_under_a_known_one_s_name_is_refused(own_key):
    server, key, blob = own_key
    other = type(key).generate()
    with Raw(server, stop="service") as client:
        client.send(key_request(client, other, blob))
        client.expect(raw.AUTH_FAILURE)


# -- slowness --


def test_half_open_handshakes_lock_nobody_out_for_long(ssh_ferryd, root):
    (root / "small").write_bytes(b"small")
    config = "limits { per_address = 0  unauthenticated = 100 }\ntimeouts { login_s = 3 }"
    server = ssh_ferryd(root, config=config)
    with contextlib.ExitStack() as stack:
        before = stack.enter_context(Raw(server))
        memory_kb = private_dirty_kb(server.pid)
        crowd = []
        for number in range(200):
            with contextlib.suppress(EOFError, ConnectionError):
                crowd.append(stack.enter_context(Raw(server, stop=("connect", "ident", "kexinit", "kex")[number % 4])))
        assert sessions(server) <= 101
        assert_grew_less(server, memory_kb, 100 * 100)
        assert before.can_work()
        wait_until("the end of those who did not log in", lambda: sessions(server) == 1)
        with Raw(server) as after:
            assert after.can_work()
        for client in crowd:
            assert client.is_ended()


@pytest.mark.parametrize("step", ["connect", "ident", "service"])
def test_a_byte_now_and_then_does_not_hold_the_login_open(step, ssh_ferryd, root):
    server = ssh_ferryd(root, config="timeouts { login_s = 2 }")
    with Raw(server, stop=step) as client:
        data = b"SSH-2.0-" + b"x" * 200 if step == "connect" else struct.pack(">I", 200) + b"\x04" + bytes(200)
        if client.sealing:
            data = client.packet(client.password_request(password="x" * 150))
        with contextlib.suppress(ConnectionError):
            for byte in data[:100]:
                client.socket.send(bytes([byte]))
                time.sleep(0.1)  # the pace is what is tested; the deadline ends it early
                if sessions(server) == 0:
                    break
        assert sessions(server) == 0
