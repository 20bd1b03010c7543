"""Clients that mean harm, or are broken: they cost the server little, and the others nothing."""

import concurrent.futures
import contextlib
import os
import resource
import select
import socket
import ssl
import threading
import time

import pytest

from conftest import IS_SANITIZED, PASSWORD, USER, private_dirty_kb, random_bytes, wait_until
from dialogue import Dialogue, cut, read_all

OPEN_HOUSE = "limits { sessions = 20000  per_address = 0  per_account = 0  unauthenticated = 0  ban_failures = 0 }\n"


@pytest.fixture(scope="module", autouse=True)
def many_descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def descriptors(server):
    return len(os.listdir("/proc/%d/fd" % server.pid))


def descriptor_names(server):
    """What each descriptor is, for a message that says which one stayed."""
    folder = "/proc/%d/fd/" % server.pid
    names = []
    for number in os.listdir(folder):
        with contextlib.suppress(OSError):
            names.append("%s %s" % (number, os.readlink(folder + number)))
    return names


def assert_grew_less(server, before_kb, kb):
    if not IS_SANITIZED:  # there freed memory is kept, to be found when used
        assert private_dirty_kb(server.pid) - before_kb < kb


@contextlib.contextmanager
def nothing_stays(server):
    """What the clients inside made the server open is closed when they have gone."""
    for _ in range(2):  # a worker that answers twice has opened all that it needs between
        sessions(server)
    before = descriptor_names(server)
    yield
    try:
        wait_until("the descriptors of those who left", lambda: descriptors(server) <= len(before))
    except pytest.fail.Exception:
        pytest.fail("these stay: %s; sessions: %s" % (
            sorted(set(descriptor_names(server)) - set(before)), server.ferry("who").stdout))


def sessions(server):
    return sum(worker["sessions"] for worker in server.ask("stats"))


