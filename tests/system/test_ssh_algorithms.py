"""Foreign clients with each algorithm that they share with us: once each value, and each pair of two values."""

import contextlib
import os
import pathlib
import subprocess
import types

import pytest

import ssh_clients
import ssh_file_clients
from conftest import BIN, PASSWORD, USER, random_bytes

CONTENT = random_bytes(1_000_003)


@pytest.fixture(scope="module")
def shared(shared_ssh_server):
    (shared_ssh_server.root / "down").write_bytes(CONTENT)
    return shared_ssh_server


def rows():
    for kind in ssh_clients.ALL:
        for row in ssh_clients.covering(kind.algorithms):
            yield pytest.param(kind, row, id="%s-%s" % (kind.__name__.lower(), ssh_clients.name_of(row)))


@pytest.mark.parametrize("kind, row", rows())
def test_a_file_comes_whole_by_every_algorithm(kind, row, shared, ssh_keys, tmp_path):
    client = kind(shared, tmp_path, ssh_keys)
    assert client.exec("cat down", **row) == CONTENT


REKEYING = [(kind, limit) for kind in (ssh_clients.OpenSsh, ssh_clients.Asyncssh)
            for limit in (16 << 10, 64 << 10, 1 << 20)] + [(ssh_clients.Plink, 64 << 10)]


@pytest.mark.parametrize("kind, limit", REKEYING, ids=lambda value: getattr(value, "__name__", str(value)).lower())
def test_a_client_that_wants_new_keys_in_mid_transfer_gets_all_bytes(kind, limit, shared, ssh_keys, tmp_path):
    (shared.root / "longer").write_bytes(CONTENT * 3)
    client = kind(shared, tmp_path, ssh_keys)
    assert client.exec("cat longer", rekey=limit) == CONTENT * 3


def test_paramiko_gets_new_keys_in_mid_transfer(shared, ssh_keys, tmp_path):
    content = CONTENT * 6  # more than a window: the channel does not end while new keys are on their way
    (shared.root / "long").write_bytes(content)
    with ssh_clients.Paramiko(shared, tmp_path, ssh_keys).transport() as transport, transport.open_session() as channel:
        channel.settimeout(ssh_clients.SECONDS)
        channel.exec_command("cat long")
        reader = channel.makefile("rb")
        received = b""
        for _ in range(4):
            received += reader.read(500_000)
            transport.renegotiate_keys()
        assert received + reader.read() == content


def test_openssh_and_we_agree_on_the_strict_exchange_and_on_what_signatures_there_are(shared, ssh_keys, tmp_path):
    client = ssh_clients.OpenSsh(shared, tmp_path, ssh_keys)
    said = client.exec("nothing-like-that", expect=127, flags=["-vvv"]).decode()
    assert "will use strict KEX ordering" in said
    assert "resetting send seqnr" in said and "resetting read seqnr" in said
    assert "server-sig-algs=<ssh-ed25519,ecdsa-sha2-nistp256,rsa-sha2-512,rsa-sha2-256>" in said


def test_openssh_gets_the_fastest_cipher_without_being_told(shared, ssh_keys, tmp_path):
    said = ssh_clients.OpenSsh(shared, tmp_path, ssh_keys).exec("nothing-like-that", expect=127, flags=["-v"]).decode()
    fast = "aes" in open("/proc/cpuinfo").read()
    assert "cipher: %s MAC" % ("aes128-gcm@openssh.com" if fast else "chacha20-poly1305@openssh.com") in said


@pytest.mark.parametrize("how, missing", [
    ({"cipher": "aes256-cbc"}, "no matching cipher found"),
    ({"cipher": "3des-cbc"}, "no matching cipher found"),
    ({"cipher": "aes128-ctr", "mac": "hmac-sha1-etm@openssh.com"}, "no matching MAC found"),
    ({"kex": "diffie-hellman-group14-sha1"}, "no matching key exchange method found"),
    ({"kex": "diffie-hellman-group-exchange-sha256"}, "no matching key exchange method found"),
    ({"host_key": "ssh-rsa"}, "no matching host key type found"),
], ids=lambda value: name if isinstance(value, dict) and (name := ssh_clients.name_of(value)) else "")
def test_what_is_weak_is_refused_before_the_login(how, missing, shared, ssh_keys, tmp_path):
    said = ssh_clients.OpenSsh(shared, tmp_path, ssh_keys).exec("cat down", expect=255, **how).decode()
    assert missing in said


# -- clients that cannot be told: the server offers one of each --

ANY = {"cipher": "aes128-ctr", "mac": "hmac-sha2-256", "kex": "curve25519-sha256"}
# What libssh2 1.10 and the Go library of rclone 1.60 share with us.
SHARED = {
    ssh_file_clients.Curl: {"cipher": ("aes128-ctr", "aes192-ctr", "aes256-ctr"), "mac": ("hmac-sha2-256", "hmac-sha2-512"),
                            "kex": ("curve25519-sha256", "curve25519-sha256@libssh.org", "diffie-hellman-group16-sha512")},
    ssh_file_clients.Rclone: {"cipher": ("aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com", "aes128-ctr", "aes192-ctr",
                                         "aes256-ctr"),
                              "mac": ("hmac-sha2-256-etm@openssh.com", "hmac-sha2-256"),
                              "kex": ("curve25519-sha256", "curve25519-sha256@libssh.org")},
}


def one_way_rows():
    for kind, values in SHARED.items():
        for row in ssh_clients.covering(values):
            yield pytest.param(kind, row, id="%s-%s" % (kind.__name__.lower(), ssh_clients.name_of(row)))


@contextlib.contextmanager
def one_way(root, keys, cipher, mac, kex):
    """tests/tools/ssh_one_way.c"""
    found = [pathlib.Path(folder) / "ssh_one_way" for folder in (BIN, os.environ.get("FERRY_TOOLS")) if folder]
    program = next((path for path in found if path.is_file()), None)
    if program is None:
        pytest.skip("ssh_one_way is not built")
    host_key = keys.host_keys / "ssh_host_ed25519_key"
    words = [program, root, host_key, keys.path("ed25519"), USER, PASSWORD, kex, cipher, mac]
    with subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE) as process:
        try:
            yield types.SimpleNamespace(port=int(process.stdout.readline()))
            assert process.poll() is None
        finally:
            process.kill()


def round_trip(client, root, folder):
    (root / "down").write_bytes(CONTENT)
    client.get("down", folder / "here")
    assert (folder / "here").read_bytes() == CONTENT
    client.put(folder / "here", "up")
    assert (root / "up").read_bytes() == CONTENT


@pytest.mark.parametrize("kind, row", one_way_rows())
def test_a_file_comes_and_goes_where_there_is_one_algorithm_alone(kind, row, ssh_keys, tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    with one_way(root, ssh_keys, **row) as server:
        round_trip(kind(server, tmp_path, ssh_keys), root, tmp_path)


def test_a_client_without_the_one_algorithm_is_refused(ssh_keys, tmp_path):
    """So what a client got through with was the one."""
    root = tmp_path / "root"
    root.mkdir()
    with one_way(root, ssh_keys, **{**ANY, "cipher": "aes256-gcm@openssh.com"}) as server:
        with pytest.raises(AssertionError, match="exit code"):
            round_trip(ssh_file_clients.Curl(server, tmp_path, ssh_keys), root, tmp_path)
