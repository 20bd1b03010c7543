"""MODE Z as bytes on the wire: what the dialogue says, both directions, and clients that send what is no stream."""

import contextlib
import random
import socket
import zlib

import pytest

from conftest import random_bytes, wait_until
from dialogue import Dialogue, cut, read_all

TEXT = b"".join(b"line %d of a text that repeats itself\r\n" % i for i in range(30_000))
AT_ONCE = 256  # of one worker
FREE_BYTES = 256 << 20  # that may come whatever its ratio


@pytest.fixture
def ftp(server):
    with Dialogue(server) as dialogue:
        dialogue.ask("MODE Z", 200)
        yield dialogue


def unpack(stream):
    """All of it, and nothing behind it."""
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(stream)
    assert unpacker.eof and unpacker.unused_data == b""
    return content


def bomb(size):
    packer = zlib.compressobj(9)
    megabyte = bytes(1 << 20)
    return b"".join(packer.compress(megabyte) for _ in range(size >> 20)) + packer.flush()


def still_works(ftp):
    ftp.give("STOR another", zlib.compress(b"another"))
    assert unpack(ftp.fetch("RETR another")) == b"another"


def refused(ftp, name, pieces, *codes, end=True):
    """Sends what must not be stored; the last reply."""
    with ftp.data() as data:
        ftp.ask("STOR " + name, 150)
        try:
            for piece in pieces:
                data.sendall(piece)
            if end:
                data.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it was refused before its end
        return ftp.expect(*codes)


# -- the dialogue --


def test_mode_and_options_are_told_and_kept(server):
    with Dialogue(server) as ftp:
        assert " MODE Z" in ftp.ask("FEAT", 211).text.splitlines()
        assert "S | Z" in ftp.ask("HELP MODE", 214).text
        ftp.ask("MODE B", 504)
        assert "mode stream" in ftp.ask("STAT", 211).text
        ftp.ask("MODE z", 200)
        assert "mode deflate, level auto" in ftp.ask("STAT", 211).text
        ftp.ask("OPTS MODE Z LEVEL 9", 200)
        assert "mode deflate, level 9" in ftp.ask("STAT", 211).text
        for wrong in ("MODE", "MODE S", "MODE Z LEVEL", "MODE Z LEVEL 10", "MODE Z LEVEL -1", "MODE Z SPEED 1",
                      "MODE Z ENGINE LZO"):
            ftp.ask("OPTS " + wrong, 501)
        assert "level 9" in ftp.ask("STAT", 211).text
        ftp.ask("OPTS mode z engine zlib level 0", 200)
        assert "level 0" in ftp.ask("STAT", 211).text
        ftp.ask("OPTS MODE Z", 200)
        assert "level auto" in ftp.ask("STAT", 211).text
        ftp.ask("OPTS MODE Z LEVEL 3", 200)
        ftp.ask("REIN", 220)
        ftp.login()
        assert "mode stream" in ftp.ask("STAT", 211).text


@pytest.mark.parametrize("level", ["AUTO", "0", "1", "6", "9"])
def test_both_directions_carry_every_byte_at_each_level(ftp, root, level):
    ftp.ask("OPTS MODE Z LEVEL " + level, 200)
    for content in (b"", b"x", TEXT, random_bytes(700_000), TEXT + random_bytes(300_000) + TEXT):
        (root / "down").write_bytes(content)
        assert unpack(ftp.fetch("RETR down")) == content
        ftp.give("STOR up", zlib.compress(content, 9))
        assert (root / "up").read_bytes() == content


def test_a_level_decides_how_much_goes_over_the_wire(ftp, root):
    (root / "text").write_bytes(TEXT)
    sizes = []
    for level in ("0", "1", "9"):
        ftp.ask("OPTS MODE Z LEVEL " + level, 200)
        sizes.append(len(ftp.fetch("RETR text")))
    assert sizes[0] > len(TEXT) > 4 * sizes[1] > 4 * sizes[2]


def test_mode_s_is_what_it_was(ftp, root):
    (root / "text").write_bytes(TEXT)
    ftp.ask("MODE S", 200)
    assert ftp.fetch("RETR text") == TEXT
    ftp.give("STOR text", b"short")
    assert (root / "text").read_bytes() == b"short"


