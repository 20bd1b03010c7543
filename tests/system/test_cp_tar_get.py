"""ferry cp of directories of a server as one stream of tar, and what a server may send in one."""

import io
import json
import os
import pathlib
import signal
import stat
import subprocess
import tarfile
import time

import pytest

from conftest import random_bytes, wait_until
from test_client_places import FERRY, OwnServer, Sshd, dropbear, ferry, home, own, sshd  # noqa: F401
from test_cp import NAMES

TIME = 1500000000


@pytest.fixture(params=["ferryd", "sshd", "dropbear"])
def place(request, home):
    """A server's URL, and the folder of this machine that it serves."""
    if request.param == "ferryd":
        server = request.getfixturevalue("own")
        return OwnServer(server, "sftp").url, pathlib.Path(server.root)
    server = request.getfixturevalue(request.param)
    return server.url, server.files


def grow(top):
    (top / "sub" / "deep").mkdir(parents=True)
    (top / "empty").mkdir()
    for i, name in enumerate(NAMES):
        (top / "sub" / name).write_bytes(random_bytes(100 * i, i))
    for i in range(200):
        (top / "sub" / "deep" / str(i)).write_bytes(random_bytes(3000 + i, i))
    for i in range(20):
        (top / str(i)).write_bytes(b"%d" % i)
    (top / "large").write_bytes(random_bytes(300000))
    return top


FILES = len(NAMES) + 221


@pytest.fixture
def tree(place):
    return grow(place[1] / "tree")


def same(one, two):
    return subprocess.run(["diff", "-r", one, two]).returncode == 0


def told(*args, expect=0):
    done = subprocess.run([FERRY, "cp", "--json", *map(str, args)], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, start_new_session=True)
    assert done.returncode == expect, done.stdout[-2000:] + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], done.stdout


def methods(lines):
    return {line["method"] for line in lines if "method" in line}


def hidden(folder):
    return [name for _, _, names in os.walk(folder) for name in names if name.startswith(".ferry-")]


@pytest.mark.parametrize("method", ["tar", "auto"])
def test_every_file_of_a_tree_arrives_whatever_its_name(place, tree, tmp_path, method):
    lines, _ = told("-r", "--method", method, place[0] + "/tree", tmp_path / "copy")
    assert methods(lines) == {"tar"}
    assert len([line for line in lines if line.get("result") == "ok"]) == FILES
    assert lines[-1]["files"] == FILES and lines[-1]["directories"] == 4 and lines[-1]["failed"] == 0
    assert lines[-1]["bytes"] == sum(f.stat().st_size for f in tree.rglob("*") if f.is_file())
    assert same(tree, tmp_path / "copy") and not hidden(tmp_path / "copy")


def test_it_goes_into_a_directory_that_is_there_and_over_what_is_in_it(place, tree, tmp_path):
    old = tmp_path / "to" / "tree" / "sub" / "plain"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    old.chmod(0o600)
    ferry("cp", "-r", "--method", "tar", place[0] + "/tree", tmp_path / "to")
    assert same(tree, tmp_path / "to" / "tree")
    assert stat.S_IMODE(old.stat().st_mode) == 0o600


@pytest.mark.parametrize("keeps", [True, False])
def test_modes_and_times_are_kept_if_asked_for(place, tree, tmp_path, keeps):
    (tree / "large").chmod(0o6750)
    (tree / "0").chmod(0o666)
    (tree / "empty").chmod(0o750)
    (tree / "sub").chmod(0o555)
    for path in (tree / "large", tree / "0", tree / "sub"):
        os.utime(path, (TIME, TIME))
    before = time.time()
    os.umask(0o22)
    ferry("cp", "-r", *(["-p"] if keeps else []), "--method", "tar", place[0] + "/tree", tmp_path / "copy")
    for name, kept, usual in (("large", 0o750, 0o750), ("0", 0o666, 0o644), ("empty", 0o750, 0o750), ("sub", 0o555, 0o555)):
        there = (tmp_path / "copy" / name).stat()
        assert stat.S_IMODE(there.st_mode) == (kept if keeps else usual), name
        if name != "empty":
            assert int(there.st_mtime) == TIME if keeps else there.st_mtime >= int(before) - 1, name


