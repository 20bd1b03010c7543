"""MODE Z with programs that others wrote: lftp as the client, ProFTPD's mod_deflate as the server."""

import os
import pathlib
import shutil
import subprocess
import time

import pytest

from clients import Lftp
from conftest import BIN, PASSWORD, USER, random_bytes
from test_ssh_engine import free_port

CACHED = pathlib.Path("/var/cache/ferry/peers/proftpd")  # where `ferry bench peers --install` unpacks it
TEXT = b"".join(b"%d bottles of beer on the wall\n" % i for i in range(100_000))
CONTENTS = {"empty": b"", "one byte": b"\n", "text": TEXT, "noise": random_bytes(3_000_000),
            "both": TEXT + random_bytes(500_000) + TEXT, "zeros": bytes(5_000_000)}


# -- lftp --


class LftpZ(Lftp):
    """lftp 4.9.2 recodes the names of a listing in a second buffer above the one that decompresses. When the stream has
    ended and the upper buffer is empty it closes both, whatever the lower still holds (IOBufferStacked::TranslationEOF
    in its buffer.h), and calls the listing complete: on a busy machine the last lines are missing, with any server.
    Without UTF-8 there is one buffer."""

    level = 6

    def command(self, *words, **how):
        command = super().command(*words, **how)
        command[2] = command[2].replace(b"set ftp:use-mode-z no", b"set ftp:use-mode-z yes; set ftp:use-utf8 no; "
                                        b"set ftp:mode-z-level %d" % self.level)
        return command


@pytest.fixture
def lftp(server, tmp_path):
    return LftpZ(server, tmp_path)


def compressions(server, operation):
    return [r["compression"] for r in server.records("audit") if r["operation"] == operation]


@pytest.mark.parametrize("level", [1, 9])
@pytest.mark.parametrize("name", list(CONTENTS))
def test_lftp_gets_and_puts_every_byte(lftp, server, root, tmp_path, name, level):
    lftp.level = level
    content, local = CONTENTS[name], tmp_path / "local"
    (root / "down").write_bytes(content)
    lftp.get(b"down", local)
    assert local.read_bytes() == content
    lftp.put(local, b"up")
    assert (root / "up").read_bytes() == content
    assert server.last_audit("download")["compression"] == "zlib:auto"  # or it tested nothing
    assert server.last_audit("upload")["compression"] == "zlib"


def test_lftp_resumes_in_both_directions(lftp, server, root, tmp_path):
    local = tmp_path / "local"
    (root / "file").write_bytes(TEXT)
    local.write_bytes(TEXT[:1_000_000])
    lftp.get(b"file", local, resume=True)
    assert local.read_bytes() == TEXT
    assert server.last_audit("download")["offset"] == 1_000_000
    (root / "file").write_bytes(TEXT[:700_000])
    lftp.put(local, b"file", resume=True)
    assert (root / "file").read_bytes() == TEXT
    assert set(compressions(server, "download") + compressions(server, "upload")) == {"zlib:auto", "zlib"}


def test_lftp_lists_thousands_of_names(lftp, root):
    names = ["a rather long name, number %05d" % i for i in range(5000)]
    for name in names:
        (root / name).touch()
    assert lftp.run(*lftp.command("cls", "-1")).decode().split("\n")[:-1] == names


def test_lftp_mirrors_a_tree_there_and_back(lftp, root, tmp_path):
    tree = tmp_path / "tree"
    for i in range(5):
        (tree / ("d%d" % i)).mkdir(parents=True)
        for j in range(8):
            (tree / ("d%d" % i) / ("f%d" % j)).write_bytes(TEXT[: i * j * 5000])
    lftp.run(*lftp.command("mirror", "-R", "--parallel=3", str(tree), "/tree"))
    lftp.run(*lftp.command("mirror", "--parallel=3", "/tree", str(tmp_path / "back")))
    for copy in (root / "tree", tmp_path / "back"):
        subprocess.run(["diff", "-r", tree, copy], check=True)


# -- ProFTPD --