def test_listings_are_compressed_too(ftp, root):
    for i in range(2000):
        (root / ("file-%d" % i)).touch()
    names = unpack(ftp.fetch("NLST")).decode().split()
    assert sorted(names) == sorted("file-%d" % i for i in range(2000))
    assert len(unpack(ftp.fetch("LIST")).splitlines()) == 2000
    assert len(unpack(ftp.fetch("MLSD")).splitlines()) >= 2000
    ftp.ask("MKD empty", 257)
    assert unpack(ftp.fetch("LIST empty")) == b""


def test_listings_are_whole_at_clients_that_read_slowly_and_in_small_pieces(server, root):
    names = ["a rather long name, number %05d" % i for i in range(5000)]
    for name in names:
        (root / name).touch()
    pieces = random.Random(5)
    sessions = [Dialogue(server) for _ in range(8)]
    listings = {}
    for session in sessions:
        session.ask("MODE Z", 200)
        data = session.data()
        data.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        session.ask("NLST", 150)
        listings[data] = b""
    under_way = list(listings)
    while under_way:
        data = pieces.choice(under_way)
        got = data.recv(pieces.choice([1, 7, 500, 5000]))
        listings[data] += got
        if not got:
            under_way.remove(data)
            data.close()
    for session, listing in zip(sessions, listings.values()):
        session.expect(226)
        session.close()
        assert sorted(unpack(listing).decode().splitlines()) == names


def test_lines_are_converted_beneath_the_compression(ftp, root):
    (root / "text").write_bytes(TEXT.replace(b"\r", b""))
    ftp.ask("TYPE A", 200)
    assert unpack(ftp.fetch("RETR text")) == TEXT
    ftp.give("STOR up", zlib.compress(TEXT))
    assert (root / "up").read_bytes() == TEXT.replace(b"\r", b"")


def test_offsets_and_appending_count_what_is_not_compressed(ftp, root):
    (root / "text").write_bytes(TEXT)
    ftp.ask("REST 100000", 350)
    assert unpack(ftp.fetch("RETR text")) == TEXT[100_000:]
    (root / "up").write_bytes(TEXT[:5000])
    ftp.ask("REST 5000", 350)
    ftp.give("STOR up", zlib.compress(TEXT[5000:]))
    assert (root / "up").read_bytes() == TEXT
    ftp.give("APPE up", zlib.compress(b"more"))
    assert (root / "up").read_bytes() == TEXT + b"more"
    ftp.ask("ALLO 3", 200)
    unique = ftp.give("STOU", zlib.compress(b"new"))
    assert (root / unique.text.split("FILE: ")[1]).read_bytes() == b"new"


def test_records_tell_both_counts_and_the_compression(ftp, server, root):
    (root / "text").write_bytes(TEXT)
    packed = zlib.compress(TEXT)
    for level, told in (("6", "zlib:6"), ("AUTO", "zlib:auto")):
        ftp.ask("OPTS MODE Z LEVEL " + level, 200)
        wire = len(ftp.fetch("RETR text"))
        record = wait_until("it is recorded", lambda told=told: [
            r for r in server.records("audit") if r["operation"] == "download" and r["compression"] == told])[-1]
        assert (record["bytes"], record["wire_bytes"]) == (len(TEXT), wire)
    ftp.give("STOR up", packed)
    record = server.last_audit("upload")
    assert (record["bytes"], record["wire_bytes"], record["compression"]) == (len(TEXT), len(packed), "zlib")
    ftp.ask("MODE S", 200)
    ftp.give("STOR up", TEXT)
    record = wait_until("it is recorded", lambda: [
        r for r in server.records("audit") if r["operation"] == "upload" and r["compression"] == "none"])[-1]
    assert (record["bytes"], record["wire_bytes"]) == (len(TEXT), len(TEXT))


# -- ends that are none --


def test_an_abort_in_either_direction_leaves_the_session_in_step(ftp, root):
    with open(root / "large", "wb") as file:
        file.truncate(1 << 30)
    ftp.ask("OPTS MODE Z LEVEL 0", 200)  # so that it does not fit into buffers
    with ftp.data() as data:
        ftp.ask("RETR large", 150)
        assert data.recv(1000)
        ftp.ask("ABOR", 426)
        ftp.expect(226)
    with ftp.data() as data:
        ftp.ask("STOR up", 150)
        data.sendall(zlib.compress(TEXT)[:1000])
        ftp.ask("ABOR", 426)
        ftp.expect(226)
    assert not (root / "up").exists()
    still_works(ftp)


