"""Commands on ssh channels: what there is, what there is not, and how words are cut."""

import os
import subprocess

import pytest

import ssh_clients
import ssh_raw as raw
from conftest import USER, random_bytes, require, wait_until
from ssh_raw import Raw, message

DIGESTS = ("md5sum", "sha1sum", "sha256sum", "sha512sum")
NAMES = ("plain", "a b", "it's", 'say "hi"', "$HOME", "back\\slash", "two\nlines", "return\rhere", "ü", "*", "-x")


class Shell(ssh_clients.OpenSsh):
    def both(self, command, expect=0):
        """Output and complaints."""
        done = subprocess.run([str(word) for word in self.command()] + [command], input=b"", capture_output=True,
                              timeout=ssh_clients.SECONDS, env=self.environment)
        assert done.returncode == expect, done.stderr
        return done.stdout, done.stderr.decode()


@pytest.fixture
def shell(ssh_server, ssh_keys, tmp_path):
    return Shell(ssh_server, tmp_path, ssh_keys)


def quoted(name):
    return "'" + name.replace("'", "'\\''") + "'"


@pytest.mark.parametrize("program", DIGESTS)
def test_digests_are_those_of_coreutils_to_the_letter(program, shell, root):
    require(program)
    for size in 0, 1, 5_000_001:
        (root / ("size-%d" % size)).write_bytes(random_bytes(size))
    for name in NAMES:
        (root / name).write_bytes(name.encode())
    words = [program, "--", *(quoted(name) for name in sorted(os.listdir(root)))]
    theirs = subprocess.run([program, "--", *sorted(os.listdir(root))], cwd=root, capture_output=True, check=True).stdout
    assert shell.both(" ".join(words))[0] == theirs


def test_a_digest_of_what_cannot_be_read_is_a_complaint_and_the_others_come(shell, root):
    (root / "folder").mkdir()
    (root / "file").write_bytes(b"x")
    os.mkfifo(root / "fifo")
    output, said = shell.both("sha256sum missing folder fifo file", expect=1)
    assert output.decode().split() == ["2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881", "file"]
    assert [line.split(":")[:2] for line in said.splitlines()] == [
        ["sha256sum", " missing"], ["sha256sum", " folder"], ["sha256sum", " fifo"]]


def test_cat_joins_files_and_complains_of_what_is_missing(shell, root):
    contents = [random_bytes(700_000, seed) for seed in range(3)]
    for i, content in enumerate(contents):
        (root / ("part%d" % i)).write_bytes(content)
    assert shell.both("cat part*")[0] == b"".join(contents)
    output, said = shell.both("cat part2 missing part0", expect=1)
    assert output == contents[2] + contents[0]
    assert said == "cat: missing: no such file or directory\n"
    assert shell.both("cat", expect=2)[1] == "usage: cat [--] FILE...\n"


@pytest.mark.parametrize("name", NAMES)
def test_quotes_and_backslashes_are_those_of_a_shell(name, shell, root):
    (root / name).write_bytes(b"content")
    in_double = '"' + "".join("\\" + c if c in '$`"\\' else c for c in name) + '"'
    with_backslashes = "".join("'\n'" if c == "\n" else c if c.isalnum() else "\\" + c for c in name)
    for words in quoted(name), in_double, with_backslashes, "./" + quoted(name):
        assert shell.both("cat -- " + words)[0] == b"content"


def test_a_quoted_pattern_is_a_name_and_an_unmatched_one_stays_as_it_is(shell, root):
    (root / "a*").write_bytes(b"star")
    (root / "ab").write_bytes(b"letter")
    (root / ".a").write_bytes(b"dot")
    (root / "sub").mkdir()
    (root / "sub" / "ab").write_bytes(b"below")
    assert shell.both("cat a*")[0] == b"starletter"
    assert shell.both("cat 'a*'")[0] == shell.both("cat a\\*")[0] == shell.both('cat "a*"')[0] == b"star"
    assert shell.both("cat '['a] a[b]", expect=1) == (b"letter", "cat: [a]: no such file or directory\n")
    assert shell.both("cat */ab /s?b/a[a-c] ~/ab ./.?")[0] == b"belowbelowletterdot"
    assert shell.both("cat *x*", expect=1) == (b"", "cat: *x*: no such file or directory\n")


@pytest.mark.parametrize("command", ["ls", "sh", "rm -rf /", "cat a | cat", "cat a; cat b", "cat $(id)", "cat `id`", "cat a > b",
                                     "cat < a", "cat a &", "cat 'a", "X=1 cat a", "''", "bin/cat a", "/bin/cat/ a", "/"])
def test_what_needs_a_shell_is_told_what_there_is(command, shell, root):
    (root / "a").write_bytes(b"never shown")
    output, said = shell.both(command, expect=127)
    assert output == b"" and os.listdir(root) == ["a"]
    assert said.startswith("ferryd serves files and no shell. There are: sftp, scp, tar, cat, md5sum, ")


