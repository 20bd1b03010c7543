"""ferry ls, cat, rm, mkdir and mv against other people's servers and ours, and the login before them."""

import contextlib
import ftplib
import getpass
import io
import json
import os
import pathlib
import pty
import re
import shutil
import socket
import stat
import subprocess
import threading

import pytest

from conftest import BIN, PASSWORD, USER, wait_until
from ssh_clients import SECONDS
from test_bench_peers import Peer

FERRY = str(BIN / "ferry")
HOST = "127.0.0.1"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user's folder of the test's own: no key, agent, configuration or password of anybody else."""
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(mode=0o700, parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return folder


def ferry(*args, expect=0, text=True, **named):
    done = subprocess.run([FERRY, *map(str, args)], capture_output=True, text=text, timeout=60, stdin=subprocess.DEVNULL,
                          start_new_session=True, **named)
    assert done.returncode == expect, "%r: exit code %d, %s%s" % (args, done.returncode, done.stdout, done.stderr)
    return done.stdout if expect == 0 else done.stderr


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


# -- servers --


class Sshd:
    """OpenSSH's server for a key in the home folder, serving a folder of this machine."""

    def __init__(self, folder, home, settings="Subsystem sftp /usr/lib/openssh/sftp-server"):
        program = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
        if program is None or not os.path.exists("/usr/lib/openssh/sftp-server"):
            pytest.skip("not installed: sshd, sftp-server")
        folder.mkdir()
        self.folder, self.port, self.files = folder, free_port(), folder / "files"
        self.files.mkdir()
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        for name in ("host_key", "other_host_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        key = home / ".ssh" / "id_ed25519"
        if not key.exists():
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        (folder / "config").write_text("""
Port %d
ListenAddress %s
HostKey %s/host_key
AuthorizedKeysFile %s.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
%s
""" % (self.port, HOST, folder, key, settings))
        self.log = open(folder / "log", "wb")
        self.process = subprocess.Popen([program, "-D", "-e", "-f", folder / "config"], stderr=self.log)
        wait_until("sshd listens", lambda: b"Server listening" in (folder / "log").read_bytes())
        self.know(home)
        self.url = "sftp://%s@%s:%d%s" % (getpass.getuser(), HOST, self.port, self.files)

    def know(self, home, key="host_key"):
        (home / ".ssh" / "known_hosts").write_text(
            "[%s]:%d %s" % (HOST, self.port, (self.folder / (key + ".pub")).read_text()))

    def put(self, name, data):
        (self.files / name).write_bytes(data)

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)
        self.log.close()


class Dropbear(Sshd):
    """dropbear, with the home folder in the place of the user's own: it looks for authorized_keys there."""

    def __init__(self, folder, home):
        if os.geteuid() != 0:
            pytest.skip("a name space of its own needs root")
        if not all(map(shutil.which, ("dropbear", "unshare"))) or not os.path.exists("/usr/lib/sftp-server"):
            pytest.skip("not installed: dropbear, sftp-server")
        folder.mkdir()
        self.folder, self.port, self.files = folder, free_port(), folder / "files"
        self.files.mkdir()
        home.chmod(0o700)
        key = home / ".ssh" / "id_ed25519"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        shutil.copy(str(key) + ".pub", home / ".ssh" / "authorized_keys")
        made = subprocess.run(["dropbearkey", "-t", "ed25519", "-f", folder / "host_key"], capture_output=True, text=True,
                              check=True)
        (folder / "host_key.pub").write_text(re.search("^ssh-ed25519 .*$", made.stdout, re.M).group() + "\n")
        self.log = open(folder / "log", "wb")
        script = 'mount --make-rprivate / && mount --bind "$1" "$2" && shift 2 && exec dropbear "$@"'
        self.process = subprocess.Popen(
            ["unshare", "-m", "sh", "-c", script, "sh", home, pathlib.Path("~" + getpass.getuser()).expanduser(), "-F", "-E",
             "-r", folder / "host_key", "-p", "%s:%d" % (HOST, self.port), "-P", folder / "pid"], stderr=self.log)
        wait_until("dropbear listens", lambda: (folder / "pid").exists())
        self.know(home)
        self.url = "sftp://%s@%s:%d%s" % (getpass.getuser(), HOST, self.port, self.files)


@pytest.fixture
def dropbear(tmp_path, home):
    server = Dropbear(tmp_path / "dropbear", home)
    yield server
    server.stop()


