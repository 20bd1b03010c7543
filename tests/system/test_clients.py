"""Files and trees through the clients that people use, compared by hash."""

import hashlib
import os
import re
import time
import urllib.parse

import pytest

import clients
from conftest import PASSWORD, USER, random_bytes

SIZES = {"empty": 0, "one-byte": 1, "odd-megabytes": 5_000_011}
NAMES = {
    "plain": b"plain.txt",
    "spaces": b"two  words and a third",
    "quotes": b"it's \"quoted\".txt",
    "bracket": b"report [final]*.txt",
    "leading-dash": b"-rf",
    "url-signs": b"100%25 a#b?c&d=e+f;g.txt",
    "utf8": "na\u00efve \u65e5\u672c\u8a9e \U0001f680.txt".encode(),
    "invalid-utf8": b"caf\xe9 \xff \xc3\x28.bin",
}


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def path_in(folder, name):
    return folder / os.fsdecode(name)


def tree(folder):
    """Everything below: hashes of files, None for directories."""
    return {str(path.relative_to(folder)): None if path.is_dir() else sha(path) for path in folder.rglob("*")}


def make_tree(folder):
    for place in ("a", "a/b/c", "a/two words", "\u00fcber"):
        (folder / place).mkdir(parents=True, exist_ok=True)
        for i, size in enumerate((0, 1, 70_000)):
            (folder / place / ("file %d.bin" % i)).write_bytes(random_bytes(size, seed=i))
    many = folder / "many"
    many.mkdir()
    for i in range(150):
        (many / ("%03d" % i)).write_bytes(b"%d" % i)
    return folder


# -- single files --


@clients.each(clients.ALL)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_a_download_is_what_is_stored(kind, size, server, root, tmp_path):
    (root / "file.bin").write_bytes(random_bytes(size))
    kind(server, tmp_path).get(b"file.bin", tmp_path / "copy")
    assert sha(tmp_path / "copy") == sha(root / "file.bin")


@clients.each(clients.UPLOADERS)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_an_upload_is_stored_as_it_is(kind, size, server, root, tmp_path):
    (tmp_path / "file.bin").write_bytes(random_bytes(size))
    kind(server, tmp_path).put(tmp_path / "file.bin", b"stored")
    assert tree(root) == {"stored": sha(tmp_path / "file.bin")}


@clients.each(clients.UPLOADERS)
def test_an_upload_replaces_a_longer_file(kind, server, root, tmp_path):
    (root / "stored").write_bytes(random_bytes(100_000, seed=2))
    (tmp_path / "file.bin").write_bytes(random_bytes(1000))
    kind(server, tmp_path).put(tmp_path / "file.bin", b"stored")
    assert tree(root) == {"stored": sha(tmp_path / "file.bin")}


@clients.each(clients.ALL)
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_any_name_can_be_downloaded(kind, name, server, root, tmp_path):
    path_in(root, name).write_bytes(random_bytes(3000))
    kind(server, tmp_path).get(name, tmp_path / "copy")
    assert sha(tmp_path / "copy") == sha(path_in(root, name))


@clients.each(clients.UPLOADERS)
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_any_name_can_be_uploaded(kind, name, server, root, tmp_path):
    (tmp_path / "file.bin").write_bytes(random_bytes(3000))
    kind(server, tmp_path).put(tmp_path / "file.bin", name)
    assert tree(root) == {os.fsdecode(name): sha(tmp_path / "file.bin")}


def test_names_are_listed_byte_for_byte(server, root):
    for name in NAMES.values():
        path_in(root, name).touch()
    with server.client() as ftp:
        ftp.encoding = "latin-1"
        ftp.file = ftp.sock.makefile("r", encoding="latin-1")
        listed = {name.encode("latin-1") for name in ftp.nlst()}
        facts = {name.encode("latin-1") for name, _ in ftp.mlsd()}
    assert listed == set(NAMES.values())
    assert facts - {b".", b".."} == set(NAMES.values())


@pytest.mark.parametrize("flag", ["-1", "-l", "-m"])
def test_ncftpls_lists_what_is_there(flag, server, root, tmp_path):
    for name in ("one", "two words"):
        (root / name).write_bytes(b"x" * 1234)
    ncftp = clients.Ncftp(server, tmp_path)
    listing = ncftp.run("ncftpls", flag, "-u", USER, "-p", PASSWORD, "-P", str(server.port), "-t", "20",
                        "ftp://127.0.0.1/").decode()
    assert re.search(r"\bone$", listing, re.M) and re.search(r"\btwo words$", listing, re.M)
    assert flag == "-1" or "1234" in listing


def test_curl_and_lftp_list_what_is_there(server, root, tmp_path):
    (root / "folder").mkdir()
    for name in ("one", "two words"):
        (root / "folder" / name).write_bytes(b"x" * 1234)
    curl, lftp = clients.Curl(server, tmp_path), clients.Lftp(server, tmp_path)
    assert set(curl.run(*curl.command("-l", curl.url + "folder/")).decode().splitlines()) == {"one", "two words"}
    assert set(lftp.run(*lftp.command("cls", "-1", "folder")).decode().splitlines()) == {
        "folder/one", "folder/two words"}
    for long in (curl.run(*curl.command(curl.url + "folder/")), lftp.run(*lftp.command("ls", "folder"))):
        assert len(re.findall(r"^-rw.* 1234 .* (one|two words)$", long.decode().replace("\r", ""), re.M)) == 2


