"""Commands on ssh channels: what there is, what there is not, and how words are cut."""

import os
import subprocess

import pytest

import ssh_clients
from conftest import random_bytes, require

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
                                     "cat < a", "cat a &", "cat 'a", "X=1 cat a", "''", "/bin/cat a"])
def test_what_needs_a_shell_is_told_what_there_is(command, shell, root):
    (root / "a").write_bytes(b"never shown")
    output, said = shell.both(command, expect=127)
    assert output == b"" and os.listdir(root) == ["a"]
    assert said.startswith("ferryd serves files and no shell. There are: sftp, scp, tar, cat, md5sum, ")


def test_a_name_with_control_characters_is_complained_of_without_them(shell):
    assert shell.both("cat 'a\x1b[2Jb'", expect=1)[1] == "cat: a?[2Jb: no such file or directory\n"
