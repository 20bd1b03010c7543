"""LIST, NLST, MLSD, MLST and STAT with a path: what programs read."""

import os
import re

import pytest

from dialogue import Dialogue

FACTS = (rb"type=(file|dir|cdir|pdir|OS\.unix=\S+);(size=\d+;)?modify=\d{14};perm=[acdeflmprw]*;unique=\w+;"
         rb"UNIX\.mode=0\d+; ")


@pytest.fixture
def ftp(server, root):
    (root / "dir/sub").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "c.dat", "dir/d.txt", "dir/e f.txt", "dir/sub/g.txt", ".hidden"):
        (root / name).write_bytes(b"x" * len(name))
        os.utime(root / name, (1577934245, 1577934245))
    with Dialogue(server) as dialogue:
        yield dialogue


def names_of_list(listing):
    return {line.split(None, 8)[8] for line in listing.decode().splitlines()}


@pytest.mark.parametrize("argument, expected", [
    ("", {"a.txt", "b.txt", "c.dat", "dir", ".hidden"}),
    ("dir", {"dir/d.txt", "dir/e f.txt", "dir/sub"}),
    ("dir/", {"dir/d.txt", "dir/e f.txt", "dir/sub"}),
    ("/dir", {"/dir/d.txt", "/dir/e f.txt", "/dir/sub"}),
    ("a.txt", {"a.txt"}),
    ("*.txt", {"a.txt", "b.txt"}),
    ("?.dat", {"c.dat"}),
    ("[ab].txt", {"a.txt", "b.txt"}),
    ("[!ab].*", {"c.dat"}),
    ("dir/*.txt", {"dir/d.txt", "dir/e f.txt"}),
    ("*/*.txt", {"dir/d.txt", "dir/e f.txt"}),
    ("*/sub/*", {"dir/sub/g.txt"}),
    ("dir/*/g.txt", {"dir/sub/g.txt"}),
    ("dir/e f.txt", {"dir/e f.txt"}),
    ("nothing*", set()),
])
def test_nlst_names_can_be_given_back(ftp, argument, expected):
    assert set(ftp.names(argument)) - {".hidden"} == expected - {".hidden"}
    for name in expected:
        if name.endswith("txt"):
            ftp.ask("SIZE " + name, 213)


@pytest.mark.parametrize("argument", ["", "-la", "-a", "-l", "-al .", "-la /", "."])
def test_list_takes_the_options_of_ls(ftp, argument):
    listing = ftp.fetch(("LIST " + argument).strip())
    assert names_of_list(listing) >= {"a.txt", "b.txt", "c.dat", "dir"}
    assert listing.endswith(b"\r\n")
    for line in listing.splitlines():
        assert re.match(rb"[-d][rwx-]{9} +\d+ \S+ +\S+ +\d+ [A-Z][a-z]{2} [ \d]\d ( \d{4}|\d\d:\d\d) ", line), line
    assert re.search(rb"^-rw-r--r-- .* 5 Jan  2  2020 a\.txt\r$", listing, re.M)


def test_list_of_one_file_a_folder_and_a_pattern(ftp):
    assert names_of_list(ftp.fetch("LIST a.txt")) == {"a.txt"}
    assert names_of_list(ftp.fetch("LIST dir")) == {"d.txt", "e f.txt", "sub"}
    assert names_of_list(ftp.fetch("LIST -la dir/e f.txt")) == {"dir/e f.txt"}
    assert {name.rsplit("/", 1)[-1] for name in names_of_list(ftp.fetch("LIST *.txt"))} == {"a.txt", "b.txt"}


def test_names_that_look_like_patterns_are_found(ftp, root):
    (root / "[x]*.txt").write_bytes(b"1")
    assert ftp.names("[x]*.txt") == ["[x]*.txt"]
    assert ftp.names("\\[x]\\*.txt") == ["[x]*.txt"]


@pytest.mark.parametrize("verb", ["LIST", "NLST", "MLSD"])
def test_listing_what_is_not_there_is_550(ftp, verb):
    with ftp.data():
        ftp.ask(verb + " missing", 550)
    with ftp.data():
        ftp.ask(verb + " a.txt/below", 550)


