"""Streams of tar that do not end well: what is told, what is there, and that the rest follows file by file."""

import os
import shutil
import signal
import subprocess
import time

import pytest

from conftest import random_bytes, wait_until
from test_client_places import HOST, OwnServer, Sshd, ferry, home, own  # noqa: F401
from test_cp import Relay, end, left_over, lines, start
from test_cp_tar import same, told

STREAM = ("-r", "--method", "tar")


class Host(Sshd):
    """An sshd whose tar is a shell script: what it does with `tar -x`, REAL being the true one. `gate` is called
    as "gate BYTES": it passes so many on, and waits for open_gate()."""

    def __init__(self, folder, home, script):
        self.bin = folder.parent / "bin"
        self.bin.mkdir()
        self.marks = folder.parent / "marks"
        self.marks.mkdir()
        path = self.bin / "tar"
        path.write_text("""#!/bin/sh
REAL=%s MARKS=%s
case " $* " in *" --version "*|*" -tf "*) exec $REAL "$@";; esac
gate() { head -c $1; touch $MARKS/waits; while [ ! -e $MARKS/go ]; do sleep 0.02; done; cat; }
%s
""" % (shutil.which("tar"), self.marks, script))
        path.chmod(0o755)
        super().__init__(folder, home, "Subsystem sftp /usr/lib/openssh/sftp-server\nSetEnv PATH=%s:/usr/bin:/bin" % self.bin)

    def wait_for_gate(self):
        wait_until("the server's tar waits", (self.marks / "waits").exists)

    def open_gate(self):
        (self.marks / "go").touch()


@pytest.fixture
def host(tmp_path, home):
    started = []

    def start(script):
        started.append(Host(tmp_path / "sshd", home, script))
        return started[-1]

    yield start
    for server in started:
        server.open_gate()
        server.stop()


@pytest.fixture
def tree(tmp_path):
    top = tmp_path / "tree"
    (top / "sub").mkdir(parents=True)
    for i in range(40):
        (top / "sub" / ("f%02d" % i)).write_bytes(random_bytes(2000 + i, i))
    (top / "last").write_bytes(b"last")
    return top


FILES = 41


def summary(out):
    return lines(out)[-1]


def methods(out):
    return sorted({line["method"] for line in lines(out) if "method" in line})


# -- a tar that is none, or ends early --


@pytest.mark.parametrize("status", [1, 2, 126, 127])
def test_a_tar_that_stores_nothing_is_made_up_for_and_nothing_is_told_twice(host, tree, status):
    server = host("head -c 20000 >/dev/null; echo no, sorry >&2; exit %d" % status)
    os.mkfifo(tree / "sub" / "fifo")
    _, out = told(*STREAM, tree, server.url + "/copy", expect=1)
    assert out.count("fifo") == 1 and "no, sorry" in out
    assert [line["result"] for line in lines(out) if line.get("method") == "tar"] == ["incomplete"]
    assert methods(out) == ["sftp", "tar"]
    (tree / "sub" / "fifo").unlink()
    assert same(tree, server.files / "copy")
    assert (summary(out)["files"], summary(out)["failed"], summary(out)["unconfirmed"]) == (FILES, 1, 0)


def test_what_a_tar_has_stored_before_it_died_is_not_sent_again(host, tree):
    server = host('head -c 40960 | $REAL "$@"; exit 2')
    _, out = told(*STREAM, tree, server.url + "/copy")
    assert same(tree, server.files / "copy")
    by = [line["method"] for line in lines(out) if line.get("result") == "ok"]
    assert by.count("tar") > 5 and by.count("sftp") > 5 and len(by) == FILES
    assert (summary(out)["files"], summary(out)["failed"]) == (FILES, 0)
    assert left_over(server.files / "copy" / "sub") == []


def test_a_file_that_was_there_before_is_not_taken_for_one_that_came(host, tree):
    """Of the same size, in a directory that was there: what is new is its time."""
    server = host("cat >/dev/null; exit 2")
    shutil.copytree(tree, server.files / "tree")
    (server.files / "tree" / "sub" / "f07").write_bytes(b"o" * 2007)
    os.utime(server.files / "tree" / "sub" / "f07", (1500000000, 1500000000))
    told(*STREAM, tree, server.url)
    assert same(tree, server.files / "tree")


