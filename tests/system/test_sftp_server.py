"""`ferryd sftp-server` on standard input and output, with OpenSSH's sftp and its own regression tests."""

import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess

import pytest

from conftest import BIN, IS_SANITIZED, require

REGRESS = pathlib.Path("/usr/lib/openssh/regress/run-tests")
SECONDS = 60
SERVER = "%s sftp-server" % (BIN / "ferryd")


class Sftp:
    """OpenSSH's client in batch mode, in a folder, whose server starts in another."""

    def __init__(self, folder):
        self.local = folder / "local"
        self.remote = folder / "remote"
        self.local.mkdir()
        self.remote.mkdir()

    def command(self, options=""):
        return ["sftp", "-b", "-", "-D", "%s -d %s %s" % (SERVER, self.remote, options)]

    def run(self, *lines, options="", fails=False):
        done = subprocess.run(self.command(options), cwd=self.local, input="\n".join(lines) + "\n", text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
        assert (done.returncode != 0) == fails, done.stdout
        assert "Sanitizer" not in done.stdout, done.stdout
        return done.stdout


@pytest.fixture
def sftp(tmp_path):
    require("sftp")
    return Sftp(tmp_path)


@pytest.fixture(scope="module")
def large():
    return os.urandom(20 * 1024 * 1024 + 12345)


def test_files_go_there_and_back(sftp, large):
    (sftp.local / "large").write_bytes(large)
    (sftp.local / "empty").write_bytes(b"")
    (sftp.local / "a b").write_bytes(b"blank")
    sftp.run("put large", "put empty", 'put "a b"', "get large large2", "get empty empty2", 'get "a b" c')
    assert (sftp.remote / "large").read_bytes() == large
    assert (sftp.local / "large2").read_bytes() == large
    assert (sftp.local / "empty2").read_bytes() == b""
    assert (sftp.local / "c").read_bytes() == b"blank"
    assert sorted(p.name for p in sftp.remote.iterdir()) == ["a b", "empty", "large"]


@pytest.mark.parametrize("arguments", ["-B 1000 -R 1", "-B 4096 -R 200", "-B 261120 -R 64"])
def test_any_size_and_number_of_requests_works(sftp, large, arguments):
    data = large[:3000000]
    (sftp.local / "f").write_bytes(data)
    command = sftp.command()[:1] + arguments.split() + sftp.command()[1:]
    subprocess.run(command, cwd=sftp.local, input=b"put f\nget f g\n", timeout=SECONDS, check=True,
                   stdout=subprocess.DEVNULL)
    assert (sftp.remote / "f").read_bytes() == data
    assert (sftp.local / "g").read_bytes() == data


def test_transfers_that_broke_off_are_resumed(sftp, large):
    (sftp.local / "f").write_bytes(large)
    (sftp.remote / "f").write_bytes(large[:1234567])
    sftp.run("reput f")
    assert (sftp.remote / "f").read_bytes() == large
    (sftp.local / "f").write_bytes(large[:7654321])
    sftp.run("reget f")
    assert (sftp.local / "f").read_bytes() == large


def test_folders_times_and_permissions_are_kept(sftp):
    tree = sftp.local / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "sub" / "f").write_bytes(b"deep")
    (tree / "sub" / "f").chmod(0o751)
    os.utime(tree / "sub" / "f", (1000000000, 1000000000))
    sftp.run("put -rp tree", "get -rp tree copy")
    for f in (sftp.remote / "tree" / "sub" / "f", sftp.local / "copy" / "sub" / "f"):
        assert f.read_bytes() == b"deep"
        assert f.stat().st_mtime == 1000000000
        assert stat.S_IMODE(f.stat().st_mode) == 0o751


def test_names_are_made_changed_and_removed(sftp):
    (sftp.remote / "f").write_bytes(b"contents")
    shown = sftp.run("mkdir d", "rename f d/g", "chmod 640 d/g", "symlink g d/soft", "ln d/g hard", "cp hard copied",
                     "ls -l d", "df", "rm hard", "pwd")
    assert "drwxr" not in shown and "-rw-r-----" in shown and "lrwxrwxrwx" in shown and "%Capacity" in shown
    assert str(sftp.remote) in shown
    assert os.readlink(sftp.remote / "d" / "soft") == "g"
    assert (sftp.remote / "d" / "soft").read_bytes() == b"contents"
    assert (sftp.remote / "copied").read_bytes() == b"contents"
    assert not (sftp.remote / "hard").exists()
    sftp.run("rm d/soft", "rm d/g", "rmdir d", "rm copied")
    assert not list(sftp.remote.iterdir())


def test_a_folder_of_many_names_is_listed_whole(sftp):
    for i in range(1500):
        (sftp.remote / ("name %04d" % i)).touch()
    shown = sftp.run("ls -1")
    assert [line for line in shown.splitlines() if line.startswith("name")] == ["name %04d" % i for i in range(1500)]


