"""ferry cp of directories as a compressed stream of tar: zstd and gzip, what is chosen, what is refused."""

import socket
import subprocess
import time

import pytest

from conftest import random_bytes, require
from test_client_places import FERRY, OwnServer, Sshd, dropbear, ferry, home, own, sshd  # noqa: F401
from test_cp import lines
from test_cp_tar import same, told
from test_cp_tar_broken import Valve, big_tree, host, summary, tree, valve  # noqa: F401

LEVELS = ["zstd", "zstd:1", "zstd:3", "zstd:19", "auto"]


@pytest.fixture(params=["ferryd", "sshd"])
def server(request, home):
    require("zstd")
    if request.param == "ferryd":
        server = OwnServer(request.getfixturevalue("own"), "sftp")
        server.port = request.getfixturevalue("own").ports[1]
        return server
    return request.getfixturevalue("sshd")


@pytest.fixture
def text(tmp_path):
    """A tree of words, 4 MB: level 3 makes a quarter of it."""
    top = tmp_path / "text"
    for i in range(40):
        (top / ("d%d" % (i % 4))).mkdir(parents=True, exist_ok=True)
        words = random_bytes(25_000, i)
        (top / ("d%d" % (i % 4)) / ("t%d" % i)).write_bytes(b" ".join(b"word%d" % (b % 97) for b in words)[:100_000])
    return top


def size_of(top):
    return sum(p.stat().st_size for p in top.rglob("*") if p.is_file())


class Meter(Valve):
    """Counts what goes to the server, and holds it up if asked to: a link of about 1 MB/s."""

    def __init__(self, server, home):
        self.sent, self.pause = 0, 0
        if isinstance(server, OwnServer):
            super(Valve, self).__init__(server.port)
            self.url = server.url.replace(":%d" % server.port, ":%d" % self.port)
        else:
            super().__init__(server, home)
        self.to_server = server.port

    def slow_down(self):
        self.pause = 1e-6
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)

    def carry(self, source, sink):
        meter, is_up = self, sink.getpeername()[1] == self.to_server

        class Sink:
            @staticmethod
            def sendall(data):
                if is_up:
                    meter.sent += len(data)
                    time.sleep(meter.pause * len(data))  # the link's rate
                sink.sendall(data)

            shutdown = sink.shutdown
        super(Valve, self).carry(source, Sink)


@pytest.fixture
def meter(server, home):
    m = Meter(server, home)
    yield m
    m.stop()


def packings(out):
    return [line.get("compression") for line in lines(out) if line.get("method") == "tar"]


# -- what arrives, and in how many bytes --


@pytest.mark.parametrize("packing", LEVELS)
def test_a_tree_arrives_and_takes_fewer_bytes(server, meter, text, tmp_path, packing):
    if packing in ("auto", "zstd"):
        meter.slow_down()  # on a fast link nothing may be worth its time
    _, out = told("-r", "--method", "tar", "--compress", packing, text, meter.url + "/copy")
    assert packings(out) == ["zstd"] and summary(out)["bytes"] == size_of(text)
    assert meter.sent < size_of(text) / 2
    ferry("cp", "-r", meter.url + "/copy", tmp_path / "back")
    assert same(text, tmp_path / "back")


def test_without_compression_all_bytes_go(server, meter, text):
    _, out = told("-r", "--method", "tar", text, meter.url + "/copy")
    assert packings(out) == [None] and meter.sent > size_of(text)


def test_a_high_level_takes_fewer_bytes_than_a_low_one(server, meter, text):
    sent = []
    for level in 1, 19:
        meter.sent = 0
        told("-r", "--method", "tar", "--compress", "zstd:%d" % level, text, meter.url + "/copy%d" % level)
        sent.append(meter.sent)
    assert sent[1] < sent[0]


def test_what_cannot_be_compressed_grows_by_little(server, meter, tmp_path):
    noise = tmp_path / "noise"
    noise.mkdir()
    for i in range(20):
        (noise / str(i)).write_bytes(random_bytes(200_000, i))
    told("-r", "--method", "tar", "--compress", "auto", noise, meter.url + "/copy")
    assert size_of(noise) < meter.sent < size_of(noise) * 1.03 + 100_000


def test_zlib_is_ssh_s_where_it_has_it(server, meter, text):
    _, out = told("-r", "--method", "tar", "--compress", "zlib:6", text, meter.url + "/copy")
    assert packings(out) == [None] and meter.sent < size_of(text) / 2