@pytest.fixture
def sshd(tmp_path, home):
    server = Sshd(tmp_path / "sshd", home)
    yield server
    server.stop()


class OwnServer:
    """ferryd, by one of its protocols."""

    def __init__(self, server, scheme):
        login = "%s:%s" % (USER, PASSWORD.replace(" ", "%20")) if scheme == "ftp" else USER
        self.url = "%s://%s@%s:%d" % (scheme, login, HOST, server.ports[0 if scheme == "ftp" else 1])
        self.root = server.root

    def put(self, name, data):
        (self.root / name).write_bytes(data)


class FtpPeer:
    """Another FTP server, as the benchmark runs it."""

    def __init__(self, peer):
        self.peer = peer
        self.url = "ftp://bench:%s@%s:%d" % (peer.password, peer.host, peer.port)

    def put(self, name, data):
        with contextlib.closing(self.peer.client()) as ftp:
            ftp.storbinary("STOR " + name, io.BytesIO(data))


@pytest.fixture
def own(ferryd, root, home, tmp_path):
    key = home / ".ssh" / "id_ed25519"
    if not key.exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    server = ferryd(root, "--authorized-keys", str(key) + ".pub",
                    listen=("ftp://127.0.0.1:0", "ssh://127.0.0.1:0"))
    (home / ".ssh" / "config").write_text("StrictHostKeyChecking accept-new\n")
    return server


@pytest.fixture(params=["ferryd-ftp", "ferryd-sftp", "sshd", "dropbear", "vsftpd", "proftpd", "pure-ftpd", "pyftpdlib", "twisted"])
def place(request, home):
    if request.param.startswith("ferryd-"):
        yield OwnServer(request.getfixturevalue("own"), request.param.split("-")[1])
    elif request.param in ("sshd", "dropbear"):
        yield request.getfixturevalue(request.param)
    else:
        peer = Peer(request.param)
        try:
            yield FtpPeer(peer)
        finally:
            peer.stop()


# -- what each command does, whoever serves --


def names(url):
    return ferry("ls", url).splitlines()


def test_directories_and_files_are_listed_read_renamed_and_removed(place):
    base = place.url + "/work"
    data = os.urandom(300000)
    ferry("mkdir", base)
    assert "File exists" not in ferry("mkdir", base, expect=1)
    ferry("mkdir", "-p", base + "/d/e", base + "/f", base + "/d")
    place.put("work/one two.txt", data)
    place.put("work/three.txt", b"3")
    assert names(base) == ["d", "f", "one two.txt", "three.txt"]
    assert ferry("cat", base + "/one%20two.txt", base + "/three.txt", text=False) == data + b"3"
    lines = ferry("ls", "-l", base).splitlines()
    assert [line[0] for line in lines] == ["d", "d", "-", "-"], lines
    assert re.search(r" 300000 \d{4}-\d\d-\d\d \d\d:\d\d one two.txt$", lines[2]), lines
    ferry("mv", base + "/three.txt", base + "/f")
    ferry("mv", base + "/one%20two.txt", base + "/1.bin")
    ferry("mv", base + "/f/three.txt", base + "/1.bin")
    assert ferry("cat", base + "/1.bin") == "3"
    assert names(base + "/*.bin") and names(base + "/?.bin")
    ferry("rm", base + "/1.bin")
    ferry("rm", base + "/f", expect=1)
    ferry("rm", "-r", base + "/[df]")
    assert names(base) == []
    ferry("rm", "-r", base)
    ferry("ls", base, expect=1)


def test_what_is_not_there_is_a_failure_of_that_place_alone(place):
    place.put("here", b"yes")
    url = place.url
    done = subprocess.run([FERRY, "cat", url + "/not", url + "/here"], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, b"yes")
    assert b"/not: no such file" in done.stderr
    ferry("rm", "-f", url + "/not")
    assert "no such file" in ferry("ls", url + "/no*", expect=1)


def test_hidden_names_are_listed_when_they_are_asked_for(place):
    ferry("mkdir", place.url + "/h")
    place.put("h/.dot", b"1")
    place.put("h/seen", b"1")
    assert names(place.url + "/h") == ["seen"]
    assert ferry("ls", "-a", place.url + "/h").splitlines() == [".dot", "seen"]
    ferry("rm", "-r", place.url + "/h")
    ferry("ls", place.url + "/h", expect=1)


