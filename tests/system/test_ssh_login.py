"""Who is let in over ssh, as OpenSSH's client sees it: passwords, keys, the options of keys, and bans."""

import contextlib
import datetime
import os
import re
import subprocess

import pytest

import ssh_clients
from conftest import PASSWORD, USER, require, wait_until
from ssh_clients import HOST, run

OPEN_HOUSE = "limits { per_address = 0  per_account = 0  unauthenticated = 0  ban_failures = 0 }\n"


@pytest.fixture
def file(root):
    (root / "file").write_bytes(b"content")


def openssh(server, keys, tmp_path):
    return ssh_clients.OpenSsh(server, tmp_path, keys)


def ask_password(client, tmp_path, password, *, user=USER, prompts=1, expect=0, command="cat file"):
    """Logs in as a person who types the same at each prompt; returns what ssh said."""
    helper = tmp_path / "askpass"
    helper.write_text("#!/bin/sh\ncat '%s.text'\n" % helper)
    helper.chmod(0o700)
    (tmp_path / "askpass.text").write_text(password + "\n")
    options = ["BatchMode=no", "PubkeyAuthentication=no", "NumberOfPasswordPrompts=%d" % prompts]
    environment = dict(client.environment, SSH_ASKPASS=str(helper), SSH_ASKPASS_REQUIRE="force")
    return run(*client.command(user=user, more=options), command, expect=expect, env=environment)


# -- passwords --


def test_the_right_password_lets_in(ssh_server, ssh_keys, file, tmp_path):
    assert ask_password(openssh(ssh_server, ssh_keys, tmp_path), tmp_path, PASSWORD) == b"content"
    login = wait_until("the login is recorded", lambda: ssh_server.records("login"))
    assert login[-1]["how"] == "password"


def test_a_wrong_password_and_an_unknown_name_read_the_same(ssh_ferryd, root, ssh_keys, tmp_path):
    server = ssh_ferryd(root, config=OPEN_HOUSE)
    client = openssh(server, ssh_keys, tmp_path)
    wrong = ask_password(client, tmp_path, "wrong", expect=255)
    unknown = ask_password(client, tmp_path, "wrong", user="nobody-here", expect=255)
    assert b"Permission denied (publickey,password)" in wrong
    assert wrong == unknown.replace(b"nobody-here", USER.encode())
    failed = wait_until("both are recorded", lambda: len(server.records("login-failed")) == 2 and server.records("login-failed"))
    assert [record["user"] for record in failed] == [USER, "nobody-here"]


def test_too_many_wrong_passwords_end_the_connection(ssh_ferryd, root, ssh_keys, tmp_path):
    server = ssh_ferryd(root, config=OPEN_HOUSE)
    said = ask_password(openssh(server, ssh_keys, tmp_path), tmp_path, "wrong", prompts=20, expect=255)
    assert b"Too many wrong passwords or keys" in said
    assert wait_until("all are recorded", lambda: len(server.records("login-failed")) == 6)


def test_who_fails_too_often_is_sent_away_with_the_right_password_too(ssh_ferryd, root, ssh_keys, file, tmp_path):
    server = ssh_ferryd(root, config=OPEN_HOUSE.replace("ban_failures = 0", "ban_failures = 3"))
    client = openssh(server, ssh_keys, tmp_path)
    ask_password(client, tmp_path, "wrong", prompts=3, expect=255)
    wait_until("a ban", lambda: server.records("banned"))
    said = client.exec("cat file", expect=255)
    assert b"content" not in said
    assert re.search(rb"closed by|reset by|Too many failures", said), said


def test_an_account_that_has_keys_alone_takes_no_password(ssh_ferryd, root, ssh_keys, file, tmp_path):
    keys = tmp_path / "of-keys-alone"
    keys.write_text(ssh_keys.authorized())
    config = OPEN_HOUSE + 'account "keys" { authorized_keys = "%s" }\n' % keys
    client = openssh(ssh_ferryd(root, config=config), ssh_keys, tmp_path)
    for password in ("", "!", "*", PASSWORD):
        assert b"denied" in ask_password(client, tmp_path, password, user="keys", expect=255)
    assert client.exec("cat file", user="keys") == b"content"


def test_a_session_limit_of_an_account_is_kept(ssh_ferryd, root, ssh_keys, file, tmp_path):
    server = ssh_ferryd(root, config=OPEN_HOUSE.replace("per_account = 0", "per_account = 2"))
    client = openssh(server, ssh_keys, tmp_path)
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(held_open(client))
        wait_until("two sessions", lambda: len(server.records("login")) == 2)
        assert b"content" not in client.exec("cat file", expect=255)
    assert wait_until("room again", lambda: client.exec("cat file", expect=None) == b"content")