@pytest.mark.parametrize("method", ["tar", "sftp", None])
def test_the_directory_that_is_the_target_gets_mode_and_time_too(sshd, home, tmp_path, method):
    tree, copy = sshd.files / "tree", tmp_path / "copy"
    tree.mkdir()
    (tree / "f").write_text("f")
    copy.mkdir()
    tree.chmod(0o710)
    os.utime(tree, (TIME, TIME))
    ferry("cp", "-r", "-p", *(["--method", method, sshd.url + "/tree/."] if method else ["%s/." % tree]), copy)
    assert (stat.S_IMODE(copy.stat().st_mode), int(copy.stat().st_mtime)) == (0o710, TIME) and same(tree, copy)


def test_links_are_followed_as_by_sftp(place, tree, tmp_path):
    (tree / "link").symlink_to("sub/deep/7")
    (tree / "sub" / "to-dir").symlink_to("deep")
    os.link(tree / "large", tree / "sub" / "hard")
    ferry("cp", "-r", "--method", "tar", place[0] + "/tree", tmp_path / "copy")
    for name in ("link", "sub/to-dir/7", "sub/hard", "large"):
        assert (tmp_path / "copy" / name).read_bytes() == (tree / name).read_bytes()
        assert not (tmp_path / "copy" / name).is_symlink()
    assert not (tmp_path / "copy" / "sub" / "to-dir").is_symlink()
    (tree / "nowhere").symlink_to("not/there")
    lines, text = told("-r", "--method", "tar", place[0] + "/tree", tmp_path / "again", expect=1)
    assert lines[-1]["failed"] == 1 and "nowhere" in text


def test_few_or_large_files_go_by_sftp(own, tmp_path):
    few = pathlib.Path(own.root) / "few"
    few.mkdir()
    for i in range(3):
        (few / str(i)).write_text("1")
    lines, _ = told("-r", OwnServer(own, "sftp").url + "/few", tmp_path / "few")
    assert methods(lines) == {"sftp"}


def test_what_cannot_be_read_is_told_by_name_and_the_rest_comes(sshd, home, tmp_path):
    tree = grow(sshd.files / "tree")
    os.mkfifo(tree / "sub" / "fifo")
    lines, text = told("-r", "--method", "tar", sshd.url + "/tree", tmp_path / "copy", expect=1)
    failures = [line for line in lines if line.get("result") == "failed"]
    assert [f["side"] for f in failures] == ["source"] and failures[0]["file"].endswith("sub/fifo")
    (tree / "sub" / "fifo").unlink()
    assert same(tree, tmp_path / "copy")


def test_what_is_in_the_way_here_is_told_by_name_and_the_rest_comes(sshd, home, tmp_path):
    tree = grow(sshd.files / "tree")
    (tmp_path / "copy" / "large").mkdir(parents=True)
    (tmp_path / "copy" / "5").mkdir()
    (tmp_path / "copy" / "empty").write_text("a file")
    lines, _ = told("-r", "--method", "tar", sshd.url + "/tree/.", tmp_path / "copy", expect=1)
    failures = [line for line in lines if line.get("result") == "failed"]
    assert {f["side"] for f in failures} == {"target"}
    assert sorted(f["file"].rsplit("/", 1)[1] for f in failures) == ["5", "empty", "large"]
    assert lines[-1]["files"] == FILES - 2 and (tmp_path / "copy" / "empty").read_text() == "a file"