def test_a_complaint_of_all_but_files_is_a_failure_in_the_tar_s_words(host, tree):
    server = host('$REAL "$@"; echo the moon is wrong >&2; exit 3')
    _, out = told(*STREAM, tree, server.url + "/copy", expect=1)
    assert "the moon is wrong" in out and same(tree, server.files / "copy")
    assert (summary(out)["files"], summary(out)["failed"]) == (FILES, 1)


def test_times_are_kept_over_a_tar_that_died(host, tree):
    server = host('head -c 40960 | $REAL "$@"; exit 2')
    for path in tree.rglob("*"):
        os.utime(path, (1500000000, 1500000000))
    _, out = told("-p", *STREAM, tree, server.url + "/copy")
    assert same(tree, server.files / "copy") and summary(out)["files"] == FILES
    assert {int(p.stat().st_mtime) for p in (server.files / "copy").rglob("*")} == {1500000000}
    assert [line["method"] for line in lines(out) if line.get("result") == "ok"].count("tar") > 5


# -- a source that changes --


@pytest.fixture
def shrinking(host, tree):
    """A copy whose server has taken the head of a file that is far larger than what is on its way."""
    (tree / "log").write_bytes(random_bytes(80_000_000))
    server = host('gate 2000000 | $REAL "$@"')
    process = start("--json", *STREAM, tree, server.url + "/copy")
    server.wait_for_gate()
    os.truncate(tree / "log", 1_000_000)
    yield server, process
    process.kill()


def test_a_file_that_shrinks_is_sent_again(shrinking, tree):
    server, process = shrinking
    server.open_gate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, (out, err)
    again = [line for line in lines(out) if line.get("file", "").endswith("/log")]
    assert [(line["method"], line["result"], line["bytes"]) for line in again] == [("sftp", "ok", 1_000_000)]
    assert same(tree, server.files / "copy") and summary(out)["files"] == FILES + 1


def test_a_file_that_shrinks_and_goes_is_a_failure_and_not_left_with_zeros(shrinking, tree):
    server, process = shrinking
    (tree / "log").unlink()
    server.open_gate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, (out, err)
    assert [line["side"] for line in lines(out) if line.get("file", "").endswith("/log")] == ["source"]
    assert same(tree, server.files / "copy")
    assert (summary(out)["files"], summary(out)["failed"]) == (FILES, 1)


# -- cut, stalled, silent --


class Valve(Relay):
    """A relay that can be cut, and closed: then nothing passes any more, and nobody is told."""
    is_closed = False

    def __init__(self, server, home):
        super().__init__(server.port)
        known = home / ".ssh" / "known_hosts"
        known.write_text(known.read_text().replace(":%d " % server.port, ":%d " % self.port))
        self.url = server.url.replace(":%d/" % server.port, ":%d/" % self.port)

    def carry(self, source, sink):
        class Sink:
            @staticmethod
            def sendall(data):
                while self.is_closed:
                    time.sleep(0.05)  # until the test ends
                sink.sendall(data)

            shutdown = sink.shutdown
        super().carry(source, Sink)

    def stop(self):
        self.is_closed = False
        super().stop()


@pytest.fixture
def valve(home):
    made = []

    def make(server):
        made.append(Valve(server, home))
        return made[-1]

    yield make
    for v in made:
        v.stop()


@pytest.fixture
def big_tree(tree):
    """More than fits into what is between here and a server that does not read."""
    (tree / "sub" / "big").write_bytes(random_bytes(60_000_000))
    return tree


def test_after_a_cut_the_rest_follows(host, valve, big_tree):
    server = host('gate 3000000 | $REAL "$@"')
    link = valve(server)
    process = start("--json", *STREAM, big_tree, link.url + "/copy")
    server.wait_for_gate()
    link.cut()
    server.open_gate()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, (out, err)
    assert methods(out) == ["sftp", "tar"] and same(big_tree, server.files / "copy")
    assert (summary(out)["files"], summary(out)["failed"], summary(out)["unconfirmed"]) == (FILES + 1, 0, 0)