@contextlib.contextmanager
def held_open(client):
    """A client that has logged in, has no channel, and stays until the end."""
    words = [str(word) for word in client.command(flags=["-N"])]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=client.environment) as process:
        try:
            yield process
        finally:
            process.kill()


# -- keys --


def test_each_client_s_password_lets_in(ssh_server, ssh_keys, file, tmp_path):
    plink = ssh_clients.Plink(ssh_server, tmp_path, ssh_keys)
    assert plink.exec("cat file", password=PASSWORD) == b"content"


def test_twenty_keys_of_an_agent_are_tried_until_one_fits(ssh_ferryd, root, ssh_keys, file, tmp_path):
    client = openssh(ssh_ferryd(root), ssh_keys, tmp_path)
    with agent(tmp_path) as environment:
        for number in range(19):
            path = tmp_path / ("strange-%d" % number)
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path)
            run("ssh-add", "-q", path, env=environment)
        run("ssh-add", "-q", ssh_keys.path("rsa"), env=environment)
        more = ["IdentitiesOnly=no", "IdentityFile=none", "IdentityAgent=" + environment["SSH_AUTH_SOCK"]]
        assert client.exec("cat file", more=more) == b"content"


@contextlib.contextmanager
def agent(folder):
    require("ssh-agent", "ssh-add")
    path = folder / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL) as process:
        try:
            wait_until("the agent", path.exists)
            yield dict(os.environ, SSH_AUTH_SOCK=str(path))
        finally:
            process.terminate()


def test_a_key_that_is_authorized_for_nobody_is_refused(ssh_ferryd, root, ssh_keys, tmp_path):
    server = ssh_ferryd(root, authorized=ssh_keys.public("rsa") + "\n")
    client = openssh(server, ssh_keys, tmp_path)
    assert b"Permission denied" in client.exec("cat file", expect=255)
    assert b"Permission denied" in client.exec("cat file", user="nobody-here", user_key="rsa", expect=255)


def test_a_small_rsa_key_is_refused(ssh_ferryd, root, ssh_keys, tmp_path):
    path = ssh_keys.folder / "small"
    run("ssh-keygen", "-q", "-t", "rsa", "-b", "1024", "-N", "", "-f", path)
    server = ssh_ferryd(root, authorized=ssh_keys.public("small") + "\n" + ssh_keys.public("ed25519") + "\n")
    client = openssh(server, ssh_keys, tmp_path)
    assert b"Permission denied" in client.exec("cat file", expect=255, user_key="small", more=["RequiredRSASize=1024"])


TOMORROW = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).strftime("%Y%m%d%H%MZ")


@pytest.mark.parametrize("options, is_let_in", [
    ('from="127.0.0.1"', True),
    ('from="127.0.0.0/8,!127.0.0.2"', True),
    ('from="10.0.0.0/8"', False),
    ('from="*,!127.0.0.1"', False),
    ('from="localhost"', False),
    ('expiry-time="%s"' % TOMORROW, True),
    ('expiry-time="20200101"', False),
    ('expiry-time="202001011200Z"', False),
    ("restrict", True),
    ("restrict,no-pty,no-port-forwarding,no-X11-forwarding,no-agent-forwarding,no-user-rc", True),
    ("restrict,port-forwarding,pty", True),
    ('environment="A=b"', False),
    ('principals="anna"', False),
    ('tunnel="0"', False),
    ("cert-authority", False),
    ("verify-required", False),
    ("something-of-the-future", False),
    ('from="127.0.0.1', False),
], ids=lambda value: value if isinstance(value, str) else "")
def test_the_options_of_a_key_are_kept_and_what_is_not_understood_refuses(options, is_let_in, ssh_ferryd, root, ssh_keys, file,
                                                                          tmp_path):
    other = ssh_keys.public("rsa") + "\n"
    server = ssh_ferryd(root, authorized=options + " " + ssh_keys.public("ed25519") + "\n" + other)
    client = openssh(server, ssh_keys, tmp_path)
    if is_let_in:
        assert client.exec("cat file") == b"content"
    else:
        assert b"Permission denied" in client.exec("cat file", expect=255)
    assert client.exec("cat file", user_key="rsa") == b"content"  # the line below it counts