def test_mlsd_has_facts_for_programs(ftp):
    lines = ftp.fetch("MLSD").split(b"\r\n")
    assert lines.pop() == b""
    assert all(re.match(FACTS, line) for line in lines), lines
    found = {line.split(b"; ", 1)[1]: line for line in lines}
    assert {b"a.txt", b"b.txt", b"c.dat", b"dir"} <= set(found)
    assert found[b"a.txt"].startswith(b"type=file;size=5;modify=20200102030405;")
    assert found[b"dir"].startswith(b"type=dir;") and b"size=" not in found[b"dir"]
    with ftp.data():
        ftp.ask("MLSD a.txt", 501, 550)


def test_mlst_tells_of_one_thing_on_the_control_connection(ftp):
    reply = ftp.ask("MLST dir/d.txt", 250)
    assert len(reply.lines) == 3
    assert re.fullmatch(rb" " + FACTS + rb"/dir/d\.txt", reply.lines[1])
    assert reply.lines[1].startswith(b" type=file;size=9;modify=20200102030405;")
    assert b"type=dir;" in ftp.ask("MLST", 250).lines[1]
    ftp.ask("MLST missing", 550)


def test_opts_mlst_chooses_facts(ftp):
    assert ftp.ask("OPTS MLST size;TYPE;nonsense;", 200).text.endswith("MLST OPTS type;size;")
    assert ftp.ask("MLST a.txt", 250).lines[1] == b" type=file;size=5; /a.txt"
    assert b"type=file;size=5; a.txt\r\n" in ftp.fetch("MLSD")
    assert any(line.startswith(b" MLST type*;size*;modify;") for line in ftp.ask("FEAT", 211).lines)
    ftp.ask("OPTS MLST", 200)
    assert ftp.ask("MLST a.txt", 250).lines[1] == b"  /a.txt"
    ftp.ask("OPTS MLST size;", 200)
    ftp.ask("REIN", 220)
    ftp.login()
    assert re.match(rb" " + FACTS, ftp.ask("MLST a.txt", 250).lines[1])


def test_facts_say_what_the_account_may_do(ferryd, root):
    (root / "file").write_bytes(b"1")
    (root / "dir").mkdir()
    for arguments, file_perm, dir_perm in (((), "adfrw", "cdeflmp"), (("--read-only",), "r", "el")):
        with Dialogue(ferryd(root, *arguments)) as ftp:
            found = re.findall(r"perm=(\w*);.* (\w+)\r", ftp.fetch("MLSD").decode())
            perms = {name: perm for perm, name in found}
            assert set(perms["file"]) == set(file_perm)
            assert set(perms["dir"]) == set(dir_perm)


def test_stat_with_a_path_lists_on_the_control_connection(ftp):
    reply = ftp.ask("STAT dir", 211, 212, 213)
    text = reply.text
    assert "d.txt" in text and "e f.txt" in text and "sub" in text
    assert ftp.ask("STAT a.txt", 211, 212, 213).text.count("a.txt") >= 1
    assert "b.txt" in ftp.ask("STAT -la *.txt", 211, 212, 213).text
    ftp.ask("STAT missing", 450, 550)
    ftp.ask("NOOP", 200)


def test_control_characters_in_names_break_no_line(ftp, root):
    (root / "bad\r\n550 name").write_bytes(b"1")
    for verb in ("LIST", "NLST", "MLSD"):
        listing = ftp.fetch(verb)
        assert b"bad??550 name\r\n" in listing
        assert b"\n550" not in listing
    assert "bad??550 name" in ftp.ask("STAT .", 213).text


def test_a_large_directory_is_listed_whole(ftp, root):
    big = root / "big"
    big.mkdir()
    for i in range(3000):
        (big / ("name-%05d" % i)).touch()
    expected = {"name-%05d" % i for i in range(3000)}
    assert names_of_list(ftp.fetch("LIST big")) == expected
    assert {name.rsplit("/")[-1] for name in ftp.names("big")} == expected
    assert {line.split(b"; ", 1)[1].decode() for line in ftp.fetch("MLSD big").splitlines()} - {".", ".."} == expected
    assert len(ftp.ask("STAT big", 213).lines) == 3002


def test_a_glob_bomb_is_bounded_and_leaves_the_session_alive(ftp, root):
    for i in range(300):
        (root / ("a" * 100 + "%03d" % i)).touch()
    with ftp.data() as data:
        ftp.ask("NLST " + "*a" * 60 + "*b", 150)
        while data.recv(65536):
            pass
    ftp.expect(226, 451)
    ftp.ask("NOOP", 200)


def test_an_empty_directory_has_an_empty_listing(ftp, root):
    (root / "empty").mkdir()
    for verb in ("LIST", "NLST"):
        assert ftp.fetch(verb + " empty") == b""