def test_a_cut_that_cannot_be_mended_says_what_is_not_known(host, valve, big_tree):
    server = host('gate 3000000 | $REAL "$@"')
    link = valve(server)
    process = start("--retries", "0", *STREAM, big_tree, link.url + "/copy")
    server.wait_for_gate()
    link.cut()
    err = end(process, 1)
    assert HOST in err and "not known of" in err and "in part" in err and "the same command" in err
    assert "%s/copy: %s: the peer closed the connection" % (server.files, HOST) in err and "follows" not in err


def test_a_server_that_stops_reading_is_left(host, big_tree):
    server = host("[ -e $MARKS/once ] && exec $REAL \"$@\"; touch $MARKS/once; exec sleep 600")
    _, out = told("--timeout", "2", *STREAM, big_tree, server.url + "/copy")
    assert same(big_tree, server.files / "copy") and summary(out)["failed"] == 0


def test_a_slow_tar_is_waited_for(host, tree):
    """Longer than a stall, since its machine answers."""
    server = host('$REAL "$@"; sleep 4')
    _, out = told("--timeout", "1", *STREAM, tree, server.url + "/copy")
    assert [line["result"] for line in lines(out) if "method" in line] == ["ok"] and summary(out)["files"] == FILES


def test_a_machine_that_goes_away_while_its_tar_is_waited_for_is_left(host, valve, tree):
    server = host("cat >/dev/null; touch $MARKS/waits; exec sleep 600")
    link = valve(server)
    process = start("--timeout", "1", "--retries", "0", *STREAM, tree, link.url + "/copy")
    server.wait_for_gate()
    link.is_closed = True
    err = end(process, 1)
    assert "not known of %d files" % FILES in err


# -- interrupted --


def test_ctrl_c_leaves_no_part_under_a_final_name_where_the_server_answers(host, big_tree):
    server = host('exec $REAL "$@"')
    process = start("--limit", "8M", *STREAM, big_tree, server.url + "/copy")
    big = server.files / "copy" / "sub" / "big"
    wait_until("bytes have moved", lambda: big.exists() and big.stat().st_size > 2 << 20)
    process.send_signal(signal.SIGINT)
    err = end(process, 130)
    assert "interrupted" in err and "not known of" in err and "the same command" in err
    assert not big.exists()
    ferry("cp", *STREAM, big_tree, server.url + "/copy")
    assert same(big_tree, server.files / "copy" / "tree")


def test_ctrl_c_ends_a_copy_whose_server_does_not_answer(host, big_tree):
    server = host('gate 3000000 | $REAL "$@"')
    process = start("--json", *STREAM, big_tree, server.url + "/copy")
    server.wait_for_gate()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert summary(out)["interrupted"] and summary(out)["files"] == 0 and summary(out)["unconfirmed"] > 0


# -- no room --


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    mounted = []

    def mount(folder):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "none", folder], check=True)
        mounted.append(folder)

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def too_much(tmp_path):
    top = tmp_path / "much"
    top.mkdir()
    for i in range(30):
        (top / ("f%02d" % i)).write_bytes(random_bytes(100_000, i))
    return top


def check_what_fits(folder, top, out):
    """Whole files under their names, and all others told of, with a remedy."""
    there = os.listdir(folder)
    assert 3 < len(there) < 11
    for name in there:
        assert (folder / name).read_bytes() == (top / name).read_bytes(), name
    assert (summary(out)["files"], summary(out)["failed"]) == (len(there), 30 - len(there))


def test_a_full_disk_of_a_host_is_told_by_file(host, small_disk, too_much):
    server = host('exec $REAL "$@"')
    small_disk(server.files)
    _, out = told(*STREAM, too_much, server.url + "/copy", expect=1)
    check_what_fits(server.files / "copy", too_much, out)
    assert {line["side"] for line in lines(out) if line.get("result") == "failed"} == {"target"}
    shutil.rmtree(server.files / "copy")
    err = ferry("cp", *STREAM, too_much, server.url + "/copy", expect=1)
    assert "%s): no space left" % HOST in err and "make room there" in err


def test_a_full_disk_of_ours_is_told_by_file(root, small_disk, too_much, request):
    small_disk(root)
    url = OwnServer(request.getfixturevalue("own"), "sftp").url
    _, out = told(*STREAM, too_much, url + "/copy", expect=1)
    check_what_fits(root / "copy", too_much, out)