def test_it_keeps_to_a_limit_and_says_what_was_chosen(own, tmp_path):
    tree = grow(pathlib.Path(own.root) / "tree")
    done = subprocess.run([FERRY, "cp", "-r", "--method", "tar", "--limit", "500M", "--explain",
                           OwnServer(own, "sftp").url + "/tree", tmp_path / "copy"], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and "tar" in done.stderr and same(tree, tmp_path / "copy")


def test_a_server_that_has_no_tar_is_served_file_by_file(home, tmp_path):
    server = Sshd(tmp_path / "sshd", home, "Subsystem sftp internal-sftp\nForceCommand internal-sftp")
    try:
        tree = grow(server.files / "tree")
        lines, _ = told("-r", server.url + "/tree", tmp_path / "copy")
        assert methods(lines) == {"sftp"} and same(tree, tmp_path / "copy")
        lines, text = told("-r", "--method", "tar", server.url + "/tree", tmp_path / "again", expect=1)
        assert "has no tar" in text
    finally:
        server.stop()


# -- a server that sends what it likes --


class Evil:
    """OpenSSH's server whose tar is a script of ours: it sends a file, and ends as it is told."""

    def __init__(self, folder, home):
        self.archive, self.script = folder / "archive", folder / "command"
        folder.mkdir()
        self.script.write_text("""#!/bin/sh
case "$SSH_ORIGINAL_COMMAND" in
"tar --version"*) echo "tar (GNU tar) 1.34" ;;
tar*) sh %s/behaves ;;
*) exec /usr/lib/openssh/sftp-server ;;
esac
""" % folder)
        self.script.chmod(0o755)
        self.folder = folder
        self.behave("cat %s" % self.archive)
        self.server = Sshd(folder / "sshd", home, "Subsystem sftp internal-sftp\nForceCommand %s" % self.script)
        self.url = self.server.url
        self.tree = self.server.files / "tree"
        self.tree.mkdir()

    def behave(self, text):
        (self.folder / "behaves").write_text(text + "\n")

    def send(self, *members, cut=None, **named):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w", **named) as archive:
            for name, fields, contents in members:
                member = tarfile.TarInfo(name)
                for key, value in fields.items():
                    setattr(member, key, value)
                if contents is not None:
                    member.size = len(contents)
                archive.addfile(member, io.BytesIO(contents) if contents is not None else None)
        self.archive.write_bytes(data.getvalue()[:cut])


@pytest.fixture
def evil(tmp_path, home):
    server = Evil(tmp_path / "evil", home)
    yield server
    server.server.stop()


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("old")
    return folder


def file(name, contents=b"bad", **fields):
    return name, fields, contents


def special(name, kind, **fields):
    return name, dict(fields, type=kind), None


def snapshot(folder):
    return {str(p): (p.lstat().st_mode, p.lstat().st_mtime_ns, p.read_bytes() if p.is_file() else b"")
            for p in folder.rglob("*")}


HOSTILE = {
    "above": [file("../outside/x")],
    "above within": [file("a/../../outside/x")],
    "absolute": [file("/tmp/ferry-must-not-be-there"), file("//tmp/ferry-must-not-be-there")],
    "absolute to outside": [file("OUTSIDE/x")],
    "above as directory": [special("../outside/d", tarfile.DIRTYPE), special("..", tarfile.DIRTYPE, mode=0)],
    "through a link": [special("out", tarfile.SYMTYPE, linkname="OUTSIDE"), file("out/x")],
    "over a link": [special("f", tarfile.SYMTYPE, linkname="OUTSIDE/secret"), file("f")],
    "through a link to above": [special("out", tarfile.SYMTYPE, linkname="../outside"), file("out/x")],
    "a link as its top": [special(".", tarfile.SYMTYPE, linkname="OUTSIDE"), file("x")],
    "a hard link out": [special("h", tarfile.LNKTYPE, linkname="OUTSIDE/secret"), file("h")],
    "a hard link above": [special("h", tarfile.LNKTYPE, linkname="../outside/secret"), file("h")],
    "a device": [special("null", tarfile.CHRTYPE, devmajor=1, devminor=3), special("b", tarfile.BLKTYPE)],
    "a pipe": [special("pipe", tarfile.FIFOTYPE)],
    "no name": [file(""), file("."), file("./")],
    "our own names": [file(".ferry-up-0123456789abcdef"), file("d/.ferry-part-x")],
    "deep": [file("d/" * 2000 + "f"), special("e/" * 2000, tarfile.DIRTYPE)],
    "long": [file("n" * 300)],
    "a file as a directory": [file("f"), file("f/below")],
}


@pytest.mark.parametrize("what", HOSTILE)
def test_nothing_outside_of_the_target_is_touched(evil, outside, tmp_path, what):
    members = [(name.replace("OUTSIDE", str(outside)),
                dict(fields, **({"linkname": fields["linkname"].replace("OUTSIDE", str(outside))} if "linkname" in fields else {})),
                contents) for name, fields, contents in HOSTILE[what]]
    evil.send(file("good", b"good"), *members, file("also", b"good"), format=tarfile.GNU_FORMAT)
    before = snapshot(outside)
    lines, text = told("-r", "--method", "tar", evil.url + "/tree", tmp_path / "copy", expect=1)
    assert snapshot(outside) == before
    assert not os.path.exists("/tmp/ferry-must-not-be-there")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["copy", "evil", "home", "outside"]
    assert lines[-1]["failed"] >= 1 and lines[-2 if "summary" in lines[-1] else -1]["result"] in ("ok", "failed")
    for name in ("good", "also"):
        assert (tmp_path / "copy" / name).read_bytes() == b"good"
    for path in (tmp_path / "copy").rglob("*"):
        assert stat.S_ISREG(path.lstat().st_mode) or stat.S_ISDIR(path.lstat().st_mode), path
    assert not hidden(tmp_path / "copy")


def test_a_link_of_this_machine_that_leads_out_is_not_followed(evil, outside, tmp_path):
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "out").symlink_to(outside)
    (tmp_path / "copy" / "f").symlink_to(outside / "secret")
    evil.send(file("out/secret"), file("f", b"new"), special("out", tarfile.DIRTYPE, mode=0o700), file("last", b"good"))
    before = snapshot(outside)
    told("-r", "--method", "tar", evil.url + "/tree/.", tmp_path / "copy", expect=1)
    assert snapshot(outside) == before
    assert (tmp_path / "copy" / "last").read_bytes() == b"good"


