"""Real ssh clients behind one interface: they log in and run one command.

Each is run as a person would run it, with a home directory of its own that knows the server's host keys. An
algorithm is asked for by its name on the wire; `algorithms` says what a client can be told.
"""

import asyncio
import contextlib
import itertools
import os
import shutil
import subprocess

import pytest

from conftest import USER

SECONDS = 60
HOST = "127.0.0.1"
USER_KEYS = ("ed25519", "ecdsa", "rsa")
CIPHERS = ("aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes128-ctr", "aes192-ctr",
           "aes256-ctr")
MACS = ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512")
KEXES = ("curve25519-sha256", "curve25519-sha256@libssh.org", "diffie-hellman-group16-sha512")
MLKEM = "mlkem768x25519-sha256"
HOST_KEYS = ("ssh-ed25519", "rsa-sha2-512", "rsa-sha2-256")


def run(*command, expect=0, input=None, env=None):
    """Runs a tool; returns its output, both kinds together if it is not expected to end well."""
    words = [word if isinstance(word, bytes) else str(word) for word in command]
    try:
        done = subprocess.run(words, input=input or b"", capture_output=True, timeout=SECONDS, env=env)
    except subprocess.TimeoutExpired as late:
        pytest.fail("%r took longer than %d s: %r %r" % (words, SECONDS, late.stdout, late.stderr))
    both = done.stdout + done.stderr
    assert expect is None or done.returncode == expect, "%r: exit code %d, %s" % (
        words, done.returncode, both.decode(errors="replace")[-4000:])
    return done.stdout if expect == 0 else both


def require_mlkem():
    """Skips where OpenSSH is older than 9.9, or libcrypto, of which ferry has it, than 3.5."""
    import ctypes
    if MLKEM.encode() not in run("ssh", "-Q", "kex"):
        pytest.skip("OpenSSH without " + MLKEM)
    library = ctypes.CDLL("libcrypto.so.3")
    library.EVP_KEM_fetch.restype = ctypes.c_void_p
    if not library.EVP_KEM_fetch(None, b"ML-KEM-768", None):
        pytest.skip("libcrypto without ML-KEM")


# -- keys --


class Keys:
    """Keys of users in the forms of all clients, and the host keys of the servers under test."""

    def __init__(self, folder, host_keys):
        self.folder, self.host_keys = folder, host_keys
        for kind in USER_KEYS:
            run("ssh-keygen", "-q", "-t", kind, "-N", "", "-C", kind, "-f", self.path(kind))
        self.public_host_keys = [" ".join(run("ssh-keygen", "-y", "-f", path).decode().split()[:2])
                                 for path in sorted(host_keys.glob("ssh_host_*_key"))]
        self.fingerprints = [run("ssh-keygen", "-l", "-f", "-", input=key.encode()).split()[1].decode()
                             for key in self.public_host_keys]

    def path(self, kind):
        return self.folder / kind

    def public(self, kind):
        return (self.folder / (kind + ".pub")).read_text().strip()

    def putty(self, kind):
        path = self.folder / (kind + ".ppk")
        if not path.exists():
            run("puttygen", self.path(kind), "-O", "private", "-o", path)
        return path

    def authorized(self):
        """The text of an authorized_keys file."""
        keys = [self.public(kind) for kind in USER_KEYS]
        if shutil.which("dropbearkey"):
            keys += [self.dropbear(kind)[1] for kind in USER_KEYS]
        return "".join(key + "\n" for key in keys)

    def dropbear(self, kind):
        """A file that dropbearkey made, and its public key: it reads no files of ssh-keygen."""
        path = self.folder / ("dropbear-" + kind)
        if not path.exists():
            run("dropbearkey", "-t", kind, "-f", path)
        lines = run("dropbearkey", "-y", "-f", path).decode().splitlines()
        return path, next(line for line in lines if line.startswith(("ssh-", "ecdsa-")))


# -- lists of algorithms --


def covering(values):
    """Rows that hold each pair of two columns' values at least once, and so each value."""
    columns = sorted(values)
    pairs = {((a, x), (b, y)) for a, b in itertools.combinations(columns, 2) for x in values[a] for y in values[b]}
    if len(columns) == 1:
        return [{columns[0]: value} for value in values[columns[0]]]
    rows = []
    while pairs:
        row = dict(min(pairs))
        for column in columns:
            row.setdefault(column, max(values[column], key=lambda value: sum(
                tuple(sorted(((column, value), cell))) in pairs for cell in row.items())))
        pairs -= set(itertools.combinations(sorted(row.items()), 2))
        rows.append(row)
    return rows


