"""What the section listen "ssh" of the configuration changes: algorithms that are not offered otherwise, and new keys."""

import base64
import io
import tarfile
import time

import pytest

import ssh_clients
import ssh_raw as raw
from conftest import USER, Server, random_bytes, start_ssh
from ssh_raw import Raw

CONTENT = random_bytes(1_000_003)


@pytest.fixture
def ssh_set(ssh_ferryd, root):
    """A server with these keys in its section listen "ssh"."""
    (root / "down").write_bytes(CONTENT)

    def start(keys):
        return ssh_ferryd(root, listen=(), config='listen "ssh" { address = {"127.0.0.1:0"} %s }' % keys)
    return start


def tar_of(name, content):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return made.getvalue()


def know(client, server, name):
    """A client of a server that has made one more host key."""
    key = " ".join(ssh_clients.run("ssh-keygen", "-y", "-f", server.state / name).decode().split()[:2])
    with open(client.known_hosts, "a") as file:
        file.write("[%s]:%d %s\n" % (ssh_clients.HOST, server.port, key))


@pytest.mark.parametrize("kind", [ssh_clients.OpenSsh, ssh_clients.Asyncssh])
@pytest.mark.parametrize("how", [{"kex": "ecdh-sha2-nistp256"}, {"host_key": "ecdsa-sha2-nistp256"}], ids=ssh_clients.name_of)
def test_the_curve_of_nist_serves_keys_and_host_keys_where_it_is_set(kind, how, ssh_set, ssh_keys, tmp_path):
    server = ssh_set("nistp256 = true")
    assert (server.state / "ssh_host_ecdsa_key").stat().st_mode & 0o777 == 0o600
    client = kind(server, tmp_path, ssh_keys)
    know(client, server, "ssh_host_ecdsa_key")
    assert client.exec("cat down", **how) == CONTENT


@pytest.mark.parametrize("how, missing", [
    ({"kex": "ecdh-sha2-nistp256"}, "no matching key exchange method found"),
    ({"host_key": "ecdsa-sha2-nistp256"}, "no matching host key type found"),
], ids=["kex", "host-key"])
def test_the_curve_of_nist_is_not_there_otherwise(how, missing, ssh_set, ssh_keys, tmp_path):
    server = ssh_set("")
    assert not (server.state / "ssh_host_ecdsa_key").exists()
    assert missing in ssh_clients.OpenSsh(server, tmp_path, ssh_keys).exec("cat down", expect=255, **how).decode()


@pytest.mark.parametrize("keys, least, most", [("", 1, 1), ("rekey_bytes = 16K", 4, 190), ("rekey_bytes = 1M", 2, 4)])
def test_new_keys_come_after_as_many_bytes_as_are_set(keys, least, most, ssh_set, ssh_keys, tmp_path, root):
    """What is filled when the limit is reached, half a megabyte at most, still goes out under the old keys."""
    client = ssh_clients.OpenSsh(ssh_set(keys), tmp_path, ssh_keys)
    (root / "longer").write_bytes(CONTENT * 3)
    said = tmp_path / "said"
    command = client.command(flags=["-v", "-E", said])
    assert ssh_clients.run(*command, "cat longer", env=client.environment) == CONTENT * 3
    assert least <= said.read_text().count("SSH2_MSG_NEWKEYS received") <= most


def test_new_keys_come_after_as_long_as_is_set(ssh_set):
    """With the next packet: a peer that is silent needs none."""
    with Raw(ssh_set("rekey_time_s = 1")) as client:
        client.open()
        end = time.monotonic() + raw.SECONDS
        while True:
            client.send(raw.message(192, "are you there?"))  # PING
            answer = client.next()
            if answer[0] == raw.KEXINIT:
                break
            assert answer[0] == 193 and time.monotonic() < end
            time.sleep(0.02)  # polling, with the deadline above
        client.own_kexinit = client.kexinit()
        client.send(client.own_kexinit)
        client.finish_kex(answer)
        client.expect(193)  # of the question that its KEXINIT crossed
        client.open(own=1)


# -- what is there where libcrypto has it --


@pytest.mark.parametrize("how", [{"kex": ssh_clients.MLKEM}, {}], ids=["alone", "by-default"])
def test_ml_kem_is_what_a_client_of_today_agrees_on(how, ssh_set, ssh_keys, tmp_path):
    ssh_clients.require_mlkem()
    client = ssh_clients.OpenSsh(ssh_set(""), tmp_path, ssh_keys)
    said = client.exec("nothing", expect=127, flags=["-v"], **how).decode()
    assert "kex: algorithm: " + ssh_clients.MLKEM in said
    assert "not post-quantum" not in said
    assert client.exec("cat down", rekey=64 << 10, **how) == CONTENT


# -- what is there for old clients --

OLD = [{"cipher": "3des-cbc"}, {"cipher": "aes128-cbc"}, {"cipher": "aes256-cbc"}, {"mac": "hmac-sha1", "cipher": "aes128-ctr"},
       {"mac": "hmac-sha1", "cipher": "aes128-cbc"}, {"mac": "hmac-sha2-256", "cipher": "3des-cbc"},
       {"kex": "+diffie-hellman-group14-sha1"}, {"host_key": "+ssh-rsa"}, {"kex": "diffie-hellman-group14-sha1"},
       {"kex": "diffie-hellman-group14-sha256"}, {"host_key": "ssh-rsa"},
       {"kex": "diffie-hellman-group14-sha1", "host_key": "ssh-rsa", "cipher": "3des-cbc", "mac": "hmac-sha1"}]


