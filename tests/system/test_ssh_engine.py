"""ferry's ssh client and its SFTP engine against OpenSSH's server: tests/tools/ssh_engine.c is the program."""

import ctypes
import getpass
import os
import pathlib
import shutil
import socket
import subprocess

import pytest

from conftest import BIN, wait_until
from ssh_clients import CIPHERS, MLKEM, SECONDS, USER_KEYS, require_mlkem, run

HOST = "127.0.0.1"


def engine_path():
    for folder in (BIN, os.environ.get("FERRY_TOOLS")):
        if folder and (pathlib.Path(folder) / "ssh_engine").is_file():
            return pathlib.Path(folder) / "ssh_engine"
    return pytest.skip("ssh_engine is not built")


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


class Sshd:
    """OpenSSH's server with keys of its own, and the engine as its client."""

    def __init__(self, folder, settings=""):
        program = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
        if program is None:
            pytest.skip("not installed: sshd")
        self.engine, self.folder, self.port = engine_path(), folder, free_port()
        self.known_hosts = folder / "known_hosts"
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        for kind in ("ed25519", "rsa"):
            run("ssh-keygen", "-q", "-t", kind, "-N", "", "-f", folder / ("host_" + kind))
        for kind in USER_KEYS:
            run("ssh-keygen", "-q", "-t", kind, "-N", "", "-f", folder / kind)
        (folder / "authorized").write_text("".join((folder / (kind + ".pub")).read_text() for kind in USER_KEYS))
        (folder / "config").write_text("""
Port %d
ListenAddress %s
HostKey %s/host_ed25519
HostKey %s/host_rsa
AuthorizedKeysFile %s/authorized
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
%s
""" % (self.port, HOST, folder, folder, folder, settings or "Subsystem sftp internal-sftp"))
        self.log = open(folder / "log", "wb")
        self.process = subprocess.Popen([program, "-D", "-e", "-f", folder / "config"], stderr=self.log)
        wait_until("sshd listens", lambda: b"Server listening" in (folder / "log").read_bytes())
        self.know("ed25519", "rsa")

    def know(self, *kinds, name=None):
        self.known_hosts.write_text("".join(
            "%s %s" % (name or "[%s]:%d" % (HOST, self.port), (self.folder / ("host_%s.pub" % kind)).read_text())
            for kind in kinds))

    def run(self, *words, key="ed25519", more=(), env=None, expect=0):
        keys = ["-i", self.folder / key] if key else []
        return run(self.engine, "-p", self.port, "-l", getpass.getuser(), "-k", self.known_hosts, *keys, *more, HOST,
                   *words, env=env, expect=expect)

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)
        self.log.close()


@pytest.fixture(scope="module")
def sshd(tmp_path_factory):
    server = Sshd(tmp_path_factory.mktemp("sshd"))
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def knows_the_host(request):
    if "sshd" in request.fixturenames:
        request.getfixturevalue("sshd").know("ed25519", "rsa")


@pytest.fixture(scope="module")
def large():
    return os.urandom(20 * 1024 * 1024 + 12345)


def there_and_back(server, folder, data, **how):
    (folder / "f").write_bytes(data)
    server.run("put", folder / "f", folder / "g", **how)
    assert (folder / "g").read_bytes() == data
    server.run("get", folder / "g", folder / "h", **how)
    assert (folder / "h").read_bytes() == data


@pytest.mark.parametrize("size", [0, 1, 32768, 261120, 1000000, 20 * 1024 * 1024])
def test_files_go_there_and_back(sshd, tmp_path, large, size):
    there_and_back(sshd, tmp_path, large[:size])


@pytest.mark.parametrize("size", [0, 1, 20 * 1024 * 1024])
def test_scp_moves_the_same_bytes(sshd, tmp_path, large, size):
    name = tmp_path / "it's $(a) name"
    name.write_bytes(large[:size])
    sshd.run("scpput", name, tmp_path / "g *")
    assert (tmp_path / "g *").read_bytes() == large[:size]
    sshd.run("scpget", name, tmp_path / "h")
    assert (tmp_path / "h").read_bytes() == large[:size]
    said = sshd.run("scpget", tmp_path / "none", tmp_path / "i", expect=1)
    assert b"No such file" in said and not (tmp_path / "i").exists()


@pytest.mark.parametrize("cipher", CIPHERS)
def test_each_cipher_moves_the_same_bytes(sshd, tmp_path, large, cipher):
    there_and_back(sshd, tmp_path, large[:5000000], more=("-c", cipher))


@pytest.mark.parametrize("settings", ["KexAlgorithms " + MLKEM, "RekeyLimit 1M"])
def test_ml_kem_is_agreed_on_with_a_server_that_has_it(tmp_path, large, settings):
    require_mlkem()
    server = Sshd(tmp_path, "Subsystem sftp internal-sftp\nLogLevel DEBUG1\n" + settings)
    try:
        there_and_back(server, tmp_path, large[:5000000])
        assert b"kex: algorithm: " + MLKEM.encode() in (tmp_path / "log").read_bytes()
    finally:
        server.stop()


