"""An ssh client at hand: packets go out as bytes, in any order, and come back one by one.

For what no real client does. One set of algorithms: curve25519, ed25519 host keys, chacha20-poly1305 with strict
key exchange. Every wait has a deadline.
"""

import contextlib
import hashlib
import os
import socket
import struct

import pytest

from conftest import IS_SANITIZED, PASSWORD, USER, private_dirty_kb, wait_until

SECONDS = 20
OPEN_HOUSE = "limits { per_address = 0  per_account = 0  unauthenticated = 0  ban_failures = 0 }\n"
LARGE = 1 << 30  # the size of the file "large" of the shared server
IDENT = b"SSH-2.0-raw"
STRICT = "kex-strict-c-v00@openssh.com"
CIPHER = "chacha20-poly1305@openssh.com"

(DISCONNECT, IGNORE, UNIMPLEMENTED, DEBUG, SERVICE_REQUEST, SERVICE_ACCEPT, EXT_INFO) = range(1, 8)
KEXINIT, NEWKEYS, KEX_INIT, KEX_REPLY = 20, 21, 30, 31
AUTH_REQUEST, AUTH_FAILURE, AUTH_SUCCESS, AUTH_BANNER, PK_OK = 50, 51, 52, 53, 60
GLOBAL_REQUEST, REQUEST_SUCCESS, REQUEST_FAILURE = 80, 81, 82
OPEN, OPEN_CONFIRMATION, OPEN_FAILURE, ADJUST, DATA, EXTENDED_DATA, EOF, CLOSE, REQUEST, SUCCESS, FAILURE = range(90, 101)


def u32(number):
    return struct.pack(">I", number)


def string(data):
    data = data.encode() if isinstance(data, str) else data
    return u32(len(data)) + data


def mpint(data):
    data = data.lstrip(b"\0")
    return string(b"\0" + data if data[:1] >= b"\x80" else data)


def message(number, *parts):
    """A payload: numbers are uint32, texts and bytes are strings, booleans are bytes, tuples hold raw bytes."""
    made = bytes([number])
    for part in parts:
        if isinstance(part, bool):
            made += bytes([part])
        elif isinstance(part, int):
            made += u32(part)
        elif isinstance(part, tuple):
            made += part[0]
        else:
            made += string(part)
    return made


class Reader:
    """Takes a payload apart."""

    def __init__(self, payload):
        self.rest = payload

    def raw(self, count):
        assert len(self.rest) >= count
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def u32(self):
        return struct.unpack(">I", self.raw(4))[0]

    def string(self):
        return self.raw(self.u32())


class Chacha:
    """One direction of chacha20-poly1305@openssh.com."""

    def __init__(self, key):
        self.main, self.head = key[:32], key[32:64]

    @staticmethod
    def stream(key, sequence, counter, data):
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
        nonce = struct.pack("<Q", counter) + struct.pack(">Q", sequence)
        return Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor().update(data)

    def tag(self, sequence, data):
        from cryptography.hazmat.primitives.poly1305 import Poly1305
        return Poly1305.generate_tag(self.stream(self.main, sequence, 0, bytes(32)), data)

    def seal(self, sequence, packet):
        sealed = self.stream(self.head, sequence, 0, packet[:4]) + self.stream(self.main, sequence, 1, packet[4:])
        return sealed + self.tag(sequence, sealed)

    def length(self, sequence, data):
        return struct.unpack(">I", self.stream(self.head, sequence, 0, data))[0]

    def open(self, sequence, data, tag):
        assert self.tag(sequence, data) == tag, "the server's tag is wrong"
        return self.stream(self.main, sequence, 1, data[4:])