class Proftpd:
    """With one account, whose files are in `root`; and our client."""

    def __init__(self, folder):
        cached = CACHED if (CACHED / "usr/sbin/proftpd").exists() else pathlib.Path("/")
        program, modules = cached / "usr/sbin/proftpd", cached / "usr/lib/proftpd"
        self.engine = next((path for path in (BIN / "ftp_engine", pathlib.Path(os.environ.get("FERRY_TOOLS", "/"))
                                              / "ftp_engine") if path.is_file()), None)
        if self.engine is None:
            pytest.skip("ftp_engine is not built")
        if not (modules / "mod_deflate.so").exists() or not shutil.which("openssl"):
            pytest.skip("not installed: proftpd")
        self.root, self.port = folder / "served", free_port()
        self.root.mkdir()
        hashed = subprocess.run(["openssl", "passwd", "-6", PASSWORD], capture_output=True, text=True, check=True)
        accounts = folder / "accounts"
        accounts.write_text("%s:%s:%d:%d::%s:/bin/sh\n" % (
            USER, hashed.stdout.strip(), os.geteuid() or 65534, os.getegid() or 65534, self.root))
        accounts.chmod(0o600)
        if os.geteuid() == 0:
            os.chown(self.root, 65534, 65534)
            for parent in (folder, *folder.parents):
                if parent.stat().st_mode & 0o001 == 0:
                    parent.chmod(parent.stat().st_mode | 0o011)
        user = "User nobody\nGroup nogroup\n" if os.geteuid() == 0 else ""
        (folder / "proftpd.conf").write_text("""
ModulePath %s
LoadModule mod_deflate.c
DeflateEngine on
ServerName test
ServerType standalone
DefaultAddress 127.0.0.1
SocketBindTight on
UseIPv6 off
Port %d
%sAuthOrder mod_auth_file.c
AuthUserFile %s
AuthPAM off
RequireValidShell off
AllowOverwrite on
UseReverseDNS off
WtmpLog off
TransferLog none
SystemLog %s
PidFile %s
ScoreboardFile %s
DelayEngine off
""" % (modules, self.port, user, accounts, folder / "log", folder / "pid", folder / "scoreboard"))
        libraries = cached / "usr/lib/x86_64-linux-gnu"
        environment = dict(os.environ, LD_LIBRARY_PATH=str(libraries)) if cached == CACHED else None
        self.process = subprocess.Popen([program, "--nodaemon", "--quiet", "--config", folder / "proftpd.conf"],
                                        env=environment)
        for _ in range(500):
            if self.run("none", "list", "/", check=False).returncode == 0:
                return
            assert self.process.poll() is None, (folder / "log").read_text()
            time.sleep(0.02)  # until it listens
        self.stop()
        pytest.fail("proftpd does not answer: " + (folder / "log").read_text())

    def run(self, level, *command, check=True):
        done = subprocess.run([self.engine, str(self.port), USER, PASSWORD, str(level), *map(str, command)],
                              capture_output=True, timeout=60)
        assert not check or done.returncode == 0, done.stderr
        return done

    def wire_bytes(self, level, *command):
        return int(self.run(level, *command).stdout.split()[2])

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)


@pytest.fixture
def proftpd(tmp_path):
    server = Proftpd(tmp_path)
    yield server
    server.stop()


LARGEST_UPLOAD = 60_000  # mod_deflate of 1.3.8 damages or refuses larger ones, whoever sends them


@pytest.mark.parametrize("level", ["auto", 0, 1, 9])
def test_our_client_gets_every_byte_from_proftpd(proftpd, tmp_path, level):
    for content in CONTENTS.values():
        (proftpd.root / "file").write_bytes(content)
        proftpd.run(level, "get", "file", tmp_path / "back")
        assert (tmp_path / "back").read_bytes() == content


@pytest.mark.parametrize("level", ["auto", 0, 1, 9])
def test_our_client_puts_every_byte_to_proftpd(proftpd, tmp_path, level):
    local = tmp_path / "local"
    for content in CONTENTS.values():
        local.write_bytes(content[:LARGEST_UPLOAD])
        proftpd.run(level, "put", local, "file")
        assert (proftpd.root / "file").read_bytes() == content[:LARGEST_UPLOAD]


def test_both_ways_are_compressed(proftpd, tmp_path):
    local = tmp_path / "local"
    local.write_bytes(TEXT[:LARGEST_UPLOAD])
    assert 0 < proftpd.wire_bytes(9, "put", local, "file") < LARGEST_UPLOAD / 4
    assert 0 < proftpd.wire_bytes(9, "get", "file", tmp_path / "back") < LARGEST_UPLOAD / 4
    assert proftpd.wire_bytes("none", "get", "file", tmp_path / "back") == 0


def test_our_client_reads_proftpds_compressed_listing(proftpd):
    for i in range(3000):
        (proftpd.root / ("file-%04d" % i)).touch()
    lines = proftpd.run("auto", "list", ".").stderr.decode().splitlines()
    assert [line.split()[-1] for line in lines] == ["file-%04d" % i for i in range(3000)]