def test_set_id_bits_and_owners_are_nobody_s_gift(evil, tmp_path):
    evil.send(file("f", mode=0o7777, uid=12345, gid=12345), special("d", tarfile.DIRTYPE, mode=0o7777, uid=12345))
    ferry("cp", "-r", "-p", "--method", "tar", evil.url + "/tree", tmp_path / "copy")
    for name in ("f", "d"):
        there = (tmp_path / "copy" / name).stat()
        assert stat.S_IMODE(there.st_mode) == 0o777 and there.st_uid == os.geteuid()


def test_a_name_twice_is_the_later_file(evil, tmp_path):
    evil.send(file("f", b"first"), file("f", b"second"))
    ferry("cp", "-r", "--method", "tar", evil.url + "/tree", tmp_path / "copy")
    assert (tmp_path / "copy" / "f").read_bytes() == b"second"


def test_more_than_there_is_room_for_is_refused_before_it_is_written(evil, tmp_path):
    member = tarfile.TarInfo("huge")
    member.size = 1 << 60
    evil.archive.write_bytes(member.tobuf(tarfile.GNU_FORMAT) + bytes(100000))
    _, text = told("-r", "--method", "tar", evil.url + "/tree", tmp_path / "copy", expect=1)
    assert "huge" in text and not list((tmp_path / "copy").iterdir())


def test_a_sparse_file_of_more_than_there_is_room_for_is_refused(evil, tmp_path):
    headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "bomb", "GNU.sparse.realsize": str(1 << 60)}
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("GNUSparseFile.0/bomb")
        member.pax_headers = headers
        body = b"1\n0\n1\n".ljust(512, b"\0") + b"x"
        member.size = len(body)
        archive.addfile(member, io.BytesIO(body))
    evil.archive.write_bytes(data.getvalue())
    _, text = told("-r", "--method", "tar", evil.url + "/tree", tmp_path / "copy", expect=1)
    assert "bomb" in text and not list((tmp_path / "copy").iterdir())


