"""OpenSSH's scp with its old protocol (-O) against a real server: both ways, trees, names, rights and quotas."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest

import ssh_clients
from conftest import IS_SANITIZED, random_bytes

ANY_NAMES = ("a b", " x", "x ", "-r", "'", '"', "$HOME", "`id`", "*", "[x]", "a;b", "\\", "ü", "\U0001f4be", "~", "#",
             "tab\there", b"latin-\xfc", "x" * 255)


REGRESS = pathlib.Path("/usr/lib/openssh/regress/run-tests")


class Scp(ssh_clients.OpenSsh):
    programs = ("ssh", "scp")

    def copy(self, *places, flags="", expect=0):
        """Remote places begin with a colon."""
        words = ["scp", "-O", "-q" + flags, *self.options(), "-P", self.port, "--"]
        for place in places:
            raw = os.fsencode(place)
            words.append(b"anna@127.0.0.1" + raw if raw.startswith(b":") else raw)
        return ssh_clients.run(*words, expect=expect, env=self.environment)

    def talk(self, command, said, expect=0):
        """What the server's end answers to bytes said all at once."""
        return ssh_clients.run(*self.command(), command, expect=expect, input=said, env=self.environment)


@pytest.fixture
def scp(ssh_server, ssh_keys, tmp_path):
    return Scp(ssh_server, tmp_path, ssh_keys)


def quoted(name):
    """As a person quotes for the far side. The near side would compare it with the name (so -T)."""
    return b":./'" + os.fsencode(name).replace(b"'", b"'\\''") + b"'"


