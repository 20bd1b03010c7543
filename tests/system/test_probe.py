"""ferry probe against other people's servers and ours: what it finds, and that nothing of it stays."""

import json
import os
import re
import signal
import subprocess

import pytest

from conftest import random_bytes, wait_until
from test_client_places import (FERRY, HOST, FtpPeer, OwnServer, Sshd, dropbear, ferry, free_port, home,  # noqa: F401
                                own, sshd)
from test_bench_peers import Peer
from test_cp import Relay

SHORT = ("--seconds", "1", "--size", "4M")
WAYS = ["none"] + ["zlib:%d" % level for level in range(1, 10)] + ["auto"]


def probe(url, *args, expect=0):
    said = ferry("probe", "--json", *SHORT, *args, url, expect=expect)
    return json.loads(said) if expect == 0 else said


def left_over(folder):
    """Hidden files, a server's own partial ones too."""
    return [name for _, _, files in os.walk(folder) for name in files if "ferry" in name]


@pytest.fixture(params=["ferryd-ftp", "ferryd-sftp", "sshd", "dropbear", "vsftpd", "proftpd"])
def place(request, home):
    if request.param.startswith("ferryd-"):
        server = OwnServer(request.getfixturevalue("own"), request.param.split("-")[1])
        server.files = server.root
        yield server
    elif request.param in ("sshd", "dropbear"):
        yield request.getfixturevalue(request.param)
    else:
        peer = Peer(request.param)
        try:
            yield FtpPeer(peer)
        finally:
            peer.stop()


def test_both_ways_are_measured_and_nothing_stays(place):
    found = probe(place.url)
    assert found["to"]["bytes_per_s"] > 0 and 0 < found["to"]["bytes"] <= 4 << 20
    assert found["from"]["bytes_per_s"] > 0
    assert found["login_s"] > 0 and found["round_trip_ms"] > 0
    is_ssh = place.url.startswith("sftp")
    expected = (WAYS + ["ssh"] * is_ssh) if found["can_compress"] else ["none"]
    assert [way["compress"] for way in found["predicted"]] == expected
    assert all(way["bytes_per_s"] > 0 for way in found["predicted"])
    assert found["predicted"][0]["bytes_per_s"] == found["to"]["bytes_per_s"]
    best = found["advice"]
    assert best["bytes_per_s"] in [way["bytes_per_s"] for way in found["predicted"] if way["compress"] == best["compress"]]
    assert ("ssh_config" in best, "cipher" in found) == (is_ssh, is_ssh)
    assert "ferry" not in ferry("ls", "-a", place.url + "/")
    if hasattr(place, "files"):
        assert left_over(place.files) == []