def test_a_key_with_a_command_runs_that_and_nothing_else(ssh_ferryd, root, ssh_keys, file, tmp_path):
    (root / "secret").write_bytes(b"hidden")
    server = ssh_ferryd(root, authorized='command="cat file" %s\n' % ssh_keys.public("ed25519"))
    client = openssh(server, ssh_keys, tmp_path)
    assert client.exec("cat secret") == b"content"
    assert run(*client.command(), env=client.environment) == b"content"  # where a shell was asked for
    said = run(*client.command(flags=["-s"]), "sftp", expect=None, env=client.environment)
    assert said in (b"content", b"") or b"subsystem request failed" in said


def test_a_command_that_a_shell_would_have_to_read_is_not_run(ssh_ferryd, root, ssh_keys, file, tmp_path):
    server = ssh_ferryd(root, authorized='command="cat file; cat file" %s\n' % ssh_keys.public("ed25519"))
    assert b"content" not in openssh(server, ssh_keys, tmp_path).exec("cat file", expect=127)


# -- what there is not --


@pytest.mark.parametrize("command", ["ls", "sh -c 'cat file'", "cat file; cat file", "cat file | cat", "cat $(cat file)", "cat {file,f}; :",
                                     "bin/cat file", "cat 'file", "\u00e4", "\\", "x" * 30000])
def test_there_is_no_shell(command, ssh_server, ssh_keys, file, tmp_path):
    said = openssh(ssh_server, ssh_keys, tmp_path).exec(command, expect=127)
    assert b"content" not in said and b"no shell" in said


def test_who_wants_a_shell_is_told_what_there_is(ssh_server, ssh_keys, tmp_path):
    client = openssh(ssh_server, ssh_keys, tmp_path)
    said = run(*client.command(), expect=127, env=client.environment)
    assert b"no shell" in said and b"cat" in said
    assert b"PTY allocation request failed" in run(*client.command(flags=["-tt"]), expect=255, env=client.environment)


@pytest.mark.parametrize("flags", [["-W", "127.0.0.1:22"], ["-R", "0:127.0.0.1:22", "-o", "ExitOnForwardFailure=yes"],
                                   ["-w", "0:0", "-o", "ExitOnForwardFailure=yes"]], ids=lambda flags: flags[0])
def test_nothing_is_forwarded(flags, ssh_server, ssh_keys, file, tmp_path):
    client = openssh(ssh_server, ssh_keys, tmp_path)
    command = [] if flags[0] == "-W" else ["cat file"]
    said = run(*client.command(flags=flags), *command, expect=255, env=client.environment)
    assert b"content" not in said


def test_a_forwarding_that_is_asked_for_beside_a_command_does_not_stop_it(ssh_server, ssh_keys, file, tmp_path):
    client = openssh(ssh_server, ssh_keys, tmp_path)
    flags = ["-A", "-X", "-L", "%s:127.0.0.1:1" % (tmp_path / "forwarded"), "-R", "0:127.0.0.1:1", "-o", "SetEnv=A=b"]
    assert client.exec("cat file", flags=flags) == b"content"


# -- several sessions in one connection --


def test_ten_sessions_share_one_connection_and_an_eleventh_is_refused(ssh_server, ssh_keys, root, tmp_path):
    content = os.urandom(3_000_000)
    (root / "file").write_bytes(content)
    client = openssh(ssh_server, ssh_keys, tmp_path)
    path = "ControlPath=%s" % (tmp_path / "control")
    words = [str(word) for word in client.command(flags=["-N", "-M"], more=[path])]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, env=client.environment) as master:
        try:
            wait_until("the control socket", (tmp_path / "control").exists)
            share = ["ssh", "-F", "none", "-o", path, "-o", "ControlMaster=no", "-o", "BatchMode=yes", "%s@%s" % (USER, HOST)]
            sessions = [subprocess.Popen([*share, "cat file"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
                        for _ in range(10)]
            for session in sessions:  # none is read before all have begun
                assert session.stdout.read(1) == content[:1]
            refused = subprocess.run([*share, "cat file"], capture_output=True, timeout=ssh_clients.SECONDS,
                                     stdin=subprocess.DEVNULL, env=client.environment)
            assert refused.returncode == 255 and content[:100] not in refused.stdout
            for session in sessions:
                assert session.stdout.read() == content[1:] and session.wait(timeout=ssh_clients.SECONDS) == 0
                session.stdout.close()
            wait_until("the login is recorded", lambda: ssh_server.records("login"))
            assert len(ssh_server.records("login")) == 1
            assert run(*share, "cat file") == content
        finally:
            master.kill()  # a signal that it handles can be lost in its poll