def name_of(row):
    return "-".join(str(row[column]).split("@")[0] for column in sorted(row))


# -- clients --


class Client:
    programs = ()
    algorithms = {}
    compression = "no"  # what is asked for where a call does not say

    def __init__(self, server, folder, keys):
        for program in self.programs:
            if not shutil.which(program):
                pytest.skip("not installed: " + program)
        self.server, self.keys, self.port = server, keys, server.port
        self.home = folder / ("home-" + type(self).__name__)
        self.home.mkdir(exist_ok=True)
        (self.home / ".ssh").mkdir(mode=0o700, exist_ok=True)
        self.known_hosts = self.home / ".ssh" / "known_hosts"
        places = "[%s]:%d" % (HOST, self.port), HOST  # dropbear looks for the second
        self.known_hosts.write_text("".join("%s %s\n" % (place, key) for place in places for key in keys.public_host_keys))
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LC_ALL": "C.UTF-8", "TERM": "dumb"}

    def exec(self, command, expect=0, input=None, **how):
        """Output of a command at the server."""
        return run(*self.command(**how), command, expect=expect, input=input, env=self.environment)


class OpenSsh(Client):
    programs = ("ssh", "ssh-keygen")
    algorithms = {"cipher": CIPHERS, "mac": MACS, "kex": KEXES, "host_key": HOST_KEYS, "user_key": USER_KEYS,
                  "signature": ("rsa-sha2-256", "rsa-sha2-512")}
    options_of = {"cipher": "Ciphers", "mac": "MACs", "kex": "KexAlgorithms", "host_key": "HostKeyAlgorithms",
                  "signature": "PubkeyAcceptedAlgorithms", "rekey": "RekeyLimit", "compression": "Compression"}

    def options(self, user_key="ed25519", more=(), **how):
        options = ["BatchMode=yes", "IdentitiesOnly=yes", "IdentityFile=%s" % self.keys.path(user_key), "IdentityAgent=none",
                   "UserKnownHostsFile=%s" % self.known_hosts, "StrictHostKeyChecking=yes", "UpdateHostKeys=no"]
        if user_key != "rsa":
            how.pop("signature", None)
        how.setdefault("compression", self.compression)
        options += ["%s=%s" % (self.options_of[name], value) for name, value in how.items()]
        first = [word for option in more for word in ("-o", option)]  # the first of a name counts
        return ["-F", "none", *first, *(word for option in options for word in ("-o", option))]

    def command(self, user=USER, flags=(), **how):
        return ["ssh", *flags, *self.options(**how), "-p", self.port, "%s@%s" % (user, HOST)]


class Plink(Client):
    """PuTTY's clients ask before they use what stands below a line of their user's; in a batch they give up."""
    programs = ("plink", "puttygen")
    names_of = {"kex": {"curve25519-sha256": "ecdh", "diffie-hellman-group16-sha512": "dh-group16-sha512"},
                "host_key": {"ssh-ed25519": "ed25519", "rsa-sha2-512": "rsa"},
                "cipher": {"aes256-gcm@openssh.com": "aesgcm", "chacha20-poly1305@openssh.com": "chacha20", "aes256-ctr": "aes"}}
    algorithms = {**{name: tuple(known) for name, known in names_of.items()}, "user_key": USER_KEYS}

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.environment["PUTTYDIR"] = str(self.home / "putty")

    def session(self, kex="curve25519-sha256", host_key="ssh-ed25519", cipher="aes256-gcm@openssh.com", rekey=None, compression=None):
        """A saved session, the only way to choose algorithms: one, and below the line of warnings the others."""
        folder = self.home / "putty" / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        lines = ["Compression=%d" % ((compression or self.compression) == "yes")]
        for name, of, wanted in ("KEX", "kex", kex), ("HostKey", "host_key", host_key), ("Cipher", "cipher", cipher):
            chosen = self.names_of[of][wanted]
            others = set(self.names_of[of].values()) - {chosen}
            lines.append("%s=%s" % (name, ",".join([chosen, "WARN", *sorted(others)])))
        lines += ["RekeyBytes=%s" % rekey] if rekey else []
        (folder / "test").write_text("\n".join(lines) + "\n")

    def flags(self, user_key="ed25519", password=None, **how):
        self.session(**how)
        trusted = [word for fingerprint in self.keys.fingerprints for word in ("-hostkey", fingerprint)]
        login = ["-pw", password] if password else ["-i", self.keys.putty(user_key)]
        return ["-batch", "-load", "test", *trusted, "-P", self.port, *login, "-noagent"]

    def command(self, user=USER, flags=(), **how):
        return ["plink", "-ssh", *flags, *self.flags(**how), "%s@%s" % (user, HOST)]


