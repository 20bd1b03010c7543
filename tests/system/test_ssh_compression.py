"""zlib@openssh.com with foreign clients and a foreign server: every byte, both ways, at each level and with new keys in
mid-transfer; and that it really was compressed."""

import io
import re
import subprocess
import tarfile
import zlib

import pytest

import ssh_clients
import ssh_file_clients as files
import ssh_raw as raw
from conftest import Server, random_bytes, start_ssh, wait_until
from test_ssh_engine import Sshd

LIMITS = "limits { per_address = 0  per_account = 0  unauthenticated = 0  ban_failures = 0 }\n"
LEVELS = "auto", "1", "6", "9"


def text(size):
    """Compressible, but never twice the same."""
    line, at = [], 0
    while at < size:
        line.append("line %d of a file that is worth the time of a compressor: %x\n" % (at, at * 2654435761 % 2**32))
        at += len(line[-1])
    return "".join(line).encode()[:size]


# Phases: what a level that chooses itself has to follow.
MIXED = text(1_500_001) + random_bytes(1_000_000) + bytes(1_000_000) + text(500_000)


@pytest.fixture(scope="module", params=LEVELS)
def server(request, tmp_path_factory, ssh_keys):
    folder = tmp_path_factory.mktemp("compression")
    (folder / "root").mkdir()
    config = 'listen "ssh" { address = {"127.0.0.1:0"}  compression = %s }\n' % request.param
    server = start_ssh(lambda *a, **n: Server(folder, *a, **n), ssh_keys, folder / "root", listen=(), config=LIMITS + config)
    (server.root / "mixed").write_bytes(MIXED)
    yield server
    server.stop()


def compressing(kind, *arguments):
    client = kind(*arguments)
    client.compression = "yes"
    return client


KINDS = [kind for kind in files.ALL if kind is not files.Rclone]  # Go's ssh has no compression


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__.lower())
def test_a_client_that_compresses_gets_and_puts_every_byte(kind, server, ssh_keys, tmp_path):
    client = compressing(kind, server, tmp_path, ssh_keys)
    client.get("mixed", tmp_path / "here")
    assert (tmp_path / "here").read_bytes() == MIXED
    assert server.last_audit("download")["compression"] == "zlib"
    client.put(tmp_path / "here", "up")
    assert (server.root / "up").read_bytes() == MIXED
    assert server.last_audit("upload")["compression"] == "zlib"
    (server.root / "up").unlink()


@pytest.mark.parametrize("kind", ssh_clients.ALL, ids=lambda kind: kind.__name__.lower())
def test_a_command_has_its_output_compressed(kind, server, ssh_keys, tmp_path):
    assert kind(server, tmp_path, ssh_keys).exec("cat mixed", compression="yes") == MIXED
    assert server.last_audit("download")["compression"] == "zlib"


@pytest.mark.parametrize("cipher", ssh_clients.CIPHERS)
def test_each_cipher_carries_it_through_new_keys(cipher, server, ssh_keys, tmp_path):
    client = files.Sftp(server, tmp_path, ssh_keys)
    how = {"cipher": cipher, "compression": "yes", "rekey": "16K"}
    client.get("mixed", tmp_path / "here", **how)
    assert (tmp_path / "here").read_bytes() == MIXED
    client.put(tmp_path / "here", "up", **how)
    assert (server.root / "up").read_bytes() == MIXED


@pytest.mark.parametrize("kind", [ssh_clients.Plink, ssh_clients.Asyncssh], ids=lambda kind: kind.__name__.lower())
def test_others_change_keys_in_the_middle_of_it(kind, server, ssh_keys, tmp_path):
    assert kind(server, tmp_path, ssh_keys).exec("cat mixed", compression="yes", rekey=65536) == MIXED


def test_a_tar_goes_up_and_comes_down(server, ssh_keys, tmp_path):
    client = ssh_clients.OpenSsh(server, tmp_path, ssh_keys)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        info = tarfile.TarInfo("folder/mixed")
        info.size = len(MIXED)
        archive.addfile(info, io.BytesIO(MIXED))
    client.exec("tar xf -", input=packed.getvalue(), compression="yes")
    assert (server.root / "folder" / "mixed").read_bytes() == MIXED
    back = client.exec("tar cf - folder", compression="yes", rekey="16K")
    with tarfile.open(fileobj=io.BytesIO(back)) as archive:
        assert archive.extractfile("folder/mixed").read() == MIXED


def received(said):
    """What OpenSSH counted of what came: bytes as they are, and as they were on the wire."""
    raw, packed = re.search(rb"compress incoming: raw data (\d+), compressed (\d+)", said).groups()
    return int(raw), int(packed)


def test_the_wire_carries_less(ssh_keys, tmp_path, ssh_ferryd, root):
    content = text(4_000_000)
    (root / "text").write_bytes(content)
    server = ssh_ferryd(root, listen=(), config='listen "ssh" { address = {"127.0.0.1:0"}  compression = 6 }')
    client = ssh_clients.OpenSsh(server, tmp_path, ssh_keys)
    done = subprocess.run([str(word) for word in client.command(flags=["-v"], compression="yes")] + ["cat text"],
                          capture_output=True, timeout=ssh_clients.SECONDS, env=client.environment, check=True)
    assert done.stdout == content
    raw, packed = received(done.stderr)
    assert raw >= len(content) and packed < raw / 3