def connect(server, number):
    """From an address of its own."""
    source = "127.0.%d.%d" % (1 + number // 250, 1 + number % 250)
    return socket.create_connection(("127.0.0.1", server.port), timeout=30, source_address=(source, 0))


def drain(connection):
    """All that the server says until it hangs up."""
    try:
        return read_all(connection)
    except ConnectionResetError:
        return b""


def can_log_in(server):
    try:
        with Dialogue(server, source="127.9.9.9"):
            return True
    except (AssertionError, EOFError, ConnectionError):
        return False


# -- silence --


def test_ten_thousand_silent_connections_lock_nobody_out(ferryd, root):
    server = ferryd(root, config="limits { unauthenticated = 100 }\ntimeouts { login_s = 3 }")
    count = min(10_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - 1000)
    with Dialogue(server) as before, contextlib.ExitStack() as crowd:
        with nothing_stays(server):
            memory_kb = private_dirty_kb(server.pid)
            for i in range(count):
                crowd.enter_context(connect(server, i))
                if i % 1000 == 0:
                    before.ask("NOOP", 200)
                    assert sessions(server) <= 101
            assert sessions(server) <= 101
            assert_grew_less(server, memory_kb, 4096)
            wait_until("a login among them", lambda: can_log_in(server))
            before.ask("NOOP", 200)
            wait_until("the end of those who said nothing", lambda: sessions(server) == 1)
    refused = wait_until("the refusals in the log", lambda: server.records("connections_refused"))
    assert len(refused) < 60  # counted, not listed


def test_those_who_are_refused_are_told_why(ferryd, root):
    server = ferryd(root, config="limits { sessions = 3  unauthenticated = 0 }")
    with Dialogue(server), Dialogue(server), Dialogue(server):
        with connect(server, 1) as refused:
            assert drain(refused).startswith(b"421 ")
    wait_until("room for another", lambda: can_log_in(server))


def test_one_address_cannot_take_all_sessions(ferryd, root):
    server = ferryd(root, config="limits { per_address = 5  unauthenticated = 0 }")
    with contextlib.ExitStack() as crowd:
        for _ in range(5):
            crowd.enter_context(Dialogue(server, source="127.0.0.7"))
        with socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.7", 0)) as refused:
            assert drain(refused).startswith(b"421 ")
        assert can_log_in(server)


def test_connections_that_are_reset_at_once_leave_nothing(ferryd, root):
    server = ferryd(root, config=OPEN_HOUSE)
    with nothing_stays(server):
        for i in range(2000):
            cut(connect(server, i))
        assert can_log_in(server)
        wait_until("the end of all", lambda: sessions(server) == 0)


@pytest.mark.skipif(IS_SANITIZED, reason="a sanitizer has taken all addresses there are")
def test_silent_clients_need_no_stack_and_those_who_speak_wait_for_one(ferryd, root):
    server = ferryd(root, "--workers", "1", config=OPEN_HOUSE)
    assert can_log_in(server)
    with open("/proc/%d/statm" % server.pid) as f:
        mapped = int(f.read().split()[0]) * resource.getpagesize()
    # room for about a hundred stacks; memory that is there already is not counted again
    resource.prlimit(server.pid, resource.RLIMIT_AS, (mapped + (16 << 20), resource.RLIM_INFINITY))
    with contextlib.ExitStack() as crowd:
        clients = [crowd.enter_context(connect(server, i)) for i in range(400)]
        assert {c.recv(4096)[:3] for c in clients} == {b"220"}
        for c in clients:
            c.sendall(b"USER nobody\r\n")
        assert {c.recv(4096)[:3] for c in clients} == {b"331"}  # the last when the first doze
    wait_until("the end of all", lambda: sessions(server) == 0)
    assert can_log_in(server)


@pytest.mark.skipif(IS_SANITIZED, reason="a sanitizer has taken all addresses there are")
def test_who_waits_for_a_stack_is_gone_after_the_time_for_a_login(ferryd, root):
    server = ferryd(root, "--workers", "1", config=OPEN_HOUSE + "timeouts { login_s = 2  idle_s = 300 }")
    with contextlib.ExitStack() as crowd:
        holders = [crowd.enter_context(Dialogue(server, source="127.0.1.1")) for _ in range(300)]
        late = [crowd.enter_context(Dialogue(server, source="127.0.1.2", login=False)) for _ in range(20)]
        with open("/proc/%d/statm" % server.pid) as f:
            mapped = int(f.read().split()[0]) * resource.getpagesize()
        resource.prlimit(server.pid, resource.RLIMIT_AS, (mapped + (16 << 20), resource.RLIM_INFINITY))
        for d in holders:
            d.control.sendall(b"NOO")  # half a line needs a stack, until the rest has come
        for d in late:
            d.send("USER nobody")
        assert [drain(d.control) for d in late] == [b""] * len(late)  # no stack to say anything with
        resource.prlimit(server.pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        def count_late():  # other ends are those of holders that had no room for half a line
            return sum(record["error"] == "ETIMEDOUT" for record in server.records("session-end"))

        wait_until("the records of the late", lambda: count_late() == len(late))
    wait_until("the end of all", lambda: sessions(server) == 0)
    assert can_log_in(server)


# -- slowness --


@pytest.mark.parametrize("logged_in", [False, True], ids=["before_login", "after_login"])
def test_a_byte_now_and_then_keeps_no_session_alive(ferryd, root, logged_in):
    server = ferryd(root, config=OPEN_HOUSE + "timeouts { login_s = 2  idle_s = 2 }")
    with contextlib.ExitStack() as stack, nothing_stays(server):
        slow = {stack.enter_context(Dialogue(server, login=logged_in)).control for _ in range(50)}
        end = time.monotonic() + 20
        while slow:
            assert time.monotonic() < end, "%d are still connected" % len(slow)
            for s in select.select(slow, [], [], 0.2)[0]:
                assert drain(s).startswith(b"421 ")
                slow.discard(s)
            for s in slow:
                with contextlib.suppress(ConnectionError):
                    s.send(b"N")
    assert can_log_in(server)


def make_many_names(folder, count, length=250):
    folder.mkdir()
    for i in range(count):
        (folder / (("%06d" % i).rjust(length, "a"))).touch()


@pytest.mark.parametrize("command", ["RETR big", "LIST names", "MLSD names"])
def test_readers_that_stop_are_ended_and_hold_up_nobody(ferryd, root, command):
    with open(root / "big", "wb") as f:
        f.truncate(1 << 30)
    make_many_names(root / "names", 20_000)
    server = ferryd(root, config=OPEN_HOUSE + "timeouts { stall_s = 2 }")
    with Dialogue(server) as other, contextlib.ExitStack() as stack, nothing_stays(server):
        memory_kb = private_dirty_kb(server.pid)
        stuck = []
        for _ in range(20):
            d = stack.enter_context(Dialogue(server))
            stack.enter_context(d.data(receive_buffer=4096))
            stuck.append(d)
            d.ask(command, 150)
        for _ in range(100):
            other.ask("NOOP", 200)
        assert set(other.names()) == {"big", "names"}
        assert stuck[0].ask("STAT", 211).lines[-2].startswith(b" " + command[:4].encode())
        assert_grew_less(server, memory_kb, 20 * 256)
        for d in stuck:
            d.expect(426)
            d.ask("NOOP", 200)
        stack.close()


def talk_without_listening(d, other):
    """Sends commands until neither side can send any more."""
    d.control.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    d.control.setblocking(False)
    while select.select([], [d.control], [], 0.5)[1]:
        d.control.send(b"HELP\r\n" * 1000)
        other.ask("NOOP", 200)


def test_replies_that_nobody_reads_end_the_session_and_are_not_collected(ferryd, root):
    server = ferryd(root, config=OPEN_HOUSE + "timeouts { stall_s = 2 }")
    with Dialogue(server) as other, nothing_stays(server):
        memory_kb = private_dirty_kb(server.pid)
        with Dialogue(server) as d:
            talk_without_listening(d, other)
            assert sessions(server) == 2
            assert_grew_less(server, memory_kb, 1024)
            wait_until("the end of the session", lambda: sessions(server) == 1)
    assert can_log_in(server)


def test_who_reads_nothing_can_be_kicked(ferryd, root):
    server = ferryd(root, config=OPEN_HOUSE + "timeouts { stall_s = 600 }")
    with Dialogue(server) as other, Dialogue(server) as d:
        talk_without_listening(d, other)
        server.ask("kick", id=max(line["id"] for line in server.ask("who")))
        wait_until("the end of the session", lambda: sessions(server) == 1)


# -- haste --


def test_ten_thousand_pipelined_commands_are_answered_in_order(server, root):
    for size in range(10):
        (root / str(size)).write_bytes(bytes(size))
    with Dialogue(server) as d:
        memory_kb = private_dirty_kb(server.pid)
        sender = threading.Thread(target=d.send, args=["SIZE %d" % (i % 10) for i in range(10_000)])
        sender.start()
        for i in range(10_000):
            assert d.reply().text == "213 %d" % (i % 10)
        sender.join()
        d.ask("NOOP", 200)
        assert_grew_less(server, memory_kb, 1024)


def test_pipelined_transfers_are_done_in_order(server, root):
    (root / "file").write_bytes(b"content")
    with Dialogue(server) as d:
        with d.data() as data:
            d.send("RETR file", "DELE file", "SIZE file", "PWD")
            assert read_all(data) == b"content"
        assert [d.reply().code for _ in range(5)] == [150, 226, 250, 550, 257]


def test_a_thousand_passive_ports_are_one(server):
    with Dialogue(server) as d:
        before = descriptors(server)
        d.send(*["EPSV"] * 1000)
        for _ in range(1000):
            d.expect(229)
        wait_until("all but the last closed", lambda: descriptors(server) <= before + 2)  # it has a spare


def test_commands_before_login_are_counted(server):
    with Dialogue(server, login=False) as d:
        d.send(*["NOOP"] * 1000)
        assert b"\r\n421 " in drain(d.control)
    assert can_log_in(server)


def test_three_hundred_log_in_at_once(ferryd, root):
    server = ferryd(root, config=OPEN_HOUSE)
    with nothing_stays(server), contextlib.ExitStack() as stack:
        with concurrent.futures.ThreadPoolExecutor(100) as pool:
            for d in pool.map(lambda i: Dialogue(server, source="127.0.1.%d" % (i % 200 + 1)), range(300)):
                stack.enter_context(d)
                d.ask("NOOP", 200)
        assert sessions(server) == 300
    wait_until("a record of each", lambda: len(server.records("login")) == 300)


def test_a_crowd_of_wrong_passwords_is_refused_and_the_right_one_waits_at_most(ferryd, root):
    server = ferryd(root, config=OPEN_HOUSE)

    def guess(i):
        with Dialogue(server, login=False) as d:
            d.ask("USER " + USER, 331)
            return d.ask("PASS guess%d" % i).code
    with Dialogue(server) as before, concurrent.futures.ThreadPoolExecutor(100) as pool:
        guesses = [pool.submit(guess, i) for i in range(150)]
        before.ask("NOOP", 200)
        wait_until("a login among them", lambda: can_log_in(server))  # remembered: needs no hash
        assert {g.result() for g in guesses} <= {530, 421}


def test_more_wrong_passwords_at_once_than_may_wait_are_421(ferryd, root):
    """64 may wait for a hash; who comes then is told to try again, not that the password is wrong."""
    server = ferryd(root, config=OPEN_HOUSE)
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(Dialogue(server, login=False)) for _ in range(200)]
        for d in crowd:
            d.ask("USER " + USER, 331)
        for i, d in enumerate(crowd):
            d.send("PASS guess%d" % i)
        said = [d.expect(421, 530).code for d in crowd]
    assert 421 in said and said.count(530) >= 64
    assert can_log_in(server)


# -- patterns --

BOMBS = ["*a" * 40 + "*b", "[!b]*" * 40 + "b", "?*" * 100 + "b"]
NESTED = ["*/*/*", "*/*/*/*/*/*/*/*", "*/../*/../*/../*", "*/../" * 500 + "*", "*" + "/." * 1000 + "/*"]


@pytest.fixture
def bomb_site(root):
    make_many_names(root / "names", 8000)  # one look at each is free, so it takes many
    for i in range(12):
        for j in range(12):
            for k in range(12):
                (root / "nested" / str(i) / str(j) / str(k)).mkdir(parents=True)
    return root


def light(server, folder, command, pattern):
    with Dialogue(server) as d:
        d.ask("CWD " + folder, 250)
        with d.data() as data:
            d.ask("%s %s" % (command, pattern), 150)
            read_all(data)
        reply = d.expect(226, 451, 550)
        d.ask("NOOP", 200)
        return reply.code


def test_a_glob_bomb_ends_early_and_holds_up_nobody(ferryd, bomb_site):
    server = ferryd(bomb_site, config=OPEN_HOUSE)
    with Dialogue(server) as other, nothing_stays(server):
        memory_kb = private_dirty_kb(server.pid)
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            bombs = [pool.submit(light, server, "names", command, p) for p in BOMBS for command in ("LIST", "NLST")]
            nested = [pool.submit(light, server, "nested", command, p) for p in NESTED for command in ("LIST", "NLST")]
            while not all(b.done() for b in bombs + nested):
                other.ask("NOOP", 200)
            assert {b.result() for b in bombs} == {451}
            assert all(n.result() in (226, 451, 550) for n in nested)
        other.ask("CWD names", 250)
        assert other.ask("STAT " + BOMBS[0], 213)
        assert_grew_less(server, memory_kb, 4096)


def test_an_honest_pattern_is_not_taken_for_a_bomb(server, root):
    folder = root / "photos"
    folder.mkdir()
    for i in range(5000):
        (folder / ("holiday-2024-%05d.%s" % (i, "jpg" if i % 2 else "png"))).touch()
    with Dialogue(server) as d:
        assert len(d.names("photos/*.jpg")) == 2500
        assert len(d.names("photos/holiday-*-0000?.png")) == 5


# -- garbage --


def tls_hello():
    hello = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), hello, server_hostname="example.org").do_handshake()
    return hello.read()


