"""Large files, many clients, and both at once."""

import contextlib
import hashlib
import mmap
import threading

import pytest

import clients
from conftest import IS_SANITIZED, random_bytes, wait_until
from dialogue import Dialogue, cut, read_all, read_until

CLIENTS = 100 if IS_SANITIZED else 300
GIB = 1 << 30


def sha_of(path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return hashlib.sha256(content).hexdigest()


def count_bytes(data):
    buffer, total = bytearray(1 << 20), 0
    while n := data.recv_into(buffer):
        total += n
    return total


# -- large files --


@clients.each((clients.Curl, clients.Lftp))
def test_200_megabytes_go_up_and_down(kind, server, root, tmp_path):
    (tmp_path / "file").write_bytes(random_bytes(200_000_000))
    client = kind(server, tmp_path)
    client.put(tmp_path / "file", b"stored")
    client.get(b"stored", tmp_path / "copy")
    assert sha_of(root / "stored") == sha_of(tmp_path / "copy") == sha_of(tmp_path / "file")


@pytest.fixture
def sparse(root):
    """5 GiB that take a few pages: holes, and known bytes around 4 GiB and at the end."""
    with open(root / "sparse", "wb") as file:
        file.truncate(5 * GIB)
        for offset in (4 * GIB - 50_000, 5 * GIB - 1_000_000):
            file.seek(offset)
            file.write(random_bytes(1_000_000 if offset > 4 * GIB else 100_000, seed=offset))
    return root / "sparse"


@pytest.mark.heavy
def test_offsets_beyond_4_gib_are_exact(server, root, sparse):
    with Dialogue(server) as ftp:
        assert ftp.ask("SIZE sparse", 213).text == "213 %d" % (5 * GIB)
        assert b"size=%d;" % (5 * GIB) in ftp.fetch("MLSD")
        for offset in (4 * GIB - 50_000, 4 * GIB - 1, 4 * GIB, 4 * GIB + 1):
            ftp.ask("REST %d" % offset, 350)
            with ftp.data() as data:
                ftp.ask("RETR sparse", 150)
                with open(sparse, "rb") as file:
                    file.seek(offset)
                    assert read_until(data, 100_000)[:100_000] == file.read(100_000)
                cut(data)
            ftp.expect(426)
        ftp.ask("REST %d" % (5 * GIB - 1_000_000), 350)
        tail = ftp.fetch("RETR sparse")
        assert hashlib.sha256(tail).digest() == hashlib.sha256(random_bytes(1_000_000, 5 * GIB - 1_000_000)).digest()
        with ftp.data() as data:
            ftp.ask("RETR sparse", 150)
            assert count_bytes(data) == 5 * GIB
        ftp.expect(226)
    wait_until("it is recorded", lambda: server.last_audit("download")["bytes"] == 5 * GIB)


@pytest.mark.heavy
def test_an_upload_goes_on_beyond_4_gib(server, root, sparse):
    with Dialogue(server) as ftp:
        ftp.ask("REST %d" % (4 * GIB + 5), 350)
        ftp.give("STOR sparse", b"x" * 1_000_000)
        ftp.give("APPE sparse", b"the end")
    with open(sparse, "rb") as file:
        file.seek(4 * GIB + 4)
        before = random_bytes(100_000, seed=4 * GIB - 50_000)[50_004:50_005]
        assert file.read(1_000_001) == before + b"x" * 1_000_000
        file.seek(-7, 2)
        assert file.read() == b"the end"
    assert sparse.stat().st_blocks * 512 < GIB


@pytest.mark.heavy
def test_5_gib_go_up(server, root, sparse, tmp_path):
    with Dialogue(server) as ftp, open(sparse, "rb") as file:
        with ftp.data() as data:
            ftp.ask("STOR copy", 150)
            data.sendfile(file)
        ftp.expect(226)
        assert ftp.ask("SIZE copy", 213).text == "213 %d" % (5 * GIB)
    with open(root / "copy", "rb") as copy, open(sparse, "rb") as file:
        for offset in (0, 4 * GIB - 100_000, 5 * GIB - 1_000_000):
            copy.seek(offset)
            file.seek(offset)
            assert copy.read(1_000_000) == file.read(1_000_000)
    (root / "copy").unlink()


# -- many clients --


def at_once(count, work):
    """Runs work(i, barrier) in count threads; nobody passes the barrier before all have reached it."""
    barrier = threading.Barrier(count, timeout=120)
    failures = []

    def run(i):
        try:
            work(i, barrier)
        except BaseException as error:  # noqa: B902: a test's failure is one too
            failures.append((i, error))
            barrier.abort()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(180)
    causes = [f for f in failures if not isinstance(f[1], threading.BrokenBarrierError)] or failures
    assert not causes, "%d of %d failed, the first: %r" % (len(failures), count, causes[0])


def content_of(i, kind):
    return random_bytes(20_000 + 331 * i, seed=2 * i + kind)


def test_300_clients_move_distinct_files_at_once(server, root):
    for i in range(CLIENTS):
        (root / ("down-%d" % i)).write_bytes(content_of(i, 1))

    def work(i, barrier):
        with Dialogue(server) as ftp:
            barrier.wait()  # all are logged in
            with ftp.data() as data:
                ftp.ask("STOR up-%d" % i, 150)
                barrier.wait()  # all have begun
                data.sendall(content_of(i, 2))
            ftp.expect(226)
            with ftp.data() as data:
                ftp.ask("RETR down-%d" % i, 150)
                barrier.wait()
                received = read_all(data)
            ftp.expect(226)
            assert received == content_of(i, 1)
            ftp.ask("QUIT", 221)

    at_once(CLIENTS, work)
    for i in range(CLIENTS):
        assert (root / ("up-%d" % i)).read_bytes() == content_of(i, 2)
    wait_until("all sessions are gone", lambda: server.ask("who") == [])


def test_300_clients_log_in_and_list_at_once(server, root):
    for i in range(100):
        (root / ("name-%d" % i)).touch()

    def work(i, barrier):
        barrier.wait()
        with Dialogue(server) as ftp:
            assert len(ftp.names()) == 100

    at_once(CLIENTS, work)


def test_noop_answers_while_300_downloads_run(server, root):
    with open(root / "large", "wb") as file:
        file.truncate(GIB)
    (root / "small").write_bytes(b"small")
    with contextlib.ExitStack() as stack:
        downloads = []
        for _ in range(CLIENTS):
            ftp = stack.enter_context(Dialogue(server))
            data = stack.enter_context(ftp.data(receive_buffer=16384))
            ftp.ask("RETR large", 150)
            downloads.append((ftp, data))
        other = stack.enter_context(Dialogue(server))
        for _ in range(20):
            for _, data in downloads:
                assert data.recv(4096)
            other.ask("NOOP", 200)
            assert other.fetch("RETR small") == b"small"
        assert sum(line["doing"] == "RETR" for line in server.ask("who")) == CLIENTS
        for ftp, _ in downloads:
            ftp.ask("NOOP", 200)
            ftp.send("ABOR")
            ftp.expect(426)
            ftp.expect(226)
    wait_until("all sessions are gone", lambda: server.ask("who") == [])
