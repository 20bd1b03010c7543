"""How ferryd starts, what it refuses and what it says: command line, configuration, state directory."""

import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess

import pytest

from conftest import BIN, wait_until

DEV = pathlib.Path(__file__).resolve().parents[2] / "dev"


def run(*args, **named):
    return subprocess.run([str(BIN / "ferryd"), *map(str, args)], capture_output=True, text=True, timeout=60, **named)


def ferry(*args):
    return subprocess.run([str(BIN / "ferry"), *args], capture_output=True, text=True, timeout=60)


# -- what is refused --

@pytest.mark.parametrize("args, says", [
    ((), "give a directory"),
    (("/", "--nonsense"), "unknown option --nonsense"),
    (("/", "--workers", "0"), "--workers"),
    (("--check-config", "/etc/ferryd.conf"), "the file goes after --config"),
    (("/", "--log-format", "xml"), "neither text nor json"),
    (("/", "--listen", "sftp://127.0.0.1:0"), "'sftp' is not built yet"),
    (("/", "--listen", "rsync://127.0.0.1:0"), "'rsync' is not built yet"),
    (("/", "--listen", "ftp://localhost:0"), "numeric"),
    (("/", "--user", "a/b"), "cannot be the name"),
    (("/", "--user", "a", "--user", "a"), "given twice"),
    (("/", "--user", "a:@/nonexistent/file"), "/nonexistent/file"),
])
def test_a_wrong_command_line_is_refused_with_the_reason(args, says):
    done = run(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert "ferryd --help" in done.stderr


@pytest.mark.parametrize("args, says", [
    ((), "a command is missing"),
    (("dance",), "unknown command dance"),
    (("--nonsense",), "unknown option --nonsense"),
    (("sync", "a", "b"), "'sync' is not built yet"),
    (("bench",), "what is to be measured?"),
    (("bench", "dance"), "what is to be measured? ftp, ssh"),
    (("who", "--nonsense"), "unknown option --nonsense"),
    (("kick",), "ID"),
    (("kick", "--json", "1"), "unknown option --json"),
    (("kick", "first"), "'first' is not the ID"),
])
def test_ferry_refuses_a_wrong_command_line_with_the_reason(args, says):
    done = ferry(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr


def test_ferry_help_is_its_help():
    help, option = ferry("help"), ferry("--help")
    assert help.returncode == 0 and help.stdout.startswith("usage: ferry ")
    assert help.stdout == option.stdout


def test_programs_tell_their_version():
    for program in ("ferryd", "ferry"):
        done = subprocess.run([str(BIN / program), "--version"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0
        assert re.fullmatch(program + r" \d+\.\d+\.\d+\n", done.stdout)


def test_a_directory_that_is_not_there_is_named(tmp_path):
    done = run(tmp_path / "nowhere", "--state", tmp_path / "state", "--listen", "ftp://127.0.0.1:0")
    assert done.returncode == 1
    assert str(tmp_path / "nowhere") in done.stderr


def test_a_port_that_is_taken_is_refused_before_it_is_shared(server, root, tmp_path):
    done = run(root, "--state", tmp_path / "other", "--listen", "ftp://127.0.0.1:%d" % server.port)
    assert done.returncode == 1
    assert "127.0.0.1:%d" % server.port in done.stderr
    assert server.client().pwd() == "/"


def test_a_second_server_with_the_same_state_directory_is_refused(server, root):
    done = run(root, "--state", server.state, "--listen", "ftp://127.0.0.1:0")
    assert done.returncode == 1
    assert "another ferryd runs with state directory" in done.stderr
    assert server.ferry("who").returncode == 0


def test_a_server_that_was_killed_leaves_nothing_in_the_way(ferryd, root):
    first = ferryd(root)
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    assert (first.state / "control.sock").exists()
    done = subprocess.Popen(first.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = iter(done.stdout.readline, b"")
    assert any(line == b"ready\n" for line in lines)
    assert first.ferry("who").returncode == 0
    done.send_signal(signal.SIGTERM)
    assert done.wait(timeout=60) == 0
    done.stdout.close()
    first.log_file.close()
    assert not (first.state / "control.sock").exists()


# -- what it says --

def test_the_banner_s_lines_can_be_pasted(ferryd, root):
    (root / "hello").write_text("hello\n")
    server = ferryd(root, users=())
    text = "\n".join(server.banner)
    password = re.search(r"^  password  ([a-z2-7]{20})$", text, re.M).group(1)
    assert "curl -u ferry:%s ftp://127.0.0.1:%d/" % (password, server.port) in text
    assert server.banner[-2:] == ["listening ftp 127.0.0.1:%d" % server.port, "ready"]
    ftp = server.client("ferry", password)
    assert ftp.nlst() == ["hello"]
    assert password not in server.log_text()


def test_a_password_on_the_command_line_is_wiped_and_warned_about(ferryd, root):
    server = ferryd(root, "--user", "bob:hunter2")
    with open("/proc/%d/cmdline" % server.pid, "rb") as f:
        words = f.read()
    assert b"hunter2" not in words and b"bob:" in words
    assert "--user NAME:@FILE" in server.log_text()
    assert server.client("bob", "hunter2").pwd() == "/"


def test_cleartext_beyond_loopback_is_warned_about(ferryd, root):
    assert ferryd(root).records("cleartext") == []
    assert len(ferryd(root, listen=("ftp://0.0.0.0:0",)).records("cleartext")) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_a_root_that_the_server_cannot_read_is_warned_about(ferryd, root):
    assert ferryd(root).records("unreadable_root") == []
    os.chown(root, 65534, 65534)
    root.chmod(0o300)
    assert [r["root"] for r in ferryd(root).records("unreadable_root")] == [str(root)]


def test_a_root_that_the_server_cannot_write_is_warned_about(ferryd, root):
    assert ferryd(root).records("unwritable_root") == []
    root.chmod(0o555)
    warning, = ferryd(root).records("unwritable_root")
    assert (warning["root"], warning["error"]) == (str(root), "EACCES")
    assert ferryd(root, "--read-only").records("unwritable_root") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_a_root_that_only_root_can_write_is_warned_about_when_the_user_is_another(ferryd, root):
    root.chmod(0o755)
    other = 'user = "nobody"\n'
    assert [r["root"] for r in ferryd(root, config=other).records("unwritable_root")] == [str(root)]
    os.chown(root, 65534, 65534)
    assert ferryd(root, config=other).records("unwritable_root") == []


def test_the_service_manager_is_told(tmp_path, root):
    name = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name)
        manager.settimeout(60)
        process = subprocess.Popen(
            [str(BIN / "ferryd"), str(root), "--state", str(tmp_path / "state"), "--listen", "ftp://127.0.0.1:0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, NOTIFY_SOCKET=name))
        try:
            assert manager.recv(100) == b"READY=1"
            process.send_signal(signal.SIGTERM)
            assert manager.recv(100) == b"STOPPING=1"
            assert process.wait(timeout=60) == 0
        finally:
            process.kill()
            process.wait()


def test_a_log_that_nobody_reads_does_not_stop_the_server(tmp_path, root):
    (tmp_path / "pw").write_text("secret")
    user = "a" * 120  # makes records long
    process = subprocess.Popen(
        [str(BIN / "ferryd"), str(root), "--state", str(tmp_path / "state"), "--listen", "ftp://127.0.0.1:0",
         "--user", user + ":@" + str(tmp_path / "pw")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        for line in process.stdout:
            if line.startswith(b"listening"):
                port = int(line.rsplit(b":", 1)[1])
            if line == b"ready\n":
                break
        # two records a session of some 220 bytes: more than a pipe and the ring hold
        for _ in range(1000):
            with socket.create_connection(("127.0.0.1", port), timeout=60) as peer:
                dialogue = peer.makefile("rwb")
                assert dialogue.readline().startswith(b"220")
                dialogue.write(b"USER %s\r\nPASS secret\r\nQUIT\r\n" % user.encode())
                dialogue.flush()
                assert [dialogue.readline()[:3] for _ in range(3)] == [b"331", b"230", b"221"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


# -- the configuration --

def config(tmp_path, text):
    path = tmp_path / "ferryd.conf"
    path.write_text(text)
    return path


WHOLE = """
# a comment
listen "ftp" { address = {"127.0.0.1:0"} }
account "anna" { password_file = "%(folder)s/pw"  root = "%(folder)s/anna" }
account "bob" { password_file = "%(folder)s/pw"  rights = {"list", "read"}  quota_bytes = 1M }
defaults { root = "%(folder)s/%%u" }
log { format = json  transfers = "%(folder)s/logs/transfers.jsonl" }
"""


@pytest.fixture
def whole(tmp_path):
    (tmp_path / "pw").write_text("secret\n")
    for name in ("anna", "bob", "logs"):
        (tmp_path / name).mkdir()
    return config(tmp_path, WHOLE % {"folder": tmp_path})


def test_check_config_finds_no_fault_in_a_good_file(whole):
    done = run("--check-config", "--config", whole)
    assert (done.returncode, done.stderr) == (0, "")


def test_check_config_names_file_and_line(tmp_path):
    path = config(tmp_path, "# one\n\nlimits {\n  sessions = many\n}\n")
    done = run("--check-config", "--config", path)
    assert done.returncode == 1
    assert "%s:4: sessions: 'many' is not a number" % path in done.stderr


def test_check_config_looks_for_the_roots(whole, tmp_path):
    (tmp_path / "bob").rmdir()
    done = run("--check-config", "--config", whole)
    assert done.returncode == 1
    assert "%s: %s/bob, the root of 'bob'" % (whole, tmp_path) in done.stderr


def warnings(done):
    return [json.loads(line)["event"] for line in done.stderr.splitlines()]


def test_check_config_warns_of_roots_as_the_start_does(whole, tmp_path):
    (tmp_path / "bob").chmod(0o555)  # who may only read
    assert run("--check-config", "--config", whole).stderr == ""
    (tmp_path / "anna").chmod(0o555)
    done = run("--check-config", "--config", whole)
    assert done.returncode == 0
    assert done.stdout == "%s: no fault found, but see the warnings\n" % whole
    assert warnings(done) == ["unwritable_root"] and str(tmp_path / "anna") in done.stderr
    (tmp_path / "anna").chmod(0o300)
    assert warnings(run("--check-config", "--config", whole)) == ["unreadable_root"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
def test_check_config_looks_at_roots_and_log_as_the_user(whole, tmp_path):
    whole.write_text('user = "nobody"\n' + whole.read_text())
    for name in ("anna", "bob", "logs"):
        (tmp_path / name).chmod(0o755)
    assert warnings(run("--check-config", "--config", whole)) == ["unwritable_root", "unwritable_log"]
    for name in ("anna", "logs"):
        os.chown(tmp_path / name, 65534, 65534)
    assert run("--check-config", "--config", whole).stderr == ""


def test_check_config_looks_for_the_directory_of_audit_records_and_makes_no_file(whole, tmp_path):
    logs = tmp_path / "logs"
    assert run("--check-config", "--config", whole).returncode == 0
    assert list(logs.iterdir()) == []
    logs.rmdir()
    done = run("--check-config", "--config", whole)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'ferryd: %s: log { transfers = "%s/transfers.jsonl" }: no such file or directory\n' % (
        whole, logs)


@pytest.mark.parametrize("make", [
    lambda path: path.mkdir(), lambda path: path.symlink_to("/dev/null"), lambda path: os.mkfifo(path),
])
def test_check_config_refuses_what_cannot_be_the_file_of_audit_records(whole, tmp_path, make):
    path = tmp_path / "logs" / "transfers.jsonl"
    make(path)
    done = run("--check-config", "--config", whole)
    assert done.returncode == 1
    assert '%s: log { transfers = "%s" }: ' % (whole, path) in done.stderr


def test_check_config_reads_the_keys_that_let_in(whole, tmp_path):
    keys = tmp_path / "keys"
    whole.write_text(whole.read_text().replace('account "bob" {', 'account "bob" { authorized_keys = "%s"' % keys))
    done = run("--check-config", "--config", whole)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ferryd: %s: %s: no such file or directory\n" % (whole, keys)
    keys.touch(0o600)
    keys.write_text("# a comment\nssh-ed25519 AAAA\n")
    done = run("--check-config", "--config", whole)
    assert done.returncode == 0
    assert warnings(done) == ["authorized_key_refused"] and '"line":2' in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, which can make the file")
def test_a_log_that_could_not_be_made_again_is_warned_about(ferryd, root, tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    config = 'log { transfers = "%s/t.jsonl" }\n' % logs
    assert ferryd(root, config=config).records("unwritable_log") == []
    logs.chmod(0o555)
    warning, = ferryd(root, config=config).records("unwritable_log")
    assert (warning["file"], warning["error"]) == (str(logs / "t.jsonl"), "EACCES")


def test_the_example_of_the_manual_is_a_good_file_with_both_protocols(tmp_path):
    page = (DEV.parent / "docs" / "man" / "ferryd.conf.5").read_text()
    text = re.search(r"^\.Sh EXAMPLES\n\.Bd .*\n((?:.*\n)*?)\.Ed$", page, re.M).group(1)
    for scheme in ("ftp", "ssh"):
        assert 'listen "%s"' % scheme in text
    assert "authorized_keys = " in text
    text = text.replace("$y$j9T$...", "$y$j9T$abcdefgh$0123456789012345678901")
    text = re.sub(r'^user = "\w+"', 'user = "%s"' % pwd.getpwuid(os.geteuid()).pw_name, text, flags=re.M)
    text = re.sub(r'"/(srv|etc|var)/', r'"%s/\1/' % tmp_path, text)
    for folder in ("srv/files/anna", "srv/mirror", "etc", "var/log/ferryd"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "etc" / "ferryd.mirror").write_text("secret\n")
    (tmp_path / "etc" / "ferryd.anna.keys").touch(0o600)
    done = run("--check-config", "--config", config(tmp_path, text))
    assert (done.returncode, done.stderr) == (0, "")


def test_check_config_looks_for_the_user(whole):
    whole.write_text('user = "nobody-of-that-name"\n' + whole.read_text())
    done = run("--check-config", "--config", whole)
    assert done.returncode == 1
    assert "%s: user 'nobody-of-that-name': there is none" % whole in done.stderr


def test_what_a_configuration_lacks_is_said_with_its_name(tmp_path):
    path = config(tmp_path, 'listen "ftp" { address = {"127.0.0.1:0"} }\n')
    done = run("--check-config", "--config", path)
    assert done.returncode == 1
    assert done.stderr == "ferryd: %s: no account: nobody could log in\n" % path


def test_a_configuration_that_was_cut_off_is_refused(whole):
    text = whole.read_text()
    whole.write_text(text[:text.index("}\naccount \"bob\"")])
    done = run("--check-config", "--config", whole)
    assert done.returncode == 1
    assert "%s:4: what '{' opens here is never closed" % whole in done.stderr


@pytest.fixture
def configured(whole, tmp_path):
    """A server of a configuration alone: (process, port)."""
    process = subprocess.Popen([str(BIN / "ferryd"), "--config", str(whole), "--state", str(tmp_path / "state")],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    port = None
    for line in process.stdout:
        if line.startswith(b"listening"):
            port = int(line.rsplit(b":", 1)[1])
        if line == b"ready\n":
            break
    yield process, port
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    process.stdout.close()


def login(port, user, password):
    import ftplib
    ftp = ftplib.FTP(timeout=60)
    ftp.connect("127.0.0.1", port)
    ftp.login(user, password)
    return ftp


def test_accounts_of_a_configuration_have_their_own_roots_and_rights(configured, tmp_path):
    import ftplib
    import io
    _, port = configured
    login(port, "anna", "secret").storbinary("STOR file", io.BytesIO(b"of anna"))
    assert (tmp_path / "anna" / "file").read_bytes() == b"of anna"
    bob = login(port, "bob", "secret")
    assert bob.nlst() == []
    with pytest.raises(ftplib.error_perm):
        bob.storbinary("STOR file", io.BytesIO(b"of bob"))


def test_audit_records_go_to_their_file_and_follow_its_rotation(configured, tmp_path):
    import io
    process, port = configured
    log = tmp_path / "logs" / "transfers.jsonl"
    ftp = login(port, "anna", "secret")
    ftp.storbinary("STOR first", io.BytesIO(b"1"))
    wait_until("the first record", lambda: '"/first"' in log.read_text())
    log.rename(tmp_path / "logs" / "old.jsonl")
    process.send_signal(signal.SIGHUP)
    wait_until("a new file", log.exists)
    ftp.storbinary("STOR second", io.BytesIO(b"2"))
    wait_until("the second record", lambda: '"/second"' in log.read_text())
    assert '"/second"' not in (tmp_path / "logs" / "old.jsonl").read_text()


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_root_gives_no_file_away_that_another_name_leads_to(whole, tmp_path, link):
    if link is os.link and os.geteuid() != 0:
        pytest.skip("not root")
    victim = tmp_path / "victim"
    victim.write_text("as it was")
    log = tmp_path / "logs" / "transfers.jsonl"
    link(victim, log)
    done = run("--config", whole, "--state", tmp_path / "state")
    assert done.returncode == 1 and str(log) in done.stderr
    assert victim.read_text() == "as it was"


def test_audit_records_may_not_open_the_whole_file_system(whole, tmp_path):
    text = whole.read_text()
    whole.write_text(re.sub(r'transfers = "[^"]*"', 'transfers = "/ferry-transfers.jsonl"', text))
    done = run("--config", whole, "--state", tmp_path / "state")
    assert done.returncode == 1
    assert "a folder of its own, not /" in done.stderr and "/ferry-transfers.jsonl" in done.stderr
    assert not os.path.exists("/ferry-transfers.jsonl")


def test_what_a_root_holds_at_start_counts_against_the_quota(ferryd, root):
    import ftplib
    import io
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "file").write_bytes(b"x" * 900 * 1024)
    server = ferryd(root, config="defaults { quota_bytes = 1M  keep_partial = false }")
    wait_until("the count", lambda: server.records("quota_counted"))
    counted = server.records("quota_counted")
    assert [(c["bytes"], c["files"]) for c in counted] == [(900 * 1024, 3)]
    ftp = server.client()
    with pytest.raises(ftplib.all_errors):
        ftp.storbinary("STOR more", io.BytesIO(b"x" * 200 * 1024))
    server.client().storbinary("STOR less", io.BytesIO(b"x" * 100 * 1024))


def test_at_start_it_says_how_much_it_can_hold(ferryd, root):
    record, = ferryd(root).records("capacity")
    assert record["descriptors"] > 100
    assert record["tasks_awake"] > 100


# -- ./dev --


@pytest.fixture
def dev(tmp_path):
    """Runs a copy of ./dev in a tree where nothing is installed or compiled, and whose ferryd says its arguments."""
    tree = tmp_path / "tree"
    ferryd = tree / "build" / "release" / "bin" / "ferryd"
    stubs = tmp_path / "stubs"
    ferryd.parent.mkdir(parents=True)
    stubs.mkdir()
    shutil.copy(DEV, tree / "dev")
    for path, line in ((ferryd, 'echo "ferryd: $*"'), (stubs / "cmake", 'echo "cmake: $*"'), (stubs / "apt-get", "true"),
                       (stubs / "sudo", 'exec "$@"')):
        path.write_text("#!/bin/sh\n%s\n" % line)
        path.chmod(0o755)
    path = "%s:%s" % (stubs, os.environ["PATH"])
    return lambda *words: subprocess.run([str(tree / "dev"), *words], capture_output=True, text=True, timeout=60,
                                         env=dict(os.environ, PATH=path))


def test_dev_run_says_what_it_does_and_how_it_ends(dev):
    done = dev("run", "/srv", "--read-only")
    assert done.returncode == 0
    said = [line for line in done.stdout.splitlines() if line]
    assert said.index("== building") < next(i for i, line in enumerate(said) if line.startswith("cmake: --build"))
    assert said[-2:] == ["== serving; Ctrl-C ends it", "ferryd: /srv --read-only"]


@pytest.mark.parametrize("words, says", [
    (("nope",), "unknown command nope"),
    (("test", "nope"), "unknown part nope"),
    (("build", "extra"), "one word too many: extra"),
    (("check", "extra"), "one word too many: extra"),
    (("help", "extra"), "one word too many: extra"),
    (("fuzz", "name", "1", "extra"), "one word too many: extra"),
])
def test_dev_refuses_a_wrong_command_line_with_the_reason(dev, words, says):
    done = dev(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("./dev: %s\n" % says)
    assert "./dev run [DIR" in done.stderr