@pytest.mark.parametrize("what", ["f/x", "../x"])
def test_a_stream_of_refusals_ends(evil, tmp_path, what):
    evil.send(file("f", b"f"), *[file(what) for _ in range(1000)])
    evil.behave("while cat %s; do :; done" % evil.archive)
    data = evil.archive.read_bytes().rstrip(b"\0")
    evil.archive.write_bytes(data + bytes(-len(data) % 512))
    lines, _ = told("-r", "--method", "tar", evil.url + "/tree", tmp_path / "copy", expect=1)
    assert lines[-1]["failed"] == 1001 and [p.name for p in (tmp_path / "copy").iterdir()] == ["f"]


@pytest.mark.parametrize("to_server", [False, True])
def test_what_talks_for_ever_when_asked_for_its_version_is_no_tar(evil, tmp_path, to_server):
    evil.script.write_text(evil.script.read_text().replace('echo "tar (GNU tar) 1.34"', "exec yes 'tar (GNU tar) 1.34'"))
    tree = grow(tmp_path / "t" if to_server else evil.tree / "t")
    copy = evil.tree / "copy" if to_server else tmp_path / "copy"
    near, far = (tree, evil.url + "/tree/copy") if to_server else (evil.url + "/tree/t", copy)
    lines, _ = told("-r", near, far)
    assert methods(lines) == {"sftp"} and same(tree, copy)
    _, text = told("-r", "--method", "tar", near, far, expect=1)
    assert "tar" in text


def test_what_is_no_archive_is_told_and_the_files_come_one_by_one(evil, tmp_path):
    grow(evil.tree / "t")
    evil.archive.write_bytes(random_bytes(20000))
    done = subprocess.run([FERRY, "cp", "-r", "--method", "tar", evil.url + "/tree/t", tmp_path / "copy"], capture_output=True,
                          text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert "/tree/t" in done.stderr and "127.0.0.1" in done.stderr, done.stderr
    assert done.returncode == 0 and same(evil.tree / "t", tmp_path / "copy")


def test_a_stream_that_ends_too_early_is_told_and_the_rest_comes(evil, tmp_path):
    grow(evil.tree / "t")
    subprocess.run(["tar", "-cf", evil.archive, "-C", evil.tree / "t", "."], check=True)
    data = evil.archive.read_bytes()
    for cut in (len(data) // 3, len(data) // 2 + 100):
        evil.archive.write_bytes(data[:cut])
        evil.behave("cat %s; echo tar: broken >&2; exit 2" % evil.archive)
        copy = tmp_path / ("copy%d" % cut)
        lines, text = told("-r", "--method", "tar", evil.url + "/tree/t", copy)
        assert "tar: broken" in text and methods(lines) == {"tar", "sftp"}
        assert lines[-1]["files"] == FILES and same(evil.tree / "t", copy) and not hidden(copy)
        names = [line["file"] for line in lines if line.get("result") == "ok"]
        assert len(names) == len(set(names)) == FILES
        assert lines[-1]["bytes"] == sum(p.stat().st_size for p in copy.rglob("*") if p.is_file())


def test_a_tar_that_complains_of_what_all_is_there_is_a_failure_in_its_words(evil, tmp_path):
    grow(evil.tree / "t")
    evil.behave("tar -c -C %s -f - .; echo 'tar: file changed as we read it' >&2; exit 1" % (evil.tree / "t"))
    lines, text = told("-r", "--method", "tar", evil.url + "/tree/t", tmp_path / "copy", expect=1)
    assert "file changed" in text and lines[-1]["failed"] == 1 and same(evil.tree / "t", tmp_path / "copy")


def test_who_interrupts_it_finds_no_half_file(evil, tmp_path):
    size = 5000000
    evil.send(file("small", b"s"), file("large", random_bytes(size)))
    evil.behave("head -c 2000000 %s; sleep 60" % evil.archive)
    with subprocess.Popen([FERRY, "cp", "-r", "--method", "tar", evil.url + "/tree", tmp_path / "copy"],
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        wait_until("it is in the middle", lambda: hidden(tmp_path / "copy"))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130 and b"interrupted" in said
    assert not (tmp_path / "copy" / "large").exists()
    assert not hidden(tmp_path / "copy")