def facts(folder):
    """Of a tree: names, kinds, modes, whole seconds, contents."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        content = path.read_bytes() if path.is_file() else None
        found[os.fsencode(path.relative_to(folder))] = (status.st_mode, int(status.st_mtime), content)
    return found


def make_tree(folder):
    (folder / "deep" / "er" / "est").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "nothing").write_bytes(b"")
    (folder / "a b").write_bytes(b"spaces")
    (folder / "deep" / "large").write_bytes(random_bytes(3_000_001))
    (folder / "deep" / "er" / "run").write_bytes(b"#!/bin/sh\n")
    (folder / "deep" / "er" / "run").chmod(0o750)
    (folder / "deep" / "er" / "est" / "secret").write_bytes(b"x")
    (folder / "deep" / "er" / "est" / "secret").chmod(0o400)
    (folder / "deep" / "er" / "est").chmod(0o500)
    for i, path in enumerate(sorted(folder.rglob("*"), reverse=True)):
        os.utime(path, (1_000_000_000 + i, 1_100_000_000 + i))
    os.utime(folder, (900_000_000, 900_000_000))


def test_a_file_comes_and_goes_whole(scp, root, tmp_path):
    content = random_bytes(5_000_003)
    (tmp_path / "here").write_bytes(content)
    scp.copy(tmp_path / "here", ":there")
    assert (root / "there").read_bytes() == content
    scp.copy(":there", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == content
    for operation, path in ("upload", "/there"), ("download", "/there"):
        record = scp.server.last_audit(operation)
        assert (record["path"], record["bytes"], record["result"]) == (path, len(content), "ok")


def test_a_tree_keeps_modes_and_times_both_ways(scp, root, tmp_path):
    (tmp_path / "tree").mkdir()
    make_tree(tmp_path / "tree")
    scp.copy(tmp_path / "tree", ":", flags="rp")
    assert facts(root / "tree") == facts(tmp_path / "tree")
    (tmp_path / "back").mkdir()
    scp.copy(":tree", tmp_path / "back", flags="rp")
    assert facts(tmp_path / "back" / "tree") == facts(tmp_path / "tree")


def test_a_tree_takes_the_name_of_a_target_that_is_not_there(scp, root, tmp_path):
    (tmp_path / "tree").mkdir()
    make_tree(tmp_path / "tree")
    scp.copy(tmp_path / "tree", ":copy", flags="rp")
    assert facts(root / "copy") == facts(tmp_path / "tree")


def test_without_p_a_new_file_has_its_bits_and_an_old_one_keeps_them(scp, root, tmp_path):
    (tmp_path / "secret").write_bytes(b"1")
    (tmp_path / "secret").chmod(0o600)
    (tmp_path / "open").write_bytes(b"2")
    (tmp_path / "open").chmod(0o4777)
    (root / "old").write_bytes(b"3")
    (root / "old").chmod(0o640)
    scp.copy(tmp_path / "secret", tmp_path / "open", ":")
    scp.copy(tmp_path / "secret", ":old")
    assert [(root / name).stat().st_mode & 0o7777 for name in ("secret", "open", "old")] == [0o600, 0o755, 0o640]
    scp.copy(tmp_path / "open", ":old", flags="p")
    assert (root / "old").stat().st_mode & 0o7777 == 0o777  # never setuid


@pytest.mark.parametrize("name", ANY_NAMES, ids=ascii)
def test_a_name_may_hold_anything(name, scp, root, tmp_path):
    here = os.path.join(os.fsencode(tmp_path), b"names")
    os.mkdir(here)
    with open(os.path.join(here, os.fsencode(name)), "wb") as file:
        file.write(b"content")
    scp.copy(here, ":", flags="r")
    assert os.listdir(os.fsencode(root / "names")) == [os.fsencode(name)]
    scp.copy(os.path.join(here, os.fsencode(name)), ":")
    assert os.fsencode(name) in os.listdir(os.fsencode(root))
    os.mkdir(os.fsencode(tmp_path / "back"))
    scp.copy(b":names", tmp_path / "back", flags="r")
    assert os.listdir(os.fsencode(tmp_path / "back" / "names")) == [os.fsencode(name)]
    scp.copy(quoted(name), tmp_path / "one", flags="T")
    assert (tmp_path / "one").read_bytes() == b"content"


def test_a_name_with_a_newline_is_sent_as_openssh_sends_it(scp, root, tmp_path):
    (root / "two\nlines\\").write_bytes(b"x")
    said = scp.talk("scp -f 'two\nlines\\'", b"\0\0\0")
    assert said == b"C0644 1 two\\^Jlines\\\\\nx\0"


def test_patterns_stand_for_what_they_match(scp, root, tmp_path):
    for folder in "d1", "d2", "e":
        (root / folder).mkdir()
        for name in "a.txt", "b.txt", "c.jpg", ".hidden.txt":
            (root / folder / (name if name[0] == "." else folder + name)).write_bytes(b"")
    (root / "e" / "*.txt").write_bytes(b"star")

    def got(pattern):
        folder = tmp_path / "got"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        scp.copy(":" + pattern, folder, flags="T")
        return sorted(os.listdir(folder))

    assert got("d?/*.txt") == ["d1a.txt", "d1b.txt", "d2a.txt", "d2b.txt"]
    assert got("/d[!1]/d2[ab]*") == ["d2a.txt", "d2b.txt"]
    assert got("*/d1c.jpg") == ["d1c.jpg"]
    assert got("'e/*.txt'") == ["*.txt"]
    assert got("~/e/ea*") == ["ea.txt"]
    scp.copy(":*.nothing", tmp_path / "got", expect=1)


def test_many_files_come_and_go(scp, root, tmp_path):
    (tmp_path / "many").mkdir()
    for i in range(1500):
        (tmp_path / "many" / ("file-%d" % i)).write_bytes(b"%d" % i)
    scp.copy(tmp_path / "many", ":", flags="r")
    shutil.rmtree(tmp_path / "many")
    scp.copy(":many", tmp_path, flags="r")
    for folder in root / "many", tmp_path / "many":
        assert {name: (folder / name).read_bytes() for name in os.listdir(folder)} == {
            "file-%d" % i: b"%d" % i for i in range(1500)}


# -- what goes wrong with one file is said, and the others come --


def test_a_file_without_rights_is_complained_of_and_the_next_ones_come(ssh_ferryd, ssh_keys, root, tmp_path):
    server = ssh_ferryd(root, "--read-only")
    scp = Scp(server, tmp_path, ssh_keys)
    (tmp_path / "one").write_bytes(b"1")
    said = scp.copy(tmp_path / "one", ":", expect=1)
    assert b"scp: /one: " in said and os.listdir(root) == []


def test_missing_files_and_directories_without_r_are_complained_of(scp, root, tmp_path):
    (root / "folder").mkdir()
    (root / "there").write_bytes(b"x")
    (tmp_path / "got").mkdir()
    said = scp.copy(":missing", ":folder", ":there", tmp_path / "got", expect=1)
    assert b"scp: /missing: no such file" in said and b"scp: /folder: not a regular file" in said
    assert os.listdir(tmp_path / "got") == ["there"]


def test_links_in_a_tree_are_not_followed(scp, root, tmp_path):
    (root / "tree").mkdir()
    (root / "tree" / "up").symlink_to("..")
    (root / "tree" / "out").symlink_to("/etc/passwd")
    (root / "tree" / "file").write_bytes(b"x")
    said = scp.copy(":tree", tmp_path / "got", flags="r", expect=1)
    assert b"/tree/up: not a regular file" in said and b"/tree/out" in said
    assert os.listdir(tmp_path / "got") == ["file"]


def test_a_full_account_is_told_and_keeps_what_fits(ssh_ferryd, ssh_keys, root, tmp_path):
    server = ssh_ferryd(root, config="defaults { quota_bytes = 1M }")
    scp = Scp(server, tmp_path, ssh_keys)
    (tmp_path / "put").mkdir()
    for name, size in ("a", 400_000), ("b", 900_000), ("c", 500_000):
        (tmp_path / "put" / name).write_bytes(random_bytes(size))
    said = scp.copy(tmp_path / "put" / "a", tmp_path / "put" / "b", tmp_path / "put" / "c", ":", expect=1)
    assert b"scp: /b: " in said and b"quota" in said
    assert sorted(os.listdir(root)) == ["a", "c"]


def test_what_a_sender_takes_back_leaves_the_old_file(scp, root):
    (root / "file").write_bytes(b"old")
    said = scp.talk("scp -t file", b"C0644 4 file\nnew!\1scp: read failed\nC0644 2 next\nok\0", expect=1)
    assert said == b"\0\0\0\0\0"
    assert (root / "file").read_bytes() == b"ok"
    scp.talk("scp -t file", b"C0644 4 file\nnew!\1scp: read failed\n", expect=1)
    assert (root / "file").read_bytes() == b"ok" and os.listdir(root) == ["file"]


def test_an_upload_that_breaks_off_leaves_the_old_file(scp, root):
    (root / "file").write_bytes(b"old")
    ssh_clients.run(*scp.command(), "scp -t file", expect=255, input=b"C0644 1000 file\nnew", env=scp.environment)
    assert (root / "file").read_bytes() == b"old"


# -- hostile clients --


@pytest.mark.parametrize("name", [b"..", b".", b"", b"/etc/passwd", b"../x", b"a/b", b"a\0b"])
def test_a_name_that_leads_elsewhere_ends_the_dialogue(name, scp, root):
    (root / "in").mkdir()
    for kind in b"C", b"D":
        said = scp.talk("scp -r -t in", kind + b"0644 1 " + name + b"\nx\0", expect=1)
        assert said == b"\0\2scp: unexpected filename\n"
    assert os.listdir(root / "in") == [] and os.listdir(root) == ["in"]


@pytest.mark.parametrize("line", [b"hello", b"C", b"C0644 -1 x", b"C0644 99999999999999999999 x", b"T1 2 3", b"\n",
                                  b"C0644 1 " + b"x" * 3000])
def test_what_is_no_line_ends_the_dialogue(line, scp, root):
    said = scp.talk("scp -t .", line + b"\n", expect=1)
    assert said == b"\0\2scp: protocol error: expected control record\n"


def test_links_that_lead_out_are_refused(scp, root, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"secret")
    (root / "link").symlink_to(outside)
    (root / "leaf").symlink_to(outside / "file")
    for place in ":link/file", ":leaf", ":../outside/file", ":/../../outside/file":
        scp.copy(place, tmp_path / "got", expect=1)
    assert not (tmp_path / "got").exists()
    (tmp_path / "new").write_bytes(b"x")
    scp.copy(tmp_path / "new", ":link/new", expect=1)
    assert os.listdir(outside) == ["file"]


def test_directories_are_refused_without_r_and_below_a_bound(scp, root):
    assert b"\2scp: received directory without -r" in scp.talk("scp -t .", b"D0755 0 d\n", expect=1)
    said = scp.talk("scp -r -t .", b"D0755 0 d\n" * 300, expect=1)
    assert said.count(b"\1scp: ") == 300 - 256
    assert pathlib.Path(root, *["d"] * 256).is_dir()


def test_wrong_arguments_are_told_how_it_is_used(scp):
    for command in "scp", "scp -t", "scp -f", "scp -x -t a", "scp -t -f a", "scp -t a b":
        assert b"usage: scp" in scp.exec(command, expect=2)


# -- OpenSSH's own regression tests --

# What the suite finds as scp: the far end of a copy is ours, by ssh, and all else the real one. What the suite
# copies lies in a folder that is our root, and it names it from the root of the machine.
FAR_END = """#!/bin/sh
for word in "$@"; do
    case $word in -t | -f)
        echo "$*" >>%(log)s
        exec %(ssh)s "scp $(printf %%s "$*" | sed 's,%(root)s,,g')" ;;
    esac
