"""ferry cp to and from other people's servers and ours: whole, resumed, refused, interrupted."""

import contextlib
import hashlib
import json
import os
import signal
import socket
import stat
import subprocess
import threading

import pytest

from conftest import random_bytes, require, wait_until
from test_client_places import (FERRY, HOST, OwnServer, dropbear, ferry, home, own, place,  # noqa: F401
                                sshd)

NAMES = ["plain", "with blank", "-dash", "new\nline", "quote'\"s", "star*[a]?", "\u00fc\u4e2d", "back\\slash", ".hidden",
         "a" * 255]


def start(*args, **named):
    return subprocess.Popen([FERRY, "cp", *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, start_new_session=True, **named)


def end(process, expect):
    out, err = process.communicate(timeout=120)
    assert process.returncode == expect, (process.returncode, out, err)
    return err.decode()


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def left_over(folder):
    return [name for name in os.listdir(folder) if "ferry-" in name]


# -- whoever serves --


@pytest.mark.parametrize("size", [0, 1, 300000])
def test_a_file_goes_there_and_back(place, tmp_path, size):
    here, back = tmp_path / "here", tmp_path / "back"
    here.write_bytes(random_bytes(size))
    ferry("cp", here, place.url + "/there")
    ferry("cp", place.url + "/there", back)
    assert back.read_bytes() == here.read_bytes()
    assert ferry("cp", place.url + "/there", "-", text=False) == here.read_bytes()


def test_a_tree_goes_there_and_back(place, tmp_path):
    if getattr(getattr(place, "peer", None), "name", "") == "twisted":
        pytest.skip("twisted's server does not tell a directory from a file")
    tree = tmp_path / "tree"
    (tree / "sub" / "deep").mkdir(parents=True)
    for i in range(40):
        (tree / "sub" / ("file%d" % i)).write_bytes(random_bytes(100 * i, i))
    (tree / "sub" / "deep" / "leaf").write_text("leaf")
    (tree / "empty").mkdir()
    ferry("cp", "-r", tree, place.url + "/copy")
    ferry("cp", "-r", place.url + "/copy", tmp_path)
    assert subprocess.run(["diff", "-r", tree, tmp_path / "copy"]).returncode == 0
    assert left_over(tmp_path / "copy" / "sub") == []


def test_a_file_replaces_what_was_there(place, tmp_path):
    new = tmp_path / "new"
    new.write_bytes(random_bytes(5000))
    place.put("old", b"x" * 9000)
    ferry("cp", new, place.url + "/old")
    assert ferry("cat", place.url + "/old", text=False) == new.read_bytes()


# -- names, modes, times, directories --


@pytest.fixture(params=["ferryd", "sshd"])
def by_ssh(request):
    if request.param == "sshd":
        server = request.getfixturevalue("sshd")
        yield server.url, server.files
    else:
        server = request.getfixturevalue("own")
        yield OwnServer(server, "sftp").url, server.root


def test_names_may_hold_anything(by_ssh, tmp_path):
    url, _ = by_ssh
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in [name.encode() for name in NAMES] + [b"not\xffutf-8\xc3"]:
        with open(os.path.join(os.fsencode(tree), name), "wb") as f:
            f.write(name)
    ferry("cp", "-r", tree, url + "/copy")
    ferry("cp", "-r", url + "/copy", tmp_path / "back")
    assert subprocess.run(["diff", "-r", tree, tmp_path / "back"]).returncode == 0


def test_modes_and_times_are_kept_if_they_are_asked_for(by_ssh, tmp_path):
    url, files = by_ssh
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "run").write_text("x")
    (tree / "run").chmod(0o751)
    os.utime(tree / "run", (1500000000, 1500000001))
    tree.chmod(0o555)
    os.utime(tree, (1400000000, 1400000001))
    ferry("cp", "-rp", tree, url + "/copy")
    ferry("cp", "-rp", url + "/copy", tmp_path / "back")
    for folder in (files / "copy", tmp_path / "back"):
        assert stat.S_IMODE((folder / "run").stat().st_mode) == 0o751
        assert (folder / "run").stat().st_mtime == 1500000001
        assert stat.S_IMODE(folder.stat().st_mode) == 0o555
        assert folder.stat().st_mtime == 1400000001