GARBAGE = {
    "random": lambda: random_bytes(100_000),
    "lines_of_random": lambda: b"\r\n".join(random_bytes(60, seed=i) for i in range(1000)),
    "tls": tls_hello,
    "http": lambda: b"POST /upload HTTP/1.1\r\nHost: example.org\r\nContent-Length: 30\r\n\r\nUSER anna\r\nDELE file\r\n",
    "ssh": lambda: b"SSH-2.0-OpenSSH_9.2p1\r\n" + bytes(4) + random_bytes(400),
    "nuls": lambda: bytes(100_000),
    "nuls_in_lines": lambda: b"USER an\0na\r\nPASS \0\r\n\0\r\n",
    "line_ends": lambda: b"\r\n" * 20,
    "carriage_returns": lambda: b"\r" * 100_000,
    "telnet": lambda: b"\xff\xf4\xff\xf2\xff\xfd\x01\xff\xfb" * 10_000,
    "format": lambda: b"USER %n%n%s%s%999999d\r\nPASS %n%n\r\n",
    "verbs": lambda: b"A" * 400 + b"\r\n \r\n  USER\r\n\tUSER x\r\nUSER\r\nPASS\r\n",
    "endless_line": lambda: b"A" * 10_000_000,
    "endless_argument": lambda: b"USER " + b"A" * 10_000_000 + b"\r\n",
}