@pytest.fixture(scope="module")
def old_sshd(tmp_path_factory):
    server = Sshd(tmp_path_factory.mktemp("old-sshd"), """Subsystem sftp internal-sftp
Ciphers aes128-cbc,aes256-cbc,3des-cbc
MACs hmac-sha1,hmac-sha2-256-etm@openssh.com
KexAlgorithms diffie-hellman-group14-sha1,diffie-hellman-group14-sha256
HostKeyAlgorithms ssh-rsa""")
    yield server
    server.stop()


@pytest.mark.parametrize("how", [
    ("-c", "aes128-cbc"), ("-c", "aes256-cbc"), ("-c", "3des-cbc"), ("-m", "hmac-sha1"), ("-m", "hmac-sha2-256-etm@openssh.com"),
    ("-x", "diffie-hellman-group14-sha1"), ("-x", "diffie-hellman-group14-sha256"),
], ids=lambda how: how[1].split("@")[0])
def test_a_server_that_knows_nothing_better_is_served_if_it_may_be(old_sshd, tmp_path, large, how):
    there_and_back(old_sshd, tmp_path, large[:2000000], more=("-o", "-H", "ssh-rsa", *how))


def test_a_server_that_knows_nothing_better_is_left_otherwise(old_sshd):
    assert b"nothing in common" in old_sshd.run("cat", "echo in", expect=1)
    assert b"offer" in old_sshd.run("cat", "echo in", more=("-H", "ssh-rsa"), expect=1)
    assert b"offer" in old_sshd.run("cat", "echo in", more=("-c", "3des-cbc"), expect=1)


@pytest.mark.parametrize("key", USER_KEYS)
def test_each_kind_of_key_lets_in(sshd, key):
    assert sshd.run("cat", "echo in", key=key) == b"in\n"


@pytest.mark.parametrize("settings", [
    "Subsystem sftp internal-sftp\nRekeyLimit 1M",
    "Subsystem sftp internal-sftp -P limits",
    "Subsystem sftp internal-sftp\nCompression no\nKexAlgorithms diffie-hellman-group16-sha512",
])
def test_files_arrive_whatever_the_server_is_set_to(tmp_path, large, settings):
    server = Sshd(tmp_path, settings)
    try:
        there_and_back(server, tmp_path, large)
    finally:
        server.stop()


def test_names_are_listed(sshd, tmp_path):
    names = ["name %04d" % i for i in range(1500)]
    for name in names:
        (tmp_path / name).touch()
    assert sorted(sshd.run("list", tmp_path).decode().splitlines()) == names


def test_what_the_server_refuses_is_said(sshd, tmp_path):
    assert b"no such file" in sshd.run("get", tmp_path / "none", tmp_path / "f", expect=1)
    assert not list(tmp_path.iterdir())
    (tmp_path / "f").write_bytes(b"f")
    assert b"no such file" in sshd.run("put", tmp_path / "f", tmp_path / "none" / "f", expect=1)


def test_a_proc_file_that_says_it_is_empty_is_read_to_its_end(sshd, tmp_path):
    sshd.run("get", "/proc/cpuinfo", tmp_path / "f")
    assert (tmp_path / "f").read_bytes().count(b"processor") == pathlib.Path("/proc/cpuinfo").read_bytes().count(
        b"processor")


def test_a_command_says_how_it_ended(sshd):
    sshd.run("cat", "exit 3", expect=1)
    assert sshd.run("cat", "head -c 3000000 /dev/zero") == bytes(3000000)


# -- encrypted keys --

KEY_CIPHERS = [
    "aes128-ctr", "aes192-ctr", "aes256-ctr", "aes128-cbc", "aes192-cbc", "aes256-cbc", "aes128-gcm@openssh.com",
    "aes256-gcm@openssh.com", "chacha20-poly1305@openssh.com"
]


def encrypt(folder, key, cipher="aes256-ctr", rounds=16):
    """A copy of a key, encrypted by ssh-keygen with the passphrase "secret"."""
    path = folder / "encrypted"
    shutil.copy(key, path)
    path.chmod(0o600)
    run("ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-Z", cipher, "-a", str(rounds), "-f", path)
    return path


@pytest.fixture
def botan():
    try:
        ctypes.CDLL("libbotan-2.so.19")
    except OSError:
        pytest.skip("not installed: libbotan-2-19")


@pytest.mark.parametrize("cipher", KEY_CIPHERS)
def test_an_encrypted_key_lets_in_with_its_passphrase(sshd, tmp_path, botan, cipher):
    key = encrypt(tmp_path, sshd.folder / "ed25519", cipher)
    assert sshd.run("cat", "echo in", key=key, more=("-P", "secret")) == b"in\n"
    assert b"passphrase" in sshd.run("cat", "echo in", key=key, more=("-P", "Secret"), expect=1)