done
exec %(scp)s "$@"
"""


@pytest.mark.skipif(IS_SANITIZED, reason="a minute, and nothing that the plain build does not find")
@pytest.mark.parametrize("name, far_ends", [("scp", 14), ("scp3", 10), ("scp-uri", 6)])
def test_openssh_regression(ssh_ferryd, ssh_keys, tmp_path, name, far_ends):
    """Their halves for the old protocol; those for SFTP, which are by the system's server here, run in
    test_sftp_server.py."""
    if not REGRESS.exists():
        pytest.skip("not installed: openssh-tests")
    scratch = tmp_path / "rg"
    scratch.mkdir()
    client = Scp(ssh_ferryd(scratch), tmp_path, ssh_keys)
    program, log = tmp_path / "bin" / "scp", tmp_path / "far-ends"
    program.parent.mkdir()
    ssh = " ".join(shlex.quote(str(word)) for word in client.command(flags=("-q",)))
    program.write_text(FAR_END % {"ssh": ssh, "scp": shutil.which("scp"), "root": scratch, "log": log})
    program.chmod(0o755)
    done = subprocess.run([REGRESS, scratch, "t-exec", "TEST_SSH_SCP=%s" % program, "LTESTS=" + name, "SUDO="],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    assert re.search(r"^ok %s$" % name, done.stdout, re.MULTILINE), done.stdout
    assert len(log.read_text().splitlines()) >= far_ends, log.read_text()