def test_the_mode_of_a_file_that_is_replaced_stays(sshd, tmp_path):
    for path in (sshd.files / "old", tmp_path / "old"):
        path.write_text("old")
        path.chmod(0o640)
    new = tmp_path / "new"
    new.write_text("new")
    new.chmod(0o644)
    ferry("cp", new, sshd.url + "/old")
    ferry("cp", sshd.url + "/old", tmp_path / "old")
    for path in (sshd.files / "old", tmp_path / "old"):
        assert path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_is_a_directory_is_told_apart_as_scp_does(sshd, tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("a")
    b.write_text("b")
    (sshd.files / "d").mkdir()
    ferry("cp", a, b, sshd.url + "/d")
    assert sorted(os.listdir(sshd.files / "d")) == ["a", "b"]
    assert "no such directory" in ferry("cp", a, sshd.url + "/missing/", expect=1)
    assert "not a directory" in ferry("cp", a, b, sshd.url + "/d/a", expect=1)
    assert "-r" in ferry("cp", sshd.url + "/d", tmp_path / "x", expect=1)
    assert not (tmp_path / "x").exists()


def test_a_pattern_is_expanded_where_the_files_are(sshd, tmp_path):
    for name in ("a1.txt", "a2.txt", "b.txt", ".a3.txt", "c*.txt", "c2.txt"):
        sshd.put(name, name.encode())
    into = tmp_path / "into"
    into.mkdir()
    ferry("cp", sshd.url + "/a*.txt", into)
    assert sorted(os.listdir(into)) == ["a1.txt", "a2.txt"]
    ferry("cp", sshd.url + "/c*.txt", into)  # a file of that very name comes first
    assert sorted(os.listdir(into)) == ["a1.txt", "a2.txt", "c*.txt"]
    assert "nothing there" in ferry("cp", sshd.url + "/z*", into, expect=1)


def test_links_are_followed_and_cycles_left_out(sshd, tmp_path):
    tree = sshd.files / "tree"
    (tree / "sub").mkdir(parents=True)
    sshd.put("tree/file", b"contents")
    (tree / "link").symlink_to("file")
    (tree / "sub" / "up").symlink_to("..")
    (tree / "broken").symlink_to("nowhere")
    os.mkfifo(tree / "pipe")
    said = ferry("cp", "-r", sshd.url + "/tree", tmp_path / "copy", expect=1)
    assert (tmp_path / "copy" / "link").read_bytes() == b"contents"
    assert not (tmp_path / "copy" / "link").is_symlink()
    for name in ("tree/broken", "tree/pipe", "up"):
        assert name in said


def test_the_target_may_be_reached_by_a_link_but_what_is_in_it_leads_nowhere(sshd, tmp_path):
    sshd.put("f", b"new")
    (sshd.files / "d").mkdir()
    sshd.put("d/f", b"new")
    real, outside = tmp_path / "real", tmp_path / "outside"
    real.mkdir()
    outside.mkdir()
    (tmp_path / "link").symlink_to("real")
    ferry("cp", sshd.url + "/f", tmp_path / "link")
    assert (real / "f").read_bytes() == b"new"
    (real / "d").symlink_to(outside)
    ferry("cp", "-r", sshd.url + "/d", tmp_path / "link", expect=1)
    assert os.listdir(outside) == []


def test_between_two_servers_and_from_a_pipe(sshd, own, home, tmp_path):
    (home / ".ssh" / "known_hosts").unlink()
    data = random_bytes(3000000)
    sshd.put("from", data)
    ferry("cp", sshd.url + "/from", OwnServer(own, "ftp").url + "/a")
    ferry("cp", OwnServer(own, "ftp").url + "/a", sshd.url + "/b")
    assert (sshd.files / "b").read_bytes() == data
    subprocess.run([FERRY, "cp", "-", sshd.url + "/c"], input=data, check=True, timeout=60)
    assert (sshd.files / "c").read_bytes() == data
    assert left_over(sshd.files) == []


# -- broken off --


@pytest.fixture
def big(tmp_path):
    path = tmp_path / "big"
    path.write_bytes(random_bytes(1 << 20) * 60)
    return path


def interrupt(process, is_under_way):
    wait_until("bytes have moved", is_under_way)
    process.send_signal(signal.SIGINT)
    said = end(process, 130)
    assert "interrupted" in said and "the same command goes on" in said
    return said


def test_an_upload_that_was_interrupted_goes_on(sshd, big):
    part, target = sshd.files / "copy.ferry-part", sshd.files / "copy"
    slow = start("--limit", "10M", big, sshd.url + "/copy")
    assert "copy.ferry-part" in interrupt(slow, lambda: part.exists() and part.stat().st_size > 2 << 20)
    assert not target.exists()
    kept = part.stat().st_size
    first = lines(ferry("cp", "--json", big, sshd.url + "/copy"))[0]
    assert first["moved_bytes"] == big.stat().st_size - kept
    assert target.read_bytes() == big.read_bytes() and not part.exists()


def test_an_upload_to_ferryd_that_was_interrupted_goes_on(own, big):
    part, target = own.root / "copy.ferry-part", own.root / "copy"
    url = OwnServer(own, "sftp").url
    interrupt(start("--limit", "10M", big, url + "/copy"), lambda: part.exists() and part.stat().st_size > 2 << 20)
    assert not target.exists()
    first = lines(ferry("cp", "--json", big, url + "/copy"))[0]
    assert 0 < first["moved_bytes"] < big.stat().st_size
    assert target.read_bytes() == big.read_bytes() and not part.exists()


def test_a_download_that_was_interrupted_goes_on(sshd, big, tmp_path):
    into = tmp_path / "into"
    into.mkdir()
    sshd.put("big", big.read_bytes())

    def written():
        return any(p.stat().st_size > 2 << 20 for p in into.iterdir())

    interrupt(start("--limit", "10M", sshd.url + "/big", into), written)
    assert not (into / "big").exists()
    first = lines(ferry("cp", "--json", sshd.url + "/big", into))[0]
    assert 0 < first["moved_bytes"] < big.stat().st_size
    assert (into / "big").read_bytes() == big.read_bytes() and left_over(into) == []


def test_a_file_that_is_to_be_replaced_stays_until_the_new_one_is_whole(sshd, big, tmp_path):
    into = tmp_path / "into"
    into.mkdir()
    (into / "big").write_text("old")
    sshd.put("big", big.read_bytes())
    slow = start("--limit", "10M", sshd.url + "/big", into)
    interrupt(slow, lambda: any(p.stat().st_size > 2 << 20 for p in into.iterdir()))
    assert (into / "big").read_text() == "old"
    first = lines(ferry("cp", "--json", sshd.url + "/big", into))[0]
    assert first["moved_bytes"] < big.stat().st_size
    assert (into / "big").read_bytes() == big.read_bytes() and left_over(into) == []


def test_a_part_of_a_source_that_changed_is_not_used(sshd, big):
    part = sshd.files / "copy.ferry-part"
    slow = start("--limit", "10M", big, sshd.url + "/copy")
    interrupt(slow, lambda: part.exists() and part.stat().st_size > 2 << 20)
    big.write_bytes(b"another one" * 5000000)
    os.utime(big, (1700000000, 1700000000))
    ferry("cp", big, sshd.url + "/copy")
    assert (sshd.files / "copy").read_bytes() == big.read_bytes()


class Relay:
    """A port before a server's, whose connections can be cut."""

    def __init__(self, port):
        self.to = port
        self.listener = socket.create_server((HOST, 0))
        self.port = self.listener.getsockname()[1]
        self.pairs = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                here = self.listener.accept()[0]
                there = socket.create_connection((HOST, self.to))
                self.pairs.append((here, there))
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 18):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def cut(self):
        pairs, self.pairs = self.pairs, []
        for s in (s for pair in pairs for s in pair):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
            s.close()

    def stop(self):
        self.listener.close()
        self.cut()