@pytest.mark.parametrize("program", ["/bin/cat", "/usr/bin/cat", "//cat", "/cat"])
def test_a_command_may_be_named_by_an_absolute_path(program, shell, root):
    (root / "a").write_bytes(b"content")
    assert shell.both(program + " a")[0] == b"content"


def test_a_name_with_control_characters_is_complained_of_without_them(shell):
    assert shell.both("cat 'a\x1b[2Jb'", expect=1)[1] == "cat: a?[2Jb: no such file or directory\n"


# -- windows that stay closed --


@pytest.mark.parametrize("command", ["cat large small", "cat large missing"])
def test_a_reader_who_stops_is_waited_for_once(command, ssh_ferryd, root):
    """No complaint comes behind the file, nor another file, when the window opens too late: the channel has ended."""
    with open(root / "large", "wb") as file:
        file.truncate(1 << 20)
    (root / "small").write_bytes(b"small")
    server = ssh_ferryd(root, config="timeouts { stall_s = 2 }")
    with Raw(server) as client:
        channel = client.exec(command, window=100)
        assert len(client.expect(raw.DATA)) == 9 + 100
        assert server.last_audit("download")["bytes"] == 100
        client.send(message(raw.ADJUST, channel, 10000))
        client.expect(raw.EOF)
        assert client.expect(raw.REQUEST)[-4:] == raw.u32(255)
        client.expect(raw.CLOSE)
        client.send(message(raw.CLOSE, channel))
        assert client.can_work()


def test_who_shows_how_much_of_a_file_has_gone(ssh_ferryd, root):
    with open(root / "large", "wb") as file:
        file.truncate(1 << 20)
    server = ssh_ferryd(root)
    with Raw(server) as client:
        channel = client.exec("cat large", window=1000)
        client.expect(raw.DATA)
        wait_until("what was sent", lambda: [s["bytes"] for s in server.ask("who")] == [1000])
        client.send(message(raw.CLOSE, channel))
        client.expect(raw.CLOSE)
        wait_until("an idle session", lambda: [(s["doing"], s["bytes"]) for s in server.ask("who")] == [("idle", 0)])


# -- sftp as a command --


def over_ssh(shell, command, lines, root):
    """OpenSSH's sftp, which asks for a command instead of the subsystem if its server has a slash; None: for that."""
    named = [] if command is None else ["-s", command]
    words = ["sftp", "-b", "-", *named, *shell.options(), "-P", str(shell.port), "%s@%s" % (USER, ssh_clients.HOST)]
    return subprocess.run([str(word) for word in words], input="\n".join(lines) + "\n", text=True, cwd=root.parent,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=ssh_clients.SECONDS, env=shell.environment,
                          check=False)


@pytest.mark.parametrize("command", ["/usr/lib/openssh/sftp-server", "/usr/libexec/sftp-server -e -l INFO", "/internal-sftp words"])
def test_a_server_of_sftp_that_is_asked_for_as_a_command_is_the_subsystem(command, shell, root):
    (root / "file").write_bytes(b"content")
    done = over_ssh(shell, command, ["get file fetched", "put fetched back"], root)
    assert done.returncode == 0, done.stdout
    assert (root / "back").read_bytes() == b"content"


def test_options_of_a_server_of_sftp_are_kept_or_refused(shell, root):
    (root / "sub").mkdir()
    (root / "sub" / "file").write_bytes(b"content")
    done = over_ssh(shell, "/x/sftp-server -Rd /sub", ["get file fetched", "put fetched back"], root)
    assert done.returncode != 0 and (root.parent / "fetched").read_bytes() == b"content"
    assert not (root / "sub" / "back").exists()
    for options in "-x", "-u 022", "-d", "-R -Z":
        assert "usage: sftp-server [-eR]" in shell.both("sftp-server " + options, expect=2)[1]


@pytest.mark.parametrize("command", ["internal-sftp", "sftp-server -R", "/usr/lib/openssh/sftp-server -R"])
def test_a_key_whose_command_is_sftp_may_use_the_subsystem_by_its_terms(command, ssh_ferryd, root, ssh_keys, tmp_path):
    (root / "file").write_bytes(b"content")
    server = ssh_ferryd(root, authorized='command="%s" %s\n' % (command, ssh_keys.public("ed25519")))
    shell = Shell(server, tmp_path, ssh_keys)
    for asked in None, "/x/sftp-server":
        done = over_ssh(shell, asked, ["get file fetched", "-put fetched back"], root)
        assert done.returncode == 0, done.stdout
        assert (root / "back").exists() == ("-R" not in command)


def test_a_key_with_another_command_may_not_use_the_subsystem_and_the_log_says_so(ssh_ferryd, root, ssh_keys, tmp_path):
    server = ssh_ferryd(root, authorized='command="cat sftp-server" %s\n' % ssh_keys.public("ed25519"))
    done = over_ssh(Shell(server, tmp_path, ssh_keys), None, ["pwd"], root)
    assert done.returncode != 0 and "subsystem request failed" in done.stdout
    refusals = wait_until("the refusal is logged", lambda: server.records("subsystem-refused"))
    assert [record["command"] for record in refusals] == ["cat sftp-server"]
