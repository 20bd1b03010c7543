"""What a scanner finds, and the marks of strict key exchange, which keep a man in the middle (Terrapin) out."""

import pathlib
import re
import subprocess

import pytest

import ssh_raw as raw
from conftest import require
from ssh_raw import Raw

ALLOWED = pathlib.Path(__file__).with_name("ssh_audit_allow.txt")


def allowed():
    """Beginnings of findings. A line without a reason counts for nothing."""
    lines = [line.split(" :: ") for line in ALLOWED.read_text().splitlines() if line and not line.startswith("#")]
    assert all(len(line) == 2 and len(line[1]) > 20 for line in lines), lines
    return [line[0] for line in lines]


def test_ssh_audit_finds_nothing_that_has_no_reason(ssh_server):
    require("ssh-audit")
    done = subprocess.run(["ssh-audit", "--no-colors", "--batch", "-p", str(ssh_server.port), "127.0.0.1"], capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL)
    lines = done.stdout.splitlines()
    assert any(line.startswith("(kex) curve25519-sha256 ") for line in lines), done
    assert any(line.startswith("(enc) aes128-gcm") for line in lines), done
    findings = [line for line in lines if re.search(r"\[(warn|fail)\]|^\((rec|cve|sec)\)", line)]
    unexplained = [line for line in findings if not line.startswith(tuple(allowed()))]
    assert not unexplained, "\n".join(unexplained)


def lists_of(server, stop, **how):
    """Name-lists of the server's KEXINIT, to a client that has sent its own (or not yet)."""
    with Raw(server, stop=stop, **how) as client:
        reader = raw.Reader(client.expect(raw.KEXINIT)[17:])
        return [reader.string().decode().split(",") for _ in range(10)]


def test_a_client_that_waits_is_offered_all_and_nothing_weak(ssh_server):
    kex, host_keys, to_server, to_client, mac_in, mac_out, packed_in, packed_out, _, _ = lists_of(ssh_server, "ident")
    if kex[0] == "mlkem768x25519-sha256":  # where libcrypto has it
        kex = kex[1:]
    assert kex == ["curve25519-sha256", "curve25519-sha256@libssh.org", "diffie-hellman-group16-sha512", "ext-info-s",
                   "kex-strict-s-v00@openssh.com"]
    assert host_keys == ["ssh-ed25519", "rsa-sha2-512", "rsa-sha2-256"]
    assert to_server == to_client and set(to_server) == {"aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes192-ctr",
                                                         "aes256-ctr", "chacha20-poly1305@openssh.com"}
    assert mac_in == mac_out == ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512"]
    assert packed_in == packed_out == ["none", "zlib@openssh.com"]


@pytest.mark.parametrize("ident, is_steered", [(b"SSH-2.0-OpenSSH_9.2p1 Debian-2", True), (b"SSH-2.0-PuTTY_Release_0.78", False),
                                                (b"SSH-2.0-raw OpenSSH", False)])
def test_openssh_alone_is_offered_nothing_but_the_cipher_that_it_should_take(ident, is_steered, ssh_server):
    ciphers = "chacha20-poly1305@openssh.com,aes128-ctr,aes128-gcm@openssh.com,aes256-gcm@openssh.com"
    all_of_them = lists_of(ssh_server, "ident", ident=ident)[2]
    is_gcm_first = "-gcm" in all_of_them[0]
    wanted = [name for name in all_of_them if "-gcm" in name] if is_steered and is_gcm_first else all_of_them
    for _ in range(5):  # our KEXINIT may come after the 100 ms for which it is waited
        offered = lists_of(ssh_server, "kexinit", ident=ident, kexinit_lists={"cipher": ciphers})[2:4]
        if offered == [wanted, wanted]:
            break
    assert offered == [wanted, wanted] and len(all_of_them) == 6


def test_the_mark_of_strict_exchange_stands_in_the_first_offer_alone(ssh_server):
    assert "kex-strict-s-v00@openssh.com" in lists_of(ssh_server, "kexinit")[0]
    with Raw(ssh_server) as client:
        client.send_kexinit()
        again = client.expect(raw.KEXINIT)
        assert b"kex-strict" not in again and b"ext-info" not in again
        client.finish_kex(again)
        client.open()


def test_numbers_of_packets_begin_again_with_new_keys(ssh_server):
    """A client that does not start again is not understood."""
    with Raw(ssh_server) as client:
        client.send_kexinit()
        before = client.sent
        client.finish_kex()
        client.sent = before + 2
        client.send(client.open_message())
        assert client.is_ended()