@pytest.fixture
def cuttable(sshd, home):
    relay = Relay(sshd.port)
    known = home / ".ssh" / "known_hosts"
    known.write_text(known.read_text().replace(":%d " % sshd.port, ":%d " % relay.port))
    relay.url = sshd.url.replace(":%d/" % sshd.port, ":%d/" % relay.port)
    yield relay
    relay.stop()


def test_a_connection_that_is_cut_is_made_again(cuttable, sshd, big, tmp_path):
    part = sshd.files / "copy.ferry-part"
    up = start("--limit", "20M", big, cuttable.url + "/copy")
    wait_until("bytes have moved", lambda: part.exists() and part.stat().st_size > 2 << 20)
    cuttable.cut()
    assert "connection lost" in end(up, 0)
    assert (sshd.files / "copy").read_bytes() == big.read_bytes()
    into = tmp_path / "into"
    into.mkdir()
    down = start("--limit", "20M", "--json", cuttable.url + "/copy", into)
    wait_until("bytes have moved", lambda: any(p.stat().st_size > 2 << 20 for p in into.iterdir()))
    cuttable.cut()
    end(down, 0)
    assert (into / "copy").read_bytes() == big.read_bytes()


def test_without_retries_a_cut_is_told_and_the_part_stays(cuttable, sshd, big):
    part = sshd.files / "copy.ferry-part"
    up = start("--retries", "0", "--limit", "20M", big, cuttable.url + "/copy")
    wait_until("bytes have moved", lambda: part.exists() and part.stat().st_size > 2 << 20)
    cuttable.cut()
    assert "the same command goes on" in end(up, 1)
    assert part.exists() and not (sshd.files / "copy").exists()
    # its time says nothing, but both ends can be asked
    first = lines(ferry("cp", "--json", big, sshd.url.replace(str(sshd.port), str(cuttable.port)) + "/copy"))[0]
    assert first["moved_bytes"] < big.stat().st_size
    assert (sshd.files / "copy").read_bytes() == big.read_bytes()


# -- checks, failures, words --