def test_noop_and_stat_are_answered_while_a_compressed_transfer_waits(ftp, root):
    (root / "noise").write_bytes(random_bytes(30_000_000))
    with ftp.data(receive_buffer=4096) as data:
        ftp.ask("RETR noise", 150)
        for _ in range(20):
            ftp.ask("NOOP", 200)
        assert "RETR noise" in ftp.ask("STAT", 211).text
        assert unpack(read_all(data)) == (root / "noise").read_bytes()
    ftp.expect(226)


def test_others_are_answered_while_many_compress(server, root):
    """Order, not time: each NOOP has its reply while all the downloads are still under way."""
    (root / "noise").write_bytes(random_bytes(20_000_000) * 5)
    sessions = [Dialogue(server) for _ in range(8)]
    with Dialogue(server) as other:
        downloads = []
        for session in sessions:
            session.ask("MODE Z", 200)
            session.ask("OPTS MODE Z LEVEL 9", 200)
            downloads.append(session.data())
            session.ask("RETR noise", 150)
        for i in range(100):
            other.ask("NOOP", 200)
            for data in downloads:  # keeps them going, a little each
                assert data.recv(200)
            if i % 10 == 0:
                other.give("STOR small", b"small")
        for data, session in zip(downloads, sessions):
            session.control.setblocking(False)
            with pytest.raises(BlockingIOError):
                session.control.recv(1)  # no last reply
            data.close()
            session.close()


def test_past_a_number_of_compressed_transfers_of_a_worker_the_next_is_told_to_try_again(ferryd, root):
    """Each has a compressor's memory; the sessions are of no account."""
    config = "limits { sessions = 1000  per_address = 1000  per_account = 1000 }"
    server = ferryd(root, "--workers", "1", config=config)
    with open(root / "noise", "wb") as file:
        file.truncate(1 << 30)
    with contextlib.ExitStack() as stack:
        for _ in range(AT_ONCE):
            ftp = stack.enter_context(Dialogue(server))
            ftp.ask("MODE Z", 200)
            ftp.ask("OPTS MODE Z LEVEL 0", 200)
            stack.enter_context(ftp.data(receive_buffer=4096))
            ftp.ask("RETR noise", 150)
        one_more = stack.enter_context(Dialogue(server))
        one_more.ask("MODE Z", 200)
        with one_more.data():
            one_more.ask("NLST", 150)
            assert "busy" in one_more.expect(451).text
        one_more.ask("MODE S", 200)
        assert one_more.names() == ["noise"]
        ftp.ask("ABOR", 426)
        ftp.expect(226)
        one_more.ask("MODE Z", 200)
        assert unpack(one_more.fetch("NLST")) == b"noise\r\n"


@pytest.mark.parametrize("length", [0, 1, 2, 10, 1000, -5, -1])
def test_a_torn_upload_keeps_the_old_file_and_can_be_resumed(ftp, root, length):
    (root / "old").write_bytes(b"old")
    packed = zlib.compress(TEXT)
    assert "cut short" in refused(ftp, "old", [packed[:length]], 426).text
    assert (root / "old").read_bytes() == b"old"
    refused(ftp, "new", [packed[:length]], 426)
    assert not (root / "new").exists()
    kept = ftp.ask("SIZE new")
    at = int(kept.text.split()[1]) if kept.code == 213 else 0
    assert at <= len(TEXT) and (at > 0 or length in range(11)) and (at == len(TEXT) or length >= 0)
    ftp.ask("REST %d" % at, 350)
    ftp.give("STOR new", zlib.compress(TEXT[at:]))
    assert (root / "new").read_bytes() == TEXT


def test_an_upload_whose_client_died_keeps_the_old_file(ftp, server, root):
    (root / "up").write_bytes(b"old")
    data = ftp.data()
    ftp.ask("STOR up", 150)
    data.sendall(zlib.compress(TEXT)[:5000])
    cut(data)
    ftp.expect(426)
    assert (root / "up").read_bytes() == b"old"
    still_works(ftp)


