"""ferry cp by scp's old protocol: servers that have no SFTP, and hostile ones."""

import contextlib
import os
import shlex
import signal
import socket
import stat
import subprocess
import threading

import pytest

from conftest import random_bytes, wait_until
from ssh_clients import SECONDS
from test_client_places import FERRY, HOST, Dropbear, OwnServer, Sshd, ferry, home, own, sshd  # noqa: F401
from test_cp import NAMES, end, lines, start

NO_SFTP = "Subsystem other /bin/false"


@pytest.fixture
def bare(tmp_path, home):
    """OpenSSH's server without SFTP."""
    server = Sshd(tmp_path / "bare", home, NO_SFTP)
    yield server
    server.stop()


@pytest.fixture(params=["sshd", "bare", "dropbear", "ferryd"])
def by_scp(request, tmp_path, home):
    if request.param == "ferryd":
        server = request.getfixturevalue("own")
        yield OwnServer(server, "scp").url, server.root
    elif request.param == "dropbear":
        server = Dropbear(tmp_path / "dropbear", home)
        yield server.url, server.files
        server.stop()
    else:
        server = request.getfixturevalue(request.param)
        yield server.url, server.files


def cp(*args, **named):
    return ferry("cp", "--method", "scp", *args, **named)


@pytest.fixture
def tree(tmp_path):
    top = tmp_path / "tree"
    (top / "sub" / "deep").mkdir(parents=True)
    (top / "empty").mkdir()
    for i, name in enumerate(name for name in NAMES if "\n" not in name):
        (top / "sub" / name).write_bytes(random_bytes(100 * i, i))
    (top / "sub" / "deep" / "leaf").write_text("leaf")
    (top / "large").write_bytes(random_bytes(3000000))
    return top


def same(one, two):
    return subprocess.run(["diff", "-r", one, two]).returncode == 0


@pytest.mark.parametrize("size", [0, 1, 300000])
def test_a_file_goes_there_and_back(by_scp, tmp_path, size):
    url, files = by_scp
    here = tmp_path / "here"
    here.write_bytes(random_bytes(size))
    told = lines(cp("--json", here, url + "/there"))
    assert (told[0]["method"], told[0]["bytes"], told[-1]["bytes"]) == ("scp", size, size)
    assert (files / "there").read_bytes() == here.read_bytes()
    cp(url + "/there", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == here.read_bytes()
    assert cp(url + "/there", "-", text=False) == here.read_bytes()


def test_a_tree_goes_there_and_back(by_scp, tree, tmp_path):
    url, files = by_scp
    assert lines(cp("-r", "--json", tree, url + "/copy"))[-1]["failed"] == 0
    assert same(tree, files / "copy")
    cp("-r", url + "/copy", tmp_path / "back")
    assert same(tree, tmp_path / "back")
    cp("-r", tree, url + "/copy")  # there is one: into it
    assert same(tree, files / "copy" / "tree")


def test_what_is_in_a_directory_without_a_name_comes(by_scp, tree, tmp_path):
    url, files = by_scp
    cp("-r", tree, url + "/copy")
    (files / "copy" / "..odd").write_text("odd")
    cp("-r", url + "/copy/.", tmp_path / "back")
    assert same(files / "copy", tmp_path / "back")


def test_a_pattern_is_expanded(by_scp, tmp_path):
    url, files = by_scp
    for name in ("a1.txt", "a2.txt", "b.txt", ".a3.txt"):
        (files / name).write_text(name)
    into = tmp_path / "into"
    into.mkdir()
    cp(url + "/a*.txt", into)
    assert sorted(os.listdir(into)) == ["a1.txt", "a2.txt"]
    assert "nothing there" in cp(url + "/z*", into, expect=1)


def test_modes_and_times_are_kept_if_they_are_asked_for(by_scp, tmp_path):
    url, files = by_scp
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "run").write_text("x")
    (tree / "run").chmod(0o751)
    os.utime(tree / "run", (1500000000, 1500000001))
    tree.chmod(0o555)
    os.utime(tree, (1400000000, 1400000001))
    cp("-rp", tree, url + "/copy")
    cp("-rp", url + "/copy", tmp_path / "back")
    for folder in (files / "copy", tmp_path / "back"):
        assert stat.S_IMODE((folder / "run").stat().st_mode) == 0o751
        assert (folder / "run").stat().st_mtime == 1500000001
        assert stat.S_IMODE(folder.stat().st_mode) == 0o555
        assert folder.stat().st_mtime == 1400000001


def test_what_cannot_be_had_is_named_and_the_rest_comes(by_scp, tmp_path):
    url, files = by_scp
    tree = files / "tree"
    tree.mkdir()
    (tree / "a").write_text("a")
    (tree / "z").write_text("z")
    os.mkfifo(tree / "pipe")
    (tree / "broken").symlink_to("nowhere")
    said = cp("-r", url + "/tree", tmp_path / "back", expect=1)
    assert "tree/pipe" in said and "tree/broken" in said
    assert sorted(os.listdir(tmp_path / "back")) == ["a", "z"]
    assert "no such file" in cp(url + "/missing", tmp_path / "x", expect=1)
    assert "-r" in cp(url + "/tree", tmp_path / "x", expect=1)
    assert not (tmp_path / "x").exists()