class Dropbear(Client):
    """Debian's knows neither AES-GCM nor MACs of encrypted text. It asks for compression unless it is told not to."""
    programs = ("dbclient", "dropbearkey")
    algorithms = {"cipher": ("chacha20-poly1305@openssh.com", "aes128-ctr", "aes256-ctr"), "user_key": USER_KEYS}

    def command(self, user=USER, user_key="ed25519", cipher=None, compression=None, flags=()):
        return ["dbclient", *flags, "-i", self.keys.dropbear(user_key)[0], *(["-c", cipher] if cipher else []), "-p", self.port,
                "%s@%s" % (user, HOST)]


class Paramiko(Client):
    """Knows no strict key exchange. It waits for ever if a channel ends while it asks for new keys, so that it
    must ask (Transport.renegotiate_keys) when it knows that none ends."""
    algorithms = {"cipher": CIPHERS[3:], "mac": MACS, "kex": KEXES[1:], "host_key": HOST_KEYS, "user_key": USER_KEYS}

    @contextlib.contextmanager
    def transport(self, cipher=None, mac=None, kex=None, host_key=None, user_key="ed25519", compression=None):
        paramiko = pytest.importorskip("paramiko")
        kind = {"ed25519": paramiko.Ed25519Key, "ecdsa": paramiko.ECDSAKey, "rsa": paramiko.RSAKey}[user_key]
        transport = paramiko.Transport((HOST, self.port))
        transport.banner_timeout = SECONDS
        options = transport.get_security_options()
        options.ciphers = [cipher or CIPHERS[3]]
        options.digests = [mac or MACS[0]]
        options.kex = [kex or KEXES[1]]
        options.key_types = [host_key or "ssh-ed25519"]
        transport.use_compression((compression or self.compression) == "yes")
        try:
            transport.start_client(timeout=SECONDS)
            assert transport.get_remote_server_key().get_base64() in [key.split()[1] for key in self.keys.public_host_keys]
            transport.auth_publickey(USER, kind.from_private_key_file(str(self.keys.path(user_key))))
            yield transport
        finally:
            transport.close()

    def exec(self, command, expect=0, **how):
        with self.transport(**how) as transport, transport.open_session(timeout=SECONDS) as channel:
            channel.settimeout(SECONDS)
            channel.exec_command(command)
            output = channel.makefile("rb").read()
            assert channel.recv_exit_status() == expect
            return output


class Asyncssh(Client):
    algorithms = {"cipher": CIPHERS, "mac": MACS, "kex": KEXES, "host_key": HOST_KEYS, "user_key": USER_KEYS}
    names_of = {"cipher": "encryption_algs", "mac": "mac_algs", "kex": "kex_algs", "host_key": "server_host_key_algs",
                "signature": "signature_algs"}

    def work(self, body, user_key="ed25519", rekey=None, compression=None, **how):
        """Runs a coroutine function with a connection; returns its result."""
        asyncssh = pytest.importorskip("asyncssh")
        named = {self.names_of[name]: [value] for name, value in how.items()}
        named["compression_algs"] = ["zlib@openssh.com", "none"] if (compression or self.compression) == "yes" else ["none"]
        if rekey:
            named["rekey_bytes"] = rekey

        async def main():
            async with asyncssh.connect(HOST, self.port, username=USER, client_keys=[str(self.keys.path(user_key))],
                                        known_hosts=str(self.known_hosts), config=None, agent_path=None, **named) as connection:
                if "cipher" in how:
                    assert connection.get_extra_info("send_cipher") == how["cipher"]
                return await body(connection)
        return asyncio.run(asyncio.wait_for(main(), SECONDS))

    def exec(self, command, expect=0, **how):
        async def body(connection):
            done = await connection.run(command, encoding=None)
            assert done.exit_status == expect, done.stderr
            return done.stdout
        return self.work(body, **how)


ALL = (OpenSsh, Plink, Dropbear, Paramiko, Asyncssh)