class Raw(contextlib.AbstractContextManager):
    """Connected. stop: the last step that is taken: "connect", "ident", "kexinit", "kex", "service", "login"."""

    def __init__(self, server, stop="login", source=None, strict=True, ident=IDENT, receive_buffer=None, kexinit_lists=None):
        pytest.importorskip("cryptography")
        self.server = server
        self.socket = socket.socket()
        self.socket.settimeout(SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect(("127.0.0.1", server.port))
        self.unread, self.ident, self.strict = b"", ident, strict
        self.sealing = self.opening = self.session_id = None
        self.sent = self.received = 0  # sequence numbers
        self.lists = kexinit_lists
        steps = [("ident", self.exchange_idents), ("kexinit", self.send_kexinit), ("kex", self.finish_kex),
                 ("service", self.ask_service), ("login", self.login)]
        names = ["connect"] + [name for name, _ in steps]
        for name, step in steps[:names.index(stop)]:
            step()

    def __exit__(self, *exc):
        self.close()

    def close(self):
        self.socket.close()

    # -- packets --

    def read(self, count):
        while len(self.unread) < count:
            more = self.socket.recv(1 << 18)
            if not more:
                raise EOFError("the server closed the connection")
            self.unread += more
        data, self.unread = self.unread[:count], self.unread[count:]
        return data

    def packet(self, payload, block=8):
        """On the wire, as the next one."""
        head = 5 if self.sealing is None else 1
        padding = block - (len(payload) + head) % block
        padding += block if padding < 4 else 0
        packet = u32(1 + len(payload) + padding) + bytes([padding]) + payload + bytes(padding)
        if self.sealing is not None:
            packet = self.sealing.seal(self.sent, packet)
        self.sent = (self.sent + 1) & 0xffffffff
        return packet

    def send(self, *payloads):
        self.socket.sendall(b"".join(self.packet(payload) for payload in payloads))

    def receive(self):
        """The next payload, whatever it is."""
        if self.opening is None:
            length = struct.unpack(">I", self.read(4))[0]
            body = self.read(length)
        else:
            head = self.read(4)
            length = self.opening.length(self.received, head)
            assert length < 1 << 20
            data = self.read(length)
            body = self.opening.open(self.received, head + data, self.read(16))
        self.received = (self.received + 1) & 0xffffffff
        return body[1:len(body) - body[0]]

    def next(self):
        """The next payload but for those without effect."""
        while True:
            payload = self.receive()
            if payload[0] not in (IGNORE, DEBUG, EXT_INFO, AUTH_BANNER):
                return payload

    def expect(self, *numbers):
        payload = self.next()
        assert payload[0] in numbers, "expected %s: %r" % (numbers, payload[:200])
        return payload

    def words_at_the_end(self):
        """What the server says before it hangs up: the text of DISCONNECT, or None if it just does so."""
        text = None
        try:
            while True:
                payload = self.receive()
                if payload[0] == DISCONNECT:
                    reader = Reader(payload[5:])
                    text = reader.string().decode()
        except (EOFError, ConnectionError):
            return text

    def is_ended(self):
        """The connection ends, in whichever way, and does so now."""
        with contextlib.suppress(ConnectionError):
            self.words_at_the_end()
        return True

    # -- steps --

    def exchange_idents(self):
        self.socket.sendall(self.ident + b"\r\n")
        line = b""
        while not line.endswith(b"\n"):
            line += self.read(1)
        self.server_ident = line.rstrip(b"\r\n")
        assert self.server_ident.startswith(b"SSH-2.0-ferry")

    def kexinit(self, **other):
        lists = {"kex": "curve25519-sha256" + ("," + STRICT if self.strict else ""), "host_key": "ssh-ed25519",
                 "cipher": CIPHER, "mac": "hmac-sha2-256-etm@openssh.com", "compression": "none", **(self.lists or {}), **other}
        twice = [lists[name] for name in ("cipher", "cipher", "mac", "mac", "compression", "compression")]
        return message(KEXINIT, (os.urandom(16),), lists["kex"], lists["host_key"], *twice, "", "", False, 0)

    def send_kexinit(self):
        self.own_kexinit = self.kexinit()
        self.send(self.own_kexinit)

    def finish_kex(self, server_kexinit=None):
        from cryptography.hazmat.primitives.asymmetric import x25519
        server_kexinit = server_kexinit or self.expect(KEXINIT)
        key = x25519.X25519PrivateKey.generate()
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
        public = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.send(message(KEX_INIT, public))
        reader = Reader(self.expect(KEX_REPLY)[1:])
        host_key, server_public, signature = reader.string(), reader.string(), reader.string()
        shared = mpint(key.exchange(x25519.X25519PublicKey.from_public_bytes(server_public)))
        digest = hashlib.sha256(b"".join(string(part) for part in (
            self.ident, self.server_ident, self.own_kexinit, server_kexinit, host_key, public, server_public)) + shared).digest()
        self.check_signature(host_key, signature, digest)
        self.session_id = self.session_id or digest
        self.expect(NEWKEYS)
        self.send(message(NEWKEYS))
        self.sealing, self.opening = (Chacha(self.derive(letter, shared, digest)) for letter in (b"C", b"D"))
        if self.strict:
            self.sent = self.received = 0

    @staticmethod
    def check_signature(host_key, signature, digest):
        from cryptography.hazmat.primitives.asymmetric import ed25519
        key, reader = Reader(host_key), Reader(signature)
        assert key.string() == reader.string() == b"ssh-ed25519"
        ed25519.Ed25519PublicKey.from_public_bytes(key.string()).verify(reader.string(), digest)

    def derive(self, letter, shared, digest):
        first = hashlib.sha256(shared + digest + letter + self.session_id).digest()
        return first + hashlib.sha256(shared + digest + first).digest()

    def rekey(self):
        self.send_kexinit()
        self.finish_kex()

    def ask_service(self):
        self.send(message(SERVICE_REQUEST, "ssh-userauth"))
        self.expect(SERVICE_ACCEPT)

    def password_request(self, user=USER, password=PASSWORD):
        return message(AUTH_REQUEST, user, "ssh-connection", "password", False, password)

    def login(self):
        self.send(self.password_request())
        self.expect(AUTH_SUCCESS)

    # -- channels --

    def open_message(self, own=0, window=1 << 21, packet=1 << 15, kind="session"):
        return message(OPEN, kind, own, window, packet)

    def open(self, **named):
        """Opens a channel; the server's number of it."""
        self.send(self.open_message(**named))
        return struct.unpack(">I", self.expect(OPEN_CONFIRMATION)[5:9])[0]

    def exec_message(self, channel, command, reply=True):
        return message(REQUEST, channel, "exec", reply, command)

    def exec(self, command, **named):
        """Opens a channel and runs a command in it; the server's number of it."""
        channel = self.open(**named)
        self.send(self.exec_message(channel, command))
        self.expect(SUCCESS)
        return channel

    def can_work(self, command="cat small", expected=b"small"):
        """The connection is as good as new: a file comes by a new channel."""
        self.exec(command, own=77)
        received = b""
        while True:
            payload = self.next()
            if payload[0] == DATA:
                received += payload[9:]
            elif payload[0] == CLOSE:
                assert received == expected
                return True


# -- what the server shows --


def sessions(server):
    return sum(worker["sessions"] for worker in server.ask("stats"))


def nobody_is_left(server):
    return wait_until("nobody", lambda: sessions(server) == 0)


def assert_grew_less(server, before_kb, kb):
    if not IS_SANITIZED:
        assert private_dirty_kb(server.pid) - before_kb < kb