@pytest.mark.parametrize("kind", USER_KEYS)
def test_each_kind_of_key_may_be_encrypted(sshd, tmp_path, botan, kind):
    key = encrypt(tmp_path, sshd.folder / kind)
    assert sshd.run("cat", "echo in", key=key, more=("-P", "secret")) == b"in\n"
    assert b"passphrase" in sshd.run("cat", "echo in", key=key, expect=1)


def test_an_encrypted_key_that_would_take_minutes_is_refused(sshd, tmp_path, botan):
    key = encrypt(tmp_path, sshd.folder / "ed25519", rounds=1025)
    assert b"limit" in sshd.run("cat", "echo in", key=key, more=("-P", "secret"), expect=1)


@pytest.mark.parametrize("instead", [b"no library", "libz.so.1"])
def test_without_botan_the_agent_is_named(sshd, tmp_path, instead):
    """Neither a file that is no library, nor a library of something else, is taken for Botan."""
    key = encrypt(tmp_path, sshd.folder / "ed25519")
    if isinstance(instead, str):
        found = list(pathlib.Path("/usr/lib").glob("*/" + instead)) + list(pathlib.Path("/lib").glob("*/" + instead))
        instead = found[0].read_bytes()
    for soname in ("libbotan-2.so.19", "libbotan-3.so.7", "libbotan-3.so", "libbotan-2.so"):
        (tmp_path / soname).write_bytes(instead)
    env = dict(os.environ, LD_LIBRARY_PATH=str(tmp_path))
    said = sshd.run("cat", "echo in", key=key, more=("-P", "secret"), env=env, expect=1)
    assert b"ssh-add" in said and b"install libbotan-2-19" in said
    assert sshd.run("cat", "echo in", env=env) == b"in\n"


# -- who the server is --


def test_a_host_that_is_not_known_is_refused(sshd):
    sshd.know()
    said = sshd.run("cat", "echo in", expect=1)
    assert b"not known" in said and b"SHA256:" in said and b"in\n" not in said


def test_a_host_with_another_key_is_refused(sshd):
    other = (sshd.folder / "ed25519.pub").read_text()
    sshd.known_hosts.write_text("[%s]:%d %s" % (HOST, sshd.port, other))
    assert b"another one" in sshd.run("cat", "echo in", expect=1)


def test_a_revoked_key_is_refused(sshd):
    sshd.known_hosts.write_text("@revoked * " + (sshd.folder / "host_ed25519.pub").read_text() +
                                sshd.known_hosts.read_text())
    assert b"revoked" in sshd.run("cat", "echo in", expect=1)


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_the_key_that_is_known_is_asked_for(sshd, kind):
    sshd.know(kind)
    assert sshd.run("cat", "echo in") == b"in\n"


def test_hashed_names_are_found(sshd):
    run("ssh-keygen", "-q", "-H", "-f", sshd.known_hosts, expect=None)
    assert b"|1|" in sshd.known_hosts.read_bytes()
    assert sshd.run("cat", "echo in") == b"in\n"


# -- an agent --


@pytest.fixture
def agent(tmp_path):
    if shutil.which("ssh-agent") is None:
        pytest.skip("not installed: ssh-agent")
    path = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    wait_until("the agent listens", path.exists)
    yield path
    process.terminate()
    process.wait(SECONDS)


def add(agent, *keys):
    for key in keys:
        run("ssh-add", "-q", key, env={"PATH": os.environ["PATH"], "SSH_AUTH_SOCK": str(agent)}, expect=None)


@pytest.mark.parametrize("key", USER_KEYS)
def test_an_agent_signs_with_each_kind_of_key(sshd, agent, key):
    add(agent, sshd.folder / key)
    assert sshd.run("cat", "echo in", key=None, more=("-a", agent)) == b"in\n"


def test_an_agent_of_many_keys_finds_the_right_one(sshd, agent, tmp_path):
    for i in range(7):
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / str(i))
        add(agent, tmp_path / str(i))
    server = Sshd(tmp_path, "Subsystem sftp internal-sftp\nMaxAuthTries 20")
    try:
        add(agent, server.folder / "ed25519")
        assert server.run("cat", "echo in", key=None, more=("-a", agent)) == b"in\n"
    finally:
        server.stop()


def test_an_agent_without_the_key_lets_nobody_in(sshd, agent, tmp_path):
    assert b"login" in sshd.run("cat", "echo in", key=None, more=("-a", agent), expect=1)
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "other")
    add(agent, tmp_path / "other")
    assert b"login" in sshd.run("cat", "echo in", key=None, more=("-a", agent), expect=1)