@pytest.mark.parametrize("options, line", [
    ("-R", "put f"), ("-R", "mkdir d"), ("-R", "rm there"), ("-R", "chmod 600 there"),
    ("-P remove,fsync", "rm there"), ("-p realpath,stat,lstat", "rm there"),
])
def test_what_options_forbid_is_refused(sftp, options, line):
    (sftp.local / "f").write_bytes(b"f")
    (sftp.remote / "there").write_bytes(b"still")
    (sftp.remote / "there").chmod(0o644)
    shown = sftp.run(line, options=options, fails=True)
    assert "ermission denied" in shown or "not permitted" in shown
    assert (sftp.remote / "there").read_bytes() == b"still"
    assert [p.name for p in sftp.remote.iterdir()] == ["there"]
    assert stat.S_IMODE((sftp.remote / "there").stat().st_mode) == 0o644


def test_the_umask_of_an_option_holds(sftp):
    (sftp.local / "f").write_bytes(b"f")
    (sftp.local / "f").chmod(0o666)
    sftp.run("put f", "mkdir d", options="-u 027")
    assert stat.S_IMODE((sftp.remote / "f").stat().st_mode) == 0o640
    assert stat.S_IMODE((sftp.remote / "d").stat().st_mode) == 0o750


def test_the_log_goes_to_standard_error_where_it_is_asked_for(sftp):
    (sftp.local / "f").write_bytes(b"f")
    assert "upload" not in sftp.run("put f")
    shown = sftp.run("put f", "get f g", options="-e -l DEBUG")
    assert '"operation":"upload"' in shown and '"operation":"download"' in shown
    assert "request" in shown and "name=\"open\"" in shown


def test_requests_are_listed_as_sftp_servers_are():
    shown = subprocess.run(SERVER.split() + ["-Q", "requests"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = shown.split()
    assert names[:5] == ["open", "close", "read", "write", "lstat"]
    assert {"posix-rename", "statvfs", "limits", "copy-data", "expand-path"} <= set(names)


@pytest.mark.parametrize("options", [["-Q", "ciphers"], ["-x"], ["-l", "LOUD"], ["-u", "9"], ["-h"]])
def test_options_that_are_none_are_refused(options):
    done = subprocess.run(SERVER.split() + options, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and done.stderr


@pytest.mark.parametrize("words", [["--", "host", "sftp"], ["-e", "extra", "-x"]])
def test_words_behind_the_options_have_no_meaning(words):
    subprocess.run(SERVER.split() + words, stdin=subprocess.DEVNULL, timeout=SECONDS, check=True)


def test_it_reads_a_file_and_writes_to_nowhere(tmp_path):
    requests = tmp_path / "requests"
    requests.write_bytes(bytes([0, 0, 0, 5, 1, 0, 0, 0, 3, 0, 0, 0, 10, 16, 0, 0, 0, 1, 0, 0, 0, 1, 46]))
    answers = tmp_path / "answers"
    with open(requests, "rb") as input_file, open(answers, "wb") as output:
        subprocess.run(SERVER.split(), stdin=input_file, stdout=output, timeout=SECONDS, check=True)
    assert answers.read_bytes()[4:9] == bytes([2, 0, 0, 0, 3])
    with open("/dev/null", "wb") as nowhere:
        subprocess.run(SERVER.split(), stdin=subprocess.DEVNULL, stdout=nowhere, timeout=SECONDS, check=True)


def test_signals_end_it():
    process = subprocess.Popen(SERVER.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(bytes([0, 0, 0, 5, 1, 0, 0, 0, 3]))
    process.stdin.flush()
    assert len(process.stdout.read(5)) == 5
    process.terminate()
    assert process.wait(SECONDS) == -signal.SIGTERM


@pytest.mark.skipif(IS_SANITIZED, reason="a minute, and nothing that the plain build does not find")
@pytest.mark.parametrize("name", ["sftp", "sftp-cmds", "sftp-badcmds", "sftp-batch", "sftp-glob", "sftp-perm", "scp",
                                  "scp3", "scp-uri"])
def test_openssh_regression(tmp_path, name):
    require("sftp", "make")
    if not REGRESS.exists():
        pytest.skip("not installed: openssh-tests")
    wrapper = tmp_path / "sftp-server"  # the suite takes a path, without arguments
    wrapper.write_text('#!/bin/sh\nexec %s "$@"\n' % SERVER)
    wrapper.chmod(0o755)
    scratch = tmp_path / "rg"
    scratch.mkdir()
    done = subprocess.run([REGRESS, scratch, "t-exec", "TEST_SSH_SFTPSERVER=%s" % wrapper, "LTESTS=" + name, "SUDO="],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    shutil.rmtree(scratch)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^ok (basic )?(sftp|scp)", done.stdout, re.MULTILINE), done.stdout