def test_json_lines_say_what_is_known(own):
    (own.root / "a b").write_bytes(b"12345")
    line = json.loads(ferry("ls", "--json", "sftp://%s@%s:%d/" % (USER, HOST, own.ports[1])))
    assert (line["name"], line["kind"], line["size"]) == ("a b", "file", 5)


def test_a_tree_is_removed_and_what_its_links_lead_to_is_not(sshd, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    (sshd.files / "t" / "u").mkdir(parents=True)
    os.symlink(outside, sshd.files / "t" / "link")
    os.symlink(outside, sshd.files / "t" / "u" / "link")
    ferry("rm", "-r", sshd.url + "/t")
    assert (outside / "kept").exists() and not (sshd.files / "t").exists()


def test_a_name_with_a_pattern_is_itself_first(sshd):
    sshd.put("a*", b"1")
    sshd.put("ab", b"2")
    ferry("rm", sshd.url + "/a*")
    assert os.listdir(sshd.files) == ["ab"]


def test_local_paths_are_places_too(tmp_path, home):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "y").write_text("hello")
    assert ferry("ls", tmp_path / "x") == "y\n"
    assert ferry("cat", "x/y", cwd=tmp_path) == "hello"
    ferry("mv", "x/y", "x/z", cwd=tmp_path)
    ferry("rm", "-r", "x", cwd=tmp_path)
    assert not (tmp_path / "x").exists()


def test_a_proc_file_that_says_it_is_empty_is_read_to_its_end(sshd):
    assert "Linux" in ferry("cat", re.sub("/[^/]*$", "", sshd.url).split("/", 3)[0] + "//" +
                            sshd.url.split("/")[2] + "/proc/version")


# -- usage and exit codes --


@pytest.mark.parametrize("args, said", [
    (["ls"], "an argument is missing"),
    (["mv", "a"], "an argument is missing"),
    (["ls", "--nope", "x"], "unknown option"),
    (["ls", "-P"], "a value is missing"),
    (["ls", "-P", "70000", "x"], "no port"),
    (["ls", "-c", "rot13", "x"], "no cipher"),
    (["ls", "rsync://h/x"], "rsync:// is not built yet"),
    (["ls", "gopher://h/x"], "no scheme"),
    (["cat", "sftp://u:secret@h/x"], "password"),
])
def test_what_is_used_wrongly_is_refused_before_anything_is_done(args, said, home):
    assert said in ferry(*args, expect=2)


def test_places_of_two_servers_are_not_renamed(own, sshd):
    assert "ferry cp" in ferry("mv", sshd.url + "/x", "sftp://%s@%s:%d/y" % (USER, HOST, own.ports[1]), expect=2)


def test_a_server_that_is_not_there_is_another_exit_code(home):
    port = free_port()
    assert "connection refused" in ferry("ls", "sftp://x@127.0.0.1:%d/" % port, expect=3)
    assert "connection refused" in ferry("ls", "ftp://127.0.0.1:%d/" % port, expect=3)
    assert "no address" in ferry("ls", "nosuch.invalid:x", expect=3)


@pytest.mark.parametrize("words", [
    ["cat", "%s/f"], ["rm", "%s/f"], ["mkdir", "%s/d"], ["mv", "%s/f", "%s/g"], ["ls", "%s/"], ["cp", "%s/f", "."],
    ["cp", "/etc/hostname", "%s/f"], ["cp", "-O", "%s/f", "-"], ["cp", "%s/*", "."], ["probe", "%s/"]],
    ids=lambda words: " ".join(words[:2]).replace("%s", ""))
def test_exit_codes_are_the_same_for_all_commands(words, sshd, home, tmp_path, monkeypatch):
    def run(url, *more, expect):
        return ferry(words[0], *more, *(word.replace("%s", url) for word in words[1:]), expect=expect)

    (home / "work").mkdir()
    monkeypatch.chdir(home / "work")
    nobody = "sftp://x@127.0.0.1:%d/nowhere" % free_port()
    assert "connection refused" in run(nobody, expect=3)
    if "-O" not in words:
        assert "connection refused" in run(nobody.replace("sftp:", "ftp:"), expect=3)
    run(nobody, "--nonsense", expect=2)
    assert "login" in run(sshd.url.replace(getpass.getuser() + "@", "nobody-here@") + "/nowhere", "--batch", expect=3)
    (sshd.files / "blocked").write_text("")  # nothing can be beneath it
    run(sshd.url + "/blocked/nowhere", expect=1)
    run("sftp://bad:port", expect=2)


