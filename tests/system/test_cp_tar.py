"""ferry cp of directories as one stream of tar, over ssh."""

import json
import os
import stat
import subprocess

import pytest

from conftest import random_bytes
from test_client_places import FERRY, OwnServer, Sshd, dropbear, ferry, home, own, sshd  # noqa: F401
from test_cp import NAMES


@pytest.fixture(params=["ferryd", "sshd", "dropbear"])
def url(request, home):
    if request.param == "ferryd":
        return OwnServer(request.getfixturevalue("own"), "sftp").url
    return request.getfixturevalue(request.param).url


@pytest.fixture
def tree(tmp_path):
    top = tmp_path / "tree"
    (top / "sub" / "deep").mkdir(parents=True)
    (top / "empty").mkdir()
    for i, name in enumerate(NAMES):
        (top / "sub" / name).write_bytes(random_bytes(100 * i, i))
    for i in range(30):
        (top / "sub" / "deep" / str(i)).write_bytes(random_bytes(3000 + i, i))
    (top / "large").write_bytes(random_bytes(300000))
    return top


def same(one, two):
    return subprocess.run(["diff", "-r", one, two]).returncode == 0


def told(*args, expect=0):
    done = subprocess.run([FERRY, "cp", "--json", *map(str, args)], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, start_new_session=True)
    assert done.returncode == expect, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stdout


@pytest.mark.parametrize("method", ["tar", "auto"])
def test_every_file_of_a_tree_arrives_whatever_its_name(url, tree, tmp_path, method):
    lines, _ = told("-r", "--method", method, tree, url + "/copy")
    assert [line["method"] for line in lines if "method" in line] == ["tar"]
    assert lines[-1]["files"] == len(NAMES) + 31 and lines[-1]["failed"] == 0
    ferry("cp", "-r", "--method", "sftp", url + "/copy", tmp_path / "back")
    assert same(tree, tmp_path / "back")


def test_it_goes_into_a_directory_that_is_there_and_over_what_is_in_it(url, tree, tmp_path):
    ferry("mkdir", "-p", url + "/to/tree/sub")
    (tmp_path / "old").write_text("old")
    ferry("cp", tmp_path / "old", url + "/to/tree/sub/plain")
    ferry("cp", "-r", "--method", "tar", tree, url + "/to")
    ferry("cp", "-r", url + "/to/tree", tmp_path / "back")
    assert same(tree, tmp_path / "back")


def test_modes_and_times_are_kept_if_asked_for(url, tree, tmp_path):
    (tree / "large").chmod(0o640)
    (tree / "empty").chmod(0o750)
    for path in (tree / "large", tree / "empty"):
        os.utime(path, (1500000000, 1500000000))
    ferry("cp", "-r", "-p", "--method", "tar", tree, url + "/kept")
    ferry("cp", "-r", "-p", url + "/kept", tmp_path / "back")
    for name in ("large", "empty"):
        there = (tmp_path / "back" / name).stat()
        assert stat.S_IMODE(there.st_mode) == stat.S_IMODE((tree / name).stat().st_mode)
        assert int(there.st_mtime) == 1500000000


def test_what_is_no_file_is_told_of_and_the_rest_goes(url, tree, tmp_path):
    os.mkfifo(tree / "sub" / "fifo")
    lines, text = told("-r", "--method", "tar", tree, url + "/copy", expect=1)
    assert "sub/fifo" in text and "not a regular file" in text
    assert lines[-1]["failed"] == 1 and lines[-1]["files"] == len(NAMES) + 31
    (tree / "sub" / "fifo").unlink()
    ferry("cp", "-r", url + "/copy", tmp_path / "back")
    assert same(tree, tmp_path / "back")


def test_what_the_server_s_tar_cannot_store_is_a_failure_in_its_words(url, tree, tmp_path):
    ferry("mkdir", "-p", url + "/to/tree/large")
    (tmp_path / "in the way").write_text("x")
    ferry("cp", tmp_path / "in the way", url + "/to/tree/large/x")
    lines, text = told("-r", "--method", "tar", tree, url + "/to", expect=1)
    assert "large" in text and lines[-1]["failed"] == 1
    assert [line["result"] for line in lines if line.get("method") == "tar" and "why" in line] == ["incomplete"]
    assert lines[-1]["files"] == len(NAMES) + 30


def test_few_or_large_files_go_by_sftp(own, tree, tmp_path):
    few = tmp_path / "few"
    few.mkdir()
    (few / "one").write_text("1")
    lines, _ = told("-r", few, OwnServer(own, "sftp").url + "/few")
    assert {line["method"] for line in lines if "method" in line} == {"sftp"}


def test_a_server_that_has_no_tar_is_served_file_by_file(home, tree, tmp_path):
    server = Sshd(tmp_path / "sshd", home, "Subsystem sftp internal-sftp\nForceCommand internal-sftp")
    try:
        lines, _ = told("-r", tree, server.url + "/copy")
        assert {line["method"] for line in lines if "method" in line} == {"sftp"}
        ferry("cp", "-r", server.url + "/copy", tmp_path / "back")
        assert same(tree, tmp_path / "back")
        _, text = told("-r", "--method", "tar", tree, server.url + "/again", expect=1)
        assert "has no tar" in text
    finally:
        server.stop()


def test_the_tar_starts_while_the_server_is_still_asked_for_one(home, tree, tmp_path):
    script = tmp_path / "command"
    script.write_text("""#!/bin/sh
case "$SSH_ORIGINAL_COMMAND" in
"tar --version"*)
    n=0
    until test -e %(folder)s/started; do
        n=$((n + 1)); test $n -lt 100 || exit 1; sleep 0.1
    done
    exec tar --version ;;
"tar -x"*) touch %(folder)s/started; exec sh -c "$SSH_ORIGINAL_COMMAND" ;;
*) exec /usr/lib/openssh/sftp-server ;;
esac
""" % {"folder": tmp_path})
    script.chmod(0o755)
    server = Sshd(tmp_path / "sshd", home, "Subsystem sftp internal-sftp\nForceCommand %s" % script)
    try:
        lines, _ = told("-r", "--method", "tar", tree, server.url + "/copy")
        assert [line["method"] for line in lines if "method" in line] == ["tar"]
        assert same(tree, server.files / "copy")
    finally:
        server.stop()


def test_a_server_that_allows_two_sessions_is_asked_first(home, tree, tmp_path):
    server = Sshd(tmp_path / "sshd", home, "Subsystem sftp /usr/lib/openssh/sftp-server\nMaxSessions 2")
    try:
        lines, _ = told("-r", "--method", "tar", tree, server.url + "/copy")
        assert [line["method"] for line in lines if "method" in line] == ["tar"]
        assert same(tree, server.files / "copy")
    finally:
        server.stop()


def test_what_cannot_be_a_stream_of_tar_is_a_wrong_use(home, tree, tmp_path):
    for args in (["-r", tree, tmp_path / "x"], ["--verify", "-r", tree, "host:x"]):
        assert "--method tar" in ferry("cp", "--method", "tar", *args, expect=2)