def test_both_ends_are_compared_if_that_is_asked_for(by_ssh, tmp_path):
    url, _ = by_ssh
    here = tmp_path / "here"
    here.write_bytes(random_bytes(200000))
    for source, target in ((here, url + "/there"), (url + "/there", tmp_path / "back")):
        assert lines(ferry("cp", "--verify", "--json", source, target))[0]["verified"] == "yes"
    assert hashlib.sha256((tmp_path / "back").read_bytes()).digest() == hashlib.sha256(here.read_bytes()).digest()


@pytest.mark.skipif(os.geteuid() != 0, reason="a mount needs root")
def test_a_full_disk_is_told_and_leaves_no_half_file(sshd, tmp_path):
    sshd.put("big", b"x" * (3 << 20))
    full = tmp_path / "full"
    full.mkdir()
    script = 'mount -t tmpfs -o size=1m none "$1" && shift && "$@"; r=$?; ls -A "$0"; exit $r'
    done = subprocess.run(["unshare", "-m", "sh", "-c", script, full, full, FERRY, "cp", sshd.url + "/big", full],
                          capture_output=True, text=True, timeout=60)
    if "permitted" in done.stderr:
        pytest.skip("no mounts here")
    assert done.returncode == 1 and "no space left" in done.stderr, done
    assert "big" not in done.stdout.split()


def test_one_json_object_for_each_file_and_one_for_all(sshd, tmp_path):
    sshd.put("good", b"12345")
    said = subprocess.run([FERRY, "cp", "--json", sshd.url + "/good", sshd.url + "/missing", tmp_path],
                          capture_output=True, text=True, timeout=60)
    assert said.returncode == 1 and said.stderr == ""
    by_result = {line["result"]: line for line in lines(said.stdout) if "result" in line}
    assert by_result["ok"]["bytes"] == 5 and by_result["ok"]["method"] == "sftp"
    assert by_result["failed"]["side"] == "source" and by_result["failed"]["file"].endswith("/missing")
    total = lines(said.stdout)[-1]
    assert total["summary"] is True and (total["files"], total["failed"], total["bytes"]) == (1, 1, 5)


def test_what_held_it_back_is_explained(sshd, tmp_path):
    sshd.put("f", random_bytes(1000000))
    done = subprocess.run([FERRY, "cp", "--explain", sshd.url + "/f", tmp_path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == ""
    for word in ("limited by", "moved", "CPU here", "round trip", "method       sftp", "cipher"):
        assert word in done.stderr


@pytest.mark.parametrize("args, word", [
    ([], "what is to be copied"), (["a"], "where to"), (["--nothing", "a", "b"], "--nothing"),
    (["--limit", "fast", "a", "b"], "--limit"), (["--method", "ftp", "a", "b"], "ftp"),
    (["--method", "sftp", "a", "b"], "ssh"), (["-", "a", "b"], "standard input")])
def test_what_is_used_wrongly_is_refused_with_the_reason(args, word, home):
    assert word in ferry("cp", *args, expect=2)


def test_no_password_stands_in_the_process_list(own, big):
    slow = start("--limit", "1M", big, OwnServer(own, "ftp").url + "/f")
    wait_until("it has begun", lambda: own.records("login") or b"xxxx" in open("/proc/%d/cmdline" % slow.pid, "rb").read())
    assert b"correct" not in open("/proc/%d/cmdline" % slow.pid, "rb").read()
    slow.send_signal(signal.SIGINT)
    end(slow, 130)


# -- the terminal --


def test_progress_fits_the_terminal_and_follows_its_size(sshd, big, tmp_path):
    require("tmux")
    terminal, done = tmp_path / "tmux", tmp_path / "done"

    def tmux(*args):
        return subprocess.run(["tmux", "-S", terminal, *args], capture_output=True, text=True, check=True).stdout

    tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "12",
         "%s cp --limit 4M %s %s/copy; echo $? > %s; read x" % (FERRY, big, sshd.url, done))
    try:
        for width in (80, 40, 20, 60):
            tmux("resize-window", "-x", str(width), "-y", "12")
            screen = []

            def is_drawn():
                screen[:] = [line for line in tmux("capture-pane", "-p").splitlines() if line.strip()]
                return len(screen) == 1 and "%" in screen[0] and len(screen[0]) <= width and (
                    width == 20 or "MB/s" in screen[0])

            wait_until("a line of %d columns, not %r" % (width, screen), is_drawn)
        wait_until("it is done", done.exists, 60)
        wait_until("a summary", lambda: "1 file, 62.9 MB" in tmux("capture-pane", "-p"))
        assert "%" not in tmux("capture-pane", "-p")
    finally:
        tmux("kill-server")
    assert done.read_text() == "0\n"


def test_no_progress_goes_into_a_pipe(sshd, tmp_path):
    sshd.put("f", random_bytes(1 << 20) * 3)
    done = subprocess.run([FERRY, "cp", "--limit", "2M", sshd.url + "/f", tmp_path], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