def test_the_help_of_each_command_names_the_exit_codes():
    for command in ([], ["cp"], ["ls"], ["mv"], ["probe"]):
        done = subprocess.run([FERRY, *command, "--help"], capture_output=True, text=True, timeout=60)
        assert "3 a server could not be" in done.stdout


def test_no_password_stands_in_the_process_list(own, tmp_path):
    fifo = tmp_path / "out"
    os.mkfifo(fifo)
    (own.root / "f").write_bytes(bytes(5000000))
    url = "ftp://%s:%s@%s:%d/f" % (USER, PASSWORD.replace(" ", "%20"), HOST, own.port)
    process = subprocess.Popen([FERRY, "cat", url], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        assert process.stdout.read(1)
        shown = pathlib.Path("/proc/%d/cmdline" % process.pid).read_bytes()
        assert b"correct" not in shown and USER.encode() in shown
    finally:
        process.kill()
        process.communicate()


# -- ssh's configuration, host keys, questions --


def on_terminal(answers, *args):
    """Runs ferry on a terminal of its own; answers are (what it asks, what is typed). Its exit code and all it
    wrote."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(FERRY, [FERRY, *map(str, args)])
    said = b""
    try:
        for question, answer in answers:
            while question.encode() not in said:
                said += os.read(fd, 4096)
            os.write(fd, (answer + "\n").encode())
            said = said[said.index(question.encode()) + len(question):]
        while True:
            said += os.read(fd, 4096)
    except OSError:  # what a terminal's end reads as
        pass
    os.close(fd)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), said.decode()


def test_the_configuration_names_the_host(sshd, home):
    sshd.put("f", b"x")
    key = home / "elsewhere"
    (home / ".ssh" / "id_ed25519").rename(key)
    (home / ".ssh" / "known_hosts").unlink()
    (home / "hosts").write_text("[%s]:%d %s" % (HOST, sshd.port, (sshd.folder / "host_key.pub").read_text()))
    (home / ".ssh" / "config").write_text("Include conf.d/*.conf\nHost *\n  User nobody\n")
    (home / ".ssh" / "conf.d").mkdir()
    (home / ".ssh" / "conf.d" / "10.conf").write_text("""
Host web* !web9
  HostName %s
  Port %d
  User %s
  IdentityFile ~/elsewhere
  UserKnownHostsFile %%d/hosts
  Ciphers rot13,aes128-ctr
""" % (HOST, sshd.port, getpass.getuser()))
    assert ferry("ls", "web1:%s" % sshd.files) == "f\n"
    assert ferry("ls", "sftp://web1%s/" % sshd.files) == "f\n"
    assert "no address of web9" in ferry("ls", "web9:", expect=3)
    (home / ".ssh" / "config").chmod(0o666)
    assert "chmod" in ferry("ls", "web1:%s" % sshd.files, expect=3)


def test_a_proxy_is_refused_in_words(home):
    (home / ".ssh" / "config").write_text("Host far\n ProxyJump near\n")
    assert "ProxyJump" in ferry("ls", "far:x", expect=3)


def test_a_new_host_is_asked_about_and_remembered(sshd, home):
    known = home / ".ssh" / "known_hosts"
    sshd.put("f", b"x")
    known.unlink()
    (home / ".ssh" / "config").write_text("HashKnownHosts yes\n")
    assert "is not known" in ferry("ls", sshd.url, expect=3)
    code, said = on_terminal([("(yes/no/[fingerprint])? ", "no")], "ls", sshd.url)
    assert code == 3 and not known.exists(), said
    code, said = on_terminal([("(yes/no/[fingerprint])? ", "perhaps"), ("fingerprint: ", "yes")], "ls", sshd.url)
    assert code == 0 and "f" in said, said
    assert known.read_text().startswith("|1|") and stat.S_IMODE(known.stat().st_mode) == 0o600
    assert ferry("ls", sshd.url) == "f\n"
    subprocess.run(["ssh-keygen", "-F", "[%s]:%d" % (HOST, sshd.port), "-f", known], check=True, capture_output=True)


def test_a_fingerprint_is_an_answer(sshd, home):
    (home / ".ssh" / "known_hosts").unlink()
    (home / ".ssh" / "config").write_text("HashKnownHosts no\n")
    shown = subprocess.run(["ssh-keygen", "-l", "-f", sshd.folder / "host_key.pub"], capture_output=True, text=True)
    code, said = on_terminal([("(yes/no/[fingerprint])? ", shown.stdout.split()[1])], "ls", sshd.url)
    assert code == 0, said
    assert (home / ".ssh" / "known_hosts").read_text().startswith("[%s]:%d ssh-ed25519 " % (HOST, sshd.port))


def test_batch_asks_nobody(sshd, home):
    (home / ".ssh" / "known_hosts").unlink()
    code, said = on_terminal([], "ls", "--batch", sshd.url)
    assert code == 3 and "?" not in said, said


def test_a_changed_key_is_a_hard_stop_with_its_line(sshd, home):
    sshd.know(home, "other_host_key")
    (home / ".ssh" / "config").write_text("StrictHostKeyChecking no\n")
    for args in ([], ["--batch"]):
        said = ferry("ls", *args, sshd.url, expect=3)
        assert "another one" in said and "line 1 of" in said and "known_hosts" in said and "SHA256:" in said
    code, said = on_terminal([], "ls", sshd.url)
    assert code == 3 and "?" not in said, said


def test_a_password_is_asked_for_three_times(own, home):
    (own.root / "f").write_text("x")
    (home / ".ssh" / "id_ed25519").rename(home / "no_key")
    url = "sftp://%s@%s:%d/" % (USER, HOST, own.ports[1])
    code, said = on_terminal([("Password", "wrong"), ("Password", PASSWORD)], "ls", url)
    assert code == 0 and "f" in said and PASSWORD not in said, said
    code, said = on_terminal([("Password", "wrong")] * 3, "ls", url)
    assert code == 3 and "failed" in said, said
    assert "ssh-add" in ferry("ls", url, expect=3)


# -- .netrc --


def test_netrc_gives_name_and_password(own, home):
    (own.root / "f").write_text("x")
    netrc = home / ".netrc"
    netrc.write_text("machine %s login %s password \"%s\"\n" % (HOST, USER, PASSWORD))
    netrc.chmod(0o600)
    assert ferry("ls", "ftp://%s:%d/" % (HOST, own.port)) == "f\n"
    netrc.chmod(0o640)
    assert "chmod 600" in ferry("ls", "ftp://%s:%d/" % (HOST, own.port), expect=3)
    netrc.write_text("machine %s nonsense\n" % HOST)
    assert "line 2 is not understood" in ferry("ls", "ftp://%s:%d/" % (HOST, own.port), expect=3)


def test_the_password_of_ftp_is_asked_for(own, home):
    (own.root / "f").write_text("x")
    url = "ftp://%s@%s:%d/" % (USER, HOST, own.port)
    code, said = on_terminal([("Password", "wrong"), ("Password", PASSWORD)], "ls", url)
    assert code == 0 and "f" in said and PASSWORD not in said, said
    assert ".netrc" in ferry("ls", url, expect=3)


# -- hostile servers --


class HostileFtp:
    """Says yes to all, and lists what it was told to."""

    def __init__(self, listing, feat=b"", endless=False):
        self.listing, self.feat, self.endless = listing, feat, endless
        self.commands = []
        self.socket = socket.create_server((HOST, 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def send_listing(self, passive):
        data, _ = passive.accept()
        with contextlib.suppress(OSError), data:
            data.sendall(self.listing)
            while self.endless:
                data.sendall(self.listing * 1000)

    def talk(self, connection):
        passive = None
        with contextlib.suppress(OSError), connection:
            connection.sendall(b"220 hello\r\n")
            for line in connection.makefile("rb"):
                self.commands.append(line.strip())
                verb = line.split()[0].upper()
                if verb == b"FEAT":
                    connection.sendall(b"211-x\r\n" + self.feat + b"211 end\r\n")
                elif verb == b"PWD":
                    connection.sendall(b"257 \"/\"\r\n")
                elif verb in (b"SIZE", b"MLST"):
                    connection.sendall(b"550 no\r\n" if verb == b"SIZE" else b"250-x\r\n type=dir; /\r\n250 end\r\n")
                elif verb == b"PASV":
                    passive = socket.create_server((HOST, 0))
                    port = passive.getsockname()[1]
                    connection.sendall(b"227 (127,0,0,1,%d,%d)\r\n" % (port >> 8, port & 255))
                elif verb in (b"LIST", b"MLSD"):
                    connection.sendall(b"150 here\r\n")
                    self.send_listing(passive)
                    connection.sendall(b"226 done\r\n")
                else:
                    connection.sendall(b"331 go on\r\n" if verb == b"USER" else b"200 yes\r\n")


def serve_hostile_sftp(listen, key_path, listing, removed):
    """paramiko's server with a listing of its own making, for one connection."""
    paramiko = pytest.importorskip("paramiko")

    class Server(paramiko.ServerInterface):
        def check_auth_publickey(self, username, key):
            return paramiko.AUTH_SUCCESSFUL

        def get_allowed_auths(self, username):
            return "publickey"

        def check_channel_request(self, kind, chanid):
            return paramiko.OPEN_SUCCEEDED

    class Files(paramiko.SFTPServerInterface):
        def stat(self, path):
            attributes = paramiko.SFTPAttributes()
            attributes.st_mode = stat.S_IFDIR | 0o755
            return attributes

        lstat = stat

        def list_folder(self, path):
            found = []
            for name in listing:
                attributes = paramiko.SFTPAttributes()
                attributes.filename, attributes.st_mode, attributes.st_size = name, stat.S_IFREG | 0o644, 5
                found.append(attributes)
            return found

        def remove(self, path):
            removed.append(path)
            return paramiko.SFTP_OK

    connection, _ = listen.accept()
    transport = paramiko.Transport(connection)
    transport.add_server_key(paramiko.Ed25519Key.from_private_key_file(str(key_path)))
    transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Files)
    with contextlib.suppress(Exception):  # what a client that leaves looks like
        transport.start_server(server=Server())
        transport.join(SECONDS)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/b", "x" * 300, "a\0b", ""])