@pytest.fixture
def garbage_server(ferryd, root):
    return ferryd(root, config=OPEN_HOUSE + "timeouts { stall_s = 5  login_s = 5 }")


def throw(connection, rubbish):
    """Sends it all, or what the server takes of it, reading meanwhile; returns what was said."""
    said = []

    def listen():
        said.append(drain(connection))
    listener = threading.Thread(target=listen)
    listener.start()
    with contextlib.suppress(ConnectionError):
        connection.sendall(rubbish)
        connection.shutdown(socket.SHUT_WR)
    listener.join()
    return said[0]


def assert_only_replies(said, codes):
    """Whole lines, each with a code, and nothing but the usual characters."""
    lines = said.split(b"\r\n")
    assert lines.pop() == b""
    for line in lines:
        assert line[:3] in codes and line[3:4] in b" -", line
        assert all(32 <= byte < 127 or byte >= 0x80 for byte in line), line


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_before_login_does_no_harm(garbage_server, kind):
    server = garbage_server
    with nothing_stays(server):
        memory_kb = private_dirty_kb(server.pid)
        for i in range(3):
            with connect(server, i) as s:
                assert_only_replies(throw(s, GARBAGE[kind]()), {b"220", b"331", b"421", b"500", b"501", b"502", b"503",
                                                                b"530"})
        assert can_log_in(server)
        assert_grew_less(server, memory_kb, 1024)
    assert all(record["level"] != "error" for record in server.records())


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_after_login_does_no_harm(garbage_server, root, kind):
    server = garbage_server
    (root / "file").write_bytes(b"content")
    with nothing_stays(server):
        memory_kb = private_dirty_kb(server.pid)
        with Dialogue(server) as d:
            # USER and PASS would begin anew
            rubbish = GARBAGE[kind]().replace(b"USER", b"SIZE").replace(b"PASS", b"MDTM").replace(b"DELE", b"NOOP")
            said = throw(d.control, rubbish)
            assert_only_replies(said, {b"200", b"421", b"500", b"501", b"502", b"503", b"504", b"550", b"553"})
        assert_grew_less(server, memory_kb, 1024)
    assert (root / "file").read_bytes() == b"content"
    assert can_log_in(server)