@pytest.fixture(scope="module")
def old_server(tmp_path_factory, ssh_keys):
    folder = tmp_path_factory.mktemp("old")
    (folder / "root").mkdir()
    (folder / "root" / "down").write_bytes(CONTENT)
    server = start_ssh(lambda *args, **named: Server(folder, *args, **named), ssh_keys, folder / "root", listen=(),
                       config='listen "ssh" { address = {"127.0.0.1:0"} legacy = true }')
    yield server
    server.stop()


@pytest.mark.parametrize("how", OLD, ids=ssh_clients.name_of)
def test_an_old_client_is_served_where_it_is_set(how, old_server, ssh_keys, tmp_path):
    client = ssh_clients.OpenSsh(old_server, tmp_path, ssh_keys)
    assert client.exec("cat down", **how) == CONTENT
    up = client.exec("tar xf -", input=tar_of("up", CONTENT), **how)
    assert up == b"" and (old_server.root / "up").read_bytes() == CONTENT


def test_old_clients_get_new_keys_in_mid_transfer(old_server, ssh_keys, tmp_path):
    client = ssh_clients.OpenSsh(old_server, tmp_path, ssh_keys)
    for cipher in "aes128-cbc", "3des-cbc":
        assert client.exec("cat down", cipher=cipher, mac="hmac-sha1", rekey=64 << 10) == CONTENT


@pytest.mark.parametrize("kind, how", [(ssh_clients.Paramiko, {"cipher": "aes128-cbc", "mac": "hmac-sha1"}),
                                       (ssh_clients.Paramiko, {"cipher": "3des-cbc", "mac": "hmac-sha1"}),
                                       (ssh_clients.Asyncssh, {"cipher": "aes256-cbc", "mac": "hmac-sha1"}),
                                       (ssh_clients.Asyncssh, {"cipher": "3des-cbc", "kex": "diffie-hellman-group14-sha1"}),
                                       (ssh_clients.Asyncssh, {"host_key": "ssh-rsa"})])
def test_other_old_clients_are_served_too(kind, how, old_server, ssh_keys, tmp_path):
    assert kind(old_server, tmp_path, ssh_keys).exec("cat down", **how) == CONTENT


# -- logins that are signed with SHA-1 --


def sha1_request(client, keys):
    """The question whether such a signature will do, and the request with it."""
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding
    key = serialization.load_ssh_private_key(keys.path("rsa").read_bytes(), None)
    blob = base64.b64decode(keys.public("rsa").split()[1])

    def request(is_signed):
        return raw.message(raw.AUTH_REQUEST, USER, "ssh-connection", "publickey", is_signed, "ssh-rsa", blob)
    signature = key.sign(raw.string(client.session_id) + request(True), padding.PKCS1v15(), hashes.SHA1())
    return request(False), request(True) + raw.string(raw.string("ssh-rsa") + raw.string(signature))


def test_a_login_signed_with_sha_1_is_taken_where_it_is_set(old_server, ssh_keys, tmp_path):
    with raw.Raw(old_server, stop="service") as client:
        question, request = sha1_request(client, ssh_keys)
        client.send(question)
        assert client.expect(raw.PK_OK)
        client.send(request[:-1] + bytes([request[-1] ^ 1]))
        client.expect(raw.AUTH_FAILURE)
        client.send(request)
        client.expect(raw.AUTH_SUCCESS)
        assert client.can_work("cat down", CONTENT)
    sha1 = "-oPubkeyAcceptedAlgorithms=ssh-rsa"  # OpenSSH does so if the server names it
    assert ssh_clients.OpenSsh(old_server, tmp_path, ssh_keys).exec("cat down", user_key="rsa", flags=[sha1]) == CONTENT
    asyncssh = ssh_clients.Asyncssh(old_server, tmp_path, ssh_keys)
    assert asyncssh.exec("cat down", user_key="rsa", signature="ssh-rsa") == CONTENT


def test_a_login_signed_with_sha_1_is_refused_otherwise(shared_ssh_server, ssh_keys, tmp_path):
    with raw.Raw(shared_ssh_server, stop="service") as client:
        for message in sha1_request(client, ssh_keys):
            client.send(message)
            client.expect(raw.AUTH_FAILURE)
    said = ssh_clients.OpenSsh(shared_ssh_server, tmp_path, ssh_keys).exec(
        "cat small", expect=255, user_key="rsa", flags=["-v", "-oPubkeyAcceptedAlgorithms=ssh-rsa"])
    assert b"no mutual signature algorithm" in said


def test_a_client_of_today_gets_what_it_would_get_without_the_setting(old_server, ssh_keys, tmp_path):
    said = ssh_clients.OpenSsh(old_server, tmp_path, ssh_keys).exec("nothing", expect=127, flags=["-v"]).decode()
    chosen = [line for line in said.splitlines() if " kex: " in line]
    assert len(chosen) == 4 and not any("cbc" in line or "sha1" in line or "ssh-rsa" in line for line in chosen)
    assert old_server.records("legacy_ssh")


@pytest.mark.parametrize("how", [how for how in OLD if not any(value[0] == "+" for value in how.values())], ids=ssh_clients.name_of)
def test_an_old_client_is_refused_otherwise(how, shared_ssh_server, ssh_keys, tmp_path):
    said = ssh_clients.OpenSsh(shared_ssh_server, tmp_path, ssh_keys).exec("cat small", expect=255, **how).decode()
    assert "no matching " in said
    assert not shared_ssh_server.records("legacy_ssh")
