"""ferry cp obeys ssh's configuration in what a connection is made of, and its own options come first."""

import subprocess

import pytest

from conftest import random_bytes
from test_client_places import FERRY, HOST, ferry, home, sshd  # noqa: F401


def chosen(*args):
    done = subprocess.run([FERRY, "cp", "--explain", *map(str, args)], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done
    rows = dict(line.split(None, 1) for line in done.stderr.splitlines() if line.split(None, 1)[0] in ("cipher", "compression"))
    return rows["cipher"].strip(), rows["compression"].strip()


@pytest.mark.parametrize("lines, options, cipher, compression", [
    ("Compression yes\nCiphers aes256-ctr", (), "aes256-ctr", "zlib@openssh.com"),
    ("Compression no\nCiphers aes192-ctr,aes128-ctr", (), "aes192-ctr", "none"),
    ("Compression yes\nCiphers aes256-ctr", ("--compress", "none", "-c", "aes128-ctr"), "aes128-ctr", "none"),
    ("Compression no", ("-C", "-c", "aes128-ctr"), "aes128-ctr", "zlib@openssh.com"),
    ("Match host %s\nCompression yes\nCiphers aes256-ctr" % HOST, (), "aes256-ctr", "zlib@openssh.com"),
])
def test_compression_and_ciphers_are_those_of_the_configuration(sshd, home, tmp_path, lines, options, cipher, compression):
    (home / ".ssh" / "config").write_text(lines + "\n")
    sshd.put("f", random_bytes(1000))
    assert chosen(*options, sshd.url + "/f", tmp_path / "f") == (cipher, compression)


@pytest.mark.parametrize("line", ["ProxyJump near", "ProxyCommand nc %h %p"])
def test_a_proxy_is_refused_in_words_and_none_is_none(sshd, home, tmp_path, line):
    sshd.put("f", b"x")
    (home / ".ssh" / "config").write_text(line + "\n")
    assert "ProxyJump" in ferry("cp", sshd.url + "/f", tmp_path / "f", expect=3)
    (home / ".ssh" / "config").write_text(line.split()[0] + " none\n")
    ferry("cp", sshd.url + "/f", tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == b"x"