def test_a_session_goes_on_behind_an_endless_line(server):
    with Dialogue(server) as d:
        memory_kb = private_dirty_kb(server.pid)
        d.control.sendall(b"RETR " + b"x" * 10_000_000 + b"\r\nNOOP\r\n")
        d.expect(500)
        d.expect(200)
        assert_grew_less(server, memory_kb, 512)


def test_garbage_as_upload_is_a_file(server, root):
    content = b"".join(make() for make in GARBAGE.values())
    with Dialogue(server) as d:
        d.give("STOR file", content)
    assert (root / "file").read_bytes() == content


# -- guesses --


def test_who_guesses_is_banned_and_others_are_not(ferryd, root):
    server = ferryd(root, config="limits { ban_failures = 4 }")
    with Dialogue(server, login=False, source="127.0.0.66") as d:
        for _ in range(2):
            d.ask("USER " + USER, 331)
            d.ask("PASS wrong", 530)
        d.ask("USER nobody", 331)
        d.ask("PASS wrong", 421)
        assert d.is_closed()
    with Dialogue(server, login=False, source="127.0.0.66") as d:
        d.ask("USER " + USER, 331)
        d.ask("PASS wrong", 530)
    with socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.66", 0)) as banned:
        assert drain(banned).startswith(b"421 ")
    assert can_log_in(server)
    assert len(wait_until("the ban in the log", lambda: server.records("banned"))) == 1
    assert len(server.records("login-failed")) == 4


def test_a_right_password_is_no_way_out_of_a_ban(ferryd, root):
    server = ferryd(root, config="limits { ban_failures = 2 }")
    for _ in range(2):
        with Dialogue(server, login=False, source="127.0.0.66") as d:
            d.ask("USER " + USER, 331)
            d.ask("PASS wrong", 530)
    with socket.create_connection(("127.0.0.1", server.port), source_address=("127.0.0.66", 0)) as banned:
        banned.sendall(("USER %s\r\nPASS %s\r\n" % (USER, PASSWORD)).encode())
        assert b"230" not in drain(banned)