def test_nobody_compresses_where_it_is_off(ssh_keys, tmp_path, ssh_ferryd, root):
    (root / "mixed").write_bytes(MIXED)
    server = ssh_ferryd(root, listen=(), config='listen "ssh" { address = {"127.0.0.1:0"}  compression = off }')
    assert ssh_clients.OpenSsh(server, tmp_path, ssh_keys).exec("cat mixed", compression="yes") == MIXED
    assert server.last_audit("download")["compression"] == "none"


def test_a_client_that_does_not_ask_gets_none(ssh_server, ssh_keys, tmp_path, root):
    (root / "mixed").write_bytes(MIXED)
    assert ssh_clients.OpenSsh(ssh_server, tmp_path, ssh_keys).exec("cat mixed") == MIXED
    assert ssh_server.last_audit("download")["compression"] == "none"


class HalfPacked(raw.Raw):
    """Has one direction compressed, which no real client asks for."""

    def __init__(self, server, sends, receives):
        names = {True: "zlib@openssh.com", False: "none"}
        self.names = [names[sends], names[receives]]
        self.packer, self.unpacker = None, None
        super().__init__(server)
        self.packer = zlib.compressobj() if sends else None
        self.unpacker = zlib.decompressobj() if receives else None

    def kexinit(self, **other):
        return super().kexinit(**other).replace(raw.string("none") * 2, b"".join(map(raw.string, self.names)))

    def packet(self, payload, block=8):
        if self.packer:
            payload = self.packer.compress(payload) + self.packer.flush(zlib.Z_PARTIAL_FLUSH)
        return super().packet(payload, block)

    def receive(self):
        payload = super().receive()
        return self.unpacker.decompress(payload) if self.unpacker else payload


def compressions(server, path):
    return [record["compression"] for record in server.records("audit") if record["path"] == path]


@pytest.mark.parametrize("sends, receives", [(True, False), (False, True), (True, True)])
def test_a_record_tells_what_its_own_direction_had(sends, receives, server):
    names = {True: "zlib", False: "none"}
    before = {name: compressions(server, name) for name in ("/small", "/half")}

    def is_next(path, name):
        wait_until("its record", lambda: len(compressions(server, path)) > len(before[path]))
        return compressions(server, path)[len(before[path]):] == [name]
    with HalfPacked(server, sends, receives) as client:
        (server.root / "small").write_bytes(b"small")
        assert client.can_work()
        assert is_next("/small", names[receives])
        channel = client.exec("scp -t half", own=78)
        client.send(raw.message(raw.DATA, channel, "C0644 5 half\n"), raw.message(raw.DATA, channel, "bytes\0"))
        while (payload := client.next())[0] != raw.DATA or not (server.root / "half").exists():
            assert payload[0] != raw.CLOSE
        client.send(raw.message(raw.EOF, channel))
        while client.next()[0] != raw.CLOSE:
            pass
    assert (server.root / "half").read_bytes() == b"bytes"
    assert is_next("/half", names[sends])
    (server.root / "half").unlink()


# -- our client and OpenSSH's server --

VERBS = [("put", "get"), ("scpput", "scpget")]


def compressing_sshd(folder, settings=""):
    return Sshd(folder, "Subsystem sftp internal-sftp\nCompression yes\nLogLevel DEBUG1\n" + settings)


@pytest.fixture(scope="module")
def sshd(tmp_path_factory):
    server = compressing_sshd(tmp_path_factory.mktemp("sshd"))
    yield server
    server.stop()


@pytest.fixture(scope="module", params=["16K", "64K", "256K", "1M"])
def rekeying_sshd(request, tmp_path_factory):
    server = compressing_sshd(tmp_path_factory.mktemp("sshd"), "RekeyLimit " + request.param)
    yield server
    server.stop()


def there_and_back(sshd, verbs, level, folder):
    """What the server said of each session: of these, not of those before them."""
    told = []
    (folder / "f").write_bytes(MIXED)
    for verb, source, target in (verbs[0], "f", "g"), (verbs[1], "g", "h"):
        before = (sshd.folder / "log").stat().st_size
        sshd.run(verb, folder / source, folder / target, more=("-C", level))
        assert (folder / target).read_bytes() == MIXED
        told += [wait_until("the end of the session", lambda: re.match(
            rb".*do_cleanup", (sshd.folder / "log").read_bytes()[before:], re.DOTALL))[0]]
        assert b"Enabling compression at level 6." in told[-1]
    return told


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("verbs", VERBS, ids="-".join)
def test_our_client_compresses_with_openssh(level, verbs, sshd, tmp_path):
    there_and_back(sshd, verbs, level, tmp_path)


@pytest.mark.parametrize("level", ["auto", "6"])
@pytest.mark.parametrize("verbs", VERBS, ids="-".join)
def test_our_client_compresses_through_openssh_s_new_keys(level, verbs, rekeying_sshd, tmp_path):
    for told in there_and_back(rekeying_sshd, verbs, level, tmp_path):
        assert told.count(b"rekey in after") > 2  # two are of the login