def test_nothing_goes_into_a_directory_that_has_the_file_s_name(by_scp, tmp_path):
    url, files = by_scp
    (files / "to" / "name").mkdir(parents=True)
    (tmp_path / "name").write_text("x")
    said = cp(tmp_path / "name", url + "/to", expect=1)
    assert "name" in said and os.listdir(files / "to" / "name") == []


def test_the_mode_of_a_file_that_is_replaced_stays(by_scp, tmp_path):
    url, files = by_scp
    for path in (files / "old", tmp_path / "old"):
        path.write_text("old")
        path.chmod(0o640)
    (tmp_path / "new").write_text("new")
    cp(tmp_path / "new", url + "/old")
    cp(url + "/old", tmp_path / "old")
    for path in (files / "old", tmp_path / "old"):
        assert path.read_text() == "new" and stat.S_IMODE(path.stat().st_mode) == 0o640


def test_both_ends_are_compared_if_that_is_asked_for(by_scp, tmp_path):
    url, _ = by_scp
    here = tmp_path / "here"
    here.write_bytes(random_bytes(200000))
    for source, target in ((here, url + "/there"), (url + "/there", tmp_path / "back")):
        assert lines(cp("--verify", "--json", source, target))[0]["verified"] == "yes"


def test_between_two_servers_and_what_a_pipe_cannot_say(sshd, own, home, tmp_path):
    (home / ".ssh" / "known_hosts").unlink()
    data = random_bytes(3000000)
    sshd.put("from", data)
    cp(sshd.url + "/from", OwnServer(own, "scp").url + "/a")
    assert (own.root / "a").read_bytes() == data
    cp(OwnServer(own, "ftp").url + "/a", sshd.url + "/b")
    assert (sshd.files / "b").read_bytes() == data
    done = subprocess.run([FERRY, "cp", "-O", "-", sshd.url + "/c"], input=b"data", capture_output=True, timeout=60)
    assert done.returncode == 1 and b"size" in done.stderr and not (sshd.files / "c").exists()


# -- servers without SFTP --


