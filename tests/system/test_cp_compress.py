"""ferry cp --compress over FTP: MODE Z where the server has it, said where it has not."""

import subprocess

import pytest

from conftest import wait_until
from test_client_places import FERRY, FtpPeer, OwnServer, ferry, home, own  # noqa: F401
from test_bench_peers import Peer

TEXT = b"".join(b"%d: all work and no play\n" % i for i in range(100000))


def said(*args):
    done = subprocess.run([FERRY, "cp", *map(str, args)], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, start_new_session=True)
    return done.returncode, done.stderr


def record(server, operation):
    return wait_until("it is recorded", lambda: [r for r in server.records("audit") if r["operation"] == operation])[-1]


@pytest.mark.parametrize("how", ["zlib:1", "zlib:9", "auto"])
def test_both_ways_are_compressed_on_the_wire(own, tmp_path, how):
    url = OwnServer(own, "ftp").url
    here, back = tmp_path / "here", tmp_path / "back"
    here.write_bytes(TEXT)
    ferry("cp", "--compress", how, here, url + "/there")
    assert (own.root / "there").read_bytes() == TEXT
    ferry("cp", "--compress", how, url + "/there", back)
    assert back.read_bytes() == TEXT
    for operation in ("upload", "download"):
        r = record(own, operation)
        assert r["compression"].startswith("zlib") and r["bytes"] == len(TEXT)
        if how != "auto":  # which may find that the loopback is faster than it is
            assert r["wire_bytes"] < len(TEXT) / 3


def test_nothing_is_compressed_unasked(own, tmp_path):
    here = tmp_path / "here"
    here.write_bytes(TEXT)
    ferry("cp", here, OwnServer(own, "ftp").url + "/there")
    assert record(own, "upload")["compression"] == "none"


def test_a_server_without_it_is_told_of_and_served_plainly(home, tmp_path):
    peer = Peer("vsftpd")
    try:
        url = FtpPeer(peer).url
        here, back = tmp_path / "here", tmp_path / "back"
        here.write_bytes(TEXT)
        code, text = said("--compress", "zlib:6", here, url + "/there")
        assert code == 0 and "no MODE Z" in text
        ferry("cp", "--compress", "auto", url + "/there", back)
        assert back.read_bytes() == TEXT
    finally:
        peer.stop()