def damaged():
    packed = zlib.compress(TEXT)
    return {
        "garbage": random_bytes(100_000),
        "plain text": TEXT,
        "gzip": b"\x1f\x8b\x08" + packed,
        "raw deflate": packed[2:-4],
        "a dictionary": b"\x78\xbb" + packed[2:],
        "wrong checksum": packed[:-1] + bytes([packed[-1] ^ 1]),
        "a flipped bit": packed[:5000] + bytes([packed[5000] ^ 16]) + packed[5001:],
        "a byte behind": packed + b"\0",
        "two streams": packed + packed,
    }


@pytest.mark.parametrize("what", list(damaged()))
def test_what_is_no_whole_stream_is_refused_with_a_reason_and_nothing_is_kept(ftp, server, root, what):
    (root / "up").write_bytes(b"old")
    assert "damaged" in refused(ftp, "up", [damaged()[what]], 451).text
    assert (root / "up").read_bytes() == b"old"
    refused(ftp, "new", [damaged()[what]], 451)
    ftp.ask("SIZE new", 550)  # nor is there a part that could be resumed
    assert [path.name for path in root.iterdir()] == ["up"]
    assert server.last_audit("upload")["result"] == "EBADMSG"
    still_works(ftp)


def test_a_bomb_is_stopped_and_leaves_nothing(ftp, server, root):
    said = refused(ftp, "bomb", [bomb(2 * FREE_BYTES)], 552)
    assert "expands" in said.text
    assert list(root.iterdir()) == []
    record = server.last_audit("upload")
    assert record["result"] == "FERRY_ELIMIT" and record["bytes"] <= FREE_BYTES + (1 << 20)
    still_works(ftp)


def test_a_file_of_zeros_is_no_bomb(ftp, root):
    ftp.give("STOR zeros", bomb(64 << 20))
    assert (root / "zeros").stat().st_size == 64 << 20
    with open(root / "zeros", "rb") as file:
        assert not any(file.read(1 << 20).strip(b"\0") for _ in range(64))


def test_a_quota_holds_for_what_comes_out(ferryd, root):
    server = ferryd(root, config='defaults { quota_bytes = 1000000 }')
    with Dialogue(server) as ftp:
        ftp.ask("MODE Z", 200)
        said = refused(ftp, "bomb", [bomb(100 << 20)], 552)
        assert "quota" in said.text
        assert list(root.iterdir()) == []
        still_works(ftp)


def test_a_rate_holds_for_what_comes_out(ferryd, root):
    server = ferryd(root, config="defaults { rate_bytes_per_s = 100000 }")
    (root / "text").write_bytes(TEXT[:300_000])
    with Dialogue(server) as ftp:
        ftp.ask("MODE Z", 200)
        assert unpack(ftp.fetch("RETR text")) == TEXT[:300_000]
        ftp.give("STOR up", zlib.compress(TEXT[:300_000]))
        for operation in ("download", "upload"):
            assert server.last_audit(operation)["seconds"] >= 1  # a full bucket holds less than the rest


def test_single_bytes_and_pauses_make_the_same_file(ftp, root):
    packed = zlib.compress(TEXT[:3000])
    with ftp.data() as data:
        data.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ftp.ask("STOR up", 150)
        for i in range(len(packed)):
            data.sendall(packed[i : i + 1])
            if i % 50 == 0:
                ftp.ask("NOOP", 200)  # the server has had its turn
    ftp.expect(226)
    assert (root / "up").read_bytes() == TEXT[:3000]


def test_a_client_that_stalls_in_mid_stream_is_given_up(ferryd, root):
    server = ferryd(root, config="timeouts { stall_s = 1 }")
    with Dialogue(server) as ftp:
        ftp.ask("MODE Z", 200)
        with ftp.data() as data:
            ftp.ask("STOR up", 150)
            data.sendall(zlib.compress(TEXT)[:2000])
            assert "nothing moved" in ftp.expect(426).text
        (root / "noise").write_bytes(random_bytes(30_000_000))
        with ftp.data(receive_buffer=4096):
            ftp.ask("RETR noise", 150)
            assert "nothing moved" in ftp.expect(426).text
        still_works(ftp)