def test_a_server_without_sftp_is_served_by_scp_with_a_word(bare, tree, tmp_path):
    (tmp_path / "f").write_text("f")
    done = subprocess.run([FERRY, "cp", tmp_path / "f", bare.url + "/f"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "does not serve SFTP" in done.stderr, done
    assert (bare.files / "f").read_text() == "f"
    told = lines(ferry("cp", "-r", "--json", tree, bare.url + "/copy"))
    assert told[-1]["failed"] == 0 and same(tree, bare.files / "copy")
    assert "does not serve SFTP" in ferry("cp", "--method", "sftp", tmp_path / "f", bare.url + "/g", expect=3)


def test_a_subsystem_whose_program_is_missing_is_none(home, tmp_path):
    server = Sshd(tmp_path / "sshd", home, "Subsystem sftp /nowhere/sftp-server")
    try:
        server.put("f", b"f")
        ferry("cp", server.url + "/f", tmp_path / "f")
        assert (tmp_path / "f").read_bytes() == b"f"
    finally:
        server.stop()


def test_a_server_that_lets_one_channel_be_open_gets_one(home, tmp_path, tree):
    server = Sshd(tmp_path / "sshd", home, NO_SFTP + "\nMaxSessions 1")
    try:
        cp("-r", tree, server.url + "/copy")
        cp("-r", server.url + "/copy", tmp_path / "back")
        assert same(tree, tmp_path / "back")
    finally:
        server.stop()


@pytest.mark.heavy
def test_files_that_wait_for_the_one_channel_for_a_minute_come_too(home, tmp_path):
    server = Sshd(tmp_path / "sshd", home, NO_SFTP + "\nMaxSessions 1")
    into = tmp_path / "into"
    into.mkdir()
    try:
        server.put("0", random_bytes(2200000))
        for name in ("1", "2", "3"):
            server.put(name, name.encode())
        end(start("--method", "scp", "--limit", "32K", *[server.url + "/%d" % i for i in range(4)], into), 0)
        assert [(into / name).stat().st_size for name in "0123"] == [2200000, 1, 1, 1]
    finally:
        server.stop()


def test_a_server_without_scp_says_so(home, tmp_path):
    server = Sshd(tmp_path / "sshd", home, NO_SFTP + "\nForceCommand exit 127")
    try:
        server.put("f", b"f")
        assert "has no scp" in cp(server.url + "/f", tmp_path / "f", expect=1)
        assert not (tmp_path / "f").exists()
    finally:
        server.stop()


def test_an_interrupted_download_leaves_no_part_and_says_no_such_thing(bare, tmp_path):
    bare.put("big", random_bytes(1 << 20) * 60)
    into = tmp_path / "into"
    into.mkdir()
    down = start("--limit", "4M", bare.url + "/big", into)
    wait_until("bytes have moved", lambda: any(p.stat().st_size > 1 << 20 for p in into.iterdir()))
    down.send_signal(signal.SIGINT)
    said = end(down, 130)
    assert "interrupted" in said and "goes on" not in said and os.listdir(into) == []


# -- hostile ones --


def serve_scp(listen, key_path, script, commands):
    """paramiko's server, whose every command says the same, with a pause for each answer."""
    paramiko = pytest.importorskip("paramiko")

    class Server(paramiko.ServerInterface):
        def check_auth_publickey(self, username, key):
            return paramiko.AUTH_SUCCESSFUL

        def get_allowed_auths(self, username):
            return "publickey"

        def check_channel_request(self, kind, chanid):
            return paramiko.OPEN_SUCCEEDED

        def check_channel_exec_request(self, channel, command):
            commands.append(command.decode())
            threading.Thread(target=self.talk, args=(channel, command), daemon=True).start()
            return True

        def talk(self, channel, command):
            with contextlib.suppress(Exception):
                channel.settimeout(SECONDS)
                channel.recv(1)
                for said in script(shlex.split(command.decode())):
                    channel.sendall(said)
                    if said[:1] in b"CDTE":
                        channel.recv(1000)
                channel.send_exit_status(0)
                channel.close()

    with contextlib.suppress(Exception):  # what a client that leaves looks like
        while True:
            connection, _ = listen.accept()
            transport = paramiko.Transport(connection)
            transport.add_server_key(paramiko.Ed25519Key.from_private_key_file(str(key_path)))
            transport.start_server(server=Server())


@pytest.fixture
def hostile(home):
    pytest.importorskip("paramiko")
    key = home / ".ssh" / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (home / ".ssh" / "config").write_text("StrictHostKeyChecking accept-new\n")
    with socket.create_server((HOST, 0)) as listen:
        def serve(script):
            commands = []
            threading.Thread(target=serve_scp, args=(listen, key, script, commands), daemon=True).start()
            return "scp://u@%s:%d" % (HOST, listen.getsockname()[1])

        yield serve


def everything(top):
    return sorted(os.path.relpath(os.path.join(at, name), top) for at, folders, files in os.walk(top)
                  for name in folders + files if not at.startswith(str(top / "home")) and name != "home")


@pytest.mark.parametrize("name", ["../x", "/tmp/ferry-x", "..", ".", "other", "a/b", "x" * 300, ""])
def test_a_name_that_was_not_asked_for_makes_no_file(hostile, tmp_path, name):
    into = tmp_path / "into"
    (into / "inner").mkdir(parents=True)
    url = hostile(lambda words: [b"C0644 5 " + name.encode() + b"\n", b"12345\0"])
    before = everything(tmp_path)
    cp(url + "/f", into / "inner", expect=1)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("name", ["../x", "/tmp/ferry-x", "..", "a/b", "x" * 300])
def test_a_name_in_a_tree_that_leads_elsewhere_makes_no_file(hostile, tmp_path, name):
    into = tmp_path / "into"
    (into / "inner").mkdir(parents=True)
    url = hostile(lambda words: [b"D0755 0 d\n", b"C0644 5 " + name.encode() + b"\n", b"12345\0", b"E\n"])
    before = everything(tmp_path)
    cp("-r", url + "/d", into / "inner", expect=1)
    assert [path for path in everything(tmp_path) if path not in before] in ([], ["into/inner/d"])


def test_a_complaint_about_what_lies_above_leads_nowhere(hostile, tmp_path):
    into = tmp_path / "into"
    into.mkdir()
    url = hostile(lambda words: [b"D0755 0 d\n", b"\1scp: d/..: Permission denied\n", b"E\n"])
    assert "d" in cp("-r", url + "/d", into, expect=1)
    assert everything(into) in ([], ["d"])


def test_a_directory_for_a_file_and_a_file_that_is_cut_make_no_file(hostile, tmp_path):
    into = tmp_path / "into"
    into.mkdir()

    def script(words):
        return [b"C0644 5 f\n", b"123"] if "-r" not in words else [b"C0644 5 f\n"]

    assert "ended too early" in cp(hostile(script) + "/f", into, expect=1)
    assert os.listdir(into) == []


def test_links_in_the_target_lead_nowhere(bare, tmp_path):
    into, outside = tmp_path / "into", tmp_path / "outside"
    into.mkdir()
    outside.mkdir()
    (bare.files / "d").mkdir()
    bare.put("d/f", b"new")
    (into / "d").symlink_to(outside)
    cp("-r", bare.url + "/d", into, expect=1)
    assert os.listdir(outside) == []
