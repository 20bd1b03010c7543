"""Transfers that broke off and go on: what the client has, or what the server kept, is not moved again."""

import hashlib

import pytest

import clients
from conftest import random_bytes, wait_until
from dialogue import Dialogue, cut, read_until

CONTENT = random_bytes(3_000_001, seed=7)
HALF = 1_400_003
SLOW = "defaults { rate_bytes_per_s = 500K }"  # enough time to kill a client in mid-transfer
PROGRAMS = tuple(kind for kind in clients.ALL if kind.programs)
ASK_SIZE = (clients.Curl, clients.Lftp, clients.Ftplib)  # before an upload; the others begin anew


def same(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() == hashlib.sha256(CONTENT).hexdigest()


def visible(root):
    return sorted(path.name for path in root.iterdir() if not path.name.startswith(".ferry-"))


def kill_in_mid_transfer(process, condition):
    try:
        wait_until("some of it came", condition)
    finally:
        process.kill()
        process.communicate()


def break_upload(server, name, size, command="STOR", source=CONTENT):
    """The line of an upload dies when the server has size bytes of it."""
    with Dialogue(server) as ftp:
        data = ftp.data()
        ftp.ask("%s %s" % (command, name), 150)
        data.sendall(source[:size])
        wait_until("the bytes arrived", lambda: b" %d bytes" % size in ftp.ask("STAT", 211).text.encode())
        cut(data)
        ftp.expect(426)


# -- downloads --


@clients.each(clients.ALL)
def test_a_client_fetches_only_what_it_lacks(kind, server, root, tmp_path):
    (root / "file").write_bytes(CONTENT)
    (tmp_path / "copy").write_bytes(CONTENT[:HALF])
    kind(server, tmp_path).get(b"file", tmp_path / "copy", resume=True)
    assert same(tmp_path / "copy")
    record = server.last_audit("download")
    assert (record["offset"], record["bytes"]) == (HALF, len(CONTENT) - HALF)


@clients.each(tuple(kind for kind in clients.ALL if kind is not clients.Ncftp))  # which calls it exit code 3
def test_a_client_that_has_all_gets_no_error(kind, server, root, tmp_path):
    (root / "file").write_bytes(CONTENT)
    (tmp_path / "copy").write_bytes(CONTENT)
    kind(server, tmp_path).get(b"file", tmp_path / "copy", resume=True)
    assert same(tmp_path / "copy")


@clients.each(PROGRAMS)
def test_a_killed_download_goes_on(kind, ferryd, root, tmp_path):
    (root / "file").write_bytes(CONTENT)
    copy = tmp_path / "copy"
    client = kind(ferryd(root, config=SLOW), tmp_path)
    process = client.start(*client.get_command(b"file", copy))
    kill_in_mid_transfer(process, lambda: copy.exists() and copy.stat().st_size > 50_000)
    had = copy.stat().st_size
    assert had < len(CONTENT)
    server = ferryd(root)
    kind(server, tmp_path).get(b"file", copy, resume=True)
    assert same(copy)
    assert server.last_audit("download")["offset"] in range(1, had + 1)


def test_a_cut_download_is_recorded_and_harms_nothing(server, root):
    with open(root / "large", "wb") as file:
        file.truncate(1 << 30)
    with Dialogue(server) as ftp:
        data = ftp.data()
        ftp.ask("RETR large", 150)
        read_until(data, 100_000)
        cut(data)
        ftp.expect(426)
        assert server.last_audit("download")["result"] != "ok"
        (root / "file").write_bytes(CONTENT)
        ftp.ask("REST %d" % HALF, 350)
        assert ftp.fetch("RETR file") == CONTENT[HALF:]


@pytest.mark.parametrize("offset", [0, 1, 4095, 4096, len(CONTENT) - 1, len(CONTENT)])
def test_rest_begins_exactly_there(offset, server, root):
    (root / "file").write_bytes(CONTENT)
    with Dialogue(server) as ftp:
        ftp.ask("REST %d" % offset, 350)
        assert ftp.fetch("RETR file") == CONTENT[offset:]
        assert ftp.fetch("RETR file") == CONTENT, "REST holds for one transfer"


# -- uploads --


@clients.each(ASK_SIZE)
def test_an_upload_whose_line_died_goes_on(kind, server, root, tmp_path):
    break_upload(server, "file", HALF)
    assert visible(root) == []
    (tmp_path / "source").write_bytes(CONTENT)
    kind(server, tmp_path).put(tmp_path / "source", b"file", resume=True)
    assert same(root / "file")
    assert [path.name for path in root.iterdir()] == ["file"], "the kept part is gone"
    moved = (HALF, len(CONTENT) - HALF)
    wait_until("only the rest was moved",
               lambda: moved in [(r["offset"], r["bytes"]) for r in server.records("audit")])


@clients.each((*ASK_SIZE, clients.Ncftp))
def test_a_shorter_file_is_completed(kind, server, root, tmp_path):
    (root / "file").write_bytes(CONTENT[:HALF])
    (tmp_path / "source").write_bytes(CONTENT)
    kind(server, tmp_path).put(tmp_path / "source", b"file", resume=True)
    assert same(root / "file")


@clients.each(clients.UPLOADERS[:-1])
def test_a_killed_upload_leaves_nothing_under_the_name_and_goes_on(kind, ferryd, root, tmp_path):
    (tmp_path / "source").write_bytes(CONTENT)
    slow = ferryd(root, config=SLOW)
    client = kind(slow, tmp_path)
    process = client.start(*client.put_command(tmp_path / "source", b"file"))
    kill_in_mid_transfer(process, lambda: any(path.stat().st_size > 50_000 for path in root.iterdir()))
    assert slow.last_audit("upload")["result"] != "ok"
    assert visible(root) == [], "a client that died has not said that this was all"
    slow.stop()
    server = ferryd(root)
    kind(server, tmp_path).put(tmp_path / "source", b"file", resume=True)
    assert same(root / "file")
    assert (server.last_audit("upload")["offset"] if kind is clients.Lftp else 1) > 0


@pytest.mark.parametrize("command", ["STOR", "APPE"])
def test_a_good_file_outlives_a_broken_upload(command, server, root):
    (root / "file").write_bytes(b"the old one")
    if command == "STOR":
        break_upload(server, "file", HALF)
        assert (root / "file").read_bytes() == b"the old one"
    else:
        break_upload(server, "file", HALF, command="APPE")
        assert (root / "file").read_bytes().startswith(b"the old one")


def test_a_kept_part_is_in_no_listing_and_not_reachable(server, root):
    break_upload(server, "file", HALF)
    hidden = [path.name for path in root.iterdir()]
    assert len(hidden) == 1 and hidden[0].startswith(".ferry-")
    with Dialogue(server) as ftp:
        assert ftp.names() == []
        assert ftp.fetch("MLSD") == b"" or b"ferry" not in ftp.fetch("MLSD")
        assert ftp.fetch("LIST -a") == b""
        assert ftp.names(".f*") == []
        ftp.ask("SIZE " + hidden[0], 550)
        ftp.ask("DELE " + hidden[0], 550)
        assert ftp.ask("SIZE file", 213).text == "213 %d" % HALF
        ftp.ask("MDTM file", 550)


def test_rest_and_stor_overwrite_from_there(server, root):
    (root / "file").write_bytes(b"0123456789")
    with Dialogue(server) as ftp:
        ftp.ask("REST 4", 350)
        ftp.give("STOR file", b"abc")
        assert (root / "file").read_bytes()[:7] == b"0123abc"
        ftp.ask("REST 1000", 350)
        with ftp.data():
            ftp.ask("STOR file", 554)
    assert (root / "file").read_bytes()[:7] == b"0123abc"


