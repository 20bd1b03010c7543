"""A control connection at hand: commands go out as bytes, replies come back one by one.

For what clients hide: order, codes, bytes on the wire. Every wait has a deadline, and no reply may show where
the served directory lies on the host.
"""

import contextlib
import re
import socket

SECONDS = 30


class Reply:
    def __init__(self, lines):
        self.lines = lines
        self.code = int(lines[-1][:3])

    @property
    def text(self):
        return b"\n".join(self.lines).decode("utf-8", "surrogateescape")

    def __repr__(self):
        return self.text


def as_line(command):
    if isinstance(command, str):
        command = command.encode("utf-8", "surrogateescape")
    return command + b"\r\n"


class Dialogue(contextlib.AbstractContextManager):
    """Connected and greeted; logged in unless login is false; the type is binary."""

    def __init__(self, server, host="127.0.0.1", port=None, login=True, source=None):
        self.server, self.host = server, host
        self.hidden = (bytes(server.root), server.root.name.encode() + b"/")
        self.control = socket.create_connection((host, port or server.port), timeout=SECONDS,
                                                source_address=(source, 0) if source else None)
        self.unread = b""
        self.expect(220)
        if login:
            self.login()

    def __exit__(self, *exc):
        self.close()

    def close(self):
        self.control.close()

    def login(self, user=None, password=None):
        self.ask("USER " + (user or self.server.user), 331)
        self.ask("PASS " + (password or self.server.password), 230)
        self.ask("TYPE I", 200)

    # -- the control connection --

    def send(self, *commands):
        self.control.sendall(b"".join(as_line(command) for command in commands))

    def _line(self):
        while b"\r\n" not in self.unread:
            more = self.control.recv(65536)
            if not more:
                raise EOFError("the server closed the control connection")
            self.unread += more
        line, self.unread = self.unread.split(b"\r\n", 1)
        assert b"\r" not in line and b"\n" not in line and b"\0" not in line, line
        for secret in self.hidden:
            assert secret not in line, "a reply shows the host's path: %r" % line
        return line

    def reply(self):
        lines = [self._line()]
        assert re.match(rb"[1-5]\d\d[ -]", lines[0]), lines
        if lines[0][3:4] == b"-":
            while not lines[-1].startswith(lines[0][:3] + b" "):
                lines.append(self._line())
        return Reply(lines)

    def expect(self, *codes):
        reply = self.reply()
        assert reply.code in codes, "expected %s: %s" % (codes, reply)
        return reply

    def ask(self, command, *codes):
        """Sends one command; returns its reply, whose code must be one of codes if there are any."""
        self.send(command)
        reply = self.reply()
        assert not codes or reply.code in codes, "%r, expected %s: %s" % (command, codes, reply)
        return reply

    def is_closed(self):
        """The server's end came, and no further reply before it."""
        try:
            return self.unread == b"" and self.control.recv(1) == b""
        except ConnectionResetError:
            return True

    # -- data connections --

    def passive_port(self, verb="EPSV"):
        if verb == "EPSV":
            return int(re.search(r"\(\|\|\|(\d+)\|\)", self.ask("EPSV", 229).text).group(1))
        fields = re.search(r"\((\d+),(\d+),(\d+),(\d+),(\d+),(\d+)\)", self.ask("PASV", 227).text).groups()
        assert ".".join(fields[:4]) == self.host
        return int(fields[4]) * 256 + int(fields[5])

    def connect(self, port, source=None, receive_buffer=None):
        data = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET)
        data.settimeout(SECONDS)
        if receive_buffer:
            data.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source:
            data.bind((source, 0))
        data.connect((self.host, port))
        return data

    def data(self, verb="EPSV", **named):
        """Prepares and connects a data connection."""
        return self.connect(self.passive_port(verb), **named)

    def listener(self, verb="PORT"):
        """An active data connection's place: a listening socket that PORT or EPRT told of."""
        listener = socket.create_server((self.host, 0), family=socket.AF_INET6 if ":" in self.host else socket.AF_INET)
        listener.settimeout(SECONDS)
        port = listener.getsockname()[1]
        if verb == "PORT":
            self.ask("PORT %s,%d,%d" % (self.host.replace(".", ","), port >> 8, port & 255), 200)
        else:
            self.ask("EPRT |%d|%s|%d|" % (2 if ":" in self.host else 1, self.host, port), 200)
        return listener

    def fetch(self, command):
        """Runs a command that sends data, to its end; returns the bytes."""
        with self.data() as data:
            self.ask(command, 150)
            received = read_all(data)
        self.expect(226)
        return received

    def give(self, command, content):
        """Runs a command that receives data, to its end; returns the first reply."""
        with self.data() as data:
            first = self.ask(command, 150)
            data.sendall(content)
        self.expect(226)
        return first

    def names(self, argument=""):
        return self.fetch(("NLST " + argument).strip()).decode("utf-8", "surrogateescape").splitlines()


def read_all(data):
    parts = []
    while True:
        part = data.recv(1 << 20)
        if not part:
            return b"".join(parts)
        parts.append(part)


def received(data):
    """What came before the end, be it a reset."""
    parts = b""
    with contextlib.suppress(ConnectionResetError):
        while part := data.recv(65536):
            parts += part
    return parts


def is_refused(host, port):
    """Nobody listens there any more. Who came just before that is sent away, and that is waited for."""
    try:
        with socket.create_connection((host, port), timeout=SECONDS) as late:
            received(late)
            return False
    except (ConnectionRefusedError, ConnectionResetError) as error:
        return isinstance(error, ConnectionRefusedError)


def read_until(data, size):
    """At least size bytes."""
    received = b""
    while len(received) < size:
        part = data.recv(1 << 16)
        assert part, "the data ended after %d bytes" % len(received)
        received += part
    return received


def cut(connection):
    """Closes with a reset, as a peer whose machine or line has died."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()