def test_sftp_names_that_lead_elsewhere_end_the_listing(home, name):
    pytest.importorskip("paramiko")
    key = home / ".ssh" / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    (home / ".ssh" / "config").write_text("StrictHostKeyChecking accept-new\n")
    removed = []
    with socket.create_server((HOST, 0)) as listen:
        threading.Thread(target=serve_hostile_sftp, args=(listen, key, ["fine", name], removed), daemon=True).start()
        said = ferry("rm", "-r", "sftp://u@%s:%d/d" % (HOST, listen.getsockname()[1]), expect=1)
        assert "a name that no file can have" in said and not removed, said


MLSD = b" MLST type*;size*;\r\n SIZE\r\n"


@pytest.mark.parametrize("name", [b"../x", b"/etc/passwd", b"a/b", b"x" * 300])
@pytest.mark.parametrize("how", ["LIST", "MLSD"])
def test_a_name_that_leads_elsewhere_ends_the_listing(home, name, how):
    line = b"type=file;size=5; " if how == "MLSD" else b"-rw-r--r-- 1 u g 5 Jan 1 2020 "
    server = HostileFtp(line + name + b"\r\n", feat=MLSD if how == "MLSD" else b"")
    said = ferry("rm", "-r", "ftp://u:p@%s:%d/d" % (HOST, server.port), expect=1)
    assert "a name that no file can have" in said
    assert not [c for c in server.commands if c.split()[0] in (b"DELE", b"RMD")]


def test_a_listing_without_end_ends(home):
    server = HostileFtp(b"type=file;size=5; abcdefgh\r\n", feat=MLSD, endless=True)
    ferry("ls", "ftp://u:p@%s:%d/d" % (HOST, server.port), expect=1)


def test_control_characters_are_no_commands_to_a_terminal(home):
    server = HostileFtp(b"type=file;size=5; a\x1b]0;b\x07\x9b\xc2\x9b\r\n", feat=MLSD)
    url = "ftp://u:p@%s:%d/d" % (HOST, server.port)
    code, said = on_terminal([], "ls", url)
    assert code == 0 and said.strip() == "a\\033]0;b\\007\\233\\302\\233"
    assert ferry("ls", url, text=False) == b"a\x1b]0;b\x07\x9b\xc2\x9b\n"


def test_a_server_that_says_nothing_is_left_after_its_time(home):
    with socket.create_server((HOST, 0)) as silent:
        port = silent.getsockname()[1]
        for scheme in ("ftp://u:p", "sftp://u"):
            ferry("ls", "--timeout", "1", "%s@%s:%d/" % (scheme, HOST, port), expect=3)