def test_explain_says_how_it_was_compressed(server, text):
    run = subprocess.run([FERRY, "cp", "--explain", "-r", "--compress", "zstd:5", text, server.url + "/copy"],
                         capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert "compression  zstd of the stream of tar, level 5\n" in run.stderr
    run = subprocess.run([FERRY, "cp", "--explain", "-r", "--compress", "auto", text, server.url + "/other"],
                         capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    assert "compression  zstd of the stream of tar, level chosen, last " in run.stderr


# -- hosts that have less --


def test_gzip_stands_in_where_ssh_does_not_compress(tmp_path, home, text):
    server = Sshd(tmp_path / "sshd", home, "Subsystem sftp /usr/lib/openssh/sftp-server\nCompression no")
    meter = Meter(server, home)
    try:
        _, out = told("-r", "--method", "tar", "--compress", "zlib:6", text, meter.url + "/copy")
        assert packings(out) == ["gzip"] and meter.sent < size_of(text) / 2
        assert same(text, server.files / "copy")
    finally:
        meter.stop()
        server.stop()



NO_ZSTD = 'case "$*" in *--zstd*) echo no zstd here >&2; exit 2;; esac\n'


@pytest.fixture
def poor(host):
    """A host whose tar has no zstd, and says so when it is asked to list."""
    server = host('exec $REAL "$@"')
    path = server.bin / "tar"
    path.write_text(path.read_text().replace("#!/bin/sh\n", "#!/bin/sh\n" + NO_ZSTD))
    return server


def test_auto_does_without_zstd(poor, tree, home):
    _, out = told("-r", "--method", "tar", "--compress", "auto", tree, poor.url + "/copy")
    assert packings(out) == [None] and same(tree, poor.files / "copy")


def test_zstd_is_refused_where_the_server_has_none(poor, tree):
    for method in "tar", "auto":
        said = ferry("cp", "-r", "--method", method, "--compress", "zstd", tree, poor.url + "/copy", expect=1)
        assert "cannot unpack zstd; --compress auto" in said
    assert [p for p in poor.files.rglob("*") if p.is_file()] == []


def test_a_host_that_claims_zstd_and_has_it_not_is_served_file_by_file(host, tree):
    server = host(NO_ZSTD + 'exec $REAL "$@"')
    _, out = told("-r", "--method", "tar", "--compress", "zstd", tree, server.url + "/copy")
    assert "no zstd here" in out and same(tree, server.files / "copy")
    assert summary(out)["failed"] == 0


@pytest.mark.parametrize("args", [
    ["tree", "host:x"], ["-r", "--method", "sftp", "tree", "host:x"], ["-r", "tree", "ftp://host/x"],
    ["-r", "--verify", "tree", "host:x"], ["-r", "tree", "/tmp/x"], ["-r", "host:x", "ftp://host/y"]])
def test_zstd_without_a_stream_of_tar_is_a_wrong_use(home, args):
    assert "--compress zstd: only a stream of tar" in ferry("cp", "--compress", "zstd", *args, expect=2)


@pytest.mark.parametrize("word", ["zstd:0", "zstd:20", "zstd:-1", "zstd:", "auto:3", "lz4"])
def test_levels_that_are_none_are_a_wrong_use(home, word):
    assert "--compress" in ferry("cp", "-r", "--compress", word, "x", "host:y", expect=2)


def test_a_file_among_directories_is_refused_by_name(own, tree):
    url = OwnServer(own, "sftp").url
    ferry("mkdir", url + "/to")
    _, out = told("-r", "--compress", "zstd", tree, tree / "last", url + "/to", expect=1)
    failed = [line for line in lines(out) if line.get("result") == "failed"]
    assert [f["file"] for f in failed] == [str(tree / "last")] and "zstd is for directories" in failed[0]["why"]
    assert same(tree, own.root / "to" / "tree")


# -- broken on the way --


def test_after_a_cut_within_a_compressed_stream_the_rest_follows(host, valve, big_tree):
    server = host('gate 3000000 | $REAL "$@"')
    link = valve(server)
    process = subprocess.Popen([FERRY, "cp", "--json", "-r", "--compress", "zstd", big_tree, link.url + "/copy"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    server.wait_for_gate()
    link.cut()
    server.open_gate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, (out, err)
    assert same(big_tree, server.files / "copy") and summary(out)["failed"] == 0


def test_a_stream_that_a_host_damages_is_mended(host, tree):
    """The checksum of a frame is wrong by the time it is unpacked."""
    (tree / "sub" / "more").write_bytes(random_bytes(3_000_000))
    damage = "python3 -c 'import sys; d = bytearray(sys.stdin.buffer.read()); d[%d] ^= 1; sys.stdout.buffer.write(d)'"
    server = host(damage % 1_000_000 + ' | $REAL "$@"')
    _, out = told("-r", "--method", "tar", "--compress", "zstd:1", tree, server.url + "/copy")
    assert "sftp" in [line.get("method") for line in lines(out)]
    assert same(tree, server.files / "copy") and summary(out)["failed"] == 0