def test_lftp_finds_renames_and_removes(server, root, tmp_path):
    make_tree(root)
    lftp = clients.Lftp(server, tmp_path)
    found = lftp.run(*lftp.command("find", "a")).decode().splitlines()
    assert "a/b/c/file 2.bin" in found and len(found) == 13
    lftp.run(*lftp.command("mv", "a", "z"))
    lftp.run(*lftp.command("rm", "-r", "many"))
    lftp.run(*lftp.command("chmod", "600", "z/file 0.bin"))
    assert (root / "z/b/c/file 1.bin").exists() and not (root / "many").exists()
    assert (root / "z/file 0.bin").stat().st_mode & 0o777 == 0o600


# -- trees --


@pytest.mark.parametrize("parallel", [1, 4])
def test_lftp_mirrors_a_tree_down(parallel, server, root, tmp_path):
    make_tree(root)
    (root / "empty").mkdir()
    lftp = clients.Lftp(server, tmp_path)
    lftp.run(*lftp.command("mirror", "--parallel=%d" % parallel, "/", str(tmp_path / "copy")))
    assert tree(tmp_path / "copy") == tree(root)


@pytest.mark.parametrize("parallel", [1, 4])
def test_lftp_mirrors_a_tree_up_and_finds_nothing_left_to_do(parallel, server, root, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    make_tree(source)
    (source / "empty").mkdir()
    os.utime(source / "a/file 1.bin", (1_000_000_000, 1_000_000_000))
    lftp = clients.Lftp(server, tmp_path)
    mirror = lftp.command("mirror", "-R", "-v", "--parallel=%d" % parallel, str(source), "/")
    lftp.run(*mirror)
    assert tree(root) == tree(source)
    assert (root / "a/file 1.bin").stat().st_mtime == 1_000_000_000
    assert b"file" not in lftp.run(*mirror)


def test_wget_fetches_a_tree(server, root, tmp_path):
    make_tree(root)
    wget = clients.Wget(server, tmp_path)
    copy = tmp_path / "copy"
    wget.run("wget", "--no-config", "-nv", "-r", "-nH", "-t", "1", "-T", "20", "--restrict-file-names=nocontrol",
             "--user", USER, "--password", PASSWORD, "-P", copy, wget.url)
    assert tree(copy) == tree(root)


def test_ncftp_puts_and_gets_a_tree(server, root, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    make_tree(source)
    ncftp = clients.Ncftp(server, tmp_path)
    ncftp.run(*ncftp.command("ncftpput", "-R", ncftp.host, "/", source))
    assert tree(root / "source") == tree(source)
    (tmp_path / "copy").mkdir()
    ncftp.run(*ncftp.command("ncftpget", "-R", ncftp.host, tmp_path / "copy", "/source"))
    assert tree(tmp_path / "copy" / "source") == tree(source)


def test_curl_makes_the_directories_of_an_upload(server, root, tmp_path):
    (tmp_path / "file.bin").write_bytes(b"content")
    curl = clients.Curl(server, tmp_path)
    curl.run(*curl.command("--ftp-create-dirs", "-T", tmp_path / "file.bin",
                           curl.url + urllib.parse.quote("deep/er \u00fc/file")))
    assert (root / "deep/er \u00fc/file").read_bytes() == b"content"


# -- ways to connect --


@clients.each(clients.ALL)
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"], ids=["ipv4", "ipv6"])
@pytest.mark.parametrize("active", [False, True], ids=["passive", "active"])
def test_data_connections_of_either_kind_work(kind, host, active, ferryd, root, tmp_path):
    if ":" in host and not kind.can_ipv6:
        pytest.skip("%s speaks no IPv6" % kind.__name__.lower())
    server = ferryd(root, listen=("ftp://%s:0" % ("[::1]" if ":" in host else host),))
    client = kind(server, tmp_path, host)
    (root / "down").write_bytes(random_bytes(200_000))
    client.get(b"down", tmp_path / "copy", active=active)
    assert sha(tmp_path / "copy") == sha(root / "down")
    if kind.can_put:
        client.put(tmp_path / "copy", b"up", active=active)
        assert sha(root / "up") == sha(root / "down")


@pytest.mark.parametrize("flag", ["--disable-epsv", "--ftp-pasv"])
def test_curl_gets_along_with_either_passive_command(flag, server, root, tmp_path):
    (root / "down").write_bytes(random_bytes(200_000))
    curl = clients.Curl(server, tmp_path)
    curl.run(*curl.command(flag, "-o", tmp_path / "copy", curl.url + "down"))
    assert sha(tmp_path / "copy") == sha(root / "down")


@pytest.mark.parametrize("method", ["multicwd", "singlecwd", "nocwd"])
def test_curl_reaches_a_file_by_every_method(method, server, root, tmp_path):
    (root / "a/b c").mkdir(parents=True)
    (root / "a/b c/down").write_bytes(random_bytes(2000))
    curl = clients.Curl(server, tmp_path)
    curl.run(*curl.command("--ftp-method", method, "-o", tmp_path / "copy", curl.url + "a/b%20c/down"))
    assert sha(tmp_path / "copy") == sha(root / "a/b c/down")


def test_wget_keeps_the_time_and_skips_what_it_has(server, root, tmp_path):
    (root / "down").write_bytes(random_bytes(2000))
    yesterday = (int(time.time()) - 86400) // 60 * 60  # it reads LIST, which shows minutes
    os.utime(root / "down", (yesterday, yesterday))
    wget = clients.Wget(server, tmp_path)
    fetch = ("wget", "--no-config", "-nv", "-N", "-t", "1", "-T", "20", "--user", USER, "--password", PASSWORD,
             wget.url + "down")
    wget.run(*fetch)
    assert (wget.home / "down").stat().st_mtime == yesterday
    before = (wget.home / "down").stat().st_ino
    wget.run(*fetch)
    assert (wget.home / "down").stat().st_ino == before
